"""Transfers from a source to a sink: what one is, its row, and the rows of a run."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netcalc.experiments.running.limits import MAX_BULK_BYTES
from netcalc.experiments.running.run import Record
from netcalc.samples import DROP_PLACES, BulkSamples
from netcalc.units import show

INTERVALS = ("row", "at_s", "received_bytes")
"""What is kept of a long transfer ten times a second: its row, the time, what the sink has."""
_SO_MEMINFO, _MEMINFO = 55, struct.Struct("9I")  # the last is the count of drops


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """One transfer that was asked for, checked.

    ``buffer_bytes`` is None where the kernel chooses, ``reply_bytes`` 0 where the source does not
    wait for answers, ``linger_s`` how long after the last datagram others may still come,
    ``drain_s`` how long what was sent may be on its way. An endless one goes on until its limit
    of time.
    """

    protocol: str
    write_bytes: int
    write_count: int
    limit_s: float
    buffer_bytes: int | None = None
    datagrams_per_call: int = 1
    congestion_control: str = ""
    pair_count: int = 1
    reply_bytes: int = 0
    linger_s: float = 0.05
    drain_s: float = 0.0
    endless: bool = False

    @property
    def asked_bytes(self) -> int:
        """What it shall carry."""
        return self.write_bytes * self.write_count

    @property
    def kind(self) -> int:
        """Kind of its sockets."""
        return socket.SOCK_STREAM if self.protocol == "tcp" else socket.SOCK_DGRAM


class Transfers(Record[BulkSamples]):
    """The transfers of one run, as they come."""

    processor_count = 2  # a source and a sink

    def __init__(self, *, tool: str, target: str, **record: Any) -> None:
        super().__init__(**record)
        self._tool, self._target = tool, target
        self._rows: list[dict[str, float]] = []
        self._whole_count = 0
        self._cut_count = 0
        self._wrong_count = 0
        self._moved_bytes = self._sent_bytes = 0.0
        self._noted_ns = 0

    def add(self, row: dict[str, float], *, ended: bool, cut: bool, wrong_count: int) -> None:
        """Note a transfer: whether the run ended within it, or its own limit of time did."""
        self._rows.append(row)
        self._whole_count += not ended
        self._cut_count += cut
        self._wrong_count += wrong_count
        self._moved_bytes += row["received_bytes"]
        self._sent_bytes += row["sent_bytes"]
        self.tell(self._moved_bytes)

    def allowed(self, transfer: Transfer) -> Transfer:
        """Return a transfer that goes on until its limit of time, held to what the run may carry.

        Raises
        ------
        Ended
            If the run has carried that already.
        """
        if not transfer.endless:
            return transfer
        count = int(MAX_BULK_BYTES - self._sent_bytes) // transfer.write_bytes
        if count < transfer.datagrams_per_call:
            self.end_at_limit()
            self.stopping.check()
        return replace(transfer, write_count=min(transfer.write_count, count))

    def end_at_limit(self) -> None:
        """Ask the run to end because it has carried what it may."""
        self.stopping.end(f"limit of {show(MAX_BULK_BYTES, 'byte')}")

    def tell_within(self, share: float, *, at_ns: int, received_bytes: int) -> None:
        """Note how far the transfer under way is, and tell it."""
        if at_ns > self._noted_ns:
            self._noted_ns = at_ns
            intervals = self.facts.setdefault("intervals", {name: [] for name in INTERVALS})
            row = (len(self._rows), self.since_start_s(at_ns), received_bytes)
            for name, value in zip(INTERVALS, row, strict=True):
                intervals[name].append(value)
        self.tell(self._moved_bytes + received_bytes, within=min(share, 0.99))

    @property
    def done_count(self) -> int:
        """Transfers that are complete so far."""
        return self._whole_count

    @property
    def overflowed(self) -> bool:
        """Whether a sender filled its own queue, so that its packets stood there unread."""
        return any(row["sender_drop_count"] > 0 for row in self._rows)

    def samples(self) -> BulkSamples:
        """Return what was measured so far."""
        columns: dict[str, Any] = {
            name: [row[name] for row in self._rows] for name in BulkSamples.column_units
        }
        limit = BulkSamples(**columns).limit
        return BulkSamples(
            **columns,
            meta=self.meta(
                tool=self._tool,
                target=self._target,
                layers={"write_bytes": "application"},
                counts={"cut_count": self._cut_count, "damaged_count": self._wrong_count},
                remarks=self._remarks(limit.tolist()),
            ),
        )

    def _remarks(self, limit: Sequence[str]) -> list[str]:
        remarks = []
        if "path" in self._target and (count := limit.count("sender's queue")):
            remarks.append(
                "transfers in which the wire took no more, and nothing behind it was full, so that "
                f"the path was not the limit: {count}"
            )
        if self._cut_count:
            remarks.append(f"transfers ended at their limit of time: {self._cut_count}")
        if self._wrong_count:
            remarks.append(f"datagrams of another size than was sent: {self._wrong_count}")
        more = sum(row["received_bytes"] > row["sent_bytes"] for row in self._rows)
        if more:
            remarks.append(f"transfers that delivered more than was sent, duplicates: {more}")
        granted = {
            (row["asked_buffer_bytes"], row[name])
            for row in self._rows
            for name in ("send_buffer_bytes", "receive_buffer_bytes")
            if row[name] < row["asked_buffer_bytes"]
        }
        for asked, got in sorted(granted):
            remarks.append(
                f"a buffer of {asked:.0f} bytes was asked for and {got:.0f} were granted: the "
                "limit of this system (net.core.wmem_max, net.core.rmem_max)"
            )
        return remarks


def row_of(transfer: Transfer, sent: dict[str, Any], received: dict[str, Any]) -> dict[str, float]:
    """Return the row of a transfer from what both ends said."""
    size = transfer.write_bytes
    arrived = received.get("received_bytes", 0)
    if transfer.reply_bytes:
        arrived = sent["received_bytes"]  # what was answered in the time that counts
        # Until the last answer: the one under way when the time is over is not counted either.
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


def dropped_by(sink: socket.socket, transfer: Transfer) -> dict[str, float]:
    """Return what a socket of datagrams had no room for, by the kernel's count."""
    if transfer.protocol == "tcp" or transfer.datagrams_per_call > 1:  # one count for many together
        return {}
    with suppress(OSError):
        info = sink.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size)
        return {"receiver_drop_count": _MEMINFO.unpack(info)[-1]}
    return {}


def buffers_of(pair: tuple[socket.socket, socket.socket], transfer: Transfer) -> dict[str, float]:
    """Return the buffers that were granted, read back."""
    asked = transfer.buffer_bytes
    return {
        "asked_buffer_bytes": np.nan if asked is None else asked,
        "send_buffer_bytes": pair[0].getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF),
        "receive_buffer_bytes": pair[1].getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF),
    }
