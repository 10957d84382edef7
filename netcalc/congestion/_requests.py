"""Request loops beside flows: round trips of slow start, shares of the link, repairs."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from netcalc.checks import FloatArray
from netcalc.congestion._state import GOLDEN, INITIAL_WINDOW
from netcalc.congestion.result import Trajectory, segment_bytes
from netcalc.scenario import Requests, Scenario

REPAIR_ROUNDS = 2.0
"""Round trips that a lost packet costs: its probe (RFC 8985) or duplicate ACKs, and itself."""

BURST, TRANSFER, REPLY = range(3)
"""How a loop uses the link: by one initial window, by more, and in the direction of the replies."""


@dataclass(slots=True)
class Load:
    """What the request loops of a scenario do.

    Parameters
    ----------
    latency_s : list of numpy.ndarray
        Of the requests of each loop that begin after ``warm_s`` and end before ``end_s``. [s]
    utilization : float
        Share of the link that they take after ``warm_s``.
    beside_flows : float
        The same while a flow runs.
    """

    latency_s: list[FloatArray]
    utilization: float
    beside_flows: float


@dataclass(slots=True)
class _Loop:
    """One loop: what its requests consist of, and the one that is under way."""

    packets: int
    rounds: int
    replies: int
    reply_rounds: int
    stop_s: float
    started_s: float = 0.0
    stage: int = 0
    found: list[float] = field(default_factory=list)


def load(
    scenario: Scenario, course: Trajectory, spans: list[tuple[float, float]], loss_ratio: float
) -> Load:
    """Return what request loops do beside flows whose course is known.

    A request waits a round trip for each doubling of the initial window that it needs, and for two
    more if the loss ratio hits it; then its packets pass at a share of the link. The link serves
    equally all that transmit at a time, loops and, beside requests of more than an initial window,
    flows. For smaller ones the round trip has the wait for the flows; only if the loops would so
    take more than their part of all loops and flows, they share with flows in the same way.
    Replies do the same on the link's other direction, which is empty.

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
    """
    found = _Link(scenario, course, spans, loss_ratio, burst_shares=False).run()
    loops, flows = len(scenario.requests), len(scenario.flows)
    if flows and found.beside_flows > loops / (loops + flows):
        found = _Link(scenario, course, spans, loss_ratio, burst_shares=True).run()
    return found


def _rounds(packets: int) -> int:
    """Return the round trips of slow start that so many packets take.

    Examples
    --------
    >>> [_rounds(packets) for packets in (1, 10, 11, 30, 31, 691)]
    [1, 1, 2, 2, 3, 7]
    """
    return max(1, int(np.ceil(np.log2(packets / INITIAL_WINDOW + 1))))


class _Link:
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
        *,
        burst_shares: bool,
    ) -> None:
        link = scenario.bottleneck
        self.scenario, self.loss_ratio, self.burst_shares = scenario, loss_ratio, burst_shares
        self.rate = link.rate_bps / (8 * link.mtu_bytes)
        self.own_s = link.rtt_s + 1 / self.rate
        self.times, self.rtts = course.time_s.tolist(), course.rtt_s.tolist()
        changes = [(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans]
        changes += [(scenario.warm_s, 0), (scenario.end_s, 0)]
        self.changes = sorted(changes, reverse=True)
        self.loops = [_loop(one, scenario) for one in scenario.requests]
        starts = enumerate(scenario.requests)
        self.waits = [(one.start_s, number) for number, one in starts]
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
            latency_s=[np.array(loop.found) for loop in self.loops],
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
            hit = 1.0 - (1.0 - self.loss_ratio) ** loop.packets
            repaired = (self.count * GOLDEN + 0.5) % 1.0 < hit
            self.wait(number, loop.rounds + REPAIR_ROUNDS * repaired)
        elif loop.stage == 1:
            self.transmit(number, TRANSFER if loop.rounds > 1 else BURST, loop.packets)
        elif loop.stage == 3:
            self.transmit(number, REPLY, loop.replies)

    def through(self, number: int) -> None:
        """End a transmission: the reply follows, beyond its first packet, or the next request."""
        loop = self.loops[number]
        if loop.stage == 1 and loop.replies:
            loop.stage = 2
            self.wait(number, loop.reply_rounds - 1.0, first=False)
            return
        if loop.started_s >= self.scenario.warm_s:
            loop.found.append(self.now - loop.started_s)
        loop.stage = 0
        self.go_on(number)

    def wait(self, number: int, rounds: float, *, first: bool = True) -> None:
        """Wait round trips; that of the first packet has its own time on the link, not waited."""
        last = len(self.times) - 1
        while self.sample < last and self.times[self.sample] < self.now:
            self.sample += 1
        rtt = max(self.rtts[self.sample], self.own_s) if self.times else self.own_s
        self.loops[number].stage += 1
        heapq.heappush(self.waits, (self.now + rounds * rtt - first / self.rate, number))

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
    )
