"""Streams of datagrams: what a run of a tool lost or was asked for, and what a capture shows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.explain.causes.cause import LOW, MEDIUM, UNKNOWN_CAUSE, Cause, Sign
from netcalc.explain.causes.dialogue import unwrapped_ids
from netcalc.explain.evidence import Pause, first_known, number_in, pace_of
from netcalc.rate_layers import UDP_PAYLOAD
from netcalc.samples import FlowSeries, Layer, PacketTrace

LEAST_DATAGRAMS = 20
"""Fewer datagrams show no cause. [1]"""
MOST_OF_A_JUMP, COUNTED_SHARE = 2000, 0.5
"""Packet numbers that count have no longer jump, and this share is seen once. [1], [ratio]"""
IN_ORDER_SHARE, QUICK_S = 0.6, 2e-3
"""They count datagrams if this share follows one another, or one takes less. [ratio], [s]"""
FEW_GAPS, ALIKE_GAPS = 5, 1.5
"""Of no more gaps nothing is said; a gap with losses in it that is longer than one without by less
than this ratio is as long. [1], [ratio]"""
MOST_GAPS, PASSED_SHARE = 0.9, 0.5
"""A full line makes so many of the gaps with missing numbers no longer than others; of the longer
ones so many took the time of what is missing, the rest were late besides. [ratio], [ratio]"""
SMALL_DATAGRAM_BYTES, UNEVEN_RATIO = 200, 1.6
"""Smaller datagrams meet a limit of packets first; gaps that differ from their median by more than
this part of it vary. [byte], [ratio]"""
LEAST_LOSS, LEAST_EPISODES = 0.003, 8
"""Fewer datagrams lost, or fewer times, are no cause. [ratio], [1]"""
LEAST_OFF = 0.05
"""Times of datagrams vary by this part of the time between them, or more. [ratio]"""
LEAST_OVERLOAD = 0.05
"""A line that drops less of the datagrams does not show beside what else skips numbers. [ratio]"""
PACED_LOW = 0.98
"""A sender of datagrams that keeps its rate is not below this share of it. [ratio]"""
PAUSE_SHARE = 0.25
"""A pause of less of the time is a note. [ratio]"""
LEAST_LOSS_OF_RUN = 0.01
"""A run that lost less lost it in its pauses, or to a sender that ended. [ratio]"""
LOST_IN_PAUSE = 1.2
"""What a run lost is of its pause up to this multiple of the pause's share. [ratio]"""
LOST_BY_LINE = 0.05
"""A run that lost more was sent faster than something forwards. [ratio]"""
DRAINED_LOW = 0.95
"""A run that is received slower than it was sent, less its losses, left a buffer. [ratio]"""
FELL_RATES, FELL_LOSSES, LEAST_INTERVALS = 1.3, 0.5, 4
"""The first interval passed more than the others by this factor, and lost less by this one; of
fewer intervals nothing is said. [ratio], [ratio], [1]"""


def _cause(signs: tuple[Sign, ...], code: str = UNKNOWN_CAUSE, variant: str = "") -> Cause:
    sure = LOW if code == UNKNOWN_CAUSE else MEDIUM
    return Cause(code=code, confidence=sure, signs=signs, layer=UDP_PAYLOAD, variant=variant)


def datagram_run_cause(
    flows: FlowSeries, fact: Mapping[str, Any], asked: float, *, in_fragments: bool
) -> Cause:
    """Return the cause of a run of datagrams: what was lost, or what was sent."""
    sent, received = number_in(fact, "sent_rate_bps"), number_in(fact, "received_rate_bps")
    loss = number_in(fact, "loss_ratio")
    sent = first_known(sent, received / (1 - loss) if loss < 1 else math.nan)
    received = first_known(received, sent * (1 - loss))
    signs: tuple[Sign, ...] = (
        Sign("rate_bps", first_known(received, sent), "the receiver"),
        Sign("sent_rate_bps", sent, "the sender"),
        Sign("asked_rate_bps", asked or math.nan, "-b"),
        Sign("loss_ratio", loss, "numbers of datagrams"),
    )
    pause = pace_of(flows, rows_of_fact(flows, fact) & (np.asarray(flows.side) == "receiver")).pause
    if pause is not None and pause.share_of_time >= PAUSE_SHARE and loss > LEAST_LOSS_OF_RUN:
        # What is missing is that of a time, not of a rate.
        is_all = loss <= LOST_IN_PAUSE * pause.share_of_time
        signs = (*signs, *signs_of_pause(pause))
        cause = _cause(signs, "outage" if is_all else UNKNOWN_CAUSE, "datagrams")
        whole_s = number_in(fact, "duration_s")
        return replace(cause, share_of_time=pause.share_of_time, duration_s=whole_s)
    if loss > LOST_BY_LINE:
        # One lost fragment loses a datagram, and a line never passes more than it does when full.
        is_clear = not in_fragments and not _fell(flows, fact)
        return _cause(signs, "line" if is_clear else UNKNOWN_CAUSE, "datagrams")
    if received < DRAINED_LOW * sent * (1 - loss):
        return _cause(signs, "line")  # a buffer drained afterwards
    if loss > LEAST_LOSS_OF_RUN / 2:
        return _cause(signs, "loss-udp", "run")
    if not math.isnan(loss) and asked > 0:
        is_late = sent < PACED_LOW * asked
        return _cause(signs, *(("host", "sender") if is_late else ("sender-program", "asked")))
    return _cause(signs)


