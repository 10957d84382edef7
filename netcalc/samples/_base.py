"""What all containers share: columns of equal length, what is known about them, files."""

from __future__ import annotations

import gzip
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from netcalc.errors import DomainError, MissingPackageError, ReaderError
from netcalc.messages import Notice
from netcalc.printable import printable
from netcalc.units import show

if TYPE_CHECKING:
    import pandas as pd

from netcalc.samples import _files
from netcalc.samples._files import json_ready
from netcalc.samples._instrument import Instrument

FloatColumn: TypeAlias = NDArray[np.float64]
BoolColumn: TypeAlias = NDArray[np.bool_]
TextColumn: TypeAlias = NDArray[np.str_]

SCHEMA = 1
"""Number of the file format; a file with a higher one is refused by name."""

MOST_RANGES = 8
"""So many columns are described when samples are shown."""

_NEVER_NEGATIVE = {"rtt_s", "duration_s", "response_s"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """What is known about a set of samples beside its numbers.

    Parameters
    ----------
    tool, tool_version, command : str
        The program that measured, as far as its output tells.
    host, target : str
        Where it ran, and what it measured.
    source, sha256 : str
        Base name and SHA-256 of the file the samples were read from.
    clock : str
        Which clock the times are from.
    start : str
        When it began, as ISO 8601 with a zone.
    note : str
        What a reader should know, in a sentence.
    units, layers : mapping of str to str
        Per column: its SI unit, and the layer a size or rate is counted at.
    printed : mapping
        The tool's own summary, as printed, beside what netcalc counts.
    experiment, protocol : str
        Which live experiment it was, and by which protocol; empty for a file of another tool.
    instrument : Instrument
        What a live run records of itself; a mapping is taken for its facts by name.
    warnings : tuple of Notice
        What was repaired, skipped or does not agree; text is taken for a sentence without a code.
    partial : bool
        True if the measurement ended before it was complete.
    schema : int
        Number of the file format.
    """

    tool: str = ""
    tool_version: str = ""
    command: str = ""
    host: str = ""
    target: str = ""
    source: str = ""
    sha256: str = ""
    clock: str = ""
    start: str = ""
    note: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    layers: Mapping[str, str] = field(default_factory=dict)
    printed: Mapping[str, Any] = field(default_factory=dict)
    experiment: str = ""
    protocol: str = ""
    instrument: Instrument = field(default_factory=Instrument)
    warnings: tuple[Notice, ...] = ()
    partial: bool = False
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        facts: Any = self.instrument
        if isinstance(facts, Mapping):
            object.__setattr__(self, "instrument", Instrument.load(facts))
        given: tuple[Any, ...] = self.warnings
        notices = (one if isinstance(one, Notice) else Notice.load(one) for one in given)
        object.__setattr__(self, "warnings", tuple(notices))

    def stored(self) -> dict[str, Any]:
        """Return what is known as a saved file has it."""
        found: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        found["instrument"] = self.instrument.stored()
        found["warnings"] = [notice.stored() for notice in self.warnings]
        return found


class Samples:
    """What all containers share: columns of equal length, :class:`Meta`, files and frames.

    A subclass is a frozen dataclass; its fields with a unit in ``column_units`` are its columns.
    """

    column_units: ClassVar[Mapping[str, str]] = {}
    column_layers: ClassVar[Mapping[str, str]] = {}
    meta: Meta

    def __post_init__(self) -> None:
        length: int | None = None
        for name in self.column_units:
            column = _column(name, getattr(self, name), self.column_units[name])
            if length is None:
                length = column.size
            elif column.size == 0 and length:
                column = _filler(self.column_units[name], length)
            elif column.size != length:
                raise DomainError(name, f"{column.size} long", f"{length} long, as the others are")
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
            and self._beside() == other._beside()
        )

    def __hash__(self) -> int:
        meta = self.meta
        return hash((type(self), len(self), meta.tool, meta.target, meta.start, meta.sha256))

    def __repr__(self) -> str:
        units = self.meta.units
        ranges = [_range(name, of, units.get(name, "1")) for name, of in self.columns().items()]
        ranges = [text for text in ranges if text]
        if len(ranges) > MOST_RANGES:
            ranges[MOST_RANGES:] = [f"{len(ranges) - MOST_RANGES} columns more"]
        totals = [f"{name} {value}" for name, value in self._totals().items() if value is not None]
        rows = "1 row" if len(self) == 1 else f"{len(self):,} rows"
        told = (rows, *ranges, *totals, self.meta.tool, self.meta.target)
        return printable(f"<{type(self).__name__}: {'; '.join(filter(None, told))}>")

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

        The file is complete or not there: it is written beside its place and then moved.
        """
        path = Path(path)
        data = self.dumps()
        if path.suffix == ".gz":
            data = gzip.compress(data, mtime=0)
        _files.write_atomically(path, data)
        return path

    def dumps(self) -> bytes:
        """Return what :meth:`save` writes: JSON in UTF-8, not compressed."""
        document = {
            "format": "netcalc samples",
            "schema": SCHEMA,
            "kind": type(self).__name__,
            **self._beside(),
            "columns": {name: json_ready(column) for name, column in self.columns().items()},
        }
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        return text.encode("utf-8", "surrogatepass")

    def _beside(self) -> dict[str, Any]:
        """Return what is known beside the columns, as a file has it."""
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
        from netcalc.samples._load import load  # late: it knows every kind, built on this one

        samples = load(path)
        if not isinstance(samples, cls):
            raise ReaderError(
                "holds samples of another kind",
                file=str(path),
                value=type(samples).__name__,
                expected=cls.__name__,
                hint="netcalc.samples.load reads every kind",
            )
        return samples


def _same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return np.array_equal(one, other, equal_nan=one.dtype.kind == other.dtype.kind == "f")


def _range(name: str, column: NDArray[Any], unit: str) -> str:
    """Return from where to where a column goes, in a few words; nothing if it says nothing."""
    if column.dtype.kind == "b":
        return f"{name} {np.count_nonzero(column):,}" if column.any() else ""
    if column.dtype.kind == "f":
        known = column[~np.isnan(column)]
        ends = [show(float(end), unit) for end in (known.min(), known.max())] if known.size else []
        return f"{name} {' to '.join(dict.fromkeys(ends))}" if ends else ""
    texts = [text for text in dict.fromkeys(column.tolist()) if text]
    more = f", and {len(texts) - 3:,} more" if len(texts) > 3 else ""
    return f"{name} {', '.join(texts[:3])}{more}" if texts else ""


def _column(name: str, values: object, unit: str) -> NDArray[Any]:
    wanted: type[Any] = {"bool": np.bool_, "text": np.str_}.get(unit, np.float64)
    if isinstance(values, np.ma.MaskedArray) and wanted is np.float64:
        values = np.ma.filled(values.astype(np.float64), np.nan)
    try:
        column: NDArray[Any] = np.array(values, dtype=wanted)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a column of numbers") from error
    if column.ndim != 1:
        raise DomainError(name, f"of shape {column.shape}", "one column")
    if unit == "byte" or name in _NEVER_NEGATIVE:
        negative = np.flatnonzero(column < 0)
        if negative.size:
            value = f"{column[negative[0]]:g} in row {negative[0] + 1}"
            raise DomainError(name, value, "0 or more, nan where it is not known")
    column.flags.writeable = False
    return column


def _filler(unit: str, length: int) -> NDArray[Any]:
    column: NDArray[Any] = np.full(length, np.nan)
    if unit in ("bool", "text"):
        column = np.zeros(length, np.bool_ if unit == "bool" else np.str_)
    column.flags.writeable = False
    return column


def floats(values: FloatColumn | Sequence[float]) -> FloatColumn:
    """Return a column that is an array since it was checked."""
    return cast(FloatColumn, values)


def bools(values: BoolColumn | Sequence[bool]) -> BoolColumn:
    """Return a mask that is an array since it was checked."""
    return cast(BoolColumn, values)


def quotient(numerator: FloatColumn, denominator: FloatColumn | Sequence[float]) -> FloatColumn:
    """Divide, without a warning where there is nothing to divide by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return numerator / floats(denominator)


def median(values: FloatColumn) -> float:
    """Return the median of what is known, nan if nothing is."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if known.size else math.nan
