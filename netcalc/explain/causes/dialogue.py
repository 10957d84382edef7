"""One direction of a TCP flow as its sender saw it: what it sent, and what it knew when it did.

The stamps of TCP (RFC 7323) serve as clocks: they show queues, and steps of the capture's clock.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.models.sizes.headers import TIMESTAMP_BYTES
from netcalc.readers.captures.flows import ACK, RST, SYN
from netcalc.readers.captures.groups import Bools, Ints
from netcalc.readers.captures.losses import find_coverage
from netcalc.readers.captures.order import STEP_S
from netcalc.readers.captures.tcp import TcpAnalysis, window_bytes
from netcalc.samples import Layer, PacketTrace

TICKS_S = (1e-3, 1e-2, 4e-3, 1e-6, 1e-4, 2e-3, 0.5)
"""Ticks of stamps in use: Linux and most others 1 ms, older ones 10 ms and 4 ms. [s]"""
TICK_TOLERANCE = 0.3
LEAST_STAMPS = 20
"""Fewer stamps say nothing of a queue. [1]"""


def tick_s(time_s: FloatArray, stamp: Ints) -> float:
    """Return the tick of a clock of stamps; nan if none of those in use fits. [s]"""
    if time_s.size < 3:
        return math.nan
    passed_s, passed = float(time_s[-1] - time_s[0]), int(stamp[-1] - stamp[0])
    if passed <= 0 or passed_s <= 0:
        return math.nan
    apart = [abs(math.log(passed_s / passed / tick)) for tick in TICKS_S]
    nearest = int(np.argmin(apart))
    return TICKS_S[nearest] if apart[nearest] <= TICK_TOLERANCE else math.nan


def lateness_s(
    time_s: FloatArray, stamp: Ints, has_stamp: Bools, asked_s: FloatArray
) -> FloatArray:
    """Return how much later than the fastest each packet came after its stamp; nan if unknown. [s]

    It is the queue between the sender of the stamps and the capture. While it grows stamps seem to
    tick slowly; beside ``asked_s``, when what they echo had passed, they seem to after a pause.
    """
    late_s = np.full(time_s.size, np.nan)
    is_asked = has_stamp & np.isfinite(asked_s)
    beside_asked = tick_s(asked_s[is_asked], stamp[is_asked])
    time_s, stamp = time_s[has_stamp], stamp[has_stamp]
    tick = float(np.fmin(tick_s(time_s, stamp), beside_asked))
    if time_s.size < LEAST_STAMPS or math.isnan(tick):
        return late_s
    offset_s = time_s - tick * (stamp - stamp[0])
    # No packet comes before it was sent: the least is that of an empty queue, however rare.
    late_s[has_stamp] = offset_s - offset_s.min()
    return late_s


def clock_steps(flow: _Packets) -> list[tuple[int, float]]:
    """Return where the clock of a capture stepped: the row from which on, and by how much. [s]

    The stamps of both directions show a step at the same place: a jump of one alone is a queue.
    """
    jumps = [_jumps(flow, side & flow.has_stamp) for side in (flow.is_own, ~flow.is_own)]
    steps = []
    for low, high, by_s in jumps[0]:
        for other_low, other_high, other_s in jumps[1]:
            same = abs(by_s - other_s) < 0.05 * abs(by_s) + 0.05
            if same and low < other_high and other_low < high:
                steps.append((max(low, other_low) + 1, by_s))
                break
    return steps


def _jumps(flow: _Packets, side: Bools) -> list[tuple[int, int, float]]:
    """Return where times leave the stamps for good: between which rows, and by how much."""
    rows = np.flatnonzero(side)
    time_s, stamp = flow.time_s[rows], flow.stamp[rows]
    if rows.size < 4:
        return []
    offset_s = time_s - _usual_tick_s(time_s, stamp) * (stamp - stamp[0])
    jumps = []
    for at in np.flatnonzero(np.abs(np.diff(offset_s)) > STEP_S).tolist():
        before, after = offset_s[max(at - 4, 0) : at + 1], offset_s[at + 1 : at + 6]
        by_s = float(np.median(after) - np.median(before))
        if abs(by_s) > STEP_S:
            jumps.append((int(rows[at]), int(rows[at + 1]), by_s))
    return jumps


def _usual_tick_s(time_s: FloatArray, stamp: Ints) -> float:
    """Return the tick of most of the time, which a step of the other clock does not change. [s]"""
    steps = np.diff(stamp)
    is_later = steps > 0
    ticks = np.diff(time_s)[is_later] / steps[is_later]
    order = np.argsort(ticks, kind="stable")
    passed = np.cumsum(steps[is_later][order])
    if not passed.size:
        return 1e-3
    middle = max(float(ticks[order[np.searchsorted(passed, passed[-1] / 2)]]), 1e-9)
    apart = [abs(math.log(middle / tick)) for tick in TICKS_S]
    nearest = int(np.argmin(apart))
    return TICKS_S[nearest] if apart[nearest] <= TICK_TOLERANCE else 1e-3


def unwrapped_ids(ids: NDArray[Any]) -> Ints:
    """Return 16-bit identifications of packets as distances from the first."""
    numbers: Ints = ids.astype(np.int64)
    steps: Ints = (np.diff(numbers) + np.int64(32768)) % np.int64(65536) - np.int64(32768)
    return np.concatenate([[0], np.cumsum(steps)])


def ranges(ack: Ints, left: Ints, right: Ints, acknowledged: Ints) -> tuple[Bools, Ints, Ints]:
    """Return which packets report an arrival, and the newest range of these.

    ``left``, ``right`` and ``acknowledged`` are the 32 bits of the packet, the range is in the
    numbers of ``ack``. One below what is acknowledged reports a copy (RFC 2883), not an arrival.
    """
    low, high = (ack + _signed(edge - acknowledged) for edge in (left, right))
    is_new = (low >= ack) & (high > low)
    return is_new, low[is_new], high[is_new]


def _signed(steps: Ints) -> Ints:
    wrapped: Ints = (steps + 2**31) % 2**32 - 2**31
    return wrapped


def sacked_bytes(acknowledged: Ints, rows: Ints, low: Ints, high: Ints, *, first: int) -> Ints:
    """Return what was reported to have arrived above each acknowledgement. [byte]

    Parameters
    ----------
    acknowledged : array_like
        The highest acknowledgement so far, for each packet of the receiver. [byte]
    rows : array_like
        Packets with a range.
    low, high : array_like
        The newest range of each of these: an arrival is in the newest one first. [byte]
    first : int
        Where the sequence begins. [byte]
    """
    if not rows.size:  # nothing to store: a long capture has millions of packets
        nothing: Ints = np.broadcast_to(np.int64(0), acknowledged.size)
        return nothing
    begins, ends = np.append(first, low), np.append(first, high)
    added = find_coverage(begins, ends, np.zeros(begins.size, np.int64)).new_bytes
    count: Ints = np.zeros(acknowledged.size, np.int64)
    count[rows] = added[1:]
    above: Ints = np.cumsum(count) - _below(low, high, acknowledged)
    return np.maximum(above, 0)


def _below(low: Ints, high: Ints, at: Ints) -> Ints:
    """Return how much of a union of ranges lies below each of some numbers. [byte]"""
    order = np.argsort(low, kind="stable")
    low, high = low[order], np.maximum.accumulate(high[order])
    low = np.maximum(low, np.append(low[0], high[:-1]))  # what the ranges before do not have
    size = np.maximum(high - low, 0)
    before = np.append(0, np.cumsum(size))
    row = np.searchsorted(low, at, side="right")
    last = np.maximum(row - 1, 0)
    within = np.where(row > 0, np.clip(at - low[last], 0, size[last]), 0)
    below: Ints = before[last] * (row > 0) + within
    return below


NAN = math.nan
Trips: TypeAlias = tuple[FloatArray, FloatArray]
"""When round trips ended, and how long they took. [s]"""
SENDER, RECEIVER, MIDDLE, UNKNOWN = "sender", "receiver", "middle", "unknown"
"""Where a capture was made: at the sender of the data, at their receiver, between, or not known."""
END_SHARE = 0.15
"""A capture is at an end if its part of the round trip is below this share. [ratio]"""
REORDERED_SHARE = 0.7
"""A hole that is filled sooner than this share of a round trip was not repeated. [ratio]"""
CLEAN_SHARE = 0.5
"""Round trips outside of repairs stand for all, if they are more than this share. [ratio]"""
ALONE_SHARE = 0.8
"""Nothing came behind a segment for this share of what its acknowledgement was late. [ratio]"""
LEAST_PROMPT = 8
"""So many acknowledgements that waited for no timer show the round trips. [1]"""
FEWEST_SEGMENTS = 2
"""Segments with payload below which a direction has no times between them. [1]"""
MOST_JOINED = 45
"""Packets that a network card joins at most: 64 KiB of full segments. [1]"""
LEAST_GAP_S, LEAST_GAPS = 1e-7, 20
"""Gaps between packets that show the step of a clock: how long, and how many. [s], [1]"""
COARSE_S, STEP_ERROR = (1e-3, 1e-2, 1 / 64, 0.1, 1.0), 0.01
"""Steps of coarse clocks: all gaps are multiples of one of them. [s], [ratio]"""
MOST_MISSING = 0.01
"""Of its payload a capture that is taken for whole misses at most this share. [ratio]"""
MOST_SEGMENT_BYTES, USUAL_SEGMENT_BYTES = 9000, 1448
"""A longer segment of a flow without a handshake is several of the usual length. [byte]"""


@dataclass(slots=True)
class Dialogue:
    """One direction of a flow; a row of ``sent_s`` for each segment with data, in their order.

    Times are those of the capture. ``sent_s`` is when a segment left, seen from the capture: there
    its sender knows just what the capture has seen of the other direction. ``came_s`` is when a
    packet of the other direction passed. ``edge`` is the highest sequence number that the receiver
    allowed so far, ``acknowledged`` the highest that it acknowledged, and ``sacked`` the bytes
    above it that it reported to have; packet ``sack_rows[i]`` reported those from ``sack_low[i]``
    to ``sack_high[i]`` anew, and ``copies`` packets a copy of what it had (D-SACK, RFC 2883).
    """

    series: int
    place: str
    handshake_rtt_s: float
    base_rtt_s: float
    own_s: float
    begin_s: float
    end_s: float
    opened_s: float
    syn_wait_s: float
    clock_steps: list[tuple[int, float]]
    mss_bytes: int
    # Segments with data.
    seen_s: FloatArray
    sent_s: FloatArray
    sequence: Ints
    end: Ints
    payload: Ints
    new_bytes: Ints
    top_before: Ints
    is_repeated: Bools
    is_reordered: Bools
    is_copied: Bools
    ids: Ints | None
    late_s: FloatArray
    # Packets of the other direction.
    came_s: FloatArray
    acknowledged: Ints
    edge: FloatArray
    window: FloatArray
    is_closed: Bools
    their_payload: Ints
    ack_late_s: FloatArray
    has_sack: Bools
    copies: int
    sack_rows: Ints
    sack_low: Ints
    sack_high: Ints
    sacked: Ints
    # Round trips: when they ended, and how long they took.
    trip_end_s: FloatArray
    trip_s: FloatArray
    missing_bytes: int
    lost_before: int
    scale_is_inferred: bool = False
    offered_mss_bytes: float = NAN
    after_ack_ratio: float = 0.0

    @property
    def top(self) -> Ints:
        """Highest end of a segment so far, this one included."""
        top: Ints = np.maximum(self.top_before, self.end)
        return top

    @property
    def sees_queue(self) -> bool:
        """Whether the capture shows how long packets wait on the way there."""
        return self.place == SENDER or bool(np.isfinite(self.late_s).any())

    @property
    def is_one_sided(self) -> bool:
        """Whether the capture has nothing of the other direction."""
        return self.came_s.size == 0

    @property
    def span_s(self) -> float:
        """Time from the first segment with data to the last. [s]"""
        return float(self.seen_s[-1] - self.seen_s[0])

    @property
    def rate_bps(self) -> float:
        """New payload over the span, with what the capture missed of it. [bit/s]"""
        return 8.0 * float(self.new_bytes.sum() + self.missing_bytes) / max(self.span_s, 1e-9)

    @property
    def is_gappy(self) -> bool:
        """Whether the capture missed more of the payload than shows what was between packets."""
        whole = int(self.new_bytes.sum()) + self.missing_bytes
        return self.missing_bytes > MOST_MISSING * whole

    @property
    def is_coarse(self) -> bool:
        """Whether the clock of the capture has steps too wide for what happens between packets."""
        gaps_s = np.diff(np.sort(np.concatenate([self.seen_s, self.came_s])))
        gaps_s = gaps_s[gaps_s > LEAST_GAP_S]
        if gaps_s.size < LEAST_GAPS:
            return False
        steps = [gaps_s / step_s for step_s in COARSE_S if 0.5 < gaps_s.min() / step_s < 1.5]
        return any(np.abs(each - np.rint(each)).max() < STEP_ERROR for each in steps)

    @property
    def loss_ratio(self) -> float:
        """Segments lost on the path, as far as the place of the capture shows them. [ratio]"""
        count = int(self.packet_count.sum())
        if self.place != SENDER and self.ids is not None:
            return self.lost_before / (count + self.lost_before)
        again = (
            self.is_repeated if self.place == SENDER else self.is_repeated & (self.new_bytes > 0)
        )
        lost = int(self.packet_count[again].sum())
        if self.place == SENDER:
            lost = max(lost - self.copies, 0)  # what came twice was not lost
        return lost / count

    @property
    def packet_count(self) -> Ints:
        """Packets of each segment on the line: several where the network card joins them."""
        count: Ints = np.maximum(-(-self.payload // self.mss_bytes), 1)
        return count


@dataclass(frozen=True, slots=True)
class _Packets:
    """Packets of a flow: their rows in the analysis and the trace, times, and stamps of TCP."""

    at: Ints
    rows: Ints
    time_s: FloatArray
    is_own: Bools
    stamp: Ints
    echo: Ints
    has_stamp: Bools

    def take(self, chosen: Ints) -> _Packets:
        """Return some of them."""
        return _Packets(*(getattr(self, column.name)[chosen] for column in fields(self)))

    def in_order(self, chosen: Bools) -> _Packets:
        """Return some of them in the order of their times."""
        numbers = np.flatnonzero(chosen)
        return self.take(numbers[np.argsort(self.time_s[numbers], kind="stable")])

    def on_one_clock(self) -> tuple[_Packets, list[tuple[int, float]]]:
        """Return them with times that have no steps of the capture's clock, and these steps."""
        steps = clock_steps(self)
        if not steps:
            return self, steps
        time_s = self.time_s.copy()
        for row, by_s in steps:
            time_s[row:] -= by_s
        return replace(self, time_s=np.maximum.accumulate(time_s)), steps


