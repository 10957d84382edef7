"""The figure of any measurement: rates, round trips or the columns of a table, and their theory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from netcalc import compare
from netcalc import samples as measurements
from netcalc.checks import FloatArray, named_arguments
from netcalc.explain import Finding, Known, TableTheory, evidence, main_flow, table_theory
from netcalc.explain.causes.responses import transfers_of
from netcalc.explain.causes.theories import UNNAMED
from netcalc.explain.summaries import rates_over_time, times_of
from netcalc.explain.tables import by_series
from netcalc.language import phrase
from netcalc.models.sizes import framing, headers
from netcalc.plots.captures import capture_ladder, largest_flow, waits
from netcalc.plots.limits import limits
from netcalc.plots.overlay import curves, overlay
from netcalc.plots.plot import Plot, together
from netcalc.plots.router import router
from netcalc.plots.style import Axis, Scale, Theme
from netcalc.rate_layers import IP, LINE, UNKNOWN, named
from netcalc.readers.captures.flows import mirrored
from netcalc.readers.captures.losses import TIMERS_S
from netcalc.readers.captures.tcp import analyse_tcp, ladder
from netcalc.readers.places import layers_of_columns, rate_layer
from netcalc.units import show, show_rate

_COMPARED = (
    measurements.RttSamples
    | measurements.TransferSamples
    | measurements.TransactionSamples
    | measurements.BulkSamples
    | measurements.HopSamples
    | measurements.TrainSamples
)

FAR_LIMITS = 1.25
"""A limit is drawn up to this many times the largest point. [ratio]"""
FAR_WINDOWS = 4.0
"""A window that is always more than this many times what was sent in all is not shown whole."""
LEAST_SIZES = 3
"""Sizes of probes from which on their round trips are drawn over a fit. [1]"""
BINS = 60
"""Intervals into which a capture is divided. [1]"""


@named_arguments
def measured(
    samples: measurements.Samples,
    stated: Known,
    *,
    shows_causes: bool = True,
    theme: Theme = "light",
) -> Plot:
    """Draw a measurement with the theory that applies to it.

    Parameters
    ----------
    samples : Samples
        What a reader made of a file.
    stated : Known
        The line and the round trip, where they are known.
    shows_causes : bool
        Whether the largest TCP flow of a capture is drawn with what it waited for, as
        :func:`waits` does.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        Rates over time with the line's ceiling at their layer, round trips over time with the
        least one, or times against sizes with a fit.
    """
    if isinstance(samples, measurements.PacketTrace):
        return _capture_plots(samples, stated, theme, shows_causes=shows_causes)
    if isinstance(samples, measurements.FlowSeries):
        return _flow_plot(samples, stated, theme)
    if compare.is_working_latency(samples):
        return overlay(compare.overlay(samples), theme=theme)
    if isinstance(samples, measurements.RttSamples) and len(samples.minima()[0]) < LEAST_SIZES:
        return _probe_plot(samples, stated, theme)
    if isinstance(samples, measurements.PathSamples):
        return _path_plot(samples, theme)
    if _has_hops(samples):
        return _hops_plot(samples, theme)
    if isinstance(samples, measurements.TransferSamples):
        return _transfer_plot(samples, theme)
    if compare.is_router(samples):
        return router(samples, theme=theme)
    if has_comparison(samples):
        return overlay(compare.overlay(samples), theme=theme)
    if isinstance(samples, measurements.TransactionSamples):
        return _responses_plot(samples, stated, theme)
    theory = table_theory(samples, stated)
    if theory is not None:
        return table_figure(theory, theme=theme)
    if isinstance(samples, measurements.Table) and has_series(samples):
        return table_series(samples, stated, theme=theme)
    return curves(
        [0.0, 1.0],
        {},
        x_axis=Axis("time", "s"),
        y_axis=Axis("", "1"),
        title="No figure for this kind of file",
        description="Nothing is drawn for this kind of file; the table below has its facts.",
        theme=theme,
    )


def _transfer_plot(transfers: measurements.TransferSamples, theme: Theme) -> Plot:
    """Draw the times of each group against the sizes with their fit, over decades on logarithmic
    axes."""
    groups = compare.transfer_groups(transfers)
    compared = [compare.overlay(group) for group in groups.values()]
    if len(groups) > 1:
        compared = [
            replace(each, measured_label=name) for each, name in zip(compared, groups, strict=True)
        ]
    is_wide = all(each.fit is not None and each.fit.line.is_relative for each in compared)
    scale: Scale = "log" if is_wide else "linear"
    return overlay(*compared, x_scale=scale, y_scale=scale, theme=theme)


def line_share(payload_bytes: float, header_bytes: float) -> float:
    """Return the share of an Ethernet line that a payload of each packet gets."""
    return payload_bytes / float(framing.ethernet_wire_bytes(payload_bytes + header_bytes))


def _flow_plot(flows: measurements.FlowSeries, stated: Known, theme: Theme) -> Plot:
    """Draw the rate of each interval, and the line's ceiling for the data of the application."""
    rows, points = flows.measured, {}
    groups = np.asarray(flows.group)
    start_s, rate_bps = np.asarray(flows.start_s), flows.rate_bps
    for name in dict.fromkeys(groups[rows].tolist()):
        mine = rows & (groups == name)
        side = dict.fromkeys(np.asarray(flows.side)[mine].tolist())
        label = ", ".join(
            filter(None, (name, phrase("counted by the ") + "/".join(filter(None, side))))
        )
        points[label] = (start_s[mine], rate_bps[mine])
    lines: dict[str, float] = {}
    facts = samples_facts(flows)
    udp = any(row.get("protocol") == "udp" for row in facts)
    if stated.line_bps is not None:
        sizes = _sizes(facts) if udp else [_segment(stated)]
        for size in sizes:
            header = headers.DATAGRAM_HEADERS_BYTES if udp else headers.STAMPED_HEADERS_BYTES
            lines[phrase("the line, {size} per packet", size=show(size, "byte"))] = (
                stated.line_bps * line_share(size, header)
            )
    for row in facts:
        if "received_rate_bps" in row:
            run = f"{row['group']}, " if len(facts) > 1 and "group" in row else ""
            lines[phrase("{run}the receiver's mean", run=run)] = float(row["received_rate_bps"])
    ends = np.asarray([float(start_s.min(initial=0.0)), float(start_s.max(initial=1.0))])
    layer = rate_layer(flows, {}, "throughput_bps")
    return _rates(ends, lines, points, phrase("Application data in each interval"), layer, theme)


