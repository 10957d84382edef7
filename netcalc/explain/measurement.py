"""What limits a measurement: the one way in, for samples of any kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from netcalc.checks import named_arguments
from netcalc.errors import ReaderError
from netcalc.explain import counters, evidence, frame_tables, summaries, tables, time_parts
from netcalc.explain.causes import captures, laws, queues, responses
from netcalc.explain.causes.cause import MEDIUM, UNKNOWN_CAUSE, Cause, Sign
from netcalc.explain.causes.links import explain_links
from netcalc.explain.causes.tools import run_cause, setting_cause, socket_causes, trips_cause
from netcalc.explain.causes.unopened import explain_unopened
from netcalc.explain.causes.verdict import counterfactuals
from netcalc.explain.evidence import DEFAULT_MTU_BYTES, Evidence, Known, transfer_metrics
from netcalc.explain.finding import LINE_NAMES, Finding
from netcalc.explain.rate_limits import missing, missing_of_unexplained, rate_limits, rate_notices
from netcalc.messages import Notice
from netcalc.path import Path
from netcalc.rate_layers import TCP_PAYLOAD, UDP_PAYLOAD, UNKNOWN
from netcalc.readers.captures.lists import traces_of
from netcalc.readers.places import rate_layer
from netcalc.samples import (
    BulkSamples,
    FlowSeries,
    HopSamples,
    PacketTrace,
    PathSamples,
    RttSamples,
    Samples,
    Table,
    TrainSamples,
    TransactionSamples,
    TransferSamples,
)
from netcalc.units import show

OWN_COLUMNS = "columns"
"""Tool of a table that no tool printed."""
PACKET_LISTS = ("tcpdump", "tshark", "Wireshark")
"""Tools whose tables are packets: their times are no times of what has their sizes."""
OVERLOAD_RATIO = 0.05
"""A run that lost this share was sent faster than something could forward. [ratio]"""


@named_arguments
def measurement(samples: Samples, stated: Known | None = None) -> tuple[Finding, ...]:
    """Find what limits each run, flow or target of a measurement.

    Parameters
    ----------
    samples : Samples
        What a reader or a live run returns.
    known : Known, optional
        Facts known besides it: round trip, line, window, loss.

    Returns
    -------
    tuple of Finding
        One for each run, direction, flow, target or size. A finding without limits names the
        missing facts.

    Raises
    ------
    ReaderError
        If nothing in the file can be explained: columns without a theory.

    See Also
    --------
    netcalc.explain.rate : The limits of a path, without a measurement.

    Examples
    --------
    >>> from netcalc.samples import FlowSeries, Meta
    >>> flow = FlowSeries(start_s=[0.0], duration_s=[10.0], payload_bytes=[16.3e6],
    ...     throughput_bps=[13.04e6], meta=Meta(facts=(
    ...     {"received_rate_bps": 13.04e6, "received_byte_count": 16300000, "duration_s": 10.0},)))
    >>> found, = measurement(flow, Known(rtt_s=0.04, line_bps=1e9, window_bytes=65535))
    >>> found.binding.name, found.confidence
    ('window', 'high')
    """
    stated = _with_set_path(samples, stated or Known())
    findings = _with_assumed_layer(samples, _measurement(samples, stated))
    if stated.line_up_bps is None or any(series.direction for series in evidence_of(samples)):
        return findings
    said = Notice("line-up-unused", {"line_up_bps": stated.line_up_bps})
    return tuple(replace(finding, notices=(*finding.notices, said)) for finding in findings)


def _measurement(samples: Samples, stated: Known) -> tuple[Finding, ...]:
    findings: tuple[Finding, ...] = ()
    if isinstance(samples, RttSamples):
        findings = time_parts.explain_round_trips(samples, stated)
        findings = findings or summaries.explain_summary(samples, stated)
    elif isinstance(samples, TransactionSamples):
        findings = time_parts.explain_transactions(samples, stated)
    elif isinstance(samples, PathSamples):
        findings = time_parts.explain_paths(samples) or summaries.explain_silence(samples)
    elif isinstance(samples, HopSamples):
        findings = explain_links(samples)
    elif isinstance(samples, TransferSamples):
        findings = responses.explain_transfer_sizes(samples, stated)
    elif isinstance(samples, TrainSamples):
        findings = queues.explain_trains(samples)
    elif isinstance(samples, BulkSamples):
        findings = _of_settings(samples, stated)
    elif isinstance(samples, Table):
        findings = (
            _of_packets(samples, stated)
            if samples.meta.tool in PACKET_LISTS
            else frame_tables.explain_sizes(samples, stated)
            or tables.explain_falling(samples)
            or _of_rows(samples, stated)
            or responses.explain_responses(samples, stated)
            or _of_windows(samples, stated)
            or laws.explain_laws(samples, stated)
            or queues.explain_queue(samples)
            or counters.explain_counters(samples, stated)
            or summaries.explain_transaction_rates(samples, stated)
            or summaries.explain_one_way(samples, stated)
            or time_parts.explain_hops(samples)
            or tables.explain_times(samples, stated)
            or tables.explain_sockets(samples)
            or tables.explain_uncounted(samples)
            or responses.explain_other_responses(samples, stated)
            or responses.explain_transfer_sizes(samples, stated)
            or _over_time(samples, stated)
        )
    return findings or _rates(samples, stated)


def _with_assumed_layer(samples: Samples, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Say once that rates of a table are taken for payload, where nobody says of what they are."""
    units = samples.meta.units if isinstance(samples, Table) else {}
    layers = {name: rate_layer(samples, {}, name) for name in units if units[name] == "bit/s"}
    layer = findings[0].layer if findings else ""
    if not layers or set(layers.values()) != {UNKNOWN} or layer not in (TCP_PAYLOAD, UDP_PAYLOAD):
        return findings
    said = Notice("assumed-layer", {"names": list(layers), "layer": layer})
    return (replace(findings[0], notices=(*findings[0].notices, said)), *findings[1:])


