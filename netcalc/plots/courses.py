"""A scenario over time, up to three ways: lines are theory, marks live, dashes ns-3. Latencies of
request loops as distributions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from bokeh.layouts import column
from bokeh.models import ColumnDataSource, GlyphRenderer, LayoutDOM
from bokeh.plotting import figure

from netcalc.checks import FloatArray, choice, named_arguments
from netcalc.congestion import Result, Trajectory, quantities
from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.language import phrase, term
from netcalc.models.tcp.window import bdp_packets
from netcalc.plots import style
from netcalc.plots.plot import Plot, ready
from netcalc.printable import safe_repr
from netcalc.rate_layers import IP, TCP_PAYLOAD, named
from netcalc.scenario import Scenario
from netcalc.units import show, show_rate

PARTS = ("goodput", "window", "queue", "rtt", "jain", "drops")
"""What is drawn over time, each in a figure of its own; Jain's index of flows that run together."""
USUAL, TOGETHER = PARTS[:4], PARTS[:5]
"""Parts that are drawn if none is named, and with Jain's index."""
WAYS = {"theory": "theory", "live": "live", "ns3": "ns-3", "measured": "measured"}
"""Names of the ways to a result, in their order."""
DRAWN_FLOWS = 5
"""Flows that are drawn: as many colours, and one more for the link."""
INTERVALS = 200
"""Most intervals over which goodput is averaged: a few pixels each."""
LEAST_ROUNDS = 4.0
"""Round trips over which goodput is averaged at least: when a lost packet has come again, all that
waited behind it is delivered at once, for a moment at several times the rate of the link."""
LOWER_HEIGHT = 240
"""Height of a figure below the first, in pixels."""
PHASE_HEIGHT = 460
"""Height of the phase plot, in pixels."""
MARK = 6
"""Size of the marks of a live run, which are many. [pixel]"""
_SAID = {**WAYS, "theory": "Theory", "live": "Live", "measured": "Measured"}
LIMIT = "limit"
"""What is neither of the ways: an ideal share, a full buffer."""
IDEAL, FULL = term("ideal share"), term("full buffer")
"""Their names in the legend."""
term("queue, full buffer")  # a name of a source, which is told to assistive technology
_AXES = {
    "goodput": (term("goodput"), "bit/s"),
    "window": (term("window in packets"), "1"),
    "queue": ("queue", "byte"),
    "rtt": (term("round-trip time"), "s"),
    "jain": (term("Jain index"), "1"),
    "drops": (term("dropped packets"), "1"),
}


@dataclass(frozen=True, slots=True)
class _Series:
    """One curve or set of marks: its name in the legend, its way, and its place in the palette."""

    part: str
    label: str
    way: str
    index: int

    @property
    def name(self) -> str:
        """The name of the source."""
        return f"{self.part}, {self.label}"


_Drawn = dict[_Series, tuple[FloatArray, FloatArray]]


@named_arguments
def courses(
    results: Sequence[Result],
    *,
    parts: Sequence[str] | None = None,
    title: str = "",
    theme: style.Theme = "light",
) -> Plot:
    """Draw what happened in a scenario over time, as one or more ways found it.

    Parameters
    ----------
    results : sequence of Result
        Results of one scenario with their courses: theory is drawn as lines, a live run as marks,
        ns-3 as dashes.
    parts : sequence of str, optional
        What to draw, of :data:`PARTS`; one figure each, with one axis of time. By default all that
        the scenario has but ``drops``, the packets dropped since the start; Jain's index where two
        flows run together through a full second.
    title : str
        Title above the first figure.
    theme : {'light', 'dark'}
        Colours of the figures.

    Returns
    -------
    Plot
        With a source for each part, flow and way, such as ``goodput, flow 1, cubic, theory``, and
        for the limits ``goodput, ideal share of flow 1`` and ``queue, full buffer``; columns ``x``
        and ``y``. Goodput is averaged over at least a 200th of the time, and never drawn finer than
        it is known.

    Raises
    ------
    DomainError
        If there is no result, or one without its course; if they are of several scenarios, or two
        of one way; if a part is unknown.
    """
    scenario = _require_one_scenario(results)
    several = len(scenario.flows) > 1
    together = several and any(_knows_jain(result) for result in results)
    left_out = parts is None and several and not together
    if parts is None:
        parts = TOGETHER if together else USUAL
    for part in parts:
        choice("parts", part, PARTS)
    drawn: _Drawn = {}
    for part in parts:
        for result in results:
            drawn |= _series(part, result)
        drawn |= _limits(part, scenario)
    sources = {
        course.name: style.new_source(
            course.name, dict(ready({"x": x, "y": y}, source_count=len(drawn)))
        )
        for course, (x, y) in drawn.items()
    }
    look = _CourseLook(tuple(parts), tuple(drawn), scenario.end_s, title, theme)
    text = _describe_courses(results, title or phrase("Flows on a bottleneck"))
    if left_out:
        text += phrase(
            " Jain's index is left out: no two flows run together through a full second."
        )
    goodputs = [
        y for course, (_, y) in drawn.items() if course.part == "goodput" and course.way != LIMIT
    ]
    if any((y > scenario.bottleneck.rate_bps).any() for y in goodputs):
        text += phrase(
            " Goodput is what receivers pass on: where a lost packet comes again, all that "
            "waited behind it counts in that moment, for which it may be above the rate of "
            "the link."
        )
    return Plot(partial(_draw_courses, sources, look), sources, text, theme, ("courses", look))