def _segment(stated: Known) -> float:
    return float(
        framing.tcp_payload_bytes(
            evidence.first_known(stated.mtu_bytes, 1500.0), tcp_option_bytes=headers.TIMESTAMP_BYTES
        )
    )


def _sizes(facts: list[Any]) -> list[float]:
    """Return the sizes of datagrams of each run, as sent, or as received by a server."""
    sizes = []
    for row in facts:
        sent = row.get("datagram_count", 0)
        arrived = sent - row.get("lost_datagram_count", sent)
        if sent and "sent_byte_count" in row:
            sizes.append(float(round(row["sent_byte_count"] / sent)))
        elif arrived > 0 and "received_byte_count" in row:
            sizes.append(float(round(row["received_byte_count"] / arrived)))
    return list(dict.fromkeys(sizes))


def samples_facts(samples: measurements.Samples) -> list[Any]:
    """Return the rows of facts as a list."""
    return list(samples.facts())


def _capture_plots(
    trace: measurements.PacketTrace, stated: Known, theme: Theme, *, shows_causes: bool
) -> Plot:
    """Draw a capture: its rates; and of its largest TCP flow the bytes and the packets."""
    rates = _capture_plot(trace, stated, theme)
    if not trace.has(measurements.Layer.TCP).any():
        return rates
    flow = largest_flow(trace)
    cause = main_flow(trace) if shows_causes else None
    return together(
        rates,
        sequences(trace, flow=flow, theme=theme)
        if cause is None or cause.waits is None
        else waits(cause, theme=theme),
        capture_ladder(trace, flow=flow, theme=theme),
    )


