"""An answer as a student types it: read in the writing of any country, judged, and what is said.

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
from netcalc.exercises.template import Drawn, Template
from netcalc.language import phrase, term

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
    text = _RAISED.sub(lambda match: "^" + match[0].translate(_SUPERSCRIPTS), text.strip())
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
    return _SPACED.sub(lambda match: match[0].replace(" ", ""), text).strip()


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
        readings = (number.replace(",", ""), number.replace(",", "."))
        detail = " or ".join(f"{reading} {written}".strip() for reading in readings)
        return Reading(fault="asked back", detail=detail)
    if code == "ambiguous-unit":
        return Reading(fault="asked back", detail=" or ".join(error.values["readings"]))
    if code == "unit-of-other-kind":
        return Reading(fault="unit wrong")
    if code == "unit-unknown":
        is_unit = written.lower() in COUNTED or bool(units.kinds_of(written))
        if is_unit or (unit in _PER_SECOND and _known(written)):
            return Reading(fault="unit wrong")
        return Reading(fault="unreadable", detail="unit")
    return Reading(fault="unreadable", detail="large" if code == "number-too-large" else "number")


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


KINDS = (
    "right", "named", "several", "power of ten", "unit missing", "unit wrong", "not named",
    "asked back", "unreadable",
)  # fmt: skip
"""The kinds of verdict; the last two do not count as a try."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is said about an answer; the right number is in no part of it.

    Parameters
    ----------
    kind : str
        One of ``KINDS``.
    names : tuple of str
        Names of the mistakes that lead to this answer.
    sentence : str
        What is wrong.
    question : str
        Question to ask back, before the mistake is named; empty if there is none.
    next_step : str
        What to do.
    """

    kind: str
    names: tuple[str, ...] = ()
    sentence: str = ""
    question: str = ""
    next_step: str = ""

    @property
    def is_right(self) -> bool:
        """Whether the answer is right."""
        return self.kind == "right"

    @property
    def counts(self) -> bool:
        """Whether the answer counts as a try."""
        return self.kind not in ("asked back", "unreadable")

    def as_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        return {
            "kind": self.kind,
            "names": list(self.names),
            "sentence": self.sentence,
            "question": self.question,
            "next_step": self.next_step,
            "counts": self.counts,
            "right": self.is_right,
        }

    def __str__(self) -> str:
        named = f"{self.kind}: {', '.join(self.names)}" if self.names else self.kind
        return " ".join(filter(None, (f"{named}.", self.sentence, self.question, self.next_step)))


STEP_TOLERANCE = 0.0015
"""Relative difference of a wrong answer from its formula, besides the rounding of its last digit:
steps before were rounded to three or four digits. The answer is right within the full tolerance,
but a wide one here would give arbitrary slips the name of a mistake."""
SLIP_TOLERANCE = 0.0005
"""The same for a slip that every exercise has: it is made on a result that was right."""
EXACT = 1e-9
"""Relative difference of equal floats."""
MOST_TENS = 15
"""Largest power of ten that is taken for a slip."""
_DATA = ("byte", "bit", "bit/s", "s/byte")
_BINARY = tuple(1.024**power for power in (1, 2, 3))

_NEXT = term("Check this step and try again.")
_SENTENCES = {
    "unit missing": term("The number has no unit."),
    "unit wrong": term("The unit is not one of {kind}."),
    "tens": term("The digits are right, but not the size: the answer is off by a power of ten."),
    "bits": term("The answer is off by the factor between bits and bytes."),
    "binary": term("The answer is off by the factor between 1000 and 1024."),
    "two": term("The answer is off by a factor of two."),
    "reciprocal": term("The answer is the reciprocal of what was asked for."),
    "digits": term("The answer has too few digits to judge."),
    "not named": term("The answer is not right, and it is none of the known mistakes."),
    "unreadable text": term("The answer is not one line of text with a number and its unit."),
    "unreadable empty": term("There is no answer yet."),
    "unreadable number": term("The answer is not one number with its unit."),
    "unreadable large": term("The number is too large to be read."),
    "unreadable unit": term("The unit is not known."),
}
_QUESTIONS = {
    "unit missing": term("In which unit is it?"),
    "unit wrong": term("What does the question ask for?"),
    "tens": term("Which prefix has each quantity: k, M, m, µ?"),
    "bits": term("Which of the quantities are in bits, and which in bytes?"),
    "binary": term("Are these prefixes decimal (kB) or binary (KiB)?"),
    "two": term("Is it one way, or there and back?"),
    "reciprocal": term("Is what was asked for a time, or a number per second?"),
    "digits": "",
    "not named": term("Which quantities does the answer depend on, and in which units are they?"),
}


def rules() -> dict[str, object]:
    """Return sentences and tolerances of judging as JSON holds them, for a page that judges."""
    return {
        "sentences": _SENTENCES,
        "questions": _QUESTIONS,
        "next": _NEXT,
        "step_tolerance": STEP_TOLERANCE,
        "slip_tolerance": SLIP_TOLERANCE,
        "exact": EXACT,
        "most_tens": MOST_TENS,
        "data": _DATA,
        "binary": _BINARY,
        "counted": sorted(COUNTED),
        "longest": LONGEST,
    }


def judge(template: Template, drawn: Drawn, answer: object) -> Verdict:
    """Return what is said about an answer to an exercise with its numbers."""
    reading = read_answer(answer, template.unit)
    if reading.fault:
        return _judge_fault(template, reading, drawn.right)
    if _matches(template, reading, drawn.right):
        return Verdict(kind="right")
    mistakes = [
        mistake
        for mistake in template.wrong
        if _matches(template, reading, drawn.wrong[mistake.name], steps=STEP_TOLERANCE)
    ]
    if mistakes:
        return Verdict(
            kind="named" if len(mistakes) == 1 else "several",
            names=tuple(mistake.name for mistake in mistakes),
            sentence=" ".join(put_in(phrase(mistake.sentence), drawn) for mistake in mistakes),
            question=put_in(phrase(mistakes[0].ask), drawn),
            next_step=phrase(_NEXT),
        )
    return _general(template, reading, drawn.right)


def _matches(
    template: Template, reading: Reading, number: float, *, steps: float = math.inf
) -> bool:
    """Whether an answer is a number, within the tolerance and the rounding of its digits."""
    difference = abs(reading.value - number)
    allowed = min(max(template.tolerance, EXACT) * abs(number), _rounding(reading, number, steps))
    if difference <= allowed * (1 + EXACT):
        return True
    # Of a count that is none, such as 1.0273 packets, three digits are enough.
    fraction = template.tolerance == 0 and not number.is_integer()
    return fraction and reading.digits >= 3 and difference <= reading.half * (1 + 1e-6)


def _rounding(reading: Reading, number: float, steps: float) -> float:
    return reading.half * (1 + 1e-6) + steps * abs(number) if number else 0.0


def _judge_fault(template: Template, reading: Reading, right: float) -> Verdict:
    kind = reading.fault
    write = phrase("Write {example}.", example=_example(template, right))
    if kind == "asked back":
        sentence = phrase(
            "The answer can be read in two ways: {readings}.", readings=reading.detail
        )
        return Verdict(kind=kind, sentence=sentence, question=phrase("Which one is meant?"))
    if kind == "unreadable":
        sentence = phrase(_SENTENCES[f"unreadable {reading.detail}"])
        return Verdict(kind=kind, sentence=sentence, next_step=write)
    sentence = phrase(_SENTENCES[kind], kind=units.noun_of(template.unit))
    return Verdict(kind=kind, sentence=sentence, question=phrase(_QUESTIONS[kind]), next_step=write)


def _example(template: Template, right: float) -> str:
    """Return what an answer looks like; without an example if that is the right one."""
    samples = units.sample_of(template.unit)
    near = any(_is_near(text, template, right) for text in samples.split(phrase(" or ")))
    return units.noun_of(template.unit) if near else units.example(template.unit)


def _is_near(text: str, template: Template, right: float) -> bool:
    value = read_answer(text, template.unit).value
    return abs(value - right) <= max(template.tolerance, EXACT) * abs(right)


def _general(template: Template, reading: Reading, right: float) -> Verdict:
    """Name the slips that every exercise has, without the name of a mistake."""
    slip = _slip(template, reading, right)
    kind = "power of ten" if slip == "tens" else "not named"
    if slip in ("bits", "binary") and template.unit in _DATA:
        kind = "unit wrong"
    next_step = phrase(_NEXT)
    if slip == "digits":
        next_step = phrase("Give {digits} significant digits.", digits=template.digits)
    sentence, question = phrase(_SENTENCES[slip]), phrase(_QUESTIONS[slip])
    return Verdict(kind=kind, sentence=sentence, question=question, next_step=next_step)


def _slip(template: Template, reading: Reading, right: float) -> str:
    value = reading.value
    if value == 0 or right == 0 or (value < 0) != (right < 0):
        return "not named"
    tolerance = reading.half / abs(value) * (1 + 1e-6) + SLIP_TOLERANCE
    tolerance = max(min(template.tolerance, tolerance), EXACT)
    ratio = value / right
    if ratio == 0 or not math.isfinite(ratio):
        return "not named"
    tens = round(math.log10(ratio))
    if tens and abs(tens) <= MOST_TENS and abs(ratio / 10.0**tens - 1) <= tolerance:
        return "tens"
    few = 0 < reading.digits < template.digits
    if few and abs(value - right) <= reading.half * (1 + 1e-6):
        return "digits"
    for slip, factors in (("bits", (8.0,)), ("binary", _BINARY), ("two", (2.0,))):
        for factor in factors:
            near = min(abs(ratio / factor - 1), abs(ratio * factor - 1))
            if near <= min(tolerance, (factor - 1) / 4):
                return slip
    if abs(value * right - 1) <= tolerance and abs(ratio - 1) > tolerance:
        return "reciprocal"
    return "not named"


def put_in(text: str, drawn: Drawn) -> str:
    """Put the numbers into a sentence about a mistake."""
    for name, shown in drawn.shown.items():
        text = text.replace(f"{{{name}}}", shown)
    return text
