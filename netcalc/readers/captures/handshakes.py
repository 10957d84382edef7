"""The opening of TCP flows: its round trips, and what both ends offered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures.flows import ACK, SYN, Segments
from netcalc.readers.captures.scans import Bools, Ints, count_by, first_of, last_of
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
    known = chosen[handshakes.rtt_s[chosen] >= 0]
    rows = segments.flows.row[handshakes.syn[known]]
    names = [trace.ints(name)[rows].tolist() for name in ("source", "destination")]
    ports = trace.ints("destination_port")[rows].tolist()
    return RttSamples(
        payload_bytes=np.zeros(known.size),
        rtt_s=np.round(handshakes.rtt_s[known], 9),
        sent_s=np.asarray(trace.time_s)[rows],
        group=[
            f"TCP handshake, {trace.addresses[one]} to {trace.addresses[other]} port {port}"
            for one, other, port in zip(*names, ports, strict=True)
        ],
        meta=Meta(tool=trace.meta.tool, source=trace.meta.source, protocol="tcp"),
    )


def _between(s: Segments, one: Ints, two: Ints) -> NDArray[np.float64]:
    """Return the time between two packets of each flow."""
    if not s.time_s.size:
        return np.full(one.size, np.nan)
    return np.where((one >= 0) & (two >= 0), s.time_s[two] - s.time_s[one], np.nan)


def _is_cut(trace: PacketTrace, s: Segments, packet: Ints) -> Bools:
    """Return of which flows the header of a packet was cut."""
    if not s.time_s.size:
        return np.zeros(packet.size, np.bool_)
    found: Bools = (packet >= 0) & trace.has(Layer.CUT)[s.flows.row[packet]]
    return found


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
        found = mss[s.flows.row[packet[flows]]].astype(np.float64)
        offered[2 * flows + side] = np.where(found > 0, found, np.nan)
    return offered