def _capture_plot(trace: measurements.PacketTrace, stated: Known, theme: Theme) -> Plot:
    """Draw the bytes of IP in each interval of a capture, and the line's ceiling for them."""
    time_s, size = np.asarray(trace.time_s), trace.ints("packet_bytes").astype(float)
    timed = np.isfinite(time_s) & ~mirrored(trace)
    time_s, size = time_s[timed], size[timed]
    span_s = float(np.ptp(time_s)) if time_s.size else 0.0
    lines: dict[str, float] = {}
    points: dict[str, tuple[Any, Any]] = {}
    if span_s > 0:
        edges = np.linspace(time_s.min(), time_s.max(), BINS + 1)
        volume, _ = np.histogram(time_s, edges, weights=size)
        points[phrase("IP packets, both directions")] = (edges[:-1], 8 * volume / (span_s / BINS))
        lines[phrase("the mean")] = 8 * float(size.sum()) / span_s
    if stated.line_bps is not None and size.sum() > 0:
        wire = float(np.sum(framing.ethernet_wire_bytes(size)))
        lines[phrase("the line, for packets of these sizes")] = (
            stated.line_bps * float(size.sum()) / wire
        )
    return _rates(
        np.asarray([0.0, span_s or 1.0]),
        lines,
        points,
        phrase("IP packets in each interval"),
        IP,
        theme,
    )


def _rates(
    ends: FloatArray,
    lines: dict[str, float],
    points: dict[str, tuple[Any, Any]],
    title: str,
    layer: str,
    theme: Theme,
) -> Plot:
    return curves(
        ends,
        {name: [rate, rate] for name, rate in lines.items()},
        points=points,
        x_axis=Axis("time", "s"),
        y_axis=Axis(named("rate", layer), "bit/s", low=0.0),
        title=title,
        description=f"{title}. "
        + "; ".join(f"{name}: {show_rate(rate, layer)}" for name, rate in lines.items())
        + ".",
        theme=theme,
    )


def _probe_plot(samples: measurements.RttSamples, stated: Known, theme: Theme) -> Plot:
    """Draw each round trip in the order of the probes, and the least one."""
    rows = np.flatnonzero(samples.measured)
    rtt_s = np.asarray(samples.rtt_s)[rows]
    sequence = np.asarray(samples.sequence, dtype=float)
    number = sequence[rows] if sequence.size else rows.astype(float)
    least = float(rtt_s.min()) if rtt_s.size else math.nan
    base = evidence.first_known(stated.rtt_s, least)
    name = (
        phrase("the path without load")
        if stated.rtt_s is not None
        else phrase("the least round trip")
    )
    most = float(rtt_s.max()) if rtt_s.size else math.nan
    return curves(
        [0.0, float(number.max(initial=1.0))],
        {name: [base, base]},
        points={"round trips": (number, rtt_s)},
        x_axis=Axis("probe", "1", whole=True),
        y_axis=Axis("round-trip time", "s", low=0.0),
        title="Round trip of each probe",
        description=phrase(
            "{size} round trips from {least} to {most}.",
            size=rtt_s.size,
            least=show(least, "s"),
            most=show(most, "s"),
        ),
        theme=theme,
    )


def has_comparison(samples: measurements.Samples) -> TypeGuard[_COMPARED | measurements.Table]:
    """Whether :func:`netcalc.compare.overlay` has theory for these samples.

    It has none for responses of another tool, whose packets are not known, nor for a run between
    two hosts that ended before anything crossed what is between them.
    """
    if isinstance(samples, measurements.Table):
        return compare.is_router_queue(samples)
    if isinstance(samples, measurements.TransactionSamples):
        modes = set(samples.modes)
        return compare.is_small_writes(samples) or bool(modes & set(compare.TRANSACTIONS_OVER))
    if isinstance(samples, measurements.BulkSamples) and compare.is_router(samples):
        return bool(compare.router_regimes(samples))
    return isinstance(samples, _COMPARED)


def _responses_plot(samples: measurements.TransactionSamples, stated: Known, theme: Theme) -> Plot:
    """Draw each response in order, with the fastest and a delayed acknowledgement beyond it."""
    rows = samples.measured
    number = np.arange(rows.size, dtype=float)[rows]
    response_s = np.asarray(samples.response_s)[rows]
    least = float(response_s.min(initial=math.inf))
    base = evidence.first_known(stated.rtt_s, least)
    name = phrase("one round trip") if stated.rtt_s is not None else phrase("the fastest response")
    timer_s = TIMERS_S[0]
    lines = {
        name: [base, base],
        phrase("and a delayed acknowledgement of {timer}", timer=show(timer_s, "s")): [
            base + timer_s
        ]
        * 2,
    }
    modes = np.asarray(samples.mode)[rows]
    return curves(
        [0.0, float(number.max(initial=1.0))],
        lines,
        points={mode: (number[modes == mode], response_s[modes == mode]) for mode in samples.modes},
        x_axis=Axis("transaction", "1", whole=True),
        y_axis=Axis("response time", "s", low=0.0),
        title="Response time of each transaction",
        description=phrase(
            "{size} responses, the fastest after {least}.",
            size=response_s.size,
            least=show(least, "s"),
        ),
        theme=theme,
    )


