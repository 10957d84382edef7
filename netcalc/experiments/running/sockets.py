"""Sockets of a run: options, arrival stamps, waiting; the standard library only, for helpers."""

from __future__ import annotations

import random
import select
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

BACKLOG = 4096
"""Connections that wait to be accepted, as many as Linux allows: it drops what comes beyond, and
the client of a run would send its SYN again after 1 s. [1]"""

_SO_ATTACH_FILTER = 26
_SKF_NET_OFF, _SOURCE_AT = 0xFFF00000, 12
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06  # BPF_LD | BPF_W | BPF_ABS and so on


def address_family(host: str) -> socket.AddressFamily:
    """Return the address family of an IP address."""
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def own_source(host: str) -> str | None:
    """Return a random IPv4 loopback address for the client of a run; None if the server has none.

    Programs that know nothing of the run connect from 127.0.0.1. On a shared loopback the server
    can so tell its own client from them before it has accepted anything. IPv6 has one loopback
    address only.
    """
    if not host.startswith("127."):
        return None
    return ".".join(str(part) for part in (127, *(random.randint(1, 254) for _ in range(3))))


def accept_only_from(listener: socket.socket, source: str) -> None:
    """Let the kernel drop every segment for a listener that is not from an IPv4 address.

    A flood of connections would otherwise fill the queue of those to be accepted, and each
    connection of the client would wait behind them. The filter passes on to accepted connections,
    where it costs some 10 ns a segment. Where the kernel refuses it, all are accepted and judged by
    their first bytes, as they are anyway.
    """
    import ctypes

    instructions = (
        (_LOAD, 0, 0, _SKF_NET_OFF + _SOURCE_AT),
        (_JUMP_IF_EQUAL, 0, 1, int.from_bytes(socket.inet_aton(source), "big")),
        (_RETURN, 0, 0, 0xFFFFFFFF),
        (_RETURN, 0, 0, 0),
    )
    packed = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
    program = ctypes.create_string_buffer(packed)
    code = struct.pack("HP", len(instructions), ctypes.addressof(program))
    with suppress(OSError):
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, code)


def granted(sock: socket.socket) -> dict[str, Any]:
    """Read back the granted buffers and congestion control."""
    report: dict[str, Any] = {
        "send_buffer_bytes": sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF),
        "receive_buffer_bytes": sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF),
    }
    if sock.type == socket.SOCK_STREAM and hasattr(socket, "TCP_CONGESTION"):
        name = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        report["congestion_control"] = name.rstrip(b"\0").decode("ascii", "replace")
    return report


SO_TIMESTAMPNS = 35
"""Socket option for arrival stamps in nanoseconds. [1]"""
CONTROL_BYTES = 64
"""Room for the stamp in the ancillary data of a packet. [byte]"""
LATEST_READ_NS = 10**9
"""A packet does not wait longer in the kernel: where it seems to, the wall clock was set. [ns]"""
_TIMESPEC = struct.Struct("=qq")


def stamp_ns(control: list[tuple[int, int, bytes]]) -> int:
    """Return the stamp in the ancillary data of a packet, by the wall clock; 0 without one. [ns]"""
    for level, kind, data in control:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            seconds, rest_ns = _TIMESPEC.unpack_from(data)
            return int(seconds * 10**9 + rest_ns)
    return 0


def arrival_ns(control: list[tuple[int, int, bytes]], clock_ns: Callable[[], int]) -> int:
    """Return when the kernel had received a packet that was read just now, by another clock. [ns]

    The time of reading, where there is no stamp, or the wall clock was set meanwhile.
    """
    stamped_ns = stamp_ns(control)
    waited_ns = time.time_ns() - stamped_ns
    now_ns = clock_ns()  # after the wall clock: an interruption between them only adds
    return now_ns - waited_ns if stamped_ns and 0 <= waited_ns <= LATEST_READ_NS else now_ns


def readable(source: socket.socket | IO[bytes], wait_s: float) -> bool:
    """Wait for data or the end of the stream; False at the timeout."""
    return _ready(source, select.POLLIN, wait_s)


def writable(sock: socket.socket, wait_s: float) -> bool:
    """Wait for buffer space, or for a connection to succeed or fail; False at the timeout."""
    return _ready(sock, select.POLLOUT, wait_s)


def _ready(source: socket.socket | IO[bytes], events: int, wait_s: float) -> bool:
    poll = select.poll()
    poll.register(source, events)
    return bool(poll.poll(1000 * wait_s))
