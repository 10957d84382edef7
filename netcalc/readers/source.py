"""Where a reader's bytes come from: opened, unpacked, bounded, hashed, decoded, cut into lines.

The lines of a text are as a terminal would show them, with their numbers. They stay one text, which
is cut where they are asked for: as many strings they would take several times the memory of the
file.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import errno
import hashlib
import importlib
import io
import lzma
import math
import os
import re
import stat
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from netcalc.display import unit_of_name
from netcalc.errors import ArgumentTypeError, ReaderError
from netcalc.messages import Notice

BLOCK = 1 << 16
"""Characters that are cut into lines at a time."""

_ESCAPES = re.compile(
    r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]"  # colours, cursor movements
    r"|\x1b\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"  # window titles, links
    r"|\x1b[ -/]?[0-~]?"
)
_TOUCHED = re.compile("[\x1b\b]")
_BREAKS = re.compile("[\r\n]")


class Lines(Sequence[str]):
    """The lines of a text, cut when they are asked for.

    >>> lines = Lines("a\\nb\\nc")
    >>> len(lines), lines[1], list(lines[1:]), list(lines)
    (3, 'b', ['b', 'c'], ['a', 'b', 'c'])
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._count = text.count("\n") + 1
        self._all: list[str] | None = None

    def __len__(self) -> int:
        return self._count

    def blocks(self) -> Iterator[str]:
        """Yield the text in pieces of whole lines, without the line end between two of them."""
        start, end = 0, len(self.text)
        while start <= end:
            stop = self.text.find("\n", start + BLOCK)
            stop = end if stop < 0 else stop
            yield self.text[start:stop]
            start = stop + 1

    def __iter__(self) -> Iterator[str]:
        if self._all is not None:
            yield from self._all
            return
        for block in self.blocks():
            yield from block.split("\n")

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._count)
            if step > 0:
                return list(islice(self, start, stop, step))
        elif index == -1:
            return self.text[self.text.rfind("\n") + 1 :]
        if self._all is None:
            self._all = self.text.split("\n")
        return self._all[index]


def numbered(text: str) -> tuple[str, Sequence[int], bool]:
    """Return a text with line ends of one kind, the line numbers, and whether its end has one.

    A carriage return inside a line starts a new piece of it, which keeps the line's number; in a
    text without other line ends it ends the line.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        text = re.sub(r"(?<!\r)\r+\n", "\n", text) if "\r\n" in text else text
        if text.endswith("\r") and "\n" in text:
            text = text.rstrip("\r")
    numbers: Sequence[int] | None = None
    if "\r" in text:
        if "\n" in text:
            numbers = _numbers_of_pieces(text)
        text = text.replace("\r", "\n")
    complete = text.endswith("\n") or not text
    if complete:
        text = text[:-1]
    if numbers is None:
        count = text.count("\n") + 1 if text or complete else 0
        return text, range(1, count + 1), complete
    return text, numbers[:-1] if complete else numbers, complete


def _numbers_of_pieces(text: str) -> Sequence[int]:
    numbers, number = array("I", [1]), 1
    for line_break in _BREAKS.finditer(text):
        number += line_break[0] == "\n"
        numbers.append(number)
    return numbers


def without_terminal_codes(text: str, limit: int) -> tuple[str, list[int]]:
    """Return a text without escape codes and overtyped characters, and the indexes of such lines.

    Of a line longer than ``limit`` only the beginning is kept.
    """
    code = _TOUCHED.search(text)
    if code is None:
        return text, []
    parts: list[str] = []
    touched: list[int] = []
    done = index = 0
    while code is not None:
        start = text.rfind("\n", done, code.start()) + 1 or done
        stop = text.find("\n", code.end())
        stop = len(text) if stop < 0 else stop
        index += text.count("\n", done, start)
        touched.append(index)
        parts += [text[done:start], overtyped(_ESCAPES.sub("", text[start:stop][:limit]))]
        done = stop
        code = _TOUCHED.search(text, stop)
    parts.append(text[done:])
    return "".join(parts), touched


def overtyped(line: str) -> str:
    """Apply backspaces: each takes back the character before it."""
    if "\b" not in line:
        return line
    kept: list[str] = []
    for character in line:
        if character != "\b":
            kept.append(character)
        elif kept:
            kept.pop()
    return "".join(kept)


def without_long(text: str, limit: int) -> tuple[str, list[int]]:
    """Return a text whose lines beyond a length are empty, and the indexes of those lines."""
    parts: list[str] = []
    long: list[int] = []
    done = place = index = 0
    while len(text) - place > limit:
        last = text.rfind("\n", place, place + limit + 1)
        if last >= 0:
            index += text.count("\n", place, last + 1)
            place = last + 1
            continue
        stop = text.find("\n", place)
        stop = len(text) if stop < 0 else stop
        parts.append(text[done:place])
        long.append(index)
        done = place = stop
        if stop < len(text):
            place, index = stop + 1, index + 1
    return ("".join(parts) + text[done:] if long else text), long


MAX_BYTES = 64 * 1024 * 1024
"""Largest input that is read, compressed or not. [byte]"""

MAX_LINE = 1024 * 1024
"""Longest line that is looked at. [characters]"""

Readable: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[str] | IO[bytes]
"""A path, text with a line end in it, bytes, or a file object."""

# Encodings of consoles and spreadsheets, tried when the bytes are not UTF-8. All of them leave the
# ASCII digits and the signs = < : . , where they are.
_LEGACY = (
    "cp1252", "cp866", "cp1251", "koi8_r", "gbk", "big5", "cp932", "cp949",
    "cp850", "cp852", "cp1250", "cp857", "cp1254",
)  # fmt: skip
_BOMS = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_CONTROLS = bytes(sorted(set(range(32)) - set(b"\t\n\v\f\r\b\a\x1b")))


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of one input, with the names and facts that go into ``Meta``."""

    name: str
    data: bytes
    sha256: str
    is_file: bool = False
    grew: bool = False


