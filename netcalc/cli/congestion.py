"""``netcalc congestion``: flows that share a bottleneck, by theory, live, or by ns-3."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np

from netcalc import scenario as scenarios
from netcalc import units
from netcalc.checks import choice
from netcalc.cli import INTERRUPTED, complain, print_json, put, say
from netcalc.cli.batch import (
    check_table,
    grid_options,
    parse_set,
    parse_vary,
    require_out,
    run_grid,
    set_option,
    show_results,
    write_table,
)
from netcalc.cli.mistakes import Command, CommandError
from netcalc.cli.output import cell, check_output, print_table, print_written, write_plot
from netcalc.cli.quantity import Choice
from netcalc.cli.streams import standard_input
from netcalc.congestion import Result
from netcalc.congestion.about import facts
from netcalc.congestion.grid import Grid, Matrix, with_values
from netcalc.congestion.quantities import document as result_document
from netcalc.congestion.quantities import quantities
from netcalc.congestion.recording import Recording
from netcalc.congestion.table import begins_results, course_table, is_results
from netcalc.congestion.ways import (
    LIMITS,
    UNITS,
    WAYS,
    Parting,
    evaluate,
    evaluations,
    partings,
    stack_for,
)
from netcalc.errors import ExperimentError, NetcalcError
from netcalc.experiments.running.stopping import Deferral
from netcalc.messages import Notice
from netcalc.scenario import ALGORITHMS, Scenario

WAY_NAMES = {"theory": "theory", "live": "live", "ns3": "ns-3"}
STANDARD_INPUT = "standard input"
"""What ``-`` is called in messages."""
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


class Ways(click.ParamType):  # type: ignore[type-arg] # click 8.1 has no argument there
    """One or more of theory, live and ns3, with commas between them."""

    name = "ways"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Read the text; a mistake names the option and the nearest choice."""
        if isinstance(value, tuple):
            return value
        each = Choice(WAYS)
        found = tuple(each.convert(one.strip(), param, ctx) for one in str(value).split(","))
        return tuple(dict.fromkeys(found))


