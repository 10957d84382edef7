"""Rows of a truth table: what theory says, what was measured, and what may be off by itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from netcalc.samples import Meta, Table
from netcalc.units import show

WITHIN_RATIO = 0.02
"""A row is right if it is off by no more than this, and so is the median of a table. [ratio]"""
WORST_RATIO = 0.05
"""No row may be off by more than this, unless the instrument's own error explains it. [ratio]"""
NO_WIRE = "no wire"
"""How the reason begins why a row was not run on a system that cannot emulate a path."""
NO_RULE = "the congestion control"
"""How it begins where the system does not grant a rule of TCP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthRow:
    """One quantity at one setting whose truth is known because it was set.

    Parameters
    ----------
    lab, path, what, quantity : str
        The experiment, the path that was set, what else was, and what was measured.
    unit : str
        Unit of ``predicted``, ``measured`` and ``own_error``.
    predicted : float
        What a model says of the parameters that were set; nothing is fitted.
    measured : float
        What was measured; nan if it was not.
    statistic : str
        Which of the measurements: ``"smallest of 8"``.
    own_error : float
        By how much the instrument's own cost may make a time longer or a rate lower. It is
        measured in the same run and subtracted from nothing.
    both_ways : bool
        Whether the own error may as well make it shorter or higher, as that of an estimate.
    tolerance_ratio : float
        A row of random events, or of a kernel's own rule, has a tolerance of its own; others nan.
    doubt : str
        Why the instrument itself says that it did not work.
    why_not : str
        Why nothing was measured.
    """

    lab: str
    path: str
    what: str
    quantity: str
    unit: str
    predicted: float
    measured: float = math.nan
    statistic: str = ""
    own_error: float = 0.0
    both_ways: bool = False
    tolerance_ratio: float = math.nan
    doubt: str = ""
    why_not: str = ""

    @property
    def setting(self) -> str:
        """All that was set."""
        return f"{self.path}, {self.what}"

    @property
    def error_ratio(self) -> float:
        """Measured against predicted, less 1; nan where nothing was measured. [ratio]"""
        return self.measured / self.predicted - 1.0 if self.predicted else math.nan

    @property
    def has_own_tolerance(self) -> bool:
        """Whether the row is held to a tolerance of its own."""
        return not math.isnan(self.tolerance_ratio)

    @property
    def is_within(self) -> bool:
        """Whether the error is within 2 %, or within the row's own tolerance."""
        limit = self.tolerance_ratio if self.has_own_tolerance else WITHIN_RATIO
        return abs(self.error_ratio) <= limit

    @property
    def unexplained_ratio(self) -> float:
        """What is left of the error without what the instrument explains. [ratio]

        Its own cost makes a time longer and a rate lower, never the other way, and so does what it
        says against itself: a time that is too short is not explained by it.
        """
        slower = self.error_ratio if self.unit == "s" else -self.error_ratio
        if self.doubt and (slower > 0 or self.both_ways):
            return 0.0
        own = self.own_error / self.predicted if slower > 0 or self.both_ways else 0.0
        return max(abs(slower) - own, 0.0)

    @property
    def verdict(self) -> str:
        """``within``, ``instrument``, ``unexplained`` or ``not run``."""
        if self.why_not:
            return "not run"
        if self.is_within:
            return "within"
        limit = self.tolerance_ratio if self.has_own_tolerance else WITHIN_RATIO
        return "instrument" if self.unexplained_ratio <= limit else "unexplained"

    @property
    def flag(self) -> str:
        """The verdict in words."""
        if self.verdict == "not run":
            return f"not run: {self.why_not}"
        if self.verdict == "within":
            if self.has_own_tolerance:
                return f"within its own {show(self.tolerance_ratio, 'ratio', digits=2)}"
            return "within 2 %"
        if self.verdict == "unexplained":
            return "UNEXPLAINED"
        if self.doubt:
            return f"explained by instrument: {self.doubt}"
        own, of = show(self.own_error, self.unit, digits=2), show(self.measured, self.unit)
        return f"explained by instrument: {own} of {of}"

    @property
    def has_failed(self) -> bool:
        """Whether it gave no number for another reason than a system without a wire or a rule."""
        return self.verdict == "not run" and not self.why_not.startswith((NO_WIRE, NO_RULE))


