"""Retransmissions, reordering, duplicate acknowledgements and probes, as Wireshark defines them.

Wireshark's analysis is a state machine over the packets of a flow; each of its states is a running
value within the flow, so it is computed here for all packets of all flows at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures.flows import ACK, FIN, RST, SYN, Segments
from netcalc.readers.captures.handshakes import Handshakes
from netcalc.readers.captures.scans import Bools, Ints, running_max, starts_of

FAST_RETRANSMISSION_S = 0.02
"""A segment this soon after duplicate acknowledgements was sent because of them. [s]"""

REORDERED_S = 0.003
"""Without a handshake: a segment this soon behind the newest one was reordered, not resent. [s]"""


@dataclass(frozen=True, slots=True)
class Losses:
    """What each segment is; at most one of the first four is true of it."""

    fast: Bools
    spurious: Bools
    late: Bools
    """Retransmitted for another reason, mostly a timeout."""
    out_of_order: Bools
    duplicate_ack: Bools
    keep_alive: Bools
    zero_window: Bools
    next_sequence: Ints
    """Highest end of a segment of the same direction before this one."""

    @property
    def retransmitted(self) -> Bools:
        """Segments that were sent again, for whatever reason."""
        return self.fast | self.spurious | self.late


def find_losses(segments: Segments, handshakes: Handshakes) -> Losses:
    """Find out which segments were sent again, and which acknowledgements repeat themselves."""
    s = segments
    control = s.is_set(SYN | FIN | RST)
    has_same, has_other = s.same >= 0, s.other >= 0
    window_there = np.where(has_other, s.window[s.other], -1)
    is_probe = (s.payload == 1) & (window_there == 0) & has_same
    following, newest = _next_sequence(s, is_probe)
    is_probe &= s.sequence == following

    keep_alive = (s.payload <= 1) & (s.sequence == following - 1) & ~control & has_same & ~is_probe
    repeats = (s.payload == 0) & (s.window != 0) & has_same & ~control
    repeats &= (s.window == s.window[s.same]) & (s.ack == s.ack[s.same])
    repeats &= s.sequence == following
    duplicate = repeats & ~(has_other & keep_alive[s.other])
    repeated = _repeats_of_ack(s, duplicate, has_same)

    last_ack = np.where(has_other & s.is_set(ACK)[s.other], s.ack[s.other], -1)
    since_ack_s = s.time_s - s.time_s[s.other]
    may = ((s.payload > 0) | s.is_set(SYN | FIN)) & ~keep_alive & has_same
    behind = (s.sequence < following) & ~((s.payload > 1) & (s.sequence == following - 1))
    rest = may.copy()
    spurious = rest & (s.payload > 0) & (last_ack > 0) & (s.sequence + s.payload <= last_ack)
    rest &= ~spurious
    fast = rest & behind & has_other & (repeated[s.other] >= 2) & (last_ack == s.sequence)
    fast &= (since_ack_s >= 0) & (since_ack_s < FAST_RETRANSMISSION_S)
    rest &= ~fast
    reordered = np.zeros(rest.size, np.bool_)
    chosen = np.flatnonzero(rest & behind & (following != s.end))
    since_newest_s = s.time_s[chosen] - s.time_s[s.by_series[newest[chosen]]]
    soon = (since_newest_s >= 0) & (since_newest_s < _threshold_s(s, handshakes, chosen))
    reordered[chosen[soon]] = True
    late = rest & ~reordered & behind
    zero_window = (s.window == 0) & ~control
    return Losses(fast, spurious, late, reordered, duplicate, keep_alive, zero_window, following)


def _next_sequence(s: Segments, is_probe: Bools) -> tuple[Ints, Ints]:
    """Return the highest end before each segment in its direction, and which segment had it.

    That segment is given by its position in ``by_series``.
    """
    order = s.by_series
    series = s.series[order]
    begins = starts_of(series)
    reach = np.where(is_probe, s.sequence, s.end)[order]
    highest = running_max(reach, series)
    before = np.empty_like(highest)
    before[1:] = highest[:-1]
    before[begins] = reach[begins]
    advances = begins | (reach > before)
    rows = np.arange(series.size)
    newest = np.maximum.accumulate(np.where(advances, rows, 0))
    newest_before = np.concatenate([newest[:1], newest[:-1]])
    following, newest_of = np.empty_like(before), np.empty(series.size, np.int64)
    following[order] = before
    newest_of[order] = newest_before
    return following, newest_of


def _repeats_of_ack(s: Segments, duplicate: Bools, has_same: Bools) -> Ints:
    """Return how many duplicates of its acknowledgement each packet ends, itself included."""
    order = s.by_series
    ordered = duplicate[order]
    changes = (~has_same | (s.ack != s.ack[s.same]))[order]
    total = np.cumsum(ordered)
    rows = np.arange(order.size)
    reset = np.maximum.accumulate(np.where(changes, rows, 0))
    counted = np.empty(order.size, np.int64)
    counted[order] = total - total[reset]
    return counted


def _threshold_s(s: Segments, handshakes: Handshakes, rows: Ints) -> NDArray[np.float64]:
    """Return how late a reordered segment may be: the handshake's round trip where it is known."""
    flow = s.flows.flow[rows]
    rtt_s = handshakes.rtt_s[flow]
    is_known = ~np.isnan(rtt_s) & (rows > handshakes.ack[flow])
    return np.where(is_known, rtt_s, REORDERED_S)
