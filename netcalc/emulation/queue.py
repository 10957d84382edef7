"""One link as a queue in virtual time: every call is given the time, none reads a clock.

>>> link = LinkQueue(bandwidth_bps=1.544e6, latency_s=0.005)
>>> link.push(bytes(1428), now_s=0.0)
>>> round(link.next_event_s(), 6)
0.012399
>>> link.pop_ready(0.0124) == [bytes(1428)]
True

So the same class runs in virtual time, for tests and figures, and in real time on an emulated path.
It needs the standard library only: the process of an emulated path starts fast.

A link is made of small queues, its stages, each in front of the next:

>>> stages = Node(0.001, then=Line(1.544e6, then=Delay(0.005)))
>>> stages.push(bytes(1428), now_s=0.0)
>>> round(stages.next_event_s(), 6)
0.013399

Every stage has the same four verbs: ``push`` a packet, ``take`` what has arrived (with its time, or
without by ``pop_ready``), ask for ``next_event_s``. A stage computes at once when a packet will
leave it and pushes it into the next stage with that time, so that whoever drives the whole wakes up
for arrivals only. This is right because each stage is first in, first out: no later packet can
change the time of a packet that is already in.

A packet carries what was drawn for it as marks, from :class:`Loss` and :class:`Faults` to the
:class:`Line` and the :class:`Delay`. What happened to each packet at each link is in a log that
costs little to write (:class:`Log`), and in its arrays, which need numpy (:class:`Events`).
"""

from __future__ import annotations

import heapq
import math
import random
import struct
from abc import ABC, abstractmethod
from array import array
from collections import deque
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack

from netcalc.errors import DomainError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


DELIVERED, FULL, LOST, OVERRUN = range(4)
FATES = ("delivered", "full", "lost", "overrun")
"""What becomes of a packet, by the number in the log: no room in the buffer of the line, lost on
the line, no room at the input of the node."""
MAX_LOGGED = 1_000_000
"""Packets in one log, 33 MB; further ones are counted only. [packet]"""
NEW_ROWS = struct.Struct("=qq")
"""Before rows that a log has written: the number of its link, and theirs."""


class Log:
    """What happened to each packet at one link, in the order of arrival, as columns."""

    def __init__(self) -> None:
        self.arrival = array("d")
        self.departure = array("d")
        self.packet = array("q")
        self.backlog = array("q")
        self.fate = array("b")
        self.unlogged_count = 0
        self.written_count = 0

    def add(self, now_s: float, leaves_s: float, size: int, backlog: int, fate: int) -> None:
        """Keep one row, as long as there is room."""
        if len(self.fate) >= MAX_LOGGED:
            self.unlogged_count += 1
            return
        self.arrival.append(now_s)
        self.departure.append(leaves_s)
        self.packet.append(size)
        self.backlog.append(backlog)
        self.fate.append(fate)

    def to_bytes(self) -> list[bytes]:
        """Return the columns as bytes."""
        return [column.tobytes() for column in self._columns()]

    @classmethod
    def from_bytes(cls, columns: list[bytes]) -> Log:
        """Make a log from the columns that another process wrote."""
        log = cls()
        for column, data in zip(log._columns(), columns, strict=True):
            column.frombytes(data)
        return log

    def new_bytes(self, link: int) -> bytes:
        """Return the rows that this has not returned before, behind a head with their number."""
        begin, self.written_count = self.written_count, len(self.fate)
        head = NEW_ROWS.pack(link, self.written_count - begin)
        return b"".join([head, *(column[begin:].tobytes() for column in self._columns())])

    @classmethod
    def from_new_bytes(cls, data: bytes) -> tuple[list[tuple[int, Log]], int]:
        """Return what several calls of :meth:`new_bytes` gave, by link, and the bytes of it.

        What is not whole at the end is left for the next time.
        """
        parts, at = [], 0
        while at + NEW_ROWS.size <= len(data):
            link, rows = NEW_ROWS.unpack_from(data, at)
            log, begin = cls(), at + NEW_ROWS.size
            sizes = [rows * column.itemsize for column in log._columns()]
            if begin + sum(sizes) > len(data):
                break
            ends = list(accumulate(sizes, initial=begin))
            parts.append((link, cls.from_bytes([data[a:b] for a, b in pairwise(ends)])))
            at = ends[-1]
        return parts, at

    def _columns(self) -> list[array[Any]]:
        return [self.arrival, self.departure, self.packet, self.backlog, self.fate]

    def events(self, link: int = 0) -> Events:
        """Return the columns as arrays; ``link`` is the index of the link in its chain."""
        import numpy as np

        rows = len(self.fate)
        names = ("arrival_s", "departure_s", "packet_bytes", "backlog_bytes", "fate")
        columns = zip(names, map(np.array, self._columns()), strict=True)
        return Events(link=np.full(rows, link), **dict(columns))


