"""``netcalc read``: summaries and overlays of files, of a capture its flows and exchanges."""

from __future__ import annotations

import math
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import click
import numpy as np

from netcalc import compare, readers
from netcalc.cli import complain, mistakes, options, output, print_json, report, say, standard_input
from netcalc.cli.first_screen import first_screen
from netcalc.errors import NetcalcError, ReaderError
from netcalc.explain import Known, sweep
from netcalc.explain.causes import captures as capture
from netcalc.messages import Notice
from netcalc.printable import excerpt, printable
from netcalc.readers.captures import anonymized_error, anonymized_samples
from netcalc.samples import BulkSamples, PacketTrace, RttSamples, Samples, TransferSamples
from netcalc.units import show, show_rate


@options.command(
    options.FORCE,
    click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object for each file."),
    names={"show_all": "--all"},
)
def read(
    files: tuple[str, ...],
    *,
    plot_path: str | None = None,
    columns: str | None = None,
    line_bps: float | None = None,
    line_up_bps: float | None = None,
    rtt_s: float | None = None,
    by: str = "",
    anonymize: bool = False,
    formats: bool = False,
    show_all: bool = False,
    force: bool,
    as_json: bool,
) -> None:
    """Read and summarize measurements; "-" is standard input.

    The format is recognized from the content, never from the name: output of measuring tools,
    columns with units in their header, runs saved by netcalc.

    Parameters
    ----------
    files : FILE...
        Files, or "-".
    plot_path : OUT
        Draw the samples with theory through them, as .html, .svg or .png.
    columns : NAMES
        Names of the columns of a file without a header, with units: size_bytes,rtt_ms.
    line_bps : float
        Rate of the line; the goodput it allows is printed next to each rate. [bit/s]
    line_up_bps : float
        Rate of the line for uploads, if it differs. [bit/s]
    rtt_s : float
        Round-trip time without load, for RFC 6349. [s]
    by : NAME
        What differs between several FILEs that --plot draws as one measurement: size, window,
        flows, offered, rtt or loss; or with their values, window=8KiB,16KiB.
    anonymize : bool
        Replace addresses, leave out names of hosts and files.
    show_all : bool
        Print every number, with its layer and side, and what judges each run.
    formats : bool
        List the formats that are read, and their traps.
    """
    if formats:
        report.print_formats(as_json=as_json)
        return
    if not files:
        raise options.missing_argument("files")
    if plot_path is not None:
        output.check_output(plot_path, inputs=files, force=force, plot=True)
    with mistakes.named_as_typed():
        path_facts = Known(line_bps=line_bps, line_up_bps=line_up_bps, rtt_s=rtt_s)
    names = None if columns is None else [part.strip() for part in columns.split(",")]
    key = secrets.token_bytes(32)  # one for all files of a call: a host is the same in each
    bad: list[str] = []
    kept: dict[str, Samples] = {}
    for number, name in enumerate(files, start=1):
        # A path may name a person or a host.
        shown = f"file {number}" if anonymize else name
        try:
            samples = _read(name, names)
            if anonymize:
                samples = anonymized_samples(samples, key=key)
            with mistakes.numbers_of(shown):
                _print(shown, samples, path_facts, as_json=as_json, show_all=show_all)
                if plot_path is not None and len(files) == 1:
                    _draw(shown, samples, plot_path, path_facts)
                    output.print_written(plot_path)
            kept[shown] = samples
        except NetcalcError as error:
            mistakes.for_command_line(error)
            if anonymize:
                anonymized_error(error, names=mistakes.names_of_file(name), shown=shown, key=key)
            bad.append(shown)
            if as_json:
                print_json({"file": shown, "error": error.as_dict()})
            complain(str(error))
    if len(files) > 1:
        _print_together(kept, by, plot_path, path_facts, as_json=as_json)
    if bad:
        _end_with(bad, total=len(files))


def _print_together(
    named: Mapping[str, Samples], by: str, plot_path: str | None, path_facts: Known, *,
    as_json: bool,
) -> None:  # fmt: skip
    """Say what differs between several files, and draw them as one measurement."""
    with mistakes.named_as_typed():
        joined = sweep(named, by)
    if joined is not None and not as_json:
        say(f"{joined.said}")
    if plot_path is None:
        return
    if joined is None or joined.samples is None:
        plot = output.flows_plot(named, path_facts)
        output.write_flows(plot, named, plot_path, as_json=as_json)
        return
    _draw(joined.samples.meta.source, joined.samples, plot_path, path_facts)
    output.print_written(plot_path)


def _end_with(bad: list[str], *, total: int) -> NoReturn:
    """Name the files that could not be read; end with 2 if there are no others, otherwise 1."""
    if total > 1:
        listed = ", ".join(excerpt(name, 200) for name in bad)
        values = {"count": len(bad), "total": total, "names": listed}
        complain(str(Notice("files-not-read", values)))
    sys.exit(2 if len(bad) == total else 1)


def _print(
    shown: str, samples: Samples, path_facts: Known, *, as_json: bool, show_all: bool
) -> None:
    """Print the report of one file."""
    if report.is_recording(samples):
        # Late: it loads the models of flows.
        from netcalc.cli.congestion import print_recording
        from netcalc.congestion.recording import from_table

        print_recording(from_table(samples, file=shown), as_json=as_json)
        return
    if not (as_json or show_all or report.is_truth(samples)):
        say(first_screen(shown, samples, path_facts))
        return
    if isinstance(samples, PacketTrace):
        print_capture(shown, samples, as_json=as_json, path_facts=path_facts)
    else:
        report.print_samples(shown, samples, as_json=as_json, path_facts=path_facts)
    if not as_json and not report.is_truth(samples):
        report.print_facts(samples)


