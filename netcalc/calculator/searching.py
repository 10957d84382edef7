"""The search of formulas: words, their stems and synonyms, ranked by where they are found.

A word counts most in the name of a formula or in what people ask it for
(:data:`.vocabulary.TAGS`), less in its summary, little in its arguments and
source; a synonym counts less than the word itself, and a word that many formulas have less than a
rare one. A formula that has all words comes before one that has some.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Protocol, TypeVar

from netcalc.calculator import vocabulary
from netcalc.calculator.names import ARGUMENT_ALIASES
from netcalc.calculator.parameter import Parameter


class Searched(Protocol):
    """What the search looks at: the texts of a formula."""

    def __hash__(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def short_name(self) -> str: ...
    @property
    def function_name(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def validity(self) -> str: ...
    @property
    def parameters(self) -> tuple[Parameter, ...]: ...


SearchedFormula = TypeVar("SearchedFormula", bound=Searched)

WEIGHTS = {"name": 5.0, "tags": 5.0, "summary": 3.0, "subject": 2.0, "arguments": 1.0,
           "called": 0.4, "text": 0.5}  # fmt: skip
"""What a word counts by the place where it is found."""
_SYNONYM, _PHRASE, _NEEDED = 0.6, 4.0, 1.1
_LEAST_SCORE = 0.7
"""Score below which a formula is not found: a word in its notes alone."""
_LEAST = 0.2
"""Share of the best score below which a formula is left out."""
_PHRASES_LONGEST_FIRST = sorted(vocabulary.PHRASES, key=len, reverse=True)
_SMALL_NUMBER = re.compile(r"\d{1,2}%?|\d+(?:\.\d+)?(?:ms|us|kb|mb|gb|tb|s|h)")
"""Numbers and quantities of a question, which are in no formula's words."""
_CARRIER = re.compile(r"(?:ds|t|e)-?[13]")
"""Lines of the T and E carriers by name."""
_K_OF_N = re.compile(r" (?:\d+|one|two|three|four|k|m) (?:out )?of (?:\d+|two|three|four|five|n) ")
_NINES = re.compile(r"99\.\d+")
"""Shares by which people name an availability."""
_SPELLINGS = (("fibre", "fiber"), ("centre", "center"), ("isation", "ization"), ("metre", "meter"))
_ENDINGS = ("ization", "ation", "ating", "ings", "ing", "ers", "ed", "ies", "es", "s", "e", "y")


def stem(word: str) -> str:
    """Return a word without its ending, so that ``fragmentation`` and ``fragments`` are one.

    Examples
    --------
    >>> stem("fragmentation"), stem("fragments"), stem("queueing"), stem("queue")
    ('fragment', 'fragment', 'queu', 'queu')
    """
    for british, american in _SPELLINGS:
        word = word.replace(british, american)
    if word.endswith("ss"):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    if word.endswith("e") and len(word) > 4:
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] else word


def _named(word: str) -> str:
    """Return the word for what a name is one of: a share of nines, a carrier's line."""
    if _NINES.fullmatch(word):
        return "nines"
    return "t1" if _CARRIER.fullmatch(word) else word


def words(text: str) -> list[str]:
    """Return the stems of a text, with several words that mean one thing as one.

    Examples
    --------
    >>> words("How many packets per second?")
    ['count', 'pps']
    """
    plain = " " + re.sub(r"[^\w./]+", " ", text.lower().replace("'s ", " ")) + " "
    plain = _K_OF_N.sub(" kofn ", plain)
    for phrase in (*_PHRASES_LONGEST_FIRST, *_PHRASES_LONGEST_FIRST):  # some are of others
        plain = plain.replace(f" {phrase} ", f" {vocabulary.PHRASES[phrase]} ")
    stems: list[str] = []
    for word in plain.split():
        if word in vocabulary.FILLERS:
            continue
        word = vocabulary.PLACE if word in vocabulary.PLACES else _named(word)
        if _SMALL_NUMBER.fullmatch(word):
            continue
        joined = re.sub(r"[./]", "", word)
        stems += [joined] if re.search(r"\d", word) else re.split(r"[./]+", word)
    return [stem(part) for part in stems if part and part not in vocabulary.FILLERS]


@cache
def _synonyms() -> dict[str, dict[str, float]]:
    by_stem: dict[str, dict[str, float]] = {}
    for word, others in vocabulary.SYNONYMS.items():
        by_stem.setdefault(stem(word), {}).update({stem(other): _SYNONYM for other in others})
    return by_stem


