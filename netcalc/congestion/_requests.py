"""Request loops beside flows: what they leave each other, round trips, losses and repairs."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.congestion._connection import Connection, Surroundings
from netcalc.congestion._stacks import GOLDEN, Stack
from netcalc.congestion._steps import BURST as BURST_FACTOR
from netcalc.congestion._steps import LEAST_TIMEOUT_S, OWN_SHARE
from netcalc.congestion.result import Result, Trajectory, segment_bytes
from netcalc.models.tcp.bbr import WINDOW_GAIN
from netcalc.models.tcp.slow_start import INITIAL_WINDOW_SEGMENTS
from netcalc.scenario import Flow, Requests, Scenario

TIMER_ROUNDS = 2.0
"""Round trips that a lost tail costs beyond its timer: one is in the timer, one is its repair."""

QUANTUM = 2
"""Packets that a paced sender sends at once: so few are sent as without pacing. [packet]"""

LEAST_PACKETS = 4.0
"""Buffer that flows have beside any request loops, if the link has it. [packet]"""

RUNS, LEAST_RUNS, MOST_REQUESTS = 20, 5, 20_000
"""Starts of a loop beside flows, as many as have so many requests together."""

RUN_SEEDS = 1_000_003
"""Prime that keeps the draws of scenarios' seeds, loops and starts apart."""

BURST, TRANSFER, REPLY = range(3)
"""How a loop uses the link: by one initial window, by more, and in the direction of the replies."""


@dataclass(slots=True)
class Load:
    """What the request loops of a scenario do.

    Parameters
    ----------
    latency_s : list of tuple of numpy.ndarray
        Of the requests of each loop that begin after ``warm_s`` and end before ``end_s``; for each
        start that was computed. [s]
    utilization : float
        Share of the link that they take after ``warm_s``.
    beside_flows : float
        The same while a flow runs.
    error : float
        Standard error of that, from start to start.
    """

    latency_s: list[tuple[FloatArray, ...]]
    utilization: float
    beside_flows: float
    error: float = 0.0


@dataclass(slots=True)
class _Loop:
    """One loop: what its requests consist of, and the one that is under way."""

    packets: int
    rounds: int
    replies: int
    reply_rounds: int
    stop_s: float
    is_bbr: bool
    is_slowed: bool = False
    started_s: float = 0.0
    stage: int = 0
    latencies_s: list[float] = field(default_factory=list)

    @property
    def burst(self) -> int:
        """Packets of a request that fits into an initial window, otherwise 0."""
        return self.packets if self.packets <= INITIAL_WINDOW_SEGMENTS else 0


def load(
    scenario: Scenario,
    course: Trajectory,
    spans: list[tuple[float, float]],
    loss_ratio: float,
    stack: Stack,
    runs: int = RUNS,
) -> Load:
    """Return what request loops do beside flows whose course is known.

    Loops of Reno and CUBIC beside such flows, whose requests fit into an initial window, are
    followed flight by flight in Linux's stack (:mod:`netcalc.congestion._connection`), from many
    starts. Others are computed from one start, as follows.

    The first request of a loop waits a round trip for each doubling of the initial window that it
    needs; the connection keeps its window, so that later ones wait one. Those that fit into an
    initial window come as a burst into a queue of which they are a part: the round trip has their
    wait for the flows and for themselves. Larger ones pass at a share of the link: it serves
    equally all that transmit at a time, loops and flows. If bursts would take more than the loops'
    part of all loops and flows, they share with flows in the same way. Replies do the same on the
    link's other direction, which is empty.

    A packet that is lost within a request is reported by later ones. A lost tail is not: it waits
    for a timer, and for the double of it when its repair is lost too. Loops of BBR are paced by the
    rate that their own requests had, which spreads these over more than a round trip; in Linux
    since their first loss, up to which the rate of their first packets is kept.

    Parameters
    ----------
    scenario : Scenario
        With loops.
    course : Trajectory
        Round-trip times over time.
    spans : list of tuple
        From when to when each flow runs. [s]
    loss_ratio : float
        Probability that a packet is lost.
    stack : Stack
        How losses are repaired and BBR is paced.
    runs : int
        Most starts.
    """
    loops, flows = len(scenario.requests), len(scenario.flows)
    if are_connections(scenario, stack.name) and course.time_s.size:
        followed = _follow(scenario, course, spans, runs)
        if followed.beside_flows <= loops / (loops + flows):
            return followed
    served = _SharedLink(scenario, course, spans, loss_ratio, stack, burst_shares=False).run()
    if flows and served.beside_flows > loops / (loops + flows):
        served = _SharedLink(scenario, course, spans, loss_ratio, stack, burst_shares=True).run()
    return served


