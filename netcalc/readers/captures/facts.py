"""The facts of a capture and of its flows: numbers for a program, in SI units."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures import headers
from netcalc.readers.captures.exchanges import find_echoes
from netcalc.readers.captures.flows import find_flows, mirrored
from netcalc.readers.captures.scans import Ints, count_by, last_index, max_by, min_by, sum_by
from netcalc.readers.captures.tcp import TcpAnalysis, analyse_tcp, tcp_flows
from netcalc.samples import FactRow, Layer, Meta, PacketTrace, Table, fact_row

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
        capture does not show is left out: of headers that were cut, what counts them.
    """
    return list(fact_rows(trace)[0])


def fact_rows(trace: PacketTrace) -> tuple[tuple[FactRow, ...], TcpAnalysis]:
    """Return the facts of a capture, and the analysis of its TCP flows they come from."""
    analysis = analyse_tcp(trace)
    handshakes = analysis.handshakes.rtt_s
    timed = handshakes[~np.isnan(handshakes) & (handshakes >= 0)]
    types = np.unique(trace.ints("link_number")).tolist()
    hidden = bool(trace.has(Layer.VXLAN).any())
    no_ip, no_transport = _cut(trace)
    row = fact_row(
        packet_count=len(trace),
        captured_byte_count=int(trace.ints("kept_bytes").sum(dtype=np.int64)),
        span_s=trace.span_s,
        link_type=", ".join(headers.NAMES.get(number, str(number)) for number in types),
        ipv4_packet_count=None if no_ip else int(np.count_nonzero(trace.has(Layer.IPV4))),
        ipv6_packet_count=None if no_ip else int(np.count_nonzero(trace.has(Layer.IPV6))),
        **({} if no_transport else _transport_facts(trace, analysis)),
        handshake_rtt_min_s=float(timed.min()) if timed.size else math.nan,
        partial=trace.meta.partial,
    )
    if hidden:
        row.pop("udp_flow_count", None)
    return (row,), analysis


def _transport_facts(trace: PacketTrace, analysis: TcpAnalysis) -> dict[str, int]:
    """Return what is counted of whole headers of TCP, UDP and ICMP."""
    return {
        "tcp_flow_count": analysis.flow_count,
        "udp_flow_count": find_flows(trace, Layer.UDP, _UDP).count,
        "tcp_retransmission_count": int(np.count_nonzero(analysis.losses.retransmitted)),
        "icmp_echo_pair_count": find_echoes(trace).pair_count,
    }


def _cut(trace: PacketTrace) -> tuple[bool, bool]:
    """Return whether the snap length cut any header of IP, and any behind it."""
    is_cut = trace.has(Layer.CUT)
    has_ip = trace.has(Layer.IPV4 | Layer.IPV6 | Layer.ARP)
    read = trace.has(Layer.TCP | Layer.UDP | Layer.ICMP | Layer.ARP)
    return bool((is_cut & ~has_ip).any()), bool((is_cut & ~read).any())


_FLOWS = "_flow_table"
"""Attribute of a trace that keeps the table of its flows: their analysis takes as long as reading
the file, and 200 bytes for each packet."""


