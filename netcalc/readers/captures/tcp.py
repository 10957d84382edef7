"""TCP flows of a capture, the series to draw of them, the table of all flows, and the facts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.errors import DomainError
from netcalc.messages import Notice
from netcalc.readers.captures import flows, groups, headers
from netcalc.readers.captures.groups import Ints
from netcalc.readers.captures.losses import Losses, Stalls, find_losses, find_stalls
from netcalc.readers.captures.order import in_order, without_steps_s
from netcalc.readers.captures.round_trips import (
    UNKNOWN,
    Handshakes,
    RoundTrips,
    by_acknowledgement,
    by_timestamp,
    find_echoes,
    find_handshakes,
)
from netcalc.readers.ranges import settled
from netcalc.readers.source import unit_of
from netcalc.samples import FactRow, Layer, Meta, PacketTrace, Table, fact_row

_FLAG_NAMES = (
    (flows.SYN, "SYN"), (flows.FIN, "FIN"), (flows.RST, "RST"), (0x08, "PSH"), (flows.ACK, "ACK"),
    (0x20, "URG"), (0x40, "ECE"), (0x80, "CWR"),
)  # fmt: skip

RETRANSMISSIONS = ("retransmission", "fast retransmission", "spurious retransmission")
MOST_WINDOW_BYTES = 1 << 30
"""Largest window that the option of scaling allows (RFC 7323). [byte]"""
DUPLICATE_ACK, DELAYED_ACK, HELD_BACK = "duplicate ACK", "delayed ACK", "held back (Nagle)"
"""Marks of packets in :func:`ladder`."""


@dataclass(frozen=True, slots=True)
class TcpAnalysis:
    """All that is known of the TCP flows of a trace; arrays of packets, flows and directions."""

    trace: PacketTrace
    segments: flows.Segments
    handshakes: Handshakes
    losses: Losses
    round_trips: RoundTrips
    timestamp_round_trips: RoundTrips
    stalls: Stalls
    missed_bytes: Ints
    """Of each series: what was acknowledged and is in no packet, as the capture missed it."""

    @property
    def flow_count(self) -> int:
        """Number of flows."""
        return self.segments.flows.count


def analyse_tcp(trace: PacketTrace) -> TcpAnalysis:
    """Sort the TCP packets of a trace into flows and find out what happened in each.

    Parameters
    ----------
    trace : PacketTrace
        A capture.

    Returns
    -------
    TcpAnalysis
        Handshakes, retransmissions, round trips and waits, as arrays.
    """
    return _analysed(trace, flows.find_tcp_flows(trace))


FLOWS_AT_ONCE = 20_000
"""Flows that are analysed at once, whatever their length: the arrays of more are taken a part at a
time, as they are 300 bytes for each packet. [1]"""
_PART_PACKETS, _MOST_PARTS = 10_000, 16
"""Packets of a part, and most parts: each costs a look at all packets of the trace. [1]"""


def _parts_of(found: flows.Flows) -> Iterator[flows.Flows]:
    """Yield the flows that are analysed at once: all, of very many some at a time."""
    if found.count <= FLOWS_AT_ONCE:
        yield found
    else:
        yield from found.parts(max(_PART_PACKETS, -(-found.row.size // _MOST_PARTS)))


def _analysed(trace: PacketTrace, chosen: flows.Flows) -> TcpAnalysis:
    segments = flows.find_segments(trace, chosen)
    handshakes = find_handshakes(trace, segments)
    trips = by_acknowledgement(segments)
    losses = find_losses(segments, handshakes, trips)
    stalls = find_stalls(segments, losses, trips)
    return TcpAnalysis(
        trace, segments, handshakes, losses, trips, by_timestamp(trace, segments), stalls,
        _missed_bytes(segments, losses),
    )  # fmt: skip


def tcp_flows(analysis: TcpAnalysis) -> Table:
    """Return a row for each direction of each flow; the even rows go from client to server.

    Parameters
    ----------
    analysis : TcpAnalysis
        What :func:`analyse_tcp` returns.

    Returns
    -------
    Table
        ``goodput_bps`` is new payload over the time from the first to the last packet of the
        direction; a time is nan where the capture does not show it, a window where its scale is
        unknown. The windows of a row are those that its sender offered; ``in_flight_bytes`` is the
        most that was seen unacknowledged.
    """
    data = _columns(analysis)
    meta = analysis.trace.meta
    units = _units(data)
    return settled(Table(data=data, meta=Meta(tool=meta.tool, source=meta.source, units=units)))


def _columns(analysis: TcpAnalysis) -> dict[str, NDArray[Any]]:
    data: dict[str, NDArray[Any]] = {}
    for part in _parts(analysis):
        data |= {name: _compact(column) for name, column in part.items()}
    return data


def _parts(a: TcpAnalysis) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the columns of the flows, some at a time: as computed they take more memory."""
    s, count = a.segments, 2 * a.flow_count
    order = s.by_series
    series = s.series[order]
    time_s = without_steps_s(np.asarray(a.trace.time_s))[s.flows.row[order]]
    begin_s, end_s = groups.min_by(time_s, series, count), groups.max_by(time_s, series, count)
    size = groups.sum_by(new_bytes(a), s.series, count)
    duration_s = end_s - begin_s
    yield {
        "flow": s.flows.first_number + np.repeat(np.arange(a.flow_count), 2),
        "direction": np.tile(np.array(["to server", "to client"], dtype=object), a.flow_count),
    }
    yield _ends(a)
    with np.errstate(divide="ignore", invalid="ignore"):
        goodput_bps = np.where(duration_s > 0, 8 * size / duration_s, np.nan)
    yield {
        "start_s": begin_s,
        "duration_s": duration_s,
        "segment_count": groups.count_by(s.series >= 0, s.series, count),
        "data_segment_count": groups.count_by(s.payload > 0, s.series, count),
        "payload_bytes": size,
        "missed_bytes": a.missed_bytes,
        "goodput_bps": goodput_bps,
    }
    yield _counts_of_losses(a, count)
    yield _closures(a, count)
    yield _windows(a, count)
    yield {
        "mss_bytes": a.handshakes.mss_bytes,
        "handshake_rtt_s": np.repeat(a.handshakes.rtt_s, 2),
        "to_server_s": np.repeat(a.handshakes.to_server_s, 2),
        "to_client_s": np.repeat(a.handshakes.to_client_s, 2),
    }
    yield _round_trips(a.round_trips, count)
    yield {"timestamp_rtt_min_s": _round_trips(a.timestamp_round_trips, count)["rtt_min_s"]}
    yield {"gap_s": _largest_gap_s(time_s, series, count)}
    yield _waits(a, count)