@click.command(cls=Command)
@click.argument("file", required=False, metavar="[FILE]")
@click.option(
    "--preset",
    "name",
    type=Choice(scenarios.presets()),
    metavar="NAME",
    help="A scenario of the book; see --list.",
)
@click.option(
    "--algorithm",
    type=Choice(ALGORITHMS),
    help="Algorithm of all flows and request loops of a --preset; cubic.",
)
@click.option(
    "--by",
    type=Ways(),
    default="theory",
    help="How to evaluate: theory (a model), live (the kernel's TCP over an emulated path) or ns3 "
    "(a simulator); several with commas are compared. Default: theory.",
)
@click.option(
    "--stack",
    type=Choice(("ns3", "linux")),
    help="Whose loss recovery and slow start the theory has: of ns-3, or of Linux. Default: linux "
    "with --by theory,live, otherwise ns3.",
)
@click.option("--python", metavar="PATH", help="Python with ns-3, for --by ns3.")
@click.option(
    "--list", "listed", is_flag=True, help="List the presets, or the scenarios of a --matrix."
)
@set_option
@grid_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--plot",
    "plot_path",
    metavar="OUT",
    help="Draw the course over time, or the results of --out, as .html or .svg.",
)
@click.option(
    "--save",
    "save_path",
    metavar="SAMPLES",
    help="Save all samples of a live run as .json, or .json.gz.",
)
@click.option(
    "--force", is_flag=True, help="Replace the file of --plot, --save or --table if it exists."
)
def congestion(
    file: str | None,
    name: str | None,
    algorithm: str | None,
    by: tuple[str, ...],
    stack: str | None,
    python: str | None,
    listed: bool,
    changes: tuple[str, ...],
    as_json: bool,
    plot_path: str | None,
    save_path: str | None,
    force: bool,
    **grid: Any,
) -> None:
    """Compute how flows share a bottleneck: goodput, queue, drops.

    \b
    netcalc congestion scenario.json
    netcalc congestion --preset two-flows --algorithm bbr --set end_s=20
    netcalc congestion scenario.json --by live
    netcalc congestion scenario.json --by ns3 --json
    netcalc congestion scenario.json --table course.csv
    netcalc congestion scenario.json --by theory,live,ns3 --plot out.html
    netcalc congestion scenario.json --vary buffer_bdp=0.5,1,2 --repeats 3 --out results.jsonl
    netcalc congestion results.jsonl --plot out.svg
    netcalc congestion --preset two-flows --set "flows[1].algorithm=bbr"
    netcalc congestion --matrix netesto --baseline cubic --test bbr --out matrix.jsonl
    cat scenario.json | netcalc congestion -

    FILE is a scenario ("-": from standard input), or the results that --out wrote. A scenario is a
    JSON object: rate_bps, rtt_s, buffer_packets (or buffer_bytes, buffer_bdp), end_s, and a list of
    flows. A flow has an algorithm, start_s, and stop_s, size_bytes or both; without them it runs to
    end_s. Optional are mtu_bytes, loss_ratio, marking_bytes (of DCTCP), delay_on_acks, warm_s, seed
    and senders (flow i and request loop i are on the sending host i mod senders), and a list of
    requests, back to back: request_bytes, reply_bytes, algorithm, start_s, stop_s. Goodput counts
    from warm_s, or a later start, to the flow's end.
    """
    if listed:
        shown = ("listed", "as_json", "matrix_name", "baseline", "tested")
        _require_alone("--list", file=file, but=shown)
        _print_list(grid, as_json=as_json)
        return
    if plot_path is not None:
        check_output(plot_path, inputs=[file] if file else [], force=force, plot=True)
    if file is not None and file != "-" and is_results(file):
        shown = ("file", "table_path", "plot_path", "force", "as_json")
        _require_alone("RESULTS.jsonl", but=shown)
        paths = {"table_path": grid["table_path"], "plot_path": plot_path}
        show_results(file, **paths, force=force, as_json=as_json)
        return
    matrix = None
    if grid["matrix_name"] is not None:
        matrix = _matrix(file, name, algorithm, changes, grid)
    else:
        _require_matrix(grid)
        document = with_values(_document(file, name, algorithm), parse_set(changes))
        scenario = scenarios.from_document(document, name=_shown_name(file) or "scenario")
    if stack is not None and "theory" not in by:
        raise CommandError("options-exclusive", first="--stack", second=f"--by {by[0]}")
    if python is not None and "ns3" not in by:
        raise CommandError("options-exclusive", first="--python", second=f"--by {by[0]}")
    if save_path is not None:
        if "live" not in by:
            raise CommandError(
                "option-requires", option="--save", required="--by live", example="Add --by live"
            )
        if grid["out"] is not None:
            raise CommandError("options-exclusive", first="--out", second="--save")
        check_output(save_path, inputs=[file] if file else [], force=force)
    if grid["out"] is not None:
        if len(by) > 1:
            raise CommandError("options-exclusive", first="--out", second=f"--by {','.join(by)}")
        how = {"by": by[0], "stack": stack or "ns3", "python": python, "workers": grid["workers"]}
        files = {"out": grid["out"], "table_path": grid["table_path"], "plot_path": plot_path}
        what = matrix or Grid(document, parse_vary(grid["vary"]), grid["repeats"])
        run_grid(what, as_json=as_json, force=force, **files, **how)
        return
    require_out(grid)
    check_table(grid["table_path"], inputs=[file] if file else [], force=force)
    with Deferral() as deferral:
        run = LiveRun(save_path=save_path, deferral=deferral)
        results, absent = _evaluate(scenario, by, stack, python, run)
        _show(results, absent, run, name or Path(_shown_name(file) or "").name, as_json=as_json,
              plot_path=plot_path, table_path=grid["table_path"])  # fmt: skip
        run.end()


def _show(
    results: list[Result],
    absent: Mapping[str, NetcalcError],
    run: LiveRun,
    title: str,
    *,
    as_json: bool,
    plot_path: str | None,
    table_path: str | None,
) -> None:
    """Print the results of each way, draw their courses, and write them as a table."""
    several = len(results) + len(absent) > 1
    for error in absent.values():
        complain(str(error))
    if as_json:
        print_json(_answer(results, absent, run, several=several))
    else:
        if len(results) > 1:
            print_partings(partings(results, cut=run.cut()))
            for label, text in _link(results[0].scenario).items():
                put(f"{label}: {text}")
            for result in results:
                put(f"evaluated by: {_about(result)}")
        else:
            print_result(results[0])
    if plot_path is not None:
        draw_courses(results, title, plot_path)
        print_written(plot_path)
    if table_path is not None:
        write_table(course_table(results), table_path)
        print_written(table_path)