def flow_table(trace: PacketTrace, analysis: TcpAnalysis | None = None) -> Table:
    """Return a row for each direction of each flow: those of TCP in pairs, then those of UDP.

    Parameters
    ----------
    trace : PacketTrace
        A capture.
    analysis : TcpAnalysis, optional
        What :func:`~netcalc.readers.captures.tcp.analyse_tcp` returned, if it is at hand.

    Returns
    -------
    Table
        The columns of :func:`~netcalc.readers.captures.tcp.tcp_flows` with ``protocol`` and
        ``datagram_count``; what does not apply to a protocol is nan. Flows of UDP are numbered
        after those of TCP, and their goodput leaves out the last datagram, whose end is not seen.
    """
    kept: Table | None = trace.__dict__.get(_FLOWS)
    if kept is None:
        tcp = tcp_flows(analysis or analyse_tcp(trace))
        first = tcp.columns()
        udp = _udp_flows(trace, len(tcp) // 2)
        counts = len(tcp), udp["flow"].size
        first = {"protocol": np.full(counts[0], "tcp", dtype=object), **first}
        names = dict.fromkeys((*first, *udp))
        parts = [
            [_column(part, name, like=first.get(name), count=count)
             for part, count in zip((first, udp), counts, strict=True)]
            for name in names
        ]  # fmt: skip
        data = {name: np.concatenate(both) for name, both in zip(names, parts, strict=True)}
        units = {**tcp.meta.units, "datagram_count": "1"}
        meta = trace.meta
        kept = Table(data=data, meta=Meta(tool=meta.tool, source=meta.source, units=units))
        trace.__dict__[_FLOWS] = kept
    return kept


def flow_label(row: Mapping[str, Any]) -> str:
    """Return the two ends of a direction of a flow, the sender first."""
    return (
        f"{row['source']} port {row['source_port']:.0f} to {row['destination']} "
        f"port {row['destination_port']:.0f}"
    )


def _column(
    part: dict[str, NDArray[Any]], name: str, *, like: NDArray[Any] | None, count: int
) -> NDArray[Any]:
    """Return a column of one protocol; one that it does not have is nan."""
    if name not in part:
        return np.full(count, np.nan)
    is_text = like is not None and like.dtype.kind in "OU"
    return part[name].astype(object) if is_text else part[name].astype(np.float64)


_LATER_HEADER_BYTES = {4: 20, 6: 48}
"""Header of a later fragment: that of IPv6 has an extension."""


def _whole_bytes(trace: PacketTrace) -> Ints:
    """Return the payload of each packet with that of its later fragments, which have no ports."""
    size: Ints = trace.ints("payload_bytes").astype(np.int64)
    later = np.flatnonzero(trace.has(Layer.LATER_FRAGMENT) & ~mirrored(trace))
    if not later.size:
        return size
    first = np.flatnonzero(
        trace.has(Layer.FRAGMENT) & ~trace.has(Layer.LATER_FRAGMENT) & ~mirrored(trace)
    )
    rows = np.concatenate([first, later])
    ends = [trace.ints(name)[rows].astype(np.int64) for name in ("source", "destination", "ip_id")]
    order = np.lexsort((rows, *ends))
    begins = np.ones(rows.size, np.bool_)
    begins[1:] = np.any([end[order][1:] != end[order][:-1] for end in ends], axis=0)
    begin = np.maximum.accumulate(np.where(begins, np.arange(rows.size), 0))
    is_first = order < first.size
    before = last_index(is_first, begin)
    has_first = ~is_first & (before >= 0)
    parts = rows[order[has_first]]
    header = np.where(
        trace.ints("ip_version")[parts] == 6, *(_LATER_HEADER_BYTES[n] for n in (6, 4))
    )
    np.add.at(size, rows[order[before[has_first]]], trace.ints("packet_bytes")[parts] - header)
    return size


def _udp_flows(trace: PacketTrace, number: int) -> dict[str, NDArray[Any]]:
    """Return the directions of the UDP flows that sent something; they count from this number."""
    flows = find_flows(trace, Layer.UDP, _UDP)
    back = flows.is_upper != flows.is_upper[flows.begin]
    series = 2 * flows.flow + back
    order = np.argsort(series, kind="stable")
    rows, series = flows.row[order], series[order]
    seen, first, which = np.unique(series, return_index=True, return_inverse=True)
    count = seen.size
    time_s, payload = np.asarray(trace.time_s)[rows], _whole_bytes(trace)[rows]
    timed = np.isfinite(time_s)
    begin_s = min_by(time_s[timed], which[timed], count)
    span_s = max_by(time_s[timed], which[timed], count) - begin_s
    number_of = count_by(timed | ~timed, which, count)
    size = sum_by(payload, which, count)
    without_last = size - payload[np.append(first[1:], rows.size) - 1] if count else size
    with np.errstate(divide="ignore", invalid="ignore"):
        goodput_bps = np.where(span_s > 0, 8 * without_last / span_s, np.nan)
    names = np.array(trace.addresses or ("",), dtype=object)
    gaps = np.diff(time_s)
    within = (which[1:] == which[:-1]) & np.isfinite(gaps)
    return {
        "protocol": np.full(count, "udp", dtype=object),
        "flow": number + seen // 2,
        "direction": np.where(seen % 2, "to client", "to server").astype(object),
        "source": names[trace.ints("source")[rows[first]]],
        "source_port": trace.ints("source_port")[rows[first]],
        "destination": names[trace.ints("destination")[rows[first]]],
        "destination_port": trace.ints("destination_port")[rows[first]],
        "start_s": begin_s,
        "duration_s": span_s,
        "datagram_count": number_of,
        "payload_bytes": size,
        "goodput_bps": goodput_bps,
        "gap_s": max_by(gaps[within], which[1:][within], count),
    }
