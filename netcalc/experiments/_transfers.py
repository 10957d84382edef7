"""Transfers between two programs of a run: the sockets between them, the orders, the rows."""

from __future__ import annotations

import json
import select
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path as File
from types import TracebackType
from typing import Any, NoReturn, Self

import numpy as np

from netcalc.emulation.routed import Routed
from netcalc.emulation.wire import Wire
from netcalc.errors import ExperimentError
from netcalc.experiments import _instrument
from netcalc.experiments._exchange import connect_within, limit_receive
from netcalc.experiments._limits import MAX_BULK_BYTES, MAX_DURATION_S
from netcalc.experiments._process import Peer
from netcalc.experiments._room import Room
from netcalc.experiments._run import Record
from netcalc.experiments._stopping import SLICE_S, Ended, Stopping
from netcalc.models.window import bdp_bytes
from netcalc.path import Path
from netcalc.samples import DROP_PLACES, BulkSamples
from netcalc.units import show

CONNECT_S = 5.0
"""Time limit of a connection to the sink. [s]"""
GRACE_S = 2.0
"""How long after its limit of time a transfer may take to end by itself. [s]"""
MAX_DRAIN_S = 60.0
"""How long a sink waits for what is on a slow path, at most. [s]"""
INTERVALS = ("row", "at_s", "received_bytes")
"""What is kept of a long transfer ten times a second: its row, the time, what the sink has."""
READ_BYTES = 1 << 17
"""A sink of a stream reads at most this much at once. [byte]"""
_SLICE_S = 0.02
_ANSWER_BYTES = 1 << 16
_MTU_BYTES = 1500
_LEAST_BUFFER_BYTES = 65_536
_KERNEL_BUFFER_BYTES = 1 << 20
_SO_MEMINFO, _MEMINFO = 55, struct.Struct("9I")  # the last is the count of drops
_AVAILABLE = File("/proc/sys/net/ipv4/tcp_available_congestion_control")
_ALLOWED = File("/proc/sys/net/ipv4/tcp_allowed_congestion_control")


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
            self.stopping.end(f"limit of {show(MAX_BULK_BYTES, 'byte')}")
            self.stopping.check()
        return replace(transfer, write_count=min(transfer.write_count, count))

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


class Worker(Peer):
    """A process that pours or drains on the sockets it is handed."""

    def __init__(self, *, stopping: Stopping) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control, self._stopping = ours, stopping
        self._answered: dict[str, Any] | None = None
        self.so_far: dict[str, Any] = {}
        settings = {
            "host": "",
            "port": 0,
            "fd": theirs.fileno(),
            "duration_s": MAX_DURATION_S + 30,
        }
        try:
            with theirs:
                super().__init__(
                    settings, stopping=stopping, passed=[theirs.fileno()], program="_bulk_peer"
                )
        except BaseException:
            ours.close()
            raise

    def close(self) -> dict[str, int]:
        """End the process."""
        self._control.close()
        return super().close()

    def order(self, what: dict[str, Any], socks: Sequence[socket.socket] = ()) -> None:
        """Tell it what to do, and on which sockets."""
        if socks:
            self.so_far = {}
        data = [json.dumps(what).encode()]
        try:
            if socks:
                socket.send_fds(self._control, data, [sock.fileno() for sock in socks])
            else:
                self._control.send(data[0])
        except (BrokenPipeError, ConnectionResetError):
            self._lost()

    def answer(
        self, limit_s: float, *, watch: bool = True, meanwhile: Callable[[], object] = bool
    ) -> dict[str, Any] | None:
        """Wait for what it did; None if the time is over. Looks for a reason to end the run."""
        end_s = time.monotonic() + limit_s
        while self._answered is None:
            if watch:
                self._stopping.check()
            left_s = end_s - time.monotonic()
            select.select([self._control], [], [], max(0.0, min(left_s, SLICE_S)))
            self.hear()
            meanwhile()
            if left_s <= 0:
                break
        answered, self._answered = self._answered, None
        return answered

    def hear(self) -> None:
        """Take what it has said so far, without waiting."""
        while self._answered is None and select.select([self._control], [], [], 0.0)[0]:
            try:
                data = self._control.recv(_ANSWER_BYTES)
            except ConnectionResetError:
                data = b""
            if not data:
                self._lost()
            report = json.loads(data)
            if report.get("so_far"):
                self.so_far = report
            else:
                self._answered = report

    def _lost(self) -> NoReturn:
        raise ExperimentError(self.death() or "the peer process does not answer", phase="transfer")


