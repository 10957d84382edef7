"""The text of a tool as a table of its lines: each kind is a pattern, whose groups are fields.

A pattern is a regular expression in which ``{rtt_ms}`` stands for a group of that name that holds a
number, ``{target}`` for one that holds a word, and ``{}`` for a number that nobody needs. The name
of a group says what it holds: its unit is at its end, and the field is in SI units. ``{rtt_ms,}``
may have a decimal comma; ``{rtt_unit}`` has the unit that a group ``unit`` holds.

>>> table = LineTable(
...     reply=r"{payload_bytes} bytes from {target}: seq={sequence} time={rtt_ms} ms",
...     totals=r"{sent} sent, {received} received, {loss_percent}% lost",
...     other=r"---",
... )
>>> line = table.line(3, "56 bytes from 192.0.2.1: seq=7 time=0.25 ms")
>>> line.kind, line.fields
('reply', {'payload_bytes': 56, 'target': '192.0.2.1', 'sequence': 7, 'rtt_s': 0.00025})
>>> line.step_s("rtt")
1e-05
>>> table.line(4, "4 sent, 3 received, 25% lost").fields
{'sent': 4, 'received': 3, 'loss_ratio': 0.25}
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.source import Text, shorten

INTEGER = r"[0-9]{1,15}"
NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,15})?"
SMALL_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
"""A time in milliseconds: more digits come of damage."""
WORD = r"\S+"
_WHOLE = r"(?!\.?[0-9])"
"""A number that goes on after its most digits is another number, none that may be cut off."""

_DIGITS = {"ttl": 3, "hop": 3, "payload_bytes": 5, "packet_bytes": 5, "sequence": 9}
"""Most digits of a field that has few; more come of damage."""

UNITS_S: Mapping[str, float] = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3,
    "s": 1.0, "sec": 1.0, "m": 60.0, "h": 3600.0,
}  # fmt: skip
"""Unit of time, as tools write it -> seconds."""

COUNTS = frozenset({"sent", "received", "lost", "duplicates", "errors", "sequence", "ttl", "hop"})
"""Names without a unit that hold whole numbers, as those that end in ``_count`` or ``_bytes``."""

_SCALES: Mapping[str, tuple[str, float]] = {
    "_ns": ("_s", 1e9), "_us": ("_s", 1e6), "_ms": ("_s", 1e3), "_s": ("_s", 1.0),
    "_percent": ("_ratio", 100.0),
}  # fmt: skip
"""End of a group's name -> the end of its field's name, and what its number is divided by."""

_PLACEHOLDER = re.compile(r"\{(?P<name>(?:[a-z][a-z0-9_]*)?)(?P<comma>,?)\}")


@cache
def _is_count(name: str) -> bool:
    return name in COUNTS or name.endswith(("_count", "_bytes"))


@cache
def _ending(name: str) -> str:
    """Return the end of a group's name that says its unit, or nothing."""
    return next((end for end in (*_SCALES, "_unit") if name.endswith(end)), "")


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern with its placeholders filled in.

    >>> compiled("time={rtt_ms}").pattern
    'time=(?P<rtt_ms>[0-9]{1,9}(?:\\\\.[0-9]{1,9})?(?!\\\\.?[0-9]))'
    """

    def group(place: re.Match[str]) -> str:
        name = place["name"]
        if not name or name.endswith("_ms"):
            holds = SMALL_NUMBER
        elif _is_count(name):
            holds = rf"[0-9]{{1,{_DIGITS[name]}}}" if name in _DIGITS else INTEGER
        else:
            holds = NUMBER if _ending(name) else WORD
        if place["comma"]:
            holds = holds.replace(r"\.", "[.,]")
        if holds != WORD:
            holds += _WHOLE
        return rf"(?P<{name}>{holds})" if name else rf"(?:{holds})"

    return re.compile(_PLACEHOLDER.sub(group, pattern))


@dataclass(frozen=True, slots=True)
class ToolLine:
    """One line of a tool: its kind, and the fields of its groups that matched."""

    kind: str
    number: int
    text: str
    fields: Mapping[str, Any]
    written: Mapping[str, str]
    """The groups as they are printed."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, or the default where the line does not have it."""
        return self.fields.get(name, default)

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    def step_s(self, quantity: str) -> float:
        """Return the width of the last digit of a time in seconds; 0 where it is not printed."""
        for ending in ("_ns", "_us", "_ms", "_s", "_unit"):
            number = self.written.get(quantity + ending)
            if number is not None:
                unit = self.written["unit"] if ending == "_unit" else ending[1:]
                return last_digit(number, UNITS_S[unit])
        return 0.0

    def refused(self, code: str, file: str, field: str, **values: Any) -> ReaderError:
        """Return the error that refuses a field of the line, with the place of it."""
        written = shorten(self.written.get(field, self.text))
        return ReaderError(
            code, file=file, line=self.number, field=field, **{"value": written, **values}
        )


def last_digit(number: str, factor: float) -> float:
    """Return the width of the last digit of a printed number, in the unit that the factor makes.

    >>> last_digit("0.25", 1e-3), last_digit("12", 1e-3)
    (1e-05, 0.001)
    """
    places = len(number.replace(",", ".").partition(".")[2])
    return float(factor / 10.0**places)


