"""Working latency: what round trips take while a load runs, beside those of the idle path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from netcalc.checks import FloatArray
from netcalc.explain.causes.series import Levels
from netcalc.messages import Notice
from netcalc.samples import RttSamples, Samples

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
        added_s, low_added_s, high_added_s = self.added_s
        numbers = {
            "idle_s": self.idle_s[0], "loaded_s": middle, "low_s": low, "high_s": high,
            "per_minute": 60 / middle, "least_per_minute": 60 / high, "most_per_minute": 60 / low,
        }  # fmt: skip
        added = {
            "added_s": added_s, "low_s": low_added_s, "high_s": high_added_s, "grade": self.grade,
        }  # fmt: skip
        return Notice("working-latency", numbers), Notice("working-grade", added)


def _grade(added_s: float) -> str:
    return next((grade for limit_s, grade in GRADES if added_s < limit_s), "F")


def trimmed(rtt_s: FloatArray) -> tuple[float, float, float] | None:
    """Return the trimmed mean of a series and its 95 % interval; None of too few values. [s]

    The interval is that of the means of five parts in a row, by Student's t. The slowest count in
    it with the time of the last one that is not left out (Tukey and McLaughlin, 1963): the place of
    that one is uncertain too.
    """
    known = rtt_s[np.isfinite(rtt_s)]
    if known.size < PARTS * FEWEST_IN_PART:
        return None
    slowest = np.quantile(known, TRIMMED_RATIO)
    kept = known[known <= slowest]
    parts = [part.mean() for part in np.array_split(np.minimum(known, slowest), PARTS)]
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
    found = WorkingLatency(idle_s=idle, loaded_s=loaded)
    return found if found.added_s[1] > 0 else None


def of_levels(part: Levels) -> tuple[Notice, ...]:
    """Return the working latency of a series in which a load ran for a part of the time."""
    idle, loaded = part.rest_s, part.part_s
    if part.size_s < 0:
        idle, loaded = loaded, idle
    found = working_latency(idle, loaded)
    return found.said if found is not None else ()


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
    found = working_latency(idle_s, loaded_s)
    if found is None:
        return ()
    return (*found.said, Notice("working-files", {"loaded": loaded, "idle": idle}))