@dataclass(frozen=True, slots=True)
class _RoundTrips:
    """Where a capture was made, the round trips that it shows, and the sender's part of them."""

    place: str
    handshake_s: float
    base_s: float
    own_s: float
    end_s: FloatArray
    trip_s: FloatArray


def dialogue_of(trace: PacketTrace, analysis: TcpAnalysis, series: int) -> Dialogue | None:
    """Return what a direction of a flow shows; None where it has no two segments with data."""
    s, handshakes, number = analysis.segments, analysis.handshakes, series // 2
    packets = np.flatnonzero(s.flows.flow == number)
    if np.isnan(s.time_s[packets]).any():
        return None
    rows = s.flows.row[packets]
    flow, steps = _Packets(
        packets, rows, s.time_s[packets], s.series[packets] == series,
        trace.ints("timestamp")[rows].astype(np.int64),
        trace.ints("timestamp_echo")[rows].astype(np.int64), trace.has(Layer.TIMESTAMPS)[rows],
    ).on_one_clock()  # fmt: skip
    data = flow.in_order(flow.is_own & (s.payload[packets] > 0))
    data = data.take(
        np.flatnonzero(~_probes(s.sequence[data.at], s.end[data.at], s.payload[data.at]))
    )
    theirs = flow.in_order(~flow.is_own)
    if data.at.size < FEWEST_SEGMENTS:
        return None
    sequence, end, payload = s.sequence[data.at], s.end[data.at], s.payload[data.at]
    has_sack = trace.ints("sack_count")[theirs.rows] > 0
    answered = _answers(end, data.time_s, sequence, s.ack[theirs.at], theirs.time_s, has_sack)
    trips = _round_trips(analysis, series, answered, _echoes(theirs, data), has_steps=bool(steps))
    place, base_s = trips.place, trips.base_s
    step_times_s = [float(flow.time_s[row]) for row, _ in steps]
    late_s = _late_s(data, theirs, step_times_s)
    sent_s = data.time_s - trips.own_s
    if place != SENDER and np.isfinite(late_s).all() and np.percentile(late_s, 75) > 0.005:
        sent_s = np.maximum.accumulate(sent_s - late_s)

    coverage = find_coverage(sequence, end, np.zeros(sequence.size, np.int64))
    top = np.maximum.accumulate(end)
    top_before = np.concatenate([sequence[:1], top[:-1]])
    offered_mss = float(handshakes.mss_bytes[series ^ 1])
    mss = _mss_bytes(payload, offered_mss, bool(data.has_stamp.all()))
    ids = _ids(trace, flow, data, flow.is_own & ~s.is_set(SYN | RST)[packets])
    is_copied = _copies(sequence, trace.ints("ip_id")[data.rows].astype(np.int64))
    is_reordered = _reordered(data.time_s, coverage.opener, coverage.new_bytes, ids, base_s, place)
    is_repeated = (sequence < top_before) & ~is_reordered & ~is_copied

    their_ack = np.where(s.is_set(ACK)[theirs.at], s.ack[theirs.at], 0)
    acknowledged = np.maximum.accumulate(their_ack) if theirs.at.size else np.zeros(0, np.int64)
    sack_rows = np.flatnonzero(has_sack)
    left, right, raw_ack = (
        trace.ints(name)[theirs.rows[sack_rows]].astype(np.int64)
        for name in ("sack_left", "sack_right", "acknowledged")
    )
    is_new, low, high = ranges(their_ack[sack_rows], left, right, raw_ack)
    sack_rows = sack_rows[is_new]
    window, inferred = _windows(analysis, theirs, acknowledged, sent_s, top, place)
    syn_wait_s, opened_s = _opening(analysis, number, flow)
    return Dialogue(
        series=series, place=place, handshake_rtt_s=trips.handshake_s, base_rtt_s=base_s,
        own_s=trips.own_s, begin_s=float(flow.time_s.min()), end_s=float(flow.time_s.max()),
        opened_s=opened_s, syn_wait_s=syn_wait_s, clock_steps=steps, mss_bytes=mss,
        seen_s=data.time_s, sent_s=sent_s, sequence=sequence, end=end, payload=payload,
        new_bytes=coverage.new_bytes, top_before=top_before, is_repeated=is_repeated,
        is_reordered=is_reordered, is_copied=is_copied, ids=ids, late_s=late_s,
        came_s=theirs.time_s, acknowledged=acknowledged, edge=_edge(their_ack, window),
        window=window, is_closed=analysis.losses.zero_window[theirs.at], has_sack=has_sack,
        copies=int(np.count_nonzero(~is_new)),
        sack_rows=sack_rows, sack_low=low, sack_high=high,
        sacked=sacked_bytes(acknowledged, sack_rows, low, high, first=int(sequence[0])),
        their_payload=s.payload[theirs.at], ack_late_s=_late_s(theirs, data, step_times_s),
        trip_end_s=trips.end_s, trip_s=trips.trip_s,
        missing_bytes=int(analysis.missed_bytes[series]),
        lost_before=_lost_before(ids, payload, mss), scale_is_inferred=inferred,
        offered_mss_bytes=offered_mss,
        after_ack_ratio=float(np.mean(analysis.losses.after_ack[data.at])),
    )  # fmt: skip


