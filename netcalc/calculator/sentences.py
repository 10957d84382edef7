"""The words of a question: quantities by their units, names, roles and what is asked.

``sentences.toml`` is the table, all of it data that a page can interpret, too:

``fillers``, ``breaks``
    words that say nothing; words at which another ceases to belong to its number;
``questions``, ``other``
    beginnings of a question; words that change one, so that no formula may ignore them;
``common``, ``pronouns``
    words that say nothing where they are not known otherwise; numbers that may count nothing;
``[aliases]``, ``[unit_words]``, ``[patterns]``
    words that are as another, or say nothing; words of units in English; those of rows' texts;
``[numbers]``, ``[quantities]``, ``[names.ROLE]``
    words that are numbers, quantities (text and unit) and names (the value an argument takes);
``[roles.NAME]``
    what a quantity may be: ``units``, what it is called (``said``), ``words`` beside it (alone they
    are what is asked for), ``soft`` ones (alone they say nothing), those that stand ``ahead`` of
    it, or ``after`` it; ``number`` (needs no unit: true, or where it is ``before`` or ``behind``
    its word; from ``least_number``),
    ``binary`` (64k is 64 KiB), ``loose`` (100 Mbit is 100 Mbit/s), ``colloquial`` (10 gig are
    10 GB), ``as`` (other roles that it may be read as, with the factor), ``bare`` (false: only with
    a word), ``bare_units`` (those without one), ``most`` (above it there is none), ``most_bare``
    and ``least_bare`` (the same without a word, and below);
``[concepts]``
    what is asked, each with its words;
``[[derived]]``
    roles that follow from others: ``role``, what it ``needs``, its ``value``, and what the row has
    as ``only`` and ``said``;
``[[rows]]``
    the questions, which :mod:`netcalc.calculator.asking` answers.

A text is read from the left: the longest phrase of the table, or a number with the most words
behind it that are a unit. A word of a role belongs to the nearest quantity of its units beside it,
with none but fillers and names between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from netcalc import units
from netcalc.errors import UnitError

YEARLY = "ratio/year"
"""Unit of a growth."""
MONTHLY = "ratio/month"
QUANTILE = "quantile"
"""Unit of a percentile."""
RATIOS = (YEARLY, MONTHLY, QUANTILE)
"""Units of which the quantities are written as ratios."""
KINDS = ("bit/s", "byte", "packet/s", "call/s", "s", "ratio", "m", "Hz", "dB")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,'\u00a0\u202f]\d+)*|\.\d+)(?:[eE][+-]?\d+)?(?!\.?\d)")
_POWER = re.compile(r"10\s?\^\s?-[0-9]+|10\*\*-[0-9]+")
_ODDS = re.compile(
    r"(?:1|one)\s*(?:/|\s(?:in|of|out of)\s(?:every\s)?)\s*([0-9][0-9,]*)(?![\w.])"
    r"(?:\s+(?:packets?|segments?|frames|calls)\b)?",
    re.IGNORECASE,
)
_PERCENTILE = re.compile(
    r"(?:p\s?([0-9]{2}(?:\.[0-9]+)?)|([0-9]{1,2}(?:\.[0-9]+)?)\s?(?:st|nd|rd|th)?"
    r"\s?(?:%\s?ile\b|percentile\b))"
    r"(?:\s+percentile\b)?(?![\w.]*\d)",
    re.IGNORECASE,
)
_CHUNK = re.compile(r"\s*-?\s*([^\s\d,;:?!()=+]+)(?![^\s,;:?!()=+])")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+")
_DOUBTFUL = re.compile(r"[1-9][0-9]{0,2}\.000")
"""Ten or ten thousand, as Germans write it."""
_WHOLE = frozenset({"", "b", "byte", "bytes", "octets"})
_A_TIME = re.compile(r"\b(?:an?|each|every) (?=(?:second|sec|minute|hour|day|week|month|year)\b)")
_A_YEAR = re.compile(
    r"\s*(?:(?:/|\bper\b|\bp\.|\ban?\b|\beach\b|\bevery\b)\s*(?:year|yr|annum|y|a)\b\.?"
    r"|\byearly\b|\bannually\b|\bpa\b|\byoy\b|\bannual\b|\byear[ -](?:over|on)[ -]year\b)",
    re.IGNORECASE,
)
_A_MONTH = re.compile(
    r"\s*(?:(?:/|\bper\b|\ba\b|\beach\b|\bevery\b)\s*month\b|\bmonthly\b)", re.IGNORECASE
)
_ETHERNET = re.compile(r"[gtm](?:ig\w*|be|e)?\b|g\w* ethernet|base", re.IGNORECASE)
_OF_A_LINE = re.compile(r"(?:be|ethernet|base\S*) (?:per|a) ", re.IGNORECASE)
"""What is no unit: the frames of ``10GbE per second``."""
_BITS = re.compile(r"[kmgt]bits?|(?:kilo|mega|giga|tera)bits?", re.IGNORECASE)
_SMALL = re.compile(r"[kmgt]bs?")
_PREFIXED = re.compile(r"[kKMG]")
_GIG = {"gig": "GB", "gigs": "GB", "meg": "MB", "megs": "MB", "tera": "TB", "g": "GB", "t": "TB"}
_BINARY = {"k": 1024.0, "K": 1024.0, "M": 1024.0**2}
_TARGET = re.compile(
    r"(?:in|to|as|into|what|how (?:many|much)|wie\s?viele?)\s+(?:(?:average|mean|avg)\s+)?",
    re.IGNORECASE,
)
_A_VOLUME = re.compile(r"B(?:ytes?)? per (?:hour|day|week|month|year)$", re.IGNORECASE)
"""What is wanted as a size: the ``per hour`` of ``how many GB per hour`` is a time."""
_LINE = re.compile(r"(?:T|DS|E|OC|STM|STS)-?[0-9]+c?(?![\w-])", re.IGNORECASE)
_WORD = re.compile(r"(?:(?<!\S)--?)?[^\W\d_](?:[\w'’./-]*\w)?")
_MOST_WORDS = 4
"""Words of a unit: ``bit per second``, ``TB per working day``."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a quantity may be in one unit: the number, and a text that reads as it."""

    value: float
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Token:
    """A part of a sentence.

    ``kind`` is ``quantity``, ``name``, ``word``, ``target`` (a unit that is wanted), ``filler``,
    ``break``, ``question`` or ``unknown``. ``words`` are the roles and concepts of a word, or the
    role of a name; ``value`` is what a name stands for. ``meanings`` are those of a quantity, by
    unit; where it has none, ``error`` says why.
    """

    kind: str
    text: str
    start: int
    words: tuple[str, ...] = ()
    value: str = ""
    meanings: Mapping[str, tuple[Meaning, ...]] = field(default_factory=dict)
    error: UnitError | None = None
    soft: bool = False
    read_as: str = ""

    @property
    def end(self) -> int:
        """Position behind it."""
        return self.start + len(self.text)


