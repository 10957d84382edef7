"""The time of a transfer, cut into intervals with one cause each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netcalc.checks import FloatArray
from netcalc.explain.causes import gaps as kinds
from netcalc.explain.causes import rounds as paces
from netcalc.explain.causes.dialogue import SENDER, Dialogue
from netcalc.explain.causes.gaps import LEAST_TIMEOUT_S, Gaps
from netcalc.explain.causes.rounds import Rounds
from netcalc.readers.captures.scans import Bools, Ints

TOUCHING_S = 1e-4
"""Intervals of one cause that are not farther apart are one. [s]"""
OPEN = ("loss", "flat", "other", "unseen")
"""Names of times whose cause depends on the whole transfer."""
CODES = (
    "handshake-loss", "handshake", "round-trips", "server-time", "sender-program", "timeout",
    "receiver-program", "receiver-window", "line", "reverse-path", "slow-start", *OPEN,
    "nagle-delayed-ack", "sender-buffer", "random-loss", "shallow-buffer", "policer", "outage",
    "shared-line", "small-segments", "delay-variation", "reordering", "duplicates", "path-mtu",
    "unknown",
)  # fmt: skip
_NUMBER = {code: number for number, code in enumerate(CODES)}
_OF_PACE = {
    paces.QUEUED: "line", paces.QUEUED_BACK: "reverse-path", paces.AFTER_LOSS: "loss",
    paces.GROWING: "slow-start", paces.FLAT: "flat", paces.OTHER: "other",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Intervals:
    """Rows in the order of time; ``code`` is an index of ``CODES``."""

    begin_s: FloatArray
    end_s: FloatArray
    code: Ints

    def shares(self) -> dict[str, float]:
        """Return the shares of the time by cause, the largest first."""
        time_s = np.bincount(self.code, self.end_s - self.begin_s, len(CODES))
        total_s = float(time_s.sum())
        order = np.argsort(-time_s, kind="stable")
        return {CODES[n]: float(time_s[n] / total_s) for n in order.tolist() if time_s[n] > 0}

    @property
    def total_s(self) -> float:
        """Time of all intervals. [s]"""
        return float((self.end_s - self.begin_s).sum())

    def joined(self, *, apart_s: float = TOUCHING_S) -> Intervals:
        """Return the intervals with neighbours of one cause that are ``apart_s`` at most as one."""
        changes = np.ones(self.code.size, np.bool_)
        changes[1:] = self.code[1:] != self.code[:-1]
        changes[1:] |= self.begin_s[1:] > self.end_s[:-1] + apart_s
        first = np.flatnonzero(changes)
        last = np.append(first[1:], self.code.size) - 1
        return Intervals(self.begin_s[first], self.end_s[last], self.code[first])

    def of(self, code: str) -> Intervals:
        """Return the intervals of one cause."""
        own = self.code == _NUMBER[code]
        return Intervals(self.begin_s[own], self.end_s[own], self.code[own])

    def spent_s(self, edges_s: FloatArray) -> FloatArray:
        """Return the time of the intervals between neighbouring edges. [s]

        >>> two = Intervals(np.array([0.0, 4.0]), np.array([1.0, 7.0]), np.array([0, 0]))
        >>> two.spent_s(np.array([0.0, 2.0, 5.0, 9.0])).tolist()
        [1.0, 1.0, 2.0]
        """
        at_s, sums = edges_s - edges_s[0], []
        for times_s in (self.begin_s, self.end_s):  # sums of the time since all that were before
            ordered = np.sort(times_s - edges_s[0])
            count = np.searchsorted(ordered, at_s)
            sums.append(count * at_s - np.concatenate([[0.0], np.cumsum(ordered)])[count])
        spent: FloatArray = np.diff(sums[0] - sums[1])
        return spent

    def longest(self, code: str, *, apart_s: float) -> tuple[float, float]:
        """Return when the longest time of a cause began and ended; its breaks are short. [s]"""
        own = self.of(code).joined(apart_s=apart_s)
        row = int(np.argmax(own.end_s - own.begin_s))
        return float(own.begin_s[row]), float(own.end_s[row])

    def renamed(self, names: dict[str, str]) -> Intervals:
        """Return the intervals with other names for some causes."""
        table = np.array([_NUMBER[names.get(code, code)] for code in CODES])
        return Intervals(self.begin_s, self.end_s, table[self.code])


def find_intervals(
    d: Dialogue, gaps: Gaps, rounds: Rounds, *, sender_is_client: bool, paced: Bools
) -> Intervals:
    """Return what each interval from the first packet to the last segment was waited for.

    ``paced`` are the gaps of a sender that waits for nothing but itself.
    """
    parts: list[tuple[FloatArray, FloatArray, Ints]] = []

    def add(begin: FloatArray, end: FloatArray, code: str | Ints) -> None:
        number = np.full(begin.size, _NUMBER[code]) if isinstance(code, str) else code
        chosen = end > begin
        parts.append((begin[chosen], end[chosen], number[chosen]))

    ours, theirs = "sender-program", "server-time"
    if not sender_is_client:
        ours, theirs = theirs, ours
    _add_opening(add, d, ours, theirs, sender_is_client=sender_is_client)
    begin, end = d.sent_s[1:] - gaps.waited_s, d.sent_s[1:]
    own = end - gaps.own_s
    turns = gaps.kind == kinds.TURN
    base_s = d.base_rtt_s if d.base_rtt_s > 0 else 0.0
    trip = np.minimum(begin + base_s, own)
    add(begin[turns], trip[turns], "round-trips")
    add(trip[turns], own[turns], theirs)
    add(own[turns], end[turns], ours)
    idle = gaps.kind == kinds.IDLE
    add(own[idle], end[idle], "sender-program")
    of_pace = np.array([_NUMBER[_OF_PACE[pace]] for pace in sorted(_OF_PACE)])[rounds.kind]
    add(begin[idle], own[idle], of_pace[idle])
    for kind, code in (
        (kinds.TIMER, "timeout"),
        (kinds.PROGRAM, "receiver-program"),
        (kinds.WINDOW, "receiver-window"),
        (kinds.UNSEEN, "unseen"),
        (kinds.HELD, "nagle-delayed-ack"),
    ):
        chosen = gaps.kind == kind
        add(begin[chosen], end[chosen], code)
    add(begin[paced], end[paced], "sender-program")
    rest = np.isin(gaps.kind, (kinds.CLOCKED, kinds.RECOVERY, kinds.PACED)) & ~paced
    add(begin[rest], end[rest], of_pace[rest])
    begins, ends, codes = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(begins, kind="stable")
    return Intervals(begins[order], ends[order], codes[order])


def _add_opening(
    add: Callable[[FloatArray, FloatArray, str], None],
    d: Dialogue,
    ours: str,
    theirs: str,
    *,
    sender_is_client: bool,
) -> None:
    """Add what was before the first segment: SYNs, the handshake, the first request."""
    at = np.array([d.begin_s])
    add(at, at + d.syn_wait_s, "handshake-loss")
    at = at + d.syn_wait_s
    if d.handshake_rtt_s > 0:
        add(at, at + d.handshake_rtt_s, "handshake")
    first_s = float(d.sent_s[0])
    if not (d.opened_s > 0 and first_s > d.opened_s):
        return
    opened, first = np.array([d.opened_s]), np.array([first_s])
    asked = bool(((d.their_payload > 0) & (d.came_s <= first_s + 1e-3)).any())
    if d.lost_before and d.ids is not None and first_s - d.opened_s > 0.2 and not asked:
        add(opened, first, "timeout")
    elif asked:
        trip = np.minimum(opened + (d.base_rtt_s if d.base_rtt_s > 0 else 0.0), first)
        add(opened, trip, "round-trips")
        add(trip, first, theirs if sender_is_client else ours)
    elif d.place == SENDER or d.ids is not None or first_s - d.opened_s < LEAST_TIMEOUT_S:
        add(opened, first, "sender-program")
    else:
        add(opened, first, "unseen")