def _round_trips(
    analysis: TcpAnalysis, series: int, answered: Trips, echoed: Trips, *, has_steps: bool
) -> _RoundTrips:
    """Return where a direction was captured and its round trips, by acknowledgements and stamps."""
    handshakes, flow = analysis.handshakes, series // 2
    rtt_s = float(handshakes.rtt_s[flow])
    parts = (float(handshakes.to_client_s[flow]), float(handshakes.to_server_s[flow]))
    own_s, peer_s = parts if series % 2 == 0 else parts[::-1]
    if has_steps and not 0 < rtt_s < 3:
        rtt_s = NAN
    place, own_s, base_s = _place(rtt_s, own_s, peer_s, answered[1], echoed[1])
    end_s, trip_s = trips = answered if place == SENDER or not echoed[1].size else echoed
    far_s = 0.0 if place == SENDER else base_s - own_s if trips is echoed else own_s
    trip_s = trip_s + (far_s if far_s > 0 else 0.0)
    if trip_s.size > 3 and not has_steps:
        base_s = min(base_s, float(trip_s.min())) if base_s > 0 else float(trip_s.min())
    shift_s = own_s if place != SENDER and own_s > 0 else 0.0
    return _RoundTrips(place, rtt_s, base_s, shift_s, end_s, trip_s)


