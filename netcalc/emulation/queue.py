"""One link as a queue in given time: every call is told the time, none asks a clock.

>>> link = LinkQueue(bandwidth_bps=1.544e6, latency_s=0.005)
>>> link.push(bytes(1428), now_s=0.0)
>>> round(link.next_event_s(), 6)
0.012399
>>> link.pop_ready(0.0124) == [bytes(1428)]
True

So the same class runs in virtual time, for tests and figures, and in real time behind a wire.
It needs the standard library only: a wire's process starts fast.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import deque
from typing import Any

from netcalc.emulation.events import Log
from netcalc.errors import DomainError


class LinkQueue:
    """A node, its buffer and the line behind it: first in, first out, drop-tail.

    A packet is processed by the node, one at a time; then it waits for the line, which clocks one
    at a time; its last bit arrives ``latency_s`` later. The node's input holds what has not been
    processed, the packet that is being processed included. The buffer holds what has been processed
    and not left, the packet on the line included until its last bit has left.

    Parameters
    ----------
    bandwidth_bps : float
        Rate of the line; inf for a line that takes no time. [bit/s]
    latency_s : float
        One-way latency of the line. [s]
    processing_s : float
        Time that the node takes for a packet: it passes at most ``1 / processing_s`` a second. [s]
    input_packets : int, optional
        Packets that the input of the node holds; None has room for all. [packet]
    overhead_bytes : int
        What each packet takes on the line beyond itself, in no buffer: 38 for Ethernet. [byte]
    buffer_bytes : int, optional
        Bytes that the buffer holds; None has room for all. [byte]
    buffer_packets : int, optional
        Packets that it holds; None has room for all. [packet]
    loss_ratio : float
        Share of the packets that are lost on the line; they take their time on it. [ratio]
    loss_burst_packets : float, optional
        Mean number of packets lost in a row; None loses each one independently. [packet]
    duplicate_ratio : float
        Share of the packets that arrive twice; the copy goes right behind. [ratio]
    reorder_ratio : float
        Share of the packets that are held back behind the line, where others pass them. [ratio]
    reorder_s : float
        How long they are held back. [s]
    corrupt_ratio : float
        Share of the packets in which one bit behind the first 20 bytes is turned. [ratio]
    seed : int
        Of the draws: the same seed and arrivals give the same fates.
    log : bool
        Whether each packet leaves a row in :attr:`log`.

    Raises
    ------
    DomainError
        If a rate, time, size or share is not possible.
    """

    def __init__(
        self,
        *,
        bandwidth_bps: float,
        latency_s: float = 0.0,
        processing_s: float = 0.0,
        input_packets: int | None = None,
        overhead_bytes: int = 0,
        buffer_bytes: int | None = None,
        buffer_packets: int | None = None,
        loss_ratio: float = 0.0,
        loss_burst_packets: float | None = None,
        duplicate_ratio: float = 0.0,
        reorder_ratio: float = 0.0,
        reorder_s: float = 0.0,
        corrupt_ratio: float = 0.0,
        seed: int = 0,
        log: bool = True,
    ) -> None:
        if math.isnan(bandwidth_bps) or bandwidth_bps <= 0.0:
            raise DomainError("bandwidth_bps", bandwidth_bps, "above 0")
        for name, time_s in (
            ("latency_s", latency_s),
            ("processing_s", processing_s),
            ("reorder_s", reorder_s),
        ):
            if not 0.0 <= time_s < math.inf:
                raise DomainError(name, time_s, "0 or more, and finite")
        if not 0 <= overhead_bytes < math.inf:
            raise DomainError("overhead_bytes", overhead_bytes, "0 or more, and finite")
        for name, size in (
            ("buffer_bytes", buffer_bytes),
            ("buffer_packets", buffer_packets),
            ("input_packets", input_packets),
        ):
            if size is not None and not size >= 1:
                raise DomainError(name, size, "1 or more, or None for room for all")
        for name, share in (
            ("loss_ratio", loss_ratio),
            ("duplicate_ratio", duplicate_ratio),
            ("reorder_ratio", reorder_ratio),
            ("corrupt_ratio", corrupt_ratio),
        ):
            if not 0.0 <= share <= 1.0:
                hint = f"For {share:g} % write {share / 100:g}" if 1.0 < share <= 100.0 else None
                raise DomainError(name, share, "from 0 to 1", hint=hint)
        if reorder_ratio and not reorder_s:
            raise DomainError("reorder_s", reorder_s, "above 0 where packets are reordered")
        self._byte_s = 8.0 / bandwidth_bps
        self._latency_s = latency_s
        self._processing_s = processing_s
        self._input_packets = math.inf if input_packets is None else input_packets
        self._overhead_bytes = overhead_bytes
        self._buffer_bytes = math.inf if buffer_bytes is None else buffer_bytes
        self._buffer_packets = math.inf if buffer_packets is None else buffer_packets
        self._losses = _Losses(loss_ratio, loss_burst_packets, random.Random(f"loss {seed}"))
        self._duplicate_ratio = duplicate_ratio
        self._reorder_ratio = reorder_ratio
        self._reorder_s = reorder_s
        self._corrupt_ratio = corrupt_ratio
        self._random = random.Random(f"faults {seed}")
        self._faulty = any((loss_ratio, duplicate_ratio, reorder_ratio, corrupt_ratio))
        self._node_free_s = self._line_free_s = -math.inf
        self._input: deque[tuple[float, int]] = deque()  # (processed_s, bytes), if it has an end
        self._waiting: deque[tuple[float, int]] = deque()  # (leaves_s, bytes)
        self._backlog_bytes = 0
        self._held: deque[tuple[float, Any]] = deque()  # (arrives_s, packet), in order
        self._late: list[tuple[float, int, Any]] = []  # the ones held back, a heap
        self.in_order = not reorder_ratio
        """Whether packets leave in the order in which they came."""
        self._log = Log() if log else None
        self._full_count = self._duplicated_count = self._reordered_count = 0
        self._arrived_count = self._corrupted_count = self._lost_count = self._overrun_count = 0

    def push(self, packet: Any, now_s: float, packet_bytes: int | None = None) -> None:
        """Take a packet at a time not before that of the last one.

        ``packet_bytes`` is the size it takes on the line where that is not its length. [byte]
        """
        size = len(packet) if packet_bytes is None else packet_bytes
        self._arrived_count += 1
        if self._processing_s:
            limited = self._input_packets < math.inf
            if limited and self._overruns(now_s, size):
                return
            now_s = self._node_free_s = max(self._node_free_s, now_s) + self._processing_s
            if limited:
                self._input.append((now_s, size))
        if self._faulty:
            self._push_faulty(packet, now_s, size)
        else:
            leaves_s = self._line(now_s, size, 0)
            if leaves_s is not None:
                self._held.append((leaves_s + self._latency_s, packet))

    def take(self, now_s: float) -> list[tuple[float, Any]]:
        """Return what has arrived at the far end, each packet with its time."""
        held, taken = self._held, []
        while held and held[0][0] <= now_s:
            taken.append(held.popleft())
        if self._late and self._late[0][0] <= now_s:
            while self._late and self._late[0][0] <= now_s:
                arrives_s, _, packet = heapq.heappop(self._late)
                taken.append((arrives_s, packet))
            taken.sort(key=lambda arrival: arrival[0])
        return taken

    def pop_ready(self, now_s: float) -> list[Any]:
        """Return the packets that have arrived at the far end."""
        return [packet for _, packet in self.take(now_s)]

    def next_event_s(self) -> float | None:
        """Return when the next packet arrives at the far end, or None if none is on its way."""
        if self._late:
            first = self._late[0][0]
            return min(first, self._held[0][0]) if self._held else first
        return self._held[0][0] if self._held else None

    def backlog_bytes(self, now_s: float) -> int:
        """Return what is in the buffer. [byte]"""
        return sum(size for leaves_s, size in self._waiting if leaves_s > now_s)

    @property
    def counters(self) -> dict[str, int]:
        """How many packets came, left, and met each fault."""
        processed = self._arrived_count - self._overrun_count
        on_the_line = processed + self._duplicated_count - self._full_count
        return {
            "arrived": self._arrived_count,
            "overrun": self._overrun_count,
            "delivered": on_the_line - self._lost_count,
            "full": self._full_count,
            "lost": self._lost_count,
            "duplicated": self._duplicated_count,
            "reordered": self._reordered_count,
            "corrupted": self._corrupted_count,
        }

    @property
    def log(self) -> Log:
        """A row for each packet that came.

        Raises
        ------
        DomainError
            If the link was made without a log.
        """
        if self._log is None:
            raise DomainError("log", "not kept", "asked for when the link is made")
        return self._log

    def _overruns(self, now_s: float, size: int) -> bool:
        """Whether a packet finds no room at the input of the node; then it is gone."""
        held = self._input
        while held and held[0][0] <= now_s:
            held.popleft()
        if len(held) < self._input_packets:
            return False
        self._overrun_count += 1
        if self._log is not None:
            backlog = sum(other for _, other in held)
            self._log.add(now_s, math.nan, size, backlog, 3)
        return True

    def _line(self, now_s: float, size: int, fate: int) -> float | None:
        """Give a packet its place in the buffer and on the line; return when it has left."""
        waiting, backlog = self._waiting, self._backlog_bytes
        while waiting and waiting[0][0] <= now_s:
            backlog -= waiting.popleft()[1]
        if backlog + size > self._buffer_bytes or len(waiting) >= self._buffer_packets:
            self._backlog_bytes = backlog
            self._full_count += 1
            if self._log is not None:
                self._log.add(now_s, math.nan, size, backlog, 1)
            return None
        free_s = self._line_free_s
        clocked_s = (size + self._overhead_bytes) * self._byte_s
        leaves_s = self._line_free_s = (free_s if free_s > now_s else now_s) + clocked_s
        waiting.append((leaves_s, size))
        self._backlog_bytes = backlog + size
        if self._log is not None:
            self._log.add(now_s, leaves_s, size, backlog, fate)
        return leaves_s

    def _push_faulty(self, packet: Any, now_s: float, size: int) -> None:
        draw = self._random.random
        duplicated, held_back = draw() < self._duplicate_ratio, draw() < self._reorder_ratio
        corrupted, place = draw() < self._corrupt_ratio, draw()
        if corrupted:
            packet = _with_turned_bit(packet, place)
        for copy in range(1 + duplicated):
            lost = self._losses.draw()
            leaves_s = self._line(now_s, size, 2 * lost)
            if leaves_s is None:
                self._duplicated_count += copy
                continue
            self._duplicated_count += copy
            self._lost_count += lost
            if lost:
                continue
            self._corrupted_count += corrupted
            arrives_s = leaves_s + self._latency_s
            if held_back and not copy:
                self._reordered_count += 1
                entry = (arrives_s + self._reorder_s, self._arrived_count, packet)
                heapq.heappush(self._late, entry)
            else:
                self._held.append((arrives_s, packet))


class _Losses:
    """Draws whether a packet is lost: each for itself, or in runs (two states, Gilbert 1960)."""

    def __init__(
        self, loss_ratio: float, burst_packets: float | None, source: random.Random
    ) -> None:
        self._ratio, self._draw = loss_ratio, source.random
        self._ends, self._begins, self._bad = 1.0, loss_ratio, False
        self._in_runs = burst_packets is not None and 0.0 < loss_ratio < 1.0
        if burst_packets is not None:
            shortest = max(1.0, loss_ratio / (1.0 - loss_ratio)) if loss_ratio < 1.0 else 1.0
            if not shortest <= burst_packets < math.inf:
                allowed = f"{shortest:g} or more at this loss_ratio, and finite"
                raise DomainError("loss_burst_packets", burst_packets, allowed)
            self._ends = 1.0 / burst_packets
            if self._in_runs:
                self._begins = loss_ratio / (burst_packets * (1.0 - loss_ratio))
                self._bad = source.random() < loss_ratio  # as long before the first packet

    def draw(self) -> bool:
        """Return whether the next packet is lost."""
        if not self._in_runs:
            return self._draw() < self._ratio
        self._bad = self._draw() >= self._ends if self._bad else self._draw() < self._begins
        return self._bad


def _with_turned_bit(packet: Any, place: float) -> Any:
    """Damage a packet, alone or first in a tuple; what has no bytes is only counted."""
    if isinstance(packet, tuple):
        return (_with_turned_bit(packet[0], place), *packet[1:])
    if not isinstance(packet, bytes | bytearray) or not packet:
        return packet
    first = 20 if len(packet) > 20 else 0
    bit = 8 * first + int(place * 8 * (len(packet) - first))
    damaged = bytearray(packet)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)
