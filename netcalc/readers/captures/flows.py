"""Packets sorted into flows: the same two ends and protocol, in both directions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures import groups
from netcalc.readers.captures.groups import Bools, Ints
from netcalc.samples import Layer, PacketTrace

SYN, FIN, RST, ACK = 0x02, 0x01, 0x04, 0x10
_TCP, _UDP = 6, 17


@dataclass(slots=True)
class Flows:
    """The packets of one protocol, flow after flow, each in the order of the file.

    ``row`` is the packet's index in the trace, ``flow`` its flow, numbered by first packets;
    ``begin`` is the index of the first packet of its flow here.
    """

    row: Ints
    flow: Ints
    begin: Ints
    count: int
    is_upper: Bools
    """Whether the sender is the end with the greater address and port."""
    first_number: int = 0
    """Number of the first flow here among those of the trace."""

    @property
    def first(self) -> Ints:
        """Index of the first packet of each flow, in the order of the flows here."""
        return np.flatnonzero(groups.starts_of(self.flow))

    def parts(self, packet_count: int) -> Iterator[Flows]:
        """Yield some whole flows at a time, as many as have about so many packets."""
        begins = np.append(self.first, self.flow.size)
        begin, flow = 0, 0
        while flow < self.count:
            after = int(np.searchsorted(begins, begin + packet_count, side="right")) - 1
            after = max(after, flow + 1)
            end = int(begins[after])
            here = slice(begin, end)
            yield Flows(
                self.row[here], self.flow[here] - flow, self.begin[here] - begin, after - flow,
                self.is_upper[here], self.first_number + flow,
            )  # fmt: skip
            begin, flow = end, after


def find_flows(trace: PacketTrace, layer: int, protocol: int) -> Flows:
    """Sort the packets with a whole TCP or UDP header into flows.

    A SYN with another sequence number than the SYN before it begins a new flow of the same ends.
    Copies of packets are left out.
    """
    chosen = trace.has(layer) & (trace.ints("ip_protocol") == protocol)
    rows = np.flatnonzero(chosen & ~mirrored(trace))
    source, destination = (
        (trace.ints(name)[rows].astype(np.uint64) << np.uint64(16))
        | trace.ints(f"{name}_port")[rows]
        for name in ("source", "destination")
    )
    upper = source > destination
    low, high = np.minimum(source, destination), np.maximum(source, destination)
    del source, destination  # of many packets each array counts
    order, begins = _grouped(low, high)
    del low, high
    rows, upper = rows[order], upper[order]
    if protocol == _TCP:
        begins |= _reused(trace, rows, upper, begins)
    return _numbered(rows, upper, begins)


def _grouped(low: NDArray[np.uint64], high: NDArray[np.uint64]) -> tuple[Ints, Bools]:
    """Return an order in which packets of the same two ends lie together, and where these begin.

    The earlier packets of two ends come first. They are sorted by 32 mixed bits of both ends, in
    two passes of 16 that take linear time; if two pairs of ends share these bits, by the ends
    themselves.
    """
    mixed = (low * np.uint64(0x9E37_79B9_7F4A_7C15)) ^ (high * np.uint64(0xC2B2_AE3D_27D4_EB4F))
    mixed *= np.uint64(0x1656_67B1_9E37_79F9)
    bits = (mixed >> np.uint64(32)).astype(np.uint32)
    del mixed
    order = np.argsort((bits >> np.uint32(16)).astype(np.uint16), kind="stable")
    order = order[np.argsort(bits.astype(np.uint16)[order], kind="stable")]
    begins = groups.starts_of(low[order], high[order])
    if (begins & ~groups.starts_of(bits[order])).any():
        order = np.lexsort((high, low))
        begins = groups.starts_of(low[order], high[order])
    return order, begins


def _reused(trace: PacketTrace, rows: Ints, upper: Bools, begins: Bools) -> Bools:
    """Return where a SYN begins another connection between the same ports."""
    flags = trace.ints("tcp_flags")[rows]
    sequence = trace.ints("tcp_sequence")[rows]
    is_syn = flags & (SYN | ACK) == SYN
    reused = np.zeros(rows.size, np.bool_)
    if not is_syn.any():
        return reused
    begin = groups.begins_at(begins)
    for side in (upper, ~upper):
        syn = is_syn & side
        before = groups.last_index(syn, begin)
        has_sent = groups.last_index(side, begin) >= 0
        is_other = (before < 0) | (sequence[before] != sequence)
        reused |= syn & has_sent & is_other
    return reused


def _numbered(rows: Ints, upper: Bools, begins: Bools) -> Flows:
    """Number the flows by their first packets, and put their packets into that order."""
    first = np.flatnonzero(begins)
    sizes = np.diff(np.append(first, rows.size))
    by_first = np.argsort(rows[first], kind="stable")
    sizes, first = sizes[by_first], first[by_first]
    begin = np.repeat(np.cumsum(sizes) - sizes, sizes)
    order = np.repeat(first, sizes)
    order -= begin
    order += np.arange(rows.size)
    flow = np.repeat(np.arange(first.size), sizes)
    return Flows(rows[order], flow, begin, first.size, upper[order])


@dataclass(slots=True)
class Segments:
    """TCP segments, flow after flow, with what belongs to each.

    ``series`` is twice the flow, plus one for packets to the client; ``sequence``, ``end`` and
    ``ack`` are counted from the first sequence number of their sender, without wrap.
    """

    flows: Flows
    series: Ints
    by_series: Ints
    """The order in which the packets of a series lie together."""
    to_server: Bools
    has_client: Bools
    time_s: NDArray[np.float64]
    sequence: Ints
    end: Ints
    ack: Ints
    payload: Ints
    flags: NDArray[Any]
    window: Ints
    same: Ints
    """The packet before in the same direction; -1 if there is none."""
    other: Ints
    """The packet before in the other direction."""

    def is_set(self, flag: int) -> Bools:
        """Return the segments that have one of these flags."""
        mask: Bools = self.flags & np.uint16(flag) != 0
        return mask


def find_tcp_flows(trace: PacketTrace) -> Flows:
    """Sort the TCP packets of a trace into flows."""
    return find_flows(trace, Layer.TCP, _TCP)


def find_segments(trace: PacketTrace, flows: Flows | None = None) -> Segments:
    """Return the TCP segments of a trace, or of some of its flows, sorted into directions."""
    flows = find_tcp_flows(trace) if flows is None else flows
    rows = flows.row
    flags = trace.ints("tcp_flags")[rows]
    to_server, has_client = _directions(flows, flags)
    order_of = flows.flow * 2 + ~to_server
    payload = trace.ints("payload_bytes")[rows].astype(np.int64)
    by_series = _by_series(flows, to_server)
    sequence, ack = _unwrap(trace, rows, flags, order_of, by_series)
    by_client = groups.last_index(to_server, flows.begin)
    by_server = groups.last_index(~to_server, flows.begin)
    control = (flags & SYN != 0).astype(np.int64) + (flags & FIN != 0)
    return Segments(
        flows=flows,
        series=order_of,
        by_series=by_series,
        to_server=to_server,
        has_client=has_client,
        time_s=np.asarray(trace.time_s)[rows],
        sequence=sequence,
        end=sequence + payload + np.minimum(control, 1),
        ack=ack,
        payload=payload,
        flags=flags,
        window=trace.ints("window")[rows].astype(np.int64),
        same=np.where(to_server, by_client, by_server),
        other=np.where(to_server, by_server, by_client),
    )


def _by_series(flows: Flows, to_server: Bools) -> Ints:
    """Return the order of flows, and in each the packets to the server before the others."""
    before: Ints = np.cumsum(to_server) - to_server
    sizes = np.bincount(flows.flow, weights=to_server, minlength=flows.count).astype(np.int64)
    earlier: Ints = before - before[flows.begin]
    rows = np.arange(to_server.size)
    place = flows.begin + np.where(
        to_server, earlier, sizes[flows.flow] + rows - flows.begin - earlier
    )
    order = np.empty(rows.size, np.int64)
    order[place] = rows
    return order


def _directions(flows: Flows, flags: NDArray[Any]) -> tuple[Bools, Bools]:
    """Say which packets go to the server, and which flows show who that is.

    Whoever sent the SYN, or received the SYN of the answer, is the client; without both it is the
    sender of the first packet.
    """
    count = flows.count
    syn = groups.first_of(flags & (SYN | ACK) == SYN, flows.flow, count)
    answer = groups.first_of(flags & (SYN | ACK) == SYN | ACK, flows.flow, count)
    shown = np.where(syn >= 0, syn, np.where(answer >= 0, answer, 0))
    begin = flows.first
    has_client = (syn >= 0) | (answer >= 0)
    shown = np.where(has_client, shown, begin)
    client_is_upper = flows.is_upper[shown] ^ ((syn < 0) & (answer >= 0)) if count else has_client
    return flows.is_upper == client_is_upper[flows.flow], has_client


def _unwrap(
    trace: PacketTrace, rows: Ints, flags: NDArray[Any], series: Ints, order: Ints
) -> tuple[Ints, Ints]:
    """Return sequence and acknowledgement numbers without wrap, from each sender's first one."""
    raw, acked = trace.ints("tcp_sequence")[rows], trace.ints("acknowledged")[rows]
    ordered = series[order]
    begins = groups.starts_of(ordered)
    sequence = np.zeros(rows.size, np.int64)
    sequence[order] = groups.unwrapped(raw[order], begins)
    count = int(ordered[-1]) + 2 if ordered.size else 0
    first_raw = np.zeros(count, np.uint32)
    has_first = np.zeros(count, np.bool_)
    first_raw[ordered[begins]], has_first[ordered[begins]] = raw[order][begins], True

    ack = np.zeros(rows.size, np.int64)
    with_ack = order[(flags[order] & ACK) != 0]
    own = series[with_ack]
    ack_begins = groups.starts_of(own)
    steps = groups.unwrapped(acked[with_ack], ack_begins)
    first_ack = np.repeat(
        acked[with_ack][ack_begins],
        np.diff(np.append(np.flatnonzero(ack_begins), own.size)),
    )
    base = np.where(has_first[own ^ 1], first_raw[own ^ 1], first_ack)
    ack[with_ack] = steps + (first_ack - base.astype(np.uint32)).view(np.int32)
    return sequence, ack


