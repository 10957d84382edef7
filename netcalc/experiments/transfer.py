"""Transfers from a source to a sink: the plan, the two ends, the reports and rows of a run.

The ends are on the loopback, on one of another MTU, at an emulated path, or routed by a third
namespace (:class:`Placement`).
"""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path as File
from typing import Any, Protocol, Self

import numpy as np

from netcalc.display import show
from netcalc.emulation.wire.control import LOST
from netcalc.emulation.wire.emulated_path import EmulatedPath, Routed
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments.exchange import connect_within, set_timeout
from netcalc.experiments.peers import helper, process
from netcalc.experiments.running import instrument, limits, record, stopping
from netcalc.messages import Notice
from netcalc.models.tcp.window import bdp_bytes
from netcalc.path import Path
from netcalc.samples import DROP_PLACES, BulkSamples

INTERVALS = ("row", "at_s", "received_bytes")
"""Columns kept ten times a second of a long transfer: its row, the time, the bytes received."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """The checked parameters of one transfer.

    ``buffer_bytes`` is None where the kernel chooses, ``reply_bytes`` 0 where the source does not
    wait for responses, ``linger_s`` the time after a datagram in which the next may arrive,
    ``drain_s`` the time for everything sent to leave the path. An endless transfer lasts until its
    time limit. ``gap_ns`` is the mean time from one write to the next; with 0 they follow at once.
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
    gap_ns: int = 0

    @property
    def total_bytes(self) -> int:
        """Payload to carry. [byte]"""
        return self.write_bytes * self.write_count

    @property
    def kind(self) -> int:
        """Kind of its sockets."""
        return socket.SOCK_STREAM if self.protocol == "tcp" else socket.SOCK_DGRAM


