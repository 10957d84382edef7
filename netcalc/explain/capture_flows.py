"""The flows of a capture, each with the metrics of RFC 6349; and its exchanges, as a ping."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.explain.evidence import MOST_FLOWS, Evidence, Known, of_tcp_flow, options_of
from netcalc.explain.finding import Finding
from netcalc.explain.metrics import transfer_metrics
from netcalc.explain.rate_limits import line_ceiling_bps
from netcalc.explain.time_parts import explain_round_trips
from netcalc.models.tcp import slow_start
from netcalc.rate_layers import TCP_PAYLOAD, UDP_PAYLOAD
from netcalc.readers.captures.flows import find_segments
from netcalc.readers.captures.round_trips import (
    echo_samples,
    find_handshakes,
    handshake_samples,
    udp_samples,
)
from netcalc.readers.captures.tcp import flow_label, flow_table
from netcalc.samples import PacketTrace, RttSamples


def flows(trace: PacketTrace, stated: Known | None = None) -> list[dict[str, Any]]:
    """Return each direction of the flows of a capture that carried data, the largest first.

    Parameters
    ----------
    trace : PacketTrace
        A capture.
    stated : Known, optional
        ``line_bps`` gives the share of the line's ceiling, ``rtt_s`` the base of the buffer delay.

    Returns
    -------
    list of dict
        ``label``, the columns of
        :func:`~netcalc.readers.captures.tcp.flow_table`, what the receiver offered
        (``offered_window_bytes``), the ``layer`` of its rate, and ``metrics``: those of RFC 6349,
        of flows that are longer than their initial window. A shorter one is as fast as its
        program, and says nothing of the path.
    """
    stated = stated or Known()
    columns: dict[str, NDArray[Any]] = flow_table(trace).columns()
    with_data = np.flatnonzero(columns["payload_bytes"] > 0)
    order = with_data[np.argsort(-columns["payload_bytes"][with_data], kind="stable")]
    options = options_of(trace)
    summaries = []
    for row in order.tolist():
        flow: dict[str, Any] = {name: _plain(column[row]) for name, column in columns.items()}
        if flow["protocol"] == "tcp":
            seen = of_tcp_flow(columns, row, option_bytes=options)
            flow["offered_window_bytes"] = seen.receive_window_bytes
            first = float(slow_start.initial_window_bytes(seen.segment_bytes))
            is_bulk = seen.size_bytes > first and seen.rate_bps > 0
        else:
            seen = _of_udp(flow)
            flow = {name: value for name, value in flow.items() if not _is_nan(value)}
            is_bulk = flow["datagram_count"] > 1
        summaries.append(
            {
                "label": flow_label(flow),
                **flow,
                "layer": TCP_PAYLOAD if flow["protocol"] == "tcp" else UDP_PAYLOAD,
                "metrics": _metrics(seen, stated) if is_bulk else {},
            }
        )
    return summaries


def _plain(value: Any) -> Any:
    """Return a number as Python has it: whole ones, such as counts and ports, without a point."""
    if isinstance(value, str):
        return value
    return int(value) if float(value).is_integer() else float(value)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _of_udp(flow: Mapping[str, Any]) -> Evidence:
    return Evidence(
        protocol="udp",
        rate_bps=float(flow["goodput_bps"]),
        size_bytes=float(flow["payload_bytes"]),
        duration_s=float(flow["duration_s"]),
        datagram_bytes=float(flow["payload_bytes"] / flow["datagram_count"]),
    )


def _metrics(evidence: Evidence, stated: Known) -> dict[str, float]:
    ceiling = line_ceiling_bps(evidence, stated)
    metrics = transfer_metrics(evidence, stated, line_ceiling_bps=ceiling)
    return metrics if math.isnan(ceiling) else {**metrics, "line_ceiling_bps": ceiling}


def exchanges(trace: PacketTrace) -> tuple[RttSamples, ...]:
    """Return the ICMP echoes of a capture and its UDP exchanges, as far as it has any."""
    both = (echo_samples(trace), udp_samples(trace, strict=True))
    return tuple(exchange for exchange in both if exchange.measured.any())


def handshakes(trace: PacketTrace, *, without_data: bool = False) -> tuple[RttSamples, ...]:
    """Return the TCP handshakes of a capture as round trips, as far as it has any.

    Parameters
    ----------
    trace : PacketTrace
        A capture.
    without_data : bool
        Leave out flows that carried data, whose limits have the round trip in them.
    """
    segments = find_segments(trace)
    seen = find_handshakes(trace, segments)
    chosen = np.arange(seen.rtt_s.size)
    if without_data:
        carried = np.unique(segments.flows.flow[segments.payload > 0])
        chosen = np.setdiff1d(chosen, carried)
    waits = handshake_samples(trace, segments, seen, chosen)
    return (waits,) if len(waits) else ()


def explain_exchanges(
    trace: PacketTrace, stated: Known, *, without_data: bool = True
) -> tuple[Finding, ...]:
    """Return what the round trips of a capture consist of, as those of a ping.

    They are those of its exchanges and of its handshakes, ``without_data`` only of flows that
    carried none.
    """
    findings = []
    for trips in (*exchanges(trace), *handshakes(trace, without_data=without_data)):
        groups = np.asarray(trips.group)
        names, counts = np.unique(groups[trips.measured], return_counts=True)
        largest = names[np.argsort(-counts, kind="stable")[:MOST_FLOWS]]
        chosen = set(largest.tolist())
        findings += [part for part in explain_round_trips(trips, stated) if part.label in chosen]
    return tuple(findings)
