"""Rates of control answers (ACK, block ACK, CTS) in 802.11a and later."""

from __future__ import annotations

import numpy as np

from netcalc.checks import FloatArray, keep_nan


def answer_bps(data: FloatArray) -> FloatArray:
    """Return the highest mandatory rate that is not above the data (IEEE 802.11-2016, 10.7.6.5)."""
    answers: FloatArray = np.where(data >= 24e6, 24e6, np.where(data >= 12e6, 12e6, 6e6))
    return keep_nan(answers, data)
