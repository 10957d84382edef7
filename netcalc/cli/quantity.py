"""Values on a command line: numbers with a unit, counts, choices, the links of a path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from netcalc import units
from netcalc.cli.mistakes import Command, keep_typed, rename, typed_name
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
