"""``netcalc congestion``: flows that share a bottleneck, by theory, live, or by ns-3."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from netcalc import scenario as scenarios
from netcalc import units
from netcalc.checks import choice
from netcalc.cli import INTERRUPTED, complain, mistakes, print_json, put, say, standard_input
from netcalc.cli.congestion import batch
from netcalc.cli.options import JSON, PEER_OPTIONS, Choice, command, plot_option, read_peer
from netcalc.cli.output import check_output, print_written
from netcalc.congestion import Result, grid
from netcalc.congestion.quantities import (
    LAYERS,
    WAYS,
    evaluate,
    evaluations,
    notes,
    partings,
    stack_for,
)
from netcalc.congestion.quantities import document as result_document
from netcalc.congestion.recording import Recording
from netcalc.congestion.result import facts
from netcalc.errors import ExperimentError, NetcalcError
from netcalc.experiments.peers.remote import FarPeer
from netcalc.experiments.running.stopping import Deferral
from netcalc.messages import Notice
from netcalc.rate_layers import IP
from netcalc.scenario import ALGORITHMS, Scenario

STANDARD_INPUT = "standard input"
"""What ``-`` is called in messages."""


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
        ways = tuple(each.convert(name.strip(), param, ctx) for name in str(value).split(","))
        return tuple(dict.fromkeys(ways))


@command(
    click.Option(
        ["--by"],
        type=Ways(),
        default="theory",
        help="How to evaluate: theory (a model), live (the kernel's TCP over an emulated path) or "
        "ns3 (a simulator); several with commas are compared. Default: theory.",
    ),
    *PEER_OPTIONS,
    *batch.GRID_OPTIONS,
    JSON,
    plot_option("Draw the course over time, or the results of --out"),
    click.Option(
        ["--force"],
        is_flag=True,
        help="Replace the file of --plot, --save or --table if it exists.",
    ),
    names={"name": "--preset", "listed": "--list", "changes": "--set"},
    types={"name": Choice(scenarios.presets()), "algorithm": Choice(ALGORITHMS)},
)
def congestion(
    file: str | None = None,
    *,
    name: str | None = None,
    algorithm: str | None = None,
    by: tuple[str, ...],
    stack: str | None = None,
    python: str | None = None,
    listed: bool = False,
    changes: tuple[str, ...] = (),
    as_json: bool,
    plot_path: str | None,
    save_path: str | None = None,
    measured: tuple[str, ...] = (),
    peer_text: str | None,
    token: str | None,
    force: bool,
    **grid_options: Any,
) -> None:
    """Compute how flows share a bottleneck: goodput, queue, drops.

    \b
    netcalc congestion scenario.json
    netcalc congestion --preset two-flows --algorithm bbr --set end_s=90
    netcalc congestion scenario.json --by live
    netcalc congestion scenario.json --by theory,live --peer 192.0.2.7
    netcalc congestion scenario.json --by ns3 --json
    netcalc congestion scenario.json --table course.csv
    netcalc congestion scenario.json --by theory,live,ns3 --plot out.html
    netcalc congestion scenario.json --vary buffer_bdp=0.5,1,2 --out results.jsonl
    netcalc congestion results.jsonl --plot out.svg
    netcalc congestion scenario.json --measured iperf3.json --plot out.html
    netcalc congestion --preset two-flows --set "flows[1].algorithm=bbr"
    netcalc congestion --matrix netesto --test bbr --out matrix.jsonl
    cat scenario.json | netcalc congestion -

    FILE is a scenario ("-": from standard input), or the results that --out wrote. A scenario is a
    JSON object: rate_bps, rtt_s, buffer_packets (or buffer_bytes, buffer_bdp), end_s, and a list of
    flows. A flow has an algorithm, start_s, and stop_s, size_bytes or both; without them it runs to
    end_s. It may have an rtt_s of its own; rtt_spread_ratio 0.2 spreads those of all by 20 %.
    Optional are mtu_bytes, loss_ratio, marking_bytes (of DCTCP), delay_on_acks, warm_s, seed and
    senders (flow i and request loop i are on the sending host i mod senders), and a list of
    requests, back to back: request_bytes, reply_bytes, algorithm, start_s, stop_s. Goodput counts
    from warm_s, or a later start, to the flow's end.

    With --peer the flows go from this machine to the other one over the way that there is, and
    rate_bps, rtt_s and the buffer say what theory takes it to be.

    Parameters
    ----------
    file : [FILE]
        A scenario, or results.
    name : NAME
        A scenario of the book; see --list.
    algorithm : str
        Algorithm of all flows and request loops of a --preset; cubic.
    stack : {'ns3', 'linux'}
        TCP stack whose loss recovery and slow start the theory models. Default: linux; ns3 beside
        --by ns3.
    python : PATH
        Python with ns-3, for --by ns3.
    listed : bool
        List the presets, or the scenarios of a --matrix.
    changes : NAME=VALUE
        Change a number of the scenario, or an algorithm. Names and units: as --vary.
    save_path : SAMPLES
        Save all samples of a live run as .json, or .json.gz.
    measured : FILE
        A measurement of the flows, such as iperf3's JSON or ss over time, compared with what was
        evaluated; once for each file. The first flow is that which began first.
    """
    options = batch.GridOptions(**grid_options)
    if listed:
        shown = ("listed", "as_json", "matrix_name", "baseline", "tested")
        _require_alone("--list", file=file, but=shown)
        _print_list(options, as_json=as_json)
        return
    inputs = [file] if file else []
    if plot_path is not None:
        check_output(plot_path, inputs=inputs, force=force, plot=True)
    if file is not None and file != "-" and grid.is_results(file):
        shown = ("file", "table_path", "plot_path", "force", "as_json")
        _require_alone("RESULTS.jsonl", but=shown)
        table_path = options.table_path
        batch.show_results(
            file, table_path=table_path, plot_path=plot_path, force=force, as_json=as_json
        )
        return
    matrix = None
    if options.matrix_name is not None:
        matrix = _matrix(file, name, algorithm, changes, options)
    else:
        _require_matrix(options)
        document = grid.with_values(_document(file, name, algorithm), batch.parse_set(changes))
        scenario = scenarios.from_document(document, name=_shown_name(file) or "scenario")
    _check_ways(by, stack=stack, python=python, save_path=save_path, out=options.out,
                peer_text=peer_text, token=token)  # fmt: skip
    if save_path is not None:
        check_output(save_path, inputs=inputs, force=force)
    if options.out is not None:
        if measured:
            raise mistakes.exclusive("--out", "--measured")
        batch.run_grid(
            matrix or grid.Grid(document, batch.parse_vary(options.vary), options.repeats),
            out=options.out, table_path=options.table_path, plot_path=plot_path, force=force,
            workers=options.workers, as_json=as_json, by=by[0], stack=stack or stack_for(by),
            python=python,
        )  # fmt: skip
        return
    batch.require_out(options)
    batch.check_table(options.table_path, inputs=inputs, force=force)
    with Deferral() as deferral:
        peer = None if peer_text is None else read_peer(peer_text, token)
        run = LiveRun(save_path=save_path, deferral=deferral, peer=peer)
        results, absent = _evaluate(scenario, by, stack, python, run)
        if measured:
            results.append(_measured(scenario, measured))
        _show(results, absent, run, name or Path(_shown_name(file) or "").name, as_json=as_json,
              plot_path=plot_path, table_path=options.table_path)  # fmt: skip
        run.end()


def _measured(scenario: scenarios.Scenario, files: tuple[str, ...]) -> Result:
    """Read measured flows as a result of the scenario."""
    from netcalc import readers  # late: a scenario needs none
    from netcalc.congestion.measured import measured

    return measured(scenario, {name: readers.read(Path(name)) for name in files})


def _check_ways(
    by: tuple[str, ...],
    *,
    stack: str | None,
    python: str | None,
    save_path: str | None,
    out: str | None,
    peer_text: str | None,
    token: str | None,
) -> None:
    """Refuse options of a way that is not asked for, and what a grid cannot have."""
    for option, way, value in (("--stack", "theory", stack), ("--python", "ns3", python)):
        if value is not None and way not in by:
            raise mistakes.exclusive(option, f"--by {by[0]}")
    for option, text in (("--save", save_path), ("--peer", peer_text)):
        if text is not None and "live" not in by:
            raise mistakes.lacking(option, "--by live", "Add --by live")
        if text is not None and out is not None:
            raise mistakes.exclusive("--out", option)
    if token is not None and peer_text is None:
        raise mistakes.lacking("--token", "--peer", "Add for example --peer 192.0.2.7")
    if out is not None and len(by) > 1:
        raise mistakes.exclusive("--out", f"--by {','.join(by)}")


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
        print_json(answer(results, absent, run, several=several))
    else:
        if len(results) > 1:
            for result in results:
                put(f"evaluated by: {batch.about_line(result)}")
            batch.print_partings(partings(results, cut=run.cut()))
            for label, text in batch.link_lines(results[0].scenario).items():
                put(f"{label}: {text}")
        else:
            batch.print_result(results[0])
        for result in results:
            for notice in notes(result):
                complain(f"note: {notice}")
    if plot_path is not None:
        batch.draw_courses(results, title, plot_path)
        print_written(plot_path)
    if table_path is not None:
        batch.write_table(grid.course_table(results), table_path)
        print_written(table_path)


def _require_alone(first: str, *, but: Sequence[str], file: str | None = None) -> None:
    """Refuse what would be ignored beside a list, or a file of results."""
    if file is not None:
        raise mistakes.exclusive(first, "FILE")
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        is_typed = context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
        if is_typed and name not in but:
            raise mistakes.exclusive(first, option.opts[0])


def _evaluate(
    scenario: Scenario,
    by: tuple[str, ...],
    stack: str | None,
    python: str | None,
    run: LiveRun,
) -> tuple[list[Result], dict[str, NetcalcError]]:
    from netcalc.cli.output import Progress

    def shown(way: str) -> Callable[[], Result]:
        def evaluated() -> Result:
            if run.deferral.number is not None:
                raise NetcalcError("way-skipped", signal=run.deferral.name)
            with (
                run.deferral.lifted(),
                Progress(
                    f"{batch.WAY_NAMES[way]}, {units.show(scenario.end_s, 's')} of a scenario"
                ),
            ):
                return how[way]()

        return evaluated

    how = evaluations(scenario, stack=stack or stack_for(by), python=python)
    waiting = {way: shown(way) for way in ("theory", "ns3")}
    return evaluate(by, {**waiting, "live": lambda: run.measure(scenario)})


def _document(file: str | None, name: str | None, algorithm: str | None) -> dict[str, Any]:
    if file is not None and name is not None:
        raise mistakes.exclusive("SCENARIO.json", "--preset")
    if file is not None:
        if algorithm is not None:
            raise mistakes.exclusive("SCENARIO.json", "--algorithm")
        if file != "-":
            return scenarios.read_document(file)
        data = standard_input().read(scenarios.MOST_BYTES + 1)
        if grid.begins_results(data):
            raise mistakes.CommandError("results-on-input")
        return scenarios.document_of(data, name=STANDARD_INPUT)
    if name is None:
        raise mistakes.CommandError("no-scenario")
    return scenarios.as_document(scenarios.preset(name, algorithm=algorithm or "cubic"))


def _shown_name(file: str | None) -> str | None:
    return STANDARD_INPUT if file == "-" else file


def _matrix(
    file: str | None,
    name: str | None,
    algorithm: str | None,
    changes: Sequence[str],
    options: batch.GridOptions,
) -> grid.Matrix:
    """Return the matrix of the command line; what it would ignore is refused."""
    others = {"FILE": file, "--preset": name, "--algorithm": algorithm}
    for option, value in others.items():
        if value is not None:
            raise mistakes.exclusive("--matrix", option)
    values, vary = batch.parse_set(changes), batch.parse_vary(options.vary)
    return grid.Matrix(*_tests(options), values=values, vary=vary, repeats=options.repeats)


def _require_matrix(options: batch.GridOptions) -> None:
    for option, value in {"--baseline": options.baseline, "--test": options.tested}.items():
        if value is not None:
            raise mistakes.lacking(option, "--matrix", "Add --matrix netesto")


def _print_list(options: batch.GridOptions, *, as_json: bool) -> None:
    """Print the presets, or the cases of a matrix."""
    if options.matrix_name is None:
        _require_matrix(options)
        listed = {name: scenarios.preset(name) for name in scenarios.presets()}
    else:
        name, baseline, tested = _tests(options)
        listed = scenarios.matrix(name, baseline=baseline, test=tested)
    if as_json:
        print_json({name: scenarios.as_document(scenario) for name, scenario in listed.items()})
        return
    for name, scenario in listed.items():
        flows, loops, link = len(scenario.flows), len(scenario.requests), scenario.bottleneck
        named = [load.algorithm for load in scenario.flows or scenario.requests]
        of = f" of {'+'.join(dict.fromkeys(named))}" if options.matrix_name else ""
        say(
            f"  {name:26} {units.show_rate(link.rate_bps, IP)}, {units.show(link.rtt_s, 's')}, "
            f"{link.buffer_packets} packets; flows: {flows}; request loops: {loops}{of}"
        )
        if name in scenarios.SIMPLIFIED:
            say(f"  {'':26} {scenarios.SIMPLIFIED[name]}")


def _tests(options: batch.GridOptions) -> tuple[str, str, str]:
    """Return the name of the matrix, and the two algorithms that it compares."""
    name = choice("--matrix", str(options.matrix_name), scenarios.matrices())
    return name, options.baseline or "cubic", options.tested or "bbr"


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
    peer : FarPeer, optional
        The second machine, to which the flows go.
    """

    recording: Recording | None = None
    error: ExperimentError | None = None
    save_path: str | None = None
    deferral: Deferral = field(default_factory=Deferral)
    peer: FarPeer | None = None
    save_error: OSError | None = field(default=None, init=False)

    def measure(self, scenario: Scenario) -> Result:
        """Run a scenario; one that breaks off has what it recorded until then."""
        from netcalc.cli.output import Progress
        from netcalc.congestion import live  # late: theory needs no sockets

        try:
            with Progress("congestion", unit="bit/s") as progress:
                self.recording = live.record(
                    scenario, peer=self.peer, progress=progress, save=self.save_path
                )
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
        document: dict[str, Any] = {
            "ended_s": self.recording.ended_s,
            "partial": meta.partial,
            "warnings": [notice.stored() for notice in meta.warnings],
        }
        return document if self.error is None else {**document, "error": self.error.as_dict()}

    def _save(self) -> None:
        """Save the run before anything else is done, as its terminal may be gone."""
        if self.save_path is not None:
            from netcalc.congestion.recording import as_table

            assert self.recording is not None
            try:
                as_table(self.recording).save(self.save_path)
            except OSError as error:  # what was measured is shown all the same
                self.save_error = error

    def end(self) -> None:
        """End the command of a stopped run with 130, and that of one that broke off with 2."""
        if self.recording is None:
            return
        if self.save_error is not None:
            if self.deferral.number is not None:  # which ends the command before it is printed
                complain(str(mistakes.system_error(self.save_error)))
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
        print_json(answer([result], {}, run, several=False))
    else:
        batch.print_result(result)


def answer(
    results: list[Result], absent: Mapping[str, NetcalcError], run: LiveRun, *, several: bool
) -> dict[str, Any]:
    """Return one result, or those of several ways with where they part, and what repeats them."""
    documents = [
        {
            **result_document(result),
            "notes": [notice.stored() for notice in notes(result)],
            **(run.facts() if result.by == "live" else {}),
        }
        for result in results
    ]
    about = {**facts(), "scenario": scenarios.as_document(results[0].scenario)}
    if not several:
        return {**documents[0], "layers": LAYERS, "about": {**about, **documents[0]["about"]}}
    return {
        "by": [result.by for result in results],
        "layers": LAYERS,
        "results": dict(zip([result.by for result in results], documents, strict=True)),
        "absent": {way: error.as_dict() for way, error in absent.items()},
        "partings": (
            [row.as_dict() for row in partings(results, cut=run.cut())] if len(results) > 1 else []
        ),
        "about": about,
    }
