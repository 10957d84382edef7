"""Tables as programs print them: frames, rules, aligned cells, a header in a comment.

Each is brought to lines that a separator divides; a line that holds no cells becomes blank, so that
every other one keeps its number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from netcalc.readers import cells
from netcalc.readers.cells import CellGrid, delimiter_of, is_comment, is_number, split
from netcalc.readers.quantities import NEEDS_UNIT, read_heading
from netcalc.readers.source import Lines, Source, Text

_MOST = 60
"""Lines by which a frame is found. [1]"""
_BARS = str.maketrans("│┃║┆┊", "|||||")
_OF_RULES = frozenset("|+:=*- \t") | frozenset(map(chr, range(0x2500, 0x2580)))
_CROSSED = re.compile(r"[+┌├└╒╞╘╔╠╚┏┡┗╭╰╟┠┣|]?[-=─━═]+(?:[+┬┼┴╤╪╧╦╬╩┳╇╋┻╈┿╂╫|][-=─━═]+)*\S?")
_DASHES = re.compile(r"-+|=+|─+|━+")
_SAID = re.compile(r"\(\d+ \w+(?: affected)?\)|[\d,]+ rows?\b.*|\w+> .*")
"""What a program says besides its table: ``(3 rows)``, or its prompt."""
_TYPES = re.compile(r"u?(?:tiny|small|big|huge)?int\d*|integer|double|float\d?|varchar|text|boolean"
                    r"|decimal\(\d+,\d+\)|timestamp.*|date|time", re.IGNORECASE)  # fmt: skip
_GAPS = re.compile(r"\s{2,}")


def read_grid(
    source: Source, text: Text, columns: Sequence[str] | None, decimal: str | None = None
) -> CellGrid:
    """Read the cells of a text, without the frame that a program put around them."""
    lines = None if columns else plain_lines(text.lines)
    text = text if lines is None else replace(text, lines=lines)
    return cells.read_grid(source, text, columns, decimal)


def plain_lines(lines: Sequence[str]) -> Lines | None:
    """Return the lines of a table without its frame; None of a text that has none.

    >>> print(plain_lines(["+---+-----+", "| n | x_s |", "+---+-----+", "| 1 | 0.5 |"]).text)
    <BLANKLINE>
     n | x_s
    <BLANKLINE>
     1 | 0.5
    >>> plain_lines(["# n  time [s]", "1 0.5", "2 0.7"]).text
    'n\\ttime [s]\\n1\\t0.5\\n2\\t0.7'
    """
    first = [line for line in islice(lines, _MOST) if line.strip()]
    for form in (_boxed, _ruled, _commented, _numbered, _aligned):
        plain = form(first)
        if plain is not None:
            return Lines("\n".join(map(plain, lines)))
    return None


def _is_rule(line: str) -> bool:
    """Whether a line holds dashes, three or more, and nothing but what frames are made of."""
    return set(line) <= _OF_RULES and len(re.findall(r"[-=─-╿]", line)) > 2


def _boxed(first: Sequence[str]) -> Callable[[str], str] | None:
    """Cells between bars, with rules that cross them: psql, mysql, SQLite, DuckDB, rich."""
    rules = [line for line in first if _CROSSED.fullmatch(line.strip())]
    crossed = any(re.search(r"[+─-╿]", line) for line in rules)
    barred = [line.translate(_BARS) for line in first if line not in rules]
    if not crossed or not any("|" in line for line in barred):
        return None

    def plain(line: str) -> str:
        line = line.translate(_BARS)
        if "|" not in line or _CROSSED.fullmatch(line.strip()) or _is_rule(line):
            return ""
        inner = line.strip()
        if inner[:1] == "|" and inner[-1:] == "|":
            line = inner[1:-1].rstrip()
        cells = [cell.strip() for cell in line.split("|")]
        return "" if all(map(_TYPES.fullmatch, cells)) else line

    return plain


def _ruled(first: Sequence[str]) -> Callable[[str], str] | None:
    """Cells between blanks below a header and a rule of dashes: SQLite, PowerShell."""
    rules = [line for line in first if _is_rule(line)]
    bodies = [line for line in first if not _is_rule(line)]
    if not rules or len(bodies) < 2 or any(mark in line for line in first for mark in "|\t;"):
        return None
    header, *below = bodies
    starts = [match.start() for match in _DASHES.finditer(rules[0])]
    if len(starts) < 2:
        return None
    if not any(is_number(cell) for line in below for cell in _cells_below(line, starts)):
        return None

    def plain(line: str) -> str:
        if not line.strip() or _is_rule(line) or _SAID.fullmatch(line.strip()):
            return ""
        if is_comment(line) and line != header:
            return line
        return "\t".join(_cells_below(line, starts))

    return plain


def _cells_below(line: str, starts: Sequence[int]) -> list[str]:
    """Return the cells of a line below a rule, whose dashes begin at some positions.

    Words, or parts between wider gaps, where there are as many; else what lies below each dash.
    """
    for parts in (line.split(), _GAPS.split(line.strip())):
        if len(parts) == len(starts):
            return parts
    inner = starts[1:]
    if any(" " not in line[at - 1 : at + 1] for at in inner):
        return line.split()  # a word stands over the gap: the row is left out, not cut
    return [line[at:end].strip() for at, end in pairwise([0, *inner, len(line)])]


def _commented(first: Sequence[str]) -> Callable[[str], str] | None:
    """Rows of numbers below a comment with as many words: ``# size  latency``."""
    body = [line for line in first if not is_comment(line)]
    if not body or first[0] is body[0]:
        return None
    delimiter = delimiter_of(body)
    row = split(body[0], delimiter)
    if not all(map(is_number, row)):
        return None
    comment = first[first.index(body[0]) - 1]
    header = comment.strip().lstrip("#%/! ").strip()
    ways = (_GAPS.split(header), *(split(header, mark) for mark in (delimiter, "\t", ",", ";")))
    names = next((way for way in ways if len(way) == len(row)), [])
    if not names or any(is_number(name) or not name.strip() for name in names):
        return None
    names = [name.strip(" ,;\t") for name in names]
    headings = [read_heading(name) for name in names]
    if not any(each.written or each.key in NEEDS_UNIT for each in headings):
        return None  # a remark may have as many words

    def plain(line: str) -> str:
        if line == comment:
            return "\t".join(names)
        if not line.strip() or is_comment(line):
            return ""
        return "\t".join(split(line, delimiter))

    return plain


