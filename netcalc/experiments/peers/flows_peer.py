"""The hosts of flows that share a bottleneck: a program that sends, and one that receives.

Started by :mod:`netcalc.experiments.peers.process` with the standard library only. Its order comes
with a plan and a log, two files without a name that its parent made:

``send``
    Open each connection at its time, fill it until its stop or its size, and make requests back to
    back where the plan says so. Logs the ``tcp_info`` of each connection at a fixed interval, and
    every request.
``receive``
    Accept each connection, read it to its end, and answer requests. Logs the bytes so far.

All times are of the clock that both ends share, from ``zero_ns`` of the plan.
"""

from __future__ import annotations

import errno
import io
import json
import os
import select
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from netcalc.experiments.peers.helper import ORDER_BYTES, Orders, read_settings, start

INFO_BYTES = 216
"""Bytes of Linux's ``struct tcp_info`` that are logged, up to ``tcpi_bytes_retrans``. [byte]"""
INFO, REQUEST, BYTES = range(3)
"""Kinds of rows: state of a connection, a request with its latency, bytes received so far."""
ROW = struct.Struct("=Bxxxiqq")
"""Kind, connection, time, and a value: of a request the end [ns], of bytes their number. A row of
``tcp_info`` is followed by the structure, of ``INFO_BYTES``."""
CHUNK_BYTES = 1 << 16
"""Largest write: several fit into what a connection may hold unsent. [byte]"""
READ_BYTES = 1 << 18
WRITES_IN_TURN = 16
"""Writes to one connection before the others are served. [1]"""
LONGEST_WAIT_S = 0.05
"""Time after which the program looks for an order, at the latest. [s]"""
_TCP_NOTSENT_LOWAT = 25
_PENDING = (errno.EINPROGRESS, errno.EAGAIN, errno.EALREADY, errno.EISCONN)
"""What a call to connect says that has begun; the last of a connection that was open before."""
_clock = time.perf_counter_ns


class Connection:
    """A flow or a request loop of the plan, and how far it is."""

    def __init__(self, index: int, sock: socket.socket, plan: dict[str, Any], zero_ns: int) -> None:
        self.index, self.sock = index, sock
        self.opens_ns = zero_ns + int(plan["start_s"] * 1e9)
        stop_s = plan.get("stop_s")
        self.stops_ns = None if stop_s is None else zero_ns + int(stop_s * 1e9)
        size_bytes = plan.get("size_bytes")
        self.left_bytes = float("inf") if size_bytes is None else size_bytes
        self.request_bytes: int = plan.get("request_bytes", 0)
        self.reply_bytes: int = plan.get("reply_bytes", 0)
        self.address = (plan.get("host"), plan.get("port"))
        self.is_open = self.is_done = False
        self.counted_bytes = self.pending_bytes = 0
        self.began_ns = self.logged_ns = 0


class FlowCounts:
    """The bytes sent or received so far."""

    def __init__(self) -> None:
        self.total_bytes = 0


class Program(Orders):
    """Common part of both ends: the clock of the plan, the log, and the orders."""

    def __init__(
        self, control: socket.socket, plan: dict[str, Any], log: io.BufferedWriter
    ) -> None:
        self.counts: FlowCounts
        super().__init__(control, FlowCounts())
        self.plan, self.log = plan, log
        self.zero_ns: int = plan["zero_ns"]
        self.end_ns = self.zero_ns + int(plan["end_s"] * 1e9)
        self.sample_ns = int(plan["sample_s"] * 1e9)
        self.poll = select.epoll()
        self.connections: dict[int, Connection] = {}

    def row(self, kind: int, index: int, at_ns: int, value: int) -> None:
        """Log a row."""
        self.log.write(ROW.pack(kind, index, at_ns - self.zero_ns, value))

    @contextmanager
    def until_the_end(self) -> Iterator[None]:
        """Take an error for a fault of the run only while the run lasts.

        Both ends close all at ``end_ns``: who is late by then meets closed connections.
        """
        try:
            yield
        except OSError:
            if _clock() < self.end_ns:
                raise

    def report(self, now_ns: int) -> None:
        """Report progress, and write the log: what a killed host has measured stays."""
        self.log.flush()
        super().report(now_ns)


