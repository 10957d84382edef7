"""What the commands of live runs share: their options, a bar meanwhile, and what is shown after."""

from __future__ import annotations

import contextlib
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from netcalc import compare, units
from netcalc.cli import complain, print_json
from netcalc.cli.output import check_outputs, save_plot, tell_written
from netcalc.cli.read import describe, print_samples, summary
from netcalc.errors import DomainError, ExperimentError
from netcalc.path import Path
from netcalc.units import show

Command = Callable[..., None]


class Quantity(click.ParamType):  # type: ignore[type-arg] # click 8.1 has no argument there
    """A number with its unit, as people write it, in an SI unit of :mod:`netcalc.units`."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.name = _KINDS[unit]

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the text; a mistake names the option."""
        field = param.opts[0].lstrip("-") if param is not None else None
        return units.parse(value, self.unit, field=field) if isinstance(value, str) else value


_KINDS = {"s": "time", "byte": "size", "ratio": "share", "packet/s": "rate"}


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
    path = None if path_text is None else Path.parse(path_text, processing_s=processing_s)
    given = {argument: value for argument, value in options.items() if value != ()}
    short_name = name.partition(" over ")[0]
    with (
        Progress(short_name, unit=unit) as progress,
        partial_shown(name, as_json=as_json),
        named_as_typed(),
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


@contextlib.contextmanager
def named_as_typed() -> Iterator[None]:
    """Let a refusal name options where the library names arguments, and what works instead."""
    options = {one.name or "": one for one in click.get_current_context().command.params}
    try:
        yield
    except DomainError as error:
        error.args = (_in_options(_about_option(error, options), options),)
        raise
    except ExperimentError as error:
        text = str(error)
        if error.what.startswith(_REFUSED):
            text = _no_path(error, path_needed=options["path_text"].default is not None)
        error.args = (_in_options(text, options),)
        raise


def _about_option(error: DomainError, options: Mapping[str, click.Parameter]) -> str:
    """Return what is said of an argument as said of its option, with the unit of the value."""
    name = error.name.partition("[")[0]  # one of several values
    if name not in options:
        return str(error)
    kind = options[name].type
    unit = f" {kind.unit}" if isinstance(kind, Quantity) else ""
    value = str(error.value).partition(" (at index")[0]
    begin = f"{error.name} is {error.value}"
    return str(error).replace(begin, f"{options[name].opts[0]} is {value}{unit}", 1)


def _in_options(text: str, options: Mapping[str, click.Parameter]) -> str:
    """Return a message with options for arguments, known by the unit: "count" is a word, too."""
    for name, option in options.items():
        if "_" in name:
            text = re.sub(rf"\b{name}\b", option.opts[0], text)
    return text


_REFUSED = "the system refuses"


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
            click.echo(describe(name, error.partial))
        complain(f"{error.phase}: {error.what}; what was measured until then is above")
        sys.exit(2)


class Progress:
    """A bar on the terminal; nothing where standard error is no terminal.

    With a unit the value that a run tells stands beside its name: what it has moved so far.
    """

    def __init__(self, name: str, *, unit: str = "") -> None:
        self._name, self._unit = name, unit

    def __enter__(self) -> Progress:
        from rich.console import Console
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        self._bar = Bar(console=console, transient=True, disable=not console.is_terminal)
        self._bar.start()
        self._task = self._bar.add_task(self._name, total=None)
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, done: float, total: int, value: float = math.nan) -> None:
        name = self._name
        if self._unit and value > 0:
            name += f", {show(value, self._unit, digits=3)}"
        self._bar.update(self._task, completed=done, total=total, description=name)
