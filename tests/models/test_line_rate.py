"""Line rate: frames per second against published tables and a count of bit times."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netcalc.errors import DomainError, DoubtWarning
from netcalc.models.rates import line_rate

# published: RFC 2544 section 9.1 sizes, RFC 5180 appendix A.1 table, truncated there
RFC5180 = [
    (10e6, 64, 14_880),
    (10e6, 1518, 812),
    (100e6, 64, 148_809),
    (100e6, 128, 84_459),
    (100e6, 1518, 8127),
    (1e9, 64, 1_488_095),
    (1e9, 1518, 81_274),
    (1e9, 1522, 81_063),
    (10e9, 64, 14_880_952),
    (10e9, 1518, 812_743),
]


@pytest.mark.each(("bandwidth_bps", "frame_bytes", "expected"), RFC5180)
def test_published_frame_rates(bandwidth_bps, frame_bytes, expected):
    rate = line_rate.frame_rate_pps(frame_bytes, bandwidth_bps=bandwidth_bps)
    assert int(rate) == expected


@pytest.mark.each(
    ("bandwidth_bps", "frame_bytes", "printed", "formula"),
    [  # the three entries of RFC 5180 that its own formula does not give
        (1e9, 4096, 30_396, 30_369),
        (10e9, 4096, 303_691, 303_692),
        (1e9, 9216, 13_534, 13_533),
    ],
)
def test_misprints_of_the_published_table(bandwidth_bps, frame_bytes, printed, formula):
    exact = Fraction(int(bandwidth_bps), 8 * (frame_bytes + 20))  # derived: exact arithmetic
    assert int(exact) == formula != printed
    assert int(line_rate.frame_rate_pps(frame_bytes, bandwidth_bps=bandwidth_bps)) == formula


@given(
    frame_bytes=st.integers(0, 10_000),
    bandwidth_bps=st.integers(1, 10**12),
    overhead_bytes=st.integers(1, 50),
)
def test_frame_rate_against_exact_arithmetic(frame_bytes, bandwidth_bps, overhead_bytes):
    # derived: one second divided by the bit times of a frame, in whole numbers
    exact = Fraction(bandwidth_bps, 8 * (frame_bytes + overhead_bytes))
    medium = {"overhead_bytes": overhead_bytes, "min_frame_bytes": 0}
    rate = line_rate.frame_rate_pps(frame_bytes, bandwidth_bps=bandwidth_bps, **medium)
    assert float(rate) == pytest.approx(float(exact), rel=1e-15)
    back = line_rate.required_bandwidth_bps(rate, frame_bytes=frame_bytes, **medium)
    assert float(back) == pytest.approx(bandwidth_bps, rel=1e-12)


def test_line_for_the_same_rate_at_twice_the_size():
    # published: a router test asks for 176 Mbit/s to keep 0.1488 Mpps at 128 bytes; exactly 176.19
    needed = line_rate.required_bandwidth_bps(1e8 / 8 / 84, frame_bytes=128)
    assert float(needed) == pytest.approx(176.190476e6, rel=1e-8)


def test_whole_pairs_saturate_a_line():
    """Identity: n times the goodput of a pair takes n pairs."""
    for cycle_s in (584e-6, 1e-3, 0.0123):
        each_bps = 8 * 1460 / cycle_s
        counts = np.arange(1.0, 1001.0)
        pairs = line_rate.saturating_pair_count(
            counts * each_bps, payload_bytes=1460, cycle_s=cycle_s
        )
        assert pairs.tolist() == counts.tolist()


def test_shares_of_the_line():
    # published: 761.9 Mbit/s at layer 2 for 64 bytes at 1 Gbit/s; derived: 64/84
    assert line_rate.frame_throughput_bps(64, bandwidth_bps=1e9) == pytest.approx(64e9 / 84)
    # identity: a full line is used fully
    full = line_rate.frame_rate_pps(200, bandwidth_bps=1e9)
    used = line_rate.line_utilization(full, frame_bytes=200, bandwidth_bps=1e9)
    assert used == pytest.approx(1.0, rel=1e-12)
    # outside: an offered load beyond the line is above 1, and says so
    with pytest.warns(DoubtWarning, match="more than it can"):
        assert line_rate.line_utilization(2 * full, frame_bytes=200, bandwidth_bps=1e9) > 1.9
    # identity: layer 2 rate is payload rate with the frame as payload
    frames = line_rate.payload_throughput_bps(64, wire_bytes=84, bandwidth_bps=1e9)
    assert frames == line_rate.frame_throughput_bps(64, bandwidth_bps=1e9)


def test_mix_against_the_frames_of_one_cycle():
    sizes, weights = [64, 570, 1518], [7, 4, 1]
    cycle = [size for size, count in zip(sizes, weights, strict=True) for _ in range(count)]
    # derived: twelve frames laid end to end
    assert line_rate.mix_mean_frame_bytes(sizes, weight=weights) == pytest.approx(np.mean(cycle))
    seconds = sum(8 * (size + 20) for size in cycle) / 10e9
    rate = line_rate.mix_rate_pps(sizes, weight=weights, bandwidth_bps=10e9)
    assert rate == pytest.approx(len(cycle) / seconds)
    scaled = line_rate.mix_rate_pps(sizes, weight=[28, 16, 4], bandwidth_bps=10e9)
    assert scaled == pytest.approx(float(rate))  # identity: FD.io writes the mix as 28:16:4


def test_mean_of_rates_is_not_the_rate_of_the_mean():
    # the trap: averaging the frame rates of the sizes counts small frames too often
    naive = np.average(line_rate.frame_rate_pps([64, 1518], bandwidth_bps=1e9), weights=[1, 1])
    assert line_rate.mix_rate_pps([64, 1518], weight=[1, 1], bandwidth_bps=1e9) < 0.2 * naive


@pytest.mark.each(
    ("call", "named"),
    [
        (lambda: line_rate.frame_rate_pps(-1, bandwidth_bps=1e9), "frame_bytes"),
        (lambda: line_rate.frame_rate_pps(64, bandwidth_bps=0), "bandwidth_bps"),
        (lambda: line_rate.mix_mean_frame_bytes([64, 128], weight=[1]), "weight"),
        (lambda: line_rate.mix_mean_frame_bytes([64, 128], weight=[0, 0]), "weight"),
        (lambda: line_rate.mix_mean_frame_bytes([], weight=[]), "frame_bytes"),
        (lambda: line_rate.mix_mean_frame_bytes([64], weight=[-1]), "weight"),
    ],
)
def test_impossible_numbers_are_named(call, named):
    with pytest.raises(DomainError, match=named):
        call()


def test_no_bytes_at_all_is_infinitely_many_frames():
    nothing = {"overhead_bytes": 0, "min_frame_bytes": 0}
    assert line_rate.frame_rate_pps(0, bandwidth_bps=1e9, **nothing) == np.inf