def _late_s(own: _Packets, peer: _Packets, step_times_s: list[float]) -> FloatArray:
    """Return how late each packet of a side is, by its stamps. [s]"""
    late_s = lateness_s(own.time_s, own.stamp, own.has_stamp, _asked_s(peer, own))
    for part in np.split(np.arange(late_s.size), np.searchsorted(own.time_s, step_times_s)):
        if np.isfinite(late_s[part]).any():  # what is left of a step is no queue
            late_s[part] -= np.nanmin(late_s[part])
    return late_s


def _windows(
    analysis: TcpAnalysis, theirs: _Packets, acknowledged: Ints, sent_s: FloatArray, top: Ints,
    place: str,
) -> tuple[FloatArray, bool]:  # fmt: skip
    """Return the window in each packet, and whether its scale is inferred: seen at the sender."""
    s, window = analysis.segments, window_bytes(analysis)[theirs.at]
    is_open = ~s.is_set(SYN)[theirs.at]
    if not (is_open.any() and np.isnan(window[is_open]).all()):
        return window, False
    if place != SENDER:
        return np.full(window.size, NAN), False
    raw = s.window[theirs.at]
    window = _scaled(raw, acknowledged, theirs.time_s, sent_s, top)
    window[~is_open] = raw[~is_open]  # the window of a SYN is never scaled
    return window, bool(np.isfinite(window[is_open]).any())


