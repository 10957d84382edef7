"""Flows that share: the sawtooth at one bottleneck, its buffer, and fairness of rates.

The buffer is counted in bandwidth-delay products of the empty path, the window likewise: at 1 the
link is just full, at 1 plus the buffer a packet is lost. Flows that lose packets at the same time
behave as one.

For fairness (Jain's index, max-min, proportional) flows, links and demands are parallel lists.
A network is a list of link capacities and two more lists that say which flow crosses which link,
one pair per crossing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError
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
    peak = 1.0 + buffer
    lowest = kept * peak
    idle = np.maximum(1.0 - lowest, 0.0)
    # The packets of a period, and the rounds that they take: short of 1 is what stays idle.
    rounds = idle + 0.5 * (peak - 1.0) * (peak + 1.0)
    return np.where(idle > 0.0, 1.0 - 0.5 * idle * idle / rounds, 1.0 + 0.0 * idle)


def _cubic_busy(buffer: FloatArray, kept: FloatArray) -> FloatArray:
    peak, cut = 1.0 + buffer, 1.0 - kept
    full = np.minimum(np.cbrt(buffer / peak / cut), 1.0)  # the share of the period with a queue
    full = checks.keep_nan(np.where(cut > 0.0, full, 1.0), buffer, cut)
    below = 1.0 - full
    return full + below * peak * (1.0 - 0.25 * cut * (1.0 + full) * (1.0 + full * full))


@model
def jain_index(allocations: ArrayLike) -> FloatArray:
    r"""Jain's fairness index: 1 if all shares are equal, 1/n if one flow has everything.

    .. math:: J = \frac{(\sum x_i)^2}{n \sum x_i^2}

    Parameters
    ----------
    allocations : 1-D array_like
        Share of each flow: rates, bytes, anything of one unit. [1]

    Returns
    -------
    numpy.ndarray
        Index from 1/n to 1; nan if all are 0. [ratio]

    See Also
    --------
    max_min_bps : Max-min fair shares of one link.
    proportional_long_flow_bps : Proportionally fair shares.

    Notes
    -----
    Validity: any number of shares; k of n with the same and the others with nothing give k/n.
    Range: everywhere.

    Symbols: :math:`x_i` allocations.

    Examples
    --------
    >>> round(jain_index([9, 1]), 6)
    0.609756

    References
    ----------
    Jain, Chiu and Hawe, A quantitative measure of fairness and discrimination, DEC TR-301 (1984),
    doi:10.48550/arXiv.cs/9809099.
    """
    shares = checks.one_dimensional("allocations", checks.non_negative("allocations", allocations))
    shares = shares / shares.max()
    return np.asarray(shares.sum() ** 2 / (shares.size * (shares * shares).sum()))


@model
def jain_one_deviating(deviation: ArrayLike, *, flow_count: ArrayLike) -> FloatArray:
    r"""Jain's fairness index if one of n equal flows gets more or less than the others.

    .. math:: J = \frac{(n + \delta)^2}{n (n - 1 + (1 + \delta)^2)}

    Parameters
    ----------
    deviation : array_like
        Excess of the one flow over the share of the others, relative to that share: -1 or greater.
        [1]
    flow_count : array_like
        Flows, the deviating one included. [1]

    Returns
    -------
    numpy.ndarray
        Index from 1/n to 1. [ratio]

    Notes
    -----
    Validity: exact; towards 1/n as the one takes all.

    Range: everywhere.

    Symbols: :math:`\delta` deviation, :math:`n` flow_count.

    Examples
    --------
    >>> round(float(jain_one_deviating(1.0, flow_count=5)), 12)
    0.9

    References
    ----------
    Peterson, Brakmo and Davie, TCP Congestion Control: A Systems Approach, 3.3.
    """
    delta = checks.at_least("deviation", deviation, -1.0)
    count = checks.whole("flow_count", flow_count, low=1)
    # Divided by the share of the one, so that a huge share does not overflow.
    deviating = 1.0 + delta
    scale = np.maximum(deviating, 1.0)
    mean = (count - 1.0) / scale + deviating / scale
    squares = (count - 1.0) / (scale * scale) + (deviating / scale) * (deviating / scale)
    return np.asarray((mean / count) * (mean / squares))


@model
def max_min_bps(
    demand_bps: ArrayLike, *, capacity_bps: float, weight: ArrayLike = 1.0
) -> FloatArray:
    r"""Max-min fair rates of flows on one link, none above its demand.

    .. math:: x_i = \min(d_i, w_i \lambda), \quad \sum_i x_i = \min\left(C, \sum_i d_i\right)

    Parameters
    ----------
    demand_bps : 1-D array_like
        Demand of each flow. [bit/s]
    capacity_bps : float
        Rate of the link. [bit/s]
    weight : 1-D array_like
        Weight of each flow, or one for all. [1]

    Returns
    -------
    numpy.ndarray
        Rate of each flow. [bit/s, layer of capacity_bps]

    See Also
    --------
    jain_index : How equal given shares are.
    proportional_long_flow_bps : Proportionally fair shares.
    max_min_network_bps : A network of links, greedy flows.

    Notes
    -----
    Validity: exact, by progressive filling. A nan makes all rates nan.

    Range: everywhere.

    Symbols: :math:`d_i` demand_bps, :math:`C` capacity_bps, :math:`w_i` weight.

    Examples
    --------
    >>> max_min_bps([2e6, 8e6, 10e6, 15e6], capacity_bps=30e6).tolist()
    [2000000.0, 8000000.0, 10000000.0, 10000000.0]

    References
    ----------
    Bertsekas and Gallager, Data Networks, 6.5.2.
    """
    demand = checks.one_dimensional(
        "demand_bps", checks.non_negative("demand_bps", demand_bps, allow_inf=True)
    )
    capacity = checks.scalar("capacity_bps", checks.positive("capacity_bps", capacity_bps))
    weights = _one_each("weight", checks.positive("weight", weight), demand.size)
    if np.isnan(demand).any() or np.isnan(weights).any() or np.isnan(capacity):
        return np.full(demand.size, np.nan)
    # In the order in which the rising level meets the demands.
    order = np.argsort(demand / weights, kind="stable")
    rates = np.empty(demand.size)
    left = capacity
    heavier = np.cumsum(weights[order][::-1])[::-1]
    for index, flow in enumerate(order):
        rates[flow] = min(demand[flow], left * (weights[flow] / heavier[index]))
        left = max(left - rates[flow], 0.0)
    return rates


@model
def max_min_network_bps(
    capacity_bps: ArrayLike, *, crossing_flow: ArrayLike, crossing_link: ArrayLike
) -> FloatArray:
    r"""Max-min fair rates of greedy flows in a network of links.

    .. math:: \sum_{i \text{ over } l} x_i \le C_l, \text{ and no } x_i
        \text{ can grow but at the cost of a smaller one}

    Parameters
    ----------
    capacity_bps : 1-D array_like
        Rate of each link. [bit/s]
    crossing_flow : 1-D array_like
        For each crossing, the flow, counted from 0. [1]
    crossing_link : 1-D array_like
        For each crossing, the link, counted from 0. [1]

    Returns
    -------
    numpy.ndarray
        Rate of each flow. [bit/s, layer of capacity_bps]

    Raises
    ------
    DomainError
        If a flow crosses no link, or a link that does not exist.

    See Also
    --------
    max_min_bps : One link, with demands and weights.

    Notes
    -----
    Validity: exact, by progressive filling: all rates rise together, and stop where a link is
    full.

    Range: everywhere.

    Symbols: :math:`C_l` capacity_bps. Not in the equation: crossing_flow, crossing_link (who
    crosses what).

    Examples
    --------
    One flow over three links, and one on each of them: all get a half.

    >>> max_min_network_bps([1e6, 1e6, 1e6], crossing_flow=[0, 0, 0, 1, 2, 3],
    ...     crossing_link=[0, 1, 2, 0, 1, 2]).tolist()
    [500000.0, 500000.0, 500000.0, 500000.0]

    References
    ----------
    Bertsekas and Gallager, Data Networks, 6.5.2.
    """
    capacity = checks.one_dimensional("capacity_bps", checks.positive("capacity_bps", capacity_bps))
    crosses = _crossings(crossing_flow, crossing_link, capacity.size)
    rates = np.zeros(len(crosses))
    if np.isnan(capacity).any():
        return np.full(rates.size, np.nan)
    is_rising = np.ones(rates.size, bool)
    while is_rising.any():
        rising = crosses[is_rising].sum(axis=0)
        taken = rates[~is_rising] @ crosses[~is_rising]
        level = np.where(rising > 0, np.maximum(capacity - taken, 0.0) / rising, np.inf)
        is_full = level <= level.min() * (1.0 + 1e-12)
        stopped = is_rising & crosses[:, is_full].any(axis=1)
        rates[stopped] = level.min()
        is_rising &= ~stopped
    return rates


@model
def proportional_long_flow_bps(link_count: ArrayLike, *, capacity_bps: ArrayLike) -> FloatArray:
    r"""Proportionally fair rate of the long flow in a parking lot of k links.

    .. math:: x_0 = \frac{C}{k + 1}

    Parameters
    ----------
    link_count : array_like
        Links of the parking lot, k. [1]
    capacity_bps : array_like
        Rate of each link. [bit/s]

    Returns
    -------
    numpy.ndarray
        Rate of the long flow; the short ones have the rest of each link.
        [bit/s, layer of capacity_bps]

    See Also
    --------
    jain_index : How equal given shares are.
    max_min_bps : Max-min fair shares of one link.

    Notes
    -----
    Validity: logarithmic utility of equal weight. Max-min fairness would give it a half.

    Range: everywhere.

    Symbols: :math:`k` link_count, :math:`C` capacity_bps.

    Examples
    --------
    >>> float(proportional_long_flow_bps(3, capacity_bps=1e6))
    250000.0

    References
    ----------
    Kelly, Maulloo and Tan, Rate control for communication networks, JORS 49 (1998),
    doi:10.1057/palgrave.jors.2600523.
    """
    links = checks.whole("link_count", link_count, low=1)
    return checks.positive("capacity_bps", capacity_bps) / (links + 1.0)


@model
def proportional_short_flow_bps(link_count: ArrayLike, *, capacity_bps: ArrayLike) -> FloatArray:
    r"""Proportionally fair rate of each short flow in a parking lot of k links.

    .. math:: x_i = \frac{k\, C}{k + 1}

    Parameters
    ----------
    link_count : array_like
        Links of the parking lot, k. [1]
    capacity_bps : array_like
        Rate of each link. [bit/s]

    Returns
    -------
    numpy.ndarray
        Rate of each short flow. [bit/s, layer of capacity_bps]

    Notes
    -----
    Validity: as :func:`proportional_long_flow_bps`.

    Range: everywhere.

    Symbols: :math:`k` link_count, :math:`C` capacity_bps.

    Examples
    --------
    >>> float(proportional_short_flow_bps(3, capacity_bps=1e6))
    750000.0

    References
    ----------
    Kelly, Maulloo and Tan, JORS 49 (1998), doi:10.1057/palgrave.jors.2600523.
    """
    links = checks.whole("link_count", link_count, low=1)
    return checks.positive("capacity_bps", capacity_bps) * (links / (links + 1.0))


@model
def fair_share_bits(
    start_s: ArrayLike, *, duration_s: ArrayLike, capacity_bps: float
) -> FloatArray:
    r"""Bits that each flow transfers if active flows share the link equally.

    .. math:: N_i = \int_{t_i}^{t_i + T_i} \frac{C}{n(t)} \, dt

    Parameters
    ----------
    start_s : 1-D array_like
        Start of each flow. [s]
    duration_s : 1-D array_like
        Duration of each flow, or one for all. [s]
    capacity_bps : float
        Rate of the link. [bit/s]

    Returns
    -------
    numpy.ndarray
        Bits transferred by each flow at its end. [bit]

    Notes
    -----
    Validity: greedy flows that converge at once; the ideal to compare a measurement with. A nan
    makes all rates nan.

    Range: everywhere.

    Symbols: :math:`t_i` start_s, :math:`T_i` duration_s, :math:`C` capacity_bps.

    Examples
    --------
    A flow of 30 s at 10 Gbit/s, and one that joins at 20 s for 10 s:

    >>> fair_share_bits([0, 20], duration_s=[30, 10], capacity_bps=10e9).tolist()
    [250000000000.0, 50000000000.0]

    References
    ----------
    Derived: equal division among those present; max-min fairness at each moment.
    """
    start = checks.one_dimensional("start_s", checks.real("start_s", start_s))
    duration = _one_each("duration_s", checks.non_negative("duration_s", duration_s), start.size)
    capacity = checks.scalar("capacity_bps", checks.positive("capacity_bps", capacity_bps))
    end = start + duration
    if np.isnan(end).any():
        return np.full(start.size, np.nan)
    changes = np.unique(np.concatenate([start, end]))
    # What a flow that is always there would have got since the first start.
    active = np.searchsorted(np.sort(start), changes[:-1], side="right") - np.searchsorted(
        np.sort(end), changes[:-1], side="right"
    )
    got = np.where(active > 0, np.diff(changes) * (capacity / np.maximum(active, 1)), 0.0)
    since = np.concatenate([[0.0], np.cumsum(got)])
    shares: FloatArray = (
        since[np.searchsorted(changes, end)] - since[np.searchsorted(changes, start)]
    )
    return shares


def _one_each(name: str, values: FloatArray, count: int) -> FloatArray:
    values = checks.one_dimensional(name, values)
    if values.size not in (1, count):
        raise DomainError("wrong-count-or-one", name, count=values.size, expected=count)
    return np.broadcast_to(values, (count,))


def _crossings(
    crossing_flow: ArrayLike, crossing_link: ArrayLike, link_count: int
) -> NDArray[np.bool_]:
    """Return which flow crosses which link, as a table of flows and links."""
    flows = checks.one_dimensional("crossing_flow", checks.whole("crossing_flow", crossing_flow))
    links = checks.one_dimensional("crossing_link", checks.whole("crossing_link", crossing_link))
    if flows.size != links.size:
        raise DomainError("wrong-count", "crossing_link", count=links.size, expected=flows.size)
    for name, numbers in (("crossing_flow", flows), ("crossing_link", links)):
        if np.isnan(numbers).any():
            raise DomainError("not-finite", name, "nan")
    if links.max() >= link_count:
        last_link = int(links.max())
        raise DomainError("out-of-range", "crossing_link", last_link, low=0, high=link_count - 1)
    numbers = np.unique(flows)
    if numbers.size != flows.max() + 1:
        absent = int(np.flatnonzero(numbers != np.arange(numbers.size))[0])
        raise DomainError("number-skipped", "crossing_flow", absent, high=int(flows.max()))
    crosses = np.zeros((numbers.size, link_count), bool)
    crosses[flows.astype(np.int64), links.astype(np.int64)] = True
    return crosses
