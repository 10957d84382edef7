"""The search of formulas: words, their stems and synonyms, ranked by where they are found.

A word counts most in the name of a formula or in what people ask it for
(:data:`netcalc.calculator.search_words.TAGS`), less in its summary, little in its arguments and
source; a synonym counts less than the word itself, and a word that many formulas have less than a
rare one. A formula that has all words comes before one that has some.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

from netcalc.calculator.names import ARGUMENT_ALIASES
from netcalc.calculator.search_words import (
    DATASETS,
    MORE_PHRASES,
    MORE_SYNONYMS,
    MORE_TAGS,
    MOST_NEEDED,
    PHRASES,
    PLACE,
    PLACES,
    SYNONYMS,
    TAGS,
)

if TYPE_CHECKING:
    from netcalc.calculator.catalogue import Formula

WEIGHTS = {"name": 5.0, "tags": 5.0, "summary": 3.0, "subject": 2.0, "arguments": 1.0,
           "called": 0.4, "text": 0.5}  # fmt: skip
"""What a word counts by the place where it is found."""
_SYNONYM, _PHRASE, _NEEDED = 0.6, 4.0, 1.1
_LEAST_SCORE = 0.7
"""Score below which a formula is not found: a word in its notes alone."""
_LEAST = 0.2
"""Share of the best score below which a formula is left out."""
_FILLERS = frozenset(
    {
        "no", "not", "such", "thing", "some",
        "a", "about", "an", "and", "any", "are", "as", "at", "be", "between", "by", "can",
        "calculate", "compute", "do", "does", "each", "find", "for", "from", "get", "give",
        "gives", "given", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its",
        "like", "make", "many", "me", "much", "my", "need", "needed", "needs", "of", "on",
        "n", "p", "after", "before", "during", "only", "very", "too", "while", "did", "was",
        "own", "real", "really", "best", "good", "right", "work", "use", "using", "used", "got",
        "one", "or", "our", "out", "per", "should", "so", "take", "takes", "than", "that",
        "the", "their", "there", "this", "through", "to", "via", "want", "we",
        "what", "when", "which", "why", "will", "with", "would", "you", "your", "over",
        "calculator", "formula", "network", "required", "require", "tcp/ip",
    }
)  # fmt: skip
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
        plain = plain.replace(f" {phrase} ", f" {_PHRASES[phrase]} ")
    found: list[str] = []
    for word in plain.split():
        if word in _FILLERS:
            continue
        word = PLACE if word in PLACES else _named(word)
        if _SMALL_NUMBER.fullmatch(word):
            continue
        joined = re.sub(r"[./]", "", word)
        found += [joined] if re.search(r"\d", word) else re.split(r"[./]+", word)
    return [stem(one) for one in found if one and one not in _FILLERS]


_PHRASES = {**PHRASES, **MORE_PHRASES}
_PHRASES_LONGEST_FIRST = sorted(_PHRASES, key=len, reverse=True)


@cache
def _synonyms() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for table in (SYNONYMS, MORE_SYNONYMS):
        for word, others in table.items():
            found.setdefault(stem(word), {}).update({stem(one): _SYNONYM for one in others})
    return found


def datasets(query: str) -> list[str]:
    """Return the bundled tables that answer a question, too.

    Examples
    --------
    >>> datasets("5G latency"), datasets("vxlan")
    (['access_latencies'], [])
    """
    asked = set(re.findall(r"\w+", query.lower()))
    return [name for name, known in DATASETS.items() if asked & set(known)]


def ranked(query: str, formulas: Iterable[Formula]) -> list[Formula]:
    """Return the formulas that a query finds, the best first.

    A word that no formula has is taken for the nearest that one has, or left out.
    """
    every = list(formulas)
    fields = {formula.name: _fields(formula) for formula in every}
    known = _document_counts(tuple(every))
    asked = [meant for word in dict.fromkeys(words(query)) if (meant := _known(word, known))]
    if not asked:
        return []
    count = len(every)
    scored = []
    phrase = " ".join(words(query))
    for index, formula in enumerate(every):
        score = _score(asked, fields[formula.name], known, count)
        if score >= _LEAST_SCORE:
            score += _phrase_score(formula, phrase)
            score *= (
                _NEEDED
                if formula.short_name in MOST_NEEDED or (formula.function_name in MOST_NEEDED)
                else 1.0
            )
            scored.append((-score, index, formula))
    scored.sort(key=lambda one: one[:2])
    best = scored[0][0] if scored else 0.0
    return [formula for score, _, formula in scored if score <= best * _LEAST]


def _known(word: str, known: Mapping[str, int]) -> dict[str, float] | None:
    """Return a word and its synonyms with their shares; None if no formula has any of them."""
    meant = {word: 1.0, **{w: s for w, s in _synonyms().get(word, {}).items() if w != word}}
    if any(one in known for one in meant):
        return meant
    near = get_close_matches(word, [*known, *_synonyms()], n=1, cutoff=0.8)
    if near:
        return {near[0]: 1.0, **_synonyms().get(near[0], {})}
    return None


def _score(
    asked: list[dict[str, float]],
    fields: Mapping[str, float],
    known: Mapping[str, int],
    count: int,
) -> float:
    total, matched = 0.0, 0.0
    for meant in asked:
        best, share = 0.0, 0.0
        for word, factor in meant.items():
            if word in fields:
                rare = math.log(1 + count / known[word]) / math.log(1 + count)
                value = fields[word] * factor * rare
                if value > best:
                    best, share = value, factor
        total += best
        matched += share if best else 0.0
    return total * matched / len(asked)


def _phrase_score(formula: Formula, query: str) -> float:
    """Return what it counts that a query is what people ask a formula for, or contains it."""
    best = 0.0
    for tag in _tags(formula):
        if tag and f" {tag} " in f" {query} ":
            best = max(best, _PHRASE * len(tag.split()) / max(1, len(query.split())))
    return best


def asked_for(formula: Formula) -> tuple[str, ...]:
    """Return what people ask a formula for, in their words."""
    names = dict.fromkeys((formula.short_name, formula.function_name))
    return tuple(
        one for table in (TAGS, MORE_TAGS) for name in names for one in table.get(name, ())
    )


def synonyms() -> dict[str, tuple[str, ...]]:
    """Return words of a question, each with others that mean the same."""
    found: dict[str, tuple[str, ...]] = {}
    for table in (SYNONYMS, MORE_SYNONYMS):
        for word, others in table.items():
            found[word] = tuple(dict.fromkeys((*found.get(word, ()), *others)))
    return found


@cache
def _tags(formula: Formula) -> tuple[str, ...]:
    return tuple(" ".join(words(tag)) for tag in asked_for(formula))


@cache
def _fields(formula: Formula) -> dict[str, float]:
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
    found: dict[str, float] = {}
    for place, text in texts.items():
        for word in text.split() if place == "tags" else words(text):
            found[word] = max(found.get(word, 0.0), WEIGHTS[place])
    return found


@cache
def _document_counts(formulas: tuple[Formula, ...]) -> dict[str, int]:
    """Return in how many formulas each word is found."""
    counts: dict[str, int] = {}
    for formula in formulas:
        for word in _fields(formula):
            counts[word] = counts.get(word, 0) + 1
    return counts