def _require_alone(first: str, *, but: Sequence[str], file: str | None = None) -> None:
    """Refuse what would be ignored beside a list, or a file of results."""
    if file is not None:
        raise CommandError("options-exclusive", first=first, second="FILE")
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        given = context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
        if given and name not in but:
            raise CommandError("options-exclusive", first=first, second=option.opts[0])


@dataclass(slots=True)
class LiveRun:
    """What a live run recorded, and why it broke off.

    Parameters
    ----------
    recording, error
        What was recorded, and the error of a run that broke off.
    save_path : str, optional
        File that receives what was recorded as soon as the run ends, in whichever way.
    deferral : Deferral, optional
        Whether a signal is to end the command.
    """

    recording: Recording | None = None
    error: ExperimentError | None = None
    save_path: str | None = None
    deferral: Deferral = field(default_factory=Deferral)
    save_error: OSError | None = field(default=None, init=False)

    def measure(self, scenario: Scenario) -> Result:
        """Run a scenario; one that breaks off has what it recorded until then."""
        from netcalc.cli.progress import Progress
        from netcalc.congestion import live  # late: theory needs no sockets

        try:
            with Progress("congestion", unit="bit/s") as progress:
                self.recording = live.record(scenario, progress=progress)
        except ExperimentError as error:
            if error.partial is None:
                raise
            self.recording, self.error = error.partial, error
        self._save()
        self.say_marks()
        return self.recording.result()

    def say_marks(self) -> None:
        """Say what makes the run doubtful, and why it broke off."""
        assert self.recording is not None
        for notice in self.recording.meta.warnings:
            complain(str(notice))
        if self.recording.meta.partial:
            ended = {"ended_s": self.recording.ended_s, "end_s": self.recording.scenario.end_s}
            complain(str(Notice("live-cut", ended)))
        if self.error is not None:
            what = f"{self.error.phase}: {self.error.what}"
            complain(f"{what}; {Notice('partial-samples-above')}")

    def cut(self) -> tuple[str, ...]:
        """Return the way that ended early, if it did."""
        return ("live",) if self.recording is not None and self.recording.meta.partial else ()

    def facts(self) -> dict[str, Any]:
        """Return what an answer says of the run besides its means."""
        if self.recording is None:
            return {}
        meta = self.recording.meta
        found: dict[str, Any] = {
            "ended_s": self.recording.ended_s,
            "partial": meta.partial,
            "warnings": [notice.stored() for notice in meta.warnings],
        }
        return found if self.error is None else {**found, "error": self.error.as_dict()}

    def _save(self) -> None:
        """Save the run before anything else is done, as its terminal may be gone."""
        if self.save_path is not None:
            from netcalc.congestion import saved

            assert self.recording is not None
            try:
                saved.as_table(self.recording).save(self.save_path)
            except OSError as error:  # what was measured is shown all the same
                self.save_error = error

    def end(self) -> None:
        """End the command of a stopped run with 130, and that of one that broke off with 2."""
        if self.recording is None:
            return
        if self.save_error is not None:
            raise self.save_error
        print_written(self.save_path)
        if self.error is not None:
            raise SystemExit(2)
        if self.recording.meta.partial and self.deferral.number is None:
            raise SystemExit(INTERRUPTED)


def print_recording(recording: Recording, *, as_json: bool) -> None:
    """Print the means of a live run that was saved, and what marks it."""
    run, result = LiveRun(recording), recording.result()
    run.say_marks()
    if as_json:
        print_json(_answer([result], {}, run, several=False))
    else:
        print_result(result)


def _evaluate(
    scenario: Scenario,
    by: tuple[str, ...],
    stack: str | None,
    python: str | None,
    run: LiveRun,
) -> tuple[list[Result], dict[str, NetcalcError]]:
    from netcalc.cli.progress import Progress

    def shown(way: str) -> Callable[[], Result]:
        def evaluated() -> Result:
            if run.deferral.number is not None:
                raise NetcalcError("way-skipped", signal=run.deferral.name)
            with (
                run.deferral.lifted(),
                Progress(f"{WAY_NAMES[way]}, {units.show(scenario.end_s, 's')} of a scenario"),
            ):
                return how[way]()

        return evaluated

    how = evaluations(scenario, stack=stack or stack_for(by), python=python)
    waiting = {way: shown(way) for way in ("theory", "ns3")}
    return evaluate(by, {**waiting, "live": lambda: run.measure(scenario)})


