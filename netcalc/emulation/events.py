"""What happened to each packet at each link: a log that costs little to write, and its arrays.

The log needs the standard library only, its arrays numpy: the process of an emulated path starts
fast.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DELIVERED, FULL, LOST, OVERRUN = range(4)
FATES = ("delivered", "full", "lost", "overrun")
"""What becomes of a packet, by the number in the log: no room in the buffer of the line, lost on
the line, no room at the input of the node."""
MAX_LOGGED = 1_000_000
"""Packets in one log, 33 MB; further ones are counted only. [packet]"""


class Log:
    """What happened to each packet at one link, in the order of arrival, as columns."""

    def __init__(self) -> None:
        self.arrival = array("d")
        self.departure = array("d")
        self.packet = array("q")
        self.backlog = array("q")
        self.fate = array("b")
        self.unlogged_count = 0

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

    def _columns(self) -> list[array[Any]]:
        return [self.arrival, self.departure, self.packet, self.backlog, self.fate]

    def events(self, link: int = 0) -> Events:
        """Return the columns as arrays; ``link`` is the index of the link in its chain."""
        import numpy as np

        rows = len(self.fate)
        return Events(
            link=np.full(rows, link),
            arrival_s=np.array(self.arrival),
            departure_s=np.array(self.departure),
            packet_bytes=np.array(self.packet),
            backlog_bytes=np.array(self.backlog),
            fate=np.array(self.fate),
        )


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
