"""The two ends of a bulk transfer: a program that sends and one that receives.

Started by :mod:`netcalc.experiments.peers.process` with the standard library only. It takes orders
from its control socket, each with the sockets to work on:

``send``
    Write ``write_count`` times ``write_bytes``, or until the time limit.
``receive``
    Read to the end of the stream; datagrams until the order ``end`` gives the number sent and they
    have arrived, or none arrives any more.
``request``
    On each of several connections write, wait for the response, and write again.
``respond``
    The other end of that: answer each complete message.

The order ``end`` with ``now`` ends any of them. Each is answered by one report at its end, and by
at most ten a second before it, with the counts so far.
"""

from __future__ import annotations

import array
import errno
import json
import select
import selectors
import socket
import struct
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import repeat
from typing import Any, Self

from netcalc.experiments.peers.helper import (
    ENDLESS_BYTES,
    Orders,
    read_settings,
    start,
    system_error,
    timed_receive,
)
from netcalc.experiments.peers.job import reduce_timer_slack, report_of

UDP_SEGMENT, UDP_GRO = 103, 104
"""Options of a UDP socket, not in Python's: several datagrams in one call, out and in (Linux)."""
LOOK_NS = 20_000_000
"""Time between two checks for an order: a stop must take effect within a second, at the cost of one
system call each. [ns]"""
IN_FLIGHT_NS = 1_000_000
"""Time between two samples of the data in flight: fine enough for a path of some ms, at one system
call each. [ns]"""
NAP_S = 2e-5
"""First sleep of a receiver without datagrams. A blocking receive would make the sender wake it for
each datagram, which slows the sender; a longer sleep would overflow a small socket buffer. [s]"""
_LONGEST_NAP_S = 1e-3  # an idle receiver checks a thousand times a second, and takes no CPU share
BURST_NS = 1_000_000
"""Time of the datagrams that are sent at once at a rate: less than most queues hold. [ns]"""
_MAX_CALLS = 4096  # of send between two readings of the clock
_U64, _U64_U64 = struct.Struct("=Q"), struct.Struct("=QQ")
_BYTES_ACKED, _BYTES_SENT, _INFO_BYTES = 120, 200, 216  # offsets in Linux's struct tcp_info
_SO_MEMINFO, _MEMINFO = 55, struct.Struct("9I")  # the last is the drop count
_clock = time.perf_counter_ns
Order = dict[str, Any]
"""An order or a report."""
Socks = list[socket.socket]


class ByteCounts:
    """The bytes sent and received so far in the current transfer, and those of responses."""

    def __init__(self) -> None:
        self.sent_bytes = self.received_bytes = self.reply_bytes = 0


def main() -> int:
    """Serve one run; return the exit code."""
    settings = read_settings()
    counts = ByteCounts()
    orders = Orders(socket.socket(fileno=settings["fd"]), counts)
    start(settings, {"timer_slack_s": reduce_timer_slack()}, counts)
    while received := orders.next():
        order, descriptors = received
        if order["do"] == "end":
            continue  # the order before had already ended by itself
        socks = [socket.socket(fileno=descriptor) for descriptor in descriptors]
        orders.begin()
        report = report_of(WORKS[order["do"]], socks, order, orders, counts)
        for sock in socks:
            sock.close()
        orders.control.send(json.dumps(report).encode())
    return 0


