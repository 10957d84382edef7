"""Rows of a truth table: predicted, measured, and how far the instrument itself may be off."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from netcalc.samples import Meta, Table
from netcalc.units import show

WITHIN_RATIO = 0.02
"""Error up to which a row agrees with theory, and limit of the median of a table. [ratio]"""
WORST_RATIO = 0.05
"""Error up to which a row that the instrument does not explain is tolerated. [ratio]"""
EXPLAINED_RATIO = 0.08
"""Error up to which a row that the instrument explains is tolerated. [ratio]"""
NO_PATH = "no-emulated-path"
"""Code of the reason on a system that cannot emulate a path."""
EXCUSES = (NO_PATH, "congestion-control-refused")
"""Codes of reasons why a row was not run that are the system's, not a failure of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthRow:
    """One quantity at one setting, whose true parameters are known because they were set.

    Parameters
    ----------
    lab, path, what, quantity : str
        The experiment, the emulated path, the other settings, and the quantity measured.
    unit : str
        Unit of ``predicted``, ``measured``, ``own_error`` and ``doubt_error``.
    predicted : float
        What a model says of the parameters that were set, and of the host; nothing is fitted.
    measured : float
        What was measured; nan if it was not.
    statistic : str
        Which of the measurements: ``"smallest of 8"``.
    host : float
        Part of ``predicted`` that the hosts add to a time, or by which they make a rate lower, as
        a calibration of the same minute measured it.
    own_error : float
        Uncertainty of that part: a time may be longer or a rate lower by it, and a time shorter by
        it as far as ``host`` goes.
    both_ways : bool
        Whether all of it, as the error of an estimate, may also make it shorter or higher.
    tolerance_ratio : float
        Tolerance of a row of random events, or of a rule of the kernel; nan for the common one.
    doubt : str
        Warning of the run that its instrument was disturbed.
    doubt_code : str
        The code of that warning.
    doubt_error : float
        By how much that disturbance, as the run itself measured it, may add to ``own_error``.
    why_not : str
        Why nothing was measured.
    why_not_code : str
        The code of that reason.
    """

    lab: str
    path: str
    what: str
    quantity: str
    unit: str
    predicted: float
    measured: float = math.nan
    statistic: str = ""
    host: float = 0.0
    own_error: float = 0.0
    both_ways: bool = False
    tolerance_ratio: float = math.nan
    doubt: str = ""
    doubt_code: str = ""
    doubt_error: float = 0.0
    why_not: str = ""
    why_not_code: str = ""

    @property
    def setting(self) -> str:
        """All that was set."""
        return f"{self.path}, {self.what}"

    @property
    def error_ratio(self) -> float:
        """Measured divided by predicted, minus 1; nan where nothing was measured. [ratio]"""
        return self.measured / self.predicted - 1.0 if self.predicted else math.nan

    @property
    def has_own_tolerance(self) -> bool:
        """Whether the row is held to a tolerance of its own."""
        return not math.isnan(self.tolerance_ratio)

    @property
    def limit_ratio(self) -> float:
        """The tolerance of the row. [ratio]"""
        return self.tolerance_ratio if self.has_own_tolerance else WITHIN_RATIO

    @property
    def is_within(self) -> bool:
        """Whether the error is within 2 %, or within the row's own tolerance."""
        return abs(self.error_ratio) <= self.limit_ratio

    @property
    def unexplained_ratio(self) -> float:
        """Part of the error that the instrument does not explain. [ratio]

        Disturbances make a time longer and a rate lower. A time that is too short is explained only
        by the uncertainty of what theory added for the hosts: never is one shorter than the path.
        """
        slower = self.error_ratio if self.unit == "s" else -self.error_ratio
        explained = min(self.own_error, self.host)
        if slower > 0 or self.both_ways:
            explained = self.own_error + self.doubt_error
        return max(abs(slower) - explained / self.predicted, 0.0)

    @property
    def verdict(self) -> str:
        """``within``, ``instrument``, ``unexplained`` or ``not run``."""
        if self.why_not:
            return "not run"
        if self.is_within:
            return "within"
        return "instrument" if self.unexplained_ratio <= self.limit_ratio else "unexplained"

    @property
    def flag(self) -> str:
        """The verdict in words."""
        if self.verdict == "not run":
            return f"not run: {self.why_not}"
        if self.verdict == "within":
            if self.has_own_tolerance:
                return f"within its own {show(self.tolerance_ratio, 'ratio', digits=2)}"
            return "within 2 %"
        disturbed = ""
        if self.doubt:
            disturbed = f", and up to {show(self.doubt_error, self.unit, digits=2)}: {self.doubt}"
        if self.verdict == "unexplained":
            return f"UNEXPLAINED{disturbed}"
        own, measured = show(self.own_error, self.unit, digits=2), show(self.measured, self.unit)
        return f"explained by instrument: {own} of {measured}{disturbed}"

    @property
    def has_failed(self) -> bool:
        """Whether it gave no number for a reason that is not the system's."""
        return self.verdict == "not run" and self.why_not_code not in EXCUSES


