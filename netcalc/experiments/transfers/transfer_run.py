"""Transfers from a source to a sink: the plan of one, its row, and the rows of a run."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netcalc.display import show
from netcalc.experiments.running.limits import MAX_BULK_BYTES
from netcalc.experiments.running.run import Record
from netcalc.messages import Notice
from netcalc.samples import DROP_PLACES, BulkSamples

INTERVALS = ("row", "at_s", "received_bytes")
"""Columns kept ten times a second of a long transfer: its row, the time, the bytes received."""
_SO_MEMINFO, _MEMINFO = 55, struct.Struct("9I")  # the last is the drop count


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """The checked parameters of one transfer.

    ``buffer_bytes`` is None where the kernel chooses, ``reply_bytes`` 0 where the source does not
    wait for responses, ``linger_s`` the time after a datagram in which the next may arrive,
    ``drain_s`` the time for everything sent to leave the path. An endless transfer lasts until its
    time limit.
    """

    protocol: str
    write_bytes: int
    write_count: int
    limit_s: float
    buffer_bytes: int | None = None
    buffer_end: str = "both"
    datagrams_per_call: int = 1
    congestion_control: str = ""
    pair_count: int = 1
    reply_bytes: int = 0
    linger_s: float = 0.05
    drain_s: float = 0.0
    endless: bool = False

    @property
    def total_bytes(self) -> int:
        """Payload to carry. [byte]"""
        return self.write_bytes * self.write_count

    @property
    def kind(self) -> int:
        """Kind of its sockets."""
        return socket.SOCK_STREAM if self.protocol == "tcp" else socket.SOCK_DGRAM


class Transfers(Record[BulkSamples]):
    """The transfers of one run in progress."""

    processor_count = 2  # a source and a sink

    def __init__(self, **options: Any) -> None:
        super().__init__(layers={"write_bytes": "application"}, **options)
        self._rows: list[dict[str, float]] = []
        self._complete_count = 0
        self._cut_count = 0
        self._wrong_count = 0
        self._moved_bytes = self._sent_bytes = 0.0
        self._interval_ns = 0
        self.requested: tuple[str, ...] = ("send_buffer_bytes", "receive_buffer_bytes")

    def add(self, row: dict[str, float], *, ended: bool, cut: bool, wrong_count: int) -> None:
        """Add a transfer: whether the run ended within it, or its own time limit did."""
        self._rows.append(row)
        self._complete_count += not ended
        self._cut_count += cut
        self._wrong_count += wrong_count
        self._moved_bytes += row["received_bytes"]
        self._sent_bytes += row["sent_bytes"]
        self.advance(self._moved_bytes)

    def bounded(self, transfer: Transfer) -> Transfer:
        """Return an endless transfer with no more bytes than the run may still carry.

        Raises
        ------
        Ended
            If the run has reached its limit.
        """
        if not transfer.endless:
            return transfer
        count = int(MAX_BULK_BYTES - self._sent_bytes) // transfer.write_bytes
        if count < transfer.datagrams_per_call:
            self.end_at_limit()
            self.stopping.check()
        return replace(transfer, write_count=min(transfer.write_count, count))

    def end_at_limit(self) -> None:
        """Ask the run to end at its limit of bytes."""
        self.stopping.end(f"limit of {show(MAX_BULK_BYTES, 'byte')}")

    def advance_within(self, share: float, *, at_ns: int, received_bytes: int) -> None:
        """Record and report the progress of the current transfer."""
        if at_ns > self._interval_ns:
            self._interval_ns = at_ns
            intervals = self.facts.setdefault("intervals", {name: [] for name in INTERVALS})
            row = (len(self._rows), self.since_start_s(at_ns), received_bytes)
            for name, value in zip(INTERVALS, row, strict=True):
                intervals[name].append(value)
        self.advance(self._moved_bytes + received_bytes, within=min(share, 0.99))

    @property
    def done_count(self) -> int:
        """Complete transfers so far."""
        return self._complete_count

    @property
    def row_count(self) -> int:
        """Transfers so far, one that was stopped included."""
        return len(self._rows)

    @property
    def overflowed(self) -> bool:
        """Whether a sender filled its own queue, so that packets waited there unread."""
        return any(row["sender_drop_count"] > 0 for row in self._rows)

    def samples(self) -> BulkSamples:
        """Return the samples so far."""
        columns: dict[str, Any] = {
            name: [row[name] for row in self._rows] for name in BulkSamples.column_units
        }
        limit = BulkSamples(**columns).limit
        return BulkSamples(
            **columns,
            meta=self.meta(
                {"cut_count": self._cut_count, "damaged_count": self._wrong_count},
                list(self._warnings(limit.tolist())),
            ),
        )

    def _warnings(self, limit: Sequence[str]) -> Iterator[Notice]:
        on_path = "truth" in self.facts
        if on_path and (count := limit.count("sender's queue")):
            yield Notice("limited-by-emulator", {"count": count})
        if self._cut_count:
            yield Notice("cut-transfers", {"count": self._cut_count})
        if self._wrong_count:
            yield Notice("wrong-size-datagrams", {"count": self._wrong_count})
        if count := sum(row["received_bytes"] > row["sent_bytes"] for row in self._rows):
            yield Notice("duplicate-delivery", {"count": count})
        reduced = {
            (int(row["asked_buffer_bytes"]), int(row[name]))
            for row in self._rows
            for name in self.requested
            if row[name] < row["asked_buffer_bytes"]
        }
        for requested, granted in sorted(reduced):
            values = {"requested_bytes": requested, "granted_bytes": granted}
            yield Notice("buffer-not-granted", values)


def transfer_row(
    transfer: Transfer, sent: dict[str, Any], received: dict[str, Any]
) -> dict[str, float]:
    """Return the row of a transfer from the reports of both ends."""
    size = transfer.write_bytes
    arrived = received.get("received_bytes", 0)
    if transfer.reply_bytes:
        arrived = sent["received_bytes"]  # answered within the measured time
        # Up to the last answer: one in progress at the time limit does not count, either.
        received = {**received, "end_ns": sent.get("answered_ns", np.nan)}
    count = sent["sent_bytes"] / size
    known = transfer.protocol == "udp" and "received_bytes" in received
    lost = max(0.0, count - arrived / size) if known else np.nan
    cycle_ns = sent.get("cycle_ns")
    return {
        "write_bytes": size,
        "write_count": count,
        "sent_bytes": sent["sent_bytes"],
        "received_bytes": arrived,
        "wall_s": (sent["end_ns"] - sent["begin_ns"]) * 1e-9,
        "delivery_s": (received.get("end_ns", np.nan) - sent["begin_ns"]) * 1e-9,
        "user_s": sent["user_s"],
        "system_s": sent["system_s"],
        "wait_count": sent["wait_count"],
        "receiver_user_s": received.get("user_s", np.nan),
        "receiver_system_s": received.get("system_s", np.nan),
        "lost_count": lost,
        "pair_count": transfer.pair_count,
        "window_bytes": sent.get("window_bytes") or np.nan,
        "cycle_s": np.nan if cycle_ns is None else cycle_ns * 1e-9,
        **dict.fromkeys(DROP_PLACES.values(), np.nan),
    }


def socket_drops(sink: socket.socket, transfer: Transfer) -> dict[str, float]:
    """Return the datagrams that the sink's socket dropped; unknown where they were merged."""
    if transfer.protocol == "tcp" or transfer.datagrams_per_call > 1:
        return {}
    with suppress(OSError):
        info = sink.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size)
        return {"receiver_drop_count": _MEMINFO.unpack(info)[-1]}
    return {}


def read_buffers(pair: tuple[socket.socket, socket.socket], transfer: Transfer) -> dict[str, float]:
    """Read back the granted buffers; those of both ends, whichever were requested."""
    requested = transfer.buffer_bytes
    return {
        "asked_buffer_bytes": np.nan if requested is None else requested,
        "send_buffer_bytes": pair[0].getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF),
        "receive_buffer_bytes": pair[1].getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF),
    }
