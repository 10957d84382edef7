"""``netcalc "4 TB over 10G at 80 ms rtt"``: a question in a sentence, with or without quotes."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import click

from netcalc import calculator
from netcalc.cli import mistakes, options, print_json, put, say
from netcalc.errors import NetcalcError

_OF_A_SENTENCE = frozenset(
    {"of", "with", "at", "for", "a", "the", "how", "what", "which", "and", "when", "on"}
)
"""Words between others that no formula takes as a value."""
_ALIKE = 0.75
"""Share of letters in common above which a first word is a command that was mistyped."""


@options.command(click.Argument(["words"], nargs=-1, metavar="SENTENCE"), options.JSON)
def ask(words: tuple[str, ...], as_json: bool) -> None:
    """Answer a question in a sentence; the word ask may be left out.

    The answer has the formula with its numbers, each value's role, what is assumed, and the command
    that computes the same.

    \b
    netcalc "4 TB over 10G at 80 ms rtt with a 64 KiB window"
    netcalc ask frames per second at 1518 bytes on 10 gig
    """
    if not words:
        raise mistakes.CommandError("argument-missing", command="netcalc ask", name="SENTENCE")
    asked = calculator.ask(" ".join(words))
    if as_json:
        print_json(asked.as_dict())
        return
    first, *rest = str(asked).split("\n")
    put(first, bold=True)
    for line in rest:
        say(line)


def is_sentence(words: Sequence[str], commands: Sequence[str]) -> bool:
    """Whether the words of a line, of which the first is no command, are a question.

    A quoted text of several words is one. Other words are if they hold a number and begin as a
    question, have a word that no formula takes, or begin with no misspelling of a command.

    Examples
    --------
    >>> is_sentence(["4 TB over 10G"], ()), is_sentence(["4", "TB", "over", "10G"], ())
    (True, True)
    >>> is_sentence(["tranfser", "1MB", "10Mbit/s"], ()), is_sentence(["4TB", "--save"], ())
    (False, False)
    """
    spoken = [word for word in words if word != "--json"]
    if not spoken or any(word.startswith("-") for word in spoken):
        return False
    first = spoken[0].strip()
    if " " in first:
        return True
    has_number = any(character.isdigit() for word in spoken for character in word)
    if len(spoken) == 1 or not has_number:
        return False
    if first[:1].isdigit() or any(word.lower() in _OF_A_SENTENCE for word in spoken):
        return True
    with contextlib.suppress(NetcalcError):
        calculator.formula(first)
        return False
    if calculator.begins_a_question(first):
        return True
    from difflib import get_close_matches  # late: most lines name a command

    known = [*commands, *map(calculator.command, calculator.formulas().values())]
    return not get_close_matches(first.lower(), known, n=1, cutoff=_ALIKE)