@dataclass(frozen=True, eq=False)
class Events:
    """A row for each packet at each link, in order of links and then of arrivals.

    Parameters
    ----------
    link : array
        Index of the link in the chain, from 0.
    arrival_s : array
        When the packet reached the buffer, processed by the node; of an overrun, when it reached
        the input of the node. [s]
    departure_s : array
        When its last bit had left onto the line; nan if there was no room for it. [s]
    packet_bytes : array
        Its size. [byte]
    backlog_bytes : array
        Backlog of the buffer that it found; of an overrun, of the input of the node. [byte]
    fate : array
        Index in :data:`FATES`.
    """

    link: NDArray[np.int64]
    arrival_s: NDArray[np.float64]
    departure_s: NDArray[np.float64]
    packet_bytes: NDArray[np.int64]
    backlog_bytes: NDArray[np.int64]
    fate: NDArray[np.int8]

    def __len__(self) -> int:
        return int(self.link.size)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        return dict(vars(self))

    def at(self, link: int) -> Events:
        """Return the rows of one link."""
        rows = self.link == link
        return Events(**{name: column[rows] for name, column in self.columns().items()})

    @staticmethod
    def concatenate(parts: list[Events]) -> Events:
        """Return the rows of several logs, one after the other."""
        import numpy as np

        names = parts[0].columns()
        return Events(**{n: np.concatenate([part.columns()[n] for part in parts]) for n in names})

    def sha256(self) -> str:
        """Return a hash of every value: the same run has the same one, on any machine."""
        from hashlib import sha256

        digest = sha256()
        for column, form in zip(
            self.columns().values(), ("<i8", "<f8", "<f8", "<i8", "<i8", "<i1"), strict=True
        ):
            digest.update(column.astype(form).tobytes())
        return digest.hexdigest()


MARK_LOST, MARK_HELD_BACK, MARK_DAMAGED = 1, 2, 4
"""What was drawn for a packet: lost on the line, delayed further behind it, one bit flipped."""
IP_HEADER_BYTES = 20
"""Bytes at the start of a packet that are never damaged: routers drop a damaged header."""


Size = int | None
"""The bytes of a packet on a line; None where that is its length."""


class Queue(Protocol):
    """Interface of a stage, as the stage in front of it and its driver see it."""

    def push(self, packet: Any, now_s: float, packet_bytes: Size = None, marks: int = 0) -> None:
        """Take a packet at a time not before the last packet came."""

    def take(self, now_s: float) -> list[tuple[float, Any]]:
        """Return the packets that have arrived at the far end, with their times."""

    def next_event_s(self) -> float | None:
        """Return when the next packet arrives at the far end, or None if none is on its way."""


class Taken(ABC):
    """Common part of all queues: packets are taken with their times, or without."""

    @abstractmethod
    def take(self, now_s: float) -> list[tuple[float, Any]]:
        """Return the packets that have arrived at the far end, with their times."""

    def pop_ready(self, now_s: float) -> list[Any]:
        """Return the packets that have arrived at the far end."""
        return [packet for _, packet in self.take(now_s)]