def _answer(
    results: list[Result], absent: Mapping[str, NetcalcError], run: LiveRun, *, several: bool
) -> dict[str, Any]:
    """Return one result, or those of several ways with where they part, and what repeats them."""
    found = [
        {**result_document(result), **(run.facts() if result.by == "live" else {})}
        for result in results
    ]
    about = {**facts(), "scenario": scenarios.as_document(results[0].scenario)}
    if not several:
        return {**found[0], "about": {**about, **found[0]["about"]}}
    return {
        "by": [result.by for result in results],
        "results": dict(zip([result.by for result in results], found, strict=True)),
        "absent": {way: error.as_dict() for way, error in absent.items()},
        "partings": (
            [row.as_dict() for row in partings(results, cut=run.cut())] if len(results) > 1 else []
        ),
        "about": about,
    }


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


def _document(file: str | None, name: str | None, algorithm: str | None) -> dict[str, Any]:
    if file is not None and name is not None:
        raise CommandError("options-exclusive", first="SCENARIO.json", second="--preset")
    if file is not None:
        if algorithm is not None:
            raise CommandError("options-exclusive", first="SCENARIO.json", second="--algorithm")
        if file != "-":
            return scenarios.read_document(file)
        data = standard_input().read(scenarios.MOST_BYTES + 1)
        if begins_results(data):
            raise CommandError("results-on-input")
        return scenarios.document_of(data, name=STANDARD_INPUT)
    if name is None:
        raise CommandError("no-scenario")
    return scenarios.as_document(scenarios.preset(name, algorithm=algorithm or "cubic"))


def _shown_name(file: str | None) -> str | None:
    return STANDARD_INPUT if file == "-" else file


def _matrix(
    file: str | None,
    name: str | None,
    algorithm: str | None,
    changes: Sequence[str],
    grid: Mapping[str, Any],
) -> Matrix:
    """Return the matrix of the command line; what it would ignore is refused."""
    others = {"FILE": file, "--preset": name, "--algorithm": algorithm}
    for option, given in others.items():
        if given is not None:
            raise CommandError("options-exclusive", first="--matrix", second=option)
    return Matrix(
        choice("--matrix", grid["matrix_name"], scenarios.matrices()),
        **_algorithms(grid),
        values=parse_set(changes),
        vary=parse_vary(grid["vary"]),
        repeats=grid["repeats"],
    )


def _require_matrix(grid: Mapping[str, Any]) -> None:
    for option, given in {"--baseline": grid["baseline"], "--test": grid["tested"]}.items():
        if given is not None:
            raise CommandError(
                "option-requires",
                option=option,
                required="--matrix",
                example="Add --matrix netesto",
            )


