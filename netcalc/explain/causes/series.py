"""The cause of a series of round trips: loss, a step, batches, a queue, or a load beside it.

A median hides all of them: half the replies at 40 ms and half at 90 have one of 40 or 90.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray
from netcalc.explain.causes.cause import HIGH, LOW, MEDIUM, Cause, Sign
from netcalc.messages import Notice
from netcalc.samples import RttSamples, Samples

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
FEWEST_ROW = 3
"""Answers that show a row, beside others."""
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
class LevelShift:
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
        rest, part = (np.percentile(times_s, [10, 90]) for times_s in (self.rest_s, self.part_s))
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
        return [
            float(np.ptp(np.percentile(times_s, [10, 90])))
            for times_s in (self.rest_s, self.part_s)
        ]


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
    answered_s, gone = rtt_s[np.isfinite(rtt_s)], np.asarray(lost, bool)
    if answered_s.size < FEWEST_LEVEL or not np.median(answered_s) > 0:
        return Cause()  # of a median of 0 the clock of the tool is too coarse
    probes = _Probes(rtt_s, gone, np.asarray(ttl, dtype=float), idle_s)
    if (change := _other_path(probes)) is not None:
        return change
    if gone.size < FEWEST_PROBES:
        return Cause()
    return next(filter(None, (judge(probes) for judge in _JUDGES)))


class _Probes:
    """A series of probes, and the numbers by which its cause is judged."""

    def __init__(
        self, rtt_s: FloatArray, gone: NDArray[np.bool_], ttl: FloatArray, idle_s: float | None
    ) -> None:
        self.rtt_s, self.gone, self.ttl = rtt_s, gone, ttl
        self.answered = np.isfinite(rtt_s)
        self.answered_s = rtt_s[self.answered]
        self.median_s, self.slow_s = float(np.median(self.answered_s)), slow_of(self.answered_s)
        self.fastest_s = float(self.answered_s.min())
        self.least_s = min(self.fastest_s, math.inf if idle_s is None else idle_s)
        self.loss_ratio, self.least_loss, most_loss = loss_interval(int(gone.sum()), gone.size)
        self.is_lossy = bool(gone.sum() >= FEWEST_LOST and self.least_loss > LEAST_LOSS)
        self.varies = _is_above(self.slow_s, self.least_s)
        self.is_grown = self.slow_s > 3 * self.median_s
        self.shown_s = self.slow_s if self.is_grown else self.median_s
        late = self.late = _late(self.answered_s, self.least_s)
        # Few late probes, and alone: a queue has several in a row.
        is_alone = late.sum() < ROW_LENGTH * max(_row_count(late), 1)
        self.is_spiked = bool(late.mean() < RARE_RATIO and is_alone)
        is_off = self.median_s > 1.2 * self.least_s
        self.is_scattered = is_off and _is_blurred(self.answered_s, self.least_s)
        is_short = self.answered_s.size < SHORT_SERIES
        slow_from = "slowest round trip" if is_short else "95th percentile"
        least_from = "least round trip" if self.least_s == self.fastest_s else "stated"
        self.signs = (
            Sign("base_rtt_s", self.least_s, least_from),
            Sign("fastest_s", self.fastest_s, "least round trip"),
            Sign("loss_ratio", self.loss_ratio, "probes without an answer",
                 low=self.least_loss, high=most_loss),
            Sign("queue_s", self.slow_s - self.least_s, slow_from),
            Sign("slow_s", self.slow_s, slow_from),
        )  # fmt: skip

    def cause(self, code: str, *more: Sign, variant: str = "series", **facts: Any) -> Cause:
        """Return a cause with what the series shows, and further signs of it."""
        signs = (*self.signs, *more)
        return Cause(
            **{"code": code, "variant": variant, "confidence": MEDIUM, "signs": signs, **facts}
        )

    def loss_or(self, cause: Cause) -> Cause:
        """Return the losses, which come before a cause where there are many."""
        return self.cause("random-loss") if self.is_lossy else cause


def _other_path(probes: _Probes) -> Cause | None:
    """Return that round trip and TTL changed together, once, and both stayed as they were then."""
    if probes.ttl.size != probes.answered.size:
        return None
    hops = probes.ttl[probes.answered]
    at = np.flatnonzero(np.diff(hops)) + 1
    if at.size != 1 or np.isnan(hops).any():
        return None
    part = LevelShift(int(at[0]), hops.size, probes.answered_s[: at[0]], probes.answered_s[at[0] :])
    if part.part_s.size < FEWEST_ROW or not (part.is_clear and part.is_flat):
        return None
    numbers = {
        "before_s": np.median(part.rest_s), "after_s": np.median(part.part_s),
        "at_probe": at[0] + 1, "to_probe": hops.size,
        "before_ttl": hops[0], "after_ttl": hops[-1],
    }  # fmt: skip
    signs = (Sign(name, float(value), "answers in order") for name, value in numbers.items())
    is_sure = min(part.rest_s.size, part.part_s.size) >= FEWEST_LEVEL
    return probes.cause(
        "path-change", *signs, variant="ttl", confidence=HIGH if is_sure else MEDIUM
    )


def _held(probes: _Probes) -> Cause | None:
    """Return that packets were held once: their times fall by the interval between probes.

    So they arrived at one moment. Several such rows are batches.
    """
    steps = np.diff(probes.rtt_s)
    falls = np.flatnonzero(steps < -probes.least_s)
    rows = np.split(falls, np.flatnonzero(np.diff(falls) != 1) + 1)
    rows = [row for row in rows if row.size >= FEWEST_ROW]
    if len(rows) != 1:
        return None
    row = rows[0]
    interval_s = -float(np.median(steps[row[:-1]]))
    if (np.abs(steps[row[:-1]] + interval_s) > EVEN_RATIO * interval_s).any():
        return None
    # The last fall is to the probes that were not held, and may be shorter.
    is_held = -steps[row[-1]] > (1 - EVEN_RATIO) * interval_s
    last = int(row[-1]) + (1 if is_held and probes.rtt_s[row[-1] + 1] > 2 * probes.least_s else 0)
    begin = int(row[0])
    outside = np.delete(probes.rtt_s, np.s_[begin : last + 1])
    outside = outside[np.isfinite(outside)]
    if outside.size < FEWEST_ROW or _is_above(float(outside.max()), probes.least_s):
        return None
    answered = np.cumsum(probes.answered)
    numbers = {
        "pause_s": probes.rtt_s[begin] - probes.least_s,
        "at_probe": answered[begin], "to_probe": answered[last],
    }  # fmt: skip
    signs = (Sign(name, float(value), "answers in order") for name, value in numbers.items())
    return probes.cause("delay-variation", *signs, variant="held")


def _outage(probes: _Probes) -> Cause | None:
    """Return losses in one row that random ones would hardly give."""
    begin, count = _longest_row(probes.gone)
    is_rare = probes.gone.size * probes.loss_ratio**count < OUTAGE_CHANCE
    if not (probes.is_lossy and count >= probes.gone.sum() / 2 and is_rare):
        return None
    row = Sign("lost_in_row", float(count), "probes"), Sign("at_probe", float(begin + 1), "probes")
    return probes.cause("outage", *row)


def _heavy_loss(probes: _Probes) -> Cause | None:
    """Return losses that come before a step: heavy, or of a path without a queue."""
    is_told = probes.is_lossy and (not probes.varies or probes.least_loss > HEAVY_LOSS)
    # Most of the time is waiting in a row of probes: the losses are those of the queue.
    queue_s = probes.shown_s - probes.least_s
    is_queue = not (probes.is_scattered or probes.is_spiked) and queue_s > 0.4 * probes.shown_s
    return probes.cause("random-loss") if is_told and not is_queue else None


def _step(probes: _Probes) -> Cause | None:
    """Return the cause of a step; None where the levels vary as queues do and stay to the end."""
    part = levels(probes.answered_s)
    if part is None or not part.is_clear:
        return None
    before, after = float(np.median(part.rest_s)), float(np.median(part.part_s))
    signs = (
        Sign("before_s", before, "median before"),
        Sign("after_s", after, "median after"),
        Sign("at_probe", float(part.begin + 1), "answers in order"),
        Sign("to_probe", float(part.end), "answers in order"),
    )
    comes_back = part.end < probes.answered_s.size
    if part.is_flat:
        is_told = probes.ttl.size == probes.answered.size
        hops = probes.ttl[probes.answered] if is_told else np.empty(0)
        inside = hops[part.begin : part.end]
        outside = np.concatenate([hops[: part.begin], hops[part.end :]])
        both = inside.size and outside.size
        differ = both and abs(np.median(inside) - np.median(outside)) > 0  # of nan: unknown
        sure = HIGH if differ else LOW if comes_back else MEDIUM
        variant = "back" if comes_back else "series"
        return probes.cause("path-change", *signs, variant=variant, confidence=sure)
    if comes_back and part.size_s > 0:
        queue = part.size_s / after
        return probes.cause("line", *signs, variant="load", share_of_time=queue, duration_s=after)
    return None


def _standing_queue(probes: _Probes) -> Cause | None:
    """Return that all round trips are above the one that is stated, by as much."""
    is_off = _is_above(probes.fastest_s, probes.least_s)
    if not is_off or _is_above(probes.median_s, probes.fastest_s):
        return None
    return probes.loss_or(Cause(variant="standing", signs=probes.signs))


def _idle_path(probes: _Probes) -> Cause | None:
    """Return the distance of a path whose probes hardly wait; no cause of microseconds."""
    share = probes.least_s / probes.median_s
    if not probes.varies and probes.least_s < LEAST_SHARE * probes.median_s:
        return Cause()  # hosts take microseconds as well as queues
    if probes.varies and not probes.is_spiked:
        return None
    is_sure = not probes.varies and probes.least_s >= SURE_SHARE * probes.median_s
    return probes.cause(
        "distance", share_of_time=share, duration_s=probes.median_s,
        confidence=HIGH if is_sure else MEDIUM,
    )  # fmt: skip


def _scatter(probes: _Probes) -> Cause | None:
    """Return delays that vary from probe to probe."""
    if not probes.is_scattered:
        return None
    return probes.loss_or(
        probes.cause("delay-variation", Sign("median_s", probes.median_s, "median"))
    )


def _bursts(probes: _Probes) -> Cause | None:
    """Return the cause of late probes that are few, in rows: their share is of all the time.

    Rows as long as a level are a queue that fills and empties; short ones come from radio, hosts
    and queues alike.
    """
    if not (probes.is_grown and probes.late.mean() < 0.5):
        return None
    late, spent_s = _late(probes.rtt_s, probes.least_s), float(probes.answered_s.sum())
    rows, period = _row_count(late), period_of(late)
    late_s = float(np.median(probes.rtt_s[late])) - probes.least_s
    signs = (
        Sign("late_ratio", float(probes.late.mean()), "answers"),
        Sign("late_s", late_s, "median of the late ones, less the least"),
        Sign("row_count", float(rows), "late answers in a row"),
        Sign("period_probes", period, "from row to row"),
    )
    is_queue = late.sum() >= FEWEST_LEVEL * rows and math.isnan(period)
    cause = probes.cause(
        "line" if is_queue else "delay-variation", *signs,
        variant="bursts" if math.isnan(period) else "periodic",
        share_of_time=1 - probes.least_s * probes.answered_s.size / spent_s, duration_s=spent_s,
    )  # fmt: skip
    return cause if is_queue else probes.loss_or(cause)


def _queue_or_path(probes: _Probes) -> Cause:
    """Return the larger part of a round trip: the queue, or the distance."""
    shown_s = probes.shown_s
    queue = (shown_s - probes.least_s) / shown_s
    if queue > 0.4:
        variant = "growth" if shown_s > probes.median_s else "series"
        return probes.cause("line", variant=variant, share_of_time=queue, duration_s=shown_s)
    return probes.loss_or(probes.cause("distance", share_of_time=1 - queue, duration_s=shown_s))


_JUDGES: tuple[Callable[[_Probes], Cause | None], ...] = (
    _held, _outage, _heavy_loss, _step, _standing_queue, _idle_path, _scatter, _bursts,
    _queue_or_path,
)  # fmt: skip
"""Who names the cause of a series: the first of them that sees it."""


def slow_of(answered_s: FloatArray) -> float:
    """Return the 95th percentile of round trips; of a short series the slowest. [s]"""
    return float(
        np.percentile(answered_s, 95) if answered_s.size >= SHORT_SERIES else answered_s.max()
    )


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


def levels(answered_s: FloatArray) -> LevelShift | None:
    """Return the part of a series that differs most from the rest; None of too few values.

    The part begins anywhere and ends anywhere; one that reaches the end is a step. By the ranks of
    the values, so that no single late one decides.
    """
    if answered_s.size < 2 * FEWEST_LEVEL:
        return None
    width = -(-answered_s.size // MOST_BLOCKS)
    blocks = np.array(
        [np.median(answered_s[at : at + width]) for at in range(0, answered_s.size, width)]
    )
    fewest = max(FEWEST_LEVEL // width, 1)
    _, index, counts = np.unique(blocks, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2  # equal values have the mean of their ranks
    rank = middle[index] - (blocks.size + 1) / 2
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
    first, last = int(begin[best]) * width, min(int(end[best]) * width, answered_s.size)
    rest = np.concatenate([answered_s[:first], answered_s[last:]])
    return LevelShift(first, last, rest, answered_s[first:last])


def _is_above(rtt_s: float, least_s: float) -> bool:
    return rtt_s - least_s > max(QUEUE_RATIO * least_s, QUEUE_S)


def _late(rtt_s: FloatArray, least_s: float) -> NDArray[np.bool_]:
    return np.asarray(rtt_s - least_s > max(QUEUE_RATIO * least_s, QUEUE_S))


def _row_count(flags: NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(np.diff(flags.astype(int), prepend=0) > 0))


def _is_blurred(answered_s: FloatArray, least: float) -> bool:
    """Whether round trips vary from probe to probe and come back to the least again and again."""
    spread = float(np.percentile(answered_s, 95)) - least
    centred = answered_s - answered_s.mean()
    power = float((centred**2).sum())
    steps = np.diff(answered_s)
    slope = float(np.median(steps))
    alike = np.mean(np.abs(steps - slope) < max(0.5 * abs(slope), 5e-4))
    back = steps * slope < 0
    if alike > 0.7 and abs(slope) > 1e-4 and np.abs(steps[back]).max(initial=0.0) > 0.7 * spread:
        return True  # batches at even intervals, in turns with probes at even intervals
    follows = float((centred[1:] * centred[:-1]).sum()) / power if power > 0 else 1.0
    parts = np.array_split(answered_s, max(answered_s.size // 10, 1))
    returns = np.mean([part.min() < least + 0.3 * spread for part in parts])
    # A queue of a transfer stays for longer than ten probes, also where it is emptied at times.
    return bool((follows < 0.4 and returns > 0.7) or (follows < 0.8 and returns > 0.9))


TRIMMED_RATIO = 0.95
"""The mean of the shortest of so many is taken: the draft's one-sided trimmed mean. [ratio]"""
PARTS = 5
"""Parts of a series whose means give its interval: neighbouring probes meet the same queue."""
STUDENT_OF_PARTS = 2.776445
"""97.5 % quantile of Student's t with four degrees of freedom. [1]"""
FEWEST_IN_PART = 4
GRADES = ((0.005, "A+"), (0.03, "A"), (0.06, "B"), (0.2, "C"), (0.4, "D"))
"""Delays that a load adds, and the grade of less; F from the last one on. [s]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingLatency:
    """Mean round trips without and with a load, trimmed, and the 95 % interval of each.

    Parameters
    ----------
    idle_s, loaded_s : tuple of float
        The mean, and the ends of its interval. [s]

    References
    ----------
    Paasch, Meyer, Cheshire and Hawkins, "Responsiveness under Working Conditions",
    draft-ietf-ippm-responsiveness-08, 2025 (60 s over a trimmed mean of 95 %).
    "Bufferbloat Grades", https://www.dslreports.com/faq/17930 (for the mean of both directions).
    """

    idle_s: tuple[float, float, float]
    loaded_s: tuple[float, float, float]

    @property
    def added_s(self) -> tuple[float, float, float]:
        """What the load adds, and the ends of its interval. [s]"""
        middle = self.loaded_s[0] - self.idle_s[0]
        off = np.hypot(self.loaded_s[2] - self.loaded_s[0], self.idle_s[2] - self.idle_s[0])
        return middle, middle - float(off), middle + float(off)

    @property
    def grade(self) -> str:
        """The grade of what the load adds; of both ends of its interval where these differ."""
        middle, *ends = (_grade(added_s) for added_s in self.added_s)
        return middle if ends[0] == ends[1] else f"{middle} ({ends[0]} to {ends[1]})"

    @property
    def said(self) -> tuple[Notice, ...]:
        """The working latency, round trips a minute, and the grade, as codes with values."""
        middle, low, high = self.loaded_s
        numbers = {
            "idle_s": self.idle_s[0], "loaded_s": middle, "low_s": low, "high_s": high,
            "per_minute": 60 / middle, "least_per_minute": 60 / high, "most_per_minute": 60 / low,
        }  # fmt: skip
        ends = dict(zip(("added_s", "low_s", "high_s"), self.added_s, strict=True))
        added = {**ends, "grade": self.grade}
        return Notice("working-latency", numbers), Notice("working-grade", added)


def _grade(added_s: float) -> str:
    return next((grade for limit_s, grade in GRADES if added_s < limit_s), "F")


def trimmed(rtt_s: FloatArray) -> tuple[float, float, float] | None:
    """Return the trimmed mean of a series and its 95 % interval; None of too few values. [s]

    The interval is that of the means of five parts in a row, by Student's t. The slowest count in
    it with the time of the last one that is not left out (Tukey and McLaughlin, 1963): the place of
    that one is uncertain too.
    """
    answered_s = rtt_s[np.isfinite(rtt_s)]
    if answered_s.size < PARTS * FEWEST_IN_PART:
        return None
    slowest = np.quantile(answered_s, TRIMMED_RATIO)
    kept = answered_s[answered_s <= slowest]
    parts = [part.mean() for part in np.array_split(np.minimum(answered_s, slowest), PARTS)]
    off = STUDENT_OF_PARTS * float(np.std(parts, ddof=1)) / np.sqrt(PARTS) / TRIMMED_RATIO
    middle = float(kept.mean())
    return middle, max(middle - float(off), float(kept.min())), middle + float(off)


def working_latency(idle_s: FloatArray, loaded_s: FloatArray) -> WorkingLatency | None:
    """Compare round trips without a load with those during it, in the order of their sending.

    Parameters
    ----------
    idle_s, loaded_s : array_like
        Round trips; nan where there is none. [s]

    Returns
    -------
    WorkingLatency or None
        None where one has fewer than twenty, or the load adds nothing beyond the scatter.
    """
    idle, loaded = trimmed(idle_s), trimmed(loaded_s)
    if idle is None or loaded is None:
        return None
    latency = WorkingLatency(idle_s=idle, loaded_s=loaded)
    return latency if latency.added_s[1] > 0 else None


def of_levels(part: LevelShift) -> tuple[Notice, ...]:
    """Return the working latency of a series in which a load ran for a part of the time."""
    idle, loaded = part.rest_s, part.part_s
    if part.size_s < 0:
        idle, loaded = loaded, idle
    latency = working_latency(idle, loaded)
    return latency.said if latency is not None else ()


def least_elsewhere(read: Mapping[str, Samples], name: str) -> tuple[float, str] | None:
    """Return the least round trip of another ping to the target of a file, if below its own."""
    own, least = read[name], []
    for other, samples in read.items():
        is_alike = isinstance(samples, RttSamples) and samples.meta.target == own.meta.target
        if is_alike and isinstance(samples, RttSamples) and samples.best_s.size:
            least.append((float(samples.best_s.min()), other))
    if not own.meta.target or not least or name not in [other for _, other in least]:
        return None
    own_s = next(time for time, other in least if other == name)
    return min(least) if _is_above(own_s, min(least)[0]) else None


def of_files(read: Mapping[str, Samples]) -> tuple[Notice, ...]:
    """Return the working latency of two pings of equal size, if one was taken during a load."""
    pings = {
        name: samples.best_s
        for name, samples in read.items()
        if isinstance(samples, RttSamples) and len(samples.groups) == 1
    }
    sizes = {
        size
        for samples in read.values()
        for size in np.unique(samples.columns().get("payload_bytes", np.empty(0))).tolist()
    }
    if len(read) != 2 or len(pings) != 2 or len(sizes) != 1:
        return ()
    (idle, idle_s), (loaded, loaded_s) = sorted(
        pings.items(), key=lambda item: float(np.median(item[1])) if item[1].size else 0.0
    )
    latency = working_latency(idle_s, loaded_s)
    if latency is None:
        return ()
    return (*latency.said, Notice("working-files", {"loaded": loaded, "idle": idle}))