class Delay(Taken):
    """The far end of a link: every packet arrives ``latency_s`` after it was pushed.

    Parameters
    ----------
    latency_s : float
        One-way latency. [s]
    reorder_s : float
        Further delay of packets that are marked as held back, so that others pass them. [s]
    """

    def __init__(self, latency_s: float = 0.0, *, reorder_s: float = 0.0) -> None:
        require_time("latency_s", latency_s)
        require_time("reorder_s", reorder_s)
        self.latency_s, self._reorder_s = latency_s, reorder_s
        self.held: deque[tuple[float, Any]] = deque()
        """Packets that are not held back, each with the time at which it arrives, in order."""
        self._held_back: list[tuple[float, int, Any]] = []  # a heap: (arrives_s, number, packet)
        self.lost_count = self.reordered_count = self.corrupted_count = 0

    def push(self, packet: Any, now_s: float, packet_bytes: Size = None, marks: int = 0) -> None:
        """Take a packet, unless it is marked as lost."""
        if marks:
            if marks & MARK_LOST:
                self.lost_count += 1
                return
            self.corrupted_count += marks & MARK_DAMAGED != 0
            if marks & MARK_HELD_BACK:
                self.reordered_count += 1
                arrives_s = now_s + self.latency_s + self._reorder_s
                heapq.heappush(self._held_back, (arrives_s, self.reordered_count, packet))
                return
        self.held.append((now_s + self.latency_s, packet))

    def take(self, now_s: float) -> list[tuple[float, Any]]:
        """Return the packets that have arrived, with their times."""
        held, taken = self.held, []
        while held and held[0][0] <= now_s:
            taken.append(held.popleft())
        if self._held_back and self._held_back[0][0] <= now_s:
            while self._held_back and self._held_back[0][0] <= now_s:
                arrives_s, _, packet = heapq.heappop(self._held_back)
                taken.append((arrives_s, packet))
            taken.sort(key=lambda arrival: arrival[0])
        return taken

    def next_event_s(self) -> float | None:
        """Return when the next packet arrives, or None if none is on its way."""
        if self._held_back:
            first_s = self._held_back[0][0]
            return min(first_s, self.held[0][0]) if self.held else first_s
        return self.held[0][0] if self.held else None


class _Stage(Taken):
    """A part with another one behind it, from which packets are taken."""

    def __init__(self, then: Queue | None) -> None:
        self._then: Queue = Delay() if then is None else then

    def take(self, now_s: float) -> list[tuple[float, Any]]:
        """Return the packets that have arrived at the far end, with their times."""
        return self._then.take(now_s)

    def next_event_s(self) -> float | None:
        """Return when the next packet arrives at the far end, or None if none is on its way."""
        return self._then.next_event_s()


