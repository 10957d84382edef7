"""Options of sockets. Standard library only: helper programs use it."""

from __future__ import annotations

import random
import socket
import struct
from contextlib import suppress
from typing import Any

BACKLOG = 4096
"""Connections that wait to be accepted, as many as Linux allows: it drops what comes beyond, and
the client of a run would send its SYN again after 1 s. [1]"""

_SO_ATTACH_FILTER = 26
_SKF_NET_OFF, _SOURCE_AT = 0xFFF00000, 12
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06  # BPF_LD | BPF_W | BPF_ABS and so on


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
    packed = b"".join(struct.pack("HBBI", *one) for one in instructions)
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
