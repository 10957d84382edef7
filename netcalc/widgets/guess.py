"""Predict, then reveal: a figure that stays covered until its reader has guessed.

A guess is typed, clicked in the figure, or set with a slider along its axis; the page has these
(``guess.js``). Here it is read, put into the figure, and compared with the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from netcalc.errors import ArgumentTypeError, DomainError, NetcalcError
from netcalc.language import phrase, term
from netcalc.printable import printable, printable_lines
from netcalc.units import parse, show

GUESS = term("your guess")
"""Name of the mark in the legend, and of its source."""
CLOSE = 1.1
"""Below this factor the difference is told as a percentage."""

Along = Literal["x", "y"]


@dataclass(frozen=True, slots=True)
class Guess:
    """What a reader expected.

    Parameters
    ----------
    what, unit : str
        The quantity, and its SI unit.
    value : float
        In this unit.
    text : str
        As it was typed.
    time : str
        When the figure was uncovered, as ISO 8601 with a zone; empty before.
    """

    what: str
    unit: str
    value: float
    text: str
    time: str = ""

    def stored(self) -> dict[str, Any]:
        """Return it as the facts of a saved run have it."""
        return asdict(self)


class Prediction:
    """What is asked before a figure is shown, and what became of it.

    Parameters
    ----------
    what : str
        The quantity to guess: ``"time of the last bit"``.
    unit : str
        Its SI unit, one of :func:`netcalc.units.parse`.
    along : {'x', 'y'}
        The axis of the figure that has it.

    Attributes
    ----------
    covered : bool
        Whether the figure is.
    guess : Guess or None
        The last one that could be read.
    sentence : str
        The comparison with the model, once the figure is shown.
    """

    def __init__(self, what: str, *, unit: str, along: Along = "y") -> None:
        if along not in ("x", "y"):
            raise DomainError("not-a-choice", "along", along, choices=["x", "y"])
        self.what, self.unit, self.along = printable(phrase(what)), unit, along
        self.covered = True
        self.guess: Guess | None = None
        self.sentence = self.alert = ""
        self.model: tuple[float, float] = (math.nan, math.nan)
        self._at = self.model  # where the model was when the guess was made
        self._compared: tuple[str, float] | None = None  # the sentence, and the model's value in it
        self._is_restored = False
        self.changed: Callable[[], object] = lambda: None
        """Called after each change; the figure brings its page up to date."""

    @property
    def mark(self) -> dict[str, float]:
        """Position of the mark in the figure; nan without a guess."""
        if self.guess is None:
            return {"x": math.nan, "y": math.nan}
        x, y = self._at
        return {"x": x, "y": y, self.along: self.guess.value}

    def take_model(self, point: object) -> None:
        """Take the point of the model, x and y; the mark of a guess stays where it is.

        Raises
        ------
        ArgumentTypeError
            If it is no pair of numbers.
        """
        try:
            x, y = map(float, point)  # type: ignore[call-overload]
            self.model = (x, y)
        except (TypeError, ValueError) as error:
            class_name = type(point).__name__
            raise ArgumentTypeError(
                "not-of-class", "update", class_name, expected="a pair of numbers"
            ) from error
        self._say_if_moved()

    def _say_if_moved(self) -> None:
        """Keep the comparison, and say that it is not of the figure that is shown now."""
        if self._compared is None:
            return
        sentence, model = self._compared
        if not (model == self._value or (math.isnan(model) and math.isnan(self._value))):
            moved = phrase("The controls have been moved since.")
            sentence = f"{sentence} {moved}"
        if sentence != self.sentence:
            self.sentence = sentence
            self.changed()

    @property
    def _value(self) -> float:
        """The model's value of what is guessed."""
        return self.model[0 if self.along == "x" else 1]

    def hear(self, content: Mapping[str, Any]) -> None:
        """Take what the page says: a guess, that it is the last one, or that there is none."""
        if not self.covered:
            self.changed()  # a view that missed the answer
            return
        if content.get("kind") == "no guess":
            self.guess = None
            self._uncover()
        else:
            self.take(str(content.get("text", "")), reveal=bool(content.get("reveal")))

    def take(self, text: str, *, reveal: bool = False) -> None:
        """Take a guess as it was typed, and show the figure if it is the last one."""
        try:
            value = parse(text, self.unit, field=phrase(GUESS))
        except NetcalcError as error:
            self.alert = str(error)
            self.changed()
            return
        self.alert = ""
        self._at = self.model
        self.guess = Guess(self.what, self.unit, value, printable_lines(text.strip()))
        if reveal:
            self._uncover()
        else:
            self.changed()

    def _uncover(self) -> None:
        self.covered, self.alert = False, ""
        if self.guess is not None:
            time = datetime.now(UTC).isoformat(timespec="seconds")
            self.guess = replace(self.guess, time=time)
            self.sentence = compared(self.guess, self._value)
            self._compared, self._is_restored = (self.sentence, self._value), False
        self.changed()

    def restore(self, stored: Mapping[str, Any]) -> None:
        """Show the guess that was saved with a run, if it is one about this quantity."""
        if (stored.get("what"), stored.get("unit")) != (self.what, self.unit):
            return
        value = float(stored.get("value", math.nan))
        text, time = str(stored.get("text", "")), str(stored.get("time", ""))
        self._at, self._compared, self._is_restored = self.model, None, True
        self.guess, self.covered = Guess(self.what, self.unit, value, text, time), False
        self.sentence = phrase(
            "Guess of {time} UTC: {value}.",
            time=time[:16].replace("T", " "),
            value=show(value, self.unit),
        )
        self.changed()

    def stored(self) -> dict[str, Any]:
        """Return the reader's guess as the facts of a saved run have it; nothing without one."""
        if self.guess is None or self.covered or self._is_restored:
            return {}
        return self.guess.stored()

    def content(self) -> dict[str, Any]:
        """Return what the page has to know."""
        return {
            "what": self.what,
            "unit": self.unit,
            "along": self.along,
            "covered": self.covered,
            "text": "" if self.guess is None else self.guess.text,
            "alert": self.alert,
            "sentence": self.sentence,
            "other": _finite(self.model[1 if self.along == "x" else 0]),
        }