def are_connections(scenario: Scenario, stack: str) -> bool:
    """Return whether all loops are followed flight by flight."""
    loops = scenario.requests
    return (
        stack == "linux"
        and bool(scenario.requests)
        and not scenario.bottleneck.loss_ratio
        and bool(scenario.flows)
        and all(flow.algorithm != "bbr" for flow in scenario.flows)
        and all(loop.algorithm in ("reno", "cubic") for loop in loops)
        and all(_is_burst(loop, scenario) for loop in loops)
        and all(loop.reply_bytes <= segment_bytes(scenario) for loop in loops)
    )


def _follow(
    scenario: Scenario, course: Trajectory, spans: list[tuple[float, float]], runs: int
) -> Load:
    """Return what loops do flight by flight, from several starts."""
    link, warm, end = scenario.bottleneck, scenario.warm_s, scenario.end_s
    around = Surroundings(course, link, len(scenario.flows) + len(scenario.requests) - 1)
    edges = np.unique(np.clip([*np.ravel(spans), warm, end], warm, end))
    beside_s = float(np.diff(edges)[_runs(edges[:-1], spans)].sum())
    latencies: list[tuple[FloatArray, ...]] = []
    carried = beside = variance = 0.0
    for number, loop in enumerate(scenario.requests):
        packets = int(np.ceil(loop.request_bytes / segment_bytes(scenario)))
        of_loop: list[FloatArray] = []
        counts: list[int] = []
        while len(of_loop) < min(runs, LEAST_RUNS if sum(counts) > MOST_REQUESTS else RUNS):
            seed = (scenario.seed * RUN_SEEDS + number) * RUN_SEEDS + len(of_loop)
            is_reno = loop.algorithm == "reno"
            one = Connection(packets, is_reno=is_reno, around=around, random=Random(seed))
            starts, times = map(np.array, one.run(loop.start_s, min(loop.stop_s, end), end))
            of_loop.append(times[starts >= warm])
            counts.append(int(np.count_nonzero(_runs(starts[starts >= warm], spans))))
        carried += packets * float(np.mean([run.size for run in of_loop]))
        beside += packets * float(np.mean(counts))
        variance += packets**2 * float(np.var(counts)) / len(counts)
        latencies.append(tuple(of_loop))
    most = around.rate * beside_s or 1.0
    return Load(
        latency_s=latencies,
        utilization=carried / (around.rate * (end - warm)),
        beside_flows=beside / most,
        error=float(np.sqrt(variance)) / most,
    )


def _runs(at_s: FloatArray, spans: list[tuple[float, float]]) -> NDArray[np.bool_]:
    """Return at which times some flow runs."""
    inside = [(start <= at_s) & (at_s < end) for start, end in spans]
    return np.asarray(np.logical_or.reduce(inside))


def _rounds(packets: int) -> int:
    """Return the round trips of slow start that so many packets take.

    Examples
    --------
    >>> [_rounds(packets) for packets in (1, 10, 11, 30, 31, 691)]
    [1, 1, 2, 2, 3, 7]
    """
    return max(1, int(np.ceil(np.log2(packets / INITIAL_WINDOW_SEGMENTS + 1))))


