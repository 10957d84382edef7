"""Theory: flows that share a bottleneck, in steps of round trips, many scenarios at once.

Windows fill the pipe and then the buffer; each flow gets the link's rate by its share of what is in
flight. Where the buffer is full, flows lose what they add to it, and their windows fall as their
algorithm has it. ``docs/congestion.md`` has the equations and how far they hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.congestion import _state, _steps
from netcalc.congestion._requests import latencies_s, percentile_s
from netcalc.congestion._stack import stack_of
from netcalc.congestion._state import State
from netcalc.congestion.result import Result, Trajectory, counted_span_s, segment_bytes
from netcalc.errors import DomainError
from netcalc.scenario import Scenario

AT_ONCE = 1000
"""Scenarios computed together: their arrays stay in a second-level cache."""

MOST_ROUNDS = 5_000_000
"""Round trips beyond which a scenario is refused: minutes of computing."""

LOAD_ROUNDS = 3
"""How often flows and request loops are computed in turn, each with the load of the other."""

MOST_REQUESTED = 0.9
"""Share of the link that request loops take at most: something is left to the flows."""

BINS = 200
"""Steps of the buffer in which its fill is counted for percentiles."""


PAIR = 0.9
"""Packets that wait on a busy link because two are sent for one ACK. [packet]"""


@dataclass(slots=True)
class _Meter:
    """What is counted while the scenarios run."""

    warm: FloatArray
    first: FloatArray
    last: FloatArray
    capacity: FloatArray
    histogram: FloatArray
    counted: FloatArray
    warm_delivered: FloatArray
    queued: FloatArray
    rows: NDArray[np.intp]
    course: list[tuple[FloatArray, ...]] | None = None
    early_drops: float = 0.0

    def __call__(
        self,
        state: State,
        dt: FloatArray,
        total: FloatArray,
        rtt: FloatArray,
        delivered: FloatArray,
    ) -> None:
        if self.course is None:
            self.count(state.time, dt, self.queue(state, total), delivered, self.rows)
        else:  # of one scenario: all its steps are counted at once, when they are there
            self.course.append((state.time, dt, total, delivered, state.window, rtt))
            if state.time[0, 0] < self.warm[0, 0]:
                self.early_drops = float(state.drops[0, 0])

    def queue(self, state: State, total: FloatArray) -> FloatArray:
        """Return the queue that so many packets in flight make. [packet]"""
        waiting = np.maximum(total - state.pipe, 0.0) + PAIR * np.minimum(total / state.pipe, 1.0)
        return np.minimum(waiting, state.capacity - state.pipe)

    def count_course(self, state: State) -> None:
        """Count the steps of the course, whose first axis becomes that of time."""
        if self.course:
            parts = (np.concatenate(part) for part in zip(*self.course, strict=True))
            time, dt, total, delivered, window, rtt = parts
            queue = self.queue(state, total)
            self.count(time, dt, queue, delivered, np.zeros(len(time), dtype=np.intp))
            self.course = [(time, dt, queue, delivered, window, rtt)]

    def count(
        self,
        time: FloatArray,
        dt: FloatArray,
        queue: FloatArray,
        delivered: FloatArray,
        rows: NDArray[np.intp],
    ) -> None:
        """Count steps, each of them a row: those of one scenario, or one of each scenario."""
        warm = time >= self.warm - 1e-9
        counts = (time >= self.first - 1e-9) & (time < self.last - 1e-9)
        weight = warm * dt
        parts = counts * delivered, (warm * delivered).sum(axis=1, keepdims=True), weight * queue
        sums = self.counted, self.warm_delivered, self.queued
        for whole, part in zip(sums, parts, strict=True):
            whole += part if self.course is None else part.sum(axis=0, keepdims=True)
        at = np.asarray(queue * (BINS / self.capacity)).astype(int)
        np.add.at(self.histogram, (rows, at[:, 0]), weight[:, 0])


def run(scenario: Scenario, *, stack: str = "ns3") -> Result:
    """Compute one scenario, with its course over time.

    Parameters
    ----------
    scenario : Scenario
        What to compute.
    stack : str
        "linux" for the recovery and slow start of its kernel, "ns3" for those of the simulator.

    Returns
    -------
    Result
        Means, and the trajectory.

    Raises
    ------
    DomainError
        If the scenario has more than :data:`MOST_ROUNDS` round trips.

    Examples
    --------
    >>> from netcalc.scenario import preset
    >>> found = run(preset("wan-10m"))
    >>> round(found.utilization, 2)
    1.0
    """
    found, share = _with_requests(*_beside(scenario, 0.0, stack))
    for _ in range(LOAD_ROUNDS if scenario.requests and scenario.flows else 0):
        found, share = _with_requests(*_beside(scenario, share, stack))
    return found


def _beside(scenario: Scenario, share: float, stack: str) -> tuple[Result, float]:
    """Compute the flows on what request loops leave of the link and, as they arrive, of its buffer.

    Both shrink alike, so that a full buffer lasts as long as that of the whole link. Return the
    drops after the warm-up, too, in which slow start has none.
    """
    link = scenario.bottleneck
    left = 1.0 - share
    marking = None if link.marking_bytes is None else link.marking_bytes * left
    buffer = max(link.buffer_bytes * left, float(link.mtu_bytes))
    part = replace(link, rate_bps=link.rate_bps * left, buffer_bytes=buffer, marking_bytes=marking)
    state, meter = _metered([replace(scenario, bottleneck=part)], stack, with_course=True)
    found = _result(0, scenario, state, meter)
    course = found.trajectory
    assert course is not None
    late_drops = found.drop_count - meter.early_drops
    whole = replace(
        found,
        queue_mean_bytes=found.queue_mean_bytes / left,
        queue_median_bytes=found.queue_median_bytes / left,
        queue_p95_bytes=min(found.queue_p95_bytes / left, link.buffer_bytes),
        utilization=found.utilization * left,
        trajectory=replace(course, queue_bytes=course.queue_bytes / left),
    )
    return whole, late_drops


def _with_requests(found: Result, drop_count: float) -> tuple[Result, float]:
    """Add the latencies of the request loops; return the share of the link that they take, too."""
    scenario, course = found.scenario, found.trajectory
    if not scenario.requests or course is None:
        return found, 0.0
    link = scenario.bottleneck
    most = link.rate_bps / (8 * link.mtu_bytes) * (scenario.end_s - scenario.warm_s)
    others = (1 - _steps.OWN_SHARE) * drop_count  # drops that fall on whoever arrives
    dropped = others / max(most * found.utilization + drop_count, 1.0)
    loss = 1.0 - (1.0 - dropped) * (1.0 - link.loss_ratio)
    loops = [latencies_s(loop, scenario, course, loss) for loop in scenario.requests]
    sent = sum(
        np.ceil(loop.request_bytes / segment_bytes(scenario)) * len(latencies)
        for loop, latencies in zip(scenario.requests, loops, strict=True)
    )
    share = min(float(sent) / most, MOST_REQUESTED)
    with_requests = replace(
        found,
        utilization=min(found.utilization + share, 1.0),
        request_p50_s=np.array([percentile_s(loop, 0.5) for loop in loops]),
        request_p99_s=np.array([percentile_s(loop, 0.99) for loop in loops]),
    )
    return with_requests, share


def run_many(scenarios: Sequence[Scenario], *, stack: str = "ns3") -> list[Result]:
    """Compute many scenarios at once, without their courses."""
    found: list[Result | None] = [None] * len(scenarios)
    kinds = [(len(one.flows), any(f.algorithm == "bbr" for f in one.flows)) for one in scenarios]
    order = sorted(range(len(scenarios)), key=lambda at: kinds[at])
    for kind in sorted(set(kinds)):
        alike = [at for at in order if kinds[at] == kind]
        for start in range(0, len(alike), AT_ONCE):
            part = alike[start : start + AT_ONCE]
            results = _run([scenarios[at] for at in part], stack)
            for at, result in zip(part, results, strict=True):
                found[at] = result
    return [one for one in found if one is not None]


def _run(scenarios: list[Scenario], stack: str) -> list[Result]:
    state, meter = _metered(scenarios, stack, with_course=False)
    return [_result(row, one, state, meter) for row, one in enumerate(scenarios)]


def _metered(scenarios: list[Scenario], stack: str, *, with_course: bool) -> tuple[State, _Meter]:
    for one in scenarios:
        _require_few_rounds(one)
    state = _state.begin(scenarios, stack_of(stack))
    shape = state.window.shape
    spans = np.full((*shape, 2), np.inf)
    for row, one in enumerate(scenarios):
        for column, flow in enumerate(one.flows):
            spans[row, column] = counted_span_s(flow, one)
    meter = _Meter(
        warm=np.array([[one.warm_s] for one in scenarios]),
        first=spans[:, :, 0],
        last=spans[:, :, 1],
        capacity=np.maximum(state.capacity - state.pipe, 1.0),
        histogram=np.zeros((shape[0], BINS + 2)),
        counted=np.zeros(shape),
        warm_delivered=np.zeros((shape[0], 1)),
        queued=np.zeros((shape[0], 1)),
        rows=np.arange(shape[0]),
        course=[] if with_course else None,
    )
    _steps.run(state, meter)
    meter.count_course(state)
    return state, meter


def _require_few_rounds(scenario: Scenario) -> None:
    link = scenario.bottleneck
    rounds = scenario.end_s / (link.rtt_s + 8 * link.mtu_bytes / link.rate_bps)
    if rounds > MOST_ROUNDS:
        raise DomainError("too-many-rounds", "end_s", scenario.end_s, high=MOST_ROUNDS)


def _result(row: int, scenario: Scenario, state: State, meter: _Meter) -> Result:
    count = len(scenario.flows)
    mtu = scenario.bottleneck.mtu_bytes
    finish = state.finish[row, :count]
    ends = np.fmin(meter.last[row, :count], finish)
    lengths = ends - meter.first[row, :count]
    payload = meter.counted[row, :count] * segment_bytes(scenario) * 8
    whole = scenario.end_s - scenario.warm_s
    median, p95 = _percentiles(meter.histogram[row], (0.5, 0.95))
    scale = meter.capacity[row, 0] / BINS * mtu
    return Result(
        scenario=scenario,
        by="theory",
        goodput_bps=np.where(lengths > 0, payload / np.maximum(lengths, 1e-9), 0.0),
        queue_mean_bytes=float(meter.queued[row, 0] / whole * mtu),
        queue_median_bytes=median * scale,
        queue_p95_bytes=min(p95 * scale, float(scenario.bottleneck.buffer_packets * mtu)),
        drop_count=float(state.drops[row, 0]),
        finish_s=finish.copy(),
        utilization=min(float(meter.warm_delivered[row, 0] / whole / state.rate[row, 0]), 1.0),
        trajectory=_trajectory(scenario, meter) if meter.course is not None else None,
    )


def _percentiles(histogram: FloatArray, wanted: tuple[float, ...]) -> list[float]:
    """Return at which bins, counted as real numbers, so much of the time has passed."""
    passed = np.cumsum(histogram)
    found = []
    for share in wanted:
        at = int(np.searchsorted(passed, share * passed[-1]))
        before = passed[at - 1] if at else 0.0
        inside = (share * passed[-1] - before) / max(float(histogram[at]), 1e-12)
        found.append(min(at + inside, float(BINS)) if at else 0.0)
    return found


def _trajectory(scenario: Scenario, meter: _Meter) -> Trajectory:
    assert meter.course is not None
    count = len(scenario.flows)
    [(start, dt, queue, delivered, window, rtt)] = meter.course
    bits = delivered[:, :count] * segment_bytes(scenario) * 8
    return Trajectory(
        time_s=(start + dt)[:, 0],
        queue_bytes=queue[:, 0] * scenario.bottleneck.mtu_bytes,
        window_packets=window[:, :count],
        goodput_bps=bits / np.maximum(dt, 1e-12),
        rtt_s=rtt[:, 0],
    )