def time_of_parts(text: str) -> tuple[float, float]:
    """Return a time written as ``1m2.5s`` or ``10ms663us``, and the width of its last digit.

    >>> time_of_parts("43µs"), time_of_parts("1m2.5s"), time_of_parts("10ms663us")
    ((4.3e-05, 1e-06), (62.5, 0.1), (0.010663, 1e-06))
    """
    parts = re.findall(r"(\d+(?:\.\d+)?)(h|ns|[uµμ]s|ms|m|s)", text)
    time_s = math.fsum(float(number) * UNITS_S[unit] for number, unit in parts)
    return round(time_s, 12), last_digit(parts[-1][0], UNITS_S[parts[-1][1]])


class LineTable:
    """The kinds of lines that a tool prints, tried in their order.

    Parameters
    ----------
    convert : mapping of str to callable, optional
        Group -> what makes its field from the text, where the ends of names do not say it.
    multiplies : bool, optional
        Whether a time is multiplied by 0.001 and not divided by 1000, which is exact: in readers
        whose numbers have been so from the beginning, to the last digit.
    reads_cut : bool, optional
        Whether a last line without its end is read: where what is left of it cannot be wrong.
    closed, open_ends : str, optional
        Patterns of a last line without its end that is whole, though a field ends it, and of one
        that is not, though no field does: its optional end may be missing.
    **kinds : str or sequence of str
        Kind of line -> its pattern or patterns, which match from the beginning of a line. The kind
        ``other`` is of lines that belong to the tool and say nothing of interest.
    """

    def __init__(
        self,
        *,
        convert: Mapping[str, Callable[[str], Any]] | None = None,
        multiplies: bool = False,
        reads_cut: bool = False,
        closed: str = "(?!)",
        open_ends: str = "(?!)",
        **kinds: str | Sequence[str],
    ) -> None:
        self._kinds = tuple(
            (kind, compiled(pattern))
            for kind, patterns in kinds.items()
            for pattern in ((patterns,) if isinstance(patterns, str) else patterns)
        )
        self._convert = convert or {}
        self._multiplies = multiplies
        self._reads_cut = reads_cut
        self._closed, self._open_ends = re.compile(closed), re.compile(open_ends)

    def line(self, number: int, text: str, *, cut: bool = False) -> ToolLine | None:
        """Read one line; None if it is of no kind, or ``cut`` in a field.

        The totals and times of a summary are read without a field that is cut.
        """
        if cut and self._open_ends.fullmatch(text):
            return None
        for kind, pattern in self._kinds:
            if match := pattern.match(text):
                groups = match.groupdict()
                written = {name: held for name, held in groups.items() if held is not None}
                if cut:
                    open_fields = self._open_fields(match)
                    if open_fields and kind not in ("totals", "spread"):
                        return None
                    for name in open_fields:
                        del written[name]
                return ToolLine(kind, number, text, dict(self._fields(written)), written)
        return None

    def _open_fields(self, match: re.Match[str]) -> list[str]:
        """Return the fields at the end of a cut line, which may have lost digits or letters."""
        text = match.string
        if self._closed.fullmatch(text):
            return []
        ends = {name for name, held in match.groupdict().items() if held}
        return [name for name in ends - {"unit"} if match.end(name) == len(text)]

    def pattern(self, *kinds: str) -> str:
        """Return a pattern that matches at a line of one of the kinds, for ``Input.seen``."""
        patterns = [pattern.pattern for kind, pattern in self._kinds if kind in kinds]
        return "|".join(re.sub(r"\(\?P<\w+>", "(?:", f"^(?:{each})") for each in patterns)

    def lines(self, text: Text, skipped: list[int]) -> Iterator[ToolLine]:
        """Yield the lines of a text that are of a kind, but ``other``.

        The numbers of lines that are of none and not blank are added to ``skipped``. A last line
        without its end is read if no field is at its end, where it may have lost digits.
        """
        ends = text.ends_complete or self._reads_cut or not text.numbers
        cut = None if ends else text.numbers[-1]
        for number, written in zip(text.numbers, text.lines, strict=True):
            line = self.line(number, written, cut=number == cut)
            if line is None and number == cut:
                continue
            if line is None:
                if written.strip():
                    skipped.append(number)
            elif line.kind != "other":
                yield line

    def _fields(self, written: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
        for name, held in written.items():
            ending = _ending(name)
            if name in self._convert:
                yield name, self._convert[name](held)
            elif _is_count(name):
                yield name, int(held)
            elif ending == "_unit":
                factor = UNITS_S[written["unit"]]
                yield f"{name.removesuffix(ending)}_s", float(held.replace(",", ".")) * factor
            elif ending:
                end, parts = _SCALES[ending]
                yield name.removesuffix(ending) + end, self._scaled(held, parts, end)
            else:
                yield name, held

    def _scaled(self, held: str, parts: float, end: str) -> float:
        number = float(held.replace(",", "."))
        if self._multiplies and end == "_s":
            return number * (1.0 / parts)
        return number / parts


def skipped_lines(numbers: Sequence[int]) -> list[Notice]:
    """Return the warning about lines that were not read, if there are any."""
    return [Notice("not-of-the-tool", {"numbers": list(numbers)})] if numbers else []