class Transfers(record.Record[BulkSamples]):
    """The transfers of one run in progress."""

    processor_count = 2  # a source and a sink

    def __init__(self, **options: Any) -> None:
        super().__init__(layers={"write_bytes": "application"}, **options)
        self._rows: list[dict[str, Any]] = []
        self.under_way: list[dict[str, Any]] = []
        """What is known of the transfer that is in progress: a row of each way."""
        self._complete_count = 0
        self._cut_count = 0
        self._wrong_count = 0
        self._moved_bytes = self._sent_bytes = 0.0
        self._interval_ns = 0
        self.requested: tuple[str, ...] = ("send_buffer_bytes", "receive_buffer_bytes")

    def add(self, row: dict[str, Any], *, ended: bool, cut: bool, wrong_count: int) -> None:
        """Add a transfer: whether the run ended within it, or its own time limit did."""
        self._rows.append(row)
        self.under_way = []
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
        count = int(limits.MAX_BULK_BYTES - self._sent_bytes) // transfer.write_bytes
        if count < transfer.datagrams_per_call:
            self.end_at_limit()
            self.stopping.check()
        return replace(transfer, write_count=min(transfer.write_count, count))

    def end_at_limit(self) -> None:
        """Ask the run to end at its limit of bytes."""
        self.stopping.end(f"limit of {show(limits.MAX_BULK_BYTES, 'byte')}")

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
        """Transfers so far, one that was stopped or is in progress included."""
        return len(self.rows_so_far())

    def rows_so_far(self) -> list[dict[str, Any]]:
        """Return the rows so far, those of a transfer in progress included."""
        return [*self._rows, *self.under_way]

    @property
    def overflowed(self) -> bool:
        """Whether a sender filled its own queue, so that packets waited there unread."""
        return any(row["sender_drop_count"] > 0 for row in self._rows)

    def samples(self) -> BulkSamples:
        """Return the samples so far."""
        rows = self.rows_so_far()
        columns: dict[str, Any] = {
            name: [row[name] for row in rows] for name in BulkSamples.column_units
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


def _so_far(sink: TransferWorker) -> dict[str, Any]:
    """Return the last progress of a sink that is gone, in place of its report."""
    progress = sink.so_far
    if "received_bytes" not in progress or "at_ns" not in progress:
        return {}
    return {"received_bytes": progress["received_bytes"], "end_ns": progress["at_ns"]}


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
    is_counted = transfer.protocol == "udp" and "received_bytes" in received
    lost = max(0.0, count - arrived / size) if is_counted else np.nan
    cycle_ns = sent.get("cycle_ns")
    return {
        "write_bytes": size,
        "write_count": count,
        "sent_bytes": sent["sent_bytes"],
        "received_bytes": arrived,
        "wall_s": (sent["end_ns"] - sent["begin_ns"]) * 1e-9,
        "delivery_s": (received.get("end_ns", np.nan) - sent["begin_ns"]) * 1e-9,
        "user_s": sent["user_s"],
        "system_s": sent.get("system_s", np.nan),
        "wait_count": sent.get("wait_count", np.nan),
        "receiver_user_s": received.get("user_s", np.nan),
        "receiver_system_s": received.get("system_s", np.nan),
        "lost_count": lost,
        "pair_count": transfer.pair_count,
        "window_bytes": sent.get("window_bytes") or np.nan,
        "cycle_s": np.nan if cycle_ns is None else cycle_ns * 1e-9,
        **dict.fromkeys(DROP_PLACES.values(), np.nan),
    }


def socket_drops(received: dict[str, Any], transfer: Transfer) -> dict[str, float]:
    """Return the datagrams that the sink's socket dropped; unknown where they were merged."""
    if transfer.protocol == "tcp" or transfer.datagrams_per_call > 1:
        return {}
    return {"receiver_drop_count": received.get("socket_drop_count", np.nan)}


def buffer_columns(
    transfer: Transfer, source: Mapping[str, Any], sink: Mapping[str, Any]
) -> dict[str, float]:
    """Return the granted buffers of both ends, whichever were requested."""
    requested = transfer.buffer_bytes
    return {
        "asked_buffer_bytes": np.nan if requested is None else requested,
        "send_buffer_bytes": source["send_buffer_bytes"],
        "receive_buffer_bytes": sink["receive_buffer_bytes"],
    }


GRACE_S = 2.0
"""Time after the limit of a transfer for both ends to report; they check for it every 20 ms. [s]"""
LAST_REPORT_S = 0.4
"""Time for the report of a transfer that was ended: a long round trip to a peer, and a stop that
takes effect within a second still. [s]"""
READ_BYTES = 1 << 17
"""Largest read of a stream: two of Linux's largest segments, a buffer that stays in the cache.
[byte]"""
WAKE_BYTES = 1 << 18
"""Data that wakes a sink on a loopback, where each wake-up costs the source time. With twice this,
writes of 300 bytes were slower again in the one comparison made. [byte]"""
SLICE_S = 0.02  # between two looks: of a sink that reads a stream, and whether a path is empty
_AVAILABLE = File("/proc/sys/net/ipv4/tcp_available_congestion_control")
_ALLOWED = File("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
Opener = Callable[[int, int], socket.socket]
"""Opens a socket of a family and a kind, in the namespace of one end."""
Drops = Callable[[], dict[str, int]]
"""Counts the packets dropped between the two ends so far, by column of the samples."""
Empty = Callable[[], bool]
"""Tells whether no packet is under way between the two ends."""


class TransferWorker(Protocol):
    """What sends or receives: a process of this machine, or a job of a peer."""

    @property
    def so_far(self) -> dict[str, Any]:
        """What the present order has counted so far."""

    def order(self, order: dict[str, Any], socks: Sequence[socket.socket] = ()) -> None:
        """Order what to do, and on which sockets of this machine."""

    def answer(
        self, limit_s: float, *, watch: bool = True, meanwhile: Callable[[], object] = bool
    ) -> dict[str, Any] | None:
        """Wait for the report of an order; None at the limit."""

    def poll(self) -> None:
        """Read the reports that are there, without waiting."""

    def explain(self, error: ExperimentError) -> ExperimentError:
        """Return the error of a run, or the end of this worker if that is its cause."""


class Way:
    """A transfer from a source to a sink: their sockets and their reports.

    Parameters
    ----------
    source, sink : Worker
        The two ends.
    direction : str
        Where it goes, as in the samples; empty on this machine.
    """

    def __init__(
        self,
        source: TransferWorker,
        sink: TransferWorker,
        pairs: Sequence[tuple[socket.socket, socket.socket]] = (),
        *,
        direction: str = "",
    ) -> None:
        self.source, self.sink, self.pairs, self.direction = source, sink, list(pairs), direction
        self.sent: dict[str, Any] | None = None
        self.received: dict[str, Any] | None = None

    def buffers(self, transfer: Transfer) -> dict[str, float]:
        """Return the requested buffer and the ones granted."""
        source, sink = self.pairs[0]
        return buffer_columns(transfer, helper.granted(source), helper.granted(sink))

    def granted(self) -> dict[str, Any]:
        """Read back what else the kernel granted to the source."""
        return granted_besides(self.pairs[0][0])

    def start(self, source_does: dict[str, Any], sink_does: dict[str, Any]) -> None:
        """Give the orders, first to the sink."""
        self.sink.order(sink_does, [pair[1] for pair in self.pairs])
        self.source.order(source_does, [pair[0] for pair in self.pairs])

    def leave_sink(self) -> None:
        """Close the sink's sockets here: they are its alone, so its end resets the connection."""
        for pair in self.pairs:
            pair[1].close()

    def leave_source(self) -> None:
        """Close the source's sockets here."""
        for pair in self.pairs:
            pair[0].close()

    def close(self) -> None:
        """Close all sockets."""
        self.leave_source()
        self.leave_sink()

    def wake_source(self) -> None:
        """Wake a source whose buffer is full."""
        for source, _ in self.pairs:
            with suppress(OSError):
                source.shutdown(socket.SHUT_RDWR)

    def other(self, worker: TransferWorker) -> TransferWorker:
        """Return the other end."""
        return self.sink if worker is self.source else self.source


class TransferEnds:
    """A source and a sink, each a process, and the functions that open their sockets.

    The address of the sink is the host of the run.

    Parameters
    ----------
    run : Transfers
        The run of the transfers.
    source_socket, sink_socket : callable
        Open a socket of one end.
    drops : callable
        Counts the packets dropped between the ends.
    empty : callable
        Tells whether no packet is under way between the ends.
    wake_bytes : int
        Data that wakes the sink of a stream, where the kernel chooses the buffers. [byte]
    """

    def __init__(
        self,
        run: Transfers,
        *,
        source_socket: Opener = socket.socket,
        sink_socket: Opener = socket.socket,
        drops: Drops = dict,
        empty: Empty = lambda: True,
        wake_bytes: int = 1,
    ) -> None:
        self._run, self._wake_bytes = run, wake_bytes
        self._drops, self._empty = drops, empty
        self._open_source, self._open_sink = source_socket, sink_socket
        self._shared = source_socket is socket.socket  # with every other program
        with helper.kept(process.Worker(stopping=run.stopping)) as self.source:
            self.sink = process.Worker(stopping=run.stopping)
        run.facts["timer_slack_s"] = self.sink.report["timer_slack_s"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.source.close()
        finally:
            self.sink.close()

    def ways(self, transfer: Transfer) -> Iterator[Way]:
        """Open the ways of a transfer: this one has a single one."""
        way = Way(self.source, self.sink)
        yield way
        for _ in range(transfer.pair_count):
            self._run.stopping.check()
            way.pairs.append(self._connect(transfer))

    def move(self, transfer: Transfer) -> None:
        """Do one transfer and add the row of each way, also of one that is stopped."""
        transfer = self._run.bounded(transfer)
        ways: list[Way] = []
        try:
            try:
                ways.extend(self.ways(transfer))
            except OSError as error:
                raise self._run.failure(error) from error
            self._run.phase = "transfer"
            self._buffers = buffers = [way.buffers(transfer) for way in ways]
            if transfer.buffer_end == "receiver":
                self._run.requested = ("receive_buffer_bytes",)
            self._run.facts.update(ways[0].granted())
            drops = self._drops if transfer.protocol == "udp" else dict
            before = drops()
            early = self._exchange(transfer, ways)
            dropped: dict[str, float] = {}
            if not isinstance(early, ExperimentError):  # the path is gone
                dropped = {name: count - before[name] for name, count in drops().items()}
        finally:
            self._run.under_way = []
            for way in ways:
                way.close()
        early = early or self._at_limit(transfer, ways)
        for way, granted in zip(ways, buffers, strict=True):
            self._add(transfer, way, granted | dropped, early)
        if early is not None:
            raise early

    def _at_limit(self, transfer: Transfer, ways: Sequence[Way]) -> stopping.Ended | None:
        """End the run if an endless transfer has carried all that the run may carry."""
        sent_bytes = max(way.sent["sent_bytes"] for way in ways if way.sent is not None)
        if transfer.endless and sent_bytes >= transfer.total_bytes:
            self._run.end_at_limit()
            return stopping.Ended(self._run.stopping.reason)
        return None

    def _add(
        self,
        transfer: Transfer,
        way: Way,
        counted: dict[str, float],
        early: stopping.Ended | ExperimentError | None,
    ) -> None:
        assert way.sent is not None
        assert way.received is not None
        sent_bytes = way.sent["sent_bytes"]
        if not sent_bytes:
            return
        row = transfer_row(transfer, way.sent, way.received) | counted
        self._run.add(
            {**row, **socket_drops(way.received, transfer), "direction": way.direction},
            ended=early is not None,
            cut=not (early or transfer.endless) and sent_bytes < transfer.total_bytes,
            wrong_count=way.received.get("damaged_count", 0),
        )

    def _exchange(
        self, transfer: Transfer, ways: Sequence[Way]
    ) -> stopping.Ended | ExperimentError | None:
        """Give the orders and wait for all reports; return what ended the run early."""
        source_does, sink_does = orders(transfer)
        sink_does["wake_bytes"] = wake_bytes(transfer, self._wake_bytes)
        self._begin_ns = self._run.clock.now_ns()
        for way in ways:
            way.start(source_does, sink_does)
            if transfer.protocol == "tcp":
                way.leave_sink()
        try:
            for way in ways:
                limit_s = transfer.limit_s + GRACE_S
                way.sent = self._report(way, way.source, ways, transfer, limit_s)
            if transfer.protocol == "udp":
                self._wait_until_empty(transfer.drain_s)
            for way in ways:
                assert way.sent is not None
                if transfer.protocol == "udp" or transfer.reply_bytes:
                    way.sink.order(_end(way.sent["sent_bytes"], transfer))
                way.leave_source()
            for way in ways:
                limit_s = transfer.limit_s + transfer.drain_s + GRACE_S
                way.received = self._report(way, way.sink, ways, transfer, limit_s)
        except stopping.Ended as ended:
            self._end_early(ways)
            return ended
        except ExperimentError as error:
            lost = self._lost_path(error, ways)
            if lost is None:
                raise
            self._end_early(ways)
            return lost
        return None

    def _wait_until_empty(self, limit_s: float) -> None:
        """Wait until what was sent has left the path, so that none of it reaches a closed socket.

        A sink stops when nothing has come for a while; on a busy machine it is the path that
        pauses, and what it carries afterwards would be lost without a place.
        """
        end_s = time.monotonic() + limit_s + GRACE_S
        while not self._empty() and time.monotonic() < end_s:
            self._run.stopping.sleep(SLICE_S)

    def _lost_path(self, error: ExperimentError, _ways: Sequence[Way]) -> ExperimentError | None:
        """Return the error of an emulated path that is gone, if that is the cause of another."""
        if error.code in LOST or not self._run.stopping.watches:
            return error if error.code in LOST else None
        try:
            # Its devices are gone before its process is.
            self._run.stopping.sleep(2 * stopping.SLICE_S)
        except ExperimentError as lost:
            return lost
        return None

    def _end_early(self, ways: Sequence[Way]) -> None:
        """End a transfer in progress, and take the reports that are still missing."""
        now = {"do": "end", "now": True}
        for way in ways:
            if way.sent is None:
                with suppress(ExperimentError):  # the peer may be gone: what is known is kept
                    way.source.order(now)
                    way.wake_source()
                    way.sent = way.source.answer(LAST_REPORT_S, watch=False)
                way.sent = way.sent or {"sent_bytes": 0}
            if way.received is None:
                with suppress(ExperimentError):
                    way.sink.order(now)
                    way.received = way.sink.answer(LAST_REPORT_S, watch=False)
                way.received = way.received or _so_far(way.sink)

    def _report(
        self,
        way: Way,
        worker: TransferWorker,
        ways: Sequence[Way],
        transfer: Transfer,
        limit_s: float,
    ) -> dict[str, Any]:
        report = worker.answer(limit_s, meanwhile=lambda: self._show_progress(transfer, ways))
        if report is None:
            raise self._run.silence("transfer-overdue", grace_s=GRACE_S)
        if "error" in report:
            if worker is way.source:
                way.sent = report  # of a source that broke off
            failure = self._run.failure(helper.reported_error(report))
            raise way.other(worker).explain(failure)
        return report

    def _show_progress(self, transfer: Transfer, ways: Sequence[Way]) -> None:
        """Report the progress of the current transfer, from the interim reports of both ends."""
        for way in ways:
            way.source.poll()
            way.sink.poll()
        source, sink = ways[0].source.so_far, ways[0].sink.so_far
        if not (source or sink):
            return
        received_bytes = sink.get("received_bytes", 0)
        lossy = transfer.protocol == "udp"
        done_bytes = source.get("sent_bytes", 0) if lossy else received_bytes
        elapsed_s = (self._run.clock.now_ns() - self._begin_ns) * 1e-9
        self._run.under_way = [
            self._row_so_far(transfer, way) | granted
            for way, granted in zip(ways, self._buffers, strict=True)
            if way.sent or way.source.so_far.get("sent_bytes")
        ]
        self._run.advance_within(
            max(done_bytes / transfer.total_bytes, elapsed_s / transfer.limit_s),
            at_ns=sink.get("at_ns", 0),
            received_bytes=received_bytes,
        )

    def _row_so_far(self, transfer: Transfer, way: Way) -> dict[str, Any]:
        """Return what is known of a way in progress: of what has not arrived none is lost yet."""
        so_far = {"received_bytes": 0, "user_s": np.nan, **way.source.so_far}
        ends_ns = {"begin_ns": self._begin_ns, "end_ns": so_far.get("at_ns", self._begin_ns)}
        row = transfer_row(transfer, way.sent or so_far | ends_ns, _so_far(way.sink))
        return {**row, "lost_count": np.nan, "direction": way.direction}

    def _connect(self, transfer: Transfer) -> tuple[socket.socket, socket.socket]:
        """Open the two sockets of a connection; buffers are set before connect and listen."""
        run = self._run
        run.phase = "connect"
        family = helper.address_family(run.host)
        with self._open_sink(family, transfer.kind) as listener:
            _set_buffer(listener, socket.SO_RCVBUF, transfer.buffer_bytes)
            listener.bind((run.host, 0))
            run.port = listener.getsockname()[1]
            with helper.kept(self._open_source(family, transfer.kind)) as source:
                if transfer.buffer_end == "both":
                    _set_buffer(source, socket.SO_SNDBUF, transfer.buffer_bytes)
                if transfer.protocol == "udp":
                    source.connect(listener.getsockname())
                    listener.connect(source.getsockname())
                    return source, listener.dup()
                set_congestion_control(source, transfer.congestion_control)
                if client := self._shared and helper.own_source(run.host):
                    source.bind((client, 0))
                    helper.accept_only_from(listener, client)
                listener.listen(helper.BACKLOG)
                address = listener.getsockname()
                connect_within(source, address, limit_s=limits.CONNECT_S, stopping=run.stopping)
                if transfer.reply_bytes:
                    source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return source, _accept(listener, source)


def _accept(listener: socket.socket, source: socket.socket) -> socket.socket:
    """Accept the connection of the source; close any other."""
    source_address = source.getsockname()
    listener.settimeout(limits.CONNECT_S)
    while True:
        sink, address = listener.accept()
        if address == source_address:
            break
        sink.close()
    sink.settimeout(None)
    set_timeout(sink, SLICE_S)
    sink.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sink


def wake_bytes(transfer: Transfer, most_bytes: int) -> int:
    """Return the data that wakes the sink, 1 where that could change the result. [byte]

    A requested buffer would have to hold it, and a short transfer would end a wake-up later.
    """
    if transfer.protocol == "udp" or transfer.reply_bytes or transfer.buffer_bytes is not None:
        return 1
    return max(1, min(most_bytes, transfer.total_bytes // 128))


def _end(sent_bytes: int, transfer: Transfer) -> dict[str, Any]:
    """Return the order that ends a sink once it has everything, or nothing arrives any more."""
    waits = {"linger_s": transfer.linger_s, "drain_s": transfer.drain_s}
    return {"do": "end", "now": False, "sent_bytes": sent_bytes, **waits}


def orders(transfer: Transfer) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the orders of the source and of the sink."""
    common = {"write_bytes": transfer.write_bytes, "reply_bytes": transfer.reply_bytes}
    source = {"limit_s": transfer.limit_s, "limit_bytes": transfer.total_bytes, **common}
    if transfer.reply_bytes:
        return {"do": "request", **source}, {"do": "respond", **common}
    together = transfer.datagrams_per_call
    source |= {
        "write_count": transfer.write_count, "datagrams_per_call": together,
        "gap_ns": transfer.gap_ns,
    }  # fmt: skip
    sink = {"merged": together > 1, "read_bytes": READ_BYTES, **common}
    return {"do": "send", **source}, {"do": "receive", **sink}


def granted_besides(sock: socket.socket) -> dict[str, Any]:
    """Read back what else the kernel granted: congestion control, segment size."""
    facts = instrument.granted(sock)
    return {name: facts[name] for name in facts if not name.endswith("buffer_bytes")}


def _set_buffer(sock: socket.socket, option: int, size: int | None) -> None:
    if size is not None:
        sock.setsockopt(socket.SOL_SOCKET, option, size)


def set_congestion_control(sock: socket.socket, name: str) -> None:
    """Set the congestion control of a connection; fail if the system does not grant it."""
    if not name:
        return
    granted = ""
    if hasattr(socket, "TCP_CONGESTION"):
        with suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        read = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        granted = read.rstrip(b"\0").decode("ascii", "replace")
    if granted != name:
        raise ExperimentError(
            "congestion-control-refused",
            phase="congestion control",
            wanted=name,
            allowed_here=_words(_ALLOWED),
            available=_words(_AVAILABLE),
        )


def _words(path: File) -> list[str]:
    try:
        return path.read_text().split() or ["none"]
    except OSError:
        return [f"unknown on {sys.platform}"]


LINGER_S = 0.05
"""Time without a datagram after which a sink stops, on a path plus a round trip: several time
slices of a busy machine. [s]"""
MAX_DRAIN_S = 60.0
"""Longest time for the data on a slow path to arrive after the last write. [s]"""
_MTU_BYTES = 1500
_LEAST_BUFFER_BYTES = 65_536  # of a link: less than one super-packet of TCP would drop every one
_SYN_BYTES = 60  # with the options of Linux
_KERNEL_BUFFER_BYTES = 1 << 20  # what the kernel may hold where it chooses the buffer


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where source and sink are, and the path between them.

    Parameters
    ----------
    path : Path, optional
        Emulated between the two.
    routed : bool
        A third namespace routes between the two.
    mtu_bytes : int, optional
        MTU of the interfaces; without path and routing the MTU of a loopback of its own.
    link_buffer_bytes : int, optional
        Buffer of each link of the path; by default twice its bandwidth-delay product.
    link_options : mapping
        Further options of :class:`~netcalc.emulation.wire.emulated_path.EmulatedPath`.
    """

    path: Path | None = None
    routed: bool = False
    mtu_bytes: int | None = None
    link_buffer_bytes: int | None = None
    link_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        limits.require_path(self.path)
        if self.routed and self.path is not None:
            raise DomainError("not-with-path", "routed", True)
        checked = limits.whole_or_none("link_buffer_bytes", self.link_buffer_bytes, 1, 1 << 30)
        object.__setattr__(self, "link_buffer_bytes", checked)

    @property
    def name(self) -> str:
        """Name of the placement, as in the samples."""
        if self.path is not None:
            return "emulated path"
        return "routed by a third namespace" if self.routed else "loopback"

    @property
    def buffer_bytes(self) -> int:
        """Buffer of each link of the path. [byte]"""
        assert self.path is not None
        return self.link_buffer_bytes or default_link_buffer_bytes(self.path)

    def linger_s(self, datagram_bytes: int) -> float:
        """Return how long a sink of datagrams waits for the next one. [s]"""
        rtt_s = 0.0 if self.path is None else float(self.path.rtt_s(datagram_bytes))
        return LINGER_S + rtt_s

    def drain_s(self, socket_buffer_bytes: int | None) -> float:
        """Return how long data can take to arrive after the last write. [s]"""
        if self.path is None:
            return 0.0
        held = self.buffer_bytes + 2 * (socket_buffer_bytes or _KERNEL_BUFFER_BYTES)
        rtt_s = float(self.path.rtt_s(_MTU_BYTES))
        return min(MAX_DRAIN_S, 2 * rtt_s + 8 * held / self.path.bottleneck_bps)


def default_link_buffer_bytes(path: Path) -> int:
    """Return the default buffer of each link: twice the bandwidth-delay product of the path."""
    rtt_s = float(path.rtt_s(_MTU_BYTES))
    return max(_LEAST_BUFFER_BYTES, int(2 * bdp_bytes(rtt_s, bandwidth_bps=path.bottleneck_bps)))


@contextmanager
def both_ends(run: Transfers, placement: Placement) -> Iterator[TransferEnds]:
    """Start source and sink where they belong, in the address family of the run's host."""
    run.record_machine(limits.ip_version(run.host))
    mtu_bytes = placement.mtu_bytes or _MTU_BYTES
    if placement.routed:
        hosts = Routed(mtu_bytes=mtu_bytes)
        opened = _in_namespaces(run, hosts, "routed", partial(_drops_at, hosts))
    elif placement.path is not None:
        handshake_s = float(placement.path.rtt_s(_SYN_BYTES))
        if handshake_s > limits.CONNECT_S:
            values = {"handshake_s": handshake_s, "limit_s": limits.CONNECT_S}
            raise limits.above_limit("handshake-too-long", **values)
        emulated = EmulatedPath(
            placement.path, mtu_bytes=mtu_bytes, buffer_bytes=placement.buffer_bytes,
            **placement.link_options,
        )  # fmt: skip
        opened = _in_namespaces(run, emulated, "truth", partial(_drops_on, emulated))
    else:
        opened = _on_loopback(run, placement.mtu_bytes)
    with opened as ends, run.measuring():
        yield ends


@contextmanager
def _on_loopback(run: Transfers, mtu_bytes: int | None) -> Iterator[TransferEnds]:
    """Start both ends on the loopback; with an MTU, on the one of a namespace."""
    run.facts.update(instrument.loopback())
    if mtu_bytes is None:
        with TransferEnds(run, wake_bytes=WAKE_BYTES) as ends:
            yield ends
        return
    with process.Namespace(stopping=run.stopping, mtu_bytes=mtu_bytes) as namespace:
        if not namespace.own:
            raise ExperimentError("namespace-refused", phase="namespace", reason=namespace.refused)
        run.facts["loopback_mtu_bytes"] = mtu_bytes
        with TransferEnds(
            run, source_socket=namespace.socket, sink_socket=namespace.socket
        ) as ends:
            yield ends


@contextmanager
def _in_namespaces(
    run: Transfers, hosts: EmulatedPath, fact: str, drops: Drops
) -> Iterator[TransferEnds]:
    """Start both ends on hosts in namespaces, and record what lies between as a fact."""
    with hosts, run.stopping.watching(hosts.require_alive):
        run.facts[fact] = hosts.truth()
        run.host = hosts.address("B", limits.ip_version(run.host))
        with TransferEnds(
            run,
            source_socket=partial(hosts.socket, "A"),
            sink_socket=partial(hosts.socket, "B"),
            drops=drops,
            empty=lambda: hosts.statistics().is_empty,
        ) as ends:
            yield ends
        if fact == "truth":
            # With an overflowing queue the path is not to blame; each row says where the limit was.
            run.add_path_statistics(hosts.statistics(), judged=not run.overflowed)


def _drops_at(hosts: Routed) -> dict[str, int]:
    """Return the drops of a router; between a sender's socket and the router is no queue."""
    counters = hosts.forwarding()
    return {
        "sender_drop_count": 0,
        "input_drop_count": counters.input_drop_count,
        "line_drop_count": counters.output_drop_count,
    }


def _drops_on(emulated: EmulatedPath) -> dict[str, int]:
    """Return the drops of an emulated path; those before the first node are the sender's."""
    statistics = emulated.statistics()
    first, *others = statistics.links[0]
    nodes = others or [first]
    own = first["overrun"] + first["full"] + first["lost"] if others else 0
    return {
        "sender_drop_count": statistics.device_drop_count + own,
        "input_drop_count": sum(link["overrun"] for link in nodes),
        "line_drop_count": sum(link["full"] + link["lost"] for link in nodes)
        + statistics.refused_count,
    }


MAX_TRANSFERS = 10_000
"""Transfers of a run: their rows fit a notebook, their connections the free ports. [1]"""
MAX_TOGETHER = 64
"""Datagrams that the kernel accepts in one call (UDP_MAX_SEGMENTS of Linux). [1]"""
MAX_TOGETHER_BYTES = 65_507
"""Payload that the kernel accepts in one call: of the largest datagram. [byte]"""


def run_transfers(
    transfers: Sequence[Transfer],
    place: str,
    opened: Callable[[Transfers], AbstractContextManager[TransferEnds]],
    common: record.Common,
    *,
    facts: Mapping[str, Any] | None = None,
    **described: str,
) -> BulkSamples:
    """Do the transfers one after the other, at a place, between the ends that ``opened`` opens.

    They are ``described`` by experiment, unit and command.
    """
    require_bounded_transfers(transfers)
    protocol = transfers[0].protocol

    def measure(run: Transfers) -> None:
        run.facts.update(facts or {})
        with opened(run) as ends:
            for transfer in transfers:
                run.stopping.check()
                ends.move(transfer)

    return common.conduct(
        measure,
        Transfers,
        protocol=protocol,
        target=f"{place}, {protocol.upper()}",
        total_count=len(transfers),
        host=common.address,
        **described,
    )


def require_bounded_transfers(transfers: Sequence[Transfer]) -> None:
    """Refuse a run whose estimated count, volume or time is above a limit."""
    finite = [transfer for transfer in transfers if not transfer.endless]
    carried_bytes = sum(transfer.total_bytes for transfer in finite)
    duration_s = sum(transfer.limit_s for transfer in transfers if transfer.endless)
    limits.refuse_above(
        limits.Estimate("transfers-too-long", "duration_s", duration_s,
                        "limit_s", limits.MAX_DURATION_S),
        limits.Estimate("too-many-transfers", "count", len(transfers), "limit", MAX_TRANSFERS),
        limits.Estimate("too-many-transfer-bytes", "carried_bytes", carried_bytes,
                        "limit_bytes", limits.MAX_BULK_BYTES),
    )  # fmt: skip