MIRROR_S = 0.001
"""A copy of a packet follows it this soon, at a mirror port or from two interfaces. [s]"""
MIRRORED_RATIO = 0.4
"""Without IP identification, packets are copies where at least this share of those that no host
sends twice so soon is there twice; of a whole capture seen twice it is a half. [ratio]"""

_MIRRORED = "_mirrored"
_HEADER = (
    "source", "destination", "ip_protocol", "ip_id", "packet_bytes", "source_port",
    "destination_port", "payload_bytes", "tcp_sequence", "acknowledged", "tcp_flags", "window",
    "timestamp", "timestamp_echo", "sack_count", "icmp_type", "echo_id", "echo_sequence",
)  # fmt: skip


def mirrored(trace: PacketTrace) -> Bools:
    """Return a mask of the packets that are copies of the one before: seen twice, sent once.

    A copy has the headers of another packet, at most :data:`MIRROR_S` before it, its IP
    identification included. A host that sends again counts that on. Where it does not (IPv6, 0, or
    always the same), a packet with a lower hop limit came by again behind a router; any other
    copy looks like a packet sent again: there every second one is a copy, if most of the capture is
    there twice.
    """
    kept: Bools | None = trace.__dict__.get(_MIRRORED)
    if kept is None:
        kept = _find_mirrored(trace)
        trace.__dict__[_MIRRORED] = kept
    return kept


