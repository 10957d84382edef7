"""The arithmetic of a stall: a delayed acknowledgement with Nagle's rule, or a timeout."""

from __future__ import annotations

import math

from netcalc.explain.evidence import Evidence, first_known
from netcalc.messages import Notice
from netcalc.models.hosts.small_writes import write_write_read_s
from netcalc.models.tcp import timers
from netcalc.models.tcp.timers import MIN_RTO_S
from netcalc.readers.captures.losses import TIMER_TOLERANCE, TIMERS_S

TIMEOUT_TOLERANCE = 0.1
MOST_DOUBLINGS = 3


def timer_of(wait_s: float) -> float | None:
    """Return the timer in use that a wait fits; None if none does. [s]"""
    return next((t for t in TIMERS_S if abs(wait_s / t - 1) <= TIMER_TOLERANCE), None)


def stall_notice(timer_s: float, *, rtt_s: float, trips: int = 2) -> Notice:
    """Return how long a request takes that waits for a delayed acknowledgement, and without.

    Parameters
    ----------
    timer_s : float
        The timer of the receiver. [s]
    rtt_s : float
        Round trip of the path. [s]
    trips : int
        Round trips of a request: 2 if its second part waits for the acknowledgement of the first.

    Returns
    -------
    Notice
        With its values in seconds.
    """
    held = trips * rtt_s + timer_s
    if trips == 2:
        held = float(write_write_read_s(rtt_s, delayed_ack_s=timer_s))
    free = float(write_write_read_s(rtt_s, nagle=False))
    values = {"rtt_s": rtt_s, "timer_s": timer_s, "trips": trips, "held_s": held, "free_s": free}
    return Notice("stall-arithmetic", values)


def stalls_of(one: Evidence, rtt_s: float, *, is_held: bool) -> list[Notice]:
    """Return the arithmetic of the stalls of a flow.

    Parameters
    ----------
    one : Evidence
        Its waits, and its longest pause.
    rtt_s : float
        Round trip without load. [s]
    is_held : bool
        Whether it waits for delayed acknowledgements.

    Returns
    -------
    list of Notice
        Of delayed acknowledgements with a known timer, and of a pause as long as a timeout.
    """
    found = []
    timer = timer_of(one.wait_s) if is_held else None
    if timer is not None:
        found.append(stall_notice(timer, rtt_s=rtt_s))
    if one.retransmit_count > 0 and first_known(one.gap_s, 0.0) > 0 and rtt_s > 0:
        rto = float(timers.rto_s(rtt_s, rttvar_s=0.0, min_rto_s=MIN_RTO_S, floor="variation"))
        factor = 2 ** max(round(math.log2(one.gap_s / rto)), 0)
        is_near = abs(one.gap_s / (factor * rto) - 1) <= TIMEOUT_TOLERANCE
        if is_near and factor < 2**MOST_DOUBLINGS:
            values = {
                "gap_s": one.gap_s, "rtt_s": rtt_s, "least_s": MIN_RTO_S, "rto_s": factor * rto,
                "factor": factor,
            }  # fmt: skip
            found.append(Notice("stall-of-timeout", values))
    return found
