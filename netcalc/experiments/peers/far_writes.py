"""Requests in small writes: how a client writes them, on this machine or on that of a peer."""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

from netcalc.experiments.peers import helper
from netcalc.experiments.peers.bulk_peer import ByteCounts
from netcalc.experiments.peers.job import Job

MODES = ("nagle", "nodelay", "flush", "single", "cork", "more")
"""All modes of writing a request."""
MAX_COUNT = 10_000
"""Rounds of a mode that a peer writes, at most: their times fit one message. [1]"""
_clock = time.perf_counter_ns


class RoundCounts(ByteCounts):
    """The bytes so far, and the number, the begin and the duration of each round."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[tuple[int, int, int]] = []


Send = Callable[..., object]
"""Sends all of a part: ``send(part)``, or ``send(part, flags=...)``."""


def request_of(session: bytes, size: int) -> bytes:
    """Return a request: the session of the run, repeated."""
    return (session * (size // len(session) + 1))[:size]


def pieces_of(request: bytes, sizes: Sequence[int]) -> list[bytes]:
    """Return the parts of a request, one per write."""
    return [request[start:end] for start, end in pairwise(accumulate(sizes, initial=0))]


def writer(sock: socket.socket, mode: str, send: Send) -> Callable[[Iterator[bytes], int], None]:
    """Return the function that writes so many parts in a mode."""
    if mode == "cork":
        return lambda parts, _: _write_corked(sock, send, parts)
    if mode == "more":
        return lambda parts, count: _write_more(send, parts, count)
    if mode == "flush":
        return lambda parts, _: _write_and_flush(sock, send, parts)
    return lambda parts, _: _write(send, parts)


def _write(send: Send, parts: Iterator[bytes]) -> None:
    for piece in parts:
        send(piece)


def _write_and_flush(sock: socket.socket, send: Send, parts: Iterator[bytes]) -> None:
    """Write through a stream and flush it, which does nothing: the stream has no buffer."""
    with sock.makefile("wb", buffering=0) as stream:
        for piece in parts:
            if (done := stream.write(piece) or 0) < len(piece):
                send(piece[done:])
        stream.flush()


def _write_corked(sock: socket.socket, send: Send, parts: Iterator[bytes]) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    _write(send, parts)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)


def _write_more(send: Send, parts: Iterator[bytes], count: int) -> None:
    for number, piece in enumerate(parts, 1):
        send(piece, flags=socket.MSG_MORE if number < count else 0)


def write_rounds(
    socks: Sequence[socket.socket], order: dict[str, Any], job: Job, counts: RoundCounts
) -> dict[str, Any]:
    """Write requests, each after the response to the one before; return the time of each.

    So the other side is the one that may delay its acknowledgements.
    """
    (sock,) = socks
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, order["mode"] == "nodelay")
    request = request_of(order["session"], sum(order["sizes"]))
    pieces = [request] if order["mode"] == "single" else pieces_of(request, order["sizes"])
    reply = memoryview(bytearray(order["reply_bytes"]))

    def send(part: bytes, flags: int = 0) -> None:
        while part:
            try:
                part = part[sock.send(part, flags) :]
            except (BlockingIOError, TimeoutError):
                if job.look(_clock()):
                    return

    write = writer(sock, order["mode"], send)
    report: dict[str, Any] = {}
    try:
        for number in range(1, order["count"] + 1):
            begin_ns = _clock()
            write(iter(pieces), len(pieces))
            have = 0
            while have < len(reply):
                try:
                    got = sock.recv_into(reply[have:])
                except (BlockingIOError, TimeoutError):
                    if job.look(_clock()):
                        return report
                    continue
                if not got:
                    raise helper.system_error(errno.ECONNRESET)
                have += got
            now_ns = _clock()
            counts.times.append((number, begin_ns, now_ns - begin_ns))
            counts.sent_bytes += len(request)
            counts.received_bytes += len(reply)
            if job.look(now_ns) or job.wait_until(begin_ns + int(order["interval_s"] * 1e9)):
                break
    except OSError as error:
        if not job.look(_clock()):  # else the order to end has shut the connection down
            report |= helper.error_report(error)
    return report
