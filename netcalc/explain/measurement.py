"""What limits a measurement: the one way in, for samples of any kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from netcalc.checks import named_arguments
from netcalc.errors import ReaderError
from netcalc.explain import (
    capture_flows,
    counters,
    evidence,
    frame_tables,
    summaries,
    tables,
    time_parts,
)
from netcalc.explain.causes.captures import explain_capture
from netcalc.explain.causes.cause import UNKNOWN_CAUSE, Cause, Sign
from netcalc.explain.causes.responses import explain_other_responses, explain_responses
from netcalc.explain.causes.sizes import explain_transfer_sizes
from netcalc.explain.causes.tools import run_cause, socket_causes, trips_cause
from netcalc.explain.causes.verdict import counterfactuals
from netcalc.explain.evidence import DEFAULT_MTU_BYTES, Evidence, Known
from netcalc.explain.finding import LINE_NAMES, Finding
from netcalc.explain.metrics import transfer_metrics
from netcalc.explain.rate_limits import missing, missing_of_unexplained, rate_limits, rate_notices
from netcalc.explain.summaries import (
    explain_trips,
    quantity_of,
    rate_series,
    rate_step,
    series_evidence,
)
from netcalc.explain.tables import (
    FLAT_RATIO,
    Row,
    explain_times,
    explain_uncounted,
    pair_evidence,
    write_evidence,
)
from netcalc.messages import Notice
from netcalc.rate_layers import TCP_PAYLOAD, UDP_PAYLOAD
from netcalc.readers.captures.lists import traces_of
from netcalc.samples import (
    BulkSamples,
    FlowSeries,
    PacketTrace,
    PathSamples,
    RttSamples,
    Samples,
    Table,
    TransactionSamples,
    TransferSamples,
)

OVERLOAD_RATIO = 0.05
"""A run that lost this share was sent faster than something could forward. [ratio]"""


@named_arguments
def measurement(samples: Samples, known: Known | None = None) -> tuple[Finding, ...]:
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
    known = known or Known()
    found = _measurement(samples, known)
    if known.line_up_bps is None or any(one.direction for one in evidence_of(samples)):
        return found
    said = Notice("line-up-unused", {"line_up_bps": known.line_up_bps})
    return tuple(replace(one, notices=(*one.notices, said)) for one in found)


def _measurement(samples: Samples, known: Known) -> tuple[Finding, ...]:
    found: tuple[Finding, ...] = ()
    if isinstance(samples, RttSamples):
        found = time_parts.explain_round_trips(samples, known)
        found = found or summaries.explain_summary(samples, known)
    elif isinstance(samples, TransactionSamples):
        found = time_parts.explain_transactions(samples, known)
    elif isinstance(samples, PathSamples):
        found = time_parts.explain_paths(samples) or summaries.explain_silence(samples)
    elif isinstance(samples, TransferSamples):
        found = explain_transfer_sizes(samples, known)
    elif isinstance(samples, Table):
        found = (
            _of_packets(samples, known)
            or frame_tables.explain_sizes(samples, known)
            or _of_rows(samples, known)
            or explain_responses(samples, known)
            or counters.explain_counters(samples, known)
            or summaries.explain_transaction_rates(samples, known)
            or summaries.explain_one_way(samples, known)
            or time_parts.explain_hops(samples)
            or explain_times(samples, known)
            or tables.explain_sockets(samples)
            or explain_uncounted(samples)
            or explain_other_responses(samples, known)
            or explain_transfer_sizes(samples, known)
            or _over_time(samples, known)
        )
    return found or _rates(samples, known)


def _of_packets(samples: Table, known: Known) -> tuple[Finding, ...]:
    """Return the findings of a list of packets: of its flows, where it has all of their segments,
    else of their handshakes."""
    found: list[Finding] = []
    for one in traces_of(samples):
        if one.is_whole:
            found += explain_capture(one.trace, known)
        found += capture_flows.explain_exchanges(one.trace, known, without_data=one.is_whole)
    return tuple(found)


def _of_rows(samples: Table, known: Known) -> tuple[Finding, ...]:
    """Return the findings of a table of pairs or of writes, one for each row."""
    return tuple(
        explain_evidence(row.evidence, known, row)
        for row in pair_evidence(samples) or write_evidence(samples)
    )


def _over_time(samples: Table, known: Known) -> tuple[Finding, ...]:
    """Return the findings of a table over time, one for each quantity; none of a tool's own."""
    if "cwnd_packets" in samples.columns() or evidence.from_facts(samples):
        return ()
    steps = {quantity_of(name): rate_step(rates) for name, rates in rate_series(samples).items()}
    found = list(explain_trips(samples, known))
    for one, said in series_evidence(samples):
        finding = explain_evidence(one, known, Row(evidence=one, notices=said))
        step = steps[one.label]
        found.append(finding if step is None else replace(finding, cause=step, missing=()))
    return tuple(found)


