r"""Congestion controls side by side: what each gets of a line with a given loss and round trip.

A loss-based sender is limited by loss and round trip, however fast the line; BBR by the line, as
long as the loss is below what it tolerates. All are capped by the line here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.models.tcp.bbr import (
    LEAST_WINDOW_PACKETS,
    LOSS_TOLERANCE_RATIO,
    LOSS_TOLERANCE_RATIO_V3,
)
from netcalc.models.tcp.ceilings import congestion_limit_bps
from netcalc.models.tcp.loss_limited import mathis_constant, mathis_throughput_bps
from netcalc.models.tcp.pftk import pftk_approx_rate_pps, pftk_throughput_pps
from netcalc.models.tcp.tfrc import tfrc_throughput_bps
from netcalc.models.tcp.timers import MIN_RTO_S


class ControlRates(NamedTuple):
    """Throughput by each congestion control, capped by the line, all in bit/s of payload."""

    reno_bps: FloatArray
    mathis_bps: FloatArray
    pftk_bps: FloatArray
    pftk_approx_bps: FloatArray
    tfrc_bps: FloatArray
    cubic_bps: FloatArray
    bbr_bps: FloatArray
    bbr3_bps: FloatArray


@model
def bbr_throughput_bps(
    loss_ratio: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    rtt_s: ArrayLike,
    mss_bytes: ArrayLike,
    loss_tolerance_ratio: ArrayLike = LOSS_TOLERANCE_RATIO,
) -> FloatArray:
    r"""Throughput of BBR under random loss.

    .. math:: X = (1 - p) R \text{ if } p \le p_0, \quad X = (1 - p)
        \min\left(R, \frac{8 \cdot 4\, MSS}{RTT}\right) \text{ beyond}

    Parameters
    ----------
    loss_ratio : array_like
        Share of packets lost. [ratio]
    bandwidth_bps : array_like
        Rate of the line, in payload. [bit/s]
    rtt_s : array_like
        Round-trip time. [s]
    mss_bytes : array_like
        Payload of a segment. [byte]
    loss_tolerance_ratio : array_like
        Loss up to which it keeps its rate: 0.2 in version 1, 0.02 in versions 2 and 3. [ratio]

    Returns
    -------
    numpy.ndarray
        Throughput in payload. [bit/s, layer of bandwidth_bps]

    See Also
    --------
    congestion_controls : All side by side.

    Notes
    -----
    Validity: one flow in steady state, independent losses. Beyond the tolerance each probe finds
    less than before, down to a window of four packets: a bound for long transfers, not a
    measurement. Version 3 falls more slowly just above its threshold.

    Typical: nearly the whole line up to 15 % of loss, where Reno at 100 ms has 0.1 Mbit/s.

    Range: loss_ratio (below the tolerance of the version) up to 0.2.

    Symbols: :math:`p` loss_ratio, :math:`R` bandwidth_bps, :math:`RTT` rtt_s, :math:`MSS`
    mss_bytes, :math:`p_0` loss_tolerance_ratio.

    Examples
    --------
    >>> line = {"bandwidth_bps": 100e6, "rtt_s": 0.1, "mss_bytes": 1460}
    >>> float(bbr_throughput_bps(0.1, **line))
    90000000.0

    References
    ----------
    Cardwell et al., ACM Queue 14 (2016), doi:10.1145/3012426.3022184, Fig. 8;
    draft-ietf-ccwg-bbr-04 (BBR.LossThresh, 2 %).
    """
    loss, line = (
        checks.ratio("loss_ratio", loss_ratio),
        checks.positive("bandwidth_bps", bandwidth_bps),
    )
    tolerated = checks.ratio("loss_tolerance_ratio", loss_tolerance_ratio)
    window = 8.0 * LEAST_WINDOW_PACKETS * checks.positive("mss_bytes", mss_bytes)
    least = np.minimum(line, window / checks.positive("rtt_s", rtt_s))
    share, limit = np.broadcast_arrays(loss, tolerated)
    if (is_beyond := share > limit).any():
        worst = float(share[is_beyond].max())
        least_limit = float(limit.min())
        checks.note(
            "beyond-loss-tolerance", name="loss_ratio", value=worst, limit=least_limit, rank=worst
        )
    rate = (1.0 - loss) * np.where(loss <= tolerated, line, least)
    return checks.keep_nan(rate, loss, line, tolerated, least)


@model
def congestion_controls(
    loss_ratio: ArrayLike,
    *,
    rtt_s: ArrayLike,
    bandwidth_bps: ArrayLike,
    mss_bytes: ArrayLike = 1448.0,
    segments_per_ack: ArrayLike = 1.0,
    min_rto_s: ArrayLike = MIN_RTO_S,
) -> ControlRates:
    r"""Throughput of all congestion controls on one path.

    .. math:: X = \min\left(R, X_i(p, RTT, MSS, b, RTT + T_0)\right)

    Parameters
    ----------
    loss_ratio : array_like
        Share of packets lost, each a loss event. [ratio]
    rtt_s : array_like
        Round-trip time, queues included. [s]
    bandwidth_bps : array_like
        Rate of the line, in payload. [bit/s]
    mss_bytes : array_like
        Payload of a segment. [byte]
    segments_per_ack : array_like
        Segments that one acknowledgement covers in the formulas: 1 where the sender counts bytes,
        as Linux does. [1]
    min_rto_s : array_like
        What the retransmission timeout has above the round trip: 0.2 in Linux. [s]

    Returns
    -------
    ControlRates
        ``reno_bps`` and ``cubic_bps`` with timeouts, as ``congestion_limit_bps`` has them;
        ``mathis_bps``, the square-root law of Reno alone, ``pftk_bps``, its formula with timeouts,
        ``pftk_approx_bps``, the same approximately; ``tfrc_bps``; ``bbr_bps`` version 1 and
        ``bbr3_bps`` version 3, all of payload that arrives. [bit/s, TCP payload]

    See Also
    --------
    bbr_throughput_bps : BBR alone.
    netcalc.models.tcp.ceilings.congestion_limit_bps : One of them, of several flows.

    Notes
    -----
    Validity: each formula's own, one long flow, random loss that does not come from its own
    queue. From 1 % of loss on timeouts count, and the square-root law is too fast.

    Typical: 1 Gbit/s, 20 ms, 0.01 %: Reno and CUBIC 70 Mbit/s, BBR the line.

    Range: that of mathis_throughput_bps.

    Symbols: :math:`p` loss_ratio, :math:`RTT` rtt_s, :math:`R` bandwidth_bps, :math:`MSS`
    mss_bytes, :math:`b` segments_per_ack, :math:`T_0` min_rto_s.

    Examples
    --------
    >>> found = congestion_controls(0.01, rtt_s=0.1, bandwidth_bps=100e6)
    >>> [round(float(rate) / 1e6, 2) for rate in found]
    [1.21, 1.42, 1.21, 1.32, 1.29, 1.21, 99.0, 99.0]

    References
    ----------
    The formulas of :func:`netcalc.models.tcp.loss_limited.mathis_throughput_bps`,
    :func:`netcalc.models.tcp.pftk.pftk_throughput_pps`,
    :func:`netcalc.models.tcp.tfrc.tfrc_throughput_bps`,
    :func:`netcalc.models.tcp.ceilings.congestion_limit_bps` and :func:`bbr_throughput_bps`.
    """
    loss, rtt = checks.ratio("loss_ratio", loss_ratio), checks.positive("rtt_s", rtt_s)
    line = checks.positive("bandwidth_bps", bandwidth_bps)
    segment, acked = (
        checks.positive("mss_bytes", mss_bytes),
        checks.positive("segments_per_ack", segments_per_ack),
    )
    rto = rtt + checks.non_negative("min_rto_s", min_rto_s)
    timed = {"rtt_s": rtt, "rto_s": rto, "segments_per_ack": acked}
    path = {"mss_bytes": segment, "rtt_s": rtt}
    bits = 8.0 * segment
    own = {**path, "segments_per_ack": acked, "min_rto_s": rto - rtt}
    checks.note_outside_range(mathis_throughput_bps, loss_ratio=loss)
    rates = (
        congestion_limit_bps(loss, **own, congestion_control="reno"),
        mathis_throughput_bps(loss, **path, constant=mathis_constant(acked)),
        bits * pftk_throughput_pps(loss, **timed),
        bits * pftk_approx_rate_pps(loss, **timed) * (1.0 - loss),
        tfrc_throughput_bps(loss, **path, segments_per_ack=acked) * (1.0 - loss),
        congestion_limit_bps(loss, **own, congestion_control="cubic"),
        bbr_throughput_bps(loss, **path, bandwidth_bps=line),
        bbr_throughput_bps(
            loss, **path, bandwidth_bps=line, loss_tolerance_ratio=LOSS_TOLERANCE_RATIO_V3
        ),
    )
    arrays = np.broadcast_arrays(loss, rtt, line, segment, acked, rto)
    shape = arrays[0].shape
    capped = (np.broadcast_to(np.minimum(rate, line), shape) for rate in rates)
    return ControlRates(*(checks.keep_nan(np.array(rate), *arrays) for rate in capped))
