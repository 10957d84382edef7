"""The table of predicted and measured values, on a terminal and as a figure."""

from __future__ import annotations

from collections.abc import Sequence

import click

from netcalc.cli import put
from netcalc.cli.output import write_plot
from netcalc.printable import printable
from netcalc.samples import Table
from netcalc.truth import TruthRow, truth_rows, truth_summary
from netcalc.units import show

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
    found = [
        f"{row.lab}, {row.setting}: {row.flag} ({row.statistic})"
        for row in rows
        if row.verdict in ("instrument", "unexplained")
        or (row.verdict == "within" and row.has_own_tolerance)
    ]
    reasons = dict.fromkeys(row.why_not for row in rows if row.why_not)
    for reason in reasons:
        settings = [row for row in rows if row.why_not == reason]
        labs = ", ".join(dict.fromkeys(row.lab for row in settings))
        found.append(f"not run, {len(settings)} rows of {labs}: {reason}")
    return found + [f"warning: {printable(str(warning))}" for warning in table.meta.warnings]


def save_truth_plot(table: Table, path: str) -> None:
    """Draw the table into one file that needs no network."""
    from netcalc import plots  # late: bokeh takes its time

    write_plot(plots.truth(table), path)
