"""What a format is, and the input that it is recognized by and read from.

Each format is a :class:`Format`. The tuple ``FORMATS`` of each folder lists them;
:mod:`netcalc.readers.formats` puts the folders in order.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property, lru_cache
from math import nan
from pathlib import Path
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import Documents, read_documents
from netcalc.readers.places import Counted
from netcalc.readers.source import (
    Readable,
    Source,
    Text,
    as_utf8,
    decode,
    is_path,
    open_source,
    read_head,
    shorten,
    unit_of,
    unpack,
    unpack_head,
)
from netcalc.samples import FactRow, Meta, Samples, Table

HEAD_BYTES = 64 * 1024
"""Beginning of an input by which formats with a mark of their own are recognized. [byte]"""

FIRST_LINES, FIRST_CHARACTERS = 60, 500
"""Lines at the start of a text by which it is recognized, and how much of each."""


class Input:
    """One input, opened no further than needed: its head, its bytes, its text, its JSON.

    A file that is recognized by its head is never read whole, however large it is; a format that
    streams opens ``path`` itself.

    Parameters
    ----------
    source : path, str, bytes or file object
        The input. A ``str`` with a line end in it is text, any other is a path.
    name : str, optional
        Name of the source, if it is not a path.
    words : sequence of str, optional
        Words that a text may hold, which help to find its encoding when it is not UTF-8.
    units, columns, decimal
        Arguments of :func:`netcalc.readers.read` about columns.
    """

    def __init__(
        self,
        source: Readable | Source,
        *,
        name: str | None = None,
        words: Sequence[str] = (),
        units: Mapping[str, str] | None = None,
        columns: Sequence[str] | None = None,
        decimal: str | None = None,
    ) -> None:
        self._given = source
        self._name = name
        self._words = tuple(words)
        self.units = units
        self.columns = columns
        self.decimal = decimal
        self.path: Path | None = Path(source) if is_path(source) else None  # type: ignore[arg-type]
        """The file, if the input is one."""

    @property
    def name(self) -> str:
        """Name for errors."""
        if self.path is not None and "source" not in vars(self):
            return self._name or self.path.name
        return self.source.name

    def refusal(self, code: str, **values: Any) -> ReaderError:
        """Return the error that names this input."""
        return ReaderError(code, file=self.name, **values)

    @cached_property
    def source(self) -> Source:
        """The whole input as it is stored, compressed or not, with its hash."""
        return open_source(self._given, name=self._name)

    @cached_property
    def unpacked(self) -> Source:
        """The whole input, uncompressed; the hash is that of the file."""
        return unpack(self.source)

    @property
    def origin(self) -> dict[str, Any]:
        """The name of a file and the hash of any input, as ``Meta`` has them."""
        source = self.unpacked
        return {"source": source.name if source.is_file else "", "sha256": source.sha256}

    def meta(
        self, tool: str, targets: Iterable[str], *, partial: bool, nodes: Iterable[str] = (),
        warnings: Iterable[Notice] = (), **facts: Any,
    ) -> Meta:  # fmt: skip
        """Return what is known of the runs of a tool, each to its target, along a path to nodes."""
        targets = list(targets)
        return Meta(
            tool=tool,
            target=joined(targets),
            warnings=(*warnings, *damaged_addresses((*targets, *nodes))),
            partial=self.unpacked.grew or partial,
            **self.origin,
            **facts,
        )

    def table(
        self, tool: str, data: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        units: Mapping[str, str] | None = None, *,
        facts: Iterable[FactRow], warnings: Iterable[Notice], **meta: Any,
    ) -> Table:  # fmt: skip
        """Return columns or rows that a tool printed as a table.

        Without ``units`` the names of columns say them; ``meta`` is what else is known.
        """
        if not isinstance(data, Mapping):
            data = _columns_of_rows(data)
        if units is None:
            units = {
                name: "text" if any(isinstance(cell, str) for cell in column[:1]) else unit_of(name)
                for name, column in data.items()
            }
        meta |= self.origin
        return Table(
            data=data,
            meta=Meta(tool=tool, units=units, facts=tuple(facts), warnings=tuple(warnings), **meta),
        )

    @property
    def data(self) -> bytes:
        """The bytes of the whole input, uncompressed; marked text is UTF-8 without its mark."""
        return as_utf8(self.unpacked.data)

    @cached_property
    def head(self) -> bytes:
        """The first :data:`HEAD_BYTES` bytes at most, uncompressed; less if they are damaged.

        Text with a byte order mark is UTF-8 here, without its mark.
        """
        return as_utf8(self._raw_head)

    @cached_property
    def _raw_head(self) -> bytes:
        if self.path is not None and "source" not in vars(self):
            head = read_head(self._given, HEAD_BYTES)
        else:
            head = self.source.data[:HEAD_BYTES]
        return unpack_head(head, HEAD_BYTES)[:HEAD_BYTES]

    @cached_property
    def first(self) -> str:
        """The first lines of the text, each cut at :data:`FIRST_CHARACTERS`, joined again."""
        text = decode(Source(self.name, self._raw_head, ""), words=self._words)
        return "\n".join(line[:FIRST_CHARACTERS] for line in text.whole[:FIRST_LINES])

    @cached_property
    def text(self) -> Text:
        """The whole text in lines, without terminal codes; ``text.numbers`` counts from 1."""
        return decode(self.unpacked, words=self._words)

    @cached_property
    def is_json(self) -> bool:
        """Whether the text begins as JSON does."""
        start = self.first.lstrip("\ufeff \t\n\r")[:200]
        return bool(
            start.startswith("{")
            or re.match(r"\[\s*(?:[{\[\"\]]|-?\d+(?:\.\d+)?\s*(?:[,\]]\s*)?$)", start, re.MULTILINE)
        )

    @cached_property
    def json(self) -> Documents:
        """The JSON documents in the input: one, several in a row, or one in each line.

        Empty if the text does not begin as JSON does; ``json.fault`` has the error of a text that
        is damaged or cut, with its line and byte.
        """
        if not self.is_json:
            return Documents((), None)
        return read_documents(self.unpacked)

    def let_go(self) -> None:
        """Let go of the bytes, once the text is decoded: a large input is not needed twice."""
        if "text" in vars(self):
            for name in ("source", "unpacked"):
                if name in vars(self):
                    vars(self)[name] = replace(vars(self)[name], data=b"")

    def seen(self, pattern: str) -> bool:
        """Whether a pattern matches at a line of :attr:`first`; ``^`` and ``$`` are line ends."""
        answers = _seen_in(self.first)
        if pattern not in answers:
            answers[pattern] = _compiled(pattern).search(self.first) is not None
        return answers[pattern]

    @property
    def first_object(self) -> Mapping[str, Any]:
        """The first JSON document, or the first in its list; empty if that is no object."""
        first: Any = self.json.documents[0] if self.json.documents else None
        if isinstance(first, list):
            first = first[0] if first else None
        return first if isinstance(first, dict) else {}

    def keys(self) -> frozenset[str]:
        """Return the names in :attr:`first_object`."""
        return frozenset(self.first_object)


def joined(names: Iterable[str]) -> str:
    """Return names, each once, in one text; the beginning of very many."""
    return shorten(", ".join(dict.fromkeys(filter(None, names))), 200)


_SHORT_ADDRESS = re.compile(r"(?=.*[0-9])[0-9OoIlSB]{0,4}(?:[.,][0-9OoIlSB]{0,4}){1,5}")
_WITH_COLONS = re.compile(r"(?=.*::|(?:[^:]*:){4})[0-9A-Za-z:.]+")
_OF_CARD = re.compile(r"[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5,7}")
_PADDED = re.compile(r"0*(?:[0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])")


def damaged_addresses(names: Iterable[str]) -> list[Notice]:
    """Return the warning about names whose characters are those of an address, if any is.

    >>> [notice.values["names"] for notice in damaged_addresses(["1O.0.0.1", "a.example", "::1"])]
    [['1O.0.0.1']]
    >>> [notice.values["names"] for notice in damaged_addresses(["x92.0.2.1", "r1.0.2.example"])]
    [['x92.0.2.1']]
    >>> damaged_addresses(["192.0.2.1", "010.000.000.001", "fe80::1%eth0", "00:11:22:33:44:55"])
    []
    """
    damaged = [name for name in dict.fromkeys(names) if _is_damaged(name.partition("%")[0])]
    return [Notice("address-damaged", {"names": damaged})] if damaged else []


def _is_damaged(name: str) -> bool:
    parts = name.split(".")
    octet_count = sum(_PADDED.fullmatch(part) is not None for part in parts)
    has_one_wrong = len(parts) == 4 and octet_count == 3 and max(map(len, parts)) <= 3
    if not (has_one_wrong or _SHORT_ADDRESS.fullmatch(name) or _WITH_COLONS.fullmatch(name)):
        return False
    if _OF_CARD.fullmatch(name) or len(parts) == octet_count == 4:
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return True
    return False


_UNIT = r"(?:[kKMGT](?:i?B|bps|bits?)?|[munµ]s|msec|[kMG]Hz|B|%)?"
_WHOLE_WORDS = r"0x\w|([1-8])x\1\b|802\.1x|[1-8]\.x\b|x(?:[1248]|16|32)\b|[248]x\b"
"""Numbers with a letter as tools print them: 0x10, 2x2, 802.1x, 4.x, x16, 4x."""
_OCTETS = r"\d{1,3}\.\d{1,3}\.\d{1,3}"
_DAMAGED = re.compile(
    "|".join((
        # 6O, 1x.5, 192O0.2.1, O76M
        rf"(?<![\w.@+%$&;\\-])(?!{_WHOLE_WORDS})(?=[A-Z]?[a-z]?\.?\d)"
        rf"(?:[\d.]{{0,15}}\d[\d.]{{0,15}}[OoxlI]|[OxlI])[\d.]{{0,15}}{_UNIT}(?![\w@+-])",
        # =x,
        r"[:=|,] ?[xO](?=[ ,;|(])",
        # 0. 73, 0 .73
        r"(?<=[ =/,:]\d)\. \d{1,15}(?![.\d])|\d \.\d",
        # 192.0.2 1, 1 2.0.2.1, (192. 0.2.1)
        rf"(?<![\d.v])(?<!ersion ){_OCTETS} \d{{1,3}}(?![\d.])|\d {_OCTETS}(?![\d.])",
        r"[(\[](?=[\d.]{0,15} )(?=[\d ]{0,15}\.)[\d. ]{7,15}[)\]]",
    ))
)  # fmt: skip
"""What a number or an address looks like that has a letter or a blank where a digit has to be."""
_DAMAGED_IN_JSON = re.compile(
    r'"(?=[^".]{0,15}\.[^".]{0,15}\.)(?:\d[\d.]{0,15}[OoxlI][\d.]{0,15}|[OxlI][\d.]{1,15}'
    r'|\d[\d.]{0,15} [\d.]{1,15})"'
)
"""The same of an address in quotes."""
_TO_NINES = str.maketrans("012345678", "999999999")
_MOST_SHAPES = 1000


def damaged_numbers(file: Input) -> list[int]:
    """Return the numbers of lines in which a letter or a blank stands where a digit has to be.

    >>> damaged_numbers(Input("cwnd:10 rtt:0.5/0.2\\ncwnd:1O rtt:0.5/0.2\\n"))
    [2]
    """
    pattern = _DAMAGED_IN_JSON if file.is_json else _DAMAGED
    shapes: dict[str, bool] = {}  # most lines differ in their digits alone
    numbers: list[int] = []
    for number, line in zip(file.text.numbers, file.text.lines, strict=True):
        shape = line.translate(_TO_NINES)
        if shape not in shapes:
            if len(shapes) == _MOST_SHAPES:
                shapes.clear()
            shapes[shape] = pattern.search(shape) is not None
        if shapes[shape] and pattern.search(line):
            numbers.append(number)
    return numbers


def groups_of(names: Sequence[str]) -> list[str]:
    """Return the group of each run of a file: its name, or its number where names are not distinct.

    >>> groups_of(["a", "b"]), groups_of(["a", "a"]), groups_of(["a"])
    (['a', 'b'], ['run 1', 'run 2'], [''])
    """
    if len(names) < 2:
        return [""] * len(names)
    distinct = len(set(names)) == len(names) and all(names)
    return list(names) if distinct else [f"run {n}" for n in range(1, len(names) + 1)]


def columns_of(kind: type, rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the fields of a dataclass by name, each with the values of all rows."""
    names = [column.name for column in fields(kind)]
    return {name: [getattr(row, name) for row in rows] for name in names}


