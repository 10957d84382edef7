"""Numbers as people read them: a prefix, a few digits, a unit. The way back is ``units.parse``."""

from __future__ import annotations

import math

__all__ = [
    "BINARY", "DAY_S", "YEAR_S", "long_time", "show", "steps", "time_in_words", "unit_of_name",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers

BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}

DAY_S = 86_400.0
YEAR_S = 365.25 * DAY_S
"""A day and a year of the Julian calendar. [s]"""

# From which value on, the factor and the name. Times have no kiloseconds, but days. Sizes and
# packet rates change at 10 000, because 1500 B and 8127 pps are written that way.
_STEPS: dict[str, tuple[tuple[float, float, str], ...]] = {
    "bit/s": tuple(
        (f, f, p + "bit/s") for f, p in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
    ),
    "byte": (
        (1e18, 1e18, "EB"),
        (1e15, 1e15, "PB"),
        (1e12, 1e12, "TB"),
        (1e9, 1e9, "GB"),
        (1e6, 1e6, "MB"),
        (1e4, 1e3, "kB"),
        (0.0, 1.0, "B"),
    ),
    "bit": (
        (1e12, 1e12, "Tbit"),
        (1e9, 1e9, "Gbit"),
        (1e6, 1e6, "Mbit"),
        (1e3, 1e3, "kbit"),
        (0.0, 1.0, "bit"),
    ),
    "packet/s": ((1e9, 1e9, "Gpps"), (1e6, 1e6, "Mpps"), (1e4, 1e3, "kpps"), (0.0, 1.0, "pps")),
    "s": (
        (2 * YEAR_S, YEAR_S, "years"),
        (DAY_S, DAY_S, "d"),
        (1.0, 1.0, "s"),
        (1e-3, 1e-3, "ms"),
        (1e-6, 1e-6, "µs"),
        (0.0, 1e-9, "ns"),
    ),
    "Hz": ((1e9, 1e9, "GHz"), (1e6, 1e6, "MHz"), (1e3, 1e3, "kHz"), (0.0, 1.0, "Hz")),
    "dB": ((0.0, 1.0, "dB"),),
    "m": ((1e3, 1e3, "km"), (0.0, 1.0, "m")),
    "m/s": ((1e3, 1e3, "km/s"), (0.0, 1.0, "m/s")),
    "s/byte": ((1.0, 1.0, "s/B"), (1e-3, 1e-3, "ms/B"), (1e-6, 1e-6, "µs/B"), (0.0, 1e-9, "ns/B")),
}

_MOST_DIGITS_OF_DAYS = 12
"""With more digits a time stays in seconds: divided into days, not every bit of it is kept."""


_LONG_TIMES = (
    (2 * 365.25 * 86_400.0, 365.25 * 86_400.0, "years"),
    (172_800.0, 86_400.0, "d"),
    (7_200.0, 3_600.0, "h"),
    (600.0, 60.0, "min"),
)
"""From which time on, and how many seconds, a unit has. [s]"""


def time_in_words(value_s: float) -> str:
    """Write a time of ten minutes or more in minutes, hours, days or years; a shorter one not.

    Examples
    --------
    >>> time_in_words(3156.0), time_in_words(9.467e7), time_in_words(59.0)
    ('52.6 min', '3 years', '')
    """
    if not math.isfinite(value_s):
        return ""
    unit = next((entry for entry in _LONG_TIMES if value_s >= entry[0]), None)
    return f"{value_s / unit[1]:.4g} {unit[2]}" if unit else ""


_UNIT_OF_END = {
    "_byte_count": "byte", "_bytes": "byte", "_bits": "bit", "_count": "1", "_packets": "1",
    "_bps": "bit/s", "_pps": "packet/s", "_ratio": "ratio", "_m_s": "m/s", "_m": "m", "_s": "s",
}  # fmt: skip


def unit_of_name(name: str) -> str:
    """Return the unit that the end of a name says; empty if it says none.

    >>> unit_of_name("sent_byte_count"), unit_of_name("rtt_s"), unit_of_name("target")
    ('byte', 's', '')
    """
    return next((unit for end, unit in _UNIT_OF_END.items() if name.endswith(end)), "")


