"""Connections of a capture that never opened: nobody answered their SYNs, or a reset did."""

from __future__ import annotations

import numpy as np

from netcalc.checks import named_arguments
from netcalc.explain.causes.cause import HIGH, MEDIUM, Cause, Sign
from netcalc.explain.finding import Finding
from netcalc.readers.captures import groups
from netcalc.readers.captures.flows import ACK, RST, SYN, find_segments
from netcalc.readers.captures.order import in_order
from netcalc.samples import PacketTrace

LEAST_WAIT_S = 1.0
"""A SYN without an answer for less may have been answered after the capture: the timer of its first
retransmission (RFC 6298). [s]"""


@named_arguments
def explain_unopened(trace: PacketTrace) -> tuple[Finding, ...]:
    """Return that connections were refused, or that their SYNs were not answered.

    Parameters
    ----------
    trace : PacketTrace
        A capture.

    Returns
    -------
    tuple of Finding
        One for those refused, one for those without an answer; empty where there are none. A SYN
        in the last second of the capture is not judged, unless it was sent again.
    """
    segments = find_segments(in_order(trace))
    flow, count = segments.flows.flow, segments.flows.count
    is_syn = segments.is_set(SYN) & ~segments.is_set(ACK) & segments.to_server
    first = groups.first_of(is_syn, flow, count)
    syn_count = groups.count_by(is_syn, flow, count)
    is_answered = groups.count_by(~segments.to_server, flow, count) > 0
    is_reset = groups.count_by(segments.is_set(RST) & ~segments.to_server, flow, count) > 0
    opens = groups.count_by(segments.is_set(SYN) & ~segments.to_server, flow, count) > 0
    waited_s = np.max(trace.time_s, initial=0.0) - segments.time_s[first]
    is_waited = (syn_count > 1) | (waited_s >= LEAST_WAIT_S)
    findings = []
    for variant, confidence, chosen in (
        ("refused", HIGH, (first >= 0) & is_reset & ~opens),
        ("unopened", MEDIUM, (first >= 0) & ~is_answered & is_waited),
    ):
        if not chosen.any():
            continue
        times_s = segments.time_s[is_syn & chosen[flow]]
        cause = Cause(
            code="outage", variant=variant, confidence=confidence,
            signs=(
                Sign("connection_count", int(chosen.sum()), "SYNs"),
                Sign("syn_count", times_s.size, "SYNs"),
                Sign("span_s", float(np.ptp(times_s)), "SYNs"),
            ),
        )  # fmt: skip
        findings.append(Finding(unit="s", cause=cause))
    return tuple(findings)
