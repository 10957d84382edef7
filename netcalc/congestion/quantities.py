"""What is read off the course of a result: computed once, for theory, live runs and ns-3 alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.congestion.estimates import payload_rate_bps
from netcalc.congestion.result import Result, Trajectory
from netcalc.errors import DomainError
from netcalc.models.tcp.fairness import jain_index
from netcalc.samples import json_ready
from netcalc.scenario import Scenario

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
        Round-trip time of the flows after ``warm_s``. [s]
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
    rtt_min_s, rtt_mean_s, rtt_max_s = _over(
        course, course.rtt_s, result.scenario.warm_s, result.scenario.end_s
    )
    jain_time_s, jain = jain_over_time(result)
    known_jain = jain[np.isfinite(jain)]
    return Quantities(
        rate_min_bps=rates[:, 0],
        rate_max_bps=rates[:, 1],
        window_mean_packets=ends[:, 1],
        window_max_packets=ends[:, 2],
        rtt_min_s=rtt_min_s,
        rtt_mean_s=rtt_mean_s,
        rtt_max_s=rtt_max_s,
        jain_time_s=jain_time_s,
        jain_over_time=jain,
        jain_end=float(known_jain[-1]) if known_jain.size else float("nan"),
        convergence_s=convergence_s(result),
        release_s=release_s(result),
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
    begins. It is nan for a flow that runs alone, and if another one starts or ends before.

    References
    ----------
    S. Floyd (ed.), Metrics for the Evaluation of Congestion Control Mechanisms, RFC 5166 (2008),
    on fairness and convergence; D. Bansal, H. Balakrishnan, S. Floyd, S. Shenker, Dynamic behavior
    of slowly-responsive congestion control algorithms, SIGCOMM 2001.
    """

    def is_fair(rates: FloatArray) -> FloatArray:
        least = (1.0 - DELTA) / rates.shape[1] * rates.sum(axis=1)
        return np.asarray((rates.min(axis=1) >= least) & (rates.sum(axis=1) > 0))

    return _times_s(result, 0, is_fair, least_count=2)


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
    """Return the time over which rates are averaged for both times. [s]

    Examples
    --------
    >>> from netcalc.scenario import preset
    >>> averaged_over_s(preset("two-flows"))
    0.4
    """
    return max(ROUNDS * scenario.bottleneck.rtt_s, LEAST_S)


def _times_s(
    result: Result, side: int, holds: Callable[[FloatArray], Any], *, least_count: int
) -> FloatArray:
    """Return for each flow how long after its start (0) or end (1) the rates first meet something.

    The rates, of shape (time, flow), are of the flows that run then.
    """
    course = _course(result)
    spans = np.array([result.span_s(at) for at in range(len(result.scenario.flows))])
    times = np.full(len(spans), np.nan)
    last_s = float(course.time_s[-1]) if course.time_s.size else 0.0
    rtt_s = result.scenario.bottleneck.rtt_s
    mean_s = averaged_over_s(result.scenario)
    for at in range(len(spans)):
        change_s = spans[at, side]
        runs = (spans[:, 0] <= change_s) & (change_s < spans[:, 1])
        until_s = min([last_s, *spans[spans > change_s]])
        room_s = until_s - mean_s - change_s
        if room_s < 0 or np.count_nonzero(runs) < least_count:
            continue
        count = int(min(room_s / rtt_s, MOST_STEPS)) + 1
        begins = np.linspace(change_s, change_s + room_s, count)
        bits = course.carried_bits(np.concatenate([begins, begins + mean_s]))[:, runs]
        met = holds((bits[count:] - bits[:count]) / mean_s)
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
