"""The numbers of changed files: the same where nothing is meant by the change, else never fewer.

Of each file of the tests copies are made that mean the same (other line ends, a byte order mark,
UTF-16, blanks behind lines, packed, JSON with other blanks): facts and columns are those of the
original. Then copies with one line or one number changed: a copy is refused, or what was lost shows
as a warning or as a partial run. Rows that are gone without a word are a fault.

Run: python tests/benchmarks/mutant_numbers.py [COUNT [SEED]]
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import mutants

from netcalc import readers
from netcalc.errors import ReaderError

COUNT, SEED = 5000, 20261123


class Seen(NamedTuple):
    """What came of a file: its facts, its columns, how many rows, the codes of its warnings."""

    facts: str
    columns: str
    rows: int
    codes: Counter[str]
    partial: bool
    lines: str


DECODING = {"no-byte-order-mark", "not-utf-8", "terminal-codes-removed"}
"""Notices of how a text was decoded, which another encoding does not need."""


def seen(data: bytes) -> Seen | None:
    """Read a file; None if it is refused."""
    try:
        found = readers.read(data)
    except ReaderError:
        return None
    columns = {
        name: [one.rstrip() if isinstance(one, str) else one for one in column.tolist()]
        for name, column in found.columns().items()
    }
    notices = [one for one in found.meta.warnings if one.code not in DECODING]
    return Seen(
        json.dumps(found.facts(), default=str),
        json.dumps(columns, default=str),
        max((len(column) for column in columns.values()), default=0),
        Counter(one.code for one in notices),
        found.meta.partial,
        " ".join(map(str, notices)),
    )


def is_text(data: bytes) -> bool:
    """Whether a file is UTF-8 without a mark and without escape codes."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return text.isascii() or not (set(text) & {"\ufeff", "\x1b"})


def is_json(data: bytes) -> bool:
    """Whether a file is one JSON document."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def has_quotes(data: bytes) -> bool:
    """Whether a cell may hold the end of a line, which must stay as it is."""
    return b'"' in data and not is_json(data)


def _lines(data: bytes) -> list[bytes]:
    return data.replace(b"\r\n", b"\n").split(b"\n")


def _blanks_behind(data: bytes) -> bytes:
    return b"\n".join(line + b"  " if line.strip() else line for line in _lines(data))


SAME: dict[str, Callable[[bytes], bytes]] = {
    "CRLF": lambda data: b"\r\n".join(_lines(data)),
    "mark": lambda data: b"\xef\xbb\xbf" + data,
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "UTF-16 big-endian": lambda data: b"\xfe\xff" + data.decode().encode("utf-16-be"),
    "blanks behind": _blanks_behind,
    "empty lines behind": lambda data: data + b"\n\n" if data.endswith(b"\n") else data,
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "JSON without blanks": lambda data: (
        json.dumps(json.loads(data), separators=(",", ":")).encode() if is_json(data) else data
    ),
    "JSON by lines": lambda data: (
        json.dumps(json.loads(data), indent=2).encode() if is_json(data) else data
    ),
}
MEANT = {
    ("transfers/small_writes.txt", "blanks behind"): "they are part of the reply, and count",
}
"""Changes that mean something after all, and why."""
NOT_SEEN = {
    **dict.fromkeys(
        ("counters/sadf.csv", "counters/sadf_local.csv"), "an empty cell is a value that is missing"
    ),
    "counters/netstat_s_bsd.txt": "a counter is a sentence: another one is another counter",
    "pings/fping_each_quiet.txt": "a line has as many values as there were probes, which none says",
}
"""Files in which a number that is gone cannot be seen, and why."""
PACKED = {"gzip", "bzip2", "xz"}


def line_removed(rng: random.Random, data: bytes) -> tuple[bytes, int]:
    """Remove a line: of a table one row is gone, of a path a row for each time in the line."""
    lines = data.split(b"\n")
    gone = lines.pop(rng.randrange(len(lines)))
    return b"\n".join(lines), 1 + len(re.findall(rb"\d+|[-*!.A-Z]", gone))


def number_garbled(rng: random.Random, data: bytes) -> tuple[bytes, int]:
    """Put letters into a number: no row is gone, or the one of that line with a word."""
    return _number_changed(rng, data, b"1x%"), 0


def number_emptied(rng: random.Random, data: bytes) -> tuple[bytes, int]:
    return _number_changed(rng, data, b""), 0


def digit_changed(rng: random.Random, data: bytes) -> tuple[bytes, int]:
    return _number_changed(rng, data, str(rng.randrange(1, 10**4)).encode()), 0


def line_cut(rng: random.Random, data: bytes) -> tuple[bytes, int]:
    """Cut the end of a line, so that another one may seem to be whole."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    kept = rng.randrange(len(lines[at]) + 1)
    gone, lines[at] = lines[at][kept:], lines[at][:kept]
    return b"\n".join(lines), 1 + len(re.findall(rb"\d+|\*|-", gone))