class FlowSource(Program):
    """Sends the flows and the requests."""

    def run(self, socks: list[socket.socket]) -> dict[str, Any]:
        """Follow the plan to its end; return counts."""
        waiting = [
            Connection(plan["index"], sock, plan, self.zero_ns)
            for sock, plan in zip(socks, self.plan["connections"], strict=True)
        ]
        waiting.sort(key=lambda connection: connection.opens_ns, reverse=True)
        self.data = memoryview(bytes(CHUNK_BYTES))
        sample_ns = self.zero_ns
        while (now_ns := _clock()) < self.end_ns:
            while waiting and waiting[-1].opens_ns <= now_ns:
                self.open(waiting.pop())
            for connection in list(self.connections.values()):
                if (
                    connection.stops_ns is not None
                    and connection.stops_ns <= now_ns
                    and not connection.request_bytes
                ):
                    self.finish(connection)
            if now_ns >= sample_ns:
                self.sample(now_ns)
                sample_ns += self.sample_ns * ((now_ns - sample_ns) // self.sample_ns + 1)
            due_ns = min([self.end_ns, *(connection.opens_ns for connection in waiting[-1:])])
            if self.connections:  # a host without any sleeps on
                due_ns = min(due_ns, sample_ns)
            for handle, _ in self.poll.poll(min(LONGEST_WAIT_S, max(0, due_ns - _clock()) * 1e-9)):
                if handle in self.connections:
                    with self.until_the_end():
                        self.serve(self.connections[handle])
            if self.look(now_ns):
                break
        self.sample(_clock())
        return {"count": len(socks) - len(waiting)}

    def open(self, connection: Connection) -> None:
        """Begin to connect."""
        connection.sock.setblocking(False)
        connection.sock.setsockopt(
            socket.IPPROTO_TCP, _TCP_NOTSENT_LOWAT, self.plan["unsent_bytes"]
        )
        if connection.request_bytes:
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        code = connection.sock.connect_ex(connection.address)
        if code not in (0, *_PENDING):
            raise OSError(code, os.strerror(code))
        connection.is_open = True
        self.connections[connection.sock.fileno()] = connection
        self.poll.register(connection.sock, select.EPOLLOUT)

    def serve(self, connection: Connection) -> None:
        """Write what a connection takes, and read replies."""
        code = connection.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))
        if connection.request_bytes:
            self.request(connection)
            return
        for _ in range(WRITES_IN_TURN):
            if connection.left_bytes <= 0:
                self.finish(connection)
                return
            try:
                sent = connection.sock.send(
                    self.data[: int(min(CHUNK_BYTES, connection.left_bytes))]
                )
            except BlockingIOError:
                return
            connection.left_bytes -= sent
            self.counts.total_bytes += sent

    def request(self, connection: Connection) -> None:
        """Send a request, or the rest of one; log the latency when the reply is whole."""
        if not connection.began_ns:
            if connection.stops_ns is not None and _clock() >= connection.stops_ns:
                self.finish(connection)
                return
            connection.began_ns = _clock()
            connection.pending_bytes, connection.counted_bytes = connection.request_bytes, 0
        with suppress(BlockingIOError):
            while connection.pending_bytes:
                sent = connection.sock.send(self.data[: min(CHUNK_BYTES, connection.pending_bytes)])
                connection.pending_bytes -= sent
                self.counts.total_bytes += sent
            self.poll.modify(connection.sock, select.EPOLLIN)
            while connection.counted_bytes < connection.reply_bytes:
                read = len(connection.sock.recv(CHUNK_BYTES))
                if not read:
                    raise OSError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
                connection.counted_bytes += read
            self.row(REQUEST, connection.index, connection.began_ns, _clock() - self.zero_ns)
            connection.began_ns = 0
            self.poll.modify(connection.sock, select.EPOLLOUT)

    def finish(self, connection: Connection) -> None:
        """Send no more: what is in the buffer goes out, then the end of the stream."""
        handle = connection.sock.fileno()
        self.log_info(connection, _clock())
        self.poll.unregister(connection.sock)
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_WR)
        self.connections.pop(handle)

    def sample(self, now_ns: int) -> None:
        """Log the state of each connection."""
        for connection in self.connections.values():
            self.log_info(connection, now_ns)

    def log_info(self, connection: Connection, now_ns: int) -> None:
        """Log the state of a connection."""
        info = connection.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_BYTES)
        self.row(INFO, connection.index, now_ns, len(info))
        self.log.write(info.ljust(INFO_BYTES, b"\0"))


