"""One point more in any figure: what its reader expects."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
from bokeh.models import LayoutDOM, Scatter

from netcalc.checks import named_arguments
from netcalc.errors import DomainError
from netcalc.plots.pictures.svg import charts
from netcalc.plots.plot import Plot, ready
from netcalc.plots.style import GUESSES, add_hover, add_legend_entry, new_source


@named_arguments
def with_guess(
    plot: Plot, name: str = "your guess", *, x: float = np.nan, y: float = np.nan
) -> Plot:
    """Return a figure with one point more, which has its own entry in the legend.

    Parameters
    ----------
    plot : Plot
        A figure that is not drawn yet; of several below each other the first has the point.
    name : str
        Name of the point in the legend, and of its source.
    x, y : float
        Where it is, in the units of the axes; nan for a point that is not made yet.

    Returns
    -------
    Plot
        With one source more, whose columns are ``x`` and ``y``.

    Raises
    ------
    DomainError
        If a source of the figure has this name.
    """
    if name in plot.sources:
        raise DomainError("name-in-use", "name", name)
    source = new_source(name, dict(ready({"x": [x], "y": [y]})))

    def draw() -> LayoutDOM:
        layout = plot.draw()
        for chart in islice(charts(layout), 1):
            look = Scatter(
                x="x", y="y", marker="star", size=18, line_width=1.5,
                line_color=GUESSES[plot.theme], fill_color=GUESSES[plot.theme], fill_alpha=0.6,
            )  # fmt: skip
            point = chart.add_glyph(source, look, name=source.name)
            rows = [
                (str(axis.axis_label.text), column, str(args["unit"]))
                for column, axis in (("x", chart.xaxis[0]), ("y", chart.yaxis[0]))
                if axis.axis_label and "unit" in (args := getattr(axis.formatter, "args", {}))
            ]
            add_hover(chart, [point], rows)
            add_legend_entry(chart, name, point)
        return layout

    form = (*plot.form, "guess", name) if plot.form else ()
    return replace(plot, draw=draw, sources={**plot.sources, name: source}, form=form)