def _with_set_path(samples: Samples, stated: Known) -> Known:
    """Return what is known, with line and round trip of the emulated path of a bulk transfer."""
    truth = samples.meta.instrument.truth
    if not isinstance(samples, BulkSamples) or truth is None:
        return stated
    path = Path.from_truth(truth)
    return replace(
        stated,
        line_bps=stated.line_bps or path.bottleneck_bps,
        rtt_s=stated.rtt_s or (2 * path.latency_s or None),
    )


def _of_settings(samples: BulkSamples, stated: Known) -> tuple[Finding, ...]:
    """Return the findings of a run of several sizes, buffers or pairs as one table."""
    if samples.meta.experiment == "router":
        return frame_tables.explain_sizes(tables.table_of_directions(samples), stated)
    table = tables.table_of_settings(samples)
    if table is None:
        return ()
    return (
        frame_tables.explain_sizes(table, stated)
        or _of_rows(table, stated)
        or responses.explain_responses(table, stated)
    )


def _of_packets(samples: Table, stated: Known) -> tuple[Finding, ...]:
    """Return the findings of a list of packets: of its flows, where it has all of their segments,
    else of their handshakes."""
    findings: list[Finding] = []
    for listed_trace in traces_of(samples):
        if listed_trace.is_whole:
            findings += captures.explain_capture(listed_trace.trace, stated)
        findings += captures.explain_exchanges(
            listed_trace.trace, stated, without_data=listed_trace.is_whole
        )
        if not findings and listed_trace.is_whole:
            findings += explain_unopened(listed_trace.trace)
    return tuple(findings)


def _of_rows(samples: Table, stated: Known) -> tuple[Finding, ...]:
    """Return the findings of a table of pairs or of writes, one for each row."""
    return tuple(
        explain_evidence(row.evidence, stated, row)
        for row in tables.pair_evidence(samples) or tables.write_evidence(samples)
    )


def _of_windows(samples: Table, stated: Known) -> tuple[Finding, ...]:
    """Return the findings of a table of windows and round trips that both vary, one for a row."""
    windows, trips = (tables.numbers(samples, role) for role in ("window_bytes", "response_rtt_s"))
    rates = tables.rates_of(samples)
    if windows is None or trips is None or rates is None or summaries.is_over_time(samples):
        return ()
    good = tables.plausible(windows, trips, rates)
    if any(np.unique(column[good]).size < 2 for column in (windows, trips)):
        return ()
    return tuple(
        explain_evidence(
            Evidence(label=f"{show(window, 'byte')}, {show(trip, 's')}", rate_bps=rate),
            replace(stated, window_bytes=window, rtt_s=trip),
        )
        for window, trip, rate in np.column_stack([windows, trips, rates])[good].tolist()
    )


