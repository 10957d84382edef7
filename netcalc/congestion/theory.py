"""Theory: flows that share a bottleneck, in steps of round trips, many scenarios at once.

Windows fill the pipe and then the buffer; each flow gets the link's rate by its share of what is in
flight. Where the buffer is full, flows lose what they add to it, and their windows fall as their
algorithm has it. ``docs/congestion.md`` has the equations and how far they hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray, named_arguments
from netcalc.congestion import _requests, _stacks, _steps
from netcalc.congestion._requests import Load, load
from netcalc.congestion._stacks import Stack, State, stack_of
from netcalc.congestion.result import (
    Latencies,
    Result,
    Trajectory,
    counted_span_s,
    mean_rtt_s,
    segment_bytes,
)
from netcalc.errors import DomainError
from netcalc.scenario import Scenario

AT_ONCE = 1000
"""Scenarios computed together: their arrays stay in a second-level cache."""

MOST_S = 60.0
"""Computing beyond which a scenario is refused, as it is estimated. [s]"""

STEP_S, BBR_STEP_S, FLOW_S, REQUEST_S = 60e-6, 75e-6, 0.2e-6, 30e-6
"""What a step, one with BBR, each flow in it, and a request take to compute: measured on one
processor with 1 to 1000 flows. Another machine may need the double. [s]"""

STEPS_ALONE, STEPS_SHARED, BBR_STEPS = 0.3, 1.0, 1.5
"""Steps per round trip of a flow alone without losses, of others, and beside BBR: counted."""

MOST_LOSS = 0.1
"""Random loss beyond which a scenario is refused. Theory over ns-3 at 10 Mbit/s and 40 ms: Reno 1.1
and CUBIC 1.0 at 0.1, BBR 1.3; at 0.2 2.6, 1.1 and 4.2, at 0.3 4.3, 2.0 and 13."""

LOAD_ROUNDS = 3
"""How often flows and request loops are computed in turn, each with the load of the other."""

FIRST_RUNS = 4
"""Starts of request loops meanwhile; at the end there are more."""

LOAD_ERROR = 0.002
"""Change of the request loops' share of the link at which this ends earlier, or its error."""

COURSES_AT_ONCE = 30
"""Scenarios with request loops computed together: their courses are kept meanwhile."""

BINS = 400
"""Steps in which the queue is counted for percentiles, each larger by the same share of it: of a
buffer of a million packets 3.5 %."""

LOSS_WINDOW = 1.0
"""What a flow may send at a timeout (RFC 5681), and so its window while it waits. [packet]"""

PAIR = 0.9
"""Packets that wait on a busy link because two are sent for one ACK. [packet]"""


