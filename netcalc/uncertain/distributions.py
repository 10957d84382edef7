"""What is known about an input: ranges, distributions, measured values.

A distribution turns shares into values (``ppf``, the inverse of its distribution function), so that
any sequence of numbers between 0 and 1 becomes draws of it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, as_float, named_arguments, one_dimensional, real, scalar
from netcalc.display import show
from netcalc.errors import ArgumentTypeError, DomainError


class Distribution(ABC):
    """What is known about a number: ``ppf`` of a share, and the share ``below`` a number."""

    may_truncate: bool = False
    """Whether values that a model refuses may be left out of it."""

    @abstractmethod
    def ppf(self, share: FloatArray) -> FloatArray:
        """Return the values that these shares of all are not above."""

    @abstractmethod
    def below(self, value: float, *, or_equal: bool = False) -> float:
        """Return the share of values below a number, or not above it."""

    @abstractmethod
    def text(self, unit: str) -> str:
        """Write it as :func:`netcalc.uncertain.parse` reads it."""

    def share_outside(self, low: float, high: float, *, low_open: bool = False) -> float:
        """Return the share of values outside a range."""
        above = 1.0 - self.below(high, or_equal=True) if high < math.inf else 0.0
        return self.below(low, or_equal=low_open) + max(above, 0.0)


Known: TypeAlias = Distribution | float | int | bool | str | ArrayLike | Sequence[Any]
"""What may be given for an argument of a model: a distribution, its value, a list of both."""


@dataclass(frozen=True, slots=True)
class Uniform(Distribution):
    """Every value from ``low`` to ``high`` alike."""

    low: float
    high: float

    def ppf(self, share: FloatArray) -> FloatArray:
        """Return the values at these shares of the range."""
        return self.low + share * (self.high - self.low)

    def below(self, value: float, *, or_equal: bool = False) -> float:
        """Return the share of the range below a number."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def text(self, unit: str) -> str:
        """Write it as a range."""
        return f"{show(self.low, unit)}..{show(self.high, unit)}"


@dataclass(frozen=True, slots=True)
class Normal(Distribution):
    """Normal distribution by its mean and standard deviation."""

    mean: float
    deviation: float

    def ppf(self, share: FloatArray) -> FloatArray:
        """Return the quantiles."""
        from scipy.special import ndtri

        return np.asarray(self.mean + self.deviation * ndtri(share))

    def below(self, value: float, *, or_equal: bool = False) -> float:
        """Return the distribution function."""
        from scipy.special import ndtr

        return float(ndtr((value - self.mean) / self.deviation))

    def text(self, unit: str) -> str:
        """Write mean and standard deviation."""
        return f"normal({show(self.mean, unit)}, {show(self.deviation, unit)})"


@dataclass(frozen=True, slots=True)
class LogNormal(Distribution):
    """A distribution whose logarithm is normal, by its median and ``sigma`` of the logarithm."""

    median: float
    sigma: float

    def ppf(self, share: FloatArray) -> FloatArray:
        """Return the quantiles."""
        from scipy.special import ndtri

        return np.asarray(self.median * np.exp(self.sigma * ndtri(share)))

    def below(self, value: float, *, or_equal: bool = False) -> float:
        """Return the distribution function."""
        from scipy.special import ndtr

        if value <= 0.0:
            return 0.0
        return float(ndtr(math.log(value / self.median) / self.sigma))

    def text(self, unit: str) -> str:
        """Write median and 95th percentile."""
        high = float(self.ppf(np.array(0.95)))
        return f"lognormal({show(self.median, unit)}, p95 {show(high, unit)})"


@dataclass(frozen=True, slots=True)
class Triangular(Distribution):
    """A density that rises from ``low`` to ``mode`` and falls to ``high``, in straight lines."""

    low: float
    mode: float
    high: float

    def ppf(self, share: FloatArray) -> FloatArray:
        """Return the quantiles."""
        width, left = self.high - self.low, self.mode - self.low
        rising = self.low + np.sqrt(share * (width * left))
        falling = self.high - np.sqrt((1.0 - share) * (width * (self.high - self.mode)))
        return np.where(share * width < left, rising, falling)

    def below(self, value: float, *, or_equal: bool = False) -> float:
        """Return the distribution function."""
        width = self.high - self.low
        if value <= self.low or value >= self.high:
            return float(value >= self.high)
        if value < self.mode:
            return (value - self.low) ** 2 / (width * (self.mode - self.low))
        return 1.0 - (self.high - value) ** 2 / (width * (self.high - self.mode))

    def text(self, unit: str) -> str:
        """Write the three numbers."""
        return f"triangular({', '.join(show(v, unit) for v in (self.low, self.mode, self.high))})"


