"""``netcalc validate``: run every experiment at known parameters, and compare with theory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict

import click

from netcalc.cli import mistakes, options, output, print_json, put
from netcalc.printable import printable
from netcalc.samples import Table
from netcalc.truth import LABS, TruthRow, truth_rows, truth_summary
from netcalc.truth import validate as measure
from netcalc.units import show


@options.command(
    options.plot_option("Plot measured against predicted values"),
    click.Option(["--force"], is_flag=True, help="Replace existing files."),
    click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object."),
    options.CSV,
    names={"labs": "--lab"},
    types={"labs": options.Choice(LABS)},
    described={"labs": f"Run only this experiment: {', '.join(LABS)}."},
)
def validate(
    *,
    labs: tuple[str, ...] = (),
    quick: bool = False,
    anyway: bool = False,
    save_path: str | None = None,
    plot_path: str | None,
    force: bool,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Run every experiment on emulated links with known parameters and compare with theory.

    Predictions come from the models with the parameters of the links, and from what the two hosts
    add, measured in the same minute over a path of latency alone; nothing is fitted. The column
    "own" is the uncertainty of that part.

    The exit code is 1 if the median error exceeds 2 %, if a row deviates by more than 5 % and
    neither this uncertainty nor a disturbance explains it, or if a row deviates by more than 8 %.
    It is 2 if other programs leave too little of the processors to judge by. Ctrl-C stops the run
    and keeps the rows measured so far.

    Parameters
    ----------
    labs : NAME
        Run only this experiment.
    quick : bool
        Run a subset of the settings, in less than half of the time.
    anyway : bool
        Measure also while other programs are at work, which may fail the table.
    save_path : FILE.json
        File to save the table to; also written if the run is stopped.
    """
    mistakes.check_one_form(as_json, as_csv)
    output.check_outputs(save_path, plot=plot_path, force=force)
    with output.Progress("validate") as progress:
        table = measure(labs=labs, quick=quick, anyway=anyway, progress=progress, save=save_path)
    rows = truth_rows(table)
    totals = truth_summary(rows)
    if as_json:
        print_json(
            {
                "rows": [_fields(row) for row in rows],
                "summary": {**asdict(totals), "holds": totals.holds},
                "meta": output.meta_of(table.meta),
            }
        )
    elif as_csv:
        texts = ([_csv_text(value) for value in _fields(row).values()] for row in rows)
        output.print_csv(_fields(rows[0]), texts)
    else:
        print_truth(table)
    if plot_path is not None:
        save_truth_plot(table, plot_path)
    output.print_written(save_path, plot_path)
    if table.meta.partial:
        sys.exit(130)
    if not totals.holds:
        sys.exit(1)


def _fields(row: TruthRow) -> dict[str, object]:
    return {
        **asdict(row),
        "error_ratio": row.error_ratio,
        "verdict": row.verdict,
        "flag": row.flag,
    }


def _csv_text(value: object) -> object:
    return f"{value:.12g}" if isinstance(value, float) else value


_COLOURS = {"within": "green", "instrument": "yellow", "unexplained": "red"}
_HEADINGS = ("predicted", "measured", "error", "own", "verdict")


def print_truth(table: Table) -> None:
    """Print a table, its notes, and whether it holds."""
    rows = truth_rows(table)
    print_rows(rows)
    for line in notes(rows, table):
        put(click.wrap_text(line, 80, subsequent_indent="  "))
    so_far = "So far: " if table.meta.partial else ""
    put(click.wrap_text(so_far + truth_summary(rows).sentence(), 80))


def print_rows(rows: Sequence[TruthRow]) -> None:
    """Print the rows lab by lab, each path once; 80 columns are enough."""
    for lab in dict.fromkeys(row.lab for row in rows):
        of_lab = [row for row in rows if row.lab == lab and row.verdict != "not run"]
        if not of_lab:
            continue
        quantities = ", ".join(dict.fromkeys(row.quantity for row in of_lab))
        put(_line(f"{lab}: {quantities}", *_HEADINGS))
        path = ""
        for row in of_lab:
            if row.path != path:
                path = row.path
                put(printable(path))
            error = f"{row.error_ratio:+.2%}".replace("-0.00%", "+0.00%")
            own = show(row.own_error, row.unit, digits=2) if row.own_error else "-"
            values = (show(row.predicted, row.unit), show(row.measured, row.unit), error, own)
            put(_line(f"  {printable(row.what)}", *values, ""), nl=False)
            put(row.verdict, fg=_COLOURS[row.verdict])
        put()


def _line(what: str, predicted: str, measured: str, error: str, own: str, verdict: str) -> str:
    """Return one line; a setting too long for its column gets a line of its own."""
    begin = f"{what:<22}" if len(what) <= 22 else f"{what}\n{'':<22}"
    return f"{begin}{predicted:>13}{measured:>13}{error:>9}{own:>11}  {verdict}"


def notes(rows: Sequence[TruthRow], table: Table) -> list[str]:
    """Return the notes under the table: flagged rows, experiments not run, warnings."""
    sentences = [
        f"{row.lab}, {row.setting}: {row.flag} ({row.statistic})"
        for row in rows
        if row.verdict in ("instrument", "unexplained")
        or (row.verdict == "within" and row.has_own_tolerance)
    ]
    reasons = dict.fromkeys(row.why_not for row in rows if row.why_not)
    for reason in reasons:
        settings = [row for row in rows if row.why_not == reason]
        labs = ", ".join(dict.fromkeys(row.lab for row in settings))
        sentences.append(f"not run, {len(settings)} rows of {labs}: {reason}")
    return sentences + [f"warning: {printable(str(warning))}" for warning in table.meta.warnings]


def save_truth_plot(table: Table, path: str) -> None:
    """Draw the table into one file that needs no network."""
    from netcalc import plots  # late: bokeh takes its time

    output.write_plot(plots.truth(table), path)