class Line(_Stage):
    """A drop-tail buffer and the line that empties it, packet by packet.

    The packet on the line counts as buffered until its last bit has left.

    Parameters
    ----------
    bandwidth_bps : float
        Rate of the line; inf for a line that takes no time. [bit/s]
    overhead_bytes : int
        What each packet takes on the line beyond itself, in no buffer: 38 for Ethernet. [byte]
    min_wire_bytes : int
        The least that a packet takes on the line: 84 for Ethernet. [byte]
    buffer_bytes, buffer_packets : int, optional
        What the buffer holds; None for an infinite buffer. [byte], [packet]
    then : Queue, optional
        What is behind the line; None for its far end, without latency.
    log : Log, optional
        Receives a row for each packet.
    """

    def __init__(
        self,
        bandwidth_bps: float,
        *,
        overhead_bytes: int = 0,
        min_wire_bytes: int = 0,
        buffer_bytes: int | None = None,
        buffer_packets: int | None = None,
        then: Queue | None = None,
        log: Log | None = None,
    ) -> None:
        super().__init__(then)
        if not bandwidth_bps > 0.0:
            raise DomainError("not-positive", "bandwidth_bps", bandwidth_bps)
        require_time("overhead_bytes", overhead_bytes)
        require_time("min_wire_bytes", min_wire_bytes)
        self._byte_s = 8.0 / bandwidth_bps
        self._overhead_bytes = overhead_bytes
        self._least_s = min_wire_bytes * self._byte_s
        self._buffer_bytes = _limit("buffer_bytes", buffer_bytes)
        self._buffer_packets = _limit("buffer_packets", buffer_packets)
        self._log = log
        # Into the far end, if it is directly behind the line, by a shorter way than its push().
        self._far_end = self._then.held if isinstance(self._then, Delay) else None
        self._latency_s = self._then.latency_s if isinstance(self._then, Delay) else 0.0
        self._free_s = -math.inf
        self._waiting: deque[tuple[float, int]] = deque()  # (leaves_s, bytes)
        self._backlog_bytes = 0
        self.full_count = 0

    def push(self, packet: Any, now_s: float, packet_bytes: Size = None, marks: int = 0) -> None:
        """Put a packet into the buffer; it is dropped where there is no room.

        A packet that is marked as lost takes its time on the line all the same.
        """
        size = len(packet) if packet_bytes is None else packet_bytes
        waiting, backlog = self._waiting, self._backlog_bytes
        while waiting and waiting[0][0] <= now_s:
            backlog -= waiting.popleft()[1]
        if backlog + size > self._buffer_bytes or len(waiting) >= self._buffer_packets:
            self._backlog_bytes = backlog
            self.full_count += 1
            if self._log is not None:
                self._log.add(now_s, math.nan, size, backlog, FULL)
            return
        free_s = self._free_s
        clocked_s = (size + self._overhead_bytes) * self._byte_s
        if clocked_s < self._least_s:
            clocked_s = self._least_s
        leaves_s = self._free_s = (free_s if free_s > now_s else now_s) + clocked_s
        waiting.append((leaves_s, size))
        self._backlog_bytes = backlog + size
        if self._log is not None:
            self._log.add(now_s, leaves_s, size, backlog, LOST if marks & MARK_LOST else DELIVERED)
        if marks or self._far_end is None:
            self._then.push(packet, leaves_s, size, marks)
        else:
            self._far_end.append((leaves_s + self._latency_s, packet))

    def backlog_bytes(self, now_s: float) -> int:
        """Return the bytes in the buffer. [byte]"""
        return sum(size for leaves_s, size in self._waiting if leaves_s > now_s)


class Batches(_Stage):
    """Hands packets on in batches, as a network card does that interrupts its host now and then.

    The first packet opens a batch; what comes within ``batch_s`` belongs to it, and goes on
    together with it at its end.

    Parameters
    ----------
    batch_s : float
        Time from the first packet of a batch to its end. [s]
    then : Queue, optional
        What is behind.
    """

    def __init__(self, batch_s: float, *, then: Queue | None = None) -> None:
        super().__init__(then)
        require_time("batch_s", batch_s)
        self._batch_s = batch_s
        self._end_s = -math.inf

    def push(self, packet: Any, now_s: float, packet_bytes: Size = None, marks: int = 0) -> None:
        """Take a packet into the present batch, or into a new one."""
        if now_s > self._end_s:
            self._end_s = now_s + self._batch_s
        self._then.push(packet, self._end_s, packet_bytes, marks)


