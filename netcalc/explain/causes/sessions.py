"""What a user waited for over all flows of a capture: names, handshakes, requests, the transfer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from netcalc.checks import named_arguments
from netcalc.explain.causes import verdict
from netcalc.explain.causes.cause import HIGH, LOW, MEDIUM, UNKNOWN_CAUSE, Cause
from netcalc.explain.causes.datagrams import datagram_cause
from netcalc.explain.causes.dialogue import Dialogue, dialogue_of
from netcalc.explain.causes.intervals import Intervals
from netcalc.messages import Notice
from netcalc.readers.captures.flows import mirrored
from netcalc.readers.captures.groups import Bools
from netcalc.readers.captures.order import find_order, on_rising_times
from netcalc.readers.captures.tcp import TcpAnalysis, analyse_tcp
from netcalc.samples import Layer, PacketTrace

DNS_PORTS = (53, 5353)
"""Ports at which names are looked up: DNS, multicast DNS."""
MOST_JUDGED = 20
"""So many flows of a file, those that carried most, are judged; the others are counted. [1]"""
MOST_OF_A_HANDSHAKE = 100
"""A flow of more segments is no answer to a first request. [1]"""
LEAST_TURNS = 0.1
"""Round trips of less of the time are no requests, beside a handshake. [ratio]"""
QUIET_SHARE = 0.7
"""Before a delayed acknowledgement its sender was quiet for this share of the delay. [ratio]"""
ALIKE_LINES = 1.1
"""Rates of lines that are farther apart are those of two lines. [ratio]"""
TLS_PORTS = (443, 8443, 853, 993, 995, 465)
"""Ports at which TLS begins with the first segment: HTTPS, DNS, IMAP, POP3, SMTP over it."""


@dataclass(frozen=True, slots=True)
class FlowCause:
    """The cause of the direction of a flow that carried most, and what it stands on."""

    series: int
    size_bytes: int
    dialogue: Dialogue
    cause: Cause
    ports: tuple[int, int]
    waits: Intervals | None


@named_arguments
def flow_causes(trace: PacketTrace, *, most: int = MOST_JUDGED) -> list[FlowCause]:
    """Return what limited each TCP flow of a capture, in the direction that carried most.

    Parameters
    ----------
    trace : PacketTrace
        A capture.
    most : int
        Judge this many flows, those with most data.

    Returns
    -------
    list of FlowCause
        The largest first; empty for a capture without TCP data.
    """
    if not trace.has(Layer.TCP).any():
        return []
    trace = on_rising_times(find_order(trace))
    analysis = analyse_tcp(trace)
    s = analysis.segments
    sizes = np.bincount(s.series, s.payload, 2 * s.flows.count).astype(np.int64)
    of_flows = sizes[::2] + sizes[1::2]
    stalls, causes = analysis.stalls, []
    is_waited_for = _are_waited_for(analysis)
    for flow in np.argsort(-of_flows, kind="stable")[:most].tolist():
        series = 2 * flow + int(sizes[2 * flow + 1] > sizes[2 * flow])
        dialogue = dialogue_of(trace, analysis, series)
        if dialogue is None:
            continue
        both = np.isin(stalls.delayed_series, [2 * flow, 2 * flow + 1]) & is_waited_for
        held_s = float(stalls.delayed_s[both].sum()) if both.size else 0.0
        cause, waits = verdict.judge(dialogue, sender_is_client=series % 2 == 0, held_s=held_s)
        row = s.flows.row[s.flows.first[flow]]
        ports = int(trace.ints("source_port")[row]), int(trace.ints("destination_port")[row])
        causes.append(FlowCause(series, int(sizes[series]), dialogue, cause, ports, waits))
    return causes


def _are_waited_for(analysis: TcpAnalysis) -> Bools:
    """Return which of the delayed acknowledgements somebody can have waited for.

    Nobody does while others are still to come; and those that are late by a queue come close behind
    each other.
    """
    s, delayed = analysis.segments, analysis.stalls.delayed
    last, same = s.other[delayed], s.same[delayed]
    is_all = s.ack[delayed] >= np.maximum(analysis.losses.next_sequence, s.end)[last]
    quiet_s = np.where(same >= 0, s.time_s[delayed] - s.time_s[same], np.inf)
    is_waited_for: Bools = is_all & (quiet_s >= QUIET_SHARE * analysis.stalls.delayed_s)
    return is_waited_for


@named_arguments
def main_flow(trace: PacketTrace) -> FlowCause | None:
    """Return the TCP flow that carried most, in the direction that carried more.

    Parameters
    ----------
    trace : PacketTrace
        A capture.

    Returns
    -------
    FlowCause or None
        None where most packets are not of TCP, or no flow has data.
    """
    return next(iter(flow_causes(trace, most=1)), None) if has_tcp(trace) else None


def session_cause(trace: PacketTrace, flows: Sequence[FlowCause]) -> Cause:
    """Return what a user waited for most: names, handshakes, requests, or the largest transfer."""
    names = _name_times(trace)
    if not flows:
        return datagram_cause(trace) if not names else Cause()
    if _is_loopback(trace):
        return Cause(code="host", confidence=MEDIUM)
    main = flows[0]
    if _is_doubled(trace):
        return _named(main.cause, "duplicates", main.cause.share_of_time, MEDIUM)
    user = _user_cause(flows, names)
    if user.shares.get("name-resolution", 0.0) > verdict.LEAST_SHARE:
        return user
    if main.cause.code == "line" and _has_rivals(flows):
        share, sure = main.cause.share_of_time, main.cause.confidence
        main = replace(main, cause=_named(main.cause, "shared-line", share, sure))
    alone = main.size_bytes >= 0.5 * sum(each.size_bytes for each in flows) or len(flows) <= 3
    return _turns(main, main.cause if alone else user, alone=alone)


def _is_doubled(trace: PacketTrace) -> bool:
    """Whether many packets stand twice in a capture; fewer or nearly all are not of the path."""
    copies = int(np.count_nonzero(mirrored(trace)))
    least, most = verdict.LEAST_COPIES * len(trace), verdict.MOST_COPIES * len(trace)
    return least < copies < most and len(trace) > 200


def _turns(main: FlowCause, cause: Cause, *, alone: bool) -> Cause:
    """Return a cause, or the round trips of handshakes and requests if they took the time.

    ``alone`` is whether the largest flow stands for all.
    """
    merged = ("round-trips", "handshake", *(() if alone else ("slow-start", "other")))
    trips = sum(cause.shares.get(code, 0.0) for code in merged)
    if trips <= verdict.LEAST_SHARE:
        return cause
    turns, opening, growth = (
        cause.shares.get(code, 0.0) for code in ("round-trips", "handshake", "slow-start")
    )
    if turns < LEAST_TURNS and opening > verdict.LEAST_SHARE and alone:
        grows = growth > verdict.LEAST_SHARE
        code, share = ("slow-start", growth) if grows else ("handshake", opening)
        return _named(cause, code, share, MEDIUM)
    is_short = main.dialogue.sequence.size < MOST_OF_A_HANDSHAKE
    if set(main.ports) & set(TLS_PORTS) and is_short:
        return _named(cause, "tls-handshake", trips, MEDIUM, merged)
    if cause.code in (UNKNOWN_CAUSE, "handshake", "round-trips") or not alone:
        is_based = trips > verdict.SURE_SHARE and main.dialogue.handshake_rtt_s > 0
        return _named(cause, "round-trips", trips, HIGH if is_based else MEDIUM, merged)
    return cause


def _has_rivals(flows: Sequence[FlowCause]) -> bool:
    """Whether another flow that began at another time filled the same line at the same time."""
    main = flows[0].dialogue
    for other in flows[1:]:
        d = other.dialogue
        together_s = min(main.end_s, d.end_s) - max(main.begin_s, d.begin_s)
        if other.cause.code not in ("line", "shared-line") or d.series % 2 != main.series % 2:
            continue
        began_apart = abs(main.begin_s - d.begin_s) > 0.5
        lines = [each.cause.sign("line_bps") for each in (flows[0], other)]
        is_one_line = not max(lines) > ALIKE_LINES * min(lines)
        both_bps = main.rate_bps + d.rate_bps
        is_whole = (
            main.rate_bps > verdict.SHARED_RATIO * lines[0] and both_bps > ALIKE_LINES * lines[0]
        )
        is_long = together_s > 0.3 * (main.end_s - main.begin_s)
        if began_apart and is_one_line and is_long and not is_whole:
            return True
    return False


def _named(
    cause: Cause, code: str, share: float, confidence: str, merged: Sequence[str] = ()
) -> Cause:
    """Return a cause under another name, which takes the place of those merged in the shares."""
    merged = merged or (cause.code,)
    rest = {name: part for name, part in cause.shares.items() if name not in merged}
    shares = dict(sorted({code: share, **rest}.items(), key=lambda item: -item[1]))
    return replace(cause, code=code, share_of_time=share, confidence=confidence, shares=shares)


def _user_cause(flows: Sequence[FlowCause], names: Sequence[tuple[float, float]]) -> Cause:
    """Return the cause of all flows together: each moment is shared by those under way in it."""
    spans = [(each.dialogue.begin_s, each.dialogue.end_s) for each in flows]
    edges = sorted({time for span in (*spans, *names) for time in span})
    weights, named_s, idle_s = np.zeros(len(spans)), 0.0, 0.0
    for low, high in itertools.pairwise(edges):
        middle = (low + high) / 2
        active = [number for number, (begin, end) in enumerate(spans) if begin <= middle <= end]
        if active:
            weights[active] += (high - low) / len(active)
        elif any(begin <= middle <= end for begin, end in names):
            named_s += high - low
        else:
            idle_s += high - low
    total: dict[str, float] = {"name-resolution": named_s, "idle": idle_s}
    for weight, each in zip(weights.tolist(), flows, strict=True):
        for code, share in each.cause.shares.items():
            total[code] = total.get(code, 0.0) + share * weight
    whole_s = sum(total.values())
    if not whole_s > 0:
        return flows[0].cause
    ordered = sorted(total.items(), key=lambda item: -item[1])
    shares = {code: part / whole_s for code, part in ordered if part > 0}
    code, share = next(iter(shares.items()))
    sure = HIGH if share > verdict.SURE_SHARE else MEDIUM
    if share < verdict.LEAST_SHARE or code in ("idle", "other", "flat"):
        code, sure = UNKNOWN_CAUSE, LOW
    return Cause(
        code=code, share_of_time=share, duration_s=whole_s, confidence=sure, shares=shares,
        signs=flows[0].cause.signs,
    )  # fmt: skip


MOST_ROWS, LEAST_PART = 20, 0.05
"""Rows of a waterfall, and the share of a flow's time that is a part of its row. [1], [ratio]"""


