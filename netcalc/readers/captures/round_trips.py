"""Round-trip times of TCP: of handshakes, from a segment to its acknowledgement, by time stamps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures.flows import ACK, SYN, Segments
from netcalc.readers.captures.scans import (
    Bools,
    Ints,
    count_by,
    first_of,
    last_of,
    running_max,
    searchable,
    starts_of,
)
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
    answer = first_of(is_answer, flow, count)
    rows = np.arange(flow.size)
    has_answer = answer[flow] >= 0
    behind = has_answer & (rows > answer[flow])
    syn = last_of(is_syn & ~behind, flow, count)
    has_both = behind & (syn[flow] >= 0)
    ends = has_both & s.to_server & s.is_set(ACK) & ~s.is_set(SYN)
    # Data in the SYN, if the server took it, is acknowledged by its answer (TCP Fast Open).
    ends &= (s.sequence == s.ack[answer[flow]]) & (s.ack == s.sequence[answer[flow]] + 1)
    ack = first_of(ends, flow, count)
    return Handshakes(
        syn=syn,
        answer=answer,
        ack=ack,
        syn_count=count_by(is_syn, flow, count),
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
    names = [trace.ints(name)[rows].tolist() for name in ("source", "destination")]
    ports = trace.ints("destination_port")[rows].tolist()
    return RttSamples(
        payload_bytes=np.zeros(timed.size),
        rtt_s=np.round(handshakes.rtt_s[timed], 9),
        sent_s=np.asarray(trace.time_s)[rows],
        group=[
            f"TCP handshake, {trace.addresses[source]} to {trace.addresses[to]} port {port}"
            for source, to, port in zip(*names, ports, strict=True)
        ],
        meta=Meta(tool=trace.meta.tool, source=trace.meta.source, protocol="tcp"),
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
    highest = running_max(s.ack[order], series)
    index = np.searchsorted(
        searchable(highest, series), searchable(s.end[sends], s.series[sends] ^ 1)
    )
    clipped = np.minimum(index, max(order.size - 1, 0))
    answer = order[clipped]
    good = (index < order.size) & (s.series[answer] == s.series[sends] ^ 1) & (answer > sends)
    good &= s.ack[answer] == s.end[sends]
    sends, answer = sends[good], answer[good]
    return RoundTrips(sends, answer, s.series[sends], s.time_s[answer] - s.time_s[sends])


def _ambiguous(s: Segments, sends: Ints) -> Bools:
    """Return which segments share a byte with another one of their direction."""
    order = np.argsort(searchable(s.sequence[sends], s.series[sends]), kind="stable")
    chosen = sends[order]
    series = s.series[chosen]
    begin, end = s.sequence[chosen], s.end[chosen]
    begins = starts_of(series)
    highest = running_max(end, series)
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
    sends, answer = first[index][good], echo_first[good]
    return RoundTrips(sends, answer, s.series[sends], s.time_s[answer] - s.time_s[sends])


def _first_of_each(keys: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return the distinct keys in order, and the first row of each; rows are in order by time."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = starts_of(ordered)
    return ordered[begins], rows[order][begins]
