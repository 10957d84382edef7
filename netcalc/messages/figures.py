"""Figures, panels and lessons."""

from __future__ import annotations

FIGURES: dict[str, str] = {
    "name-in-use": "{name} must have names of their own; the figure already has {value}",
    "wrong-node-count": "{name} must be {expected:name|names}, one more than links, got {value}",
    "unequal-columns": "{name} must be of one length, got {value}",
}

FIGURES_HINTS: dict[str, str] = {}
