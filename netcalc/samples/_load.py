"""Samples of any kind read back from their files."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

from netcalc.errors import ReaderError
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
    name = Path(path).name
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ReaderError(f"cannot be read: {error.strerror}", file=str(path)) from error
    return loads(data, file=name)


def loads(data: bytes, *, file: str = "samples") -> Samples:
    """Read samples from the bytes of a saved file."""
    try:
        if data[:2] == b"\x1f\x8b":
            with gzip.open(io.BytesIO(data)) as stream:
                data = stream.read(MAX_FILE_BYTES + 1)
        document = json.loads(data) if len(data) <= MAX_FILE_BYTES else None
    except (OSError, EOFError, ValueError, RecursionError) as error:
        raise ReaderError("is damaged: no complete JSON in it", file=file) from error
    if len(data) > MAX_FILE_BYTES:
        raise ReaderError("is too large", file=file, expected=f"at most {MAX_FILE_BYTES} bytes")
    if not isinstance(document, dict) or document.get("format") != "netcalc samples":
        raise ReaderError("is not a file of saved samples", file=file, expected="netcalc samples")
    schema, kind = document.get("schema"), document.get("kind")
    if not isinstance(schema, int) or schema > SCHEMA:
        raise ReaderError(
            "is of a later format",
            file=file,
            field="schema",
            value=str(schema),
            expected=f"{SCHEMA} or less",
            hint="Update netcalc-lab",
        )
    if kind not in KINDS:
        raise ReaderError(
            "is of an unknown kind", file=file, field="kind", value=str(kind),
            expected=", ".join(KINDS),
        )  # fmt: skip
    try:
        meta = document["meta"]
        known = {f.name for f in fields(Meta)}
        meta = Meta(**{key: value for key, value in meta.items() if key in known})
        meta = replace(meta, warnings=tuple(meta.warnings))
        columns, extra = document["columns"], dict(document.get("fields", {}))
        if kind == "Table":
            return Table(data={n: from_json(c) for n, c in columns.items()}, meta=meta)
        columns = {n: from_json(c) for n, c in columns.items()}
        return KINDS[kind](**columns, **extra, meta=meta)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ReaderError(f"is damaged: {error}", file=file) from error