def _path_plot(samples: measurements.PathSamples, theme: Theme) -> Plot:
    """Draw the round trips to each hop, and the least that a later hop does not undercut."""
    rows = np.flatnonzero(samples.measured & np.isfinite(np.asarray(samples.hop, float)))
    hop, rtt_s = np.asarray(samples.hop)[rows], np.asarray(samples.rtt_s)[rows]
    groups = np.asarray(samples.group)[rows]
    points, numbers = {}, np.unique(hop)
    lines: dict[str, FloatArray] = {}
    for name in dict.fromkeys(groups.tolist()):
        mine = groups == name
        label = f"{name}, " if name else ""
        points[phrase("{label}round trips", label=label)] = (hop[mine], rtt_s[mine])
        least = np.array(
            [rtt_s[mine & (hop == number)].min(initial=math.inf) for number in numbers], dtype=float
        )
        reached = np.minimum.accumulate(least[::-1])[::-1]
        reached[~np.isfinite(reached)] = math.nan
        lines[phrase("{label}the path up to the hop", label=label)] = reached
    last = "; ".join(
        phrase(
            "{name}: {value} at the last hop that answered",
            name=name,
            value=show(float(value[np.isfinite(value)][-1]), "s"),
        )
        for name, value in lines.items()
        if np.isfinite(value).any()
    )
    return curves(
        numbers,
        lines,
        points=points,
        x_axis=Axis("hop", "1", whole=True),
        y_axis=Axis("round-trip time", "s", low=0.0),
        title="Round trips to each hop",
        description=phrase(
            "Round trips to {size} hops. {value}.",
            size=numbers.size,
            value=last or "None answered",
        ),
        theme=theme,
    )


def is_drawn(samples: measurements.Samples) -> bool:
    """Whether :func:`measured` has a figure for samples of this kind, with something in it."""
    if isinstance(samples, measurements.FlowSeries | measurements.PathSamples):
        return bool(samples.measured.any())
    if isinstance(samples, measurements.PacketTrace):
        return samples.span_s > 0
    if isinstance(samples, measurements.BulkSamples) and compare.is_router(samples):
        return has_comparison(samples)
    if (
        _has_hops(samples)
        or isinstance(samples, _COMPARED)
        or has_comparison(samples)
        or has_series(samples)
    ):
        return True
    return table_theory(samples, Known()) is not None


_HOP_TIMES = {"least": "rtt_min_s", "mean": "rtt_mean_s", "largest": "rtt_max_s"}


def _has_hops(samples: measurements.Samples) -> TypeGuard[measurements.Table]:
    """Whether this is the report of a tool such as mtr: numbers for each hop, no single probes."""
    if not isinstance(samples, measurements.Table):
        return False
    columns = samples.columns()
    times = [columns[name] for name in _HOP_TIMES.values() if name in columns]
    return "hop" in columns and any(np.isfinite(column).any() for column in times)


def _hops_plot(table: measurements.Table, theme: Theme) -> Plot:
    """Draw the summaries of each hop, as the tool printed them."""
    columns = table.columns()
    points = {
        name: (columns["hop"], columns[column])
        for name, column in _HOP_TIMES.items()
        if column in columns
    }
    count = np.unique(columns["hop"]).size
    return curves(
        [],
        {},
        points=points,
        x_axis=Axis("hop", "1", whole=True),
        y_axis=Axis("round-trip time", "s", low=0.0),
        title="Round trips to each hop",
        description=phrase(
            "{join} round trip to each of {count} hops, as {tool} printed them.",
            join=", ".join(points),
            count=count,
            tool=table.meta.tool,
        ),
        theme=theme,
    )


