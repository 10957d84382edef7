"""The text of iperf3 says what its JSON says: of the same options, and of both ends of one run.

The files in ``inputs/iperf3`` are standard output alone, recorded with the commands in its
MANIFEST: for each name two runs with the same options, and of each what the server wrote.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc.readers import read

PAIRS = Path(__file__).parent / "inputs" / "iperf3"
NAMES = sorted(path.stem for path in PAIRS.glob("*.json"))
BOTH_ENDS = [name for name in NAMES if f"srv_{name}" in NAMES and "_int" not in name]

NOT_IN_TEXT = {"congestion_control"}
MEASURED = {"jitter_s"}
"""What differs from run to run."""
TOLERANCE = 0.02
"""The text has three digits, and the times of two runs with one offered rate differ by less."""


def facts(name):
    return [dict(row) for row in read(PAIRS / name).facts()]


@pytest.mark.each("name", NAMES)
def test_text_and_json_have_the_same_facts(name):
    text, document = facts(f"{name}.txt"), facts(f"{name}.json")
    assert len(text) == len(document)
    for one, other in zip(text, document, strict=True):
        assert one.keys() | NOT_IN_TEXT == other.keys() | NOT_IN_TEXT
        for key, value in one.items():
            if isinstance(value, (bool, str)):
                assert (key, value) == (key, other.get(key, value))
            elif key not in MEASURED:
                assert value == pytest.approx(other[key], rel=TOLERANCE), key


@pytest.mark.each("name", NAMES)
def test_text_and_json_have_as_many_intervals(name):
    one, other = (read(PAIRS / f"{name}.{kind}") for kind in ("txt", "json"))
    assert len(one) == len(other)
    assert one.payload_bytes == pytest.approx(other.payload_bytes, rel=TOLERANCE)
    assert list(one.side) == list(other.side)


@pytest.mark.each("name", BOTH_ENDS)
def test_the_client_reports_what_the_server_counted(name):
    """Two texts of one run: each end has its own count, and the client the server's beside it."""
    client, server = facts(f"{name}.txt"), facts(f"srv_{name}.txt")
    for one, other in zip(client, server, strict=True):
        own = {"upload": "received", "download": "sent"}[one["direction"]]
        keys = [f"{own}_byte_count", f"{own}_rate_bps"]
        keys += ["lost_datagram_count", "jitter_s"] if own == "received" else ["retransmit_count"]
        assert {key: one.get(key) for key in keys} == {key: other.get(key) for key in keys}


@pytest.mark.each("name", [name for name in NAMES if name.endswith("_int")])
def test_an_interrupted_run_has_no_counts_of_the_other_end(name):
    """Its 0.00 Bytes stand for what never came."""
    is_client = not name.startswith("srv_")
    for kind in ("txt", "json"):
        for row in facts(f"{name}.{kind}"):
            other = "received" if (row["direction"] == "upload") == is_client else "sent"
            assert row["partial"] is True
            assert not {f"{other}_byte_count", f"{other}_rate_bps"} & row.keys()
            assert other == "sent" or not {"lost_datagram_count", "jitter_s"} & row.keys()


def test_a_server_whose_client_is_gone_has_the_rate_of_its_whole_intervals():
    """Two intervals of 512 and 480 KBytes in 1.00 s each; the total of 1.12 MBytes in 2.00 s has
    five more datagrams of 32 KBytes, which came in the 0.3 s behind them."""
    for kind in ("txt", "json"):
        samples = read(PAIRS / f"srv_udp_int.{kind}")
        (row,) = samples.facts()
        assert row["received_rate_bps"] == pytest.approx(8 * 1024 * (512 + 480) / 2, rel=1e-3)
        assert row["received_byte_count"] == pytest.approx(36 * 32 * 1024, rel=5e-3)
        assert (row["datagram_count"], row["lost_datagram_count"]) == (36, 0)
        codes = [one.code for one in samples.meta.warnings]
        assert codes[-2:] == ["intervals-repeated", "totals-beyond-intervals"]


def test_the_report_of_the_server_is_left_out_by_its_lines():
    """It stands in lines 12 to 23 of the file, between the totals of the two directions."""
    samples = read(PAIRS / "udp_bi_gso.txt")
    (said,) = samples.meta.warnings
    assert (said.code, said.values) == (
        "iperf-server-output", {"numbers": list(range(12, 24))},
    )  # fmt: skip
    assert [row["received_byte_count"] for row in samples.facts()] == [512 * 1024] * 2


OLD = """Connecting to host h, port 5201
[  4] local 192.0.2.1 port 1 connected to 192.0.2.2 port 5201
[ ID] Interval           Transfer     Bandwidth       Total Datagrams
[  4]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  16
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  4]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  {} ms  {}/16 (0%)
[  4] Sent 16 datagrams
"""
"""Before version 3.7 one line without a label has the sender's bytes and the receiver's losses."""


def test_a_total_without_a_label_has_losses_only_if_they_came():
    """Without the last line zeros may stand for what an interrupted client never got."""
    names = ("sent_byte_count", "datagram_count", "lost_datagram_count", "jitter_s", "partial")
    for text, expected in (
        (OLD.format("0.000", 0) + "\niperf Done.\n", (131072, 16, 0, 0, False)),
        (OLD.format("0.000", 0), (131072, 16, None, None, True)),
        (OLD.format("0.000", 2), (131072, 16, 2, 0, False)),
        (OLD.format("0.250", 0), (131072, 16, 0, 0.25e-3, False)),
    ):
        (row,) = read(text).facts()
        assert tuple(row.get(name) for name in names) == expected


def test_a_run_of_one_interval_is_no_interval_printed_twice():
    """Its total is the same line again, behind a header of its own."""
    text = OLD.replace("Jitter    Lost/Total", "Total").replace("{} ms  {}/16 (0%)", "16")
    samples = read(text + "\niperf Done.\n")
    assert len(samples) == 1
    assert samples.meta.warnings == ()
    assert samples.facts()[0]["sent_byte_count"] == 131072


def test_only_the_run_without_its_last_line_was_interrupted():
    """Two runs in one file, as a script appends them."""
    one, two = ((PAIRS / f"{name}.txt").read_text() for name in ("udp_int", "udp"))
    for text, expected in ((one + two, [True, False]), (two + one, [False, True])):
        found = read(text).facts()
        assert [row["partial"] for row in found] == expected
        assert ["received_byte_count" in row for row in found] == [not one for one in expected]


def test_everything_lost_is_measured_where_the_test_came_to_its_end():
    """The receiver's 0.00 Bytes of a whole run are what it counted."""
    text = (PAIRS / "udp.txt").read_text()
    lost = [
        "[  5]   0.00-1.00   sec  0.00 Bytes  0.00 bits/sec  0.000 ms  16/16 (100%)  receiver"
        if line.endswith("receiver") else line for line in text.splitlines()
    ]  # fmt: skip
    (row,) = read("\n".join(lost) + "\n").facts()
    assert (row["received_byte_count"], row["lost_datagram_count"], row["partial"]) == (
        0,
        16,
        False,
    )
    assert row["loss_ratio"] == 1