@dataclass(frozen=True, slots=True)
class TruthSummary:
    """What a truth table says as a whole.

    Parameters
    ----------
    row_count, not_run_count, failed_count : int
        Rows that were measured, rows that were not, and those of them that a wire was there for.
    median_ratio, worst_ratio : float
        Size of the error over all rows without a tolerance of their own; nan without any.
    worst_unexplained_ratio : float
        The largest error that the instrument does not explain; 0 if there is none.
    instrument_count, unexplained_count : int
        Rows beyond 2 % that the instrument explains, and that it does not.
    own_tolerance_count, own_tolerance_kept_count : int
        Rows with a tolerance of their own, and those of them that keep it.
    """

    row_count: int
    not_run_count: int
    failed_count: int
    median_ratio: float
    worst_ratio: float
    worst_unexplained_ratio: float
    instrument_count: int
    unexplained_count: int
    own_tolerance_count: int
    own_tolerance_kept_count: int

    @property
    def holds(self) -> bool:
        """Whether the median is within 2 %, and no error beyond 5 % is unexplained.

        A row with a tolerance of its own has to keep that, and none may fail that could be run.
        """
        within = math.isnan(self.median_ratio) or self.median_ratio <= WITHIN_RATIO
        kept = self.own_tolerance_kept_count == self.own_tolerance_count
        bounded = self.worst_unexplained_ratio <= WORST_RATIO
        return self.row_count > 0 and not self.failed_count and within and kept and bounded

    def sentence(self) -> str:
        """Return what the table says in words."""
        if not self.row_count:
            return f"Nothing was measured; rows not run: {self.not_run_count}."
        text = f"{self.row_count} settings at known truth"
        if not math.isnan(self.median_ratio):
            text += (
                f": median error {_percent(self.median_ratio)}, worst {_percent(self.worst_ratio)}"
            )
        text += f". Explained by the instrument: {self.instrument_count}"
        text += f"; unexplained beyond 2 %: {self.unexplained_count}"
        if self.unexplained_count:
            text += f", the worst {_percent(self.worst_unexplained_ratio)}"
        if self.own_tolerance_count:
            kept = f"{self.own_tolerance_kept_count} of {self.own_tolerance_count}"
            text += f"; with a tolerance of their own: {kept} keep it"
        if self.not_run_count:
            text += f"; not run: {self.not_run_count}"
        if self.failed_count:
            text += f", failed: {self.failed_count} of them"
        return f"{text}. {'The table holds' if self.holds else 'THE TABLE DOES NOT HOLD'}."


def truth_summary(rows: Iterable[TruthRow]) -> TruthSummary:
    """Judge a table: its median, its worst error, and what of it is explained.

    Parameters
    ----------
    rows : iterable of TruthRow
        The rows, those that were not run too.

    Returns
    -------
    TruthSummary
        Rows with a tolerance of their own are counted apart, and unexplained beyond it.
    """
    every = list(rows)
    done = [row for row in every if row.verdict != "not run"]
    errors = [abs(row.error_ratio) for row in done if not row.has_own_tolerance]
    errors = [error for error in errors if not math.isnan(error)]
    own = [row for row in done if row.has_own_tolerance]
    unexplained = [row for row in done if row.verdict == "unexplained"]
    return TruthSummary(
        row_count=len(done),
        not_run_count=len(every) - len(done),
        failed_count=sum(row.has_failed for row in every),
        median_ratio=float(np.median(errors)) if errors else math.nan,
        worst_ratio=max(errors, default=math.nan),
        worst_unexplained_ratio=max(map(_size, unexplained), default=0.0),
        instrument_count=sum(row.verdict == "instrument" for row in done),
        unexplained_count=len(unexplained),
        own_tolerance_count=len(own),
        own_tolerance_kept_count=sum(row.verdict != "unexplained" for row in own),
    )


def table_of(rows: Sequence[TruthRow], meta: Meta) -> Table:
    """Put rows into a container that can be saved; the error and the flag stand beside them."""
    names = [field.name for field in fields(TruthRow)]
    data: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in names}
    data["both_ways"] = [float(row.both_ways) for row in rows]
    data["setting"] = [row.setting for row in rows]
    data["error_ratio"] = [row.error_ratio for row in rows]
    data["verdict"] = [row.verdict for row in rows]
    data["flag"] = [row.flag for row in rows]
    return Table(data=data, meta=meta)


def truth_rows(table: Table) -> list[TruthRow]:
    """Return the rows of a truth table, also of one that was saved and loaded.

    Parameters
    ----------
    table : Table
        What :func:`netcalc.truth.truth` returned.

    Returns
    -------
    list of TruthRow
        In the order in which they were measured.
    """
    names = [field.name for field in fields(TruthRow)]
    columns = [table[name].tolist() for name in names]
    found = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return [TruthRow(**{**row, "both_ways": bool(row["both_ways"])}) for row in found]


def _size(row: TruthRow) -> float:
    """Return how far off a row is; what gave no number at all is as far off as can be."""
    return math.inf if math.isnan(row.error_ratio) else abs(row.error_ratio)


def _percent(value: float) -> str:
    return f"{100 * value:.2g} %" if value < 1 else f"{100 * value:.0f} %"
