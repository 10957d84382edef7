"""What is read off the course of a result: computed once, for theory, live runs and ns-3 alike.

Beside it: estimates on paper, and one scenario evaluated several ways, and where they part.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, choice, named_arguments, non_negative, positive
from netcalc.compare import ideal_shares
from netcalc.congestion import ns3, theory
from netcalc.congestion.result import Result, Trajectory, segment_bytes
from netcalc.errors import DomainError, NetcalcError
from netcalc.messages import Notice
from netcalc.models.bounds import MAX_WINDOW_BYTES
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES
from netcalc.models.tcp.sharing import drain_s, jain_index
from netcalc.rate_layers import IP, TCP_PAYLOAD, RateLayer
from netcalc.samples import json_ready
from netcalc.scenario import Scenario


@named_arguments
def full_buffer_s(buffer_bytes: ArrayLike, *, rate_bps: float, rtt_s: float) -> FloatArray:
    """Return the latency of a small request behind a full buffer: the round trip and its drain.

    Parameters
    ----------
    buffer_bytes : array_like
        Buffer at the bottleneck. [byte]
    rate_bps : float
        Rate of the bottleneck. [bit/s]
    rtt_s : float
        Round-trip time without load. [s]

    Returns
    -------
    numpy.ndarray
        Latency, of the shape of ``buffer_bytes``. [s]

    Examples
    --------
    The buffers of the book's figure 20, of 16 to 266 packets:

    >>> packets = np.array([16, 33, 66, 133, 266])
    >>> full_buffer_s(1500 * packets, rate_bps=10e6, rtt_s=0.04).round(3).tolist()
    [0.059, 0.08, 0.119, 0.2, 0.359]
    """
    wait_s = drain_s(buffer_bytes, bandwidth_bps=rate_bps)
    return np.asarray(positive("rtt_s", rtt_s) + wait_s, dtype=float)


@named_arguments
def equal_share_s(
    stream_count: ArrayLike,
    *,
    request_bytes: float,
    rate_bps: float,
    rtt_s: float,
    mtu_bytes: int = 1500,
) -> FloatArray:
    """Return the latency of a request with an equal share of the link: round trip, size over share.

    Parameters
    ----------
    stream_count : array_like
        Flows beside the request. [1]
    request_bytes : float
        Size of a request. [byte]
    rate_bps : float
        Rate of the bottleneck, for IP packets. [bit/s]
    rtt_s : float
        Round-trip time without load. [s]
    mtu_bytes : int
        Size of a full packet. [byte]

    Returns
    -------
    numpy.ndarray
        Latency, of the shape of ``stream_count``. [s]

    Examples
    --------
    One megabyte alone at 10 Mbit/s: 829 ms for its packets, and a round trip of 40 ms.

    >>> float(equal_share_s(0, request_bytes=1e6, rate_bps=10e6, rtt_s=0.04).round(3))
    0.869
    """
    count = non_negative("stream_count", stream_count)
    packet_bytes = request_bytes * mtu_bytes / (mtu_bytes - STAMPED_HEADERS_BYTES)
    return np.asarray(rtt_s + (count + 1.0) * 8.0 * packet_bytes / rate_bps, dtype=float)


@named_arguments
def payload_rate_bps(scenario: Scenario) -> float:
    """Return the payload rate of the full link: full packets without their headers.

    Examples
    --------
    >>> from netcalc.scenario import preset
    >>> round(payload_rate_bps(preset("wan-10m")))
    9653333
    """
    link = scenario.bottleneck
    return link.rate_bps * segment_bytes(scenario) / link.mtu_bytes


@named_arguments
def fair_ends_s(scenario: Scenario) -> FloatArray:
    """Return when each flow would end if all had equal shares without a pause, shape (flow,). [s]

    Examples
    --------
    >>> from netcalc.scenario import preset
    >>> fair_ends_s(preset("two-flows")).tolist()
    [60.0, 42.0]
    """
    flows = scenario.flows
    start: FloatArray = np.array([flow.start_s for flow in flows])
    stop = [scenario.end_s if flow.stop_s is None else flow.stop_s for flow in flows]
    end: FloatArray = np.minimum(np.array(stop), scenario.end_s)
    left: FloatArray = np.array(
        [np.inf if flow.size_bytes is None else flow.size_bytes for flow in flows]
    )
    now, last = 0.0, scenario.end_s
    while now < last:
        runs = (start <= now) & (end > now)
        share = payload_rate_bps(scenario) / 8.0 / max(int(np.count_nonzero(runs)), 1)
        done = np.where(runs, now + left / share, np.inf)
        later = np.concatenate([start[start > now], end[runs], done[runs], [last]])
        then = float(later.min())
        left[runs] -= share * (then - now)
        end[runs & (done <= then)] = then
        now = then
    return end


@named_arguments
def fair_shares_bps(scenario: Scenario) -> tuple[FloatArray, FloatArray]:
    """Return the max-min fair goodput of each flow over time, as steps.

    Returns
    -------
    time_s : numpy.ndarray
        Both sides of each step. [s]
    rate_bps : numpy.ndarray
        One row for each flow; nan while it does not run. [bit/s]
    """
    if not scenario.flows:
        return np.zeros(0), np.zeros((0, 0))
    start = np.array([flow.start_s for flow in scenario.flows])
    return ideal_shares(
        start,
        duration_s=fair_ends_s(scenario) - start,
        capacity_bps=payload_rate_bps(scenario),
    )


INTERVAL_S = 1.0
"""Interval of least and greatest rates and of Jain's index, as measuring tools report. [s]"""
DELTA = 0.1
"""Deviation from the fair share at which flows count as converged, as Bansal et al. have it."""
TAKEN_RATIO = 0.9
"""Share of the full link's payload rate at which released bandwidth counts as taken."""
ROUNDS, LEAST_S = 10, 0.1
"""Round trips, and time, over which rates are averaged for both times: single losses and the pulses
of BBR, of eight round trips, do not count, and a live course has steps of 0.1 s. [1], [s]"""
MOST_STEPS = 2000
"""Times at which convergence is looked for, between two changes. [1]"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Quantities:
    """What the course of a result shows.

    Parameters
    ----------
    rate_min_bps, rate_max_bps : numpy.ndarray
        Least and greatest goodput of each flow in whole intervals of a second, from ``warm_s`` or
        its later start to its end; of shape (flow,). [bit/s]
    window_mean_packets, window_max_packets : numpy.ndarray
        Mean and greatest congestion window of each flow in that time; of shape (flow,). [packet]
    rtt_min_s, rtt_mean_s, rtt_max_s : float
        Round-trip time after ``warm_s``: the least and the greatest of any flow, and the mean over
        time of the mean over flows. [s]
    jain_time_s, jain_over_time : numpy.ndarray
        Ends of intervals of a second, and Jain's index of the goodputs of the flows that ran
        through each; nan with less than two. [s], [ratio]
    jain_end : float
        The last that is known of them; nan if two flows never ran together. [ratio]
    convergence_s : numpy.ndarray
        See :func:`convergence_s`; of shape (flow,). [s]
    release_s : numpy.ndarray
        See :func:`release_s`; of shape (flow,). [s]
    """

    rate_min_bps: FloatArray
    rate_max_bps: FloatArray
    window_mean_packets: FloatArray
    window_max_packets: FloatArray
    rtt_min_s: float
    rtt_mean_s: float
    rtt_max_s: float
    jain_time_s: FloatArray
    jain_over_time: FloatArray
    jain_end: float
    convergence_s: FloatArray
    release_s: FloatArray


@named_arguments
def quantities(result: Result) -> Quantities:
    """Return what the course of a result shows.

    Parameters
    ----------
    result : Result
        With its course.

    Raises
    ------
    DomainError
        If it has no course.
    """
    course = _course(result)
    flows = range(len(result.scenario.flows))
    rates = np.array([_rate_ends_bps(result, course, at) for at in flows]).reshape(-1, 2)
    windows = [_over(course, course.window_packets[:, at], *result.counted_s(at)) for at in flows]
    ends = np.array(windows).reshape(-1, 3)
    warm_s, end_s = result.scenario.warm_s, result.scenario.end_s
    each = course.rtt_s[:, np.newaxis] if course.flow_rtt_s is None else course.flow_rtt_s
    trips = [_over(course, trip_s, warm_s, end_s) for trip_s in each.T]
    least, _, greatest = np.array(trips).reshape(-1, 3).T
    jain_time_s, jain = jain_over_time(result)
    known_jain = jain[np.isfinite(jain)]
    return Quantities(
        rate_min_bps=rates[:, 0],
        rate_max_bps=rates[:, 1],
        window_mean_packets=ends[:, 1],
        window_max_packets=ends[:, 2],
        rtt_min_s=float(np.fmin.reduce(least, initial=np.nan)),
        rtt_mean_s=_over(course, course.rtt_s, warm_s, end_s)[1],
        rtt_max_s=float(np.fmax.reduce(greatest, initial=np.nan)),
        jain_time_s=jain_time_s,
        jain_over_time=jain,
        jain_end=float(known_jain[-1]) if known_jain.size else float("nan"),
        convergence_s=convergence_s(result),
        release_s=release_s(result),
    )


@named_arguments
def notes(result: Result) -> tuple[Notice, ...]:
    """Return what is to be said of a result of theory.

    Parameters
    ----------
    result : Result
        With its course, or nothing is said.

    Returns
    -------
    tuple of Notice
        Whether flows have TCP's largest window, or many have one round trip and swing together;
        and what Ware et al. (2019) give flows of BBR beside others.
    """
    found = []
    course = result.trajectory if result.by == "theory" else None
    if course is None:
        return ()
    windows = course.window_packets * segment_bytes(result.scenario)
    at_most = (windows >= MAX_WINDOW_BYTES * (1 - 1e-9)).any(axis=0)
    if at_most.any():
        values = {"count": int(at_most.sum()), "window_bytes": MAX_WINDOW_BYTES}
        found.append(Notice("window-at-largest", values))
    found += [notice for notice in (_in_step(result), _by_ware(result)) if notice is not None]
    return tuple(found)


IN_STEP = 20
"""Flows of one round trip from which on it is said that they swing together. [1]"""

SPREAD, LEAST_GAIN = 0.2, 0.01
"""Spread of round trips, and what of the link it must add to be worth a word. [ratio]"""


def _in_step(result: Result) -> Notice | None:
    """Say what many flows of one round trip would carry if these differed."""
    scenario = result.scenario
    count = len(scenario.flows)
    if count < IN_STEP or not scenario.has_one_rtt or result.utilization > 1 - LEAST_GAIN:
        return None
    if any(flow.algorithm not in ("reno", "cubic") for flow in scenario.flows):
        return None
    rtts_s = scenario.longest_rtt_s * np.linspace(1.0 - SPREAD, 1.0 + SPREAD, count)
    pairs = zip(scenario.flows, rtts_s.tolist(), strict=True)
    unlike = replace(scenario, flows=tuple(replace(flow, rtt_s=rtt_s) for flow, rtt_s in pairs))
    [spread] = theory.run_many([unlike], stack=result.about["stack"])
    if spread.utilization < result.utilization + LEAST_GAIN:
        return None
    values = {"count": count, "utilization": result.utilization, "spread_ratio": SPREAD}
    return Notice("flows-in-step", {**values, "spread_utilization": spread.utilization})


def _by_ware(result: Result) -> Notice | None:
    r"""Say which share flows of BBR have beside others by the law of Ware et al.

    With :math:`N` flows of BBR and a buffer of :math:`X` products or :math:`q` packets the others
    have :math:`p = 1/2 - 1/(2X) - 4N/q`; of a tenth of the time BBR drains the queue, a second
    round trip, and sends nothing for 0.2 s.

    References
    ----------
    R. Ware, M. K. Mukerjee, S. Seshan, J. Sherry, Modeling BBR's interactions with loss-based
    congestion control, IMC 2019, doi:10.1145/3355369.3355604.
    """
    scenario, link = result.scenario, result.scenario.bottleneck
    is_bbr = np.array([flow.algorithm == "bbr" for flow in scenario.flows], dtype=bool)
    others = {flow.algorithm for flow in scenario.flows} - {"bbr"}
    rtt_s = scenario.longest_rtt_s
    products = 8.0 * link.buffer_bytes / (link.rate_bps * rtt_s)
    if not (is_bbr.any() and others and others <= {"reno", "cubic"} and products >= 1):
        return None
    spans = [result.counted_s(at) for at in range(is_bbr.size)]
    together = min(end for _, end in spans) - max(start for start, _ in spans)
    if scenario.requests or link.loss_ratio or not scenario.has_one_rtt or together <= 0:
        return None
    carried_bps = float(result.goodput_bps.sum())
    if not carried_bps > 0:
        return None
    left = max(0.5 - 0.5 / products - 4.0 * is_bbr.sum() / link.buffer_packets, 0.0)
    probing = (8.0 * link.buffer_bytes / link.rate_bps + 0.2 + rtt_s) / 10.0
    share = max((1.0 - left) * (1.0 - probing), 0.0)
    own = float(result.goodput_bps[is_bbr].sum()) / carried_bps
    return Notice(
        "share-by-ware", {"count": int(is_bbr.sum()), "share_ratio": share, "own_ratio": own}
    )


@named_arguments
def document(result: Result) -> dict[str, Any]:
    """Return means and quantities as JSON can hold them: what is not known is null."""
    means = result.as_dict()
    if result.trajectory is None:
        return means
    ready: dict[str, Any] = json_ready(asdict(quantities(result)))
    return {**means, **ready}


@named_arguments
def jain_over_time(result: Result) -> tuple[FloatArray, FloatArray]:
    """Return Jain's index of the flows that run, in intervals of a second.

    Returns
    -------
    time_s : numpy.ndarray
        Ends of the intervals. [s]
    index : numpy.ndarray
        Of the flows that run through the whole interval; nan if these are less than two. [ratio]

    References
    ----------
    R. Jain, D.-M. Chiu, W. Hawe, A quantitative measure of fairness and discrimination, DEC TR-301
    (1984).
    """
    course = _course(result)
    ends, rates = course.goodput_every(INTERVAL_S)
    spans = [result.span_s(at) for at in range(len(result.scenario.flows))]
    begins: FloatArray = np.concatenate(([0.0], ends[:-1])) if ends.size else ends
    index = np.full(ends.size, np.nan)
    for at, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        through = [start <= begin + 1e-9 and end <= stop + 1e-9 for start, stop in spans]
        if sum(through) > 1:
            index[at] = float(jain_index(rates[at, through]))
    return ends, index


@named_arguments
def convergence_s(result: Result) -> FloatArray:
    r"""Return how long each flow took, after its start, to converge with those that ran then. [s]

    The :math:`\delta`-fair convergence time: from the start until each of :math:`n` flows has at
    least :math:`(1 - \delta) / n` of what all have, here with :math:`\delta` = 0.1. For two flows
    this is its first definition, shares of :math:`(1 \pm \delta) / 2`. Rates are means over ten
    round trips without load, at least 0.1 s, and the time is that at which the first such mean
    begins from which on all have it that begin within ten round trips over the full buffer: a slow
    start that passes the fair share does not count. It is nan for a flow that runs alone, and if
    another one starts or ends before.

    References
    ----------
    S. Floyd (ed.), Metrics for the Evaluation of Congestion Control Mechanisms, RFC 5166 (2008),
    on fairness and convergence; D. Bansal, H. Balakrishnan, S. Floyd, S. Shenker, Dynamic behavior
    of slowly-responsive congestion control algorithms, SIGCOMM 2001.
    """

    def is_fair(rates: FloatArray) -> FloatArray:
        least = (1.0 - DELTA) / rates.shape[1] * rates.sum(axis=1)
        return np.asarray((rates.min(axis=1) >= least) & (rates.sum(axis=1) > 0))

    link = result.scenario.bottleneck
    rtt_s = result.scenario.longest_rtt_s
    full_s = float(full_buffer_s(link.buffer_bytes, rate_bps=link.rate_bps, rtt_s=rtt_s))
    return _times_s(result, 0, is_fair, least_count=2, held_s=ROUNDS * full_s)


@named_arguments
def release_s(result: Result) -> FloatArray:
    """Return how long the others took to use what each flow released at its end. [s]

    From the end of the flow until those that still run carry 90 % of the payload rate of the full
    link; means and times as in :func:`convergence_s`. It is nan if none runs any more, and if a
    flow starts or ends before. This is the time after which the utilization f(k) of Bansal et al.,
    k round trips after bandwidth became free, is 0.9.

    References
    ----------
    As :func:`convergence_s`; RFC 5166 on responses to changes.
    """
    wanted_bps = TAKEN_RATIO * payload_rate_bps(result.scenario)
    return _times_s(result, 1, lambda rates: rates.sum(axis=1) >= wanted_bps, least_count=1)


@named_arguments
def averaged_over_s(scenario: Scenario) -> float:
    """Return the time over which rates are averaged for both times: by the longest round trip. [s]

    Examples
    --------
    >>> from netcalc.scenario import preset
    >>> averaged_over_s(preset("two-flows"))
    0.4
    """
    return max(ROUNDS * scenario.longest_rtt_s, LEAST_S)


def _times_s(
    result: Result, side: int, holds: Callable[[FloatArray], Any], *, least_count: int,
    held_s: float = 0.0,
) -> FloatArray:  # fmt: skip
    """Return for each flow how long after its start (0) or end (1) the rates first meet something.

    It has to be met by all means that begin within ``held_s`` from then. The rates, of shape
    (time, flow), are of the flows that run then.
    """
    course = _course(result)
    spans = np.array([result.span_s(at) for at in range(len(result.scenario.flows))])
    times = np.full(len(spans), np.nan)
    last_s = float(course.time_s[-1]) if course.time_s.size else 0.0
    rtt_s = result.scenario.longest_rtt_s
    mean_s = averaged_over_s(result.scenario)
    for at in range(len(spans)):
        change_s = spans[at, side]
        runs = (spans[:, 0] <= change_s) & (change_s < spans[:, 1])
        until_s = min([last_s, *spans[spans > change_s]])
        room_s = until_s - mean_s - change_s
        if room_s < held_s - 1e-9 or np.count_nonzero(runs) < least_count:
            continue
        count = int(min(room_s / rtt_s, MOST_STEPS)) + 1
        begins = np.linspace(change_s, change_s + room_s, count)
        bits = course.carried_bits(np.concatenate([begins, begins + mean_s]))[:, runs]
        met = np.asarray(holds((bits[count:] - bits[:count]) / mean_s))
        if held_s:
            most = np.searchsorted(begins, begins + held_s - 1e-9)  # the first after that time
            broken = np.append(0, np.cumsum(~met))
            whole = most < count
            met = whole & (broken[np.minimum(most, count - 1) + 1] == broken[:count])
        if met.any():
            times[at] = begins[int(np.argmax(met))] - change_s
    return times


def _rate_ends_bps(result: Result, course: Trajectory, at: int) -> tuple[float, float]:
    """Return least and greatest goodput of a flow in whole intervals, or in what there is."""
    begin, end = result.counted_s(at)
    end = min(end, float(course.time_s[-1])) if course.time_s.size else begin
    if end <= begin:
        return float("nan"), float("nan")
    whole = int((end - begin) / INTERVAL_S + 1e-9)
    edges: FloatArray = np.array([begin, end])
    if whole:
        edges = begin + INTERVAL_S * np.arange(whole + 1, dtype=float)
    rates = np.diff(course.carried_bits(edges)[:, at]) / np.diff(edges)
    return float(rates.min()), float(rates.max())


def _over(
    course: Trajectory, values: FloatArray, begin: float, end: float
) -> tuple[float, float, float]:
    """Return least, mean over time and greatest of what is known between two times."""
    lengths = np.diff(course.time_s, prepend=0.0)
    inside = (course.time_s > begin) & (course.time_s <= end + 1e-9) & np.isfinite(values)
    if not inside.any():
        return float("nan"), float("nan"), float("nan")
    inside_values = values[inside]
    mean = float(np.average(inside_values, weights=np.maximum(lengths[inside], 1e-12)))
    return float(inside_values.min()), mean, float(inside_values.max())


def _course(result: Result) -> Trajectory:
    if result.trajectory is None:
        raise DomainError("no-course", "result", result.by)
    return result.trajectory


WAYS = ("theory", "live", "ns3")
"""The ways to a result, in the order in which they are compared."""

LIMITS = {
    "goodput_bps": 0.10,
    "utilization": 0.03,
    "queue_mean_bytes": 0.20,
    "queue_median_bytes": 0.20,
    "request_p99_s": 0.30,
}
"""Relative differences beyond which two ways part: the aims of the theory. [ratio]"""

UNITS = {
    "goodput_bps": "bit/s", "utilization": "ratio", "queue_mean_bytes": "byte",
    "queue_median_bytes": "byte", "queue_p95_bytes": "byte", "request_p99_s": "s",
    "request_p50_s": "s", "request_mean_s": "s", "request_count": "1", "finish_s": "s",
    "rate_min_bps": "bit/s", "rate_max_bps": "bit/s", "window_mean_packets": "1",
    "window_max_packets": "1", "rtt_mean_s": "s", "probe_rtt_mean_s": "s", "drop_count": "1",
    "resent_ratio": "ratio", "jain_end": "1", "convergence_s": "s", "release_s": "s",
}  # fmt: skip
"""Quantities that are compared, with their units."""

LAYERS: dict[str, RateLayer] = {
    "rate_bps": IP, "goodput_bps": TCP_PAYLOAD, "rate_min_bps": TCP_PAYLOAD,
    "rate_max_bps": TCP_PAYLOAD,
}  # fmt: skip
"""Layers of the rates: a bottleneck forwards IP packets, and flows carry the payload of TCP."""


@dataclass(frozen=True, slots=True)
class Parting:
    """One quantity as each way has it.

    Parameters
    ----------
    quantity : str
        A name of :data:`UNITS`.
    number : int or None
        Flow or request loop, from 1.
    values : mapping of str to float
        By way; nan where it is not known.
    least : float
        Difference that never counts: half a packet of a queue. In the quantity's unit.
    cut : tuple of str
        Ways that ended early; nothing is compared with their values.
    resolution : float
        Values below it are nothing, and no relative difference from them means anything: the time
        over which rates are averaged, of times that are read off them. In the quantity's unit.
    intervals : mapping of str to tuple
        Between which values it lies in 95 % of the cases, by way; a bound that is not known is nan.
    """

    quantity: str
    number: int | None
    values: Mapping[str, float]
    least: float = 0.0
    cut: tuple[str, ...] = ()
    resolution: float = 0.0
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def limit_ratio(self) -> float | None:
        """Relative difference beyond which two ways part; None if none is set. [ratio]"""
        return LIMITS.get(self.quantity)

    def differences(self) -> dict[str, float]:
        """Return how far the first way is above each other one, relative to that one. [ratio]

        Examples
        --------
        >>> found = Parting("goodput_bps", 1, {"theory": 9e6, "ns3": 10e6}).differences()
        >>> {way: round(value, 6) for way, value in found.items()}
        {'ns3': -0.1}
        """
        return self._compare(_relative)

    def apart(self) -> dict[str, float]:
        """Return how far the first way is above each other one, in the quantity's unit.

        Examples
        --------
        >>> Parting("release_s", 1, {"theory": 0.0, "live": 0.5}).apart()
        {'live': -0.5}
        """
        return self._compare(operator.sub)

    def _compare(self, compare: Callable[[float, float], float]) -> dict[str, float]:
        (first, first_value), *others = self.values.items()
        return {
            way: np.nan if {first, way} & set(self.cut) else compare(first_value, value)
            for way, value in others
        }

    def is_relative(self, way: str) -> bool:
        """Whether the difference from a way means something as a ratio: neither value is nothing.

        Examples
        --------
        >>> Parting("release_s", 1, {"theory": 0.0, "live": 0.5}).is_relative("live")
        False
        """
        ends = np.abs([next(iter(self.values.values())), self.values[way]])
        return bool(ends.min() > 0 and ends.min() >= self.resolution)

    def beyond(self) -> tuple[str, ...]:
        """Return the ways from which the first one is further than the limit.

        Where both intervals have values in common, chance may have parted them.
        """
        first, limit = next(iter(self.values.values())), self.limit_ratio
        if limit is None:
            return ()
        return tuple(
            way
            for way, difference in self.differences().items()
            if abs(difference) > limit + 1e-12
            and abs(first - self.values[way]) > self.least
            and not self._overlaps(way)
        )

    def _overlaps(self, way: str) -> bool:
        """Return whether the intervals of the first way and of another have values in common."""
        ends = [
            self.intervals.get(each, (np.nan, np.nan)) for each in (next(iter(self.values)), way)
        ]
        lows, highs = np.transpose(ends)
        if np.isnan(lows).any():
            return False
        return bool(lows.max() <= np.where(np.isnan(highs), np.inf, highs).min())

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON can hold it."""
        ready: dict[str, Any] = json_ready({
            "quantity": self.quantity, "number": self.number, "unit": UNITS[self.quantity],
            "values": dict(self.values), "relative_difference": self.differences(),
            "difference": self.apart(), "resolution": self.resolution,
            "limit_ratio": self.limit_ratio, "beyond": list(self.beyond()), "cut": list(self.cut),
            "intervals": dict(self.intervals),
        })  # fmt: skip
        return ready


