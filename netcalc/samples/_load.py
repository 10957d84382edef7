"""Samples of any kind read back from their files."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.samples._base import SCHEMA, Meta, Samples
from netcalc.samples._files import from_json
from netcalc.samples._probes import HopSamples, TrainSamples
from netcalc.samples._round_trips import RttSamples
from netcalc.samples._table import Table
from netcalc.samples._transactions import TransactionSamples
from netcalc.samples._transfers import BulkSamples, TransferSamples

MAX_FILE_BYTES = 1 << 30
"""Largest file of saved samples that is read, compressed or not. [byte]"""

KINDS: dict[str, Callable[..., Samples]] = {
    kind.__name__: kind
    for kind in (
        RttSamples, TransferSamples, TransactionSamples, BulkSamples, HopSamples, TrainSamples,
        Table,
    )
}  # fmt: skip


def load(path: str | os.PathLike[str]) -> Samples:
    """Read samples of any kind back from :meth:`Samples.save`.

    Raises
    ------
    ReaderError
        If the file is no file of netcalc, is damaged, or is of a later schema.
    """
    try:
        status = Path(path).stat()
        # A pipe without a writer would never open, and a device may never end.
        if not stat.S_ISREG(status.st_mode):
            raise ReaderError("cannot be read: it is not a regular file", file=str(path))
        if status.st_size > MAX_FILE_BYTES:
            raise _too_large(str(path))
        data = Path(path).read_bytes()
    except OSError as error:
        raise ReaderError(f"cannot be read: {error.strerror}", file=str(path)) from error
    return loads(data, file=Path(path).name)


def loads(data: bytes, *, file: str = "samples") -> Samples:
    """Read samples from the bytes of a saved file."""
    document = _document(data, file)
    if not isinstance(document, dict) or document.get("format") != "netcalc samples":
        raise ReaderError("is not a file of saved samples", file=file, expected="netcalc samples")
    schema, kind = document.get("schema"), document.get("kind")
    if type(schema) is not int or schema < 1:
        raise ReaderError(
            "does not say its format", file=file, field="schema", value=str(schema),
            expected=f"a whole number from 1 to {SCHEMA}",
        )  # fmt: skip
    if schema > SCHEMA:
        raise ReaderError(
            "is of a later format",
            file=file,
            field="schema",
            value=str(schema),
            expected=f"{SCHEMA} or less",
            hint="Update netcalc-lab",
        )
    if not isinstance(kind, str) or kind not in KINDS:
        raise ReaderError(
            "is of an unknown kind", file=file, field="kind", value=str(kind),
            expected=", ".join(KINDS),
        )  # fmt: skip
    try:
        meta = _meta(document["meta"])
        columns = {n: from_json(n, column) for n, column in document["columns"].items()}
        if kind == "Table":
            return Table(data=columns, meta=meta)
        totals = _totals(document.get("fields", {}))
        return KINDS[kind](**_of_their_kinds(KINDS[kind], columns), **totals, meta=meta)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ReaderError(f"is damaged: {error}", file=file) from error


def _document(data: bytes, file: str) -> Any:
    """Return the JSON in a file, compressed or not."""
    try:
        if data[:2] == b"\x1f\x8b":
            with gzip.open(io.BytesIO(data)) as stream:
                data = stream.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise _too_large(file)
        return json.loads(data, object_pairs_hook=partial(_without_twins, file))
    except ReaderError:
        raise
    except (OSError, EOFError, ValueError, zlib.error, RecursionError) as error:
        raise ReaderError("is damaged: no complete JSON in it", file=file) from error


def _without_twins(file: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of names and values; which of two of one name is meant, nobody knows."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ReaderError("is damaged: it has two of one name", file=file, field=name)
        found[name] = value
    return found


def _too_large(file: str) -> ReaderError:
    return ReaderError("is too large", file=file, expected=f"at most {MAX_FILE_BYTES} bytes")


def _meta(document: Mapping[str, Any]) -> Meta:
    """Return what is known of samples; names of a later minor format are passed over."""
    known: dict[str, Any] = {}
    for name, value in document.items():
        wanted = _META_KINDS.get(name)
        if wanted is not None and type(value) is not wanted:
            raise TypeError(f"meta.{name} is {value!r:.60}")
        if wanted is not None:
            known[name] = tuple(map(Notice.load, value)) if wanted is list else value
    return Meta(**known)


_META_KINDS: dict[str, type] = {
    **{item.name: str for item in fields(Meta)},
    **dict.fromkeys(("units", "layers", "printed", "instrument"), dict),
    "warnings": list,
    "partial": bool,
    "schema": int,
}


def _totals(document: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in document.items():
        if value is not None and type(value) not in (int, float):
            raise TypeError(f"{name} is {value!r:.60}, no number")
    return dict(document)


def _of_their_kinds(container: Any, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Refuse text among numbers and the like, which numpy would take for what it is not."""
    for name, column in columns.items():
        wanted = {"bool": bool, "text": str}.get(container.column_units.get(name, ""))
        for found in {type(item) for item in column}:
            if found is not wanted and (wanted is not None or found not in (int, float)):
                row = next(row for row, item in enumerate(column) if type(item) is found)
                raise TypeError(f"{name} is {column[row]!r:.60} in row {row + 1}")
    return columns
