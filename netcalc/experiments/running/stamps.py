"""When the kernel noted that a packet came, by its own clock: better than when a program woke."""

from __future__ import annotations

import socket
import struct

SO_TIMESTAMPNS = 35
"""Option of a socket that has the kernel note it. [1]"""
_TIMESPEC = struct.Struct("=qq")


def stamp_ns(control: list[tuple[int, int, bytes]]) -> int:
    """Return the time in the ancillary data of a packet, of the wall clock; 0 without one. [ns]"""
    for level, kind, data in control:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            seconds, rest_ns = _TIMESPEC.unpack_from(data)
            return int(seconds * 10**9 + rest_ns)
    return 0