def _over_time(samples: Table, stated: Known) -> tuple[Finding, ...]:
    """Return the findings of a table over time, one for each quantity; none of a tool's own."""
    if "cwnd_packets" in samples.columns() or evidence.from_facts(samples):
        return ()
    steps = {
        name: summaries.rate_step(rates) for name, rates in summaries.rate_series(samples).items()
    }
    findings = [
        *summaries.explain_shares(samples), *summaries.explain_trips(samples, stated)
    ]  # fmt: skip
    for series, said in summaries.series_evidence(samples):
        finding = explain_evidence(series, stated, tables.Row(evidence=series, notices=said))
        step = steps[series.label]
        findings.append(finding if step is None else replace(finding, cause=step, missing=()))
    return tuple(findings)


def evidence_of(samples: Samples) -> list[Evidence]:
    """Return what a measurement says of each of its transfers; none where it has no rates."""
    if isinstance(samples, PacketTrace):
        return evidence.from_capture(samples)
    if isinstance(samples, TransferSamples):
        return evidence.from_transfers(samples) or evidence.from_facts(samples)
    if isinstance(samples, BulkSamples):
        return tables.bulk_evidence(samples)
    if isinstance(samples, Table) and (listed := traces_of(samples)):
        whole = [part.trace for part in listed if part.is_whole]
        return [flow for trace in whole for flow in evidence.from_capture(trace)]
    if isinstance(samples, Table) and "cwnd_packets" in samples.columns():
        return tables.socket_evidence(samples) or evidence.from_facts(samples)
    if isinstance(samples, Table):
        rows = tables.pair_evidence(samples) or tables.write_evidence(samples)
        seen = [row.evidence for row in rows] or evidence.from_facts(samples)
        return seen or [series for series, _ in summaries.series_evidence(samples)]
    return evidence.from_facts(samples)


def _rates(samples: Samples, stated: Known) -> tuple[Finding, ...]:
    exchanges: tuple[Finding, ...] = ()
    if isinstance(samples, PacketTrace):
        exchanges = captures.explain_exchanges(samples, stated)
        findings = (*captures.explain_capture(samples, stated), *exchanges)
        if findings := findings or explain_unopened(samples):
            return findings
    seen = evidence_of(samples)
    if stated.device_pps is None:
        stated = replace(stated, device_pps=_equal_rate_pps(seen))
    causes = _causes(samples, seen, stated)
    findings = (
        *(
            _with_cause(explain_evidence(evidence, stated), cause, evidence, stated)
            for evidence, cause in zip(seen, causes, strict=True)
        ),
        *exchanges,
    )
    if not findings:
        name = samples.meta.source or type(samples).__name__
        if isinstance(samples, Table) and samples.meta.tool == OWN_COLUMNS:
            if (series := tables.by_series(samples)) is not None:
                with suppress(ReaderError):  # it names columns that are not of the file
                    return _measurement(series, stated)
            unknown = tables.unrecognized(samples)
            code = "columns-not-recognized" if unknown else "columns-without-theory"
            columns = (unknown or list(samples.columns()))[: tables.SHOWN_COLUMNS]
            raise ReaderError(code, file=name, names=columns)
        raise ReaderError("nothing-to-explain", file=name)
    return findings


def _causes(samples: Samples, seen: Sequence[Evidence], stated: Known) -> list[Cause]:
    """Return the cause of each transfer that the tool or the kernel shows; else an unknown one."""
    if isinstance(samples, FlowSeries):
        rows = [row for row in samples.facts() if evidence.has_rate(row)]
        mtu_bytes = stated.mtu_bytes or DEFAULT_MTU_BYTES
        if len(rows) == len(seen):
            return [
                run_cause(samples, row, stated, in_fragments=evidence.is_cut(mtu_bytes))
                for row, evidence in zip(rows, seen, strict=True)
            ]
    if isinstance(samples, BulkSamples):
        return [setting_cause(row, samples) for row in samples.by_setting()]
    if isinstance(samples, Table) and "busy_s" in samples.columns():
        by_name = socket_causes(samples)
        return [by_name.get(evidence.label, Cause()) for evidence in seen]
    if isinstance(samples, TransferSamples) and stated.rtt_s is not None:
        return [trips_cause(evidence.duration_s, stated.rtt_s) for evidence in seen]
    return [Cause()] * len(seen)


