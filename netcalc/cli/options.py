"""Options of commands: made from signatures, the types of their values, other names.

A command, or the function of the library that it calls, says in its signature which options there
are and in its docstring what they mean; :func:`options_of` makes the options, :func:`command` the
command.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from netcalc import units
from netcalc.cli.mistakes import (
    Command,
    CommandError,
    keep_typed,
    named_as_typed,
    rename,
    typed_name,
)
from netcalc.errors import DomainError, UnitError

if TYPE_CHECKING:
    from netcalc.calculator import Parameter
    from netcalc.experiments.peers.remote import FarPeer
    from netcalc.path import Path

KINDS = {"s": "time", "byte": "size", "ratio": "share", "packet/s": "rate", "bit/s": "rate"}
"""What a number in each unit is called in a help text."""
_BELOW_0 = re.compile(r"-[.,]?\d.*", re.DOTALL)


class QuantityType(click.ParamType):  # type: ignore[type-arg] # click 8.1 has no argument there
    """A number with its unit, as people write it, in an SI unit of :mod:`netcalc.units`.

    With ``bare`` digits alone are taken in that unit, as the programs of a book take them.
    """

    def __init__(self, unit: str, *, bare: bool = False) -> None:
        self.unit, self.bare = unit, bare
        self.name = KINDS[unit]

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the text; a mistake names the option."""
        if not isinstance(value, str):
            return float(value)
        if self.bare and value.isascii() and value.isdecimal():
            return float(value)
        number = units.parse_typed(value, self.unit, field=typed_name(param) if param else None)
        if ctx is not None and param is not None and param.name:
            keep_typed(ctx, param.name, number, value)
        return number


class QuantityOrRange(QuantityType):
    """A quantity with its unit, a range or a distribution of it."""

    def __init__(self, unit: str, *, bare: bool = False) -> None:
        self.unit, self.bare = unit, bare
        self.name = KINDS.get(unit, "number")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the text; a mistake names the option."""
        if isinstance(value, str):
            # Late: values need none.
            from netcalc.uncertain.text import is_distribution, parse

            if is_distribution(value):
                return parse(value, self.unit, field=typed_name(param) if param else None)
        return super().convert(value, param, ctx)


class Growth(QuantityOrRange):
    """A growth a year, or a range of it: ``30%``, ``30 % ± 5 % a year``."""

    def __init__(self) -> None:
        super().__init__("ratio")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the text; a mistake names the option."""
        if isinstance(value, str):
            from netcalc.uncertain.text import without_year  # late, as above

            value = without_year(value)
        return super().convert(value, param, ctx)


class Day(click.ParamType):  # type: ignore[type-arg] # click 8.1 has no argument there
    """A day in ISO form: ``2026-11-24``."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """Read the text; a mistake names the option."""
        if isinstance(value, date):
            return value
        try:
            return date.fromisoformat(str(value).strip())
        except ValueError:
            name = typed_name(param) if param is not None else self.name
            raise CommandError("date-malformed", name=name, value=value) from None


_PERCENTILE = re.compile(
    r"p\s*(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)\s*(?:st|nd|rd|th)|([1-9]\d(?:\.\d+)?)", re.IGNORECASE
)


class Percentile(QuantityType):
    """A share of the time, or the percentile by its name: ``p95``, ``95th``."""

    def __init__(self) -> None:
        super().__init__("ratio")

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the text; a mistake names the option."""
        match = _PERCENTILE.fullmatch(value) if isinstance(value, str) else None
        text = f"{match[1] or match[2] or match[3]}%" if match else value
        return super().convert(text, param, ctx)


