"""The peer of a second machine: serves one run at a time to who has proved the token.

Its program needs the standard library only. All connections go from the client to its one port:
one with orders and reports (:mod:`netcalc.experiments.peers.channel`), and those of the data, which
begin with a ticket. An order names what to do, its sizes and counts, all within the limits of the
peer's own user: never an address, a command, a path or a file.

Each order has a number, which its answers carry. ``open`` makes a line: the connections or the
datagram socket of the data. A job works on a line in a thread of its own, so that a transfer and an
echo beside it can run at once, until its work is done or the order ``end`` comes.
"""

from __future__ import annotations

import os
import platform
import re
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from netcalc.experiments.peers import (
    abilities,
    bulk_peer,
    channel,
    far_costs,
    far_echo,
    far_flows,
    far_trains,
    far_writes,
    helper,
    responder,
)
from netcalc.experiments.peers.door import TICKET_BYTES, Door, Guest, Log
from netcalc.experiments.peers.job import Job, Pace, credit_bytes, even_out

OPEN_S = 10.0
"""Time for the data connections of an order to arrive: a lost SYN is sent again. [s]"""
REPORT_S = 0.1
"""Time between two reports of progress. [s]"""
IDLE_S = 1.0
"""Longest wait of a peer without a client: what it costs cannot be measured. [s]"""
END_S = 0.5
"""Time for a job to end once the client has closed or is gone. [s]"""
FLUSH_S = 0.01
"""Time until the rest of a long report is sent, where the kernel took a part of it. [s]"""
ORDERS_AT_ONCE = 64
"""Orders that are done before the limits of the run are checked. [1]"""
FAST_OPEN_QUEUE = 64
"""Connections whose data came with the SYN that may wait, during transactions. [1]"""
MAX_AT_ONCE = 4
"""Lines, and jobs, at the same time: both directions of a transfer, and an echo beside it. [1]"""
WHOLE = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PeerLimits:
    """What the user of a peer allows each run."""

    duration_s: float
    carried_bytes: int
    rate_bps: float
    connections: int


class OrderRefusedError(Exception):
    """An order that is none, or is beyond the limits; its arguments are a code and values."""


class RunOver(Exception):  # noqa: N818 - no error
    """The run has reached a limit."""


_BYTES, _COUNT, _TIME_MS, _SWITCH = (1, 1 << 24), (1, 1 << 40), (1, 600_000), (0, 1)
_MAYBE_BYTES, _LINE = (0, 1 << 24), (0, 1 << 30)
_MESSAGE_BYTES = (1, 1 << 20)
_NAME = re.compile(r"[a-z0-9_-]{0,15}")
Allowed = WHOLE | tuple[int, int, int] | tuple[str, ...] | re.Pattern[str]
"""Of a field: the least and the largest number; with a third, of a list of at most so many; words;
or the pattern of a name."""
ORDERS: Mapping[str, Mapping[str, Allowed]] = {
    "clock": {},
    "open": {
        "protocol": ("tcp", "udp"), "count": (1, 4096), "buffer_bytes": (0, 1 << 30),
        "congestion_control": _NAME, "one_port": _SWITCH,
    },
    "send": {
        "line": _LINE, "write_bytes": _BYTES, "write_count": _COUNT,
        "datagrams_per_call": (1, 64), "limit_ms": _TIME_MS, "reply_bytes": _MAYBE_BYTES,
        "gap_ns": (0, 1_000_000_000),
    },
    "receive": {
        "line": _LINE, "write_bytes": _BYTES, "read_bytes": _BYTES, "wake_bytes": (1, 1 << 20),
        "merged": _SWITCH, "reply_bytes": _MAYBE_BYTES,
    },
    "request": {
        "line": _LINE, "write_bytes": _BYTES, "reply_bytes": _BYTES, "limit_ms": (1, 60_000),
        "limit_bytes": _COUNT,
    },
    "respond": {"line": _LINE, "write_bytes": _BYTES, "reply_bytes": _BYTES},
    "echo": {"line": _LINE, "message_bytes": _MESSAGE_BYTES},
    "rounds": {
        "line": _LINE, "message_bytes": _MESSAGE_BYTES, "reply_bytes": _MESSAGE_BYTES,
        "quickack": _SWITCH,
    },
    "flows": {"line": _LINE},
    "catch_train": {
        "line": _LINE, "train": _LINE, "packet_count": (2, 64), "limit_ms": _TIME_MS,
    },
    "send_train": {
        "line": _LINE, "train": _LINE, "packet_count": (2, 64), "payload_bytes": (12, 1472),
    },
    "write_rounds": {
        "line": _LINE, "mode": far_writes.MODES, "sizes": (1, 1 << 20, 1000),
        "reply_bytes": _MESSAGE_BYTES, "count": (1, far_writes.MAX_COUNT),
        "interval_ms": (0, 600_000),
    },
    "own_error": {},
    "own_rates": {"payload_bytes": (1, 65_507), "limit_ms": (1, 2000)},
    "transactions": {
        "message_bytes": _MESSAGE_BYTES, "tls": _SWITCH, "fast_open": _SWITCH,
    },
    "end": {
        "job": _LINE, "now": _SWITCH, "sent_bytes": (0, 1 << 50), "linger_ms": (0, 600_000),
        "drain_ms": (0, 600_000),
    },
    "close": {},
}  # fmt: skip
"""Each order and its fields: the least and the largest number, the words allowed, or the pattern of
a name. None is an address, a command, a path or a file."""