def _opening(analysis: TcpAnalysis, number: int, flow: _Packets) -> tuple[float, float]:
    """Return how long a SYN was repeated, and when the handshake was complete. [s]"""
    s, handshakes, wait_s, opened_s = analysis.segments, analysis.handshakes, 0.0, NAN
    syn_s = flow.time_s[s.is_set(SYN)[flow.at] & (s.series[flow.at] == 2 * number)]
    if handshakes.syn_count[number] > 1 and syn_s.size:
        wait_s = float(np.ptp(syn_s))
    if handshakes.ack[number] >= 0:
        opened_s = float(flow.time_s[np.searchsorted(flow.at, handshakes.ack[number])])
    return wait_s, opened_s


def _probes(sequence: Ints, end: Ints, payload: Ints) -> Bools:
    """Return keep-alives and probes of a closed window: the last byte again, or one byte."""
    top_before = np.concatenate([sequence[:1], np.maximum.accumulate(end)[:-1]])
    probes: Bools = (payload <= 1) & (sequence == top_before - 1) & (top_before > sequence[:1])
    return probes


def _mss_bytes(payload: Ints, offered: float, has_stamps: bool) -> int:
    """Return the payload of a full packet: no more than its receiver takes. [byte]"""
    largest = int(payload.max()) if payload.size <= 20 else int(np.percentile(payload, 99))
    if offered > 0 and largest > offered:  # the network card cuts or joins packets
        return int(offered - (TIMESTAMP_BYTES if has_stamps else 0))
    if math.isnan(offered) and largest > MOST_SEGMENT_BYTES:
        return USUAL_SEGMENT_BYTES
    return largest


