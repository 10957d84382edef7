"""Connections of a capture that never opened.

Nobody answered their SYNs, or a reset or an ICMP message did.
"""

from __future__ import annotations

import numpy as np

from netcalc.checks import named_arguments
from netcalc.explain.causes.cause import HIGH, MEDIUM, Cause, Sign
from netcalc.explain.finding import Finding
from netcalc.messages import Notice
from netcalc.readers.captures import groups
from netcalc.readers.captures.flows import ACK, RST, SYN, Segments, find_segments
from netcalc.readers.captures.groups import Bools, Ints
from netcalc.readers.captures.headers import ICMP, ICMPV6
from netcalc.readers.captures.order import in_order
from netcalc.samples import Layer, PacketTrace

LEAST_WAIT_S = 1.0
"""A SYN without an answer for less may have been answered after the capture: the timer of its first
retransmission (RFC 6298). [s]"""
NEEDS_FRAGMENTS = 4
"""Code of ICMP of a packet that is too large, which no SYN is."""


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
        One for those refused, one for those that ICMP answered, one for those without an answer;
        empty where there are none. A SYN in the last second of the capture is not judged, unless
        it was sent again.
    """
    trace = in_order(trace)
    segments = find_segments(trace)
    flow, count = segments.flows.flow, segments.flows.count
    is_syn = segments.is_set(SYN) & ~segments.is_set(ACK) & segments.to_server
    first = groups.first_of(is_syn, flow, count)
    syn_count = groups.count_by(is_syn, flow, count)
    is_answered = groups.count_by(~segments.to_server, flow, count) > 0
    is_reset = groups.count_by(segments.is_set(RST) & ~segments.to_server, flow, count) > 0
    opens = groups.count_by(segments.is_set(SYN) & ~segments.to_server, flow, count) > 0
    waited_s = np.max(trace.time_s, initial=0.0) - segments.time_s[first]
    is_waited = (syn_count > 1) | (waited_s >= LEAST_WAIT_S)
    is_silent = (first >= 0) & ~is_answered
    errors = _errors_by_flow(trace, segments, is_syn)
    kind, protocol = trace.ints("icmp_type")[errors], trace.ints("ip_protocol")[errors]
    is_expired = (errors >= 0) & (kind == np.where(protocol == ICMPV6, 3, 11))
    findings = []
    for variant, confidence, chosen in (
        ("refused", HIGH, (first >= 0) & is_reset & ~opens),
        ("rejected", HIGH, is_silent & (errors >= 0) & ~is_expired),
        ("expired", HIGH, is_silent & is_expired),
        ("unopened", MEDIUM, is_silent & (errors < 0) & is_waited),
    ):
        if not chosen.any():
            continue
        senders = np.unique(trace.ints("source")[errors[chosen & (errors >= 0)]]).tolist()
        names = [trace.addresses[sender] for sender in senders]
        times_s = segments.time_s[is_syn & chosen[flow]]
        cause = Cause(
            code="outage", variant=variant, confidence=confidence,
            signs=(
                Sign("connection_count", int(chosen.sum()), "SYNs"),
                Sign("syn_count", times_s.size, "SYNs"),
                Sign("span_s", float(np.ptp(times_s)), "SYNs"),
            ),
        )  # fmt: skip
        said = (Notice("icmp-from", {"addresses": names}),) if variant in OF_ICMP else ()
        findings.append(Finding(unit="s", cause=cause, notices=said))
    return tuple(findings)


OF_ICMP = ("rejected", "expired")
"""Connections whose SYNs an ICMP message answered."""


def _errors_by_flow(trace: PacketTrace, segments: Segments, is_syn: Bools) -> Ints:
    """Return the packet of ICMP that answers the last SYN of each flow; -1 where none does.

    It reports what it quotes as unreachable or expired, which a text does not show: here the last
    packet before it that its receiver sent.
    """
    kind, protocol = trace.ints("icmp_type"), trace.ints("ip_protocol")
    is_4, is_6 = protocol == ICMP, protocol == ICMPV6
    is_error = (is_4 & (kind == 3) & (trace.ints("icmp_code") != NEEDS_FRAGMENTS)) | (
        is_4 & (kind == 11) | is_6 & ((kind == 1) | (kind == 3))
    )
    is_error &= trace.has(Layer.ICMP)
    flow_of = np.full(kind.size, -1, np.int64)
    flow_of[segments.flows.row[is_syn]] = segments.flows.flow[is_syn]
    host = np.where(is_error, trace.ints("destination"), trace.ints("source"))
    order = np.argsort(host, kind="stable")
    begin = groups.begins_at(groups.starts_of(host[order]))
    before = groups.last_index(~is_error[order], begin)
    is_known = is_error[order] & (before >= 0)
    errors, flow = order[is_known], flow_of[order[before[is_known]]]
    last = np.full(segments.flows.count, -1, np.int64)
    last[flow[flow >= 0]] = errors[flow >= 0]
    return last
