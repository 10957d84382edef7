"""Fits and comparisons: what could not be found, and what was set aside."""

from __future__ import annotations

FITTING: dict[str, str] = {}

FITTING_HINTS: dict[str, str] = {}