Opener = Callable[[int, int], socket.socket]
"""Opens a socket of a family and a kind, in the namespace of one end."""
Drops = Callable[[], dict[str, int]]
"""Counts what was dropped between the two ends so far, by column of the samples."""


class Ends:
    """A source and a sink, and where their sockets are opened.

    Parameters
    ----------
    run : Transfers
        Whose transfers these are.
    source_socket, sink_socket : callable
        Open a socket of one end.
    sink_host : str
        Address at which the sink is reached.
    drops : callable
        What is dropped on the way.
    """

    def __init__(
        self,
        run: Transfers,
        *,
        source_socket: Opener = socket.socket,
        sink_socket: Opener = socket.socket,
        sink_host: str,
        drops: Drops = dict,
    ) -> None:
        self._run, self._drops = run, drops
        self._open_source, self._open_sink, self._host = source_socket, sink_socket, sink_host
        self.source = Worker(stopping=run.stopping)
        try:
            self.sink = Worker(stopping=run.stopping)
        except BaseException:
            self.source.close()
            raise
        run.facts["timer_slack_s"] = self.sink.report["timer_slack_s"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        try:
            self.source.close()
        finally:
            self.sink.close()

    def move(self, transfer: Transfer) -> None:
        """Do one transfer and note its row; also the part of one that is stopped."""
        transfer = self._run.allowed(transfer)
        socks: list[tuple[socket.socket, socket.socket]] = []
        try:
            try:
                for _ in range(transfer.pair_count):
                    self._run.stopping.check()
                    socks.append(self._connected(transfer))
            except OSError as error:
                raise self._run.failure(error) from error
            self._run.phase = "transfer"
            buffers = _buffers(socks[0], transfer)
            self._run.facts.update(_granted(socks[0][0]))
            drops = self._drops if transfer.protocol == "udp" else dict
            before = drops()
            sent, received, ended = self._worked(transfer, socks)
            dropped: dict[str, float] = {
                name: count - before[name] for name, count in drops().items()
            }
            dropped |= _dropped_by(socks[0][1], transfer)
        finally:
            for pair in socks:
                for sock in pair:
                    sock.close()
        if transfer.endless and sent["sent_bytes"] >= transfer.asked_bytes:
            ended = True
            self._run.stopping.end(f"limit of {show(MAX_BULK_BYTES, 'byte')}")
        if sent["sent_bytes"]:
            self._run.add(
                _row(transfer, sent, received) | buffers | dropped,
                ended=ended,
                cut=not (ended or transfer.endless) and sent["sent_bytes"] < transfer.asked_bytes,
                wrong_count=received.get("damaged_count", 0),
            )
        if ended:
            raise Ended(self._run.stopping.reason)

    def _worked(
        self, transfer: Transfer, socks: list[tuple[socket.socket, socket.socket]]
    ) -> tuple[dict[str, Any], dict[str, Any], bool]:
        """Give the orders and wait for both answers; also return whether the run was ended."""
        source_does, sink_does = _orders(transfer)
        self._begin_ns = time.perf_counter_ns()
        self.sink.order(sink_does, [pair[1] for pair in socks])
        self.source.order(source_does, [pair[0] for pair in socks])
        if transfer.protocol == "tcp":
            for pair in socks:
                pair[1].close()  # the sink's alone, so that the source hears of its end
        sent = received = None
        try:
            sent = self._answered(self.source, transfer, transfer.limit_s + GRACE_S)
            if transfer.protocol == "udp" or transfer.reply_bytes:
                self.sink.order(_end(sent["sent_bytes"], transfer))
            for pair in socks:
                pair[0].close()
            limit_s = transfer.limit_s + transfer.drain_s + GRACE_S
            received = self._answered(self.sink, transfer, limit_s)
        except Ended:
            return *self._broken_off(socks, sent, received), True
        return sent, received, False

    def _broken_off(
        self,
        socks: list[tuple[socket.socket, socket.socket]],
        sent: dict[str, Any] | None,
        received: dict[str, Any] | None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """End a transfer that is under way and return what was done until then."""
        now = {"do": "end", "now": True}
        if sent is None:
            self.source.order(now)
            for source, _ in socks:
                with suppress(OSError):  # wakes a source that waits for room in its buffer
                    source.shutdown(socket.SHUT_RDWR)
            sent = self.source.answer(SLICE_S, watch=False)
        if received is None:
            self.sink.order(now)
            received = self.sink.answer(SLICE_S, watch=False)
        return sent or {"sent_bytes": 0}, received or {}

    def _answered(self, worker: Worker, transfer: Transfer, limit_s: float) -> dict[str, Any]:
        report = worker.answer(limit_s, meanwhile=lambda: self._tell(transfer))
        if report is None:
            raise ExperimentError(
                f"the transfer did not end {GRACE_S:g} s after its limit of time",
                phase=self._run.phase,
                host=self._host,
                port=self._run.port,
                hint="The other end hangs, or a firewall drops the packets",
            )
        if "error" in report:
            failure = self._run.failure(OSError(report["error"], report["text"]))
            other = self.sink if worker is self.source else self.source
            if (death := other.death()) is not None:
                failure = ExperimentError(
                    f"{failure.what}; {death}",
                    phase=failure.phase,
                    host=failure.host,
                    port=failure.port,
                )
            raise failure
        return report

    def _tell(self, transfer: Transfer) -> None:
        """Tell how far the transfer is that is under way, from what both ends say meanwhile."""
        self.source.hear()
        self.sink.hear()
        source, sink = self.source.so_far, self.sink.so_far
        if not (source or sink):
            return
        received_bytes = sink.get("received_bytes", 0)
        lossy = transfer.protocol == "udp"
        done_bytes = source.get("sent_bytes", 0) if lossy else received_bytes
        elapsed_s = (time.perf_counter_ns() - self._begin_ns) * 1e-9
        self._run.tell_within(
            max(done_bytes / transfer.asked_bytes, elapsed_s / transfer.limit_s),
            at_ns=sink.get("at_ns", 0),
            received_bytes=received_bytes,
        )

    def _connected(self, transfer: Transfer) -> tuple[socket.socket, socket.socket]:
        """Open the two sockets of a connection; buffers are set before connect and listen."""
        run = self._run
        run.phase = "connect"
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        with self._open_sink(family, transfer.kind) as listener:
            _set_buffer(listener, socket.SO_RCVBUF, transfer.buffer_bytes)
            listener.bind((self._host, 0))
            run.port = listener.getsockname()[1]
            source = self._open_source(family, transfer.kind)
            try:
                _set_buffer(source, socket.SO_SNDBUF, transfer.buffer_bytes)
                if transfer.protocol == "udp":
                    source.connect(listener.getsockname())
                    listener.connect(source.getsockname())
                    return source, listener.dup()
                set_congestion_control(source, transfer.congestion_control)
                listener.listen(5)
                connect_within(
                    source,
                    listener.getsockname(),
                    limit_s=CONNECT_S,
                    stopping=run.stopping,
                )
                if transfer.reply_bytes:
                    source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return source, _accepted(listener, source)
            except BaseException:
                source.close()
                raise


def _accepted(listener: socket.socket, source: socket.socket) -> socket.socket:
    """Take the connection of the source; one from anybody else is closed."""
    wanted = source.getsockname()
    listener.settimeout(CONNECT_S)
    while True:
        sink, address = listener.accept()
        if address == wanted:
            break
        sink.close()
    sink.settimeout(None)
    limit_receive(sink, _SLICE_S)
    sink.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sink


def _end(sent_bytes: int, transfer: Transfer) -> dict[str, Any]:
    """Return the order that tells a sink how much was sent, and how long it may be on its way."""
    return {
        "do": "end",
        "now": False,
        "sent_bytes": sent_bytes,
        "linger_s": transfer.linger_s,
        "drain_s": transfer.drain_s,
    }


def _orders(transfer: Transfer) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the source and what the sink shall do."""
    common = {"write_bytes": transfer.write_bytes, "reply_bytes": transfer.reply_bytes}
    if transfer.reply_bytes:
        converse = {
            "do": "converse",
            "limit_s": transfer.limit_s,
            "limit_bytes": transfer.asked_bytes,
            **common,
        }
        return converse, {"do": "reply", **common}
    pour = {
        "do": "pour",
        "write_count": transfer.write_count,
        "datagrams_per_call": transfer.datagrams_per_call,
        "limit_s": transfer.limit_s,
        **common,
    }
    merged = transfer.datagrams_per_call > 1
    return pour, {"do": "drain", "merged": merged, "read_bytes": READ_BYTES, **common}


def _row(transfer: Transfer, sent: dict[str, Any], received: dict[str, Any]) -> dict[str, float]:
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


def _dropped_by(sink: socket.socket, transfer: Transfer) -> dict[str, float]:
    """Return what a socket of datagrams had no room for, by the kernel's count."""
    if transfer.protocol == "tcp" or transfer.datagrams_per_call > 1:  # one count for many together
        return {}
    with suppress(OSError):
        info = sink.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size)
        return {"receiver_drop_count": _MEMINFO.unpack(info)[-1]}
    return {}


def _buffers(pair: tuple[socket.socket, socket.socket], transfer: Transfer) -> dict[str, float]:
    """Return the buffers that were granted, read back."""
    asked = transfer.buffer_bytes
    return {
        "asked_buffer_bytes": np.nan if asked is None else asked,
        "send_buffer_bytes": pair[0].getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF),
        "receive_buffer_bytes": pair[1].getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF),
    }


