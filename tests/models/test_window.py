"""Window limits: published tables, a sliding window counted packet by packet, inverses."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError, NotFiniteWarning
from netcalc.models.tcp import window


@pytest.mark.each(
    ("bandwidth_bps", "rtt_s", "kilobytes", "source"),
    [
        (1.536e6, 0.050, 9.60, "published: RFC 6349 3.3.1, T1"),
        (44.21e6, 0.010, 55.26, "published: RFC 6349 3.3.1, T3"),
        (100e6, 0.005, 62.50, "published: RFC 6349 3.3.1, 100M"),
        (1e9, 0.001, 125.00, "published: RFC 6349 3.3.1, 1G"),
        (45e6, 0.050, 281.25, "published: Peterson and Davie 1.5.2"),
    ],
)
def test_bdp_of_published_tables(bandwidth_bps, rtt_s, kilobytes, source):
    computed = window.bdp_bytes(rtt_s, bandwidth_bps=bandwidth_bps)
    assert computed == pytest.approx(kilobytes * 1000, abs=5), source


def test_a_window_of_one_bdp_fills_the_line_exactly():
    """Identity: the BDP is the window at which both limits are equal."""
    rtt_s = np.array([0.001, 0.03, 0.3])
    bdp = window.bdp_bytes(rtt_s, bandwidth_bps=45e6)
    assert window.throughput_bps(bdp, rtt_s=rtt_s) == pytest.approx(45e6, rel=1e-12)
    capped = window.throughput_bps(10 * bdp, rtt_s=rtt_s, bandwidth_bps=45e6)
    np.testing.assert_array_equal(capped, 45e6)
    packets = window.bdp_packets(rtt_s, bandwidth_bps=45e6, packet_bytes=1500)
    assert packets * 1500 == pytest.approx(bdp)


def sliding_window_bps(packets_in_window, packet_bytes, bandwidth_bps, base_rtt_s, total=4000):
    """Second method: every packet leaves when the line is free and the window open."""
    clock_s = 8 * packet_bytes / bandwidth_bps
    acked_s = []
    line_free_s = 0.0
    for number in range(total):
        opened_s = acked_s[number - packets_in_window] if number >= packets_in_window else 0.0
        line_free_s = max(line_free_s, opened_s) + clock_s
        acked_s.append(line_free_s + base_rtt_s)
    half = total // 2
    return 8 * packet_bytes * (total - half) / (acked_s[-1] - acked_s[half - 1])


@pytest.mark.each("packets_in_window", [1, 10, 16, 17, 18, 40])
def test_serialized_window_against_packet_simulation(packets_in_window):
    path = {"packet_bytes": 1500, "bandwidth_bps": 10e6, "base_rtt_s": 0.02}
    computed = window.serialized_throughput_bps(packets_in_window, **path)
    simulated = sliding_window_bps(packets_in_window, **path)
    assert computed == pytest.approx(simulated, rel=0.01), "derived: simulation, edge effects 1 %"


def test_serialized_window_approaches_the_plain_one():
    """Identity: without serialization both forms agree; stop-and-wait of Kurose and Ross 3.4."""
    plain = window.throughput_bps(15000, rtt_s=0.1)
    fast = window.serialized_throughput_bps(
        10, packet_bytes=1500, bandwidth_bps=1e15, base_rtt_s=0.1
    )
    assert fast == pytest.approx(plain, rel=1e-9)
    stop_and_wait = window.serialized_throughput_bps(
        1, packet_bytes=1000, bandwidth_bps=1e9, base_rtt_s=0.03
    )
    assert stop_and_wait == pytest.approx(267e3, abs=500), "published: 267 kbit/s"


@pytest.mark.each(
    ("window_bytes", "shift"),
    [(0, 0), (65535, 0), (65536, 1), (131070, 1), (131071, 2), (1_073_725_440, 14)],
)
def test_window_shift_at_its_steps(window_bytes, shift):
    """Derived: the loop of RFC 7323, 2, done by hand at both sides of a step."""
    assert window.window_shift(window_bytes) == shift
    assert window.max_window_bytes(shift) >= window_bytes


def test_window_above_the_largest_is_outside_the_model():
    assert np.isnan(window.window_shift(1_073_725_441))
    # published: RFC 7323, 2.3: a shift above 14 counts as 14
    shifts = window.window_shift([65_535, 65_536, 1_073_725_441], at_most_14=True)
    assert shifts.tolist() == [0, 1, 14]
    assert np.isnan(window.window_shift(np.nan, at_most_14=True))
    with pytest.raises(DomainError, match="shift"):
        window.max_window_bytes(15)


@pytest.mark.each(
    ("bandwidth_bps", "space", "expected_s", "source"),
    [
        (1.5e6, 2**32, 6.4 * 3600, "published: Peterson and Davie, T1: 6.4 hours"),
        (155e6, 2**32, 4 * 60, "published: Peterson and Davie, OC-3: 4 min"),
        (100e6, 2**31, 170, "published: RFC 7323, 100 Mbit/s: 170 s"),
        (1e9, 2**31, 17, "published: RFC 7323, 1 Gbit/s: 17 s"),
    ],
)
def test_sequence_wrap(bandwidth_bps, space, expected_s, source):
    computed = window.sequence_wrap_s(bandwidth_bps, sequence_space_bytes=space)
    assert computed == pytest.approx(expected_s, rel=0.09), source


def test_as_many_connections_as_windows():
    """Identity: a path of n windows takes n connections, also where the product is decimal."""
    for mbps in (1.1, 7.3, 87.2, 333.3):
        window_bytes = round(mbps * 1e6 * 0.007 / 8)
        one_bps = 8 * window_bytes / 0.007
        for count in range(1, 1001):
            product = window.bdp_bytes(0.007, bandwidth_bps=count * one_bps)
            assert window.connection_count(product, window_bytes=window_bytes) == count


def test_impossible_and_not_finite():
    with pytest.raises(DomainError) as refused:
        window.throughput_bps(65535, rtt_s=0)
    assert (refused.value.code, refused.value.name) == ("not-positive", "rtt_s")
    with pytest.raises(DomainError, match="bandwidth_bps"):
        window.bdp_bytes(0.1, bandwidth_bps=-1)
    with pytest.warns(NotFiniteWarning):
        result = window.throughput_bps([1.0, np.nan], rtt_s=1.0)
    assert result[0] == 8.0
    assert np.isnan(result[1])
    assert np.isnan(window.throughput_bps(np.nan, rtt_s=1.0))
