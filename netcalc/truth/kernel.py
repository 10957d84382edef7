"""The receive window that Linux makes of a socket buffer.

Linux grants twice the buffer that was asked for (SO_RCVBUF), and counts against it what a segment
takes in memory, its *true size*, which is more than its data. From 6.6 on the window is the buffer
times the share that data has of it, the scaling ratio, in 1/256; before the first segment the ratio
is a half, so that the first window is what was asked for. The window grows while a segment is in
the buffer, whose true size is not offered.
"""

from __future__ import annotations

import socket
import struct

from netcalc.models.tcp.window import MAX_UNSCALED_WINDOW_BYTES

RATIO_STEPS = 256
"""Steps of the scaling ratio (TCP_RMEM_TO_WIN_SCALE). [1]"""
GRANTED = 2
"""Granted of a buffer for each byte that was asked for (SO_RCVBUF, socket(7)). [1]"""
_SO_MEMINFO = 55  # the first of nine numbers is the memory of what was received and not read
_LEAST_TRUESIZE_BYTES = 2304


def receive_window_bytes(buffer_bytes: int, *, mss_bytes: int, truesize_bytes: int) -> int:
    """Return the window that Linux offers of a receive buffer once full segments have come.

    A connection whose first window needs no scaling offers whole segments.

    >>> receive_window_bytes(32_768, mss_bytes=1448, truesize_bytes=2304)
    39096
    """
    ratio = RATIO_STEPS * mss_bytes // truesize_bytes
    window_bytes = (GRANTED * buffer_bytes - truesize_bytes) * ratio // RATIO_STEPS
    if buffer_bytes <= MAX_UNSCALED_WINDOW_BYTES:
        window_bytes = window_bytes // mss_bytes * mss_bytes
    return window_bytes


def segment_truesize_bytes(mss_bytes: int) -> int:
    """Return the size of a packet of this much data in a receive buffer of this kernel. [byte]

    Measured with an unread datagram; where the kernel does not report it, that of 6.18.
    """
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source,
    ):
        sink.bind(("127.0.0.1", 0))
        source.sendto(bytes(mss_bytes), sink.getsockname())
        try:
            memory = sink.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, 36)
        except OSError:
            return _LEAST_TRUESIZE_BYTES
    return int(struct.unpack("9I", memory)[0]) or _LEAST_TRUESIZE_BYTES