def _granted(sock: socket.socket) -> dict[str, Any]:
    """Return what else the kernel granted: the congestion control, the segment."""
    facts = _instrument.granted(sock)
    return {name: facts[name] for name in facts if not name.endswith("buffer_bytes")}


def _set_buffer(sock: socket.socket, option: int, size: int | None) -> None:
    if size is not None:
        sock.setsockopt(socket.SOL_SOCKET, option, size)


def set_congestion_control(sock: socket.socket, name: str) -> None:
    """Set the congestion control of a connection and read it back; refuse what is not granted."""
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
            f"the congestion control {name!r} is not granted",
            phase="congestion control",
            hint=f"Allowed to everybody here: {_words(_ALLOWED)}; known: {_words(_AVAILABLE)}",
        )


def _words(path: File) -> str:
    try:
        return ", ".join(path.read_text().split()) or "none"
    except OSError:
        return f"not told by {sys.platform}"


def _version(run: Transfers) -> int:
    return 6 if ":" in run.host else 4


@contextmanager
def both_ends(
    run: Transfers,
    *,
    mtu_bytes: int | None = None,
    path: Path | None = None,
    link_buffer_bytes: int | None = None,
    routed: bool = False,
    **every: Any,
) -> Iterator[Ends]:
    """Start source and sink: on the host's loopback, on one of their own, on a path, routed.

    ``every`` goes to each link of the path. The address family is that of the run's host.
    """
    run.facts.update(_instrument.machine(), **_instrument.timer())
    run.facts["address_family"] = f"IPv{_version(run)}"
    if routed:
        place = _routed(run, mtu_bytes)
    elif path is not None:
        place = _on_path(run, path, mtu_bytes, link_buffer_bytes, every)
    elif mtu_bytes is not None:
        place = _on_own_loopback(run, mtu_bytes)
    else:
        place = _on_loopback(run)
    with place as ends:
        run.measure_own_error()
        yield ends
        run.measure_own_error()