@dataclass(slots=True)
class _Meter:
    """What is counted while the scenarios run."""

    warm: FloatArray
    first: FloatArray
    last: FloatArray
    capacity: FloatArray
    room: FloatArray
    histogram: FloatArray
    counted: FloatArray
    warm_delivered: FloatArray
    queued: FloatArray
    rows: NDArray[np.intp]
    early_drops: FloatArray
    course: list[tuple[FloatArray, ...]] | None = None
    parts: list[FloatArray] = field(default_factory=list)

    def __call__(
        self,
        state: State,
        dt: FloatArray,
        total: FloatArray,
        rtt: FloatArray,
        delivered: FloatArray,
    ) -> None:
        if self.course is None:
            queue = self.queue(total, state.pipe)
            self.count(*(part[np.newaxis] for part in (state.time, dt, queue, delivered)))
        else:  # all steps are counted at once, when they are there
            drops = 1.0 * state.drops  # before those of the step
            part = (state.time, dt, total, delivered, state.window, rtt, drops, state.pipe)
            self.course.append(part)
            early = state.time < self.warm
            if np.count_nonzero(early):
                self.early_drops = np.where(early, state.drops - state.repeated, self.early_drops)

    def queue(self, total: FloatArray, pipe: FloatArray) -> FloatArray:
        """Return the queue that so many packets in flight make. [packet]"""
        waiting = np.maximum(total - pipe, 0.0) + PAIR * np.minimum(total / pipe, 1.0)
        return np.minimum(waiting, self.room)

    def count_course(self, state: State) -> None:
        """Count the steps of the course, and keep it as arrays of shape (step, scenario, flow)."""
        if not self.course:
            return
        shape = (len(self.course), len(self.rows), -1)
        parts = zip(*self.course, strict=True)
        time, dt, total, delivered, window, rtt, drops, pipe = (
            np.concatenate(part).reshape(shape) for part in parts
        )
        queue = self.queue(total, pipe)
        self.count(time, dt, queue, delivered)
        dropped = np.concatenate((drops[1:], state.drops[np.newaxis, :, :]))
        self.parts = [time + dt, queue, window, delivered, rtt, dropped, dt]
        self.early_drops = self.early_drops + state.repeated  # of repairs: no others arrive to them
        self.course.clear()

    def count(
        self, time: FloatArray, dt: FloatArray, queue: FloatArray, delivered: FloatArray
    ) -> None:
        """Count steps: arrays of shape (step, scenario, flow)."""
        warm = time >= self.warm - 1e-9
        counts = (time >= self.first - 1e-9) & (time < self.last - 1e-9)
        weight = warm * dt
        carried = (warm * delivered).sum(axis=2, keepdims=True)
        # One after the other: a scenario has the same sums in any company.
        self.counted += np.add.accumulate(counts * delivered)[-1]
        self.warm_delivered += np.add.accumulate(carried)[-1]
        self.queued += np.add.accumulate(weight * queue)[-1]
        at = np.asarray(np.log1p(queue) * (BINS / np.log1p(self.capacity))).astype(int)
        np.add.at(self.histogram, (self.rows, at[:, :, 0]), weight[:, :, 0])


@named_arguments
def run(scenario: Scenario, *, stack: str = "linux") -> Result:
    """Compute one scenario, with its course over time.

    Parameters
    ----------
    scenario : Scenario
        What to compute.
    stack : str
        Recovery and slow start: "linux" as in its kernel, "ns3" as in the simulator.

    Returns
    -------
    Result
        Means, and the trajectory.

    Raises
    ------
    DomainError
        If it would take longer than :data:`MOST_S`, or has more loss than :data:`MOST_LOSS`.

    Notes
    -----
    ``delay_on_acks`` changes nothing here: windows, queue and requests depend on the whole round
    trip, wherever in it the delay is. What request loops take from flows is the mean of the time
    that counts, in which a flow runs; ``queue_mean_bytes`` is zero with request loops alone.

    Examples
    --------
    >>> from netcalc.scenario import preset
    >>> found = run(preset("wan-10m"))
    >>> round(found.utilization, 2)
    1.0
    """
    return run_many([scenario], stack=stack, with_course=True)[0]


@named_arguments
def run_many(
    scenarios: Sequence[Scenario], *, stack: str = "linux", with_course: bool = False
) -> list[Result]:
    """Compute many scenarios at once, by default without their courses, which need memory."""
    evaluated: list[Result | None] = [None] * len(scenarios)
    kinds = [
        (
            bool(scenario.requests),
            len(scenario.flows),
            any(flow.algorithm == "bbr" for flow in scenario.flows),
            scenario.has_one_rtt,
        )
        for scenario in scenarios
    ]
    for kind in sorted(set(kinds)):
        alike = [at for at in range(len(scenarios)) if kinds[at] == kind]
        most = COURSES_AT_ONCE if kind[0] else AT_ONCE
        for start in range(0, len(alike), most):
            part = alike[start : start + most]
            together = [scenarios[at] for at in part]
            if kind[0]:
                results = _run_with_requests(together, stack, with_course=with_course)
            else:
                results = _run(together, stack, with_course=with_course)
            for at, result in zip(part, results, strict=True):
                evaluated[at] = result
    return [result for result in evaluated if result is not None]