@named_arguments
def phase(
    results: Sequence[Result],
    *,
    flows: tuple[int, int] = (0, 1),
    title: str = "",
    theme: style.Theme = "light",
) -> Plot:
    """Draw the window of one flow against that of another, while both run.

    Parameters
    ----------
    results : sequence of Result
        As for :func:`courses`.
    flows : tuple of int
        Indices of the two flows.
    title : str
        Title above the figure.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        With a source for each way, and for the lines ``equal windows``, ``link just full`` and
        ``full buffer``, each with the columns ``x`` and ``y``.

    Raises
    ------
    DomainError
        As :func:`courses`, and if the scenario has no such flows.

    References
    ----------
    D.-M. Chiu, R. Jain, Analysis of the increase and decrease algorithms for congestion avoidance
    in computer networks, Computer Networks and ISDN Systems 17 (1989).
    """
    scenario = _require_one_scenario(results)
    pairs = list(range(len(scenario.flows)))
    if len(pairs) < 2:
        raise DomainError("one-flow-only", "results", len(pairs))
    if not set(flows) <= set(pairs):
        raise DomainError("not-a-choice", "flows", list(flows), choices=pairs)
    drawn: _Drawn = {}
    for result in results:
        way = WAYS[result.by]
        series = _Series("windows", way, result.by, list(WAYS).index(result.by))
        drawn[series] = _both(result, flows)
    link = scenario.bottleneck
    rtts_s = np.array(scenario.rtts_s())[list(flows)]
    full = bdp_packets(rtts_s, bandwidth_bps=link.rate_bps, packet_bytes=link.mtu_bytes)
    most = full + link.buffer_packets
    edges = {
        "equal windows": ([0.0, most.min()], [0.0, most.min()]),
        "link just full": ([0.0, full[0]], [full[1], 0.0]),
        "full buffer": ([0.0, most[0]], [most[1], 0.0]),
    }
    for index, (name, (x, y)) in enumerate(edges.items()):
        drawn[_Series("windows", name, LIMIT, index)] = np.array(x), np.array(y)
    sources = {
        course.label: style.new_source(
            course.label, dict(ready({"x": x, "y": y}, source_count=len(drawn)))
        )
        for course, (x, y) in drawn.items()
    }
    first, second = (
        phrase(
            "flow {n} ({algorithm})",
            n=n + 1,
            algorithm=scenario.flows[n].algorithm,
        )
        for n in flows
    )
    names = (phrase("window of {name} in packets", name=name) for name in (first, second))
    x_axis, y_axis = (style.Axis(name, "1", low=0.0) for name in names)
    text = phrase(
        "Window of {second} against that of {first}, while both run. The link is full with ",
        second=second,
        first=first,
    )
    text += phrase(
        "{full:.1f} packets in flight, the buffer with {most:.1f}.",
        full=float(full.mean()),
        most=float(most.mean()),
    )
    form = ("phase", tuple(drawn), x_axis, y_axis, title, theme)
    draw = partial(_draw_phase, sources, tuple(drawn), (x_axis, y_axis), title, theme)
    return Plot(draw, sources, text, theme, form)


@dataclass(frozen=True, slots=True)
class _CourseLook:
    """Everything of the figures that is not in their columns."""

    parts: tuple[str, ...]
    series: tuple[_Series, ...]
    end_s: float
    title: str
    theme: style.Theme


