"""Values without a name behind a formula: which argument each is, and how it was read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from netcalc import calculator, units
from netcalc.calculator import Formula, Parameter
from netcalc.cli.mistakes import CommandError
from netcalc.errors import DomainError, NetcalcError, UnitError, doubts
from netcalc.messages import Notice

NUMBER = re.compile(r"[+-]?\d[\d.,]*")
_UNIT_WORDS = frozenset({"e", "erl", "erlang", "erlangs", "percent", "gig", "gige", "gbe", "ge"})
_MARKS = frozenset({"@", "at"})
"""Words between values that say nothing more."""
_MANY_SWEEPS = 2
_OTHER_UNIT = frozenset({"unit-of-other-kind", "unit-unknown"})
_DOUBTFUL_SHARES = re.compile(r"loss|blocking|error|retransmi")
"""Shares that people also type in percent: how a number alone was read is said."""


def joined(words: Sequence[str]) -> list[str]:
    """Put a number and its unit together where they are two words.

    Examples
    --------
    >>> joined(["--latency", "30", "ms", "1", "MB"])
    ['--latency', '30 ms', '1 MB']
    """
    quantities: list[str] = []
    for word in words:
        if word in _MARKS and quantities:
            continue
        before = quantities[-1] if quantities else ""
        if (NUMBER.fullmatch(before) and _is_unit(word)) or (
            " " in before and (word == "per" or before.endswith(" per"))
        ):
            quantities[-1] += f" {word}"
        else:
            quantities.append(word)
    return quantities


def _is_unit(word: str) -> bool:
    return bool(units.kinds_of(word)) or word.lower() in _UNIT_WORDS or calculator.is_noun(word)


class Fit(Enum):
    """Whether a word can be the value of an argument."""

    YES = "it reads as one"
    PERHAPS = "it has two readings, or the name of a file does not say what is in it"
    NO = "it is refused"


def assigned(formula: Formula, words: Sequence[str], options: Mapping[str, str]) -> dict[str, str]:
    """Return which argument each value without a name is: by its unit, then by the order.

    ``options`` are the arguments that were typed with their names.

    Raises
    ------
    CommandError
        If there are more values than arguments.
    """
    left = [parameter for parameter in formula.parameters if parameter.name not in options]
    _refuse_second_value(formula, words, left, options)
    words = [word.rstrip(",") or word for word in words] if len(words) > 1 else words
    values: dict[str, str] = {}
    if left and left[0].kind == "list" and (count := _listed_words(left, words)) > 1:
        values[left.pop(0).name] = "; ".join(words[:count])
        words = words[count:]
    # A word that can be the value of one argument only takes it, before the others go by the order.
    is_sure = [_fits_one(word, left) for word in words]
    names: dict[int, str] = {}
    for index in sorted(range(len(words)), key=lambda index: not is_sure[index]):
        parameter = _argument_for(words[index], left)
        if parameter is None:
            command = f"netcalc calc {calculator.command(formula)}"
            raise CommandError("unexpected-argument", command=command, words=words[index])
        left = [other for other in left if other is not parameter]
        names[index] = parameter.name
    return values | {names[index]: word for index, word in enumerate(words)}


def _refuse_second_value(
    formula: Formula, words: Sequence[str], left: Sequence[Parameter], options: Mapping[str, str]
) -> None:
    """Refuse a lone value that can only be the first argument, which has one by its option."""
    if len(words) != 1 or not formula.parameters or formula.parameters[0].name not in options:
        return
    first, [word] = formula.parameters[0], words
    can_be_first = NUMBER.fullmatch(word) or _fit(first, word) is not Fit.NO
    if can_be_first and not any(_fit(p, word) is Fit.YES for p in left if p.required):
        name, before = formula.label(first.name), options[first.name]
        raise CommandError("argument-typed-twice", name=name, first=word, second=before)


def _needed(left: Sequence[Parameter]) -> list[Parameter]:
    """Return the arguments that people type without a name: the first, and those required."""
    return [p for index, p in enumerate(left) if p.required or index == 0]


def _fits_one(word: str, left: Sequence[Parameter]) -> bool:
    """Whether a value can be that of one argument only, whatever the others are."""
    fits = [_fit(parameter, word) for parameter in _needed(left)]
    return fits.count(Fit.YES) == 1 and fits.count(Fit.NO) == len(fits) - 1


def _listed_words(left: Sequence[Parameter], words: Sequence[str]) -> int:
    """Return how many words, from the first, are the numbers of an argument that takes a list.

    With one argument all of them; with several, those that are no value of another one.
    """
    first, *others = left
    others = [parameter for parameter in others if parameter.required]
    count = 0
    for word in words:
        if "," in word or ";" in word or _fit(first, word) is Fit.NO:
            break
        if not NUMBER.fullmatch(word) and any(_fit(p, word) is Fit.YES for p in others):
            break
        count += 1
    return count if count == len(words) or not NUMBER.fullmatch(words[0]) else 0


def _argument_for(word: str, left: Sequence[Parameter]) -> Parameter | None:
    """Return which of the arguments that are left a value is for.

    The first that people type without a name and that it can be; another one only where it reads
    as that and as none of them.
    """
    if not left:
        return None
    needed = _needed(left)
    possible = [p for p in needed if _fit(p, word) is not Fit.NO]
    sure = [p for p in possible if _fit(p, word) is Fit.YES]
    sure.sort(key=lambda p: p.kind == "text" and not calculator.known_names(p.name))
    # 1500 has two readings, but as the size of a packet it is bytes: a later argument that it
    # reads as goes first.
    if sure and (sure[0] is possible[0] or possible[0].packet_sized):
        return sure[0]
    if possible:
        return possible[0]
    if NUMBER.fullmatch(word):
        return needed[0]
    return next((p for p in left if _fit(p, word) is Fit.YES), needed[0])


def _fit(parameter: Parameter, word: str) -> Fit:
    """Return whether a text is a value of an argument."""
    if calculator.is_range(parameter, word):
        return _fit_range(parameter, word)
    try:
        with doubts():  # said when the value is read for its argument
            for text in parameter.values(word):
                value = parameter.read(text)
    except UnitError as error:
        return Fit.PERHAPS if error.code in ("ambiguous-unit", "ambiguous-number") else Fit.NO
    except DomainError:
        return Fit.NO
    names = calculator.known_names(parameter.name)
    return Fit.NO if parameter.kind == "text" and names and value not in names else Fit.YES


def _fit_range(parameter: Parameter, word: str) -> Fit:
    from pathlib import Path  # late: most answers are of numbers

    if word.startswith("@") or Path(word.rpartition(":")[0]).is_file():
        return Fit.PERHAPS
    try:
        with doubts():
            calculator.read_range(parameter, word)
    except UnitError as error:
        return Fit.NO if error.code in _OTHER_UNIT else Fit.PERHAPS
    except NetcalcError:  # of a file that is not there, or a range of what cannot be
        return Fit.PERHAPS
    return Fit.YES


def name_propagation(formula: Formula, error: UnitError) -> None:
    """Say which formula makes a time of a distance, where none is asked for."""
    distance = error.code == "unit-of-other-kind" and (
        units.kind_of(error.values["written"]) == "m"
    )
    if distance and all(parameter.unit != "m" for parameter in formula.parameters):
        text = str(error.values["text"]).strip()
        error.values["suggestions"] = [f"netcalc calc propagation {text}, its time one way"]


def in_order(formula: Formula, unnamed: Mapping[str, str]) -> list[Notice]:
    """Return how values without a name were read, where their units leave open which is which."""
    units_of = [formula.parameter(name).unit for name in unnamed]
    same = [n for n, unit in zip(unnamed, units_of, strict=True) if units_of.count(unit) > 1]
    same = [name for name in same if formula.parameter(name).kind == "number"]
    if len(same) < 2 or not all(
        _fit(formula.parameter(name), unnamed[other]) is Fit.YES for name in same for other in same
    ):
        return []
    options = [f"--{formula.option(name)} {unnamed[name]}" for name in same]
    return [Notice("order-read", {"options": ", ".join(options)})]


def check_sweeps(count: int) -> None:
    """Refuse more sweeps than a table has sides.

    Raises
    ------
    CommandError
        If there are more than two.
    """
    if count > _MANY_SWEEPS:
        raise CommandError("too-many-sweeps", count=count, high=_MANY_SWEEPS)


def readings(
    formula: Formula, texts: Mapping[str, str], arguments: Mapping[str, Any]
) -> list[Notice]:
    """Return how texts were read that may have meant something else."""
    found = []
    for name, text in texts.items():
        parameter, value = formula.parameter(name), arguments.get(name)
        if parameter.kind in ("text", "choice"):
            doubtful = calculator.plain_name(str(value)) != calculator.plain_name(text)
        else:
            doubtful = (
                parameter.unit == "ratio" and _DOUBTFUL_SHARES.search(parameter.name) is not None
                and NUMBER.fullmatch(text.strip()) is not None and value != 0
            )  # fmt: skip
            doubtful = doubtful or formula.voice_bps(parameter, text) is not None
        doubtful = doubtful or calculator.codec_bps(text) is not None
        doubtful = doubtful or (
            parameter.name in ("altitude_m", "speed_m_s") and text[:1].isalpha()
        )
        if doubtful:
            option = "--" + formula.option(name)
            shown = parameter.show(value)
            found.append(Notice("read-as", {"name": option, "text": text, "value": shown}))
    return found + _small_loads(texts, arguments)


def _small_loads(texts: Mapping[str, str], arguments: Mapping[str, Any]) -> list[Notice]:
    """Say that a load below 1 of several servers is not a share of them."""
    offered, servers = arguments.get("offered_erlang"), arguments.get("server_count")
    if not isinstance(offered, float) or not isinstance(servers, float):
        return []
    if not (0 < offered < 1 < servers and NUMBER.fullmatch(texts["offered_erlang"].strip())):
        return []
    share = units.show(offered / servers, "ratio")
    return [Notice("load-in-erlang", {"offered": offered, "servers": servers, "share": share})]