@dataclass(frozen=True, slots=True)
class Exponential(Distribution):
    """Exponential distribution by its mean."""

    mean: float

    def ppf(self, share: FloatArray) -> FloatArray:
        """Return the quantiles."""
        return -self.mean * np.log1p(-share)

    def below(self, value: float, *, or_equal: bool = False) -> float:
        """Return the distribution function."""
        return -math.expm1(-max(value, 0.0) / self.mean)

    def text(self, unit: str) -> str:
        """Write the mean."""
        return f"exponential({show(self.mean, unit)})"


@dataclass(frozen=True, eq=False)
class Empirical(Distribution):
    """Measured values, each as likely as the others; nothing is drawn between them."""

    ordered: FloatArray
    name: str = ""

    def ppf(self, share: FloatArray) -> FloatArray:
        """Return the values at these shares of their order."""
        index = np.minimum((share * self.ordered.size).astype(np.intp), self.ordered.size - 1)
        return np.asarray(self.ordered[index])

    def below(self, value: float, *, or_equal: bool = False) -> float:
        """Return the share of values below a number."""
        side: Any = "right" if or_equal else "left"
        return float(np.searchsorted(self.ordered, value, side=side)) / self.ordered.size

    def text(self, unit: str) -> str:
        """Write where the values are from, or how many there are."""
        low, high = (show(float(self.ordered[end]), unit) for end in (0, -1))
        return self.name or f"{self.ordered.size:,} values from {low} to {high}"


@dataclass(frozen=True, eq=False)
class Frozen(Distribution):
    """A frozen distribution of ``scipy.stats``, or a random variable of its newer kind."""

    frozen: Any

    def ppf(self, share: FloatArray) -> FloatArray:
        """Return the quantiles."""
        inverse = getattr(self.frozen, "ppf", None) or self.frozen.icdf
        return np.asarray(inverse(share), dtype=float)

    def below(self, value: float, *, or_equal: bool = False) -> float:
        """Return the distribution function; of whole numbers also without the value itself."""
        mass = 0.0 if or_equal or not hasattr(self.frozen, "pmf") else self.frozen.pmf(value)
        return float(self.frozen.cdf(value)) - float(mass)

    def text(self, unit: str) -> str:
        """Write the name that scipy has for it."""
        inner = getattr(self.frozen, "dist", None)
        return str(getattr(inner, "name", None) or type(self.frozen).__name__.lower())


@dataclass(frozen=True)
class Inverse(Distribution):
    """A number whose inverse has another distribution: a rate that was fitted as a slope."""

    factor: float
    inner: Distribution

    def ppf(self, share: FloatArray) -> FloatArray:
        """Return the quantiles; the first are below 0, as far as the inverse is."""
        negative = self.inner.below(0.0)
        return self.factor / self.inner.ppf(np.where(share < negative, 0.0, 1.0) + negative - share)

    def below(self, value: float, *, or_equal: bool = False) -> float:
        """Return the share of values from 0 up to a number, and of those whose inverse is not."""
        negative = self.inner.below(0.0)
        return negative if value <= 0.0 else negative + 1.0 - self.inner.below(self.factor / value)

    def text(self, unit: str) -> str:
        """Write where nine tenths of the values are."""
        low, high = (show(float(self.ppf(np.array(end))), unit) for end in (0.05, 0.95))
        return f"inverse, {low} to {high} with 90%"


@dataclass(frozen=True)
class Truncated(Distribution):
    """The part of a distribution from ``low`` to ``high``, as likely as before relative to it."""

    inner: Distribution
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False

    @cached_property
    def _ends(self) -> tuple[float, float]:
        first = self.inner.below(self.low, or_equal=self.low_open)
        last = self.inner.below(self.high, or_equal=True) if self.high < math.inf else 1.0
        return first, last

    @property
    def share_left_out(self) -> float:
        """Share of the whole distribution that lies outside."""
        first, last = self._ends
        return 1.0 - (last - first)

    def ppf(self, share: FloatArray) -> FloatArray:
        """Return the quantiles of what is left."""
        first, last = self._ends
        least = np.nextafter(self.low, math.inf) if self.low_open else self.low
        return np.clip(self.inner.ppf(first + share * (last - first)), least, self.high)

    def below(self, value: float, *, or_equal: bool = False) -> float:
        """Return the distribution function of what is left."""
        first, last = self._ends
        share = (self.inner.below(value, or_equal=or_equal) - first) / (last - first)
        return min(max(share, 0.0), 1.0)

    def text(self, unit: str) -> str:
        """Write the distribution and its ends."""
        low = "" if self.low == -math.inf else show(self.low, unit)
        high = "" if self.high == math.inf else show(self.high, unit)
        return f"truncated({self.inner.text(unit)}, {low}..{high})"


