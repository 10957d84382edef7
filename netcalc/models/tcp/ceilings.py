"""Ceilings of the rate of TCP on a path, and what each congestion control gets of a line.

The lowest ceiling, of loss, window, line and acknowledgements, of n flows, is the rate of a long
transfer; what limits a transfer is asked here, whether it is a time, a plan or an explanation.

Linux counts acknowledged bytes (RFC 3465), not acknowledgements, so that a delayed acknowledgement
does not slow the growth of a window: ``segments_per_ack`` is 1.

A loss-based sender is limited by loss and round trip, however fast the line; BBR by the line, as
long as the loss is below what it tolerates. All are capped by the line here.
"""

from __future__ import annotations

from functools import reduce
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.models.bounds import tcp_rate, tcp_window
from netcalc.models.sizes.headers import TIMESTAMP_BYTES
from netcalc.models.tcp._sending import ETHERNET_BYTES, wire_sizes
from netcalc.models.tcp.bbr import (
    LEAST_WINDOW_PACKETS,
    LOSS_TOLERANCE_RATIO,
    LOSS_TOLERANCE_RATIO_V3,
)
from netcalc.models.tcp.cubic import cubic_raw_window_packets, cubic_throughput_bps
from netcalc.models.tcp.loss_limited import (
    RANDOM_CONSTANT,
    mathis_constant,
    mathis_throughput_bps,
    reno_window_packets,
)
from netcalc.models.tcp.pftk import (
    pftk_approx_rate_pps,
    pftk_throughput_pps,
    tfrc_throughput_bps,
    timeout_sequence_s,
)
from netcalc.models.tcp.timers import MIN_RTO_S

CongestionControl: TypeAlias = Literal["cubic", "reno", "bbr"]

CONGESTION_CONTROLS: tuple[CongestionControl, ...] = ("cubic", "reno", "bbr")
"""Congestion controls whose answer to a loss is computed; CUBIC is the default of Linux."""


SEGMENTS_PER_BARE_ACK = 2.0
"""Segments that one acknowledgement on the line back covers (RFC 5681, 4.2)."""


class PathCeilings(NamedTuple):
    """Upper limits of the rate of TCP on a path; the lowest one is the rate."""

    loss_bps: FloatArray
    window_bps: FloatArray
    line_bps: FloatArray
    acknowledgements_bps: FloatArray


