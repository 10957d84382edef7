"""The first loss of a transfer: the equations of the papers, written out once more."""

from __future__ import annotations

import math

import pytest

from netcalc.models.tcp.transfer_time import transfer_parts

MSS = 1448.0
"""IPv4 and timestamps in 1500 bytes."""


def papers(segments, loss, rtt_s, rto_s):
    """Second method: start and first loss by Cardwell (5, 11), its cost with SACK (RFC 6675).

    The repair takes a round trip; where it is lost, too, it waits for PFTK's series of timeouts.
    """
    any_lost = 1 - (1 - loss) ** segments
    started = min((1 - (1 - loss) ** segments) * (1 - loss) / loss + any_lost, segments)
    backoff = 1 + sum(2 ** (n - 1) * loss**n for n in range(1, 7))
    cost_s = loss * backoff / (1 - loss) * rto_s + (1 - loss) * rtt_s
    return started, any_lost * cost_s


@pytest.mark.each("segments", [1, 7, 40, 300, 5000])
@pytest.mark.each("loss", [1e-4, 0.003, 0.02, 0.05])
@pytest.mark.each("per_ack", [1, 2])
@pytest.mark.each(("rtt_s", "bandwidth_bps"), [(0.1, 1e9), (0.02, 5e6)])
def test_the_first_loss_by_the_papers(segments, loss, per_ack, rtt_s, bandwidth_bps):
    parts = transfer_parts(
        segments * MSS, bandwidth_bps=bandwidth_bps, rtt_s=rtt_s, loss_ratio=loss,
        congestion_control="reno", segments_per_ack=per_ack,
    )  # fmt: skip
    started, recovery_s = papers(segments, loss, rtt_s, rtt_s + 0.2)
    assert parts.recovery_s == pytest.approx(recovery_s, rel=1e-9)
    # derived: what is left takes at least its time on the line, in segments of 1538 bytes
    left_s = (segments - started) * 8 * 1538 / bandwidth_bps / (1 - loss)
    assert parts.steady_s >= left_s * (1 - 1e-12) - 1e-15


def test_without_data_or_with_all_lost_nothing_is_recovered():
    path = {"bandwidth_bps": 1e9, "rtt_s": 0.1}
    assert transfer_parts(0, **path, loss_ratio=0.01).recovery_s == 0
    every = transfer_parts(1e6, **path, loss_ratio=1.0)
    assert (every.recovery_s, every.steady_s) == (0.0, math.inf)
    assert transfer_parts(1e6, **path, loss_ratio=0.99).steady_s < math.inf
