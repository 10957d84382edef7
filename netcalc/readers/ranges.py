"""The one door that all facts and columns pass: what no network has is unknown, with a warning.

A round trip takes an hour at most, a rate is 100 Tbit/s at most, a share of losses lies between 0
and 1, a count is exact in a float. A part is not above its whole, nor a median outside its ends.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import in_blocks
from netcalc.display import show, unit_of_name
from netcalc.errors import ReaderError
from netcalc.messages import Notice, bound
from netcalc.readers.source import Text
from netcalc.samples import Fact, FactRow, FlowSeries, Samples, Table
from netcalc.samples.meta import MOST, MOST_COUNTED, fault, unit_of_fact

AnySamples = TypeVar("AnySamples", bound=Samples)

LONGEST_TRIP_S = 3600.0
"""Longest round trip: no tool waits for longer. [s]"""
LONGEST_S = 1e10
"""Longest other time: it holds the seconds since 1970 for three centuries. [s]"""
HIGHEST_BPS = 1e14
"""Highest rate: a fibre with all its channels carries less. [bit/s]"""
HIGHEST_PPS = HIGHEST_BPS / (8 * 84)
"""The same in the shortest frames of Ethernet, with preamble and gap. [packet/s]"""
HIGHEST = 1e100
"""Largest number of any other unit, or without one: nobody has counted or measured more."""
_ROUNDED = 0.01
"""A median may be this much beyond its ends, as tools round each number of its own. [ratio]"""

_TRIPS = {"rtt", "rtts", "rttvar", "ping", "pings", "jitter", "roundtrip"}
_NOT_OF_ONE = {"time", "timestamp", "unix", "epoch", "at", "since", "sum", "total"}
"""Words of a table's column that has times of day, or sums."""
_LOSSES = {"loss", "losses", "lost"}
_HIGHEST = {
    "s": LONGEST_S, "bit/s": HIGHEST_BPS, "packet/s": HIGHEST_PPS, "byte": MOST, "bit": 8 * MOST,
}  # fmt: skip
_PARTS = (
    ("received_count", "sent_count"), ("reply_count", "probe_count"),
    ("lost_datagram_count", "datagram_count"), ("lost_count", "datagram_count"),
    ("responding_hop_count", "hop_count"), ("tcp_connection_count", "connection_count"),
)  # fmt: skip
_ENDS = tuple(
    (f"{what}_min_s", tuple(f"{what}_{middle}_s" for middle in ("median", "mean")), f"{what}_max_s")
    for what in ("rtt", "one_way_delay")
)