class WholeNumber(click.ParamType):  # type: ignore[type-arg] # click 8.1 has no argument there
    """A whole number, from ``low`` to ``high`` where the command sets limits."""

    name = "number"

    def __init__(self, low: int | None = None, high: int | None = None) -> None:
        self.low, self.high = low, high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the text; a mistake names the option and the allowed range."""
        name = typed_name(param) if param is not None else self.name
        try:
            number = int(value)
        except ValueError:
            raise DomainError("not-a-whole-number", name, value) from None
        if self.low is not None and number < self.low:
            raise DomainError("below-minimum", name, number, low=self.low)
        if self.high is not None and number > self.high:
            raise DomainError("above-maximum", name, number, high=self.high)
        return number


class Choice(click.Choice):  # type: ignore[type-arg] # click 8.1 has no argument there
    """One of several names, in any case; the nearest one is named for a wrong one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read the text; a mistake names the option and the nearest choice."""
        choices = list(map(str, self.choices))
        same = [one for one in choices if one.lower() == str(value).lower()]
        if value in choices or len(same) == 1:
            return str(value) if value in choices else same[0]
        from difflib import get_close_matches  # late: most names are known

        near = get_close_matches(str(value), choices, n=1)
        name = typed_name(param) if param is not None else self.name
        suggestions: dict[str, Any] = {"suggestions": near} if near else {}
        raise DomainError("not-a-choice", name, value, choices=choices, **suggestions)


NUMBER = re.compile(r"[+-]?\d[\d.,]*")
_UNIT_WORDS = frozenset({"e", "erl", "erlang", "erlangs", "percent", "gig", "gige", "gbe", "ge"})
_MARKS = frozenset({"@", "at"})
"""Words between values that say nothing more."""


def joined(words: Sequence[str]) -> list[str]:
    """Put a number and its unit together where they are two words.

    Examples
    --------
    >>> joined(["--latency", "30", "ms", "1", "MB"])
    ['--latency', '30 ms', '1 MB']
    """
    quantities: list[str] = []
    for word in words:
        if word in _MARKS and quantities:
            continue
        before = quantities[-1] if quantities else ""
        if (NUMBER.fullmatch(before) and _is_unit(word)) or (
            " " in before and (word == "per" or before.endswith(" per"))
        ):
            quantities[-1] += f" {word}"
        else:
            quantities.append(word)
    return quantities


def _is_unit(word: str) -> bool:
    from netcalc import calculator  # late: it loads numpy

    return bool(units.kinds_of(word)) or word.lower() in _UNIT_WORDS or calculator.is_noun(word)


class QuantityCommand(Command):
    """A command whose argument is a quantity: ``-1s`` is a value of it, and no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set arguments behind all options, in their order, where one of them is below 0."""
        options = (
            word for word in self.params if isinstance(word, click.Option) and not word.is_flag
        )
        taking = {name for option in options for name in option.opts}
        before = ["", *args]
        is_value = [
            (bool(_BELOW_0.fullmatch(a)) or a[:1] != "-") and b not in taking
            for b, a in zip(before, args, strict=False)
        ]
        values = [word for word, is_one in zip(args, is_value, strict=True) if is_one]
        if any(map(_BELOW_0.fullmatch, values)) and "--" not in args:
            others = [word for word, is_one in zip(args, is_value, strict=True) if not is_one]
            args = [*others, "--", *values]
        return super().parse_args(ctx, args)


_LATENCY = "netcalc.latency-reading"
"""Key of click's ``meta``: which latency the times of a path were taken for."""


def read_path(text: str, *, typed: str = "--path", processing_s: float = 0.0) -> Path:
    """Read the links of a path; a refusal names the part that was typed.

    :func:`tell_latency` says, once there is an answer, how its latency was read.
    """
    from netcalc.path import Path, latency_reading  # late: formulas have no paths

    latency, rate = f"latency of a link in {typed}", f"rate of a link in {typed}"
    names = {
        "latency_s": (latency, "s"),
        "bandwidth_bps": (rate, "bit/s"),
        "latency": (latency, "s"),
        "link rate": (rate, "bit/s"),
        "link": (f"a link in {typed}", ""),
    }
    try:
        path = Path.parse(text, processing_s=processing_s)
    except (DomainError, UnitError) as error:
        rename(error, names)
        raise
    ctx = click.get_current_context(silent=True)
    if ctx is not None:
        ctx.meta[_LATENCY] = latency_reading(text, path)
    return path


def tell_latency() -> None:
    """Say which latency the times of a path were taken for, once."""
    from netcalc.cli import complain  # late: it is loaded with this module

    if (notice := click.get_current_context().meta.pop(_LATENCY, None)) is not None:
        complain(f"note: {notice}")


class FolderName(click.Path):
    """A folder, in which ~ is a home. No name at all is refused: it would be the current one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path that was typed."""
        from pathlib import Path  # late: it takes 2 ms to load

        if isinstance(value, str) and not value.strip():
            name = "DIR" if param is None else typed_name(param)
            raise CommandError("folder-name-empty", name=name)
        folder = Path(os.fsdecode(super().convert(value, param, ctx)))
        try:
            return folder.expanduser()
        except RuntimeError as error:
            raise CommandError("home-unknown", file=str(folder)) from error