@cache
def table() -> dict[str, Any]:
    """Return the table of questions as its file has it."""
    import tomllib  # late: most answers come without a sentence
    from pathlib import Path

    with Path(__file__).with_name("sentences.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def rows() -> tuple[Mapping[str, Any], ...]:
    """Return the questions, and those in which a derived role has what it follows from."""
    found: list[Mapping[str, Any]] = []
    for row in table()["rows"]:
        versions = [row]
        for derived in table()["derived"]:
            versions += [
                _substituted(version, derived)
                for version in versions
                if derived["role"] in version["needs"]
                and derived["role"] not in row.get("direct", ())
            ]
        found += versions
    return tuple(found)


def _substituted(row: Mapping[str, Any], derived: Mapping[str, Any]) -> Mapping[str, Any]:
    role, value = derived["role"], derived["value"]

    def put(expression: Any) -> Any:
        if expression == role:
            return value
        if isinstance(expression, list):
            return [expression[0], *map(put, expression[1:])]
        if isinstance(expression, dict):
            return {name: put(part) for name, part in expression.items()}
        return expression

    needs = [name for name in row["needs"] if name != role]
    needs += [name for name in derived["needs"] if name not in needs]
    below = {"below": put(["", *row["below"]])[1:]} if "below" in row else {}
    only = {"only": {**row.get("only", {}), **derived.get("only", {})}}
    said = {"said": "; ".join(filter(None, (row.get("said"), derived.get("said"))))}
    return {**row, "needs": needs, "args": put(row["args"]), **below, **only, **said}


@dataclass(frozen=True, slots=True)
class _Lexicon:
    phrases: Mapping[str, Token]
    pattern: re.Pattern[str]


@cache
def _lexicon() -> _Lexicon:
    known, phrases = table(), dict[str, Token]()

    def add(phrase: str, kind: str, word: str = "", **more: Any) -> None:
        key = _plain(phrase)
        before = phrases.get(key)
        words = ((*before.words, word) if before else (word,)) if word else ()
        if before is None or (before.kind == kind == "word"):
            phrases[key] = Token(kind, phrase, 0, words=words, **more)

    for phrase, (text, unit) in known["quantities"].items():
        value = units.parse(text, "ratio" if unit in RATIOS else unit)
        add(phrase, "quantity", meanings={unit: (Meaning(value, text.replace(" ", "")),)})
    for phrase, number in known["numbers"].items():
        add(phrase, "quantity", meanings={"1": (Meaning(float(number), str(number)),)})
    for role, entries in known["names"].items():
        for phrase, value in entries.items():
            add(phrase, "name", role, value=value)
    for concept, entries in known["concepts"].items():
        for phrase in entries:
            add(phrase, "word", concept)
    for role, facts in known["roles"].items():
        for phrase in facts["words"]:
            add(phrase, "word", role)
        for phrase in facts.get("soft", ()):
            add(phrase, "word", role, soft=True)
        for phrase in (*facts.get("ahead", ()), *facts.get("after", ())):
            add(phrase, "word", role)
    for kind, name in (("question", "questions"), ("break", "breaks"), ("filler", "fillers")):
        for phrase in known[name].split():
            add(phrase, kind)
    for phrase in known["other"].split():
        add(phrase, "word", f"other: {phrase}")
    for phrase, same in known["aliases"].items():
        if same:
            phrases.setdefault(_plain(phrase), phrases[_plain(same)])
        else:
            add(phrase, "filler")
    for phrase in known["common"].split():
        add(phrase, "filler")
    longest_first = sorted(phrases, key=len, reverse=True)
    either = "|".join(re.escape(phrase).replace(r"\ ", r"[\s-]+") for phrase in longest_first)
    return _Lexicon(phrases, re.compile(rf"(?:{either})(?![\w])", re.IGNORECASE))


def _plain(phrase: str) -> str:
    return re.sub(r"(?<=\w)[\s-]+(?=\w)", " ", phrase.lower())


def tokens(sentence: str) -> list[Token]:
    """Return the parts of a sentence in their order.

    Examples
    --------
    >>> [(part.kind, part.text) for part in tokens("4 TB at 80 ms rtt")]
    [('quantity', '4 TB'), ('break', 'at'), ('quantity', '80 ms'), ('word', 'rtt')]
    """
    found, position = [], 0
    sentence = sentence.replace("\ufeff", " ")  # the mark of a file's beginning
    while position < len(sentence):
        if sentence[position].isspace():
            position += 1
            continue
        part = _next(sentence, position)
        if part is not None:
            found.append(part)
            position = part.end
        else:
            position += 1  # a mark such as ?
    return _stacked(_quiet(_spelled(found)))


def _next(sentence: str, position: int) -> Token | None:
    """Return the part that begins at a position; None for a mark that says nothing."""
    starts = position == 0 or not sentence[position - 1].isalnum()
    if sentence[position] == "-" and (match := _WORD.match(sentence, position)):
        return Token("unknown", match[0], position)
    if match := _PERCENTILE.match(sentence, position):
        share = float(match[1] or match[2]) / 100
        meaning = Meaning(share, f"{share * 100:.12g}%")
        return Token("quantity", match[0], position, meanings={QUANTILE: (meaning,)})
    if match := _LINE.match(sentence, position):
        try:
            rate = units.line(match[0]).exact_bps
        except UnitError:
            return Token("unknown", match[0], position)
        meaning = Meaning(rate, match[0])
        return Token("quantity", match[0], position, meanings={"bit/s": (meaning,)})
    if part := _target(sentence, position):
        return part
    if starts and sentence[position] in "1oO" and (match := _ODDS.match(sentence, position)):
        return _quantity(sentence, position, match[0])
    if starts and (match := _lexicon().pattern.match(sentence, position)):
        if match[0].lower() in table()["numbers"] and (
            part := _spoken(sentence, position, match[0])
        ):
            return part
        known = _lexicon().phrases.get(_plain(match[0]))
        if known is not None:  # none where letters are alike in capitals alone, as s and ſ
            return replace(known, text=match[0], start=position)
    if match := _NUMBER.match(sentence, position):
        return _quantity(sentence, position, match[0])
    if match := _WORD.match(sentence, position):
        kinds = units.kinds_of(match[0]) if "/" in match[0] else ()
        if kinds:  # alone: it is what the answer shall be in
            wanted = tuple(f"in {kind}" for kind in kinds)
            return Token("target", match[0], position, words=wanted, value=match[0])
        return Token("unknown", match[0], position)
    mark = sentence[position]
    if mark in _lexicon().phrases:
        return replace(_lexicon().phrases[mark], start=position)
    return None if mark in "?!.\"'’“”…/*" else Token("unknown", mark, position)


def _target(sentence: str, position: int) -> Token | None:
    """Return a unit in which the answer is wanted: ``in Gbit/s``, ``how many hours``."""
    match = _TARGET.match(sentence, position)
    if match is None:
        return None
    asks_much = match[0].lower().startswith(("how", "wie"))
    for unit, end in _units_behind(sentence, match.end()):
        plain = _A_TIME.sub("per ", _translated(unit))
        asks_time = asks_much and plain in units.written_units("s")
        known = _plain(unit) in _lexicon().phrases or plain.startswith("per ")
        known = known or (asks_much and _A_VOLUME.search(plain) is not None)
        if not known and units.kinds_of(plain) and len(plain) > 1:
            words: tuple[str, ...] = ("howlong",) if asks_time else ()
            words += tuple(f"in {kind}" for kind in units.kinds_of(plain))
            return Token("target", sentence[position:end], position, words=words, value=plain)
        if plain in ("s", "h"):
            text = sentence[position:end]
            return Token("target", text, position, words=("in s",), value=plain)
    return None


def _units_behind(sentence: str, position: int) -> Iterator[tuple[str, int]]:
    """Yield what may be a unit behind a number, with its end: the most words first."""
    ends: list[int] = []
    written: list[str] = []
    for _ in range(_MOST_WORDS):
        match = _CHUNK.match(sentence, position)
        if match is None or (written and match[0][:1] not in " \t"):
            break
        text = match[1].rstrip(".'\"’”")
        if not text:
            break
        written.append(text)
        ends.append(match.start(1) + len(text))
        position = match.end()
        if text != match[1]:
            break
    for count in range(len(written), 0, -1):
        yield " ".join(written[:count]), ends[count - 1]
    if written and written[0].startswith("%/"):  # 15 %/yr
        yield "%", ends[0] - len(written[0]) + 1


def _quantity(sentence: str, position: int, number: str) -> Token:
    """Return a number with the longest unit behind it."""
    if match := _POWER.match(sentence, position):
        text = f"1e{match[0].rpartition('-')[2].join(('-', ''))}"
        return Token("quantity", match[0], position, meanings={"1": (Meaning(float(text), text),)})
    if match := _ODDS.match(sentence, position):
        of = float(match[1].replace(",", ""))
        meaning = Meaning(1 / of if of else 0.0, f"1/{match[1].replace(',', '')}")
        return Token("quantity", match[0], position, meanings={"ratio": (meaning,)})
    error = None
    for unit, end in _units_behind(sentence, position + len(number)):
        meanings, refused = _meanings(number, _A_TIME.sub("per ", _translated(unit)))
        text = sentence[position:end]
        if meanings and "ratio" in meanings and (year := _A_YEAR.match(sentence, end)):
            return Token("quantity", text + year[0], position, meanings={YEARLY: meanings["ratio"]})
        if meanings and "ratio" in meanings and (month := _A_MONTH.match(sentence, end)):
            grown = {MONTHLY: meanings["ratio"]}
            return Token("quantity", text + month[0], position, meanings=grown)
        if meanings:
            return Token("quantity", text, position, meanings=meanings)
        if refused is not None and (refused.code == "ambiguous-unit" or units.kinds_of(unit)):
            return Token("quantity", text, position, error=refused, meanings=_octets(number, unit))
    if error is None and _DOUBTFUL.fullmatch(number):
        head, tail = number.split(".")
        readings = [head + tail, head]
        error = UnitError("ambiguous-number", number, expected="a whole number", readings=readings)
        return Token("quantity", number, position, error=error)
    try:
        grouped = number.replace(",", "") if _GROUPED.fullmatch(number) else _pointed(number)
        value = units.parse_number(grouped)
    except UnitError as refused:
        error = refused
        return Token("quantity", number, position, error=error)
    return Token("quantity", number, position, meanings={"1": (Meaning(value, grouped),)})


def _spoken(sentence: str, position: int, word: str) -> Token | None:
    """Return a number in a word with its unit of time, if it has one: ``two hours``."""
    number = str(table()["numbers"][word.lower()])
    for unit, end in _units_behind(sentence, position + len(word)):
        meanings, _ = _meanings(number, _translated(unit))
        if "s" in meanings and not _is_short(unit):
            return Token("quantity", sentence[position:end], position, meanings=meanings)
    return None


def _is_short(unit: str) -> bool:
    return len(unit) < 3 and unit != "ms"


def _octets(number: str, unit: str) -> dict[str, tuple[Meaning, ...]]:
    """Return what an ambiguous ``50 gb`` is beside a word of a size."""
    if not _SMALL.fullmatch(unit):
        return {}
    octets = unit.upper().replace("K", "k")
    with suppress(UnitError):
        value = units.parse(f"{number} {octets}", "byte")
        return {"colloquial": (Meaning(value, f"{number}{octets}", octets),)}
    return {}


def _translated(unit: str) -> str:
    """Return a unit with its words in English: ``GB pro Stunde``."""
    words = table()["unit_words"]
    return " ".join(words.get(word.lower(), word) for word in unit.split())


def _meanings(number: str, unit: str) -> tuple[dict[str, tuple[Meaning, ...]], UnitError | None]:
    """Return what a number with a unit may be, and why it may be nothing."""
    found: dict[str, tuple[Meaning, ...]] = {}
    error = None
    if _GROUPED.fullmatch(number) and unit.lower() in _WHOLE:
        number = number.replace(",", "")  # there are no parts of a byte
    number = _pointed(number)
    spaced = f"{number} {unit}"
    text = f"{number}{unit}" if " " not in unit else spaced
    kinds = units.kinds_of(unit)
    for kind in KINDS:
        if kind not in kinds and not (kind == "bit/s" and _ETHERNET.match(unit)):
            continue
        if _OF_A_LINE.search(unit):
            continue
        try:
            found[kind] = (Meaning(units.parse_typed(spaced, kind), text),)
        except UnitError as refused:
            if refused.code in ("ambiguous-unit", "ambiguous-number", "number-too-large"):
                if error is None:
                    error = refused
                elif error.code == refused.code == "ambiguous-unit":  # 3 mb: a rate, or a size
                    error.values["readings"] += refused.values["readings"]
    if _PREFIXED.fullmatch(unit):
        with suppress(UnitError):
            found["1"] = (Meaning(units.parse_typed(f"{number}{unit}", "1"), number + unit),)
    if "byte" in found and "bit/s" not in found and _BITS.fullmatch(unit):
        text = f"{number}{unit}/s"
        with suppress(UnitError):
            found["loose"] = (Meaning(units.parse_typed(text, "bit/s"), text, f"{unit}/s"),)
    if (factor := _BINARY.get(unit)) is not None or unit == "KB":
        plain = units.parse_number(number) if _NUMBER.fullmatch(number) else 0.0
        if factor is None:
            both = (Meaning(plain * 1024, f"{number}KiB"), Meaning(plain * 1000, f"{number}kB"))
            found["byte"] = both
        else:
            prefix = unit.upper() + "i"
            found["binary"] = (Meaning(plain * factor, f"{number}{prefix}B", "1024"),)
    if unit.lower() in _GIG and ("bit/s" in found or unit.lower()[1:3] in ("ig", "eg")):
        octets = _GIG[unit.lower()]
        value = units.parse(f"{number} {octets}", "byte")
        found["colloquial"] = (Meaning(value, f"{number}{octets}", octets),)
        if "bit/s" not in found:
            text = f"{number}{octets[0]}bit/s"
            found["loose"] = (Meaning(units.parse(text, "bit/s"), text, f"{octets[0]}bit/s"),)
            if unit.lower().endswith("s"):
                found["byte"] = found["colloquial"]
    return found, None if found else error


def _pointed(number: str) -> str:
    """Return a number without a decimal comma, as a list has commas, too: ``1400,5``."""
    if _GROUPED.fullmatch(number) or "." in number or number.count(",") != 1:
        return number
    return number.replace(",", ".")


def _quiet(parts: list[Token]) -> list[Token]:
    """Take the word ``one`` that counts nothing, and a rate that is said twice, as fillers."""
    found = list(parts)
    for index, part in enumerate(parts):
        if part.text.lower() in table()["pronouns"]:
            after = next((p for p in parts[index + 1 :] if p.kind not in ("filler", "name")), None)
            if after is None or after.kind != "word" or after.soft or not counts(after):
                found[index] = Token("filler", part.text, part.start)
        repeats = any(_says_again(part, other) for other in parts[:index])
        if repeats or ("latency" in part.words and "oneway" in _before(found, index).words):
            found[index] = Token("filler", part.text, part.start)
        if part.kind == "quantity" and (
            part.text.lower() in table()["quantities"] or _LINE.fullmatch(part.text)
        ):
            near = [p for p in parts[max(index - 3, 0) : index + 4] if p is not part]
            if any(_same_value(part, other) for other in near):
                found[index] = Token("filler", part.text, part.start)
    return found


def _says_again(part: Token, other: Token) -> bool:
    """Whether a name says what another one did: ``https with tls 1.3``."""
    return part.kind == other.kind == "name" and (part.words, part.value) == (
        other.words, other.value
    )  # fmt: skip


def _before(parts: Sequence[Token], index: int) -> Token:
    return parts[index - 1] if index else Token("filler", "", 0)


def _same_value(part: Token, other: Token) -> bool:
    for unit in ("bit/s", "byte", "s"):
        values = [token.meanings.get(unit, ()) for token in (part, other)]
        if all(values) and values[0][0].value == values[1][0].value:
            return True
    return False


def _spelled(parts: list[Token]) -> list[Token]:
    """Read words that are not known as the one known word that is a letter away."""
    return [_nearest(part) if part.kind == "unknown" else part for part in parts]


def _nearest(part: Token) -> Token:
    word = part.text.lower()
    if not word.isalpha() or len(word) < 4:
        return part
    phrases = _lexicon().phrases
    plural = phrases.get(word.removesuffix("s"))
    if plural is not None and word.endswith("s"):
        return replace(plural, text=part.text, start=part.start)
    if len(word) < 5:
        return part
    most = 2 if len(word) >= 9 else 1
    near = {
        known.words: phrase
        for phrase, known in phrases.items()
        if known.kind in ("word", "name")
        and not known.words[0].startswith("other")
        and abs(len(phrase) - len(word)) <= most
        and phrase.isalpha()
        and phrase[0] == word[0]
        and distance(word, phrase, most) <= most
    }
    if len(near) != 1:
        return part
    ((_, phrase),) = near.items()
    return replace(phrases[phrase], text=part.text, start=part.start, read_as=phrase)


def distance(first: str, second: str, most: int) -> int:
    """Return how many letters are to be changed, added, left out or swapped; at most ``most`` + 1.

    Examples
    --------
    >>> distance("throughtput", "throughput", 2), distance("latnecy", "latency", 2)
    (1, 1)
    """
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        before, last, row = row, before, [i]
        for j, other in enumerate(second, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


LAYERS = ("pppoe", "mpls", "esp", "gre", "gretap", "nvgre", "l2tp", "l2tpv3", "wireguard")
"""Tunnels from the outside, where nothing says which is over which."""


def _stacked(parts: list[Token]) -> list[Token]:
    """Put tunnels together: ``wireguard over pppoe``, ``vxlan over ipv6``."""
    joined: list[Token] = []
    for part in parts:
        joined.append(part)
        if len(joined) > 1 and [p.words for p in joined[-2:]] == [("stack",), ("ipversion",)]:
            first, last = joined[-2:]
            text = f"{first.text} {last.text}"
            joined[-2:] = [replace(first, text=text, value=_outside(first, last))]
        while len(joined) > 2 and joined[-1].kind == "name" and joined[-3].words == ("stack",):
            first, between, last = joined[-3:]
            over = between.text.lower() in (
                "over",
                "in",
                "inside",
                "on",
                "through",
                "via",
                "within",
            )
            if last.words == ("ipversion",) and over:
                value = _outside(first, last)
            elif last.words == ("stack",) and (over or between.text in ("+", "and", "plus")):
                value = f"{first.value} over {last.value}" if over else _ranked(first, last)
            else:
                break
            text = first.text + " " + between.text + " " + last.text
            joined[-3:] = [replace(first, text=text, value=value)]
    return _carried(joined)


def _carried(parts: list[Token]) -> list[Token]:
    """Give the only tunnel the version of IP that is said elsewhere: ``wireguard mtu over ipv6``.

    Of the MSS, without an ``over``, it may be the version inside.
    """
    tunnels = [i for i, part in enumerate(parts) if part.words == ("stack",)]
    versions = [i for i, part in enumerate(parts) if part.words == ("ipversion",)]
    if len(tunnels) != 1 or len(versions) != 1:
        return parts
    (tunnel,), (version,) = tunnels, versions
    is_over = version > 0 and parts[version - 1].text.lower() in ("over", "on")
    if any("mss" in part.words for part in parts) and not is_over:
        return parts
    value = _outside(parts[tunnel], parts[version])
    parts[tunnel] = replace(parts[tunnel], value=value)
    return parts[:version] + parts[version + 1 :]


def _outside(tunnel: Token, version: Token) -> str:
    """Return the tunnel with the version of IP that carries it."""
    innermost, *others = tunnel.value.split(" ", 1)
    name, *option = innermost.split("_", 1)
    return " ".join(["_".join([name.rstrip("46") + version.value, *option]), *others])


def _ranked(first: Token, last: Token) -> str:
    ranks = [LAYERS.index(t.value) if t.value in LAYERS else len(LAYERS) for t in (first, last)]
    outer, inner = (last, first) if ranks[1] < ranks[0] else (first, last)
    return f"{inner.value} over {outer.value}"


def attached(parts: Sequence[Token]) -> dict[int, int]:
    """Return which quantity each word of a role belongs to, by their positions among the parts.

    Examples
    --------
    >>> attached(tokens("64 KiB window, rtt of 80 ms"))
    {1: 0, 3: 5}
    """
    pairs: list[tuple[int, int, int]] = []
    for index, part in enumerate(parts):
        if part.kind != "word" or not _roles(part):
            continue
        for step in (1, -1):
            at, cost = index + step, 0
            while 0 <= at < len(parts) and cost <= 3 + (step > 0):
                other = parts[at]
                if other.kind == "quantity":
                    fits = any(may_be(role, other, behind=step > 0) for role in _roles(part))
                    if fits and not _is_on_side(part, "ahead" if step < 0 else "after"):
                        pairs.append((cost, index, at))
                        break
                    if step > 0 or not counts(part):
                        break
                elif not (
                    other.kind in ("filler", "name", "unknown")
                    or other.soft
                    or (step > 0 and other.text.lower() in ("to", "from"))  # ping to Rome is 30 ms
                ):
                    break
                at, cost = at + step, cost + 1
        before = next((p for p in parts[:index][::-1] if p.kind != "filler"), None)
        if before is not None and before.kind == "question":
            pairs = [pair for pair in pairs if pair[1] != index or pair[2] > index]
    found: dict[int, int] = {}
    while pairs:
        count = {index: sum(p[1] == index for p in pairs) for _, index, _ in pairs}
        _, index, at = min(
            pairs, key=lambda p: (parts[p[1]].soft, count[p[1]] > 1, p[0], p[2] > p[1], p[1])
        )
        found[index] = at
        pairs = [pair for pair in pairs if pair[1] != index and pair[2] != at]
    return dict(sorted(found.items()))


def _roles(part: Token) -> list[str]:
    return [word for word in part.words if word in table()["roles"]]


def counts(part: Token) -> bool:
    """Whether a word is of what is counted, of which the number may be farther: two 10G links."""
    return any(table()["roles"][role]["units"] == ["1"] for role in _roles(part))


def _is_on_side(part: Token, side: str) -> bool:
    """Whether a word belongs to what is on one side alone: what is exceeded."""
    roles = table()["roles"]
    return any(_plain(part.text) in roles[role].get(side, ()) for role in _roles(part))


def may_be(role: str, quantity: Token, *, behind: bool) -> tuple[Meaning, ...]:
    """Return what a quantity means as a role that a word names, behind that word or before it."""
    facts = table()["roles"][role]
    side = facts.get("number")
    has_number = side if isinstance(side, bool) else side == ("behind" if behind else "before")
    if facts["units"] == ["1"] and (
        (side is not None and not has_number) or "bit/s" in quantity.meanings  # 10G
    ):
        return ()
    if facts.get("binary") and "binary" in quantity.meanings:
        return quantity.meanings["binary"]
    if facts.get("loose") and "loose" in quantity.meanings:
        return quantity.meanings["loose"]
    if facts.get("colloquial") and "colloquial" in quantity.meanings:
        return quantity.meanings["colloquial"]
    for unit in facts["units"]:
        if unit in quantity.meanings:
            return quantity.meanings[unit]
    plain = quantity.meanings.get("1", ())
    if plain and has_number and plain[0].value >= facts.get("least_number", 1):
        return (Meaning(plain[0].value, f"{plain[0].text}B"),)
    if plain and "ratio" in facts["units"] and 0 <= plain[0].value < 1:
        return plain
    return ()
