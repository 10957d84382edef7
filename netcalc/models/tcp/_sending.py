"""How long a sender takes to send segments: the rounds with pauses, and the rest."""

from __future__ import annotations

import numpy as np

from netcalc.checks import FloatArray
from netcalc.models.tcp.slow_start import rounds


def sending_parts(
    segments: FloatArray,
    clock_s: FloatArray,
    base_rtt_s: FloatArray,
    first: FloatArray,
    growth: FloatArray,
    largest: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the time of the rounds in which the window grows, and that of the rest.

    ``clock_s`` is the serialization of a segment, ``base_rtt_s`` the round trip without it, and
    ``largest`` the window at which growth ends; windows are in segments.
    """
    first = np.minimum(first, largest)
    cycle_s = base_rtt_s + clock_s
    full_line = np.where(clock_s > 0, cycle_s / clock_s, np.inf)
    growing = np.ceil(np.log2(np.minimum(full_line, largest) / first) / np.log2(growth) - 1e-9)
    pauses = np.minimum(
        np.maximum(growing, 0),
        np.maximum(rounds(segments, initial_window_segments=first, growth=growth) - 1, 0),
    )
    left = segments - first * ((growth**pauses - 1) / (growth - 1))
    # Where the largest window is below a full line, every further round pauses as well.
    capped = largest * clock_s < cycle_s
    more = np.where(capped, np.maximum(np.ceil(left / largest - 1e-9) - 1, 0), 0)
    left = left - np.where(more > 0, more * largest, 0)
    return pauses * cycle_s, more * cycle_s + left * clock_s