ALIKE = (
    ("rate", "bw", "bandwidth", "speed", "line", "link", "line-rate", "link-rate", "capacity",
     "uplink"),
    ("each", "user", "per-user", "rate-per-user"),
    ("rtt", "ping", "round-trip"),
    ("flows", "flow", "connections", "streams", "parallel", "n"),
    ("algorithm", "cc", "congestion", "congestion-control"),
    ("loss", "plr", "packet-loss", "loss-rate", "loss-ratio"),
    ("percentile", "quantile", "p"),
    ("active", "activity", "concurrency", "concurrent", "active-share"),
    ("holding", "holding-time", "aht", "duration", "hold", "call-duration"),
    ("blocking", "gos", "grade-of-service", "blocking-probability"),
    ("tunnel", "stack", "vpn", "encap", "encapsulation"),
    ("window", "rwnd", "max-window", "receive-window"),
    ("growth", "annual-growth", "cagr"),
    ("erlang", "erlangs", "load", "traffic"),
    ("change", "change-rate", "changed", "churn"),
    ("interval", "ptime", "packetization"),
    ("size", "file", "file-size", "volume", "bytes"),
    ("line-up", "up", "upload", "uplink"),
    ("data", "dataset", "size", "volume"),
    ("users", "subscribers", "customers"),
    ("calls", "call-rate", "bhca"),
    ("in", "within", "time-window", "backup-window", "deadline"),
    ("lasts", "horizon", "years", "for"),
    ("target", "target-utilization", "full-at", "max-utilization"),
)  # fmt: skip
"""Names of options that mean the same to most people, without their dashes."""
_ALGORITHMS = frozenset({"cubic", "reno", "bbr"})
"""Congestion controls that people type as an option."""


class PlannersCommand(QuantityCommand):
    """A command whose options may have the names that the field has for them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give options their names here, and numbers their unit where that is a word of its own.

        Raises
        ------
        UnitError
            For a quantity that another option takes, with the names of those.
        """
        if ctx.resilient_parsing:  # the shell asks how a line may go on
            return super().parse_args(ctx, args)
        if any(word.replace(".", "").isdecimal() for word in args):
            args = joined(args)
        options = [option for option in self.params if isinstance(option, click.Option)]
        names = {name for option in options for name in (*option.opts, *option.secondary_opts)}
        named = [typed for word in args for typed in self._named(ctx, word, {*names, "--help"})]
        try:
            return super().parse_args(ctx, named)
        except UnitError as error:
            if error.code == "unit-of-other-kind":
                self._name_takers(error)
            raise

    def _name_takers(self, error: UnitError) -> None:
        """Name the options that take a quantity of the kind that was typed."""
        kind = units.kind_of(error.values.get("written", ""))
        takers = [
            typed_name(parameter)
            for parameter in self.params
            if getattr(parameter.type, "unit", None) == kind
            and typed_name(parameter) != error.field
        ]
        if takers:
            error.values |= {"suggestions": takers}

    def _named(self, ctx: click.Context, word: str, names: set[str]) -> list[str]:
        name, equals, value = word.partition("=")
        if not name.startswith("--") or len(name) < 3 or name in names:
            return [word]
        spoken = name[2:].lower().replace("_", "-")
        if f"--{spoken}" in names:
            return [f"--{spoken}{equals}{value}"]
        alike = {option for group in ALIKE if spoken in group for option in group} | {spoken}
        meant = [option for option in sorted(names) if option[2:] in alike]
        if len(meant) > 1:
            raise CommandError(
                "option-ambiguous", command=ctx.command_path, option=name, choices=meant
            )
        if not meant and spoken in _ALGORITHMS and not equals and "--algorithm" in names:
            return [f"--algorithm={spoken}"]
        if meant:
            return [f"{meant[0]}{equals}{value}"]
        arguments = [option for option in self.params if isinstance(option, click.Argument)]
        if any(typed_name(option).lower() in alike for option in arguments):
            return [value] if equals else []  # the value of an argument that has no option
        return [word]


JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print JSON.")
CSV = click.Option(["--csv", "as_csv"], is_flag=True, help="Print CSV.")
FORCE = click.Option(["--force"], is_flag=True, help="Replace OUT if it exists.")

