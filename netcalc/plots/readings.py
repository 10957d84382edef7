"""Figures of the data sets that were read off the figures of a book, with theory over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import compare, datasets
from netcalc.checks import FloatArray, named_arguments
from netcalc.congestion.quantities import full_buffer_s
from netcalc.display import unit_of_name
from netcalc.language import phrase, term
from netcalc.models.tcp.window import bdp_packets
from netcalc.plots.overlay import curves
from netcalc.plots.plot import Plot
from netcalc.plots.style import Axis, Theme
from netcalc.rate_layers import TCP_PAYLOAD, named
from netcalc.units import show

Points = dict[str, tuple[ArrayLike, ArrayLike]]
Columns = Mapping[str, NDArray[Any]]


@named_arguments
def readings(name: str, *, theme: Theme = "light") -> Plot:
    """Draw a data set of readings with the theory of its test bench.

    Parameters
    ----------
    name : str
        One of :func:`drawn_sets`.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        The readings by flow or algorithm, and what theory predicts.

    Raises
    ------
    DatasetError
        If the data file is missing or was changed.
    """
    columns, title = datasets.load(name).columns(), _TITLES.get(name, datasets.info(name).title)
    x, lines, points, x_axis, y_axis = _DRAWN[name](columns)
    return curves(
        x,
        lines,
        points=points,
        x_axis=x_axis,
        y_axis=y_axis,
        title=title,
        description=phrase("{title}, within {error}. ", title=title, error=_error(columns))
        + "; ".join(f"{key}: {_ends(pair[1], y_axis.unit)}" for key, pair in points.items())
        + phrase(". Theory: {join}.", join=", ".join(lines)),
        theme=theme,
    )


@named_arguments
def drawn_sets() -> list[str]:
    """Return the names of the data sets that :func:`readings` draws."""
    return list(_DRAWN)


_Drawn = tuple[ArrayLike, dict[str, FloatArray], Points, Axis, Axis]


def _goodput(columns: Columns) -> _Drawn:
    """Draw the goodput of Fig. 15, whose times were read, and the ideal shares of its plateau."""
    mine = columns["figure"] == "Fig. 15"
    start = mine & (columns["place"] == "start")
    run_s, second_s = _stated("NE18"), _stated("NE19")
    time_s, rate_bps = compare.ideal_shares(
        [0.0, float(columns["time_s"][start][0])],
        duration_s=[run_s, second_s],
        capacity_bps=float(np.nanmax(columns["goodput_bps"][mine])),
    )
    lines = {
        phrase("{flow}, ideal share", flow=flow): rate
        for flow, rate in zip(_TWO, rate_bps, strict=True)
    }
    shown = mine & np.isfinite(columns["goodput_bps"])
    points = _grouped(columns, "flow", "time_s", "goodput_bps", shown)
    return (
        time_s,
        lines,
        points,
        Axis("time", "s"),
        Axis(named("goodput", TCP_PAYLOAD), "bit/s", low=0.0),
    )


def _windows(columns: Columns) -> _Drawn:
    """Draw the windows of Fig. 16 in their order, and the windows that fill the path."""
    order = columns["reading"]
    ends = np.asarray([order.min(), order.max()])
    lines = {}
    for size in (1500.0, 9000.0):
        fills = float(
            bdp_packets(_stated("NE04"), bandwidth_bps=_stated("NE05"), packet_bytes=size)
        )
        lines[phrase("fills 10 ms, packets of {size}", size=show(size, "byte"))] = np.full(2, fills)
    points = _grouped(columns, "flow", "reading", "window_packets", np.isfinite(order))
    axes = Axis("reading, in the order of each curve", "1"), Axis("window in segments", "1", "log")
    return ends, lines, points, *axes


def _requests(columns: Columns) -> _Drawn:
    """Draw the goodput of requests, and size over the equal share, with and without a queue."""
    at = np.linspace(1.0, 16.0, 100)
    estimate = partial(
        compare.request_goodput_bps,
        at,
        request_bytes=float(columns["request_bytes"][0]),
        bandwidth_bps=_stated("NE02"),
        rtt_s=_stated("NE01"),
    )
    queue = _stated("NE08")
    name = phrase("with slow start over a queue of {queue}", queue=show(queue, "byte"))
    lines = {
        "size over the equal share": estimate(),
        name: estimate(queue_bytes=queue, slow_start=True),
    }
    points = _grouped(columns, "algorithm", "stream_count", "goodput_bps")
    shown = np.concatenate([*lines.values(), columns["goodput_bps"]])
    # Whole decades: on less than two a log axis has ticks at the upper end alone.
    low = np.floor(np.log10(0.8 * np.nanmin(shown)))  # a mark on the edge would be cut
    high = np.ceil(np.log10(1.25 * np.nanmax(shown)))
    axes = (
        Axis("long flows", "1"),
        Axis(named("goodput", TCP_PAYLOAD), "bit/s", "log", 10.0**low, 10.0**high),
    )
    return at, lines, points, *axes


def _latency(columns: Columns) -> _Drawn:
    """Draw percentiles of the latency, and the round trip with a full buffer."""
    at = np.linspace(10.0, 300.0, 100)
    full_s = full_buffer_s(at * 1500.0, rate_bps=_stated("NE11"), rtt_s=_stated("NE10"))
    shown = np.isfinite(columns["p99_s"])
    points = _grouped(columns, "algorithm", "buffer_packets", "p99_s", shown)
    axes = Axis("buffer in packets", "1"), Axis("99th percentile", "s", low=0.0)
    return at, {"round trip and a full buffer": full_s}, points, *axes


# The times of Fig. 17 were not read; the other title is too long for a figure.
_TITLES = {
    "two_flow_goodput": term("Goodput of two alike flows, read off the figure 15"),
    "request_latency": term("Latency of requests of 10 KB, read off the figure 20"),
}
_TWO = ("flow 1", "flow 2")
_DRAWN: dict[str, Callable[[Columns], _Drawn]] = {
    "two_flow_goodput": _goodput,
    "two_flow_windows": _windows,
    "large_request_goodput": _requests,
    "small_request_goodput": _requests,
    "request_latency": _latency,
}


def _grouped(
    columns: Columns, group: str, x: str, y: str, shown: NDArray[Any] | None = None
) -> Points:
    """Return the points of each flow or algorithm, in the order of the set."""
    mine = np.ones(columns[x].size, bool) if shown is None else shown
    names = columns[group]
    return {
        fromkey: (columns[x][mine & (names == fromkey)], columns[y][mine & (names == fromkey)])
        for fromkey in dict.fromkeys(names[mine].tolist())
    }


def _stated(number: str) -> float:
    """Return a number that the section states, by its id."""
    columns = datasets.load("congestion_scenarios").columns()
    return float(columns["si_value"][columns["id"] == number][0])


def _error(columns: Columns) -> str:
    """Return the reading errors of the heights."""
    [name] = [n for n in columns if "error" in n and n != "time_error_s"]
    unit = unit_of_name(name) or "1"
    return " to ".join(show(float(error), unit) for error in np.unique(_known(columns[name])))


def _ends(values: ArrayLike, unit: str) -> str:
    finite = _known(np.asarray(values, dtype=float))
    return f"{show(float(finite.min()), unit)} to {show(float(finite.max()), unit)}"


def _known(values: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(values[np.isfinite(values)])