@lru_cache(maxsize=1024)
def range_of(name: str, unit: str, *, of_house: bool) -> tuple[float, float]:
    """Return the least and the largest number of a quantity, in its SI unit.

    A column of a table has the name of its file, and may be a difference: it can be negative.

    >>> range_of("rtt_min_s", "s", of_house=True), range_of("loss_ratio", "ratio", of_house=True)
    ((0.0, 3600.0), (0.0, 1.0))
    """
    words = set(re.findall(r"[^\W_]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()))
    high = _HIGHEST.get(unit, HIGHEST)
    if "processor" in words:  # of several threads together
        return 0.0, high
    if unit == "ratio" and (of_house or words & _LOSSES):
        return 0.0, 1.0
    is_of_one = of_house or name.startswith("timestamp_rtt") or not words & _NOT_OF_ONE
    if unit == "s" and words & _TRIPS and is_of_one:
        return (0.0 if of_house else -LONGEST_TRIP_S), LONGEST_TRIP_S
    if of_house and unit in ("1", "byte"):
        return (-MOST_COUNTED if name == "sequence" else 0.0), MOST_COUNTED
    return (0.0 if of_house and unit in ("bit/s", "packet/s") else -high), high


def settled(
    samples: AnySamples, name: str = "", text: Callable[[], Text] | None = None
) -> AnySamples:
    """Make unknown what no network has; the same samples, if there is nothing.

    Parameters
    ----------
    samples : Samples
        What a reader made of a file.
    name : str
        Name of the file, for an error.
    text : callable, optional
        Returns its text, in which the line of a number is looked for.

    Returns
    -------
    Samples
        With a warning for each column or fact that is unknown now, by its field and place.

    Raises
    ------
    ReaderError
        If a total is beyond its range: no rows could stand for it.
    """
    for field, total in samples._totals().items():
        if field.endswith("_count") and total is not None and not 0 <= total <= MOST_COUNTED:
            most = bound(MOST_COUNTED, "1")
            raise ReaderError("total-out-of-range", file=name, field=field, found=total, most=most)
    notices: list[Notice] = []
    columns: dict[str, Any] = dict(_settled_columns(samples, notices))
    made: Any = samples
    if isinstance(samples, Table):
        columns = {"data": {**samples.columns(), **columns}} if columns else {}
    if columns:
        made = replace(cast(Any, samples), **columns)
    rows = samples.meta.facts
    if columns and rows:
        rows = _follow(rows, samples.counted_facts(), made.counted_facts())
    facts = tuple(_settled_row(row, number, notices) for number, row in enumerate(rows, 1))
    said: list[Notice] = []
    printed = _settled_summary(samples.meta.printed, said)
    if any(notice.code == "implausible-loss" for notice in samples.meta.warnings):
        said = [notice for notice in said if notice.values["name"] != "loss_ratio"]
    notices += said
    if not notices and printed == samples.meta.printed:
        return samples
    warnings = (*samples.meta.warnings, *_with_lines(notices, text))
    meta = replace(made.meta, facts=facts, printed=printed, warnings=warnings)
    return cast(AnySamples, replace(made, meta=meta))


def _settled_columns(samples: Samples, notices: list[Notice]) -> dict[str, NDArray[Any]]:
    """Return the columns with a number that cannot be, which is nan in them now."""
    units, of_house = samples.meta.units, bool(samples.column_units)
    columns = {name: each for name, each in samples.columns().items() if each.dtype.kind == "f"}
    changed: dict[str, NDArray[Any]] = {}

    def drop(name: str, wrong: NDArray[np.bool_], wanted: str) -> None:
        column = columns[name]
        row = int(wrong.argmax())
        columns[name] = changed[name] = np.where(wrong, np.nan, column)
        shown = _shown(float(column[row]), units.get(name, ""))
        values = {"count": int(np.count_nonzero(wrong)), "row": row + 1, "value": shown}
        values |= {"name": name, "place": f"row {row + 1}", "wanted": wanted}
        notices.append(Notice("column-out-of-range", {**values, "found": float(column[row])}))

    for name, column in list(columns.items()):
        unit = units.get(name, "")
        low, high = range_of(name, unit, of_house=of_house)
        if column.size and not _is_within(column, low, high):
            known = ~np.isnan(column)
            beyond = known & ~(np.isfinite(column) & (column >= low) & (column <= high))
            drop(name, beyond, _range_shown(low, high, unit))
    for part, whole in _PARTS:
        if part in columns and whole in columns:
            above = columns[part] > columns[whole]
            if above.any():
                drop(part, above, f"at most {whole}")
    if isinstance(samples, FlowSeries) and len(samples):
        _settle_intervals(columns, drop)
    return changed


def _settle_intervals(columns: Mapping[str, NDArray[Any]], drop: Any) -> None:
    """Drop jitter longer than the run, and bytes that no line carries in their interval."""
    length_s = np.fmax.reduce(columns["start_s"] + columns["duration_s"])
    longer = columns["jitter_s"] > length_s
    if length_s > 0 and longer.any():  # a short run may be printed as one of 0.0 s
        drop("jitter_s", longer, f"at most {_shown(float(length_s), 's')}, the length of the run")
    most = columns["duration_s"] * (HIGHEST_BPS / 8)
    beyond = (columns["payload_bytes"] > most) & (columns["duration_s"] > 0)
    if beyond.any():
        drop("payload_bytes", beyond, f"at most {_shown(HIGHEST_BPS, 'bit/s')}")


def _is_within(column: NDArray[Any], low: float, high: float) -> bool:
    """Whether all known numbers of a column are finite and in a range."""
    for (part,) in in_blocks(column):
        least, most = float(np.fmin.reduce(part)), float(np.fmax.reduce(part))
        if least < low or most > high or math.inf in (-least, most):
            return False
    return True


def _follow(
    rows: tuple[FactRow, ...], before: list[dict[str, Fact]], after: list[dict[str, Fact]]
) -> tuple[FactRow, ...]:
    """Return facts of which those that the columns showed are what they show now."""
    if not len(rows) == len(before) == len(after):
        return rows
    followed = []
    for row, old, new in zip(rows, before, after, strict=True):
        kept = {
            name: new.get(name) if old.get(name) == fact else fact for name, fact in row.items()
        }
        followed.append({name: fact for name, fact in kept.items() if fact is not None})
    return tuple(followed)


def _settled_row(row: FactRow, number: int, notices: list[Notice]) -> FactRow:
    """Return a row of facts without those that cannot be."""
    place = str(row.get("group") or row.get("target") or f"row {number}")
    kept = dict(row)

    def drop(name: str, wanted: str) -> None:
        unit = unit_of_fact(name) or ""
        found = float(kept.pop(name))
        values = {"name": name, "place": place, "value": _shown(found, unit), "found": found}
        notices.append(Notice("fact-out-of-range", {**values, "wanted": wanted}))

    for name, fact in row.items():
        unit = unit_of_fact(name) or ""
        if unit in ("text", "bool") or isinstance(fact, str | bool):
            continue
        low, high = _range_of_fact(name, unit)
        if not low <= fact <= high or not math.isfinite(fact):
            drop(name, _range_shown(low, high, unit))
    known: dict[str, Any] = {n: f for n, f in kept.items() if not isinstance(f, str | bool)}
    for part, whole in (*_PARTS, ("jitter_s", "duration_s")):
        if whole == "duration_s" and known.get(whole) == 0:
            continue  # a short run may be printed as one of 0.0 s
        if known.get(part, 0.0) > known.get(whole, math.inf):
            drop(part, f"at most {whole}, {_shown(known[whole], unit_of_fact(whole) or '')}")
    for least, middles, most in _ENDS:
        low, high = known.get(least, -math.inf), known.get(most, math.inf)
        slack = _ROUNDED * max((abs(end) for end in (low, high) if math.isfinite(end)), default=0.0)
        are_ends = low <= high + slack
        for name in (*middles, *(() if are_ends else (least, most))):
            if name in known and not (are_ends and low - slack <= known[name] <= high + slack):
                ends = {least: f"at most {most}", most: f"at least {least}"}
                drop(name, ends.get(name, f"from {least} to {most}"))
    return kept


def _range_of_fact(name: str, unit: str) -> tuple[float, float]:
    kind, _, column = name.partition(":")
    if not column:
        low, high = range_of(name, unit, of_house=True)
        return (-high if name.startswith("one_way_delay") else low), high
    if kind == "counter":
        return -MOST, MOST
    if kind == "sum":
        return -math.inf, math.inf
    return range_of(column, unit, of_house=False)


def _settled_summary(printed: Mapping[str, Any], notices: list[Notice]) -> dict[str, Any]:
    """Return what a tool printed without the numbers that cannot be; runs are rows in it."""
    kept: dict[str, Any] = {}
    for name, value in printed.items():
        if isinstance(value, list):
            kept[name] = [
                _settled_summary(item, notices) if isinstance(item, Mapping) else item
                for item in value
            ]
            continue
        if type(value) in (int, float):
            unit = unit_of_name(name)
            low, high = range_of(name, unit, of_house=bool(unit))
            if not low <= value <= high or fault(value, name):
                wanted = _range_shown(low, high, unit)
                values = {"name": name, "place": "the summary", "value": _shown(value, unit)}
                found = {"found": float(value), "wanted": wanted}
                notices.append(Notice("fact-out-of-range", values | found))
                continue
        kept[name] = value
    return kept


_EXPONENT = r"(?:[eE][-+]?\d+)?"
_NUMBERS = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (rf"\d+\.?\d*{_EXPONENT}|\b[iI]nf(?:inity)?\b", rf"\d+,\d+{_EXPONENT}")
)
"""With a point; and with a comma, which may as well stand between two numbers."""
_UNITS = (1, 8, 60, 3600, 0.01)
"""What a number may be multiplied by, beside powers of 1000: bytes, minutes, hours, percent."""
_LEAST_DIGITS, _LARGE = 4, 15
"""Numbers of fewer digits are in a text by chance, too, but for those of such a power of ten."""
_MOST_NAMED, _MOST_LINES = 10, 100_000
"""Notices whose lines are looked for, and lines of a text in which they are."""


def _with_lines(notices: list[Notice], text: Callable[[], Text] | None) -> list[Notice]:
    """Return the notices, the first ones with the line that alone has the digits of their number.

    The digits as the text has them, in whichever unit: what a reader computed is in no line.
    """
    wanted = [_written(notice.values["found"]) for notice in notices[:_MOST_NAMED]]
    wanted += [set()] * (len(notices) - len(wanted))
    in_lines: dict[str, set[int]] = {digits: set() for each in wanted for digits in each}
    lines = text() if text is not None and in_lines else None
    if lines is not None and 1 < len(lines.lines) <= _MOST_LINES:
        for number, line in zip(lines.numbers, lines.lines, strict=True):
            for each in chain.from_iterable(numbers.findall(line) for numbers in _NUMBERS):
                if (digits := _digits(each)) in in_lines:
                    in_lines[digits].add(number)
    named = []
    for notice, written in zip(notices, wanted, strict=True):
        values = {name: value for name, value in notice.values.items() if name != "found"}
        places = {number for digits in written for number in in_lines[digits]}
        if len(places) == 1:
            values["place"] = f"{values['place']}, line {places.pop()}"
        named.append(Notice(notice.code, values))
    return named


def _written(value: float) -> set[str]:
    """Return the digits by which a text may give a number, as :func:`_digits` does."""
    return {_digits(f"{abs(value) / unit:.11e}") for unit in _UNITS} - {""}


def _digits(text: str) -> str:
    """Return the digits of a number and its power of ten modulo 3; empty where chance has them."""
    number = float(text.replace(",", "."))
    if not math.isfinite(number):
        return "inf"
    mantissa, _, exponent = f"{number:.11e}".partition("e")
    digits, power = mantissa.replace(".", "").rstrip("0"), int(exponent)
    return f"{digits} {power % 3}" if len(digits) >= _LEAST_DIGITS or power >= _LARGE else ""


def _shown(value: float, unit: str) -> str:
    """Write a number with its unit; one beyond all prefixes with its exponent."""
    if unit in ("", "1") or not 1e-12 <= abs(value) < 1e16:
        return f"{value:.4g} {unit if unit not in ('1', 'byte') else ''}".rstrip()
    return show(value, unit)


def _range_shown(low: float, high: float, unit: str) -> str:
    if not math.isfinite(high):
        return "a finite number"
    return f"{'at most' if low else 'from 0 to'} {_shown(high, unit)}"