def checked(message: Mapping[str, Any]) -> tuple[str, int, dict[str, Any]]:
    """Return the name of an order, its number, and its fields; times in seconds.

    Raises
    ------
    OrderRefusedError
        If it is no order, a field is missing, or beyond its range, or there are others.
    """
    name, number = message.get("do"), message.get("id")
    fields = ORDERS.get(name) if isinstance(name, str) else None
    if name is None or fields is None:
        raise OrderRefusedError("order-unknown", {})
    if not _is_within(number, _LINE):
        raise OrderRefusedError("order-out-of-range", {"field": "id"})
    if message.keys() - fields.keys() - {"do", "id"}:
        raise OrderRefusedError("order-field-unknown", {})
    values = {}
    for field, allowed in fields.items():
        value: Any = message.get(field)
        if not _is_within(value, allowed):
            raise OrderRefusedError("order-out-of-range", {"field": field})
        if field.endswith("_ms"):
            values[field.removesuffix("_ms") + "_s"] = value * 1e-3
        else:
            values[field] = value
    together_bytes = values.get("write_bytes", 0) * values.get("datagrams_per_call", 1)
    if together_bytes > _BYTES[1] or sum(values.get("sizes", ())) > _MESSAGE_BYTES[1]:
        raise OrderRefusedError("order-out-of-range", {"field": "write_bytes"})
    return name, number, values  # type: ignore[return-value]


def _is_within(value: Any, allowed: Allowed) -> bool:
    if isinstance(allowed, re.Pattern):
        return isinstance(value, str) and allowed.fullmatch(value) is not None
    if isinstance(allowed[0], str):
        return isinstance(value, str) and value in allowed
    low, high, *most = allowed
    if most:
        is_list = isinstance(value, list) and 0 < len(value) <= most[0]
        return is_list and all(_is_within(each, (low, high)) for each in value)
    return type(value) is int and low <= value <= high


