"""Figures of the data sets that were read off the figures of a book, with theory over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import compare, datasets
from netcalc.checks import FloatArray, named_arguments
from netcalc.congestion import theory
from netcalc.congestion.quantities import full_buffer_s
from netcalc.display import unit_of_name
from netcalc.errors import DomainError
from netcalc.language import phrase, term
from netcalc.models.tcp.window import bdp_packets
from netcalc.plots.overlay import curves
from netcalc.plots.plot import Plot
from netcalc.plots.style import Axis, Theme
from netcalc.rate_layers import IP, TCP_PAYLOAD, named
from netcalc.scenario import Bottleneck, Scenario, preset
from netcalc.units import show, show_rate

Points = dict[str, tuple[ArrayLike, ArrayLike]]
Columns = Mapping[str, NDArray[Any]]

FIGURES = {"two_flow_goodput": ("Fig. 15", "Fig. 17"), "two_flow_windows": ("Fig. 16",)}
"""Figures of the sets whose theory is a scenario; the first is drawn if none is named."""
_STEP_S = 0.5
"""Over this the goodput of theory is a mean: the error to which times were read. [s]"""


@named_arguments
def readings(
    name: str, *, figure: str = "", scenario: Scenario | None = None, theme: Theme = "light"
) -> Plot:
    """Draw a data set of readings, with their errors, over the theory of its test bench.

    Parameters
    ----------
    name : str
        One of :func:`drawn_sets`.
    figure : str
        Figure of the book, for ``two_flow_goodput``: "Fig. 15" (two alike flows), or "Fig. 17".
    scenario : Scenario, optional
        Two flows of Fig. 15 to 17; by default the preset ``two-flows-10g``, in Fig. 17 with Vegas
        first.
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
    DomainError
        If the set has no such figure, or no scenario.
    """
    figures = FIGURES.get(name, ())
    if figure and figure not in figures:
        raise DomainError("not-a-choice", "figure", figure, choices=list(figures))
    if scenario is not None and not figures:
        raise DomainError("not-a-choice", "name", name, choices=list(FIGURES))
    shown = figure or (figures[0] if figures else "")
    columns = datasets.load(name).columns()
    if "figure" in columns:
        mine = columns["figure"] == shown
        columns = {key: values[mine] for key, values in columns.items()}
    bench = _scenario(shown) if scenario is None else scenario
    drawn = _DRAWN[shown or name](columns, bench)
    title = _TITLES.get(shown or name, datasets.info(name).title)
    unit = drawn.axes[1].unit
    return curves(
        drawn.x,
        drawn.lines,
        points=drawn.points,
        errors=drawn.errors,
        x_axis=drawn.axes[0],
        y_axis=drawn.axes[1],
        title=title,
        description=phrase("{title}, within {error}. ", title=title, error=_error(columns))
        + "; ".join(f"{key}: {_ends(pair[1], unit)}" for key, pair in drawn.points.items())
        + phrase(". Theory: {join}.", join=", ".join(drawn.lines))
        + (f" {_inferred(shown, bench.bottleneck)}" if figures else ""),
        theme=theme,
    )


@named_arguments
def drawn_sets() -> list[str]:
    """Return the names of the data sets that :func:`readings` draws."""
    return [name for name in (*FIGURES, *_DRAWN) if not name.startswith("Fig")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """What is drawn: theory over ``x``, the readings with their errors, and the axes."""

    x: ArrayLike
    lines: dict[str, FloatArray]
    points: Points
    errors: Points
    axes: tuple[Axis, Axis]


def _scenario(figure: str) -> Scenario:
    """Return the test bench of the figures 15 to 17: inferred, as is which algorithms ran."""
    found = preset("two-flows-10g")
    if figure != "Fig. 17":
        return found
    first, second = found.flows
    return replace(found, flows=(replace(first, algorithm="vegas"), second))


def _inferred(figure: str, link: Bottleneck) -> str:
    """Say what the section does not say of the figures 15 to 17."""
    bench = phrase(
        "Inferred: {rate} with a round trip of {rtt}, packets of {size}, a buffer of {buffer}, "
        "and the algorithms.",
        rate=show_rate(link.rate_bps, IP),
        rtt=show(link.rtt_s, "s"),
        size=show(link.mtu_bytes, "byte"),
        buffer=show(link.buffer_bytes, "byte"),
    )
    return f"{bench} {phrase(_TIMES[figure])}" if figure in _TIMES else bench


def _goodput(columns: Columns, scenario: Scenario) -> _Drawn:
    """Draw the goodput of Fig. 15, the ideal shares of its plateau, and theory."""
    start = columns["place"] == "start"
    steps_s, ideal_bps = compare.ideal_shares(
        [0.0, float(columns["time_s"][start][0])],
        duration_s=[_stated("NE18"), _stated("NE19")],
        capacity_bps=float(np.nanmax(columns["goodput_bps"])),
    )
    x, lines = _courses(scenario, _TWO)
    at = np.searchsorted(steps_s, x - _STEP_S / 2, side="right") - 1
    shares = {
        phrase("{flow}, ideal share", flow=flow): rate[at]
        for flow, rate in zip(_TWO, ideal_bps, strict=True)
    }
    points, errors = _grouped(columns, "flow", "time_s", "goodput_bps")
    return _Drawn(x=x, lines=shares | lines, points=points, errors=errors, axes=_goodput_axes())


def _unlike(columns: Columns, scenario: Scenario) -> _Drawn:
    """Draw the goodput of Fig. 17 in two stages of 10 s each, as their times were not read."""
    start_s = float(scenario.flows[-1].start_s)
    idle = np.array([place.startswith("idle") for place in columns["place"]])
    times = {
        "time_s": np.where(idle, start_s + 5.0, start_s + 15.0),
        "time_error_s": np.full(idle.size, 5.0),
    }
    x, lines = _courses(scenario, ("A", "B"))
    points, errors = _grouped({**columns, **times}, "flow", "time_s", "goodput_bps")
    return _Drawn(x=x, lines=lines, points=points, errors=errors, axes=_goodput_axes())


def _courses(
    scenario: Scenario, names: tuple[str, str]
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return the goodput of both flows by theory, as means of half a second."""
    course = theory.run(scenario, stack="linux").trajectory
    assert course is not None  # theory always has it
    time_s, rate_bps = course.goodput_every(_STEP_S)
    return time_s, {
        phrase("{flow}, theory ({algorithm})", flow=name, algorithm=flow.algorithm): rate
        for name, flow, rate in zip(names, scenario.flows, rate_bps.T, strict=True)
    }