_KEPT_TEXT = 1 << 20
"""Longest text that is kept once it was read, so that a warning can name a line. [character]"""


@dataclass(slots=True)
class Text:
    """Decoded input: its lines with their numbers, and warnings about the decoding.

    A carriage return inside a line starts a new piece of it, which keeps the line's number. A line
    longer than :data:`MAX_LINE` is empty here; ``whole`` has it, to find what the text is, and its
    number is in ``too_long``.
    """

    lines: Lines
    numbers: Sequence[int]
    ends_complete: bool
    encoding: str
    warnings: list[Notice]
    whole: Lines
    too_long: list[int]

    @property
    def blank(self) -> bool:
        """Whether there is nothing but white space."""
        return not self.whole.text or self.whole.text.isspace()

    def numbered_lines(self) -> Iterator[tuple[int, str, bool]]:
        """Yield each line that is not blank with its number, and whether it is the last and cut."""
        cut = 0 if self.ends_complete or not self.numbers else self.numbers[-1]
        for number, line in zip(self.numbers, self.lines, strict=True):
            if line.strip():
                yield number, line, number == cut

    def whole_lines(
        self,
        warnings: list[Notice],
        *,
        padded: bool = False,
        closed: re.Pattern[str] | None = None,
    ) -> tuple[list[tuple[int, str]], bool]:
        """Return the numbered lines, and whether the last line was left out because it is cut.

        That, and what the decoding warned of, is added to the warnings. The lines of a tool that
        are ``padded`` with blanks are whole if they end in a blank.
        """
        warnings += self.warnings
        lines = list(zip(self.numbers, self.lines, strict=True))
        while lines and not lines[-1][1].strip():
            lines.pop()
        if not lines or self.ends_complete or (padded and lines[-1][1][-1:].isspace()):
            return lines, False
        number, last = lines.pop()
        if closed and (closed.fullmatch(last) or closed.fullmatch(last.rstrip())):
            return [*lines, (number, last)], False
        warnings.append(Notice("last-line-cut", {"number": number}))
        return lines, True

    def let_go(self) -> None:
        """Let go of the lines of a large text, once they are read: a warning names none of them."""
        if len(self.whole.text) > _KEPT_TEXT:
            self.lines = self.whole = Lines("")


