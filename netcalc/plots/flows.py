"""The flows of several files on one clock: each rate, their total and an equal share of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.congestion.measured import MeasuredFlow, measured_flows
from netcalc.errors import ReaderError
from netcalc.explain import Known, together
from netcalc.language import phrase
from netcalc.messages import Notice
from netcalc.plots.overlay import curves
from netcalc.plots.plot import Plot
from netcalc.plots.style import Axis, Theme
from netcalc.rate_layers import LINE, PAYLOAD, named
from netcalc.samples import Samples
from netcalc.units import show, show_rate

CLOCK_DIGITS = 3
"""Decimals of a second to which the ends of intervals are told apart. [1]"""


@named_arguments
def flows(
    named_files: Mapping[str, Samples], stated: Known, *, theme: Theme = "light"
) -> Plot | None:
    """Draw the rates of flows of several files over time.

    Parameters
    ----------
    named_files : mapping of str to Samples
        What was read, by the name of the file.
    stated : Known
        ``line_bps`` is drawn where it is known.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot or None
        A source for each flow; of flows of one host and direction that ran at once their total and
        an equal share of it, too. None where a file has no flow over time.
    """
    has_clock = not _without_clock(named_files)
    try:
        by_file = [
            measured_flows({name: samples}, has_clock=has_clock)
            for name, samples in named_files.items()
        ]
    except ReaderError:
        return None
    measured = [flow for of_file in by_file for flow in of_file]
    lengths_s = [float(np.ptp(flow.time_s)) for flow in measured]
    if len(measured) < 2 or not all(lengths_s):
        return None
    zero_s = min(flow.first_s for flow in measured) if has_clock else math.nan
    begins_s = [
        flow.first_s - (zero_s if has_clock else min(each.first_s for each in of_file))
        for of_file in by_file
        for flow in of_file
    ]
    edges, rates = _rates(measured, begins_s)
    running = np.isfinite(rates).sum(axis=0)
    lines = {flow.name: rate for flow, rate in zip(measured, rates, strict=True)}
    said = [
        phrase(
            "{name}: {rate} from {start} to {end}",
            name=flow.name,
            rate=show_rate(8 * float(np.ptp(flow.carried_bytes)) / length_s, PAYLOAD),
            start=show(begin_s, "s"),
            end=show(begin_s + length_s, "s"),
        )
        for flow, begin_s, length_s in zip(measured, begins_s, lengths_s, strict=True)
    ]
    if together(named_files, stated).have_run_at_once:
        total = np.where(running > 0, np.nansum(rates, axis=0), math.nan)
        lines[phrase("all together")] = total
        share = total / np.maximum(running, 1)
        lines[phrase("an equal share")] = np.where(running > 1, share, math.nan)
    if stated.line_bps is not None:
        lines[named("rate", LINE)] = np.full(running.size, stated.line_bps)
    title = phrase("Rates of {count} flows over time", count=len(measured))
    return curves(
        np.repeat(edges, 2)[1:-1],
        {name: np.repeat(rate, 2) for name, rate in lines.items()},
        x_axis=Axis(_axis_name(zero_s), "s"),
        y_axis=Axis(named("goodput", PAYLOAD), "bit/s", low=0.0),
        title=title,
        description=f"{title}. {'; '.join(said)}.",
        theme=theme,
    )


@named_arguments
def clock_notice(named_files: Mapping[str, Samples]) -> Notice:
    """Say by which clock :func:`flows` draws several files.

    Parameters
    ----------
    named_files : mapping of str to Samples
        What was read, by the name of the file.

    Returns
    -------
    Notice
        By that of the files, or which of them say no start, so that each begins at zero.
    """
    if silent := _without_clock(named_files):
        return Notice("flows-without-clock", {"names": silent})
    return Notice("flows-by-clock", {"count": len(named_files)})


def _without_clock(named_files: Mapping[str, Samples]) -> list[str]:
    """Return the files with flows that do not say when these began."""
    silent = []
    for name, samples in named_files.items():
        try:
            measured_flows({name: samples}, has_clock=True)
        except ReaderError as error:
            silent += [name] if error.code == "no-clock-to-merge" else []
    return silent


def _rates(
    measured: Sequence[MeasuredFlow], begins_s: Sequence[float]
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the intervals of all flows, and the rate of each flow between them.

    A rate is nan before its flow begins and after it ends.
    """
    times = [
        begin_s + flow.time_s - flow.time_s[0]
        for flow, begin_s in zip(measured, begins_s, strict=True)
    ]
    edges = np.unique(np.round(np.concatenate(times), CLOCK_DIGITS))
    middle = (edges[:-1] + edges[1:]) / 2
    rates = np.array(
        [
            8 * np.diff(np.interp(edges, time_s, flow.carried_bytes)) / np.diff(edges)
            for flow, time_s in zip(measured, times, strict=True)
        ]
    )
    for rate, time_s in zip(rates, times, strict=True):
        rate[(middle < time_s[0]) | (middle > time_s[-1])] = math.nan
    return edges, rates


def _axis_name(zero_s: float) -> str:
    """Return the name of the axis, with the date that is its zero."""
    if math.isnan(zero_s):
        return phrase("time since the start of each file")
    begin = datetime.fromtimestamp(zero_s, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return phrase("time since {begin} UTC", begin=begin)
