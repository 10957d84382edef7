"""Options of commands: the types of their values, and the other names that people type."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import click

from netcalc import units
from netcalc.cli.mistakes import Command, CommandError, keep_typed, rename, typed_name
from netcalc.errors import DomainError, UnitError

if TYPE_CHECKING:
    from netcalc.path import Path


KINDS = {"s": "time", "byte": "size", "ratio": "share", "packet/s": "rate", "bit/s": "rate"}
"""What a number in each unit is called in a help text."""
_BELOW_0 = re.compile(r"-[.,]?\d.*", re.DOTALL)


class Quantity(click.ParamType):  # type: ignore[type-arg] # click 8.1 has no argument there
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
    """One of several names; the nearest one is named for a wrong one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read the text; a mistake names the option and the nearest choice."""
        choices = list(map(str, self.choices))
        if value in choices:
            return str(value)
        from difflib import get_close_matches  # late: most names are known

        near = get_close_matches(str(value), choices, n=1)
        name = typed_name(param) if param is not None else self.name
        suggestions: dict[str, Any] = {"suggestions": near} if near else {}
        raise DomainError("not-a-choice", name, value, choices=choices, **suggestions)


class QuantityCommand(Command):
    """A command whose argument is a quantity: ``-1s`` is a value of it, and no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set arguments behind all options, in their order, where one of them is below 0."""
        options = (one for one in self.params if isinstance(one, click.Option) and not one.is_flag)
        taking = {name for option in options for name in option.opts}
        before = ["", *args]
        is_value = [
            (bool(_BELOW_0.fullmatch(a)) or a[:1] != "-") and b not in taking
            for b, a in zip(before, args, strict=False)
        ]
        values = [one for one, found in zip(args, is_value, strict=True) if found]
        if any(map(_BELOW_0.fullmatch, values)) and "--" not in args:
            others = [one for one, found in zip(args, is_value, strict=True) if not found]
            args = [*others, "--", *values]
        return super().parse_args(ctx, args)


def read_path(text: str, *, typed: str = "--path", processing_s: float = 0.0) -> Path:
    """Read the links of a path; a refusal names the part that was typed."""
    from netcalc.path import Path  # late: formulas have no paths

    latency, rate = f"latency of a link in {typed}", f"rate of a link in {typed}"
    names = {
        "latency_s": (latency, "s"),
        "bandwidth_bps": (rate, "bit/s"),
        "latency": (latency, "s"),
        "link rate": (rate, "bit/s"),
    }
    try:
        return Path.parse(text, processing_s=processing_s)
    except (DomainError, UnitError) as error:
        rename(error, names)
        raise


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


_PERCENTILE = re.compile(
    r"p\s*(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)\s*(?:st|nd|rd|th)|([1-9]\d(?:\.\d+)?)", re.IGNORECASE
)


class Percentile(Quantity):
    """A share of the time, or the percentile by its name: ``p95``, ``95th``."""

    def __init__(self) -> None:
        super().__init__("ratio")

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the text; a mistake names the option."""
        found = _PERCENTILE.fullmatch(value) if isinstance(value, str) else None
        text = f"{found[1] or found[2] or found[3]}%" if found else value
        return super().convert(text, param, ctx)


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
        if any(one.replace(".", "").isdecimal() for one in args):
            from netcalc.cli.formula_words import joined  # late: it loads the calculator

            args = joined(args)
        options = [one for one in self.params if isinstance(one, click.Option)]
        known = {name for option in options for name in (*option.opts, *option.secondary_opts)}
        named = [one for word in args for one in self._named(ctx, word, {*known, "--help"})]
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
            typed_name(one)
            for one in self.params
            if getattr(one.type, "unit", None) == kind and typed_name(one) != error.field
        ]
        if takers:
            error.values |= {"suggestions": takers}

    def _named(self, ctx: click.Context, word: str, known: set[str]) -> list[str]:
        name, equals, value = word.partition("=")
        if not name.startswith("--") or len(name) < 3 or name in known:
            return [word]
        spoken = name[2:].lower().replace("_", "-")
        if f"--{spoken}" in known:
            return [f"--{spoken}{equals}{value}"]
        alike = {one for group in ALIKE if spoken in group for one in group} | {spoken}
        meant = [one for one in sorted(known) if one[2:] in alike]
        if len(meant) > 1:
            raise CommandError(
                "option-ambiguous", command=ctx.command_path, option=name, choices=meant
            )
        if not meant and spoken in _ALGORITHMS and not equals and "--algorithm" in known:
            return [f"--algorithm={spoken}"]
        if meant:
            return [f"{meant[0]}{equals}{value}"]
        arguments = [one for one in self.params if isinstance(one, click.Argument)]
        if any(typed_name(one).lower() in alike for one in arguments):
            return [value] if equals else []  # the value of an argument that has no option
        return [word]
