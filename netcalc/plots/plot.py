"""A figure together with the columns that feed it and the words that replace it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.embed import file_html
from bokeh.models import ColumnDataSource, LayoutDOM
from bokeh.resources import INLINE
from bokeh.themes import Theme as BokehTheme
from bokeh.themes import built_in_themes
from numpy.typing import ArrayLike, NDArray

from netcalc.errors import DomainError
from netcalc.plots.style import Theme, printable_texts
from netcalc.printable import printable, printable_lines
from netcalc.samples import write_atomically

DRAWN_POINTS = 5000
"""More points than this are thinned: a browser draws them, a reader cannot tell them apart."""

ALL_DRAWN_POINTS = 100_000
"""Points of all curves of a figure: of many curves each has fewer, a saved page stays small."""

_THEMES: dict[Theme, BokehTheme] = {
    "light": BokehTheme(json={}),
    "dark": built_in_themes["dark_minimal"],
}

Columns = dict[str, NDArray[Any] | list[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Plot:
    """A bokeh figure, its columns by name, and its text alternative.

    Parameters
    ----------
    figure : bokeh.models.LayoutDOM
        The figure, or a column of figures.
    sources : mapping of str to bokeh.models.ColumnDataSource
        The columns behind each curve or set of points, by name.
    description : str
        What the figure shows, in one or two sentences with the main numbers.
    theme : {'light', 'dark'}
        Colours of the figure.
    form : tuple
        All that is not in the columns: two plots of one form differ in their columns only. An
        empty one has no like.
    """

    figure: LayoutDOM
    sources: Mapping[str, ColumnDataSource]
    description: str
    theme: Theme = "light"
    form: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "description", printable_lines(self.description))

    def document(self) -> Document:
        """Return the bokeh document of the figure, in its theme; always the same one."""
        if self.figure.document is None:
            Document(theme=_THEMES[self.theme]).add_root(self.figure)
        return self.figure.document

    def replace(self, name: str, **columns: ArrayLike) -> Columns:
        """Replace columns of one source and return them as they are drawn.

        Parameters
        ----------
        name : str
            The source.
        columns : array_like
            New columns; those not given stay. Infinite values are not drawn.

        Raises
        ------
        DomainError
            If the source or a column is not there, or the columns differ in length.
        """
        source = self.sources.get(name)
        if source is None:
            raise DomainError("name", repr(name), "one of " + ", ".join(self.sources))
        new = ready(columns, source_count=len(self.sources))
        if missing := set(new) - set(source.data):
            raise DomainError("column", ", ".join(missing), "one of " + ", ".join(source.data))
        after = {**source.data, **new}
        lengths = {column: len(values) for column, values in after.items()}
        if len(set(lengths.values())) > 1:
            raise DomainError("columns", lengths, "of one length")
        source.data = after
        return new


def ready(columns: Mapping[str, ArrayLike], *, source_count: int = 1) -> Columns:
    """Return columns as a browser draws them: thinned if very long, nothing infinite.

    ``source_count`` is how many curves and sets of points the figure has.
    """
    arrays = {name: _drawable(values) for name, values in columns.items()}
    longest = max((len(values) for values in arrays.values()), default=0)
    step = _step(longest, source_count)
    return arrays if step == 1 else {name: values[::step] for name, values in arrays.items()}


def thinned_note(count: int, *, source_count: int = 1) -> str:
    """Return what to say beside a figure of ``count`` points; empty if all are drawn."""
    step = _step(count, source_count)
    return "" if step == 1 else f"{-(-count // step):,} of {count:,} points are drawn."


def _step(count: int, source_count: int) -> int:
    """Return which of the points are drawn: each one, each second one, and so on."""
    most = min(DRAWN_POINTS, max(ALL_DRAWN_POINTS // max(source_count, 1), 2))
    return max(-(-count // most), 1)


def save_html(plot: Plot, path: str | Path, *, title: str = "netcalc") -> Path:
    """Write a figure as one HTML file that needs no network.

    Parameters
    ----------
    plot : Plot
        The figure.
    path : str or pathlib.Path
        The file; replaced as a whole or not at all.
    title : str
        Title of the page.

    Returns
    -------
    pathlib.Path
        The file.
    """
    theme = _THEMES[plot.theme]
    html = file_html(plot.figure, resources=INLINE, title=printable(title), theme=theme)
    write_atomically(Path(path), html.encode())
    return Path(path)


def _drawable(values: ArrayLike) -> NDArray[Any] | list[Any]:
    if isinstance(values, list) and values and isinstance(values[0], str | list):
        return printable_texts(values)  # type: ignore[no-any-return]
    array = np.atleast_1d(np.asarray(values))
    if array.dtype.kind not in "fiub":
        return [printable(str(item)) for item in array.tolist()]
    array = array.astype(np.float64)
    return np.where(np.isfinite(array), array, np.nan)