def _fell(flows: FlowSeries, fact: Mapping[str, Any]) -> bool:
    """Whether more arrived in the first interval than later, when much was lost."""
    own = rows_of_fact(flows, fact) & (np.asarray(flows.side) == "receiver")
    rates, lost = np.asarray(flows.rate_bps)[own], np.asarray(flows.lost_count)[own]
    if rates.size < LEAST_INTERVALS or np.unique(np.asarray(flows.stream)[own]).size != 1:
        return False
    is_faster = rates[0] > FELL_RATES * np.median(rates[1:])
    return bool(is_faster and lost[0] < FELL_LOSSES * np.median(lost[1:]))


def rows_of_fact(flows: FlowSeries, fact: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Return the intervals of a row of facts that count."""
    own: NDArray[np.bool_] = flows.measured & (
        np.asarray(flows.group) == str(fact.get("group", ""))
    )
    return own


def signs_of_pause(pause: Pause) -> tuple[Sign, ...]:
    """Return the facts of intervals without a byte."""
    return (
        Sign("begin_s", pause.begin_s, "intervals without a byte"),
        Sign("pause_s", pause.duration_s, "intervals without a byte"),
        Sign("again_count", pause.again_count, "retransmits in them"),
    )


def datagram_cause(trace: PacketTrace) -> Cause:
    """Return what a stream of datagrams shows where it was captured."""
    rows = np.flatnonzero(trace.has(Layer.UDP))
    count = rows.size
    if count < LEAST_DATAGRAMS:
        return Cause()
    time_s = np.asarray(trace.time_s)[rows]
    ids = trace.ints("ip_id")[rows].astype(np.int64)
    unwrapped = unwrapped_ids(ids)
    steps, gaps_s = np.diff(unwrapped), np.diff(time_s)
    is_counted = np.abs(steps).max(initial=0) < MOST_OF_A_JUMP
    is_counted &= np.unique(ids).size > COUNTED_SHARE * count
    # Numbers count datagrams only if they come quickly: Linux adds a random step for a pause.
    span = max(int(np.ptp(unwrapped)), 1)
    is_counted &= bool(
        np.mean(steps == 1) > IN_ORDER_SHARE or float(np.ptp(time_s)) / span < QUICK_S
    )
    lost = int(np.ptp(unwrapped) + 1 - np.unique(unwrapped).size) if is_counted else 0
    ratio = lost / (lost + count)
    middle = float(np.median(gaps_s))
    size = float(np.median(trace.ints("payload_bytes")[rows]))
    rate_bps = 8 * size / middle if middle > 0 else math.nan
    signs = (
        Sign("loss_ratio", ratio, "missing packet numbers"),
        Sign("rate_bps", rate_bps, "datagrams in a row"),
    )
    spread = float(np.percentile(np.abs(gaps_s), 90) / max(middle, 1e-9))
    # A sender that was not scheduled drops a few in a row itself: that is no path that loses.
    is_lost = ratio > LEAST_LOSS and np.count_nonzero(steps > 1) >= LEAST_EPISODES
    if is_counted and is_lost:
        # A full line spaces what it passes alike, whatever was dropped between.
        single, several = gaps_s[steps == 1], gaps_s[steps > 1]
        no_longer = several < ALIKE_GAPS * (np.median(single) if single.size else math.inf)
        is_even = several.size > FEW_GAPS and np.mean(no_longer) > MOST_GAPS
        if is_even or single.size <= FEW_GAPS:
            if ratio < LEAST_OVERLOAD:  # the sender may have skipped numbers: nothing came later
                return _cause(signs)
            return _cause(signs, "packet-rate" if size < SMALL_DATAGRAM_BYTES else "line")
        # The time of those that are missing has passed, too. Linux skips numbers where the sender
        # waited for a tick of its clock or longer: then nothing is missing, and no time passed.
        off = np.abs(gaps_s / (np.maximum(steps, 1) * middle) - 1)
        usual = max(float(np.percentile(off[steps == 1], 90)), LEAST_OFF)
        has_passed = off[steps > 1] <= usual
        lost = int(np.sum(steps[steps > 1][has_passed] - 1))
        ratio = lost / (lost + count)
        is_lost = ratio > LEAST_LOSS and np.count_nonzero(has_passed) >= LEAST_EPISODES
        if not is_lost or np.mean(has_passed[~no_longer]) < PASSED_SHARE:
            return _cause(signs)
        signs = (replace(signs[0], value=ratio), signs[1])
        return _cause(signs, "loss-udp", "captured")
    return _cause(signs, "delay-variation" if spread > UNEVEN_RATIO else UNKNOWN_CAUSE)
