"""One argument of a formula, as its docstring and signature say, and reading it from text."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any

import docstring_parser
import numpy as np

from netcalc import units
from netcalc.errors import DomainError, UnitError

UNIT = re.compile(r"\[([^\[\]]+)\]\s*$")
"""The unit at the end of a description."""
SUFFIX = re.compile(r"_(s|bps|pps|bytes|bits|ratio|m|m_s|hz|db)$")
"""The unit at the end of a name."""
LIST_SEPARATOR = re.compile(r"\s*(?:;|,(?!\d)|(?<!\d),)\s*")
"""What stands between the values of a list; a comma between digits may be a decimal one."""
_TWO_COUNTS = re.compile(r"(\d+),(\d+)")
_CHOICES = re.compile(r"\{(.+)\}")
_YES_NO = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a formula: what its docstring and its signature say.

    ``kind`` is ``number``, ``list``, ``bool``, ``choice`` or ``text``; ``default`` is
    :data:`inspect.Parameter.empty` where there is none.
    """

    name: str
    unit: str
    kind: str
    default: Any
    description: str
    choices: tuple[str, ...] = ()

    @property
    def short_name(self) -> str:
        """Name without its unit: ``bandwidth`` for ``bandwidth_bps``."""
        return SUFFIX.sub("", self.name)

    @property
    def required(self) -> bool:
        """True if there is no default."""
        return self.default is inspect.Parameter.empty

    @property
    def wanted(self) -> str:
        """What is to be given: its choices, or a quantity such as one."""
        if self.kind == "text":
            return self.description
        return (
            "yes or no"
            if self.unit == "bool"
            else ", ".join(self.choices) or units.example(self.unit)
        )

    def read(self, text: str) -> Any:
        """Turn what a person typed into the argument.

        Raises
        ------
        UnitError, DomainError
            If the text is not a quantity of this unit, or not an allowed choice.
        """
        if self.kind == "bool":
            return self._yes_or_no(text)
        if self.kind == "text":
            return text
        if self.kind == "choice":
            if text not in self.choices:
                raise DomainError("not-a-choice", self.name, text, choices=list(self.choices))
            return text
        if self.kind == "list":
            values = [self._number(part) for part in LIST_SEPARATOR.split(text.strip())]
            # One value where the default is one: it holds for all.
            one_for_all = not self.required and np.ndim(self.default) == 0
            return values[0] if len(values) == 1 and one_for_all else values
        return self._number(text)

    def show(self, value: Any, *, digits: int = 4) -> str:
        """Write a value of this parameter as people read it."""
        if isinstance(value, bool | np.bool_):
            return "yes" if value else "no"
        if isinstance(value, str) or value is None:
            return str(value)
        if np.ndim(value):
            return ", ".join(self.show(item, digits=digits) for item in np.ravel(value))
        return units.show(float(value), self.unit, digits=digits)

    def required_error(self) -> DomainError:
        """Return the refusal of a call without this argument."""
        return DomainError(
            "is-required", self.short_name, None, example=self.wanted, about=self.description
        )

    def _yes_or_no(self, text: str) -> bool:
        if text.strip().lower() not in _YES_NO:
            raise DomainError("not-yes-or-no", self.name, text)
        return _YES_NO[text.strip().lower()]

    def _number(self, text: str) -> float:
        if self.unit == "bool":  # a list of them
            return self._yes_or_no(text)
        if self.name.endswith("_count") and (two := _TWO_COUNTS.fullmatch(text.strip())):
            first, second = two.groups()
            two_numbers = f'"{first}, {second}" (two numbers)'
            raise UnitError(
                "ambiguous-number",
                text,
                expected="whole numbers" if self.kind == "list" else "a whole number",
                field=self.short_name,
                readings=[f"{first}.{second}", two_numbers]
                if self.kind == "list"
                else [first, second],
            )
        try:
            return units.parse(text, self.unit, field=self.short_name)
        except UnitError as error:
            if error.code != "kind-unknown":
                raise
            # A unit of its own, such as s/packet: the number is taken in that unit.
            return units.parse(text.replace(self.unit, "").strip(), "1", field=self.short_name)


def documented_parameter(
    name: str, signature: inspect.Parameter, item: docstring_parser.DocstringParam | None
) -> Parameter:
    """Return a parameter from its signature and the item of the docstring about it."""
    text = flat(item.description or "") if item else ""
    kind = item.type_name or "" if item else ""
    unit = UNIT.search(text)
    choices = _CHOICES.search(kind)
    return Parameter(
        name=name,
        unit=unit[1] if unit else "1",
        kind=(
            "choice" if choices
            else "list" if kind.startswith("1-D")
            else "bool" if kind.startswith("bool") or (unit and unit[1] == "bool")
            else "text" if unit is not None and unit[1] == "text"
            else "number"
        ),
        default=signature.default,
        description=UNIT.sub("", text).strip(),
        choices=tuple(c.strip(" '\"") for c in choices[1].split(",")) if choices else (),
    )  # fmt: skip


def flat(text: str) -> str:
    """Return text on one line, without the marks of reStructuredText."""
    bare = re.sub(r":\w+:`~?([^`<]+)(?:<[^`]*>)?`", r"\1", text)
    return " ".join(bare.replace("``", "").replace(r"\ ", "").split())


def show(value: Any, unit: str) -> str:
    """Write a value of a result, or a list of them, as people read it."""
    if np.ndim(value) == 0 and np.asarray(value).dtype.kind == "b":
        return str(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) or np.ndim(value):
        return ", ".join(show(item, unit) for item in value)
    return units.show(float(value), unit)