def _answers(
    end: Ints, seen_s: FloatArray, sequence: Ints, ack: Ints, came_s: FloatArray, has_sack: Bools
) -> tuple[FloatArray, FloatArray]:
    """Return when segments that were sent once were acknowledged, and how long it took. [s]"""
    if not ack.size:
        return np.zeros(0), np.zeros(0)
    top_before = np.concatenate([sequence[:1], np.maximum.accumulate(end)[:-1]])
    highest = np.maximum.accumulate(ack)
    is_new = sequence >= top_before
    again = np.unique(sequence[~is_new])
    rows = np.flatnonzero(is_new & ~np.isin(sequence, again))
    answer = np.searchsorted(highest, end[rows])
    good = answer < ack.size
    rows, answer = rows[good], answer[good]
    # Only an acknowledgement of this very end: one of more was sent for a later segment.
    exact = (highest[answer] == end[rows]) & (came_s[answer] >= seen_s[rows])
    # It may have come long before a hole was filled: left out, unless holes are open all the time.
    clean = exact & ~((answer > 0) & has_sack[answer - 1])
    exact = clean if clean.sum() > CLEAN_SHARE * exact.sum() else exact
    # A segment that is acknowledged alone, as none came soon behind it, may have waited for a timer
    # of delayed acknowledgements: that is no queue.
    before = np.where(answer > 0, highest[np.maximum(answer, 1) - 1], sequence[0])
    trip_s = came_s[answer] - seen_s[rows]
    next_s = np.append(seen_s, np.inf)[rows + 1] - seen_s[rows]
    more_s = trip_s - (trip_s[exact].min() if exact.any() else 0.0)
    prompt = exact & ~((before >= sequence[rows]) & (next_s > ALONE_SHARE * more_s) & (more_s > 0))
    exact = prompt if prompt.sum() >= LEAST_PROMPT else exact
    rows, answer = rows[exact], answer[exact]
    return came_s[answer], came_s[answer] - seen_s[rows]