@dataclass(frozen=True)
class Permissive(Distribution):
    """A distribution of which what a model refuses is left out."""

    inner: Distribution
    may_truncate = True

    def ppf(self, share: FloatArray) -> FloatArray:
        """Return the quantiles of the whole."""
        return self.inner.ppf(share)

    def below(self, value: float, *, or_equal: bool = False) -> float:
        """Return the distribution function of the whole."""
        return self.inner.below(value, or_equal=or_equal)

    def text(self, unit: str) -> str:
        """Write the distribution."""
        return f"truncated({self.inner.text(unit)})"


@dataclass(frozen=True)
class Whole(Distribution):
    """A distribution of whole numbers: a range has each of them alike, another is rounded."""

    inner: Distribution

    @property
    def may_truncate(self) -> bool:  # type: ignore[override]
        """As the distribution that was given."""
        return self.inner.may_truncate

    def ppf(self, share: FloatArray) -> FloatArray:
        """Return whole numbers."""
        if isinstance(self.inner, Uniform):
            low, high = math.ceil(self.inner.low), math.floor(self.inner.high)
            return np.minimum(np.floor(low + share * (high - low + 1)), high)
        return np.round(self.inner.ppf(share))

    def below(self, value: float, *, or_equal: bool = False) -> float:
        """Return the distribution function."""
        whole = math.floor(value) if or_equal else math.ceil(value) - 1
        if isinstance(self.inner, Uniform):
            low, high = math.ceil(self.inner.low), math.floor(self.inner.high)
            return min(max((whole - low + 1) / (high - low + 1), 0.0), 1.0)
        return self.inner.below(whole + 0.5)

    def text(self, unit: str) -> str:
        """Write the distribution."""
        return self.inner.text(unit)


@named_arguments
def uniform(low: float, high: float) -> Distribution:
    """Return a range in which every value is as likely as the others.

    Parameters
    ----------
    low, high : float
        Its ends, in the SI unit of the argument.

    Returns
    -------
    Distribution
        For an argument of :func:`netcalc.uncertain.spread`.

    Raises
    ------
    DomainError
        If ``low`` is not below ``high``.

    Examples
    --------
    >>> uniform(80e6, 100e6).text("bit/s")
    '80 Mbit/s..100 Mbit/s'
    """
    return Uniform(*_ascending(low=low, high=high))


@named_arguments
def normal(mean: float, deviation: float) -> Distribution:
    """Return a normal distribution: a value plus or minus one standard deviation.

    Parameters
    ----------
    mean, deviation : float
        Mean and standard deviation, in the SI unit of the argument.

    Returns
    -------
    Distribution
        For an argument of :func:`netcalc.uncertain.spread`.

    Raises
    ------
    DomainError
        If the deviation is not above 0.

    Examples
    --------
    >>> normal(0.030, 0.005).text("s")
    'normal(30 ms, 5 ms)'
    """
    return Normal(_number("mean", mean), _above_0("deviation", deviation))


@named_arguments
def lognormal(median: float, *, ratio: float = 0.95, value: float) -> Distribution:
    """Return a lognormal distribution by its median and another percentile.

    Parameters
    ----------
    median : float
        The value that half of all are below, in the SI unit of the argument.
    ratio : float
        The share of all values below ``value``, above 0.5. [ratio]
    value : float
        The value at that share, by default the 95th percentile, in the SI unit of the argument.

    Returns
    -------
    Distribution
        For an argument of :func:`netcalc.uncertain.spread`.

    Raises
    ------
    DomainError
        If the median is not above 0, or ``value`` not above the median.

    Examples
    --------
    >>> lognormal(0.030, value=0.060).text("s")
    'lognormal(30 ms, p95 60 ms)'
    """
    from scipy.special import ndtri

    median, value = _above_0("median", median), _number("value", value)
    share = _number("ratio", ratio)
    if not 0.5 < share < 1.0:
        raise DomainError("out-of-range", "ratio", share, low=0.5, high=1.0)
    if value <= median:
        raise DomainError("percentile-not-above-median", "value", value, median=median)
    return LogNormal(median, math.log(value / median) / float(ndtri(share)))