def _compact(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column as a table has it, of no memory where all rows are the same."""
    if column.dtype.kind in "iuf":
        column = column.astype(np.float64, copy=False)
        first = column[:1]
        if column.size and np.array_equal(column, np.broadcast_to(first, column.shape), True):
            return np.broadcast_to(first.copy(), column.shape)
    column.flags.writeable = False  # so that the table needs no copy
    return column


def _units(data: Mapping[str, NDArray[Any]]) -> dict[str, str]:
    return {name: unit_of(name) for name, column in data.items() if column.dtype.kind == "f"}


def _ends(a: TcpAnalysis) -> dict[str, NDArray[Any]]:
    """Return the addresses and ports of the sender of each direction, and of its receiver."""
    s, trace = a.segments, a.trace
    names = np.array(trace.addresses or ("",), dtype=object)
    begin = s.flows.first
    forward = s.to_server[begin]
    row = s.flows.row[begin]
    source, destination = (names[trace.ints(name)[row]] for name in ("source", "destination"))
    port, to_port = (trace.ints(f"{name}_port")[row] for name in ("source", "destination"))
    client, server = np.where(forward, source, destination), np.where(forward, destination, source)
    client_port, server_port = np.where(forward, port, to_port), np.where(forward, to_port, port)
    return {
        "source": np.stack([client, server], axis=1).reshape(-1),
        "source_port": np.stack([client_port, server_port], axis=1).reshape(-1),
        "destination": np.stack([server, client], axis=1).reshape(-1),
        "destination_port": np.stack([server_port, client_port], axis=1).reshape(-1),
    }


def new_bytes(a: TcpAnalysis) -> Ints:
    """Return the payload of each segment that no segment before it had."""
    return a.losses.new_bytes


def _missed_bytes(s: flows.Segments, losses: Losses) -> Ints:
    count = 2 * s.flows.count
    order = s.by_series
    acks = order[s.is_set(flows.ACK)[order]]
    missed_bytes = np.zeros(count, dtype=np.int64)
    # Only what the other side acknowledges can be missed: of many flows, as in a scan, nothing.
    sides, of_acks = np.unique(s.series[acks] ^ 1, return_inverse=True)
    if not sides.size:
        return missed_bytes
    place = np.full(count, -1)
    place[sides] = np.arange(sides.size)
    shown = order[place[s.series[order]] >= 0]
    data, syn = shown[s.payload[shown] > 0], shown[s.is_set(flows.SYN)[shown]]
    series = place[s.series[data]]
    # Where its begin is captured, data begin behind the SYN, else with the first that were seen.
    begin = groups.max_by(s.sequence[syn] + 1, place[s.series[syn]], sides.size)
    first = np.fmin(begin, groups.min_by(s.sequence[data], series, sides.size))
    ends = s.sequence[data] + s.payload[data]
    acked = groups.max_by(s.ack[acks], of_acks, sides.size)
    fin = shown[s.is_set(flows.FIN)[shown]]  # it takes a number, and has no byte
    closed = groups.max_by(s.end[fin], place[s.series[fin]], sides.size)
    upto = np.where(acked >= closed, np.minimum(acked, closed - 1), acked)
    inside = ends <= upto[series]
    covered = groups.sum_by(np.where(inside, losses.new_bytes[data], 0), series, sides.size)
    with np.errstate(invalid="ignore"):
        missed = np.nan_to_num(np.where(upto > first, upto - first - covered, 0.0))
    # More than any window is a number that went astray, not a hole; one byte is a FIN's number.
    is_hole = (missed > 1) & (missed <= MOST_WINDOW_BYTES)
    missed_bytes[sides] = np.where(is_hole, missed, 0.0)
    return missed_bytes


def _counts_of_losses(a: TcpAnalysis, count: int) -> dict[str, NDArray[Any]]:
    s, losses = a.segments, a.losses
    again = losses.retransmitted
    return {
        "retransmission_count": groups.count_by(again, s.series, count),
        "fast_retransmission_count": groups.count_by(losses.fast, s.series, count),
        "spurious_retransmission_count": groups.count_by(losses.spurious, s.series, count),
        "retransmitted_bytes": groups.sum_by(np.where(again, s.payload, 0), s.series, count),
        "out_of_order_count": groups.count_by(losses.out_of_order, s.series, count),
        "duplicate_ack_count": groups.count_by(losses.duplicate_ack, s.series, count),
        "keep_alive_count": groups.count_by(losses.keep_alive, s.series, count),
        "zero_window_count": groups.count_by(losses.zero_window, s.series, count),
    }


def _closures(a: TcpAnalysis, count: int) -> dict[str, NDArray[Any]]:
    """Return how often each sender closed its window, and for how long in all.

    A closure lasts until the next packet of its sender that opens the window or ends the flow, at
    most until the last packet of the flow.
    """
    s = a.segments
    order = s.by_series[~s.is_set(flows.SYN)[s.by_series]]
    series, time_s = s.series[order], s.time_s[order]
    closed = (s.window[order] == 0) & ~s.is_set(flows.RST)[order]
    begins = closed & (groups.starts_of(series) | ~np.concatenate([[False], closed[:-1]]))
    rows = np.flatnonzero(begins)
    opens = np.append(np.flatnonzero(~closed), order.size)
    after = opens[np.searchsorted(opens, rows)]
    end_s = np.repeat(groups.max_by(s.time_s, s.flows.flow, a.flow_count), 2)[series[rows]]
    if rows.size:
        inside = np.minimum(after, order.size - 1)
        same = (after < order.size) & (series[inside] == series[rows])
        end_s = np.where(same, time_s[inside], end_s)
    lasted_s = np.maximum(end_s - time_s[rows], 0.0)
    return {
        "window_closed_count": groups.count_by(begins, series, count),
        "window_closed_s": groups.sum_by(lasted_s, series[rows], count),
    }


def window_bytes(a: TcpAnalysis) -> NDArray[np.float64]:
    """Return the window that each segment offers; nan where its scale is unknown. [byte]"""
    s = a.segments
    shift = np.where(s.is_set(flows.SYN), 0, a.handshakes.shift[s.series])
    scaled = (s.window << np.maximum(shift, 0)).astype(np.float64)
    return np.where(shift == UNKNOWN, np.nan, scaled)


def in_flight_bytes(a: TcpAnalysis) -> NDArray[np.float64]:
    """Return the unacknowledged bytes after each segment; nan where no ACK was seen. [byte]"""
    s = a.segments
    order = s.by_series
    acked = np.empty(s.ack.size, np.int64)
    acked[order] = groups.running_max(s.ack[order], s.series[order])
    reach = np.where(s.same >= 0, np.maximum(a.losses.next_sequence, s.end), s.end)
    is_known = (s.other >= 0) & s.is_set(flows.ACK)[s.other]
    return np.where(is_known, np.maximum(reach - acked[s.other], 0), np.nan)


def _windows(a: TcpAnalysis, count: int) -> dict[str, NDArray[Any]]:
    s = a.segments
    chosen = ~s.is_set(flows.SYN | flows.RST)
    order = s.by_series
    order = order[chosen[order]]
    window, series = window_bytes(a)[order], s.series[order]
    flight = in_flight_bytes(a)
    data = s.by_series
    data = data[(s.payload[data] > 0) & ~np.isnan(flight[data])]
    shift = a.handshakes.shift
    return {
        "window_min_bytes": groups.min_by(window, series, count),
        "window_max_bytes": groups.max_by(window, series, count),
        "window_shift": np.where(shift == UNKNOWN, np.nan, shift),
        "in_flight_bytes": groups.max_by(flight[data], s.series[data], count),
    }


def _round_trips(trips: RoundTrips, count: int) -> dict[str, NDArray[Any]]:
    rtt_s, series = trips.rtt_s, trips.series
    return {
        "rtt_count": np.bincount(series, minlength=count),
        "rtt_min_s": groups.min_by(rtt_s, series, count),
        "rtt_median_s": groups.median_by(rtt_s, series, count),
        "rtt_max_s": groups.max_by(rtt_s, series, count),
    }


def _largest_gap_s(time_s: NDArray[np.float64], series: Ints, count: int) -> NDArray[np.float64]:
    within = series[1:] == series[:-1]
    return groups.max_by(np.diff(time_s)[within], series[1:][within], count)


def _waits(a: TcpAnalysis, count: int) -> dict[str, NDArray[Any]]:
    stalls, series = a.stalls, a.segments.series
    by_series = np.argsort(series[stalls.held], kind="stable")
    held_series = series[stalls.held][by_series]
    return {
        "delayed_ack_count": np.bincount(stalls.delayed_series, minlength=count),
        "delayed_ack_s": groups.median_by(stalls.delayed_s, stalls.delayed_series, count),
        "held_count": np.bincount(held_series, minlength=count),
        "held_s": groups.median_by(stalls.held_s[by_series], held_series, count),
    }


def ladder(analysis: TcpAnalysis, *, flow: int) -> Table:
    """Return the packets of one flow as a ladder diagram and a time-sequence plot need them.

    Parameters
    ----------
    analysis : TcpAnalysis
        What :func:`analyse_tcp` returns.
    flow : int
        Number of the flow, from 0.

    Returns
    -------
    Table
        One row for each packet: time, direction, flags, sequence and acknowledgement numbers from
        the first of their sender, payload, window, bytes in flight, what it was, and how long a
        delayed acknowledgement or a segment held back had waited when it left.
    """
    a, s = analysis, analysis.segments
    if not 0 <= flow < a.flow_count:
        raise DomainError("no-such-flow", "flow", flow, count=a.flow_count)
    rows = np.flatnonzero(s.flows.flow == flow)
    marks = np.full(s.payload.size, "", dtype="<U24")
    late, fast, spurious = RETRANSMISSIONS
    for name, mask in (
        (late, a.losses.late),
        (fast, a.losses.fast),
        (spurious, a.losses.spurious),
        ("out of order", a.losses.out_of_order),
        (DUPLICATE_ACK, a.losses.duplicate_ack),
        ("keep-alive", a.losses.keep_alive),
    ):
        marks[mask] = name
    marks[a.stalls.delayed], marks[a.stalls.held] = DELAYED_ACK, HELD_BACK
    wait_s = np.full(s.payload.size, np.nan)
    wait_s[a.stalls.delayed], wait_s[a.stalls.held] = a.stalls.delayed_s, a.stalls.held_s
    data = {
        "packet": s.flows.row[rows] + 1,
        "time_s": s.time_s[rows],
        "direction": np.where(s.to_server[rows], "to server", "to client"),
        "flags": np.array([_flag_text(int(number)) for number in s.flags[rows]], dtype=np.str_),
        "sequence": s.sequence[rows],
        "ack": s.ack[rows],
        "payload_bytes": s.payload[rows],
        "window_bytes": window_bytes(a)[rows],
        "in_flight_bytes": in_flight_bytes(a)[rows],
        "mark": marks[rows],
        "wait_s": wait_s[rows],
    }
    units = {name: unit_of(name) for name in data if name not in ("direction", "flags", "mark")}
    meta = a.trace.meta
    return Table(data=data, meta=Meta(tool=meta.tool, source=meta.source, units=units))


def _flag_text(flags: int) -> str:
    return " ".join(name for bit, name in _FLAG_NAMES if flags & bit)


def tcp_notices(analysis: TcpAnalysis) -> list[Notice]:
    """Warn of flows that began before the capture, show one side, or have an unknown scale.

    And of what the capture missed, of its order, and of pings that several hosts answered.
    """
    tally = _Tally()
    tally.add(analysis)
    return tally.notices(analysis.trace)


class _Tally:
    """What is counted of the flows of a trace, whichever of them are analysed at once."""

    def __init__(self) -> None:
        self.flow_count = self.retransmission_count = 0
        self.handshake_rtt_min_s = math.nan
        self._flow_counts: Counter[str] = Counter()
        self._missing_bytes = self._missed_count = self._after_ack_count = 0

    def add(self, analysis: TcpAnalysis) -> None:
        """Add some flows."""
        a, s = analysis, analysis.segments
        self.flow_count += a.flow_count
        self.retransmission_count += int(np.count_nonzero(a.losses.retransmitted))
        handshakes = a.handshakes.rtt_s
        timed = handshakes[handshakes >= 0]
        self.handshake_rtt_min_s = float(np.fmin.reduce(timed, initial=self.handshake_rtt_min_s))
        sides = groups.count_by(s.series >= 0, s.series, 2 * a.flow_count).reshape(-1, 2)
        for code, chosen in (
            ("flows-begun-before", (a.handshakes.syn < 0) & (a.handshakes.answer < 0)),
            ("flows-one-sided", (sides == 0).any(axis=1)),
            ("handshakes-cut", a.handshakes.cut),
            ("handshakes-repeated", a.handshakes.syn_count > 1),
        ):
            self._flow_counts[code] += int(np.count_nonzero(chosen))
        self._missing_bytes += int(a.missed_bytes.sum())
        self._missed_count += int(np.count_nonzero(a.missed_bytes))
        self._after_ack_count += int(np.count_nonzero(a.losses.after_ack))

    def notices(self, trace: PacketTrace) -> list[Notice]:
        """Return what to warn of, and of the pings of the same trace."""
        notices = [
            Notice(code, {"count": count, "total": self.flow_count})
            for code, count in self._flow_counts.items()
        ]
        missed = {"missing_bytes": self._missing_bytes, "count": self._missed_count}
        notices.append(Notice("capture-missed", missed))
        if (other := find_echoes(trace).other).size:
            hosts = np.unique(trace.ints("source")[other]).size
            notices.append(Notice("echo-other-hosts", {"count": int(other.size), "hosts": hosts}))
        notices.append(Notice("data-after-ack", {"count": self._after_ack_count}))
        return [notice for notice in notices if notice.values["count"]]


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


def fact_rows(
    trace: PacketTrace,
) -> tuple[tuple[FactRow, ...], list[Notice], TcpAnalysis | None]:
    """Return the facts of a capture, what to warn of, and the analysis of all its TCP flows.

    The last is None if they are too many to be analysed at once.
    """
    ordered, tally = in_order(trace), _Tally()
    found = flows.find_tcp_flows(ordered)
    whole = _analysed(ordered, found) if found.count <= FLOWS_AT_ONCE else None
    if whole is not None:
        tally.add(whole)
    else:
        for part in _parts_of(found):
            tally.add(_analysed(ordered, part))
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
        **({} if no_transport else _transport_facts(ordered, tally)),
        handshake_rtt_min_s=tally.handshake_rtt_min_s,
        partial=trace.meta.partial,
    )
    if hidden:
        row.pop("udp_flow_count", None)
    return (row,), tally.notices(ordered), whole


def _transport_facts(trace: PacketTrace, tally: _Tally) -> dict[str, int]:
    """Return what is counted of whole headers of TCP, UDP and ICMP."""
    return {
        "tcp_flow_count": tally.flow_count,
        "udp_flow_count": flows.find_flows(trace, Layer.UDP, _UDP).count,
        "tcp_retransmission_count": tally.retransmission_count,
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
        ordered = in_order(trace)
        if analysis is not None:
            tcp = _columns(analysis)
        else:
            parts = _parts_of(flows.find_tcp_flows(ordered))
            tcp = _joined([_columns(_analysed(ordered, part)) for part in parts])
        count = tcp["flow"].size
        first = {"protocol": np.full(count, "tcp", dtype=object), **tcp}
        udp = _udp_flows(ordered, count // 2)
        sides = [(part, part["flow"].size) for part in (first, udp)]
        sides = [side for side in sides if side[1]] or sides[:1]
        data: dict[str, NDArray[Any]] = {}
        for name in dict.fromkeys((*first, *udp)):
            both = [_column(part, name, like=first.get(name), count=n) for part, n in sides]
            data[name] = _compact(both[0] if len(both) == 1 else np.concatenate(both))
        units = {**_units(tcp), "datagram_count": "1"}
        about = Meta(tool=trace.meta.tool, source=trace.meta.source, units=units)
        kept = settled(Table(data=data, meta=about))
        trace.__dict__[_FLOWS] = kept
    return kept


def _joined(parts: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Return the columns of all parts one after the other; the parts are used up."""
    return {
        name: _compact(np.concatenate([part.pop(name) for part in parts]))
        for name in list(parts[0])
    }


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
    return part[name].astype(object if is_text else np.float64, copy=False)


_LATER_HEADER_BYTES = {4: 20, 6: 48}
"""Header of a later fragment: that of IPv6 has an extension."""


def _whole_bytes(trace: PacketTrace) -> Ints:
    """Return the payload of each packet with that of its later fragments, which have no ports."""
    size: Ints = trace.ints("payload_bytes").astype(np.int64)
    later = np.flatnonzero(trace.has(Layer.LATER_FRAGMENT) & ~flows.mirrored(trace))
    if not later.size:
        return size
    first = np.flatnonzero(
        trace.has(Layer.FRAGMENT) & ~trace.has(Layer.LATER_FRAGMENT) & ~flows.mirrored(trace)
    )
    rows = np.concatenate([first, later])
    ends = [trace.ints(name)[rows].astype(np.int64) for name in ("source", "destination", "ip_id")]
    order = np.lexsort((rows, *ends))
    begin = groups.begins_at(groups.starts_of(*(end[order] for end in ends)))
    is_first = order < first.size
    before = groups.last_index(is_first, begin)
    has_first = ~is_first & (before >= 0)
    parts = rows[order[has_first]]
    header = np.where(
        trace.ints("ip_version")[parts] == 6, *(_LATER_HEADER_BYTES[n] for n in (6, 4))
    )
    np.add.at(size, rows[order[before[has_first]]], trace.ints("packet_bytes")[parts] - header)
    return size


def _udp_flows(trace: PacketTrace, number: int) -> dict[str, NDArray[Any]]:
    """Return the directions of the UDP flows that sent something; they count from this number."""
    udp = flows.find_flows(trace, Layer.UDP, _UDP)
    back = udp.is_upper != udp.is_upper[udp.begin]
    series = 2 * udp.flow + back
    order = np.argsort(series, kind="stable")
    rows, series = udp.row[order], series[order]
    seen, first, which = np.unique(series, return_index=True, return_inverse=True)
    count = seen.size
    time_s, payload = np.asarray(trace.time_s)[rows], _whole_bytes(trace)[rows]
    timed = np.isfinite(time_s)
    begin_s = groups.min_by(time_s[timed], which[timed], count)
    span_s = groups.max_by(time_s[timed], which[timed], count) - begin_s
    number_of = groups.count_by(timed | ~timed, which, count)
    size = groups.sum_by(payload, which, count)
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
        "gap_s": groups.max_by(gaps[within], which[1:][within], count),
    }