@model
def congestion_limit_bps(
    loss_ratio: ArrayLike,
    *,
    rtt_s: ArrayLike,
    mss_bytes: ArrayLike = 1448,
    congestion_control: CongestionControl = "cubic",
    flow_count: ArrayLike = 1,
    segments_per_ack: ArrayLike = 1,
    min_rto_s: ArrayLike = MIN_RTO_S,
) -> FloatArray:
    r"""Rate that a congestion control holds under loss, whatever the line and the window.

    .. math::

        X = n \frac{8\, MSS}{RTT} W(p), \quad W_{Reno} = \left(\frac{\sqrt{bp}}{1.31} + p^2
        \frac{E[Z]}{RTT}\right)^{-1}, \quad W_{CUBIC} = \max\left(1.054
        \left(\frac{RTT}{p}\right)^{3/4}, W_{Reno}\right)

    A sender with selective acknowledgements repairs a loss without a timeout, but one whose repair
    is lost: :math:`E[Z]` is that of :func:`netcalc.models.tcp.pftk.timeout_sequence_s`, from
    :math:`RTT + RTO_{min}`. BBR does not answer losses up to 20 %: the line is its limit. Above,
    four segments per round trip remain.

    Parameters
    ----------
    loss_ratio : array_like
        Random packet loss, without drops of a full buffer. [ratio]
    rtt_s : array_like
        Round-trip time of a full segment, queues included. [s]
    mss_bytes : array_like
        Payload of a segment. [byte]
    congestion_control : {'cubic', 'reno', 'bbr'}
        Congestion control of the sender; BBR is version 1. [text]
    flow_count : array_like
        Flows that share the transfer, each with this loss. [1]
    segments_per_ack : array_like
        Segments for which the window grows by one acknowledgement: 1 in Linux, which counts bytes;
        2 with delayed acknowledgements that are counted. [1]
    min_rto_s : array_like
        Minimum of the timeout above the round trip: 0.2 s in Linux. [s]

    Returns
    -------
    numpy.ndarray
        Rate of all flows together; ``inf`` (not loss limited) at a loss of 0 and for BBR up to a
        loss of 20 %, 0 at a loss of 1. [bit/s, TCP payload]

    See Also
    --------
    path_ceilings : With the window, the line and the acknowledgements.
    netcalc.models.tcp.loss_limited.mathis_throughput_bps
        Square-root law: low loss, no timeouts.
    netcalc.models.tcp.pftk.pftk_throughput_pps : Reno without SACK, in packets per second.
    netcalc.models.tcp.cubic.cubic_throughput_bps : CUBIC.
    netcalc.models.tcp.ceilings.congestion_controls : All of them, side by side.

    Notes
    -----
    Validity: independent random losses of single packets, flows that share no bottleneck buffer; a
    sender with SACK (all of today): one without waits for more timers, see PFTK. In ns-3, over 40
    ms, Reno is met to 15 % for losses of 0.1 to 10 %, CUBIC to 13 % up to 2 %; at 10 % CUBIC has
    two thirds of it.

    Range: that of cubic_throughput_bps; that of pftk_throughput_pps; loss_ratio (of BBR) up to 0.2.

    Defaults: congestion_control, segments_per_ack, min_rto_s.

    Symbols: :math:`p` loss_ratio, :math:`RTT` rtt_s, :math:`MSS` mss_bytes, :math:`n` flow_count,
    :math:`b` segments_per_ack. Not in the equation: congestion_control (which window), min_rto_s
    (in the timeouts).

    Examples
    --------
    A loss of 1 ppm at 40 ms, one flow of CUBIC and of Reno:

    >>> round(float(congestion_limit_bps(1e-6, rtt_s=0.04)) / 1e6)
    863
    >>> round(float(congestion_limit_bps(1e-6, rtt_s=0.04, congestion_control="reno")) / 1e6)
    379

    References
    ----------
    Mathis et al., CCR 27 (1997), doi:10.1145/263932.264023, eq. 3 and table 1; RFC 6675 (SACK) and
    RFC 6298 (timer); RFC 9438, eq. 5 and 6; Cardwell et al., ACM Queue 14 (2016),
    doi:10.1145/3012426.3022184; RFC 3465, 2.1 (byte counting).
    """
    loss, rtt = checks.ratio("loss_ratio", loss_ratio), checks.positive("rtt_s", rtt_s)
    segment_bits = 8.0 * checks.positive("mss_bytes", mss_bytes)
    flows = checks.whole("flow_count", flow_count, low=1)
    per_flow = _congestion_pps(
        loss,
        rtt,
        checks.choice("congestion_control", congestion_control, CONGESTION_CONTROLS),
        checks.positive("segments_per_ack", segments_per_ack),
        rtt + checks.non_negative("min_rto_s", min_rto_s),
    )
    return tcp_rate(congestion_limit_bps, flows * segment_bits * per_flow, rtt, flows)


