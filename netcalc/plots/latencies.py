"""Latencies of request loops as distributions: lines are theory, marks live."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from netcalc.checks import FloatArray, named_arguments
from netcalc.congestion import Result
from netcalc.errors import DomainError
from netcalc.language import phrase
from netcalc.plots.courses import WAYS, add_way
from netcalc.plots.plot import Plot, ready
from netcalc.plots.style import (
    PALETTES,
    Axis,
    Theme,
    add_hover,
    add_legend,
    new_figure,
    new_source,
)
from netcalc.units import show

MOST_MARKS = 60
"""Marks of a live run, at equal steps of the share: more would be a line. [1]"""


@dataclass(frozen=True, slots=True)
class _Curve:
    """The distribution of one loop: its name, its way, and its colour."""

    name: str
    way: str
    index: int


@named_arguments
def latencies(results: Sequence[Result], *, title: str = "", theme: Theme = "light") -> Plot:
    """Draw the empirical distribution of the latencies of request loops.

    Parameters
    ----------
    results : sequence of Result
        Results of one scenario; those without request loops, as of ns-3, are left out.
    title : str
        Title above the figure.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        With a source for each loop and way, such as ``requests 1 of 10 kB, cubic, theory``; columns
        ``x``, the latency, and ``y``, the share of requests that took no longer.

    Raises
    ------
    DomainError
        If no result has the latency of a request.
    """
    drawn: dict[_Curve, tuple[FloatArray, FloatArray]] = {}
    words = []
    for result in results:
        for index, loop in enumerate(result.requests or ()):
            if not loop.count:
                continue
            of = result.scenario.requests[index]
            name = phrase(
                "requests {index} of {request}, {algorithm}",
                index=index + 1,
                request=show(of.request_bytes, "byte"),
                algorithm=of.algorithm,
            )
            curve = _Curve(f"{name}, {WAYS[result.by]}", result.by, index)
            drawn[curve] = _distribution(loop.latency_s, few=result.by == "live")
            known = {"median": loop.percentile_s(0.5), "99th percentile": loop.percentile_s(0.99)}
            said = [f"{what} {show(s, 's')}" for what, s in known.items() if np.isfinite(s)]
            words.append(f"{curve.name}: {', '.join([f'{loop.count:,} requests', *said])}")
    if not drawn:
        raise DomainError("no-requests", "results", [result.by for result in results])
    sources = {
        one.name: new_source(one.name, dict(ready({"x": x, "y": y}, source_count=len(drawn))))
        for one, (x, y) in drawn.items()
    }
    head = title or phrase("Latency of requests")
    text = phrase(
        "{head}: share of the requests that took no longer. {join}.",
        head=head,
        join="; ".join(words),
    )
    form = ("latencies", tuple(drawn), title, theme)
    return Plot(partial(_draw, sources, tuple(drawn), title, theme), sources, text, theme, form)


def _distribution(latency_s: FloatArray, *, few: bool) -> tuple[FloatArray, FloatArray]:
    """Return latencies and the shares of those that are no longer, as steps or some of them."""
    ordered = np.sort(latency_s)
    share = np.arange(1, ordered.size + 1) / ordered.size
    if few:
        at = np.unique(np.linspace(0, ordered.size - 1, min(ordered.size, MOST_MARKS)).astype(int))
        return ordered[at], share[at]
    return np.repeat(ordered, 2), np.concatenate(([0.0], np.repeat(share, 2)[:-1]))


def _draw(
    sources: dict[str, ColumnDataSource], curves: tuple[_Curve, ...], title: str, theme: Theme
) -> figure:
    x_axis = Axis("latency of a request", "s", "log")
    y_axis = Axis("share of requests", "ratio", low=0.0, high=1.02)
    chart = new_figure(x_axis, y_axis, title=title)
    palette = PALETTES[theme]
    shown = {
        one.name: add_way(
            chart, sources[one.name], one.way, color=palette[one.index % len(palette)],
            index=one.index, theme=theme,
        )
        for one in curves
    }  # fmt: skip
    add_hover(chart, list(shown.values()), [("latency", "x", "s"), ("share", "y", "ratio")])
    add_legend(chart, [(name, [one]) for name, one in shown.items()])
    return chart
