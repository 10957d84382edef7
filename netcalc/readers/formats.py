"""All formats in the order in which they are tried: the first that recognizes an input reads it."""

from __future__ import annotations

from netcalc.errors import ReaderError
from netcalc.readers import (
    _kinds,
    captures,
    columns,
    counters,
    exported,
    parquet,
    paths,
    ping,
    pings,
    saved,
    transfers,
)  # fmt: skip
from netcalc.readers.format import Format, Input

MARKED: tuple[Format, ...] = (
    parquet.FORMAT,
    *counters.BY_BYTES,
    saved.FORMAT,
    exported.FORMAT,
    *captures.FORMATS,
    *transfers.FORMATS,
    *paths.FORMATS,
    *pings.FORMATS,
    *counters.FORMATS,
)
"""Formats with a mark of their own: magic bytes, a head of text, names of JSON members.

Parquet, messages of the kernel, what netcalc wrote itself, and captures come first: they are
recognized by their first bytes, and captures are never read as text.
"""

BY_LINES: tuple[Format, ...] = (ping.FORMAT, columns.FORMAT)
"""Formats without one, tried when the text is of no other tool that is known by name."""

FORMATS: tuple[Format, ...] = (*MARKED, *BY_LINES)
"""Every format that is read."""

OF_SHORT_LINES = frozenset(
    one.name for one in (*transfers.FORMATS, *paths.FORMATS, *pings.FORMATS, *counters.FORMATS)
)
"""Formats whose text, where it is neither JSON nor XML, has lines that a person reads."""
OF_CONGESTION = (["kind", "schema", "by", "stack", "scenario"], ["rate_bps", "rtt_s"])
"""First members of a batch's results, and members of a scenario: no measurements."""
LONGEST_LINE = 10_000
"""Longest line of such a text: three times that of any real one here. Longer ones come of damage,
and a pattern may take a time that grows by the cube of their length. [character]"""

EMPTY, TEXT = "empty", "text"
"""Kinds of inputs without a measurement."""


def recognized(given: Input) -> Format | str:
    """Return the format of an input, or the name of its kind if no format reads it.

    Raises
    ------
    ReaderError
        If the input cannot be opened, or is neither text nor of a known kind.
    """
    marked = named(given)
    if marked is not None:
        return marked
    if given.text.blank:
        return EMPTY
    if ping.FORMAT.recognize(given):
        return ping.FORMAT
    kind = _kinds.kind_by_lines(given)
    if kind is not None:
        return kind
    return columns.FORMAT if columns.FORMAT.recognize(given) else _kinds.kind_of_text(given) or TEXT


def require_short_lines(given: Input, found: Format) -> None:
    """Refuse a text of short lines that has one which nobody could read."""
    if found.name not in OF_SHORT_LINES or given.is_json or given.first.lstrip().startswith("<"):
        return
    for number, line in zip(given.text.numbers, given.text.lines, strict=True):
        if len(line) > LONGEST_LINE:
            raise ReaderError(
                "line-too-long",
                file=given.name,
                line=number,
                format=found.description,
                length=len(line),
                longest=LONGEST_LINE,
            )


def named(given: Input) -> Format | str | None:
    """Return the format or kind of an input that has a mark of one; None if it has none."""
    kind = _kinds.kind_by_magic(given.head)
    if kind in _kinds.NAMES:
        return kind
    if not given.head.strip():
        return None
    found = next((one for one in MARKED if one.recognize(given)), None)
    return found or _kinds.kind_by_text(given)


def no_format(given: Input, kind: str) -> ReaderError:
    """Say why an input is not read: it is empty, text of no tool, or of a kind that is named."""
    if kind == EMPTY:
        return ReaderError(
            "file-blank" if given.data.strip(b"\xef\xbb\xbf") else "file-empty", file=given.name
        )
    if kind == "damaged JSON" and given.json.fault is not None:
        return given.json.fault
    if kind == "zstd":
        given.unpacked  # noqa: B018 - raises what is wrong with it, or what is missing
    if kind == "mahimahi":
        return ReaderError("trace-without-unit", file=given.name, kind=kind)
    names = _kinds.member_names(given) if kind == "JSON" else []
    if any(names[: len(first)] == first or set(first) <= set(names) for first in OF_CONGESTION):
        return ReaderError("json-of-congestion", file=given.name, kind=kind)
    if names:
        return ReaderError("unknown-json", file=given.name, kind=kind, names=names)
    root = _kinds.root_element(given) if kind == "XML" else ""
    if root:
        return ReaderError("unknown-xml", file=given.name, kind=kind, root=root)
    description = _kinds.NAMES[kind]
    return ReaderError("other-format", file=given.name, kind=kind, format=description)


def refuse_others(given: Input, wanted: Format, code: str) -> None:
    """Raise an error that names what an input is, if it has the mark of another format or kind."""
    found = named(given)
    if found is None or found is wanted:
        return
    if isinstance(found, Format):
        kind, description = found.name, found.description
    else:
        kind, description = found, _kinds.NAMES[found]
    raise ReaderError(code, file=given.name, kind=kind, format=description)