@named_arguments
def evaluate(
    ways: Sequence[str], how: Mapping[str, Callable[[], Result]]
) -> tuple[list[Result], dict[str, NetcalcError]]:
    """Evaluate a scenario in several ways, and keep why one of them has no result.

    Parameters
    ----------
    ways : sequence of str
        Of :data:`WAYS`, without repetition.
    how : mapping of str to callable
        What returns the result of each way; see :func:`evaluations`.

    Returns
    -------
    results : list of Result
        In the order of :data:`WAYS`.
    absent : dict of str to NetcalcError
        Why the other ways have no result.

    Raises
    ------
    DomainError
        If no way is given, or one is unknown or repeated.
    NetcalcError
        If no way has a result: the error of the first.
    """
    if not ways:
        raise DomainError("no-ways", "by", "an empty list", choices=list(WAYS))
    for way in ways:
        choice("by", way, WAYS)
    if len(set(ways)) < len(ways):
        raise DomainError("name-in-use", "by", list(ways))
    results: list[Result] = []
    absent: dict[str, NetcalcError] = {}
    for way in (way for way in WAYS if way in ways):
        try:
            results.append(how[way]())
        except NetcalcError as error:
            absent[way] = error
    if not results:
        raise next(iter(absent.values()))
    return results, absent


