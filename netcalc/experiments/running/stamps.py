"""Arrival times stamped by the kernel, which do not include the wake-up of a program."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable

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
