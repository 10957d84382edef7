"""The parts of a measured time: the path, the line, a queue, a timer, the clock."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.explain.causes import series
from netcalc.explain.causes.cause import HIGH, LOW, MEDIUM, UNKNOWN_CAUSE, Cause, Sign
from netcalc.explain.evidence import DEFAULT_MTU_BYTES, Known, delay_variation
from netcalc.explain.finding import Finding, Limit
from netcalc.explain.rate_limits import stall_notice, timer_of
from netcalc.fit.lines import SIGNIFICANT_ERRORS, stepped_line
from netcalc.messages import Notice
from netcalc.models.sizes import fragmentation, framing
from netcalc.models.sizes.headers import tcp_ip_header_bytes
from netcalc.models.sizes.serial_lines import CELL_BYTES, CELL_PAYLOAD_BYTES
from netcalc.samples import PathSamples, RttSamples, Table, TransactionSamples

TRIPS = {"ping": 1, "udp": 1, "tfo": 1, "tcp": 2, "tls": 3}
"""Round trips of a request over each protocol, the handshakes included. [1]"""
COARSE_RATIO = 0.5
"""A clock whose step is this share of the time cannot measure it. [ratio]"""
GROWN_RATIO, GROWN_S = 3.0, 0.02
"""Above these, the slowest 5 % are explained rather than the median. [ratio], [s]"""
PART_TOLERANCE, FEW_TOLERANCE, SLOW_HOP_TOLERANCE = 0.2, 0.5, 1.0
FEWEST_ANSWERS = 5
"""Fewer have no least one that others confirm. [1]"""
STATED_RATIO = 0.05
"""A stated round trip that is above the least by more than this is not of this path. [ratio]"""
MOST_RTT_S = 60.0
"""Longer round trips are no measured times: no queue and no path holds a packet so long. [s]"""
ZERO_STEPS = 10
"""A time of 0 is none where the median is more than so many steps of the clock. [1]"""
MOST_NUMBERS = 5
"""So many late probes are told one by one. [1]"""
LEAST_ROUNDS = 3
"""Fewer responses have no order that shows a timer. [1]"""
SURE_ROUNDS = 5
"""So many show it surely. [1]"""
LEAST_STEPS, ALIKE_RATIO = 3, 0.1
"""So many steps from probe to probe that differ by no more are those of a queue. [1], [ratio]"""
SENDS_AT_ONCE = "traceroute"
"""Tool of Linux that has many probes on their way; the readers of others are named otherwise."""
HELD_SHARE = 0.5
"""A response that is this share of a timer later waited for it. [ratio]"""
_OF_SIZE = {"serialization", "serialization-of-sizes", "size-steps"}
_OF_PARTS = {"distance", "delay-variation", "line"}
"""Causes that parts tell as well."""
_OF_LATE = {"line", "delay-variation", "path-change"}
"""Causes that say themselves which answers were late."""
LOOPBACK_MTU_BYTES = 65536
"""MTU of the loopback of Linux, where nobody set another. [byte]"""
IDLE_PHASES = ("idle", "idle after")
"""Groups of a run with phases of load in which there is none."""
ECHO_HEADER_BYTES = 8
"""Header of an ICMP echo. [byte]"""


def explain_round_trips(samples: RttSamples, stated: Known) -> tuple[Finding, ...]:
    """Return what the median round trip of each group consists of.

    Parameters
    ----------
    samples : RttSamples
        Round trips of a ping. Where a group has probes of several sizes, its largest are explained:
        times of different sizes have no common median.
    stated : Known
        ``rtt_s`` is the round trip without load; by default the smallest of the
        group. ``line_bps`` separates serialization from distance; by default the
        line through the smallest round trip of each size does, if it rises.

    Returns
    -------
    tuple of Finding
        One for each group with a time.
    """
    groups = np.asarray(samples.group)
    own_rows = ((name, groups == name) for name in samples.groups)
    findings = []
    idle_s = _idle_s(samples)
    for name, own in own_rows:
        if not (samples.measured & own).any():
            continue
        if not idle_s.size or name in IDLE_PHASES:
            findings.append(_explain_group(samples, name, own, stated))
            continue
        is_of_idle = stated.rtt_s is None
        facts = replace(stated, rtt_s=float(np.median(idle_s))) if is_of_idle else stated
        latency = series.working_latency(idle_s, _in_order(samples, own))
        finding = _explain_group(samples, name, own, facts, is_of_idle=is_of_idle)
        findings.append(_with_load(finding, latency))
    return tuple(findings)


def _with_load(finding: Finding, latency: series.WorkingLatency | None) -> Finding:
    """Return the finding of a phase with a load: what it adds to the idle phase is its queue."""
    if latency is None:
        return finding
    cause = finding.cause
    if cause is not None and cause.code in ("line", UNKNOWN_CAUSE):
        queue_s = finding.measured - latency.idle_s[0]
        cause = replace(
            cause, code="line", variant="series", confidence=HIGH, duration_s=finding.measured,
            share_of_time=max(queue_s, 0.0) / finding.measured,
        )  # fmt: skip
    return replace(finding, cause=cause, notices=(*latency.said, *finding.notices))


def _idle_s(samples: RttSamples) -> FloatArray:
    """Return the round trips without a load of a run that has phases with one; else none. [s]"""
    if samples.meta.instrument.load_rates_bps is None:
        return np.zeros(0)
    return np.asarray(samples.rtt_s)[samples.measured & (samples.group == IDLE_PHASES[0])]


def _explain_group(
    samples: RttSamples,
    name: str,
    own: NDArray[np.bool_],
    stated: Known,
    *,
    is_of_idle: bool = False,
) -> Finding:
    """Return what the median round trip of a group consists of.

    ``is_of_idle``: the known round trip is that of the idle phase, not of the user.
    """
    own, impossible = _possible(samples, own)
    if not (samples.measured & own).any():
        return Finding(label=name, unit="s", notices=impossible)
    x, y = samples.minima(own)
    if x.size > 1:
        own &= np.asarray(samples.payload_bytes) == x[-1]
    coarse = _coarsest(samples, own)
    rtt_s = np.asarray(samples.rtt_s)[samples.measured & own]
    fastest_s = float(rtt_s.min())
    facts, refuted = _not_refuted(stated, fastest_s, coarse, rtt_s.size, is_of_idle=is_of_idle)
    is_local = is_loopback(name.rpartition(" to ")[2] or samples.meta.target)
    if is_local and facts.mtu_bytes is None:
        facts = replace(facts, mtu_bytes=LOOPBACK_MTU_BYTES)
    cause = _cause(samples, own, facts.rtt_s)
    part_s, part = _explained(rtt_s, cause)
    is_short = part_s.size < series.SHORT_SERIES
    median_s, slow_s = float(np.median(part_s)), series.slow_of(part_s)
    least_s = float((rtt_s if cause is not None and cause.variant == "load" else part_s).min())
    is_grown = slow_s > GROWN_RATIO * median_s and slow_s - median_s > GROWN_S
    is_grown = is_grown and (cause is None or cause.variant == "growth")
    rate, step_s, steps = _rising_rate(x, y)
    measured = slow_s if is_grown else median_s
    limits = parts_of(measured, least_s, coarse, x[-1:], facts, rate, step_s)
    if rtt_s.size < series.FEWEST_PROBES and "clock" not in {limit.name for limit in limits}:
        limits = tuple(replace(limit, tolerance_ratio=FEW_TOLERANCE) for limit in limits)
    parts = {limit.name for limit in limits}

    said = [*steps]
    if rtt_s.size < FEWEST_ANSWERS and x.size < 2 and "clock" not in parts:
        said.append(Notice("few-answers", {"count": int(rtt_s.size)}))
    said += filter(None, [cell_notice(x, y)])
    if "queue-above-least" in parts and not name:
        said += _runs_apart(samples, measured - least_s)
    if cause is not None and cause.code == "line":
        said += _working(samples, own)
    if x.size > 1:
        values = {"size_bytes": float(x[-1]), "count": int(x.size)}
        said.append(Notice("largest-size-explained", values))
    if is_grown:
        slow: dict[str, float] = {"median_s": median_s, "slow_s": slow_s}
        if is_short:
            said.append(Notice("slowest-alone-explained", slow | {"count": int(part_s.size)}))
        else:
            said.append(Notice("slowest-explained", slow))
    said += [*impossible, *refuted, *part, *_late_notices(samples, own, cause)]
    said += _notices(
        samples, slow_s - (facts.rtt_s or least_s), 1.0 if is_short else 0.95, x[-1:], facts
    )

    if cause is not None and _is_told_by(parts, cause):
        cause = None
    if cause is None and is_local:
        cause = Cause(code="host", confidence=MEDIUM, variant="echo")
    if cause is not None and refuted:
        cause = replace(cause, confidence=LOW)
    finding = Finding(
        label=name, unit="s", measured=measured, limits=limits, notices=tuple(said),
        missing=asked_of_times(stated), metrics=delay_variation(_in_order(samples, own)),
        cause=cause,
    )  # fmt: skip
    return replace(finding, missing=()) if finding.confidence == HIGH else finding


def _runs_apart(samples: RttSamples, wait_s: float) -> list[Notice]:
    """Say it if the fastest answers of several runs differ by most of what would be a wait."""
    least = [float(run["rtt_min_s"]) for run in samples.facts() if "rtt_min_s" in run]
    if len(least) < 2 or float(np.median(least)) - min(least) < wait_s / 2:
        return []
    values = {"count": len(least), "least_s": min(least), "most_s": max(least)}
    return [Notice("runs-apart", values)]


def _is_told_by(parts: Collection[str], cause: Cause) -> bool:
    """Whether the parts say more than the cause of a series.

    They tell the line and steps between sizes from the path, and the clock of the tool from any of
    them; a series does not.
    """
    is_of_size = cause.code == "distance" and not _OF_SIZE.isdisjoint(parts)
    return is_of_size or (cause.code in _OF_PARTS and "clock" in parts)


def _possible(
    samples: RttSamples, own: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], tuple[Notice, ...]]:
    """Return these rows without times that no path takes, and how many there were."""
    out = own & samples.measured & (np.asarray(samples.rtt_s) > MOST_RTT_S)
    count = int(np.count_nonzero(out))
    said = [Notice("rtt-impossible", {"count": count, "most_s": MOST_RTT_S})] if count else []
    own = own & ~out
    rtt_s = np.asarray(samples.rtt_s)
    is_zero = own & samples.measured & (rtt_s == 0)
    if is_zero.any() and np.median(rtt_s[own & samples.measured]) > ZERO_STEPS * _coarsest(
        samples, own
    ):
        own = own & ~is_zero
        said.append(Notice("rtt-zero", {"count": int(is_zero.sum())}))
    return own, tuple(said)


def _not_refuted(
    stated: Known, fastest_s: float, step_s: float, count: int, *, is_of_idle: bool
) -> tuple[Known, tuple[Notice, ...]]:
    """Return the facts without a round trip that answers were faster than, and that it was so."""
    stated_rtt_s = stated.rtt_s
    if stated_rtt_s is None or stated_rtt_s <= (1 + STATED_RATIO) * (fastest_s + step_s):
        return stated, ()
    values = {"stated_s": stated_rtt_s, "fastest_s": fastest_s, "count": count}
    refuted = Notice("idle-refuted" if is_of_idle else "rtt-refuted", values)
    return replace(stated, rtt_s=None), (refuted,)


def _explained(rtt_s: FloatArray, cause: Cause | None) -> tuple[FloatArray, tuple[Notice, ...]]:
    """Return the answers whose median is explained: of levels, the last one or that of the load.

    A median of two levels is one of neither.
    """
    if cause is None or cause.variant not in ("series", "back", "load", "ttl", "held"):
        return rtt_s, ()
    begin, end = cause.sign("at_probe"), cause.sign("to_probe")
    if math.isnan(begin) or math.isnan(end):
        return rtt_s, ()
    inside = slice(int(begin) - 1, int(end))
    if cause.variant in ("back", "held"):
        return np.delete(rtt_s, inside), ()
    return rtt_s[inside], (
        Notice("part-explained", {"at_probe": int(begin), "to_probe": int(end)}),
    )


def _late_notices(
    samples: RttSamples, own: NDArray[np.bool_], cause: Cause | None
) -> tuple[Notice, ...]:
    """Say which answers were far later than the others, where the cause does not."""
    rtt_s = _in_order(samples, own)
    if np.isfinite(rtt_s).sum() < series.FEWEST_PROBES or (
        cause is not None and cause.code in _OF_LATE
    ):
        return ()
    late = series.far_late(rtt_s)
    at = np.flatnonzero(late)
    if not at.size:
        return ()
    median_s, slow_s = float(np.nanmedian(rtt_s)), float(rtt_s[at].max())
    if at.size == 1 and not np.isfinite(rtt_s[: at[0]]).any():
        return (Notice("first-slow", {"slow_s": slow_s, "median_s": median_s}),)
    values = {
        "count": int(at.size), "total": int(np.isfinite(rtt_s).sum()), "median_s": median_s,
    }  # fmt: skip
    period = series.period_of(late)
    if not math.isnan(period):
        numbers = {"period_probes": period, "late_s": float(np.median(rtt_s[at]))}
        return (Notice("late-evenly", {**values, **numbers}),)
    sequence = np.asarray(samples.sequence, dtype=float)
    sequence = sequence[own & ~np.asarray(samples.duplicate)] if sequence.size else sequence
    is_numbered = sequence.size == rtt_s.size and bool(np.isfinite(sequence[at]).all())
    names = sequence[at] if is_numbered else at + 1.0
    slowest = np.sort(np.argsort(-rtt_s[at], kind="stable")[:MOST_NUMBERS])
    numbers_of = [int(name) for name in names[slowest]]
    return (Notice("few-late", {**values, "slow_s": slow_s, "numbers": numbers_of}),)


def _cause(samples: RttSamples, own: NDArray[np.bool_], idle_s: float | None) -> Cause | None:
    """Return the cause that a series shows; None where its parts say it."""
    first = own & ~np.asarray(samples.duplicate)
    ttl = np.asarray(samples.ttl, dtype=float)
    lost = np.asarray(samples.lost)[first].tolist()
    cause = series.series_cause(
        _in_order(samples, own), lost, ttl[first] if ttl.size else (), idle_s
    )
    return None if cause.code == UNKNOWN_CAUSE and not cause.variant else cause


def _working(samples: RttSamples, own: NDArray[np.bool_]) -> tuple[Notice, ...]:
    """Return the working latency, if a load ran for a part of the probes alone."""
    in_order = _in_order(samples, own)
    part = series.levels(in_order[np.isfinite(in_order)])
    return series.of_levels(part) if part is not None and part.is_clear and part.is_load else ()


def _coarsest(samples: RttSamples, own: NDArray[np.bool_]) -> float:
    """Return the widest known step of the times of these rows; 0 if none is known. [s]"""
    steps = np.asarray(samples.resolution_s)
    is_stepped = samples.measured & own & np.isfinite(steps)
    return float(np.fmax.reduce(steps, where=is_stepped, initial=0.0))


def _in_order(samples: RttSamples, own: NDArray[np.bool_]) -> FloatArray:
    """Return the times of these probes as they were sent; nan where there is none. [s]"""
    first = own & ~np.asarray(samples.duplicate)
    times: FloatArray = np.asarray(samples.rtt_s)[first]
    is_timed = (samples.measured | np.asarray(samples.lost))[first]
    times[~is_timed] = np.nan
    return times


def _rising_rate(x: FloatArray, y: FloatArray) -> tuple[float | None, float, tuple[Notice, ...]]:
    """Return the rate of one line, both ways, by which these times rise with size; None if none.

    The second value is what the times step up over all sizes, and the third says these steps. [s]
    """
    if x.size < 2:
        return None, 0.0, ()
    line, stepped = stepped_line(x, y)
    uncertain = 0.0 if math.isnan(line.slope_stderr) else SIGNIFICANT_ERRORS * line.slope_stderr
    rate = 16 / line.slope if line.slope > uncertain else None
    if stepped is None:
        return rate, 0.0, ()
    return rate, max(sum(step.jump for step in stepped.steps), 0.0), stepped.said


def parts_of(
    measured: float,
    least: float,
    step: float,
    sizes: FloatArray,
    stated: Known,
    fitted_bps: float | None,
    step_s: float = 0.0,
) -> tuple[Limit, ...]:
    """Return the parts of a round trip, the largest first: path, queue, serialization, or clock.

    ``step_s`` is what steps between its size and smaller ones add. [s]
    """
    if step >= COARSE_RATIO * measured:
        return (Limit("clock", measured, "s", PART_TOLERANCE, {"step_s": step}),)
    base = min(stated.rtt_s or least, measured)
    values = {"base_rtt_s": base, "measured_s": measured}
    name = "queue" if stated.rtt_s is not None else "queue-above-least"
    parts = [Limit(name, measured - base, "s", PART_TOLERANCE, values)]
    step_s = min(step_s, base)
    parts.append(Limit("size-steps", step_s, "s", PART_TOLERANCE, {"step_s": step_s}))
    base -= step_s
    line_bps = stated.line_bps or fitted_bps
    if line_bps is not None and sizes.size:
        size = round(float(np.median(sizes)))
        by_sizes = stated.line_bps is None
        if by_sizes and size > _most_bytes() + 20:
            wire = float(size)  # a slope over the sizes of messages has the headers in it
        else:
            wire = _wire_bytes(size, stated.mtu_bytes or DEFAULT_MTU_BYTES)
        share = min(2 * 8 * wire / line_bps, base)
        values = {"wire_bytes": wire, "line_bps": line_bps}
        part = "serialization-of-sizes" if by_sizes else "serialization"
        parts.append(Limit(part, share, "s", PART_TOLERANCE, values))
        base -= share
    parts.append(Limit("distance", base, "s", PART_TOLERANCE, {"base_rtt_s": base}))
    return largest_first(*parts)


def _notices(
    samples: RttSamples, late: float, within: float, sizes: FloatArray, stated: Known
) -> tuple[Notice, ...]:
    notices = []
    if stated.line_bps is not None and late > 0:
        size_bytes = late * stated.line_bps / 8
        values = {"within_ratio": within, "delay_s": late, "queue_bytes": size_bytes}
        notices.append(Notice("queue-behind-line", values))
    if samples.sent and samples.loss_ratio > 0:
        notices.append(Notice("probes-lost", {"loss_ratio": samples.loss_ratio}))
    mtu = stated.mtu_bytes or DEFAULT_MTU_BYTES
    cut = sizes[sizes + ECHO_HEADER_BYTES + 20 > mtu]
    if cut.size and cut.max() <= _most_bytes() + 20:
        size = min(float(cut.max()), _most_bytes())
        count = fragmentation.fragment_count(size + ECHO_HEADER_BYTES, mtu_bytes=mtu)
        values = {"count": int(count), "mtu_bytes": mtu, "size_bytes": float(cut.max())}
        notices.append(Notice("probes-in-fragments", values))
    return tuple(notices)


def _wire_bytes(size: float, mtu_bytes: int | float) -> float:
    """Return what a probe is on Ethernet; a message beyond a datagram goes in segments of TCP."""
    if size > _most_bytes() + 20:
        segment = mtu_bytes - float(tcp_ip_header_bytes(4, 0.0))
        return size * float(framing.ethernet_wire_bytes(mtu_bytes)) / segment
    size = min(size, _most_bytes())
    wire = fragmentation.fragmented_wire_bytes(size + ECHO_HEADER_BYTES, mtu_bytes=mtu_bytes)
    return float(wire)


def _most_bytes() -> float:
    """Return the most data of a probe, as of a UDP datagram: IPv6 has 20 bytes more."""
    return float(framing.udp_payload_limit_bytes())


def is_loopback(host: str) -> bool:
    """Whether an address is of the host itself."""
    return host.startswith("127.") or host == "::1"


def asked_of_times(stated: Known) -> tuple[Notice, ...]:
    """Return what to state for further parts of a round trip."""
    asked = []
    if stated.rtt_s is None:
        asked.append(Notice("ask-idle-rtt"))
    if stated.line_bps is None:
        asked.append(Notice("ask-line"))
    return tuple(asked)


def explain_transactions(samples: TransactionSamples, stated: Known) -> tuple[Finding, ...]:
    """Return what the median response of each mode consists of: round trips, a timer, the rest.

    Parameters
    ----------
    samples : TransactionSamples
        Requests and responses.
    stated : Known
        ``rtt_s`` is the round trip of the path; by default the fastest response.

    Returns
    -------
    tuple of Finding
        One for each mode with a response.
    """
    if not samples.measured.any():
        return ()
    rtt_s, is_shown = _trip_of_responses(samples, stated)
    findings = []
    for mode in samples.modes:
        chosen = samples.in_mode(mode)
        own = np.asarray(samples.response_s)[chosen]
        if not own.size:
            continue
        measured = float(np.median(own))
        asked = () if stated.rtt_s is not None else (Notice("ask-rtt"),)
        is_least = stated.rtt_s is None and not is_shown
        trips = TRIPS.get(mode, 0) if samples.meta.experiment == "transactions" else 0
        if trips:
            limits = _of_trips(measured, min(trips, measured / rtt_s), rtt_s)
        else:
            low_s = float(np.percentile(own, 25))
            limits = response_parts(measured, min(rtt_s, measured), low_s=low_s, is_least=is_least)
        # Size by size: runs measure their sizes in turns, and two sizes differ by more than delays.
        by_size = np.argsort(np.asarray(samples.payload_bytes)[chosen], kind="stable")
        variation = delay_variation(own[by_size])
        findings.append(
            Finding(
                label=mode, unit="s", measured=measured, limits=limits, missing=asked,
                metrics=variation, notices=stall_notices(limits),
                cause=held_cause(limits, own, is_shown=is_shown),
            )
        )  # fmt: skip
    return _beside_each_other(findings)


def _trip_of_responses(samples: TransactionSamples, stated: Known) -> tuple[float, bool]:
    """Return the round trip of responses, and whether their order shows a timer.

    The receiver acknowledges at once at the beginning of a connection, and by its timer later. A
    first response that is faster than all others of its mode, by a timer, is two round trips: the
    second write waited for an acknowledgement there, too.
    """
    times = np.asarray(samples.response_s)
    trips = [float(times[samples.measured].min())]
    is_shown = False
    for mode in samples.modes:
        own = times[samples.in_mode(mode, warm_up=True)]
        if own.size < LEAST_ROUNDS:
            continue
        later = own[1:]
        timer = timer_of(float(np.median(later)) - float(own[0]))
        if timer is not None and later.min() - own[0] > HELD_SHARE * timer:
            trips.append(float(own[0]) / 2)
            is_shown |= own.size >= SURE_ROUNDS
    return min(trips) if stated.rtt_s is None else stated.rtt_s, is_shown


def largest_first(*parts: Limit) -> tuple[Limit, ...]:
    """Return the parts of a time that take some of it, the largest first."""
    return tuple(sorted((part for part in parts if part.value > 0), key=lambda part: -part.value))


def _of_trips(
    measured: float, trips: float, rtt_s: float, timer_s: float | None = None
) -> tuple[Limit, ...]:
    """Return the parts of an exchange of so many round trips: these, and the hosts or a timer."""
    values = {"count": trips, "rtt_s": rtt_s}
    wait_s = measured - trips * rtt_s
    name, timer = ("host", math.nan) if timer_s is None else ("ack-timer", timer_s)
    of_wait = {**values, "wait_s": wait_s, "timer_s": timer, "measured_s": measured}
    return largest_first(
        Limit("round-trips", trips * rtt_s, "s", PART_TOLERANCE, values),
        Limit(name, wait_s, "s", PART_TOLERANCE, of_wait),
    )


def response_parts(
    measured: float, rtt: float, *, low_s: float = math.nan, is_least: bool = False
) -> tuple[Limit, ...]:
    """Recognize the timer of a delayed acknowledgement in a response of one or two round trips.

    Parameters
    ----------
    measured : float
        The response. [s]
    rtt : float
        The round trip, or the fastest response. [s]
    low_s : float
        A quarter of the responses are faster: a busy host lets timers fire late. [s]
    is_least : bool
        Whether it is the fastest response, which takes two round trips itself if a response with a
        timer is one above it: the part that waits leaves a round trip later. [bool]

    Returns
    -------
    tuple of Limit
        Its parts, the largest first.
    """
    waits = [(_timer_of(measured, low_s, trips * rtt), trips) for trips in (1, 2)]
    near = [
        (abs((measured - trips * rtt) / timer - 1), -trips)
        for timer, trips in waits
        if timer is not None
    ]
    trips = -min(near)[1] if near else 1
    if near and trips == 1 and is_least:
        rtt, trips = rtt / 2, 2
    return _of_trips(measured, trips, rtt, _timer_of(measured, low_s, trips * rtt))


def _timer_of(measured: float, low_s: float, trips_s: float) -> float | None:
    """Return the timer that a response without its round trips fits, or a faster one does."""
    return timer_of(measured - trips_s) or timer_of(low_s - trips_s)


def held_cause(parts: tuple[Limit, ...], response_s: FloatArray, *, is_shown: bool) -> Cause | None:
    """Return the cause of responses whose second part waited: the timer, and a round trip more.

    A server may happen to take as long as a timer, but hardly with most of its responses.
    """
    timer = next((part for part in parts if part.name == "ack-timer"), None)
    if timer is None or timer.values["count"] != 2:
        return None
    measured, rtt_s = float(np.median(response_s)), timer.values["rtt_s"]
    later = response_s[1:] if response_s.size >= LEAST_ROUNDS else response_s
    quartiles = np.percentile(later, [25, 50]) - 2 * rtt_s
    if any(timer_of(float(quartile)) != timer.values["timer_s"] for quartile in quartiles):
        return None
    free = rtt_s / measured
    signs = (
        Sign("base_rtt_s", rtt_s, "responses"),
        Sign("wait_s", timer.value, "the median response"),
        Sign("timer_s", timer.values["timer_s"], "timers in use"),
    )
    return Cause(
        code="nagle-delayed-ack", share_of_time=1 - free, duration_s=measured,
        confidence=HIGH if is_shown else MEDIUM, signs=signs,
        shares={"nagle-delayed-ack": 1 - free, "round-trips": free},
    )  # fmt: skip


def _beside_each_other(findings: list[Finding]) -> tuple[Finding, ...]:
    """Add to each mode that waits for a timer how long the modes take that do not."""
    free = {
        finding.label: finding.measured
        for finding in findings
        if not any(part.name == "ack-timer" for part in finding.limits)
    }
    said = []
    for finding in findings:
        label = min(free, key=free.__getitem__, default="")
        if finding.cause is not None and free.get(label, math.inf) < finding.measured:
            rtt_s = finding.cause.sign("base_rtt_s")
            values = {
                "mode": finding.label, "other": label, "measured_s": finding.measured,
                "other_s": free[label], "wait_s": finding.cause.sign("wait_s"), "rtt_s": rtt_s,
                "host_s": max(free[label] - rtt_s, 0.0),
            }  # fmt: skip
            finding = replace(finding, notices=(*finding.notices, Notice("modes-apart", values)))
        said.append(finding)
    return tuple(said)


def stall_notices(parts: tuple[Limit, ...]) -> tuple[Notice, ...]:
    """Return the arithmetic of a response, if a delayed acknowledgement is part of it."""
    return tuple(
        stall_notice(part.values["timer_s"], rtt_s=part.values["rtt_s"], trips=part.values["count"])
        for part in parts
        if part.name == "ack-timer"
    )


def explain_paths(samples: PathSamples) -> tuple[Finding, ...]:
    """Return which hop adds most to the round trip of each target.

    Parameters
    ----------
    samples : PathSamples
        Probes to each hop.

    Returns
    -------
    tuple of Finding
        One for each group that answered. A hop adds what its smallest round trip has beyond that of
        the hops before it; a hop slower than a later one answers slowly and adds nothing.
    """
    hops, rtts, names = (
        np.asarray(column) for column in (samples.hop, samples.rtt_s, samples.node)
    )
    is_used, findings = samples.measured & (rtts <= MOST_RTT_S), []
    for name, own in samples.rows_by_group().items():
        rows = own[is_used[own]]
        if not rows.size:
            continue
        numbers = np.unique(hops[rows])
        at = [
            rows[np.isnan(hops[rows]) if math.isnan(hop) else hops[rows] == hop] for hop in numbers
        ]
        least = np.array([rtts[each].min() for each in at])
        fastest = [each[rtts[each] == time] for each, time in zip(at, least.tolist(), strict=True)]
        nodes = [
            _node(names[row]) or _node(names[each]) for row, each in zip(fastest, at, strict=True)
        ]
        if (loop := _loop(numbers, nodes)) is not None:
            findings.append(Finding(label=name, unit="s", notices=(loop,)))
            continue
        finding = _of_hops(name, numbers, least, nodes)
        step_s = probe_step_s([rtts[each] for each in at])
        if step_s > 0 and samples.meta.tool.startswith(SENDS_AT_ONCE):
            said = Notice("probes-at-once", {"step_s": step_s})
            finding = replace(finding, notices=(said, *finding.notices))
        findings.append(finding)
    return tuple(findings)


def probe_step_s(hops: list[FloatArray]) -> float:
    """Return by how much each probe of a hop was later than the one before it; 0 if it was not.

    Probes that are sent at once wait for each other in front of the slowest line: then their times
    rise, at each hop behind it by the serialization of a probe. [s]
    """
    of_hops = [np.diff(times) for times in hops]
    falling = [index for index, steps in enumerate(of_hops) if (steps <= 0).any()]
    behind = of_hops[falling[-1] + 1 :] if falling else of_hops  # the line is behind these hops
    steps = np.concatenate([np.empty(0), *behind])
    if steps.size < LEAST_STEPS:
        return 0.0
    alike = np.abs(steps / steps[:, None] - 1) <= ALIKE_RATIO
    counts = alike.sum(axis=1)
    best = int(np.argmax(counts))
    if counts[best] < max(LEAST_STEPS, steps.size / 2):
        return 0.0
    return float(np.median(steps[alike[best]]))


def _node(names: NDArray[Any]) -> str:
    return next(filter(None, map(str, names.tolist())), "")


def _loop(numbers: FloatArray, nodes: list[str]) -> Notice | None:
    """Return that the last nodes come again in the same order, twice or more; None if not."""
    for count in range(2, len(nodes) // 2 + 1):
        row = nodes[-count:]
        if "" in row or len(set(row)) < 2 or nodes[-2 * count : -count] != row:
            continue
        first = len(nodes) - 2 * count
        while first and nodes[first - 1] == nodes[first - 1 + count]:
            first -= 1
        values = {"nodes": nodes[first : first + count], "hop": int(numbers[first])}
        return Notice("routing-loop", values)
    return None


def _of_hops(label: str, numbers: FloatArray, least: FloatArray, nodes: list[str]) -> Finding:
    """Return what each hop adds to the least round trip of the last one.

    Of a hop that answers later than one behind it only the sum of both is known.
    """
    reached = np.minimum.accumulate(least[::-1])[::-1]
    added = np.diff(reached, prepend=0.0)
    parts = []
    # the last hop, whose number may be unknown, is none of them
    slow = [int(hop) for hop, a, b in zip(numbers, least, reached, strict=True) if a > b]
    first = 1.0  # of the hops whose time is in the next part
    for hop, node, part in zip(numbers.tolist(), nodes, added.tolist(), strict=True):
        values = {"hop": "?" if math.isnan(hop) else int(hop), "node": node, "added_s": part}
        tolerance = SLOW_HOP_TOLERANCE if hop in slow else PART_TOLERANCE
        name = "hop"
        if hop > first > 1:
            name, values["before_hop"] = "hops", int(first) - 1
        parts.append(Limit(name, part, "s", tolerance, values))
        first = hop + 1 if hop >= first else first
    said = (Notice("slow-answers", {"hops": slow}),) if slow else ()
    measured = float(reached[-1])
    limits = largest_first(*parts)
    return Finding(label=label, unit="s", measured=measured, limits=limits, notices=said)


def explain_hops(samples: Table) -> tuple[Finding, ...]:
    """Return which hop adds most to the round trip, in reports with a row for each hop.

    Parameters
    ----------
    samples : Table
        Columns ``hop`` and ``rtt_min_s``, or ``rtt_mean_s`` or ``rtt_s`` where there are no least
        times; ``best_s`` and ``avg_s`` are mtr's.

    Returns
    -------
    tuple of Finding
        One for each report with an answer; empty if the table has no such columns.
    """
    columns = {heading.lower(): column for heading, column in samples.columns().items()}
    headings = ("rtt_min_s", "best_s", "rtt_mean_s", "avg_s", "rtt_s")
    name = next((heading for heading in headings if heading in columns), None)
    if "hop" not in columns or name is None:
        return ()
    rtts, hops = columns[name], columns["hop"]
    groups = columns.get("group", np.zeros(hops.size))
    lost = columns.get("loss_ratio", np.full(hops.size, math.nan))
    nodes = columns.get("node", columns.get("host", np.full(hops.size, "(no name)", object)))
    findings = []
    for group in dict.fromkeys(groups.tolist()):
        rows = (groups == group) & (rtts > 0) & (hops > 0)
        if not rows.any():
            continue
        numbers = np.unique(hops[rows])
        at = [rows & (hops == hop) for hop in numbers]
        times = np.array([rtts[row].min() for row in at])
        label = group if isinstance(group, str) else ""
        row = _of_hops(label, numbers, times, [_node(nodes[each]) for each in at])
        said = [*row.notices, *_losses_of_hops(numbers, [lost[each].min() for each in at])]
        of_links = zip(columns.get("link_lost_count", ()), hops, rows, strict=False)
        links = [int(hop) for count, hop, is_own in of_links if is_own and count > 0]
        if links:
            said.append(Notice("links-lossy", {"hops": links}))
        if name in ("rtt_mean_s", "avg_s"):
            said.append(Notice("mean-of-hops"))
        findings.append(replace(row, notices=tuple(said)))
    return tuple(findings)


def _losses_of_hops(numbers: FloatArray, lost: list[float]) -> list[Notice]:
    """Tell loss of the path, which the last hop has, from hops that do not answer every probe."""
    notices = []
    if lost[-1] > 0:
        notices.append(Notice("probes-lost", {"loss_ratio": float(lost[-1])}))
    silent = [
        int(hop) for at, hop in enumerate(numbers[:-1].tolist()) if lost[at] > min(lost[at + 1 :])
    ]
    if silent:
        notices.append(Notice("answers-limited", {"hops": silent}))
    return notices


LEAST_SIZES = 12
LEAST_CELLS = 3
STAIR_RATIO = 0.2
"""Stairs leave this share of the residuals (sum of squares) of a straight line at most. [ratio]"""
ALIKE_CELL_RATIO = 1.01
ECHO_PACKET_BYTES = 28
"""IPv4 and ICMP, beside the payload of a probe. [byte]"""


def cell_notice(payload_bytes: FloatArray, rtt_s: FloatArray) -> Notice | None:
    """Say that times rise in cells, and what is added to each packet; None if they do not.

    Parameters
    ----------
    payload_bytes : array_like
        Payloads of probes, each once. [byte]
    rtt_s : array_like
        The least round trip of each. [s]

    Returns
    -------
    Notice or None
        With the time of a cell, there and back, and the bytes beyond IP as far as the sizes show
        them, modulo the payload of a cell: the trailer of AAL5 is among them.
    """
    x = np.asarray(payload_bytes, np.float64)
    y = np.asarray(rtt_s, np.float64)
    if x.size < LEAST_SIZES or np.ptp(x) < LEAST_CELLS * CELL_PAYLOAD_BYTES:
        return None
    if np.median(np.diff(x)) > CELL_PAYLOAD_BYTES / 3:  # a stair has several sizes
        return None
    straight, _ = _fit(x, y)
    fits = [
        _fit(np.ceil((x + added) / CELL_PAYLOAD_BYTES), y)
        for added in range(int(CELL_PAYLOAD_BYTES))
    ]
    left = np.array([each for each, _ in fits])
    best = int(np.argmin(left))
    cell_s = fits[best][1]
    if not cell_s > 0 or left[best] > STAIR_RATIO * straight:
        return None
    alike = np.flatnonzero(left <= ALIKE_CELL_RATIO * left[best] + 1e-9 * straight)
    beyond = np.sort((alike - ECHO_PACKET_BYTES) % int(CELL_PAYLOAD_BYTES))
    if np.ptp(beyond) >= alike.size:  # around the end of a cell
        return Notice("cells-seen", {"cell_s": cell_s, "cell_bytes": CELL_BYTES})
    values = {"low_bytes": float(beyond[0]), "high_bytes": float(beyond[-1])}
    return Notice("cells-with-overhead", {"cell_s": cell_s, "cell_bytes": CELL_BYTES, **values})


def _fit(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Return the sum of squared residuals of the line of least squares, and its slope."""
    slope, first = np.polyfit(x - x.mean(), y, 1)
    residuals = y - first - slope * (x - x.mean())
    return float(residuals @ residuals), float(slope)
