"""One column of a file of columns, complete, in the unit that is wanted."""

from __future__ import annotations

import numpy as np

from netcalc import units
from netcalc.checks import FloatArray
from netcalc.errors import ReaderError, UnitError
from netcalc.readers._cells import read_grid
from netcalc.readers._quantities import EXAMPLES, Column, Numbers, named_columns, unit_refused
from netcalc.readers.format import Input
from netcalc.readers.source import Readable, shorten


def read_column(source: Readable, column: str, unit: str) -> FloatArray:
    """Read one column of a file of columns, in an SI unit and without gaps.

    Parameters
    ----------
    source : path, str, bytes or file object
        The columns; a ``str`` with a line end in it is the text itself.
    column : str
        Its heading, with or without its unit: ``rtt_ms`` or ``rtt``.
    unit : str
        The SI unit wanted, as in :func:`netcalc.units.parse`; ``1`` is a pure number.

    Returns
    -------
    numpy.ndarray
        The values in the order of the file.

    Raises
    ------
    ReaderError
        If there is no such column, it has no unit or one of another kind, or a cell is missing or
        no number.

    Examples
    --------
    >>> read_column("rtt_ms,size_bytes\\n12.5,64\\n13,1500\\n", "rtt", "s").tolist()
    [0.0125, 0.013]
    """
    given = Input(source)
    unpacked = given.unpacked
    grid = read_grid(unpacked, given.text, None)
    columns = named_columns(unpacked, grid, {})
    line = grid.header_line or None
    matching = [one for one in columns if column in (one.header, one.name)] or [
        one for one in columns if column.lower() in (one.header.lower(), one.name.lower())
    ]
    if len(matching) != 1:
        raise ReaderError(
            "column-not-there" if not matching else "columns-of-one-name",
            file=unpacked.name,
            line=line,
            field=shorten(column),
            column=shorten(column),
            columns=[shorten(one.header) for one in columns],
            count=len(matching),
        )
    found = matching[0]
    has_unit = found.unit and found.unit != "1"
    if has_unit and found.unit != unit:
        try:
            units.factor_of(found.written, unit)
        except UnitError as error:
            raise unit_refused(unpacked, grid, found, unit, error) from None
    if not has_unit and unit != "1":
        raise _no_unit(unpacked.name, line, found, unit)
    values = Numbers(unpacked, grid, None, columns).values(found)
    gaps = np.flatnonzero(np.isnan(values))
    if gaps.size or not values.size:
        first = int(gaps[0]) if gaps.size else 0
        raise ReaderError(
            "column-with-gaps" if gaps.size else "column-empty",
            file=unpacked.name,
            line=grid.numbers[first] if gaps.size else line,
            field=shorten(found.header),
            count=int(gaps.size),
            total=int(values.size),
        )
    factor = units.factor_of(found.unit, unit) if has_unit and found.unit != unit else 1.0
    return np.asarray(values * factor)


def _no_unit(name: str, line: int | None, column: Column, unit: str) -> ReaderError:
    value = next((cell for cell in column.cells if cell), "")
    examples = EXAMPLES.get(unit, (unit,))
    return ReaderError(
        "column-without-unit",
        file=name,
        line=line,
        field=shorten(column.name),
        value=shorten(value),
        unit=unit,
        column=shorten(column.name),
        readings=[f"{shorten(value)} {example}" for example in examples],
        example=examples[0],
    )
