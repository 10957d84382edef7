"""Short transfers: an ACK-clocked packet simulation, published times, identities."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.tcp import short_transfers, slow_start


def ack_clocked_s(segments, packet_bytes, bandwidth_bps, base_rtt_s, first, largest=np.inf):
    """Second method: packet by packet, each acknowledgement opens the window by one."""
    clock_s = 8 * packet_bytes / bandwidth_bps
    acked_s, line_free_s, acks = [], 0.0, 0
    for number in range(segments):
        while number >= acks + min(first + acks, largest):
            line_free_s = max(line_free_s, acked_s[acks])
            acks += 1
        line_free_s += clock_s
        acked_s.append(line_free_s + base_rtt_s)
    return line_free_s


@pytest.mark.each(
    ("segments", "rate_bps", "rtt_s", "first"),
    [
        (6850, 100e6, 0.04, 10),
        (68, 10e9, 20e-6, 10),
        (10, 10e6, 0.1, 10),
        (11, 10e6, 0.1, 10),
        (70, 10e6, 0.1, 10),
        (71, 10e6, 0.1, 10),
        (187, 1e6, 0.1, 1),
        (1000, 56e3, 0.03, 3),
    ],
)
def test_sending_against_an_ack_clocked_simulation(segments, rate_bps, rtt_s, first):
    path = {"packet_bytes": 1500, "bandwidth_bps": rate_bps, "base_rtt_s": rtt_s}
    computed = short_transfers.sending_s(segments, initial_window_segments=first, **path)
    assert computed == pytest.approx(ack_clocked_s(segments, first=first, **path), rel=1e-9)


@pytest.mark.each("largest", [10, 40, 44, 640, 5000])
def test_sending_with_a_largest_window(largest):
    """Derived: the simulation; windows that are no doubling of the first merge two rounds."""
    path = {"packet_bytes": 1500, "bandwidth_bps": 100e6, "base_rtt_s": 0.04}
    computed = short_transfers.sending_s(6850, max_window_segments=largest, **path)
    simulated = ack_clocked_s(6850, first=10, largest=largest, **path)
    assert computed == pytest.approx(simulated, rel=0.01)
    # Never faster than the window or the line alone allows (identity).
    assert computed >= 6850 * 1500 * 8 / 100e6


def test_published_times():
    """Published: Grigorik, HPBN ch. 2: 96 ms on a warm connection."""
    warm = short_transfers.fetch_s(
        20480, rtt_s=0.056, server_s=0.04, initial_window_segments=64, handshake_round_trips=0
    )
    assert warm == pytest.approx(0.096)


def test_static_form_is_two_round_trips_more_than_sending():
    """Identity: without headers both describe the same sender; the book's worked numbers."""
    path = {"bandwidth_bps": 1e6, "initial_window_segments": 1}
    static = short_transfers.static_transfer_s(100e3, rtt_s=0.1, mss_bytes=536, **path)
    sending = short_transfers.sending_s(100e3 / 536, packet_bytes=536, base_rtt_s=0.1, **path)
    assert static == pytest.approx(0.2 + sending)
    assert static == pytest.approx(1.388512), "derived: 2RTT + O/R + 5(RTT+S/R) - 31 S/R by hand"


def test_fetch_without_a_rate_counts_round_trips():
    """Identity: (h + 1 + rounds - 1) RTT."""
    n = np.array([1, 14600, 14601, 1e6])
    rounds = slow_start.rounds(np.ceil(n / 1460))
    fetched = short_transfers.fetch_s(n, rtt_s=0.1, handshake_round_trips=2)
    assert fetched == pytest.approx(0.1 * (2 + rounds))
    capped = short_transfers.fetch_s(14600 * 5, rtt_s=0.1, max_window_segments=10)
    assert capped == pytest.approx(0.6), "derived: 1 handshake + 5 rounds of 10 segments"


def test_edges():
    assert short_transfers.sending_s(0, packet_bytes=1500, bandwidth_bps=1e6, base_rtt_s=0.1) == 0
    with pytest.raises(DomainError, match="payload_bytes"):
        short_transfers.fetch_s(-1, rtt_s=0.1)
