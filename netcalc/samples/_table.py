"""Columns of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import named_arguments
from netcalc.errors import DomainError
from netcalc.samples._base import Samples, as_texts
from netcalc.samples._meta import Meta


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
