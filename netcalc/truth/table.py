"""Every lab run where the truth is known because it was set: theory against measurement."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from netcalc.checks import choice
from netcalc.errors import ExperimentError
from netcalc.experiments.running import instrument
from netcalc.experiments.running.limits import require_processes
from netcalc.experiments.running.run import Progress, Record, conduct
from netcalc.experiments.running.stopping import Stop
from netcalc.samples import Table
from netcalc.truth.bench import Bench, Setting
from netcalc.truth.rows import (
    NO_WIRE,
    WITHIN_RATIO,
    WORST_RATIO,
    TruthRow,
    TruthSummary,
    table_of,
    truth_rows,
    truth_summary,
)
from netcalc.truth.settings import LABS, SETTINGS

__all__ = [
    "LABS",
    "WITHIN_RATIO",
    "WORST_RATIO",
    "TruthRow",
    "TruthSummary",
    "truth",
    "truth_rows",
    "truth_summary",
]


def truth(
    *,
    labs: Sequence[str] = (),
    quick: bool = False,
    progress: Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> Table:
    """Run every lab at settings whose truth is known, and put theory beside what is measured.

    What is predicted comes from models with the parameters that were set; nothing is fitted, and
    nothing of it comes from a measurement. The instrument's own cost is measured in the same run,
    as the same exchange over a path that takes no time, and stands beside each row; it explains a
    row, but is subtracted from none.

    Parameters
    ----------
    labs : sequence of str
        Only these of :data:`LABS`; none given are all.
    quick : bool
        Only a part of the settings: some 35 s, not 110.
    progress : callable, optional
        Called as ``progress(done, total, error_ratio)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File that receives the table: every few seconds, at the end, and if the run breaks off.

    Returns
    -------
    Table
        One row a quantity and setting: :func:`truth_rows` makes objects of them, and
        :func:`truth_summary` judges them. Rows that this system cannot run say why. After a stop, a
        first Ctrl-C or the time limit, what was measured until then, marked as partial.

    Raises
    ------
    DomainError
        If a lab is not one of these.
    ExperimentError
        If the file cannot be written.

    Notes
    -----
    At most 600 s. Times are the smallest and rates the largest of some, as waiting only adds: what
    is left is the path's, and the least that the instrument costs.

    Without namespaces there is no wire: then UDP echo goes through the relay, ``virtual`` runs, and
    all other rows are left out and say so.

    Examples
    --------
    >>> table = truth(labs=["virtual"], quick=True)
    >>> [row.flag for row in truth_rows(table)], truth_summary(truth_rows(table)).holds
    (['within its own 0.001 ppm'], True)
    """
    require_processes()
    given = (labs,) if isinstance(labs, str) else tuple(labs)
    for lab in given:
        choice("labs", lab, LABS)
    chosen = [
        setting
        for setting in SETTINGS
        if (not given or setting.lab in given) and (setting.quick or not quick)
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
        command=f"truth(labs={list(given)}, quick={quick})",
    )
    measure = partial(TruthRun.measure, settings=chosen)
    return conduct(make, measure, progress=progress, stop=stop, save=save)


class TruthRun(Record[Table]):
    """The rows of one table, as they come."""

    def __init__(self, **record: Any) -> None:
        super().__init__(**record)
        self.rows: list[TruthRow] = []

    @property
    def done_count(self) -> int:
        """Rows so far."""
        return len(self.rows)

    def measure(self, settings: Sequence[Setting]) -> None:
        """Go through the settings; what the system refuses is a row that says so."""
        bench = Bench(self.stopping)
        self.facts.update(instrument.machine(), **instrument.timer())
        self.facts["own_exchanges_s"] = bench.own_exchanges_s
        self.measure_own_error()
        for setting in settings:
            self.stopping.check()
            if setting.needs_wire and bench.why_no_wire:
                self.add(setting.not_run(f"{NO_WIRE} ({bench.why_no_wire})"))
                continue
            try:
                self.add(list(setting.measure(bench, setting)))
            except ExperimentError as error:
                self.add(setting.not_run(error.what))
        self.measure_own_error()

    def add(self, rows: Sequence[TruthRow]) -> None:
        """Note the rows of a setting."""
        self.rows += rows
        self.advance(rows[-1].error_ratio if rows else np.nan)

    def samples(self) -> Table:
        """Return the table so far."""
        return table_of(self.rows, self.meta())
