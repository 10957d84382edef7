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


def captured(trace: PacketTrace) -> list[Values]:
    """Return the rates of the largest flows, their times to the acknowledgement, and exchanges.

    A rate is that of the data of the application in each tenth of a TCP flow; of UDP, whose later
    fragments have no ports, the mean alone. The side is the end beside which the capture was made,
    as far as the handshake shows it.
    """
    columns, analysis = flow_table(trace).columns(), analyse_tcp(trace)
    size = columns["payload_bytes"]
    largest = [row for row in np.argsort(-size, kind="stable")[:MOST_FLOWS]
               if size[row] > LEAST_RATIO * size.max()]  # fmt: skip
    found: list[Values] = []
    for row in largest:
        one = {name: column[row] for name, column in columns.items()}
        label, is_tcp = flow_label(one), one["protocol"] == "tcp"
        rates = _rates_bps(analysis, int(row)) if is_tcp else np.array([one["goodput_bps"]], float)
        found.append((label, "rate", "bit/s", _side(one) if is_tcp else "", rates))
    for row in largest:
        if columns["protocol"][row] == "tcp":
            one = {name: column[row] for name, column in columns.items()}
            found.append((flow_label(one), "time to the acknowledgement", "s", _side(one),
                          _acknowledged_s(analysis, int(row))))  # fmt: skip
    for samples in (echo_samples(trace), udp_samples(trace, strict=True)):
        groups, times = np.asarray(samples.group), np.asarray(samples.rtt_s)
        for name in samples.groups:
            found.append((name, "round trip", "s", "", times[(groups == name) & samples.measured]))
    return found


def _rates_bps(analysis: TcpAnalysis, series: int) -> FloatArray:
    """Return the rate of new data in each interval of one direction of a flow."""
    s = analysis.segments
    mine = (s.series == series) & np.isfinite(s.time_s)
    time_s, size = s.time_s[mine], new_bytes(analysis)[mine]
    span_s = float(np.ptp(time_s)) if time_s.size else 0.0
    if span_s <= 0:
        return np.zeros(0)
    volume, _ = np.histogram(time_s, INTERVALS, weights=size)
    return np.asarray(8.0 * volume * INTERVALS / span_s, dtype=np.float64)


def _acknowledged_s(analysis: TcpAnalysis, series: int) -> FloatArray:
    """Return the times from segments with data of one direction to their acknowledgements."""
    trips = analysis.round_trips
    mine = (trips.series == series) & (analysis.segments.payload[trips.segment] > 0)
    return np.asarray(trips.rtt_s[mine], dtype=np.float64)


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
