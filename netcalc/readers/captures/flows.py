"""Packets sorted into flows: the same two ends and protocol, in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures.scans import Bools, Ints, first_of, last_index, starts_of, unwrapped
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

    @property
    def first(self) -> Ints:
        """Index of the first packet of each flow, in the order of the flows here."""
        return np.flatnonzero(starts_of(self.flow))


def find_flows(trace: PacketTrace, layer: int, protocol: int) -> Flows:
    """Sort the packets with a whole TCP or UDP header into flows.

    A SYN with another sequence number than the SYN before it begins a new flow of the same ends.
    """
    rows = np.flatnonzero(trace.has(layer) & (trace.ints("ip_protocol") == protocol))
    source, destination = (
        (trace.ints(name)[rows].astype(np.uint64) << np.uint64(16))
        | trace.ints(f"{name}_port")[rows]
        for name in ("source", "destination")
    )
    low, high = np.minimum(source, destination), np.maximum(source, destination)
    order, ordered_low, ordered_high = _grouped(low, high)
    rows, upper = rows[order], (source > destination)[order]
    begins = np.ones(rows.size, np.bool_)
    begins[1:] = (ordered_low[1:] != ordered_low[:-1]) | (ordered_high[1:] != ordered_high[:-1])
    if protocol == _TCP:
        begins |= _reused(trace, rows, upper, begins)
    return _numbered(rows, upper, begins)


def _grouped(
    low: NDArray[np.uint64], high: NDArray[np.uint64]
) -> tuple[Ints, NDArray[np.uint64], NDArray[np.uint64]]:
    """Return an order in which packets of the same two ends lie together, the earlier first.

    They are sorted by 32 mixed bits of both ends, in two passes of 16 that take linear time; if two
    pairs of ends share these bits, by the ends themselves.
    """
    mixed = (low * np.uint64(0x9E37_79B9_7F4A_7C15)) ^ (high * np.uint64(0xC2B2_AE3D_27D4_EB4F))
    mixed *= np.uint64(0x1656_67B1_9E37_79F9)
    order = np.argsort((mixed >> np.uint64(48)).astype(np.uint16), kind="stable")
    later = (mixed >> np.uint64(32)).astype(np.uint16)[order]
    order = order[np.argsort(later, kind="stable")]
    ordered_low, ordered_high, bits = low[order], high[order], (mixed >> np.uint64(32))[order]
    changes = (ordered_low[1:] != ordered_low[:-1]) | (ordered_high[1:] != ordered_high[:-1])
    if (changes & (bits[1:] == bits[:-1])).any():
        order = np.lexsort((high, low))
        return order, low[order], high[order]
    return order, ordered_low, ordered_high


def _reused(trace: PacketTrace, rows: Ints, upper: Bools, begins: Bools) -> Bools:
    """Return where a SYN begins another connection between the same ports."""
    flags = trace.ints("tcp_flags")[rows]
    sequence = trace.ints("tcp_sequence")[rows]
    is_syn = flags & (SYN | ACK) == SYN
    found = np.zeros(rows.size, np.bool_)
    if not is_syn.any():
        return found
    begin = np.maximum.accumulate(np.where(begins, np.arange(rows.size), 0))
    for side in (upper, ~upper):
        syn = is_syn & side
        before = last_index(syn, begin)
        has_sent = last_index(side, begin) >= 0
        is_other = (before < 0) | (sequence[before] != sequence)
        found |= syn & has_sent & is_other
    return found


def _numbered(rows: Ints, upper: Bools, begins: Bools) -> Flows:
    """Number the flows by their first packets, and put their packets into that order."""
    first = np.flatnonzero(begins)
    sizes = np.diff(np.append(first, rows.size))
    by_first = np.argsort(rows[first], kind="stable")
    sizes, first = sizes[by_first], first[by_first]
    begin = np.repeat(np.cumsum(sizes) - sizes, sizes)
    order = np.arange(rows.size) - begin + np.repeat(first, sizes)
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


def find_segments(trace: PacketTrace) -> Segments:
    """Return the TCP segments of a trace, sorted into flows and directions."""
    flows = find_flows(trace, Layer.TCP, _TCP)
    rows = flows.row
    flags = trace.ints("tcp_flags")[rows]
    to_server, has_client = _directions(flows, flags)
    order_of = flows.flow * 2 + ~to_server
    payload = trace.ints("payload_bytes")[rows].astype(np.int64)
    by_series = _by_series(flows, to_server)
    sequence, ack = _unwrap(trace, rows, flags, order_of, by_series)
    by_client = last_index(to_server, flows.begin)
    by_server = last_index(~to_server, flows.begin)
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
    syn = first_of(flags & (SYN | ACK) == SYN, flows.flow, count)
    answer = first_of(flags & (SYN | ACK) == SYN | ACK, flows.flow, count)
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
    begins = starts_of(ordered)
    sequence = np.zeros(rows.size, np.int64)
    sequence[order] = unwrapped(raw[order], begins)
    count = int(ordered[-1]) + 2 if ordered.size else 0
    first_raw = np.zeros(count, np.uint32)
    has_first = np.zeros(count, np.bool_)
    first_raw[ordered[begins]], has_first[ordered[begins]] = raw[order][begins], True

    ack = np.zeros(rows.size, np.int64)
    with_ack = order[(flags[order] & ACK) != 0]
    own = series[with_ack]
    ack_begins = starts_of(own)
    steps = unwrapped(acked[with_ack], ack_begins)
    first_ack = np.repeat(
        acked[with_ack][ack_begins],
        np.diff(np.append(np.flatnonzero(ack_begins), own.size)),
    )
    base = np.where(has_first[own ^ 1], first_raw[own ^ 1], first_ack)
    ack[with_ack] = steps + (first_ack - base.astype(np.uint32)).view(np.int32)
    return sequence, ack