def _print_list(grid: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the presets, or the cases of a matrix."""
    if grid["matrix_name"] is None:
        _require_matrix(grid)
        found = {name: scenarios.preset(name) for name in scenarios.presets()}
    else:
        found = _cases(grid)
    if as_json:
        print_json({name: scenarios.as_document(one) for name, one in found.items()})
        return
    for name, one in found.items():
        flows, loops, link = len(one.flows), len(one.requests), one.bottleneck
        named = [load.algorithm for load in one.flows or one.requests]
        of = f" of {'+'.join(dict.fromkeys(named))}" if grid["matrix_name"] else ""
        say(
            f"  {name:26} {units.show(link.rate_bps, 'bit/s')}, {units.show(link.rtt_s, 's')}, "
            f"{link.buffer_packets} packets; flows: {flows}; request loops: {loops}{of}"
        )
        if name in scenarios.SIMPLIFIED:
            say(f"  {'':26} {scenarios.SIMPLIFIED[name]}")


def _cases(grid: Mapping[str, Any]) -> dict[str, Scenario]:
    name = choice("--matrix", grid["matrix_name"], scenarios.matrices())
    return scenarios.matrix(name, **_algorithms(grid))


def _algorithms(grid: Mapping[str, Any]) -> dict[str, str]:
    return {"baseline": grid["baseline"] or "cubic", "test": grid["tested"] or "bbr"}


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
    if result.trajectory is not None:
        _print_courses(result)
    mean_bytes = result.queue_mean_bytes
    rows: dict[str, Any] = {
        "utilization": "-" if np.isnan(result.utilization) else f"{result.utilization:.1%}",
        "mean queue": _or_dash(mean_bytes, "byte"),
        "95th percentile of the queue": _or_dash(result.queue_p95_bytes, "byte"),
        **_link(result.scenario),
        "round trip of a ping": f"mean {_or_dash(result.probe_rtt_s(mean_bytes), 's')}, 95th "
        f"percentile {_or_dash(result.probe_rtt_s(result.queue_p95_bytes), 's')}",
        "dropped packets": "-" if np.isnan(result.drop_count) else f"{result.drop_count:.0f}",
        "sent again": "-" if np.isnan(result.resent_ratio) else f"{result.resent_ratio:.2%}",
    }
    if len(result.scenario.flows) > 1:
        rows["Jain index of the goodputs"] = "-" if np.isnan(result.jain) else f"{result.jain:.3f}"
    for number, loop in enumerate(result.requests or (), 1):
        found = {"least": loop.min_s, "median": loop.percentile_s(0.5), "mean": loop.mean_s,
                 "90th": loop.percentile_s(0.9), "99th": loop.percentile_s(0.99),
                 "99.9th percentile": loop.percentile_s(0.999), "greatest": loop.max_s}  # fmt: skip
        known = [f"{what} {units.show(s, 's')}" for what, s in found.items() if not np.isnan(s)]
        shown = ", ".join([f"{loop.count:,} requests", *known])
        rows[f"latency of request loop {number}"] = shown
    if result.cpu_s is not None:
        *sending, receiving = (_or_dash(host_s, "s") for host_s in result.cpu_s)
        hosts = "sending host" if len(sending) == 1 else "sending hosts"
        rows["processor time"] = f"{hosts} {', '.join(sending)}, receiving host {receiving}"
    rows["evaluated by"] = _about(result)
    for name, text in rows.items():
        put(f"{name}: {text}")


def _link(scenario: Scenario) -> dict[str, str]:
    """Return what was understood of the link, as typed numbers may have no unit."""
    link = scenario.bottleneck
    rate, rtt = units.show(link.rate_bps, "bit/s"), units.show(link.rtt_s, "s")
    packets = f"{link.buffer_packets:,} packets of {link.mtu_bytes} bytes"
    return {
        "link": f"{rate}, round trip of {rtt} without load",
        "buffer": f"{units.show(link.buffer_bytes, 'byte')}, {packets}",
    }


def _about(result: Result) -> str:
    """Return the way to a result, and what repeats it."""
    about = {"netcalc": facts()["netcalc"], **result.about, "seed": result.scenario.seed}
    inside = ", ".join(f"{name} {value}" for name, value in about.items())
    return f"{WAY_NAMES[result.by]} ({inside})"


def _print_courses(result: Result) -> None:
    """Print what the course shows: of each flow in a table, of the link in lines."""
    from rich.table import Table

    found = quantities(result)
    table = Table()
    for heading in ("flow", "least rate", "greatest", "mean window", "greatest",
                    "time to fair shares", "time to take what it left"):  # fmt: skip
        table.add_column(heading, justify="right")
    for at in range(len(result.scenario.flows)):
        table.add_row(
            str(at + 1),
            _or_dash(found.rate_min_bps[at], "bit/s"),
            _or_dash(found.rate_max_bps[at], "bit/s"),
            _or_dash(found.window_mean_packets[at], "1"),
            _or_dash(found.window_max_packets[at], "1"),
            _or_dash(found.convergence_s[at], "s"),
            _or_dash(found.release_s[at], "s"),
        )
    if result.scenario.flows:
        print_table(table)
    trips = (found.rtt_min_s, found.rtt_mean_s, found.rtt_max_s)
    least, mean, greatest = (_or_dash(rtt_s, "s") for rtt_s in trips)
    put(f"round trip of the flows: least {least}, mean {mean}, greatest {greatest}")
    if not np.isnan(found.jain_end):
        put(f"Jain index in the last second of several flows: {found.jain_end:.3f}")
    if np.isfinite(found.convergence_s).any():
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
    found: dict[float, list[str]] = {}
    for quantity, limit in LIMITS.items():
        found.setdefault(limit, []).append(QUANTITY_NAMES[quantity])
    return "; ".join(f"{', '.join(names)} {limit:.0%}" for limit, names in found.items())


def _value(value: float, unit: str) -> str:
    if unit == "ratio" and not np.isnan(value):
        return f"{value:.2%}"
    return _or_dash(value, unit)


def _or_dash(value: float | None, unit: str) -> str:
    if value is None or np.isnan(value):
        return "-"
    return f"{value:.4g}" if unit == "1" else units.show(float(value), unit)