def _echoes(theirs: _Packets, data: _Packets) -> Trips:
    """Return when data first echoed each stamp of the receiver, and how long that took. [s]"""
    echoes, first = np.unique(data.echo[data.has_stamp], return_index=True)
    begin_s, end_s = _first_passed_s(theirs, echoes), data.time_s[data.has_stamp][first]
    order = np.argsort(end_s, kind="stable")
    begin_s, end_s = begin_s[order], end_s[order]
    good = end_s >= begin_s
    return end_s[good], (end_s - begin_s)[good]


def _asked_s(peer: _Packets, own: _Packets) -> FloatArray:
    """Return of each echo when its stamp first passed; nan where it did not. [s]"""
    return np.where(own.has_stamp, _first_passed_s(peer, own.echo), NAN)


def _first_passed_s(side: _Packets, stamp: Ints) -> FloatArray:
    """Return when each stamp passed first; nan where a side has no such stamp. [s]"""
    stamps, first = np.unique(side.stamp[side.has_stamp], return_index=True)
    if not stamps.size:
        return np.full(stamp.size, NAN)
    place = np.minimum(np.searchsorted(stamps, stamp), stamps.size - 1)
    return np.where(stamps[place] == stamp, side.time_s[side.has_stamp][first[place]], NAN)


def _place(
    rtt_s: float, own_s: float, peer_s: float, answered_s: FloatArray, echoed_s: FloatArray
) -> tuple[str, float, float]:
    """Return where the capture was made, the sender's part of the round trip, and the whole."""
    if not rtt_s > 0:  # without a handshake: the fastest answers of both sides
        peer_s = float(np.percentile(answered_s, 5)) if answered_s.size > 3 else NAN
        own_s = float(np.percentile(echoed_s, 5)) if echoed_s.size > 3 else NAN
        if math.isnan(own_s) and peer_s > 0.002:
            own_s = 0.0
    own_s, peer_s = max(own_s, 0.0), max(peer_s, 0.0)
    base_s = own_s + peer_s
    if math.isnan(base_s) or base_s <= 0:
        return UNKNOWN, NAN, NAN
    least_s = max(END_SHARE * base_s, 1e-4)
    place = SENDER if own_s <= least_s else RECEIVER if peer_s <= least_s else MIDDLE
    if place == SENDER and answered_s.size > 8 and np.median(answered_s) < 0.3 * base_s:
        return RECEIVER, base_s, base_s  # data cannot be answered before they arrive
    return place, own_s, base_s


