"""What limits the flows of a capture: the cause of each, and of what its user waited for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from netcalc.explain.causes.cause import UNKNOWN_CAUSE, Cause
from netcalc.explain.causes.counterfactuals import counterfactuals
from netcalc.explain.causes.sessions import (
    FlowCause,
    datagram_cause,
    flow_causes,
    session_cause,
    waterfall,
)
from netcalc.explain.evidence import MOST_FLOWS, Evidence, from_capture, of_tcp_flow, options_of
from netcalc.explain.finding import Finding
from netcalc.explain.known import Known
from netcalc.explain.metrics import transfer_metrics
from netcalc.explain.rate_limits import line_ceiling_bps, missing, rate_limits, rate_notices
from netcalc.messages import Notice
from netcalc.models.sizes.framing import ethernet_wire_bytes
from netcalc.rate_layers import TCP_PAYLOAD, UDP_PAYLOAD, named
from netcalc.readers.captures.facts import flow_table
from netcalc.samples import PacketTrace


def explain_capture(trace: PacketTrace, known: Known) -> tuple[Finding, ...]:
    """Return what limited the flows of a capture.

    Parameters
    ----------
    trace : PacketTrace
        A capture.
    known : Known
        Facts stated beside it; the line is found in the capture, where nobody states it.

    Returns
    -------
    tuple of Finding
        The first one is what its user waited for most; then each other flow with data, in the
        direction that carried most. Empty where no packet carried any.
    """
    flows = flow_causes(trace)
    datagrams = [one for one in from_capture(trace) if one.is_udp]
    if not flows:
        return tuple(_of_datagrams(one, known, datagram_cause(trace)) for one in datagrams)
    columns = flow_table(trace).columns()
    options = options_of(trace)
    evidence = [
        _evidence(of_tcp_flow(columns, flow.series, option_bytes=options), flow) for flow in flows
    ]
    session = session_cause(trace, flows)
    if session.code == "shared-line":
        flows = [replace(flows[0], cause=session), *flows[1:]]
    rows = waterfall(trace, flows, [each.label for each in evidence])
    session = replace(session, waterfall=rows)
    causes = [session, *(flow.cause for flow in flows[1:MOST_FLOWS])]
    of_flows = (_finding(each, known, cause) for each, cause in zip(evidence, causes, strict=False))
    return (*of_flows, *(_of_datagrams(one, known, None) for one in datagrams))


def _evidence(evidence: Evidence, flow: FlowCause) -> Evidence:
    """Return the numbers of a flow as its sender saw them."""
    d = flow.dialogue
    loaded = float(np.median(d.trip_s)) if d.trip_s.size else math.nan
    return replace(
        evidence,
        rtt_s=max(loaded, d.base_rtt_s) if d.base_rtt_s > 0 else loaded,
        base_rtt_s=d.base_rtt_s,
        loss_ratio=d.loss_ratio,
        in_flight_bytes=flow.cause.sign("in_flight_bytes"),
        is_window_steady=flow.cause.code == "sender-buffer",
        gap_s=math.nan,
    )


def _finding(evidence: Evidence, known: Known, cause: Cause) -> Finding:
    said = []
    is_stated = known.line_bps is not None
    line_bps = cause.sign("line_bps")
    if known.line_bps is None and line_bps > 0:
        segment = evidence.segment_bytes
        wire = float(ethernet_wire_bytes(segment + 40 + evidence.option_bytes))
        known = replace(known, line_bps=line_bps * wire / segment)
        values = {"line_bps": known.line_bps, "payload_bps": line_bps}
        said.append(Notice("line-found", {**values, "in_layer": named("", cause.layer)}))
    if cause.sign("missing_bytes") > 0:
        said.append(Notice("capture-missed", {"missing_bytes": cause.sign("missing_bytes")}))
    limits = tuple(sorted(rate_limits(evidence, known), key=lambda limit: limit.value))
    kept = (*SAID, *SAID_OF.get(cause.code, ()))
    finding = Finding(
        label=evidence.label,
        measured=evidence.rate_bps,
        limits=limits,
        notices=(*said, *(note for note in rate_notices(evidence, known) if note.code in kept)),
        missing=() if cause.code != "unknown" else missing(evidence, known),
        metrics=transfer_metrics(
            evidence, known, line_ceiling_bps=line_ceiling_bps(evidence, known)
        ),
        layer=TCP_PAYLOAD,
        cause=replace(cause, counterfactuals=counterfactuals(cause, evidence, known)),
    )
    # Losses at a line that somebody stated, and that is full, are those of its queue.
    is_open = cause.code in (UNKNOWN_CAUSE, "random-loss", "shallow-buffer")
    if is_open and is_stated and finding.stated is not None:
        return replace(finding, cause=replace(finding.stated, signs=cause.signs))
    return finding


SAID = ("fragments-seen", "limit-refuted")
"""Notices on the numbers of a flow that its cause does not say better."""
SAID_OF = {"nagle-delayed-ack": ("stall-arithmetic",), "delayed-ack": ("stall-arithmetic",)}
"""Notices that hold for flows with a cause."""


def _of_datagrams(evidence: Evidence, known: Known, cause: Cause | None) -> Finding:
    limits = rate_limits(evidence, known)
    finding = Finding(
        label=evidence.label, measured=evidence.rate_bps, limits=limits,
        notices=tuple(rate_notices(evidence, known)), missing=missing(evidence, known),
        metrics=transfer_metrics(
            evidence, known, line_ceiling_bps=line_ceiling_bps(evidence, known)
        ),
        layer=UDP_PAYLOAD,
    )  # fmt: skip
    if finding.stated is not None or cause is None or cause.code == UNKNOWN_CAUSE:
        return finding
    return replace(finding, cause=cause)