class Line:
    """The connections of an order ``open``, or its datagram socket, from the tickets on."""

    def __init__(self, door: Door, number: int, order: dict[str, Any], host: str) -> None:
        self.number, self._order, self._door, self._host = number, order, door, host
        self.is_stream = order["protocol"] == "tcp"
        self.is_of_one_port = bool(order["one_port"])
        """Whether its datagrams are those of the client's one socket only."""
        self.socks: list[socket.socket] = []
        self.is_open = self._is_used = False
        self.end_s = time.monotonic() + OPEN_S
        if self.is_stream:
            self.tickets = door.new_tickets(order["count"], host)
        else:
            self.tickets = [os.urandom(TICKET_BYTES)]
            self.socks = [self._bound()]

    @property
    def count(self) -> int:
        """Connections of the line. [1]"""
        return len(self.tickets)

    @property
    def session(self) -> bytes:
        """What the messages of the run on this line begin with."""
        return self.tickets[0][: responder.TAG_BYTES]

    def advance(self) -> bool:
        """Take what has come; return whether the line is open now, and was not before."""
        if self.is_open:
            return False
        if self.is_stream:
            socks = self._door.arrived(self.tickets)
            if socks is None:
                return False
            self.socks = socks
            for sock in socks:
                self._prepare(sock)
        elif not self._has_client(self.socks[0]):
            return False
        self.is_open = True
        return True

    def socks_of_job(self) -> list[socket.socket]:
        """Return what a job works on: a connection is used once, a datagram socket again."""
        if not self.is_open or not self.socks:
            raise OrderRefusedError("order-without-connection", {})
        if not self.is_stream:
            if not self._is_used:  # no job reads yet
                self._is_used = True
                self._drop(self.socks[0], lambda data: data == self.tickets[0])  # one sent again
                self.socks[0].setblocking(True)
            return [self.socks[0].dup()]
        socks, self.socks = self.socks, []
        return socks

    def close(self) -> None:
        """Close the line."""
        if self.is_stream and not self.is_open:
            self._door.forget(self.tickets)
        for sock in self.socks:
            sock.close()

    def _prepare(self, sock: socket.socket) -> None:
        sock.setblocking(True)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._set_buffers(sock)
        if (name := self._order["congestion_control"]) and hasattr(socket, "TCP_CONGESTION"):
            with suppress(OSError):  # what was granted is reported
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())

    def _set_buffers(self, sock: socket.socket) -> None:
        if buffer_bytes := self._order["buffer_bytes"]:
            helper.request_buffers(sock, buffer_bytes)

    def _bound(self) -> socket.socket:
        listener = self._door.listener
        with helper.kept(socket.socket(listener.family, socket.SOCK_DGRAM)) as sock:
            shares = sys.platform == "linux"  # elsewhere another program could take the port
            if shares:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if listener.family == socket.AF_INET6:  # both versions of IP, or this one alone
                both = socket.IPPROTO_IPV6, socket.IPV6_V6ONLY
                sock.setsockopt(*both, listener.getsockopt(*both))
            self._set_buffers(sock)
            host, _, *zone = listener.getsockname()
            try:
                sock.bind(listener.getsockname())
            except OSError:  # another line has the port
                if shares:
                    raise
                sock.bind((host, 0, *zone))
            sock.setblocking(False)
            return sock

    def _has_client(self, sock: socket.socket) -> bool:
        with suppress(OSError):
            while True:
                said, address = sock.recvfrom(TICKET_BYTES + 1)
                if said == self.tickets[0] and address[0] == self._host:
                    if self.is_of_one_port:
                        sock.connect(address)
                    self._drop(sock, lambda _: True)  # what strangers sent before
                    sock.setblocking(True)
                    return True
        return False

    @staticmethod
    def _drop(sock: socket.socket, is_dropped: Callable[[bytes], bool]) -> None:
        """Drop the datagrams that wait, up to the first that is to be kept."""
        sock.setblocking(False)
        with suppress(OSError):
            while is_dropped(sock.recv(TICKET_BYTES + 1, socket.MSG_PEEK)):
                sock.recv(TICKET_BYTES + 1)


def turn_away(door: Door) -> None:
    """Tell clients that come while another is served that the peer is busy."""
    while door.proved:
        client, _ = door.proved.popleft()
        with suppress(OSError):
            client.send({"refusal": "peer-busy"})
        client.close()


