"""fping: each host has its own probes; a dash is no time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs" / "pings"

# Read off the files by eye: sent, received, least, median and largest time [us] of each host.
CASES = {
    "fping_each.txt": [(5, 5, 52, 59, 61), (5, 0, None, None, None)],
    "fping_each_quiet.txt": [(5, 5, 55, 78, 98), (5, 0, None, None, None)],
    "fping_count.txt": [(4, 4, 41, 57, 385), (4, 0, None, None, None)],
    "fping_count_quiet.txt": [(4, 4, 43, None, 73), (4, 0, None, None, None)],
    "fping_stamps.txt": [(3, 3, 57, 72, 74)],
    "fping_alive.txt": [(1, 1, 74, 74, 74), (1, 0, None, None, None)],
    "fping_stats.txt": [(3, 3, 68, 75, 75)],
    "fping_interval.txt": [(12, 12, 47, None, 76)],
    "fping_loop.txt": [(7, 7, 50, 58, 88)],
}


@pytest.mark.each("file", CASES)
def test_files(file):
    rows = read(INPUTS / file).facts()
    names = ("sent_count", "received_count", "rtt_min_s", "rtt_median_s", "rtt_max_s")
    for row, (sent, received, *times) in zip(rows, CASES[file], strict=True):
        expected = (
            sent,
            received,
            *(None if t is None else pytest.approx(t * 1e-6) for t in times),
        )
        assert tuple(row.get(name) for name in names) == expected
        assert row["loss_ratio"] == 1 - received / sent
        assert row["partial"] is False


def test_hosts_take_turns():
    samples = read(INPUTS / "fping_count.txt")
    far = samples.group == "192.88.99.7"
    assert samples.lost[far].all()
    assert np.isnan(samples.rtt_s[far]).all()
    assert samples.sequence[far].tolist() == [0, 1, 2, 3]
    assert set(samples.payload_bytes[~far]) == {56}


def test_stamps_are_of_the_reply():
    samples = read(INPUTS / "fping_stamps.txt")
    assert samples.sent_s[0] == pytest.approx(1795352813.93758 - 57e-6, abs=1e-6)


def test_a_row_with_a_dash_between_times():
    """By hand: the third of four had no answer."""
    samples = read("192.0.2.1 : 0.05 0.06 - 0.07\n")
    assert samples.lost.tolist() == [False, False, True, False]
    assert samples.rtt_s.tolist() == pytest.approx([5e-5, 6e-5, np.nan, 7e-5], nan_ok=True)
    assert samples.resolution_s[0] == pytest.approx(1e-5)


def test_duplicates_and_errors():
    text = (
        "a.example : [0], 64 bytes, 0.50 ms (0.50 avg, 0% loss)\n"
        "a.example : duplicate for [0], 64 bytes, 0.90 ms\n"
        "a.example : [1], timed out (0.50 avg, 50% loss)\n\n"
        "a.example : xmt/rcv/%loss = 2/1/50%, min/avg/max = 0.50/0.50/0.50\n"
    )
    (row,) = read(text).facts()
    assert (row["sent_count"], row["received_count"], row["duplicate_count"]) == (2, 1, 1)
    assert row["rtt_max_s"] == 0.5e-3


def test_lines_and_totals_that_disagree():
    text = (INPUTS / "fping_stamps.txt").read_text().replace("3/3/0%", "4/4/0%")
    samples = read(text)
    differs = [n.values for n in samples.meta.warnings if n.code == "count-differs"]
    assert [(d["quantity"], d["printed"], d["counted"]) for d in differs] == [
        ("sent", 4, 3), ("received", 4, 3),
    ]  # fmt: skip
    assert samples.meta.printed["sent"] == 4
    assert samples.facts()[0]["sent_count"] == 3


def test_a_loss_that_cannot_be():
    text = "a : xmt/rcv/%loss = 4/5/-25%, min/avg/max = 0.1/0.1/0.1\n"
    with pytest.raises(ReaderError) as caught:
        read(text)
    assert caught.value.code == "more-received-than-sent"


def test_cut_at_every_line():
    lines = (INPUTS / "fping_count.txt").read_text().splitlines(keepends=True)
    for end in range(1, 9):
        row = read("".join(lines[:end])).facts()[0]
        assert row["partial"] is True
        assert row["sent_count"] == sum("203.0.113.2 :" in line for line in lines[:end])


def test_two_numbers_run_together_are_no_time():
    text = (
        "192.0.2.1 : [0], 64 bytes, 0.074 ms (0.074 avg, 0% loss)\n"
        "192.0.2.1 : [1], 64 bytes, 0.074203.0.113.2 ms (0.074 avg, 0% loss)\n"
    )
    assert read(text).rtt_s[:1].tolist() == pytest.approx([74e-6])
    assert read(text).received == 1


def hosts(text, *names):
    return [tuple(row.get(name) for name in names) for row in read(text).facts()]


COUNTS = ("target", "sent_count", "received_count", "rtt_min_s", "rtt_median_s", "partial")


def test_json_of_counted_probes():
    """Read off the file by eye: a probe of the first host was not answered."""
    samples = read(INPUTS / "fping_json.txt")
    assert hosts(INPUTS / "fping_json.txt", *COUNTS) == [
        ("192.0.2.1", 3, 2, pytest.approx(5.12e-3), pytest.approx(13.21e-3), False),
        ("192.0.2.77", 3, 3, pytest.approx(54e-6), pytest.approx(62e-6), False),
    ]
    assert [row["printed_loss_ratio"] for row in samples.facts()] == [0.33, 0]
    assert [row["loss_ratio"] for row in samples.facts()] == [pytest.approx(1 / 3), 0]
    # Three digits from 1 ms on (sprint_tm of fping): 0.01 ms of 5.12, 0.1 ms of 21.3.
    assert samples.resolution_s[:3].tolist() == [1e-5, 0, 1e-4]
    assert samples.resolution_s[3] == 1e-6
    assert samples.payload_bytes[0] == 56
    assert np.isfinite(samples.ttl).sum() == 1
    assert samples.meta.warnings == ()


VALUES = '{"vSum": {"host": "192.0.2.1", "values": [0.054, 0.062, null, 0.081]}}\n'
TOTAL = '{"summary": {"host": "192.0.2.1", "xmt": 4, "rcv": 0, "loss": 100}}\n'
REPLY = '{"resp": {"host": "192.0.2.1", "seq": 0, "size": 64, "rtt": 0.5}}\n'


def test_json_of_rows_of_times_and_of_totals_alone():
    assert hosts(VALUES, *COUNTS) == [("192.0.2.1", 4, 3, 54e-6, 62e-6, False)]
    assert hosts(TOTAL, *COUNTS) == [("192.0.2.1", 4, 0, None, None, False)]
    # The row of times repeats the reply; of a run that was cut there is neither.
    assert hosts(REPLY + VALUES, *COUNTS)[0][1:3] == (1, 1)
    assert hosts(REPLY, *COUNTS) == [("192.0.2.1", 1, 1, 5e-4, 5e-4, True)]
    again = read(REPLY + REPLY + TOTAL.replace('"rcv": 0, "loss": 100', '"rcv": 5, "return": 125'))
    assert again.facts()[0]["duplicate_count"] == 1


def test_json_with_stamps_of_the_reply():
    """The time of the reply less the round trip is when the probe was sent."""
    stamped = REPLY.replace('{"host', '{"timestamp": "1795000000.00100", "host')
    samples = read(stamped)
    assert samples.sent_s[0] == pytest.approx(1795000000.0005, abs=1e-6)
    words = REPLY.replace('{"host', '{"timestamp": "2026-11-24T09:00:00+0000", "host')
    assert np.isnan(read(words).sent_s).all()


def test_json_left_out_by_its_line_or_its_name():
    interval = VALUES.replace("vSum", "intSum").replace(
        '"values": [0.054, 0.062, null, 0.081]', '"time": 1, "xmt": 9, "rcv": 9, "loss": 0'
    )
    later = '{"percentiles": {"host": "192.0.2.1", "p99": 0.5}}\n'
    samples = read(REPLY + interval + later + "192.0.2.1 : duplicate for [0]\n")
    assert hosts(REPLY + interval, *COUNTS)[0][1] == 1
    assert [(one.code, one.values) for one in samples.meta.warnings] == [
        ("not-of-the-tool", {"numbers": [4]}),
        ("fping-kinds-unread", {"names": ["percentiles"]}),
    ]
    cut = read(REPLY + TOTAL[:30])
    assert [one.code for one in cut.meta.warnings] == ["last-line-cut"]
    assert cut.meta.partial


@pytest.mark.each("case", [
    ('"rtt": 0.5', '"rtt": "0.5"', "resp.rtt", "0.5"),
    ('"rtt": 0.5', '"rtt": -1', "resp.rtt", "-1"),
    ('"rtt": 0.5', '"time": 0.5', "resp.rtt", "None"),
    ('"seq": 0', '"seq": null', "resp.seq", "None"),
    ('"host": "192.0.2.1", ', "", "resp.host", "None"),
    ('"rtt": 0.5}}', '"rtt": 0.5 (0.500 ms)}}', "line", None),
])  # fmt: skip
def test_json_that_is_not_certain_is_refused_by_its_field(case):
    old, new, field, value = case
    with pytest.raises(ReaderError) as caught:
        read(TOTAL + REPLY.replace(old, new) + TOTAL)
    assert (caught.value.code, caught.value.line, caught.value.field) == (
        "fping-unreadable", 2, field,
    )  # fmt: skip
    assert value is None or caught.value.values["value"] == value


def test_no_digits_are_cut_off_a_damaged_number():
    totals = "192.0.2.1 : xmt/rcv/%loss = 4/4/0%, min/avg/max = 0.043/0.05/{}\n"
    assert read(totals.format("0.073")).meta.printed["rtt_max_s"] == pytest.approx(73e-6)
    with pytest.raises(ReaderError):
        read(totals.format("12345678901.5"))
