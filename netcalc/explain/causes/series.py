"""The cause of a series of round trips: loss, a step, a load that came and went, batches, a queue.

A median hides all of them: half the replies at 40 ms and half at 90 have one of 40 or 90.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray
from netcalc.explain.causes.cause import HIGH, LOW, MEDIUM, Cause, Sign

QUEUE_RATIO, QUEUE_S = 0.25, 0.005
"""Round trips that are further above the least than both of these waited. [ratio], [s]"""
FEWEST_PROBES = 10
FEWEST_LOST, LEAST_LOSS = 3, 0.01
"""So many lost probes, and a 95 % interval of the loss above this, are a headline. [1], [ratio]"""
HEAVY_LOSS = 0.05
"""Loss whose interval is above this is told before a step. [ratio]"""
OUTAGE_CHANCE = 0.01
"""Losses in a row that random ones give less often than this are an outage. [ratio]"""
FEWEST_LEVEL = 5
"""Probes of a level."""
STEP_RATIO, FLAT_RATIO = 0.2, 0.2
"""A level is off by more than this share of the lower one, and varies by less of the step."""
RARE_RATIO, ROW_LENGTH = 0.25, 2.0
"""Late probes below this share, in rows shorter than this, are spikes and not a queue."""
FAR_RATIO = 2.0
"""Answers of so many medians, or more, are far later than the others. [1]"""
FEWEST_OF_PERIOD, EVEN_RATIO = 4, 0.1
"""So many rows of late probes, as far apart within this share, are periodic. [1], [ratio]"""
SHORT_SERIES = 20
"""Of fewer answers the slowest is told, for want of a slowest 5 %. [1]"""
SURE_SHARE, LEAST_SHARE = 0.8, 0.6
"""An idle path is the cause surely, or at all, from these shares of the median on. [ratio]"""
MOST_BLOCKS = 300
QUANTILE = 1.96
"""Standard errors of a 95 % interval. [1]"""


@dataclass(frozen=True, slots=True)
class Levels:
    """A part of a series that is on another level than the rest: the probes of it, and both."""

    begin: int
    end: int
    rest_s: FloatArray
    part_s: FloatArray

    @property
    def size_s(self) -> float:
        """By how much the part is above the rest; negative below it. [s]"""
        return float(np.median(self.part_s) - np.median(self.rest_s))

    @property
    def is_clear(self) -> bool:
        """Whether nine tenths of one are above nine tenths of the other, by enough to matter."""
        rest, part = (np.percentile(one, [10, 90]) for one in (self.rest_s, self.part_s))
        low = min(float(np.median(self.rest_s)), float(np.median(self.part_s)))
        apart = part[0] > rest[1] if self.size_s > 0 else rest[0] > part[1]
        return bool(apart and abs(self.size_s) > STEP_RATIO * low)

    @property
    def is_flat(self) -> bool:
        """Whether both vary by little of the step between them."""
        return max(self._widths_s) < FLAT_RATIO * abs(self.size_s)

    @property
    def is_load(self) -> bool:
        """Whether the lower one varies by little of the step: a ramp has no idle part."""
        return self._widths_s[self.size_s < 0] < FLAT_RATIO * abs(self.size_s)

    @property
    def _widths_s(self) -> list[float]:
        return [float(np.ptp(np.percentile(one, [10, 90]))) for one in (self.rest_s, self.part_s)]


def series_cause(
    rtt_s: FloatArray, lost: Sequence[bool], ttl: ArrayLike = (), idle_s: float | None = None
) -> Cause:
    """Return the cause of a series of round trips, in the order in which they were sent.

    Parameters
    ----------
    rtt_s : array_like
        Round trips; nan where there is none. [s]
    lost : sequence of bool
        Which probes had no answer.
    ttl : array_like, optional
        Time to live of the replies, as many as round trips; nan where it is unknown. [1]
    idle_s : float, optional
        The round trip without load, where it is known; by default the least. [s]

    Returns
    -------
    Cause
        Loss, a step, a load, bursts, batches, a queue or the distance; ``unknown`` of fewer than
        ten probes.
    """
    answered = np.isfinite(rtt_s)
    known = rtt_s[answered]
    gone = np.asarray(lost, bool)
    if gone.size < FEWEST_PROBES or known.size < FEWEST_LEVEL:
        return Cause()
    ratio, low, high_loss = loss_interval(int(gone.sum()), gone.size)
    middle, high = float(np.median(known)), slow_of(known)
    if not middle > 0:
        return Cause()  # the clock of the tool is too coarse for it
    fastest = float(known.min())
    least = min(fastest, math.inf if idle_s is None else idle_s)
    slow_from = "95th percentile" if known.size >= SHORT_SERIES else "slowest round trip"
    signs = [
        Sign(name="base_rtt_s", value=least, unit="s",
             origin="least round trip" if least == fastest else "stated"),
        Sign(name="fastest_s", value=fastest, unit="s", origin="least round trip"),
        Sign(
            name="loss_ratio", value=ratio, unit="ratio", low=low, high=high_loss,
            origin="probes without an answer",
        ),
        Sign(name="queue_s", value=high - least, unit="s", origin=slow_from),
        Sign(name="slow_s", value=high, unit="s", origin=slow_from),
    ]  # fmt: skip
    is_lossy = gone.sum() >= FEWEST_LOST and low > LEAST_LOSS
    begin, in_row = _longest_row(gone)
    if is_lossy and in_row >= gone.sum() / 2 and gone.size * ratio**in_row < OUTAGE_CHANCE:
        signs.append(Sign(name="lost_in_row", value=float(in_row), unit="1", origin="probes"))
        signs.append(Sign(name="at_probe", value=float(begin + 1), unit="1", origin="probes"))
        return Cause(code="outage", variant="series", confidence=MEDIUM, signs=tuple(signs))
    loss = Cause(code="random-loss", variant="series", confidence=MEDIUM, signs=tuple(signs))
    varies = _varies(high, least)
    if is_lossy and (not varies or low > HEAVY_LOSS) and not _is_queue(known, least, middle, high):
        return loss
    part = levels(known)
    if part is not None and part.is_clear:
        stepped = _stepped(part, known.size, signs, np.asarray(ttl, dtype=float), answered)
        if stepped is not None:
            return stepped
    if _varies(fastest, least) and not _varies(middle, fastest):
        return loss if is_lossy else Cause(variant="standing", signs=tuple(signs))
    if not varies and least < LEAST_SHARE * middle:
        return Cause()  # by microseconds, which hosts take as well as queues
    if not varies or _is_spiked(known, least):
        is_sure = not varies and least >= SURE_SHARE * middle
        return Cause(
            code="distance", variant="series", share_of_time=least / middle, duration_s=middle,
            confidence=HIGH if is_sure else MEDIUM, signs=tuple(signs),
        )  # fmt: skip
    if middle > 1.2 * least and _is_blurred(known, least):
        signs.append(Sign(name="median_s", value=middle, unit="s", origin="median"))
        return loss if is_lossy else Cause(
            code="delay-variation", variant="series", confidence=MEDIUM, signs=tuple(signs)
        )  # fmt: skip
    late = _late(known, least)
    if high > 3 * middle and late.mean() < 0.5:
        bursts = _of_bursts(rtt_s, least, signs)
        return loss if is_lossy and bursts.code != "line" else bursts
    shown = high if high > 3 * middle else middle
    queue = (shown - least) / shown
    if queue > 0.4:
        return Cause(
            code="line", variant="growth" if shown > middle else "series", share_of_time=queue,
            duration_s=shown, signs=tuple(signs), confidence=MEDIUM,
        )  # fmt: skip
    return loss if is_lossy else Cause(
        code="distance", variant="series", share_of_time=1 - queue, duration_s=shown,
        confidence=MEDIUM, signs=tuple(signs),
    )  # fmt: skip


def slow_of(known: FloatArray) -> float:
    """Return the 95th percentile of round trips; of a short series the slowest. [s]"""
    return float(np.percentile(known, 95) if known.size >= SHORT_SERIES else known.max())


def far_late(rtt_s: FloatArray) -> NDArray[np.bool_]:
    """Return which answers are far later than the others; none if many are. nan is no answer."""
    middle = float(np.nanmedian(rtt_s))
    late = np.asarray(rtt_s >= max(FAR_RATIO * middle, middle + QUEUE_S))
    return late if late.mean() < RARE_RATIO else np.zeros_like(late)


def period_of(late: NDArray[np.bool_]) -> float:
    """Return after how many probes late ones come again; nan if not at even intervals. [1]"""
    begins = np.flatnonzero(np.diff(late.astype(int), prepend=0) > 0)
    steps = np.diff(begins)
    if begins.size < FEWEST_OF_PERIOD:
        return math.nan
    period = float(np.median(steps))
    off = np.abs(steps - period).max()
    return period if period > ROW_LENGTH and off <= max(1.0, EVEN_RATIO * period) else math.nan


def _of_bursts(rtt_s: FloatArray, least: float, signs: list[Sign]) -> Cause:
    """Return the cause of late probes that are few, in rows: their share is of all the time.

    Rows as long as a level are a queue that fills and empties; short ones come from radio, hosts
    and queues alike.
    """
    known = rtt_s[np.isfinite(rtt_s)]
    late = _late(rtt_s, least)
    rows = int(np.count_nonzero(np.diff(late.astype(int), prepend=0) > 0))
    period, share = period_of(late), 1 - least * known.size / float(known.sum())
    shown = (
        *signs,
        Sign(name="late_ratio", value=float(_late(known, least).mean()), unit="ratio",
             origin="answers"),
        Sign(name="late_s", value=float(np.median(rtt_s[late])) - least, unit="s",
             origin="median of the late ones, less the least"),
        Sign(name="row_count", value=float(rows), unit="1", origin="late answers in a row"),
        Sign(name="period_probes", value=period, unit="1", origin="from row to row"),
    )  # fmt: skip
    is_long = late.sum() >= FEWEST_LEVEL * rows and math.isnan(period)
    return Cause(
        code="line" if is_long else "delay-variation",
        variant="bursts" if math.isnan(period) else "periodic", share_of_time=share,
        duration_s=float(known.sum()), confidence=MEDIUM, signs=shown,
    )  # fmt: skip


def loss_interval(lost: int, count: int) -> tuple[float, float, float]:
    """Return the share of lost probes, and its 95 % interval by Wilson (1927). [ratio]"""
    ratio, square = lost / count, QUANTILE**2 / count
    middle = (ratio + square / 2) / (1 + square)
    off = math.sqrt(ratio * (1 - ratio) * square + square**2 / 4) / (1 + square)
    return ratio, max(middle - off, 0.0), min(middle + off, 1.0)


def _longest_row(flags: NDArray[np.bool_]) -> tuple[int, int]:
    """Return where the longest row begins, and how long it is."""
    edges = np.flatnonzero(np.diff(flags.astype(int), prepend=0, append=0)).reshape(-1, 2)
    if not edges.size:
        return 0, 0
    longest = int(np.argmax(np.diff(edges)))
    return int(edges[longest, 0]), int(np.ptp(edges[longest]))


def levels(known: FloatArray) -> Levels | None:
    """Return the part of a series that differs most from the rest; None of too few values.

    The part begins anywhere and ends anywhere; one that reaches the end is a step. By the ranks of
    the values, so that no single late one decides.
    """
    if known.size < 2 * FEWEST_LEVEL:
        return None
    width = -(-known.size // MOST_BLOCKS)
    blocks = np.array([np.median(known[at : at + width]) for at in range(0, known.size, width)])
    fewest = max(FEWEST_LEVEL // width, 1)
    order = np.unique(blocks, return_inverse=True, return_counts=True)
    middle = np.cumsum(order[2]) - (order[2] - 1) / 2  # equal values have the mean of their ranks
    rank = middle[order[1]] - (blocks.size + 1) / 2
    sums = np.concatenate([[0.0], np.cumsum(rank)])
    begin, end = np.triu_indices(blocks.size + 1, k=fewest)
    inside = end - begin
    # Ranks have a sum of 0: what is outside has that of inside, with the other sign.
    apart = (sums[end] - sums[begin]) ** 2 * (1 / inside + 1 / np.maximum(blocks.size - inside, 1))
    at_ends = (end == blocks.size) | ((begin >= fewest) & (blocks.size - end >= fewest))
    fits = at_ends & (blocks.size - inside >= fewest) & (begin > 0)
    if not fits.any():
        return None
    best = int(np.argmax(np.where(fits, apart, -1.0)))
    first, last = int(begin[best]) * width, min(int(end[best]) * width, known.size)
    rest = np.concatenate([known[:first], known[last:]])
    return Levels(first, last, rest, known[first:last])


def _stepped(
    part: Levels, count: int, signs: list[Sign], ttl: FloatArray, answered: NDArray[np.bool_]
) -> Cause | None:
    """Return the cause of a step; None where the levels vary as queues do and stay to the end."""
    before, after = float(np.median(part.rest_s)), float(np.median(part.part_s))
    shown = (
        *signs,
        Sign(name="before_s", value=before, unit="s", origin="median before"),
        Sign(name="after_s", value=after, unit="s", origin="median after"),
        Sign(name="at_probe", value=float(part.begin + 1), unit="1", origin="answers in order"),
        Sign(name="to_probe", value=float(part.end), unit="1", origin="answers in order"),
    )
    comes_back = part.end < count
    if part.is_flat:
        hops = ttl[answered] if ttl.size == answered.size else np.empty(0)
        inside = hops[part.begin : part.end]
        outside = np.concatenate([hops[: part.begin], hops[part.end :]])
        both = inside.size and outside.size
        differ = both and abs(np.median(inside) - np.median(outside)) > 0  # of nan: unknown
        sure = HIGH if differ else LOW if comes_back else MEDIUM
        variant = "back" if comes_back else "series"
        return Cause(code="path-change", variant=variant, confidence=sure, signs=shown)
    if comes_back and part.size_s > 0:
        queue = part.size_s / after
        return Cause(
            code="line", variant="load", share_of_time=queue, duration_s=after, signs=shown,
            confidence=MEDIUM,
        )  # fmt: skip
    return None


def _varies(high: float, least: float) -> bool:
    return high - least > max(QUEUE_RATIO * least, QUEUE_S)


def _late(known: FloatArray, least: float) -> NDArray[np.bool_]:
    return np.asarray(known - least > max(QUEUE_RATIO * least, QUEUE_S))


def _is_spiked(known: FloatArray, least: float) -> bool:
    """Whether the late probes are few and alone: a queue has several in a row."""
    late = _late(known, least)
    rows = int(np.count_nonzero(np.diff(late.astype(int), prepend=0) > 0))
    return bool(late.mean() < RARE_RATIO and late.sum() < ROW_LENGTH * max(rows, 1))


def _is_queue(known: FloatArray, least: float, middle: float, high: float) -> bool:
    """Whether most of the time is one of waiting in a row of probes: losses are then its own."""
    shown = high if high > 3 * middle else middle
    is_blurred = middle > 1.2 * least and _is_blurred(known, least)
    return not is_blurred and not _is_spiked(known, least) and shown - least > 0.4 * shown


def _is_blurred(known: FloatArray, least: float) -> bool:
    """Whether round trips vary from probe to probe and come back to the least again and again."""
    spread = float(np.percentile(known, 95)) - least
    centred = known - known.mean()
    power = float((centred**2).sum())
    steps = np.diff(known)
    slope = float(np.median(steps))
    alike = np.mean(np.abs(steps - slope) < max(0.5 * abs(slope), 5e-4))
    back = steps * slope < 0
    if alike > 0.7 and abs(slope) > 1e-4 and np.abs(steps[back]).max(initial=0.0) > 0.7 * spread:
        return True  # batches at even intervals, in turns with probes at even intervals
    follows = float((centred[1:] * centred[:-1]).sum()) / power if power > 0 else 1.0
    parts = np.array_split(known, max(known.size // 10, 1))
    returns = np.mean([part.min() < least + 0.3 * spread for part in parts])
    # A queue of a transfer stays for longer than ten probes, also where it is emptied at times.
    return bool((follows < 0.4 and returns > 0.7) or (follows < 0.8 and returns > 0.9))