def _run_with_requests(scenarios: list[Scenario], stack: str, *, with_course: bool) -> list[Result]:
    """Compute flows and request loops in turn, until the loops' share of the link stays.

    The load of the loops falls with the share that they are assumed to have: its fixed point is
    found by the secant through the last two shares, for each scenario.
    """
    share = np.array([_requests.first_share(scenario, stack_of(stack)) for scenario in scenarios])
    besides = _beside(scenarios, share, stack)
    loads = [_load(beside, stack) for beside in besides]
    before = np.full((2, share.size), np.nan)
    for _ in range(LOAD_ROUNDS):
        load = np.array([load.beside_flows for load in loads])
        known = np.maximum([load.error for load in loads], LOAD_ERROR)
        moved = np.flatnonzero(np.abs(load - share) > known)
        if not moved.size:
            break
        now = np.array([share, load - share])
        # What is followed flight by flight hardly depends on the share that it is assumed to have.
        first = np.array([1.0 if len(load.latency_s[0]) > 1 else 0.5 for load in loads])
        following = _requests.next_share(now, before, first)
        share = np.where(np.isin(np.arange(share.size), moved), following, share)
        before = now
        again = _beside([scenarios[at] for at in moved], share[moved], stack)
        for at, beside in zip(moved, again, strict=True):
            besides[at], loads[at] = beside, _load(beside, stack)
    return [
        _together(beside, _load(beside, stack, last=load), assumed, with_course=with_course)
        for beside, load, assumed in zip(besides, loads, share.tolist(), strict=True)
    ]


def _together(beside: _Beside, load: Load, assumed: float, *, with_course: bool) -> Result:
    """Return flows and request loops: what these take more than was assumed, flows do not have."""
    result, left = beside.result, (1.0 - load.beside_flows) / (1.0 - assumed)
    return replace(
        result,
        goodput_bps=result.goodput_bps * left,
        utilization=result.utilization * left + load.utilization,
        requests=tuple(map(Latencies.of, load.latency_s)),
        trajectory=result.trajectory if with_course else None,
    )


@dataclass(slots=True)
class _Beside:
    """Flows beside request loops, and the drops after the warm-up: slow start has most before."""

    result: Result
    late_drops: float


def _beside(scenarios: list[Scenario], shares: FloatArray, stack: str) -> list[_Beside]:
    """Compute the flows on what request loops leave of the link and, as they arrive, of its buffer.

    Both shrink alike, so that a full buffer lasts as long as that of the whole link.
    """
    parts = list(map(_requests.part, scenarios, shares.tolist()))
    unaware = _requests.unaware(stack_of(stack), scenarios, shares)
    state, meter = _run_metered(parts, unaware, with_course=True)
    besides = []
    for row, (scenario, share) in enumerate(zip(scenarios, shares.tolist(), strict=True)):
        link, left = scenario.bottleneck, 1.0 - share
        most_s = 8 * (link.buffer_bytes + link.mtu_bytes) / link.rate_bps + np.array(
            scenario.rtts_s() or (link.rtt_s,)
        )
        result = _result(row, scenario, state, meter)
        course = result.trajectory
        assert course is not None
        each = course.flow_rtt_s
        if each is not None:
            each = np.minimum(each, most_s)
        whole = replace(
            result,
            queue_mean_bytes=min(result.queue_mean_bytes / left, link.buffer_bytes),
            queue_median_bytes=min(result.queue_median_bytes / left, link.buffer_bytes),
            queue_p95_bytes=min(result.queue_p95_bytes / left, link.buffer_bytes),
            utilization=result.utilization * left,
            about={"stack": stack},
            trajectory=replace(
                course,
                queue_bytes=np.minimum(course.queue_bytes / left, link.buffer_bytes),
                rtt_s=np.minimum(course.rtt_s, most_s.max()),
                flow_rtt_s=each,
            ),
        )
        besides.append(_Beside(whole, result.drop_count - float(meter.early_drops[row, 0])))
    return besides


def _load(beside: _Beside, stack: str, last: Load | None = None) -> Load:
    """Return what request loops do beside flows, with drops of these as theirs.

    With the ``last`` load of few starts it is that of all, if there are more.
    """
    result = beside.result
    if last is not None and len(last.latency_s[0]) == 1:
        return last
    course = result.trajectory
    assert course is not None
    loss = _requests.loss_ratio(result, beside.late_drops)
    course = replace(course, rtt_s=_rtt_of_loops_s(result.scenario, course))
    spans = [result.span_s(index) for index in range(len(result.scenario.flows))]
    runs = FIRST_RUNS if last is None else _requests.RUNS
    return load(result.scenario, course, spans, loss, stack_of(stack), runs)