def _number_changed(rng: random.Random, data: bytes, other: bytes) -> bytes:
    found = [match.span() for match in re.finditer(rb"\d+(?:\.\d+)?", data)]
    if not found:
        return data
    start, end = rng.choice(found)
    return data[:start] + other + data[end:]


CHANGED = (line_removed, number_garbled, number_emptied, digit_changed, line_cut)


def fault_of_same(name: str, whole: Seen, data: bytes) -> str:
    """Return what differs in a copy that means the same."""
    if data[:2] == b"\x1f\x8b" or not (name in PACKED or is_text(data)):
        return ""
    if name in ("CRLF", "blanks behind") and has_quotes(data):
        return ""
    copy = seen(SAME[name](data))
    if copy is None:
        return "" if name == "blanks behind" else f"{name}: refused"
    for part in ("facts", "columns", "partial", "codes"):
        if getattr(copy, part) != getattr(whole, part):
            return f"{name}: other {part}"
    return ""


def fault_of_changed(rng: random.Random, whole: Seen, data: bytes) -> tuple[str, bytes]:
    """Return what is gone without a word in a copy with one change."""
    change = rng.choice(CHANGED)
    made, fewer = change(rng, data)
    try:
        copy = seen(made)
    except Exception as error:
        return f"{change.__name__}: {type(error).__name__}: {error}", made
    if copy is None or copy.rows >= whole.rows - fewer:
        return "", made
    if copy.lines != whole.lines or copy.partial != whole.partial:
        return "", made
    return f"{change.__name__}: {copy.rows} rows of {whole.rows}", made


def originals() -> dict[str, tuple[bytes, Seen]]:
    """Return the files that are read, and what they hold."""
    found = {}
    for name, data in mutants.seeds().items():
        whole = seen(data)
        if whole is not None:
            found[name] = (data, whole)
    return found


def run(count: int = COUNT, seed: int = SEED, *, keep: str = "") -> list[str]:
    """Read copies; return the faults. Each file is copied in every way that means the same."""
    files, faults = originals(), []
    names = sorted(files)
    for name in names:
        data, whole = files[name]
        for one in SAME:
            said = fault_of_same(one, whole, data)
            if said and (name, one) not in MEANT:
                faults.append(f"{name}: {said}")
    texts = [name for name in names if is_text(files[name][0]) and name not in NOT_SEEN]
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        name = rng.choice(texts)
        data, whole = files[name]
        said, made = fault_of_changed(rng, whole, data)
        if said:
            faults.append(f"{number} {name}: {said}")
            if keep:
                Path(keep, f"{number}").write_bytes(made)
    print(f"{len(names)} files in {len(SAME)} ways, {count:,} changed; faults {len(faults)}")
    return faults


if __name__ == "__main__":
    found_faults = run(*map(int, sys.argv[1:]))
    print("\n".join(found_faults))
    sys.exit(bool(found_faults))