@model
def path_ceilings(
    bandwidth_bps: ArrayLike,
    *,
    rtt_s: ArrayLike,
    loss_ratio: ArrayLike = 0.0,
    congestion_control: CongestionControl = "cubic",
    window_bytes: ArrayLike = np.inf,
    flow_count: ArrayLike = 1,
    reverse_bandwidth_bps: ArrayLike = np.inf,
    mtu_bytes: ArrayLike = 1500,
    ip_version: int = 4,
    tcp_option_bytes: ArrayLike = TIMESTAMP_BYTES,
    link_bytes: ArrayLike = ETHERNET_BYTES,
    segments_per_ack: ArrayLike = 1,
    min_rto_s: ArrayLike = MIN_RTO_S,
) -> PathCeilings:
    r"""Ceilings of the rate of TCP on a path: loss, window, line, acknowledgements.

    .. math::

        X = \min\left(X_{cc}, \frac{8 n W}{RTT}, (1 - p) R \frac{MSS}{M + o},
        2\, R_r \frac{MSS}{A + o}\right)

    with :math:`X_{cc}` of :func:`congestion_limit_bps`.

    Parameters
    ----------
    bandwidth_bps : array_like
        Rate of the line. [bit/s, line]
    rtt_s : array_like
        Round-trip time of a full segment, queues included. [s]
    loss_ratio : array_like
        Random packet loss, without drops of a full buffer. [ratio]
    congestion_control : {'cubic', 'reno', 'bbr'}
        Congestion control of the sender; BBR is version 1. [text]
    window_bytes : array_like
        Largest window of a flow: the smaller of both hosts' buffers; infinite for no limit. [byte]
    flow_count : array_like
        Flows that share the line equally. [1]
    reverse_bandwidth_bps : array_like
        Rate of the line back, which carries an acknowledgement for two segments; infinite for no
        limit. [bit/s, line]
    mtu_bytes : array_like
        Size of the full IP packets. [byte]
    ip_version : int
        4 or 6. [1]
    tcp_option_bytes : array_like
        TCP options: 12 with the timestamps of Linux. [byte]
    link_bytes : array_like
        Bytes of the link around each packet: 38 of Ethernet with preamble and gap, which pads a
        frame to 64, 0 where the rate counts IP. [byte]
    segments_per_ack : array_like
        Segments for which the window grows by one acknowledgement: 1 in Linux, which counts bytes.
        [1]
    min_rto_s : array_like
        Minimum of the timeout above the round trip: 0.2 s in Linux. [s]

    Returns
    -------
    PathCeilings
        ``loss_bps``, ``window_bps``, ``line_bps`` and ``acknowledgements_bps`` of all flows
        together; ``inf`` for what does not limit. [bit/s, TCP payload]

    Raises
    ------
    DomainError
        If the headers do not fit.

    See Also
    --------
    congestion_limit_bps : The loss alone.
    netcalc.models.tcp.transfer_time.transfer_time_s : The time of a transfer at the lowest of them.
    netcalc.models.rates.goodput.tcp_goodput_bps : The line alone.
    netcalc.models.tcp.window.throughput_bps : The window alone.

    Notes
    -----
    Validity: as :func:`congestion_limit_bps`; long transfers, after the window has grown.

    Typical: 1 Gbit/s, 20 ms, 0.01 %: loss 76 Mbit/s, line 941 Mbit/s; a window of 64 KiB, 26
    Mbit/s.

    Range: that of cubic_throughput_bps; that of pftk_throughput_pps; loss_ratio (of BBR) up to 0.2.

    Defaults: congestion_control, segments_per_ack, min_rto_s.

    Symbols: :math:`R` bandwidth_bps, :math:`RTT` rtt_s, :math:`p` loss_ratio, :math:`W`
    window_bytes, :math:`n` flow_count, :math:`R_r` reverse_bandwidth_bps, :math:`M` mtu_bytes,
    :math:`o` link_bytes. Not in the equation: ip_version, tcp_option_bytes (in MSS, the payload of
    a packet, and A, its headers), congestion_control, segments_per_ack, min_rto_s (in the loss).

    Examples
    --------
    >>> found = path_ceilings(1e9, rtt_s=0.04, loss_ratio=1e-4, window_bytes=65535)
    >>> [round(float(rate) / 1e6, 1) for rate in found]
    [37.9, 13.1, 941.4, inf]

    References
    ----------
    RFC 6349, 3.3.1 (window); RFC 3449, 2 (acknowledgements); IEEE 802.3 (line);
    :func:`congestion_limit_bps` (loss).
    """
    loss, rtt = checks.ratio("loss_ratio", loss_ratio), checks.positive("rtt_s", rtt_s)
    window = tcp_window(checks.positive("window_bytes", window_bytes, allow_inf=True))
    flows = checks.whole("flow_count", flow_count, low=1)
    mss, segment, ack = wire_sizes(
        mtu_bytes, ip_version=ip_version, tcp_option_bytes=tcp_option_bytes, link_bytes=link_bytes
    )
    per_flow = _congestion_pps(
        loss,
        rtt,
        checks.choice("congestion_control", congestion_control, CONGESTION_CONTROLS),
        checks.positive("segments_per_ack", segments_per_ack),
        rtt + checks.non_negative("min_rto_s", min_rto_s),
    )
    back = checks.positive("reverse_bandwidth_bps", reverse_bandwidth_bps, allow_inf=True)
    line = checks.positive("bandwidth_bps", bandwidth_bps) * (mss / segment)
    rates = (
        np.where(np.isinf(per_flow), np.inf, flows * 8.0 * mss * per_flow),
        flows * 8.0 * window / rtt,
        (1.0 - loss) * line,
        # Those that are lost are not acknowledged, so that the loss does not count here.
        np.where(np.isinf(back), np.inf, SEGMENTS_PER_BARE_ACK * mss * back / ack),
    )
    lowest = np.minimum(np.minimum(rates[0], rates[1]), np.minimum(rates[2], rates[3]))
    tcp_rate(path_ceilings, lowest, rtt, flows)
    shape = np.broadcast_shapes(*(np.shape(rate) for rate in rates))
    inputs = (per_flow, window, line, back, flows)
    return PathCeilings(
        *(checks.keep_nan(np.array(np.broadcast_to(rate, shape)), *inputs) for rate in rates)
    )