def _require_one_scenario(results: Sequence[Result]) -> Scenario:
    listed: object = results
    if not isinstance(listed, Sequence) or not all(isinstance(result, Result) for result in listed):
        shown = safe_repr(listed)
        raise ArgumentTypeError("not-of-class", "results", shown, expected="a list of Result")
    if not results:
        raise DomainError("no-results", "results", "an empty list")
    scenario = results[0].scenario
    ways = [result.by for result in results]
    for result in results:
        if result.trajectory is None:
            raise DomainError("no-course", "results", result.by)
        if result.scenario != scenario:
            raise DomainError("scenarios-differ", "results", ways)
    if len(set(ways)) < len(ways):
        raise DomainError("name-in-use", "results", ways)
    return scenario


def _course(result: Result) -> Trajectory:
    assert result.trajectory is not None, "refused before"
    return result.trajectory


def _series(part: str, result: Result) -> _Drawn:
    """Return what one result has for one part, by flow or for the link."""
    course, way = _course(result), WAYS[result.by]
    if part in ("jain", "drops", "queue", "rtt"):
        link = _Series(part, phrase("link, {way}", way=way), result.by, DRAWN_FLOWS)
        if part == "jain":
            return {link: quantities.jain_over_time(result)}
        columns = {"drops": course.drop_count, "queue": course.queue_bytes, "rtt": course.rtt_s}
        column = columns[part]
        unknown = np.full(course.time_s.size, np.nan)
        return {link: (course.time_s, unknown if column is None else column)}
    time_s, values = course.time_s, course.window_packets
    step_s = 0.0
    if part == "goodput":
        step_s = _step_s(course, result.scenario)
        time_s, values = course.goodput_every(step_s)
    drawn: _Drawn = {}
    for index, flow in enumerate(result.scenario.flows[:DRAWN_FLOWS]):
        start_s, end_s = result.span_s(index)
        ended = time_s - step_s >= end_s if part == "goodput" else time_s > end_s
        runs = (time_s > start_s) & ~ended
        label = phrase(
            "flow {index}, {algorithm}, {way}",
            index=index + 1,
            algorithm=flow.algorithm,
            way=way,
        )
        series = _Series(part, label, result.by, index)
        drawn[series] = time_s, np.where(runs, values[:, index], np.nan)
    return drawn


def _step_s(course: Trajectory, scenario: Scenario) -> float:
    """Return over how long goodput is averaged: whole intervals of the course, no finer ones."""
    own_s = float(np.median(np.diff(course.time_s, prepend=0.0))) if course.time_s.size else 0.0
    least_s = max(scenario.end_s / INTERVALS, LEAST_ROUNDS * scenario.longest_rtt_s)
    return own_s * float(np.ceil(least_s / own_s - 1e-9)) if own_s > 0 else least_s


def _limits(part: str, scenario: Scenario) -> _Drawn:
    if part == "goodput":
        time_s, rate_bps = quantities.fair_shares_bps(scenario)
        return {
            _Series(part, phrase("ideal share of flow {index}", index=i + 1), LIMIT, i): (
                time_s,
                rate,
            )
            for i, rate in enumerate(rate_bps[:DRAWN_FLOWS])
        }
    if part == "queue":
        ends = np.array([0.0, scenario.end_s])
        full = np.full(2, scenario.bottleneck.buffer_bytes)
        return {_Series(part, FULL, LIMIT, DRAWN_FLOWS): (ends, full)}
    return {}


def _knows_jain(result: Result) -> bool:
    """Whether two flows run together through a full second."""
    return bool(np.isfinite(quantities.jain_over_time(result)[1]).any())


