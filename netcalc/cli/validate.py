"""How far this machine and the theory can be trusted: ``netcalc validate``, ``netcalc doctor``.

``validate`` runs every experiment at known parameters, predicted and measured; ``doctor`` says what
this machine can measure and emulate, and how accurately.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click
import numpy as np

from netcalc import units, version
from netcalc.cli import check_one_form, print_json, put, say
from netcalc.cli.options import CSV, Choice, command, plot_option
from netcalc.cli.output import (
    Progress,
    check_outputs,
    meta_of,
    print_csv,
    print_written,
    write_plot,
)
from netcalc.emulation import Capabilities, capabilities
from netcalc.errors import ExperimentError, MixedInstallationWarning
from netcalc.experiments import echo
from netcalc.experiments.running import instrument
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.path import Path
from netcalc.printable import printable
from netcalc.samples import Table
from netcalc.truth import LABS, TruthRow, truth_rows, truth_summary
from netcalc.truth import validate as measure
from netcalc.units import show


@command(
    plot_option("Plot measured against predicted values"),
    click.Option(["--force"], is_flag=True, help="Replace existing files."),
    click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object."),
    CSV,
    names={"labs": "--lab"},
    types={"labs": Choice(LABS)},
    described={"labs": f"Run only this experiment: {', '.join(LABS)}."},
)
def validate(
    *,
    labs: tuple[str, ...] = (),
    quick: bool = False,
    save_path: str | None = None,
    plot_path: str | None,
    force: bool,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Run every experiment on emulated links with known parameters and compare with theory.

    Predictions come from the models with the parameters of the links, and from what the two hosts
    add, measured in the same minute over a path without links; nothing is fitted. The column "own"
    is the uncertainty of that part.

    The exit code is 1 if the median error exceeds 2 %, if a row deviates by more than 5 % and
    neither this uncertainty nor a disturbance explains it, or if a row deviates by more than 8 %.
    Ctrl-C stops the run and keeps the rows measured so far.

    Parameters
    ----------
    labs : NAME
        Run only this experiment.
    quick : bool
        Run a subset of the settings, in less than half of the time.
    save_path : FILE.json
        File to save the table to; also written if the run is stopped.
    """
    check_one_form(as_json, as_csv)
    check_outputs(save_path, plot=plot_path, force=force)
    with Progress("validate") as progress:
        table = measure(labs=labs, quick=quick, progress=progress, save=save_path)
    rows = truth_rows(table)
    totals = truth_summary(rows)
    if as_json:
        print_json(
            {
                "rows": [_fields(row) for row in rows],
                "summary": {**asdict(totals), "holds": totals.holds},
                "meta": meta_of(table.meta),
            }
        )
    elif as_csv:
        texts = ([_csv_text(value) for value in _fields(row).values()] for row in rows)
        print_csv(_fields(rows[0]), texts)
    else:
        print_truth(table)
    if plot_path is not None:
        save_truth_plot(table, plot_path)
    print_written(save_path, plot_path)
    if table.meta.partial:
        sys.exit(130)
    if not totals.holds:
        sys.exit(1)


def _fields(row: TruthRow) -> dict[str, object]:
    return {
        **asdict(row),
        "error_ratio": row.error_ratio,
        "verdict": row.verdict,
        "flag": row.flag,
    }


def _csv_text(value: object) -> object:
    return f"{value:.12g}" if isinstance(value, float) else value


_COLOURS = {"within": "green", "instrument": "yellow", "unexplained": "red"}
_HEADINGS = ("predicted", "measured", "error", "own", "verdict")


def print_truth(table: Table) -> None:
    """Print a table, its notes, and whether it holds."""
    rows = truth_rows(table)
    print_rows(rows)
    for line in notes(rows, table):
        put(click.wrap_text(line, 80, subsequent_indent="  "))
    so_far = "So far: " if table.meta.partial else ""
    put(click.wrap_text(so_far + truth_summary(rows).sentence(), 80))


def print_rows(rows: Sequence[TruthRow]) -> None:
    """Print the rows lab by lab, each path once; 80 columns are enough."""
    for lab in dict.fromkeys(row.lab for row in rows):
        of_lab = [row for row in rows if row.lab == lab and row.verdict != "not run"]
        if not of_lab:
            continue
        quantities = ", ".join(dict.fromkeys(row.quantity for row in of_lab))
        put(_line(f"{lab}: {quantities}", *_HEADINGS))
        path = ""
        for row in of_lab:
            if row.path != path:
                path = row.path
                put(printable(path))
            error = f"{row.error_ratio:+.2%}".replace("-0.00%", "+0.00%")
            own = show(row.own_error, row.unit, digits=2) if row.own_error else "-"
            values = (show(row.predicted, row.unit), show(row.measured, row.unit), error, own)
            put(_line(f"  {printable(row.what)}", *values, ""), nl=False)
            put(row.verdict, fg=_COLOURS[row.verdict])
        put()


def _line(what: str, predicted: str, measured: str, error: str, own: str, verdict: str) -> str:
    """Return one line; a setting too long for its column gets a line of its own."""
    begin = f"{what:<22}" if len(what) <= 22 else f"{what}\n{'':<22}"
    return f"{begin}{predicted:>13}{measured:>13}{error:>9}{own:>11}  {verdict}"