def _goodput_axes() -> tuple[Axis, Axis]:
    return Axis("time", "s"), Axis(named("goodput", TCP_PAYLOAD), "bit/s", low=0.0)


def _windows(columns: Columns, scenario: Scenario) -> _Drawn:
    """Draw the windows of Fig. 16 in their order, what fills the path, and theory by stages."""
    course = theory.run(scenario, stack="linux").trajectory
    assert course is not None
    order, start_s = columns["reading"], float(scenario.flows[-1].start_s)
    edges = {"alone": (1.0, start_s), "alone again": (start_s + 21.0, scenario.end_s),
             "shared": (start_s + 10.0, start_s + 20.0)}  # fmt: skip
    low, high = np.empty(order.size), np.empty(order.size)
    for i, (place, flow) in enumerate(zip(columns["place"], columns["flow"], strict=True)):
        begin_s, end_s = edges.get(place.split(",")[0], (start_s + 1.0, start_s + 10.0))
        inside = (course.time_s > begin_s) & (course.time_s <= end_s)
        which = {"flow 1": [0], "flow 2": [1]}.get(flow, [0, 1])
        windows = course.window_packets[inside][:, which]
        low[i], high[i] = np.nanmin(windows), np.nanmax(windows)
    # A level for each reading, and a gap after it.
    x = (order[:, None] + np.array([-0.4, 0.4, 0.45])).ravel()
    gap = np.array([1.0, 1.0, np.nan])
    lines = {}
    for size in (1500.0, 9000.0):
        fills = float(
            bdp_packets(_stated("NE04"), bandwidth_bps=_stated("NE05"), packet_bytes=size)
        )
        name = phrase("fills 10 ms, packets of {size}", size=show(size, "byte"))
        lines[name] = np.full(x.size, fills)
    named = "+".join(flow.algorithm for flow in scenario.flows)
    for word, values in ((term("least"), low), (term("greatest"), high)):
        line = phrase("theory ({algorithm}), {word} of the stage", algorithm=named, word=word)
        lines[line] = np.outer(values, gap).ravel()
    points, errors = _grouped(columns, "flow", "reading", "window_packets")
    axes = Axis("reading, in the order of each curve", "1"), Axis("window in segments", "1", "log")
    return _Drawn(x=x, lines=lines, points=points, errors=errors, axes=axes)