@named_arguments
def sequences(
    trace: measurements.PacketTrace, *, flow: int | None = None, theme: Theme = "light"
) -> Plot:
    """Draw the bytes of a TCP flow against time: segments, acknowledgements and the window.

    Parameters
    ----------
    trace : PacketTrace
        A capture.
    flow : int, optional
        Number of the flow, from 0; by default the one that carried most.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        The direction with more data: what was sent and acknowledged, segments sent again, and up
        to where the receiver offered a window. Where the sender reaches it, it waits.
    """
    if flow is None:
        flow = largest_flow(trace)
    table = ladder(analyse_tcp(trace), flow=flow)
    to_server = table["direction"] == "to server"
    size = table["payload_bytes"]
    sends = to_server if size[to_server].sum() >= size[~to_server].sum() else ~to_server
    time_s = table["time_s"]
    again = np.char.find(table["mark"].astype(str), "retransmission") >= 0
    data = sends & (size > 0)
    answers = ~sends & (np.char.find(table["flags"].astype(str), "ACK") >= 0)
    end = table["sequence"] + size
    sent = np.maximum.accumulate(np.where(data, end, 0.0))
    acked = np.maximum.accumulate(np.where(answers, table["ack"], 0.0))
    newest = np.maximum.accumulate(np.where(answers, np.arange(answers.size), -1))
    edge = np.where(newest >= 0, acked + table["window_bytes"][newest], math.nan)
    states = {"sent": sent, "acknowledged": acked, "window offered": edge}
    # A window far above the data would press them onto the axis, and limits nothing.
    sent_bytes = float(sent.max(initial=0.0))
    far = sent_bytes > 0.0 and float(np.nanmin(edge, initial=math.inf)) > FAR_WINDOWS * sent_bytes
    # A state holds until the next packet.
    lines = {n: np.repeat(y, 2)[:-1] for n, y in states.items() if np.isfinite(y).any()}
    points = {"sent again": (time_s[data & again], end[data & again])}
    if not (data & again).any():
        points = {}
    count = int(np.count_nonzero(data & again))
    return curves(
        np.repeat(time_s, 2)[1:],
        lines,
        points=points,
        x_axis=Axis("time", "s"),
        y_axis=Axis(
            "bytes from the first on", "byte", low=0.0, high=1.1 * sent_bytes if far else None
        ),
        title=phrase("Bytes of TCP flow {flow} against time", flow=flow),
        description=phrase(
            "{value} segments with data up to byte {value_2:.0f}, {count} of them sent "
            "again, with what the receiver acknowledged and the window that it offered",
            value=int(data.sum()),
            value_2=float(end[data].max(initial=0.0)),
            count=count,
        )
        + (", which lies far above what is shown." if far else "."),
        theme=theme,
    )


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
    title = f"{theory.y_name[:1].upper()}{theory.y_name[1:]} against {theory.x_name}"
    if not theory.predictions:
        return curves(
            [],
            {},
            points=theory.points,
            x_axis=Axis(theory.x_name, theory.x_unit),
            y_axis=Axis(theory.y_name, theory.y_unit, low=0.0),
            title=title,
            theme=theme,
        )
    values = [np.concatenate(each) for each in zip(*theory.points.values(), strict=True)]
    x_scale, y_scale = map(_scale, values)
    is_log = y_scale == "log"
    compared = [_compared(theory, series, title, is_log=is_log) for series in theory.points]
    shown = theory.lines if len(compared) == 1 else theory.ceilings
    label = compared[0].predicted_label
    # What is far above all points would press them onto the axis.
    drawn = [values for each in compared for values in (each.measured, each.predicted)]
    top = FAR_LIMITS * float(np.nanmax(np.concatenate(drawn)))
    others = {
        name: (theory.x, np.where(line <= top, line, math.nan))
        for name, line in shown.items()
        if name != label
    }
    return overlay(*compared, lines=others, x_scale=x_scale, y_scale=y_scale,
                   lows=(_low(values[0]), _low(values[1])), theme=theme)  # fmt: skip


