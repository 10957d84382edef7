"""What a capture has in common with other files: rates of its flows, and round trips."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from netcalc.checks import FloatArray
from netcalc.readers.captures.exchanges import echo_samples, udp_samples
from netcalc.readers.captures.facts import flow_label, flow_table
from netcalc.readers.captures.tcp import TcpAnalysis, analyse_tcp, new_bytes
from netcalc.readers.places import RECEIVER, SENDER
from netcalc.samples import PacketTrace

MOST_FLOWS = 5
"""Directions of flows of a capture that are compared: those that carried most. [1]"""
LEAST_RATIO = 0.01
"""A flow of less than this share of the largest, such as one that controls, is none. [ratio]"""
INTERVALS = 10
"""Equal intervals into which a direction of a TCP flow is divided. [1]"""
NEAR_RATIO = 0.1
"""A capture is that of an end if at most this share of the round trip lies before it. [ratio]"""

Values = tuple[str, str, str, str, FloatArray]
"""Label, quantity, unit, side and values."""
Timed = tuple[str, str, str, str, FloatArray, FloatArray]
"""Label, quantity, unit, side, times since the first packet, and values."""


def captured(trace: PacketTrace) -> list[Values]:
    """Return the values of :func:`captured_over_time`, and the mean rates of flows of UDP."""
    found: list[Values] = [(*one[:4], one[5]) for one in captured_over_time(trace)]
    columns, largest = _largest(trace)
    for place, row in enumerate(largest):
        if columns["protocol"][row] == "udp":
            one = {name: column[row] for name, column in columns.items()}
            mean = np.array([one["goodput_bps"]], dtype=np.float64)
            found.insert(place, (flow_label(one), "rate", "bit/s", "", mean))
    return found


def captured_over_time(trace: PacketTrace) -> list[Timed]:
    """Return the rates of the largest flows, their times to the acknowledgement, and exchanges.

    A rate is that of the data of the application in each tenth of a TCP flow, at its begin; flows
    of UDP, whose later fragments have no ports, have a mean alone. A time is that of the segment
    or of the request. The side is the end beside which the capture was made,
    as far as the handshake shows it.
    """
    (columns, largest), analysis = _largest(trace), analyse_tcp(trace)
    rows = [row for row in largest if columns["protocol"][row] == "tcp"]
    ones = [{name: column[row] for name, column in columns.items()} for row in rows]
    found: list[Timed] = []
    for row, one in zip(rows, ones, strict=True):
        found.append((flow_label(one), "rate", "bit/s", _side(one), *_rates_bps(analysis, row)))
    for row, one in zip(rows, ones, strict=True):
        found.append((flow_label(one), "time to the acknowledgement", "s", _side(one),
                      *_acknowledged_s(analysis, row)))  # fmt: skip
    for samples in (echo_samples(trace), udp_samples(trace, strict=True)):
        groups, sent, rtt = (np.asarray(one) for one in
                             (samples.group, samples.sent_s, samples.rtt_s))  # fmt: skip
        for name in samples.groups:
            mine = (groups == name) & samples.measured
            found.append((name, "round trip", "s", "", sent[mine], rtt[mine]))
    return found


def _largest(trace: PacketTrace) -> tuple[dict[str, Any], list[int]]:
    """Return the table of the flows, and the rows of the largest of them."""
    columns = flow_table(trace).columns()
    size = columns["payload_bytes"]
    order = np.argsort(-size, kind="stable")[:MOST_FLOWS]
    return columns, [int(row) for row in order if size[row] > LEAST_RATIO * size.max()]


def _rates_bps(analysis: TcpAnalysis, series: int) -> tuple[FloatArray, FloatArray]:
    """Return the begin of each interval of one direction of a flow, and its rate of new data."""
    s = analysis.segments
    mine = (s.series == series) & np.isfinite(s.time_s)
    time_s, size = s.time_s[mine], new_bytes(analysis)[mine]
    span_s = float(np.ptp(time_s)) if time_s.size else 0.0
    if span_s <= 0:
        return np.zeros(0), np.zeros(0)
    volume, edges = np.histogram(time_s, INTERVALS, weights=size)
    return edges[:-1], np.asarray(8.0 * volume * INTERVALS / span_s, dtype=np.float64)


def _acknowledged_s(analysis: TcpAnalysis, series: int) -> tuple[FloatArray, FloatArray]:
    """Return when segments with data of one direction were seen, and how long until the
    acknowledgement."""
    trips, s = analysis.round_trips, analysis.segments
    mine = (trips.series == series) & (s.payload[trips.segment] > 0)
    return s.time_s[trips.segment[mine]], np.asarray(trips.rtt_s[mine], dtype=np.float64)


def _side(one: dict[str, Any]) -> str:
    """Return the end beside which the capture was made; nothing if it was between them."""
    to_server, to_client = float(one["to_server_s"]), float(one["to_client_s"])
    whole = to_server + to_client
    if math.isnan(whole) or whole <= 0:
        return ""
    ends = (SENDER, RECEIVER) if one["direction"] == "to server" else (RECEIVER, SENDER)
    if to_client <= NEAR_RATIO * whole:
        return ends[0]
    return ends[1] if to_server <= NEAR_RATIO * whole else ""
