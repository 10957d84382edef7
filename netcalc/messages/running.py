"""Live runs: why one did not start or go on, and what makes its times doubtful."""

from __future__ import annotations

RUNNING: dict[str, str] = {
    "late-replies": (
        "{count:reply|replies} arrived after the {timeout_s:s} timeout and count as lost"
    ),
    "stray-datagrams": "ignored {count:stray datagram|stray datagrams}",
}

RUNNING_HINTS: dict[str, str] = {}