class Run:
    """A client, from its welcome until it closes."""

    def __init__(
        self,
        client: channel.Channel,
        host: str,
        door: Door,
        limits: PeerLimits,
        is_over: Callable[[], bool],
    ) -> None:
        self._client, self._host, self._door, self._limits = client, host, door, limits
        self._is_over = is_over
        self._lines: dict[int, Line] = {}
        self._jobs: dict[int, Job] = {}
        self._carried_bytes = 0  # of jobs that have ended
        self._pace = Pace(limits.rate_bps) if limits.rate_bps < float("inf") else None
        self._begin_s = self._reported_s = time.monotonic()
        self._bell, self._rung = socket.socketpair()
        for end in (self._bell, self._rung):
            end.setblocking(False)
        self.order_count = 0
        self._has_more = False  # orders that wait to be read
        self._guest_number = -1  # the job of transactions
        self.refusal: tuple[str, dict[str, Any]] | None = None
        """Why the peer ended the run; None if the client did."""

    @property
    def carried_bytes(self) -> int:
        """Bytes of the run, both directions. [byte]"""
        return self._carried_bytes + sum(job.carried_bytes for job in list(self._jobs.values()))

    def serve(self) -> None:
        """Do the orders of the client until it closes."""
        channel.keep_alive(self._client.sock)
        # The welcome follows the proof, whose acknowledgement the client may delay by 40 ms.
        self._client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._client.send({"welcome": machine(), "limits": asdict(self._limits)})
            while self._step():
                pass
        except OrderRefusedError as error:
            code, values = error.args
            self._refuse(code, **values)
        except RunOver as error:
            self._refuse(error.args[0])
        finally:
            self._end()

    def _step(self) -> bool:
        """Wait for what comes next, and do it; return False once the client has closed."""
        datagram = [line.socks[0] for line in self._lines.values()
                    if not line.is_open and not line.is_stream]  # fmt: skip
        wait_s = REPORT_S if self._jobs or self._lines else 1.0
        if not self._client.flush():
            wait_s = FLUSH_S
        self._door.step(0.0 if self._has_more else wait_s, self._client.sock, self._rung, *datagram)
        with suppress(OSError):
            self._rung.recv(64)
        turn_away(self._door)
        self._has_more = False
        for _ in range(ORDERS_AT_ONCE):
            if (message := self._client.receive()) is None:
                break
            name, number, order = checked(message)
            self.order_count += 1
            if name == "close":
                return False
            self._do(name, number, order)
        else:
            self._has_more = True
        self._open_lines()
        self._report()
        return True

    def _do(self, name: str, number: int, order: dict[str, Any]) -> None:
        if name == "clock":
            self._client.send({"id": number, "now_ns": time.perf_counter_ns()})
        elif name == "end":
            if (job := self._jobs.get(order.pop("job"))) is not None:
                job.end = {**order, "now": bool(order["now"])}
                if order["now"]:
                    job.stop()
        elif number in self._lines or number in self._jobs:
            raise OrderRefusedError("order-out-of-range", {"field": "id"})
        elif name == "open":
            self._open(number, order)
        else:
            self._start(name, number, order)

    def _open(self, number: int, order: dict[str, Any]) -> None:
        for idle in self._idle_lines():  # the client's next socket may have the port of the last
            self._lines.pop(idle.number).close()
        if not self._has_room(order["count"]):
            raise OrderRefusedError("peer-limit-connections", {})
        if order["protocol"] == "udp" and order["count"] != 1:
            raise OrderRefusedError("order-out-of-range", {"field": "count"})
        try:
            line = self._lines[number] = Line(self._door, number, order, self._host)
        except OSError as error:
            failed = {"failure": "data-socket-refused", "reason": error.strerror or str(error)}
            self._client.send({"id": number, **failed})
            return
        answer = {"id": number, "tickets": [ticket.hex() for ticket in line.tickets]}
        if not line.is_stream:
            answer["port"] = line.socks[0].getsockname()[1]
        self._client.send(answer)

    def _has_room(self, count: int) -> bool:
        lines, jobs = self._lines.values(), self._jobs.values()
        taken = sum(line.count for line in lines) + sum(job.connection_count for job in jobs)
        return len(self._lines) < MAX_AT_ONCE and count + taken <= self._limits.connections

    def _idle_lines(self) -> list[Line]:
        """Return the lines of datagrams on which no job is at work."""
        busy = [job.order.get("session") for job in self._jobs.values()]
        lines = [line for line in self._lines.values() if line.is_open and not line.is_stream]
        return [line for line in lines if line.session not in busy]

    def _open_lines(self) -> None:
        for line in list(self._lines.values()):
            if line.advance():
                granted = helper.granted(line.socks[0])
                self._client.send({"id": line.number, "opened": granted})
            elif not line.is_open and time.monotonic() > line.end_s:
                line.close()
                del self._lines[line.number]
                way = "connection" if line.is_stream else "datagram"
                self._client.send({"id": line.number, "failure": f"data-{way}-missing"})

    def _start(self, name: str, number: int, order: dict[str, Any]) -> None:
        if len(self._jobs) >= MAX_AT_ONCE:
            raise OrderRefusedError("peer-limit-connections", {})
        counts: Any
        socks: list[socket.socket] = []
        if name == "transactions":
            session = os.urandom(responder.TAG_BYTES)
            self._dismiss()
            self._guest_number = number
            guest = self._door.guest = Guest(
                self._host, session, is_secure=bool(order["tls"]), most=self._limits.connections
            )
            work = far_echo.answer_transactions(guest.arrivals)
            order["session"] = session
            self._fast_open(order["fast_open"])
            counts = far_echo.AnswerCounts()
            self._client.send({"id": number, "session": session.hex()})
        elif name in _OF_ITSELF:
            work, counts = _OF_ITSELF[name], bulk_peer.ByteCounts()
        else:
            line = self._lines.get(order.pop("line"))
            if line is None:
                raise OrderRefusedError("order-without-connection", {})
            if not line.is_stream and not line.is_of_one_port and name != "echo":
                raise OrderRefusedError("order-without-connection", {})
            work = self._work(name, line)
            counts = _COUNTS.get(name, bulk_peer.ByteCounts)()
            order |= {"session": line.session, "host": self._host}
            order["one_port"] = line.is_of_one_port
            socks = line.socks_of_job()
            if line.is_stream:
                del self._lines[line.number]
        left_bytes = max(0, int(self._limits.carried_bytes - self.carried_bytes))
        order["most_bytes"] = left_bytes
        order["look_bytes"] = credit_bytes(self._limits.rate_bps)
        if name == "send":
            most = left_bytes // order["write_bytes"] + 1  # with it the limit is passed, and told
            order["write_count"] = min(order["write_count"], most)
            is_stream = socks[0].type == socket.SOCK_STREAM
            even_out(order, self._limits.rate_bps, is_stream=is_stream)
        self._jobs[number] = Job(work, socks, order, counts, pace=self._pace,
                                 spent=self._is_spent, ended=self._ring)  # fmt: skip

    @staticmethod
    def _work(name: str, line: Line) -> Callable[..., dict[str, Any]]:
        if name == "echo":
            return far_echo.echo_stream if line.is_stream else far_echo.echo_datagrams
        return _WORKS[name]

    def _fast_open(self, wanted: int) -> None:
        """Let the listener take data with a SYN, where the system has that."""
        if hasattr(socket, "TCP_FASTOPEN"):
            with suppress(OSError):
                queue = FAST_OPEN_QUEUE * bool(wanted)
                self._door.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, queue)

    def _ring(self) -> None:
        with suppress(OSError):
            self._bell.send(b"\0")

    def _report(self) -> None:
        """Send the reports of jobs that have ended, and progress; check the limits."""
        for number, job in list(self._jobs.items()):
            if job.report is not None:
                del self._jobs[number]
                if number == self._guest_number:
                    self._dismiss()
                self._carried_bytes += job.carried_bytes
                self._client.send({"id": number, **job.untold(job.report)})
        now_s = time.monotonic()
        code = self._reached(now_s)
        if now_s - self._reported_s >= REPORT_S or code:
            self._reported_s = now_s
            if self._client.flush():  # else the next report has more
                at_ns = time.perf_counter_ns()
                for number, job in self._jobs.items():
                    progress = job.untold(vars(job.counts))
                    self._client.send({"id": number, "so_far": True, "at_ns": at_ns, **progress})
        if code:
            raise RunOver(code)

    def _reached(self, now_s: float) -> str:
        """Return the code of the limit that the run has reached; empty before."""
        if self._is_over():
            return "peer-ends"
        if now_s - self._begin_s > self._limits.duration_s:
            return "peer-limit-duration"
        return "peer-limit-bytes" if self._is_spent() else ""

    def _is_spent(self) -> bool:
        return self.carried_bytes > self._limits.carried_bytes

    def _dismiss(self) -> None:
        """Take no more transactions."""
        if (guest := self._door.guest) is not None:
            while not guest.arrivals.empty():
                guest.arrivals.get().close()
            self._door.guest = None
            self._fast_open(0)

    def _refuse(self, code: str, **values: Any) -> None:
        self.refusal = code, values
        with suppress(OSError):
            self._client.send({"refusal": code, **values})

    def _end(self) -> None:
        """End the jobs, and close what is open."""
        for job in self._jobs.values():
            job.stop()
        for job in self._jobs.values():
            job.join(END_S)
        for line in self._lines.values():
            line.close()
        self._dismiss()
        self._bell.close()
        self._rung.close()