@contextmanager
def _on_loopback(run: Transfers) -> Iterator[Ends]:
    run.facts.update(_instrument.loopback())
    with Ends(run, sink_host=run.host) as ends:
        yield ends


@contextmanager
def _on_own_loopback(run: Transfers, mtu_bytes: int) -> Iterator[Ends]:
    with Room(stopping=run.stopping, mtu_bytes=mtu_bytes) as room:
        if not room.own:
            raise ExperimentError(
                f"no namespace of its own for a loopback of another MTU: {room.refused}",
                phase="namespace",
                hint="Without mtu_bytes the run takes the host's loopback",
            )
        run.facts.update(_instrument.loopback(), loopback_mtu_bytes=mtu_bytes)
        with Ends(
            run, source_socket=room.socket, sink_socket=room.socket, sink_host=run.host
        ) as ends:
            yield ends


@contextmanager
def _routed(run: Transfers, mtu_bytes: int | None) -> Iterator[Ends]:
    with Routed(mtu_bytes=_MTU_BYTES if mtu_bytes is None else mtu_bytes) as hosts:
        run.facts["routed"] = hosts.truth()
        run.host = hosts.address("B", _version(run))

        def drops() -> dict[str, int]:
            found = hosts.forwarding()
            return {
                "sender_drop_count": 0,  # between its socket and the router there is no queue
                "input_drop_count": found.input_drop_count,
                "line_drop_count": found.output_drop_count,
            }

        with Ends(
            run,
            source_socket=lambda family, kind: hosts.socket("A", family, kind),
            sink_socket=lambda family, kind: hosts.socket("B", family, kind),
            sink_host=run.host,
            drops=drops,
        ) as ends:
            yield ends


