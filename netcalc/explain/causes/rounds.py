"""What set the pace in each round trip of a transfer that was clocked by acknowledgements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netcalc.checks import FloatArray
from netcalc.explain.causes.dialogue import SENDER, Dialogue
from netcalc.explain.causes.gaps import Gaps
from netcalc.readers.captures.scans import Ints

GROWING, QUEUED, QUEUED_BACK, AFTER_LOSS, FLAT, OTHER = range(6)
"""Kinds of rounds: the window grows from the start; packets wait in front of the line; their
acknowledgements wait on the way back; a loss was before; the data in flight do not grow; others."""
MOST_ROUNDS = 2000
QUEUE_SHARE, QUEUE_S = 0.15, 0.003
"""A queue begins above both: a share of the round trip, and a time. [ratio], [s]"""
BACK_SHARE = 0.6
"""A queue is that of the way back if this share of it is seen there. [ratio]"""
STEADY_SHARE = 0.8
LEAST_ALIKE, ALIKE_RATIO = 20, 1.3
"""Acknowledgements of each kind, and the ratio up to which their gaps are alike. [1], [ratio]"""


@dataclass(frozen=True, slots=True)
class Rounds:
    """``kind`` has a row for each gap; the others one for each round."""

    kind: Ints
    begin_s: FloatArray
    queue_s: FloatArray
    back_s: FloatArray
    in_flight: FloatArray
    kinds: Ints


def find_rounds(d: Dialogue, gaps: Gaps) -> Rounds:
    """Return of each gap what kind of round it was in."""
    base_s = d.base_rtt_s if d.base_rtt_s > 0 else 0.02
    begin_s, end_s = float(d.sent_s[0]), float(d.sent_s[-1])
    step_s = max(base_s, (end_s - begin_s) / MOST_ROUNDS, 1e-3)
    count = int((end_s - begin_s) / step_s) + 1
    edges: FloatArray = begin_s + step_s * np.arange(count + 1, dtype=np.float64)
    queue_s = _queue_s(d, edges, base_s)
    back_s = np.zeros(count)
    if d.place == SENDER and np.isfinite(d.ack_late_s).any():
        back_s = np.nan_to_num(_median_within(d.came_s, d.ack_late_s, edges))
    elif d.place == SENDER and _spaced_by_themselves(d):
        back_s = np.maximum(queue_s, 0.0)
    elif d.trip_s.size:
        # Elsewhere: what a round trip has beyond the way there, which the sender's stamps show.
        whole_s = np.nan_to_num(_median_within(d.trip_end_s, d.trip_s, edges)) - base_s
        back_s = np.maximum(whole_s - queue_s, 0.0)
    index = np.clip(np.searchsorted(edges, d.sent_s[1:], side="right") - 1, 0, count - 1)
    in_flight = np.zeros(count)
    np.maximum.at(in_flight, index, gaps.in_flight)
    lost_s = d.sent_s[d.is_repeated]
    first_loss_s = float(lost_s.min()) if lost_s.size else np.inf
    late = gaps.in_flight[gaps.in_flight.size // 3 :]
    steady = float(np.percentile(late, 90)) if late.size else 0.0
    least_s = max(QUEUE_SHARE * base_s, QUEUE_S)
    is_queued = queue_s > least_s
    is_back = (back_s > max(2 * least_s, 0.01)) & (back_s > BACK_SHARE * np.maximum(queue_s, 0))
    if d.place != SENDER:
        is_back &= back_s > 2 * queue_s
    started = np.maximum.accumulate(is_queued | is_back | (in_flight >= STEADY_SHARE * steady))
    kinds = np.select(
        [is_back, is_queued, edges[1:] > first_loss_s, ~started, in_flight > STEADY_SHARE * steady],
        [QUEUED_BACK, QUEUED, AFTER_LOSS, GROWING, FLAT],
        OTHER,
    )
    return Rounds(kinds[index], edges[:-1], queue_s, back_s, in_flight, kinds)


def _spaced_by_themselves(d: Dialogue) -> bool:
    """Whether acknowledgements come as far apart for two segments as for one.

    Then it is not the data on their way there that space them, but a line on their way back.
    """
    steps, gaps_s = np.diff(d.acknowledged), np.diff(d.came_s)
    steps = np.where(d.has_sack[1:] | d.has_sack[:-1], 0, steps)  # those repair a hole
    single = gaps_s[(steps > 0) & (steps <= d.mss_bytes)]
    double = gaps_s[(steps > d.mss_bytes) & (steps <= 2 * d.mss_bytes)]
    if single.size < LEAST_ALIKE or double.size < LEAST_ALIKE:
        return False
    return bool(np.median(double) < ALIKE_RATIO * np.median(single))


def _queue_s(d: Dialogue, edges: FloatArray, base_s: float) -> FloatArray:
    """Return how long packets waited on the way there in each round; 0 where nothing shows it."""
    if d.place == SENDER:
        queue_s = _median_within(d.trip_end_s, d.trip_s, edges) - base_s
    else:
        queue_s = _median_within(d.sent_s, d.late_s, edges)
        if np.isnan(queue_s).all():
            queue_s = _median_within(d.trip_end_s, d.trip_s, edges) - base_s
    known = np.flatnonzero(np.isfinite(queue_s))
    if not known.size:
        return np.zeros(edges.size - 1)
    # A round without a sample is like the one before.
    at = np.maximum.accumulate(np.where(np.isfinite(queue_s), np.arange(queue_s.size), known[0]))
    return np.asarray(queue_s[at])


def _median_within(time_s: FloatArray, value: FloatArray, edges: FloatArray) -> FloatArray:
    """Return the median of the values between two edges each; nan where there is none."""
    round_of = np.searchsorted(edges, time_s, side="right") - 1
    good = np.isfinite(value) & (round_of >= 0) & (round_of < edges.size - 1)
    round_of, value = round_of[good], value[good]
    value = value[np.lexsort((value, round_of))]
    count = np.bincount(round_of, minlength=edges.size - 1)
    first, has_any = np.cumsum(count) - count, count > 0
    middles = np.full(edges.size - 1, np.nan)
    low, high = first + (count - 1) // 2, first + count // 2
    middles[has_any] = (value[low[has_any]] + value[high[has_any]]) / 2
    return middles
