"""Tables of frame sizes on a line of Ethernet: the line is named, and claims know each row.

Expected values are derived: a frame of 64 B takes 84 B of the line with preamble and gap.
"""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import explain, readers
from netcalc.explain import Known, claim_of, measurement
from netcalc.samples import Table

GIGABIT = "frame size [B],rate [Mbps]\n64,761.9\n128,864.9\n512,962.4\n1518,987.0\n"
PACKETS = "frame size (B),rate (fps)\n64,1488095\n128,844594\n512,234962\n1518,81274\n"
SIZES = np.array([64.0, 128.0, 512.0, 1518.0])


def table(text):
    return readers.read(text.encode())


def rates_of(seconds):
    return measurement(Table(data={"frame_bytes": SIZES, "rate_pps": 1 / seconds}))


@pytest.mark.each("text", [GIGABIT, PACKETS])
def test_preamble_and_gap_are_no_device(text):
    """20 B at 1 Gbit/s are 160 ns, a byte 8 ns."""
    found = measurement(table(text))
    assert {one.binding.name for one in found} == {"implied-line"}
    first = found[0]
    assert first.binding.values["line_bps"] == 1e9
    assert first.binding.value == pytest.approx(1e9 * 64 / 84)
    assert first.missing == ()
    (costs,) = [one for one in first.limits if one.name == "frame-costs"]
    assert costs.for_comparison
    assert costs.values["packet_cost_s"] == pytest.approx(160e-9, rel=1e-2)
    assert "a line of 1 Gbit/s" in str(first)


def test_a_faster_line_stated_leaves_the_one_that_the_rates_show():
    (first, *_) = measurement(table(GIGABIT), Known(line_bps=10e9))
    assert first.binding.name == "implied-line"
    assert first.following.name == "line"
    (own, *_) = measurement(table(GIGABIT), Known(line_bps=1e9))
    assert {one.name for one in own.limits} == {"line"}


@pytest.mark.each(
    ("frame_s", "byte_s"),
    [
        (24 * 8e-9, 8e-9),  # 24 B per frame: no line of Ethernet
        (16 * 8e-9, 8e-9),
        (20 * 9e-9, 9e-9),  # 20 B at 889 Mbit/s: no rate of Ethernet
        (98e-6, 46e-9),
    ],
)
def test_other_costs_are_those_of_a_device(frame_s, byte_s):
    found = rates_of(frame_s + byte_s * SIZES)
    assert {one.binding.name for one in found} == {"frame-costs"}


@pytest.mark.each("line_bps", [10e6, 2.5e9, 100e9])
def test_each_rate_of_ethernet_is_known(line_bps):
    found = rates_of(8 * (SIZES + 20) / line_bps)
    assert found[0].binding.values["line_bps"] == line_bps


def test_the_curve_is_called_the_line():
    theory = explain.table_theory(table(GIGABIT), Known())
    assert list(theory.lines) == ["a line of 1 Gbit/s (Ethernet line)"]


@pytest.mark.each("line_bps", [None, 1e8, 1e9])
def test_the_values_of_a_table_are_its_own(line_bps):
    """761.9 Mbit/s stands in the file, whatever line is stated."""
    found = claim_of(table(GIGABIT), "761.9 Mbit/s", Known(line_bps=line_bps))
    assert not found.is_misconception
    assert (found.best.name, found.best.label) == ("measured", "64 B")
    packets = claim_of(table(PACKETS), "1488095 pps", Known(line_bps=line_bps))
    assert (packets.best.name, packets.best.label) == ("measured", "64 B")


def test_the_ceiling_is_that_of_each_size():
    """1 Gbit/s x 128/148 is 864.86 Mbit/s; 1500 B packets are no part of this table."""
    found = claim_of(table(GIGABIT), "864.86 Mbit/s", Known(line_bps=1e9))
    lines = {one.label: one.value for one in found.models if one.name == "line-at-size"}
    assert lines == pytest.approx(
        {"64 B": 1e9 * 64 / 84, "128 B": 1e9 * 128 / 148, "512 B": 1e9 * 512 / 532,
         "1518 B": 1e9 * 1518 / 1538}
    )  # fmt: skip
    assert not {"tcp-timestamps", "udp"} & {one.name for one in found.models}
    assert not found.is_misconception


def test_mistakes_are_those_of_each_size():
    """1 Gbit/s / (8 x 64) is 1,953,125 frames: 20 B forgotten; goodput 46 of 64 B is 718.75."""
    found = claim_of(table(PACKETS), "1953125 pps", Known(line_bps=1e9))
    assert (found.best.name, found.best.label) == ("frames-without-gap", "64 B")
    assert found.right.value == pytest.approx(1e9 / (8 * 84))
    goodput = table("frame_bytes,payload_bytes,goodput_Mbit/s\n64,46,540\n1518,1500,970\n")
    wrong = claim_of(goodput, "718.75 Mbit/s", Known(line_bps=1e9))
    assert (wrong.best.name, wrong.best.label) == ("no-preamble", "64 B")
    assert wrong.right.value == pytest.approx(1e9 * 46 / 84)


def test_datagrams_have_the_ceiling_of_their_size():
    """A datagram of 64 B takes 64 + 28 + 38 = 130 B of the line."""
    text = (
        "protocol,server,payload_bytes,write_count,wall_s,lost_count\n"
        "UDP,a,64,100000,0.2,0\nUDP,a,128,100000,0.3,0\n"
    )
    found = claim_of(table(text), "492.3 Mbit/s", Known(line_bps=1e9))
    assert found.best.name == "udp-of-size"
    assert found.best.value == pytest.approx(1e9 * 64 / 130)
