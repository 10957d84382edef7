"""Common part of the commands of live runs: options, progress bar and report."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from netcalc import compare
from netcalc.calculator import Formula, Parameter
from netcalc.cli import complain, ending_quietly, print_json, say
from netcalc.cli.mistakes import CommandError, for_command_line, named_as_typed
from netcalc.cli.options import KINDS, Choice, Quantity, WholeNumber, read_path
from netcalc.cli.output import Progress, check_outputs, print_written, save_plot
from netcalc.cli.report import describe, print_samples, summary
from netcalc.errors import ExperimentError
from netcalc.messages import Notice

Command = Callable[..., None]

_NAMES: dict[str, tuple[str, ...]] = {
    "payload_bytes": ("--size",),
    "modes": ("--mode",),
    "protocols": ("--protocol",),
    "write_gap_s": ("--gap",),
    "run_count": ("--runs",),
    "pair_count": ("--pairs",),
    "packet_count": ("--packets",),
    "congestion_control": ("--congestion",),
    "input_packets": ("--node-input",),
    "datagrams_per_call": ("--gso",),
}
"""Names of options that are shorter than those of the arguments; both work."""
_FORMER = {"datagrams_per_call": ("--together",)}
"""Names that options had before; they work, too."""
_HELP = {
    "timeout_s": "Reply timeout.",
    "duration_s": "Duration of each run.",
    "limit_s": "Time limit of a transfer.",
    "buffer_bytes": "Requested socket buffers (SO_SNDBUF, SO_RCVBUF); 0 keeps the system's.",
    "congestion_control": "TCP congestion control, such as reno; the system's if omitted.",
    "mtu_bytes": "MTU of the path, or of a loopback of the run's own.",
    "input_packets": "Capacity of the input queue of each node of the --path, in packets.",
    "seed": "Random seed for --loss.",
}
"""Descriptions that differ from those of the arguments: there is no None, and times have units."""
_METAVARS = {"host": "ADDRESS", "pcap": "FILE.pcap", "congestion_control": "NAME"}
_OWN = {"path", "save", "progress", "stop"}
"""Arguments that every live run has, and this module gives."""
_OF_PATH = ("link_buffer_bytes", "loss_ratio", "input_packets", "node_rate_pps")
"""Options about the links or nodes of a path."""
_REPORTED_WITH = {
    "echo": ("scipy.special",),
    "line_rate": ("scipy.special",),
    "transactions": ("scipy.special", "scipy.optimize"),
}
"""Modules that the report of a run needs, by experiment: loaded before the run, so that its end
does not wait for them after Ctrl-C."""
_LISTED = 5
"""Values of a default that are listed; of longer ones only the range is shown."""


class OptionWithAliases(click.Option):
    """An option with names that work and are not in the help."""

    def __init__(self, *given: Any, aliases: Sequence[str] = (), **more: Any) -> None:
        super().__init__(*given, **more)
        self.aliases = [name for name in aliases if name not in self.opts]

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser know all names."""
        shown, self.opts = self.opts, [*self.opts, *self.aliases]
        super().add_to_parser(parser, ctx)
        self.opts = shown


def experiment_options(
    measure: Callable[..., Any],
    *,
    names: Mapping[str, tuple[str, ...]] | None = None,
    descriptions: Mapping[str, str] | None = None,
    bare: bool = False,
) -> Callable[[Command], Command]:
    """Add an option for each argument of an experiment, from its signature and docstring.

    Parameters
    ----------
    measure : callable
        The experiment.
    names, descriptions : mapping, optional
        By argument: names of its option, and its line in the help, where they are special here.
    bare : bool
        Whether sizes without a unit are bytes.
    """
    named, described = {**_NAMES, **(names or {})}, {**_HELP, **(descriptions or {})}
    annotations = inspect.get_annotations(measure)
    options = [
        _option(
            one,
            annotations[one.name],
            names=named.get(one.name, ()),
            description=described.get(one.name, one.description),
            bare=bare,
        )
        for one in Formula("experiment", measure).parameters
        if one.name not in _OWN
    ]
    return lambda command: _with_options(command, options)


