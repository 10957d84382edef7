"""The two ends of a bulk transfer: a program that pours and one that drains.

Started by :mod:`netcalc.experiments.peers.process` with the standard library only. It reads its
settings as one line of JSON, then takes orders from a socket of its own, each with the socket to
work on:

``pour``
    Write ``write_count`` times ``write_bytes``, or until the limit of time.
``drain``
    Read until the end of the stream; datagrams, until the order ``end`` tells how many were sent
    and they are there, or nothing comes any more.
``converse``
    On each of several connections write, wait for the answer, and write again.
``reply``
    The other end of that: answer each complete message.

The order ``end`` with ``now`` ends any of them. Each is answered by one line of what was done, and
by others before it, at most ten a second, that tell how far it is.
"""

from __future__ import annotations

import array
import errno
import json
import os
import resource
import select
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from itertools import repeat
from typing import Any

from netcalc.experiments.peers.responder import die_with_parent, end_with_input, say

UDP_SEGMENT, UDP_GRO = 103, 104
"""Options of a UDP socket: many datagrams in one call, out and in (Linux, not in Python's)."""
LOOK_NS = 20_000_000
"""How often a program looks for an order while it works. [ns]"""
TELL_NS = 100_000_000
"""How often it tells how far it is. [ns]"""
SEEN_NS = 1_000_000
"""How often a source asks the kernel how much is in flight. [ns]"""
NAP_S = 2e-5
"""How long a sink of datagrams sleeps when there is none; the sender need not wake it. [s]"""
_LONGEST_NAP_S = 1e-3
_ORDER_BYTES = 4096
_PR_SET_TIMERSLACK = 29
_U64, _U64_U64 = struct.Struct("=Q"), struct.Struct("=QQ")
_BYTES_ACKED, _BYTES_SENT, _INFO_BYTES = 120, 200, 216  # places in Linux's struct tcp_info
_clock = time.perf_counter_ns


class Counts:
    """What a program did so far in the transfer at hand."""

    def __init__(self) -> None:
        self.sent_bytes = self.received_bytes = 0


class Orders:
    """The socket on which orders come, and the end of the work at hand among them."""

    def __init__(self, control: socket.socket, counts: Counts) -> None:
        self.control, self.counts = control, counts
        self.begin()

    def begin(self) -> None:
        """Begin another work."""
        self.counts.sent_bytes = self.counts.received_bytes = 0
        self.end: dict[str, Any] | None = None
        self._told_ns = _clock()

    def next(self) -> tuple[dict[str, Any], list[int]] | None:
        """Wait for an order; None when there will be no more."""
        data, descriptors, _, _ = socket.recv_fds(self.control, _ORDER_BYTES, 64)
        return (json.loads(data), list(descriptors)) if data else None

    def look(self, now_ns: int) -> bool:
        """Return True once the work shall end at once; note an end that was told, tell how far."""
        if now_ns - self._told_ns > TELL_NS:
            self._told_ns = now_ns
            so_far = {"so_far": True, "at_ns": now_ns, **vars(self.counts)}
            with suppress(BlockingIOError):  # nobody listens: the next one tells more
                self.control.send(json.dumps(so_far).encode(), socket.MSG_DONTWAIT)
        try:
            data = self.control.recv(_ORDER_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            data = b""
        if data:
            self.end = json.loads(data)
        return self.end is not None and self.end["now"]


def main() -> int:
    """Serve one run; return the exit code."""
    settings = json.loads(sys.stdin.buffer.readline(_ORDER_BYTES))
    die_with_parent(settings["parent"])
    counts = Counts()
    orders = Orders(socket.socket(fileno=settings["fd"]), counts)
    threading.Thread(target=end_with_input, args=(counts,), daemon=True).start()
    alarm = threading.Timer(settings["duration_s"], os._exit, (3,))
    alarm.daemon = True
    alarm.start()
    say({"port": 0, "timer_slack_s": sharp_timers()})
    works = {"pour": pour, "drain": drain, "converse": converse, "reply": reply}
    while order := orders.next():
        what, descriptors = order
        if what["do"] == "end":
            continue  # it came after the work had ended by itself
        socks = [socket.socket(fileno=descriptor) for descriptor in descriptors]
        orders.begin()
        used = resource.getrusage(resource.RUSAGE_SELF)
        report: dict[str, Any] = {"begin_ns": _clock()}
        try:
            report.update(works[what["do"]](socks, what, orders, counts))
        except OSError as error:
            report.update(error=error.errno, text=error.strerror or str(error))
        except MemoryError:
            report.update(error=errno.ENOMEM, text=os.strerror(errno.ENOMEM))
        report.setdefault("end_ns", _clock())
        after = resource.getrusage(resource.RUSAGE_SELF)
        for sock in socks:
            sock.close()
        report.update(
            vars(counts),
            user_s=after.ru_utime - used.ru_utime,
            system_s=after.ru_stime - used.ru_stime,
            wait_count=after.ru_nvcsw - used.ru_nvcsw,
        )
        orders.control.send(json.dumps(report).encode())
    return 0


def sharp_timers() -> float:
    """Ask for naps that end in time; return by how much the kernel may delay them. [s]"""
    try:
        import ctypes

        if ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1000, 0, 0, 0) == 0:
            return 1e-6
    except (ImportError, OSError, AttributeError):
        pass
    return 5e-5


