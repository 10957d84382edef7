"""ICMP echoes and UDP exchanges: requests matched with their replies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netcalc.readers.captures.flows import find_flows
from netcalc.readers.captures.scans import Bools, Ints
from netcalc.samples import Layer, Meta, PacketTrace, RttSamples

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
    rows = np.flatnonzero(is_request | is_reply)
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
    rtt_s = np.where(lost, np.nan, time_s[echoes.reply] - time_s[echoes.request])
    return RttSamples(
        payload_bytes=trace.ints("payload_bytes")[echoes.request],
        rtt_s=np.where(rtt_s < 0, np.nan, rtt_s),
        sequence=trace.ints("echo_sequence")[echoes.request],
        lost=lost,
        sent_s=time_s[echoes.request],
        ttl=np.where(lost, np.nan, trace.ints("ttl")[echoes.reply]),
        meta=Meta(tool=trace.meta.tool, source=trace.meta.source, protocol="icmp"),
    )


def udp_samples(trace: PacketTrace) -> RttSamples:
    """Return UDP requests and the datagrams that answered them.

    In each flow a datagram of the end that began it, followed by one of the other end, is a
    request and its reply. Streams in which several are under way at once do not fit that, and
    their datagrams without a direct answer are left out.
    """
    flows = find_flows(trace, Layer.UDP, _UDP)
    first_side = flows.is_upper[flows.begin]
    from_client = flows.is_upper == first_side
    follows = np.zeros(flows.row.size, np.bool_)
    follows[1:] = (flows.flow[1:] == flows.flow[:-1]) & from_client[:-1] & ~from_client[1:]
    replies = np.flatnonzero(follows)
    asks, answers = flows.row[replies - 1], flows.row[replies]
    time_s = np.asarray(trace.time_s)
    rtt_s = time_s[answers] - time_s[asks]
    return RttSamples(
        payload_bytes=trace.ints("payload_bytes")[asks],
        rtt_s=np.where(rtt_s < 0, np.nan, rtt_s),
        sent_s=time_s[asks],
        meta=Meta(tool=trace.meta.tool, source=trace.meta.source, protocol="udp"),
    )
