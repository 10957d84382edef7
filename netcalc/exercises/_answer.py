"""An answer as a student types it: a number with its unit, in the writing of any country.

>>> read_answer("1.32 × 10⁻² s", "s").value
0.0132
>>> read_answer("13,2 ms", "s").value
0.0132
>>> read_answer("13.2", "s").fault
'unit missing'
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass

from netcalc import units
from netcalc.errors import UnitError

LONGEST = 100
"""Longest answer that is read. [characters]"""

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_LETTERS = str.maketrans({
    "−": "-", "‐": "-", "‑": "-", "–": "-", "٫": ".", "٬": "'", "٪": "%", "⁄": "/", "∕": "/",
})  # fmt: skip
_BEFORE = re.compile(
    r"(?:[A-Za-z]{1,3}\s*)?[=≈~:]\s*|(?:about|approximately|approx\.?|ca\.?|circa|roughly)\s+",
    re.IGNORECASE,
)
_SCIENTIFIC = re.compile(
    r"(?P<number>\d)\s*(?:[x*×·⋅]|\\times|\\cdot)\s*10\s*(?:\^|\*\*)\s*[({]?(?P<power>[+-]?\d+)[)}]?"
)
_POWER = re.compile(r"(?<![\d.,])10\s*(?:\^|\*\*)\s*[({]?(?P<power>[+-]?\d+)[)}]?")
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)")
_UNDERSCORE = re.compile(r"(?<=\d)_(?=\d{3})")
_NUMBER = re.compile(r"[+-]?[\d.,'’]*\d[\d.,]*(?:[eE][+-]?\d+)?")
COUNTED = frozenset({
    "packet", "packets", "frame", "frames", "segment", "segments", "fragment", "fragments",
    "datagram", "datagrams", "round trip", "round trips", "round-trip", "round-trips", "rtt",
    "rtts", "time", "times", "x", "×", "fold", "-fold", "hop", "hops", "router", "routers", "piece",
    "pieces", "user", "users", "call", "calls", "connection", "connections", "request", "requests",
    "server", "servers", "line", "lines", "mbuf", "mbufs", "cluster", "clusters", "write", "writes",
    "erlang", "erlangs",
})  # fmt: skip
"""What may stand behind a pure number."""
_PER_SECOND = frozenset({"packet/s", "call/s", "bit/s", "Hz"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """An answer that was read, or why it could not be.

    Parameters
    ----------
    value : float
        The number in the unit of the exercise; nan if there is none.
    digits : int
        Significant digits that were typed, zeros at the end of a whole number left out.
    half : float
        Half of the last significant digit, in the unit of the exercise.
    fault : str
        Empty, or ``unit missing``, ``unit wrong``, ``asked back``, ``unreadable``.
    detail : str
        For a fault: what the sentence needs, such as the readings of a unit.
    """

    value: float = math.nan
    digits: int = 0
    half: float = 0.0
    fault: str = ""
    detail: str = ""


def read_answer(answer: object, unit: str) -> Reading:
    """Read an answer as a number in ``unit``.

    Parameters
    ----------
    answer : object
        What was typed; a number that is not text has no unit.
    unit : str
        The SI unit of the exercise.

    Returns
    -------
    Reading
        The number, or the fault. Nothing raises.
    """
    text = _cleaned(answer)
    if text is None:
        return Reading(fault="unreadable", detail="text")
    if not text:
        return Reading(fault="unreadable", detail="empty")
    number = _NUMBER.match(text)
    if number is None:
        return Reading(fault="unreadable", detail="number")
    written = text[number.end() :].strip()
    if unit == "1" and written.lower() in COUNTED:
        text, written = number[0], ""
    try:
        value = units.parse_typed(text, unit)
    except UnitError as error:
        return _fault(error, number[0], written, unit)
    if not math.isfinite(value):
        return Reading(fault="unreadable", detail="large")
    digits, last = _precision(number[0])
    plain = abs(_number_of(number[0]) or 0.0)
    scale = abs(value) / plain if plain else 0.0
    return Reading(value=value, digits=digits, half=last / 2 * scale)


def _cleaned(answer: object) -> str | None:
    """Return an answer in the writing of this package; None if it is not text of one line."""
    if isinstance(answer, bool):
        return None
    if isinstance(answer, int | float):
        try:
            text = repr(answer)
        except ValueError:  # an integer of more than 4300 digits
            return None
    elif isinstance(answer, str):
        text = answer
    else:
        return None
    if len(text) > LONGEST:
        return None
    text = _RAISED.sub(lambda found: "^" + found[0].translate(_SUPERSCRIPTS), text.strip())
    text = unicodedata.normalize("NFKC", text).translate(_LETTERS)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    if any(unicodedata.category(c) in ("Cc", "Cs", "Co", "Cn") and c != "\t" for c in text):
        return None
    text = " ".join(text.split()).rstrip(".;!, ").replace("$", "")
    text = _BEFORE.sub("", text, count=1) if _BEFORE.match(text) else text
    text = _ascii(text)
    text = _SCIENTIFIC.sub(r"\g<number>e\g<power>", text)
    text = _POWER.sub(r"1e\g<power>", text)
    text = _UNDERSCORE.sub("", text)
    return _SPACED.sub(lambda found: found[0].replace(" ", ""), text).strip()


def _ascii(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c, c)) if c.isdecimal() else c for c in text)


def _fault(error: UnitError, number: str, written: str, unit: str) -> Reading:
    code = error.code
    if code == "unit-missing":
        if _number_of(number) is None:
            return Reading(fault="unreadable", detail="large")
        return Reading(fault="unit missing")
    if code == "ambiguous-number" and _known(written):
        plain = number.replace(",", "")
        readings = (plain, number.replace(",", "."))
        return Reading(
            fault="asked back",
            detail=" or ".join(f"{one} {written}".strip() for one in readings),
        )
    if code == "ambiguous-unit":
        return Reading(fault="asked back", detail=" or ".join(error.values["readings"]))
    if code == "unit-of-other-kind":
        return Reading(fault="unit wrong")
    if code == "unit-unknown":
        if unit in _PER_SECOND and (_known(written) or written.lower() in COUNTED):
            return Reading(fault="unit wrong")
        if units.kinds_of(written) or written.lower() in COUNTED:
            return Reading(fault="unit wrong")
        return Reading(fault="unreadable", detail="unit")
    if code == "number-too-large":
        return Reading(fault="unreadable", detail="large")
    return Reading(fault="unreadable", detail="number")


def _known(written: str) -> bool:
    return written == "" or bool(units.kind_of(written)) or bool(units.readings_of(written))


def _number_of(text: str) -> float | None:
    try:
        return units.parse_number(text)
    except UnitError:
        return None


def _precision(number: str) -> tuple[int, float]:
    """Return the significant digits of a number as typed, and the size of its last one."""
    mantissa, _, exponent = number.lower().partition("e")
    value = _number_of(mantissa)
    whole = value is not None and value.is_integer() and not re.search(r"[.,]\d{1,2}$", mantissa)
    digits = re.sub(r"\D", "", mantissa).lstrip("0")
    if whole:
        significant = digits.rstrip("0")
        last = 10.0 ** (len(digits) - len(significant))
    else:
        significant = digits
        mark = max(mantissa.rfind("."), mantissa.rfind(","))
        last = 10.0 ** -(len(mantissa) - mark - 1) if mark >= 0 else 1.0
    try:
        power = 10.0 ** int(exponent or 0)
    except (OverflowError, ValueError):
        power = 1.0
    return max(len(significant), 1), last * power
