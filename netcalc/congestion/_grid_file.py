"""Results of a grid as JSON lines: what was asked for, then each result as soon as it is there.

Every line is complete or cut off when the file is opened again; a line that is complete is never
changed. A line of kind ``session`` has what repeats the whole: the scenario, what was varied, the
versions and the machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from netcalc.congestion.grid import key_of
from netcalc.errors import ReaderError
from netcalc.samples import MAX_FILE_BYTES, LineFile

START = b'{"kind": "session"'
"""Each file begins so."""
KINDS = ("session", "result", "error")

Row = Mapping[str, Any]


class GridFile(LineFile):
    """A file of results that is open for more, by one process at a time.

    Parameters
    ----------
    path : Path
        A file of results, or a new one.

    Attributes
    ----------
    finished : set of str
        Keys of the results that it has.

    Raises
    ------
    ReaderError
        If it is another file, or is damaged.
    NetcalcError
        If another process writes to it.
    OSError
        If it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, busy="grid-file-busy")
        try:
            rows, size = _complete_rows(path)
            self.cut(size)  # a line that a killed program left
        except BaseException:
            self.close()
            raise
        self.finished = {row["key"] for row in rows if row["kind"] == "result"}

    def add(self, rows: Iterable[Row]) -> None:
        """Append rows, all or none of them.

        Raises
        ------
        OSError
            With the name of the file: the disk is full.
        """
        self.append(rows, sync=True)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return all complete lines of a file of results.

    Raises
    ------
    ReaderError
        If it is another file, or is damaged.
    OSError
        If there is no such file.
    """
    return _complete_rows(path)[0]


def _complete_rows(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the complete lines, and how many bytes they are."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ReaderError("grid-file-too-long", file=str(path), limit=MAX_FILE_BYTES)
    data = path.read_bytes()
    if data[: len(START)] != START[: len(data)]:
        raise ReaderError("grid-file-other", file=str(path))
    size = data.rfind(b"\n") + 1
    lines = data[:size].splitlines()
    return [_row(line, number, path) for number, line in enumerate(lines, 1)], size


def _row(line: bytes, number: int, path: Path) -> dict[str, Any]:
    """Return one line; its key must be that of its scenario."""
    try:
        row = json.loads(line)
        sound = row["kind"] in KINDS
        if sound and row["kind"] != "session":
            sound = row["key"] == key_of(row["scenario"], row["by"], row["stack"])
            sound &= isinstance(row["values"], dict)
    except (ValueError, KeyError, TypeError, RecursionError):
        sound = False
    if not sound:
        raise ReaderError("grid-line-damaged", file=str(path), line=number)
    found: dict[str, Any] = row
    return found
