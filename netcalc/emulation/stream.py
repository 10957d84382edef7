"""One TCP stream over a path in virtual time: a sender, a receiver, and the links between them.

>>> from netcalc.path import Path
>>> path = Path.parse("10 Mbit/s 20 ms")
>>> round(deliver(path, segments=100).delivery_s, 4)
0.1865

The links are those of :mod:`netcalc.emulation.chain`: with the same seed they lose the same packets
as the links of an emulated path. The two hosts follow the RFCs, in the order in which Linux applies
them: slow start and congestion avoidance by acknowledged segments (RFC 5681, 9438), detection of
losses by SACK and time (RFC 8985), proportional rate reduction (RFC 6937), tail loss probes, and a
delayed acknowledgement for every second segment. Nothing of it is fitted to a measurement.

Windows count whole segments, as Linux does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from netcalc.emulation.chain import Chain, both_directions
from netcalc.emulation.queue import LinkQueue
from netcalc.errors import DomainError
from netcalc.path import Path
from netcalc.printable import safe_repr

CUBIC_C = 0.4
"""Constant of CUBIC's growth. (RFC 9438, 5) [1/s^3]"""
CUBIC_KEPT = 717.0 / 1024.0
"""What CUBIC keeps of a window after a loss: 0.7 in 1/1024. [ratio]"""
CUBIC_HOLD_S = 1.0 / 32.0
"""How long Linux keeps CUBIC's growth while the window stays as it is (bictcp_update): on a path of
10 ms for three round trips. [s]"""
RENO_ACKS_RATIO = 15.0 / 8.0
"""Windows of acknowledged segments for which Reno's estimate grows by one: (1 + b) / (3 (1 - b)) of
RFC 9438, in Linux' eighths (beta_scale). [ratio]"""