def _compared(theory: TableTheory, series: str, title: str, *, is_log: bool) -> compare.Comparison:
    """Compare a series of a table with what it should be, in its own range."""
    x, y = theory.points[series]
    label, curve = theory.predictions.get(series, ("", np.full(theory.x.shape, math.nan)))
    low, high = theory.bands.get(series, (curve, curve))
    if is_log:
        low = np.maximum(low, y[y > 0].min() / 2)  # nothing else of a band is below the axis
    inside = (theory.x >= x.min()) & (theory.x <= x.max())
    compared = compare.points(
        x, measured=y, theory=lambda at: np.interp(at, theory.x, curve), x_name=theory.x_name,
        x_unit=theory.x_unit, y_name=theory.y_name, y_unit=theory.y_unit, title=title,
        measured_label=phrase(series) if series == UNNAMED else series, predicted_label=label,
    )  # fmt: skip
    residual = compared.residual
    residual[np.abs(residual) < ROUNDING_RATIO * np.abs(y).max()] = 0.0  # of an exact table
    return replace(
        compared, residual=residual, curve_x=theory.x[inside], curve_y=curve[inside],
        curve_low=low[inside], curve_high=high[inside],
    )  # fmt: skip


def _scale(values: FloatArray) -> Scale:
    """Return the scale that shows the least of some values: logarithms over two decades or more."""
    low, high = float(values.min()), float(values.max())
    return "log" if low > 0 and high >= WIDE_RATIO * low else "linear"


def _low(values: FloatArray) -> float | None:
    """Return 0 as the begin of an axis of values down to less than half of the largest.

    There a proportion is seen, and little room is lost; None for other axes.
    """
    low, high = float(values.min()), float(values.max())
    return 0.0 if _scale(values) == "linear" and 0 <= low < high / 2 else None


@named_arguments
def explained(
    samples: measurements.Samples,
    findings: Sequence[Finding],
    *,
    stated: Known | None = None,
    theme: Theme = "light",
) -> Plot:
    """Draw what was waited for, and beneath it the bars of the limits.

    Parameters
    ----------
    samples : Samples
        What a reader made of a file.
    findings : sequence of Finding
        What :func:`netcalc.explain.measurement` returns for it; the first one is the title.
    stated : Known, optional
        What is known besides the file, such as the line of a table.
    theme : {'light', 'dark'}
        Colours of the figures.

    Returns
    -------
    Plot
        Of a capture with a TCP flow that :func:`waits` draws, the figures of both; of a table with
        a theory its points and curves, or the points that follow none; of probes of several sizes
        their fit and the parts of the time; of anything else the bars of :func:`limits`, or
        without limits that of :func:`measured`.

    Raises
    ------
    DomainError
        If nothing of it can be drawn.
    """
    has_limits = any(each.limits for each in findings)
    if isinstance(samples, measurements.HopSamples):
        drawn = overlay(compare.overlay(samples), theme=theme)
        return together(drawn, limits(findings, theme=theme)) if has_limits else drawn
    theory = table_theory(samples, stated or Known(), points_alone=not has_limits)
    if theory is not None:
        return table_figure(theory, theme=theme)
    if isinstance(samples, measurements.Table) and not has_limits:
        sizes = transfers_of(by_series(samples) or samples)
        if sizes is not None:
            return measured(sizes, stated or Known(), theme=theme)
    flow = main_flow(samples) if isinstance(samples, measurements.PacketTrace) else None
    if flow is None or flow.waits is None:
        if not has_limits and is_drawn(samples):
            return measured(samples, stated or Known(), theme=theme)
        bars = limits(findings, theme=theme)
        if isinstance(samples, measurements.RttSamples) and len(samples.minima()[0]) >= LEAST_SIZES:
            return together(measured(samples, stated or Known(), theme=theme), bars)
        return bars
    said = findings[0].sentence if findings else flow.cause.sentence
    if said != flow.cause.sentence:  # of all flows together
        said = phrase("{sentence} Drawn is the largest flow.", sentence=said)
    drawn = waits(flow, title=said, theme=theme)
    if not has_limits:
        return drawn
    both = together(drawn, limits(findings, theme=theme))
    text = "" if said == flow.cause.sentence else said
    return replace(both, description=f"{text} {drawn.description}".lstrip())


WIDE_RATIO = 100.0
"""From this factor on an axis is one of logarithms. [ratio]"""
ROUNDING_RATIO = 1e-9
"""Residuals that are a smaller share of the largest value are errors of computing. [ratio]"""
EPOCH_S = 1e8
"""Larger times are those of a clock, of the Unix epoch; a figure has them from the first on. [s]"""
MOST_GROUPS = 6
"""Sockets or directions of a figure: those with most rows. [1]"""
_RATES = {"least": "least_throughput_bps", "sum": "throughput_bps",
          "largest": "largest_throughput_bps"}  # fmt: skip
