"""The facts of a capture: flat objects of numbers for a program, in SI units."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from netcalc.readers.captures import link
from netcalc.readers.captures.exchanges import find_echoes
from netcalc.readers.captures.flows import find_flows
from netcalc.readers.captures.tcp import TcpAnalysis, analyse_tcp, tcp_flows
from netcalc.samples import Layer, PacketTrace

MOST_FLOWS = 200
"""Flows of which a list of facts has an object each: those with the most payload."""

_UDP = 17


def capture_facts(trace: PacketTrace) -> dict[str, Any]:
    """Return the facts of a whole capture.

    Parameters
    ----------
    trace : PacketTrace
        A capture.

    Returns
    -------
    dict
        Counts, sizes and times. ``captured_byte_count`` is what the file holds of the frames,
        ``original_byte_count`` what they had. ``tcp_retransmission_count`` counts what Wireshark
        marks as retransmission, fast and spurious ones included, out-of-order segments not.
        ``handshake_rtt_min_s`` is the least time from a SYN to the acknowledgement that ends its
        handshake. A value that the capture does not show is left out.
    """
    return _capture_facts(trace, analyse_tcp(trace))


def facts(trace: PacketTrace) -> list[dict[str, Any]]:
    """Return the facts of a capture, then those of each direction of its TCP flows."""
    analysis = analyse_tcp(trace)
    return [_capture_facts(trace, analysis), *_flow_facts(analysis)]


def _capture_facts(trace: PacketTrace, analysis: TcpAnalysis) -> dict[str, Any]:
    handshakes = analysis.handshakes.rtt_s
    known = handshakes[~np.isnan(handshakes)]
    types = np.unique(trace.ints("link_type")).tolist()
    found: dict[str, Any] = {
        "packet_count": len(trace),
        "captured_byte_count": int(trace.ints("kept_bytes").sum(dtype=np.int64)),
        "original_byte_count": int(trace.ints("original_bytes").sum(dtype=np.int64)),
        "span_s": trace.span_s,
        "link_type": ", ".join(link.NAMES.get(one, str(one)) for one in types),
        "ipv4_packet_count": int(np.count_nonzero(trace.has(Layer.IPV4))),
        "ipv6_packet_count": int(np.count_nonzero(trace.has(Layer.IPV6))),
        "tcp_packet_count": int(np.count_nonzero(trace.has(Layer.TCP))),
        "udp_packet_count": int(np.count_nonzero(trace.has(Layer.UDP))),
        "fragment_count": int(np.count_nonzero(trace.has(Layer.FRAGMENT))),
        "tcp_flow_count": analysis.flow_count,
        "udp_flow_count": find_flows(trace, Layer.UDP, _UDP).count,
        "tcp_retransmission_count": int(np.count_nonzero(analysis.losses.retransmitted)),
        "tcp_out_of_order_count": int(np.count_nonzero(analysis.losses.out_of_order)),
        "tcp_duplicate_ack_count": int(np.count_nonzero(analysis.losses.duplicate_ack)),
        "icmp_echo_pair_count": find_echoes(trace).pair_count,
        "handshake_rtt_min_s": float(known.min()) if known.size else math.nan,
        "partial": trace.meta.partial,
    }
    return {name: value for name, value in found.items() if not _is_nan(value)}


def _flow_facts(analysis: TcpAnalysis) -> list[dict[str, Any]]:
    """Return an object for each direction of the largest flows, in the order of the capture."""
    table = tcp_flows(analysis).columns()
    by_flow = table["payload_bytes"].reshape(-1, 2).sum(axis=1)
    largest = np.sort(np.argsort(-by_flow, kind="stable")[:MOST_FLOWS])
    found = []
    for row in (largest[:, None] * 2 + np.arange(2)).reshape(-1).tolist():
        one = {name: column[row].item() for name, column in table.items()}
        if one["segment_count"]:
            found.append({name: value for name, value in one.items() if not _is_nan(value)})
    return found


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