class Window:
    """Reno's window: slow start, a segment per round trip, half after a loss. (RFC 5681)

    Parameters
    ----------
    first : int
        First window. [1]
    slow_start : bool
        Whether it begins with slow start.
    """

    _before: int  # a reduction: the window before it, segments delivered and sent in it
    _delivered: int
    _sent: int

    def __init__(self, first: int, *, slow_start: bool = True) -> None:
        self.size = first
        self.threshold = math.inf if slow_start else float(first)
        self.is_reducing = False
        self._counted = 0

    def acknowledged(self, count: int, now_s: float, rtt_s: float, in_flight: int) -> None:
        """Grow by acknowledged segments; one that was not in use does not grow."""
        if self.size < self.threshold:
            if in_flight * 2 <= self.size:
                return
            before = self.size
            self.size = int(min(self.size + count, self.threshold))
            count -= self.size - before
            if not count:
                return
        if in_flight >= self.size - 1:
            self._avoid(count, now_s, rtt_s)

    def _avoid(self, count: int, now_s: float, rtt_s: float) -> None:
        self._count(count, self.size)

    def _count(self, count: int, per_segment: int) -> None:
        """Add a segment for every ``per_segment`` acknowledged ones."""
        if self._counted >= per_segment:
            self._counted = 0
            self.size += 1
        self._counted += count
        if self._counted >= per_segment:
            more = self._counted // per_segment
            self._counted -= more * per_segment
            self.size += more

    def _reduced(self) -> int:
        return max(self.size // 2, 2)

    def reduce(self, now_s: float) -> None:
        """Begin a reduction after a loss."""
        self._before, self.threshold = self.size, self._reduced()
        self._counted = self._delivered = self._sent = 0
        self.is_reducing = True

    def proportion(self, delivered: int, in_flight: int, *, advanced: bool) -> None:
        """Reduce the window in proportion to the data delivered. (RFC 6937)"""
        self._delivered += delivered
        target = int(self.threshold)
        missing = target - in_flight
        if missing < 0:
            sends = -(-target * self._delivered // self._before) - self._sent
        else:
            sends = max(self._delivered - self._sent, delivered) + advanced
            sends = min(missing, sends)
        sends = max(sends, 0 if self._sent else 1)
        self.size = in_flight + sends

    def sent(self) -> None:
        """Count a transmission during a reduction."""
        if self.is_reducing:
            self._sent += 1

    def end_reduction(self) -> None:
        """End it: the window is the threshold."""
        if self.is_reducing:
            self.size = int(self.threshold)
        self.is_reducing = False

    def time_out(self, *, is_first: bool = True) -> None:
        """Begin again with one segment; a repeated timeout leaves the threshold. (RFC 5681, 3.1)"""
        if is_first:
            self.threshold = self._reduced()
        self.size, self._counted, self.is_reducing = 1, 0, False


class CubicWindow(Window):
    """CUBIC's window: the larger of its cubic function and of Reno's estimate. (RFC 9438)"""

    def __init__(self, first: int, *, slow_start: bool = True) -> None:
        super().__init__(first, slow_start=slow_start)
        self._last_max = 0.0
        self._epoch_s = math.nan
        self._origin = self._time_to_origin_s = 0.0
        self._reno = self._reno_acked = 0
        self._per_segment, self._updated_s, self._updated_size = 0, -math.inf, 0

    def _avoid(self, count: int, now_s: float, rtt_s: float) -> None:
        self._reno_acked += count
        if self.size != self._updated_size or now_s - self._updated_s > CUBIC_HOLD_S:
            self._update(count, now_s, rtt_s)
        self._count(count, self._per_segment)

    def _update(self, count: int, now_s: float, rtt_s: float) -> None:
        """Set after how many acknowledged segments the window grows by one."""
        size = self.size
        self._updated_s, self._updated_size = now_s, size
        if math.isnan(self._epoch_s):
            self._epoch_s, self._reno, self._reno_acked = now_s, size, count
            self._origin = max(self._last_max, float(size))
            self._time_to_origin_s = ((self._origin - size) / CUBIC_C) ** (1.0 / 3.0)
        since_s = now_s + rtt_s - self._epoch_s - self._time_to_origin_s
        target = self._origin + CUBIC_C * since_s**3
        per_segment = size / (target - size) if target > size else 100.0 * size
        if not self._last_max:
            per_segment = min(per_segment, 20.0)
        # Reno's estimate: as fast as a window that grows by 3 (1 - b) / (1 + b) a round trip.
        each = int(size * RENO_ACKS_RATIO)
        more = max(0, -(-self._reno_acked // each) - 1)
        self._reno, self._reno_acked = self._reno + more, self._reno_acked - more * each
        if self._reno > size:
            per_segment = min(per_segment, size // (self._reno - size))
        self._per_segment = max(int(per_segment), 2)

    def _reduced(self) -> int:
        size = self.size
        # A window that has not reached its last maximum leaves room for other flows.
        falls = size < self._last_max
        self._last_max = size * (1.0 + CUBIC_KEPT) / 2.0 if falls else float(size)
        self._epoch_s = math.nan
        return max(int(size * CUBIC_KEPT), 2)


RULES: dict[str, type[Window]] = {"reno": Window, "cubic": CubicWindow}
"""The congestion controls by name."""


MSS_BYTES, PACKET_BYTES, ACK_BYTES, SYN_BYTES = 1448, 1500, 52, 60
"""Payload of a full segment with time stamps, its IP packet, an acknowledgement, a SYN. [byte]"""
DELAYED_ACK_S = 0.04
"""Longest delay of an acknowledgement in Linux (TCP_DELACK_MIN). [s]"""
QUICK_ACKS = 16
"""Segments at the start of a connection that Linux acknowledges one by one. [1]"""
MIN_RTO_S = 0.2
"""Least retransmission timeout of Linux (TCP_RTO_MIN). [s]"""
DUPLICATES = 3
"""Segments received behind a hole from which on the hole counts as lost. (RFC 6675) [1]"""
_LONGEST_S = 3600.0


@dataclass(frozen=True, slots=True)
class Delivered:
    """A stream that was delivered in virtual time.

    Parameters
    ----------
    delivery_s : float
        From the first write until the last byte has been received. [s]
    sent_count : int
        Data packets sent, retransmissions included. [packet]
    lost_count : int
        Those of them that the path lost. [packet]
    timeout_count : int
        Retransmission timeouts. [1]
    reduction_count : int
        How often the window was reduced after a loss. [1]
    """

    delivery_s: float
    sent_count: int
    lost_count: int
    timeout_count: int
    reduction_count: int


def deliver(
    path: Path,
    *,
    segments: int,
    rule: str = "reno",
    initial_window_segments: int = 10,
    slow_start: bool = True,
    window_bytes: float = math.inf,
    write_segments: int = 45,
    host_s: float = 0.0,
    loss_ratio: float = 0.0,
    seed: int = 0,
) -> Delivered:
    """Send a stream through a path in virtual time.

    Parameters
    ----------
    path : Path
        The links and nodes; their buffers are never full.
    segments : int
        Full segments of the stream. [1]
    rule : {'reno', 'cubic'}
        Congestion control.
    initial_window_segments : int
        First window. [1]
    slow_start : bool
        Whether the stream begins with slow start; otherwise with congestion avoidance.
    window_bytes : float
        Receive window, rounded to whole segments. [byte]
    write_segments : int
        Segments of one write; the last of each is acknowledged when it has been read. [1]
    host_s : float
        What the two hosts add to each round trip. [s]
    loss_ratio : float
        Packet loss of each link, in both directions. [ratio]
    seed : int
        Of the losses: an emulated path with this seed has the same ones.

    Returns
    -------
    Delivered
        Its time and its counts; the same arguments give the same ones.

    Raises
    ------
    DomainError
        If there is no such congestion control, or the stream does not end within an hour.
    """
    if not isinstance(rule, str) or rule not in RULES:
        raise DomainError("not-a-choice", "rule", safe_repr(rule), choices=list(RULES))
    there, back = both_directions(path, loss_ratio=loss_ratio, seed=seed, log=False)
    stream = _Stream(
        to_sink=Chain([LinkQueue(**link) for link in there]),
        to_source=Chain([LinkQueue(**link) for link in back]),
        segments=segments,
        window=RULES[rule](initial_window_segments, slow_start=slow_start),
        window_segments=max(1.0, _rounded(window_bytes / MSS_BYTES)),
        write_segments=write_segments,
        host_s=host_s,
    )
    return stream.run()


@dataclass
class _Segment:
    """What the sender knows of one segment."""

    order: int  # of its last transmission
    sent_s: float
    sacked: bool = False
    lost: bool = False
    again: bool = False  # its retransmission is on its way


@dataclass
class _Receiver:
    """The receiving host: the data received, and when it acknowledges."""

    expected: int = 0
    beyond: set[int] = field(default_factory=set)
    unacked: int = 0
    quick: int = QUICK_ACKS
    timer_s: float = math.inf

    def take(self, number: int, is_pushed: bool, now_s: float) -> bool:
        """Take a segment; return whether it is acknowledged at once."""
        if number < self.expected or number in self.beyond:
            return True
        had_hole = bool(self.beyond)
        self.beyond.add(number)
        while self.expected in self.beyond:
            self.beyond.remove(self.expected)
            self.expected += 1
            self.unacked += 1
        if had_hole or self.beyond or self.quick > 0 or self.unacked >= 2 or is_pushed:
            return True
        self.timer_s = now_s + DELAYED_ACK_S
        return False

    def acknowledge(self) -> tuple[int, frozenset[int]]:
        """Return an acknowledgement: the next expected byte, and the blocks after holes."""
        self.quick -= 1
        self.unacked, self.timer_s = 0, math.inf
        return self.expected, frozenset(self.beyond)


class _Stream:
    """Both hosts and the two directions between them.

    Half of what the hosts add to a round trip delays each data packet, the other half each
    acknowledgement.
    """

    srtt_s: float
    rttvar_s: float
    min_rtt_s: float

    def __init__(
        self,
        *,
        to_sink: Chain,
        to_source: Chain,
        segments: int,
        window: Window,
        window_segments: float,
        write_segments: int,
        host_s: float,
    ) -> None:
        self.to_sink, self.to_source = to_sink, to_source
        self.total, self.window, self.window_segments = segments, window, window_segments
        self.receiver = _Receiver()
        self.host_s, self.write_segments = host_s, write_segments
        self.out: dict[int, _Segment] = {}  # sent and not acknowledged cumulatively
        # The recovery ends when everything before `high` has been acknowledged, a probe is answered
        # with everything before `probe_end`.
        self.una = self.next = self.high = self.probe_end = 0
        self.sacked = self.lost = self.retransmitted = self.rack_order = 0
        self.sent_count = self.timeout_count = self.reduction_count = 0
        self.rack_rtt_s = self.reorder_s = self.probe_s = self.timeout_s = math.inf
        self.backoff = 1

    def run(self) -> Delivered:
        """Open the connection, send everything, and return what happened."""
        # The handshake takes part in the draws of the losses: a SYN, its answer, and the third.
        now_s = self._handshake()
        begin_s, lost_before = now_s, self._lost_count()
        self._transmit(now_s)
        self._set_timers(now_s)
        while self.receiver.expected < self.total:
            times = (
                self._next_s(self.to_sink), self._next_s(self.to_source), self.receiver.timer_s,
                self.reorder_s, self.probe_s, self.timeout_s,
            )  # fmt: skip
            now_s = min(times)
            self._check_duration(now_s - begin_s)
            self._step(times.index(now_s), now_s)
        return Delivered(
            now_s - begin_s, self.sent_count, self._lost_count() - lost_before,
            self.timeout_count, self.reduction_count,
        )  # fmt: skip

    def _lost_count(self) -> int:
        return sum(link["lost"] for link in self.to_sink.counters)

    def _handshake(self) -> float:
        """Send a SYN, its answer and the third packet; a lost one is sent again after a second."""
        now_s, wait_s = 0.0, 1.0
        while True:
            self._check_duration(now_s)
            arrived_s = self._arrival_s(self.to_sink, now_s, SYN_BYTES)
            if not math.isinf(arrived_s):
                answered_s = self._arrival_s(self.to_source, arrived_s, SYN_BYTES)
                if not math.isinf(answered_s):
                    break
            now_s, wait_s = now_s + wait_s, 2.0 * wait_s
        opened_s = answered_s + self.host_s
        # The first sample (RFC 6298, 2.2): of the SYN that was answered.
        self.srtt_s = self.min_rtt_s = opened_s - now_s
        self.rttvar_s = self.srtt_s / 2.0
        arrived_s = self._arrival_s(self.to_sink, opened_s, ACK_BYTES)
        return opened_s if math.isinf(arrived_s) else arrived_s

    @staticmethod
    def _arrival_s(chain: Chain, now_s: float, packet_bytes: int) -> float:
        """Send the only packet on its way; return when it arrives, inf if it is lost."""
        chain.push(None, now_s, packet_bytes)
        return next((when_s for when_s, _ in chain.take(math.inf)), math.inf)

    def _check_duration(self, lasts_s: float) -> None:
        if lasts_s > _LONGEST_S:
            raise DomainError("above-maximum", "segments", self.total, high=self.una)

    @staticmethod
    def _next_s(chain: Chain) -> float:
        due_s = chain.next_event_s()
        return math.inf if due_s is None else due_s

    def _step(self, which: int, now_s: float) -> None:
        if which == 0:
            for when_s, (number, is_pushed) in self.to_sink.take(now_s):
                if self.receiver.take(number, is_pushed, when_s):
                    self._send_ack(when_s)
        elif which == 1:
            for when_s, answer in self.to_source.take(now_s):
                self._take_ack(answer, when_s)
        elif which == 2:
            self._send_ack(now_s)
        elif which == 3:
            self._detect(now_s)
            self._recover(now_s, 0, goes_well=False)
            self._transmit(now_s)
        elif which == 4:
            self._probe(now_s)
        else:
            self._time_out(now_s)

    def _send_ack(self, now_s: float) -> None:
        self.to_source.push(self.receiver.acknowledge(), now_s + self.host_s / 2.0, ACK_BYTES)

    # The sender.

    @property
    def in_flight(self) -> int:
        return len(self.out) - self.sacked - self.lost + self.retransmitted

    @property
    def in_recovery(self) -> bool:
        return self.una < self.high

    def _take_ack(self, answer: tuple[int, frozenset[int]], now_s: float) -> None:
        expected, beyond = answer
        prior_flight = self.in_flight
        received = [self.out[number] for number in (*range(self.una, expected), *beyond)]
        received = [segment for segment in received if not segment.sacked]
        rtts_s = []
        for segment in received:
            sample_s = now_s - segment.sent_s
            is_earlier_one = segment.again and sample_s < self.min_rtt_s
            if segment.order > self.rack_order and not is_earlier_one:
                self.rack_order, self.rack_rtt_s = segment.order, sample_s
            if not segment.again:
                rtts_s.append(sample_s)
            self.lost -= segment.lost
            self.retransmitted -= segment.again
            self.sacked += 1
            segment.sacked, segment.lost, segment.again = True, False, False
        for number in range(self.una, expected):
            del self.out[number]
            self.sacked -= 1
        advanced = expected > self.una
        self.una = expected
        if rtts_s:
            self._sample_rtt(min(rtts_s))
        if advanced:
            self.backoff = 1
        lost_before, was_reducing = self.lost, self.window.is_reducing
        self._detect(now_s)
        self._recover(now_s, len(received), goes_well=advanced and self.lost <= lost_before)
        # After a timeout the window grows while the losses are repaired, from one segment.
        if advanced and not was_reducing and not self.window.is_reducing:
            self.window.acknowledged(len(received), now_s, self.srtt_s, prior_flight)
        self._transmit(now_s)
        self._set_timers(now_s)

    def _sample_rtt(self, rtt_s: float) -> None:
        """Smooth the round-trip time. (RFC 6298, 2.3)"""
        self.min_rtt_s = min(self.min_rtt_s, rtt_s)
        self.rttvar_s += (abs(self.srtt_s - rtt_s) - self.rttvar_s) / 4.0
        self.srtt_s += (rtt_s - self.srtt_s) / 8.0

    def _detect(self, now_s: float) -> None:
        """Mark missing segments that were sent before a delivered one as lost. (RFC 8985)"""
        waits_s = self.min_rtt_s / 4.0
        if self.in_recovery or self.sacked >= DUPLICATES:
            waits_s = 0.0
        self.reorder_s = math.inf
        for segment in self.out.values():
            awaits_repair = segment.lost and not segment.again
            if segment.sacked or awaits_repair or segment.order >= self.rack_order:
                continue
            left_s = segment.sent_s + self.rack_rtt_s + waits_s - now_s
            if left_s > 1e-9:
                self.reorder_s = min(self.reorder_s, now_s + left_s)
                continue
            self.retransmitted -= segment.again
            self.lost += not segment.lost
            segment.lost, segment.again = True, False

    def _recover(self, now_s: float, delivered: int, *, goes_well: bool) -> None:
        """Begin or end the recovery, and reduce the window in proportion. (RFC 6937)"""
        if not self.in_recovery:
            self.window.end_reduction()
            if self.lost:
                self.high, self.probe_s = self.next, math.inf
                self.reduction_count += 1
                self.window.reduce(now_s)
        if self.window.is_reducing:
            self.window.proportion(delivered, self.in_flight, advanced=goes_well)

    def _probe(self, now_s: float) -> None:
        """Send a tail loss probe: new data, or the last segment again. (RFC 8985, 7.3)"""
        self.probe_s = math.inf
        if self._has_new():
            self._send(self.next, now_s)
            self.next += 1
        else:
            last = max(self.out)
            self.out[last].again = True
            self.retransmitted += 1
            self._send(last, now_s)
        self.probe_end = self.next
        self._arm_timeout(now_s)

    def _time_out(self, now_s: float) -> None:
        self.timeout_count += 1
        for segment in self.out.values():
            if not segment.sacked:
                self.lost += not segment.lost
                self.retransmitted -= segment.again
                segment.lost, segment.again = True, False
        if not self.in_recovery:
            self.reduction_count += 1
        self.window.time_out(is_first=self.backoff == 1)
        self.backoff *= 2
        self.high = self.next
        self._transmit(now_s)
        self._arm_timeout(now_s)

    def _has_new(self) -> bool:
        """Whether there is new data that the receiver has room for."""
        return self.next < min(self.total, self.una + self.window_segments)

    def _transmit(self, now_s: float) -> None:
        if self.lost:
            for number, segment in self.out.items():
                if self.in_flight >= self.window.size:
                    break
                if segment.lost and not segment.again:
                    segment.again = True
                    self.retransmitted += 1
                    self._send(number, now_s)
        while self._has_new() and self.in_flight < self.window.size:
            self._send(self.next, now_s)
            self.next += 1

    def _send(self, number: int, now_s: float) -> None:
        self.sent_count += 1
        self.window.sent()
        segment = self.out.get(number)
        if segment is None:
            self.out[number] = _Segment(self.sent_count, now_s)
        else:
            segment.order, segment.sent_s = self.sent_count, now_s
        # The end of a write is marked (PSH), and acknowledged as soon as it has been read.
        is_pushed = (number + 1) % self.write_segments == 0
        self.to_sink.push((number, is_pushed), now_s + self.host_s / 2.0, PACKET_BYTES)

    def _set_timers(self, now_s: float) -> None:
        self.probe_s = self.timeout_s = math.inf
        if not self.out:
            return
        self._arm_timeout(now_s)
        if not self.in_recovery and not self.sacked and self.una >= self.probe_end:
            wait_s = 2.0 * self.srtt_s + (MIN_RTO_S if len(self.out) == 1 else 0.002)
            self.probe_s = min(now_s + wait_s, self.timeout_s)  # (RFC 8985, 7.2)

    def _arm_timeout(self, now_s: float) -> None:
        rto_s = self.srtt_s + max(MIN_RTO_S, 4.0 * self.rttvar_s)
        self.timeout_s = now_s + self.backoff * rto_s


def _rounded(segments: float) -> float:
    return segments if math.isinf(segments) else float(round(segments))
