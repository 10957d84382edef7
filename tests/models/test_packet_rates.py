"""What a throughput reading means: packets, wire rate, and who waits for whom."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.rates import line_rate
from netcalc.models.sizes import framing


@pytest.mark.each(
    ("goodput_bps", "captured_bytes", "expected", "source"),
    [
        (0.281e6, 64, 3512.5, "derived: audit of the article, 100-yuan router at 64 bytes"),
        (0.907e6, 64, 11_337.5, "derived: audit of the article, 1000-yuan router at 64 bytes"),
        (91.212e6, 1514, 7809.2, "derived: audit of the article, 1000-yuan router at 1514 bytes"),
        (43.633e6, 1514, 3735.7, "derived: audit of the article, 100-yuan router, best result"),
    ],
)
def test_packets_behind_a_reading(goodput_bps, captured_bytes, expected, source):
    payload = framing.captured_tcp_payload_bytes(captured_bytes)
    rate = line_rate.goodput_rate_pps(goodput_bps, payload_bytes=payload)
    assert rate == pytest.approx(expected, abs=0.05), source
    back = line_rate.rate_goodput_bps(rate, payload_bytes=payload)
    assert back == pytest.approx(goodput_bps)


def test_headers_of_a_full_line():
    # audited: the "6 Mbit/s" is 5.85 with timestamps and 5.07 without
    found = line_rate.header_bandwidth_bps([1448, 1460], wire_bytes=1538, bandwidth_bps=100e6)
    assert found / 1e6 == pytest.approx([5.85, 5.07], abs=0.005)
    assert np.isnan(line_rate.header_bandwidth_bps(90, wire_bytes=84, bandwidth_bps=1e8))


def test_the_constant_is_right_at_a_full_line_only():
    # audited: the constant finds 9346 pps where there are 3512, and 10 278 for 11 337
    low = line_rate.constant_offset_rate_pps([0.281e6, 0.907e6], frame_bytes=64)
    assert np.floor(low).tolist() == [9346, 10_278]
    # derived: with the line full, the right constant and the wire size, both ways agree
    full = line_rate.constant_offset_rate_pps(
        100e6 * 1448 / 1538, frame_bytes=1518, offset_bps=100e6 * 90 / 1538
    )
    assert full == pytest.approx(100e6 / 8 / 1538)


def test_wire_rate_is_proportional():
    # audited: 91.212 Mbit/s of 1460 bytes is 96.08 on the wire
    rate = line_rate.goodput_wire_bps(91.212e6, payload_bytes=1460, wire_bytes=1538)
    assert rate / 1e6 == pytest.approx(96.08, abs=0.01)
    half = line_rate.goodput_wire_bps(45.606e6, payload_bytes=1460, wire_bytes=1538)
    assert half == pytest.approx(float(rate) / 2)


def test_stop_and_wait_utilization():
    # published: Kurose and Ross section 3.4: 0.00027 and 267 kbit/s
    share = float(line_rate.stop_and_wait_utilization(1000, bandwidth_bps=1e9, rtt_s=0.03))
    assert share == pytest.approx(0.00027, abs=0.000005)
    assert share * 1e9 == pytest.approx(267e3, abs=500)
    # identity: no distance, no waiting; no packet, no use; neither, no answer
    assert line_rate.stop_and_wait_utilization(1000, bandwidth_bps=1e9, rtt_s=0) == 1
    assert line_rate.stop_and_wait_utilization(0, bandwidth_bps=1e9, rtt_s=0.03) == 0
    assert np.isnan(line_rate.stop_and_wait_utilization(0, bandwidth_bps=1e9, rtt_s=0))


def test_pairs_up_to_saturation():
    # audited: one pair makes 20 Mbit/s of 1460 bytes per 584 us; five fill 94.93 Mbit/s
    setting = {"payload_bytes": 1460, "cycle_s": 584e-6}
    rates = line_rate.stop_and_wait_goodput_bps([0, 1, 4, 5, 100], capacity_bps=94.93e6, **setting)
    assert rates / 1e6 == pytest.approx([0, 20, 80, 94.93, 94.93])
    pairs = line_rate.saturating_pair_count([94.93e6, 20e6, 20.1e6], **setting)
    assert pairs.tolist() == [5, 1, 2]


@pytest.mark.each(
    ("call", "named"),
    [
        (lambda: line_rate.goodput_rate_pps(1e6, payload_bytes=0), "payload_bytes"),
        (lambda: line_rate.rate_goodput_bps(-1, payload_bytes=10), "rate_pps"),
        (
            lambda: line_rate.goodput_wire_bps(-1, payload_bytes=10, wire_bytes=84),
            "goodput_bps",
        ),
        (
            lambda: line_rate.stop_and_wait_goodput_bps(
                1.5, payload_bytes=1, cycle_s=1, capacity_bps=1
            ),
            "pair_count",
        ),
        (
            lambda: line_rate.stop_and_wait_utilization(1, bandwidth_bps=0, rtt_s=1),
            "bandwidth_bps",
        ),
        (
            lambda: line_rate.saturating_pair_count(1e6, payload_bytes=10, cycle_s=0),
            "cycle_s",
        ),
    ],
)
def test_impossible_numbers_are_named(call, named):
    with pytest.raises(DomainError, match=named):
        call()
