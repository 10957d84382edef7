"""A number, or a row of numbers, with its dimensions: data, time and length.

>>> rate = Quantity.of(1428, "byte") / Quantity.of(0.024, "s")
>>> float(rate.to("bit/s"))
476000.0

Packets, ratios and counts are pure numbers here: 10 000 packets per second have the dimension 1/s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import units
from netcalc.errors import DomainError, UnitError

Dimensions = tuple[int, int, int]
"""Powers of data [bit], time [s] and length [m]."""

# Dimensions of each SI unit of netcalc, and its size in bit, s and m.
_UNITS: dict[str, tuple[Dimensions, float]] = {
    "1": ((0, 0, 0), 1.0),
    "ratio": ((0, 0, 0), 1.0),
    "bool": ((0, 0, 0), 1.0),
    "byte": ((1, 0, 0), 8.0),
    "bit": ((1, 0, 0), 1.0),
    "bit/s": ((1, -1, 0), 1.0),
    "s": ((0, 1, 0), 1.0),
    "s/packet": ((0, 1, 0), 1.0),
    "packet/s": ((0, -1, 0), 1.0),
    "s/byte": ((-1, 1, 0), 0.125),
    "m": ((0, 0, 1), 1.0),
    "m/s": ((0, -1, 1), 1.0),
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """Numbers in bit, second and metre, with the powers of these units.

    Parameters
    ----------
    value : numpy.ndarray
        One number, or a row of them.
    dimensions : tuple of int
        Powers of bit, second and metre.
    """

    value: NDArray[np.float64]
    dimensions: Dimensions

    @classmethod
    def of(cls, value: ArrayLike, unit: str) -> Quantity:
        """Make a quantity from numbers in an SI unit of netcalc.

        Raises
        ------
        UnitError
            If the unit is unknown.
        """
        if unit not in _UNITS:
            raise UnitError("kind-unknown", unit, expected="a unit", known=list(_UNITS))
        dimensions, factor = _UNITS[unit]
        return cls(np.asarray(value, dtype=float) * factor, dimensions)

    @property
    def unit(self) -> str:
        """The SI unit of these dimensions; empty if netcalc has none."""
        return next((name for name, (d, _) in _UNITS.items() if d == self.dimensions), "")

    @property
    def kind(self) -> str:
        """Kind of quantity, for messages: a time, a size."""
        if not self.unit:
            parts = zip(("bit", "s", "m"), self.dimensions, strict=True)
            return " ".join(f"{name}^{power}" for name, power in parts if power)
        return units.noun_of(self.unit)

    def to(self, unit: str) -> NDArray[np.float64]:
        """Return the numbers in an SI unit of netcalc.

        Raises
        ------
        UnitError
            If the dimensions differ.
        """
        dimensions, factor = _UNITS[unit]
        if dimensions != self.dimensions:
            expected = units.example(unit)
            raise UnitError("wrong-kind", str(self), expected=expected, kind=self.kind)
        return self.value / factor

    def __str__(self) -> str:
        if self.value.ndim:
            return f"{self.value.size} numbers"
        if not self.unit:
            return f"{float(self.value):g} {self.kind}"
        return units.show(float(self.to(self.unit)), self.unit)

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.value + other.like(self, "cannot-add"), self.dimensions)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.value - other.like(self, "cannot-subtract"), self.dimensions)

    def __neg__(self) -> Quantity:
        return Quantity(-self.value, self.dimensions)

    def __mul__(self, other: Quantity) -> Quantity:
        return Quantity(self.value * other.value, _combined(self, other, 1))

    def __truediv__(self, other: Quantity) -> Quantity:
        if not other.value.all():
            raise DomainError("division-by-zero", "divisor", 0)
        return Quantity(self.value / other.value, _combined(self, other, -1))

    def __pow__(self, other: Quantity) -> Quantity:
        if other.dimensions != (0, 0, 0) or other.value.ndim:
            raise DomainError("exponent-with-unit", "exponent", str(other))
        power = float(other.value)
        if self.dimensions != (0, 0, 0) and power not in (-2, -1, 0, 1, 2, 3):
            raise DomainError("exponent-out-of-range", "exponent", power, kind=self.kind)
        b, s, m = self.dimensions
        whole = int(power) if self.dimensions != (0, 0, 0) else 0
        return Quantity(self.value**power, (b * whole, s * whole, m * whole))

    def like(self, other: Quantity, code: str) -> NDArray[np.float64]:
        """Return the numbers; their dimensions must be those of ``other``, or ``code`` says why."""
        if self.dimensions != other.dimensions:
            raise UnitError(code, str(self), expected=other.kind, kind=self.kind)
        return self.value

    def reduced(self, function: Callable[[NDArray[np.float64]], ArrayLike]) -> Quantity:
        """Apply a function that keeps the dimensions."""
        return Quantity(np.asarray(function(self.value), dtype=float), self.dimensions)


def row(items: list[Quantity]) -> Quantity:
    """Join quantities of the same dimensions into one row.

    Raises
    ------
    DomainError, UnitError
        If there are none, or their dimensions differ.
    """
    if not items:
        raise DomainError("empty-list", "list")
    first = items[0]
    parts = [np.ravel(item.like(first, "cannot-join")) for item in items]
    return Quantity(np.concatenate(parts), first.dimensions)


def _combined(left: Quantity, right: Quantity, sign: int) -> Dimensions:
    (a, b, c), (d, e, f) = left.dimensions, right.dimensions
    return a + sign * d, b + sign * e, c + sign * f
