"""What times of messages and collectives say: latency, bus bandwidth, and its share of the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc.explain import Known, measurement
from netcalc.readers import read

INPUTS = Path(__file__).parents[1] / "readers" / "inputs" / "transfers"


def findings(name, line_bps):
    return measurement(read(INPUTS / name), Known(line_bps=line_bps))


def notices(finding):
    return {notice.code: notice.values for notice in finding.notices}


@pytest.mark.each(
    ("name", "index", "line_bps", "bus_bps"),
    [
        # by hand: what the files were made of, times 2 x 7 / 8, 3 / 4 and 2 x 15 / 16
        ("nccl_all_reduce.txt", 0, 400e9, 8 * 42e9),
        ("nccl_all_reduce.txt", 1, 400e9, 8 * 42e9),
        ("nccl_all_gather.txt", 0, 400e9, 8 * 20e9),
        ("imb_mpi1.txt", 1, 100e9, 8 * 2e9 * 1.875),
    ],
)
def test_bus_bandwidth_as_a_share_of_the_line(name, index, line_bps, bus_bps):
    said = notices(findings(name, line_bps)[index])
    assert said["sizes-bus"]["bus_bps"] == pytest.approx(bus_bps, rel=0.02)
    assert said["sizes-bus-line"]["share"] == pytest.approx(bus_bps / line_bps, rel=0.02)


def test_a_full_line_limits_beyond_the_size_of_half_the_rate():
    """By hand: 336 of 400 Gbit/s are 84 %; of 800 they are not full; n½ is 12 µs x 192 Gbit/s."""
    full, _ = findings("nccl_all_reduce.txt", 400e9)
    assert (full.cause.code, full.confidence, full.layer) == ("line", "medium", "payload")
    assert full.cause.sign("even_bytes") == pytest.approx(12e-6 * 24e9, rel=0.02)
    assert "beyond that the line limits" in full.sentence
    part, _ = findings("nccl_all_reduce.txt", 800e9)
    assert (part.cause.code, part.confidence) == ("unknown", "low")
    assert "ib_write_bw" in str(part.cause.test)


def test_more_than_the_line_is_said():
    """By hand: 336 of 200 Gbit/s: the ranks of a node have a network of their own."""
    above, _ = findings("nccl_all_reduce.txt", 200e9)
    assert notices(above)["sizes-bus-above"]["share"] == pytest.approx(1.68, rel=0.02)
    assert above.cause.code == "unknown"


def test_one_way_and_what_is_unknown():
    """A message is one way; of OSU's collectives the ranks are unknown; rates have a gap only."""
    (message,) = findings("osu_latency.txt", 100e9)
    assert "sizes-one-way" in notices(message)
    assert notices(message)["sizes-bus-line"]["share"] == pytest.approx(0.84, rel=0.02)
    (collective,) = findings("osu_allreduce.txt", 100e9)
    assert {"sizes-collective", "sizes-bus-unknown"} <= set(notices(collective))
    assert "sizes-bus-line" not in notices(collective)
    (rates,) = findings("osu_bw.txt", 100e9)
    assert "sizes-gap" in notices(rates)
    assert rates.cause.sign("latency_s") == pytest.approx(0.25e-6, rel=0.05)
    assert notices(rates)["sizes-bus-line"]["share"] == pytest.approx(0.984, rel=0.02)
