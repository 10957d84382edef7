"""The peer of a second machine: serves one run at a time to who has proved the token.

Its program needs the standard library only. All connections go from the client to its one port:
one with orders and reports (:mod:`netcalc.experiments.peers.channel`), and those of the data, which
begin with a ticket. An order names what to do, its sizes and counts, all within the limits of the
peer's own user: never an address, a command, a path or a file.
"""

from __future__ import annotations

import errno
import os
import platform
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from netcalc.experiments.peers import bulk_peer, channel, helper, responder
from netcalc.experiments.peers.door import TICKET_BYTES, Door, Log

OPEN_S = 10.0
"""Time for the data connections of an order to arrive: a lost SYN is sent again. [s]"""
GONE_S = (1, 1, 3)
"""A client that is gone is noticed by TCP's keep-alive: idle and between probes [s], and probes."""
REPORT_NS = 100_000_000
"""Time between two reports of progress. [ns]"""
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
    """The client is gone, or the run has reached a limit."""


_SIZE: WHOLE = (0, 1 << 24)
_FIELDS: Mapping[str, Mapping[str, WHOLE | tuple[str, ...]]] = {
    "clock": {},
    "open": {
        "protocol": ("tcp", "udp"), "count": (1, 4096), "buffer_bytes": (0, 1 << 30),
        "is_receiver": (0, 1),
    },
    "send": {
        "write_bytes": (1, 1 << 24), "write_count": (1, 1 << 40), "datagrams_per_call": (1, 64),
        "limit_ms": (1, 600_000), "reply_bytes": _SIZE,
    },
    "receive": {
        "write_bytes": (1, 1 << 24), "read_bytes": (1, 1 << 24), "wake_bytes": (1, 1 << 20),
        "merged": (0, 1), "reply_bytes": _SIZE,
    },
    "request": {
        "write_bytes": (1, 1 << 24), "reply_bytes": (1, 1 << 24), "limit_ms": (1, 600_000),
        "limit_bytes": (1, 1 << 40),
    },
    "respond": {"write_bytes": (1, 1 << 24), "reply_bytes": (1, 1 << 24)},
    "close": {},
}  # fmt: skip
"""Each order and its fields: the least and the largest number, or the words allowed."""


