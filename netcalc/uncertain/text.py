"""Inputs in text: ``80..100 Mbit/s``, ``30 ms ± 5 ms``, ``file.csv:column``, ``@file:parameter``.

The units are those of :mod:`netcalc.units`. A unit that only the last number has holds for the
others too: ``80..100 Mbit/s``. The parameters of a fit, as an object or of a file, are inputs with
their standard errors and their correlation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netcalc import units
from netcalc.checks import FloatArray, named_arguments
from netcalc.display import show, unit_of_name
from netcalc.errors import DomainError, ReaderError, UnitError
from netcalc.printable import safe_str
from netcalc.uncertain import distributions

if TYPE_CHECKING:
    from netcalc.fit import Fit


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
) -> distributions.Distribution | float:
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
) -> list[distributions.Distribution | float]:
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

    def range(self) -> distributions.Distribution:
        return distributions.uniform(*self._ends(self.text))

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

    def plus_minus(self) -> distributions.Distribution:
        parts = [part.strip() for part in _PLUS_MINUS.split(self.text)]
        if len(parts) != 2 or not all(parts):
            raise self.refused("range-malformed", example="30 ms ± 5 ms")
        if self.unit != "ratio" and parts[1].rstrip().endswith("%"):
            mean = self.read(parts[0])
            deviation = abs(mean) * units.parse(parts[1], "ratio", field=self.field)
        else:
            mean, deviation = self.quantities(parts)
        return self._normal(mean, deviation)

    def _normal(self, mean: float, deviation: float) -> distributions.Distribution:
        if not deviation > 0.0:
            raise self.refused("deviation-not-positive")
        return distributions.normal(mean, deviation)

    def call(self, name: str, inside: str) -> distributions.Distribution:
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
        makers: dict[str, Callable[..., distributions.Distribution]] = {
            "uniform": distributions.uniform,
            "triangular": distributions.triangular,
            "exponential": distributions.exponential,
        }
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

    def _lognormal(self, parts: Sequence[str]) -> distributions.Distribution:
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
            return distributions.lognormal(median, ratio=float(match[1]) / 100.0, value=value)
        except DomainError as error:
            raise self.refused("distribution-refused", reason=error.what) from None

    def _truncated(self, inside: str) -> distributions.Distribution:
        *parts, last = _at_commas(inside)
        if self.text.lower().count("truncated") > _MOST_TRUNCATED:
            raise self.refused("distribution-malformed", form=FORMS["truncated"])
        # In "truncated(30 ms ± 5 ms, 0 ms..40 ms)" the last part is the range, in
        # "truncated(1..2 s)" the first and only one is the distribution.
        whole = ",".join(parts) if parts else last
        inner = parse(whole, self.unit, field=self.field, read=self.read)
        if not isinstance(inner, distributions.Distribution):
            raise self.refused("distribution-malformed", form=FORMS["truncated"])
        if not parts:
            return distributions.truncated(inner)
        low, high = self._open_ends(last)
        try:
            return distributions.truncated(inner, low=low, high=high)
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

    def column(self) -> distributions.Distribution:
        from netcalc.readers import read_column  # late: most texts name no file

        match = _FILE.fullmatch(self.text)
        assert match is not None
        values = read_column(match[1], match[2].strip(), self.unit)
        return distributions.empirical(values, name=self.text)


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


@named_arguments
def fitted(
    fit: Any, names: Sequence[str] | None = None
) -> dict[str, distributions.Distribution | float]:
    """Return the parameters of a fit as inputs of a plan, correlated as the fit has them.

    Parameters
    ----------
    fit : netcalc.fit.Fit, netcalc.fit.Costs or netcalc.fit.LinkEstimate
        A fit with ``params`` and their ``covariance``.
    names : sequence of str, optional
        The parameters wanted; by default all.

    Returns
    -------
    dict of str to Distribution or float
        By the names of ``fit.params``, for :func:`netcalc.uncertain.spread`, under these names or
        others. Their distribution is Student's t with the degrees of freedom of the fit. A rate is
        fitted as a slope, its inverse: the inverse has the distribution. What the fit took as
        given is a number.

    Raises
    ------
    DomainError
        If the points do not determine a parameter that is wanted, or not its standard error.

    Examples
    --------
    >>> import numpy as np
    >>> from netcalc.fit import transfer_against_size
    >>> from netcalc.samples import TransferSamples
    >>> size = np.array([1e5, 2e5, 4e5, 8e5, 16e5])
    >>> noise = np.array([1e-3, -1e-3, 0.5e-3, -0.5e-3, 0.0])
    >>> line = transfer_against_size(
    ...     TransferSamples(payload_bytes=size, duration_s=0.03 + size / 1e6 + noise))
    >>> {name: type(one).__name__ for name, one in fitted(line).items()}
    {'latency_s': 'Fitted', 'bandwidth_bps': 'Fitted'}
    """
    parameters = list(fit.params)
    covariance = np.asarray(fit.covariance, dtype=float)
    inputs: dict[str, distributions.Distribution | float] = {}
    for name in parameters if names is None else names:
        if name not in parameters:
            raise DomainError("not-a-choice", "names", name, choices=parameters)
        index = parameters.index(name)
        value, deviation = float(fit.params[name]), float(np.sqrt(covariance[index, index]))
        if name in fit.not_identifiable:
            reason = str(fit.not_identifiable[name])
            raise DomainError("fit-without-value", name, value, reason=reason)
        if np.isnan(deviation):
            raise DomainError("fit-without-errors", name, value)
        if deviation == 0.0:
            inputs[name] = value
            continue
        is_rate = name.endswith("_bps")
        of = (1.0 / value, deviation / value**2) if is_rate else (value, deviation)
        drawn = _student(*of, degrees=fit.degrees)
        inputs[name] = Fitted(
            distributions.Inverse(1.0, drawn) if is_rate else drawn, fit=fit, name=name
        )
    return inputs


@dataclass(frozen=True, eq=False)
class Fitted(distributions.Distribution):
    """One parameter of a fit; others of the same fit are correlated with it.

    ``origin`` is where the fit is from.
    """

    inner: distributions.Distribution
    fit: Any
    name: str
    origin: str = ""

    def ppf(self, share: FloatArray) -> FloatArray:
        """Return the quantiles."""
        return self.inner.ppf(share)

    def below(self, value: float, *, or_equal: bool = False) -> float:
        """Return the distribution function."""
        return self.inner.below(value, or_equal=or_equal)

    def text(self, unit: str) -> str:
        """Write where nine tenths of the values are."""
        low, high = (show(float(self.ppf(np.array(end))), unit) for end in (0.05, 0.95))
        return f"{self.origin or 'fitted'}, {low} to {high} with 90%"


def correlations_of_fits(
    inputs: Mapping[str, distributions.Distribution],
) -> dict[tuple[str, str], float]:
    """Return the correlations of inputs that are parameters of one fit."""
    correlations = {}
    for (first, drawn), (second, other) in combinations(inputs.items(), 2):
        if isinstance(drawn, Fitted) and isinstance(other, Fitted) and drawn.fit is other.fit:
            names = list(drawn.fit.params)
            i, j = names.index(drawn.name), names.index(other.name)
            covariance = np.asarray(drawn.fit.covariance, dtype=float)
            variances = covariance[i, i] * covariance[j, j]
            correlations[first, second] = float(covariance[i, j] / np.sqrt(variances))
    return correlations


def _student(value: float, deviation: float, *, degrees: int) -> distributions.Distribution:
    if degrees > 200:  # indistinguishable from the normal distribution
        return distributions.Normal(value, deviation)
    from scipy import stats

    return distributions.Frozen(stats.t(degrees, loc=value, scale=deviation))


FORM = re.compile(r"@(.+):\s*([A-Za-z]\w*)", re.DOTALL)
"""A file, and the name of a parameter."""
_ALIASES = {
    "rtt": "base_rtt_s", "base_rtt": "base_rtt_s", "latency": "latency_s",
    "rate": "bandwidth_bps", "bandwidth": "bandwidth_bps",
}  # fmt: skip
_FILES = 32
"""Fits that are kept, so that two parameters of one file are those of one fit. [1]"""


def fitted_in_file(
    text: str, unit: str, *, field: str | None = None
) -> distributions.Distribution | float:
    """Return a parameter of the fit that ``netcalc read`` prints for a file.

    Two parameters of one file are correlated as its fit has them.

    Parameters
    ----------
    text : str
        ``@FILE:PARAMETER``: a file with round trips or transfers of several sizes, and
        ``bandwidth`` with ``base_rtt`` of the former, or ``latency`` of the latter.
    unit : str
        The SI unit wanted.
    field : str, optional
        What the quantity is, for the message of an error.

    Returns
    -------
    Distribution or float
        As of :func:`netcalc.uncertain.fitted`.

    Raises
    ------
    ReaderError
        If the file cannot be read, or has neither round trips nor transfers.
    DomainError
        If its points do not determine the parameter.
    UnitError
        If the parameter is unknown, or of another unit.
    """
    match = FORM.fullmatch(text)
    assert match is not None
    path, parameter = match[1].strip(), match[2]
    status = Path(path).stat() if Path(path).exists() else None
    key = (status.st_mtime_ns, status.st_size) if status else (0, 0)
    fit = _fit(str(Path(path).resolve()), path, key)
    names = [name for name, error in fit.stderr.items() if error != 0.0]
    name = parameter if parameter in names else _ALIASES.get(parameter.lower(), parameter)
    expected = f"a parameter of a fit [{unit}]"
    if name not in names:
        raise UnitError(
            "fit-parameter-unknown", text, expected=expected, field=field, name=parameter,
            choices=names,
        )  # fmt: skip
    its_unit = unit_of_name(name)
    if its_unit != unit:
        raise UnitError(
            "fit-parameter-of-other-unit", text, expected=expected, field=field, name=name,
            unit=its_unit,
        )  # fmt: skip
    drawn = fitted(fit, [name])[name]
    return replace(drawn, origin=text) if isinstance(drawn, Fitted) else drawn


@lru_cache(maxsize=_FILES)
def _fit(_absolute: str, path: str, _changed: tuple[int, int]) -> Fit:
    """Return the fit of a file; that of before where the file is the same."""
    from netcalc import fit, readers  # late: most texts name no file
    from netcalc.samples import RttSamples, TransferSamples

    samples = readers.read(path)
    if isinstance(samples, RttSamples):
        return fit.rtt_against_size(samples, header_bytes=fit.echo_headers(samples.meta))
    if isinstance(samples, TransferSamples):
        return fit.transfer_against_size(samples)
    raise ReaderError("nothing-to-fit", file=Path(path).name)