class Node(_Stage):
    """A node that processes one packet at a time, and its input.

    Parameters
    ----------
    processing_s : float
        Time for a packet: the node forwards at most ``1 / processing_s`` a second. [s]
    input_packets : int, optional
        Packets that its input holds, the one in processing included; None for no limit. [packet]
    then : Queue, optional
        What is behind the node.
    log : Log, optional
        Receives a row for each packet that the input had no room for.
    """

    def __init__(
        self,
        processing_s: float,
        *,
        input_packets: int | None = None,
        then: Queue | None = None,
        log: Log | None = None,
    ) -> None:
        super().__init__(then)
        require_time("processing_s", processing_s)
        self._processing_s = processing_s
        self._input_packets = _limit("input_packets", input_packets)
        self._log = log
        self._free_s = -math.inf
        self._input: deque[tuple[float, int]] = deque()  # (processed_s, bytes), if it has a limit
        self.overrun_count = 0

    def push(self, packet: Any, now_s: float, packet_bytes: Size = None, marks: int = 0) -> None:
        """Take a packet to be processed; it is dropped where the input has no room."""
        size = len(packet) if packet_bytes is None else packet_bytes
        limited = self._input_packets < math.inf
        if limited and self._overruns(now_s, size):
            return
        free_s = self._free_s
        done_s = self._free_s = (free_s if free_s > now_s else now_s) + self._processing_s
        if limited:
            self._input.append((done_s, size))
        self._then.push(packet, done_s, size, marks)

    def _overruns(self, now_s: float, size: int) -> bool:
        """Whether a packet finds no room at the input; then it is gone."""
        held = self._input
        while held and held[0][0] <= now_s:
            held.popleft()
        if len(held) < self._input_packets:
            return False
        self.overrun_count += 1
        if self._log is not None:
            self._log.add(now_s, math.nan, size, sum(other for _, other in held), OVERRUN)
        return True


class Loss(_Stage):
    """Marks packets as lost on the line: independently, or in bursts (two states, Gilbert 1960).

    Parameters
    ----------
    loss_ratio : float
        Share of the packets that are lost. [ratio]
    loss_burst_packets : float, optional
        Mean number of packets lost in a row; None loses each one independently. [packet]
    seed : int
        Of the draws.
    then : Queue, optional
        The line.
    """

    def __init__(
        self,
        loss_ratio: float,
        *,
        loss_burst_packets: float | None = None,
        seed: int = 0,
        then: Queue | None = None,
    ) -> None:
        super().__init__(then)
        require_ratio("loss_ratio", loss_ratio)
        source = random.Random(f"loss {seed}")
        self._ratio, self._draw = loss_ratio, source.random
        self._ends, self._begins, self._bad = 1.0, loss_ratio, False
        self._in_bursts = loss_burst_packets is not None and 0.0 < loss_ratio < 1.0
        if loss_burst_packets is not None:
            # A good state lasts one packet at least, which bounds the share that bursts can reach.
            shortest = max(1.0, loss_ratio / (1.0 - loss_ratio)) if loss_ratio < 1.0 else 1.0
            if not math.isfinite(loss_burst_packets):
                raise DomainError("not-finite", "loss_burst_packets", loss_burst_packets)
            if loss_burst_packets < shortest:
                raise DomainError(
                    "below-minimum", "loss_burst_packets", loss_burst_packets, low=shortest
                )
            self._ends = 1.0 / loss_burst_packets
            if self._in_bursts:
                self._begins = loss_ratio / (loss_burst_packets * (1.0 - loss_ratio))
                self._bad = source.random() < loss_ratio  # stationary from the first packet on

    def push(self, packet: Any, now_s: float, packet_bytes: Size = None, marks: int = 0) -> None:
        """Draw whether a packet is lost and pass it on."""
        if self._in_bursts:
            self._bad = self._draw() >= self._ends if self._bad else self._draw() < self._begins
            lost = self._bad
        else:
            lost = self._draw() < self._ratio
        self._then.push(packet, now_s, packet_bytes, marks | MARK_LOST if lost else marks)


