"""One request loop beside flows, as Linux's TCP has it: window, losses, repairs and timers.

Its requests fit into an initial window; the flows go their known course. It advances from one
flight of packets to the next, and draws what a course in round trips leaves open.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from itertools import accumulate
from math import comb, inf, sqrt
from random import Random

import numpy as np

from netcalc.congestion._steps import FRIENDLY_INCREASE, LEAST_TIMEOUT_S
from netcalc.congestion.result import Trajectory
from netcalc.models.tcp.cubic import CUBIC_DECREASE
from netcalc.models.tcp.slow_start import INITIAL_WINDOW_SEGMENTS
from netcalc.scenario import Bottleneck

DELAYED_ACK_S = 0.04
"""Wait of a receiver for the second of two packets (TCP_DELACK_MIN). [s]"""

DUPLICATES = 3
"""Later packets that report a loss at once; fewer after :data:`REORDERING` (RFC 8985, 6.2)."""

REORDERING = 0.25
"""Wait for packets that may be late. [least round trip]"""

LEAST_WINDOW = 2.0
"""Window after losses. [packet]"""


class Surroundings:
    """What packets of a loop find at the bottleneck, from step to step of the flows' course.

    Receivers acknowledge every second packet, so that half a packet of each of the :math:`n` flows
    and loops is held back on average: the queue is below its peaks by a binomial number of packets,
    with a standard deviation of half the root of :math:`n`. Peaks that often fill the buffer, and
    so end the growth, lie one deviation above the mean.

    Parameters
    ----------
    course : Trajectory
        Of the flows; at least one step, with drops.
    link : Bottleneck
        The whole one, as the queue of the course is that of the whole link.
    others : int
        Flows and other loops.
    """

    def __init__(self, course: Trajectory, link: Bottleneck, others: int) -> None:
        self.rate = link.rate_bps / (8 * link.mtu_bytes)
        self.own_s, self.rtt_s = link.rtt_s + 1 / self.rate, link.rtt_s
        self.times, self.rtts = course.time_s.tolist(), course.rtt_s.tolist()
        assert course.drop_count is not None
        overflows = np.diff(course.drop_count, prepend=0.0) > 0
        full = course.queue_bytes[overflows].max(initial=0.0) or link.buffer_bytes
        self.rooms = ((full - course.queue_bytes) / link.mtu_bytes).tolist()
        self.overflows = overflows.tolist()
        self.deviation = 0.5 * sqrt(others)
        # Each but one, which keeps step, has a packet out of step in a round trip: it grows.
        share = (others - 1) / max(self.rate * self.own_s + link.buffer_packets, others)
        self.taken = [_binomial(places, share) for places in range(INITIAL_WINDOW_SEGMENTS + 1)]


def _binomial(count: int, share: float) -> list[float]:
    """Return the cumulative probabilities of 0 to ``count`` - 1 hits.

    Examples
    --------
    >>> _binomial(2, 0.5)
    [0.25, 0.75]
    """
    each = [comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(count)]
    return list(accumulate(each))


class Connection:
    """A loop's requests, one after the other, from one start.

    Parameters
    ----------
    packets : int
        Of a request. [packet]
    is_reno : bool
        Whether the window halves and grows by a packet in a round trip; otherwise it is CUBIC's.
    around : Surroundings
        The bottleneck.
    random : random.Random
        What is drawn.
    """

    def __init__(
        self, packets: int, *, is_reno: bool, around: Surroundings, random: Random
    ) -> None:
        self.packets, self.around = packets, around
        self.keeps, self.gains = (0.5, 1.0) if is_reno else (CUBIC_DECREASE, FRIENDLY_INCREASE)
        self.random, self.gauss = random.random, random.gauss
        self.window, self.threshold = float(INITIAL_WINDOW_SEGMENTS), inf
        self.before = 0

    def run(self, start_s: float, stop_s: float, end_s: float) -> tuple[list[float], list[float]]:
        """Return when requests began, after a handshake, and their latencies: all that end. [s]"""
        around, packets = self.around, self.packets
        times, last, at = around.times, len(around.times) - 1, 0
        least_s = around.own_s + (packets - 1) / around.rate
        starts: list[float] = []
        latencies: list[float] = []
        now = start_s + self.rtt_s(start_s, 1) + around.rtt_s * self.random()
        while now < stop_s:
            while at < last and times[at] < now:
                at += 1
            lost = None
            most = packets + 1 if self.window >= self.threshold else 2 * packets
            if self.before == packets and self.window >= most:  # and does not grow
                lost = self.lost(now, packets, packets) if around.overflows[at] else 0
            done = now + max(around.rtts[at], least_s) if lost == 0 else self.request(now, lost)
            if done > end_s:
                break
            starts.append(now)
            latencies.append(done - now)
            now = done
        return starts, latencies

    def step(self, now: float) -> int:
        """Return the step of the course at a time."""
        return min(bisect_left(self.around.times, now), len(self.around.times) - 1)

    def rtt_s(self, now: float, flight: int) -> float:
        """Return the round trip of the last packet of a flight. [s]"""
        around = self.around
        return float(max(around.rtts[self.step(now)], around.own_s + (flight - 1) / around.rate))

    def lost(self, now: float, flight: int, before: int) -> int:
        """Return how many last packets of a flight the full buffer drops.

        It has the places that the flight ``before`` left a round trip ago, without those that
        others took while the buffer overflowed, and the room of the queue.
        """
        at = self.step(now)
        taken = 0
        if self.around.overflows[at]:
            taken = bisect(self.around.taken[min(before, flight)], self.random())
        excess = flight - before + taken
        if excess <= 0:
            return 0
        deviation = self.around.deviation
        below = max(0.5 + self.gauss(deviation, deviation), 0.0)
        return min(max(excess - int(self.around.rooms[at] + below + 0.5), 0), flight)

    def grow(self, acked: int, flight: int) -> None:
        """Let the window grow as far as flights need it."""
        if self.window < self.threshold:
            most = max(2.0 * flight, self.window)
            self.window = min(self.window + acked, self.threshold, most)
        elif flight >= int(self.window):
            self.window += self.gains * acked / self.window

    def reduce(self) -> None:
        """Let the window fall."""
        self.threshold = max(float(int(self.window * self.keeps)), LEAST_WINDOW)
        self.window = self.threshold

    def request(self, now: float, lost: int | None = None) -> float:
        """Send a request in flights; return when the last of it is acknowledged. [s]

        An odd last packet of a flight is acknowledged late, so that what waits for it does, too.
        """
        unsent = self.packets
        while unsent:
            flight = min(unsent, int(self.window))
            if lost is None:
                lost = self.lost(now, flight, self.before)
            missing, lost = lost, None
            unsent -= flight
            arrived = self.before = flight - missing
            acked_s = now + self.rtt_s(now, flight)
            odd = arrived % 2
            self.grow(arrived - odd, flight)
            places = int(self.window) - missing - odd
            if not missing:
                self.grow(odd, flight)
                late = bool(odd) and unsent > places
                now = acked_s + DELAYED_ACK_S * late
                self.before = 1 if late else flight
                continue
            more = min(unsent, places) if arrived else 0
            if more > 0:
                again = self.lost(acked_s, more, arrived)
                unsent -= more
                missing += again
                if reports := more - again:
                    then = acked_s + self.rtt_s(acked_s, more)
                    then += REORDERING * self.around.rtt_s * (reports < DUPLICATES)
                    now = self.recover(then, missing, reports)
                    continue
            armed = acked_s + DELAYED_ACK_S * odd if arrived else now
            now, unsent = self.probe(now, armed, missing, unsent)
        return now

    def recover(self, now: float, missing: int, reports: int) -> float:
        """Repair what later packets have reported: one for each, then twice as many."""
        self.reduce()
        before = reports
        while missing:
            flight = min(missing, reports)
            arrived = flight - self.lost(now, flight, before)
            rtt = self.rtt_s(now, flight)
            if not arrived:
                return self.resend(now + rtt + LEAST_TIMEOUT_S, missing, rtt + LEAST_TIMEOUT_S)
            now += rtt
            missing -= arrived
            self.before = before = arrived
            reports = 2 * flight
        return now

    def probe(self, sent: float, armed: float, missing: int, unsent: int) -> tuple[float, int]:
        """Probe a tail that nothing reports; return when it is repaired, and what is unsent still.

        A tail of one packet is probed when the retransmission timer would expire, of more after two
        round trips (RFC 8985, 7.2); that timer counts from when the first lost packet was sent.
        """
        rtt = self.rtt_s(armed, 1)
        timer = rtt + LEAST_TIMEOUT_S
        is_single = missing == 1 and not unsent
        now = armed + (timer if is_single else min(2 * rtt, timer))
        failed = bool(self.lost(now, 1, 0))
        self.before = 1
        reported = now + self.rtt_s(now, 1)
        if is_single and failed:
            return self.resend(now + timer, 1, timer), 0
        if is_single:
            self.reduce()
            return reported, 0
        expired = max(sent + timer, now)
        if unsent:  # a new packet probes
            unsent, missing = unsent - 1, missing + failed
        else:
            missing -= not failed
        if failed or reported > expired:
            return self.resend(expired, missing, timer), unsent
        return self.recover(reported, missing, 1), unsent

    def resend(self, now: float, missing: int, timer: float) -> float:
        """Send again after a timeout, in slow start from one packet on; the timer doubles."""
        self.reduce()
        self.window, before = 1.0, 0
        while missing:
            flight = min(missing, int(self.window))
            arrived = flight - self.lost(now, flight, before)
            if not arrived:
                timer *= 2
                now += timer
                self.window, before = 1.0, 0
                continue
            now += self.rtt_s(now, flight)
            missing -= arrived
            self.grow(arrived, flight)
            self.before = before = arrived
        return now