def pour(
    socks: list[socket.socket], what: dict[str, Any], orders: Orders, counts: Counts
) -> dict[str, Any]:
    """Write until the count or the limit of time; close the stream."""
    (sock,) = socks
    size, together = what["write_bytes"], what["datagrams_per_call"]
    if together > 1:
        sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, size)
    payload = memoryview(bytes(size * together))
    left = what["write_count"] * size
    limit_ns = _clock() + int(what["limit_s"] * 1e9)
    send, calls, window_bytes, seen_ns = sock.send, 1, 0, 0
    stream = sock.type == socket.SOCK_STREAM
    begin_ns = now_ns = _clock()
    while left and now_ns < limit_ns and not orders.look(now_ns):
        calls = max(1, min(calls, left // len(payload)))
        done: list[int] = []
        try:
            # The loop over the calls is the interpreter's own; what was done stays in the list.
            done.extend(map(send, repeat(payload[:left], calls)))
        finally:
            counts.sent_bytes += sum(done)
        left -= sum(done)
        before_ns, now_ns = now_ns, _clock()
        if now_ns - before_ns < LOOK_NS // 8:
            calls = min(2 * calls, 4096)
        elif now_ns - before_ns > LOOK_NS:
            calls = max(calls // 4, 1)
        if stream and now_ns > seen_ns:
            window_bytes = max(window_bytes, in_flight_bytes(sock))
            seen_ns = now_ns + SEEN_NS
    report = {"begin_ns": begin_ns, "end_ns": now_ns}
    if stream:
        report["window_bytes"] = max(window_bytes, in_flight_bytes(sock))
        sock.shutdown(socket.SHUT_WR)
    return report


def in_flight_bytes(sock: socket.socket) -> int:
    """Return what was sent on a connection and is not acknowledged; 0 where it is not told."""
    try:
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
        (acknowledged,) = _U64.unpack_from(info, _BYTES_ACKED)
        sent, again = _U64_U64.unpack_from(info, _BYTES_SENT)
    except (OSError, AttributeError, struct.error):  # another system, or a kernel before 4.19
        return 0
    return max(0, int(sent - again - acknowledged + (acknowledged > 0)))  # the SYN counts as one


def drain(
    socks: list[socket.socket], what: dict[str, Any], orders: Orders, counts: Counts
) -> dict[str, Any]:
    """Read until there is no more; return when the first and the last bytes were there."""
    (sock,) = socks
    if sock.type == socket.SOCK_STREAM:
        return drain_stream(sock, what, orders, counts)
    return drain_datagrams(sock, what, orders, counts)


def drain_stream(
    sock: socket.socket, what: dict[str, Any], orders: Orders, counts: Counts
) -> dict[str, Any]:
    """Read a stream to its end. The socket has a limit of time for each call."""
    buffer = bytearray(what["read_bytes"])
    receive, first_ns, last_ns, look_ns = sock.recv_into, 0, 0, 0
    calls = 0
    while True:
        try:
            got = receive(buffer)
            now_ns = _clock()
        except BlockingIOError:
            got, now_ns = -1, _clock()
        if got == 0:
            break
        if got > 0:
            counts.received_bytes += got
            calls += 1
            first_ns, last_ns = first_ns or now_ns, now_ns
        if now_ns > look_ns:
            look_ns = now_ns + LOOK_NS
            if orders.look(now_ns):
                break
    return {"first_ns": first_ns, "end_ns": last_ns or _clock(), "calls": calls}


def drain_datagrams(
    sock: socket.socket, what: dict[str, Any], orders: Orders, counts: Counts
) -> dict[str, Any]:
    """Read datagrams until all that were sent are there, or none comes any more."""
    if what["merged"]:
        sock.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 1)
    buffer = bytearray(65_536)
    receive, size, wrong = sock.recv_into, what["write_bytes"], 0
    first_ns = last_ns = told_ns = look_ns = 0
    calls, nap_s = 0, NAP_S
    while True:
        try:
            got = receive(buffer, 0, socket.MSG_DONTWAIT)
            now_ns = _clock()
        except BlockingIOError:
            got, now_ns = -1, _clock()
        if got >= 0:
            calls += 1
            wrong += got % size != 0
            counts.received_bytes += got
            first_ns, last_ns, nap_s = first_ns or now_ns, now_ns, NAP_S
            if now_ns < look_ns:
                continue
        look_ns = now_ns + LOOK_NS
        if orders.look(now_ns):
            break
        if orders.end is not None:
            told_ns = told_ns or now_ns
            if counts.received_bytes >= orders.end["sent_bytes"]:
                break
            quiet_s = (now_ns - max(last_ns, told_ns)) * 1e-9
            if quiet_s > orders.end["linger_s"]:
                break
            if (now_ns - told_ns) * 1e-9 > orders.end["drain_s"] + orders.end["linger_s"]:
                break
        if got < 0:
            time.sleep(nap_s)
            nap_s = min(1.2 * nap_s, _LONGEST_NAP_S)
    return {
        "first_ns": first_ns,
        "end_ns": last_ns or _clock(),
        "calls": calls,
        "damaged_count": wrong,
    }


def converse(
    socks: list[socket.socket], what: dict[str, Any], orders: Orders, counts: Counts
) -> dict[str, Any]:
    """On each connection write, wait for the answer, write again, until the limit of time."""
    payload, answer = bytes(what["write_bytes"]), what["reply_bytes"]
    buffer = bytearray(answer)
    missing = dict.fromkeys((sock.fileno() for sock in socks), answer)
    by_number = {sock.fileno(): sock for sock in socks}
    times = array.array("q")
    with select.epoll() as poll:
        for sock in socks:
            poll.register(sock, select.EPOLLIN)
        begin_ns = _clock()
        limit_ns = begin_ns + int(what["limit_s"] * 1e9)
        sent_ns = {}
        for number, sock in by_number.items():
            sent_ns[number] = _clock()
            sock.sendall(payload)
            counts.sent_bytes += len(payload)
        now_ns, look_ns, answered_ns = begin_ns, begin_ns + LOOK_NS, 0
        while now_ns < limit_ns and counts.sent_bytes < what["limit_bytes"]:
            for number, _ in poll.poll(LOOK_NS * 1e-9):
                sock = by_number[number]
                got = sock.recv_into(buffer, missing[number])
                if got == 0:
                    raise ConnectionResetError(104, "the other end closed the connection")
                missing[number] -= got
                if missing[number]:
                    continue
                now_ns = answered_ns = _clock()
                times.append(now_ns - sent_ns[number])
                counts.received_bytes += len(payload)  # acknowledged, so the other end has it
                missing[number], sent_ns[number] = answer, now_ns
                sock.sendall(payload)
                counts.sent_bytes += len(payload)
            now_ns = _clock()
            if now_ns > look_ns:
                look_ns = now_ns + LOOK_NS
                if orders.look(now_ns):
                    break
    ordered = sorted(times)
    median_ns = ordered[len(ordered) // 2] if ordered else None
    return {
        "begin_ns": begin_ns,
        "end_ns": now_ns,
        "answered_ns": answered_ns or now_ns,
        "cycle_ns": median_ns,
        "calls": len(times),
    }


def reply(
    socks: list[socket.socket], what: dict[str, Any], orders: Orders, counts: Counts
) -> dict[str, Any]:
    """Answer each complete message on each connection, until the order to end."""
    size, answer = what["write_bytes"], bytes(what["reply_bytes"])
    buffer = bytearray(max(size, 65_536))
    missing = dict.fromkeys((sock.fileno() for sock in socks), size)
    by_number = {sock.fileno(): sock for sock in socks}
    calls, look_ns = 0, 0
    with select.epoll() as poll:
        for sock in socks:
            poll.register(sock, select.EPOLLIN)
        while by_number:
            for number, _ in poll.poll(LOOK_NS * 1e-9):
                sock = by_number[number]
                try:
                    got = sock.recv_into(buffer, missing[number])
                    missing[number] -= got
                    if got and not missing[number]:
                        sock.sendall(answer)
                except ConnectionError:  # it left with answers under way
                    got = 0
                if not got:
                    poll.unregister(sock)
                    del by_number[number]
                    continue
                counts.received_bytes += got
                if not missing[number]:
                    missing[number] = size
                    calls += 1
            if (now_ns := _clock()) > look_ns:
                look_ns = now_ns + LOOK_NS
                if orders.look(now_ns):
                    break
    return {"calls": calls}
