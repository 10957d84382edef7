"""``netcalc data``: the bundled measurements."""

from __future__ import annotations

import numpy as np

from netcalc import datasets
from netcalc.cli import mistakes, output, print_json, put
from netcalc.cli.options import CSV, FORCE, JSON, command, plot_option


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
    mistakes.check_one_form(as_json, as_csv)
    if sheet and (as_json or as_csv):
        raise mistakes.exclusive("--sheet", "--json" if as_json else "--csv")
    if name is None:
        of_a_set = {"--sheet": sheet, "--csv": as_csv, "--plot": plot_path is not None}
        for option, is_typed in of_a_set.items():
            if is_typed:
                raise mistakes.lacking(option, "the NAME of a data set", "netcalc data lists them")
        _list(as_json=as_json)
        return
    if plot_path is not None:
        _draw(name, plot_path, force=force)
    if sheet:
        put(datasets.describe(name))
    else:
        _print_numbers(name, as_json=as_json, as_csv=as_csv)


def _list(*, as_json: bool) -> None:
    """Print the names of the data sets, with their titles and how many rows they have."""
    rows = [datasets.info(dataset) for dataset in datasets.names()]
    if as_json:
        print_json([{"name": row.name, "title": row.title, "rows": row.rows} for row in rows])
        return
    for row in rows:
        put(f"{row.name:28} {row.rows:4}  {row.title}")


def _print_numbers(name: str, *, as_json: bool, as_csv: bool) -> None:
    samples = datasets.load(name)
    columns, units = samples.columns(), samples.meta.units
    if as_json:
        print_json({"name": name, "units": units, "columns": columns})
        return
    headings = [f"{column} [{units[column]}]" if column in units else column for column in columns]
    rows = [[_cell(value) for value in row] for row in zip(*columns.values(), strict=True)]
    if as_csv:
        output.print_csv(headings, rows)
    else:
        _print_rows(headings, rows)


def _draw(name: str, path: str, *, force: bool) -> None:
    """Draw a set of readings into one file."""
    from netcalc import plots  # late: bokeh takes its time

    datasets.info(name)  # an unknown name is refused as such
    if name not in plots.drawn_sets():
        raise mistakes.CommandError("dataset-not-drawn", name=name, drawn=plots.drawn_sets())
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
        # With blanks, a long name is folded between its words.
        names = [heading.replace("_", " ") for heading in headings]
        output.print_rows(names, rows, left=names, whole_numbers=True, box="SIMPLE")
        return
    for number, row in enumerate(rows, 1):
        put(f"row {number}", bold=True)
        for heading, text in zip(headings, row, strict=True):
            if text:
                put(f"  {heading}: {text}")