_FEW = 5
"""Values of a default that are listed; of more only the range is shown."""
_METAVAR = re.compile(r"^(\w+) : ([A-Z\[]{2}.*)$", re.MULTILINE)
"""An argument whose kind in the docstring is what the help shows for its value: ``OUT``."""
_PARAMETERS = re.compile(r"\n+Parameters\n-{3,}\n.*", re.DOTALL)
_REPEATED = ("tuple", "ArrayLike", "Sequence")
"""Annotations of arguments of several values, each of which has the option once."""


def missing_argument(name: str) -> click.MissingParameter:
    """Return the error of the current command that an argument is required."""
    context = click.get_current_context()
    argument = next(param for param in context.command.params if param.name == name)
    return click.MissingParameter(ctx=context, param=argument)


def plot_option(what: str) -> click.Option:
    """Return the option of a figure, whose help says what is drawn."""
    return click.Option(
        ["--plot", "plot_path"], metavar="OUT", help=f"{what}, as .html, .svg or .png."
    )


class OptionWithAliases(click.Option):
    """An option with names that work and are not in the help."""

    def __init__(self, *declared: Any, aliases: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(*declared, **settings)
        self.aliases = [name for name in aliases if name not in self.opts]

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser know all names."""
        shown, self.opts = self.opts, [*self.opts, *self.aliases]
        super().add_to_parser(parser, ctx)
        self.opts = shown


def command(
    *options: click.Parameter,
    cls: type[click.Command] = Command,
    name: str | None = None,
    group: click.Group | None = None,
    short_help: str | None = None,
    **special: Any,
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of a function, whose arguments are its options: see :func:`options_of`.

    ``options`` are those that are made already; they follow the others in the help.
    """

    def make(function: Callable[..., Any]) -> click.Command:
        leave_out = {option.name or "" for option in options}
        made = cls(
            name or function.__name__.replace("_", "-"),
            params=[
                *options_of(function, positional=True, leave_out=leave_out, **special),
                *options,
            ],
            callback=function,
            help=_PARAMETERS.sub("", inspect.getdoc(function) or ""),
            short_help=short_help,
        )
        if group is not None:
            group.add_command(made)
        return made

    return make


def options_of(
    function: Callable[..., Any],
    *,
    names: Mapping[str, str | Sequence[str]] | None = None,
    described: Mapping[str, str] | None = None,
    types: Mapping[str, Any] | None = None,
    metavars: Mapping[str, str] | None = None,
    leave_out: Collection[str] = (),
    bare: Collection[str] = (),
    positional: bool = False,
    aliases: Callable[[Parameter], Sequence[str]] | None = None,
) -> list[click.Parameter]:
    """Return an option for each argument of a function.

    The option has the name of the argument without its unit, the type and the default of the
    signature, and the text, the unit and the choices of the docstring. A kind in capitals there,
    such as ``OUT``, is what the help shows for the value.

    Parameters
    ----------
    function : callable
        A command, or a function of the library, with a docstring in the form of numpydoc.
    names, described, types, metavars : mapping, optional
        By argument: the names of its option, its text in the help, the type of its value, and what
        the help shows for that, where they differ from the function's.
    leave_out : collection of str
        Arguments that get no option.
    bare : collection of str
        Arguments for which digits alone are a number in the unit of the argument.
    positional : bool
        Whether arguments that need no keyword are words without an option.
    aliases : callable, optional
        Returns the names of an option that work and are not in the help.
    """
    signature = inspect.signature(function).parameters
    listed = [
        name for name, argument in signature.items() if argument.kind is not argument.VAR_KEYWORD
    ]
    listed = [name for name in listed if name not in leave_out]
    if not listed:
        return []
    from netcalc.calculator import Formula  # late: it loads numpy

    annotations = inspect.get_annotations(function)
    values = dict(_METAVAR.findall(inspect.getdoc(function) or "")) | dict(metavars or {})
    made: list[click.Parameter] = []
    for parameter in Formula("command", function).parameters:
        name = parameter.name
        if name not in listed:
            continue
        annotation = annotations[name]
        is_option = not positional or signature[name].kind is inspect.Parameter.KEYWORD_ONLY
        if is_option and annotation == "bool":
            settings: dict[str, Any] = {"is_flag": True, "default": parameter.default}
        else:
            kind = (types or {}).get(name) or _type(parameter, annotation, bare=name in bare)
            settings = {"type": kind, "metavar": values.get(name)}
            settings |= _default(parameter, annotation)
        if not is_option:
            if settings.pop("multiple", False):
                settings |= {"nargs": -1, "required": False}
            made.append(click.Argument([name], **settings))
            continue
        text = (described or {}).get(name, parameter.description)
        settings["help"] = text + _default_text(parameter, annotation)
        declared = [*_names(parameter, (names or {}).get(name)), name]
        if aliases is None or annotation == "bool":
            made.append(click.Option(declared, **settings))
        else:
            made.append(OptionWithAliases(declared, aliases=aliases(parameter), **settings))
    return made


def _names(parameter: Parameter, special: str | Sequence[str] | None) -> list[str]:
    """Return the names of an option; of one that is on by default, the name that takes it away."""
    short = parameter.short_name.removesuffix("_path").replace("_", "-")
    names = [special] if isinstance(special, str) else list(special or (f"--{short}",))
    if parameter.default is True:
        names[0] += f"/--no-{names[0].removeprefix('--')}"
    return names


def _type(parameter: Parameter, annotation: str, *, bare: bool) -> Any:
    """Return the type of a value: of the choices and the unit, otherwise of the annotation."""
    if parameter.choices:
        return Choice(parameter.choices)
    if annotation.startswith("Any"):
        return QuantityOrRange(parameter.unit, bare=bare)
    if annotation.startswith("date"):
        return Day()
    if parameter.unit in KINDS:
        return QuantityType(parameter.unit, bare=bare)
    return click.STRING if "str" in annotation else WholeNumber()


def _default(parameter: Parameter, annotation: str) -> dict[str, Any]:
    """Return the settings of an option about its default, and about several values."""
    if annotation.startswith(_REPEATED):
        own = annotation.startswith("tuple") and not parameter.required and parameter.default
        return {"multiple": True, "default": parameter.default if own else None}
    if parameter.required:
        return {"required": True}
    return {"default": parameter.default, "required": False}  # click 8.1.0 takes None for none


def _default_text(parameter: Parameter, annotation: str) -> str:
    """Return what the help says of several values, and of the default: one, a few, or a range."""
    text = " May be repeated." if annotation.startswith(_REPEATED) else ""
    if parameter.required or annotation == "bool" or parameter.default in (None, "", ()):
        return text
    import numpy as np  # late: as above

    values = np.ravel(parameter.default).tolist()
    shown = [_value_text(parameter, value) for value in values]
    if len(values) > _FEW and not isinstance(values[0], str):
        low, high = (_value_text(parameter, end(values)) for end in (min, max))
        return f"{text}  [default: {len(values)} values from {low} to {high}]"
    return f"{text}  [default: {', '.join(shown)}]"


def _value_text(parameter: Parameter, value: Any) -> str:
    if parameter.unit in KINDS:
        return parameter.show(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


TOKEN_VARIABLE = "NETCALC_PEER_TOKEN"
"""Variable of the environment for the token of a peer."""
PEER_OPTIONS = (
    click.Option(
        ["--peer", "peer_text"],
        metavar="ADDRESS[:PORT]",
        help="Measure between this machine and the one where netcalc peer runs.",
    ),
    click.Option(
        ["--token"],
        metavar="TOKEN",
        help=f"Token that the peer shows; if omitted, {TOKEN_VARIABLE}, or it is asked for. "
        "Others on this machine can see what is typed here.",
    ),
)
"""Options of a command that measures to a peer."""


def read_peer(text: str, token: str | None) -> FarPeer:
    """Return the peer at an address with or without a port: ``[fe80::1%eth0]:20521``.

    The token is the one typed; else that of the environment; else it is asked for at a terminal.

    Raises
    ------
    CommandError
        If there is no token.
    """
    from netcalc.experiments.peers.remote import peer_at  # late: most commands need none

    token = token or os.environ.get(TOKEN_VARIABLE)
    if not token:
        if not sys.stdin.isatty():
            raise CommandError("peer-token-missing", variable=TOKEN_VARIABLE)
        asked = f"Token that netcalc peer shows at {text}"
        token = click.prompt(asked, hide_input=True, err=True)
    with named_as_typed(port=("the port of --peer", "")):
        return peer_at(text, token=token)
