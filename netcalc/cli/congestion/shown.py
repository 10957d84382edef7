"""Results of scenarios as they are printed, and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from netcalc import units
from netcalc.cli import put
from netcalc.cli.output import cell, print_rows, print_table, write_plot
from netcalc.congestion import Result
from netcalc.congestion.quantities import LAYERS as LAYERS_OF_QUANTITIES
from netcalc.congestion.quantities import LIMITS, UNITS, Parting, quantities
from netcalc.congestion.result import facts
from netcalc.messages import Notice
from netcalc.rate_layers import IP, TCP_PAYLOAD, named
from netcalc.scenario import Scenario

WAY_NAMES = {"theory": "theory", "live": "live", "ns3": "ns-3"}
QUANTITY_NAMES = {
    "goodput_bps": "goodput",
    "utilization": "utilization",
    "queue_mean_bytes": "mean queue",
    "queue_median_bytes": "median queue",
    "queue_p95_bytes": "95th percentile of the queue",
    "request_p99_s": "99th percentile of requests",
    "request_p50_s": "median of requests",
    "request_mean_s": "mean of requests",
    "request_count": "requests",
    "finish_s": "finish",
    "rate_min_bps": "least rate",
    "rate_max_bps": "greatest rate",
    "window_mean_packets": "mean window",
    "window_max_packets": "greatest window",
    "rtt_mean_s": "mean round trip",
    "probe_rtt_mean_s": "mean round trip of a ping",
    "drop_count": "dropped packets",
    "resent_ratio": "sent again",
    "jain_end": "Jain index at the end",
    "convergence_s": "time to fair shares",
    "release_s": "time to take what it left",
}
"""Quantities in words; a flow's or loop's has its number."""


def draw_courses(results: list[Result], title: str, path: str) -> None:
    """Draw results over time, two windows against each other, and latencies of requests."""
    from netcalc import plots  # late: bokeh takes its time

    drawn = [plots.courses(results, title=title)]
    if _two_run_together(results[0]):
        drawn.append(plots.phase(results, title="Window against window, while both run"))
    if any(loop.count for result in results for loop in result.requests or ()):
        drawn.append(plots.latencies(results, title="Latency of requests"))
    write_plot(drawn[0] if len(drawn) == 1 else plots.together(*drawn), path)


def _two_run_together(result: Result) -> bool:
    """Whether the first two flows run at the same time."""
    if len(result.scenario.flows) < 2:
        return False
    (first_s, first_end_s), (second_s, second_end_s) = result.span_s(0), result.span_s(1)
    return max(first_s, second_s) < min(first_end_s, second_end_s)


def print_result(result: Result) -> None:
    """Print the means of a scenario."""
    from rich.box import HEAVY_HEAD

    headings = (
        "flow", "algorithm", "start", "stop", "size", named("goodput", TCP_PAYLOAD), "finish",
    )  # fmt: skip
    rows = [
        (
            str(number + 1),
            flow.algorithm,
            units.show(flow.start_s, "s"),
            _or_dash(flow.stop_s, "s"),
            _or_dash(flow.size_bytes, "byte"),
            _or_dash(float(result.goodput_bps[number]), "bit/s"),
            _or_dash(float(result.finish_s[number]), "s"),
        )
        for number, flow in enumerate(result.scenario.flows)
    ]
    if rows:
        print_rows(headings, rows, left=("algorithm",), box=HEAVY_HEAD)
    if result.trajectory is not None:
        _print_courses(result)
    mean_bytes = result.queue_mean_bytes
    lines: dict[str, Any] = {
        "utilization": "-" if np.isnan(result.utilization) else f"{result.utilization:.1%}",
        "mean queue": _or_dash(mean_bytes, "byte"),
        "95th percentile of the queue": _or_dash(result.queue_p95_bytes, "byte"),
        **link_lines(result.scenario),
        "round trip of a ping": f"mean {_or_dash(result.probe_rtt_s(mean_bytes), 's')}, 95th "
        f"percentile {_or_dash(result.probe_rtt_s(result.queue_p95_bytes), 's')}",
        "dropped packets": "-" if np.isnan(result.drop_count) else f"{result.drop_count:.0f}",
        "sent again": "-" if np.isnan(result.resent_ratio) else f"{result.resent_ratio:.2%}",
    }
    if len(result.scenario.flows) > 1:
        lines["Jain index of the goodputs"] = "-" if np.isnan(result.jain) else f"{result.jain:.3f}"
    for number, loop in enumerate(result.requests or (), 1):
        times = {"least": loop.min_s, "median": loop.percentile_s(0.5), "mean": loop.mean_s,
                 "90th": loop.percentile_s(0.9), "99th": loop.percentile_s(0.99),
                 "99.9th percentile": loop.percentile_s(0.999), "greatest": loop.max_s}  # fmt: skip
        shown_times = [
            f"{what} {units.show(s, 's')}" for what, s in times.items() if not np.isnan(s)
        ]
        shown = ", ".join([f"{loop.count:,} requests", *shown_times])
        lines[f"latency of request loop {number}"] = shown
    if result.cpu_s is not None:
        *sending, receiving = (_or_dash(host_s, "s") for host_s in result.cpu_s)
        hosts = "sending host" if len(sending) == 1 else "sending hosts"
        lines["processor time"] = f"{hosts} {', '.join(sending)}, receiving host {receiving}"
    lines["evaluated by"] = about_line(result)
    for name, text in lines.items():
        put(f"{name}: {text}")


def link_lines(scenario: Scenario) -> dict[str, str]:
    """Return what was understood of the link, as typed numbers may have no unit."""
    link = scenario.bottleneck
    rate, rtt = units.show_rate(link.rate_bps, IP), units.show(link.rtt_s, "s")
    packets = f"{link.buffer_packets:,} packets of {link.mtu_bytes} bytes"
    return {
        "link": f"{rate}, round trip of {rtt} without load",
        "buffer": f"{units.show(link.buffer_bytes, 'byte')}, {packets}",
    }


def about_line(result: Result) -> str:
    """Return the way to a result, and what repeats it."""
    about = {"netcalc": facts()["netcalc"], **result.about, "seed": result.scenario.seed}
    inside = ", ".join(f"{name} {value}" for name, value in about.items())
    return f"{WAY_NAMES[result.by]} ({inside})"


def _print_courses(result: Result) -> None:
    """Print what the course shows: of each flow in a table, of the link in lines."""
    from rich.box import HEAVY_HEAD

    courses = quantities(result)
    headings = ("flow", "least rate", "greatest", "mean window", "greatest",
                "time to fair shares", "time to take what it left")  # fmt: skip
    rows = [
        (
            str(at + 1),
            _or_dash(courses.rate_min_bps[at], "bit/s"),
            _or_dash(courses.rate_max_bps[at], "bit/s"),
            _or_dash(courses.window_mean_packets[at], "1"),
            _or_dash(courses.window_max_packets[at], "1"),
            _or_dash(courses.convergence_s[at], "s"),
            _or_dash(courses.release_s[at], "s"),
        )
        for at in range(len(result.scenario.flows))
    ]
    if rows:
        title = named("rates and windows of the flows", TCP_PAYLOAD)
        print_rows(headings, rows, title=title, box=HEAVY_HEAD)
    trips = (courses.rtt_min_s, courses.rtt_mean_s, courses.rtt_max_s)
    least, mean, greatest = (_or_dash(rtt_s, "s") for rtt_s in trips)
    put(f"round trip of the flows: least {least}, mean {mean}, greatest {greatest}")
    if not np.isnan(courses.jain_end):
        put(f"Jain index in the last second of several flows: {courses.jain_end:.3f}")
    if np.isfinite(courses.convergence_s).any():
        put(str(Notice("slow-start-counts")))


def print_partings(rows: Sequence[Parting]) -> None:
    """Print what each way has, and how far the first is from the others."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    first, *others = rows[0].values
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))  # six columns in 80 characters
    table.add_column("quantity", overflow="fold")
    for way in (first, *others):
        heading = WAY_NAMES[way] + (",\ncut" if way in rows[0].cut else "")
        table.add_column(heading, justify="right", no_wrap=True)
    for way in others:
        table.add_column(f"{WAY_NAMES[first]} -\n{WAY_NAMES[way]}", justify="right", no_wrap=True)
    for row in rows:
        name = QUANTITY_NAMES[row.quantity] + (f" {row.number}" if row.number else "")
        name = named(name, LAYERS_OF_QUANTITIES.get(row.quantity, ""))
        values = [_value(value, UNITS[row.quantity]) for value in row.values.values()]
        apart = [_difference(row, way) for way in others]
        table.add_row(*map(cell, (name, *values, *apart)))
    print_table(table)
    put(f"* further apart than theory is meant to be: {_aims()}")
    if any(row.quantity == "convergence_s" for row in rows):
        put(str(Notice("slow-start-counts")))
    if rows[0].cut:
        put(str(Notice("live-cut-compared")))


def _difference(row: Parting, way: str) -> str:
    difference = row.differences()[way]
    if np.isnan(difference):
        return "-"
    if row.is_relative(way) or difference == 0:
        shown = f"{difference:+.1%}"
    else:  # from nothing, a ratio means nothing
        apart, unit = row.apart()[way], UNITS[row.quantity]
        shown = f"{'+' if apart > 0 else '-'}{_value(abs(apart), unit)}"
    return f"{shown} *" if way in row.beyond() else f"{shown}  "


def _aims() -> str:
    quantities_by_limit: dict[float, list[str]] = {}
    for quantity, limit in LIMITS.items():
        quantities_by_limit.setdefault(limit, []).append(QUANTITY_NAMES[quantity])
    return "; ".join(
        f"{', '.join(names)} {limit:.0%}" for limit, names in quantities_by_limit.items()
    )


def _value(value: float, unit: str) -> str:
    if unit == "ratio" and not np.isnan(value):
        return f"{value:.2%}"
    return _or_dash(value, unit)


def _or_dash(value: float | None, unit: str) -> str:
    if value is None or np.isnan(value):
        return "-"
    return f"{value:.4g}" if unit == "1" else units.show(float(value), unit)
