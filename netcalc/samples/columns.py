"""The base of all containers, columns of equal length with facts about them; and a plain table."""

from __future__ import annotations

import gzip
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeAlias, cast, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import is_masked, named_arguments
from netcalc.errors import ArgumentTypeError, DomainError, MissingPackageError, ReaderError
from netcalc.printable import printable
from netcalc.samples import saved
from netcalc.samples.figures import figures
from netcalc.samples.meta import Fact, Meta, fact_row
from netcalc.samples.saved import json_ready
from netcalc.units import show

if TYPE_CHECKING:
    import pandas as pd


FloatColumn: TypeAlias = NDArray[np.float64]
BoolColumn: TypeAlias = NDArray[np.bool_]
TextColumn: TypeAlias = NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Column:
    """What a column holds; it stands in the annotation of a field of a container.

    Parameters
    ----------
    unit : str
        SI unit, ``"bool"`` or ``"text"``.
    layer : str
        The layer that a size or a rate is counted at.
    whole : type, optional
        The numpy type of whole numbers that are stored in few bytes; the others are floats.
    """

    unit: str
    layer: str = ""
    whole: type[np.generic] | None = None


Numbers: TypeAlias = Annotated[FloatColumn | Sequence[float], Column("1")]
Seconds: TypeAlias = Annotated[FloatColumn | Sequence[float], Column("s")]
Bytes: TypeAlias = Annotated[FloatColumn | Sequence[float], Column("byte")]
PacketBytes: TypeAlias = Annotated[FloatColumn | Sequence[float], Column("byte", "IP packet")]
ApplicationBytes: TypeAlias = Annotated[
    FloatColumn | Sequence[float], Column("byte", "application")
]
Flags: TypeAlias = Annotated[BoolColumn | Sequence[bool], Column("bool")]
Texts: TypeAlias = Annotated[TextColumn | Sequence[str], Column("text")]

MOST_RANGES = 8
"""Columns that are described when samples are shown."""

_NEVER_NEGATIVE = {"rtt_s", "duration_s", "response_s"}


KINDS: dict[str, Any] = {}
"""The containers by name, each registered when its class is made."""