def _find_mirrored(trace: PacketTrace) -> Bools:
    copies = np.zeros(len(trace), np.bool_)
    later, earlier = _alike(trace)
    if not later.size:
        return copies
    whole = ~trace.has(Layer.LATER_FRAGMENT)[later]
    ttl = trace.ints("ttl")
    sure = whole & (_counts_on(trace, later) | (ttl[later] < ttl[earlier]))
    copies[later[sure]] = True
    second = _is_second(later, earlier)
    data = trace.has(Layer.TCP) & (trace.ints("payload_bytes") > 0)
    kind, protocol = trace.ints("icmp_type"), trace.ints("ip_protocol")
    asks = ((protocol == 1) & (kind == 8)) | ((protocol == 58) & (kind == 128))
    once = data | (trace.has(Layer.ICMP) & asks)
    rest = later[whole & ~sure & second]
    again = np.count_nonzero(once & copies) + np.count_nonzero(once[rest])
    if again >= MIRRORED_RATIO * np.count_nonzero(once) > 0:
        copies[rest] = True
    # The middle fragments of a datagram have the same headers, but for the offset.
    parts = later[~whole & second]
    if parts.size and copies.any():
        copies[parts[_of_these(trace, parts, copies & trace.has(Layer.FRAGMENT))]] = True
    return copies