def _requests(columns: Columns, _scenario: Scenario) -> _Drawn:
    """Draw the goodput of requests, and size over the equal share, with and without a queue."""
    at = np.linspace(1.0, 16.0, 100)
    estimate = partial(
        compare.request_goodput_bps,
        at,
        request_bytes=float(columns["request_bytes"][0]),
        bandwidth_bps=_stated("NE02"),
        rtt_s=_stated("NE01"),
    )
    lines = {"size over the equal share": estimate()}
    for queue in map(_stated, ("NE08", "NE09")):
        name = phrase("with slow start over a queue of {queue}", queue=show(queue, "byte"))
        lines[name] = estimate(queue_bytes=queue, slow_start=True)
    points, errors = _grouped(columns, "algorithm", "stream_count", "goodput_bps")
    shown = np.concatenate([*lines.values(), columns["goodput_bps"]])
    # Whole decades: on less than two a log axis has ticks at the upper end alone.
    low = np.floor(np.log10(0.8 * np.nanmin(shown)))  # a mark on the edge would be cut
    high = np.ceil(np.log10(1.25 * np.nanmax(shown)))
    axes = (
        Axis("long flows", "1"),
        Axis(named("goodput", TCP_PAYLOAD), "bit/s", "log", 10.0**low, 10.0**high),
    )
    return _Drawn(x=at, lines=lines, points=points, errors=errors, axes=axes)


def _latency(columns: Columns, _scenario: Scenario) -> _Drawn:
    """Draw percentiles of the latency, and the round trip with a full buffer."""
    at = np.linspace(10.0, 300.0, 100)
    full_s = full_buffer_s(at * 1500.0, rate_bps=_stated("NE11"), rtt_s=_stated("NE10"))
    points, errors = _grouped(columns, "algorithm", "buffer_packets", "p99_s")
    axes = Axis("buffer in packets", "1"), Axis("99th percentile", "s", low=0.0)
    lines = {"round trip and a full buffer": full_s}
    return _Drawn(x=at, lines=lines, points=points, errors=errors, axes=axes)


# The title of the set is too long for a figure.
_TITLES = {
    "Fig. 15": term("Goodput of two alike flows, read off the figure 15"),
    "Fig. 17": term("Goodput of two unlike flows, read off the figure 17"),
    "request_latency": term("Latency of requests of 10 KB, read off the figure 20"),
}
_TIMES = {
    "Fig. 16": term("Inferred, too: the time of each stage but the shared one."),
    "Fig. 17": term("Inferred, too: the times, two stages of 10 s each from the start of B."),
}
"""What the section does not say of the times of a figure."""
_TWO = ("flow 1", "flow 2")
_DRAWN: dict[str, Callable[[Columns, Scenario], _Drawn]] = {
    "Fig. 15": _goodput,
    "Fig. 16": _windows,
    "Fig. 17": _unlike,
    "large_request_goodput": _requests,
    "small_request_goodput": _requests,
    "request_latency": _latency,
}


def _grouped(columns: Columns, group: str, x: str, y: str) -> tuple[Points, Points]:
    """Return the known points of each flow or algorithm in the order of the set, and the errors."""
    known = np.isfinite(columns[x]) & np.isfinite(columns[y])
    y_error = columns[_error_name(columns)]
    x_error = columns["time_error_s"] if x == "time_s" else np.zeros(known.size)
    points, errors = {}, {}
    for name in dict.fromkeys(columns[group][known].tolist()):
        mine = known & (columns[group] == name)
        points[name] = columns[x][mine], columns[y][mine]
        errors[name] = x_error[mine], y_error[mine]
    return points, errors


def _stated(number: str) -> float:
    """Return a number that the section states, by its id."""
    columns = datasets.load("congestion_scenarios").columns()
    return float(columns["si_value"][columns["id"] == number][0])


def _error(columns: Columns) -> str:
    """Return the reading errors of the heights."""
    name = _error_name(columns)
    unit = unit_of_name(name) or "1"
    return " to ".join(show(float(error), unit) for error in np.unique(_known(columns[name])))


def _error_name(columns: Columns) -> str:
    """Return the name of the column with the errors of the heights."""
    [name] = [name for name in columns if "error" in name and name != "time_error_s"]
    return name


def _ends(values: ArrayLike, unit: str) -> str:
    finite = _known(np.asarray(values, dtype=float))
    return f"{show(float(finite.min()), unit)} to {show(float(finite.max()), unit)}"


def _known(values: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(values[np.isfinite(values)])