def evidence_of(samples: Samples) -> list[Evidence]:
    """Return what a measurement says of each of its transfers; none where it has no rates."""
    if isinstance(samples, PacketTrace):
        return evidence.from_capture(samples)
    if isinstance(samples, TransferSamples):
        return evidence.from_transfers(samples)
    if isinstance(samples, BulkSamples):
        return tables.bulk_evidence(samples)
    if isinstance(samples, Table) and (listed := traces_of(samples)):
        whole = [one.trace for one in listed if one.is_whole]
        return [flow for trace in whole for flow in evidence.from_capture(trace)]
    if isinstance(samples, Table) and "cwnd_packets" in samples.columns():
        return tables.socket_evidence(samples) or evidence.from_facts(samples)
    if isinstance(samples, Table):
        rows = pair_evidence(samples) or write_evidence(samples)
        found = [row.evidence for row in rows] or evidence.from_facts(samples)
        return found or [one for one, _ in series_evidence(samples)]
    return evidence.from_facts(samples)


def _rates(samples: Samples, known: Known) -> tuple[Finding, ...]:
    exchanges: tuple[Finding, ...] = ()
    if isinstance(samples, PacketTrace):
        exchanges = capture_flows.explain_exchanges(samples, known)
        found = (*explain_capture(samples, known), *exchanges)
        if found:
            return found
    seen = evidence_of(samples)
    if known.device_pps is None:
        known = replace(known, device_pps=_equal_rate_pps(seen))
    causes = _causes(samples, seen, known)
    found = (
        *(
            _with_cause(explain_evidence(one, known), cause, one, known)
            for one, cause in zip(seen, causes, strict=True)
        ),
        *exchanges,
    )
    if not found:
        name = samples.meta.source or type(samples).__name__
        raise ReaderError("nothing-to-explain", file=name)
    return found


def _causes(samples: Samples, seen: Sequence[Evidence], known: Known) -> list[Cause]:
    """Return the cause of each transfer that the tool or the kernel shows; else an unknown one."""
    if isinstance(samples, FlowSeries):
        rows = [row for row in samples.facts() if evidence.has_rate(row)]
        mtu_bytes = known.mtu_bytes or DEFAULT_MTU_BYTES
        if len(rows) == len(seen):
            return [
                run_cause(samples, row, known, in_fragments=one.is_cut(mtu_bytes))
                for row, one in zip(rows, seen, strict=True)
            ]
    if isinstance(samples, Table) and "busy_s" in samples.columns():
        by_name = socket_causes(samples)
        return [by_name.get(one.label, Cause()) for one in seen]
    if isinstance(samples, TransferSamples) and known.rtt_s is not None:
        return [trips_cause(one.duration_s, known.rtt_s) for one in seen]
    return [Cause()] * len(seen)


def _with_cause(finding: Finding, cause: Cause, one: Evidence, known: Known) -> Finding:
    """Return a finding with its cause; where a stated limit agrees, that says it."""
    stated = finding.stated
    if stated is not None and not (cause.code == "sender-program" and finding.is_below_stated):
        cause = replace(stated, signs=cause.signs)
    windows = [each for each in finding.limits if each.name == "receive-window"]
    if cause.code == "receiver-window" and any(each.refuted(finding.measured) for each in windows):
        return finding  # more came than that window allows
    if cause.code == UNKNOWN_CAUSE and not (cause.shares or cause.variant):
        return finding
    if cause.code in ("receiver-window", "sender-buffer"):
        cause = replace(cause, counterfactuals=counterfactuals(cause, one, known))
    if math.isnan(cause.sign("rate_bps")) and finding.measured > 0:
        rate = Sign(name="rate_bps", value=finding.measured, unit="bit/s", origin="measured")
        cause = replace(cause, signs=(*cause.signs, rate), layer=finding.layer)
    said = tuple(note for note in finding.notices if note.code not in OF_NO_CAUSE)
    return replace(finding, cause=cause, notices=said)


OF_NO_CAUSE = ("loss-or-line",)
"""Notices that a cause answers."""


def _equal_rate_pps(seen: list[Evidence]) -> float | None:
    """Return the packet rate that overloaded runs of several datagram sizes have in common."""
    overloaded = [
        one
        for one in seen
        if one.is_udp and one.datagram_bytes > 0 and one.loss_ratio > OVERLOAD_RATIO
    ]
    if len({round(one.datagram_bytes) for one in overloaded}) < 2:
        return None
    rates = sorted(one.received_rate_bps / (8 * one.datagram_bytes) for one in overloaded)
    is_flat = rates[-1] <= (1 + FLAT_RATIO) * rates[0]
    return rates[len(rates) // 2] if is_flat else None


@named_arguments
def explain_evidence(one: Evidence, known: Known, row: Row | None = None) -> Finding:
    """Return the finding of one transfer, with what its row of a table adds."""
    row = row or Row(evidence=one)
    known = known.toward(one.direction)
    limits = tuple(sorted((*rate_limits(one, known), *row.limits), key=lambda limit: limit.value))
    line = next((limit.value for limit in limits if limit.name in LINE_NAMES), math.nan)
    found = Finding(
        label=one.label,
        measured=one.rate_bps,
        limits=limits,
        notices=(*rate_notices(one, known), *row.notices),
        missing=(*missing(one, known), *row.missing),
        metrics=transfer_metrics(one, known, line_ceiling_bps=line),
        layer=UDP_PAYLOAD if one.is_udp else TCP_PAYLOAD,
    )
    if limits and not found.is_explained and not math.isnan(one.rate_bps):
        return replace(found, missing=(*found.missing, *missing_of_unexplained(one, known)))
    if found.may_be_line:
        return replace(found, notices=(*found.notices, Notice("loss-or-line")))
    return found
