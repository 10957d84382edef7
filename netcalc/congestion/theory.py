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

from netcalc.checks import FloatArray
from netcalc.congestion import _state, _steps
from netcalc.congestion._requests import latencies_s
from netcalc.congestion._stack import stack_of
from netcalc.congestion._state import State
from netcalc.congestion.latencies import Latencies
from netcalc.congestion.result import Result, Trajectory, counted_span_s, segment_bytes
from netcalc.errors import DomainError
from netcalc.scenario import Scenario

AT_ONCE = 1000
"""Scenarios computed together: their arrays stay in a second-level cache."""

MOST_ROUNDS = 5_000_000
"""Round trips beyond which a scenario is refused: minutes of computing."""

BINS = 200
"""Steps of the buffer in which its fill is counted for percentiles."""


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
    parts: list[FloatArray] = field(default_factory=list)

    def __call__(
        self,
        state: State,
        dt: FloatArray,
        queue: FloatArray,
        rtt: FloatArray,
        delivered: FloatArray,
    ) -> None:
        time = state.time
        warm = time >= self.warm - 1e-9
        counts = (time >= self.first - 1e-9) & (time < self.last - 1e-9)
        self.counted += counts * delivered
        weight = warm * dt
        self.warm_delivered += (warm * delivered).sum(axis=1, keepdims=True)
        self.queued += weight * queue
        at = (queue * (BINS / self.capacity)).astype(int)
        self.histogram[self.rows, at[:, 0]] += weight[:, 0]
        if self.course is not None:
            self.course.append((time + dt, queue, state.window, delivered, rtt, dt))


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
    [found] = _run([scenario], stack, with_course=True)
    return _with_requests(found)


def _with_requests(found: Result) -> Result:
    """Add the latencies of the request loops, which see the queue that the flows leave them."""
    scenario, course = found.scenario, found.trajectory
    if not scenario.requests or course is None:
        return found
    link = scenario.bottleneck
    carried = link.rate_bps * scenario.end_s / (8 * link.mtu_bytes) * found.utilization
    others = (1 - _steps.OWN_SHARE) * found.drop_count  # drops that fall on whoever arrives
    dropped = others / max(carried + found.drop_count, 1.0)
    loss = 1.0 - (1.0 - dropped) * (1.0 - link.loss_ratio)
    loops = [latencies_s(loop, scenario, course, loss) for loop in scenario.requests]
    return replace(found, requests=tuple(map(Latencies, loops)))


def run_many(
    scenarios: Sequence[Scenario], *, stack: str = "ns3", with_course: bool = False
) -> list[Result]:
    """Compute many scenarios at once, by default without their courses, which need memory."""
    found: list[Result | None] = [None] * len(scenarios)
    kinds = [(len(one.flows), any(f.algorithm == "bbr" for f in one.flows)) for one in scenarios]
    order = sorted(range(len(scenarios)), key=lambda at: kinds[at])
    for kind in sorted(set(kinds)):
        alike = [at for at in order if kinds[at] == kind]
        for start in range(0, len(alike), AT_ONCE):
            part = alike[start : start + AT_ONCE]
            results = _run([scenarios[at] for at in part], stack, with_course=with_course)
            for at, result in zip(part, results, strict=True):
                found[at] = _with_requests(result)
    return [one for one in found if one is not None]


def _run(scenarios: list[Scenario], stack: str, *, with_course: bool) -> list[Result]:
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
    if meter.course is not None:
        shape = (len(meter.course), len(scenarios), -1)
        parts = zip(*meter.course, strict=True)
        meter.parts = [np.concatenate(part).reshape(shape) for part in parts]
        meter.course.clear()
    about = {"stack": stack}
    return [replace(_result(row, one, state, meter), about=about)
            for row, one in enumerate(scenarios)]  # fmt: skip


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
        trajectory=_trajectory(row, scenario, meter) if meter.course is not None else None,
        resent_ratio=_resent_ratio(row, scenario, state),
    )


def _resent_ratio(row: int, scenario: Scenario, state: State) -> float:
    """Return which share of the packets sent was lost, at the full buffer or at random."""
    passed = float(state.delivered[row].sum()) / (1.0 - scenario.bottleneck.loss_ratio)
    lost = float(state.drops[row, 0]) + passed * scenario.bottleneck.loss_ratio
    return lost / (passed + float(state.drops[row, 0])) if passed else 0.0


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


def _trajectory(row: int, scenario: Scenario, meter: _Meter) -> Trajectory:
    count = len(scenario.flows)
    rows = [part[:, row] for part in meter.parts]
    lasts = rows[-1][:, 0] > 0  # a scenario that has ended waits for the others
    time, queue, window, delivered, rtt, dt = (found[lasts] for found in rows)
    bits = delivered[:, :count] * segment_bytes(scenario) * 8
    return Trajectory(
        time_s=time[:, 0],
        queue_bytes=queue[:, 0] * scenario.bottleneck.mtu_bytes,
        window_packets=window[:, :count],
        goodput_bps=bits / np.maximum(dt, 1e-12),
        rtt_s=rtt[:, 0],
    )
