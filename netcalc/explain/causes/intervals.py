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

OPEN = ("loss", "flat", "other", "unseen")
"""Names of times whose cause depends on the whole transfer."""
CODES = (
    "handshake-loss", "handshake", "round-trips", "server-time", "sender-program", "timeout",
    "receiver-program", "receiver-window", "line", "reverse-path", "slow-start", *OPEN,
    "nagle-delayed-ack", "sender-buffer", "random-loss", "shallow-buffer", "policer", "outage",
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
