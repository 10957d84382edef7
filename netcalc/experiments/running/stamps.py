"""Arrival times stamped by the kernel, which do not include the wake-up of a program."""

from __future__ import annotations

import socket
import struct

SO_TIMESTAMPNS = 35
"""Socket option for arrival stamps in nanoseconds. [1]"""
_TIMESPEC = struct.Struct("=qq")


def stamp_ns(control: list[tuple[int, int, bytes]]) -> int:
    """Return the stamp in the ancillary data of a packet, by the wall clock; 0 without one. [ns]"""
    for level, kind, data in control:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            seconds, rest_ns = _TIMESPEC.unpack_from(data)
            return int(seconds * 10**9 + rest_ns)
    return 0
