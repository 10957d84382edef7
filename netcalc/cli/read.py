"""``netcalc read``: summaries and overlays of files that people have."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import click

from netcalc import compare, readers
from netcalc.cli import complain, print_json
from netcalc.cli.flows import print_capture
from netcalc.cli.mistakes import Command, CommandError, for_command_line, named_as_typed, numbers_of
from netcalc.cli.output import check_output, print_written, save_plot, write_plot
from netcalc.cli.quantity import Quantity
from netcalc.cli.report import is_recording, is_truth, print_facts, print_formats, print_samples
from netcalc.cli.streams import names_of_file, standard_input
from netcalc.errors import NetcalcError, ReaderError
from netcalc.explain import Known
from netcalc.messages import Notice
from netcalc.printable import excerpt
from netcalc.readers.captures import anonymized_error, anonymized_samples
from netcalc.samples import PacketTrace, Samples


@click.command(cls=Command)
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option(
    "--plot",
    "plot_path",
    metavar="OUT",
    help="Draw the samples with theory through them, as .html, .svg or .png.",
)
@click.option(
    "--columns", "columns", metavar="NAMES",
    help="Names of the columns of a file without a header, with units: size_bytes,rtt_ms.",
)  # fmt: skip
@click.option(
    "--line", "line_bps", type=Quantity("bit/s"),
    help="Rate of the line; the goodput it allows is printed next to each rate.",
)  # fmt: skip
@click.option(
    "--line-up", "line_up_bps", type=Quantity("bit/s"),
    help="Rate of the line for uploads, if it differs.",
)  # fmt: skip
@click.option(
    "--rtt", "rtt_s", type=Quantity("s"), help="Round-trip time without load, for RFC 6349."
)
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each file.")
@click.option(
    "--anonymize", is_flag=True, help="Replace addresses, leave out names of hosts and files."
)
@click.option("--formats", is_flag=True, help="List the formats that are read, and their traps.")
def read(
    files: tuple[str, ...],
    plot_path: str | None,
    columns: str | None,
    force: bool,
    as_json: bool,
    anonymize: bool,
    formats: bool,
    line_bps: float | None,
    line_up_bps: float | None,
    rtt_s: float | None,
) -> None:
    """Read and summarize measurements; "-" is standard input.

    The format is recognized from the content, never from the name: output of measuring tools,
    columns with units in their header, runs saved by netcalc.
    """
    if formats:
        print_formats(as_json=as_json)
        return
    if not files:
        context = click.get_current_context()
        files_given = next(one for one in context.command.params if one.name == "files")
        raise click.MissingParameter(ctx=context, param=files_given)
    if plot_path is not None:
        if len(files) > 1:
            raise CommandError("plot-of-several-files", count=len(files))
        check_output(plot_path, inputs=files, force=force, plot=True)
    with named_as_typed():
        known = Known(line_bps=line_bps, line_up_bps=line_up_bps, rtt_s=rtt_s)
    names = None if columns is None else [one.strip() for one in columns.split(",")]
    key = secrets.token_bytes(32)  # one for all files of a call: a host is the same in each
    bad: list[str] = []
    for number, name in enumerate(files, start=1):
        # A path may name a person or a host.
        shown = f"file {number}" if anonymize else name
        try:
            samples = _read(name, names)
            if anonymize:
                samples = anonymized_samples(samples, key=key)
            with numbers_of(shown):
                _print(shown, samples, known, as_json=as_json)
                if plot_path is not None:
                    _draw(shown, samples, plot_path, known)
                    print_written(plot_path)
        except NetcalcError as error:
            for_command_line(error)
            if anonymize:
                anonymized_error(error, names=names_of_file(name), shown=shown, key=key)
            bad.append(shown)
            if as_json:
                print_json({"file": shown, "error": error.as_dict()})
            complain(str(error))
    if bad and len(files) > 1:
        listed = ", ".join(excerpt(name, 200) for name in bad)
        values = {"count": len(bad), "total": len(files), "names": listed}
        complain(str(Notice("files-not-read", values)))
    if bad:
        sys.exit(2 if len(bad) == len(files) else 1)


def _print(shown: str, samples: Samples, known: Known, *, as_json: bool) -> None:
    """Print the report of one file."""
    if is_recording(samples):
        # Late: it loads the models of flows.
        from netcalc.cli.congestion.live_run import print_recording
        from netcalc.congestion.saved import from_table

        print_recording(from_table(samples, file=shown), as_json=as_json)
        return
    if isinstance(samples, PacketTrace):
        print_capture(shown, samples, as_json=as_json, known=known)
    else:
        print_samples(shown, samples, as_json=as_json, known=known)
    if not as_json and not is_truth(samples):
        print_facts(samples)


def _draw(name: str, samples: Samples, path: str, known: Known) -> None:
    """Draw samples into one file."""
    if is_truth(samples):
        from netcalc.cli.truth_report import save_truth_plot  # late: it loads the experiments

        save_truth_plot(samples, path)
        return
    if is_recording(samples):
        from netcalc.cli.congestion.shown import draw_courses
        from netcalc.congestion.saved import from_table

        draw_courses([from_table(samples, file=name).result()], name, path)
        return
    from netcalc import plots  # late: bokeh takes its time
    from netcalc.plots.measured import has_comparison, is_drawn

    if not is_drawn(samples):
        raise ReaderError("nothing-to-draw", file=name)
    if has_comparison(samples):
        save_plot(compare.overlay(samples), path)
    else:
        write_plot(plots.measured(samples, known), path)


def _read(name: str, columns: list[str] | None) -> Samples:
    if name == "-":
        return readers.read(standard_input(), columns=columns)
    return readers.read(Path(name), columns=columns)
