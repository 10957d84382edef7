"""The figure of any measurement in lesson 8: rates or round trips over time, and their theory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from netcalc import compare, plots
from netcalc.checks import FloatArray
from netcalc.explain import Known
from netcalc.explain.evidence import first_known
from netcalc.models.sizes.framing import ethernet_wire_bytes, tcp_payload_bytes
from netcalc.plots import Axis
from netcalc.plots.style import Theme
from netcalc.readers.captures.flows import mirrored
from netcalc.samples import FlowSeries, PacketTrace, RttSamples, Samples, TransferSamples
from netcalc.units import show

BINS = 60
"""Intervals into which a capture is divided. [1]"""
UDP_HEADERS_BYTES = 28
TIMESTAMP_BYTES = 12


def measured_plot(samples: Samples, known: Known, *, theme: Theme = "light") -> plots.Plot:
    """Draw a measurement with the theory that applies to it.

    Parameters
    ----------
    samples : Samples
        What a reader made of a file.
    known : Known
        The line and the round trip, where they are known.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        Rates over time with the line's ceiling at their layer, round trips over time with the
        least one, or times against sizes with a fit.
    """
    if isinstance(samples, PacketTrace):
        return _capture_plot(samples, known, theme)
    if isinstance(samples, FlowSeries):
        return _flow_plot(samples, known, theme)
    if isinstance(samples, RttSamples) and len(samples.minima()[0]) < 3:
        return _probe_plot(samples, known, theme)
    if isinstance(samples, RttSamples | TransferSamples):
        return plots.overlay(compare.overlay(samples), theme=theme)
    return plots.curves(
        [0.0, 1.0],
        {},
        x_axis=Axis("time", "s"),
        y_axis=Axis("rate", "bit/s"),
        title="No figure for this kind of file",
        description="Nothing is drawn for this kind of file; the table below has its facts.",
        theme=theme,
    )


def line_share(payload_bytes: float, header_bytes: float) -> float:
    """Return the share of an Ethernet line that a payload of each packet gets."""
    return payload_bytes / float(ethernet_wire_bytes(payload_bytes + header_bytes))


def _flow_plot(flows: FlowSeries, known: Known, theme: Theme) -> plots.Plot:
    """Draw the rate of each interval, and the line's ceiling for the data of the application."""
    rows, points = flows.measured, {}
    groups = np.asarray(flows.group)
    start_s, rate_bps = np.asarray(flows.start_s), flows.rate_bps
    for name in dict.fromkeys(groups[rows].tolist()):
        mine = rows & (groups == name)
        side = dict.fromkeys(np.asarray(flows.side)[mine].tolist())
        label = ", ".join(filter(None, (name, "counted by the " + "/".join(filter(None, side)))))
        points[label] = (start_s[mine], rate_bps[mine])
    lines: dict[str, float] = {}
    facts = samples_facts(flows)
    udp = any(row.get("protocol") == "udp" for row in facts)
    if known.line_bps is not None:
        sizes = _sizes(facts) if udp else [_segment(known)]
        for size in sizes:
            header = UDP_HEADERS_BYTES if udp else 40 + TIMESTAMP_BYTES
            lines[f"the line, {show(size, 'byte')} per packet"] = known.line_bps * line_share(
                size, header
            )
    for row in facts:
        if "received_rate_bps" in row:
            run = f"{row['group']}, " if len(facts) > 1 and "group" in row else ""
            lines[f"{run}the receiver's mean"] = float(row["received_rate_bps"])
    ends = np.asarray([float(start_s.min(initial=0.0)), float(start_s.max(initial=1.0))])
    return _rates(ends, lines, points, "Application data in each interval", theme)


def _segment(known: Known) -> float:
    return float(
        tcp_payload_bytes(first_known(known.mtu_bytes, 1500.0), tcp_option_bytes=TIMESTAMP_BYTES)
    )


def _sizes(facts: list[Any]) -> list[float]:
    counted = [row for row in facts if row.get("datagram_count")]
    sizes = [round(row["sent_byte_count"] / row["datagram_count"]) for row in counted]
    return [float(size) for size in dict.fromkeys(sizes)]


def samples_facts(samples: Samples) -> list[Any]:
    """Return the rows of facts as a list."""
    return list(samples.facts())


def _capture_plot(trace: PacketTrace, known: Known, theme: Theme) -> plots.Plot:
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
        points["IP packets, both directions"] = (edges[:-1], 8 * volume / (span_s / BINS))
        lines["the mean"] = 8 * float(size.sum()) / span_s
    if known.line_bps is not None and size.sum() > 0:
        wire = float(np.sum(ethernet_wire_bytes(size)))
        lines["the line, for packets of these sizes"] = known.line_bps * float(size.sum()) / wire
    return _rates(
        np.asarray([0.0, span_s or 1.0]), lines, points, "IP packets in each interval", theme
    )


def _rates(
    ends: FloatArray,
    lines: dict[str, float],
    points: dict[str, tuple[Any, Any]],
    title: str,
    theme: Theme,
) -> plots.Plot:
    return plots.curves(
        ends,
        {name: [rate, rate] for name, rate in lines.items()},
        points=points,
        x_axis=Axis("time", "s"),
        y_axis=Axis("rate", "bit/s", low=0.0),
        title=title,
        description=f"{title}. "
        + "; ".join(f"{name}: {show(rate, 'bit/s')}" for name, rate in lines.items())
        + ".",
        theme=theme,
    )


def _probe_plot(samples: RttSamples, known: Known, theme: Theme) -> plots.Plot:
    """Draw each round trip in the order of the probes, and the least one."""
    rows = np.flatnonzero(samples.measured)
    rtt_s = np.asarray(samples.rtt_s)[rows]
    sequence = np.asarray(samples.sequence, dtype=float)
    number = sequence[rows] if sequence.size else rows.astype(float)
    least = float(rtt_s.min()) if rtt_s.size else math.nan
    base = first_known(known.rtt_s, least)
    name = "the path without load" if known.rtt_s is not None else "the least round trip"
    most = float(rtt_s.max()) if rtt_s.size else math.nan
    return plots.curves(
        [0.0, float(number.max(initial=1.0))],
        {name: [base, base]},
        points={"round trips": (number, rtt_s)},
        x_axis=Axis("probe", "1"),
        y_axis=Axis("round-trip time", "s", low=0.0),
        title="Round trip of each probe",
        description=f"{rtt_s.size} round trips from {show(least, 's')} to {show(most, 's')}.",
        theme=theme,
    )
