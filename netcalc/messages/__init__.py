"""The sentences of all errors and warnings, by code: the one place where they are made.

An error or a warning is a code and its values. Nothing decides on the wording, so a sentence can be
improved without a change of behaviour, and a program reads the code.

>>> sentence("late-replies", {"count": 3, "timeout_s": 1.0})
'3 replies arrived after the 1 s timeout and count as lost'

The ``.json`` files of this folder hold them, a file for each room, and by code: ``sentence``,
``hint`` (what to do), ``typed_hint`` (for who typed a command), ``python_hint`` (for a caller in
Python), ``expected`` (what should be in a file at that place), ``allowed`` (what an argument must
be) and ``note`` (for those who write or translate it). They are read with this module and not with
the first error, which may be that no more files can be opened. A sentence about a file follows its
name, the line and the field, so it begins with the fault there.

A template names its values; a format says how one is written:

``{timeout_s:s}``, ``{rtt_s:s.6}``
    with its unit, one of those of :func:`netcalc.display.show`, and the digits if they are not 4;
    a list as its first elements;
``{count:reply|replies}``
    a count with the noun in singular or plural;
``{numbers:lines}``
    line numbers, neighbours joined;
``{readings:or}``
    alternatives, joined by "or";
``{columns:names}``
    names from a file, quoted, the first few of them;
``{layer:layer}``
    a layer of a rate, or that it is not stated;
``{next:cause}``, ``{parts:waits}``
    the name of a cause of :mod:`netcalc.explain`, and several with their times;
``{extra:copy}``
    the copy of netcalc that runs, with an extra of it, as ``pip install`` takes it;
``{name!r}``
    quoted.

A float is written with up to 15 digits, a list with commas. ``run_numbers`` among the values say of
which runs of a file the sentence is true.
"""

from __future__ import annotations

import json
import os
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netcalc.display import show
from netcalc.language import phrase, term
from netcalc.printable import safe_str
from netcalc.rate_layers import in_words

