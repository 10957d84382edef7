"""Round-trip times of a capture: of TCP, of ICMP echoes, of UDP requests and their replies.

Those of TCP are of handshakes, from a segment to its acknowledgement, and by time stamps.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures import groups
from netcalc.readers.captures.flows import ACK, SYN, Segments, find_flows, mirrored
from netcalc.readers.captures.groups import Bools, Ints
from netcalc.samples import Layer, Meta, PacketTrace, RttSamples

UNKNOWN = -1
"""Shift of a window whose handshake was not captured, or not as a whole."""


@dataclass(frozen=True, slots=True)
class Handshakes:
    """One row for each flow; an index is -1 and a time nan where the packet is not there.

    ``rtt_s`` is the time from the last SYN to the acknowledgement that ends the handshake, which is
    a round trip wherever the capture was made; ``to_server_s`` and ``to_client_s`` are its parts on
    both sides of the capture.
    """

    syn: Ints
    answer: Ints
    ack: Ints
    syn_count: Ints
    rtt_s: NDArray[np.float64]
    to_server_s: NDArray[np.float64]
    to_client_s: NDArray[np.float64]
    shift: Ints
    """Of each series (twice the flow, plus one to the client): shift of the windows in it."""
    mss_bytes: NDArray[np.float64]
    """Of each series: the MSS its sender offered; nan where its SYN is not there."""
    cut: Bools
    """Of each flow: whether the snap length cut the options of its SYN, or of the answer."""


def find_handshakes(trace: PacketTrace, segments: Segments) -> Handshakes:
    """Find the three packets of each handshake."""
    s = segments
    flow, count = s.flows.flow, s.flows.count
    is_syn = s.is_set(SYN) & ~s.is_set(ACK) & s.to_server
    is_answer = s.is_set(SYN) & s.is_set(ACK) & ~s.to_server
    answer = groups.first_of(is_answer, flow, count)
    rows = np.arange(flow.size)
    has_answer = answer[flow] >= 0
    behind = has_answer & (rows > answer[flow])
    syn = groups.last_of(is_syn & ~behind, flow, count)
    has_both = behind & (syn[flow] >= 0)
    ends = has_both & s.to_server & s.is_set(ACK) & ~s.is_set(SYN)
    # Data in the SYN, if the server took it, is acknowledged by its answer (TCP Fast Open).
    ends &= (s.sequence == s.ack[answer[flow]]) & (s.ack == s.sequence[answer[flow]] + 1)
    ack = groups.first_of(ends, flow, count)
    return Handshakes(
        syn=syn,
        answer=answer,
        ack=ack,
        syn_count=groups.count_by(is_syn, flow, count),
        rtt_s=_between(s, syn, ack),
        to_server_s=_between(s, syn, answer),
        to_client_s=np.where(syn >= 0, _between(s, answer, ack), np.nan),
        shift=_shifts(trace, s, syn, answer),
        mss_bytes=_offered(trace, s, syn, answer),
        cut=_is_cut(trace, s, syn) | _is_cut(trace, s, answer),
    )


def handshake_samples(
    trace: PacketTrace, segments: Segments, handshakes: Handshakes, chosen: Ints
) -> RttSamples:
    """Return the handshakes of these flows as round trips, at the clock of the capture.

    Parameters
    ----------
    trace : PacketTrace
        A capture.
    segments, handshakes : Segments, Handshakes
        Its TCP packets, and what :func:`find_handshakes` found of them.
    chosen : array
        Numbers of flows; those without a time are left out.
    """
    timed = chosen[handshakes.rtt_s[chosen] >= 0]
    rows = segments.flows.row[handshakes.syn[timed]]
    return _samples(
        trace, rows, handshakes.rtt_s[timed], "TCP handshake", payload_bytes=np.zeros(timed.size)
    )


def _samples(
    trace: PacketTrace, asks: Ints, rtt_s: NDArray[np.float64], what: str, **columns: Any
) -> RttSamples:
    """Return these packets and what answered them as round trips, to a nanosecond.

    Captures are no finer. A time below 0 is unknown.
    """
    rtt_s = np.round(rtt_s, 9)
    protocol = what.split()[0].lower()
    return RttSamples(
        rtt_s=np.where(rtt_s < 0, np.nan, rtt_s),
        sent_s=np.asarray(trace.time_s)[asks],
        group=_groups(trace, asks, what, ports=protocol != "icmp"),
        meta=Meta(tool=trace.meta.tool, source=trace.meta.source, protocol=protocol),
        **{"payload_bytes": trace.ints("payload_bytes")[asks], **columns},
    )


def _between(s: Segments, first: Ints, second: Ints) -> NDArray[np.float64]:
    """Return the time between two packets of each flow."""
    if not s.time_s.size:
        return np.full(first.size, np.nan)
    return np.where((first >= 0) & (second >= 0), s.time_s[second] - s.time_s[first], np.nan)


def _is_cut(trace: PacketTrace, s: Segments, packet: Ints) -> Bools:
    """Return of which flows the header of a packet was cut."""
    if not s.time_s.size:
        return np.zeros(packet.size, np.bool_)
    is_cut: Bools = (packet >= 0) & trace.has(Layer.CUT)[s.flows.row[packet]]
    return is_cut


def _shifts(trace: PacketTrace, s: Segments, syn: Ints, answer: Ints) -> Ints:
    """Return the shift of each series: 0 unless both ends offered one, unknown without both.

    Of options that the snap length cut nobody knows whether there was an offer.
    """
    shifts = np.full(2 * syn.size, UNKNOWN, np.int64)
    both = (syn >= 0) & (answer >= 0)
    flows = np.flatnonzero(both)
    rows_syn, rows_answer = s.flows.row[syn[flows]], s.flows.row[answer[flows]]
    scaled: Bools = trace.has(Layer.WINDOW_SCALE)
    possible: Bools = scaled | trace.has(Layer.CUT)
    used = scaled[rows_syn] & scaled[rows_answer]
    unused = np.where(possible[rows_syn] & possible[rows_answer], UNKNOWN, 0)
    shift = trace.ints("shift").astype(np.int64)
    for side, rows in ((0, rows_syn), (1, rows_answer)):
        shifts[2 * flows + side] = np.where(used, np.minimum(shift[rows], 14), unused)
    return shifts


def _offered(trace: PacketTrace, s: Segments, syn: Ints, answer: Ints) -> NDArray[np.float64]:
    offered = np.full(2 * syn.size, np.nan)
    mss = trace.ints("mss_bytes")
    for side, packet in ((0, syn), (1, answer)):
        flows = np.flatnonzero(packet >= 0)
        offer = mss[s.flows.row[packet[flows]]].astype(np.float64)
        offered[2 * flows + side] = np.where(offer > 0, offer, np.nan)
    return offered


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """One row for each sample: the segment, the packet that answered it, and the time between.

    ``series`` is that of the segment. The time covers the path from the capture to the receiver and
    back: the whole round trip only where the capture was made at the sender.
    """

    segment: Ints
    answer: Ints
    series: Ints
    rtt_s: NDArray[np.float64]


def by_acknowledgement(segments: Segments) -> RoundTrips:
    """Match segments with the acknowledgement of their very end (Karn: none that was sent twice).

    The first packet of the other direction that acknowledges at least the end of a segment answers
    it. An acknowledgement of more than that end belongs to a later segment.
    """
    s = segments
    order = s.by_series
    sends = order[((s.payload > 0) | s.is_set(SYN))[order]]
    sends = sends[~_ambiguous(s, sends)]
    series = s.series[order]
    highest = groups.running_max(s.ack[order], series)
    index = np.searchsorted(
        groups.searchable(highest, series), groups.searchable(s.end[sends], s.series[sends] ^ 1)
    )
    clipped = np.minimum(index, max(order.size - 1, 0))
    answer = order[clipped]
    good = (index < order.size) & (s.series[answer] == s.series[sends] ^ 1) & (answer > sends)
    good &= s.ack[answer] == s.end[sends]
    good &= ~(s.time_s[answer] < s.time_s[sends])  # clocks that differ, or one that was set
    sends, answer = sends[good], answer[good]
    return RoundTrips(sends, answer, s.series[sends], s.time_s[answer] - s.time_s[sends])


def _ambiguous(s: Segments, sends: Ints) -> Bools:
    """Return which segments share a byte with another one of their direction."""
    order = np.argsort(groups.searchable(s.sequence[sends], s.series[sends]), kind="stable")
    chosen = sends[order]
    series = s.series[chosen]
    begin, end = s.sequence[chosen], s.end[chosen]
    begins = groups.starts_of(series)
    highest = groups.running_max(end, series)
    shared = np.zeros(chosen.size, np.bool_)
    shared[1:] = ~begins[1:] & (highest[:-1] > begin[1:])
    shared[:-1] |= ~begins[1:] & (end[:-1] > begin[1:])
    ambiguous = np.zeros(chosen.size, np.bool_)
    ambiguous[order] = shared
    return ambiguous


def by_timestamp(trace: PacketTrace, segments: Segments) -> RoundTrips:
    """Match the first packet with a time stamp and the first of the other direction to echo it.

    Only an echo that acknowledges new data counts (RFC 7323): others may repeat an old one.
    """
    s = segments
    has = trace.has(Layer.TIMESTAMPS)[s.flows.row]
    value = trace.ints("timestamp")[s.flows.row].astype(np.int64)
    echo = trace.ints("timestamp_echo")[s.flows.row].astype(np.int64)
    order = s.by_series
    rows = order[(has & ((s.payload > 0) | s.is_set(SYN)))[order]]
    keys, first = _first_of_each((s.series[rows] << 32) | value[rows], rows)
    advances = has & (echo != 0) & (s.same >= 0) & (s.ack > s.ack[s.same])
    echoes = order[advances[order]]
    echo_keys, echo_first = _first_of_each(((s.series[echoes] ^ 1) << 32) | echo[echoes], echoes)
    index = np.minimum(np.searchsorted(keys, echo_keys), max(keys.size - 1, 0))
    if not keys.size or not echo_keys.size:
        nothing = np.zeros(0, np.int64)
        return RoundTrips(nothing, nothing, nothing, np.zeros(0))
    good = (keys[index] == echo_keys) & (first[index] < echo_first)
    good &= ~(s.time_s[echo_first] < s.time_s[first[index]])
    sends, answer = first[index][good], echo_first[good]
    return RoundTrips(sends, answer, s.series[sends], s.time_s[answer] - s.time_s[sends])


def _first_of_each(keys: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return the distinct keys in order, and the first row of each; rows are in order by time."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = groups.starts_of(ordered)
    return ordered[begins], rows[order][begins]


_UDP = 17


@dataclass(frozen=True, slots=True)
class Echoes:
    """ICMP echoes: packets that are requests, the reply to each (-1: none), repeated replies.

    ``other`` are replies of other hosts than the one that was asked: of a group, or a network.
    """

    request: Ints
    reply: Ints
    duplicate: Ints
    other: Ints

    @property
    def pair_count(self) -> int:
        """Requests with a reply."""
        return int(np.count_nonzero(self.reply >= 0))


def find_echoes(trace: PacketTrace) -> Echoes:
    """Match echo requests and replies by addresses, identifier and sequence number.

    A reply belongs to the last request before it; a second reply to that one is a duplicate. A
    request to a group or a broadcast address is answered by the first of its hosts.
    """
    kind, protocol = trace.ints("icmp_type"), trace.ints("ip_protocol")
    icmp = trace.has(Layer.ICMP)
    is_4, is_6 = icmp & (protocol == 1), icmp & (protocol == 58)
    is_request = (is_4 & (kind == 8)) | (is_6 & (kind == 128))
    is_reply = (is_4 & (kind == 0)) | (is_6 & (kind == 129))
    rows = np.flatnonzero((is_request | is_reply) & ~mirrored(trace))
    asks = is_request[rows]
    source, to = trace.ints("source")[rows], trace.ints("destination")[rows]
    asker, asked = np.where(asks, source, to), np.where(asks, to, source)
    numbers = (trace.ints("echo_id")[rows].astype(np.int64) << 16) | trace.ints("echo_sequence")[
        rows
    ]
    echoes = _matched(rows, asks, asker, asked, numbers)
    taken = np.concatenate([echoes.reply[echoes.reply >= 0], echoes.duplicate])
    taken = np.append(taken, echoes.request[echoes.reply >= 0])
    rest = ~np.isin(rows, taken)
    if not ((rest & ~asks).any() and (rest & asks).any()):
        return echoes
    is_group = np.array([_is_group(address) for address in trace.addresses], np.bool_)
    rest &= ~asks | is_group[asked]
    others = _matched(rows[rest], asks[rest], asker[rest], asker[rest] * 0, numbers[rest])
    reply = echoes.reply.copy()
    reply[np.searchsorted(echoes.request, others.request)] = others.reply
    other = np.sort(np.concatenate([others.reply[others.reply >= 0], others.duplicate]))
    return Echoes(echoes.request, reply, echoes.duplicate, other)


def _is_group(address: str) -> bool:
    """Whether an address is that of several hosts: of a group, or a broadcast of IPv4."""
    if address.endswith(".255"):
        return True
    try:
        return ip_address(address.partition("%")[0]).is_multicast
    except ValueError:  # a name in a list
        return False


def _matched(rows: Ints, asks: Bools, asker: Ints, asked: Ints, numbers: Ints) -> Echoes:
    """Give each request the reply that follows it, of packets with equal numbers side by side."""
    order = np.lexsort((rows, numbers, asked, asker))
    rows, asks = rows[order], asks[order]
    begins = groups.starts_of(asker[order], asked[order], numbers[order])
    answered = np.zeros(rows.size, np.bool_)
    answered[1:] = ~begins[1:] & ~asks[1:] & asks[:-1]
    reply = np.full(rows.size, -1, np.int64)
    reply[:-1] = np.where(answered[1:], rows[1:], -1)
    back = np.argsort(rows[asks], kind="stable")
    last_request = np.maximum.accumulate(np.where(asks, np.arange(rows.size), -1))
    has_request = last_request >= groups.begins_at(begins)
    return Echoes(
        request=rows[asks][back],
        reply=reply[asks][back],
        duplicate=np.sort(rows[~asks & ~answered & has_request]),
        other=np.empty(0, np.int64),
    )


def echo_samples(trace: PacketTrace) -> RttSamples:
    """Return the ICMP echoes of a capture as round trips, at the clock of the capture.

    Parameters
    ----------
    trace : PacketTrace
        A capture.

    Returns
    -------
    RttSamples
        One row for each request, lost where no reply was captured.
    """
    echoes = find_echoes(trace)
    time_s = np.asarray(trace.time_s)
    lost = echoes.reply < 0
    rtt_s = np.where(lost, np.nan, time_s[echoes.reply] - time_s[echoes.request])
    return _samples(
        trace, echoes.request, rtt_s, "ICMP echo", lost=lost,
        sequence=trace.ints("echo_sequence")[echoes.request],
        ttl=np.where(lost, np.nan, trace.ints("ttl")[echoes.reply]),
    )  # fmt: skip


def _groups(trace: PacketTrace, asks: Ints, what: str, *, ports: bool) -> NDArray[Any]:
    """Return who asked whom, for each of these packets."""
    if not asks.size:
        return np.zeros(0, dtype=object)
    ends = [trace.ints(name)[asks].astype(np.int64) for name in ("source", "destination")]
    port = trace.ints("destination_port")[asks].astype(np.int64) * ports
    pairs, which = np.unique(np.stack([*ends, port]), axis=1, return_inverse=True)
    names = [
        f"{what}, {trace.addresses[source]} to {trace.addresses[destination]}"
        + (f" port {to_port}" if ports else "")
        for source, destination, to_port in pairs.T.tolist()
    ]
    return np.array(names, dtype=object)[which.reshape(-1)]


def find_udp_exchanges(trace: PacketTrace, *, strict: bool = False) -> tuple[Ints, Ints]:
    """Return the UDP requests of a trace and the datagram that answered each.

    In each flow a datagram of the end that began it, followed by one of the other end, is a
    request and its reply. Streams in which several are under way at once do not fit that;
    ``strict`` leaves out all flows in which an end sent twice in a row: nothing says there which
    request a reply answers.
    """
    flows = find_flows(trace, Layer.UDP, _UDP)
    first_side = flows.is_upper[flows.begin]
    from_client = flows.is_upper == first_side
    same = ~groups.starts_of(flows.flow)
    follows = np.zeros(flows.row.size, np.bool_)
    follows[1:] = same[1:] & from_client[:-1] & ~from_client[1:]
    if strict:
        again = np.zeros(flows.row.size, np.bool_)
        again[1:] = same[1:] & (from_client[1:] == from_client[:-1])
        follows &= np.bincount(flows.flow[again], minlength=flows.count)[flows.flow] == 0
    replies = np.flatnonzero(follows)
    return flows.row[replies - 1], flows.row[replies]


def find_udp_openings(trace: PacketTrace) -> Ints:
    """Return the datagrams that only open a stream: a request and its reply before it begins.

    iperf3 sends 4 bytes there and back, and then data in one direction: these two are no part of
    its rate.
    """
    flows = find_flows(trace, Layer.UDP, _UDP)
    if not flows.row.size:
        return flows.row
    from_client = flows.is_upper == flows.is_upper[flows.begin]
    first = np.unique(flows.begin)
    client_counts = np.bincount(flows.flow, weights=from_client, minlength=flows.count)
    counts = np.bincount(flows.flow, minlength=flows.count)
    one_way = (np.minimum(client_counts, counts - client_counts) == 1) & (counts > 3)
    opening = first[one_way[flows.flow[first]]]
    opening = opening[~from_client[opening + 1]]
    return np.concatenate([flows.row[opening], flows.row[opening + 1]])


def udp_samples(trace: PacketTrace, *, strict: bool = False) -> RttSamples:
    """Return UDP requests and the datagrams that answered them, as :func:`find_udp_exchanges`."""
    asks, answers = find_udp_exchanges(trace, strict=strict)
    time_s = np.asarray(trace.time_s)
    return _samples(trace, asks, time_s[answers] - time_s[asks], "UDP exchange")
