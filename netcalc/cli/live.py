"""What the commands of live runs share: their options, a bar meanwhile, and what is shown after."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import click

from netcalc import compare
from netcalc.cli import complain, print_json, say
from netcalc.cli.output import check_outputs, save_plot, tell_written
from netcalc.cli.progress import Progress
from netcalc.cli.quantity import named_as_typed, read_path
from netcalc.cli.report import describe, print_samples, summary
from netcalc.errors import ExperimentError

Command = Callable[..., None]


def live_options(*, path: str | None = None) -> Callable[[Command], Command]:
    """Add the options that every live run has; ``path`` is where it goes unless told."""

    def add(command: Command) -> Command:
        for option in (
            click.option(
                "--path",
                "path_text",
                metavar="LINKS",
                default=path,
                show_default=True,
                help='Emulated path, e.g. "10 Mbit/s 10 ms" or "T1 5 ms, T1 1 ms".',
            ),
            click.option(
                "--save",
                "save_path",
                metavar="FILE.json",
                help="Keep the samples, also of a run that is stopped.",
            ),
            click.option(
                "--plot", "plot_path", metavar="OUT.html", help="Draw theory on the points."
            ),
            click.option("--force", is_flag=True, help="Replace files that exist."),
            click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        )[::-1]:
            command = option(command)
        return command

    return add


def place(*, path_text: str | None, routed: bool = False, **_: Any) -> str:
    """Return where a run with these options goes, in words."""
    if routed:
        return "a third namespace that routes"
    return "loopback" if path_text is None else f"the path {path_text}"


def live_run(
    name: str,
    measure: Callable[..., Any],
    *,
    path_text: str | None,
    save_path: str | None,
    plot_path: str | None,
    force: bool,
    as_json: bool,
    processing_s: float = 0.0,
    unit: str = "",
    **options: Any,
) -> None:
    """Run an experiment; print and draw what it measured; one that was stopped ends with 130.

    The options are named as the arguments of ``measure``; one of several values that was not given
    keeps its default there.
    """
    pcap_path = options.get("pcap")
    check_outputs(pcap_path, save_path, plot_path, force=force)
    path = None if path_text is None else read_path(path_text, processing_s=processing_s)
    given = {argument: value for argument, value in options.items() if value != ()}
    short_name = name.partition(" over ")[0]
    with (
        Progress(short_name, unit=unit) as progress,
        partial_shown(name, as_json=as_json),
        named_as_typed(),
        namespaces_explained(),
    ):
        samples = measure(**given, path=path, progress=progress, save=save_path)
    print_samples(name, samples, as_json=as_json)
    if plot_path is not None:
        save_plot(compare.overlay(samples), plot_path)
    tell_written(pcap_path, save_path, plot_path)
    if samples.meta.partial:
        sys.exit(130)
    if not len(samples):
        sys.exit(2)  # nothing could be measured; the warnings say why


_REFUSED = "the system refuses"


@contextlib.contextmanager
def namespaces_explained() -> Iterator[None]:
    """Where a path needs namespaces that the system refuses: say why, and what works instead."""
    try:
        yield
    except ExperimentError as error:
        if error.what.startswith(_REFUSED):
            options = {one.name: one for one in click.get_current_context().command.params}
            needed = options["path_text"].default is not None
            error.args = (_no_path(error, path_needed=needed),)
        raise


def _no_path(error: ExperimentError, *, path_needed: bool) -> str:
    """Say that namespaces are refused: what, why, and what works instead."""
    why = (error.hint or "").removesuffix("The relay works without").rstrip(". ")
    instead = "Without --path and --routed the run goes over loopback"
    if path_needed:
        instead = "This run goes nowhere else; netcalc read shows one that was saved elsewhere"
    sentences = (
        f"no path can be emulated: it lies between network namespaces, and {error.what}",
        why,
        f"{instead}; netcalc doctor says what this machine can do",
    )
    return ". ".join(filter(None, sentences))


@contextlib.contextmanager
def partial_shown(name: str, *, as_json: bool) -> Iterator[None]:
    """Show what a run that breaks off has measured, and why it did."""
    try:
        yield
    except ExperimentError as error:
        if error.partial is None:
            raise
        if as_json:
            print_json({**summary(name, error.partial), "error": error.as_dict()})
        else:
            say(describe(name, error.partial))
        complain(f"{error.phase}: {error.what}; what was measured until then is above")
        sys.exit(2)