_COUNTS: Mapping[str, type[bulk_peer.ByteCounts | far_echo.AnswerCounts]] = {
    "echo": far_echo.AnswerCounts, "rounds": far_echo.AnswerCounts, "flows": far_flows.FlowCounts,
    "write_rounds": far_writes.RoundCounts,
}  # fmt: skip
_WORKS: Mapping[str, Callable[..., dict[str, Any]]] = {
    **bulk_peer.WORKS, "rounds": far_echo.answer_rounds,
    "flows": far_flows.receive_flows,
    "catch_train": far_trains.catch_train, "send_train": far_trains.send_train,
    "write_rounds": far_writes.write_rounds,
}  # fmt: skip


_OF_ITSELF: Mapping[str, Callable[..., dict[str, Any]]] = {
    "own_error": far_costs.own_error, "own_rates": far_costs.own_rates,
}  # fmt: skip


def machine() -> dict[str, Any]:
    """Return what a client records of this machine, never its name."""
    return {
        "host": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(), "cpu_count": os.cpu_count() or 0,
        "lacks": abilities.lacks(),
    }  # fmt: skip


class Service:
    """A peer, from its start to its end.

    Parameters
    ----------
    listener : socket.socket
        Bound to the address that its user chose, and listening.
    limits : PeerLimits
        What each run may take.
    end_s : float
        When it ends by itself, by the monotonic clock. [s]
    log : callable
        Told what happens.
    """

    def __init__(
        self, listener: socket.socket, limits: PeerLimits, *, end_s: float, log: Log
    ) -> None:
        self.token = channel.new_token()
        secret = channel.secret_of(self.token)
        assert secret is not None
        self._door = Door(listener, secret, log)
        self._limits, self._end_s, self._log = limits, end_s, log
        self._owner = ""  # the host that proved the token first
        self._run_count = self._carried_bytes = 0

    def end(self) -> None:
        """End within a second, from another thread, a run within as well."""
        self._end_s = 0.0

    def run(self) -> None:
        """Serve until the end."""
        try:
            while (left_s := self._end_s - time.monotonic()) > 0:
                waits_s = (left_s, IDLE_S, self._door.patience_s or IDLE_S)
                self._door.step(min(waits_s))
                if self._door.proved:
                    client, host = self._door.proved.popleft()
                    try:
                        self._serve(client, host)
                    except Exception as error:  # a fault here is the run's, not the peer's end
                        reason = f"{type(error).__name__}: {error}"
                        self._log("peer-run-failed", host=host, reason=reason)
        finally:
            self._log(
                "peer-service-ended", run_count=self._run_count,
                carried_bytes=self._carried_bytes, **self._door.counts,
            )  # fmt: skip
            self._door.close()

    def _is_over(self) -> bool:
        return time.monotonic() > self._end_s

    def _serve(self, client: channel.Channel, host: str) -> None:
        self._owner = self._owner or host
        try:
            if host != self._owner:
                self._log("peer-token-elsewhere", host=host)
                with suppress(OSError):
                    client.send({"refusal": "peer-token-elsewhere"})
                return
            self._log("peer-run-begins", host=host)
            run = Run(client, host, self._door, self._limits, self._is_over)
            begin_s = time.monotonic()
            try:
                run.serve()
            except OSError:
                self._log("peer-client-gone", host=host)
            finally:
                if run.refusal is not None:
                    self._log(run.refusal[0], host=host, **run.refusal[1])
                self._run_count += 1
                self._carried_bytes += run.carried_bytes
                self._log(
                    "peer-run-ends", host=host, count=run.order_count,
                    carried_bytes=run.carried_bytes, took_s=time.monotonic() - begin_s,
                )  # fmt: skip
        finally:
            client.close()