@contextmanager
def _on_path(
    run: Transfers,
    path: Path,
    mtu_bytes: int | None,
    link_buffer_bytes: int | None,
    every: dict[str, Any],
) -> Iterator[Ends]:
    if link_buffer_bytes is None:
        link_buffer_bytes = default_link_buffer_bytes(path)
    mtu_bytes = _MTU_BYTES if mtu_bytes is None else mtu_bytes
    with Wire(path, mtu_bytes=mtu_bytes, buffer_bytes=link_buffer_bytes, **every) as wire:
        run.facts["truth"] = wire.truth()
        run.host = wire.address("B", _version(run))
        with Ends(
            run,
            source_socket=lambda family, kind: wire.socket("A", family, kind),
            sink_socket=lambda family, kind: wire.socket("B", family, kind),
            sink_host=run.host,
            drops=lambda: _dropped_on(wire),
        ) as ends:
            yield ends
        found = wire.statistics()
        run.facts["wire_lateness_p99_s"] = found.lateness_p99_s
        run.facts["wire_late_ratio"] = found.late_ratio
        if run.overflowed:  # no fault of the wire unless nothing behind was full: judged by row
            found = replace(found, device_drop_count=0, late_ratio=0.0)
        if found.invalid is not None:
            run.warnings.append(found.invalid)


def _dropped_on(wire: Wire) -> dict[str, int]:
    """Return the drops of a wire; what is before the input of a box is the sender's own."""
    found = wire.statistics()
    first, *others = found.links[0]
    box = others or [first]
    own = first["overrun"] + first["full"] + first["lost"] if others else 0
    return {
        "sender_drop_count": found.device_drop_count + own,
        "input_drop_count": sum(link["overrun"] for link in box),
        "line_drop_count": sum(link["full"] + link["lost"] for link in box) + found.refused_count,
    }


def default_link_buffer_bytes(path: Path) -> int:
    """Return what each link of a path holds if nothing is asked for: twice what the path does."""
    rtt_s = float(path.rtt_s(_MTU_BYTES))
    return max(_LEAST_BUFFER_BYTES, int(2 * bdp_bytes(rtt_s, bandwidth_bps=path.bottleneck_bps)))


def drain_s(path: Path | None, buffer_bytes: int | None, link_buffer_bytes: int | None) -> float:
    """Return how long what has been sent may still be on its way. [s]"""
    if path is None:
        return 0.0
    held = link_buffer_bytes or default_link_buffer_bytes(path)
    held += 2 * (buffer_bytes or _KERNEL_BUFFER_BYTES)
    return min(MAX_DRAIN_S, 2 * float(path.rtt_s(_MTU_BYTES)) + 8 * held / path.bottleneck_bps)