class Samples:
    """Base of all containers: columns of equal length, :class:`Meta`, files and frames.

    A subclass is a frozen dataclass; its fields with a :class:`Column` in their annotation are its
    columns. It is registered by its name, under which :func:`load` finds it.
    """

    column_units: ClassVar[Mapping[str, str]]
    column_layers: ClassVar[Mapping[str, str]]
    column_types: ClassVar[Mapping[str, type[np.generic]]]
    """Columns of whole numbers that are stored in few bytes; the others are floats."""
    text_lists: ClassVar[frozenset[str]] = frozenset()
    """Fields besides the columns that are lists of text."""
    may_be_unknown: ClassVar[frozenset[str]] = frozenset()
    """Columns that may be nan here, though a column of this name says what a row is about."""
    meta: Meta

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        KINDS[cls.__name__] = cls
        facts = {
            name: fact
            for name, hint in get_type_hints(cls, include_extras=True).items()
            for fact in getattr(hint, "__metadata__", ())
            if isinstance(fact, Column)
        }
        cls.column_units = {name: column.unit for name, column in facts.items()}
        cls.column_layers = {name: column.layer for name, column in facts.items() if column.layer}
        cls.column_types = {name: column.whole for name, column in facts.items() if column.whole}

    def __post_init__(self) -> None:
        length: int | None = None
        first = next(iter(self.column_units), "")
        for name in self.column_units:
            whole = self.column_types.get(name)
            column = _column(name, getattr(self, name), self.column_units[name], whole)
            if length is None:
                length = column.size
            elif column.size == 0 and length:
                column = _empty(self.column_units[name], length, cast(Any, whole))
            elif column.size != length:
                raise DomainError(
                    "unequal-columns", name, column.size, expected=length, other=first
                )
            object.__setattr__(self, name, column)
        meta = replace(
            self.meta,
            units={**self.column_units, **self.meta.units},
            layers={**self.column_layers, **self.meta.layers},
        )
        object.__setattr__(self, "meta", meta)

    def __eq__(self, other: object) -> bool:
        """Whether all numbers, and all that is known about them, are the same; nan equals nan."""
        if not isinstance(other, Samples) or type(other) is not type(self):
            return NotImplemented
        ours, theirs = self.columns(), other.columns()
        return (
            ours.keys() == theirs.keys()
            and all(_same(column, theirs[name]) for name, column in ours.items())
            and self.beside() == other.beside()
        )

    def __hash__(self) -> int:
        meta = self.meta
        return hash((type(self), len(self), meta.tool, meta.target, meta.start, meta.sha256))

    def __repr__(self) -> str:
        units = self.meta.units
        ranges = [_range(n, column, units.get(n, "1")) for n, column in self.columns().items()]
        ranges = [text for text in ranges if text]
        if len(ranges) > MOST_RANGES:
            ranges[MOST_RANGES:] = [f"{len(ranges) - MOST_RANGES} more columns"]
        totals = [f"{name} {value}" for name, value in self._totals().items() if value is not None]
        rows = "1 row" if len(self) == 1 else f"{len(self):,} rows"
        parts = (rows, *ranges, *totals, self.meta.tool, self.meta.target)
        return printable(f"<{type(self).__name__}: {'; '.join(filter(None, parts))}>")

    def __len__(self) -> int:
        return int(getattr(self, next(iter(self.column_units))).size)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        return {name: getattr(self, name) for name in self.column_units}

    def to_frame(self) -> pd.DataFrame:
        """Return the columns as a pandas frame; units, layers and the rest are in ``attrs``.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingPackageError("pandas", extra="lab", purpose="to_frame()") from error
        frame = pd.DataFrame(self.columns())
        frame.attrs.update(self.meta.stored())
        return frame

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the samples to a JSON file (compressed if it ends in ``.gz``); return its path.

        The file is complete or absent: it is written under another name and then renamed.
        """
        path = Path(path)
        data = self.dumps()
        if path.suffix == ".gz":
            # At 9, the default, it takes seven times as long for 4% less.
            data = gzip.compress(data, compresslevel=6, mtime=0)
        saved.write_atomically(path, data)
        return path

    def dumps(self) -> bytes:
        """Return the samples as :meth:`save` writes them: JSON in UTF-8, not compressed."""
        kept = {n: column for n, column in self.columns().items() if not self._left_out(n, column)}
        document = {**saved.head(type(self).__name__), **self.beside()}
        document["columns_sha256"] = saved.checksum(kept)
        options: dict[str, Any] = {"ensure_ascii": False, "allow_nan": False}
        # Numbers in lines of their own take Python's own encoder, and ten times as long.
        columns = ",\n".join(
            f"  {json.dumps(name, **options)}: {json.dumps(json_ready(column), **options)}"
            for name, column in kept.items()
        )
        beside = json.dumps(document, indent=1, **options).removesuffix("\n}")
        text = f'{beside},\n "columns": {{\n{columns}\n }}\n}}\n'
        return text.encode("utf-8", "surrogatepass")

    def _left_out(self, name: str, column: NDArray[Any]) -> bool:
        """Whether a column of text is left out of a file: none was given, or all is empty."""
        if self.column_units.get(name) != "text" or not column.size:
            return False
        optional = any(f.name == name and f.default == () for f in fields(cast(Any, self)))
        return optional and not column.astype(bool).any()

    def facts(self) -> list[dict[str, Fact]]:
        """Return a row of facts for each run, host or direction: the file's, or of the columns."""
        return [dict(row) for row in self.meta.facts] or self.counted_facts()

    def counted_facts(self) -> list[dict[str, Fact]]:
        """Return what the columns show; a container that knows more has its own."""
        shown: dict[str, float] = {}
        for name, column in self.columns().items():
            if column.dtype.kind == "f":
                shown |= figures(name, column, self.meta.units.get(name, ""))
        partial = self.meta.partial
        return [
            fact_row(shown, row_count=len(self), column_count=len(self.columns()), partial=partial)
        ]

    def beside(self) -> dict[str, Any]:
        """Return the facts besides the columns, as a file has them."""
        return {"meta": json_ready(self.meta.stored()), "fields": json_ready(self._totals())}

    def _totals(self) -> dict[str, Any]:
        """Return the fields that are neither columns nor :class:`Meta`."""
        others = {"meta", "data", *self.column_units}
        names = (f.name for f in fields(cast(Any, self)))
        return {name: getattr(self, name) for name in names if name not in others}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read samples back from :meth:`save`.

        Raises
        ------
        ReaderError
            If the file is damaged, of another kind, or of a later schema.
        """
        samples = load(path)
        if not isinstance(samples, cls):
            raise ReaderError(
                "other-kind", file=str(path), value=type(samples).__name__, wanted=cls.__name__
            )
        return samples

    @classmethod
    def restored(cls, columns: Mapping[str, Any], totals: Mapping[str, Any], meta: Meta) -> Self:
        """Return samples of the parts that a file has."""
        samples: Self = cast(Any, cls)(**columns, **totals, meta=meta)
        return samples


def _same(column: NDArray[Any], other: NDArray[Any]) -> bool:
    return np.array_equal(column, other, equal_nan=column.dtype.kind == other.dtype.kind == "f")


def _range(name: str, column: NDArray[Any], unit: str) -> str:
    """Return the range of a column in a few words; nothing if no value is known."""
    if column.dtype.kind == "b":
        return f"{name} {np.count_nonzero(column):,}" if column.any() else ""
    if column.dtype.kind in "iuf":
        is_float = column.dtype.kind == "f"
        numbers = column[~np.isnan(column)] if is_float else column
        # Whole numbers that are all 0 are of a field that no packet has.
        some = numbers.size and (is_float or numbers.any())
        ends = (numbers.min(), numbers.max()) if some else ()
        shown = dict.fromkeys(show(float(end), unit) for end in ends)
        return f"{name} {' to '.join(shown)}" if shown else ""
    texts = [text for text in dict.fromkeys(column.tolist()) if text]
    more = f", and {len(texts) - 3:,} more" if len(texts) > 3 else ""
    return f"{name} {', '.join(texts[:3])}{more}" if texts else ""


def _column(
    name: str, values: object, unit: str, whole: type[np.generic] | None = None
) -> NDArray[Any]:
    if whole is not None:
        return _whole_column(name, values, whole)
    kind: type[Any] = {"bool": np.bool_, "text": np.object_}.get(unit, np.float64)
    if is_masked(values) and kind is np.float64:
        values = np.ma.filled(values.astype(np.float64), np.nan)
    # Read-only columns are not copied: a reader's of a large file.
    fixed = isinstance(values, np.ndarray) and not values.flags.writeable
    try:
        column: NDArray[Any] = np.array(values, dtype=kind, copy=None if fixed else True)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError("not-a-column-of-numbers", name, type(values).__name__) from error
    if column.ndim != 1:
        raise DomainError("not-a-column", name, column.ndim)
    if unit == "text":
        column = as_texts(column)
    if unit == "byte" or name in _NEVER_NEGATIVE:
        negative = column < 0
        if negative.any():
            index = int(negative.argmax())
            raise DomainError("is-negative", name, float(column[index]), index=index)
    column.flags.writeable = False
    return column


def as_texts(values: NDArray[Any]) -> TextColumn:
    """Return texts as an array of objects: one of fixed width has the longest in every row."""
    texts: NDArray[Any] = np.empty(values.shape, dtype=object)
    texts[...] = values
    for index in np.flatnonzero([type(text) is not str for text in texts.flat]):
        texts.flat[index] = "" if texts.flat[index] is None else str(texts.flat[index])
    return texts


def _whole_column(name: str, values: object, kind: type[np.generic]) -> NDArray[Any]:
    """Return a column of whole numbers, all of which its type can hold."""
    numbers: NDArray[Any] = np.asarray(values)
    if numbers.ndim != 1:
        raise DomainError("not-a-column", name, numbers.ndim)
    if numbers.dtype != kind and numbers.size:
        if numbers.dtype.kind not in "iuf":
            raise TypeError(f"{name} must be a column of numbers")
        most = int(np.iinfo(cast(Any, kind)).max)
        bad = np.flatnonzero(~((numbers >= 0) & (numbers <= most) & (numbers == np.floor(numbers))))
        if bad.size:
            index = int(bad[0])
            raise DomainError(
                "column-not-whole", name, float(numbers[index]), high=most, index=index
            )
    column = numbers.astype(kind, copy=numbers.flags.writeable)
    column.flags.writeable = False
    return column


@lru_cache(maxsize=64)
def _empty(unit: str, length: int, whole: type[np.generic] | None) -> NDArray[Any]:
    """Return a read-only column of one value for all rows: it takes no memory."""
    value: Any = {"bool": np.bool_(False), "text": np.array("", object)}.get(unit, np.nan)
    return np.broadcast_to(value if whole is None else whole(0), length)


def floats(values: FloatColumn | Sequence[float]) -> FloatColumn:
    """Return a column, which the constructor made an array."""
    return cast(FloatColumn, values)


def bools(values: BoolColumn | Sequence[bool]) -> BoolColumn:
    """Return a mask, which the constructor made an array."""
    return cast(BoolColumn, values)


def quotient(numerator: FloatColumn, denominator: FloatColumn | Sequence[float]) -> FloatColumn:
    """Divide, without a warning where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return numerator / floats(denominator)