@named_arguments
def evaluations(
    scenario: Scenario, *, stack: str = "linux", python: str | None = None
) -> dict[str, Callable[[], Result]]:
    """Return what evaluates a scenario in each way.

    Parameters
    ----------
    scenario : Scenario
        What is evaluated.
    stack : str
        For theory: "ns3" or "linux".
    python : str, optional
        For ns-3: the interpreter that has it.
    """

    def by_live() -> Result:
        from netcalc.congestion import live  # late: theory needs no sockets

        return live.run(scenario)

    return {
        "theory": lambda: theory.run(scenario, stack=stack),
        "live": by_live,
        "ns3": lambda: ns3.run(scenario, python=python),
    }


@named_arguments
def stack_for(ways: Sequence[str]) -> str:
    """Return the stack of theory that fits the other ways: Linux's, but ns-3's beside ns-3.

    Examples
    --------
    >>> stack_for(["theory"]), stack_for(["theory", "live", "ns3"])
    ('linux', 'ns3')
    """
    return "ns3" if "ns3" in ways else "linux"


@named_arguments
def partings(results: Sequence[Result], *, cut: Sequence[str] = ()) -> tuple[Parting, ...]:
    """Compare what several ways found for one scenario.

    Parameters
    ----------
    results : sequence of Result
        Of one scenario; the first is compared with each other one.
    cut : sequence of str
        Ways that ended before the scenario did, as a live run that was interrupted: their values
        are listed, and compared with nothing.

    Returns
    -------
    tuple of Parting
        A row for each quantity of :data:`UNITS` that at least one of them has, and for each flow or
        request loop.

    Raises
    ------
    DomainError
        If there is no result, if they are of several scenarios, or two of one way.
    """
    if not results:
        raise DomainError("no-results", "results", "an empty list")
    ways = [result.by for result in results]
    if any(result.scenario != results[0].scenario for result in results):
        raise DomainError("scenarios-differ", "results", ways)
    if len(set(ways)) < len(ways):
        raise DomainError("name-in-use", "results", ways)
    return tuple(_rows(results, tuple(cut)))


