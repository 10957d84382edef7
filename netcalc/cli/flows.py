"""The flows and the exchanges of a capture, as ``netcalc read`` prints them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from netcalc.cli import print_json, say
from netcalc.cli.report import MOST_RUNS, describe, metric_line, summary
from netcalc.explain import Known
from netcalc.explain import capture_flows as capture
from netcalc.printable import printable
from netcalc.samples import PacketTrace, RttSamples
from netcalc.units import show, show_rate


def print_capture(name: str, trace: PacketTrace, *, as_json: bool, known: Known | None) -> None:
    """Print the report of a capture, of its flows and of its exchanges."""
    if as_json:
        print_json({**summary(name, trace), **flow_document(trace, known)})
        return
    say("\n".join([describe(name, trace), *flow_lines(trace, known)]))


def flow_document(trace: PacketTrace, known: Known | None) -> dict[str, Any]:
    """Return what ``--json`` has of the flows of a capture: all of them, and its exchanges."""
    flows = capture.flows(trace, known)
    return {
        "flows": flows,
        "exchanges": [row for one in capture.exchanges(trace) for row in _exchange_rows(one)],
        "metrics": [
            {"label": one["label"], "layer": one["layer"], **one["metrics"]}
            for one in flows
            if one["metrics"]
        ],
    }


def flow_lines(trace: PacketTrace, known: Known | None) -> list[str]:
    """Return the text of the largest flows of a capture, and of its exchanges."""
    flows = capture.flows(trace, known)
    lines = []
    for one in flows[:MOST_RUNS]:
        lines += [f"  {printable(one['label'])} ({one['protocol'].upper()})", *_details(one)]
        if one["metrics"]:
            lines.append(f"    {metric_line(one['metrics'], layer=one['layer'])}")
    more = len(flows) - MOST_RUNS
    if more > 0:
        lines.append(f"  {more} more with data: --json has them, and netcalc export --flows")
    rows = [row for one in capture.exchanges(trace) for row in _exchange_rows(one)]
    lines += [_exchange_line(row) for row in rows[:MOST_RUNS]]
    if len(rows) > MOST_RUNS:
        lines.append(f"  {len(rows) - MOST_RUNS} more exchanges: --json has them")
    return lines


def _details(one: dict[str, Any]) -> list[str]:
    """Return the lines of one direction of a flow: what it carried, lost and waited for."""
    rate = one.get("goodput_bps", math.nan)
    size = show(one["payload_bytes"], "byte")
    what = size if math.isnan(rate) else f"{show_rate(rate, one['layer'])}: {size} of data"
    if one["protocol"] == "udp":
        what += f" in {_count(one['datagram_count'], 'datagram')}"
    else:
        what += f" in {_count(one['data_segment_count'], 'segment')}"
        what += f", {one['retransmission_count']:,} sent again"
    if not math.isnan(rate):
        what += f", over {show(one['duration_s'], 's')}"
    lines = [f"    {what}"]
    if one["protocol"] == "tcp":
        times = [
            f"{name} {show(one[field], 's')}"
            for name, field in (
                ("handshake", "handshake_rtt_s"), ("min", "rtt_min_s"),
                ("median", "rtt_median_s"), ("max", "rtt_max_s"),
            )
            if not math.isnan(one[field])
        ]  # fmt: skip
        sizes = [
            f"{name} {show(one[field], 'byte')}"
            for name, field in (
                ("window offered by the receiver", "offered_window_bytes"),
                ("in flight at most", "in_flight_bytes"),
                ("MSS", "mss_bytes"),
            )
            if one[field] > 0
        ]
        lines += [f"    round trip: {', '.join(times)}"] if times else []
        lines += [f"    {', '.join(sizes)}"] if sizes else []
    return lines


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _exchange_rows(samples: RttSamples) -> list[dict[str, Any]]:
    """Return a row for each pair of hosts: requests, replies, and round trips."""
    groups, rows = np.asarray(samples.group), []
    for name in samples.groups:
        own = groups == name
        rtt = np.asarray(samples.rtt_s)[own & samples.measured]
        rows.append(
            {
                "label": name,
                "sent_count": int(own.sum()),
                "received_count": int(rtt.size),
                "rtt_min_s": float(rtt.min()) if rtt.size else math.nan,
                "rtt_median_s": float(np.median(rtt)) if rtt.size else math.nan,
                "rtt_max_s": float(rtt.max()) if rtt.size else math.nan,
            }
        )
    return rows


def _exchange_line(row: dict[str, Any]) -> str:
    counts = f"{_count(row['sent_count'], 'request')}, {row['received_count']:,} answered"
    line = f"  {printable(row['label'])}: {counts}"
    if not row["received_count"]:
        return line
    times = ", ".join(
        f"{name} {show(row[f'rtt_{name}_s'], 's')}" for name in ("min", "median", "max")
    )
    return f"{line}; round trip {times}"
