"""A figure, its data columns and its text alternative."""

from __future__ import annotations

import html as markup
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.embed import file_html
from bokeh.layouts import column
from bokeh.models import ColumnDataSource, LayoutDOM
from bokeh.resources import INLINE
from bokeh.themes import Theme as BokehTheme
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import named_arguments
from netcalc.errors import DomainError
from netcalc.plots.style import DARK_PARTS, Theme, printable_texts
from netcalc.printable import json_in_page, printable, printable_lines
from netcalc.samples import write_atomically

# Several points per pixel of a figure: more cannot be distinguished, and cost the browser time.
DRAWN_POINTS = 5000
"""Longer columns are thinned to this many points."""

# About 2 MB of a saved page.
ALL_DRAWN_POINTS = 100_000
"""Points of all curves of a figure; with many curves each has fewer."""

_THEMES: dict[Theme, BokehTheme] = {
    "light": BokehTheme(json={}),
    "dark": BokehTheme(json={"attrs": DARK_PARTS}),
}

_DATA = re.compile(r'(<script type="application/json"[^>]*>)(.*?)(?=</script>)', re.DOTALL)
# Of an element, or of the document; in the text of a user the quotes are escaped.
_RANDOM_ID = re.compile(r'id"?[=:]"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"')

Columns = dict[str, NDArray[Any] | list[Any]]


@dataclass(frozen=True, eq=False)
class Plot:
    """A bokeh figure, its columns by name, and its text alternative.

    Parameters
    ----------
    draw : callable
        Makes the figure from the sources. It is called when the figure is first asked for: of many
        plots, such as those of the steps of a slider, only the columns are looked at.
    sources : mapping of str to bokeh.models.ColumnDataSource
        The columns behind each curve or set of points, by name.
    description : str
        Text alternative: one or two sentences with the main numbers.
    theme : {'light', 'dark'}
        Colours of the figure.
    form : tuple
        Everything that is not in the columns: two plots of one form differ in their columns only.
        A plot with an empty form is like no other.
    """

    draw: Callable[[], LayoutDOM]
    sources: Mapping[str, ColumnDataSource]
    description: str
    theme: Theme = "light"
    form: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "description", printable_lines(self.description))
        if self.theme not in _THEMES:
            raise DomainError("not-a-choice", "theme", self.theme, choices=list(_THEMES))

    @cached_property
    def figure(self) -> LayoutDOM:
        """The bokeh figure, or a column of figures."""
        return self.draw()

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
            If there is no such source or column, or the columns differ in length.
        """
        return self.replace_all({name: columns})[name]

    def replace_all(self, sources: Mapping[str, Mapping[str, ArrayLike]]) -> dict[str, Columns]:
        """Replace columns of several sources as :meth:`replace` does: all of them, or none."""
        new = {name: self._ready(name, columns) for name, columns in sources.items()}
        for name, columns in new.items():
            source = self.sources[name]
            source.data = {**source.data, **columns}
        return new

    def _ready(self, name: str, columns: Mapping[str, ArrayLike]) -> Columns:
        """Return columns as they are drawn, if the source can have them."""
        source = self.sources.get(name)
        if source is None:
            raise DomainError("not-a-choice", "name", name, choices=list(self.sources))
        new = ready(columns, source_count=len(self.sources))
        if missing := set(new) - set(source.data):
            choices = list(source.data)
            raise DomainError("not-a-choice", "column", sorted(missing)[0], choices=choices)
        lengths = [len(values) for values in {**source.data, **new}.values()]
        if len(set(lengths)) > 1:
            raise DomainError("unequal-curves", "columns", lengths)
        return new


@named_arguments
def together(*plots: Plot) -> Plot:
    """Return plots of one theme as one, one figure below the other.

    Parameters
    ----------
    *plots : Plot
        At least one, whose sources have names of their own.

    Returns
    -------
    Plot
        With the sources of all.

    Raises
    ------
    DomainError
        If two have a source of one name, or they differ in their theme.
    """
    names = [name for plot in plots for name in plot.sources]
    if len(set(names)) < len(names):
        raise DomainError("name-in-use", "plots", sorted({n for n in names if names.count(n) > 1}))
    if len({plot.theme for plot in plots}) > 1:
        raise DomainError("not-a-choice", "theme", plots[-1].theme, choices=[plots[0].theme])
    return Plot(
        lambda: column(*(plot.figure for plot in plots), sizing_mode="stretch_width"),
        {name: source for plot in plots for name, source in plot.sources.items()},
        " ".join(plot.description for plot in plots),
        plots[0].theme,
    )


def ready(columns: Mapping[str, ArrayLike], *, source_count: int = 1) -> Columns:
    """Return columns as a browser draws them: thinned if very long, nan for infinite values.

    ``source_count`` is the number of curves and sets of points of the figure.
    """
    arrays = {
        name: values if isinstance(values, list) else np.atleast_1d(np.asarray(values))
        for name, values in columns.items()
    }
    longest = max((len(values) for values in arrays.values()), default=0)
    step = _step(longest, source_count)
    return {name: _drawable(values[::step]) for name, values in arrays.items()}


def thinned_note(count: int, *, source_count: int = 1) -> str:
    """Return the note for a figure of ``count`` points; empty if all are drawn."""
    step = _step(count, source_count)
    return "" if step == 1 else f"{-(-count // step):,} of {count:,} points are drawn."


def _step(count: int, source_count: int) -> int:
    """Return the step between drawn points: 1 for all, 2 for every second one."""
    most = min(DRAWN_POINTS, max(ALL_DRAWN_POINTS // max(source_count, 1), 2))
    return max(-(-count // most), 1)


@named_arguments
def save_html(plot: Plot, path: str | Path, *, title: str = "netcalc") -> Path:
    """Write a figure as one HTML file that needs no network; the same figure is the same bytes.

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
    write_atomically(Path(path), _with_fixed_ids(html, plot.figure.id).encode())
    return Path(path)


def _with_fixed_ids(html: str, root: str) -> str:
    """Replace what bokeh varies from page to page: random identifiers and a count of all objects.

    The objects get numbers in the order in which the page has them.
    """
    numbers: dict[str, str] = {}
    before, begin, data, after = _DATA.split(html, maxsplit=1)
    data = json.dumps(
        _renumbered(json.loads(markup.unescape(data)), numbers), separators=(",", ":")
    )
    after = after.replace(f'"{root}"', f'"{numbers[root]}"')
    before = before.replace(f'data-root-id="{root}"', f'data-root-id="{numbers[root]}"')
    html = before + begin + json_in_page(data) + after
    for number, fromkey in enumerate(dict.fromkeys(_RANDOM_ID.findall(html))):
        html = html.replace(fromkey, f"a0000000-0000-4000-8000-{number:012x}")
    return html


def _renumbered(value: Any, numbers: dict[str, str]) -> Any:
    """Return a document in JSON with its objects numbered in their order."""
    if isinstance(value, list):
        return [_renumbered(item, numbers) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(old := value.get("id"), str):  # an object, or a reference; never a user's text
        value = {**value, "id": numbers.setdefault(old, f"p{len(numbers) + 1}")}
    return {name: _renumbered(item, numbers) for name, item in value.items()}


def _drawable(values: NDArray[Any] | list[Any]) -> NDArray[Any] | list[Any]:
    if isinstance(values, list) and values and isinstance(values[0], str | list):
        return printable_texts(values)  # type: ignore[no-any-return]
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        return [printable(str(item)) for item in array.tolist()]
    array = array.astype(np.float64)
    return np.where(np.isfinite(array), array, np.nan)
