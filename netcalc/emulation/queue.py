"""One link as a queue in virtual time: every call is given the time, none reads a clock.

>>> link = LinkQueue(bandwidth_bps=1.544e6, latency_s=0.005)
>>> link.push(bytes(1428), now_s=0.0)
>>> round(link.next_event_s(), 6)
0.012399
>>> link.pop_ready(0.0124) == [bytes(1428)]
True

So the same class runs in virtual time, for tests and figures, and in real time on an emulated path.
It needs the standard library only: the process of an emulated path starts fast.
"""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

from netcalc.emulation.events import Log
from netcalc.emulation.stages import Batches, Delay, Faults, Line, Loss, Node, Queue
from netcalc.errors import DomainError


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


class LinkQueue:
    """A node, its buffer and the line behind it: first in, first out, drop-tail.

    It is made of the small queues of ``netcalc.emulation.stages``, in this order:
    :class:`~netcalc.emulation.stages.Batches` of an input that hands over packets together, a
    :class:`~netcalc.emulation.stages.Node` that processes packets one at a time,
    :class:`~netcalc.emulation.stages.Faults`, :class:`~netcalc.emulation.stages.Loss`, a
    :class:`~netcalc.emulation.stages.Line` with its buffer, and a
    :class:`~netcalc.emulation.stages.Delay`. A part that has nothing to do is left out.

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
        reorder_s = settings.get("reorder_s", 0.0)
        self._log = Log() if log else None
        self._delay = Delay(latency_s, reorder_s=reorder_s)
        self.held = self._delay.held
        """Packets on their way, each with the time at which it arrives; if the link reorders, also
        others."""
        self._line = Line(
            bandwidth_bps,
            overhead_bytes=settings.get("overhead_bytes", 0),
            min_wire_bytes=settings.get("min_wire_bytes", 0),
            buffer_bytes=settings.get("buffer_bytes"),
            buffer_packets=settings.get("buffer_packets"),
            then=self._delay,
            log=self._log,
        )
        first: Queue = self._line
        loss = Loss(
            settings.get("loss_ratio", 0.0),
            loss_burst_packets=settings.get("loss_burst_packets"),
            seed=seed,
            then=first,
        )
        first = loss if settings.get("loss_ratio") else first
        self._faults = Faults(
            duplicate_ratio=settings.get("duplicate_ratio", 0.0),
            reorder_ratio=settings.get("reorder_ratio", 0.0),
            corrupt_ratio=settings.get("corrupt_ratio", 0.0),
            seed=seed,
            then=first,
        )
        first = self._faults if self._faults.any else first
        processing_s = settings.get("processing_s", 0.0)
        self._node = Node(
            processing_s,
            input_packets=settings.get("input_packets"),
            then=first,
            log=self._log,
        )
        first = self._node if processing_s else first
        batches = Batches(settings.get("batch_s", 0.0), then=first)
        self._first = batches if settings.get("batch_s") else first
        self.in_order = not settings.get("reorder_ratio")
        """Whether packets leave in the order in which they came."""
        if not self.in_order and not reorder_s:
            raise DomainError("not-positive", "reorder_s", reorder_s)
        self._arrived_count = 0

    def push(self, packet: Any, now_s: float, packet_bytes: int | None = None) -> None:
        """Take a packet at a time not before that of the last one.

        ``packet_bytes`` is the size it takes on the line where that is not its length. [byte]
        """
        self._arrived_count += 1
        self._first.push(packet, now_s, packet_bytes)

    def take(self, now_s: float) -> list[tuple[float, Any]]:
        """Return the packets that have arrived at the far end, with their times."""
        return self._delay.take(now_s)

    def pop_ready(self, now_s: float) -> list[Any]:
        """Return the packets that have arrived at the far end."""
        return self._delay.pop_ready(now_s)

    def next_event_s(self) -> float | None:
        """Return when the next packet arrives at the far end, or None if none is on its way."""
        return self._delay.next_event_s()

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
