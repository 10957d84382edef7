"""Numbers with a unit, as pint has them: converted to the unit in the argument's name, or refused.

No package of units is imported: what has ``magnitude`` and ``to`` is converted, what shows a unit
in another way is refused. Neither is ever taken as a bare number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from netcalc.errors import ArgumentTypeError
from netcalc.printable import safe_repr, safe_str

PLAIN = frozenset({
    float, int, bool, str, bytes, type(None), range, np.ndarray, np.float64, np.int64, np.bool_,
})  # fmt: skip
"""Kinds that have neither unit nor labels: nearly all that a model is called with."""

_UNITS = {
    "_m_s": "meter / second",
    "_bps": "bit / second",
    "_pps": "1 / second",
    "_bytes": "byte",
    "_bits": "bit",
    "_hz": "hertz",
    "_m": "meter",
    "_s": "second",
    "byte_cost": "second / byte",
    "copy_cost": "second / byte",
    "checksum_cost": "second / byte",
    "rtt_slope": "second / byte",
    "packet_cost": "second",
}
"""The unit that a name means by its end, as packages of units spell it; others have none."""

_OF_INFORMATION = ("bit", "byte", "octet", "baud")
"""Ends of the units that count bits. Packages take a bit for a number without dimension, so that
they would convert a bit rate into a packet rate, and a bare number into bytes."""


def unit_of(name: str) -> str:
    """Return the unit of an argument by its name; empty for a number without one.

    >>> unit_of("bandwidth_bps"), unit_of("loss_ratio")
    ('bit / second', '')
    """
    return next((unit for end, unit in _UNITS.items() if name.endswith(end)), "")


def without_units(name: str, value: Any) -> Any:
    """Return a value, or each of a list, as bare numbers in the unit of the argument.

    Raises
    ------
    ArgumentTypeError
        If its unit is of another kind, or of a package whose units are not known.
    """
    if isinstance(value, list | tuple):
        if PLAIN.issuperset(map(type, value)):
            return value
        return [without_units(name, item) for item in value]
    if _has(value, "magnitude") and _has(value, "to"):
        return _converted(name, value)
    if _has(value, "unit") or _has(value, "units"):
        raise ArgumentTypeError("unit-not-read", name, safe_repr(value), unit=_wanted(name))
    return value


def _has(value: Any, name: str) -> bool:
    try:
        return hasattr(value, name)
    except Exception:  # an object that fails by itself is refused as no number
        return False


def _converted(name: str, value: Any) -> Any:
    unit = unit_of(name)
    try:
        if _bits(value) == _bits_of(unit):
            return _whole(value.to(unit).magnitude, unit)
    except Exception:  # of pint: another dimension, or a unit that has no factor alone
        pass
    raise ArgumentTypeError("unit-of-another-kind", name, safe_str(value), unit=_wanted(name))


def _whole(magnitude: Any, unit: str) -> Any:
    """Return bytes and bits that a conversion left next to a whole number as that number."""
    if unit not in ("byte", "bit") or not isinstance(magnitude, float | np.ndarray):
        return magnitude
    nearest = np.round(magnitude)
    is_near = np.abs(magnitude - nearest) <= 4.0 * np.spacing(np.abs(nearest))
    return np.where(is_near, nearest, magnitude)[()]


def _bits(value: Any) -> float:
    """Return the power of bits in the unit of a quantity."""
    units = dict(value.unit_items())
    return float(sum(power for unit, power in units.items() if unit.endswith(_OF_INFORMATION)))


def _bits_of(unit: str) -> float:
    above, _, below = unit.partition(" / ")
    return (above in ("bit", "byte")) - (below in ("bit", "byte"))


def _wanted(name: str) -> str:
    return unit_of(name) or "a number without a unit"