def median(values: FloatColumn) -> float:
    """Return the median of the known values, nan if there are none."""
    numbers = values[~np.isnan(values)]
    if not numbers.size:
        return math.nan
    # Files of thousands of short runs ask for as many medians; numpy's own takes ten times as long.
    middle = [(numbers.size - 1) // 2, numbers.size // 2]
    low, high = np.partition(numbers, middle)[middle].tolist()
    return float(low if low == high else (low + high) / 2)


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Table(Samples):
    """Columns of any names and units: a data set of a book, or a user's CSV.

    Parameters
    ----------
    data : mapping of str to array_like
        Columns by name: numbers as float64, everything else as text.
    meta : Meta
        ``meta.units`` has the unit of each numeric column.
    """

    data: Mapping[str, ArrayLike]
    meta: Meta = field(default_factory=Meta)

    def __post_init__(self) -> None:
        columns = {name: _table_column(values) for name, values in self.data.items()}
        lengths = {name: column.size for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise DomainError("unequal-table", "data", sorted(set(lengths.values())))
        object.__setattr__(self, "data", columns)

    def __len__(self) -> int:
        return next((column.size for column in self.columns().values()), 0)

    def __getitem__(self, name: str) -> NDArray[Any]:
        columns = self.columns()
        if name not in columns:
            raise DomainError("not-a-choice", "column", name, choices=list(columns))
        return columns[name]

    @classmethod
    def restored(cls, columns: Mapping[str, Any], totals: Mapping[str, Any], meta: Meta) -> Self:
        """Return a table of the parts that a file has."""
        return cls(data=dict(columns), meta=meta)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        return cast(dict[str, NDArray[Any]], dict(self.data))


def _table_column(values: ArrayLike) -> NDArray[Any]:
    of_texts = isinstance(values, list | tuple) and any(isinstance(cell, str) for cell in values)
    # Of texts numpy would make an array in which each cell is as wide as the longest.
    column: NDArray[Any] = np.asarray(values, dtype=object if of_texts else None)
    if column.dtype.kind in "iuf":
        # Read-only columns are not copied: a reader's of a large file.
        column = np.array(column, dtype=np.float64, copy=True if column.flags.writeable else None)
    elif column.dtype.kind in "OUS":
        column = as_texts(column)
    if column.ndim != 1:
        raise DomainError("not-a-column", "data", column.ndim)
    return column


@named_arguments
def load(path: str | os.PathLike[str]) -> Samples:
    """Read samples of any kind back from :meth:`Samples.save`.

    Raises
    ------
    ReaderError
        If the file was not saved by netcalc, is damaged, or is of a later schema.
    """
    return loads(saved.read_bytes(path), file=Path(path).name)


@named_arguments
def loads(data: bytes, *, file: str = "samples") -> Samples:
    """Read samples from the bytes of a saved file."""
    samples: Samples = saved.restored(data, file, KINDS)
    return samples
