"""Quantities on a command line: options with a unit, and values below 0, which are no options."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import click

from netcalc import units
from netcalc.errors import DomainError, ExperimentError
from netcalc.path import Path

_KINDS = {"s": "time", "byte": "size", "ratio": "share", "packet/s": "rate", "bit/s": "rate"}
_BELOW_0 = re.compile(r"-[.,]?\d.*", re.DOTALL)


class Quantity(click.ParamType):  # type: ignore[type-arg] # click 8.1 has no argument there
    """A number with its unit, as people write it, in an SI unit of :mod:`netcalc.units`."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.name = _KINDS[unit]

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the text; a mistake names the option."""
        field = typed_name(param).lstrip("-").lower() if param is not None else None
        return units.parse(value, self.unit, field=field) if isinstance(value, str) else value


class WholeNumber(click.ParamType):  # type: ignore[type-arg] # click 8.1 has no argument there
    """A count, or the like, from ``low`` to ``high``."""

    name = "number"

    def __init__(self, low: int, high: int | None = None) -> None:
        self.low, self.high = low, high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the text; a mistake names the option, and what is allowed."""
        try:
            number = int(value)
        except ValueError:
            number = self.low - 1
        if number < self.low or (self.high is not None and number > self.high):
            limits = f"of {self.low} or more"
            if self.high is not None:
                limits = f"from {self.low} to {self.high}"
            name = typed_name(param) if param is not None else "number"
            raise DomainError(name, value, f"a whole number {limits}")
        return number


class QuantityCommand(click.Command):
    """A command whose argument is a quantity: ``-1s`` is a value of it, and no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set values below 0 behind all options, where they are arguments."""
        options = (one for one in self.params if isinstance(one, click.Option) and not one.is_flag)
        taking = {name for option in options for name in option.opts}
        before = ["", *args]
        place = [
            bool(_BELOW_0.fullmatch(a)) and b not in taking
            for b, a in zip(before, args, strict=False)
        ]
        values = [one for one, is_value in zip(args, place, strict=True) if is_value]
        if values and "--" not in args:
            others = [one for one, is_value in zip(args, place, strict=True) if not is_value]
            args = [*others, "--", *values]
        return super().parse_args(ctx, args)


def read_path(text: str, *, processing_s: float = 0.0) -> Path:
    """Read the links of a path; a refusal names what is typed of them."""
    try:
        return Path.parse(text, processing_s=processing_s)
    except DomainError as error:
        if error.name not in _OF_LINK:
            raise
        name, unit = _OF_LINK[error.name]
        raise DomainError(f"{name} of a link", f"{error.value} {unit}", error.allowed) from error


_OF_LINK = {"latency_s": ("latency", "s"), "bandwidth_bps": ("rate", "bit/s")}


def typed_name(parameter: click.Parameter) -> str:
    """Return how an option, or an argument, stands in the help."""
    if isinstance(parameter, click.Option):
        return parameter.opts[0]
    return parameter.human_readable_name.strip("[]")


@contextlib.contextmanager
def named_as_typed() -> Iterator[None]:
    """Let a refusal name options where the library names arguments; a command uses their names."""
    options = {one.name or "": one for one in click.get_current_context().command.params}
    try:
        yield
    except (DomainError, ExperimentError) as error:
        text = str(error)
        if isinstance(error, DomainError):
            text = _about_option(error, options)
        for name, option in options.items():
            if "_" in name:  # others are words, too, such as count
                text = re.sub(rf"\b{name}\b", typed_name(option), text)
        error.args = (text,)
        raise


def _about_option(error: DomainError, options: Mapping[str, click.Parameter]) -> str:
    """Return what is said of an argument as said of its option, with the unit of the value."""
    name = error.name.partition("[")[0]  # one of several values
    if name not in options:
        return str(error)
    kind = options[name].type
    unit = f" {kind.unit}" if isinstance(kind, Quantity) and kind.unit != "ratio" else ""
    value = str(error.value).partition(" (at index")[0]
    if isinstance(error.value, float):
        value = f"{error.value:.12g}"
    begin = f"{error.name} is {error.value}"
    return str(error).replace(begin, f"{typed_name(options[name])} is {value}{unit}", 1)
