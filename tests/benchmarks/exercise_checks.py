"""Answers checked, beside the least that any check needs: reading the number and its unit.

Prints the processor time for so many answers (default 1000) of each kind: reading alone by
``netcalc.units`` (the floor), reading by pint where it is installed (a peer that reads units, and
judges nothing), the whole check, and drawing the numbers anew for each answer. Medians of five
rounds, one after the other in this process.

Run: python tests/benchmarks/exercise_checks.py [ANSWERS]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence

from netcalc import exercises, units
from netcalc.errors import UnitError

ROUNDS = 5
FORMS = (
    "{right:.4g} s",
    "{ms:.3f} ms",
    "{wrong:.4g} s",
    "{right:.4g}",
    "1,234 s",
    "about {ms:.1f}ms",
)


def answers(count: int) -> tuple[exercises.Question, list[str]]:
    """Return a question, and answers of all kinds to it."""
    question = exercises.draw("TR1", student="benchmark")
    wrong = list(question.wrong_answers.values())
    values = {"right": question.answer, "ms": question.answer * 1e3}
    texts = [
        FORMS[index % len(FORMS)].format(**values, wrong=wrong[index % len(wrong)])
        for index in range(count)
    ]
    return question, texts


def read(text: str) -> float | None:
    """Read an answer and judge nothing."""
    try:
        return units.parse_typed(text, "s")
    except UnitError:
        return None


def peer() -> Callable[[str], object] | None:
    """Return pint's reader of quantities; None where it is not installed."""
    try:
        import pint
    except ImportError:
        return None
    registry = pint.UnitRegistry()

    def parsed(text: str) -> object:
        try:
            return registry.Quantity(text)
        except Exception:  # what it makes of texts that it cannot read is of many kinds
            return None

    return parsed


def seconds(function: Callable[[str], object], texts: Sequence[str]) -> float:
    """Return the processor time of one round."""
    start = time.process_time()
    for text in texts:
        function(text)
    return time.process_time() - start


def main(count: int = 1000) -> None:
    """Print the median of each, and its ratio to the floor."""
    question, texts = answers(count)
    ways: dict[str, Callable[[str], object]] = {"units.parse_typed (floor)": read}
    if (other := peer()) is not None:
        ways["pint.Quantity (peer)"] = other
    ways["check"] = question.check
    ways["draw and check"] = lambda text: exercises.draw("TR1", student=text).check(text)
    for function in ways.values():
        seconds(function, texts[:50])
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, function in ways.items():
            times[name].append(seconds(function, texts))
    floor = statistics.median(times["units.parse_typed (floor)"])
    print(f"{count} answers, processor time")
    for name, found in times.items():
        middle = statistics.median(found)
        print(f"{name:28} {middle * 1e3:8.1f} ms  {middle / floor:6.2f} x floor")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
