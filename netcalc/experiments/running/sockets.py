"""What the kernel gave a socket, read back. Standard library only: the peer programs use it too."""

from __future__ import annotations

import socket
from typing import Any


def granted(sock: socket.socket) -> dict[str, Any]:
    """Return the buffers and the congestion control that the kernel gave, read back."""
    report: dict[str, Any] = {
        "send_buffer_bytes": sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF),
        "receive_buffer_bytes": sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF),
    }
    if sock.type == socket.SOCK_STREAM and hasattr(socket, "TCP_CONGESTION"):
        name = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        report["congestion_control"] = name.rstrip(b"\0").decode("ascii", "replace")
    return report
