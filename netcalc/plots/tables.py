"""The figure of a table of rates: its points, and the theory of pairs, frames or writes."""

from __future__ import annotations

from netcalc.explain import TableTheory
from netcalc.plots.curves import curves
from netcalc.plots.plot import Plot
from netcalc.plots.style import Axis, Theme


def table_figure(theory: TableTheory, *, theme: Theme = "light") -> Plot:
    """Draw the points of a table and the curves of theory over them.

    Parameters
    ----------
    theory : TableTheory
        From :func:`netcalc.explain.table_theory`.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        A source for each curve and each series of points.
    """
    named = {
        f"{name}, points" if name in theory.lines else name: p for name, p in theory.points.items()
    }
    return curves(
        theory.x,
        dict(theory.lines),
        points=named,
        x_axis=Axis(theory.x_name, theory.x_unit),
        y_axis=Axis(theory.y_name, theory.y_unit, low=0.0),
        title=f"{theory.y_name[:1].upper()}{theory.y_name[1:]} against {theory.x_name}",
        theme=theme,
    )
