"""Forwarding devices: two limits, the frame where they cross, and the cost behind two rates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netcalc.errors import DomainError
from netcalc.models.rates import forwarding, line_rate


@pytest.mark.each(
    ("frame_bytes", "device_pps", "expected", "source"),
    [
        (64, 10_000, 10_000, "derived: the device, the line could do 148 810"),
        (1518, 10_000, 1e8 / 8 / 1538, "derived: the line, 8127"),
        (64, 1e6, 1e8 / 8 / 84, "published: RFC 2544, 148 810 at 100 Mbit/s"),
    ],
)
def test_the_smaller_limit_counts(frame_bytes, device_pps, expected, source):
    rate = forwarding.forwarding_rate_pps(frame_bytes, device_pps=device_pps, bandwidth_bps=100e6)
    assert rate == pytest.approx(expected), source


@given(device_pps=st.floats(100, 1e8), bandwidth_bps=st.floats(1e6, 1e12))
def test_both_limits_are_equal_at_the_crossover(device_pps, bandwidth_bps):
    size = float(forwarding.crossover_frame_bytes(device_pps, bandwidth_bps=bandwidth_bps))
    if device_pps > bandwidth_bps / (8 * 84):  # faster than the link sends the smallest frames
        assert np.isnan(size)
        return
    # identity: a frame of this size takes the device's time on the wire
    assert 8 * (size + 20) / bandwidth_bps == pytest.approx(1 / device_pps, rel=1e-9)


def test_twice_the_packets_are_worth_nothing_on_large_frames():
    # published: 20 000 against 10 000 pps: double on small frames, equal on full ones
    small, large = (
        [
            float(forwarding.forwarding_rate_pps(size, device_pps=pps, bandwidth_bps=100e6))
            for pps in (10_000, 20_000)
        ]
        for size in (64, 1518)
    )
    assert small[1] == 2 * small[0]
    assert large[1] == large[0]


def test_cost_of_the_published_example():
    # published: 10 100 pps at 64 bytes and 10 000 at 128; audited: 98.02 us + 15.47 ns/byte
    points = {"frame_bytes": 64, "other_rate_pps": 10_000, "other_frame_bytes": 128}
    packet = float(forwarding.device_packet_cost(10_100, **points))
    byte = float(forwarding.device_byte_cost(10_100, **points))
    assert packet == pytest.approx(98.02e-6, abs=0.005e-6)
    assert byte == pytest.approx(15.47e-9, abs=0.005e-9)
    # identity: the line goes through both points
    back = forwarding.affine_rate_pps([64, 128], packet_cost=packet, byte_cost=byte)
    assert back == pytest.approx([10_100, 10_000])


@given(
    packet_cost=st.floats(1e-9, 1e-3),
    byte_cost=st.floats(1e-12, 1e-6),
    sizes=st.tuples(st.integers(64, 700), st.integers(800, 9000)),
)
def test_costs_come_back_from_two_rates(packet_cost, byte_cost, sizes):
    first, second = forwarding.affine_rate_pps(sizes, packet_cost=packet_cost, byte_cost=byte_cost)
    points = {
        "frame_bytes": sizes[0],
        "other_rate_pps": second,
        "other_frame_bytes": sizes[1],
    }
    total = packet_cost + byte_cost * sizes[1]
    found = float(forwarding.device_packet_cost(first, **points))
    assert found == pytest.approx(packet_cost, abs=1e-11 * total)
    found = float(forwarding.device_byte_cost(first, **points))
    assert found == pytest.approx(byte_cost, abs=1e-11 * total)


def test_one_size_twice_tells_nothing():
    points = {"frame_bytes": 64, "other_rate_pps": 9000, "other_frame_bytes": 64}
    assert np.isnan(forwarding.device_byte_cost(10_000, **points))
    assert np.isnan(forwarding.device_packet_cost(10_000, **points))


def test_answers_are_packets_too():
    # published: one reply to each frame
    assert forwarding.both_directions_pps(4000, segments_per_ack=1) == 8000
    # derived: an acknowledgement of TCP covers two
    assert forwarding.both_directions_pps(4000) == 6000


def test_switch_with_ports_of_two_kinds():
    # published: data sheets of such switches print 9.52 Mpps; derived: 24 and 4 ports summed
    rate = forwarding.switch_rate_pps(64, port_bps=[100e6, 1e9], port_count=[24, 4])
    assert rate == pytest.approx((24 * 100e6 + 4 * 1e9) / 672)
    one = forwarding.switch_rate_pps([64, 1518], port_bps=1e9)
    assert one.tolist() == line_rate.frame_rate_pps([64, 1518], bandwidth_bps=1e9).tolist()


@pytest.mark.each(
    ("call", "named"),
    [
        (
            lambda: forwarding.switch_rate_pps(64, port_bps=[1e9, 1e8, 1e7], port_count=[1, 2]),
            "port_count",
        ),
        (
            lambda: forwarding.forwarding_rate_pps(64, device_pps=0, bandwidth_bps=1e8),
            "device_pps",
        ),
        (lambda: forwarding.crossover_frame_bytes(-1, bandwidth_bps=1e8), "device_pps"),
        (lambda: forwarding.affine_rate_pps(64, packet_cost=-1, byte_cost=0), "packet_cost"),
        (lambda: forwarding.both_directions_pps(1, segments_per_ack=0.5), "segments_per_ack"),
    ],
)
def test_impossible_numbers_are_named(call, named):
    with pytest.raises(DomainError, match=named):
        call()