@dataclass(frozen=True, slots=True)
class TruthSummary:
    """A truth table as a whole.

    Parameters
    ----------
    row_count, not_run_count, failed_count : int
        Rows that were measured, rows that were not, and how many of these the system could run.
    median_ratio, worst_ratio : float
        Size of the error over all rows without a tolerance of their own; nan without any.
    worst_explained_ratio : float
        The largest error that the instrument explains; 0 if there is none.
    worst_unexplained_ratio : float
        The largest error that the instrument does not explain; 0 if there is none.
    instrument_count, unexplained_count : int
        Rows beyond 2 % that the instrument explains, and that it does not.
    own_tolerance_count, own_tolerance_kept_count : int
        Rows with a tolerance of their own, and how many of them keep it.
    """

    row_count: int
    not_run_count: int
    failed_count: int
    median_ratio: float
    worst_ratio: float
    worst_explained_ratio: float
    worst_unexplained_ratio: float
    instrument_count: int
    unexplained_count: int
    own_tolerance_count: int
    own_tolerance_kept_count: int

    @property
    def holds(self) -> bool:
        """Whether the median is within 2 %, no unexplained error beyond 5 %, and none beyond 8 %.

        Rows with a tolerance of their own must keep it, and no row that could be run may fail.
        """
        within = math.isnan(self.median_ratio) or self.median_ratio <= WITHIN_RATIO
        kept = self.own_tolerance_kept_count == self.own_tolerance_count
        bounded = (
            self.worst_unexplained_ratio <= WORST_RATIO
            and self.worst_explained_ratio <= EXPLAINED_RATIO
        )
        return self.row_count > 0 and not self.failed_count and within and kept and bounded

    def sentence(self) -> str:
        """Describe the table in a few words."""
        if not self.row_count:
            return f"Nothing was measured; rows not run: {self.not_run_count}."
        text = f"{self.row_count} settings with known parameters"
        if not math.isnan(self.median_ratio):
            text += (
                f": median error {_percent(self.median_ratio)}, worst {_percent(self.worst_ratio)}"
            )
        text += f". Explained by the instrument: {self.instrument_count}"
        if self.instrument_count:
            text += f", the worst {_percent(self.worst_explained_ratio)}"
        text += f"; unexplained beyond 2 %: {self.unexplained_count}"
        if self.unexplained_count:
            text += f", the worst {_percent(self.worst_unexplained_ratio)}"
        if self.own_tolerance_count:
            kept = f"{self.own_tolerance_kept_count} of {self.own_tolerance_count}"
            text += f"; within a tolerance of their own: {kept}"
        if self.not_run_count:
            text += f"; not run: {self.not_run_count}"
        if self.failed_count:
            text += f", of which failed: {self.failed_count}"
        return f"{text}. {'Validation passed' if self.holds else 'VALIDATION FAILED'}."


def truth_summary(rows: Iterable[TruthRow]) -> TruthSummary:
    """Judge a table: its median and worst error, and how much of them is explained.

    Parameters
    ----------
    rows : iterable of TruthRow
        The rows, including those that were not run.

    Returns
    -------
    TruthSummary
        Rows with a tolerance of their own are counted apart, and are unexplained beyond it.
    """
    every = list(rows)
    done = [row for row in every if row.verdict != "not run"]
    errors = [abs(row.error_ratio) for row in done if not row.has_own_tolerance]
    errors = [error for error in errors if not math.isnan(error)]
    own = [row for row in done if row.has_own_tolerance]
    unexplained = [row for row in done if row.verdict == "unexplained"]
    explained = [row for row in done if row.verdict == "instrument"]
    return TruthSummary(
        row_count=len(done),
        not_run_count=len(every) - len(done),
        failed_count=sum(row.has_failed for row in every),
        median_ratio=float(np.median(errors)) if errors else math.nan,
        worst_ratio=max(errors, default=math.nan),
        worst_explained_ratio=max(map(_size, explained), default=0.0),
        worst_unexplained_ratio=max(map(_size, unexplained), default=0.0),
        instrument_count=len(explained),
        unexplained_count=len(unexplained),
        own_tolerance_count=len(own),
        own_tolerance_kept_count=sum(row.verdict != "unexplained" for row in own),
    )


def table_of(rows: Sequence[TruthRow], meta: Meta) -> Table:
    """Put rows into a container that can be saved, with their error, verdict and flag."""
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
        The result of :func:`netcalc.truth.validate`.

    Returns
    -------
    list of TruthRow
        In the order in which they were measured. A table saved before theory had the hosts has no
        ``host``; one saved before warnings had codes has no ``doubt_code``, ``doubt_error`` and
        ``why_not_code``: its doubts explain nothing, and a row that was not run counts as failed.
    """
    present = table.columns()
    names = [field.name for field in fields(TruthRow) if field.name in present]
    columns = [table[name].tolist() for name in names]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return [TruthRow(**{**row, "both_ways": bool(row["both_ways"])}) for row in rows]


def _size(row: TruthRow) -> float:
    """Return the size of the error of a row; infinite where it gave no number at all."""
    return math.inf if math.isnan(row.error_ratio) else abs(row.error_ratio)


def _percent(value: float) -> str:
    return f"{100 * value:.2g} %" if value < 1 else f"{100 * value:.0f} %"
