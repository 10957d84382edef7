"""``netcalc validate``: every experiment at known parameters, predicted and measured."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from dataclasses import asdict

import click

from netcalc.cli import check_one_form, print_json, put
from netcalc.cli.mistakes import Command
from netcalc.cli.output import check_outputs, print_written
from netcalc.cli.progress import Progress
from netcalc.cli.quantity import Choice
from netcalc.cli.report import meta_of
from netcalc.cli.truth_report import print_truth, save_truth_plot
from netcalc.truth import LABS, TruthRow, truth_rows, truth_summary
from netcalc.truth import validate as measure


@click.command(cls=Command)
@click.option(
    "--lab",
    "labs",
    multiple=True,
    type=Choice(LABS),
    metavar="NAME",
    help=f"Run only this experiment: {', '.join(LABS)}. May be repeated.",
)
@click.option(
    "--quick", is_flag=True, help="Run a subset of the settings, in less than half of the time."
)
@click.option(
    "--save",
    "save_path",
    metavar="FILE.json",
    help="File to save the table to; also written if the run is stopped.",
)
@click.option(
    "--plot",
    "plot_path",
    metavar="OUT",
    help="Plot measured against predicted values, as .html, .svg or .png.",
)
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
def validate(
    labs: tuple[str, ...],
    quick: bool,
    save_path: str | None,
    plot_path: str | None,
    force: bool,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Run every experiment on emulated links with known parameters and compare with theory.

    Predictions come from the models with the parameters of the links, and from what the two hosts
    add, measured in the same minute over a path without links; nothing is fitted. The column "own"
    is the uncertainty of that part.

    The exit code is 1 if the median error exceeds 2 %, if a row deviates by more than 5 % and
    neither this uncertainty nor a disturbance explains it, or if a row deviates by more than 8 %.
    Ctrl-C stops the run and keeps the rows measured so far.
    """
    check_one_form(as_json, as_csv)
    check_outputs(save_path, plot=plot_path, force=force)
    with Progress("validate") as progress:
        table = measure(labs=labs, quick=quick, progress=progress, save=save_path)
    rows = truth_rows(table)
    found = truth_summary(rows)
    if as_json:
        print_json(
            {
                "rows": [_fields(row) for row in rows],
                "summary": {**asdict(found), "holds": found.holds},
                "meta": meta_of(table.meta),
            }
        )
    elif as_csv:
        put(_csv(rows), nl=False)
    else:
        print_truth(table)
    if plot_path is not None:
        save_truth_plot(table, plot_path)
    print_written(save_path, plot_path)
    if table.meta.partial:
        sys.exit(130)
    if not found.holds:
        sys.exit(1)


def _fields(row: TruthRow) -> dict[str, object]:
    return {
        **asdict(row),
        "error_ratio": row.error_ratio,
        "verdict": row.verdict,
        "flag": row.flag,
    }


def _csv(rows: Sequence[TruthRow]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for index, fields in enumerate(map(_fields, rows)):
        if not index:
            writer.writerow(fields)
        writer.writerow(f"{v:.12g}" if isinstance(v, float) else v for v in fields.values())
    return text.getvalue()