def compared(guess: Guess, model: float) -> str:
    """Return one sentence about a guess and the model's value, with the factor between them.

    Examples
    --------
    >>> compared(Guess("time of the last bit", "s", 1.0, "1 s"), 30.0)
    'Time of the last bit: your guess is 1 s, the model says 30 s, 30 times your guess.'
    >>> compared(Guess("frame rate", "packet/s", 3e6, "3 Mpps"), 1.5e6)
    'Frame rate: your guess is 3 Mpps, the model says 1.5 Mpps; your guess is 2 times the model.'
    >>> compared(Guess("delay", "s", 0.103, "103 ms"), 0.1)
    'Delay: your guess is 103 ms, the model says 100 ms; your guess is 3% above.'
    """
    what = guess.what[:1].upper() + guess.what[1:]
    values = {
        "what": what,
        "guess": show(guess.value, guess.unit),
        "model": show(model, guess.unit),
    }
    if not math.isfinite(model):
        return phrase("{what}: your guess is {guess}, the model has no value here.", **values)
    if guess.value == model:
        return phrase("{what}: your guess is {guess}, the model says {model}, too.", **values)
    if not guess.value * model > 0:
        return phrase("{what}: your guess is {guess}, the model says {model}.", **values)
    factor = guess.value / model
    if 1 / CLOSE < factor < CLOSE:
        values["share"] = f"{100 * abs(factor - 1):.2g}%"
        return phrase(
            "{what}: your guess is {guess}, the model says {model}; your guess is {share} above."
            if factor > 1
            else "{what}: your guess is {guess}, the model says {model}; your guess is {share} "
            "below.",
            **values,
        )
    values["factor"] = _factor(1 / factor if factor < 1 else factor)
    if factor < 1:
        return phrase(
            "{what}: your guess is {guess}, the model says {model}, {factor} times your guess.",
            **values,
        )
    return phrase(
        "{what}: your guess is {guess}, the model says {model}; your guess is {factor} times the "
        "model.",
        **values,
    )


def _factor(value: float) -> str:
    """Return a factor with two digits; a large one whole, with commas."""
    return f"{value:.2g}" if value < 99.5 else f"{float(f'{value:.2g}'):,.0f}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
