"""How far colours are apart: for every colour vision, and against what is behind them.

Colours go as sRGB, ``"#0072b2"``. The matrices are those of G. M. Machado, M. M. Oliveira and
L. A. F. Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE
Transactions on Visualization and Computer Graphics 15 (2009) 1291-1298, at severity 1.0, for linear
RGB; that of the third is an approximation, as its authors say. CIEDE2000 is written as in
G. Sharma, W. Wu and E. N. Dalal, "The CIEDE2000 Color-Difference Formula", Color Research and
Application 30 (2005) 21-30; contrast as in WCAG 2.2.
"""

from __future__ import annotations

import math

import numpy as np

VISIONS = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
_TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)  # IEC 61966-2-1, D65
_WHITE = _TO_XYZ @ np.ones(3)


def linear(color: str):
    """Return a colour in linear RGB."""
    shares = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def laid_over(color: str, paper: str, alpha: float) -> str:
    """Return what is seen where a colour lies on another."""
    pairs = [(int(color[at : at + 2], 16), int(paper[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(alpha * one + (1 - alpha) * under):02x}" for one, under in pairs)


def contrast(color: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2.2, from 1 to 21."""
    low, high = sorted(float(linear(one) @ _TO_XYZ[1]) for one in (color, other))
    return (high + 0.05) / (low + 0.05)


def lab(color: str, vision: str = "all cones") -> tuple[float, float, float]:
    """Return CIELAB of a colour as it is seen."""
    seen = np.clip(VISIONS[vision] @ linear(color), 0, 1)
    ratios = _TO_XYZ @ seen / _WHITE
    x, y, z = np.where(
        ratios > (6 / 29) ** 3, np.cbrt(ratios), ratios / (3 * (6 / 29) ** 2) + 4 / 29
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def ciede2000(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """Return the difference of two colours in CIELAB."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = ((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2) ** 7
    grey = 1.5 - 0.5 * math.sqrt(mean / (mean + 25**7))
    c1, c2 = math.hypot(grey * a1, b1), math.hypot(grey * a2, b2)
    h1, h2 = (
        math.degrees(math.atan2(b, grey * a)) % 360 if a or b else 0.0
        for a, b in ((a1, b1), (a2, b2))
    )
    turn = h2 - h1 if c1 * c2 else 0.0
    turn -= 360 * round(turn / 360) if abs(turn) > 180 else 0
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    hue = h1 + h2
    if c1 * c2:
        hue /= 2
        if abs(h1 - h2) > 180:
            hue += 180 if h1 + h2 < 360 else -180
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    t = (
        1
        - 0.17 * math.cos(math.radians(hue - 30))
        + 0.24 * math.cos(math.radians(2 * hue))
        + 0.32 * math.cos(math.radians(3 * hue + 6))
        - 0.20 * math.cos(math.radians(4 * hue - 63))
    )
    sl = 1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    around = 30 * math.exp(-(((hue - 275) / 25) ** 2))
    rotated = -2 * math.sqrt(chroma**7 / (chroma**7 + 25**7)) * math.sin(math.radians(2 * around))
    dl, dc, dh = (l2 - l1) / sl, (c2 - c1) / sc, dh / sh
    return math.sqrt(dl**2 + dc**2 + dh**2 + rotated * dc * dh)


def difference(color: str, other: str, vision: str) -> float:
    """Return how far two colours are apart for a colour vision."""
    return ciede2000(lab(color, vision), lab(other, vision))
