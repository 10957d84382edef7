"""An answer judged: right, a mistake with a name, a general slip, or none of these."""

from __future__ import annotations

import math

from netcalc import units
from netcalc.exercises._answer import COUNTED, LONGEST, Reading, read_answer
from netcalc.exercises._drawing import Drawn
from netcalc.exercises._template import Template
from netcalc.exercises._verdict import Verdict
from netcalc.language import phrase, term

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
        return _of_fault(template, reading, drawn.right)
    if _matches(template, reading, drawn.right):
        return Verdict(kind="right")
    found = [
        one
        for one in template.wrong
        if _matches(template, reading, drawn.wrong[one.name], steps=STEP_TOLERANCE)
    ]
    if found:
        names = tuple(one.name for one in found)
        return Verdict(
            kind="named" if len(found) == 1 else "several",
            names=names,
            sentence=" ".join(put_in(phrase(one.sentence), drawn) for one in found),
            question=put_in(phrase(found[0].ask), drawn),
            next_step=phrase(_NEXT),
        )
    return _general(template, reading, drawn.right)


def _matches(
    template: Template, reading: Reading, wanted: float, *, steps: float = math.inf
) -> bool:
    """Whether an answer is a number, within the tolerance and the rounding of its digits."""
    difference = abs(reading.value - wanted)
    allowed = min(max(template.tolerance, EXACT) * abs(wanted), _rounding(reading, wanted, steps))
    if difference <= allowed * (1 + EXACT):
        return True
    # Of a count that is none, such as 1.0273 packets, three digits are enough.
    fraction = template.tolerance == 0 and not wanted.is_integer()
    return fraction and reading.digits >= 3 and difference <= reading.half * (1 + 1e-6)


def _rounding(reading: Reading, wanted: float, steps: float) -> float:
    return reading.half * (1 + 1e-6) + steps * abs(wanted) if wanted else 0.0


def _of_fault(template: Template, reading: Reading, right: float) -> Verdict:
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
    near = any(_is_near(one, template, right) for one in samples.split(phrase(" or ")))
    return units.noun_of(template.unit) if near else units.example(template.unit)


def _is_near(text: str, template: Template, right: float) -> bool:
    value = read_answer(text, template.unit).value
    return abs(value - right) <= max(template.tolerance, EXACT) * abs(right)


def _general(template: Template, reading: Reading, right: float) -> Verdict:
    """Name the slips that every exercise has, without the name of a mistake."""
    slip = _slip(template, reading, right)
    kind = "not named"
    if slip == "tens":
        kind = "power of ten"
    elif slip in ("bits", "binary") and template.unit in _DATA:
        kind = "unit wrong"
    next_step = phrase(_NEXT)
    if slip == "digits":
        next_step = phrase("Give {digits} significant digits.", digits=template.digits)
    return Verdict(
        kind=kind,
        sentence=phrase(_SENTENCES[slip]),
        question=phrase(_QUESTIONS[slip]),
        next_step=next_step,
    )


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
