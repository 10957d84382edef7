"""Recorded puzzles: real tools over paths of known truth, whose limit is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netcalc import readers
from netcalc.explain import Known, measurement

PUZZLES = Path(__file__).parents[2] / "data" / "puzzles"
MANIFEST = json.loads((PUZZLES / "manifest.json").read_text(encoding="utf-8"))["puzzles"]

TRUTH = {  # as the answer of each puzzle says
    "window": "receiver-window",
    "slow_start": "slow-start",
    "stall": "nagle-delayed-ack",
    "small_packets": "packet-rate",
    "sender": "line",
    "bloat": "line",
    "lossy": "random-loss",
    "line": "line",
    "acknowledgements": "reverse-path",
    "fragments": "line",
}


@pytest.mark.each("puzzle", MANIFEST, ids=[one["name"] for one in MANIFEST])
def test_the_limit_of_a_recorded_puzzle_is_named(puzzle):
    finding = measurement(readers.read(PUZZLES / puzzle["file"]), Known(**puzzle["known"]))[0]
    assert finding.as_dict()["cause"] == TRUTH[puzzle["name"]], str(finding)
    assert finding.is_explained


def test_the_device_s_rate_follows_from_three_sizes():
    """Its truth is 2000 packets per second, one for each 0.5 ms."""
    file = next(one["file"] for one in MANIFEST if one["name"] == "small_packets")
    found = measurement(readers.read(PUZZLES / file), Known(line_bps=100e6))
    rates = [limit.values["device_pps"] for one in found for limit in one.limits[:1]]
    assert rates == pytest.approx([2000.0] * 3, rel=0.01)


def test_the_fragments_of_the_tunnel_fill_the_line():
    """By hand: 1396 and 52 B with 38 B each are 1524 B of Ethernet, for 1400 B of data.

    The capture has no headers of Ethernet. 439 datagrams from 84.45 to 621.434 ms, each of 1400 B,
    are 9.1355 Mbit/s; iperf3's 4 B there and back before them are no part of it.
    """
    file = next(one["file"] for one in MANIFEST if one["name"] == "fragments")
    found = measurement(readers.read(PUZZLES / file), Known(line_bps=10e6))
    datagrams = found[0]
    assert datagrams.binding.value == pytest.approx(10e6 * 1400 / 1524)
    assert datagrams.measured == pytest.approx(8 * 1400 * 438 / 0.536984, rel=1e-3)
    later = [one.label for one in found if "fragments-seen" in {said.code for said in one.notices}]
    assert later == ["UDP"], "the control connection has none"