def waterfall(
    trace: PacketTrace, flows: Sequence[FlowCause], labels: Sequence[str]
) -> tuple[Notice, ...]:
    """Return names and flows in the order of their begin; empty for a single flow."""
    names = _name_times(trace)
    if len(flows) + len(names) < 2:
        return ()
    zero = min(*(low for low, _ in names), *(each.dialogue.begin_s for each in flows), math.inf)
    rows = [
        (low, Notice("waterfall-name", {"begin_s": low - zero, "took_s": high - low}))
        for low, high in names
    ]
    for flow, label in zip(flows, labels, strict=True):
        d = flow.dialogue
        took_s = float(d.seen_s.max()) - d.begin_s  # to its last data: closing is not waited for
        parts = {
            code: share * flow.cause.duration_s
            for code, share in flow.cause.shares.items()
            if share >= LEAST_PART
        }
        values = {"begin_s": d.begin_s - zero, "took_s": took_s, "flow": label, "parts": parts}
        rows.append((d.begin_s, Notice("waterfall-flow", values)))
    rows.sort(key=lambda row: row[0])
    more = len(rows) - MOST_ROWS
    rest = (Notice("waterfall-rest", {"count": more}),) if more > 0 else ()
    return (*(row for _, row in rows[:MOST_ROWS]), *rest)


def has_tcp(trace: PacketTrace) -> bool:
    """Whether most packets are of TCP, but for those that look names up."""
    tcp, udp = trace.has(Layer.TCP), trace.has(Layer.UDP)
    return bool(tcp.any() and (udp.sum() <= tcp.sum() or _name_times(trace)))


def _is_loopback(trace: PacketTrace) -> bool:
    return bool(trace.addresses) and all(
        name.startswith("127.") or name == "::1" for name in map(str, trace.addresses) if name
    )


def _name_times(trace: PacketTrace) -> list[tuple[float, float]]:
    """Return of each question for a name when it was first asked, and when last answered. [s]"""
    source, destination = trace.ints("source_port"), trace.ints("destination_port")
    asks, answers = np.isin(destination, DNS_PORTS), np.isin(source, DNS_PORTS)
    rows = np.flatnonzero(trace.has(Layer.UDP) & (asks | answers))
    ports = np.where(asks, source, destination)[rows]
    times = np.asarray(trace.time_s)[rows]
    spans = []
    for port in np.unique(ports):
        own = times[(ports == port) & np.isfinite(times)]
        if own.size:
            spans.append((float(own.min()), float(own.max())))
    return spans