class Faults(_Stage):
    """Duplicates packets, damages them, and marks them as held back.

    Four numbers are drawn for every packet, whatever the ratios are: a change of one ratio leaves
    the draws of the other faults as they were.

    Parameters
    ----------
    duplicate_ratio : float
        Share of the packets that are sent twice; the copy follows at once. [ratio]
    reorder_ratio : float
        Share of the packets that are held back behind the line, where others pass them. [ratio]
    corrupt_ratio : float
        Share of the packets in which one bit behind the first 20 bytes is flipped. [ratio]
    seed : int
        Of the draws.
    then : Queue, optional
        The line, or a :class:`Loss` in front of it.
    """

    def __init__(
        self,
        *,
        duplicate_ratio: float = 0.0,
        reorder_ratio: float = 0.0,
        corrupt_ratio: float = 0.0,
        seed: int = 0,
        then: Queue | None = None,
    ) -> None:
        super().__init__(then)
        require_ratio("duplicate_ratio", duplicate_ratio)
        require_ratio("reorder_ratio", reorder_ratio)
        require_ratio("corrupt_ratio", corrupt_ratio)
        self._duplicate_ratio = duplicate_ratio
        self._reorder_ratio = reorder_ratio
        self._corrupt_ratio = corrupt_ratio
        self._draw = random.Random(f"faults {seed}").random
        self.any = any((duplicate_ratio, reorder_ratio, corrupt_ratio))
        """Whether any packet can meet a fault."""
        self.duplicated_count = 0

    def push(self, packet: Any, now_s: float, packet_bytes: Size = None, marks: int = 0) -> None:
        """Draw the faults of a packet and pass it on, once or twice."""
        draw = self._draw
        duplicated, held_back = draw() < self._duplicate_ratio, draw() < self._reorder_ratio
        damaged, position = draw() < self._corrupt_ratio, draw()
        size = len(packet) if packet_bytes is None else packet_bytes
        if damaged:
            packet = flip_bit(packet, position)
            marks |= MARK_DAMAGED
        self._then.push(packet, now_s, size, marks | MARK_HELD_BACK if held_back else marks)
        if duplicated:
            self.duplicated_count += 1
            self._then.push(packet, now_s, size, marks)


def flip_bit(packet: Any, position: float) -> Any:
    """Damage a packet, alone or first in a tuple; what has no bytes is counted only.

    ``position`` is from 0 to 1, over the bytes behind the IP header.
    """
    if isinstance(packet, tuple):
        return (flip_bit(packet[0], position), *packet[1:])
    if not isinstance(packet, bytes | bytearray) or not packet:
        return packet
    first = IP_HEADER_BYTES if len(packet) > IP_HEADER_BYTES else 0
    bit = 8 * first + int(position * 8 * (len(packet) - first))
    damaged = bytearray(packet)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def require_time(name: str, value: float) -> None:
    """Refuse a number that is negative or not finite."""
    if not math.isfinite(value):
        raise DomainError("not-finite", name, value)
    if value < 0.0:
        raise DomainError("is-negative", name, value)


def require_ratio(name: str, value: float) -> None:
    """Refuse a number that is not a ratio; above 1 it may have been meant in percent."""
    if 1.0 < value <= 100.0:
        raise DomainError(
            "percent-for-ratio", name, value, low=0.0, high=1.0, percent=value, ratio=value / 100
        )
    if not 0.0 <= value <= 1.0:
        raise DomainError("out-of-range", name, value, low=0, high=1)


def _limit(name: str, value: int | None) -> float:
    if value is None:
        return math.inf
    if not value >= 1:
        raise DomainError("below-minimum", name, value, low=1)
    return value


class LinkSettings(TypedDict, total=False):
    """The parameters of a :class:`LinkQueue` by keyword."""

    batch_s: float
    processing_s: float
    input_packets: int | None
    overhead_bytes: int
    min_wire_bytes: int
    buffer_bytes: int | None
    buffer_packets: int | None
    loss_ratio: float
    loss_burst_packets: float | None
    duplicate_ratio: float
    reorder_ratio: float
    reorder_s: float
    corrupt_ratio: float