def _body(first: Sequence[str]) -> list[str]:
    """Return the lines of a table of blanks alone; none where another mark divides the cells."""
    body = [line for line in first if not is_comment(line)]
    divided = any(mark in line for line in body for mark in ",;|\t")
    return [] if divided or len(body) < 2 else body


def _numbered(first: Sequence[str]) -> Callable[[str], str] | None:
    """Rows that begin with their number, below a header without a name for it: pandas, R."""
    header, *below = _body(first) or [""]
    names, rows = split(header, " "), [line.split() for line in below]
    begins = [row[0] for row in rows]
    is_count = any(begins == [str(number + at) for number in range(len(rows))] for at in (0, 1))
    if not (is_count and header[:1].isspace()):
        return None
    if not all(len(row) == len(names) + 1 and any(map(is_number, row[1:])) for row in rows):
        return None
    return lambda line: "\t".join(["row", *names] if line == header else line.split())


def _aligned(first: Sequence[str]) -> Callable[[str], str] | None:
    """Cells with blanks in them, between two blanks or more."""
    body = _body(first)
    words = {len(line.split()) for line in body[1:]}
    if not body or len(words | {len(split(body[0], " "))}) == 1:
        return None  # single blanks divide them as well
    rows = [_GAPS.split(line.strip()) for line in body]
    widths = {len(row) for row in rows}
    if len(widths) > 1 or widths == {1} or not all(any(map(is_number, row)) for row in rows[1:]):
        return None
    return lambda line: line if is_comment(line) else "\t".join(_GAPS.split(line.strip()))
