"""What all containers share: columns of equal length, what is known about them, files."""

from __future__ import annotations

import gzip
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from netcalc.errors import DomainError, MissingPackageError, ReaderError

if TYPE_CHECKING:
    import pandas as pd

from netcalc.samples import _files
from netcalc.samples._files import json_ready

FloatColumn: TypeAlias = NDArray[np.float64]
BoolColumn: TypeAlias = NDArray[np.bool_]
TextColumn: TypeAlias = NDArray[np.str_]

SCHEMA = 1
"""Number of the file format; a file with a higher one is refused by name."""

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
    instrument : mapping
        What a live run knows of its own error, in SI units by name.
    warnings : tuple of str
        What was repaired, skipped or does not agree.
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
    instrument: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    partial: bool = False
    schema: int = SCHEMA


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
        frame.attrs.update(asdict(self.meta))
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
            "meta": json_ready(asdict(self.meta)),
            "fields": json_ready(
                {
                    f.name: getattr(self, f.name)
                    for f in fields(cast(Any, self))
                    if f.name not in self.column_units and f.name != "meta"
                }
            ),
            "columns": {name: json_ready(column) for name, column in self.columns().items()},
        }
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        return text.encode("utf-8", "surrogatepass")

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