def _draw(name: str, samples: Samples, path: str, path_facts: Known) -> None:
    """Draw samples into one file."""
    if report.is_truth(samples):
        from netcalc.cli.validate import save_truth_plot  # late: it loads the experiments

        save_truth_plot(samples, path)
        return
    if report.is_recording(samples):
        from netcalc.cli.congestion.batch import draw_courses
        from netcalc.congestion.recording import from_table

        draw_courses([from_table(samples, file=name).result()], name, path)
        return
    from netcalc import plots  # late: bokeh takes its time
    from netcalc.plots.measured import has_comparison, is_drawn

    if not is_drawn(samples):
        if isinstance(samples, BulkSamples) and compare.is_router(samples):
            raise ReaderError("router-hosts-alone", file=name, value=str(len(samples)))
        raise ReaderError("nothing-to-draw", file=name)
    if has_comparison(samples) and not isinstance(samples, TransferSamples):
        output.save_plot(compare.overlay(samples), path)
    else:
        output.write_plot(plots.measured(samples, path_facts), path)


def _read(name: str, columns: list[str] | None) -> Samples:
    if name == "-":
        return readers.read(standard_input(), columns=columns)
    return readers.read(Path(name), columns=columns)


def print_capture(
    name: str, trace: PacketTrace, *, as_json: bool, path_facts: Known | None
) -> None:
    """Print the report of a capture, of its flows and of its exchanges."""
    if as_json:
        print_json({**report.summary(name, trace), **flow_document(trace, path_facts)})
        return
    say("\n".join([report.describe(name, trace), *flow_lines(trace, path_facts)]))


def flow_document(trace: PacketTrace, path_facts: Known | None) -> dict[str, Any]:
    """Return what ``--json`` has of the flows of a capture: all of them, and its exchanges."""
    flows = capture.flows(trace, path_facts)
    return {
        "flows": flows,
        "exchanges": [row for flow in capture.exchanges(trace) for row in _exchange_rows(flow)],
        "metrics": [
            {"label": flow["label"], "layer": flow["layer"], **flow["metrics"]}
            for flow in flows
            if flow["metrics"]
        ],
    }


def flow_lines(trace: PacketTrace, path_facts: Known | None) -> list[str]:
    """Return the text of the largest flows of a capture, and of its exchanges."""
    flows = capture.flows(trace, path_facts)
    lines = []
    for flow in flows[: report.MOST_RUNS]:
        lines += [f"  {printable(flow['label'])} ({flow['protocol'].upper()})", *_details(flow)]
        if flow["metrics"]:
            lines.append(f"    {report.metric_line(flow['metrics'], layer=flow['layer'])}")
    more = len(flows) - report.MOST_RUNS
    if more > 0:
        lines.append(f"  {more} more with data: --json has them, and netcalc export --flows")
    rows = [row for flow in capture.exchanges(trace) for row in _exchange_rows(flow)]
    lines += [_exchange_line(row) for row in rows[: report.MOST_RUNS]]
    if len(rows) > report.MOST_RUNS:
        lines.append(f"  {len(rows) - report.MOST_RUNS} more exchanges: --json has them")
    return lines


def _details(flow: dict[str, Any]) -> list[str]:
    """Return the lines of one direction of a flow: what it carried, lost and waited for."""
    rate = flow.get("goodput_bps", math.nan)
    size = show(flow["payload_bytes"], "byte")
    what = size if math.isnan(rate) else f"{show_rate(rate, flow['layer'])}: {size} of data"
    if flow["protocol"] == "udp":
        what += f" in {_count(flow['datagram_count'], 'datagram')}"
    else:
        what += f" in {_count(flow['data_segment_count'], 'segment')}"
        what += f", {flow['retransmission_count']:,} sent again"
    if not math.isnan(rate):
        what += f", over {show(flow['duration_s'], 's')}"
    lines = [f"    {what}"]
    if flow["protocol"] == "tcp":
        times = [
            f"{name} {show(flow[field], 's')}"
            for name, field in (
                ("handshake", "handshake_rtt_s"), ("min", "rtt_min_s"),
                ("median", "rtt_median_s"), ("max", "rtt_max_s"),
            )
            if not math.isnan(flow[field])
        ]  # fmt: skip
        sizes = [
            f"{name} {show(flow[field], 'byte')}"
            for name, field in (
                ("window offered by the receiver", "offered_window_bytes"),
                ("in flight at most", "in_flight_bytes"),
                ("MSS", "mss_bytes"),
            )
            if flow[field] > 0
        ]
        lines += _missed_lines(flow)
        lines += [f"    round trip: {', '.join(times)}"] if times else []
        lines += [f"    {', '.join(sizes)}"] if sizes else []
    return lines


def _missed_lines(flow: dict[str, Any]) -> list[str]:
    """Return what the capture missed of a direction, and how long its receiver was closed."""
    lines = []
    if flow["missed_bytes"] > 0:
        size = show(flow["missed_bytes"], "byte")
        lines.append(f"    {size} more were acknowledged and not captured: both are higher")
    if (count := flow["receiver_window_closed_count"]) > 0:
        times, closed = _count(count, "time"), show(flow["receiver_window_closed_s"], "s")
        lines.append(f"    the receiver closed its window {times}, for {closed} in all")
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
