"""ARQ: packets sent one by one with seeded losses, and published cases."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.models.links import arq
from netcalc.models.rates import line_rate

LINK = {"packet_bytes": 125, "bandwidth_bps": 1e6}  # 1 ms a packet
PACKETS = 40_000


def losses(share, count, seed=5):
    return np.random.default_rng(seed).random(count) < share


@pytest.mark.each("share", [0.0, 0.01, 0.1, 0.5])
@pytest.mark.each("cycle", [1, 3, 10])
def test_stop_and_wait_packet_by_packet(share, cycle):
    """Second method: each attempt takes a cycle, a lost one as well."""
    lost = losses(share, PACKETS)
    sent = kept = 0
    for is_lost in lost:
        sent, kept = sent + cycle, kept + (not is_lost)
    times = {"rtt_s": (cycle - 1) * 1e-3, **LINK}
    found = arq.stop_and_wait_loss_utilization(lost.mean(), **times)
    assert found == pytest.approx(kept / sent, rel=1e-12)


def go_back_n(lost, cycle, window):
    """Second method: packets in slots; a loss is known a cycle later, and all since are void."""
    slot = kept = 0
    for is_lost in lost:
        if is_lost:
            slot += cycle  # its own slot, those of what follows it, and those of a full window
        else:
            kept, slot = kept + 1, slot + max(1, cycle / window)
    return kept / slot


@pytest.mark.each("share", [0.0, 0.01, 0.1, 0.5])
@pytest.mark.each(("cycle", "window"), [(1, 1), (10, 10), (10, 100), (10, 4), (101, 127)])
def test_go_back_n_packet_by_packet(share, cycle, window):
    lost = losses(share, PACKETS)
    found = arq.go_back_n_utilization(
        lost.mean(), window_packets=window, rtt_s=(cycle - 1) * 1e-3, **LINK
    )
    assert found == pytest.approx(go_back_n(lost, cycle, window), rel=1e-9)


@pytest.mark.each("share", [0.0, 0.01, 0.1])
@pytest.mark.each(("cycle", "window"), [(10, 1000), (10, 4), (101, 127)])
def test_selective_repeat_is_above_the_others(share, cycle, window):
    """Derived: every slot that the window fills carries a packet, lost or not."""
    times = {"rtt_s": (cycle - 1) * 1e-3, **LINK}
    filled = min(window, cycle) / cycle
    lost = losses(share, PACKETS).mean()
    found = arq.selective_repeat_utilization(lost, window_packets=window, **times)
    assert found == pytest.approx(filled * (1 - lost), rel=1e-12)
    again = arq.go_back_n_utilization(lost, window_packets=window, **times)
    alone = arq.stop_and_wait_loss_utilization(lost, **times)
    assert alone <= again <= found


def test_limits():
    """Identity: one packet in flight is stop-and-wait, and without loss what another file has."""
    times = {"rtt_s": 0.02, "packet_bytes": 1500, "bandwidth_bps": 1e7}
    share = [0.0, 0.2, 0.9, 1.0]
    alone = arq.stop_and_wait_loss_utilization(share, **times)
    assert alone[3] == 0
    for protocol in (arq.go_back_n_utilization, arq.selective_repeat_utilization):
        found = protocol(share, window_packets=1, **times)
        assert found == pytest.approx(alone, rel=1e-13)
    known = line_rate.stop_and_wait_utilization(1500, bandwidth_bps=1e7, rtt_s=0.02)
    assert alone[0] == pytest.approx(float(known), rel=1e-13)


def test_published_case():
    """Published: Kurose and Ross 3.4.2, 1000 bytes at 1 Gbit/s and 30 ms: 0.00027."""
    found = arq.stop_and_wait_loss_utilization(0, packet_bytes=1000, bandwidth_bps=1e9, rtt_s=0.03)
    assert round(float(found), 5) == 0.00027
