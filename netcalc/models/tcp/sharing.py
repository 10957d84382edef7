r"""One bottleneck and the sawtooth of the flows that share it: utilization, periods, buffers.

The buffer is counted in bandwidth-delay products of the empty path, the window likewise: at 1 the
link is just full, at 1 plus the buffer a packet is lost. Flows that lose packets at the same time
behave as one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.models.tcp.cubic import CUBIC_DECREASE


@model
def aimd_utilization(buffer_bdp: ArrayLike, *, decrease_factor: ArrayLike = 0.5) -> FloatArray:
    r"""Utilization of a bottleneck by one AIMD flow, against its buffer.

    .. math:: U = \frac{(W^2 - W_0^2) / 2}{(1 - W_0) + (W^2 - 1) / 2}, \quad W = 1 + B,
        \quad W_0 = \beta W, \quad U = 1 \text{ if } W_0 \ge 1

    Parameters
    ----------
    buffer_bdp : array_like
        Buffer in bandwidth-delay products. [1]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it, 0.5 for Reno. [ratio]

    Returns
    -------
    numpy.ndarray
        Share of the link that is used: 0.75 for Reno without a buffer. [ratio]

    See Also
    --------
    cubic_utilization : CUBIC.
    netcalc.models.tcp.policer.policed_throughput_bps : A policer instead of the buffer.

    Notes
    -----
    Validity: one long flow, or many synchronized, in congestion avoidance, a window of many
    packets. Time counts in rounds that grow with the queue.

    Range: everywhere.

    Symbols: :math:`B` buffer_bdp, :math:`\beta` decrease_factor.

    Examples
    --------
    >>> aimd_utilization([0, 0.75, 1]).round(4).tolist()
    [0.75, 0.9932, 1.0]

    References
    ----------
    Villamizar and Song, High performance TCP in ANSNET, CCR 24 (1994), doi:10.1145/205511.205520;
    Appenzeller, Keslassy and McKeown, Sizing router buffers, SIGCOMM 2004,
    doi:10.1145/1015467.1015499.
    """
    buffer = checks.non_negative("buffer_bdp", buffer_bdp)
    kept = checks.between("decrease_factor", decrease_factor, 0.0, 1.0)
    return _aimd_busy(buffer, kept)


@model
def cubic_utilization(
    buffer_bdp: ArrayLike, *, decrease_factor: ArrayLike = CUBIC_DECREASE
) -> FloatArray:
    r"""Utilization of a bottleneck by one CUBIC flow, against its buffer.

    .. math:: U = x + (1+B) \left(1 - x - \frac{1-\beta}{4}(1 - x^4)\right), \quad
        x = \sqrt[3]{\frac{B}{(1+B)(1-\beta)}}, \quad U = 1 \text{ if } x \ge 1

    Parameters
    ----------
    buffer_bdp : array_like
        Buffer in bandwidth-delay products. [1]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]

    Returns
    -------
    numpy.ndarray
        Share of the link that is used. [ratio]

    See Also
    --------
    aimd_utilization : AIMD.

    Notes
    -----
    Validity: one long flow outside the Reno-friendly region that loses each time it is back at
    its old peak, no fast convergence. The window grows with time and not with rounds, so that
    neither the scaling constant nor the round trip matters.

    Range: everywhere.

    Symbols: :math:`B` buffer_bdp, :math:`\beta` decrease_factor.

    Examples
    --------
    >>> cubic_utilization([0, 0.2, 0.5]).round(4).tolist()
    [0.925, 0.9867, 1.0]

    References
    ----------
    RFC 9438, eq. 1, integrated over a period.
    """
    buffer = checks.non_negative("buffer_bdp", buffer_bdp)
    kept = checks.between("decrease_factor", decrease_factor, 0.0, 1.0)
    return _cubic_busy(buffer, kept)


@model
def full_use_buffer_bdp(decrease_factor: ArrayLike) -> FloatArray:
    r"""Smallest buffer that keeps the link busy through the sawtooth of one flow.

    .. math:: B = (1 - \beta) / \beta

    Parameters
    ----------
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]

    Returns
    -------
    numpy.ndarray
        Buffer in bandwidth-delay products: 1 for Reno, 3/7 for CUBIC; ``inf`` at 0. [1]

    See Also
    --------
    buffer_rule_bytes : Rule of thumb for many flows.
    netcalc.models.tcp.bbr.bbr_inflight_limit_bytes : BBR.
    netcalc.models.tcp.policer.policer_full_use_bytes : A policer instead of the buffer.

    Notes
    -----
    Validity: as :func:`aimd_utilization`.

    Range: everywhere.

    Symbols: :math:`\beta` decrease_factor.

    Examples
    --------
    >>> full_use_buffer_bdp([0.5, 0.7]).round(6).tolist()
    [1.0, 0.428571]

    References
    ----------
    Villamizar and Song, CCR 24 (1994), doi:10.1145/205511.205520.
    """
    kept = checks.between("decrease_factor", decrease_factor, 0.0, 1.0)
    return (1.0 - kept) / kept


@model
def sawtooth_period_s(
    peak_window_packets: ArrayLike,
    *,
    rtt_s: ArrayLike,
    segments_per_ack: ArrayLike = 1.0,
    increase_packets: ArrayLike = 1.0,
    decrease_factor: ArrayLike = 0.5,
) -> FloatArray:
    r"""Time between two losses of an AIMD flow with a fixed peak window.

    .. math:: T = \frac{(1 - \beta) W}{\alpha} \, b \, RTT

    Parameters
    ----------
    peak_window_packets : array_like
        Window at the loss. [1]
    rtt_s : array_like
        Round-trip time, the mean over the period. [s]
    segments_per_ack : array_like
        Segments that one acknowledgement covers, b. [1]
    increase_packets : array_like
        Packets added to the window in b rounds, α. [1]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]

    Returns
    -------
    numpy.ndarray
        Period of the sawtooth. [s]

    See Also
    --------
    netcalc.models.tcp.loss_limited.reno_loss_interval_s : Reno.
    netcalc.models.tcp.cubic.cubic_loss_interval_s : CUBIC.

    Notes
    -----
    Validity: congestion avoidance, one loss per period.

    Range: everywhere.

    Defaults: segments_per_ack.

    Symbols: :math:`W` peak_window_packets, :math:`RTT` rtt_s, :math:`b` segments_per_ack,
    :math:`\alpha` increase_packets, :math:`\beta` decrease_factor.

    Examples
    --------
    >>> float(sawtooth_period_s(100, rtt_s=0.1))
    5.0

    References
    ----------
    Mathis et al., CCR 27 (1997), doi:10.1145/263932.264023, section 2.
    """
    peak = checks.non_negative("peak_window_packets", peak_window_packets)
    kept = checks.between("decrease_factor", decrease_factor, 0.0, 1.0)
    slowness = checks.positive("segments_per_ack", segments_per_ack) * checks.non_negative(
        "rtt_s", rtt_s
    )
    return peak * ((1.0 - kept) * slowness / checks.positive("increase_packets", increase_packets))


@model
def sawtooth_packets(
    peak_window_packets: ArrayLike,
    *,
    segments_per_ack: ArrayLike = 1.0,
    increase_packets: ArrayLike = 1.0,
    decrease_factor: ArrayLike = 0.5,
) -> FloatArray:
    r"""Packets between two losses of an AIMD flow: the reciprocal of the loss ratio.

    .. math:: N = \frac{b (1 - \beta^2)}{2 \alpha} W^2

    Parameters
    ----------
    peak_window_packets : array_like
        Window at the loss. [1]
    segments_per_ack : array_like
        Segments that one acknowledgement covers, b. [1]
    increase_packets : array_like
        Packets added to the window in b rounds, α. [1]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]

    Returns
    -------
    numpy.ndarray
        Packets of a period: 3/8 of the squared window for Reno. [1]

    Notes
    -----
    Validity: congestion avoidance, one loss per period; the area under a straight line, 0.07 % more
    than the sum over whole packets at a window of a thousand. At 20 packets it is 3.5 % more than
    the sum, at 10 7 %.

    Range: peak_window_packets from 20.

    Defaults: segments_per_ack.

    Symbols: :math:`W` peak_window_packets, :math:`b` segments_per_ack, :math:`\alpha`
    increase_packets, :math:`\beta` decrease_factor.

    Examples
    --------
    >>> float(sawtooth_packets(834))
    260833.5

    References
    ----------
    Mathis et al., CCR 27 (1997), doi:10.1145/263932.264023, section 2.
    """
    peak = checks.non_negative("peak_window_packets", peak_window_packets)
    kept = checks.between("decrease_factor", decrease_factor, 0.0, 1.0)
    rounds = checks.positive("segments_per_ack", segments_per_ack)
    rounds = rounds / checks.positive("increase_packets", increase_packets)
    return peak * peak * (0.5 * (1.0 - kept) * (1.0 + kept) * rounds)


@model
def buffer_rule_bytes(
    bandwidth_bps: ArrayLike, *, rtt_s: ArrayLike, flow_count: ArrayLike = 1.0
) -> FloatArray:
    r"""Buffer size by rule of thumb: BDP over the square root of the number of flows.

    .. math:: B = \frac{R \cdot RTT}{8 \sqrt{n}}

    Parameters
    ----------
    bandwidth_bps : array_like
        Rate of the bottleneck. [bit/s]
    rtt_s : array_like
        Mean round-trip time of the flows. [s]
    flow_count : array_like
        Long flows that lose independently; 1 for one, or for many synchronized flows. [1]

    Returns
    -------
    numpy.ndarray
        Buffer. [byte]

    See Also
    --------
    full_use_buffer_bdp : Exact for one flow.
    netcalc.models.tcp.bbr.bbr_inflight_limit_bytes : BBR.
    netcalc.models.tcp.ecn.ecn_threshold_bytes : Marks instead of losses.

    Notes
    -----
    Validity: Reno. The root needs hundreds of desynchronized long flows and no bursts. Flows keep
    in step below a hundred, and hardly ever above 500 (Appenzeller, section 3).

    Typical: 10 Gbit/s and 100 ms: 125 MB for one flow, 1.25 MB for 10,000.

    Range: flow_count (of several flows) from 100.

    Defaults: flow_count.

    Symbols: :math:`R` bandwidth_bps, :math:`RTT` rtt_s, :math:`n` flow_count.

    Examples
    --------
    10 Gbit/s and 250 ms: 2.5 Gbit, and 11 Mbit with 50,000 flows.

    >>> buffer_rule_bytes(10e9, rtt_s=0.25, flow_count=[1, 50_000]).round().tolist()
    [312500000.0, 1397542.0]

    References
    ----------
    Villamizar and Song, CCR 24 (1994), doi:10.1145/205511.205520; Appenzeller, Keslassy and
    McKeown, SIGCOMM 2004, doi:10.1145/1015467.1015499.
    """
    bits = checks.positive("bandwidth_bps", bandwidth_bps) * checks.non_negative("rtt_s", rtt_s)
    flows = checks.whole("flow_count", flow_count, low=1)
    checks.note_outside_range(
        buffer_rule_bytes, code="few-flows", where=flows > 1.0, flow_count=flows
    )
    return bits / (8.0 * np.sqrt(flows))


@model
def drain_s(buffer_bytes: ArrayLike, *, bandwidth_bps: ArrayLike) -> FloatArray:
    r"""Time to drain a full buffer: the queueing delay that it can add.

    .. math:: t = 8 B / R

    Parameters
    ----------
    buffer_bytes : array_like
        Data in the buffer. [byte]
    bandwidth_bps : array_like
        Rate of the link behind it. [bit/s]

    Returns
    -------
    numpy.ndarray
        Time until the buffer is empty. [s]

    See Also
    --------
    netcalc.models.queues.backlog.fluid_fill_s : Time until the buffer is full.
    netcalc.models.queues.backlog.fluid_backlog_bytes : Backlog at a time.

    Notes
    -----
    Validity: no arrivals meanwhile; with traffic, the delay of the last packet.

    Range: everywhere.

    Symbols: :math:`B` buffer_bytes, :math:`R` bandwidth_bps.

    Examples
    --------
    384 kB in a modem of 1 Mbit/s:

    >>> float(drain_s(384_000, bandwidth_bps=1e6))
    3.072

    References
    ----------
    Gettys and Nichols, Bufferbloat: dark buffers in the Internet, ACM Queue 9 (2011),
    doi:10.1145/2063166.2071893.
    """
    return checks.non_negative("buffer_bytes", buffer_bytes) / (
        checks.positive("bandwidth_bps", bandwidth_bps) / 8.0
    )


def _aimd_busy(buffer: FloatArray, kept: FloatArray) -> FloatArray:
    """Return the utilization by AIMD."""
    peak = 1.0 + buffer
    lowest = kept * peak
    idle = np.maximum(1.0 - lowest, 0.0)
    # The packets of a period, and the rounds that they take: short of 1 is what stays idle.
    rounds = idle + 0.5 * (peak - 1.0) * (peak + 1.0)
    return np.where(idle > 0.0, 1.0 - 0.5 * idle * idle / rounds, 1.0 + 0.0 * idle)


def _cubic_busy(buffer: FloatArray, kept: FloatArray) -> FloatArray:
    """Return the utilization by CUBIC."""
    peak, cut = 1.0 + buffer, 1.0 - kept
    full = np.minimum(np.cbrt(buffer / peak / cut), 1.0)  # the share of the period with a queue
    full = checks.keep_nan(np.where(cut > 0.0, full, 1.0), buffer, cut)
    below = 1.0 - full
    return full + below * peak * (1.0 - 0.25 * cut * (1.0 + full) * (1.0 + full * full))
