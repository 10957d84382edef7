"""Samples of netcalc: saved as JSON, or exported as CSV or Parquet.

pyarrow is larger than all other packages together, so that it is loaded when Parquet is read or
written, and named where it is missing. Pages have checksums, and so has what is beside the columns.
"""

from __future__ import annotations

import csv
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
from netcalc.printable import spreadsheet_text
from netcalc.readers.format import Format, Input
from netcalc.readers.places import layers_of_columns
from netcalc.readers.source import read_head, shorten
from netcalc.samples import PacketTrace, Samples, Table, json_ready, load, loads


def recognize(file: Input) -> bool:
    """Whether this is a file of :meth:`netcalc.samples.Samples.save`."""
    if file.head.lstrip()[:1] != b"{":
        return False
    if b'"netcalc samples"' in file.head[:2000]:
        return True
    documents = file.json.documents
    first = documents[0] if documents else None
    return isinstance(first, dict) and first.get("format") == "netcalc samples"


def read(file: Input) -> Samples:
    """Read samples back; a file by the limits of saved samples, which are wider than a text's."""
    if file.path is not None and read_head(file.path, 1) in (b"{", b"\x1f"):
        return load(file.path)
    return loads(file.data, file=file.unpacked.name)


FORMAT = Format(
    name="netcalc samples",
    description="saved netcalc samples",
    recognize=recognize,
    read=read,
    traps=(
        "A file of a later schema is refused by its number, never read in part.",
        "Of two values of one name neither is certain, so that the file is refused.",
        "Files of before have warnings as sentences and no facts; facts then come from the rows.",
    ),
)


MARK = "# netcalc samples "
_ENDPOINTS = ("source", "destination")


def csv_text(samples: Samples) -> str:
    """Return samples as CSV: a comment with the meta data, a header with units, a row each.

    A rate has its layer in the header: ``throughput_bps [TCP payload]``.

    A number is written with all its digits, a missing one as an empty cell, a flag as true or
    false. A text that a spreadsheet would take for a formula begins with an apostrophe. Packets
    have their addresses instead of numbers for them.

    Examples
    --------
    >>> from netcalc.samples import RttSamples
    >>> text = csv_text(RttSamples(payload_bytes=[56.0], rtt_s=[0.0113]))
    >>> text.splitlines()[1:]
    ['payload_bytes,rtt_s,sequence,lost,duplicate,error_reply,resolution_s,sent_s,ttl,group',
     '56.0,0.0113,,false,false,false,,,,']
    """
    document = json.loads(samples.dumps())
    columns = dict(samples.columns())
    if isinstance(samples, PacketTrace):
        names = np.array(samples.addresses or ("",), dtype=object)
        columns |= {name: names[samples.ints(name)] for name in _ENDPOINTS}
    del document["columns"], document["columns_sha256"]
    document["types"] = {name: column.dtype.kind for name, column in columns.items()}
    stream = io.StringIO()
    stream.write(MARK + json.dumps(document, ensure_ascii=True) + "\n")
    rows = csv.writer(stream, lineterminator="\n")
    units, layers = samples.meta.units, layers_of_columns(samples)
    rows.writerow(
        [
            spreadsheet_text(_header(name, units.get(name, ""), layers.get(name, "")))
            for name in columns
        ]
    )
    rows.writerows(zip(*map(_texts, columns.values()), strict=True))
    return stream.getvalue()


def _header(name: str, unit: str, layer: str) -> str:
    """Return the name of a column, with its unit where it does not end in it, and its layer."""
    in_name = {"s": "_s", "byte": "_bytes", "bit/s": "_bps", "ratio": "_ratio", "1": ""}
    ending = in_name.get(unit, "" if unit in ("", "text", "bool", "packet/s") else None)
    if ending is not None and name.endswith(ending):
        return f"{name} [{layer}]" if layer else name
    return f"{name} [{unit}, {layer}]" if layer else f"{name} [{unit}]"


_FLAGS = {"true": True, "false": False}


def _texts(column: NDArray[Any]) -> list[str]:
    if column.dtype.kind == "f":
        return ["" if value != value else repr(value) for value in column.tolist()]
    if column.dtype.kind == "b":
        return [str(value).lower() for value in column.tolist()]
    if column.dtype.kind in "iu":
        return list(map(str, column.tolist()))
    return [spreadsheet_text(value) for value in column.tolist()]


def _plain(text: str) -> str:
    return text[1:] if text.startswith("'") else text


def _recognize(file: Input) -> bool:
    return file.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(MARK.encode())


def _read(file: Input) -> Samples:
    try:
        text = file.data.decode("utf-8-sig", "surrogatepass").lstrip()
        first, _, rest = text.partition("\n")
        document = json.loads(first.removeprefix(MARK))
        types = {str(name): str(kind) for name, kind in document.pop("types").items()}
        rows = list(csv.reader(io.StringIO(rest, newline=""), strict=True))
    except (ValueError, KeyError, AttributeError, RecursionError, csv.Error) as error:
        raise file.refusal("exported-damaged") from error
    names = [_plain(cell).partition(" [")[0] for cell in rows[0]] if rows else []
    if names != [name.partition(" [")[0] for name in types]:
        raise file.refusal("exported-columns", line=2, wanted=list(types))
    while rows and not rows[-1]:  # empty lines behind
        rows.pop()
    for line, row in enumerate(rows[1:], 3):
        if len(row) != len(names):
            raise file.refusal("packet-row-width", line=line, found=len(row), wanted=len(names))
    columns = {
        name: _values(file, name, kind, [row[index] for row in rows[1:]])
        for index, (name, kind) in enumerate(types.items())
    }
    if document.get("kind") == "PacketTrace":
        listed = {str(cell): n for n, cell in enumerate(document["fields"].get("addresses", ()))}
        for name in _ENDPOINTS:
            columns[name] = [listed.setdefault(cell, len(listed)) for cell in columns[name]]
        document["fields"]["addresses"] = list(listed)
    document["columns"] = json_ready(columns)
    loaded: Samples = loads(json.dumps(document).encode(), file=file.name)
    return loaded


