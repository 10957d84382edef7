"""Figures, panels and lessons."""

from __future__ import annotations

FIGURES: dict[str, str] = {}

FIGURES_HINTS: dict[str, str] = {}