_DELAYS = {"least": "one_way_delay_min_s", "median": "one_way_delay_median_s",
           "largest": "one_way_delay_max_s"}  # fmt: skip

Points = dict[str, tuple[FloatArray, FloatArray]]


def has_series(samples: measurements.Samples) -> bool:
    """Whether :func:`table_series` has a figure for samples, with something in it."""
    return isinstance(samples, measurements.Table) and bool(_series(samples))


def table_series(table: measurements.Table, stated: Known, *, theme: Theme = "light") -> Plot:
    """Draw a table of a tool: what it has of times, windows and rates, one figure for each.

    Parameters
    ----------
    table : Table
        Sockets of ss or tcp_info over time, delays of owping, transactions of netperf, runs of
        Netesto, or rates in the order of their rows.
    stated : Known
        The round trip without load and the line, drawn where they are known.
    theme : {'light', 'dark'}
        Colours of the figures.

    Returns
    -------
    Plot
        With a source for each group of rows and each quantity.
    """
    plots = []
    for axes, points in _series(table):
        x_axis, y_axis, title = axes
        lines = _known_lines(y_axis, stated, title)
        ends = np.concatenate([x for x, _ in points.values()])
        plots.append(
            curves(
                [float(ends.min()), float(ends.max())],
                {name: [value, value] for name, value in lines.items()},
                points=points,
                x_axis=x_axis,
                y_axis=y_axis,
                title=title,
                description=_described(title, points, y_axis.unit),
                theme=theme,
            )
        )
    return together(*plots) if len(plots) > 1 else plots[0]


def _known_lines(y_axis: Axis, stated: Known, title: str) -> dict[str, float]:
    """Return what is known beforehand of a quantity."""
    if y_axis.unit == "s" and stated.rtt_s is not None and "One-way" not in title:
        return {f"{title}: one round trip without load": stated.rtt_s}
    if y_axis.unit == "bit/s" and stated.line_bps is not None:
        return {named("rate", LINE): stated.line_bps}
    return {}


def _described(title: str, points: Points, unit: str) -> str:
    ranges = [
        f"{name}: {show(float(y.min()), unit)} to {show(float(y.max()), unit)}"
        for name, (_, y) in points.items()
    ]
    return f"{title}. {'; '.join(ranges)}."


Figures = list[tuple[tuple[Axis, Axis, str], Points]]


def _series(table: measurements.Table) -> Figures:
    """Return the figures of a table: axes and title, and the points; those without any left out."""
    columns = table.columns()
    if {"cwnd_packets", "mss_bytes", "rtt_s", "snapshot"} <= columns.keys():
        figures = _sockets(columns)
    elif {"one_way_delay_s", "sequence"} <= columns.keys():
        figures = _packets(columns)
    elif {*_DELAYS.values(), "group"} <= columns.keys():
        figures = _directions(columns)
    elif "transaction_rate" in columns:
        figures = _transactions(columns)
    elif times_of(table) is not None:
        figures = _over_time(rates_over_time(table), layers_of_columns(table))
    else:
        figures = _runs(columns, table.meta.units, layers_of_columns(table))
    return [(axes, points) for axes, points in figures if points]


def _by_group(columns: Mapping[str, NDArray[Any]], x: NDArray[Any], y: NDArray[Any], what: str
              ) -> Points:  # fmt: skip
    """Return the known points of the groups with most rows."""
    groups = columns.get("group", np.full(x.size, "", dtype=object)).astype(str)
    good = np.isfinite(x) & np.isfinite(y)
    names, counts = np.unique(groups[good], return_counts=True)
    largest = set(names[np.argsort(-counts, kind="stable")[:MOST_GROUPS]].tolist())
    shown = [name for name in dict.fromkeys(groups[good].tolist()) if name in largest]
    return {
        ", ".join(filter(None, (name, what))): (x[good & (groups == name)],
                                                y[good & (groups == name)])
        for name in shown
    }  # fmt: skip


