"""Figures of tables of tools: the points are read off the fixtures by eye."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.explain import Known
from netcalc.plots.measured import is_drawn, measured
from netcalc.readers import read
from netcalc.samples import Meta, Table

INPUTS = Path(__file__).parents[1] / "readers" / "inputs"


def points(name, known=None):
    plot = measured(read(INPUTS / name), known or Known())
    assert "no figure" not in plot.description.lower()
    return {
        one: (np.asarray(source.data["x"]).tolist(), np.asarray(source.data["y"]).tolist())
        for one, source in plot.sources.items()
    }


def test_sockets_over_time():
    """By eye: the first socket of ss_flent.txt has 13 segments of 1448 B and 60 us throughout."""
    found = points("counters/ss_flent.txt")
    x, y = found["192.0.2.2:34446 > 192.0.2.1:5201, window"]
    assert set(y) == {13 * 1448.0}
    assert x[0] == 0.0
    assert x == sorted(x)
    assert set(found["192.0.2.2:34446 > 192.0.2.1:5201, RTT"][1]) == {6e-05}
    plot = measured(read(INPUTS / "counters/ss_mem.txt"), Known())
    assert plot.figure.children[0].xaxis[0].ticker.min_interval == 1  # snapshots, without stamps


def test_one_way_delays():
    """By eye: -12.5, -12.4 and -12.1 ms there, 12.8, 12.9 and 13.4 ms back."""
    found = points("pings/owping.txt", Known(rtt_s=0.001))
    assert found["least"] == ([1.0, 2.0], pytest.approx([-0.0125, 0.0128]))
    assert found["largest"] == ([1.0, 2.0], pytest.approx([-0.0121, 0.0134]))
    assert set(found) == {"least", "median", "largest"}  # a round trip is not of one way
    packets = points("pings/owping_packets.txt")
    first = next(iter(packets.values()))
    assert first[0][:2] == [0.0, 1.0]
    assert first[1][:2] == pytest.approx([0.0002465248, 0.0001530647])


def test_transactions_of_netperf():
    """Identity: 28533.43 transactions in a second, one at a time, are one in 35.05 us."""
    found = points("transfers/netperf_rr.txt", Known(rtt_s=30e-6))
    assert found["mean time"] == ([1.0], pytest.approx([1 / 28533.43]))
    line = next(one for name, one in found.items() if "round trip" in name)
    assert line[1] == [30e-6, 30e-6]


def test_runs_of_netesto():
    found = points("transfers/netesto.csv", Known(line_bps=10e9))
    assert found["least"] == ([1.0, 2.0], [9300e6, 3100e6])
    assert found["largest"] == ([1.0, 2.0], [9420e6, 9420e6])
    assert found["smoothed RTT"] == ([1.0, 2.0], pytest.approx([0.0102, 0.0124]))
    assert found["rate (line)"][1] == [10e9, 10e9]


def test_rates_in_rows():
    """By eye: 94.1 and 93.8 Mbit/s; the third is unknown."""
    assert points("columns/rates.csv")["throughput_bps"] == ([1.0, 2.0], [94.1e6, 93.8e6])
    assert not is_drawn(Table(data={"a_bps": [np.nan]}, meta=Meta(units={"a_bps": "bit/s"})))


@pytest.mark.parametrize(
    "name",
    ["counters/ss_flent.txt", "counters/tcp_info.jsonl", "pings/owping.txt",
     "transfers/netperf_rr.txt", "transfers/netesto.csv", "columns/rates.csv"],
)  # fmt: skip
def test_the_command_draws_them(tmp_path, name):
    done = CliRunner().invoke(
        commands, ["read", str(INPUTS / name), "--plot", str(tmp_path / "a.html")]
    )
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a.html").stat().st_size > 10_000


def test_delays_without_the_numbers_of_their_packets_are_not_drawn():
    """A histogram of pScheduler and a column of somebody's own have no order of packets."""
    histogram = read(INPUTS / "transfers/pscheduler_latency.json")
    own = read(b"n,one_way_delay [ms]\n1,10\n2,11\n3,12\n")
    for table in (histogram, own):
        assert not is_drawn(table)
        assert measured(table, Known()).description.startswith("Nothing is drawn")


def test_the_line_for_datagrams_that_a_server_received():
    """By hand: 524,288 B in 16 datagrams are 32,768 B each, 32 KiB."""
    plot = measured(read(INPUTS / "iperf3/srv_udp.json"), Known(line_bps=1e9))
    assert any("32 KiB per packet" in name for name in plot.sources)