def _is_second(later: Ints, earlier: Ints) -> Bools:
    """Return every second packet of those that are alike, one after the other."""
    begins = np.ones(later.size, np.bool_)
    begins[1:] = earlier[1:] != later[:-1]
    second: Bools = (np.arange(later.size) - groups.begins_at(begins)) % 2 == 0
    return second


def _of_these(trace: PacketTrace, parts: Ints, first: Bools) -> Bools:
    """Return which of these later fragments are of a datagram that one of the first ones begins."""
    datagram = trace.ints("source").astype(np.uint64) << np.uint64(40)
    datagram |= trace.ints("destination").astype(np.uint64) << np.uint64(16)
    datagram |= trace.ints("ip_id")
    return np.isin(datagram[parts], datagram[first])


def _alike(trace: PacketTrace) -> tuple[Ints, Ints]:
    """Return packets with the headers of another one shortly before, and that one."""
    first, second, third = (
        trace.ints(low).astype(np.uint64) | trace.ints(high).astype(np.uint64) << np.uint64(32)
        for low, high in (
            ("tcp_sequence", "acknowledged"), ("source", "destination"), ("ip_id", "packet_bytes"),
        )
    )  # fmt: skip
    ports = trace.ints("source_port").astype(np.uint64) << np.uint64(16)
    ports |= trace.ints("destination_port")
    ports = ports << np.uint64(16) | trace.ints("echo_sequence")
    mixed = first * np.uint64(0x9E37_79B9_7F4A_7C15)
    for part in (second, third, ports):
        mixed = (mixed ^ (mixed >> np.uint64(29)) ^ part) * np.uint64(0xC2B2_AE3D_27D4_EB4F)
    mixed ^= mixed >> np.uint64(32)
    # Three passes over 16 bits each take linear time; the same headers have the same bits.
    order = np.argsort(mixed.astype(np.uint16), kind="stable")
    for shift in (16, 32):
        digits = (mixed >> np.uint64(shift)).astype(np.uint16)[order]
        order = order[np.argsort(digits, kind="stable")]
    later, earlier = order[1:], order[:-1]
    alike = mixed[later] == mixed[earlier]
    later, earlier = later[alike], earlier[alike]
    time_s = np.asarray(trace.time_s)
    is_ip = trace.has(Layer.IPV4 | Layer.IPV6)[later]
    good = is_ip & (np.abs(time_s[later] - time_s[earlier]) <= MIRROR_S)
    for name in _HEADER:
        column = trace.ints(name)
        good &= column[later] == column[earlier]
    return later[good], earlier[good]


def _counts_on(trace: PacketTrace, rows: Ints) -> Bools:
    """Return which of these packets have a sender whose IP identification changes."""
    ip_id = trace.ints("ip_id")
    way = trace.ints("source").astype(np.int64) << 32 | trace.ints("destination")
    ways, which = np.unique(way, return_inverse=True)
    least, most = np.full(ways.size, 65535), np.zeros(ways.size, np.int64)
    numbered = ip_id > 0
    np.minimum.at(least, which[numbered], ip_id[numbered])
    np.maximum.at(most, which[numbered], ip_id[numbered])
    changes: Bools = (least < most)[which[rows]] & numbered[rows]
    return changes