def _sockets(columns: Mapping[str, NDArray[Any]]) -> Figures:
    """Return smoothed round trips and congestion windows of sockets over time."""
    time_s, axis = columns["snapshot"].astype(float), Axis("snapshot", "1", whole=True)
    stamps = columns.get("time_s", np.full(time_s.size, math.nan))
    if np.isfinite(stamps).all() and stamps.size:
        time_s, axis = stamps - stamps.min(), Axis("time", "s")
    window = columns["cwnd_packets"] * columns["mss_bytes"]
    rtt, window_axis = Axis("round-trip time", "s", low=0.0), Axis("window", "byte", low=0.0)
    return [
        ((axis, rtt, "Smoothed round trip of each socket"),
         _by_group(columns, time_s, columns["rtt_s"], "RTT")),
        ((axis, window_axis, "Congestion window of each socket"),
         _by_group(columns, time_s, window, "window")),
    ]  # fmt: skip


def _packets(columns: Mapping[str, NDArray[Any]]) -> Figures:
    axes = (Axis("packet", "1", whole=True), Axis("one-way delay", "s"), "One-way delay of packets")
    return [(axes, _by_group(columns, columns["sequence"], columns["one_way_delay_s"], "delay"))]


def _directions(columns: Mapping[str, NDArray[Any]]) -> Figures:
    """Return the summaries of each direction, side by side."""
    number = np.arange(1.0, 1 + columns["group"].size)
    points = {name: (number, columns[heading]) for name, heading in _DELAYS.items()}
    axis = Axis("direction, in the order of the file", "1", whole=True)
    title = "One-way delay of each direction"
    return [((axis, Axis("one-way delay", "s"), title), _known(points))]


def _transactions(columns: Mapping[str, NDArray[Any]]) -> Figures:
    """Return the time of a transaction, the inverse of their rate, of each test."""
    rate = columns["transaction_rate"].astype(float)
    number = np.arange(1.0, 1 + rate.size)
    time_s = np.divide(1.0, rate, out=np.full(rate.size, math.nan), where=rate > 0)
    axes = (Axis("test", "1", whole=True), Axis("time of a transaction", "s", low=0.0),
            "Mean time of a transaction, one at a time")  # fmt: skip
    return [(axes, _known({"mean time": (number, time_s)}))]


def _layer(layers: Iterable[str]) -> str:
    """Return the layer of rates that are drawn together, if they have one."""
    counted = set(layers)
    return counted.pop() if len(counted) == 1 else UNKNOWN


def _over_time(rates: Points, layers: Mapping[str, str]) -> Figures:
    """Return the rates of the flows of a table over time."""
    if not rates:
        return []
    begin_s = min(float(times.min()) for times, _ in rates.values())
    from_zero_s = begin_s if begin_s > EPOCH_S else 0.0
    points = {name: (times - from_zero_s, rate) for name, (times, rate) in rates.items()}
    axes = (Axis("time", "s"), Axis(named("rate", _layer(layers.values())), "bit/s", low=0.0))
    return [((*axes, "Rates over time"), _known(points))]


def _runs(
    columns: Mapping[str, NDArray[Any]], units: Mapping[str, str], layers: Mapping[str, str]
) -> Figures:
    """Return rates in the order of their rows; of Netesto the round trips and responses too."""
    rates = {name: heading for name, heading in _RATES.items() if heading in columns}
    if set(rates) <= {"sum"}:
        rates = {name: name for name, unit in units.items() if unit == "bit/s" and name in columns}
    if not rates:
        return []
    number = np.arange(1.0, 1 + columns[next(iter(rates.values()))].size)
    axis = Axis("row", "1", whole=True)
    layer = _layer([layers.get(rate, UNKNOWN) for rate in rates.values()])
    figures: Figures = [
        ((axis, Axis(named("rate", layer), "bit/s", low=0.0), "Rates in the order of the file"),
         _known({name: (number, columns[heading]) for name, heading in rates.items()})),
    ]  # fmt: skip
    times = {"smoothed RTT": "rtt_s", "ping": "ping_rtt_s", "median response": "response_p50_s",
             "99 % of responses": "response_p99_s"}  # fmt: skip
    if "ping_rtt_s" in columns or "response_p50_s" in columns:
        points = {
            name: (number, columns[heading])
            for name, heading in times.items()
            if heading in columns
        }
        axes = (axis, Axis("time", "s", low=0.0), "Times in the order of the file")
        figures.append((axes, _known(points)))
    return figures


def _known(points: Points) -> Points:
    """Return the points that are known; a set without any is left out."""
    finite = {}
    for name, (x, y) in points.items():
        good = np.isfinite(np.asarray(y, dtype=float))
        if good.any():
            finite[name] = (x[good], np.asarray(y, dtype=float)[good])
    return finite
