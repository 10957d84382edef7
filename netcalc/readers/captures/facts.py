"""The facts of a capture: numbers for a program, in SI units."""

from __future__ import annotations

import math

import numpy as np

from netcalc.readers.captures import link
from netcalc.readers.captures.exchanges import find_echoes
from netcalc.readers.captures.flows import find_flows
from netcalc.readers.captures.tcp import TcpAnalysis, analyse_tcp
from netcalc.samples import FactRow, Layer, PacketTrace, fact_row

_UDP = 17


def facts(trace: PacketTrace) -> list[FactRow]:
    """Return the facts of a capture, one row.

    Parameters
    ----------
    trace : PacketTrace
        A capture.

    Returns
    -------
    list of mapping
        Counts, sizes and times. ``captured_byte_count`` is what the file holds of the frames.
        ``tcp_retransmission_count`` counts what Wireshark marks as retransmission, fast and
        spurious ones included, out-of-order segments not. ``handshake_rtt_min_s`` is the least
        time from a SYN to the acknowledgement that ends its handshake. A flow is of the innermost
        headers; where VXLAN or Geneve hides UDP behind them, flows of UDP are not counted. What the
    capture does not show is left out.
    """
    return list(fact_rows(trace)[0])


def fact_rows(trace: PacketTrace) -> tuple[tuple[FactRow, ...], TcpAnalysis]:
    """Return the facts of a capture, and the analysis of its TCP flows they come from."""
    analysis = analyse_tcp(trace)
    handshakes = analysis.handshakes.rtt_s
    known = handshakes[~np.isnan(handshakes) & (handshakes >= 0)]
    types = np.unique(trace.ints("link_number")).tolist()
    hidden = bool(trace.has(Layer.VXLAN).any())
    row = fact_row(
        packet_count=len(trace),
        captured_byte_count=int(trace.ints("kept_bytes").sum(dtype=np.int64)),
        span_s=trace.span_s,
        link_type=", ".join(link.NAMES.get(one, str(one)) for one in types),
        ipv4_packet_count=int(np.count_nonzero(trace.has(Layer.IPV4))),
        ipv6_packet_count=int(np.count_nonzero(trace.has(Layer.IPV6))),
        tcp_flow_count=analysis.flow_count,
        udp_flow_count=None if hidden else find_flows(trace, Layer.UDP, _UDP).count,
        tcp_retransmission_count=int(np.count_nonzero(analysis.losses.retransmitted)),
        icmp_echo_pair_count=find_echoes(trace).pair_count,
        handshake_rtt_min_s=float(known.min()) if known.size else math.nan,
        partial=trace.meta.partial,
    )
    return (row,), analysis