def send(socks: Socks, order: Order, orders: Orders, counts: ByteCounts) -> Order:
    """Write until the count or the time limit; then close the stream.

    With a ``gap_ns`` a call is made so long after the one before on average, as few at once as a
    sleep allows. On a stream a call may write less than a write of the order: ``call_bytes``.
    """
    (sock,) = socks
    size, together = order["write_bytes"], order["datagrams_per_call"]
    gap_ns, most_calls = order["gap_ns"], _MAX_CALLS
    if gap_ns:
        most_calls = max(1, BURST_NS // gap_ns)
    if together > 1:
        sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, size)
    payload = memoryview(bytes(order.get("call_bytes", size * together)))
    left = order["write_count"] * size
    calls, window_bytes, sampled_ns = 1, 0, 0
    stream = sock.type == socket.SOCK_STREAM
    if sys.platform == "win32":  # nothing else wakes a call that waits there
        sock.settimeout(LOOK_NS * 1e-9)
    begin_ns = now_ns = _clock()
    limit_ns = begin_ns + int(order["limit_s"] * 1e9)
    while left and now_ns < limit_ns and not orders.look(now_ns):
        calls = max(1, min(calls, left // len(payload)))
        done: list[int] = []
        try:
            # The loop runs inside the interpreter; after an error the list has what was sent.
            done.extend(map(sock.send, repeat(payload[:left], calls)))
        except OSError as error:
            if not _is_busy(error, stream):
                raise
        finally:
            counts.sent_bytes += sum(done)
        left -= sum(done)
        before_ns, now_ns = now_ns, _clock()
        if gap_ns:
            due_ns = min(limit_ns, begin_ns + counts.sent_bytes // len(payload) * gap_ns)
            while now_ns < due_ns and not orders.look(now_ns):
                time.sleep(min(due_ns - now_ns, LOOK_NS) * 1e-9)
                now_ns = _clock()
        if now_ns - before_ns < LOOK_NS // 8:
            calls = min(2 * calls, most_calls)
        elif now_ns - before_ns > LOOK_NS:
            calls = max(calls // 4, 1)
        if stream and now_ns > sampled_ns:
            window_bytes = max(window_bytes, in_flight_bytes(sock))
            sampled_ns = now_ns + IN_FLIGHT_NS
    report = {"begin_ns": begin_ns, "end_ns": now_ns}
    if stream:
        report["window_bytes"] = max(window_bytes, in_flight_bytes(sock))
        sock.shutdown(socket.SHUT_WR)
    return report


def _is_busy(error: OSError, stream: bool) -> bool:
    """Return whether a call has only to be made again, after some rest."""
    if not stream and error.errno == errno.ENOBUFS:  # a full interface, for which BSD does not wait
        time.sleep(NAP_S)
        return True
    return isinstance(error, TimeoutError) and error.errno is None  # Python's


def in_flight_bytes(sock: socket.socket) -> int:
    """Return the unacknowledged bytes of a connection; 0 where the kernel does not count them."""
    try:
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
        (acknowledged,) = _U64.unpack_from(info, _BYTES_ACKED)
        sent, again = _U64_U64.unpack_from(info, _BYTES_SENT)
    except (OSError, AttributeError, struct.error):  # another system, or a kernel before 4.19
        return 0
    return max(0, int(sent - again - acknowledged + (acknowledged > 0)))  # the SYN counts as one


def receive(socks: Socks, order: Order, orders: Orders, counts: ByteCounts) -> Order:
    """Read to the end; report when the first and the last bytes arrived."""
    (sock,) = socks
    if sock.type == socket.SOCK_STREAM:
        return receive_stream(sock, order, orders, counts)
    return receive_datagrams(sock, order, orders, counts)


def _bounds(order: Order) -> tuple[int, int]:
    """Return how much may be carried, and after how much a limit of rate is to be looked at."""
    return order.get("most_bytes", ENDLESS_BYTES), order.get("look_bytes", ENDLESS_BYTES)


def receive_stream(sock: socket.socket, order: Order, orders: Orders, counts: ByteCounts) -> Order:
    """Read a stream to its end."""
    if order["wake_bytes"] > 1:  # the time limit of a call and the end of the stream wake, too
        with suppress(OSError):  # Windows has none
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, order["wake_bytes"])
    most_bytes, look_bytes = _bounds(order)
    buffer = bytearray(min(order["read_bytes"], look_bytes))
    recv_into, first_ns, last_ns, look_ns = timed_receive(sock, LOOK_NS * 1e-9), 0, 0, 0
    calls, look_at_bytes = 0, look_bytes
    while True:
        try:
            got = recv_into(buffer)
            now_ns = _clock()
        except BlockingIOError:
            got, now_ns = -1, _clock()
        if got == 0:
            break
        if got > 0:
            counts.received_bytes += got
            calls += 1
            first_ns, last_ns = first_ns or now_ns, now_ns
            if counts.received_bytes > most_bytes:
                break
        if now_ns > look_ns or counts.received_bytes >= look_at_bytes:
            look_ns, look_at_bytes = now_ns + LOOK_NS, counts.received_bytes + look_bytes
            if orders.look(now_ns):
                break
    return {"first_ns": first_ns, "end_ns": last_ns or _clock(), "calls": calls}


def receive_datagrams(
    sock: socket.socket, order: Order, orders: Orders, counts: ByteCounts
) -> Order:
    """Read datagrams until all that were sent have arrived, or none arrives any more."""
    if order["merged"]:
        with suppress(OSError):  # another system gives them one by one
            sock.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 1)
    buffer = bytearray(65_536)
    receive_one = partial(timed_receive(sock, _LONGEST_NAP_S), buffer)
    if hasattr(socket, "MSG_DONTWAIT"):  # another thread may send on the socket, and wait
        receive_one = partial(sock.recv_into, buffer, 0, socket.MSG_DONTWAIT)
    size, wrong, (most_bytes, look_bytes) = order["write_bytes"], 0, _bounds(order)
    first_ns = last_ns = announced_ns = look_ns = look_at_bytes = 0
    calls, nap_s = 0, NAP_S
    while True:
        try:
            got = receive_one()
            now_ns = _clock()
        except BlockingIOError:
            got, now_ns = -1, _clock()
        if got >= 0:
            calls += 1
            wrong += got % size != 0
            counts.received_bytes += got
            first_ns, last_ns, nap_s = first_ns or now_ns, now_ns, NAP_S
            if now_ns < look_ns and counts.received_bytes < look_at_bytes:
                continue
        look_ns = now_ns + LOOK_NS
        look_at_bytes = min(counts.received_bytes + look_bytes, most_bytes + 1)
        if orders.look(now_ns) or counts.received_bytes > most_bytes:
            break
        if orders.end is not None:
            announced_ns = announced_ns or now_ns
            if counts.received_bytes >= orders.end["sent_bytes"]:
                break
            quiet_s = (now_ns - max(last_ns, announced_ns)) * 1e-9
            if quiet_s > orders.end["linger_s"]:
                break
            if (now_ns - announced_ns) * 1e-9 > orders.end["drain_s"] + orders.end["linger_s"]:
                break
        if got < 0:
            time.sleep(nap_s)
            nap_s = min(1.2 * nap_s, _LONGEST_NAP_S)
    return {
        "first_ns": first_ns,
        "end_ns": last_ns or _clock(),
        "calls": calls,
        "damaged_count": wrong,
        **socket_drops(sock),
    }


def socket_drops(sock: socket.socket) -> Order:
    """Return the datagrams that a socket dropped, where the system counts them (Linux)."""
    try:
        info = sock.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size)
        return {"socket_drop_count": _MEMINFO.unpack(info)[-1]}
    except (OSError, struct.error):
        return {}


class _Selected:
    """Waits for data on sockets as ``epoll`` does, on systems that have none."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self.register, self.unregister = self._selector.register, self._selector.unregister

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()

    def poll(self, wait_s: float) -> list[tuple[int, int]]:
        """Wait; return the descriptors with data."""
        return [(key.fd, events) for key, events in self._selector.select(wait_s)]


_poller: Any = getattr(select, "epoll", _Selected)  # on Linux it takes a fifth of the time


def request(socks: Socks, order: Order, orders: Orders, counts: ByteCounts) -> Order:
    """On each connection write, wait for the response, write again, until the time limit."""
    payload, answer = bytes(order["write_bytes"]), int(order["reply_bytes"])
    buffer = bytearray(answer)
    by_number = {sock.fileno(): sock for sock in socks}
    missing = dict.fromkeys(by_number, answer)
    times, (most_bytes, look_bytes) = array.array("q"), _bounds(order)
    with _poller() as poll:
        for sock in socks:
            poll.register(sock, selectors.EVENT_READ)
        begin_ns = _clock()
        limit_ns = begin_ns + int(order["limit_s"] * 1e9)
        sent_ns = {}
        for number, sock in by_number.items():
            sent_ns[number] = _clock()
            sock.sendall(payload)
            counts.sent_bytes += len(payload)
        now_ns, look_ns, answered_ns = begin_ns, begin_ns + LOOK_NS, 0
        unlooked_bytes = 0
        while (
            now_ns < limit_ns
            and counts.sent_bytes < order["limit_bytes"]
            and counts.received_bytes + counts.reply_bytes <= most_bytes
        ):
            for number, _ in poll.poll(LOOK_NS * 1e-9):
                sock = by_number[number]
                got = sock.recv_into(buffer, missing[number])
                if got == 0:
                    raise system_error(errno.ECONNRESET)
                missing[number] -= got
                if missing[number]:
                    continue
                now_ns = answered_ns = _clock()
                times.append(now_ns - sent_ns[number])
                # Its response is here, so the other end has it.
                counts.received_bytes += len(payload)
                counts.reply_bytes += answer
                missing[number], sent_ns[number] = answer, now_ns
                sock.sendall(payload)
                counts.sent_bytes += len(payload)
                unlooked_bytes += len(payload) + answer
                if unlooked_bytes >= look_bytes:
                    break  # the others are ready again at the next call
            now_ns = _clock()
            if now_ns > look_ns or unlooked_bytes >= look_bytes:
                look_ns, unlooked_bytes = now_ns + LOOK_NS, 0
                if orders.look(now_ns):
                    break
    ordered = sorted(times)
    median_ns = ordered[len(ordered) // 2] if ordered else None
    return {
        "begin_ns": begin_ns, "end_ns": now_ns, "answered_ns": answered_ns or now_ns,
        "cycle_ns": median_ns, "calls": len(times),
    }  # fmt: skip


def respond(socks: Socks, order: Order, orders: Orders, counts: ByteCounts) -> Order:
    """Answer each complete message on each connection, until the order to end."""
    size, answer = int(order["write_bytes"]), bytes(order["reply_bytes"])
    buffer = bytearray(max(size, 65_536))
    by_number = {sock.fileno(): sock for sock in socks}
    missing = dict.fromkeys(by_number, size)
    calls, look_ns, unlooked_bytes, (most_bytes, look_bytes) = 0, 0, 0, _bounds(order)
    with _poller() as poll:
        for sock in socks:
            poll.register(sock, selectors.EVENT_READ)
        while by_number and counts.received_bytes + counts.reply_bytes <= most_bytes:
            for number, _ in poll.poll(LOOK_NS * 1e-9):
                sock = by_number[number]
                try:
                    got = sock.recv_into(buffer, min(missing[number], look_bytes))
                    missing[number] -= got
                    if got and not missing[number]:
                        sock.sendall(answer)
                except ConnectionError:  # it closed with responses in transit
                    got = 0
                if not got:
                    poll.unregister(sock)
                    del by_number[number]
                    continue
                counts.received_bytes += got
                unlooked_bytes += got
                if not missing[number]:
                    missing[number] = size
                    counts.reply_bytes += len(answer)
                    unlooked_bytes += len(answer)
                    calls += 1
                if unlooked_bytes >= look_bytes:
                    break  # the others are ready again at the next call
            if (now_ns := _clock()) > look_ns or unlooked_bytes >= look_bytes:
                look_ns, unlooked_bytes = now_ns + LOOK_NS, 0
                if orders.look(now_ns):
                    break
    return {"calls": calls}


WORKS: Mapping[str, Callable[..., Order]] = {
    "send": send, "receive": receive, "request": request, "respond": respond,
}  # fmt: skip