def _columns_of_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the cells of rows by name; of a row without one it is empty, or nan."""
    columns: dict[str, list[Any]] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        is_text = any(isinstance(row.get(name), str) for row in rows)
        columns[name] = [row.get(name, "" if is_text else nan) for row in rows]
    return columns


@lru_cache(maxsize=4)
def _seen_in(first: str) -> dict[str, bool]:
    """Return what was found of the patterns that were looked for in a text.

    All formats look for theirs, and an input is often recognized twice: named first, then read.
    """
    return {}


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern of lines: hundreds are tried of each input, so it is looked up quickly."""
    return re.compile(pattern, re.MULTILINE)


def seen(*patterns: str) -> Callable[[Input], bool]:
    """Return a test of an input: whether a pattern matches at one of its first lines."""
    return lambda file: any(map(file.seen, patterns))


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format that netcalc reads.

    Parameters
    ----------
    name : str
        What :func:`netcalc.readers.sniff` returns.
    description : str
        What it is, as a message has it: "the output of ping".
    recognize : callable
        Whether an input is of this format; it looks at the content, cheap tests first.
    read : callable
        Make samples of an input that was recognized, or raise
        :class:`~netcalc.errors.ReaderError`.
    traps : tuple of str
        What is easily read wrong, and what this reader does about it.
    tools : mapping of str to Counted
        Tool, as ``meta.tool`` has it -> what its numbers count; a name without its variant in
        brackets stands for all of them. One format of a tool says it for all.
    parts : tuple of str
        Patterns of lines that only this tool prints, and that hold no measurement without others:
        who pasted nothing else is told which tool wrote them, and what is missing.
    needs : str
        What is missing where there are only such lines: "a line of an interval, or a total".
    """

    name: str
    description: str
    recognize: Callable[[Input], bool]
    read: Callable[[Input], Samples]
    traps: tuple[str, ...]
    tools: Mapping[str, Counted] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    needs: str = ""