class Sink(Program):
    """Receives the flows, and answers the requests."""

    def run(self, listeners: list[socket.socket]) -> dict[str, Any]:
        """Accept and read until all have ended; return counts."""
        plans = self.plan["connections"]
        doors = {listener.fileno(): index for index, listener in enumerate(listeners)}
        for listener in listeners:
            listener.setblocking(False)
            self.poll.register(listener, select.EPOLLIN)
        self.buffer = memoryview(bytearray(READ_BYTES))
        self.reply = memoryview(bytes(CHUNK_BYTES))
        done = 0
        while (now_ns := _clock()) < self.end_ns and done < len(listeners):
            for handle, _ in self.poll.poll(LONGEST_WAIT_S):
                if handle in doors:
                    index = doors.pop(handle)
                    sock, _ = listeners[index].accept()
                    self.poll.unregister(handle)
                    sock.setblocking(False)
                    if plans[index].get("request_bytes"):
                        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self.connections[sock.fileno()] = Connection(
                        index, sock, plans[index], self.zero_ns
                    )
                    self.poll.register(sock, select.EPOLLIN)
                    self.row(BYTES, index, _clock(), 0)
                elif handle in self.connections:
                    with self.until_the_end():
                        done += self.read(self.connections[handle])
            if self.look(now_ns):
                break
        for connection in self.connections.values():
            self.row(BYTES, connection.index, _clock(), connection.counted_bytes)
        return {"count": len(listeners) - len(doors)}

    def read(self, connection: Connection) -> bool:
        """Read what is there, log it, and answer whole requests; return whether it ended."""
        try:
            got = connection.sock.recv_into(self.buffer)
        except BlockingIOError:
            return False
        now_ns = _clock()
        connection.counted_bytes += got
        self.counts.total_bytes += got
        if (
            not got
            or now_ns - connection.logged_ns >= self.sample_ns
            or connection.counted_bytes >= connection.left_bytes
        ):
            connection.logged_ns = now_ns
            self.row(BYTES, connection.index, now_ns, connection.counted_bytes)
        if connection.request_bytes:
            connection.pending_bytes += got
            while connection.pending_bytes >= connection.request_bytes:
                connection.pending_bytes -= connection.request_bytes
                self.answer(connection)
        if got:
            return False
        self.poll.unregister(connection.sock)
        del self.connections[connection.sock.fileno()]
        connection.sock.close()
        return True

    def answer(self, connection: Connection) -> None:
        """Send a reply; one that the buffer does not take at once is waited for."""
        left = connection.reply_bytes
        connection.sock.setblocking(True)
        while left:
            left -= connection.sock.send(self.reply[: min(CHUNK_BYTES, left)])
        connection.sock.setblocking(False)


def main() -> int:
    """Serve one run; return the exit code."""
    settings = read_settings()
    control = socket.socket(fileno=settings["fd"])
    start(settings, {})
    received = Orders(control, FlowCounts()).next()
    if received is None:
        return 0
    order, (plan_file, log_file, *rest) = received
    report: dict[str, Any] = {}
    with open(plan_file, "rb") as file:  # noqa: PTH123 - a descriptor
        plan = json.load(file)
    socks = [socket.socket(fileno=handle) for handle in rest]
    program = FlowSource if order["do"] == "send" else Sink
    with open(log_file, "wb") as log:  # noqa: PTH123 - a descriptor
        try:
            used_s = time.process_time()
            report = program(control, plan, log).run(socks)
            report["cpu_s"] = time.process_time() - used_s
        except OSError as error:
            report = {"error": error.errno, "text": error.strerror or str(error)}
    for sock in socks:
        with suppress(OSError):  # at once, also with data in its buffer
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    control.send(json.dumps(report).encode())
    control.recv(ORDER_BYTES)  # until the parent has all
    return 0