def _ids(trace: PacketTrace, flow: _Packets, data: _Packets, is_own: Bools) -> Ints | None:
    """Return the identifications of packets with data, unwrapped; None where they do not count.

    The sender's packets without data are counted, too, and taken out.
    """
    if not (trace.ints("ip_version")[data.rows] == 4).all():
        return None
    has_data = np.isin(flow.at, data.at)
    own = np.flatnonzero(is_own | has_data)
    numbers = unwrapped_ids(trace.ints("ip_id")[flow.rows[own]])
    others = np.unique(numbers[~has_data[own]])
    counted: Ints = numbers - np.searchsorted(others, numbers)
    ids = counted[np.searchsorted(flow.at[own], data.at)]
    sent: Ints = ids - ids[0]
    steps = np.diff(sent)
    rising = np.mean((steps >= 1) & (steps <= MOST_JOINED))
    return sent if steps.size > 2 and rising > 0.7 else None


def _lost_before(ids: Ints | None, payload: Ints, mss: int) -> int:
    """Return the packets whose numbers are missing between the first and the last that came."""
    if ids is None:
        return 0
    _, first = np.unique(ids, return_index=True)
    joined = np.maximum(-(-payload[first] // mss), 1)
    last = int(np.argmax(ids[first]))
    return max(int(ids.max() - ids.min() + joined[last] - joined.sum()), 0)


def _copies(sequence: Ints, ids: Ints) -> Bools:
    """Return the packets that the path doubled: the same segment with the same number.

    A number that is 0 in all of them is none: lists do not have it, and some systems send no other.
    """
    copied = np.zeros(sequence.size, np.bool_)
    if ids.any() and np.unique(ids).size > 0.3 * ids.size:
        _, first = np.unique((sequence << 16) | ids, return_index=True)
        copied[:] = True
        copied[first] = False
    return copied


def _reordered(
    seen_s: FloatArray, opener: Ints, new_bytes: Ints, ids: Ints | None, base_s: float, place: str
) -> Bools:
    """Return the segments that others overtook: those that fill a hole sooner than a repetition."""
    if place == SENDER:  # nothing overtakes before it is sent
        return np.zeros(seen_s.size, np.bool_)
    fills = (opener >= 0) & (new_bytes > 0)
    if ids is not None:
        highest = np.concatenate([ids[:1] - 1, np.maximum.accumulate(ids)[:-1]])
        return fills & (ids < highest)
    age_s = seen_s - seen_s[np.maximum(opener, 0)]
    return fills & (age_s < (REORDERED_SHARE * base_s if base_s > 0 else 0.003))


def _scaled(
    raw: Ints, acknowledged: Ints, came_s: FloatArray, sent_s: FloatArray, top: Ints
) -> FloatArray:
    """Return windows by the least scale with which the sender never sent beyond them.

    Nan where none fits: without the handshake the scale is not known, but a sender that fills the
    window shows it.
    """
    last = np.searchsorted(came_s, sent_s) - 1
    rows = np.flatnonzero(last >= 0)
    ack, offered, reach = acknowledged[last[rows]], raw[last[rows]], top[rows]
    for shift in range(15):
        room = ack + (offered << shift) - reach
        if rows.size and np.mean(room >= 0) > 0.98:
            return (raw << shift).astype(np.float64)
    return np.full(raw.size, NAN)


def _edge(ack: Ints, window: FloatArray) -> FloatArray:
    """Return the highest sequence number allowed so far; inf where it is not known."""
    edges = np.where(np.isnan(window), -np.inf, ack + window)
    edge = np.maximum.accumulate(edges) if edges.size else edges
    return np.where(np.isfinite(edge), edge, np.inf)