def notes(rows: Sequence[TruthRow], table: Table) -> list[str]:
    """Return the notes under the table: flagged rows, experiments not run, warnings."""
    sentences = [
        f"{row.lab}, {row.setting}: {row.flag} ({row.statistic})"
        for row in rows
        if row.verdict in ("instrument", "unexplained")
        or (row.verdict == "within" and row.has_own_tolerance)
    ]
    reasons = dict.fromkeys(row.why_not for row in rows if row.why_not)
    for reason in reasons:
        settings = [row for row in rows if row.why_not == reason]
        labs = ", ".join(dict.fromkeys(row.lab for row in settings))
        sentences.append(f"not run, {len(settings)} rows of {labs}: {reason}")
    return sentences + [f"warning: {printable(str(warning))}" for warning in table.meta.warnings]


def save_truth_plot(table: Table, path: str) -> None:
    """Draw the table into one file that needs no network."""
    from netcalc import plots  # late: bokeh takes its time

    write_plot(plots.truth(table), path)


PATH_TEXT = "T1 5 ms"
PAYLOAD_BYTES = 500


@command(click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object."))
def doctor(as_json: bool) -> None:
    """Report what this machine can measure and emulate, how accurately, and what it lacks.

    Takes about four seconds. No packet leaves the machine, and nothing is left behind.
    """
    machine = capabilities()
    report: dict[str, Any] = {
        **machine.as_dict(),
        "mixed_with": version.mixed_with(),
        **instrument.timer(),
        "exchange_call_s": instrument.exchange_call_s("127.0.0.1"),
        **instrument.scheduling(instrument.scheduling_delays_s(500)),
        "processor_ratio": instrument.processor_ratio(),
        "machine": instrument.machine(),
        "link": link_accuracy(machine),
    }
    if as_json:
        print_json(report)
        return
    for line in lines(machine, report):
        say(line)


def link_accuracy(machine: Capabilities) -> dict[str, Any]:
    """Ping over an emulated path for two seconds; return the true time and the errors."""
    path = Path.parse(PATH_TEXT)
    truth_s = float(path.rtt_s(PAYLOAD_BYTES + DATAGRAM_HEADERS_BYTES))
    report: dict[str, Any] = {"path": PATH_TEXT, "truth_s": truth_s}
    if not machine.wire:
        return {**report, "why_not": machine.why_not}
    try:
        samples = echo([PAYLOAD_BYTES], protocol="icmp", count=20, interval_s=0.1, path=path)
    except ExperimentError as error:
        return {**report, "why_not": str(error)}
    errors_s = samples.best_s - truth_s
    return {
        **report,
        "ping_count": errors_s.size,
        "error_min_s": float(errors_s.min()),
        "error_median_s": float(np.median(errors_s)),
        "error_p95_s": float(np.percentile(errors_s, 95)),
        "wire_lateness_p99_s": samples.meta.instrument.wire_lateness_p99_s,
        "wire_late_ratio": samples.meta.instrument.wire_late_ratio,
        "warnings": list(map(str, samples.meta.warnings)),
    }


def lines(host: Capabilities, report: dict[str, Any]) -> list[str]:
    """Return the report as text."""

    def time(name: str) -> str:
        return units.show(report[name], "s", digits=2)

    programs = ", ".join(name for name, file in host.programs.items() if file) or "none"
    missing = ", ".join(name for name, file in host.programs.items() if not file) or "none"
    machine = report["machine"]
    text = [
        f"machine      Linux {host.kernel}, {machine.get('usable_cpu_count', '?')} CPUs, "
        f"load {machine.get('load_1min', float('nan')):.1f}",
        f"namespaces   {'yes, ' + _WAYS[host.way] if host.wire else 'no: ' + host.why_not}",
        f"TUN device   {host.tun}{', with offloads' if host.offload else ''}",
        f"IPv6         {'yes' if host.ipv6 else 'no'}",
        f"TCP          {' '.join(host.congestion_controls)}; on the host this user may choose "
        f"{' '.join(host.allowed_congestion_controls)}",
        f"programs     {programs}; not installed: {missing}",
        f"clock        resolution {time('timer_resolution_s')}, {time('clock_call_s')} per reading",
        f"calls        {time('exchange_call_s')} for one send and one receive",
        f"scheduling   timers fire {time('scheduling_delay_median_s')} late (median), "
        f"{time('scheduling_delay_p99_s')} (p99); a busy program gets "
        f"{report['processor_ratio']:.0%} of a CPU, in turns with the others",
    ]
    if mixed := report["mixed_with"]:
        warning = MixedInstallationWarning(
            "mixed-installation", names=mixed, folder=version.FOLDER, extra=""
        )
        text.insert(0, f"netcalc      {warning}")
    return text + _link_lines(report["link"])


def _link_lines(link: dict[str, Any]) -> list[str]:
    if "why_not" in link:
        return [f"link         not measured: {link['why_not']}"]

    def time(name: str) -> str:
        return units.show(link[name], "s", digits=2)

    texts = [
        f"link         {link['path']}, ping of {PAYLOAD_BYTES} bytes: "
        f"{units.show(link['truth_s'], 's', digits=4)} predicted; measured minus predicted: "
        f"minimum {time('error_min_s')}, median {time('error_median_s')}, "
        f"p95 {time('error_p95_s')} ({link['ping_count']} pings)"
    ]
    return texts + [f"             {warning}" for warning in link["warnings"]]


_WAYS = {
    "root": "made as root",
    "user namespace": "made unprivileged, in a user namespace",
}
