"""What commands write: files, complete or absent; tables; a progress bar on the terminal."""

from __future__ import annotations

import importlib.util
import math
import os
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netcalc.cli import put
from netcalc.cli.mistakes import CommandError
from netcalc.printable import printable_lines
from netcalc.samples import write_atomically
from netcalc.units import show

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from netcalc.compare import Comparison
    from netcalc.explain import Known
    from netcalc.plots import Plot
    from netcalc.samples import Meta, Samples


TABLE_WIDTH = 80
"""Minimum width of a table, in characters."""


PICTURES = frozenset({".gif", ".jpeg", ".jpg", ".pdf", ".png", ".svg", ".webp"})
"""Extensions of pictures."""
DRAWN = (".svg", ".png")
"""Those in which figures are written; other names are HTML."""


def check_output(
    path: str,
    *,
    inputs: Iterable[str] = (),
    force: bool = False,
    plot: bool = False,
) -> None:
    """Refuse an output file that cannot or should not be written; a ``plot`` may be a picture.

    Raises
    ------
    CommandError
        If it is an input, a directory, exists without ``--force``, or its folder is not writable.
    """
    if not path:
        raise CommandError("output-name-empty")
    target = Path(path)
    if target.suffix.lower() in PICTURES and not (plot and target.suffix in DRAWN):
        raise CommandError("output-is-picture", file=path, suggestion=f"{target.stem}.html")
    if any(name != "-" and target.exists() and _same(target, Path(name)) for name in inputs):
        raise CommandError("output-is-input", file=path)
    if target.is_dir():
        raise CommandError("output-is-directory", file=path)
    if target.exists() and not target.is_file():
        raise CommandError("output-is-device", file=path)
    if target.exists() and not force:
        raise CommandError("output-exists", file=path)
    folder = target.parent
    if not folder.is_dir():
        raise CommandError("output-folder-missing", file=path, folder=str(folder))
    if not os.access(folder, os.W_OK):
        raise CommandError("output-folder-not-writable", file=path, folder=str(folder))


def check_outputs(*paths: str | None, plot: str | None, force: bool = False) -> None:
    """Refuse output files as :func:`check_output` does, and two outputs into one file."""
    outputs = [path for path in (*paths, plot) if path is not None]
    if len({Path(path).resolve() for path in outputs}) < len(outputs):
        raise CommandError("output-named-twice", file=outputs[0])
    for path in outputs:
        check_output(path, force=force, plot=path == plot)


def print_written(*paths: str | None) -> None:
    """Print on standard error which of these files were written."""
    for path in paths:
        if path is not None and Path(path).exists():
            put(f"wrote {path}", err=True)


def print_data(data: bytes) -> None:
    """Write data to standard output as it is; a terminal gets no character that it obeys."""
    shown = printable_lines(data.decode("utf-8", "replace")) if sys.stdout.isatty() else data
    click.echo(shown, nl=False)


def save_plot(comparison: Comparison, path: str) -> None:
    """Draw a comparison into one file that needs no network."""
    from netcalc import plots  # late: bokeh takes its time

    write_plot(plots.overlay(comparison), path)


def save_run_plot(samples: Samples, path: str) -> None:
    """Draw a live run into one file that needs no network."""
    from netcalc import compare, plots  # late: bokeh takes its time

    if compare.is_router(samples):
        write_plot(plots.router(samples), path)
    else:
        save_plot(compare.overlay(samples), path)  # type: ignore[arg-type]


def flows_plot(named: Mapping[str, Samples], stated: Known) -> Plot:
    """Return the figure of the flows of several files on one clock, or refuse."""
    from netcalc import plots  # late: bokeh takes its time

    plot = plots.flows(named, stated)
    if plot is None:
        raise CommandError("no-sweep-to-draw")
    return plot


def write_flows(plot: Plot, named: Mapping[str, Samples], path: str, *, as_json: bool) -> None:
    """Write the figure of flows, and say by which clock they are drawn."""
    from netcalc import plots  # late: bokeh takes its time

    write_plot(plot, path)
    if not as_json:
        put(f"note: {plots.clock_notice(named)}")
    print_written(path)


