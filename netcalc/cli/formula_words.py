"""What people type behind the name of a formula: other names of options, values without any."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from netcalc import calculator, units
from netcalc.calculator import Formula, Parameter
from netcalc.checks import FloatArray
from netcalc.cli.mistakes import CommandError
from netcalc.errors import DomainError, NetcalcError, UnitError, doubts
from netcalc.messages import Notice

NUMBER = re.compile(r"[+-]?\d[\d.,]*")
RANGE_MARK = re.compile(r"\.\.|[…±–(:]|\+/?-|\d\s*-\s*\d|\sto\s")
"""What text of a range, a distribution or a column has, and a quantity has not."""
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
    found: list[str] = []
    for word in words:
        if word in _MARKS and found:
            continue
        if found and (
            (NUMBER.fullmatch(found[-1]) and _is_unit(word))
            or (" " in found[-1] and (word == "per" or found[-1].endswith(" per")))
        ):
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found


def _is_unit(word: str) -> bool:
    return bool(units.kinds_of(word)) or word.lower() in _UNIT_WORDS or calculator.is_noun(word)


def assigned(formula: Formula, words: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """Return which argument each value without a name is: by its unit, then by the order.

    Raises
    ------
    CommandError
        If there are more values than arguments.
    """
    left = [one for one in formula.parameters if one.name not in given]
    if words and formula.parameters and formula.parameters[0] not in left and len(words) == 1:
        first = formula.parameters[0]
        of_first = NUMBER.fullmatch(words[0]) or _reads(first, words[0]) is not False
        if of_first and not any(_reads(one, words[0]) is True for one in left if one.required):
            raise CommandError(
                "argument-typed-twice", name=formula.label(first.name),
                first=words[0], second=given[first.name],
            )  # fmt: skip
    words = [one.rstrip(",") or one for one in words] if len(words) > 1 else words
    found: dict[str, str] = {}
    if left and left[0].kind == "list" and (count := _listed_words(left, words)) > 1:
        found[left.pop(0).name] = "; ".join(words[:count])
        words = words[count:]
    placed: dict[int, str] = {}
    plain = [_is_plain(word, left) for word in words]
    for place in sorted(range(len(words)), key=lambda one: not plain[one]):
        index = _index_of(words[place], left)
        if index is None:
            raise CommandError(
                "unexpected-argument",
                command=f"netcalc calc {calculator.command(formula)}", words=words[place],
            )  # fmt: skip
        placed[place] = left.pop(index).name
    return found | {placed[place]: words[place] for place in sorted(placed)}


def _is_plain(word: str, left: Sequence[Parameter]) -> bool:
    """Whether a value can be that of one argument only, whatever the others are."""
    read = [_reads(one, word) for i, one in enumerate(left) if one.required or i == 0]
    return read.count(True) == 1 and read.count(False) == len(read) - 1


def _listed_words(left: Sequence[Parameter], words: Sequence[str]) -> int:
    """Return how many words, from the first, are the numbers of an argument that takes a list.

    With one argument all of them; with several, those that are no value of another one.
    """
    first, *others = left
    others = [one for one in others if one.required]
    count = 0
    for word in words:
        if "," in word or ";" in word or _reads(first, word) is False:
            break
        if any(_reads(one, word) is True for one in others) and not NUMBER.fullmatch(word):
            break
        count += 1
    return count if count == len(words) or not NUMBER.fullmatch(words[0]) else 0


def _index_of(word: str, left: Sequence[Parameter]) -> int | None:
    """Return which of the arguments that are left a value is for.

    The first one that is required and can be it; one that may be left out only where none is.
    """
    if not left:
        return None
    needed = [i for i, one in enumerate(left) if one.required or i == 0]
    read = {i: _reads(one, word) for i, one in enumerate(left)}
    sure = [i for i in needed if read[i] is True]
    sure.sort(key=lambda i: left[i].kind == "text" and not calculator.known_names(left[i].name))
    possible = [i for i in needed if read[i] is not False]
    if sure and (sure[0] == possible[0] or left[possible[0]].packet_sized):
        return sure[0]
    if possible:
        return possible[0]
    if NUMBER.fullmatch(word):
        return needed[0]
    return next((i for i, fits in read.items() if fits), needed[0])


def _reads(parameter: Parameter, word: str) -> bool | None:
    """Whether a text is a value of an argument; None if it is one with two readings.

    The name of a file does not say what is in it.
    """
    if RANGE_MARK.search(word) and calculator.is_range(parameter, word):
        return _reads_range(parameter, word)
    try:
        with doubts():  # said when the value is read for its argument
            for one in parameter.values(word):
                value = parameter.read(one)
    except UnitError as error:
        return None if error.code in ("ambiguous-unit", "ambiguous-number") else False
    except DomainError:
        return False
    known = calculator.known_names(parameter.name)
    return parameter.kind != "text" or not known or value in known


def _reads_range(parameter: Parameter, word: str) -> bool | None:
    from pathlib import Path  # late: most answers are of numbers

    if word.startswith("@") or Path(word.rpartition(":")[0]).is_file():
        return None
    try:
        with doubts():
            calculator.read_range(parameter, word)
    except UnitError as error:
        return False if error.code in _OTHER_UNIT else None
    except NetcalcError:  # of a file that is not there, or a range of what cannot be
        return None
    return True


def name_propagation(formula: Formula, error: UnitError) -> None:
    """Say which formula makes a time of a distance, where none is asked for."""
    distance = error.code == "unit-of-other-kind" and (
        units.kind_of(error.values["written"]) == "m"
    )
    if distance and all(one.unit != "m" for one in formula.parameters):
        text = str(error.values["text"]).strip()
        error.values["suggestions"] = [f"netcalc calc propagation {text}, its time one way"]


def in_order(formula: Formula, unnamed: Mapping[str, str]) -> list[Notice]:
    """Return how values without a name were read, where their units leave open which is which."""
    units_of = [formula.parameter(name).unit for name in unnamed]
    same = [n for n, unit in zip(unnamed, units_of, strict=True) if units_of.count(unit) > 1]
    same = [name for name in same if formula.parameter(name).kind == "number"]
    if len(same) < 2 or not all(
        _reads(formula.parameter(one), unnamed[other]) for one in same for other in same
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


def family_rows(
    family: Sequence[calculator.Sweep], by: Parameter, by_values: FloatArray
) -> tuple[list[str], list[list[float]]]:
    """Return the headings and rows of a table over two arguments: one column for each of one.

    Of a formula of several results, each result has its columns.
    """
    first = family[0]
    names = list(first.columns)
    headings, columns = [], [first.values]
    for name in names:
        for one, value in zip(family, by_values.tolist(), strict=True):
            what = f"{name} at " if len(names) > 1 else ""
            headings.append(f"{what}{by.show(value)}")
            columns.append(one.columns[name])
    return headings, np.column_stack(columns).tolist()