class _SharedLink:
    """The link in both directions, from one change of who transmits to the next.

    For each use of the link there is a clock of the packets that each of its loops has been served:
    a loop is through when the clock has its mark.
    """

    def __init__(
        self,
        scenario: Scenario,
        course: Trajectory,
        spans: list[tuple[float, float]],
        loss_ratio: float,
        stack: Stack,
        *,
        burst_shares: bool,
    ) -> None:
        link = scenario.bottleneck
        self.scenario, self.loss_ratio, self.burst_shares = scenario, loss_ratio, burst_shares
        self.stack = stack
        self.rate = link.rate_bps / (8 * link.mtu_bytes)
        self.own_s = link.rtt_s + 1 / self.rate
        self.times, self.rtts = course.time_s.tolist(), course.rtt_s.tolist()
        changes = [(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans]
        changes += [(scenario.warm_s, 0), (scenario.end_s, 0)]
        self.changes = sorted(changes, reverse=True)
        self.loops = [_loop(loop, scenario) for loop in scenario.requests]
        starts = enumerate(scenario.requests)
        self.waits = [(loop.start_s, number) for number, loop in starts]
        heapq.heapify(self.waits)
        self.served = [0.0, 0.0, 0.0]
        self.marks: list[list[tuple[float, int]]] = [[], [], []]
        self.now = self.carried = self.carried_beside = self.beside_s = 0.0
        self.flows = self.sample = self.count = 0

    def run(self) -> Load:
        """Serve the loops up to the end of the scenario."""
        end, warm = self.scenario.end_s, self.scenario.warm_s
        while self.now < end:
            speeds = self.speeds()
            times = [self.changes[-1][0], self.waits[0][0] if self.waits else np.inf]
            for use, speed in enumerate(speeds):
                left = self.marks[use][0][0] - self.served[use] if self.marks[use] else np.inf
                times.append(self.now + left / speed if speed else np.inf)
            event = min(range(len(times)), key=times.__getitem__)
            self.pass_time(max(times[event] - self.now, 0.0), speeds, counts=self.now >= warm)
            self.now = max(times[event], self.now)
            if event == 0:
                self.flows += self.changes.pop()[1]
            elif event == 1:
                self.go_on(heapq.heappop(self.waits)[1])
            else:
                use = event - 2
                self.served[use], number = heapq.heappop(self.marks[use])
                self.through(number)
        return Load(
            latency_s=[(np.array(loop.latencies_s),) for loop in self.loops],
            utilization=self.carried / (self.rate * (end - warm)),
            beside_flows=self.carried_beside / (self.rate * self.beside_s or 1.0),
        )

    def speeds(self) -> list[float]:
        """Return the packets per second of each loop, for each use of the link."""
        bursts, transfers, replies = map(len, self.marks)
        loops = bursts + transfers
        shared = self.rate / max(loops + self.flows, 1)
        alone = self.rate / max(loops, 1)
        return [
            (shared if self.burst_shares else alone) if bursts else 0.0,
            shared if transfers else 0.0,
            self.rate / replies if replies else 0.0,
        ]

    def pass_time(self, dt: float, speeds: list[float], *, counts: bool) -> None:
        """Serve who transmits for some time."""
        for use, speed in enumerate(speeds):
            self.served[use] += speed * dt
        if counts:
            sent = dt * sum(speeds[use] * len(self.marks[use]) for use in (BURST, TRANSFER))
            self.carried += sent
            self.carried_beside += sent * (self.flows > 0)
            self.beside_s += dt * (self.flows > 0)

    def go_on(self, number: int) -> None:
        """Begin the next stage of a loop: waits are the even ones, transmissions the odd ones."""
        loop = self.loops[number]
        if loop.stage == 0:
            if self.now >= loop.stop_s:
                return
            loop.started_s = self.now
            self.count += 1
            rounds, timer_s = self.repair(loop)
            self.wait(number, loop.rounds + rounds, timer_s=timer_s, burst=loop.burst)
        elif loop.stage == 1:
            self.transmit(number, BURST if loop.burst else TRANSFER, loop.packets)
            loop.rounds = 1
        elif loop.stage == 3:
            self.transmit(number, REPLY, loop.replies)

    def through(self, number: int) -> None:
        """End a transmission: the reply follows, beyond its first packet, or the next request."""
        loop = self.loops[number]
        if loop.stage == 1 and loop.replies:
            loop.stage = 2
            self.wait(number, loop.reply_rounds - 1.0, first=False)
            loop.reply_rounds = 1
            return
        if loop.started_s >= self.scenario.warm_s:
            loop.latencies_s.append(self.now - loop.started_s)
        loop.stage = 0
        self.go_on(number)

    def repair(self, loop: _Loop) -> tuple[float, float]:
        """Return the round trips and the timers that losses and pacing add to a request. [s]"""
        loss, stack = self.loss_ratio, self.stack
        hit = 1.0 - (1.0 - loss) ** loop.packets
        unreported = 1.0 - (1.0 - loss) ** min(stack.tail_packets, loop.packets)
        unreported += (hit - unreported) * loss  # the repair is lost
        draw = (self.count * GOLDEN + 0.5) % 1.0
        rounds, timer_s, next_s = 0.0, 0.0, LEAST_TIMEOUT_S
        if draw < unreported:
            rounds = TIMER_ROUNDS
        elif draw < hit:
            rounds = stack.report_rounds
        while draw < unreported and loss < 1.0:
            timer_s, next_s, unreported = timer_s + next_s, 2 * next_s, unreported * loss
        if loop.is_bbr and QUANTUM < loop.packets <= INITIAL_WINDOW_SEGMENTS:
            loop.is_slowed |= draw < hit
            rounds += stack.paced_rounds * (loop.is_slowed or not stack.keeps_first_rate)
        return rounds, timer_s

    def wait(
        self,
        number: int,
        rounds: float,
        *,
        timer_s: float = 0.0,
        burst: int = 0,
        first: bool = True,
    ) -> None:
        """Wait round trips, without the time that the first packet itself is on the link.

        The queue of the course has the packets of a burst behind its first one, too.
        """
        last = len(self.times) - 1
        while self.sample < last and self.times[self.sample] < self.now:
            self.sample += 1
        rtt = max(self.rtts[self.sample], self.own_s) if self.times else self.own_s
        behind_s = min(max(burst - 1, 0) / self.rate, rtt - self.own_s)
        self.loops[number].stage += 1
        wait_s = rounds * rtt - behind_s - first / self.rate + timer_s
        heapq.heappush(self.waits, (self.now + wait_s, number))

    def transmit(self, number: int, use: int, packets: float) -> None:
        """Let a loop take its part in a use of the link."""
        heapq.heappush(self.marks[use], (self.served[use] + packets, number))


def _loop(requests: Requests, scenario: Scenario) -> _Loop:
    segment = segment_bytes(scenario)
    packets = int(np.ceil(requests.request_bytes / segment))
    reply = int(np.ceil(requests.reply_bytes / segment))
    return _Loop(
        packets=packets,
        rounds=_rounds(packets),
        replies=reply - 1,
        reply_rounds=_rounds(reply),
        stop_s=min(requests.stop_s, scenario.end_s),
        is_bbr=requests.algorithm == "bbr",
    )


def first_share(scenario: Scenario, stack: Stack) -> float:
    """Return about what request loops take of the link: with a product queued, if there is room."""
    flows, link = scenario.flows, scenario.bottleneck
    loops = [loop for loop in scenario.requests if _meets_flow(loop, flows)]
    pipe = link.rate_bps * link.rtt_s / (8 * link.mtu_bytes) + 1.0
    around = pipe + min(pipe, link.buffer_packets)
    slowed = not stack.keeps_first_rate or link.buffer_packets <= pipe
    taken = 0.0
    for loop in loops:
        packets = loop.request_bytes / segment_bytes(scenario)
        paced = loop.algorithm == "bbr" and slowed and _is_burst(loop, scenario)
        taken += packets / (around * (1.0 + stack.paced_rounds * paced) + packets)
    return min(taken, len(loops) / (len(loops) + len(flows))) if loops else 0.0


def _meets_flow(loop: Requests, flows: Sequence[Flow]) -> bool:
    """Return whether a request loop runs at the same time as some flow."""
    return any(
        loop.start_s < (np.inf if flow.stop_s is None else flow.stop_s)
        and flow.start_s < loop.stop_s
        for flow in flows
    )


def next_share(now: FloatArray, before: FloatArray, first: FloatArray) -> FloatArray:
    """Return where the secant has no excess of load over share, at first a part of the way."""
    (share, excess), (share_before, excess_before) = now, before
    with np.errstate(invalid="ignore", divide="ignore"):
        step = excess * (share - share_before) / (excess_before - excess)
    sure = np.isfinite(step) & (step * excess > 0)
    step = np.where(sure, step, excess * first)
    return np.asarray(np.clip(share + step, 0.0, np.maximum(share, share + excess)))


def part(scenario: Scenario, share: float) -> Scenario:
    """Return a scenario with what request loops leave of its link and buffer."""
    link, left = scenario.bottleneck, 1.0 - share
    marking = None if link.marking_bytes is None else link.marking_bytes * left
    least = min(link.buffer_bytes, LEAST_PACKETS * link.mtu_bytes)
    buffer = max(link.buffer_bytes * left, least)
    part = replace(link, rate_bps=link.rate_bps * left, buffer_bytes=buffer, marking_bytes=marking)
    return replace(scenario, bottleneck=part)


def _is_burst(loop: Requests, scenario: Scenario) -> bool:
    """Return whether a request fits into an initial window."""
    return loop.request_bytes <= INITIAL_WINDOW_SEGMENTS * segment_bytes(scenario)


def unaware(stack: Stack, scenarios: Sequence[Scenario], shares: FloatArray) -> Stack:
    """Return a stack whose BBR does not see that loops of bursts take a share of the link.

    Its estimate, the largest of ten round trips, is that of round trips in which one loop was
    quiet. So it holds its ceiling in flight, and overflows a buffer that is smaller.
    """
    bias = np.zeros((len(scenarios), max(len(scenario.flows) for scenario in scenarios) or 1))
    for row, (scenario, share) in enumerate(zip(scenarios, shares.tolist(), strict=True)):
        loops = scenario.requests
        if not loops or not all(_is_burst(loop, scenario) for loop in loops):
            continue
        link = part(scenario, share).bottleneck
        rtts_s = np.array(scenario.rtts_s() or (link.rtt_s,))
        pipe = link.rate_bps * rtts_s / (8 * link.mtu_bytes) + 1.0
        in_flight = np.minimum(WINDOW_GAIN * pipe, pipe + link.buffer_packets)
        quiet = share / len(loops)
        bias[row] = in_flight * quiet / (1.0 - quiet)
    return replace(stack, bbr_bias_packets=stack.bbr_bias_packets + bias)


def loss_ratio(result: Result, late_drops: float) -> float:
    """Return the probability that a packet of a request loop is lost beside flows.

    Of a window's growth the half that is its own loss hits no others, and a slow start that
    overshoots the buffer by many packets hits no more requests than one packet. Beside BBR, which
    is paced, all lose by their share, and a burst finds the full buffer more often than it.

    Parameters
    ----------
    result : Result
        Of the flows, with its course.
    late_drops : float
        Drops after the warm-up.
    """
    scenario, course = result.scenario, result.trajectory
    assert course is not None
    link = scenario.bottleneck
    others = BURST_FACTOR * late_drops
    if not any(flow.algorithm == "bbr" for flow in scenario.flows):
        counted = course.window_packets[course.time_s > scenario.warm_s]
        others = (1.0 - OWN_SHARE) * min(late_drops, falls(counted))
    most = link.rate_bps / (8 * link.mtu_bytes) * (scenario.end_s - scenario.warm_s)
    arrived = max(most * result.utilization + late_drops, 1.0)
    dropped = min(others / arrived, 1.0)
    return 1.0 - (1.0 - dropped) * (1.0 - link.loss_ratio)


def falls(windows: FloatArray) -> int:
    """Count how often the windows of flows begin to fall.

    Examples
    --------
    >>> falls(np.array([[10.0], [11.0], [8.0], [5.0], [6.0], [7.0], [4.0]]))
    2
    """
    falls = np.diff(windows, axis=0) < 0
    return int(np.count_nonzero(falls[1:] & ~falls[:-1])) + int(np.count_nonzero(falls[:1]))
