"""Emulated paths: what this machine lacks for them, and what happened on one."""

from __future__ import annotations

EMULATING: dict[str, str] = {}

EMULATING_HINTS: dict[str, str] = {}