class LinkQueue(_Stage):
    """A node, its buffer and the line behind it: first in, first out, drop-tail.

    It is made of the small queues of this module, in this order:
    :class:`Batches` of an input that hands over packets together, a
    :class:`Node` that processes packets one at a time,
    :class:`Faults`, :class:`Loss`, a
    :class:`Line` with its buffer, and a
    :class:`Delay`. A part that has nothing to do is left out.

    Parameters
    ----------
    bandwidth_bps : float
        Rate of the line; inf for a line that takes no time. [bit/s]
    latency_s : float
        One-way latency of the line. [s]
    seed : int
        Of the draws: the same seed and arrivals give the same fates.
    log : bool
        Whether each packet leaves a row in :attr:`log`.
    settings : dict
        ``batch_s`` of the input; ``processing_s``, ``input_packets`` of the node;
        ``overhead_bytes``, ``min_wire_bytes``, ``buffer_bytes``, ``buffer_packets`` of the line;
        ``loss_ratio``, ``loss_burst_packets``; and of the faults ``duplicate_ratio``,
        ``reorder_ratio``, ``reorder_s``, ``corrupt_ratio``. The classes above describe each.

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
        seed: int = 0,
        log: bool = True,
        **settings: Unpack[LinkSettings],
    ) -> None:
        if unknown := sorted(set(settings) - set(LinkSettings.__annotations__)):
            raise TypeError(f"LinkQueue has no parameter {unknown[0]!r}")

        def chosen(*names: str) -> dict[str, Any]:
            return {name: value for name, value in settings.items() if name in names}

        reorder_s = settings.get("reorder_s", 0.0)
        self._log = Log() if log else None
        self._delay = Delay(latency_s, reorder_s=reorder_s)
        super().__init__(self._delay)
        self.held = self._delay.held
        """Packets on their way, each with the time at which it arrives; if the link reorders, also
        others."""
        self._line = Line(
            bandwidth_bps,
            **chosen("overhead_bytes", "min_wire_bytes", "buffer_bytes", "buffer_packets"),
            then=self._delay,
            log=self._log,
        )
        first: Queue = self._line
        loss = Loss(
            settings.get("loss_ratio", 0.0), **chosen("loss_burst_packets"), seed=seed, then=first
        )
        first = loss if settings.get("loss_ratio") else first
        ratios = chosen("duplicate_ratio", "reorder_ratio", "corrupt_ratio")
        self._faults = Faults(**ratios, seed=seed, then=first)
        first = self._faults if self._faults.any else first
        processing_s = settings.get("processing_s", 0.0)
        self._node = Node(processing_s, **chosen("input_packets"), then=first, log=self._log)
        first = self._node if processing_s else first
        batches = Batches(settings.get("batch_s", 0.0), then=first)
        self._first = batches if settings.get("batch_s") else first
        self.in_order = not settings.get("reorder_ratio")
        """Whether packets leave in the order in which they came."""
        if not self.in_order and not reorder_s:
            raise DomainError("not-positive", "reorder_s", reorder_s)
        self._arrived_count = 0

    def push(self, packet: Any, now_s: float, packet_bytes: int | None = None) -> None:
        """Take a packet at a time not before the last packet came.

        ``packet_bytes`` is the size it takes on the line where that is not its length. [byte]
        """
        self._arrived_count += 1
        self._first.push(packet, now_s, packet_bytes)

    def backlog_bytes(self, now_s: float) -> int:
        """Return the bytes in the buffer. [byte]"""
        return self._line.backlog_bytes(now_s)

    @property
    def counters(self) -> dict[str, int]:
        """How many packets came, left, and met each fault."""
        overrun, full = self._node.overrun_count, self._line.full_count
        lost = self._delay.lost_count
        duplicated = self._faults.duplicated_count
        return {
            "arrived": self._arrived_count,
            "overrun": overrun,
            "delivered": self._arrived_count + duplicated - overrun - full - lost,
            "full": full,
            "lost": lost,
            "duplicated": duplicated,
            "reordered": self._delay.reordered_count,
            "corrupted": self._delay.corrupted_count,
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
            raise DomainError("no-log", "log", False)
        return self._log