def write_plot(plot: Plot, path: str, *, lines: bool = False) -> None:
    """Write a figure as SVG or PNG where the name says so, otherwise as one HTML file.

    An SVG has no text below the figure, but with ``lines``; the others have it.
    """
    from netcalc import plots  # late: bokeh takes its time

    suffix = Path(path).suffix
    if suffix == ".svg" and not lines:
        write_atomically(Path(path), plots.svg(plot).encode())
    elif suffix in DRAWN:
        plots.save_picture(plot, path)
    else:
        plots.save_html(plot, path)


def table_width() -> int:
    """Return how wide a table is printed."""
    from rich.console import Console

    return max(Console().width, TABLE_WIDTH)


def cell(text: str, style: str = "") -> Text:
    """Return text of a file or a user for a table: neither escape sequences nor markup work."""
    from rich.text import Text

    return Text(printable_lines(text), style=style)


def print_table(table: Table) -> None:
    """Print a table as wide as the terminal; by click, which knows a reader that has gone.

    On a terminal narrower than :data:`TABLE_WIDTH` its lines wrap; squeezed, it would lose columns.
    Text of a file or a user is passed as a :func:`cell`.
    """
    from rich.console import Console

    console = Console(highlight=False)
    console.width = table_width()
    with console.capture() as printed:
        console.print(table)
    click.echo(printed.get(), nl=False)  # its escape sequences are those of styles


def print_rows(
    headings: Iterable[str],
    rows: Iterable[Iterable[str]],
    *,
    left: Collection[str] = (),
    whole_numbers: bool = False,
    box: str = "",
    title: str | None = None,
) -> None:
    """Print texts as a table; without a ``box``, by rich's name for it, it has no lines.

    Columns in ``left`` are aligned to the left. With ``whole_numbers`` no other one is wrapped.
    """
    import rich.box  # late: the help does without
    from rich.table import Table

    table = Table(box=getattr(rich.box, box) if box else None, pad_edge=bool(box), title=title)
    for heading in headings:
        is_left = heading in left
        table.add_column(
            cell(heading),
            justify="left" if is_left else "right",
            no_wrap=whole_numbers and not is_left,
            overflow="fold" if whole_numbers else "ellipsis",
        )
    for row in rows:
        table.add_row(*map(cell, row))
    print_table(table)


def print_csv(headings: Iterable[object], rows: Iterable[Iterable[object]]) -> None:
    """Print rows under their headings as CSV."""
    import csv  # late: most answers are text
    import io

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([headings, *rows])
    put(text.getvalue(), nl=False)


def _same(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:
        return False


class Progress:
    """A bar on the terminal; none if standard error is not a terminal.

    With a unit, the bytes moved so far are shown next to the name of the run.
    """

    def __init__(self, name: str, *, unit: str = "") -> None:
        self._name, self._unit = name, unit

    def __enter__(self) -> Progress:
        from rich.console import Console
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        self._bar = Bar(console=console, transient=True, disable=not console.is_terminal)
        try:
            self._bar.start()
        except RuntimeError:  # no thread is left (ulimit -u): the run goes on without a bar
            self._bar = Bar(disable=True)
        self._task = self._bar.add_task(self._name, total=None)
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, done: float, total: int, value: float = math.nan) -> None:
        name = self._name
        if self._unit and value > 0:
            name += f", {show(value, self._unit, digits=3)}"
        self._bar.update(self._task, completed=done, total=total, description=name)


def meta_of(meta: Meta) -> dict[str, Any]:
    """Return the metadata of samples as ``--json`` prints it: warnings as sentences."""
    stored = {**meta.stored(), "warnings": list(map(str, meta.warnings))}
    del stored["facts"]  # printed next to the metadata, with those of the rows
    return stored


def encode(samples: Samples, form: str) -> bytes:
    """Return samples as a file has them: csv, json or parquet.

    Raises
    ------
    CommandError
        If the packages for Parquet are missing.
    """
    from netcalc.readers.saved import csv_text, parquet_bytes  # late: few commands need them

    if form == "csv":
        return csv_text(samples).encode("utf-8", "surrogatepass")
    if form == "json":
        return samples.dumps()
    require_parquet()
    return parquet_bytes(samples)


def require_parquet() -> None:
    """Refuse Parquet where its packages are missing."""
    if importlib.util.find_spec("pyarrow") is None or importlib.util.find_spec("pandas") is None:
        raise CommandError("parquet-packages-missing")