def datasets(query: str) -> list[str]:
    """Return the bundled tables that answer a question, too.

    Examples
    --------
    >>> datasets("5G latency"), datasets("vxlan")
    (['access_latencies'], [])
    """
    asked = set(re.findall(r"\w+", query.lower()))
    return [name for name, topics in vocabulary.DATASETS.items() if asked & set(topics)]


def ranked(query: str, formulas: Iterable[SearchedFormula]) -> list[SearchedFormula]:
    """Return the formulas that a query finds, the best first.

    A word that no formula has is taken for the nearest that one has, or left out.
    """
    every = list(formulas)
    fields = {formula.name: _fields(formula) for formula in every}
    counts = _document_counts(tuple(every))
    asked = [meant for word in dict.fromkeys(words(query)) if (meant := _known(word, counts))]
    if not asked:
        return []
    count = len(every)
    scored = []
    phrase = " ".join(words(query))
    for index, formula in enumerate(every):
        score = _score(asked, fields[formula.name], counts, count)
        if score >= _LEAST_SCORE:
            score += _phrase_score(formula, phrase)
            if any(name in vocabulary.MOST_NEEDED for name in _names(formula)):
                score *= _NEEDED
            scored.append((-score, index, formula))
    scored.sort(key=lambda row: row[:2])
    best = scored[0][0] if scored else 0.0
    return [formula for score, _, formula in scored if score <= best * _LEAST]


def _known(word: str, counts: Mapping[str, int]) -> dict[str, float] | None:
    """Return a word and its synonyms with their shares; None if no formula has any of them."""
    meant = {word: 1.0, **{w: s for w, s in _synonyms().get(word, {}).items() if w != word}}
    if any(meaning in counts for meaning in meant):
        return meant
    near = get_close_matches(word, [*counts, *_synonyms()], n=1, cutoff=0.8)
    if near:
        return {near[0]: 1.0, **_synonyms().get(near[0], {})}
    return None


def _score(
    asked: list[dict[str, float]],
    fields: Mapping[str, float],
    counts: Mapping[str, int],
    count: int,
) -> float:
    total, matched = 0.0, 0.0
    for meant in asked:
        best, share = 0.0, 0.0
        for word, factor in meant.items():
            if word in fields:
                rare = math.log(1 + count / counts[word]) / math.log(1 + count)
                value = fields[word] * factor * rare
                if value > best:
                    best, share = value, factor
        total += best
        matched += share if best else 0.0
    return total * matched / len(asked)


def _phrase_score(formula: Searched, query: str) -> float:
    """Return what it counts that a query is what people ask a formula for, or contains it."""
    best = 0.0
    for tag in _tags(formula):
        if tag and f" {tag} " in f" {query} ":
            best = max(best, _PHRASE * len(tag.split()) / max(1, len(query.split())))
    return best


def asked_for(formula: Searched) -> tuple[str, ...]:
    """Return what people ask a formula for, in their words."""
    return tuple(phrase for name in _names(formula) for phrase in vocabulary.TAGS.get(name, ()))


def _names(formula: Searched) -> dict[str, None]:
    """Return the names by which the tables may have a formula, each once."""
    return dict.fromkeys((formula.short_name, formula.function_name))


@cache
def _tags(formula: Searched) -> tuple[str, ...]:
    return tuple(" ".join(words(tag)) for tag in asked_for(formula))


@cache
def _fields(formula: Searched) -> dict[str, float]:
    """Return the words of a formula, each with what it counts at its best place."""
    texts = {
        "name": formula.short_name.replace("_", " "),
        "tags": " ".join(_tags(formula)),
        "summary": f"{formula.title} {formula.summary}",
        "subject": formula.subject.replace("_", " "),
        "arguments": " ".join(p.short_name.replace("_", " ") for p in formula.parameters),
        "called": " ".join(
            alias.replace("_", " ")
            for alias, names in ARGUMENT_ALIASES.items()
            if any(p.short_name in names[:1] for p in formula.parameters)
        ),
        "text": f"{formula.source} {formula.validity} "
        + " ".join(p.description for p in formula.parameters),
    }
    weights: dict[str, float] = {}
    for place, text in texts.items():
        for word in text.split() if place == "tags" else words(text):
            weights[word] = max(weights.get(word, 0.0), WEIGHTS[place])
    return weights


@cache
def _document_counts(formulas: tuple[Searched, ...]) -> dict[str, int]:
    """Return in how many formulas each word is found."""
    counts: dict[str, int] = {}
    for formula in formulas:
        for word in _fields(formula):
            counts[word] = counts.get(word, 0) + 1
    return counts
