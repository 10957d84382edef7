"""A question in a sentence, answered by the formula that fits what is asked and what is given.

Each row of the table (see :mod:`netcalc.calculator.sentences`) is a question. A row fits if every
word that says something and every quantity has a place in it: nothing that is given is ignored.
The rows with the most words of the question are its readings; of two, neither is preferred.

``[[rows]]`` have

``name``, ``title``, ``said``, ``minor``
    of an answer; what it takes for granted; whether it is left out if it is near another one;
``must``, ``asks``, ``also``
    concepts of which all, at least one, any may be there; with ``given`` none need be, as the
    quantities say what is asked, or those roles that it names, with their words;
``needs``, ``takes``
    roles; the latter with the value where none is given (empty: that of the formula);
``never``
    words of which none may be there;
``only``, ``except``, ``no_sizes``, ``small``, ``large``
    names and numbers that a role must have, or not; a role and the limit of its number;
``bare``, ``cued``, ``plain``
    roles that need no word here; that need one; that a number without a unit may have;
``sorted``, ``many``, ``spread``, ``at_most``
    roles of quantities alike, the smallest first; the role of all quantities of its unit; the role
    of a volume in a time; the role that the answer must not exceed;
``like``, ``unlike``, ``counts``, ``direct``, ``strict``
    the pattern that the text of a role has, or has not; roles that a number without a unit and a
    word may count; roles that are given themselves, not derived from others; roles whose word is
    their own;
``layer``, ``silent``
    the layer of a rate, where it is not that of the formula; arguments whose default says nothing;
``below``, ``tally``, ``apiece``
    two numbers of which the first must be the lower; a count and the role of what is listed, or
    of the size of each;
``formula``, ``args``, ``solve``, ``for``
    what answers: for each argument a role, ``=TEXT``, a number, or a list of an operation (``*``,
    ``/``, ``+``, ``-``, ``^``, or ``f``, a formula and its args) and its operands; the argument
    that is sought, and the result.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf, isfinite, prod
from typing import Any

import numpy as np

from netcalc import units
from netcalc.calculator import sentences
from netcalc.calculator.catalogue import Formula, command, formula
from netcalc.calculator.names import SUFFIX
from netcalc.calculator.sentences import Meaning, Token
from netcalc.calculator.session import Session
from netcalc.display import unit_of_name
from netcalc.errors import DomainError, NetcalcError
from netcalc.messages import Notice
from netcalc.printable import excerpt
from netcalc.rate_layers import named

_SPREAD = re.compile(r"day|week|month|year|hour|\bh\b|/h|minute|min\b")
MOST_READINGS = 3
"""Readings that are shown; a question with more is refused."""
_ALIKE = 0.01
"""Difference of two readings below which a minor one is not shown."""
_NO_NUMBERS = ("ratio", "dB", "s", "m", "Hz")
"""Units of what no ``how many`` asks for."""
_MOST_UNKNOWN = 3
"""Words that may be not understood beside a question that is."""


@dataclass(frozen=True, slots=True)
class Given:
    """A value of an answer with its role, and where in the sentence it is from.

    ``source`` is the part of the sentence, ``start`` its position; ``by`` is the word beside it
    that gives the role, empty where its unit alone does.
    """

    role: str
    said: str
    text: str
    source: str
    start: int
    by: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a question with its answer.

    ``value`` is in ``unit``, and ``text`` is how people read it. ``arguments`` are those of the
    formula, as text; ``given`` are the values that the sentence has, with their roles; ``assumed``
    says what was not given. ``command`` computes the same number, and ``steps`` the commands whose
    results it takes.
    """

    question: str
    title: str
    formula: str
    value: float
    unit: str
    text: str
    equation: str
    arguments: Mapping[str, str]
    given: tuple[Given, ...]
    assumed: tuple[str, ...]
    notes: tuple[str, ...]
    command: str
    steps: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [self.text, f"  {self.title}"]
        lines += [f"  {self.equation}"] if self.equation else []
        width = max((len(each.source) for each in self.given), default=0)
        lines += [
            f"  {each.source:<{width}}  {each.said}" + (f', from "{each.by}"' if each.by else "")
            for each in self.given
        ]
        lines += [f"  assumed: {text}" for text in self.assumed]
        lines += [f"  note: {text}" for text in self.notes]
        return "\n".join([*lines, *(f"  {line}" for line in (*self.steps, self.command))])

    def as_dict(self) -> dict[str, Any]:
        """Return the reading as JSON has it."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "given"}
        given = [{name: getattr(one, name) for name in one.__slots__} for one in self.given]
        return {**plain, "arguments": dict(self.arguments), "given": given}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its readings, and the words of it that were not understood."""

    sentence: str
    readings: tuple[Reading, ...]
    not_understood: tuple[str, ...] = ()
    read_as: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = [str(reading) for reading in self.readings]
        if len(parts) > 1:
            parts.insert(0, str(Notice("sentence-readings", {"count": len(parts)})))
        return "\n\n".join([*parts, *map(str, self.notices)])

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What is to be said of the words: those not understood, and those read as others."""
        said = [
            Notice("sentence-read-as", {"text": excerpt(text), "word": word})
            for text, word in self.read_as.items()
        ]
        if self.not_understood:
            parts = ", ".join(repr(excerpt(part)) for part in self.not_understood)
            said.append(Notice("sentence-not-understood", {"parts": parts}))
        return tuple(said)

    def as_dict(self) -> dict[str, Any]:
        """Return the question with its readings as JSON has them."""
        return {
            "sentence": self.sentence,
            "readings": [reading.as_dict() for reading in self.readings],
            "not_understood": list(self.not_understood),
            "read_as": dict(self.read_as),
        }


@dataclass(frozen=True, slots=True)
class _Role:
    """A quantity or a name in a role of a row."""

    token: Token
    meaning: Meaning
    unit: str
    by: str = ""
    factor: float = 1.0
    said: str = ""


@dataclass(frozen=True, slots=True)
class _Fit:
    """A row with its roles filled."""

    row: Mapping[str, Any]
    roles: Mapping[str, _Role]
    score: int
    missing: tuple[str, ...] = ()


def ask(sentence: str) -> Asked:
    """Answer a question in a sentence; deterministic, by a table of questions.

    Parameters
    ----------
    sentence : str
        A question with its quantities: ``"4 TB over 10G at 80 ms rtt"``.

    Returns
    -------
    Asked
        Its readings, each with formula, arguments, value, unit and command.

    Raises
    ------
    DomainError, UnitError
        If nothing is asked, a part with a number is not understood, a quantity has two readings or
        no unit, something is missing, or the question has too many readings.

    Examples
    --------
    >>> answer = ask("throughput with a 64k window and 200 ms rtt").readings[0]
    >>> answer.value, answer.unit, answer.command
    (2621440.0, 'bit/s', 'netcalc calc throughput 64KiB --rtt 200ms')
    """
    limit = sentences.table()["limit"]
    if not isinstance(sentence, str) or len(sentence) > limit:
        shown = excerpt(str(sentence)[:100], 40)
        raise DomainError("sentence-too-long", "sentence", shown, limit=limit)
    parts = sentences.tokens(sentence)
    unknown = [part for part in parts if part.kind == "unknown"]
    cues = sentences.attached(parts)
    _check_parts(sentence, parts, unknown, cues)
    if _asks_twice(parts, cues):
        raise DomainError("sentence-asks-twice", "sentence", excerpt(sentence))
    fits = [fit for row in sentences.rows() for fit in _fits(row, parts, cues)]
    whole = [fit for fit in fits if not fit.missing]
    if not whole:
        raise _refused(sentence, parts, cues, fits)
    best = max(fit.score for fit in whole)
    chosen = [fit for fit in whole if fit.score == best]
    target = next((part.value for part in parts if part.kind == "target"), "")
    readings, refused = [], None
    for fit in chosen:
        try:
            readings.append(_reading(fit, target))
        except DomainError as error:
            if error.values.get("name") != "sentence":
                error.values |= _spoken(error)
            if error.code != "sentence-above-line":
                raise
            refused = error
    if not readings and refused is not None:
        raise refused
    readings = _distinct(readings, {row["name"] for row in sentences.rows() if row.get("minor")})
    if len(readings) > MOST_READINGS:
        titles = [reading.title for reading in readings]
        raise DomainError("sentence-many-readings", "sentence", excerpt(sentence), titles=titles)
    return Asked(
        sentence,
        tuple(readings),
        tuple(part.text for part in unknown),
        {part.text: part.read_as for part in parts if part.read_as},
    )


def _check_parts(
    sentence: str, parts: Sequence[Token], unknown: Sequence[Token], cues: Mapping[int, int]
) -> None:
    """Refuse a sentence with a part that holds a number and is not understood.

    Raises
    ------
    DomainError, UnitError
        If there is one, if no part is a quantity, or if what is asked is not understood.
    """
    shown = excerpt(sentence)
    for index, part in enumerate(parts):
        if part.error is not None and not (part.meanings and index in cues.values()):
            raise part.error
    if not any(part.kind in ("quantity", "name") for part in parts):
        raise DomainError("sentence-asks-nothing", "sentence", shown)
    numbers = [  # those that are no letters: ½ and ², but not 三
        part for part in unknown if any(c.isnumeric() and not c.isalpha() for c in part.text)
    ]
    heavy = [part for part in parts if part.kind != "filler"]
    asked = [
        part for before, part in pairwise(heavy)
        if before.kind in ("question", "target") and part.kind == "unknown"
    ]  # fmt: skip
    asked += [  # what qualifies what is asked: "dtls handshake"
        part for part, after in pairwise(heavy)
        if part.kind == "unknown" and after.kind == "word" and not after.soft
        and set(after.words) & set(sentences.table()["concepts"])
    ]  # fmt: skip
    asked += [  # what is counted: "1000 emails"
        after for (index, part), after in zip(enumerate(parts), parts[1:], strict=False)
        if set(part.meanings) == {"1"} and index not in cues.values() and after.kind == "unknown"
    ]  # fmt: skip
    options = [part for part in unknown if part.text.startswith("-")]
    bad = numbers or options or asked or (unknown if len(unknown) > _MOST_UNKNOWN else [])
    if bad:
        listed = ", ".join(repr(excerpt(part.text)) for part in bad[:4])
        raise DomainError("sentence-part-unknown", "sentence", shown, parts=listed)
    spans = [span.end() for span in re.finditer(r"[^?]+", sentence)]
    asking = [
        part for index, part in enumerate(parts)
        if part.kind in ("word", "target") and index not in cues
    ]  # fmt: skip
    spoken = {next((end for end in spans if part.start < end), 0) for part in asking}
    if len(spoken) > 1:
        raise DomainError("sentence-asks-twice", "sentence", shown)


def _fits(row: Mapping[str, Any], parts: Sequence[Token], cues: Mapping[int, int]) -> list[_Fit]:
    """Return how a row can be filled: not at all, or with each reading of a doubtful role."""
    asks, must = set(row.get("asks", ())), set(row.get("must", ()))
    places = asks | must | set(row.get("also", ())) | set(sentences.table()["any"]["concepts"])
    own = [*row["needs"], *row.get("takes", {})]
    if {part.text.lower() for part in parts} & set(row.get("never", ())):
        return []
    there: set[str] = set()
    apart: list[Token] = []
    unsaid: set[str] = set()  # roles that are named without a number: "with jumbo frames"
    for index, part in enumerate(parts):
        if index in cues:
            there |= set(part.words) & places - set(sentences.table()["roles"])
            continue
        if part.kind == "target":
            there |= set(part.words) & places
        if part.kind == "word":
            fitting = set(part.words) & places
            if not fitting and not part.soft:
                if not set(part.words) <= set(sentences.table()["roles"]):
                    return []
                apart.append(part)
            there |= fitting
            if not part.soft and not sentences.counts(part):
                unsaid |= set(part.words) & set(row.get("takes", {})) - asks - must
    if not must <= there or (asks and not asks & there and not row.get("given")):
        return []
    if not asks & there and not must and _asks_more(parts):
        return []
    is_formula = row["formula"] != "convert"
    if is_formula and _asks_number(parts) and formula(row["formula"]).unit in _NO_NUMBERS:
        return []
    score = 2 * len(must & there) + len(asks & there)
    options = _options(row, own, parts, cues)
    if options is None:
        return []
    fits = []
    for filled in _filled(options):
        if not _named_so(row, filled) or not all(_is_later(part, filled, parts) for part in apart):
            continue
        if not _is_apiece(row, filled, parts):
            continue
        silent = row.get("given") if not asks & there else None
        if isinstance(silent, list) and not all(
            n in filled and filled[n].by and _has_own_word(n, filled[n]) for n in silent
        ):
            continue
        missing = tuple(n for n in (*row["needs"], *sorted(unsaid)) if n not in filled)
        if not missing or asks & there:
            fits.append(_Fit(row, filled, score, missing))
    return fits


def _filled(options: Sequence[Sequence[tuple[str, _Role]]]) -> list[dict[str, _Role]]:
    """Return the ways to give each part a role of its own; those that clash are left at once."""
    ways: list[dict[str, _Role]] = [{}]
    for found in options:
        ways = [{**way, name: role} for way in ways for name, role in found if name not in way]
    return ways


def _is_later(word: Token, filled: Mapping[str, _Role], parts: Sequence[Token]) -> bool:
    """Whether a role's quantity comes later, with no word beside it: ``window is stuck at``.

    Behind a ``for`` it does not: ``line rate needed for 900 Mbit/s goodput``.
    """
    later = [
        filled[name].token.start for name in word.words
        if name in filled and not filled[name].by and filled[name].token.start > word.start
    ]  # fmt: skip
    return any(
        after.start == start and before.text.lower() != "for"
        for start in later for before, after in pairwise(parts)
    )  # fmt: skip


def _asks_number(parts: Sequence[Token]) -> bool:
    """Whether a number of what a word is for is asked: ``how many parallel links``."""
    for index, part in enumerate(parts):
        if part.text.lower() == "many":
            after = next((p for p in parts[index + 1 :] if p.kind != "filler"), None)
            if after is not None and after.kind == "word":
                return True
    return False


def _asks_twice(parts: Sequence[Token], cues: Mapping[int, int]) -> bool:
    """Whether two words of what is asked have an ``and`` between them: ``throughput and bdp``."""
    alone = [
        part for index, part in enumerate(parts)
        if part.kind != "filler" and not (part.kind == "word" and index in cues)
    ]  # fmt: skip
    for first, between, second in zip(alone, alone[1:], alone[2:], strict=False):
        words = (first, second)
        if between.text.lower() in ("and", "&") and all(
            part.kind == "word" and not part.soft for part in words
        ):
            return not {"nagle", "delayedack"} & {*first.words, *second.words}
    return False


def _asks_more(parts: Sequence[Token]) -> bool:
    """Whether a question goes on with a word: ``how much delay``, and not ``how much in 2 h``."""
    for index, part in enumerate(parts):
        if part.kind == "question":
            after = next((p for p in parts[index:] if p.kind not in ("question", "filler")), None)
            if after is not None and after.kind in ("word", "unknown"):
                return True
    return False


def _named_so(row: Mapping[str, Any], filled: Mapping[str, _Role]) -> bool:
    """Whether the roles have the names, and the sizes, that a row is for."""
    texts = {name: role.meaning.text for name, role in filled.items()}
    small, large = row.get("small"), row.get("large")
    return (
        all(texts[n] in only for n, only in row.get("only", {}).items() if n in texts)
        and not any(texts[n] in those for n, those in row.get("except", {}).items() if n in texts)
        and (small is None or small[0] not in filled or filled[small[0]].meaning.value <= small[1])
        and not any(
            filled[first].meaning.value >= filled[second].meaning.value
            for first, second in pairwise(row.get("sorted", ()))
            if first in filled and second in filled
        )
        and _is_tally(row, filled)
        and all(
            _has_own_word(name, filled[name]) for name in row.get("strict", ()) if name in filled
        )
        and all(_SPREAD.search(filled[n].token.text) for n in row.get("spread", ()) if n in filled)
        and all(
            bool(re.search(sentences.table()["patterns"][pattern], filled[name].token.text))
            is (wanted == "like")
            for wanted in ("like", "unlike")
            for name, pattern in row.get(wanted, {}).items()
            if name in filled
        )
        and not any(
            filled[name].meaning.value in values
            for name, values in row.get("no_sizes", {}).items()
            if name in filled
        )
        and (large is None or large[0] not in filled or filled[large[0]].meaning.value > large[1])
    )


def _has_own_word(name: str, role: _Role) -> bool:
    """Whether a role is not read from the word of another one."""
    return role.said in ("", sentences.table()["roles"][name]["said"])


def _is_tally(row: Mapping[str, Any], filled: Mapping[str, _Role]) -> bool:
    """Whether as many are listed as are counted: ``two lines of 99% and 98%``."""
    count, listed = (filled.get(name) for name in row.get("tally", ("", "")))
    return (
        count is None or listed is None or count.meaning.value == listed.meaning.text.count(";") + 1
    )


def _is_apiece(row: Mapping[str, Any], filled: Mapping[str, _Role], parts: Sequence[Token]) -> bool:
    """Whether a size is of each that is counted: not ``2 GB in 3 files`` and ``2 GB total``."""
    count, size = (filled.get(name) for name in row.get("apiece", ("", "")))
    if count is None or size is None:
        return True
    after = [part.text.lower() for part in parts if part.start > size.token.start][:2]
    is_first = count.token.start < size.token.start or "each" in after
    return is_first and not {"total", "overall", "combined"} & set(after)


def _options(
    row: Mapping[str, Any], own: Sequence[str], parts: Sequence[Token], cues: Mapping[int, int]
) -> list[list[tuple[str, _Role]]] | None:
    """Return for each quantity and name the roles it may have in a row; None if one has none."""
    words = {at: parts[i] for i, at in cues.items()}
    cued = {at: index for index, at in cues.items()}
    options: list[list[tuple[str, _Role]]] = []
    bare: list[Token] = []
    taken: set[str] = set()
    for index, part in enumerate(parts):
        if part.kind == "name":
            if part.words[0] not in own:
                return None
            meaning = Meaning(0.0, part.value)
            options.append([(part.words[0], _Role(part, meaning, "text"))])
        elif (
            part.kind == "quantity" and index in words and row.get("many") not in words[index].words
        ):
            found = list(_of_word(own, words[index], part, behind=cued[index] < index))
            if not found:
                return None
            taken |= {name for name, _ in found}
            options.append(found)
        elif part.kind == "quantity":
            bare.append(part)
    return _bare_options(row, own, bare, taken, options)


def _bare_options(
    row: Mapping[str, Any],
    own: Sequence[str],
    parts: Sequence[Token],
    taken: set[str],
    options: list[list[tuple[str, _Role]]],
) -> list[list[tuple[str, _Role]]] | None:
    """Add the roles that quantities without a word may have in a row; None if that is open.

    Two of them that may have the same role are in order of their size, or all of one role, where
    the row says so.
    """
    free = {id(part): _free(row, own, part, taken) for part in parts}
    if not all(free.values()):
        return None
    order, many = row.get("sorted", ()), row.get("many")
    if many and len(parts) > 1 and all(many in [name for name, _ in free[id(p)]] for p in parts):
        texts = "; ".join(free[id(part)][0][1].meaning.text for part in parts)
        every = replace(parts[0], text=", ".join(part.text for part in parts))
        return [*options, [(many, _Role(every, Meaning(0.0, texts), "text"))]]
    names_of = [{name for name, _ in free[id(part)]} for part in parts]
    doubtful = [
        part for part, names in zip(parts, names_of, strict=True)
        if any(names & others for others in names_of if others is not names)
    ]  # fmt: skip
    if doubtful and (len(doubtful) != len(order) or not all(names_of[0] >= {n} for n in order)):
        return None
    for part in parts:
        if part not in doubtful:
            options.append(free[id(part)][:1] if len(part.meanings) > 1 else free[id(part)])
    if doubtful:
        doubtful.sort(key=lambda part: free[id(part)][0][1].meaning.value)
        for name, part in zip(order, doubtful, strict=True):
            options.append([pair for pair in free[id(part)] if pair[0] == name])
    return options


def _free(
    row: Mapping[str, Any], own: Sequence[str], part: Token, taken: set[str]
) -> list[tuple[str, _Role]]:
    """Return the roles of a row that a quantity without a word may have."""
    known, found = sentences.table()["roles"], []
    for name in own:
        if name in taken or name not in known:
            continue
        facts = known[name]
        is_bare = facts.get("bare", True) or name in row.get("bare", ())
        if not is_bare or name in row.get("cued", ()):
            continue
        if name in row.get("plain", ()) and set(part.meanings) == {"1"}:
            size = part.meanings["1"][0]
            if 64 <= size.value <= 9216:
                meaning = Meaning(size.value, f"{size.text}B")
                found.append((name, _Role(part, meaning, facts["units"][0])))
            continue
        for unit in facts.get("bare_units", facts["units"]):
            is_count = name in row.get("counts", ()) and set(part.meanings) == {"1"}
            fitting = part.meanings.get(unit, ()) if unit != "1" or is_count else ()
            found += [
                (name, _Role(part, one, unit))
                for one in fitting
                if facts.get("least_bare", -inf) <= one.value <= facts.get("most_bare", inf)
            ]
    first = found[0][0] if found else ""
    return found if row.get("sorted") else [pair for pair in found if pair[0] == first]


def _of_word(
    own: Sequence[str], word: Token, part: Token, *, behind: bool
) -> list[tuple[str, _Role]]:
    """Return the roles of a quantity that has a word beside it, those that the row has first."""
    known = sentences.table()["roles"]
    found: list[tuple[str, _Role]] = []
    for role in word.words:
        if role not in known:
            continue
        meanings = sentences.may_be(role, part, behind=behind)
        if not meanings:
            continue
        unit = next(u for u in (*known[role]["units"], "1") if u in part.meanings or u == "1")
        unit = known[role]["units"][0] if unit == "1" and known[role]["units"] != ["1"] else unit
        most = known[role].get("most")
        if most is not None and meanings[0].value > most:
            limit = units.show(most, unit)
            raise DomainError(
                "sentence-beyond", "sentence", part.text, role=known[role]["said"], limit=limit
            )
        targets = [(role, 1.0)] if role in own else known[role].get("as", ())
        found += [
            (name, _Role(part, one, unit, word.text, factor, known[role]["said"]))
            for name, factor in targets
            if name in own
            for one in meanings
        ]
    return found


def _reading(fit: _Fit, target: str) -> Reading:
    """Answer a row.

    Raises
    ------
    DomainError, UnitError
        If a number is impossible, or the answer cannot be in the unit that is wanted.
    """
    row = fit.row
    steps: list[str] = []
    assumed = [row["said"]] if row.get("said") else []
    if row["formula"] == "convert":
        return _converted(fit, target)
    model = formula(row["formula"])
    texts = _texts(model, row["args"], fit, steps)
    session = Session(model, texts)
    shown_command = _command(model, texts)
    if "solve" in row:
        parameter = model.parameter(row["solve"])
        wanted = _text(row["for"], fit, steps, model.unit)
        answer = session.solve(parameter.name, wanted)
        roots = answer.document["roots"]
        if len(roots) != 1:
            raise DomainError("sentence-no-answer", "sentence", row["title"])
        value, unit = float(roots[0]["value"]), parameter.unit
        shown_command += f" --solve {model.option(parameter.name)} --for {shlex.quote(wanted)}"
        equation = model.equation_text(session.arguments)
    else:
        session.require()
        answer = session.value()
        value, unit = float(np.reshape(answer.parts["result"], ())), model.unit
        equation = model.equation_text(session.arguments, value)
    loads = [_number(each, fit, [], "1") for each in row.get("below", ())]
    if not isfinite(value) or (len(loads) == 2 and (loads[0] or 0) >= (loads[1] or 0)):
        raise DomainError("sentence-unbounded", "sentence", row["title"])
    assumed += [
        f"{_said(name)} {text}"
        for name, text in row.get("takes", {}).items()
        if text and name not in fit.roles
    ]
    assumed += [f"{model.label(name)} {model.said_defaults[name] or model.parameter(name).show(v)}"
                for name, v in answer.assumed.items()
                if name not in row.get("silent", ())]  # fmt: skip
    text = "; ".join(answer.lines)
    bound = fit.roles.get(row.get("at_most", ""))
    if bound is not None and value > bound.meaning.value:
        raise DomainError("sentence-above-line", "sentence", text, line=bound.token.text)
    if unit == "bit/s" and (layer := _layer(fit)):
        text = named(units.show(value, unit), layer)
    if target:
        text = _in_unit(value, unit, target, text)
    return Reading(
        row["name"], row["title"], command(model), value, unit, text, equation, texts,
        _given(fit), tuple(dict.fromkeys(assumed)), tuple(answer.notes), shown_command,
        tuple(dict.fromkeys(steps)),
    )  # fmt: skip


def _layer(fit: _Fit) -> str:
    """Return the layer of a rate where it is not that of the formula; else nothing."""
    given = fit.roles.get("layer")
    named_layer = sentences.table()["layers"][given.meaning.text] if given else ""
    return str(fit.row.get("layer", named_layer))


def _texts(model: Formula, args: Mapping[str, Any], fit: _Fit, steps: list[str]) -> dict[str, str]:
    """Return the arguments of a formula that the roles of a row fill, as text."""
    texts = {}
    for name, expression in args.items():
        parameter = model.parameter(name)
        text = _text(expression, fit, steps, parameter.unit)
        if text:
            texts[parameter.name] = text
    return {p.name: texts[p.name] for p in model.parameters if p.name in texts}


def _text(expression: Any, fit: _Fit, steps: list[str], unit: str) -> str:
    """Return what an expression of a row gives as text; empty where a role is not given."""
    if isinstance(expression, str) and expression.startswith("="):
        return expression[1:].replace(" ", "")
    if isinstance(expression, str):
        given = fit.roles.get(expression)
        if given is None:
            return str(fit.row.get("takes", {}).get(expression, "")).replace(" ", "")
        if given.factor == 1.0:
            return given.meaning.text
    number = _number(expression, fit, steps, unit)
    return "" if number is None else _written(number, unit)


def _number(expression: Any, fit: _Fit, steps: list[str], unit: str) -> float | None:
    """Return what an expression of a row gives as a number in a unit; None without its roles.

    Raises
    ------
    DomainError
        If it is not finite.
    """
    if isinstance(expression, int | float):
        return float(expression)
    if isinstance(expression, str):
        given = fit.roles.get(expression)
        if given is not None and given.unit != "text":
            return given.meaning.value * given.factor
        text = _text(expression, fit, steps, unit)
        kind = next(iter(sentences.table()["roles"].get(expression, {}).get("units", [unit])))
        if expression.startswith("="):
            kinds = units.kinds_of(re.sub(r"^[\d.]+", "", text)) or [unit]
            kind = unit if unit in kinds else kinds[0]
        return units.parse_typed(text, kind) if text else None
    operation, *operands = expression
    if operation == "f":
        model = formula(operands[0])
        texts = _texts(model, operands[1], fit, steps)
        steps.append(_command(model, texts))
        session = Session(model, texts)
        session.require()
        return float(np.reshape(session.value().parts["result"], ()))
    numbers = [_number(operand, fit, steps, unit) for operand in operands]
    if any(number is None for number in numbers):
        return None
    try:
        result = _computed(operation, *[number for number in numbers if number is not None])
    except ArithmeticError:
        result = inf
    if not isfinite(result):
        raise DomainError("sentence-no-answer", "sentence", fit.row["title"])
    return result


def _computed(operation: str, first: float, *rest: float) -> float:
    match operation:
        case "*":
            return first * prod(rest)
        case "/":
            return first / prod(rest)
        case "+":
            return first + sum(rest)
        case "^":
            return float(pow(first, rest[0])) if first >= 0 else inf
    return first - sum(rest)


def _written(number: float, unit: str) -> str:
    text = f"{number:.15g}" if unit == "1" else units.show(number, unit, digits=15)
    if unit == "byte" and units.parse_typed(text, unit) != number:
        text = f"{number:.15g}B"  # 65.008 kB is a little more than 65,008 bytes
    return re.sub(r"(?<=\d) (?=[A-Za-zµ%])", "", text)


def _command(model: Formula, texts: Mapping[str, str]) -> str:
    words = [f"netcalc calc {command(model)}"]
    for index, parameter in enumerate(model.parameters):
        if (text := texts.get(parameter.name)) is not None:
            option = "" if index == 0 else f"--{model.option(parameter.name)} "
            words.append(option + shlex.quote(text))
    return " ".join(words)


def _said(role: str) -> str:
    """Return what a role is called in an answer."""
    known = sentences.table()
    return str(known["roles"].get(role, {}).get("said") or known["said"].get(role, role))


def _given(fit: _Fit) -> tuple[Given, ...]:
    """Return the quantities and names of a reading with their roles, in the order of the text."""
    found = []
    for name, given in fit.roles.items():
        said = _said(name)
        notes = []
        if given.said and given.said != said:
            times = "" if given.factor == 1 else f" {given.factor:g} times"
            notes.append(f"read as{times}")
        if given.meaning.note:
            notes.append(f"read as {given.meaning.text}")
        said = f"{said} ({', '.join(notes)})" if notes else said
        found.append(
            Given(name, said, given.meaning.text, given.token.text, given.token.start, given.by)
        )
    return tuple(sorted(found, key=lambda one: one.start))


def _in_unit(value: float, unit: str, target: str, text: str) -> str:
    """Return an answer in the unit that is wanted.

    Raises
    ------
    UnitError
        If the unit measures something else.
    """
    if unit not in units.kinds_of(target):
        kinds = units.kinds_of(target)
        raise units.not_comparable(unit, target, unit, kinds[0] if kinds else "1")
    return f"{value / units.parse_typed(f'1 {target}', unit):.6g} {target} ({text})"


def _converted(fit: _Fit, target: str) -> Reading:
    """Return a quantity in another unit."""
    ((name, given),) = fit.roles.items()
    value, unit = given.meaning.value, given.unit
    target = target or ("Mbit/s" if unit == "bit/s" else unit)
    text = _in_unit(value, unit, target, units.show(value, unit))
    source = given.token.text
    return Reading(
        fit.row["name"], fit.row["title"], "convert", value, unit, text, "", {name: source},
        (Given(name, "quantity", source, source, given.token.start),), (), (),
        f"netcalc convert {shlex.quote(given.meaning.text)} {shlex.quote(target)}",
    )  # fmt: skip


def _spoken(error: DomainError) -> dict[str, Any]:
    """Return the argument of an error as people call it, and its number with the unit."""
    name, unit, value = error.name, unit_of_name(error.name), error.value
    spoken: dict[str, Any] = {"name": SUFFIX.sub("", name).replace("_", " ")}
    if unit and isinstance(value, int | float):
        spoken |= {"value": units.show(value, unit), "unit": unit}
    return spoken


def _distinct(readings: Sequence[Reading], minor: Collection[str]) -> list[Reading]:
    """Return readings without those that another one gives, too: of a minor one within 1 %."""
    by_command = {reading.command: reading for reading in reversed(readings)}
    every = list(reversed(by_command.values()))
    return [
        one for one in every
        if one.question not in minor
        or not any(
            abs(one.value - other.value) <= _ALIKE * abs(other.value)
            for other in every if other is not one
        )
    ]  # fmt: skip


def _refused(
    sentence: str, parts: Sequence[Token], cues: Mapping[int, int], fits: Sequence[_Fit]
) -> NetcalcError:
    """Return why no row fits: what is missing, or what has no place."""
    shown = excerpt(sentence)
    if fits:
        nearest = min(fits, key=lambda fit: (-fit.score, len(fit.missing)))
        lacking = [_said(name) for name in nearest.missing]
        return DomainError(
            "sentence-lacks", "sentence", shown,
            title=nearest.row["title"], lacking=", ".join(lacking),
        )  # fmt: skip
    plain = [
        p.text for i, p in enumerate(parts)
        if p.kind == "quantity" and set(p.meanings) == {"1"} and i not in cues.values()
    ]  # fmt: skip
    if plain:
        return DomainError("sentence-no-unit", "sentence", shown, parts=", ".join(map(repr, plain)))
    said = [p.text for p in parts if p.kind in ("word", "name", "quantity", "unknown")]
    return DomainError(
        "sentence-no-formula", "sentence", shown, parts=", ".join(repr(t) for t in said[:8])
    )


def begins_a_question(word: str) -> bool:
    """Whether a word is one of the table, spelled as there.

    Examples
    --------
    >>> begins_a_question("bandwidth"), begins_a_question("bandwith")
    (True, False)
    """
    parts = sentences.tokens(word)
    return len(parts) == 1 and parts[0].kind != "unknown" and not parts[0].read_as
