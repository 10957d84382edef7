"""What limits the flows of captures: the cause of each, and the line that several files share.

Flows also have the metrics of RFC 6349, and exchanges are explained as those of a ping.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray, named_arguments
from netcalc.explain.causes import sessions, verdict
from netcalc.explain.causes.cause import HIGH, MEDIUM, UNKNOWN_CAUSE, Cause, Sign
from netcalc.explain.causes.datagrams import datagram_cause
from netcalc.explain.causes.dialogue import SENDER
from netcalc.explain.causes.trains import train_cause
from netcalc.explain.causes.verdict import LEAST_QUEUE_S, counterfactuals
from netcalc.explain.evidence import (
    DEFAULT_MTU_BYTES,
    MOST_FLOWS,
    Evidence,
    Known,
    from_capture,
    from_facts,
    of_tcp_flow,
    options_of,
    transfer_metrics,
)
from netcalc.explain.finding import LOSS_NAMES, Finding
from netcalc.explain.rate_limits import (
    LINE_TOLERANCE,
    line_ceiling_bps,
    missing,
    rate_limits,
    rate_notices,
)
from netcalc.explain.time_parts import explain_round_trips
from netcalc.messages import Notice
from netcalc.models.sizes.framing import ethernet_wire_bytes
from netcalc.models.tcp import slow_start
from netcalc.rate_layers import TCP_PAYLOAD, UDP_PAYLOAD
from netcalc.readers.captures import round_trips
from netcalc.readers.captures.flows import find_segments
from netcalc.readers.captures.order import find_order, in_order, on_rising_times
from netcalc.readers.captures.tcp import flow_label, flow_table
from netcalc.samples import FlowSeries, Layer, PacketTrace, RttSamples, Samples


def flows(trace: PacketTrace, stated: Known | None = None) -> list[dict[str, Any]]:
    """Return each direction of the flows of a capture that carried data, the largest first.

    Parameters
    ----------
    trace : PacketTrace
        A capture.
    stated : Known, optional
        ``line_bps`` gives the share of the line's ceiling, ``rtt_s`` the base of the buffer delay.

    Returns
    -------
    list of dict
        ``label``, the columns of
        :func:`~netcalc.readers.captures.tcp.flow_table`, what the receiver offered
        (``offered_window_bytes``), the ``layer`` of its rate, and ``metrics``: those of RFC 6349,
        of flows that are longer than their initial window. A shorter one is as fast as its
        program, and says nothing of the path.
    """
    stated = stated or Known()
    columns: dict[str, NDArray[Any]] = flow_table(trace).columns()
    with_data = np.flatnonzero(columns["payload_bytes"] > 0)
    order = with_data[np.argsort(-columns["payload_bytes"][with_data], kind="stable")]
    options = options_of(trace)
    summaries = []
    for row in order.tolist():
        flow: dict[str, Any] = {name: _plain(column[row]) for name, column in columns.items()}
        if flow["protocol"] == "tcp":
            seen = of_tcp_flow(columns, row, option_bytes=options)
            flow["offered_window_bytes"] = seen.receive_window_bytes
            for name in ("window_closed_count", "window_closed_s"):
                flow[f"receiver_{name}"] = _plain(columns[name][row ^ 1])
            first = float(slow_start.initial_window_bytes(seen.segment_bytes))
            is_bulk = seen.size_bytes > first and seen.rate_bps > 0
        else:
            seen = _of_udp(flow)
            flow = {name: value for name, value in flow.items() if not _is_nan(value)}
            is_bulk = flow["datagram_count"] > 1
        summaries.append(
            {
                "label": flow_label(flow),
                **flow,
                "layer": TCP_PAYLOAD if flow["protocol"] == "tcp" else UDP_PAYLOAD,
                "metrics": _metrics(seen, stated) if is_bulk else {},
            }
        )
    return summaries


def _plain(value: Any) -> Any:
    """Return a number as Python has it: whole ones, such as counts and ports, without a point."""
    if isinstance(value, str):
        return value
    return int(value) if float(value).is_integer() else float(value)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _of_udp(flow: Mapping[str, Any]) -> Evidence:
    return Evidence(
        protocol="udp",
        rate_bps=float(flow["goodput_bps"]),
        size_bytes=float(flow["payload_bytes"]),
        duration_s=float(flow["duration_s"]),
        datagram_bytes=float(flow["payload_bytes"] / flow["datagram_count"]),
    )


def _metrics(evidence: Evidence, stated: Known) -> dict[str, float]:
    ceiling = line_ceiling_bps(evidence, stated)
    metrics = transfer_metrics(evidence, stated, line_ceiling_bps=ceiling)
    return metrics if math.isnan(ceiling) else {**metrics, "line_ceiling_bps": ceiling}


def exchanges(trace: PacketTrace) -> tuple[RttSamples, ...]:
    """Return the ICMP echoes of a capture and its UDP exchanges, as far as it has any."""
    trace = in_order(trace)
    both = (round_trips.echo_samples(trace), round_trips.udp_samples(trace, strict=True))
    return tuple(exchange for exchange in both if exchange.measured.any())


def handshakes(trace: PacketTrace, *, without_data: bool = False) -> tuple[RttSamples, ...]:
    """Return the TCP handshakes of a capture as round trips, as far as it has any.

    Parameters
    ----------
    trace : PacketTrace
        A capture.
    without_data : bool
        Leave out flows that carried data, whose limits have the round trip in them.
    """
    trace = in_order(trace)
    segments = find_segments(trace)
    seen = round_trips.find_handshakes(trace, segments)
    chosen = np.arange(seen.rtt_s.size)
    if without_data:
        carried = np.unique(segments.flows.flow[segments.payload > 0])
        chosen = np.setdiff1d(chosen, carried)
    waits = round_trips.handshake_samples(trace, segments, seen, chosen)
    return (waits,) if len(waits) else ()


def explain_exchanges(
    trace: PacketTrace, stated: Known, *, without_data: bool = True
) -> tuple[Finding, ...]:
    """Return what the round trips of a capture consist of, as those of a ping.

    They are those of its exchanges and of its handshakes, ``without_data`` only of flows that
    carried none.
    """
    # Segments of TCP may be larger than packets on the line.
    sizes = np.asarray(trace.packet_bytes)[~trace.has(Layer.TCP)]
    if stated.mtu_bytes is None and sizes.max(initial=0) > DEFAULT_MTU_BYTES:
        stated = replace(stated, mtu_bytes=float(sizes.max()))
    findings = []
    for trips in (*exchanges(trace), *handshakes(trace, without_data=without_data)):
        groups = np.asarray(trips.group)
        names, counts = np.unique(groups[trips.measured], return_counts=True)
        largest = names[np.argsort(-counts, kind="stable")[:MOST_FLOWS]]
        chosen = set(largest.tolist())
        findings += [part for part in explain_round_trips(trips, stated) if part.label in chosen]
    return tuple(findings)


LEAST_COMMON_S = 2.0
"""Starts are whole seconds: flows that have less in common may have nothing. [s]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What several files show together.

    Parameters
    ----------
    causes : mapping of str to Cause
        The cause that the files of a shared line have, by the name of the file.
    notices : tuple of Notice
        How long they ran together and at which rate, or why they are not added up.
    """

    causes: Mapping[str, Cause] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()

    @property
    def have_run_at_once(self) -> bool:
        """Whether the files are of one host and of one time."""
        return any(notice.code.startswith("ran-together") for notice in self.notices)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FlowRun:
    host: str
    way: str
    start_s: FloatArray
    end_s: FloatArray
    rate_bps: FloatArray

    def rate_between(self, low_s: float, high_s: float) -> float:
        """Return the mean rate of the intervals in a time. [bit/s]"""
        inside = (self.start_s >= low_s - 0.5) & (self.end_s <= high_s + 0.5)
        return float(self.rate_bps[inside].mean()) if inside.any() else math.nan


@named_arguments
def together(named_files: Mapping[str, Samples], stated: Known) -> Together:
    """Return what flows of one host that ran at the same time have together.

    Parameters
    ----------
    named_files : mapping of str to Samples
        What was read, by the name of the file.
    stated : Known
        ``line_bps`` is the line that they may share.

    Returns
    -------
    Together
        Empty where fewer than two files have a start in UTC and one direction. Files of hosts with
        other names are not added up: each host has a clock of its own.
    """
    runs = {name: run for name, each in named_files.items() if (run := _run_of(each)) is not None}
    if len(runs) < 2 or len({run.way for run in runs.values()}) > 1:
        return Together()
    names = list(runs)
    hosts = {run.host for run in runs.values()}
    low_s = max(float(run.start_s.min()) for run in runs.values())
    high_s = min(float(run.end_s.max()) for run in runs.values())
    if len(hosts) > 1 or "" in hosts:
        apart_s = float(runs[names[-1]].start_s.min() - runs[names[0]].start_s.min())
        values = {"one": names[0], "other": names[-1], "apart_s": abs(apart_s)}
        return Together(notices=(Notice("clocks-of-two-hosts", values),))
    if high_s - low_s < LEAST_COMMON_S:
        return Together()
    rates = {name: run.rate_between(low_s, high_s) for name, run in runs.items()}
    total = math.fsum(rates.values())
    evidence = from_facts(named_files[names[0]])[0]
    ceiling = line_ceiling_bps(evidence, stated.toward(evidence.direction))
    layer = UDP_PAYLOAD if evidence.is_udp else TCP_PAYLOAD
    values = {
        "names": names, "common_s": high_s - low_s, "total_bps": total,
        "layer": layer, "line_bps": ceiling, "share": total / ceiling,
    }  # fmt: skip
    if math.isnan(ceiling):
        return Together(notices=(Notice("ran-together", values),))
    if not 1 - LINE_TOLERANCE <= total / ceiling <= 1 + LINE_TOLERANCE:
        return Together(notices=(Notice("ran-together-of-line", values),))
    causes = {
        name: Cause(
            code="shared-line", confidence=HIGH, layer=layer,
            signs=(
                Sign("rate_bps", rate, "intervals together"),
                Sign("line_bps", ceiling, "the line as stated"),
            ),
        )
        for name, rate in rates.items()
    }  # fmt: skip
    return Together(causes=causes, notices=(Notice("ran-together-full", values),))


def _run_of(samples: Samples) -> _FlowRun | None:
    """Return the intervals of a run by the clock of its host; None without a start in UTC."""
    facts = samples.facts()
    if not isinstance(samples, FlowSeries) or len(facts) != 1:
        return None
    epoch_s, rows = samples.meta.start_epoch_s, samples.measured
    if math.isnan(epoch_s) or not rows.any():
        return None
    starts = np.round(np.asarray(samples.start_s)[rows], 1)
    ends = starts + np.asarray(samples.duration_s)[rows]
    rates = np.asarray(samples.rate_bps)[rows]
    times = np.unique(starts)
    return _FlowRun(
        host=samples.meta.host,
        way=str(facts[0].get("direction", "")),
        start_s=epoch_s + times,
        end_s=epoch_s + np.array([ends[starts == time].max() for time in times]),
        rate_bps=np.array([rates[starts == time].sum() for time in times]),
    )


def explain_capture(trace: PacketTrace, stated: Known) -> tuple[Finding, ...]:
    """Return what limited the flows of a capture.

    Parameters
    ----------
    trace : PacketTrace
        A capture.
    stated : Known
        Facts stated beside it; the line is found in the capture, where nobody states it.

    Returns
    -------
    tuple of Finding
        The first one is what its user waited for most; then each other flow with data, in the
        direction that carried most. Empty where no packet carried any.
    """
    order = find_order(trace)
    ordered = on_rising_times(order)
    code = "capture-times-kept-in-order" if order.is_kept else "capture-in-order"
    said = (Notice(code),) if ordered is not trace else ()
    findings = _findings(ordered, stated, apart_s=order.apart_s)
    first = (replace(each, notices=(*said, *each.notices)) for each in findings[:1])
    return (*first, *findings[1:])


def _findings(trace: PacketTrace, stated: Known, *, apart_s: float) -> tuple[Finding, ...]:
    flows = sessions.flow_causes(trace)
    if apart_s:  # nothing follows from the time between packets of two clocks
        flows = [
            flow if apart_s < MOST_APART * flow.dialogue.base_rtt_s
            else replace(flow, cause=verdict.unsure(flow.cause))
            for flow in flows
        ]  # fmt: skip
    datagrams = [evidence for evidence in from_capture(trace) if evidence.is_udp]
    if not flows:
        return tuple(
            _of_datagrams(datagram, stated, _cause_of_datagrams(trace)) for datagram in datagrams
        )
    columns = flow_table(trace).columns()
    options = options_of(trace)
    evidence = [
        _evidence(of_tcp_flow(columns, flow.series, option_bytes=options), flow) for flow in flows
    ]
    session = sessions.session_cause(trace, flows)
    if session.code == "shared-line":
        flows = [replace(flows[0], cause=session), *flows[1:]]
    rows = sessions.waterfall(trace, flows, [each.label for each in evidence])
    session = replace(session, waterfall=rows)
    flows = [replace(flows[0], cause=session), *flows[1:MOST_FLOWS]]
    of_flows = (
        _finding(each, stated, flow, _closures(columns, flow.series))
        for each, flow in zip(evidence, flows, strict=False)
    )
    is_tcp = sessions.has_tcp(trace)
    cause = None if is_tcp else _cause_of_datagrams(trace)
    of_datagrams = (_of_datagrams(datagram, stated, cause) for datagram in datagrams)
    return (*of_flows, *of_datagrams) if is_tcp else (*of_datagrams, *of_flows)


def _evidence(evidence: Evidence, flow: sessions.FlowCause) -> Evidence:
    """Return the numbers of a flow as its sender saw them."""
    d = flow.dialogue
    loaded = float(np.median(d.trip_s)) if d.trip_s.size else math.nan
    if d.clock_steps or d.missing_bytes:  # both are mended there
        advances = np.flatnonzero(np.diff(d.acknowledged) > 0) + 1
        end_s = max(d.seen_s[-1], d.came_s[advances[-1]]) if advances.size else d.seen_s[-1]
        size_bytes = float(d.new_bytes.sum() + d.missing_bytes)
        evidence = _carried(evidence, size_bytes, float(end_s - d.seen_s[0]))
    elif d.place == SENDER and evidence.rate_bps > flow.cause.sign("line_bps"):
        # What was sent last waits in front of the line: what was acknowledged has passed it.
        last = int(np.argmax(d.acknowledged))
        size_bytes = float(d.acknowledged[last] - d.sequence.min())
        passed = _carried(evidence, size_bytes, float(d.came_s[last] - d.seen_s[0]))
        evidence = min(evidence, passed, key=lambda each: each.rate_bps)
    return replace(
        evidence,
        rtt_s=max(loaded, d.base_rtt_s) if d.base_rtt_s > 0 else loaded,
        base_rtt_s=d.base_rtt_s,
        loss_ratio=d.loss_ratio,
        in_flight_bytes=flow.cause.sign("in_flight_bytes"),
        is_window_steady=flow.cause.code == "sender-buffer",
        gap_s=math.nan,
    )


def _carried(evidence: Evidence, size_bytes: float, span_s: float) -> Evidence:
    """Return the numbers of a flow with another size and time."""
    if not span_s > 0:
        return evidence
    rate_bps = 8 * size_bytes / span_s
    return replace(evidence, rate_bps=rate_bps, duration_s=span_s, size_bytes=size_bytes)


def _closures(columns: Mapping[str, NDArray[Any]], series: int) -> tuple[Notice, ...]:
    """Return how often and how long the receiver of a direction closed its window."""
    count = int(columns["window_closed_count"][series ^ 1])
    closed_s = float(columns["window_closed_s"][series ^ 1])
    return (Notice("window-closed", {"count": count, "closed_s": closed_s}),) if count else ()


def _finding(
    evidence: Evidence, stated: Known, flow: sessions.FlowCause, closures: tuple[Notice, ...]
) -> Finding:
    cause, said = flow.cause, [*_of_capture(flow), *closures]
    differing = _differing(evidence, stated, cause)
    is_stated = stated.line_bps is not None
    line_bps = cause.sign("line_bps")
    if stated.line_bps is None and line_bps > 0:
        segment = evidence.segment_bytes
        wire = float(ethernet_wire_bytes(segment + 40 + evidence.option_bytes))
        stated = replace(stated, line_bps=line_bps * wire / segment)
        values = {"line_bps": stated.line_bps, "payload_bps": line_bps}
        code = "line-found" if cause.code in FULL_LINES else "line-seen"
        said.append(Notice(code, {**values, "layer": cause.layer}))
    limits = rate_limits(evidence, stated)
    kept = (*SAID, *SAID_OF.get(cause.code, ()))
    noted = [note for note in rate_notices(evidence, stated) if note.code in kept]
    if cause.code not in (UNKNOWN_CAUSE, "random-loss"):  # others' losses are not random
        random = {limit.subject for limit in limits if limit.name.startswith(LOSS_NAMES)}
        noted = [note for note in noted if note.values.get("subject") not in random]
    is_refuted = any(note.code == "limit-refuted" for note in noted)
    if cause.confidence == HIGH and (differing or is_refuted):
        cause = replace(cause, confidence=MEDIUM)
    ceiling_bps = line_ceiling_bps(evidence, stated)
    if evidence.rate_bps > MOST_OF_LINE * ceiling_bps:
        ceiling_bps = math.nan  # not the line of this transfer
    finding = Finding(
        label=evidence.label,
        measured=evidence.rate_bps,
        limits=limits,
        notices=(*said, *differing, *noted),
        missing=() if cause.code != UNKNOWN_CAUSE else missing(evidence, stated),
        metrics=transfer_metrics(evidence, stated, line_ceiling_bps=ceiling_bps),
        layer=TCP_PAYLOAD,
        cause=replace(cause, counterfactuals=counterfactuals(cause, evidence, stated)),
    )
    # Losses at a line that somebody stated, and that is full, are those of its queue.
    is_open = cause.code in (UNKNOWN_CAUSE, "random-loss", "shallow-buffer")
    queue_s = cause.sign("queue_s")
    is_open &= not (cause.code == "random-loss" and queue_s < LEAST_QUEUE_S)
    if is_open and is_stated and finding.stated is not None:
        return replace(finding, cause=replace(finding.stated, signs=cause.signs))
    return finding


FULL_LINES = ("line", "shared-line", "small-segments", "shallow-buffer")
"""Causes with a full line in front of which packets wait, or are dropped."""
MOST_OF_LINE = 1.05
"""A rate of more than this part of a line is not that of the line. [ratio]"""
MOST_OF_RTT = 1.05
"""A stated round trip above this part of the least one seen is refuted. [ratio]"""
LEAST_OF_LINE = 0.9
"""A line below this part of the one that was stated is another one. [ratio]"""
MOST_APART = 0.3
"""Clocks that are apart by more of the round trip leave nothing to judge. [ratio]"""
SIGMAS = 4
"""As many standard deviations of its count a loss ratio is off by chance at most. [1]"""


def _of_capture(flow: sessions.FlowCause) -> tuple[Notice, ...]:
    """Return what the capture itself did to the numbers of a flow."""
    d, said = flow.dialogue, []
    said += [Notice("capture-clock-stepped", {"step_s": by_s}) for _, by_s in d.clock_steps]
    if d.is_coarse:
        said.append(Notice("capture-clock-coarse"))
    if d.scale_is_inferred and flow.cause.code == "receiver-window":
        said.append(Notice("window-scale-fitted"))
    if d.missing_bytes > 0:
        said.append(Notice("capture-missed", {"missing_bytes": d.missing_bytes}))
    return tuple(said)


def _differing(evidence: Evidence, stated: Known, cause: Cause) -> tuple[Notice, ...]:
    """Return where the capture shows something else than was stated."""
    said = []
    ceiling_bps, line_bps = line_ceiling_bps(evidence, stated), cause.sign("line_bps")
    if cause.code in FULL_LINES and line_bps < LEAST_OF_LINE * ceiling_bps:
        values = {"line_bps": line_bps, "stated_bps": ceiling_bps}
        said.append(Notice("stated-line-above", {**values, "layer": cause.layer}))
    loss, stated_loss = evidence.loss_ratio, stated.loss_ratio
    if stated_loss is not None and evidence.size_bytes > 0:
        count = evidence.size_bytes / evidence.segment_bytes
        if abs(loss - stated_loss) * count > SIGMAS * math.sqrt(count * max(stated_loss, loss)) + 1:
            said.append(
                Notice("stated-loss-differs", {"stated_ratio": stated_loss, "loss_ratio": loss})
            )
    if stated.rtt_s is not None and stated.rtt_s > MOST_OF_RTT * evidence.base_rtt_s:
        values = {"stated_s": stated.rtt_s, "base_rtt_s": evidence.base_rtt_s}
        said.append(Notice("stated-rtt-above", values))
    if stated.window_bytes is not None and evidence.in_flight_bytes > 1.1 * stated.window_bytes:
        values = {"stated_bytes": stated.window_bytes, "in_flight_bytes": evidence.in_flight_bytes}
        said.append(Notice("stated-window-below", values))
    return tuple(said)


SAID = ("fragments-seen", "limit-refuted")
"""Notices on the numbers of a flow that its cause does not say better."""
SAID_OF = {"nagle-delayed-ack": ("stall-arithmetic",), "delayed-ack": ("stall-arithmetic",)}
"""Notices that hold for flows with a cause."""


def _cause_of_datagrams(trace: PacketTrace) -> Cause:
    """Return what the datagrams of a capture show; rows with pauses between them vary as well."""
    cause = datagram_cause(trace)
    is_open = cause.code in (UNKNOWN_CAUSE, "delay-variation")
    return (train_cause(trace) if is_open else None) or cause


def _of_datagrams(evidence: Evidence, stated: Known, cause: Cause | None) -> Finding:
    limits = rate_limits(evidence, stated)
    finding = Finding(
        label=evidence.label, measured=evidence.rate_bps, limits=limits,
        notices=tuple(rate_notices(evidence, stated)), missing=missing(evidence, stated),
        metrics=transfer_metrics(
            evidence, stated, line_ceiling_bps=line_ceiling_bps(evidence, stated)
        ),
        layer=UDP_PAYLOAD,
    )  # fmt: skip
    says_nothing = cause is None or (cause.code == UNKNOWN_CAUSE and not cause.variant)
    if finding.stated is not None or says_nothing:
        return finding
    return replace(finding, cause=cause, missing=())
