"""Every experiment with known parameters: measurements compared with theory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from netcalc.checks import choice
from netcalc.errors import ExperimentError
from netcalc.experiments.running import instrument
from netcalc.experiments.running.run import Common, Progress, Record
from netcalc.experiments.running.stopping import Stop
from netcalc.samples import Table
from netcalc.truth.bench import Bench, Setting
from netcalc.truth.rows import WITHIN_RATIO as WITHIN_RATIO
from netcalc.truth.rows import WORST_RATIO as WORST_RATIO
from netcalc.truth.rows import TruthRow as TruthRow
from netcalc.truth.rows import TruthSummary as TruthSummary
from netcalc.truth.rows import table_of
from netcalc.truth.rows import truth_rows as truth_rows
from netcalc.truth.rows import truth_summary as truth_summary
from netcalc.truth.settings import LABS, SETTINGS


def validate(
    *,
    labs: Sequence[str] = (),
    quick: bool = False,
    progress: Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> Table:
    """Run every experiment on emulated links with known parameters and compare with theory.

    Predictions come from models with the parameters that were set; nothing is fitted. To the path
    theory adds what the two hosts take, measured in the same minute as the same exchange over a
    path without links. Each row has the uncertainty of that part.

    Parameters
    ----------
    labs : sequence of str
        Experiments to run, of :data:`LABS`; all if empty.
    quick : bool
        Run a subset of the settings, in less than half of the time.
    progress : callable, optional
        Called as ``progress(done, total, error_ratio)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File to save the table to: written every 2 s, at the end and on failure.

    Returns
    -------
    Table
        One row per quantity and setting: :func:`truth_rows` makes objects of them, and
        :func:`truth_summary` judges them. Rows that this system cannot run have the reason. After
        a stop, a first Ctrl-C or the time limit, the rows so far, marked as partial.

    Raises
    ------
    DomainError
        If there is no such experiment.
    ExperimentError
        If the file cannot be written.

    Notes
    -----
    At most 600 s. Times are the smallest and rates the largest of several, because waiting only
    adds to a time: the rest is the path and the least cost of the hosts. Streams that need few
    packets a second run side by side, two at a time. A setting that was disturbed and does not
    agree is run again, at most twice; the least disturbed run counts.

    Without namespaces UDP echo runs through the relay, ``virtual`` runs, and all other rows are
    left out with the reason.

    Examples
    --------
    >>> table = validate(labs=["virtual"], quick=True)
    >>> [row.flag for row in truth_rows(table)], truth_summary(truth_rows(table)).holds
    (['within its own 0.001 ppm'], True)
    """
    common = Common(progress=progress, stop=stop, save=save)
    selected = (labs,) if isinstance(labs, str) else tuple(labs)
    for lab in selected:
        choice("labs", lab, LABS)
    chosen = [
        setting
        for setting in SETTINGS
        if (not selected or setting.lab in selected) and (setting.quick or not quick)
    ]
    make = partial(
        TruthRun,
        experiment="truth",
        protocol="",
        target="this machine",
        note="predicted, measured and own_error are in the unit of their row",
        total_count=sum(len(setting.what) for setting in chosen),
        unit="rows",
        host="",
        command=f"validate(labs={list(selected)}, quick={quick})",
    )
    measure = partial(TruthRun.measure, settings=chosen)
    return common.conduct(make, measure)


TOGETHER = 2
"""Settings that run side by side: each has a process that carries packets, and two ends. [1]"""


REPEATS = 2
"""Repetitions of a setting whose run was disturbed and does not agree with theory. [1]"""


def _rows(bench: Bench, setting: Setting) -> list[TruthRow]:
    """Run a setting; one that the system refuses gives rows with the reason.

    A run that was disturbed, and is off by more than its tolerance, is repeated. Of each row the
    least disturbed run counts, whatever its error is.
    """
    if setting.needs_wire and bench.refusal:
        return setting.not_run(bench.refusal)
    try:
        rows = list(setting.measure(bench, setting))
    except ExperimentError as error:
        return setting.not_run(error)
    for _ in range(REPEATS):
        if not any(row.doubt_code and not row.is_within for row in rows):
            break
        with suppress(ExperimentError):  # the rows of before count
            again = list(setting.measure(bench, setting))
            pairs = zip(rows, again, strict=True)
            rows = [min(pair, key=lambda row: row.doubt_error) for pair in pairs]
    return rows


class TruthRun(Record[Table]):
    """The rows of one table, in the order in which they are measured."""

    def __init__(self, **record: Any) -> None:
        super().__init__(**record)
        self.rows: list[TruthRow] = []

    @property
    def done_count(self) -> int:
        """Rows so far."""
        return len(self.rows)

    def measure(self, settings: Sequence[Setting]) -> None:
        """Run the settings; one that the system refuses gives rows with the reason."""
        bench = Bench(self.stopping)
        self.facts.update(instrument.machine(), **instrument.timer())
        self.facts["own_exchanges_s"] = bench.own_exchanges_s
        self.record_measurement_error()
        for are_together, group in groupby(settings, key=lambda setting: setting.side_by_side):
            if are_together:
                self._measure_together(bench, list(group))
                continue
            for setting in group:
                self.stopping.check()
                self.add(_rows(bench, setting))
        self.record_measurement_error()

    def _measure_together(self, bench: Bench, settings: Sequence[Setting]) -> None:
        """Run settings that do not disturb one another side by side; keep their order."""
        self.stopping.check()
        if not bench.refusal:
            bench.host_cost("tcp", settings[0].path)  # while nothing else runs
        with ThreadPoolExecutor(max_workers=TOGETHER) as pool:
            coming = [pool.submit(_rows, bench, setting) for setting in settings]
            try:
                for future in coming:
                    self.add(future.result())
            finally:
                for future in coming:
                    future.cancel()

    def add(self, rows: Sequence[TruthRow]) -> None:
        """Add the rows of a setting."""
        self.rows += rows
        self.advance(rows[-1].error_ratio if rows else np.nan)

    def samples(self) -> Table:
        """Return the table so far."""
        return table_of(self.rows, self.meta())
