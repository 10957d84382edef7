"""Text of a range or a distribution: ``80..100 Mbit/s``, ``30 ms ± 5 ms``, ``file.csv:column``.

The units are those of :mod:`netcalc.units`. A unit that only the last number has holds for the
others too: ``80..100 Mbit/s``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from netcalc import units
from netcalc.checks import named_arguments
from netcalc.errors import DomainError, UnitError
from netcalc.printable import safe_str
from netcalc.uncertain.distributions import (
    Distribution,
    empirical,
    exponential,
    lognormal,
    normal,
    triangular,
    truncated,
    uniform,
)
from netcalc.uncertain.fits import FORM, fitted_in_file

FORMS = {
    "uniform": "uniform(LOW, HIGH)",
    "normal": "normal(MEAN, STANDARD DEVIATION)",
    "lognormal": "lognormal(MEDIAN, p95 VALUE)",
    "triangular": "triangular(LEAST, MOST LIKELY, GREATEST)",
    "exponential": "exponential(MEAN)",
    "truncated": "truncated(DISTRIBUTION) or truncated(DISTRIBUTION, LOW..HIGH)",
}
"""The distributions that can be written by name, with what each needs."""
_MOST_TRUNCATED = 5  # one within the other; more are no text that people write
_COUNTS = {"uniform": 2, "normal": 2, "triangular": 3, "exponential": 1}
# Blanks around these are stripped from the parts: patterns that take any number of them are slow.
_PLUS_MINUS = re.compile(r"±|\+/?-")
_RANGE = re.compile(r"\.{2,3}|…|–|(?<=\d)\s{0,2}-\s{0,2}(?=\d)|\sto\s")
_CALL = re.compile(r"([A-Za-z_]+)\s?\((.*)\)", re.DOTALL)
_PERCENTILE = re.compile(r"p(\d+(?:\.\d+)?)\s?[=:]?(.+)", re.IGNORECASE | re.DOTALL)
_FILE = re.compile(r"(.*\.[A-Za-z]\w*|\.?/.*):([^:]+)", re.DOTALL)
_OTHER_UNIT = frozenset({"unit-of-other-kind", "unit-unknown"})
LONGEST = 2000
"""A longer text is no distribution. [characters]"""
_PLAIN = re.compile(r"[+-]?[\d.,]*\d(?:[eE][+-]?\d+)?")
_A_YEAR = re.compile(r"\s*(?:/\s*(?:year|yr|y|a)|per\s+year|a\s+year|p\.\s*a\.?|yearly)\s*$")


@named_arguments
def is_distribution(text: str) -> bool:
    """Return whether a text is a range, a distribution or a column, and no single quantity.

    Examples
    --------
    >>> is_distribution("80..100 Mbit/s"), is_distribution("30 ms ± 5 ms"), is_distribution("T1")
    (True, True, False)
    """
    text = text.strip()
    if len(text) > LONGEST:
        return False
    return bool(
        _RANGE.search(text) or _PLUS_MINUS.search(text) or _CALL.fullmatch(text)
        or _FILE.fullmatch(text) or FORM.fullmatch(text)
    )  # fmt: skip


Read = Callable[[str], float]
"""What turns one quantity into a number."""


@named_arguments
def parse(
    text: str, unit: str, *, field: str | None = None, read: Read | None = None
) -> Distribution | float:
    """Read what is known about a quantity: a value, a range, a distribution, a column of a file.

    Parameters
    ----------
    text : str
        ``80..100 Mbit/s``, ``80-100 Mbit/s`` or ``80 to 100 Mbit/s`` (every value alike),
        ``30 ms ± 5 ms`` or ``30 ms +- 5 ms`` (normal, one standard deviation; ``± 10%`` is a share
        of the value), ``normal(30 ms, 5 ms)``, ``lognormal(30 ms, p95 60 ms)`` (median and a
        percentile), ``triangular(80, 95, 100 Mbit/s)``, ``exponential(3 min)``, ``truncated(3% ±
        2%)`` (without what a model refuses), ``truncated(3% ± 2%, 0%..10%)``,
        ``file.csv:column`` (each value of a column alike), ``@ping.txt:bandwidth`` (a parameter
        that ``netcalc read`` fits to a file, with its error), or a single quantity.
    unit : str
        The SI unit wanted, as in :func:`netcalc.units.parse`.
    field : str, optional
        What the quantity is, for the message of an error.
    read : callable, optional
        Reads one quantity, by default :func:`netcalc.units.parse`.

    Returns
    -------
    Distribution or float
        In ``unit``; a float where the text is one quantity.

    Raises
    ------
    UnitError
        If a unit is missing or wrong, a range is backwards, or the text is no distribution.
    ReaderError
        If a file has no such column, or the column has gaps or no unit, or nothing can be fitted.

    Examples
    --------
    >>> parse("80..100 Mbit/s", "bit/s").text("bit/s")
    '80 Mbit/s..100 Mbit/s'
    >>> parse("30 ms ± 5 ms", "s").text("s")
    'normal(30 ms, 5 ms)'
    >>> parse("30 ms", "s")
    0.03
    """
    plain = safe_str(text).strip()
    reader = _Text(plain, unit, field, read or partial(units.parse, unit=unit, field=field))
    if not is_distribution(plain):
        return reader.read(text)
    called = _CALL.fullmatch(plain)
    if called:
        return reader.call(called[1].lower(), called[2])
    if FORM.fullmatch(plain):
        return fitted_in_file(plain, unit, field=field)
    if _FILE.fullmatch(plain):
        return reader.column()
    return reader.plus_minus() if _PLUS_MINUS.search(plain) else reader.range()


@named_arguments
def parse_list(
    text: str, unit: str, *, field: str | None = None, read: Read | None = None
) -> list[Distribution | float]:
    """Read a list whose elements are quantities or distributions, separated by ``,`` or ``;``.

    Examples
    --------
    >>> [type(one).__name__ for one in parse_list("10 Mbit/s, 80..100 Mbit/s", "bit/s")]
    ['float', 'Uniform']
    """
    plain = safe_str(text)
    parts = plain.split(";") if ";" in plain else _at_commas(plain)
    return [parse(part.strip(), unit, field=field, read=read) for part in parts]


@named_arguments
def parse_correlations(
    text: str, names: Mapping[str, str] | Sequence[str]
) -> dict[tuple[str, str], float]:
    """Read correlations as ``bandwidth,latency=0.5``, several separated by semicolons or blanks.

    Parameters
    ----------
    text : str
        The pairs, each with its coefficient.
    names : mapping of str to str, or sequence of str
        The names that may be written, with the argument of each.

    Returns
    -------
    dict of pairs of str to float
        For ``correlations`` of :func:`netcalc.uncertain.spread`.

    Raises
    ------
    UnitError
        If a part is not a pair with a number.
    DomainError
        If a name is unknown.

    Examples
    --------
    >>> parse_correlations("a,b=0.5; b,c=-0.2", ["a", "b", "c"])
    {('a', 'b'): 0.5, ('b', 'c'): -0.2}
    """
    by_name = dict(names) if isinstance(names, Mapping) else {name: name for name in names}
    correlations = {}
    for part in filter(None, re.split(r"\s*;\s*|(?<=\d)\s+", safe_str(text).strip())):
        match = re.fullmatch(r"([\w-]+)\s*,\s*([\w-]+)\s*=\s*([+-]?[\d.]+)", part)
        if match is None or not _PLAIN.fullmatch(match[3]):
            raise UnitError("correlation-malformed", part, expected="a correlation")
        pair = []
        for written in (match[1], match[2]):
            name = written.replace("-", "_")
            if name not in by_name:
                choices = sorted(set(by_name) - set(by_name.values())) or list(by_name)
                raise DomainError("not-a-choice", "correlations", written, choices=choices)
            pair.append(by_name[name])
        correlations[pair[0], pair[1]] = units.parse_number(match[3])
    return correlations


def without_year(text: str) -> str:
    """Return a growth without the words that say it is one a year.

    Examples
    --------
    >>> without_year("30 % ± 5 % per year"), without_year("30%/a")
    ('30 % ± 5 %', '30%')
    """
    return _A_YEAR.sub("", text)


class _Text:
    """One text of a distribution, with what its errors name."""

    def __init__(self, text: str, unit: str, field: str | None, read: Read) -> None:
        self.text, self.unit, self.field, self.read = text, unit, field, read

    def refused(self, code: str, **values: object) -> UnitError:
        expected = f"a range or a distribution [{self.unit}]"
        return UnitError(code, self.text, expected=expected, field=self.field, **values)

    def quantities(self, parts: Sequence[str]) -> list[float]:
        """Read quantities; what has no unit takes that of the last."""
        filled = units.alike(parts, self.unit)
        try:
            return [self.read(part) for part in filled]
        except UnitError as error:
            if error.code in _OTHER_UNIT:  # of all of it, as typed
                error.values["text"] = self.text
            raise

    def range(self) -> Distribution:
        return uniform(*self._ends(self.text))

    def _ends(self, text: str) -> tuple[float, float]:
        parts = [part.strip() for part in _RANGE.split(text)]
        if len(parts) != 2 or not all(parts):
            raise self.refused("range-malformed", example=self._example())
        low, high = self.quantities(parts)
        if low == high:
            raise self.refused("range-of-one-value", value=units.show(low, self.unit))
        if not low < high:
            first, second = (units.show(value, self.unit) for value in (low, high))
            raise self.refused("range-backwards", low=first, high=second)
        return low, high

    def _example(self) -> str:
        return {"bit/s": "80..100 Mbit/s", "s": "20..30 ms", "byte": "1..2 MB",
                "ratio": "1..3%"}.get(self.unit, "10..20")  # fmt: skip

    def plus_minus(self) -> Distribution:
        parts = [part.strip() for part in _PLUS_MINUS.split(self.text)]
        if len(parts) != 2 or not all(parts):
            raise self.refused("range-malformed", example="30 ms ± 5 ms")
        if self.unit != "ratio" and parts[1].rstrip().endswith("%"):
            mean = self.read(parts[0])
            deviation = abs(mean) * units.parse(parts[1], "ratio", field=self.field)
        else:
            mean, deviation = self.quantities(parts)
        return self._normal(mean, deviation)

    def _normal(self, mean: float, deviation: float) -> Distribution:
        if not deviation > 0.0:
            raise self.refused("deviation-not-positive")
        return normal(mean, deviation)

    def call(self, name: str, inside: str) -> Distribution:
        if name not in FORMS:
            raise self.refused("distribution-unknown", name=name, choices=list(FORMS))
        if name == "truncated":
            return self._truncated(inside)
        parts = [part.strip() for part in _at_commas(inside)]
        if name == "lognormal":
            return self._lognormal(parts)
        if len(parts) != _COUNTS[name] or not all(parts):
            raise self.refused("distribution-malformed", form=FORMS[name])
        values = self.quantities(parts)
        if name == "normal":
            return self._normal(*values)
        makers: dict[str, Callable[..., Distribution]] = {
            "uniform": uniform, "triangular": triangular, "exponential": exponential,
        }  # fmt: skip
        try:
            return makers[name](*values)
        except DomainError as error:
            if name == "exponential":
                value = units.show(values[0], self.unit)
                raise self.refused("mean-not-positive", value=value) from None
            if sorted(values) != values:
                low, high = units.show(values[0], self.unit), units.show(values[-1], self.unit)
                raise self.refused("range-backwards", low=low, high=high) from None
            raise self.refused("distribution-refused", reason=error.what) from None

    def _lognormal(self, parts: Sequence[str]) -> Distribution:
        if len(parts) != 2 or not all(parts):
            raise self.refused("distribution-malformed", form=FORMS["lognormal"])
        match = _PERCENTILE.fullmatch(parts[1])
        if match is None or not 50.0 < float(match[1]) < 100.0:
            raise self.refused("percentile-malformed", part=parts[1])
        median, value = self.quantities([parts[0], match[2]])
        if not median > 0.0:
            raise self.refused("median-not-positive", value=units.show(median, self.unit))
        if not value > median:
            raise self.refused("percentile-below-median", percent=match[1])
        try:
            return lognormal(median, ratio=float(match[1]) / 100.0, value=value)
        except DomainError as error:
            raise self.refused("distribution-refused", reason=error.what) from None

    def _truncated(self, inside: str) -> Distribution:
        *parts, last = _at_commas(inside)
        if self.text.lower().count("truncated") > _MOST_TRUNCATED:
            raise self.refused("distribution-malformed", form=FORMS["truncated"])
        # In "truncated(30 ms ± 5 ms, 0 ms..40 ms)" the last part is the range, in
        # "truncated(1..2 s)" the first and only one is the distribution.
        whole = ",".join(parts) if parts else last
        inner = parse(whole, self.unit, field=self.field, read=self.read)
        if not isinstance(inner, Distribution):
            raise self.refused("distribution-malformed", form=FORMS["truncated"])
        if not parts:
            return truncated(inner)
        low, high = self._open_ends(last)
        try:
            return truncated(inner, low=low, high=high)
        except DomainError:
            raise self.refused(
                "truncated-to-nothing", distribution=inner.text(self.unit), limits=last.strip()
            ) from None

    def _open_ends(self, text: str) -> tuple[float | None, float | None]:
        parts = [part.strip() for part in _RANGE.split(text)]
        if len(parts) == 2 and any(parts) and not all(parts):
            low, high = (self.read(part) if part else None for part in parts)
            return low, high
        return self._ends(text)

    def column(self) -> Distribution:
        from netcalc.readers import read_column  # late: most texts name no file

        match = _FILE.fullmatch(self.text)
        assert match is not None
        values = read_column(match[1], match[2].strip(), self.unit)
        return empirical(values, name=self.text)


def _at_commas(text: str) -> list[str]:
    """Split at commas that are in no brackets and no numbers."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        is_decimal = text[index - 1 : index].isdigit() and text[index + 1 : index + 2].isdigit()
        if character == "," and depth == 0 and not is_decimal:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]
