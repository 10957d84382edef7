"""Shapes, text and scales of an SVG picture."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.printable import html_text


class Scale:
    """From data to pixels along one axis."""

    def __init__(self, low: float, high: float, *, start: float, end: float, log: bool) -> None:
        if log:
            low = low if low > 0 else (high / 1e6 if high > 0 else 1.0)
            high = high if high > low else low * 10
        elif not high > low:
            low, high = low - 0.5, low + 0.5
        self.low, self.high, self.log = low, high, log
        self._start, self._end = start, end

    def __call__(self, values: Any) -> NDArray[np.float64]:
        values = np.asarray(values, dtype=float)
        low, high = self.low, self.high
        if self.log:
            with np.errstate(invalid="ignore", divide="ignore"):
                values = np.where(values > 0, np.log10(values), np.nan)
            low, high = math.log10(low), math.log10(high)
        share: NDArray[np.float64] = (values - low) / (high - low)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> list[float]:
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.log10(self.high) + 1e-9
            step = max(1, math.ceil((last - first) / 8))
            decades = [10.0**e for e in range(first, math.floor(last) + 1, step)]
            if len(decades) > 1:
                return decades
        rough = (self.high - self.low) / 6
        power = 10.0 ** math.floor(math.log10(rough))
        step_size = next(s * power for s in (1, 2, 5, 10) if s * power >= rough)
        first = math.ceil(self.low / step_size - 1e-9)
        count = math.floor(self.high / step_size + 1e-9) - first + 1
        return [(first + i) * step_size for i in range(count)]


_SHAPES = {
    "triangle": "M0 -6L5.5 4H-5.5Z",
    "inverted_triangle": "M0 6L5.5 -4H-5.5Z",
    "square": "M-4.5 -4.5H4.5V4.5H-4.5Z",
    "diamond": "M0 -6L4.5 0L0 6L-4.5 0Z",
    "x": "M-5 -5L5 5M-5 5L5 -5",
    "star": "M0 -6L1.8 -1.9H5.7L2.6 .8L3.7 5L0 2.5L-3.7 5L-2.6 .8L-5.7 -1.9H-1.8Z",
}


def marker(shape: str, x: float, y: float, color: str) -> str:
    if shape not in _SHAPES:
        return (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" stroke="{color}" fill="{color}" '
            'fill-opacity="0.35"/>'
        )
    return (
        f'<path d="{_SHAPES[shape]}" transform="translate({x:.1f} {y:.1f})" stroke="{color}" '
        f'stroke-width="1.5" fill="{color}" fill-opacity="0.35"/>'
    )


def path(d: str, color: str, width: float, more: str = "") -> str:
    return f'<path d="{d}" fill="none" stroke="{color}" stroke-width="{width:g}"{more}/>'


def text_at(
    text: str,
    x: float,
    y: float,
    *,
    size: int = 14,
    anchor: str = "start",
    weight: str = "normal",
    more: str = "",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'font-weight="{weight}"{more}>{html_text(text)}</text>'
    )
