"""Facts: what a file says in a few numbers, in Python, in JSON, as text, and in saved files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.errors import DomainError, ReaderError
from netcalc.readers import read
from netcalc.samples import (
    FACTS,
    FlowSeries,
    Meta,
    PathSamples,
    RttSamples,
    Table,
    TransferSamples,
    fact_row,
    load,
    loads,
)

INPUTS = Path(__file__).parent / "inputs"

TWO_HOSTS = (
    "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
    "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=1.00 ms\n"
    "64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=3.00 ms\n"
    "64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=9.00 ms (DUP!)\n"
    "\n--- 192.0.2.1 ping statistics ---\n"
    "3 packets transmitted, 2 received, +1 duplicates, 33% packet loss, time 2003ms\n"
    "rtt min/avg/max/mdev = 1.000/4.333/9.000/3.000 ms\n\n"
    "PING 192.0.2.9 (192.0.2.9) 56(84) bytes of data.\n"
    "64 bytes from 192.0.2.9: icmp_seq=1 ttl=64 time=7.00 ms\n"
)


def facts_of(*arguments):
    """Return the facts that the command prints."""
    done = CliRunner().invoke(commands, ["read", *map(str, arguments), "--json"])
    return [json.loads(line)["facts"] for line in done.output.splitlines()]


def test_ping_has_a_row_for_each_run():
    """By hand from the text above: 3 sent, 2 answered, one reply twice; the second run is cut."""
    samples = read(TWO_HOSTS)
    assert samples.facts() == [
        {
            "target": "192.0.2.1", "sent_count": 3, "received_count": 2, "duplicate_count": 1,
            "rtt_min_s": 0.001, "rtt_median_s": 0.002, "rtt_max_s": 0.003,
            "printed_loss_ratio": 0.33, "loss_ratio": pytest.approx(1 / 3), "partial": False,
        },
        {
            "target": "192.0.2.9", "sent_count": 1, "received_count": 1, "duplicate_count": 0,
            "rtt_min_s": 0.007, "rtt_median_s": 0.007, "rtt_max_s": 0.007,
            "loss_ratio": 0.0, "partial": True,
        },
    ]  # fmt: skip
    assert samples.groups == ["192.0.2.1", "192.0.2.9"]
    assert np.asarray(samples.group).tolist() == ["192.0.2.1"] * 4 + ["192.0.2.9"]


def test_runs_to_one_host_are_one_group():
    """A sweep of sizes is one measurement: five runs, and the fit goes through all of them."""
    samples = read(INPUTS / "iputils_sweep_loop.txt")
    assert len(samples.facts()) == 5
    assert samples.groups == [""]
    done = CliRunner().invoke(commands, ["read", str(INPUTS / "iputils_sweep_loop.txt"), "--all"])
    assert "serialization" in done.output


def test_hosts_are_not_fitted_together(tmp_path):
    path = tmp_path / "two.txt"
    path.write_text(TWO_HOSTS)
    done = CliRunner().invoke(commands, ["read", str(path), "--all"])
    assert done.exit_code == 0
    assert "Minimum time" not in done.output
    line = next(line for line in done.output.splitlines() if line.startswith("sent_count"))
    assert line.split() == ["sent_count", "3", "1", "ICMP", "packets,", "sender"]


def test_a_summary_alone_has_no_median():
    """``ping -q``: 20 sent and received, min 18 us and max 49 us, as its file prints."""
    ((row,),) = facts_of(INPUTS / "iputils_quiet.txt")
    assert "rtt_median_s" not in row
    assert (row["sent_count"], row["received_count"]) == (20, 20)
    assert (row["rtt_min_s"], row["rtt_max_s"]) == (18e-6, 49e-6)


def test_nothing_received_has_no_round_trip():
    ((row,),) = facts_of(INPUTS / "iputils_no_answer.txt")
    assert (row["received_count"], row["loss_ratio"]) == (0, 1.0)
    assert not [name for name in row if name.startswith("rtt_")]


def test_columns_count_what_the_file_has():
    """By hand: of 94.1 and 93.8 Mbit/s, of losses 0 and 0.5 %; a missing cell is in no figure."""
    rates, sizes = facts_of(INPUTS / "columns" / "rates.csv", INPUTS / "columns" / "semicolons.csv")
    assert rates == [
        {
            "min:throughput_bps": pytest.approx(93.8e6),
            "median:throughput_bps": pytest.approx(93.95e6),
            "max:throughput_bps": pytest.approx(94.1e6),
            "mean:loss_ratio": pytest.approx(0.0025),
            "row_count": 3, "column_count": 3, "partial": False,
        }
    ]  # fmt: skip
    (row,) = sizes
    assert (row["row_count"], row["column_count"], row["sent_count"]) == (5, 3, 5)
    assert (row["rtt_min_s"], row["rtt_max_s"]) == (0.00051, 0.00131)
    assert (row["min:payload_bytes"], row["max:payload_bytes"]) == (64, 1400)
    assert not [name for name in row if name.endswith((":rtt_s", ":resolution_s"))]


def test_columns_that_the_samples_have_no_place_for_have_figures(tmp_path):
    """By hand: 1 and 2 ms of waiting, 3 and 4; none of names, nor of an ambiguous 1,500."""
    path = tmp_path / "rows.csv"
    path.write_text(
        "payload [B];rtt [ms];wait [ms];n;name;odd\n100;0.5;1;3;x;1,500\n200;0.7;2;4;y;2\n"
    )
    ((row,),) = facts_of(path)
    assert {name: value for name, value in row.items() if ":" in name} == pytest.approx({
        "min:payload_bytes": 100, "max:payload_bytes": 200,
        "min:wait_s": 0.001, "median:wait_s": 0.0015, "max:wait_s": 0.002,
        "min:n": 3, "median:n": 3.5, "max:n": 4,
    })  # fmt: skip


# A heading and cells -> the facts, by hand. What adds up is a count, or bytes that went by.
FIGURES = {
    "rtt [ms]": ("1 4 2", {"min:rtt_s": 0.001, "median:rtt_s": 0.002, "max:rtt_s": 0.004}),
    "rate [Mbit/s]": ("4 2 9", {"min:rate_bps": 2e6, "median:rate_bps": 4e6, "max:rate_bps": 9e6}),
    "loss_percent": ("0 0 100", {"mean:loss_ratio": 1 / 3}),
    "utilization [%]": ("50 20 80", {
        "min:utilization_ratio": 0.2, "median:utilization_ratio": 0.5, "max:utilization_ratio": 0.8,
    }),
    "sent_bytes": ("100 50 100", {"sum:sent_bytes": 250}),
    "queue (packets)": ("0 20 8", {
        "min:queue": 0, "median:queue": 8, "max:queue": 20,
    }),
    "rx_bytes": ("100 150 350", {  # a counter, read three times
        "min:rx_bytes": 100, "median:rx_bytes": 150, "max:rx_bytes": 350,
    }),
    "frame_bytes": ("64 1518 512", {"min:frame_bytes": 64, "max:frame_bytes": 1518}),
    "retransmits": ("2 0 3", {"sum:retransmits": 5}),
    "lost n": ("0.5 0 0.1", {"min:lost n": 0, "median:lost n": 0.1, "max:lost n": 0.5}),
    "max packets": ("5 3 4", {
        "min:max packets": 3, "median:max packets": 4, "max:max packets": 5,
    }),
    "server id": ("17 9 17", {}), "port": ("443 80 443", {}), "round": ("1 2 3", {}),
    "seq": ("7 6 8", {}), "serverId": ("17 9 17", {}),
    "time [s]": ("1700000000 1700000300 1700000600", {
        "min:time_s": 1.7e9, "max:time_s": 1700000600,
    }),
}  # fmt: skip


@pytest.mark.each("heading", FIGURES)
def test_a_column_is_summed_only_where_it_adds_up(heading):
    cells, expected = FIGURES[heading]
    ((row,)) = read(f"{heading}\n" + "".join(f"{cell}\n" for cell in cells.split())).facts()
    facts = {name: value for name, value in row.items() if ":" in name}
    assert facts == pytest.approx(expected)


def test_a_file_of_before_gets_the_facts_of_its_rows():
    """Three probes of which one was lost, as the recorded file has them; its run was cut."""
    ((row,),) = facts_of(INPUTS / "netcalc_echo_old.json")
    assert (row["sent_count"], row["received_count"], row["partial"]) == (3, 2, True)


def test_facts_are_saved_and_loaded(tmp_path):
    samples = read(TWO_HOSTS)
    again = load(samples.save(tmp_path / "two.json"))
    assert again == samples
    assert again.facts() == samples.facts()
    assert facts_of(tmp_path / "two.json") == [json.loads(json.dumps(samples.facts()))]


def test_an_empty_column_of_text_is_not_written():
    """Files of one run are as they were, so that netcalc of before reads them."""
    one = RttSamples(payload_bytes=[56], rtt_s=[0.001])
    assert "group" not in json.loads(one.dumps())["columns"]
    assert loads(one.dumps()) == one
    two = RttSamples(payload_bytes=[56, 56], rtt_s=[0.001, 0.002], group=["", "b"])
    assert loads(two.dumps()) == two


@pytest.mark.parametrize("facts", [[3], [{"sent_count": [1]}], [{"target": None}], {}])
def test_facts_of_a_damaged_file_are_refused(facts):
    document = json.loads(Table(data={"n": [1.0]}).dumps())
    document["meta"]["facts"] = facts
    with pytest.raises(ReaderError) as caught:
        loads(json.dumps(document).encode())
    assert caught.value.field.startswith("meta.facts")


def test_a_row_of_facts_has_known_names_and_possible_numbers():
    assert fact_row(sent_count=np.float64(3), jitter_s=float("nan"), target="", rtt_s=None) == {
        "sent_count": 3
    }
    assert fact_row({"counter:rx_bytes": 2**40, "sum:x": -1.5}) == {
        "counter:rx_bytes": 2**40,
        "sum:x": -1.5,
    }
    for wrong in ({"rtt_ms": 1}, {"jitter_s": -1.0}, {"duration_s": float("inf")}):
        with pytest.raises(DomainError):
            fact_row(**wrong)
    assert all(name.isidentifier() for name in FACTS)


def test_path_samples_count_hops_and_probes():
    """Two hops of three probes; the first answers twice, the last once."""
    nan = float("nan")
    path = PathSamples(
        hop=[1, 1, 1, 2, 2, 2],
        rtt_s=[0.001, 0.002, nan, 0.005, nan, nan],
        lost=[False, False, True, False, True, True],
        node=["192.0.2.1", "192.0.2.1", "", "192.0.2.9", "", ""],
        mark=["", "", "", "!H", "", ""],
        meta=Meta(tool="traceroute", facts=()),
    )
    assert path.facts() == [
        {
            "hop_count": 2, "responding_hop_count": 2, "probe_count": 6, "reply_count": 3,
            "last_hop_rtt_median_s": 0.005,
        }
    ]  # fmt: skip
    assert loads(path.dumps()) == path
    assert path.measured.tolist() == [True, True, False, True, False, False]


def test_flow_series_keep_printed_rates_and_omitted_intervals():
    """1,250,000 bytes in 0.1 s are 100 Mbit/s; the second row has a printed rate alone."""
    flow = FlowSeries(
        start_s=[0, 0.1, 0.2],
        duration_s=[0.1, 0.1, 0.1],
        payload_bytes=[1.25e6, float("nan"), 2.5e6],
        throughput_bps=[99e6, 50e6, float("nan")],
        omitted=[False, False, True],
        stream=["5", "5", "5"],
        side=["sender"] * 3,
    )
    assert flow.rate_bps.tolist() == pytest.approx([100e6, 50e6, 200e6])
    assert flow.measured.tolist() == [True, True, False]
    assert loads(flow.dumps()) == flow


def test_transfers_may_have_groups():
    transfers = TransferSamples(payload_bytes=[1, 2], duration_s=[1, 1], group=["a", "b"])
    assert loads(transfers.dumps()) == transfers


def test_formats_are_listed():
    done = CliRunner().invoke(commands, ["read", "--formats", "--json"])
    names = [one["name"] for one in json.loads(done.output)["formats"]]
    assert names[0] == "netcalc samples" or "pcap" in names
    assert names[-2:] == ["ping", "columns"]
    assert "ping: the output of ping" in CliRunner().invoke(commands, ["read", "--formats"]).output
    assert CliRunner().invoke(commands, ["read"]).exit_code == 2