__all__ = [
    "ALLOWED", "EXPECTED", "HINTS", "LONGEST_LIST", "MESSAGES", "PYTHON_HINTS", "TYPED_HINTS",
    "UNITS", "Notice", "allowed", "bound", "expected", "hint", "python_hint", "sentence",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers


def _entries() -> Iterator[tuple[str, dict[str, str]]]:
    """Read the tables; without ``pathlib``, which every start of the command would wait for."""
    with os.scandir(__file__.rpartition(os.sep)[0]) as entries:
        paths = sorted(entry.path for entry in entries if entry.name.endswith(".json"))
    for path in paths:
        with open(path, "rb") as file:  # noqa: PTH123
            yield from json.loads(file.read()).items()


_ENTRIES = dict(_entries())


def _field(name: str) -> dict[str, str]:
    return {code: entry[name] for code, entry in _ENTRIES.items() if name in entry}


MESSAGES: Mapping[str, str] = _field("sentence")
"""The sentence of each code, without a full stop."""
HINTS: Mapping[str, str] = _field("hint")
"""What to do about it, for the codes that have an answer to that."""
TYPED_HINTS: Mapping[str, str] = _field("typed_hint")
"""The same for who typed a command, where options have other names than arguments."""
PYTHON_HINTS: Mapping[str, str] = _field("python_hint")
"""What a caller in Python can do besides the hint, by code."""
EXPECTED: Mapping[str, str] = _field("expected")
"""What should be in a file at the position of an error, by code."""
ALLOWED: Mapping[str, str] = _field("allowed")
"""What an argument must be, by code."""

UNITS = frozenset({"s", "bit/s", "byte", "bit", "ratio", "packet/s", "m"})
_NOUNS = {
    "line": (term("line {numbers}"), term("lines {numbers}")),
    "run": (term("run {numbers}"), term("runs {numbers}")),
}
LONGEST_LIST = 8
"""Of longer lists the rest is counted: a sentence stays about one line of a terminal."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning that goes with a result: a code and its values, written as a sentence by ``str``.

    Examples
    --------
    >>> str(Notice("stray-datagrams", {"count": 2}))
    'ignored 2 stray datagrams'
    """

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return sentence(self.code, self.values)

    @property
    def hint(self) -> str | None:
        """What to do about it, if there is anything."""
        return hint(self.code, self.values)

    @classmethod
    def load(cls, stored: Any) -> Notice:
        """Return a warning as a saved file has it: a code with values, or a sentence of before.

        Raises
        ------
        TypeError
            If ``stored`` is neither.
        """
        if isinstance(stored, str):
            return cls("verbatim", {"text": stored})
        if not isinstance(stored, Mapping) or not isinstance(stored.get("code"), str):
            raise TypeError("a warning is a code with values")
        values = stored.get("values", {})
        if not isinstance(values, Mapping):
            raise TypeError("the values of a warning have names")
        notice = cls(stored["code"], dict(values))
        written = cls("verbatim", {"text": str(stored.get("text", stored["code"]))})
        if notice.code not in MESSAGES:  # of a later version, which wrote its sentence too
            return written
        try:
            str(notice)
        except (LookupError, TypeError, ValueError, AttributeError):  # edited
            return written
        return notice

    def stored(self) -> dict[str, Any]:
        """Return the warning as a saved file has it."""
        return {"code": self.code, "values": dict(self.values), "text": str(self)}


def sentence(code: str, values: Mapping[str, Any]) -> str:
    """Write the sentence of a code, without a full stop; one that is not listed is its own."""
    text = _WRITER.vformat(phrase(MESSAGES[code]), (), values) if code in MESSAGES else code
    runs = values.get("run_numbers")
    return f"{_numbers('run', runs)}: {text}" if runs else text


def expected(code: str, values: Mapping[str, Any]) -> str | None:
    """Write what should be in a file, for the codes that say so."""
    return _WRITER.vformat(phrase(EXPECTED[code]), (), values) if code in EXPECTED else None


def python_hint(code: str, values: Mapping[str, Any]) -> str | None:
    """Write what a caller in Python can do, if that is more than the hint."""
    return _WRITER.vformat(phrase(PYTHON_HINTS[code]), (), values) if code in PYTHON_HINTS else None


def bound(value: float, unit: str) -> str:
    """Write a bound with its unit: sizes in bytes, as 65507 B must not become 65.51 kB."""
    return f"{value:.12g} B" if unit == "byte" else show(value, unit, digits=12)


def allowed(code: str, values: Mapping[str, Any]) -> str | None:
    """Write what a number may be, for the codes of numbers outside their range."""
    return _WRITER.vformat(phrase(ALLOWED[code]), (), values) if code in ALLOWED else None


def hint(code: str, values: Mapping[str, Any]) -> str | None:
    """Write what to do about it: the nearest known names, if there are any, or the code's hint."""
    suggestions = values.get("suggestions")
    if suggestions:
        return phrase("Did you mean {names}?", names=_alternatives(suggestions))
    template = HINTS.get(code)
    if values.get("typed"):
        template = TYPED_HINTS.get(code, template)
    return _WRITER.vformat(phrase(template), (), values) if template else None


class _SentenceWriter(string.Formatter):
    """``str.format`` with the formats of this module."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        try:
            return super().convert_field(value, conversion)
        except Exception:  # an object that cannot be shown
            return type(value).__name__

    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" in format_spec:
            singular, plural = format_spec.split("|")
            return f"{value:,} {singular if value == 1 else plural}"
        if format_spec == "lines":
            return _numbers("line", value)
        if format_spec == "names":
            return _cut(", ".join(map(repr, value[:LONGEST_LIST])), len(value) - LONGEST_LIST)
        if format_spec == "layer":
            return in_words(value)
        if format_spec == "cause":
            return phrase(MESSAGES[f"name-{value}"])
        if format_spec == "waits":
            waits = value.items()
            return ", ".join(
                f"{phrase(MESSAGES[f'name-{code}'])} {show(s, 's')}" for code, s in waits
            )
        if format_spec == "copy":
            from netcalc.version import requirement  # late: most messages need none

            return requirement(value)
        if format_spec == "or":
            return _alternatives(value)
        unit, _, digits = format_spec.partition(".")
        if unit in UNITS:
            return _quantities(value, unit, int(digits or 4))
        if format_spec and not isinstance(value, str):  # a quantity may be text already
            return str(format(value, format_spec))
        if isinstance(value, float):
            return f"{value:.15g}"
        if isinstance(value, Sequence | set | frozenset) and not isinstance(value, str | bytes):
            return ", ".join(self.format_field(item, "") for item in value)
        return safe_str(value)


_WRITER = _SentenceWriter()


def _quantities(value: float | Sequence[float], unit: str, digits: int) -> str:
    """Write a number with its unit, or several: ``8 B, 100 B and 12 more``."""
    values = value if isinstance(value, Sequence) else [value]
    shown = ", ".join(show(value, unit, digits=digits) for value in values[:LONGEST_LIST])
    return _cut(shown, len(values) - LONGEST_LIST)


def _cut(shown: str, rest: int) -> str:
    """Write a list, and how many more there are."""
    return phrase("{shown} and {rest:,} more", shown=shown, rest=rest) if rest > 0 else shown


def _alternatives(names: Sequence[Any]) -> str:
    """Write alternatives: ``a``, ``a or b``, ``a, b or c``."""
    *first, last = map(str, names)
    return phrase("{first} or {last}", first=", ".join(first), last=last) if first else last


def _numbers(noun: str, numbers: Sequence[int]) -> str:
    """Write line numbers: ``line 3``, ``lines 3, 5-7 and 12 more``."""
    runs = list(_runs(numbers))
    shown = [f"{a}" if a == b else f"{a}-{b}" for a, b in runs[:LONGEST_LIST]]
    rest = sum(b - a + 1 for a, b in runs[LONGEST_LIST:])
    text = _cut(", ".join(shown), rest)
    singular, several = _NOUNS[noun]
    return phrase(singular if len(set(numbers)) == 1 else several, numbers=text)


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Join neighbours: 3, 4, 5, 9 are 3 to 5 and 9."""
    first = last = None
    for number in sorted(set(numbers)):
        if last is not None and number == last + 1:
            last = number
            continue
        if first is not None and last is not None:
            yield first, last
        first = last = number
    if first is not None and last is not None:
        yield first, last