@named_arguments
def triangular(low: float, mode: float, high: float) -> Distribution:
    """Return a triangular distribution: least, most likely and greatest value.

    Raises
    ------
    DomainError
        If the three are not in ascending order.

    Examples
    --------
    >>> triangular(80e6, 95e6, 100e6).text("bit/s")
    'triangular(80 Mbit/s, 95 Mbit/s, 100 Mbit/s)'
    """
    least, greatest = _ascending(low=low, high=high)
    middle = _number("mode", mode)
    if not least <= middle <= greatest:
        raise DomainError("out-of-range", "mode", middle, low=least, high=greatest)
    return Triangular(least, middle, greatest)


@named_arguments
def exponential(mean: float) -> Distribution:
    """Return an exponential distribution by its mean, in the SI unit of the argument.

    Raises
    ------
    DomainError
        If the mean is not above 0.

    Examples
    --------
    >>> exponential(180.0).text("s")
    'exponential(180 s)'
    """
    return Exponential(_above_0("mean", mean))


@named_arguments
def empirical(values: ArrayLike, *, name: str = "") -> Distribution:
    """Return measured values as a distribution: each is drawn as often as the others.

    Parameters
    ----------
    values : 1-D array_like
        The values, in the SI unit of the argument.
    name : str
        Where they are from.

    Returns
    -------
    Distribution
        For an argument of :func:`netcalc.uncertain.spread`.

    Raises
    ------
    DomainError
        If one is missing, or there are none.

    Examples
    --------
    >>> empirical([0.031, 0.029, 0.045]).text("s")
    '3 values from 29 ms to 45 ms'
    """
    numbers = one_dimensional("values", as_float("values", values))
    missing = np.flatnonzero(~np.isfinite(numbers))
    if missing.size:
        first = int(missing[0])
        raise DomainError("not-finite", "values", float(numbers[first]), index=first)
    return Empirical(np.sort(numbers), name)


@named_arguments
def truncated(
    inner: Distribution, *, low: float | None = None, high: float | None = None
) -> Distribution:
    """Return the part of a distribution between two numbers, or that a model does not refuse.

    Parameters
    ----------
    inner : Distribution
        The whole distribution, or a frozen one of ``scipy.stats``.
    low, high : float, optional
        The ends; without both, the values that the model refuses are left out.

    Returns
    -------
    Distribution
        For an argument of :func:`netcalc.uncertain.spread`.

    Raises
    ------
    DomainError
        If nothing of the distribution lies between the ends.

    Examples
    --------
    >>> truncated(normal(0.01, 0.02), low=0.0, high=1.0).text("ratio")
    'truncated(normal(1%, 2%), 0%..100%)'
    """
    whole = as_distribution("inner", inner)
    if low is None and high is None:
        return Permissive(whole)
    bottom = -math.inf if low is None else _number("low", low)
    top = math.inf if high is None else _number("high", high)
    if bottom > top:
        raise DomainError("empty-range", "low, high", f"{bottom:g} to {top:g}")
    part = Truncated(whole, bottom, top)
    if part.share_left_out >= 1.0:
        raise DomainError("nothing-left", "inner", whole.text("1"), low=bottom, high=top)
    return part


def as_distribution(name: str, value: Any) -> Distribution:
    """Return a distribution, also of a frozen one of scipy.

    Raises
    ------
    ArgumentTypeError
        If it is none, or one without its parameters.
    """
    if isinstance(value, Distribution):
        return value
    if isinstance(value, type) or hasattr(value, "freeze"):  # a family, without its parameters
        family = value.__name__ if isinstance(value, type) else str(getattr(value, "name", ""))
        raise ArgumentTypeError("not-frozen", name, family)
    if is_frozen(value):
        return Frozen(value)
    raise ArgumentTypeError("not-a-distribution", name, type(value).__name__)


def is_frozen(value: object) -> bool:
    """Whether a value is a distribution of scipy of one variable."""
    return hasattr(value, "cdf") and (hasattr(value, "ppf") or hasattr(value, "icdf"))


def _number(name: str, value: float) -> float:
    return scalar(name, real(name, value))


def _above_0(name: str, value: float) -> float:
    number = _number(name, value)
    if not number > 0.0:
        raise DomainError("not-positive", name, number)
    return number


def _ascending(*, low: float, high: float) -> tuple[float, float]:
    bottom, top = _number("low", low), _number("high", high)
    if not bottom < top:
        raise DomainError("empty-range", "low, high", f"{bottom:g} to {top:g}")
    return bottom, top
