"""Parquet that ``netcalc export`` wrote: the columns of any samples, and all that is known of them.

pyarrow is larger than all other packages together, so that it is loaded when such a file is read or
written, and named where it is missing. Pages have checksums, and so has what is beside the columns.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.errors import DomainError, ReaderError
from netcalc.readers.format import Format, Input
from netcalc.readers.places import layers_of_columns
from netcalc.readers.source import shorten
from netcalc.samples import PacketTrace, Samples, Table, json_ready, loads

MAGIC = b"PAR1"
KEY, SUM = b"netcalc", b"netcalc sha256"
"""Names in the schema: JSON of what is beside the columns, and its SHA-256."""
_ENDS = ("source", "destination")
MOST_CELLS = 64_000_000
"""Values that are read at most: a small file may say that a value is there a billion times. [1]"""


def parquet_bytes(samples: Samples) -> bytes:
    """Return Parquet: each column's field has its unit and layer, the schema all that is known.

    pandas and pyarrow must be there.
    """
    arrow, parquet = _packages()
    table = arrow.Table.from_pandas(samples.to_frame(), preserve_index=False)
    parts = {
        "unit": samples.meta.units,
        "layer": {**samples.meta.layers, **layers_of_columns(samples)},
    }
    fields = [
        schema_field.with_metadata(
            {
                key: part[schema_field.name]
                for key, part in parts.items()
                if schema_field.name in part
            }
        )
        for schema_field in table.schema
    ]
    document = json.loads(samples.dumps())
    document["columns"] = {name: [] for name in samples.columns()}
    text = json.dumps(json_ready(document), ensure_ascii=True, allow_nan=False).encode()
    kept = {**(table.schema.metadata or {}), KEY: text, SUM: _sum(text)}
    stream = io.BytesIO()
    parquet.write_table(
        table.cast(arrow.schema(fields, metadata=kept)), stream, write_page_checksum=True
    )
    return stream.getvalue()


def _packages() -> tuple[Any, Any]:
    """Return pyarrow and its Parquet, late; they are in no extra but that of the tests."""
    return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")


def _sum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()


def _recognize(file: Input) -> bool:
    return file.head.startswith(MAGIC)


def _read(input_: Input) -> Samples:
    if importlib.util.find_spec("pyarrow") is None:
        raise ReaderError("parquet-package-missing", file=input_.name)
    arrow, parquet = _packages()
    try:
        file = parquet.ParquetFile(arrow.BufferReader(input_.data), page_checksum_verification=True)
        document = _document(input_, file.schema_arrow.metadata or {})
        shape = file.metadata.num_rows, file.metadata.num_columns
        if shape[0] * shape[1] > MOST_CELLS:
            raise ReaderError(
                "parquet-too-large", file=input_.name, count=shape[0] * shape[1], limit=MOST_CELLS
            )
        table = file.read()
        columns = {name: _column(table.column(name)) for name in table.column_names}
    except ReaderError:
        raise
    except (arrow.ArrowException, OSError, ValueError, TypeError, KeyError, OverflowError) as error:
        raise ReaderError("parquet-damaged", file=input_.name) from error
    return _samples(input_, document, columns)


def _document(file: Input, metadata: Mapping[bytes, bytes]) -> bytes:
    """Return what is beside the columns, as a saved file of samples has it."""
    if KEY not in metadata:
        raise ReaderError("parquet-of-others", file=file.name)
    text: bytes = metadata[KEY]
    if metadata.get(SUM) != _sum(text):
        raise ReaderError("parquet-damaged", file=file.name)
    return text


def _column(column: Any) -> NDArray[Any]:
    """Return a column; an unknown number is nan."""
    values: NDArray[Any] = column.to_numpy()
    return values


def _samples(file: Input, document: bytes, columns: dict[str, NDArray[Any]]) -> Samples:
    empty = loads(document, file=file.name)
    if isinstance(empty, PacketTrace):
        columns |= _numbers(file, empty, columns)
    for name, values in columns.items():
        texts = values.dtype.kind == "O" and all(isinstance(text, str) for text in values)
        if values.dtype.kind not in _kinds(empty, name) or (values.dtype.kind == "O" and not texts):
            raise ReaderError("parquet-column", file=file.name, field=shorten(name))
    if list(columns) != list(empty.columns()):
        raise ReaderError("exported-columns", file=file.name, wanted=list(empty.columns()))
    try:
        if isinstance(empty, Table):
            return replace(empty, data=columns)
        changed: Samples = replace(empty, **columns)  # type: ignore[type-var]
    except (DomainError, TypeError, ValueError) as error:
        raise ReaderError("parquet-damaged", file=file.name) from error
    return changed


def _numbers(
    file: Input, empty: PacketTrace, columns: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Return the ends of packets as numbers of their addresses, which a frame has as text."""
    listed = {address: number for number, address in enumerate(empty.addresses or ("",))}
    numbers = {}
    for name in _ENDS:
        texts = columns.get(name, np.zeros(0, dtype=object)).tolist()
        if not listed.keys() >= set(texts):
            raise ReaderError("parquet-column", file=file.name, field=name)
        numbers[name] = np.array([listed[address] for address in texts], dtype=np.uint32)
    return numbers


def _kinds(empty: Samples, name: str) -> str:
    """Return the types that a column may have: those of numpy, by their letters."""
    if name in empty.column_types:
        return "iu"
    if not empty.column_units:
        return "Ofiu"  # of a table
    return {"text": "O", "bool": "b"}.get(empty.column_units.get(name, ""), "fiu")


FORMAT = Format(
    name="netcalc Parquet",
    description="Parquet that netcalc exported",
    recognize=_recognize,
    read=_read,
    traps=(
        "It needs the package pyarrow, which is in no extra of netcalc.",
        "Parquet of other programs says no units and is refused: export it as CSV.",
        "A page or what is beside the columns is refused if its checksum is another.",
        "A small file may stand for a billion values: more than 64 million are refused.",
    ),
)