def checked(message: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name of an order and its fields.

    Raises
    ------
    OrderRefusedError
        If it is no order, a field is missing, or beyond its range, or there are others.
    """
    name = message.get("do")
    fields = _FIELDS.get(name) if isinstance(name, str) else None
    if name is None or fields is None:
        raise OrderRefusedError("order-unknown", {})
    others = message.keys() - fields.keys() - {"do"}
    if others:
        raise OrderRefusedError("order-field-unknown", {})
    values = {}
    for field, allowed in fields.items():
        value = message.get(field)
        if isinstance(allowed[0], str):
            is_right = value in allowed
        else:
            is_right = type(value) is int and allowed[0] <= value <= allowed[1]  # type: ignore[operator]
        if not is_right:
            raise OrderRefusedError("order-out-of-range", {"field": field})
        values[field] = value
    return name, values


class RunOrders:
    """What a program of a run looks at while it works: orders, limits, and who else comes.

    It stands for :class:`netcalc.experiments.peers.helper.Orders`, whose control socket is of this
    machine.

    Parameters
    ----------
    client : channel.Channel
        Of the run.
    door : Door
        Where others come meanwhile.
    limits : PeerLimits
        What the run may take.
    """

    def __init__(self, client: channel.Channel, door: Door, limits: PeerLimits) -> None:
        self._client, self._door, self._limits = client, door, limits
        self.counts: Any = bulk_peer.ByteCounts()
        self.end: dict[str, Any] | None = None
        self._begin_s = time.monotonic()
        self._reported_ns = 0
        self.carried_bytes = 0

    def begin(self) -> None:
        """Begin an order: count from 0."""
        self.carried_bytes += sum(vars(self.counts).values())
        self.counts, self.end = bulk_peer.ByteCounts(), None

    def look(self, now_ns: int) -> bool:
        """Report progress; return True if the present order is to end at once."""
        self.require_within()
        self._door.step(0.0)
        turn_away(self._door)
        if now_ns - self._reported_ns > REPORT_NS:
            self._reported_ns = now_ns
            if self._client.flush():  # else the next report has more
                self._client.send({"so_far": True, "at_ns": now_ns, **vars(self.counts)})
        if (message := self._client.receive()) is not None:
            self.end = message
        return self.end is not None and bool(self.end.get("now", True))

    def require_within(self) -> None:
        """End the run at a limit of its time or bytes."""
        if time.monotonic() - self._begin_s > self._limits.duration_s:
            raise RunOver("peer-limit-duration")
        if self.carried_bytes + sum(vars(self.counts).values()) > self._limits.carried_bytes:
            raise RunOver("peer-limit-bytes")

    def next(self) -> dict[str, Any]:
        """Wait for an order."""
        while (message := self._client.receive()) is None:
            self.require_within()
            self._door.step(0.2, self._client.sock)
            turn_away(self._door)
            self._client.flush()
        return message


def turn_away(door: Door) -> None:
    """Tell clients that come while another is served that the peer is busy."""
    while door.proved:
        client, _ = door.proved.popleft()
        with suppress(OSError):
            client.send({"refused": "peer-busy"})
        client.close()


class Run:
    """One client, from its welcome until it closes."""

    def __init__(
        self, client: channel.Channel, host: str, door: Door, limits: PeerLimits, port: int
    ) -> None:
        self._client, self._host, self._door, self._limits = client, host, door, limits
        self._port = port
        self._orders = RunOrders(client, door, limits)
        self._socks: list[socket.socket] = []
        self.order_count = 0

    @property
    def carried_bytes(self) -> int:
        """Bytes of the run, both directions. [byte]"""
        return self._orders.carried_bytes + sum(vars(self._orders.counts).values())

    def serve(self) -> None:
        """Do the orders of the client until it closes."""
        keep_alive(self._client.sock)
        self._client.send({"welcome": machine(), "limits": _plain(self._limits)})
        try:
            while True:
                name, order = checked(self._orders.next())
                self.order_count += 1
                if name == "close":
                    return
                self._client.send(self._answer(name, order))
        except OrderRefusedError as error:
            code, values = error.args
            with suppress(OSError):
                self._client.send({"refused": code, **values})
        except RunOver as error:
            with suppress(OSError):
                self._client.send({"refused": error.args[0]})
        finally:
            self._close_data()

    def _answer(self, name: str, order: dict[str, Any]) -> dict[str, Any]:
        if name == "clock":
            return {"now_ns": time.perf_counter_ns()}
        if name == "open":
            return self._open(order)
        return self._work(name, order)

    def _work(self, name: str, order: dict[str, Any]) -> dict[str, Any]:
        """Send, receive, request or respond on the open connections; return the report."""
        if not self._socks:
            raise OrderRefusedError("order-without-connection", {})
        work = _WORKS[name]
        if "limit_ms" in order:
            order["limit_s"] = order.pop("limit_ms") * 1e-3
        self._orders.begin()
        used = os.times()
        report: dict[str, Any] = {"begin_ns": time.perf_counter_ns()}
        try:
            report |= work(self._socks, order, self._orders, self._orders.counts)  # type: ignore[arg-type]
        except channel.BrokenChannel:
            raise
        except OSError as error:
            report |= {"error": error.errno, "text": error.strerror or str(error)}
        except MemoryError:
            report |= {"error": errno.ENOMEM, "text": os.strerror(errno.ENOMEM)}
        report.setdefault("end_ns", time.perf_counter_ns())
        after = os.times()
        self._close_data()
        times = {"user_s": after.user - used.user, "system_s": after.system - used.system}
        return {**report, **vars(self._orders.counts), **times, "wait_count": 0}

    def _close_data(self) -> None:
        self._door.forget_tickets()
        for sock in self._socks:
            sock.close()
        self._socks = []

    def _open(self, order: dict[str, Any]) -> dict[str, Any]:
        self._close_data()
        if order["count"] > self._limits.connections:
            raise OrderRefusedError("order-out-of-range", {"field": "count"})
        if order["protocol"] == "udp":
            self._socks = [self._open_udp(order)]
        else:
            self._socks = self._open_tcp(order)
        return {"opened": helper.granted(self._socks[0])}

    def _open_tcp(self, order: dict[str, Any]) -> list[socket.socket]:
        """Wait for the connections with the tickets that the client is told."""
        listener, option = self._door.listener, socket.SO_RCVBUF
        before = listener.getsockopt(socket.SOL_SOCKET, option)
        if order["buffer_bytes"]:  # what is accepted has it from the handshake on
            listener.setsockopt(socket.SOL_SOCKET, option, order["buffer_bytes"])
        tickets = self._door.new_tickets(order["count"])
        self._client.send({"tickets": [ticket.hex() for ticket in tickets]})
        try:
            end_s = time.monotonic() + OPEN_S
            while len(self._door.arrived()) < len(tickets):
                if time.monotonic() > end_s:
                    raise OrderRefusedError("data-connection-missing", {})
                self._orders.require_within()
                self._door.step(0.05, self._client.sock)
                turn_away(self._door)
                if self._client.receive() is not None:
                    raise OrderRefusedError("order-unknown", {})
        finally:
            if order["buffer_bytes"]:
                listener.setsockopt(socket.SOL_SOCKET, option, before // 2)
        socks = self._door.take_arrived()
        for sock in socks:
            sock.setblocking(True)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            responder.set_receive_timeout(sock, 0.02)
        return socks

    def _open_udp(self, order: dict[str, Any]) -> socket.socket:
        """Bind a socket and connect it to the client that sends the ticket."""
        with helper.kept(socket.socket(self._door.listener.family, socket.SOCK_DGRAM)) as sock:
            if order["buffer_bytes"]:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, order["buffer_bytes"])
            sock.bind((self._door.listener.getsockname()[0], self._port))
            sock.setblocking(False)
            (ticket,) = self._door.new_tickets(1)
            self._client.send({"tickets": [ticket.hex()]})
            end_s = time.monotonic() + OPEN_S
            while time.monotonic() < end_s:
                self._door.step(0.05, self._client.sock, sock)
                turn_away(self._door)
                if self._client.receive() is not None:
                    raise OrderRefusedError("order-unknown", {})
                with suppress(BlockingIOError):
                    said, address = sock.recvfrom(TICKET_BYTES + 1)
                    if said == ticket:
                        sock.connect(address)
                        sock.setblocking(True)
                        return sock
            raise OrderRefusedError("data-datagram-missing", {})


_WORKS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "send": bulk_peer.send, "receive": bulk_peer.receive,
    "request": bulk_peer.request, "respond": bulk_peer.respond,
}  # fmt: skip


def machine() -> dict[str, Any]:
    """Return what a client records of this machine."""
    return {
        "host": platform.node(), "system": platform.system(), "kernel": platform.release(),
        "python": platform.python_version(), "processors": os.cpu_count() or 0,
    }  # fmt: skip


def _plain(limits: PeerLimits) -> dict[str, float]:
    return {
        "duration_s": limits.duration_s, "carried_bytes": limits.carried_bytes,
        "rate_bps": limits.rate_bps, "connections": limits.connections,
    }  # fmt: skip


def keep_alive(sock: socket.socket) -> None:
    """Let the kernel notice within 5 s that the other machine is gone, where the system can."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in zip(("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT"), GONE_S, strict=True):
        option = getattr(socket, name, None) or getattr(socket, "TCP_KEEPALIVE", None)
        if option is not None:
            with suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, option, value)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # for what was sent and is not acknowledged
        with suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * sum(GONE_S))


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
        self._port: int = listener.getsockname()[1]
        self._owner = ""  # the host that proved the token first

    def run(self) -> None:
        """Serve until the end."""
        try:
            while (left_s := self._end_s - time.monotonic()) > 0:
                patience_s = self._door.patience_s
                self._door.step(left_s if patience_s is None else min(left_s, patience_s))
                if self._door.proved:
                    self._serve(*self._door.proved.popleft())
        finally:
            self._log("peer-ended", **self._door.counts)
            self._door.close()

    def _serve(self, client: channel.Channel, host: str) -> None:
        self._owner = self._owner or host
        try:
            if host != self._owner:
                self._log("peer-token-elsewhere", host=host)
                client.send({"refused": "peer-token-elsewhere"})
                return
            self._log("peer-run-begins", host=host)
            run = Run(client, host, self._door, self._limits, self._port)
            begin_s = time.monotonic()
            try:
                run.serve()
            except OSError:
                self._log("peer-client-gone", host=host)
            self._log(
                "peer-run-ends", host=host, count=run.order_count,
                carried_bytes=run.carried_bytes, took_s=time.monotonic() - begin_s,
            )  # fmt: skip
        finally:
            client.close()
