"""What netcalc brings with it: ``netcalc data``, the measurements, and ``netcalc book``.

``book`` recomputes the numbers that five sources print, and gives a verdict on each.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import numpy as np

from netcalc import claims, datasets
from netcalc.claims import Checked
from netcalc.cli import check_one_form, output, print_json, put, standard_input
from netcalc.cli.mistakes import CommandError, exclusive, lacking
from netcalc.cli.options import CSV, FORCE, JSON, Choice, command, plot_option
from netcalc.errors import DomainError
from netcalc.printable import spreadsheet_text


@command(JSON, CSV, plot_option("Draw readings with theory"), FORCE)
def data(
    name: str | None = None,
    *,
    sheet: bool = False,
    as_json: bool,
    as_csv: bool,
    plot_path: str | None,
    force: bool,
) -> None:
    """List the bundled measurements, or print one data set.

    \b
    netcalc data
    netcalc data router_forwarding
    netcalc data router_forwarding --sheet
    netcalc data request_latency --plot out.html

    Parameters
    ----------
    name : [NAME]
        A data set.
    sheet : bool
        Print the data sheet instead of the numbers.
    """
    check_one_form(as_json, as_csv)
    if sheet and (as_json or as_csv):
        raise exclusive("--sheet", "--json" if as_json else "--csv")
    if name is None:
        if sheet or as_csv or plot_path is not None:
            option = "--sheet" if sheet else "--csv" if as_csv else "--plot"
            raise lacking(option, "the NAME of a data set", "netcalc data lists them")
        rows = [datasets.info(dataset) for dataset in datasets.names()]
        if as_json:
            print_json([{"name": row.name, "title": row.title, "rows": row.rows} for row in rows])
            return
        for row in rows:
            put(f"{row.name:28} {row.rows:4}  {row.title}")
        return
    if plot_path is not None:
        _draw(name, plot_path, force=force)
    if sheet:
        put(datasets.describe(name))
        return
    samples = datasets.load(name)
    columns = samples.columns()
    if as_json:
        print_json({"name": name, "units": samples.meta.units, "columns": columns})
        return
    headings = [
        f"{column} [{samples.meta.units[column]}]" if column in samples.meta.units else column
        for column in columns
    ]
    rows_of_text = [[_cell(v) for v in row] for row in zip(*columns.values(), strict=True)]
    if as_csv:
        output.print_csv(headings, rows_of_text)
        return
    _print_rows(headings, rows_of_text)


def _draw(name: str, path: str, *, force: bool) -> None:
    """Draw a set of readings into one file."""
    from netcalc import plots  # late: bokeh takes its time

    datasets.info(name)  # an unknown name is refused as such
    if name not in plots.drawn_sets():
        raise CommandError("dataset-not-drawn", name=name, drawn=plots.drawn_sets())
    output.check_output(path, force=force, plot=True)
    output.write_plot(plots.readings(name), path)
    output.print_written(path)


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{float(value):.12g}"
    return str(value)


def _print_rows(headings: list[str], rows: list[list[str]]) -> None:
    """Print a table if whole words fit in its columns, otherwise a line for each value."""
    columns = zip(headings, *rows, strict=True)
    longest = [
        max((len(w) for text in column for w in text.replace("_", " ").split()), default=0)
        for column in columns
    ]
    if sum(longest) + 3 * len(longest) <= output.table_width():
        from rich.box import SIMPLE

        # With blanks, a long name is folded between its words.
        names = [heading.replace("_", " ") for heading in headings]
        output.print_rows(names, rows, left=names, whole_numbers=True, box=SIMPLE)
        return
    for number, row in enumerate(rows, 1):
        put(f"row {number}", bold=True)
        for heading, text in zip(headings, row, strict=True):
            if text:
                put(f"  {heading}: {text}")


_VERDICTS = list(dict.fromkeys((*claims.COMPUTED, *claims.UNCOMPUTED)))


@command(JSON, CSV, names={"file": "--claims"}, types={"verdict": Choice(_VERDICTS)})
def book(
    *,
    source: str | None = None,
    verdict: str | None = None,
    file: str | None = None,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Recompute the numbers printed in five sources.

    \b
    netcalc book --verdict disagree
    netcalc book --source router
    netcalc book --claims mine.csv

    A number without a formula keeps the verdict on record; the summary counts both kinds.
    docs/claims.md describes the format of a file of claims. The exit code is 1 if a computed
    verdict or value differs from the record.

    Parameters
    ----------
    source : NAME
        Show one source: stevens, snader, router, nagle or netesto.
    verdict : VERDICT
        Show only numbers with this verdict, e.g. disagree.
    file : FILE.csv
        Check your own file of claims instead.
    """
    check_one_form(as_json, as_csv)
    claims_read = (
        claims.read(standard_input() if file == "-" else Path(file)) if file else claims.book()
    )
    checked = claims.check(claims_read)
    sources = list(dict.fromkeys(item.claim.source for item in checked))
    if source is not None and source not in sources:
        raise DomainError("not-a-choice", "--source", source, choices=sources)
    shown = [
        item
        for item in checked
        if source in (None, item.claim.source) and verdict in (None, item.verdict)
    ]
    faults = [item for item in shown if item.fault]
    if as_json:
        print_json(
            {
                "claims": [item.as_dict() for item in shown],
                "counts": claims.counts(shown),
                "basis": claims.basis_counts(shown),
                "faults": len(faults),
            }
        )
    elif as_csv:
        rows = [item.as_dict() for item in shown]
        if rows:
            output.print_csv(
                rows[0], ([_cell_book(value) for value in row.values()] for row in rows)
            )
    else:
        for name in sources:
            _print_table([item for item in shown if item.claim.source == name])
        put(_summary(shown, faults))
    if faults:
        sys.exit(1)


