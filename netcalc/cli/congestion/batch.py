"""Scenarios of ``netcalc congestion``: a grid, saved as it comes, and results as printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netcalc import scenario as scenarios
from netcalc import units
from netcalc.checks import FloatArray
from netcalc.cli import INTERRUPTED, complain, output, print_json, put
from netcalc.cli.mistakes import CommandError, lacking
from netcalc.cli.options import Choice, WholeNumber, options_of
from netcalc.congestion import Result
from netcalc.congestion.grid import BUFFERS, MOST_CASES, VARIED, Grid, Matrix, Value, unit_of
from netcalc.congestion.quantities import LAYERS as LAYERS_OF_QUANTITIES
from netcalc.congestion.quantities import LIMITS, UNITS, Parting, quantities
from netcalc.congestion.result import LEAST_COUNT, Latencies, facts
from netcalc.errors import DomainError, ReaderError, UnitError
from netcalc.messages import Notice
from netcalc.rate_layers import IN_HEADING, IP, TCP_PAYLOAD, named
from netcalc.readers.places import layers_of_columns
from netcalc.samples import Table, write_atomically
from netcalc.scenario import ALGORITHMS, Scenario

if TYPE_CHECKING:
    from netcalc.congestion.batch import Outcome


WAY_NAMES = {"theory": "theory", "live": "live", "ns3": "ns-3", "measured": "measured"}
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
    output.write_plot(drawn[0] if len(drawn) == 1 else plots.together(*drawn), path)


def _two_run_together(result: Result) -> bool:
    """Whether the first two flows run at the same time."""
    if len(result.scenario.flows) < 2:
        return False
    (first_s, first_end_s), (second_s, second_end_s) = result.span_s(0), result.span_s(1)
    return max(first_s, second_s) < min(first_end_s, second_end_s)


def print_result(result: Result) -> None:
    """Print the means of a scenario."""
    put(f"evaluated by: {about_line(result)}")
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
        output.print_rows(headings, rows, left=("algorithm",), box="HEAVY_HEAD")
    if result.trajectory is not None:
        _print_courses(result)
    mean_bytes = result.queue_mean_bytes
    lines = {
        "utilization": _formatted(result.utilization, ".1%"),
        "mean queue": _or_dash(mean_bytes, "byte"),
        "95th percentile of the queue": _or_dash(result.queue_p95_bytes, "byte"),
        **link_lines(result.scenario),
        "round trip of a ping": f"mean {_or_dash(result.probe_rtt_s(mean_bytes), 's')}, 95th "
        f"percentile {_or_dash(result.probe_rtt_s(result.queue_p95_bytes), 's')}",
        "dropped packets": _formatted(result.drop_count, ".0f"),
        "sent again": _formatted(result.resent_ratio, ".2%"),
    }
    if len(result.scenario.flows) > 1:
        lines["Jain index of the goodputs"] = _formatted(result.jain, ".3f")
    for number, loop in enumerate(result.requests or (), 1):
        lines[f"latency of request loop {number}"] = latencies_line(loop, by=result.by)
    if result.cpu_s is not None:
        *sending, receiving = (_or_dash(host_s, "s") for host_s in result.cpu_s)
        hosts = "sending host" if len(sending) == 1 else "sending hosts"
        lines["processor time"] = f"{hosts} {', '.join(sending)}, receiving host {receiving}"
    for name, text in lines.items():
        put(f"{name}: {text}")


def latencies_line(loop: Latencies, *, by: str, runs: int = 1) -> str:
    """Return how many requests were answered, and how fast; live, what a percentile needs."""
    least, mean, most = (units.show(s, "s") for s in (loop.min_s, loop.mean_s, loop.max_s))
    middle = _percentile(loop, 0.5)
    shown = [f"least {least}", *([f"median {middle}"] if middle else []), f"mean {mean}"]
    for share, name in ((0.9, "90th"), (0.99, "99th"), (0.999, "99.9th percentile")):
        if text := _percentile(loop, share):
            shown.append(f"{name} {text}")
    shown.append(f"greatest {most}")
    for share, name in ((0.99, "99th"), (0.999, "99.9th percentile")):
        if by == "live" and np.isnan(loop.percentile_s(share)) and loop.count:
            needed = LEAST_COUNT[share]
            repeats = -(-needed * runs // loop.count)
            shown.append(f"{name} from {needed:,} requests on (--out with --repeats {repeats})")
            break
    each_text = f" in each of {len(loop.run_counts)} runs" if loop.run_counts else ""
    return ", ".join([f"{loop.count:,} requests{each_text}", *(shown if loop.count else [])])


def _percentile(loop: Latencies, share: float) -> str:
    """Return a percentile with its interval, if that is known; nothing without it."""
    value, ends = loop.percentile_s(share), loop.interval_s(share)
    within = "" if np.isnan(ends[0]) else f" {_interval(*ends)}"
    return "" if np.isnan(value) else f"{units.show(value, 's')}{within}"


def _interval(low_s: float, high_s: float) -> str:
    """Return an interval in brackets; one without a known end is open.

    Examples
    --------
    >>> _interval(0.07, 0.08), _interval(0.07, float("nan"))
    ('(70 to 80 ms)', '(70 ms or more)')
    """
    low, high = units.show(low_s, "s"), units.show(high_s, "s")
    if np.isnan(high_s):
        return f"({low} or more)"
    (number, unit), (_, same) = low.rsplit(" ", 1), high.rsplit(" ", 1)
    return f"({number if unit == same else low} to {high})"


def link_lines(scenario: Scenario) -> dict[str, str]:
    """Return what was understood of the link, as typed numbers may have no unit."""
    link = scenario.bottleneck
    rate = units.show_rate(link.rate_bps, IP)
    ends = dict.fromkeys(
        (min(scenario.rtts_s(), default=link.rtt_s), max(scenario.rtts_s(), default=link.rtt_s))
    )
    rtt = " to ".join(units.show(rtt_s, "s") for rtt_s in ends)
    packets = f"{link.buffer_packets:,} packets of {link.mtu_bytes} bytes"
    return {
        "link": f"{rate}, round trip of {rtt} without load",
        "buffer": f"{units.show(link.buffer_bytes, 'byte')}, {packets}",
    }


def about_line(result: Result) -> str:
    """Return the way to a result, and what repeats it."""
    about = {"netcalc": facts()["netcalc"], **result.about, "seed": result.scenario.seed}
    inside = ", ".join(f"{name} {value}" for name, value in about.items())
    return f"{way_line(result.by, str(result.about.get('stack', '')))} ({inside})"


def way_line(way: str, stack: str) -> str:
    """Return a way by its name; theory with whose TCP it has."""
    senders = {"linux": " of Linux's TCP", "ns3": " of ns-3's TCP"} if way == "theory" else {}
    return WAY_NAMES[way] + senders.get(stack, "")


def _print_courses(result: Result) -> None:
    """Print what the course shows: of each flow in a table, of the link in lines."""
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
        output.print_rows(headings, rows, title=title, box="HEAVY_HEAD")
    trips = (courses.rtt_min_s, courses.rtt_mean_s, courses.rtt_max_s)
    least, mean, greatest = (_or_dash(rtt_s, "s") for rtt_s in trips)
    put(f"round trip over flows and time: least {least}, mean {mean}, greatest {greatest}")
    if not np.isnan(courses.jain_end):
        put(f"Jain index in the last second of several flows: {courses.jain_end:.3f}")


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
        values = [_value_within(row, way) for way in row.values]
        apart = [_difference(row, way) for way in others]
        table.add_row(*map(output.cell, (name, *values, *apart)))
    output.print_table(table)
    put(f"* further apart than theory is meant to be: {_aims()}")
    if any(row.intervals for row in rows):
        put(str(Notice("intervals-of-requests")))
    if rows[0].cut:
        put(str(Notice("live-cut-compared")))


def _value_within(row: Parting, way: str) -> str:
    """Return what a way has, above its interval if that is known."""
    value = _value(row.values[way], UNITS[row.quantity])
    return f"{value}\n{_interval(*row.intervals[way])}" if way in row.intervals else value


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


def _formatted(value: float, form: str) -> str:
    return "-" if np.isnan(value) else format(value, form)


def _or_dash(value: float | None, unit: str) -> str:
    if value is None or np.isnan(value):
        return "-"
    return f"{value:.4g}" if unit == "1" else units.show(float(value), unit)


MOST_ROWS = 60
"""Rows of the printed table; the file has all."""

ALONG_AN_AXIS = (*BUFFERS, "streams", "loss_ratio", "rtt_s", "rate_bps")
"""What a figure of a batch can have along its axis."""

SHOWN = (
    ("used", "utilization", "1"),
    ("mean queue", "queue_mean_bytes", "byte"),
    ("dropped", "drop_count", "1"),
    ("Jain index", "jain", "1"),
    ("request p99", "request_1_p99_s", "s"),
)


@dataclass(frozen=True, kw_only=True)
class GridOptions:
    """Options of ``netcalc congestion`` about a grid of scenarios.

    Parameters
    ----------
    vary : NAME=VALUE,...
        Values of a grid, every combination of which --out gets.
    matrix_name : NAME
        Test bench whose tests are evaluated for two algorithms, instead of a scenario.
    baseline : str
        Algorithm that --matrix compares with; cubic.
    tested : str
        Algorithm that --matrix tests; bbr.
    repeats : int
        Runs of each combination, with other seeds.
    out : FILE.jsonl
        Results of the grid, saved as they come; continued if it exists.
    table_path : FILE
        Write the results of --out, or the course of one result over time, as .csv, .json or
        .parquet.
    workers : ADDRESS
        Scheduler of Dask for theory and ns-3; "local" for this machine.
    """

    vary: tuple[str, ...] = ()
    matrix_name: str | None = None
    baseline: str | None = None
    tested: str | None = None
    repeats: int = 1
    out: str | None = None
    table_path: str | None = None
    workers: str | None = None


GRID_OPTIONS = options_of(
    GridOptions,
    names={"matrix_name": "--matrix", "tested": "--test", "workers": "--dask"},
    types={
        "baseline": Choice(ALGORITHMS),
        "tested": Choice(ALGORITHMS),
        "repeats": WholeNumber(1, MOST_CASES),
    },
    described={
        "vary": "Values of a grid, every combination of which --out gets. A number may have a unit "
        "(40 ms); without a unit it is in the name's: _s seconds, _bytes bytes, _bps bit/s. "
        f"Names: {', '.join(VARIED)}; of one flow or request loop, counted from 0: "
        "flows[1].algorithm, flows[0].start_s, requests[0].request_bytes.",
        "matrix_name": "Evaluate the tests of a test bench for two algorithms, instead of a "
        f"scenario: {', '.join(scenarios.matrices())}; with --out.",
    },
)


def require_out(grid: GridOptions) -> None:
    """Refuse options of a grid where there is none."""
    named = {
        "--matrix": grid.matrix_name,
        "--vary": grid.vary,
        "--dask": grid.workers,
        "--repeats": grid.repeats > 1,
    }
    for option, value in named.items():
        if value:
            raise lacking(option, "--out", "Write for example --out results.jsonl")


def run_grid(
    grid: Grid | Matrix,
    *,
    out: str,
    table_path: str | None,
    plot_path: str | None,
    force: bool,
    workers: str | None,
    as_json: bool,
    **how: Any,
) -> None:
    """Evaluate scenarios, print the results, and end with the exit code of what became of it."""
    from netcalc.congestion.batch import Batch
    from netcalc.congestion.grid import table
    from netcalc.congestion.theory import is_drawn

    output.check_output(out, force=True)  # one that exists is continued
    check_table(table_path, inputs=[out], force=force)
    if plot_path is not None and not _varies(grid):
        raise DomainError("nothing-varies", "--plot", plot_path, choices=list(ALONG_AN_AXIS))
    alike = how["by"] == "theory" and grid.repeats > 1
    if alike and not any(is_drawn(case.scenario, how["stack"]) for case in grid.cases()):
        complain(str(Notice("repeats-alike", {"count": grid.repeats})))
    with output.Progress("congestion") as progress:
        outcome = Batch(workers=workers, progress=progress, **how).run(grid, out)
    results = table(out)
    _write(results, table_path, plot_path)
    names = [*(["case"] if isinstance(grid, Matrix) else []), *grid.vary]
    names += ["repeat"] if grid.repeats > 1 else []
    if as_json:
        print_json(_document(outcome, results, out))
    else:
        put(f"evaluated by: {way_line(how['by'], how['stack'])}")
        _print(results, names)
        _print_pooled(out)
    _say(outcome, out)
    _say_marks(results)
    output.print_written(out, table_path, plot_path)
    if outcome.ended_by:
        raise SystemExit(INTERRUPTED)
    if outcome.failed:
        raise SystemExit(1)


def _varies(grid: Grid | Matrix) -> bool:
    """Whether something differs between scenarios that a figure can have along its axis."""
    scenarios = [case.scenario for case in grid.cases()]
    links = [item.bottleneck for item in scenarios]
    differing = (
        [(item.buffer_bytes, item.loss_ratio, item.rtt_s, item.rate_bps) for item in links],
        [len(item.flows) for item in scenarios],
    )
    return any(len(set(values)) > 1 for values in differing)


def show_results(
    file: str, *, table_path: str | None, plot_path: str | None, force: bool, as_json: bool
) -> None:
    """Print the results that a file has, write them as a table, and draw them."""
    from netcalc.congestion.grid import table

    check_table(table_path, inputs=[file], force=force)
    results = table(file)
    if not len(results):
        raise ReaderError("grid-no-results", file=file)
    _write(results, table_path, plot_path)
    columns = results.columns()
    if as_json:
        print_json({"file": file, "layers": layers_of_columns(results), "rows": _rows(results)})
    else:
        candidates = ("by", "case", *VARIED, *(name for name in columns if "[" in name))
        several = [name for name in candidates if len(set(columns.get(name, ()))) > 1]
        if len([name for name in several if name in BUFFERS]) > 1:
            several.remove("buffer_bytes")  # the same, as it was varied
        if "case" in several:  # whose names say so
            several = [name for name in several if name not in ("streams", "algorithm")]
        _print(results, several)
        _print_pooled(file)
    output.print_written(table_path, plot_path)


def _print_pooled(file: str) -> None:
    """Print the latencies of the requests of repeats together."""
    from netcalc.congestion.grid import pooled

    for name, (count, loops) in pooled(file).items():
        for number, loop in enumerate(loops, 1):
            what = f"{count} runs together{f', {name}' if name else ''}"
            line = latencies_line(loop, by="live", runs=count)
            put(f"{what}, latency of request loop {number}: {line}")


def write_table(results: Table, table_path: str) -> None:
    """Write columns in the form that the name says; CSV without the comment of an export."""
    form = Path(table_path).suffix[1:]
    data = output.encode(results, form)
    if form == "csv":  # the first line has the names, as pandas and spreadsheets take it
        data = data.partition(b"\n")[2]
    write_atomically(Path(table_path), data)


def _write(results: Table, table_path: str | None, plot_path: str | None) -> None:
    if table_path is not None:
        write_table(results, table_path)
    if plot_path is not None:
        from netcalc import plots  # late: bokeh takes its time

        output.write_plot(plots.sweep(results), plot_path)


def parse_vary(options: Sequence[str]) -> dict[str, list[Value]]:
    """Read ``NAME=VALUE,VALUE``; a number without a unit is in the unit of the name.

    Examples
    --------
    >>> parse_vary(["rtt_s=0.01,40 ms", "algorithm=reno,cubic"])
    {'rtt_s': [0.01, 0.04], 'algorithm': ['reno', 'cubic']}
    >>> parse_vary(["flows[1].algorithm=reno,bbr"])
    {'flows[1].algorithm': ['reno', 'bbr']}
    """
    return _named_values(options, "--vary", "vary-malformed", "vary-twice")


def parse_set(options: Sequence[str]) -> dict[str, Value]:
    """Read ``NAME=VALUE``; a number without a unit is in the unit of the name.

    Examples
    --------
    >>> parse_set(["end_s=10", "buffer_bdp=2"])
    {'end_s': 10.0, 'buffer_bdp': 2.0}
    """
    named_values = _named_values(options, "--set", "set-malformed", "set-twice")
    return {name: value for name, [value] in named_values.items()}


def _named_values(
    options: Sequence[str], option: str, malformed: str, twice: str
) -> dict[str, list[Value]]:
    named_values: dict[str, list[Value]] = {}
    for text in options:
        name, _, values = map(str.strip, text.partition("="))
        if not values or (option == "--set" and "," in values):
            raise CommandError(malformed, text=text)
        unit = unit_of(name, option=option)
        if name in named_values:
            raise CommandError(twice, name=name)
        texts = map(str.strip, values.split(","))
        named_values[name] = [_value_of(option, name, unit, value) for value in texts]
    return named_values


def _value_of(option: str, name: str, unit: str, text: str) -> Value:
    if unit == "text":
        return text
    if name == "seed" and text.isdigit() and text.isascii():
        return int(text)  # two seeds beyond 2**53 may be the same float
    try:
        return units.parse(text, "1")
    except UnitError:
        return units.parse(text, unit, field=f"{option} {name}")


def check_table(table_path: str | None, *, inputs: Sequence[str], force: bool) -> None:
    """Refuse a table that cannot or should not be written."""
    if table_path is None:
        return
    output.check_output(table_path, inputs=inputs, force=force)
    form = Path(table_path).suffix
    if form not in (".csv", ".json", ".parquet"):
        raise CommandError("table-of-other-form", file=table_path)
    if form == ".parquet":
        output.require_parquet()


def _document(outcome: Outcome, results: Table, out: str) -> dict[str, Any]:
    return {
        "file": out,
        "total": outcome.total,
        "before": outcome.before,
        "finished": outcome.finished,
        "left": outcome.left,
        "failed": [error.as_dict() for error in outcome.failed],
        "warnings": [outcome.not_granted.stored()] if outcome.not_granted else [],
        "ended_by": outcome.ended_by,
        "layers": layers_of_columns(results),
        "rows": _rows(results),
    }


def _rows(results: Table) -> list[dict[str, Any]]:
    columns = results.columns()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _print(results: Table, varied: Sequence[str]) -> None:
    columns = results.columns()
    if not columns:
        return
    names = [name for name in varied if name in columns]
    shown = [
        quantity
        for quantity in SHOWN
        if quantity[1] in columns and (quantity[1] != "jain" or "goodput_2_bps" in columns)
    ]
    layers = layers_of_columns(results)
    goodput = named("goodput", TCP_PAYLOAD)
    headings = (*names, goodput, *(heading for heading, _, _ in shown))
    rows = []
    for row in range(min(len(results), MOST_ROWS)):
        texts = [_text(columns[name][row], results.meta.units.get(name, "1")) for name in names]
        texts.append(_goodputs(columns, row))
        rows.append(texts + [_text(columns[name][row], unit) for _, name, unit in shown])
    words = [name for name in names if columns[name].dtype.kind in "UO"]
    with_layers = [named(heading, layers.get(heading, "")) for heading in headings]
    output.print_rows(with_layers, rows, left=words, box="HEAVY_HEAD")
    if len(results) > MOST_ROWS:
        put(f"and {len(results) - MOST_ROWS:,} more")


def _goodputs(columns: Mapping[str, Any], row: int) -> str:
    """Return the goodput of a flow, or the least and the most of several."""
    names = (name for name in columns if name.startswith("goodput_"))
    rates: FloatArray = np.array([columns[name][row] for name in names])
    rates = rates[np.isfinite(rates)]
    if not rates.size:
        return "-"
    ends = dict.fromkeys(
        units.show_rate(float(end), IN_HEADING) for end in (rates.min(), rates.max())
    )
    return " to ".join(ends)


def _text(value: Any, unit: str) -> str:
    if isinstance(value, str):
        return value
    if np.isnan(value):
        return "-"
    return f"{value:.4g}" if unit in ("1", "ratio", "packet") else units.show(float(value), unit)


def _say(outcome: Outcome, out: str) -> None:
    """Say what is left, and how to continue, unless that cannot help."""
    reasons: dict[str, list[str]] = {}
    for error in outcome.failed:
        reasons.setdefault(error.code, []).append(str(error))
    for said in reasons.values():
        more = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
        complain(f"{said[0]}{more}")
    if outcome.before:
        put(f"{outcome.before} of {outcome.total} were finished before", err=True)
    lacking = outcome.not_granted
    if lacking is not None:
        complain(f"{lacking}. {lacking.hint}")
    others = outcome.left - (lacking.values["count"] if lacking else 0)
    if others:
        left = f"{others} of {outcome.total} have no result"
        complain(f"{left}: repeat the command to continue {out}")


def _say_marks(results: Table) -> None:
    """Say how many live runs are doubtful, and by what."""
    marks = results.columns().get("marks")
    if marks is None or not marks.astype(bool).any():
        return
    codes = dict.fromkeys(code for mark in marks for code in mark.split())
    values = {"count": int(marks.astype(bool).sum()), "total": len(results), "codes": list(codes)}
    complain(str(Notice("grid-marked", values)))
