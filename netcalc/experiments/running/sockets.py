"""Options of sockets. Standard library only: helper programs use it."""

from __future__ import annotations

import socket
from typing import Any

BACKLOG = 4096
"""Connections that wait to be accepted, as many as Linux allows: it drops what comes beyond, and
the client of a run would send its SYN again after 1 s. [1]"""


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