def show(value: float, unit: str, *, digits: int = 4, binary: bool = True) -> str:
    """Write a number in ``unit`` as people read it, with a prefix and ``digits`` digits.

    Parameters
    ----------
    value : float
        The number, in ``unit``.
    unit : str
        One of the SI units of :func:`netcalc.units.parse`; any other is appended unchanged.
    digits : int
        Significant digits; 17 keeps every bit of the number.
    binary : bool
        Whether a size may be in KiB or MiB; beside one that is in kB or MB it is in these, with
        all digits.

    Returns
    -------
    str
        Text that :func:`netcalc.units.parse` reads back.

    Examples
    --------
    >>> show(1.544e6, "bit/s"), show(0.0307, "s"), show(0.03, "ratio"), show(1500, "byte")
    ('1.544 Mbit/s', '30.7 ms', '3%', '1500 B')

    Of a share near 1, such as an availability, the part that is missing keeps two digits:

    >>> show(0.9995, "ratio"), show(0.999997, "ratio")
    ('99.95%', '99.9997%')

    A size that is a whole number of KiB or MiB, and would be rounded in kB or MB, is shown so:

    >>> show(65536, "byte"), show(64000, "byte"), show(65537, "byte")
    ('64 KiB', '64 kB', '65.54 kB')
    >>> show(65536, "byte", binary=False)
    '65.536 kB'

    From a day on, a time is in days, and from two years on in years of 365.25 days:

    >>> show(3600, "s"), show(3e6, "s"), show(1.936e8, "s")
    ('3600 s', '34.72 d', '6.135 years')
    """
    if unit == "1":
        return f"{value:.{digits}g}"
    if math.isnan(value):
        return "not defined"
    if unit == "ratio" and 0 < abs(value) < 1e-5:
        small = f"{_plain(value * 1e6, digits)} ppm"
        return small if abs(value) >= 1e-9 else f"{value:.{digits}g} ratio"
    if unit == "ratio" and 0.999 < value < 1 and digits >= 4:
        # The part that is missing counts: two digits of it, so that 99.9997% is not 100%.
        digits = max(digits, min(17, math.ceil(-math.log10(1 - value)) + 1))
    if unit == "ratio":
        return f"{_plain(value * 100, digits)}%"
    steps = _STEPS.get(unit)
    if steps is None:
        return f"{value:.{digits}g} {unit}"
    if unit == "s" and digits > _MOST_DIGITS_OF_DAYS:
        steps = steps[2:]
    base = next(name for _, factor, name in steps if factor == 1.0)
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {base}"
    if unit == "byte" and (whole := _binary(value, digits)):
        if binary:
            return whole
        digits = len(f"{abs(value):.0f}".rstrip("0"))  # all of them
    # Rounded first: 999.96 kbit/s at four digits is 1 Mbit/s, not 1000 kbit/s.
    rounded = abs(float(f"{value:.{digits}g}"))
    _, factor, name = next((step for step in steps if rounded >= step[0]), steps[-1])
    return f"{_plain(value / factor, digits)} {name}"


def steps() -> dict[str, tuple[tuple[float, float, str], ...]]:
    """Return for each unit from which value on it has which prefix: value, factor and name.

    Examples
    --------
    >>> steps()["m"]
    ((1000.0, 1000.0, 'km'), (0.0, 1.0, 'm'))
    """
    return dict(_STEPS)


def long_time(unit: str, largest: float) -> tuple[float, str]:
    """Return what an axis of times is divided by, and its unit then: days or years for long ones.

    Examples
    --------
    >>> long_time("s", 5.0), long_time("s", 2e8), long_time("bit/s", 2e8)
    ((1.0, 's'), (31557600.0, 'years'), (1.0, 'bit/s'))
    """
    if unit != "s" or not math.isfinite(largest):
        return 1.0, unit
    _, factor, name = next((step for step in _STEPS["s"][:2] if largest >= step[0]), (0, 1.0, "s"))
    return factor, name


def _binary(value: float, digits: int) -> str:
    """Write a size in KiB or MiB if it is a whole number of them that kB or MB would round."""
    if abs(value) < 1e4 or float(f"{value:.{digits}g}") == value:
        return ""
    whole = [(name, value / f) for name, f in BINARY.items() if value % f == 0]
    if not whole or abs(whole[-1][1]) >= 1e4:
        return ""
    name, count = whole[-1]
    return f"{count:.0f} {name}B"


def _plain(value: float, digits: int) -> str:
    written = f"{value:.{digits}g}"
    if "e" in written and 1 <= abs(value) < 1e15:
        written = f"{float(written):.0f}"
    return written