def _summary(shown: Sequence[Checked], faults: Sequence[Checked]) -> str:
    counted = ", ".join(f"{number} {name}" for name, number in claims.counts(shown).items())
    lines = [f"{len(shown)} numbers: {counted}." if shown else "No number has this verdict."]
    if shown:
        lines.append(_basis(claims.basis_counts(shown)))
    if faults:
        differing = ", ".join(item.claim.id for item in faults)
        lines.append(f"Different from the record: {differing}.")
    elif comparable := sum(1 for item in shown if item.computed and item.claim.verdict):
        lines.append(f"All {comparable} computed results match the record.")
    return "\n".join(click.wrap_text(line, 80) for line in lines)


def _basis(counts: Mapping[str, int]) -> str:
    """Return how many results are computed, and how many are only repeated from the record."""
    text = f"Computed by the models: {counts['computed'] + counts['implied']}"
    if counts["implied"]:
        implied = f"{counts['implied']} values that follow from measured or given numbers"
        text += f" ({counts['computed']} verdicts, {implied})"
    return f"{text}. Only recorded: {counts['recorded']}."


def _cell_book(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(map(_cell_book, value))
    if isinstance(value, float):
        return f"{value:.12g}"
    text = "" if value is None else str(value)
    return spreadsheet_text(text)  # claims may come from anyone


def _print_table(rows: Sequence[Checked]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    if not rows:
        return
    table = Table(
        title=output.cell(rows[0].claim.work),
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=0,
        pad_edge=False,
    )
    # These widths fit 80 columns; the reason is printed below the quantity that it explains.
    table.add_column("id, place", width=12, overflow="fold")
    table.add_column("quantity; reason", ratio=1, overflow="fold")
    for heading, width in (("printed", 11), ("computed", 11), ("verdict", 12)):
        table.add_column(heading, width=width, overflow="fold")
    for item in rows:
        what = output.cell(item.claim.quantity)
        if item.reason:
            what.append(output.cell(f"\n- {item.reason}", "dim"))
        table.add_row(
            output.cell(item.claim.id).append(output.cell(f"\n{item.claim.place}", "dim")),
            what,
            output.cell(item.printed_text),
            output.cell(item.computed_text),
            output.cell(item.verdict, _STYLES.get(item.verdict, "")),
        )
    output.print_table(table)


_STYLES = {"agree": "green", "agree rounded": "green", "disagree": "red", "ambiguous": "yellow"}