def _values(file: Input, name: str, kind: str, cells: list[str]) -> list[Any]:
    if kind == "O":
        return [_plain(text) for text in cells]
    values: list[Any] = []
    for line, cell in enumerate(cells, 3):
        try:
            is_flag = kind == "b"
            values.append(
                _FLAGS[cell.lower()] if is_flag else float(cell.replace("_", "x") or "nan")
            )
        except (ValueError, KeyError):
            raise file.refusal("not-a-number", line=line, field=name, value=shorten(cell)) from None
    return values


EXPORTED = Format(
    name="netcalc CSV",
    description="CSV exported by netcalc",
    recognize=_recognize,
    read=_read,
    traps=(
        "The comment in the first line has units and meta data: without it this is a plain table.",
        "A text behind an apostrophe was guarded against spreadsheets that run formulas.",
    ),
    parts=(r"^[\d.]*,[\d.e+-]*,[\d.]*,(?:true|false),(?:true|false),(?:true|false),[\d.e+-]*,",),
    needs="the lines that begin with #, and the names",
)


PARQUET_MAGIC = b"PAR1"
KEY, SUM = b"netcalc", b"netcalc sha256"
"""Names in the schema: JSON of what is beside the columns, and its SHA-256."""
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
        column.with_metadata({k: by[column.name] for k, by in parts.items() if column.name in by})
        for column in table.schema
    ]
    document = json.loads(samples.dumps())
    document["columns"] = {name: [] for name in samples.columns()}
    del document["columns_sha256"]  # pages have their own
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


def _read_parquet(input_: Input) -> Samples:
    if importlib.util.find_spec("pyarrow") is None:
        raise input_.refusal("parquet-package-missing")
    arrow, parquet = _packages()
    try:
        file = parquet.ParquetFile(arrow.BufferReader(input_.data), page_checksum_verification=True)
        document = _document(input_, file.schema_arrow.metadata or {})
        shape = file.metadata.num_rows, file.metadata.num_columns
        if shape[0] * shape[1] > MOST_CELLS:
            raise input_.refusal("parquet-too-large", count=shape[0] * shape[1], limit=MOST_CELLS)
        table = file.read()
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
    except ReaderError:
        raise
    except (arrow.ArrowException, OSError, ValueError, TypeError, KeyError, OverflowError) as error:
        raise input_.refusal("parquet-damaged") from error
    return _samples(input_, document, columns)


def _document(file: Input, metadata: Mapping[bytes, bytes]) -> bytes:
    """Return what is beside the columns, as a saved file of samples has it."""
    if KEY not in metadata:
        raise file.refusal("parquet-of-others")
    text: bytes = metadata[KEY]
    if metadata.get(SUM) != _sum(text):
        raise file.refusal("parquet-damaged")
    return text


def _samples(file: Input, document: bytes, columns: dict[str, NDArray[Any]]) -> Samples:
    empty = loads(document, file=file.name)
    if isinstance(empty, PacketTrace):
        columns |= _numbers(file, empty, columns)
    for name, values in columns.items():
        texts = values.dtype.kind == "O" and all(isinstance(text, str) for text in values)
        if values.dtype.kind not in _kinds(empty, name) or (values.dtype.kind == "O" and not texts):
            raise file.refusal("parquet-column", field=shorten(name))
    if list(columns) != list(empty.columns()):
        raise file.refusal("exported-columns", wanted=list(empty.columns()))
    try:
        if isinstance(empty, Table):
            return replace(empty, data=columns)
        changed: Samples = replace(empty, **columns)  # type: ignore[type-var]
    except (DomainError, TypeError, ValueError) as error:
        raise file.refusal("parquet-damaged") from error
    return changed


def _numbers(
    file: Input, empty: PacketTrace, columns: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Return the ends of packets as numbers of their addresses, which a frame has as text."""
    listed = {address: number for number, address in enumerate(empty.addresses or ("",))}
    numbers = {}
    for name in _ENDPOINTS:
        texts = columns.get(name, np.zeros(0, dtype=object)).tolist()
        if not listed.keys() >= set(texts):
            raise file.refusal("parquet-column", field=name)
        numbers[name] = np.array([listed[address] for address in texts], dtype=np.uint32)
    return numbers


def _kinds(empty: Samples, name: str) -> str:
    """Return the types that a column may have: those of numpy, by their letters."""
    if name in empty.column_types:
        return "iu"
    if not empty.column_units:
        return "Ofiu"  # of a table
    return {"text": "O", "bool": "b"}.get(empty.column_units.get(name, ""), "fiu")


PARQUET = Format(
    name="netcalc Parquet",
    description="Parquet that netcalc exported",
    recognize=lambda file: file.head.startswith(PARQUET_MAGIC),
    read=_read_parquet,
    traps=(
        "It needs the package pyarrow, which is in no extra of netcalc.",
        "Parquet of other programs says no units and is refused: export it as CSV.",
        "A page or what is beside the columns is refused if its checksum is another.",
        "A small file may stand for a billion values: more than 64 million are refused.",
    ),
)
