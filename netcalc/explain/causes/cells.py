"""Round trips that rise in stairs of 48 bytes with the size of the probe: cells of ATM."""

from __future__ import annotations

import numpy as np

from netcalc.checks import FloatArray
from netcalc.messages import Notice
from netcalc.models.sizes.atm import CELL_BYTES, CELL_PAYLOAD_BYTES

LEAST_SIZES = 12
LEAST_CELLS = 3
STAIR_RATIO = 0.2
"""Stairs leave this share of the residuals (sum of squares) of a straight line at most. [ratio]"""
ALIKE_RATIO = 1.01
ECHO_PACKET_BYTES = 28
"""IPv4 and ICMP, beside the payload of a probe. [byte]"""


def cell_notice(payload_bytes: FloatArray, rtt_s: FloatArray) -> Notice | None:
    """Say that times rise in cells, and what is added to each packet; None if they do not.

    Parameters
    ----------
    payload_bytes : array_like
        Payloads of probes, each once. [byte]
    rtt_s : array_like
        The least round trip of each. [s]

    Returns
    -------
    Notice or None
        With the time of a cell, there and back, and the bytes beyond IP as far as the sizes show
        them, modulo the payload of a cell: the trailer of AAL5 is among them.
    """
    x = np.asarray(payload_bytes, np.float64)
    y = np.asarray(rtt_s, np.float64)
    if x.size < LEAST_SIZES or np.ptp(x) < LEAST_CELLS * CELL_PAYLOAD_BYTES:
        return None
    if np.median(np.diff(x)) > CELL_PAYLOAD_BYTES / 3:  # a stair has several sizes
        return None
    straight, _ = _fit(x, y)
    fits = [
        _fit(np.ceil((x + added) / CELL_PAYLOAD_BYTES), y)
        for added in range(int(CELL_PAYLOAD_BYTES))
    ]
    left = np.array([each for each, _ in fits])
    best = int(np.argmin(left))
    cell_s = fits[best][1]
    if not cell_s > 0 or left[best] > STAIR_RATIO * straight:
        return None
    alike = np.flatnonzero(left <= ALIKE_RATIO * left[best] + 1e-9 * straight)
    beyond = np.sort((alike - ECHO_PACKET_BYTES) % int(CELL_PAYLOAD_BYTES))
    if np.ptp(beyond) >= alike.size:  # around the end of a cell
        return Notice("cells-seen", {"cell_s": cell_s, "cell_bytes": CELL_BYTES})
    values = {"low_bytes": float(beyond[0]), "high_bytes": float(beyond[-1])}
    return Notice("cells-with-overhead", {"cell_s": cell_s, "cell_bytes": CELL_BYTES, **values})


def _fit(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Return the sum of squared residuals of the line of least squares, and its slope."""
    slope, first = np.polyfit(x - x.mean(), y, 1)
    residuals = y - first - slope * (x - x.mean())
    return float(residuals @ residuals), float(slope)