def _rtt_of_loops_s(scenario: Scenario, course: Trajectory) -> FloatArray:
    """Return the round-trip time of request loops: the link's own, and the wait of the flows. [s]

    Where no flow runs it is 0, and so less than it is without load.
    """
    each = course.rtt_s[:, np.newaxis] if course.flow_rtt_s is None else course.flow_rtt_s
    shorter_s = scenario.bottleneck.rtt_s - np.array(scenario.rtts_s())
    return np.asarray(np.fmax.reduce(each + shorter_s, axis=1, initial=0.0))


def _run(scenarios: list[Scenario], stack: str, *, with_course: bool) -> list[Result]:
    state, meter = _run_metered(scenarios, stack_of(stack), with_course=with_course)
    about = {"stack": stack}
    return [replace(_result(row, scenario, state, meter), about=about)
            for row, scenario in enumerate(scenarios)]  # fmt: skip


def _run_metered(
    scenarios: list[Scenario], stack: Stack, *, with_course: bool
) -> tuple[State, _Meter]:
    for scenario in scenarios:
        _require_in_range(scenario)
    state = _stacks.begin(scenarios, stack)
    shape = state.window.shape
    spans = np.full((*shape, 2), np.inf)
    for row, scenario in enumerate(scenarios):
        for column, flow in enumerate(scenario.flows):
            spans[row, column] = counted_span_s(flow, scenario)
    meter = _Meter(
        warm=np.array([[scenario.warm_s] for scenario in scenarios]),
        first=spans[:, :, 0],
        last=spans[:, :, 1],
        capacity=np.maximum(state.capacity - state.pipe, 1.0),
        room=state.capacity - state.pipe,
        histogram=np.zeros((shape[0], BINS + 2)),
        counted=np.zeros(shape),
        warm_delivered=np.zeros((shape[0], 1)),
        queued=np.zeros((shape[0], 1)),
        rows=np.arange(shape[0]),
        early_drops=np.zeros((shape[0], 1)),
        course=[] if with_course else None,
    )
    _steps.run(state, meter)
    meter.count_course(state)
    return state, meter


def _require_in_range(scenario: Scenario) -> None:
    loss = scenario.bottleneck.loss_ratio
    if loss > MOST_LOSS:
        raise DomainError("theory-loss", "loss_ratio", loss, high=MOST_LOSS)
    seconds = estimated_s(scenario)
    if seconds > MOST_S:
        raise DomainError("theory-too-long", "end_s", scenario.end_s, seconds=seconds, limit=MOST_S)


@named_arguments
def is_drawn(scenario: Scenario, stack: str) -> bool:
    """Return whether the seed changes the result: random losses do, and loops from many starts.

    Examples
    --------
    >>> from netcalc.scenario import preset
    >>> [is_drawn(preset("buffer-1-bdp"), stack) for stack in ("linux", "ns3")]
    [True, False]
    """
    return scenario.bottleneck.loss_ratio > 0 or _requests.are_connections(scenario, stack)


@named_arguments
def estimated_s(scenario: Scenario) -> float:
    """Return about how long a scenario takes to compute, within a factor of three. [s]

    Examples
    --------
    >>> from netcalc.scenario import preset
    >>> estimated_s(preset("two-flows")) < 0.1 < estimated_s(preset("lan"))
    True
    """
    link, flows = scenario.bottleneck, scenario.flows
    packet_s = 8 * link.mtu_bytes / link.rate_bps
    own_s = min((*scenario.rtts_s(), link.rtt_s)) + packet_s
    fills = link.loss_ratio == 0 and all(f.algorithm in ("reno", "cubic") for f in flows)
    half_full_s = 4 * link.buffer_bytes / link.rate_bps
    rounds = scenario.end_s / (own_s + (half_full_s if fills and flows else 0.0))
    alone = len(flows) <= 1 and not link.loss_ratio
    steps, step_s = STEPS_ALONE if alone else STEPS_SHARED, STEP_S
    if any(flow.algorithm == "bbr" for flow in flows):
        steps, step_s = BBR_STEPS, BBR_STEP_S
    flows_s = rounds * steps * (step_s + FLOW_S * len(flows))
    if not scenario.requests:
        return flows_s
    spans = [min(loop.stop_s, scenario.end_s) - loop.start_s for loop in scenario.requests]
    packets = [loop.request_bytes / segment_bytes(scenario) for loop in scenario.requests]
    # Requests are at most as many as their round trips, and as their packets on the link, allow.
    counts = [span / (own_s + count * packet_s) for span, count in zip(spans, packets, strict=True)]
    most = scenario.end_s / (packet_s * max(min(packets), 1.0))
    passes = LOAD_ROUNDS + 1 if flows else 1
    return passes * (flows_s + REQUEST_S * min(sum(counts), most))