class WholeLines:
    """The numbered lines of a text, without one that is cut, and what a reader warns of.

    A reader adds the numbers of lines of its tool that it does not read to ``unread``. The
    arguments are those of :meth:`Text.whole_lines`.
    """

    def __init__(
        self, text: Text, *, padded: bool = False, closed: re.Pattern[str] | None = None
    ) -> None:
        self.warnings: list[Notice] = []
        self.unread: list[int] = []
        self.lines, self.cut = text.whole_lines(self.warnings, padded=padded, closed=closed)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(self.lines)

    def with_unread(self, code: str = "transfer-lines-unread") -> list[Notice]:
        """Return the warnings, with that of the lines that were not read."""
        note(self.warnings, code, numbers=self.unread)
        return self.warnings


def fixed(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return columns that can no longer be changed, so that samples need no copy of them."""
    for column in columns.values():
        column.flags.writeable = False
    return columns


class Filled:
    """A column that is filled from its beginning: one number in all of its rows is kept once.

    >>> filled = Filled(3)
    >>> filled.put(0, np.array([64.0, 64.0]))
    >>> filled.column.strides
    (0,)
    >>> filled.put(2, np.array([1.0]))
    >>> filled.column.tolist()
    [64.0, 64.0, 1.0]
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._same: float | None = None
        self._each: NDArray[np.float64] | None = None

    def put(self, start: int, values: NDArray[np.float64]) -> None:
        """Set the next numbers."""
        if self._each is None and values.size:
            self._same = float(values[0]) if self._same is None else self._same
            if (values == self._same).all():
                return
            self._each = np.empty(self._count)
            self._each[:start] = self._same
        if self._each is not None:
            self._each[start : start + values.size] = values

    @property
    def column(self) -> NDArray[np.float64]:
        """The column; it can be changed only where its numbers differ."""
        if self._each is not None:
            return self._each
        return np.broadcast_to(
            np.float64(math.nan if self._same is None else self._same), self._count
        )


def open_source(source: Readable | Source, *, name: str | None = None) -> Source:
    """Read a path, text, bytes or file object; at most :data:`MAX_BYTES` of it.

    Text is a ``str`` with a line end in it (or an empty one); any other ``str`` is a path.
    """
    if isinstance(source, Source):
        return source
    if isinstance(source, bytes | bytearray | memoryview):
        return _bounded(bytes(source), name or "<bytes>", is_file=name is not None)
    if is_path(source):
        return _read_path(source, name)  # type: ignore[arg-type]
    if isinstance(source, str):
        return _bounded(_encoded(source), name or "<text>", is_file=name is not None)
    if hasattr(source, "read"):
        return _read_stream(source, name)  # type: ignore[arg-type]
    raise ArgumentTypeError("not-a-source", "source", type(source).__name__)


def is_path(source: Readable | Source) -> bool:
    """Whether a source is the name of a file: no bytes, no file object, no text with lines."""
    if isinstance(source, str):
        return bool(source.strip()) and "\n" not in source and "\r" not in source
    return isinstance(source, os.PathLike)


def read_head(path: Readable | Source, limit: int) -> bytes:
    """Read the beginning of a file; the rest of it is not touched."""
    with _opened(path) as (stream, _):  # type: ignore[arg-type]
        return stream.read(limit)


def decode(source: Source, *, words: Iterable[str] = ()) -> Text:
    """Decode a source and cut it into lines, without escape codes and overtyped characters.

    ``words`` that the text may hold help to find its encoding when it is not UTF-8.
    """
    text, encoding, warnings = _decoded(source, tuple(words))
    if source.grew:
        warnings.append(Notice("file-grew"))
    text, numbers, ends_complete = numbered(text)
    text, touched = without_terminal_codes(text, MAX_LINE)
    if touched and text.endswith("\n"):  # nothing but a code is behind the last line end
        text, numbers, ends_complete = text[:-1], numbers[:-1], True
        touched = [index for index in touched if index < len(numbers)]
    if touched:
        line_numbers = sorted({numbers[i] for i in touched})
        warnings.append(Notice("terminal-codes-removed", {"numbers": line_numbers}))
    whole = lines = Lines(text)
    shorter, long = without_long(text, MAX_LINE)
    if long:
        lines = Lines(shorter)
        line_numbers = sorted({numbers[i] for i in long})
        warnings.append(Notice("lines-too-long", {"numbers": line_numbers, "limit": MAX_LINE}))
    too_long = [numbers[i] for i in long]
    return Text(lines, numbers, ends_complete, encoding, warnings, whole, too_long)


def as_utf8(data: bytes) -> bytes:
    """Return text that begins with a byte order mark as UTF-8 without one; other data as they are.

    >>> as_utf8("56".encode("utf-16"))
    b'56'
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            text = data[len(bom) :]
            return text if encoding == "utf-8" else _encoded(text.decode(encoding, "replace"))
    return data


def no_measurement(code: str, source: Source, text: Text, **values: Any) -> ReaderError:
    """Say that a text has no measurement, or that its lines are too long to be read."""
    if text.too_long:
        return ReaderError(
            "only-long-lines", file=source.name, numbers=text.too_long, limit=MAX_LINE
        )
    return ReaderError(code, file=source.name, **values)


def csv_rows(
    lines: Iterable[tuple[int, str]], source: Source, *, delimiter: str = ","
) -> list[list[str]]:
    """Return the cells of numbered lines of CSV.

    Raises
    ------
    ReaderError
        If a quoted cell goes on for longer than any cell.
    """
    at = 0

    def texts() -> Iterator[str]:
        nonlocal at
        for at, text in lines:  # noqa: B007 - for the error
            yield text

    try:
        return list(csv.reader(texts(), delimiter=delimiter))
    except csv.Error as error:
        raise ReaderError(
            "malformed-quotes", file=source.name, line=at, reason=shorten(str(error))
        ) from None


def unit_of(column: str) -> str:
    """Return the SI unit that the end of a column's name says.

    >>> unit_of("rtt_s"), unit_of("packet_count")
    ('s', '1')
    """
    return unit_of_name(column) or "1"


def note(warnings: list[Notice], code: str, **values: Any) -> None:
    """Add a warning, unless one of its values is nothing: no line, a count of 0.

    >>> warnings = []
    >>> note(warnings, "implausible-lines", numbers=[])
    >>> warnings
    []
    """
    if all(values.values()):
        warnings.append(Notice(code, values))


def shorten(text: str, limit: int = 60) -> str:
    """Return the beginning of a text, for the values of an error or a warning.

    >>> shorten("64 bytes from 192.0.2.1", 16)
    '64 bytes from...'
    """
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _read_path(file_path: str | os.PathLike[str], name: str | None) -> Source:
    with _opened(file_path) as (stream, size_bytes):
        data = stream.read(MAX_BYTES + 1)
        grew = os.fstat(stream.fileno()).st_size > max(size_bytes, len(data))
    label = shorten(name or Path(file_path).name, 200)
    return _bounded(data, label, is_file=True, grew=grew and len(data) <= MAX_BYTES)


@contextmanager
def _opened(file_path: str | os.PathLike[str]) -> Iterator[tuple[IO[bytes], int]]:
    """Open a regular file; give it and its size."""
    path = Path(file_path)
    shown = shorten(str(path), 200)
    try:
        # Not blocking: a FIFO without a writer would never open otherwise.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(path, flags)
    except OSError as error:
        raise _cannot_open(shown, error) from None
    except ValueError:
        raise ReaderError("invalid-file-name", file=shown) from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            code = "is-directory" if stat.S_ISDIR(status.st_mode) else "not-regular-file"
            raise ReaderError(code, file=shown)
        with os.fdopen(handle, "rb", closefd=False) as stream:
            yield stream, status.st_size
    except OSError as error:
        raise _cannot_open(shown, error) from None
    finally:
        os.close(handle)


_CODES = {
    errno.ENOENT: "no-such-file",
    errno.ENOTDIR: "no-such-file",
    errno.ENAMETOOLONG: "no-such-file",
    errno.EACCES: "no-permission",
    errno.EPERM: "no-permission",
    errno.EISDIR: "is-directory",
    errno.ENXIO: "not-regular-file",  # a FIFO or socket without its other end
}


def _cannot_open(shown: str, error: OSError) -> ReaderError:
    code = _CODES.get(error.errno or 0)
    if code is None:
        return ReaderError("unreadable-file", file=shown, reason=error.strerror or str(error))
    return ReaderError(code, file=shown)


def _read_stream(stream: IO[str] | IO[bytes], name: str | None) -> Source:
    own = getattr(stream, "name", None)
    label = shorten(name or (Path(own).name if isinstance(own, str) else "<stream>"), 200)
    try:
        data = stream.read(MAX_BYTES + 1)
    except UnicodeDecodeError as error:
        raise ReaderError("wrong-encoding", file=label, offset=error.start) from None
    except (OSError, ValueError, io.UnsupportedOperation) as error:
        raise ReaderError("unreadable-file", file=label, reason=str(error)) from None
    raw = _encoded(data) if isinstance(data, str) else bytes(data or b"")
    return _bounded(raw, label, is_file=label != "<stream>")


def _bounded(data: bytes, name: str, *, is_file: bool, grew: bool = False) -> Source:
    if len(data) > MAX_BYTES:
        raise ReaderError("file-too-large", file=name, limit_bytes=MAX_BYTES)
    return Source(name, data, hashlib.sha256(data).hexdigest(), is_file, grew)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(source: Source, words: tuple[str, ...]) -> tuple[str, str, list[Notice]]:
    data = source.data
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _with_bom(data[len(bom) :], encoding, len(bom))
    if b"\x00" in data:
        wide = _wide_without_bom(data)
        if wide is None:
            raise ReaderError("binary-data", file=source.name, offset=data.index(b"\x00"))
        text, encoding, warnings = _with_bom(data, wide, 0)
        return text, encoding, [*warnings, Notice("no-byte-order-mark", {"encoding": encoding})]
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if controls > 0.02 * len(data):
        offset = next(i for i, byte in enumerate(data) if byte in _CONTROLS)
        raise ReaderError("binary-data", file=source.name, offset=offset)
    try:
        return data.decode("utf-8"), "utf-8", []
    except UnicodeDecodeError as error:
        return _not_utf8(data, error, words)


def _with_bom(data: bytes, encoding: str, skipped: int) -> tuple[str, str, list[Notice]]:
    try:
        return data.decode(encoding), encoding, []
    except UnicodeDecodeError as error:
        values = {"encoding": encoding, "offset": skipped + error.start}
        return data.decode(encoding, "replace"), encoding, [Notice("bytes-replaced", values)]


def _wide_without_bom(data: bytes) -> str | None:
    """UTF-16 of text with digits and blanks has a zero in every second byte, and only there."""
    even, odd = data[0:20_000:2].count(0), data[1:20_000:2].count(0)
    half = min(len(data), 20_000) / 2
    if odd > 0.2 * half and even < 0.02 * half:
        return "utf-16-le"
    if even > 0.2 * half and odd < 0.02 * half:
        return "utf-16-be"
    return None


def _not_utf8(
    data: bytes, error: UnicodeDecodeError, words: tuple[str, ...]
) -> tuple[str, str, list[Notice]]:
    if error.start >= len(data) - 3 and _begins_character(data[error.start :]):
        return data[: error.start].decode("utf-8"), "utf-8", [Notice("cut-in-character")]
    patched = data.decode("utf-8", "replace")
    whole = sum(1 for c in patched if c > "\x7f" and c != "\ufffd")
    if whole > 4 * patched.count("\ufffd"):
        values = {"encoding": "UTF-8", "offset": error.start}
        return patched, "utf-8", [Notice("bytes-replaced", values)]
    text, encoding = _legacy(data, words)
    return text, encoding, [Notice("not-utf-8", {"encoding": encoding, "offset": error.start})]


def _begins_character(end: bytes) -> bool:
    """Whether bytes are the beginning of a UTF-8 character."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(end) == ""
    except UnicodeDecodeError:
        return False


def _legacy(data: bytes, words: tuple[str, ...]) -> tuple[str, str]:
    """Choose the encoding in which most of the known words appear."""
    sample = data[:65_536]

    def hits(encoding: str) -> int:
        text = sample.decode(encoding, "replace").lower()
        return sum(word in text for word in words if not word.isascii())

    best = max(_LEGACY, key=hits)
    if hits(best) == 0:
        best = "cp1252"
    try:
        return data.decode(best), best
    except UnicodeDecodeError:
        if hits(best):
            return data.decode(best, "replace"), best
        return data.decode("latin-1"), "latin-1"


_GZIP, _BZIP2, _XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
"""The first bytes of a frame of zstd."""
_ZSTD_MODULES = ("compression.zstd", "backports.zstd")
"""zstd is in the standard library from Python 3.14 on; before, a package reads it."""
_STEP_BYTES = 1 << 20
_DAMAGED = (OSError, ValueError, EOFError, zlib.error, lzma.LZMAError)


def unpack(source: Source) -> Source:
    """Return a source uncompressed; as it is if it is not compressed. The hash stays.

    Raises
    ------
    ReaderError
        If the data are damaged, cut, or larger than the limit of an input.
    """
    if source.data.startswith(ZSTD_MAGIC):
        return replace(source, data=_zstd_frames(source))
    worker = _worker(source.data)
    if worker is None:
        return source
    is_gzip = source.data.startswith(_GZIP)
    try:
        data: bytes = worker.decompress(source.data, MAX_BYTES + 1)
    except _DAMAGED as error:
        code = "damaged-gzip" if is_gzip else "damaged-packing"
        raise ReaderError(code, file=source.name) from error
    if len(data) > MAX_BYTES:
        raise ReaderError("too-large-uncompressed", file=source.name, limit_bytes=MAX_BYTES)
    if not worker.eof:
        code = "gzip-cut-short" if is_gzip else "packing-cut-short"
        raise ReaderError(code, file=source.name, offset=len(source.data))
    return replace(source, data=data)


def unpack_head(head: bytes, limit: int) -> bytes:
    """Uncompress the beginning of an input, as far as it goes; at most ``limit`` bytes."""
    try:
        worker = Decompressor("") if head.startswith(ZSTD_MAGIC) else _worker(head)
        unpacked: bytes = head if worker is None else worker.decompress(head, limit)
    except (ReaderError, *_DAMAGED):
        return head
    return unpacked


def _worker(data: bytes) -> Any:
    if data.startswith(_GZIP):
        return zlib.decompressobj(wbits=31)
    if data.startswith(_BZIP2) and data[3:4].isdigit():
        return bz2.BZ2Decompressor()
    if data.startswith(_XZ):
        return lzma.LZMADecompressor(memlimit=128 * 1024 * 1024)
    return None


class Decompressor:
    """One frame of zstd, read as the standard library reads others: damage is a ValueError.

    Parameters
    ----------
    name : str
        Name of the file, for an error.

    Raises
    ------
    ReaderError
        If neither Python nor a package can read zstd.
    """

    def __init__(self, name: str) -> None:
        module = _module()
        if module is None:
            raise ReaderError("zstd-not-at-hand", file=name)
        self._worker: Any = module.ZstdDecompressor()
        self._error: type[Exception] = module.ZstdError

    @property
    def eof(self) -> bool:
        """Whether the frame is at its end."""
        return bool(self._worker.eof)

    @property
    def needs_input(self) -> bool:
        """Whether all that was given is used up."""
        return bool(self._worker.needs_input)

    @property
    def unused_data(self) -> bytes:
        """What is behind the frame."""
        return bytes(self._worker.unused_data)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most ``max_length`` bytes more."""
        try:
            return bytes(self._worker.decompress(data, max_length))
        except self._error as error:
            raise ValueError(str(error)) from None


def _zstd_frames(source: Source) -> bytes:
    parts: list[bytes] = []
    size = 0
    rest = source.data
    while rest.startswith(ZSTD_MAGIC):
        frame = Decompressor(source.name)
        while not frame.eof:
            try:
                parts.append(frame.decompress(rest, _STEP_BYTES))
            except ValueError:
                raise ReaderError("damaged-packing", file=source.name) from None
            rest = b""
            size += len(parts[-1])
            if size > MAX_BYTES:
                raise ReaderError("too-large-uncompressed", file=source.name, limit_bytes=MAX_BYTES)
            if frame.needs_input and not frame.eof:
                raise ReaderError("packing-cut-short", file=source.name, offset=len(source.data))
        rest = frame.unused_data
    if rest.strip(b"\0"):
        raise ReaderError("damaged-packing", file=source.name)
    return b"".join(parts)


def _module() -> Any:
    for name in _ZSTD_MODULES:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None