def _congestion_pps(
    loss: FloatArray, rtt: FloatArray, rule: str, per_ack: FloatArray, rto: FloatArray
) -> FloatArray:
    """Return the segments per second of a flow that its congestion control holds under loss."""
    if rule == "bbr":
        checks.note_outside_range(
            congestion_limit_bps, code="beyond-loss-tolerance", loss_ratio=loss
        )
        tolerated = loss <= LOSS_TOLERANCE_RATIO
        limited = np.where(tolerated, np.inf, LEAST_WINDOW_PACKETS * (1.0 - loss) / rtt)
        return np.where(np.isnan(loss + rtt), np.nan, limited)
    used = cubic_throughput_bps if rule == "cubic" else pftk_throughput_pps
    checks.note_outside_range(used, loss_ratio=loss)
    window = reno_window_packets(loss, constant=RANDOM_CONSTANT / np.sqrt(per_ack))
    # Losses of repairs, each of which waits for the timer.
    waits = loss * loss * timeout_sequence_s(loss, rto_s=rto)
    limit = 1.0 / (rtt / window + waits)
    if rule == "cubic":
        limit = np.maximum(cubic_raw_window_packets(loss, rtt_s=rtt) / rtt, limit)
    return np.where(loss == 1.0, 0.0, limit)


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
    mss_bytes: ArrayLike = 1448.0,
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

    Defaults: mss_bytes.

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
    rtt = checks.positive("rtt_s", rtt_s)
    least = np.minimum(line, window / rtt)
    share, limit = np.broadcast_arrays(loss, tolerated)
    if (is_beyond := share > limit).any():
        worst = float(share[is_beyond].max())
        least_limit = float(limit.min())
        checks.note(
            "beyond-loss-tolerance", name="loss_ratio", value=worst, limit=least_limit, rank=worst
        )
    rate = (1.0 - loss) * np.where(loss <= tolerated, line, least)
    rate = tcp_rate(bbr_throughput_bps, rate, rtt)
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
        ``reno_bps`` and ``cubic_bps`` with SACK, as ``congestion_limit_bps`` has them;
        ``mathis_bps``, the square-root law of periodic losses, ``pftk_bps``, Reno without SACK,
        ``pftk_approx_bps``, the same approximately; ``tfrc_bps``; ``bbr_bps`` version 1 and
        ``bbr3_bps`` version 3, all of payload that arrives. [bit/s, TCP payload]

    See Also
    --------
    bbr_throughput_bps : BBR alone.
    netcalc.models.tcp.ceilings.congestion_limit_bps : One of them, of several flows.

    Notes
    -----
    Validity: each formula's own, one long flow, random loss that does not come from its own
    queue. From 1 % of loss on timeouts count for a sender without SACK: PFTK.

    Typical: 1 Gbit/s, 20 ms, 0.01 %: Reno and CUBIC 76 Mbit/s, BBR the line.

    Range: that of mathis_throughput_bps.

    Symbols: :math:`p` loss_ratio, :math:`RTT` rtt_s, :math:`R` bandwidth_bps, :math:`MSS`
    mss_bytes, :math:`b` segments_per_ack, :math:`T_0` min_rto_s.

    Examples
    --------
    >>> found = congestion_controls(0.01, rtt_s=0.1, bandwidth_bps=100e6)
    >>> [round(float(rate) / 1e6, 2) for rate in found]
    [1.51, 1.42, 1.21, 1.32, 1.29, 1.51, 99.0, 99.0]

    References
    ----------
    The formulas of :func:`netcalc.models.tcp.loss_limited.mathis_throughput_bps`,
    :func:`netcalc.models.tcp.pftk.pftk_throughput_pps`,
    :func:`netcalc.models.tcp.pftk.tfrc_throughput_bps`,
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
    capped = [np.broadcast_to(np.minimum(rate, line), shape) for rate in rates]
    tcp_rate(congestion_controls, reduce(np.maximum, capped), rtt)
    return ControlRates(*(checks.keep_nan(np.array(rate), *arrays) for rate in capped))
