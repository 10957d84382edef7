"""``netcalc congestion``: flows that share a bottleneck, by theory, live, or by ns-3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from netcalc import scenario as scenarios
from netcalc import units
from netcalc.cli import INTERRUPTED, complain, print_json, put, say
from netcalc.cli.batch import grid_options, require_out, run_grid
from netcalc.cli.mistakes import Command, CommandError
from netcalc.cli.output import cell, check_output, print_table, print_written
from netcalc.cli.quantity import Choice
from netcalc.congestion import Result, ns3, theory
from netcalc.congestion.recording import Recording
from netcalc.errors import ExperimentError
from netcalc.messages import Notice
from netcalc.scenario import ALGORITHMS, Scenario


@click.command(cls=Command)
@click.argument("file", required=False, metavar="SCENARIO.json")
@click.option("--preset", "name", metavar="NAME", help="A scenario of the book; see --list.")
@click.option(
    "--algorithm", type=Choice(ALGORITHMS), help="Algorithm of all flows of a --preset; cubic."
)
@click.option(
    "--by",
    type=Choice(("theory", "live", "ns3")),
    default="theory",
    help="By a model, by the kernel's TCP over an emulated path, or by the simulator; theory.",
)
@click.option(
    "--stack",
    type=Choice(("ns3", "linux")),
    help="Recovery and slow start in theory: those of ns-3 (the default), or of Linux.",
)
@click.option("--python", metavar="PATH", help="Interpreter that has ns-3, for --by ns3.")
@click.option("--list", "listed", is_flag=True, help="List the presets.")
@grid_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--plot", "plot_path", metavar="OUT.html", help="Draw the course over time.")
@click.option(
    "--save",
    "save_path",
    metavar="FILE",
    help="Save all samples of --by live as JSON, or .json.gz.",
)
@click.option("--force", is_flag=True, help="Replace OUT.html, --save or --table if it exists.")
def congestion(
    file: str | None,
    name: str | None,
    algorithm: str | None,
    by: str,
    stack: str | None,
    python: str | None,
    listed: bool,
    as_json: bool,
    plot_path: str | None,
    save_path: str | None,
    force: bool,
    **grid: Any,
) -> None:
    """Compute how flows share a bottleneck: goodput, queue, drops.

    \b
    netcalc congestion scenario.json
    netcalc congestion --preset two-flows --algorithm bbr
    netcalc congestion scenario.json --by live
    netcalc congestion scenario.json --by ns3 --json
    netcalc congestion --preset two-flows --plot out.html
    netcalc congestion scenario.json --vary buffer_bdp=0.5,1,2 --repeats 3 --out results.jsonl

    A scenario is a JSON object with rate_bps, rtt_s, buffer_packets (or buffer_bytes, buffer_bdp),
    end_s and flows, each with an algorithm, start_s, and stop_s or size_bytes (without both it runs
    to end_s); loss_ratio, warm_s and seed may follow. Goodput counts from warm_s, or a later start,
    to the flow's end.
    """
    if listed:
        if plot_path is not None:
            raise CommandError("options-exclusive", first="--list", second="--plot")
        _print_presets(as_json)
        return
    document = _document(file, name, algorithm)
    scenario = scenarios.from_document(document, name=file or "scenario")
    if stack is not None and by != "theory":
        raise CommandError("options-exclusive", first="--stack", second=f"--by {by}")
    if python is not None and by != "ns3":
        raise CommandError("options-exclusive", first="--python", second=f"--by {by}")
    if save_path is not None and by != "live":
        raise CommandError(
            "option-requires", option="--save", required="--by live", example="Add --by live"
        )
    for option, path in (("--plot", plot_path), ("--save", save_path)):
        if path is not None and grid["out"] is not None:
            raise CommandError("options-exclusive", first="--out", second=option)
        if path is not None:
            check_output(path, inputs=[file] if file else [], force=force)
    if grid["out"] is not None:
        grid |= {"force": force}
        grid |= {"by": by, "stack": stack or "ns3", "python": python}
        run_grid(document, as_json=as_json, **grid)
        return
    require_out(grid)
    title = name or Path(file or "").name
    if by == "live":
        _run_live(scenario, title, as_json=as_json, plot_path=plot_path, save_path=save_path)
        return
    if by == "ns3":
        result = ns3.run(scenario, python=python)
    else:
        result = theory.run(scenario, stack=stack or "ns3")
    if as_json:
        print_json(result.as_dict())
    else:
        print_result(result)
    if plot_path is not None:
        draw_course(result, title, plot_path)


def _run_live(
    scenario: Scenario,
    title: str,
    *,
    as_json: bool,
    plot_path: str | None,
    save_path: str | None,
) -> None:
    """Run live, print, draw and save; one that was stopped ends with 130, one that broke with 2."""
    from netcalc.cli.progress import Progress
    from netcalc.congestion import live, saved  # late: theory needs no sockets

    broken: ExperimentError | None = None
    try:
        with Progress("congestion", unit="bit/s") as progress:
            found = live.record(scenario, progress=progress)
    except ExperimentError as error:
        if error.partial is None:
            raise
        found, broken = error.partial, error
    print_recording(found, as_json=as_json, error=broken)
    if plot_path is not None:
        draw_course(found.result(), title, plot_path)
    if save_path is not None:
        saved.as_table(found).save(save_path)
        print_written(save_path)
    if broken is not None:
        raise SystemExit(2)
    if found.meta.partial:
        raise SystemExit(INTERRUPTED)


def print_recording(
    found: Recording, *, as_json: bool, error: ExperimentError | None = None
) -> None:
    """Print the means of a live run, what marks it, and why it broke off."""
    for notice in found.meta.warnings:
        complain(str(notice))
    result = found.result()
    if as_json:
        document = {
            **result.as_dict(),
            "cpu_s": found.cpu_s,
            "ended_s": found.ended_s,
            "partial": found.meta.partial,
            "warnings": [notice.stored() for notice in found.meta.warnings],
        }
        print_json(document if error is None else {**document, "error": error.as_dict()})
    else:
        print_result(result)
    if error is not None:
        complain(f"{error.phase}: {error.what}; {Notice('partial-samples-above')}")


def draw_course(result: Result, title: str, path: str) -> None:
    """Draw a result over time into one HTML file."""
    from netcalc import plots  # late: bokeh takes its time

    plots.save_html(plots.courses([result], title=title), path)
    print_written(path)


def _document(file: str | None, name: str | None, algorithm: str | None) -> dict[str, Any]:
    if file is not None and name is not None:
        raise CommandError("options-exclusive", first="SCENARIO.json", second="--preset")
    if file is not None:
        if algorithm is not None:
            raise CommandError("options-exclusive", first="SCENARIO.json", second="--algorithm")
        return scenarios.read_document(file)
    if name is None:
        raise CommandError("no-scenario")
    return scenarios.as_document(scenarios.preset(name, algorithm=algorithm or "cubic"))


def _print_presets(as_json: bool) -> None:
    if as_json:
        print_json(
            {name: scenarios.as_document(scenarios.preset(name)) for name in scenarios.presets()}
        )
        return
    for name in scenarios.presets():
        found = scenarios.preset(name)
        flows, loops = len(found.flows), len(found.requests)
        link = found.bottleneck
        say(
            f"  {name:26} {units.show(link.rate_bps, 'bit/s')}, {units.show(link.rtt_s, 's')}, "
            f"{link.buffer_packets} packets; flows: {flows}; request loops: {loops}"
        )


def print_result(result: Result) -> None:
    """Print the means of a scenario."""
    from rich.table import Table

    table = Table()
    for heading in ("flow", "algorithm", "start", "stop", "size", "goodput", "finish"):
        table.add_column(heading, justify="left" if heading == "algorithm" else "right")
    for number, flow in enumerate(result.scenario.flows):
        finish = result.finish_s[number]
        table.add_row(
            str(number + 1),
            cell(flow.algorithm),
            units.show(flow.start_s, "s"),
            _or_dash(flow.stop_s, "s"),
            _or_dash(flow.size_bytes, "byte"),
            _or_dash(float(result.goodput_bps[number]), "bit/s"),
            _or_dash(None if np.isnan(finish) else float(finish), "s"),
        )
    if result.scenario.flows:
        print_table(table)
    link = result.scenario.bottleneck
    rows: dict[str, Any] = {
        "utilization": "-" if np.isnan(result.utilization) else f"{result.utilization:.1%}",
        "mean queue": _or_dash(result.queue_mean_bytes, "byte"),
        "95th percentile of the queue": _or_dash(result.queue_p95_bytes, "byte"),
        "buffer": units.show(link.buffer_bytes, "byte"),
        "dropped packets": f"{result.drop_count:.0f}",
    }
    if len(result.scenario.flows) > 1:
        rows["Jain index of the goodputs"] = f"{result.jain:.3f}"
    if result.request_p50_s is not None and result.request_p99_s is not None:
        for number, (p50, p99) in enumerate(
            zip(result.request_p50_s, result.request_p99_s, strict=True), 1
        ):
            shown = f"median {_or_dash(p50, 's')}, 99th percentile {_or_dash(p99, 's')}"
            rows[f"latency of request loop {number}"] = shown
    for name, text in rows.items():
        put(f"{name}: {text}")


def _or_dash(value: float | None, unit: str) -> str:
    return "-" if value is None or np.isnan(value) else units.show(float(value), unit)
