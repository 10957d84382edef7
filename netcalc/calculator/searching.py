"""The search of formulas: words, their stems and synonyms, ranked by where they are found.

A word counts most in the name of a formula or in what people ask it for
(:data:`.vocabulary.TAGS`), less in its summary, little in its arguments and
source; a synonym counts less than the word itself, and a word that many formulas have less than a
rare one. A formula that has all words comes before one that has some.

A question is answered with nothing if no formula has enough of the words that carry it: a word
that no formula has carries most. Words of practitioners lead to the formulas of :mod:`.terms`.
The calculator's page has the same search, over :func:`tables`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from typing import Any, Generic, Protocol, TypeVar

from netcalc.calculator import terms, vocabulary
from netcalc.calculator.names import ARGUMENT_ALIASES
from netcalc.calculator.parameter import Parameter
from netcalc.messages import Notice


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
_COVERED, _COVERED_KNOWN = 0.501, 0.3
"""Least share of a question that the best formula has: with words that none has, and without."""
_SURE_WEIGHT, _NEAREST = 1.0, 3
"""Weight from which a place has a word for sure; formulas that are named as the nearest."""
_LEAST_LETTERS, _LONG_LETTERS = 4, 7
"""Letters from which a word may be a misspelling: by one more or less, or two swapped; by
another."""
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
        for spelled in (phrase, f"{phrase}s"):
            plain = plain.replace(f" {spelled} ", f" {vocabulary.PHRASES[phrase]} ")
    stems: list[str] = []
    for word in plain.split():
        if word in vocabulary.FILLERS:
            continue
        word = vocabulary.PLACE if word in vocabulary.PLACES else _named(word)
        if _SMALL_NUMBER.fullmatch(word):
            continue
        joined = re.sub(r"[./]", "", word)
        stems += [joined] if re.search(r"\d", word) else re.split(r"[./_]+", word)
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


@dataclass(frozen=True)
class Matches(Generic[SearchedFormula]):
    """What a search found.

    Parameters
    ----------
    formulas : list
        Those that answer the question, the best first.
    terms : dict of str
        Words of the question that no formula is named by -> what they are.
    nearest : list
        Formulas beside the question, if none answers it.
    topic : str
        What the question is about, if it is known and netcalc has no formula for it.
    unknown : list of str
        Words that carry the question and that no formula has.
    """

    formulas: list[SearchedFormula]
    terms: dict[str, str] = field(default_factory=dict)
    nearest: list[SearchedFormula] = field(default_factory=list)
    topic: str = ""
    unknown: list[str] = field(default_factory=list)

    def nothing(self, words: str, nearest: list[str]) -> Notice:
        """Return why no formula answers some words, with the commands of the nearest."""
        values: dict[str, Any] = {"words": words, "nearest": nearest}
        if self.topic:
            values["topic"] = self.topic
            return Notice("topic-near" if nearest else "topic-elsewhere", values)
        if not nearest:
            return Notice("nothing-matches", values)
        if self.unknown:
            return Notice("words-unknown", {**values, "unknown": self.unknown})
        return Notice("words-apart", values)


def matches(query: str, formulas: Iterable[SearchedFormula]) -> Matches[SearchedFormula]:
    """Return the formulas that answer a query, the best first, or what is nearest to it.

    A word that no formula has is taken for one that a formula has if a letter is wrong.
    """
    every = list(formulas)
    by_name = {_dashed(formula): formula for formula in reversed(every)}
    text, asked = f" {_plain(query)} ", words(query)
    outside, inside = (_terms_of(text, spellings) for spellings in _spellings())
    for term in outside:
        if any(f" {term.stems} " in named for one in every for named in _named_texts(one)):
            continue  # a formula for it has been added
        nearest = [by_name[name] for name in term.formulas if name in by_name]
        rest = set(asked) - set(term.stems.split())
        answering = [one for one in nearest if rest and rest <= set(_tags(one))]
        said = {term.spelling: term.meaning}
        return Matches(answering, said, [] if answering else nearest, term.meaning)
    counts = _document_counts(tuple(every))
    meant = {word: _known(word, counts) for word in asked}
    ranking = _ranked([one for one in meant.values() if one], every, counts, " ".join(asked))
    of_terms = {word for term in inside for word in term.stems.split()}
    carrying = {
        word: one
        for word, one in meant.items()
        if word not in of_terms and word not in _general() and (one or not word[0].isdigit())
    }
    unknown = [word for word, one in carrying.items() if not one]
    is_named = any(
        named in text and " " in named.strip() for one in ranking for named in _named_texts(one)
    )
    least = _COVERED if unknown and not is_named else _COVERED_KNOWN
    shares = (_covered(carrying, formula, counts, len(every)) for formula in ranking)
    answering = ranking if max(shares, default=0.0) >= least else []
    named = [by_name[one] for term in inside for one in term.formulas if one in by_name]
    if named:
        is_known = answering and all(meant.get(word) for word in of_terms)
        both = [*answering, *named] if is_known else [*named, *answering]
        return Matches(list(dict.fromkeys(both)), {term.spelling: term.meaning for term in inside})
    if answering:
        return Matches(answering)
    typed = {stem(word): word for word in re.findall(r"\w+", query.lower())}
    missing = [typed.get(word, word) for word in unknown]
    return Matches([], nearest=ranking[:_NEAREST], unknown=missing)


def _ranked(
    asked: list[dict[str, float]],
    every: list[SearchedFormula],
    counts: Mapping[str, int],
    phrase: str,
) -> list[SearchedFormula]:
    """Return the formulas that have some of the words, those that have most first."""
    if not asked:
        return []
    scored = []
    for index, formula in enumerate(every):
        score = _score(asked, _fields(formula), counts, len(every))
        if score >= _LEAST_SCORE:
            score += _phrase_score(formula, phrase)
            if any(name in vocabulary.MOST_NEEDED for name in _names(formula)):
                score *= _NEEDED
            scored.append((-score, index, formula))
    scored.sort(key=lambda row: row[:2])
    best = scored[0][0] if scored else 0.0
    return [formula for score, _, formula in scored if score <= best * _LEAST]


def _covered(
    carrying: Mapping[str, Mapping[str, float] | None],
    formula: Searched,
    counts: Mapping[str, int],
    count: int,
) -> float:
    """Return which share of the words that carry a question a formula has, rare ones most."""
    fields = _fields(formula)
    total, covered = 0.0, 0.0
    for meanings in carrying.values():
        known = {word: share for word, share in (meanings or {}).items() if word in counts}
        weight = max((_rarity(counts[word], count) for word in known), default=1.0)
        shares = [
            share * min(1.0, fields[word] / _SURE_WEIGHT)
            for word, share in known.items()
            if word in fields
        ]
        total += weight
        covered += weight * max(shares, default=0.0)
    return covered / total if total else 1.0


def _rarity(times: int, count: int) -> float:
    return math.log(1 + count / times) / math.log(1 + count)


@dataclass(frozen=True)
class _Term:
    """A spelling of a term, as typed and in stems."""

    spelling: str
    stems: str
    meaning: str
    formulas: tuple[str, ...]


@cache
def _spellings() -> tuple[list[_Term], list[_Term]]:
    """Return the spellings of the topics elsewhere, and of the terms that lead to formulas."""
    outside, inside = (
        [
            _Term(spelling, _plain(spelling), meaning, tuple(names.split()))
            for spellings, (names, meaning) in table.items()
            for spelling in spellings.split("; ")
        ]
        for table in (terms.ELSEWHERE, terms.TERMS)
    )
    return outside, inside


def _terms_of(text: str, spellings: Iterable[_Term]) -> list[_Term]:
    """Return the terms that a question has, one of each meaning, the longest first."""
    by_meaning: dict[str, _Term] = {}
    for term in sorted(spellings, key=lambda term: -len(term.stems)):
        if f" {term.stems} " in text:
            by_meaning.setdefault(term.meaning, term)
    return list(by_meaning.values())


def _plain(text: str) -> str:
    """Return the stems of all words of a text."""
    return " ".join(stem(word) for word in re.findall(r"\w+", text.lower()))


@cache
def _named_texts(formula: Searched) -> tuple[str, ...]:
    """Return the name of a formula, and what it is asked for, in stems between blanks."""
    texts = (*asked_for(formula), formula.short_name.replace("_", " "))
    return tuple(f" {_plain(text)} " for text in texts)


@cache
def _general() -> frozenset[str]:
    return frozenset(map(stem, vocabulary.GENERAL.split()))


def _known(word: str, counts: Mapping[str, int]) -> dict[str, float] | None:
    """Return a word and its synonyms with their shares; None if no formula has any of them."""
    meant = {word: 1.0, **{w: s for w, s in _synonyms().get(word, {}).items() if w != word}}
    if any(meaning in counts for meaning in meant):
        return meant
    near = _nearest_word(word, [*counts, *_synonyms()])
    return {near: 1.0, **_synonyms().get(near, {})} if near else None


def _nearest_word(word: str, known: Iterable[str]) -> str:
    """Return the word of which another is a misspelling, or nothing."""
    if len(word) < _LEAST_LETTERS or not word.isalpha():
        return ""
    return next((one for one in known if one[:1] == word[0] and _is_one_off(word, one)), "")


def _is_one_off(one: str, other: str) -> bool:
    """Whether two words differ by a letter more, less, swapped, or in long ones another."""
    short, long = sorted((one, other), key=len)
    differing = [i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b]
    first = differing[0] if differing else len(short)
    if len(long) == len(short) + 1:
        return len(one) > _LEAST_LETTERS and short[first:] == long[first + 1 :]
    if len(long) != len(short) or not differing:
        return False
    if len(differing) == 1:
        return len(short) >= _LONG_LETTERS
    swapped = long[first + 1 : first + 2] + long[first]
    return len(differing) == 2 and short[first : first + 2] == swapped


def tables(formulas: Iterable[Searched]) -> dict[str, Any]:
    """Return what a page needs for the same search: words, and those of each formula."""
    every = list(formulas)
    outside, inside = _spellings()
    return {
        "fillers": sorted(vocabulary.FILLERS), "general": sorted(_general()),
        "places": sorted(vocabulary.PLACES), "place": vocabulary.PLACE,
        "phrases": [(one, vocabulary.PHRASES[one]) for one in _PHRASES_LONGEST_FIRST],
        "spellings": _SPELLINGS, "endings": _ENDINGS, "synonyms": _synonyms(),
        "terms": [vars(term) for term in inside], "elsewhere": [vars(term) for term in outside],
        "patterns": {"smallNumber": _SMALL_NUMBER.pattern, "carrier": _CARRIER.pattern,
                     "kOfN": _K_OF_N.pattern, "nines": _NINES.pattern},
        "numbers": {
            "phrase": _PHRASE, "needed": _NEEDED, "leastScore": _LEAST_SCORE, "least": _LEAST,
            "covered": _COVERED, "coveredKnown": _COVERED_KNOWN, "sure": _SURE_WEIGHT,
            "nearest": _NEAREST, "letters": _LEAST_LETTERS, "longLetters": _LONG_LETTERS,
        },
        "formulas": {
            formula.name: {
                "short": _dashed(formula), "tags": _tags(formula),
                "named": _named_texts(formula),
                "needed": any(name in vocabulary.MOST_NEEDED for name in _names(formula)),
                "words": _by_weight(_fields(formula)),
            }
            for formula in every
        },
    }  # fmt: skip


def _by_weight(fields: Mapping[str, float]) -> list[tuple[float, str]]:
    """Return the words of a formula in runs of one weight, in their order."""
    return [(weight, " ".join(word for word, _ in run))
            for weight, run in groupby(fields.items(), key=lambda item: item[1])]  # fmt: skip


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
                value = fields[word] * factor * _rarity(counts[word], count)
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


def _dashed(formula: Searched) -> str:
    return formula.short_name.replace("_", "-")


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
