"""What sockets of Linux can do and count for a run with a peer, and others cannot.

A run leaves that out, and both ends say so. The names are those of the columns and arguments.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping

_IS_LINUX = sys.platform == "linux"
UNCOUNTED: Mapping[str, bool] = {
    "window_bytes": not hasattr(socket, "TCP_INFO"),
    "receiver_drop_count": not _IS_LINUX,
    "system_s": not _IS_LINUX,
    "wait_count": not _IS_LINUX,
    "arrival_stamps": not _IS_LINUX,
}
"""What a kernel counts of sockets and threads: whether this one does not."""
IMPOSSIBLE: Mapping[str, bool] = {
    "congestion_control": not hasattr(socket, "TCP_CONGESTION"),
    "datagrams_per_call": not _IS_LINUX,
    "quickack": not hasattr(socket, "TCP_QUICKACK"),
    "tfo": not hasattr(socket, "MSG_FASTOPEN"),
    "cork": not hasattr(socket, "TCP_CORK"),
    "more": not hasattr(socket, "MSG_MORE"),
}
"""Arguments, protocols and modes of a run: whether this system does not have them."""


_ALL = {**UNCOUNTED, **IMPOSSIBLE}


def lacks() -> list[str]:
    """Return what this system does not count, and cannot do."""
    return [name for name, is_missing in _ALL.items() if is_missing]


def names_among(said: object) -> list[str]:
    """Return the names above among those that a peer says, whatever that is."""
    return [name for name in _ALL if isinstance(said, list) and name in said]
