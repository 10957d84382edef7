"""Samples of the use of a link, a column for each direction, as a provider bills them.

Rates (``in [Mbit/s]``), or bytes counted in each interval (``in_bytes``). What would change the
bill in silence is refused, with line and field: an empty cell, a row that is left out, a negative
number, a step in the times, a column without a unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from netcalc.errors import ReaderError
from netcalc.rate_layers import LAYERS, RateLayer
from netcalc.readers.cells import Grid, read_grid
from netcalc.readers.format import Input
from netcalc.readers.places import octets_layer
from netcalc.readers.quantities import EXAMPLES, Column, Numbers, named_columns
from netcalc.readers.source import Readable, Source, shorten

INTERVAL_S = 300.0
"""Between two samples, where the file has no times: five minutes. [s]"""
_TIMES = ("time", "timestamp", "date", "datetime", "elapsed", "start", "end", "at")
_NUMBERS = ("", "n", "no", "nr", "number", "sample", "index", "interval", "row")
"""Names of columns that count the samples."""
_SLACK = 0.1
"""Share of an interval by which a sample may be early or late. [ratio]"""


@dataclass(frozen=True)
class Usage:
    """Rates of each direction by the name of its column, all of one interval. [bit/s]

    ``layers`` has what each column counts, as its heading says: ``in [Mbit/s, Ethernet frame]``, or
    a name such as ``ifHCInOctets``.
    """

    name: str
    rates_bps: Mapping[str, NDArray[np.float64]]
    interval_s: float
    layers: Mapping[str, RateLayer]


def read_usage(
    source: Readable,
    *,
    interval_s: float | None = None,
    name: str | None = None,
    columns: Sequence[str] | None = None,
) -> Usage:
    """Read samples of the use of a link, in one direction or two.

    Parameters
    ----------
    source : path, str, bytes or file object
        The input: columns with a header that has units.
    interval_s : float, optional
        Time between two samples; by default that of the file's times, else 300 s.
    name : str, optional
        Name of the source, if it is not a path.
    columns : sequence of str, optional
        Names of the columns, if there is no header.

    Raises
    ------
    ReaderError
        If a sample is missing or negative, a unit is missing, times are not even, or there are more
        columns than two directions.

    Examples
    --------
    >>> usage = read_usage("in [Mbit/s],out [Mbit/s]\\n1,2\\n3,4\\n")
    >>> {name: rate.tolist() for name, rate in usage.rates_bps.items()}
    {'in': [1000000.0, 3000000.0], 'out': [2000000.0, 4000000.0]}
    """
    file = Input(source, name=name, columns=columns)
    text = file.text
    grid = read_grid(file.unpacked, text, columns)
    for notice in grid.warnings:  # a row of another width, or a last line that is cut
        line = notice.values.get("number") or notice.values["numbers"][0]
        raise ReaderError("sample-not-whole", file=file.name, line=line)
    columns_read = named_columns(file.unpacked, grid, {})
    numbers = Numbers(file.unpacked, grid, None, columns_read)
    directions = _directions(file.unpacked, grid, numbers, columns_read)
    step_s = _step_s(file.name, grid, numbers, columns_read)
    interval = interval_s or step_s or INTERVAL_S
    rates = {}
    for column in directions:
        values = numbers.values(column)
        _refuse_gaps(file.name, grid, column, values)
        rates[column.name] = values if column.unit == "bit/s" else 8.0 * values / interval
    layers = {
        column.name: next(
            (layer for layer in LAYERS if layer == column.layer), octets_layer(column.name)
        )
        for column in directions
    }
    return Usage(file.name, rates, interval, layers)


def _directions(
    source: Source, grid: Grid, numbers: Numbers, columns: Sequence[Column]
) -> list[Column]:
    directions = [column for column in columns if column.unit in ("bit/s", "byte")]
    for column in columns:
        counts = column.key in _NUMBERS or column.key in _TIMES
        if not column.unit and not counts and numbers.numeric(column):
            value = shorten(next((cell for cell in column.cells if cell), ""))
            raise ReaderError(
                "column-without-unit",
                file=source.name,
                line=grid.header_line or None,
                field=shorten(column.name),
                value=value,
                column=shorten(column.name),
                readings=[f"{value} {example}" for example in EXAMPLES["bit/s"]],
                example=EXAMPLES["bit/s"][0],
            )
    if len(directions) not in (1, 2):
        code = "no-direction" if not directions else "too-many-directions"
        names = [shorten(column.name) for column in directions]
        raise ReaderError(code, file=source.name, line=grid.header_line or None, columns=names)
    return directions


def _refuse_gaps(file: str, grid: Grid, column: Column, values: NDArray[np.float64]) -> None:
    for code, wrong in (("sample-missing", np.isnan(values)), ("sample-negative", values < 0)):
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise ReaderError(
                code,
                file=file,
                line=grid.numbers[row],
                field=shorten(column.name),
                value=shorten(column.cells[row]) or None,
            )


def _step_s(file: str, grid: Grid, numbers: Numbers, columns: Sequence[Column]) -> float:
    """Return the time between two samples, the same all over the file; 0 where it has no times."""
    for column in columns:
        times = _times_s(numbers, column)
        if times is None or times.size < 2:
            continue
        steps = np.diff(times)
        step = float(np.median(steps))
        uneven = ~(np.abs(steps - step) <= _SLACK * abs(step)) | (steps <= 0)
        if uneven.any():
            row = int(np.flatnonzero(uneven)[0]) + 1
            raise ReaderError(
                "interval-uneven",
                file=file,
                line=grid.numbers[row],
                field=shorten(column.name),
                value=shorten(column.cells[row]),
                step=f"{step:g} s",
            )
        return step
    return 0.0


def _times_s(numbers: Numbers, column: Column) -> NDArray[np.float64] | None:
    """Return a column of times; None if it is none. [s]"""
    if column.unit == "s":
        return numbers.values(column)
    if column.key not in _TIMES:
        return None
    try:
        stamps = [datetime.fromisoformat(cell.strip()) for cell in column.cells]
        return np.array([stamp.replace(tzinfo=stamp.tzinfo or UTC).timestamp() for stamp in stamps])
    except (ValueError, OverflowError):
        return None
