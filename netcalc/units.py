"""Text to SI numbers and back: the only place where a string becomes a number.

>>> parse("1.544 Mbit/s", "bit/s")
1544000.0
>>> parse("T1", "bit/s")
1544000.0
>>> parse("64 KiB", "byte")
65536.0
>>> show(0.03, "s")
'30 ms'

Rates are decimal (k = 1000), ``Ki`` and ``Mi`` are 1024 and 1024², ``b`` in a rate is a bit and
``B`` a byte. What has two readings, or no unit where one is needed, is refused and both are named.
:func:`parse_typed` also reads what has one reading only because the argument is known.

A unit library was tried and not taken: see ``docs/dependencies.md``.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

from netcalc import display
from netcalc.display import BINARY, DAY_S, YEAR_S
from netcalc.errors import ArgumentTypeError, UnitError
from netcalc.language import phrase, term
from netcalc.printable import safe_str
from netcalc.rate_layers import named

__all__ = [
    "LINES", "PREFIXES", "NamedLine", "alike", "ambiguous_units", "convert", "example",
    "factor_of", "kind_of", "kinds_of", "line", "line_aliases", "not_comparable", "noun_of",
    "parse", "parse_number", "parse_typed", "readings_of", "sample_of", "show", "show_rate",
    "unknown_unit", "written_units",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers


@dataclass(frozen=True, slots=True)
class NamedLine:
    """A line with a name: its exact rate, its nominal rate and its payload rate."""

    name: str
    exact_bps: float
    nominal_bps: float
    payload_bps: float
    source: str


_LINES = (
    NamedLine("DS0", 64e3, 64e3, 64e3, "ITU-T G.711"),
    NamedLine("T1", 1.544e6, 1.5e6, 1.536e6, "ANSI T1.107, 193 bit x 8000 frame/s"),
    NamedLine("T3", 44.736e6, 45e6, 44.736e6 * 84 / 85, "ANSI T1.107, 84 of 85 bits"),
    NamedLine("E1", 2.048e6, 2e6, 1.984e6, "ITU-T G.704, 31 of 32 slots"),
    NamedLine("E3", 34.368e6, 34e6, 34.368e6 * 1524 / 1536, "ITU-T G.751, 1524 of 1536 bits"),
    *(
        NamedLine(
            f"OC-{n}",
            n * 51.84e6,
            nominal,
            # One concatenated envelope: path overhead and n/3 - 1 columns of fixed stuff.
            (n * 87 - max(1, n // 3)) * 9 * 8 * 8000.0,
            "ANSI T1.105",
        )
        for n, nominal in (
            (1, 52e6),
            (3, 155e6),
            (12, 622e6),
            (48, 2.5e9),
            (192, 10e9),
            (768, 40e9),
        )
    ),
)
_LINE_ALIASES = {
    "DS1": "T1",
    "DS3": "T3",
    "STM-1": "OC-3",
    "STM-4": "OC-12",
    "STM-16": "OC-48",
    "STM-64": "OC-192",
    "STM-256": "OC-768",
    "STS-1": "OC-1",
    "STS-3": "OC-3",
    "STS-12": "OC-12",
    "STS-48": "OC-48",
}
LINES: dict[str, NamedLine] = {line.name: line for line in _LINES}
"""The named lines: ``LINES["T3"].nominal_bps`` is 45e6, ``.exact_bps`` 44.736e6."""

_SI = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_RATE_SI = {**_SI, "K": 1e3}  # a rate with K is never 1024-based


def show(value: float, unit: str, *, digits: int = 4) -> str:
    """Write a number in ``unit`` as people read it, with a prefix and ``digits`` digits.

    Parameters
    ----------
    value : float
        The number, in ``unit``.
    unit : str
        One of the SI units of :func:`parse`; any other is appended unchanged.
    digits : int
        Significant digits; 17 keeps every bit of the number.

    Returns
    -------
    str
        Text that :func:`parse` reads back.

    Raises
    ------
    ArgumentTypeError
        If ``value`` is not a number, or ``unit`` not text.

    Examples
    --------
    >>> show(1.544e6, "bit/s"), show(0.0307, "s"), show(0.03, "ratio"), show(1500, "byte")
    ('1.544 Mbit/s', '30.7 ms', '3%', '1500 B')
    """
    unit_text: object = unit
    if not isinstance(unit_text, str):
        raise ArgumentTypeError("not-text", "unit", type(unit_text).__name__, example="bit/s")
    try:
        number = float(value)
    except Exception:  # of an object of another package, too
        raise ArgumentTypeError("not-numbers", "value", type(value).__name__) from None
    return display.show(number, unit, digits=digits)


def show_rate(value_bps: float, layer: str, *, digits: int = 4) -> str:
    """Write a rate as people read it, with its layer behind it.

    Parameters
    ----------
    value_bps : float
        The rate. [bit/s]
    layer : str
        One of :data:`netcalc.rate_layers.LAYERS`; ``IN_HEADING`` where a heading names it.
    digits : int
        Significant digits.

    Returns
    -------
    str
        The rate, and the layer in parentheses.

    Examples
    --------
    >>> show_rate(941.5e6, "TCP payload"), show_rate(1e9, "")
    ('941.5 Mbit/s (TCP payload)', '1 Gbit/s')
    """
    return named(show(value_bps, "bit/s", digits=digits), layer)


def _rates() -> dict[str, float]:
    table: dict[str, float] = {"GbE": 1e9}
    for prefix, factor in (*_RATE_SI.items(), *BINARY.items()):
        for bits in (
            "bit/s", "bits/s", "Bit/s", "Bits/s", "b/s", "bps", "bit/sec", "bits/sec",
            "bit per second",
        ):  # fmt: skip
            table[prefix + bits] = factor
        for octets in ("B/s", "Bps", "byte/s", "bytes/s", "Byte/s", "Bytes/s", "B/sec"):
            table[prefix + octets] = 8 * factor
    return table


def _sizes() -> dict[str, float]:
    table: dict[str, float] = {}
    for prefix, factor in (*_SI.items(), ("E", 1e18), *BINARY.items()):
        for octets in ("B", "byte", "bytes", "Byte", "Bytes", "octet", "octets"):
            table[prefix + octets] = factor
        for bits in ("bit", "bits", *(("b",) if prefix in BINARY else ())):
            table[prefix + bits] = factor / 8
    return table


def _packet_rates() -> dict[str, float]:
    table: dict[str, float] = {"Hz": 1.0, "kHz": 1e3, "/s": 1.0, "1/s": 1.0}
    for prefix, factor in _RATE_SI.items():
        for name in ("pps", "fps", "p/s", "rps", "qps"):
            table[prefix + name] = factor
        for name in (
            "packet", "packets", "pkt", "pkts", "frame", "frames", "segment", "segments",
            "datagram", "datagrams", "call", "calls", "request", "requests",
        ):  # fmt: skip
            table[f"{prefix}{name}/s"] = factor
    return table


_TIMES = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "µs", "μs", "usec", "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("ns", "nsec", "nanosecond", "nanoseconds"), 1e-9),
    **dict.fromkeys(("min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), DAY_S),
    **dict.fromkeys(("week", "weeks"), 604_800.0),
    **dict.fromkeys(("month", "months"), YEAR_S / 12),
    **dict.fromkeys(("y", "yr", "yrs", "year", "years"), YEAR_S),
}

# For each SI unit that netcalc computes in: what people write for it.
_TABLES: dict[str, dict[str, float]] = {
    "bit/s": _rates(),
    "byte": _sizes(),
    "bit": {unit: 8 * factor for unit, factor in _sizes().items()},
    "packet/s": _packet_rates(),
    "call/s": {
        f"{name}/{per}": 1.0 / _TIMES[per]
        for name in ("call", "calls")
        for per in ("s", "min", "h", "hr", "hour", "d", "day")
    },
    "s": _TIMES,
    "ratio": {"%": 1e-2, "‰": 1e-3, "ppm": 1e-6, "ppb": 1e-9, "percent": 1e-2, "per cent": 1e-2,
              "pct": 1e-2, "ratio": 1.0},
    "m": {"m": 1.0, "km": 1e3, "cm": 1e-2, "mm": 1e-3, "mi": 1609.344, "mile": 1609.344,
          "miles": 1609.344, "metre": 1.0, "metres": 1.0, "meter": 1.0, "meters": 1.0},
    "m/s": {"m/s": 1.0, "km/h": 1.0 / 3.6, "km/s": 1e3, "c": 299_792_458.0},
    "s/byte": {"s/B": 1.0, "ms/B": 1e-3, "us/B": 1e-6, "µs/B": 1e-6, "ns/B": 1e-9,
               "s/byte": 1.0, "ms/byte": 1e-3, "us/byte": 1e-6, "ns/byte": 1e-9},
    "Hz": {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9},
    "dB": {"dB": 1.0},
    "1": {"": 1.0},
}  # fmt: skip
_NAMES = {
    "bit/s": term("a rate"),
    "byte": term("a size"),
    "bit": term("a size"),
    "packet/s": term("a packet rate"),
    "call/s": term("a rate of calls"),
    "s": term("a time"),
    "ratio": term("a ratio"),
    "m": term("a distance"),
    "m/s": term("a speed"),
    "s/byte": term("a time per byte"),
    "Hz": term("a frequency"),
    "dB": term("a ratio in decibels"),
    "1": term("a pure number"),
}
_EXAMPLES = {
    "bit/s": "10 Mbit/s",
    "byte": "1500 B",
    "bit": "12 kbit",
    "packet/s": "10 kpps",
    "call/s": term("1200 calls/h"),
    "s": "30 ms",
    "ratio": term("3% or 0.03 ratio"),
    "m": "4000 km",
    "m/s": "200000 km/s",
    "s/byte": "80 us/B",
    "Hz": "3 GHz",
    "dB": "30 dB",
    "1": "10",
}
# What has two readings, per SI unit: text -> the readings, all of which the user may have meant.
_AMBIGUOUS: dict[str, dict[str, tuple[str, ...]]] = {
    "bit/s": {
        **{p + "bps": (f"{p.upper()}bit/s (bits)", f"{p.upper()}B/s (bytes)") for p in "mg"},
        **{p + "b/s": (f"{p.upper()}bit/s (bits)", f"{p.upper()}B/s (bytes)") for p in "mg"},
        **{p + "b": (f"{p.upper()}bit/s (bits)", f"{p.upper()}B/s (bytes)") for p in "mg"},
        **{p + "ps": (f"{p}bit/s (bits)", f"{p}B/s (bytes)", f"{p}pps (packets)") for p in "kMG"},
        **{p: (f"{p.replace('m', 'M')}bit/s (bits)", f"{p.replace('m', 'M')}B/s (bytes)")
           for p in "kKmMGT"},
        **{p + "BPS": (f"{p.replace('K', 'k')}bit/s (bits)", f"{p.replace('K', 'k')}B/s (bytes)")
           for p in "KMG"},
    },
    "byte": {
        "KB": ("kB (1000 bytes)", "KiB (1024 bytes)"),
        "Kb": ("kbit (1000 bits)", "Kibit (1024 bits)"),
        "b": ("B (bytes)", "bit (bits)"),
        **{p + "b": (f"{p.replace('m', 'M').replace('g', 'G')}bit (bits)",
                     f"{p.replace('m', 'M').replace('g', 'G')}B (bytes)") for p in "kmMgGTP"},
        **{p: (f"{p.replace('m', 'M')}B (bytes)", f"{p.replace('m', 'M')}bit (bits)")
           for p in "kmMGT"},
        "K": ("kB (1000 bytes)", "KiB (1024 bytes)", "kbit (bits)"),
        **{k + "yte" + s: ("kB (1000 bytes)", "KiB (1024 bytes)")
           for k in ("KB", "Kb") for s in ("", "s")},
    },
    "packet/s": {
        "mpps": ("Mpps (10^6 packets/s)", "pps / 1000"),
        "Mps": ("Mpps (packets)", "Mbit/s (bits)", "MB/s (bytes)"),
        **{p: (f"{p}pps", f"{p}bit/s") for p in "kMG"},
    },
    "s": {"m": ("min (minutes)", "ms (milliseconds)"), "M": ("min (minutes)", "ms (milliseconds)"),
          **dict.fromkeys(("Ms", "Msec"), ("ms (milliseconds)", "s (seconds)"))},
    "m": {"Mm": ("mm (millimetres)", "km (kilometres)")},
}  # fmt: skip
_AMBIGUOUS["bit"] = _AMBIGUOUS["byte"]

_SPACES = "\u00a0\u202f\u2009'\u2019"  # no-break, narrow no-break and thin space, apostrophes
_NUMBER = rf"[+-]?[\d.,{_SPACES}]*\d[\d.,]*(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(rf"\s*(?P<number>{_NUMBER})\s*(?P<unit>.*?)\s*", re.DOTALL)
_COMPOUND = re.compile(r"(?:\d+(?:\.\d+)?\s*(?:d|h|min|sec|s)\s*){2,}")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?P<mark>[^\deE+-])\d{3}(?:(?P=mark)\d{3})*")


@overload
def parse(text: str, unit: str, *, field: str | None = None) -> float: ...
@overload
def parse(
    text: list[str] | tuple[str, ...], unit: str, *, field: str | None = None
) -> list[float]: ...
def parse(
    text: str | list[str] | tuple[str, ...], unit: str, *, field: str | None = None
) -> float | list[float]:
    """Read one quantity as a number in ``unit``, or each of a list.

    Parameters
    ----------
    text : str, or list or tuple of str
        What a person typed: a number and its unit (``"30 ms"``), or a named line (``"T1"``). Of an
        array or a column of pandas give ``column.tolist()``.
    unit : str
        The SI unit wanted: ``bit/s``, ``byte``, ``bit``, ``packet/s``, ``s``, ``ratio``, ``m``,
        ``m/s``, ``s/byte`` or ``1`` (a pure number, which needs no unit).
    field : str, optional
        What the quantity is, for the message of an error.

    Returns
    -------
    float or list of float
        The value in ``unit``; of a list as many.

    Raises
    ------
    UnitError
        If the text has no unit, an unknown one, one of another kind, or two readings; in a list its
        ``field`` has the index, as in ``text[3]``.
    ArgumentTypeError
        If the texts are an array, a column, or another collection that is no list.

    Examples
    --------
    >>> parse(["10 ms", "20 ms"], "s")
    [0.01, 0.02]
    >>> parse("3%", "ratio"), parse("12.5 MB/s", "bit/s"), parse("1,5 ms", "s")
    (0.03, 100000000.0, 0.0015)
    >>> parse("10 mb", "byte")
    Traceback (most recent call last):
    netcalc.errors.UnitError: '10 mb' is ambiguous: write 10 Mbit (bits) or 10 MB (bytes)
    """
    if isinstance(text, list | tuple):
        name = field or "text"
        return [
            _parsed(_plain(part), part, unit, f"{name}[{index}]") for index, part in enumerate(text)
        ]
    if hasattr(text, "__iter__") and not isinstance(text, str | bytes):
        raise ArgumentTypeError("texts-not-a-list", field or "text", type(text).__name__)
    return _parsed(_plain(text), text, unit, field)


def _parsed(plain: str, text: object, unit: str, field: str | None) -> float:
    """Read one quantity from its plain text; a refusal shows the text as it was typed."""
    table = _table(unit)
    if unit == "bit/s" and (named := _named_line(plain)) is not None:
        return named
    if unit == "s" and _COMPOUND.fullmatch(plain.strip()):
        parts = re.findall(r"(\d+(?:\.\d+)?)\s*([a-z]+)", plain)
        return math.fsum(float(number) * _TIMES[name] for number, name in parts)
    match = _QUANTITY.fullmatch(plain)
    if match is None:
        code = "no-number" if plain.strip() else "text-empty"
        raise _refused(code, text, unit, field, example=sample_of(unit))
    number = _number(match["number"], text, unit, field)
    factor = table.get(match["unit"])
    if factor is None:
        raise _unknown_unit(text, match["number"], match["unit"], unit, field)
    value = number * factor
    if not math.isfinite(value):
        raise _refused("number-too-large", text, unit, field)
    return value


# What people type where the argument says what is meant: a rate, a share, the bytes of a packet.
_ETHERNET = re.compile(
    r"(?P<number>\d+(?:[.,]\d+)?)?\s*"
    r"(?:(?P<giga>g(?:ig(?:abit)?)?)\s*(?:be|e|base-?\w*|\s*ethernet)?|(?P<tera>t)(?:be)?"
    r"|(?P<mega>base-?\w+|m(?:be)?))",
    re.IGNORECASE,
)
_ETHERNET_M = frozenset({"10", "100", "1000"})
"""Rates in Mbit/s by which Ethernet is called; any other number with M alone has two readings."""
_ETHERNET_NAMES = {
    "ethernet": 10e6, "fe": 100e6, "fast ethernet": 100e6, "ge": 1e9, "gbe": 1e9, "gige": 1e9,
    "gigabit ethernet": 1e9, "gigabit": 1e9,
}  # fmt: skip
_PREFIX_WORDS = {
    "kilo": "k", "mega": "M", "giga": "G", "tera": "T", "kibi": "Ki", "mebi": "Mi", "gibi": "Gi",
}  # fmt: skip
_BITS = re.compile(
    r"(?P<prefix>[kmgtKMGT]?)(?P<bits>b|[bB][iI][tT][sS]?)(?:ps|PS|/[sS](?:ec(?:ond)?)?)"
    r"|(?P<whole>[kmgtKMGT])(?:[bB][iI][tT][sS]?)|(?P<exact>[kMGT])b"
)
_OCTETS = re.compile(r"(?P<prefix>[mgtMGT])(?:B|[bB][yY][tT][eE][sS]?)")
_OCTET_RATE = re.compile(r"(?P<prefix>[kmgtKMGT]?)(?:B|[bB]ytes?)(?:ps|/s(?:ec(?:ond)?)?)")
_PER = re.compile(r"(?P<what>[a-z]*?)\s*(?:/|per )\s*(?P<per>s|sec|second|min|minute|h|hr|hour)")
_PER_LONG = re.compile(r"(?P<size>\w+)\s*(?:/|per )\s*(?P<per>min|h|hour|d|day|week|month|year)")
_PER_S = {"s": 1.0, "m": 60.0, "h": 3600.0}
_BARE = re.compile(r"[+-]?[\d.,]*\d(?:[eE][+-]?\d+)?")
_NUMBER_BEFORE_UNIT = re.compile(rf"{_BARE.pattern}\s*(?=\D)")
_MOST_OF_1 = 2.0
"""A number below it, without a unit, may be a share of 1 that exceeds it, such as a load of 1.2."""
_ODDS = re.compile(r"(?P<one>[\d.]+)\s*(?:/|:|in)\s*(?P<of>\d[\d,.]*)")
_POWER = re.compile(r"(?:(?P<times>[\d.]+)\s*[x*×·]\s*)?10\s*(?:\^|\*\*)\s*(?P<power>[+-]?\d+)")
_ZERO = re.compile(r"[+-]?0+(?:[.,]0+)?")
PREFIXES = {"k": 1e3, "K": 1e3, "thousand": 1e3, "M": 1e6, "million": 1e6, "G": 1e9}
"""What people write behind a pure number, such as the k of 10k users."""


def parse_typed(text: str, unit: str, *, field: str | None = None, bare: bool = False) -> float:
    """Read one quantity that was typed for a known argument.

    As :func:`parse`, and besides: ``0`` of any unit; a share without a unit between 0 and 1
    (``0.8``) and as odds (``1/10000``); rates by the names of Ethernet (``10G``, ``100GE``,
    ``1000BASE-T``) and in any case that keeps ``b`` and ``B`` apart (``1gbps``, ``1 GBit/s``);
    ``10k`` as a pure number.

    Parameters
    ----------
    text : str
        What a person typed.
    unit : str
        The SI unit wanted, as in :func:`parse`.
    field : str, optional
        What the quantity is, for the message of an error.
    bare : bool
        Whether a whole number without a unit is in ``unit``, such as the 1500 of an MTU.

    Returns
    -------
    float
        The value in ``unit``.

    Raises
    ------
    UnitError
        If the text has no unit where one is needed, an unknown one, or two readings.

    Examples
    --------
    >>> parse_typed("0.8", "ratio"), parse_typed("1/10000", "ratio"), parse_typed("0", "s")
    (0.8, 0.0001, 0.0)
    >>> parse_typed("10G", "bit/s"), parse_typed("1gbps", "bit/s"), parse_typed("100GE", "bit/s")
    (10000000000.0, 1000000000.0, 100000000000.0)
    >>> parse_typed("1500", "byte", bare=True)
    1500.0
    >>> parse_typed("5M", "byte")
    Traceback (most recent call last):
    netcalc.errors.UnitError: '5M' is ambiguous: write 5 MB (bytes) or 5 Mbit (bits)
    """
    plain = _plain(text)
    if _ZERO.fullmatch(plain.strip()):
        return 0.0
    try:
        return _parsed(plain, text, unit, field)
    except UnitError as error:
        value = None if error.code == "kind-unknown" else _typed(plain.strip(), unit, bare=bare)
        if value is None or not math.isfinite(value):
            raise
        return value


def alike(parts: Sequence[str], unit: str) -> list[str]:
    """Give numbers of a range that have no unit the unit of the last, as in ``80..100 Mbit/s``.

    A ``1`` beside a share such as ``0.5`` is one, too: all, not 1%.

    Examples
    --------
    >>> alike(["80", "100 Mbit/s"], "bit/s"), alike(["0.5", "1"], "ratio")
    (['80 Mbit/s', '100 Mbit/s'], ['0.5', '1 ratio'])
    """
    texts = [part.strip() for part in parts]
    are_bare = [_BARE.fullmatch(text) is not None for text in texts]
    number = _NUMBER_BEFORE_UNIT.match(texts[-1]) if texts and not are_bare[-1] else None
    if number is not None:
        written = texts[-1][number.end() :]
        return [f"{a} {written}" if bare else a for a, bare in zip(texts, are_bare, strict=True)]
    if unit == "ratio" and all(are_bare) and any(0 < _typed_share(text) < 1 for text in texts):
        return [f"{text} ratio" if _typed_share(text) == 1 else text for text in texts]
    return texts


def _typed_share(text: str) -> float:
    try:
        return _number(text, text, "ratio", None)
    except UnitError:  # a comma that has two readings
        return math.nan


def _typed(text: str, unit: str, *, bare: bool) -> float | None:
    """Return what a text means for a known argument; None if that is not certain."""
    if unit in ("ratio", "1") and (power := _POWER.fullmatch(text)):
        return _float(f"{power['times'] or 1}e{power['power']}")  # inf where it is too large
    if unit == "ratio" and (odds := _ODDS.fullmatch(text)):
        of = _float(odds["of"].replace(",", ""))
        return _float(odds["one"]) / of if of else None
    if unit == "bit/s" and (named := _ethernet(text)) is not None:
        return named
    match = _QUANTITY.fullmatch(re.sub(r"(?<=\d)-(?=[A-Za-z])", " ", text))  # 64-byte
    if match is None:
        return None
    try:
        number = _number(match["number"], text, unit, None)
    except UnitError:
        return None
    written = match["unit"]
    if written == "":
        is_share = unit == "ratio" and 0 < number < 1
        return number if is_share or (bare and number.is_integer()) else None
    factor = _typed_factor(written, unit)
    return None if factor is None else number * factor


def _typed_factor(written: str, unit: str) -> float | None:
    spoken = re.sub(
        r"^(kilo|mega|giga|tera|kibi|mebi|gibi)(?=bit|byte)",
        lambda match: _PREFIX_WORDS[match[1].lower()], written, flags=re.IGNORECASE,
    )  # fmt: skip
    spoken = re.sub(r"\s*(?:/|\bper)\s*sec(?:ond)?s?$", "/s", spoken)
    table = _TABLES[unit]
    if spoken in table:
        return table[spoken]
    if unit == "bit/s":
        if match := _PER_LONG.fullmatch(spoken):
            octets = _TABLES["byte"].get(match["size"])
            return None if octets is None else 8 * octets / _TIMES[match["per"]]
        if match := _BITS.fullmatch(spoken):
            return _prefix(match["prefix"] or match["whole"] or match["exact"] or "")
        if match := _OCTET_RATE.fullmatch(spoken):
            return 8 * _prefix(match["prefix"])
    if unit in ("byte", "bit") and (match := _OCTETS.fullmatch(spoken)):
        return _prefix(match["prefix"]) * (8 if unit == "bit" else 1)
    if unit == "packet/s":
        is_rate = written in _AMBIGUOUS["bit/s"] or _typed_factor(written, "bit/s") is not None
        if not is_rate and (match := _PER.fullmatch(written.lower())):
            return 1 / _PER_S[match["per"][0]]
        return table.get({"mpps": "Mpps"}.get(written.lower(), written.lower()))
    if unit == "call/s" and (match := _PER.fullmatch(written.lower())):
        return 1 / _PER_S[match["per"][0]] if match["what"] in ("", "call", "calls") else None
    if unit == "m" and re.fullmatch(r"kilomet(?:er|re)s?", written.lower()):
        return 1e3
    if unit in ("s", "m", "ratio") and len(written) > 1 and written not in _AMBIGUOUS.get(unit, {}):
        return table.get(written.lower().removesuffix("."))
    return PREFIXES.get(written) if unit == "1" else None


def _prefix(letter: str) -> float:
    return _RATE_SI[letter if letter in ("", "k") else letter.upper()]


def _ethernet(text: str) -> float | None:
    """Return the rate that a name of Ethernet stands for."""
    if text.lower() in _ETHERNET_NAMES:
        return _ETHERNET_NAMES[text.lower()]
    match = _ETHERNET.fullmatch(text)
    if match is None or match["number"] is None:
        return None
    if match["mega"] and match["mega"][0] in "mM" and match["number"] not in _ETHERNET_M:
        return None
    factor = 1e12 if match["tera"] else 1e9 if match["giga"] else 1e6
    return float(match["number"].replace(",", ".")) * factor


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def convert(value: float, from_unit: str, to_unit: str) -> float:
    """Convert a number between two written units of one kind.

    Parameters
    ----------
    value : float
        The number, in ``from_unit``.
    from_unit, to_unit : str
        Units as people write them, such as ``MB/s`` and ``Mbit/s``.

    Returns
    -------
    float
        The number in ``to_unit``.

    Raises
    ------
    UnitError
        If a unit is unknown, or the two measure different things.

    Examples
    --------
    >>> convert(1, "MB/s", "Mbit/s"), convert(1, "GiB", "byte")
    (8.0, 1073741824.0)
    """
    _check_text("from_unit", from_unit)
    _check_text("to_unit", to_unit)
    for table in _TABLES.values():
        if from_unit in table and to_unit in table:
            try:
                return value * table[from_unit] / table[to_unit]
            except (TypeError, ValueError, ArithmeticError):
                kind = type(value).__name__
                raise ArgumentTypeError("not-numbers", "value", kind) from None
    for name in (from_unit, to_unit):
        if kind_of(name) is None:
            raise unknown_unit(name)
    kinds = (kind_of(name) or "1" for name in (from_unit, to_unit))
    raise not_comparable(from_unit, to_unit, *kinds)


def kind_of(written_unit: str) -> str | None:
    """Return the SI unit that a written unit belongs to (``"ms"`` -> ``"s"``), or None.

    Examples
    --------
    >>> kind_of("Mbit/s"), kind_of("KiB"), kind_of("parsec")
    ('bit/s', 'byte', None)
    """
    if not isinstance(written_unit, str) or written_unit == "":
        return None
    return next((unit for unit, table in _TABLES.items() if written_unit in table), None)


def kinds_of(written_unit: str) -> list[str]:
    """Return the SI units that a typed unit may belong to, with one reading or several.

    Examples
    --------
    >>> kinds_of("gbps"), kinds_of("Mb"), kinds_of("parsec")
    (['bit/s'], ['bit/s', 'byte', 'bit'], [])
    """
    _check_text("written_unit", written_unit)
    return [
        unit
        for unit in _TABLES
        if written_unit != ""
        and unit != "1"
        and (
            written_unit in _AMBIGUOUS.get(unit, {})
            or _typed_factor(written_unit, unit) is not None
        )
    ]


def not_comparable(from_unit: str, to_unit: str, from_kind: str, to_kind: str) -> UnitError:
    """Return the refusal of a conversion between units of two kinds."""
    return UnitError(
        "units-incomparable", from_unit, expected=f"a unit comparable to {to_unit!r}",
        kind=noun_of(from_kind), to_unit=to_unit, to_kind=noun_of(to_kind),
    )  # fmt: skip


def unknown_unit(written: str) -> UnitError:
    """Return the refusal of a unit that is none, with the nearest."""
    return UnitError(
        "unit-unknown", written, expected="a unit", written=written,
        suggestions=_nearest(written), example="Mbit/s",
    )  # fmt: skip


def readings_of(written_unit: str) -> tuple[str, ...]:
    """Return what an ambiguous unit may mean; nothing if it is known or unknown.

    Examples
    --------
    >>> readings_of("mb")
    ('Mbit/s (bits)', 'MB/s (bytes)')
    """
    text: object = written_unit
    if not isinstance(text, str):
        return ()
    return next((table[text] for table in _AMBIGUOUS.values() if text in table), ())


def factor_of(written_unit: str, unit: str) -> float:
    """Return how many ``unit`` one ``written_unit`` is.

    Examples
    --------
    >>> factor_of("ms", "s")
    0.001
    """
    _check_text("written_unit", written_unit)
    factor = _table(unit).get(written_unit)
    if factor is None:
        raise _unknown_unit(written_unit, "", written_unit, unit, None)
    return factor


def written_units(unit: str) -> dict[str, float]:
    """Return what people write for a unit of netcalc, each with how many ``unit`` it is.

    Examples
    --------
    >>> written_units("dB"), written_units("Hz")["kHz"]
    ({'dB': 1.0}, 1000.0)
    """
    return dict(_table(unit))


def line_aliases() -> dict[str, str]:
    """Return other names of lines, each with the one in :data:`LINES`.

    Examples
    --------
    >>> line_aliases()["DS3"]
    'T3'
    """
    return dict(_LINE_ALIASES)


def ambiguous_units(unit: str) -> dict[str, tuple[str, ...]]:
    """Return what people write that has two readings where a unit is wanted, with these.

    Examples
    --------
    >>> ambiguous_units("byte")["mb"]
    ('Mbit (bits)', 'MB (bytes)')
    """
    return dict(_AMBIGUOUS.get(unit, {}))


def noun_of(unit: str) -> str:
    """Return what a unit measures, in words: ``a time``; empty for one that is not known."""
    return phrase(_NAMES[unit]) if unit in _NAMES else ""


def sample_of(unit: str) -> str:
    """Return a quantity of a unit: ``30 ms``; empty for one that is not known."""
    return phrase(_EXAMPLES[unit]) if unit in _NAMES else ""


def example(unit: str) -> str:
    """Return what a quantity of this unit looks like, for messages and help.

    Examples
    --------
    >>> example("s")
    'a time such as 30 ms'
    """
    _check_text("unit", unit)
    if unit not in _NAMES:
        return phrase("a number [{unit}]", unit=unit)
    return phrase("{kind} such as {example}", kind=noun_of(unit), example=sample_of(unit))


def line(name: str) -> NamedLine:
    """Return a named line with its exact, nominal and payload rate.

    Examples
    --------
    >>> line("DS-3").nominal_bps
    45000000.0
    """
    if not isinstance(name, str):
        raise ArgumentTypeError("not-text", "name", type(name).__name__, example="T1")
    key = re.sub(r"^(DS|T|E)-(\d)$", r"\1\2", name.strip().upper())
    key = re.sub(r"^(OC|STM|STS)-?(\d+)C?$", r"\1-\2", key)
    named = LINES.get(_LINE_ALIASES.get(key, key))
    if named is None:
        names = [*LINES, *_LINE_ALIASES]
        raise UnitError("line-unknown", name, expected="a named line", known=names)
    return named


def parse_number(text: str, *, field: str | None = None) -> float:
    """Read a number without a unit; a decimal comma only where it has one reading.

    Examples
    --------
    >>> parse_number("1,5"), parse_number("1.500,25"), parse_number("0,125")
    (1.5, 1500.25, 0.125)
    """
    return parse(text, "1", field=field)


def _named_line(text: str) -> float | None:
    words = text.split()
    if not words or len(words) > 2 or words[0][0].isdigit():
        return None
    which = words[1].lower() if len(words) == 2 else "exact"
    if which not in ("exact", "nominal", "payload"):
        return None
    try:
        named = line(words[0])
    except UnitError:
        return None
    return {
        "exact": named.exact_bps,
        "nominal": named.nominal_bps,
        "payload": named.payload_bps,
    }[which]


def _number(written: str, text: object, unit: str, field: str | None) -> float:
    mantissa, mark, exponent = written.replace("E", "e").partition("e")
    points, commas = mantissa.count("."), mantissa.count(",")
    spaced = next((c for c in _SPACES if c in mantissa), None)
    if spaced is not None:
        whole = re.split(r"[.,]", mantissa)[0]
        if not _GROUPED.fullmatch(whole):
            raise _refused("malformed-number", text, unit, field, number=written)
        mantissa = mantissa.replace(whole, whole.replace(spaced, ""))
    if points and commas:
        last = max(mantissa.rfind("."), mantissa.rfind(","))
        decimal, group = mantissa[last], "," if mantissa[last] == "." else "."
        head = mantissa[:last]
        if mantissa.count(decimal) > 1 or not _GROUPED.fullmatch(head):
            raise _refused("malformed-number", text, unit, field, number=written)
        mantissa = head.replace(group, "") + "." + mantissa[last + 1 :]
    elif commas > 1 or points > 1:
        if not _GROUPED.fullmatch(mantissa):
            raise _refused("malformed-number", text, unit, field, number=written)
        mantissa = mantissa.replace(",", "").replace(".", "")
    elif commas == 1:
        head, tail = mantissa.split(",")
        if len(tail) == 3 and head.lstrip("+-") not in ("", "0") and len(head.lstrip("+-")) <= 3:
            readings = [
                str(text).strip().replace(mantissa, read)  # it was read as text before
                for read in (f"{head}{tail}", f"{head}.{tail}")
            ]
            raise _refused("ambiguous-number", text, unit, field, readings=readings)
        mantissa = f"{head}.{tail}"
    try:
        return float(mantissa + mark + exponent)
    except ValueError:
        raise _refused("malformed-number", text, unit, field, number=written) from None


def _unknown_unit(
    text: object, number: str, written: str, unit: str, field: str | None
) -> UnitError:
    readings = _AMBIGUOUS.get(unit, {}).get(written)
    if readings is not None:
        written_out = [f"{number} {reading}" for reading in readings]
        return _refused("ambiguous-unit", text, unit, field, readings=written_out)
    if written == "":
        with_units = _with_units(number, unit)
        return _refused("unit-missing", text, unit, field, readings=with_units)
    example = sample_of(unit)
    other = kind_of(written)
    if other is not None:
        kind = noun_of(other)
        return _refused(
            "unit-of-other-kind", text, unit, field, written=written, kind=kind, example=example
        )
    near = _nearest(written, unit)
    return _refused(
        "unit-unknown", text, unit, field, written=written, suggestions=near, example=example
    )


def _with_units(number: str, unit: str) -> list[str]:
    pairs = {
        "bit/s": (f"{number} bit/s", f"{number} Mbit/s"),
        "byte": (f"{number} B (bytes)", f"{number} bit (bits)"),
        "bit": (f"{number} bit (bits)", f"{number} B (bytes)"),
        "s": (f"{number} s", f"{number} ms"),
        "ratio": _shares(number),
        "packet/s": (f"{number} pps", f"{number} kpps"),
        "m": (f"{number} m", f"{number} km"),
    }
    return list(pairs.get(unit, (sample_of(unit),)))


def _shares(number: str) -> tuple[str, str]:
    """Return what a number without a unit may mean as a share: of 1, or of 100."""
    value = _float(number)
    if 1 <= value < _MOST_OF_1:
        return f"{number}%", f"{value * 100:.12g}%"
    return f"{number}%", f"{value / 100:.12g} ratio" if value > 1 else f"{number} ratio"


def _nearest(written: str, unit: str | None = None) -> list[str]:
    names = list(_TABLES[unit]) if unit else [name for table in _TABLES.values() for name in table]
    from difflib import get_close_matches  # late: most units are known

    return get_close_matches(written, dict.fromkeys(names), n=3, cutoff=0.5)


def _table(unit: str) -> dict[str, float]:
    _check_text("unit", unit)
    table = _TABLES.get(unit)
    if table is None:
        raise UnitError("kind-unknown", unit, expected="a unit of netcalc", known=list(_TABLES))
    return table


def _check_text(name: str, unit: object) -> None:
    if not isinstance(unit, str):
        raise ArgumentTypeError("not-text", name, type(unit).__name__, example="ms")


def _refused(code: str, text: object, unit: str, field: str | None, **values: Any) -> UnitError:
    expected = f"{noun_of(unit)} [{unit}]" if unit != "1" else noun_of(unit)
    return UnitError(code, text, expected=expected, field=field, **values)


def _plain(text: object) -> str:
    """Return what was typed, with decimal digits and separators of other scripts in ASCII."""
    digits = {"٫": ".", "٬": "'", "−": "-"}
    return "".join(
        digits.get(c) or (c if c.isascii() else str(unicodedata.decimal(c, c)))
        for c in safe_str(text)
    )