def _result(row: int, scenario: Scenario, state: State, meter: _Meter) -> Result:
    count = len(scenario.flows)
    mtu = scenario.bottleneck.mtu_bytes
    finish = state.finish[row, :count]
    ends = np.fmin(meter.last[row, :count], finish)
    lengths = ends - meter.first[row, :count]
    payload = meter.counted[row, :count] * segment_bytes(scenario) * 8
    whole = scenario.end_s - scenario.warm_s
    median, p95 = _percentiles(meter.histogram[row], (0.5, 0.95))
    fold = np.log1p(meter.capacity[row, 0]) / BINS
    median, p95 = (float(np.expm1(at * fold)) * mtu for at in (median, p95))
    return Result(
        scenario=scenario,
        by="theory",
        goodput_bps=np.where(lengths > 0, payload / np.maximum(lengths, 1e-9), np.nan),
        queue_mean_bytes=float(meter.queued[row, 0] / whole * mtu),
        queue_median_bytes=median,
        queue_p95_bytes=min(p95, float(scenario.bottleneck.buffer_packets * mtu)),
        drop_count=float(state.drops[row, 0]),
        finish_s=finish.copy(),
        utilization=float(meter.warm_delivered[row, 0] / whole / state.rate[row, 0]),
        trajectory=_trajectory(row, scenario, meter) if meter.course is not None else None,
        resent_ratio=_resent_ratio(row, scenario, state),
    )


def _resent_ratio(row: int, scenario: Scenario, state: State) -> float:
    """Return which share of the packets sent was lost, at the full buffer or at random."""
    passed = float(state.delivered[row].sum()) / (1.0 - scenario.bottleneck.loss_ratio)
    lost = float(state.drops[row, 0]) + passed * scenario.bottleneck.loss_ratio
    return lost / (passed + float(state.drops[row, 0])) if passed else np.nan


def _percentiles(histogram: FloatArray, shares: tuple[float, ...]) -> list[float]:
    """Return at which bins, counted as real numbers, so much of the time has passed."""
    passed = np.cumsum(histogram)
    bins = []
    for share in shares:
        at = int(np.searchsorted(passed, share * passed[-1]))
        before = passed[at - 1] if at else 0.0
        inside = (share * passed[-1] - before) / max(float(histogram[at]), 1e-12)
        bins.append(min(at + inside, float(BINS)) if at else 0.0)
    return bins


def _trajectory(row: int, scenario: Scenario, meter: _Meter) -> Trajectory:
    count = len(scenario.flows)
    rows = [part[:, row] for part in meter.parts]
    lasts = rows[-1][:, 0] > 0  # a scenario that has ended waits for the others
    time, queue, window, delivered, rtt, dropped, dt = (row[lasts] for row in rows)
    bits = delivered[:, :count] * segment_bytes(scenario) * 8
    rtt_s, flow_rtt_s = rtt[:, 0], None
    if not scenario.has_one_rtt:
        flow_rtt_s, link = rtt[:, :count], scenario.bottleneck
        empty_s = float(np.mean(scenario.rtts_s())) + 8 * link.mtu_bytes / link.rate_bps
        rtt_s = mean_rtt_s(flow_rtt_s)
        rtt_s = np.where(np.isnan(rtt_s), empty_s, rtt_s)
    return Trajectory(
        time_s=time[:, 0],
        queue_bytes=queue[:, 0] * scenario.bottleneck.mtu_bytes,
        window_packets=np.maximum(window[:, :count], LOSS_WINDOW),
        goodput_bps=bits / np.maximum(dt, 1e-12),
        rtt_s=rtt_s,
        drop_count=dropped[:, 0],
        flow_rtt_s=flow_rtt_s,
    )