def run_options(*, path: str | None = None) -> Callable[[Command], Command]:
    """Add the options that every live run has; ``path`` is that of a run without ``--path``."""
    options = [
        click.option(
            "--path",
            "path_text",
            metavar="LINKS",
            default=path,
            show_default=True,
            help='Emulated path: rate and latency of each link, such as "T1 5 ms, T3 1 ms".',
        ),
        click.option(
            "--save",
            "save_path",
            metavar="FILE.json",
            help="File to save the samples to; written every 2 s, at the end and on failure.",
        ),
        click.option(
            "--plot",
            "plot_path",
            metavar="OUT",
            help="Draw the samples with theory through them, as .html, .svg or .png.",
        ),
        click.option("--force", is_flag=True, help="Replace existing files."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    ]
    return lambda command: _with_options(command, options)


def _with_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def _option(
    parameter: Parameter,
    annotation: str,
    *,
    names: tuple[str, ...],
    description: str,
    bare: bool,
) -> Callable[[Command], Command]:
    """Return the option of one argument."""
    full, short = (f"--{name.replace('_', '-')}" for name in (parameter.name, parameter.short_name))
    shown = [*(names or (short,)), parameter.name]
    if annotation == "bool":
        if parameter.default:  # an option takes it away
            shown[0] += f"/--no-{shown[0].removeprefix('--')}"
        return click.option(*shown, default=parameter.default, is_flag=True, help=description)
    several = annotation.startswith(("ArrayLike", "Sequence"))
    if several:
        description += " May be repeated."
    if parameter.default not in (None, ""):
        description += f"  [default: {_shown_default(parameter)}]"
    return click.option(
        *shown,
        cls=OptionWithAliases,
        aliases=[full, short, *_FORMER.get(parameter.name, ())],
        type=_type(parameter, annotation, bare=bare),
        default=None if several else parameter.default,
        multiple=several,
        metavar=_METAVARS.get(parameter.name),
        help=description,
    )


def _type(parameter: Parameter, annotation: str, *, bare: bool) -> click.ParamType[Any]:
    if parameter.choices:
        return Choice(parameter.choices)
    if parameter.unit in KINDS:
        return Quantity(parameter.unit, bare=bare and parameter.unit == "byte")
    return click.STRING if annotation.startswith("str") else WholeNumber()


def _shown_default(parameter: Parameter) -> str:
    """Write a default: one value, a few, or the range of many."""
    values = np.ravel(parameter.default).tolist()
    if len(values) <= _LISTED or isinstance(values[0], str):
        return ", ".join(_shown(parameter, value) for value in values)
    low, high = _shown(parameter, min(values)), _shown(parameter, max(values))
    return f"{len(values)} values from {low} to {high}"


def _shown(parameter: Parameter, value: Any) -> str:
    return parameter.show(value) if parameter.unit in KINDS else str(value)


def destination(*, path_text: str | None, routed: bool = False, **_: Any) -> str:
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
    """Run an experiment; print and draw its samples; one that was stopped ends with 130.

    The options are named as the arguments of ``measure``; one of several values that was not given
    keeps its default there.
    """
    _require_path(path_text, routed=options.get("routed", False))
    pcap_path = options.get("pcap")
    check_outputs(pcap_path, save_path, plot=plot_path, force=force)
    path = None if path_text is None else read_path(path_text, processing_s=processing_s)
    given = {argument: value for argument, value in options.items() if value != ()}
    short_name = name.partition(" over ")[0]
    with ending_quietly():
        drawn = () if plot_path is None else ("netcalc.plots",)
        for module in (*_REPORTED_WITH.get(measure.__name__, ()), *drawn):
            import_module(module)
    with (
        Progress(short_name, unit=unit) as progress,
        partial_shown(name, as_json=as_json),
        named_as_typed(),
    ):
        samples = measure(**given, path=path, progress=progress, save=save_path)
    print_samples(name, samples, as_json=as_json)
    if plot_path is not None:
        save_plot(compare.overlay(samples), plot_path)
    print_written(pcap_path, save_path, plot_path)
    if samples.meta.partial:
        sys.exit(130)
    if not len(samples):
        sys.exit(2)  # nothing could be measured; the warnings say why


def _require_path(path_text: str | None, *, routed: bool) -> None:
    """Refuse options about a path where there is none."""
    if routed and path_text is not None:
        raise CommandError("options-exclusive", first="--routed", second="--path")
    ctx = click.get_current_context()
    for option in ctx.command.params:
        typed = ctx.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if path_text is None and typed and option.name in _OF_PATH:
            raise CommandError(
                "option-requires",
                option=option.opts[0],
                required="a --path",
                example='Add for example --path "10 Mbit/s 1 ms"',
            )


@contextlib.contextmanager
def partial_shown(name: str, *, as_json: bool) -> Iterator[None]:
    """Show what a run that breaks off has measured, and why it did."""
    try:
        yield
    except ExperimentError as error:
        if error.partial is None:
            raise
        for_command_line(error)
        if as_json:
            print_json({**summary(name, error.partial), "error": error.as_dict()})
        else:
            say(describe(name, error.partial))
        complain(f"{error.phase}: {error.what}; {Notice('partial-samples-above')}")
        sys.exit(2)
