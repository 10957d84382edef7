"""ICMP echoes and UDP exchanges: requests matched with their replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures.flows import find_flows, mirrored
from netcalc.readers.captures.scans import Bools, Ints
from netcalc.samples import FloatColumn, Layer, Meta, PacketTrace, RttSamples

_UDP = 17


@dataclass(frozen=True, slots=True)
class Echoes:
    """ICMP echoes: packets that are requests, the reply to each (-1: none), repeated replies."""

    request: Ints
    reply: Ints
    duplicate: Ints

    @property
    def pair_count(self) -> int:
        """Requests with a reply."""
        return int(np.count_nonzero(self.reply >= 0))


def find_echoes(trace: PacketTrace) -> Echoes:
    """Match echo requests and replies by addresses, identifier and sequence number.

    A reply belongs to the last request before it; a second reply to that one is a duplicate.
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
    order = np.lexsort((rows, numbers, asked, asker))
    rows, asks = rows[order], asks[order]
    same = np.zeros(rows.size, np.bool_)
    same[1:] = (
        (asker[order][1:] == asker[order][:-1])
        & (asked[order][1:] == asked[order][:-1])
        & (numbers[order][1:] == numbers[order][:-1])
    )
    return _matched(rows, asks, same)


def _matched(rows: Ints, asks: Bools, same: Bools) -> Echoes:
    """Give each request the reply that follows it, of packets with equal numbers side by side."""
    answered = np.zeros(rows.size, np.bool_)
    answered[1:] = same[1:] & ~asks[1:] & asks[:-1]
    reply = np.full(rows.size, -1, np.int64)
    reply[:-1] = np.where(answered[1:], rows[1:], -1)
    back = np.argsort(rows[asks], kind="stable")
    begin = np.maximum.accumulate(np.where(~same, np.arange(rows.size), 0))
    has_request = np.zeros(rows.size, np.bool_)
    last_request = np.maximum.accumulate(np.where(asks, np.arange(rows.size), -1))
    has_request = last_request >= begin
    return Echoes(
        request=rows[asks][back],
        reply=reply[asks][back],
        duplicate=np.sort(rows[~asks & ~answered & has_request]),
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
    rtt_s = np.where(lost, np.nan, _between_s(time_s[echoes.request], time_s[echoes.reply]))
    return RttSamples(
        payload_bytes=trace.ints("payload_bytes")[echoes.request],
        rtt_s=np.where(rtt_s < 0, np.nan, rtt_s),
        sequence=trace.ints("echo_sequence")[echoes.request],
        lost=lost,
        sent_s=time_s[echoes.request],
        ttl=np.where(lost, np.nan, trace.ints("ttl")[echoes.reply]),
        group=_groups(trace, echoes.request, "ICMP echo"),
        meta=Meta(tool=trace.meta.tool, source=trace.meta.source, protocol="icmp"),
    )


def _between_s(begin_s: FloatColumn, end_s: FloatColumn) -> FloatColumn:
    """Return the times between packets, to a nanosecond: captures are no finer."""
    return np.round(end_s - begin_s, 9)


def _groups(trace: PacketTrace, asks: Ints, what: str, *, ports: bool = False) -> NDArray[Any]:
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
    same = np.zeros(flows.row.size, np.bool_)
    same[1:] = flows.flow[1:] == flows.flow[:-1]
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
    rtt_s = _between_s(time_s[asks], time_s[answers])
    return RttSamples(
        payload_bytes=trace.ints("payload_bytes")[asks],
        rtt_s=np.where(rtt_s < 0, np.nan, rtt_s),
        sent_s=time_s[asks],
        group=_groups(trace, asks, "UDP exchange", ports=True),
        meta=Meta(tool=trace.meta.tool, source=trace.meta.source, protocol="udp"),
    )