def _with_cause(finding: Finding, cause: Cause, evidence: Evidence, stated: Known) -> Finding:
    """Return a finding with its cause; where a stated limit agrees, that says it."""
    agreeing = finding.stated
    if agreeing is not None and not (cause.code == "sender-program" and finding.is_below_stated):
        cause = replace(agreeing, signs=cause.signs)
    windows = [each for each in finding.limits if each.name == "receive-window"]
    if cause.code == "receiver-window" and any(each.refuted(finding.measured) for each in windows):
        return finding  # more came than that window allows
    if cause.code == UNKNOWN_CAUSE and not (cause.shares or cause.variant):
        return finding
    if cause.code in ("receiver-window", "sender-buffer"):
        cause = replace(cause, counterfactuals=counterfactuals(cause, evidence, stated))
    rate_bps = evidence.rate_bps  # of a single list of sockets, the mean of its busy time
    if math.isnan(rate_bps) and evidence.duration_s > 0:
        rate_bps = 8 * evidence.size_bytes / evidence.duration_s
    if math.isnan(cause.sign("rate_bps")) and rate_bps > 0:
        rate = Sign("rate_bps", rate_bps, "measured")
        cause = replace(cause, signs=(*cause.signs, rate), layer=finding.layer)
    line_bps = next((each.value for each in finding.limits if each.name == "line"), math.nan)
    is_queue = cause.code == "line" and not cause.variant
    if is_queue and rate_bps < captures.LEAST_OF_LINE * line_bps * cause.share_of_time:
        signs = (*cause.signs, Sign("line_bps", line_bps, "the line as stated"))
        cause = replace(cause, variant="elsewhere", signs=signs, confidence=MEDIUM)
    said = tuple(note for note in finding.notices if note.code not in OF_NO_CAUSE)
    return replace(finding, cause=cause, notices=said)


OF_NO_CAUSE = ("loss-or-line",)
"""Notices that a cause answers."""


def _equal_rate_pps(seen: list[Evidence]) -> float | None:
    """Return the packet rate that overloaded runs of several datagram sizes have in common."""
    overloaded = [
        evidence
        for evidence in seen
        if evidence.is_udp and evidence.datagram_bytes > 0 and evidence.loss_ratio > OVERLOAD_RATIO
    ]
    if len({round(evidence.datagram_bytes) for evidence in overloaded}) < 2:
        return None
    rates = sorted(
        evidence.received_rate_bps / (8 * evidence.datagram_bytes) for evidence in overloaded
    )
    is_flat = rates[-1] <= (1 + tables.FLAT_RATIO) * rates[0]
    return rates[len(rates) // 2] if is_flat else None


@named_arguments
def explain_evidence(evidence: Evidence, stated: Known, row: tables.Row | None = None) -> Finding:
    """Return the finding of one transfer, with what its row of a table adds."""
    row = row or tables.Row(evidence=evidence)
    is_of_other_way = evidence.direction == "upload" and stated.line_up_bps is None
    stated = stated.toward(evidence.direction)
    limits = tuple(
        sorted((*rate_limits(evidence, stated), *row.limits), key=lambda limit: limit.value)
    )
    line = next((limit.value for limit in limits if limit.name in LINE_NAMES), math.nan)
    finding = Finding(
        label=evidence.label,
        measured=evidence.rate_bps,
        limits=limits,
        notices=(*rate_notices(evidence, stated), *row.notices),
        missing=(*missing(evidence, stated), *row.missing),
        metrics=transfer_metrics(evidence, stated, line_ceiling_bps=line),
        layer=UDP_PAYLOAD if evidence.is_udp else TCP_PAYLOAD,
    )
    if limits and not finding.is_explained and not math.isnan(evidence.rate_bps):
        asked = (*finding.missing, *missing_of_unexplained(evidence, stated))
        is_queued = any(notice.code == "queue-in-buffer" for notice in finding.notices)
        if is_queued and is_of_other_way and stated.line_bps is not None:
            asked = (Notice("ask-line-up"), *asked)
        return replace(finding, missing=asked)
    if finding.may_be_line:
        return replace(finding, notices=(*finding.notices, Notice("loss-or-line")))
    return finding
