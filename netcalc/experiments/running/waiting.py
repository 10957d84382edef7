"""Waiting for one descriptor, whatever its number: ``select`` takes none above 1023."""

from __future__ import annotations

import select
import socket
from typing import IO


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