def _both(result: Result, flows: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
    """Return the windows of two flows at the times at which both run."""
    course = _course(result)
    spans = [result.span_s(number) for number in flows]
    start_s, end_s = max(span[0] for span in spans), min(span[1] for span in spans)
    runs = (course.time_s > start_s) & (course.time_s <= end_s)
    first, second = (course.window_packets[runs, number] for number in flows)
    return first, second


def _draw_courses(sources: dict[str, object], look: _CourseLook) -> LayoutDOM:
    charts: list[figure] = []
    legend: dict[str, list[GlyphRenderer]] = {}
    for part in look.parts:
        name, unit = _AXES[part]
        name = named(name, TCP_PAYLOAD) if part == "goodput" else name
        first = not charts
        chart = style.new_figure(
            style.Axis("time", "s", low=0.0, high=look.end_s),
            style.Axis(name, unit, low=0.0, high=1.05 if part == "jain" else None),
            title=look.title if first else "",
            **({} if first else {"height": LOWER_HEIGHT}),
        )
        chart.min_border_left = 90
        shown = {sery: _add(chart, sources[sery.name], sery, look.theme)
                 for sery in look.series if sery.part == part}  # fmt: skip
        style.add_hover(chart, list(shown.values()), [("time", "x", "s"), (name, "y", unit)])
        if first:
            for course, drawn in shown.items():
                legend.setdefault(_entry(course), []).append(drawn)
            for course in _of_the_link(look):
                legend[course.label] = [_add(chart, _outside(), course, look.theme)]
            style.add_legend(chart, list(legend.items()))
        else:
            _join(chart, charts[-1], shown, legend)
        charts.append(chart)
    return column(*charts, sizing_mode="stretch_width", spacing=0)


def _of_the_link(look: _CourseLook) -> list[_Series]:
    """Return one series of the link for each way, and its full buffer, if the first figure, which
    has the legend, has none."""
    others = [sery for sery in look.series if sery.index == DRAWN_FLOWS]
    first = {course.label for course in others if course.part == look.parts[0]}
    return list({course.label: course for course in others if course.label not in first}.values())


def _outside() -> ColumnDataSource:
    """Return a point that no figure shows, before the first second: only its legend is seen."""
    return ColumnDataSource(name="legend", data={"x": [-1.0], "y": [0.0]})


def _join(
    chart: figure,
    above: figure,
    shown: dict[_Series, GlyphRenderer],
    legend: dict[str, list[GlyphRenderer]],
) -> None:
    """Put a figure below another: one axis of time, one legend that hides curves in both."""
    chart.x_range = above.x_range
    chart.toolbar_location = None
    chart.yaxis[0].ticker.desired_num_ticks = 4
    above.xaxis[0].axis_label = None
    for course, drawn in shown.items():
        if leader := legend.get(_entry(course)):
            leader[0].js_link("visible", drawn, "visible")


def _entry(series: _Series) -> str:
    """Return the name of a curve in the legend, which has all ideal shares as one."""
    if series.way != LIMIT:
        return series.label
    return FULL if series.part == "queue" else IDEAL


def _draw_phase(
    sources: dict[str, object],
    series: tuple[_Series, ...],
    axes: tuple[style.Axis, style.Axis],
    title: str,
    theme: style.Theme,
) -> figure:
    chart = style.new_figure(*axes, title=title, height=PHASE_HEIGHT)
    shown = {sery.label: _add(chart, sources[sery.label], sery, theme) for sery in series}
    style.add_hover(chart, list(shown.values()), [(axis.name, at, "1") for axis, at in
                                            zip(axes, ("x", "y"), strict=True)])  # fmt: skip
    style.add_legend(chart, [(name, [drawn]) for name, drawn in shown.items()])
    return chart


def add_way(
    chart: figure, source: object, way: str, *, color: str, index: int, theme: style.Theme
) -> GlyphRenderer:
    """Draw a source as its way is drawn everywhere: theory as line, live as marks, ns-3 dashed.

    ``index`` is that of the marker of a live run.
    """
    if way in ("live", "measured"):
        marker = style.MARKERS[index % len(style.MARKERS)]
        drawn = style.add_points(chart, source, marker=marker, color=style.INKS[theme])
        drawn.glyph.update(size=MARK, line_width=1, fill_color=color, fill_alpha=0.9)
        return drawn
    dash = style.DASHES[1] if way == "ns3" else style.DASHES[0]
    return style.add_line(chart, source, line_color=color, line_width=2, line_dash=dash)


def _add(chart: figure, source: object, series: _Series, theme: style.Theme) -> GlyphRenderer:
    """Draw one series as its way has it."""
    if series.way == LIMIT:
        dash = style.DASHES[2 + series.index] if series.part == "windows" else style.DASHES[2]
        dash = style.DASHES[3] if series.label == FULL and series.part == "queue" else dash
        return style.add_line(
            chart, source, line_color=style.INKS[theme], line_width=1.5, line_dash=dash
        )
    color = style.PALETTES[theme][series.index]
    return add_way(chart, source, series.way, color=color, index=series.index, theme=theme)


def _said(value: float, unit: str) -> str:
    if np.isnan(value):
        return "unknown"
    return f"{value:.0%}" if unit == "ratio" else show(value, unit)


def _said_rate(rate_bps: float) -> str:
    return "unknown" if np.isnan(rate_bps) else show_rate(rate_bps, TCP_PAYLOAD)


def _describe_courses(results: Sequence[Result], title: str) -> str:
    scenario = results[0].scenario
    link = scenario.bottleneck
    rtts_s = scenario.rtts_s() or (link.rtt_s,)
    ends_s = dict.fromkeys((min(rtts_s), max(rtts_s)))
    text = phrase(
        "{title}: {rate}, {rtt}, buffer of {buffer}.",
        title=title,
        rate=show_rate(link.rate_bps, IP),
        rtt=" to ".join(show(end_s, "s") for end_s in ends_s),
        buffer=show(link.buffer_bytes, "byte"),
    )
    for result in results:
        rates = ", ".join(
            phrase(
                "flow {index} {said_rate}",
                index=index + 1,
                said_rate=_said_rate(float(rate)),
            )
            for index, rate in enumerate(result.goodput_bps[:DRAWN_FLOWS])
        )
        text += phrase(
            " {said}: {value}link {said_2} used, mean queue {said_3}.",
            said=_SAID[result.by],
            value=rates + "; " if rates else "",
            said_2=_said(result.utilization, "ratio"),
            said_3=_said(result.queue_mean_bytes, "byte"),
        )
    hidden = len(scenario.flows) - DRAWN_FLOWS
    if hidden > 0:
        text += phrase(
            " The first {drawn_flows} of {flows} flows are drawn.",
            drawn_flows=DRAWN_FLOWS,
            flows=len(scenario.flows),
        )
    return text


MOST_MARKS = 60
"""Marks of a live run, at equal steps of the share: more would be a line. [1]"""


@dataclass(frozen=True, slots=True)
class _Curve:
    """The distribution of one loop: its name, its way, and its colour."""

    name: str
    way: str
    index: int


@named_arguments
def latencies(results: Sequence[Result], *, title: str = "", theme: style.Theme = "light") -> Plot:
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
        If no result has a request latency.
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
            percentiles = {"median": 0.5, "99th percentile": 0.99}
            said = [
                f"{what} {show(loop.percentile_s(share), 's')}{_within(loop.interval_s(share))}"
                for what, share in percentiles.items()
                if np.isfinite(loop.percentile_s(share))
            ]
            words.append(f"{curve.name}: {', '.join([f'{loop.count:,} requests', *said])}")
    if not drawn:
        raise DomainError("no-requests", "results", [result.by for result in results])
    sources = {
        curve.name: style.new_source(
            curve.name, dict(ready({"x": x, "y": y}, source_count=len(drawn)))
        )
        for curve, (x, y) in drawn.items()
    }
    head = title or phrase("Latency of requests")
    text = phrase(
        "{head}: share of the requests that took no longer. {join}.",
        head=head,
        join="; ".join(words),
    )
    form = ("latencies", tuple(drawn), title, theme)
    return Plot(
        partial(_draw_latencies, sources, tuple(drawn), title, theme), sources, text, theme, form
    )


def _within(ends: tuple[float, float]) -> str:
    """Return an interval in brackets, open at an end that is not known; nothing without it."""
    low, high = (show(end, "s") for end in ends)
    if np.isnan(ends[0]):
        return ""
    return (
        f" ({low} to {high})" if np.isfinite(ends[1]) else f" ({phrase('{low} or more', low=low)})"
    )


def _distribution(latency_s: FloatArray, *, few: bool) -> tuple[FloatArray, FloatArray]:
    """Return latencies and the shares of those that are no longer, as steps or some of them."""
    ordered = np.sort(latency_s)
    share = np.arange(1, ordered.size + 1) / ordered.size
    if few:
        at = np.unique(np.linspace(0, ordered.size - 1, min(ordered.size, MOST_MARKS)).astype(int))
        return ordered[at], share[at]
    return np.repeat(ordered, 2), np.concatenate(([0.0], np.repeat(share, 2)[:-1]))


def _draw_latencies(
    sources: dict[str, ColumnDataSource], curves: tuple[_Curve, ...], title: str, theme: style.Theme
) -> figure:
    x_axis = style.Axis("latency of a request", "s", "log")
    y_axis = style.Axis("share of requests", "ratio", low=0.0, high=1.02)
    chart = style.new_figure(x_axis, y_axis, title=title)
    palette = style.PALETTES[theme]
    shown = {
        curve.name: add_way(
            chart, sources[curve.name], curve.way, color=palette[curve.index % len(palette)],
            index=curve.index, theme=theme,
        )
        for curve in curves
    }  # fmt: skip
    style.add_hover(chart, list(shown.values()), [("latency", "x", "s"), ("share", "y", "ratio")])
    style.add_legend(chart, [(name, [glyph]) for name, glyph in shown.items()])
    return chart
