"""One argument of a formula: what its docstring and signature say, and reading it from text.

Text may have several values (``10,20,30``, ``64B, 570B``, ``1,5; 2,5``), a noun behind a count, or
the name of a line. A line's name is its gross rate; a formula for what runs inside it takes its
payload rate, and the answer says so.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from netcalc import units
from netcalc.calculator import names
from netcalc.calculator.names import SUFFIX
from netcalc.errors import DomainError, DoubtWarning, UnitError, tell_doubts
from netcalc.rate_layers import ETHERNET_LINE, INSIDE_LINES
from netcalc.units import NamedLine

_HEADING = re.compile(r"^([A-Z][A-Za-z ]*)\n-{3,}\n", re.MULTILINE)


class Item(NamedTuple):
    """An entry of a section: ``names : kind`` with an indented description."""

    names: str
    kind: str
    description: str


class Docstring(NamedTuple):
    """A docstring: its first line, what follows it, and the sections by their headings."""

    summary: str
    description: str
    sections: Mapping[str, str]

    def items(self, heading: str) -> list[Item]:
        """Return the entries of a section; none where it is missing.

        Examples
        --------
        >>> text = 'One.\\n\\nReturns\\n-------\\nfloat\\n    Its time.\\n'
        >>> parse_docstring(text).items("Returns")
        [Item(names='float', kind='', description='Its time.')]
        """
        entries: list[list[str]] = []
        for line in self.sections.get(heading, "").splitlines():
            if line.strip() and not line[0].isspace():
                entries.append([line])
            elif entries:
                entries[-1].append(line.strip())
        return [_item(*lines) for lines in entries]


def parse_docstring(text: str) -> Docstring:
    """Return a docstring in its parts.

    Examples
    --------
    >>> parse_docstring("One.\\n\\nMore.\\n\\nNotes\\n-----\\nIt holds.\\n")
    Docstring(summary='One.', description='More.', sections={'Notes': 'It holds.'})
    """
    first, *rest = _HEADING.split(inspect.cleandoc(text))
    summary, _, description = first.partition("\n")
    sections = {name: body.strip("\n") for name, body in zip(rest[::2], rest[1::2], strict=True)}
    return Docstring(summary.strip(), description.strip(), sections)


def _item(first: str, *lines: str) -> Item:
    names, _, kind = first.partition(" : ")
    return Item(names.strip(), kind.strip(), "\n".join(lines).strip())


_SEPARATOR = re.compile(r"\s*(?:;|,(?!\d)|(?<!\d),)\s*")
"""What separates values for sure; a comma between digits may be a decimal one."""
_COMMAS = re.compile(
    r"(?P<numbers>[+-]?[\d.]+(?:,[+-]?[\d.]+)+)(?P<unit>\s*[^\d\s,;].*)?", re.DOTALL
)
_BARE = re.compile(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?")
_UNIT = re.compile(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?\s*(?P<unit>[^\d\s.,].*)", re.DOTALL)


def split_values(text: str, *, is_list: bool, pure: bool, whole: bool, field: str) -> list[str]:
    """Return the values of a text, a unit at its end on each.

    A comma between digits separates where it can be nothing else: in a list of pure numbers, and
    between three values or more. ``1,5 ms`` and ``1,500,000`` stay one number for an argument that
    is one.

    Parameters
    ----------
    text : str
        What was typed.
    is_list : bool
        Whether the argument takes a list.
    pure : bool
        Whether its numbers have no unit.
    whole : bool
        Whether a fraction can be none of them, as of the bytes of a packet.
    field : str
        The argument, for an error.

    Returns
    -------
    list of str
        One text for each value.

    Raises
    ------
    UnitError
        If a comma in a list may be a decimal one, or one between thousands.

    Examples
    --------
    >>> split_values("10,20,30", is_list=True, pure=True, whole=False, field="x")
    ['10', '20', '30']
    >>> split_values("10,50,100ms", is_list=False, pure=False, whole=False, field="x")
    ['10ms', '50ms', '100ms']
    >>> split_values("1,5 ms", is_list=False, pure=False, whole=False, field="x")
    ['1,5 ms']
    """
    parts = list(_SEPARATOR.split(text.strip().strip("[]()")))
    if ";" not in text:
        parts = [
            piece
            for part in parts
            for piece in _split(part, text, is_list=is_list, pure=pure, whole=whole, field=field)
        ]
    if (
        is_list
        and pure
        and len(parts) == 1
        and re.fullmatch(r"[+-]?[\d.]+(\s+[+-]?[\d.]+)+", parts[0])
    ):
        parts = parts[0].split()
    last = _UNIT.fullmatch(parts[-1])
    if len(parts) > 1 and last is not None:
        parts = [f"{part}{last['unit']}" if _BARE.fullmatch(part) else part for part in parts]
    return parts


def _split(
    part: str, text: str, *, is_list: bool, pure: bool, whole: bool, field: str
) -> list[str]:
    match = _COMMAS.fullmatch(part)
    if match is None:
        return [part]
    numbers, unit = match["numbers"].split(","), match["unit"] or ""
    separated = [number + unit for number in numbers]
    two = len(numbers) == 2
    grouped = re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})*", match["numbers"]) is not None
    if not is_list:
        return [part] if (two and not whole) or grouped else separated
    begins_with_0 = any(re.fullmatch(r"0\d\d", number) for number in numbers[1:])
    may_be_grouped = (grouped and two) or begins_with_0
    may_be_decimal = two and not pure and not whole and "." not in part
    if not may_be_grouped and not may_be_decimal:
        return separated
    readings = [_listed(_regrouped(numbers), unit)] if may_be_grouped else []
    if two:
        readings.append(".".join(numbers) + unit)
    readings.append(_listed(numbers, unit))
    raise UnitError(
        "ambiguous-number", text, expected="a list of numbers", field=field, readings=readings
    )


def _regrouped(numbers: Sequence[str]) -> list[str]:
    """Return numbers whose thousands were separated: 1, 000, 2, 000 as 1000, 2000."""
    joined: list[str] = []
    for number in numbers:
        if joined and re.fullmatch(r"\d{3}", number):
            joined[-1] += number
        else:
            joined.append(number)
    return joined


def _listed(numbers: Sequence[str], unit: str) -> str:
    if len(numbers) == 1:
        return numbers[0] + unit
    count = {2: "two", 3: "three"}.get(len(numbers), len(numbers))
    return f'"{", ".join(number + unit for number in numbers)}" ({count} numbers)'


UNIT = re.compile(r"\[([^\[\],]+)(?:, ([^\[\]]+))?\]\s*$")
"""The unit at the end of a description, and the layer of a rate."""
_TWO_COUNTS = re.compile(r"(\d+),(\d+)")
_CHOICES = re.compile(r"\{(.+)\}")
_YES_NO = {
    "yes": True, "true": True, "on": True, "y": True, "1": True,
    "no": False, "false": False, "off": False, "n": False, "0": False,
}  # fmt: skip
_PACKET_SIZED = re.compile(
    r"(^|_)(mtu|mss|frame|packet|segment|wire|captured|header|option|overhead|fcs|flag|tag|"
    r"link|ip_payload|datagram|extension)(?=_|$).*_bytes$"
)
"""Sizes of a packet or of a part of it, which nobody gives in another unit than bytes."""
_OF_A_PACKET = re.compile(r"\b(packet|segment|datagram|frame|echo)\b")
_SONET = re.compile(r"(?P<kind>OC|STS|STM)-?(?P<number>\d+)c?", re.IGNORECASE)
_PERCENTILE = re.compile(
    r"p\s*(?P<p>\d+(?:\.\d+)?)|(?P<th>\d+(?:\.\d+)?)\s*(?:st|nd|rd|th)(?:\s+perc\w*)?"
    r"|(?P<of_100>[1-9]\d(?:\.\d+)?)",
    re.IGNORECASE,
)
_NOUN = re.compile(r"(?P<number>[+-]?\d[\d.,]*(?:[kM](?![a-zA-Z]))?)\s*(?P<noun>[A-Za-z]{1,14})")
_NOUNS = frozenset(
    {
        "user", "flow", "stream", "connection", "session", "call", "packet", "segment", "frame",
        "server", "agent", "line", "trunk", "circuit", "channel", "port", "hop", "link", "tag",
        "fragment", "retry", "customer", "client", "sender", "place", "bdp", "round", "trip",
        "pair", "sample", "datagram", "message", "disk", "tape",
    }
)  # fmt: skip
_ANY_UNIT = frozenset({"allocations"})
"""Numbers of which only the ratios count, so that they may be rates."""
_NUMBER_AND_UNIT = re.compile(r"[\d.,]+\s*(?P<unit>[A-Za-z].*)")
_A_YEAR = re.compile(r"\s*(?:(?:/|per|an?)\s*(?:year|yr|y|annum|a)|p\.?\s?a\.?)\s*$", re.IGNORECASE)
_IP_VERSIONS = {"4": 4.0, "v4": 4.0, "ipv4": 4.0, "6": 6.0, "v6": 6.0, "ipv6": 6.0}


def named_line(text: str) -> NamedLine | None:
    """Return the line that a text names, and nothing besides.

    Examples
    --------
    >>> named_line("OC-3").exact_bps, named_line("10 Mbit/s"), named_line("T1 payload")
    (155520000.0, None, None)
    """
    try:
        return units.line(text)
    except UnitError:
        return None


def rate_of_line(line: NamedLine, layer: str) -> float:
    """Return what a line's name is worth at a layer, and say so where it is not the gross rate.

    Examples
    --------
    >>> from netcalc.errors import doubts
    >>> with doubts() as said:
    ...     rate_of_line(units.line("OC-3"), "cells"), rate_of_line(units.line("OC-3"), "payload")
    (149760000.0, 155520000.0)
    >>> print(said[0])
    OC-3 is taken as 149.8 Mbit/s (cells), out of 155.5 Mbit/s (line)
    """
    gross = units.show(line.exact_bps, "bit/s")
    if layer in INSIDE_LINES:
        values = {"line": line.name, "rate": units.show(line.payload_bps, "bit/s"), "gross": gross}
        tell_doubts([DoubtWarning("line-of-payload", layer=layer, **values)])
        return line.payload_bps
    if layer == ETHERNET_LINE or "link_layer" in layer:
        carried = units.show(line.payload_bps, "bit/s")
        values = {"line": line.name, "rate": gross, "payload": carried}
        tell_doubts([DoubtWarning("line-as-ethernet", **values)])
    return line.exact_bps


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a formula: what its docstring and its signature say.

    ``layer`` is that of a rate, as in :mod:`netcalc.rate_layers`, empty where it is not said.
    ``kind`` is ``number``, ``list``, ``bool``, ``choice`` or ``text``; ``default`` is
    :data:`inspect.Parameter.empty` where there is none.
    """

    name: str
    unit: str
    kind: str
    default: Any
    description: str
    choices: tuple[str, ...] = ()
    layer: str = ""

    @property
    def short_name(self) -> str:
        """Name without its unit: ``bandwidth`` for ``bandwidth_bps``."""
        return SUFFIX.sub("", self.name)

    @property
    def required(self) -> bool:
        """True if there is no default."""
        return self.default is inspect.Parameter.empty

    @property
    def packet_sized(self) -> bool:
        """Whether it is a size of a packet or of a part of it, so that 1500 is 1500 bytes."""
        if self.unit != "byte":
            return False
        of_one = self.name == "payload_bytes" and _OF_A_PACKET.search(self.description) is not None
        return of_one or _PACKET_SIZED.search(self.name) is not None

    @property
    def wanted(self) -> str:
        """What is to be given: its choices, or a quantity such as one."""
        if self.kind == "text":
            return "a name"
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
            return self._name(text)
        if self.kind == "choice":
            chosen = names.choose(self.name, text, self.choices)
            if chosen is None:
                raise DomainError("not-a-choice", self.name, text, choices=list(self.choices))
            return chosen
        if self.kind == "list":
            values = [self._number(part) for part in self.values(text)]
            # One value where the default is one: it holds for all.
            one_for_all = not self.required and np.ndim(self.default) == 0
            return values[0] if len(values) == 1 and one_for_all else values
        return self._number(text)

    def values(self, text: str) -> list[str]:
        """Return the texts of several values, one if there are no more.

        Raises
        ------
        UnitError
            If a comma in a list has two readings.

        Examples
        --------
        >>> from netcalc.calculator import formula
        >>> formula("bdp").parameter("rtt").values("10ms,50ms,100ms")
        ['10ms', '50ms', '100ms']
        """
        if self.kind not in ("list", "number"):
            return [text]
        two = _TWO_COUNTS.fullmatch(text.strip()) if self.name.endswith("_count") else None
        if two is not None and (self.kind != "list" or len(two[2]) == 3):
            return [text]  # refused by the number
        return split_values(
            text,
            is_list=self.kind == "list",
            pure=self.unit == "1",
            whole=self.packet_sized,
            field=self.short_name,
        )

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

    def _name(self, text: str) -> str:
        """Return the name that a text means, of an argument whose names the model knows."""
        if self.name == "stack":
            return names.stack(text)
        choices = names.known_names(self.name)
        chosen = names.choose(self.name, text, choices)
        if chosen is not None:
            return chosen
        near = names.near_choices(self.name, text, choices)
        if len(near) > 1:
            raise DomainError("not-a-choice", self.name, text, choices=near, suggestions=near)
        return text

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
        meaning = self._known(text.strip())
        if meaning is not None:
            return meaning
        if self.unit == "1":
            text = self._without_noun(text)
        if self.name.startswith("annual_"):
            text = _A_YEAR.sub("", text)
        if self.unit == "bit/s" and (line := named_line(text)) is not None:
            return rate_of_line(line, self.layer)
        try:
            return units.parse_typed(
                text, self.unit, field=self.short_name,
                bare=self.packet_sized,
            )  # fmt: skip
        except UnitError as error:
            if error.code != "kind-unknown":
                raise
            # A unit of its own, such as s/packet: the number is taken in that unit, or as a time.
            what = self.unit.partition("/")[2]
            if what and (match := re.fullmatch(rf"(.+?)\s*(?:/|\bper)\s*{what}s?", text.strip())):
                return units.parse_typed(match[1], "s", field=self.short_name)
            return units.parse(text.replace(self.unit, "").strip(), "1", field=self.short_name)

    def _known(self, text: str) -> float | None:
        """Return what a word stands for in this argument: ``p99``, ``IPv6``, ``G.711``."""
        if self.name == "ip_version":
            return _IP_VERSIONS.get(text.lower())
        if self.name in _ANY_UNIT and (match := _NUMBER_AND_UNIT.fullmatch(text)):
            if match["unit"] in units.PREFIXES:
                return units.parse_typed(text, "1", field=self.short_name)
            kinds = units.kinds_of(match["unit"])
            return units.parse_typed(text, kinds[0], field=self.short_name) if kinds else None
        if self.name == "sts_count" and (match := _SONET.fullmatch(text)):
            return float(match["number"]) * (3 if match["kind"].upper() == "STM" else 1)
        if self.name == "codec_bps":
            return names.codec_bps(text)
        if self.name == "altitude_m":
            return names.ALTITUDES_M.get(text.lower())
        if self.name == "speed_m_s":
            return names.speed_m_s(text.lower())
        if self.name == "quantile" and (match := _PERCENTILE.fullmatch(text)):
            return float(match["p"] or match["th"] or match["of_100"]) / 100
        return None

    def _without_noun(self, text: str) -> str:
        """Return a count without what it counts: ``10 users``, ``33.3 E`` of traffic."""
        match = _NOUN.fullmatch(text.strip())
        if match is None:
            return text
        noun = match["noun"].lower()
        erlangs = "erlang" in self.name and noun in ("e", "erl", "erlang", "erlangs")
        single = noun.removesuffix("s")
        counted = single in _NOUNS or (len(single) > 2 and single in self.name)
        return match["number"] if erlangs or counted else text


def documented_parameter(name: str, signature: inspect.Parameter, item: Item | None) -> Parameter:
    """Return a parameter from its signature and the item of the docstring about it."""
    text = flat(item.description) if item else ""
    kind = item.kind if item else ""
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
        layer=(unit[2] or "") if unit else "",
    )  # fmt: skip


def is_noun(word: str) -> bool:
    """Whether a word is what a count counts, as the ``flows`` of ``10 flows``.

    Examples
    --------
    >>> is_noun("users"), is_noun("ms")
    (True, False)
    """
    return word.lower().removesuffix("s") in _NOUNS


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