def _rows(results: Sequence[Result], cut: tuple[str, ...]) -> Iterator[Parting]:
    documents = {result.by: document(result) for result in results}
    packet = results[0].scenario.bottleneck.mtu_bytes
    averaged_s = averaged_over_s(results[0].scenario)
    for quantity in UNITS:
        by_way = {way: values.get(quantity) for way, values in documents.items()}
        least = 0.5 * packet if quantity.startswith("queue") else 0.0
        resolution = averaged_s if quantity in ("convergence_s", "release_s") else 0.0
        count = max((len(each) for each in by_way.values() if isinstance(each, list)), default=0)
        for number in range(1, count + 1) if count else (None,):
            values = {way: _number(each, number) for way, each in by_way.items()}
            if not np.isnan(list(values.values())).all():
                ends = {
                    way: tuple(
                        _number(found.get(f"{quantity[:-2]}_{end}_s"), number)
                        for end in ("low", "high")
                    )
                    for way, found in documents.items()
                }
                known = {way: (low, high) for way, (low, high) in ends.items() if low == low}
                yield Parting(quantity, number, values, least, cut, resolution, known)


def _number(value: Any, number: int | None) -> float:
    """Return a value, or the value of a flow or loop; nan if it is not known."""
    if number is not None:
        value = value[number - 1] if value else None
    return np.nan if value is None else float(value)


def _relative(value: float, other: float) -> float:
    if value == other:
        return 0.0
    return value / other - 1.0 if other else float(np.sign(value) * np.inf)
