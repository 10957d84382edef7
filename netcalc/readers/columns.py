"""Columns of numbers: CSV, TSV, semicolons, or pasted from anywhere.

A column is ``name [unit]``, ``name (unit)``, ``name/unit``, ``name_unit`` (``rtt_ms``,
``payload_bytes``), or has its unit in a second row, in each cell (``1.5 ms``) or in the keyword
``units``. A size, a time or a rate without a unit is refused. A size and a round-trip time make
``RttSamples``, a size and a duration ``TransferSamples``, anything else a ``Table``.

A decimal comma is read where columns are not separated by commas, and only if it is unambiguous.

The use of a link (:func:`read_usage`) is read more strictly, as a provider bills it: rates (``in
[Mbit/s]``), or bytes counted in each interval (``in_bytes``). What would change the bill in silence
is refused, with line and field: an empty cell, a row that is left out, a negative number, a step in
the times, a column without a unit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc import units
from netcalc import units as _units
from netcalc.checks import FloatArray
from netcalc.errors import DomainError, ReaderError, UnitError
from netcalc.messages import Notice
from netcalc.rate_layers import LAYERS, RateLayer
from netcalc.readers import cells, frames, quantities
from netcalc.readers.format import Format, Input
from netcalc.readers.places import octets_layer
from netcalc.readers.source import Readable, Source, Text, fixed, shorten
from netcalc.samples import Fact, Meta, RttSamples, Samples, Table, TransferSamples
from netcalc.samples.meta import OF_COLUMNS

_BOOLEANS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
_SEQUENCES = {"sequence", "seq", "icmpseq"}
_WRITES = {"write", "writes", "datagram", "datagrams", "message", "messages"}
"""Counts beside a size, which then is that of one of them, and the time that of all."""
_SI_SUFFIXES = {
    "s": "_s", "byte": "_bytes", "bit": "_bits", "bit/s": "_bps", "packet/s": "_pps",
    "ratio": "_ratio", "m": "_m", "m/s": "_m_s",
}  # fmt: skip
_OTHER_LAYERS = {"packetbytes", "framebytes", "wirebytes", "capturedbytes"}


def looks_like_columns(lines: Sequence[str]) -> bool:
    """Whether the first lines have a constant number of cells, some of them numbers.

    Where all lines have as many cells, a quantity (``1.5ms``) counts as well, and where blanks do
    not separate them, an address or a time of day, too: the header is asked for, or a unit, where
    the text would be refused otherwise.
    """
    first = frames.plain_lines(lines[:200]) or lines[:200]
    sample = [line for line in first if line.strip() and not cells.is_comment(line)][:50]
    if not sample:
        return False
    delimiter = cells.delimiter_of(sample)
    table = [cells.split(line, delimiter) for line in sample]
    if len(table) == 1:
        return any(
            cells.is_number(cell) or quantities.read_heading(cell).written for cell in table[0]
        )
    constant = Counter(len(row) for row in table).most_common(1)[0][1]
    says: Callable[[str], object] = cells.is_number
    if len(table[0]) > 1 and constant == len(table):
        says = quantities.quantity_in if delimiter == " " else _is_quantity
    numeric = sum(
        any(cells.is_number(cell) or says(cell.strip()) for cell in row) for row in table[1:]
    )
    return 2 * numeric >= len(table) - 1 and (delimiter != " " or constant >= 0.6 * len(table))


def _is_quantity(cell: str) -> bool:
    """Whether a cell says how much, where or when."""
    return cell.strip().lower() not in cells.MISSING and bool(cells.kind_of_cell(cell))


def to_samples(
    source: Source,
    text: Text,
    *,
    units: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    decimal: str | None = None,
) -> Samples:
    """Turn decoded text into samples."""
    if decimal not in (None, ".", ","):
        raise DomainError("not-a-choice", "decimal", decimal, choices=["'.'", "','"])
    grid = frames.read_grid(source, text, columns, decimal)
    text.let_go()
    read_columns = quantities.named_columns(grid, dict(units or {}))
    numbers = quantities.Numbers(grid, decimal, read_columns)
    _state_shares(read_columns, numbers)
    meta = Meta(
        tool="columns",
        source=source.name if source.is_file else "",
        sha256=source.sha256,
        note=f"columns separated by {cells.SEPARATORS[grid.delimiter]}, {numbers.described}",
        warnings=(*text.warnings, *grid.warnings),
        partial=grid.partial or source.grew,
    )
    built, used = _build(read_columns, numbers, meta)
    table = Samples.counted_facts(built)[0] | _unused_figures(read_columns, used, numbers, meta)
    if isinstance(built, RttSamples):  # said of its probes, or made of the digits of the times
        said = {"rtt_s", "resolution_s"}
        table = {name: fact for name, fact in table.items() if name.partition(":")[2] not in said}
    table |= {"row_count": len(grid.numbers), "column_count": len(read_columns)}
    return _with_facts(built, table)


def _state_shares(columns: list[quantities.WrittenColumn], numbers: quantities.Numbers) -> None:
    """Take a utilization without a unit as the share of 1 that it is, where none is above 1."""
    for column in columns:
        if column.key in quantities.SHARES and not column.unit and numbers.numeric(column):
            values = numbers.values(column)
            if ((values >= 0) & (values <= 1) | np.isnan(values)).all():
                column.unit = column.written = "ratio"


def _unused_figures(
    columns: list[quantities.WrittenColumn],
    used: list[quantities.WrittenColumn],
    numbers: quantities.Numbers,
    meta: Meta,
) -> dict[str, Fact]:
    """Return the facts of each column of numbers that the samples have no place for."""
    data: dict[str, NDArray[Any]] = {}
    for column in columns:
        if column in used or not (column.unit or numbers.numeric(column)):
            continue
        with suppress(ReaderError):  # an ambiguous cell: no result depends on this column
            data[_table_name(column)] = numbers.values(column)
    units = {_table_name(column): column.unit for column in columns}
    meta = replace(meta, units=units)
    facts = Table(data=fixed(data), meta=meta).counted_facts()[0] if data else {}
    return {name: fact for name, fact in facts.items() if name.startswith(OF_COLUMNS)}


def _with_facts(samples: Samples, table: dict[str, Fact]) -> Samples:
    """Add what the file says in a few numbers: rows, columns and each of them in SI units."""
    facts = table if isinstance(samples, Table) else {**samples.counted_facts()[0], **table}
    return replace(samples, meta=replace(samples.meta, facts=(facts,)))  # type: ignore[type-var]


def _build(
    columns: list[quantities.WrittenColumn], numbers: quantities.Numbers, meta: Meta
) -> tuple[Samples, list[quantities.WrittenColumn]]:
    """Return the samples, and the columns that they were made of."""
    source = numbers.grid.source
    size, rtt, duration = (
        _one(source, columns, names)
        for names in (quantities.SIZES, quantities.RTTS, quantities.DURATIONS)
    )
    if size is not None and rtt is not None:
        return _rtt_samples(columns, numbers, meta, size, rtt)
    is_of_writes = any(column.key in _WRITES for column in columns)
    if size is not None and duration is not None and not is_of_writes:
        return _transfer_samples(columns, numbers, meta, size, duration)
    return _table(columns, numbers, meta), columns


def _one(
    source: Source, columns: list[quantities.WrittenColumn], names: set[str]
) -> quantities.WrittenColumn | None:
    matching = [column for column in columns if column.key in names and not _other_layer(column)]
    if len(matching) > 1:
        exact = [c for c in matching if c.key in ("payload", "rtt", "duration")]
        if len(exact) == 1:
            return exact[0]
        headings = [shorten(column.header) for column in matching]
        name = shorten(matching[0].name)
        raise ReaderError("ambiguous-columns", file=source.name, field=name, columns=headings)
    return matching[0] if matching else None


def _other_layer(column: quantities.WrittenColumn) -> bool:
    return re.sub(r"[\W_]", "", column.header).lower() in _OTHER_LAYERS


def _required(
    grid: cells.CellGrid, column: quantities.WrittenColumn, unit: str
) -> quantities.WrittenColumn:
    """Insist on a unit where numbers without one would be guessed at."""
    if column.unit == unit:
        return column
    if column.unit:
        try:
            _units.factor_of(column.written, unit)
        except UnitError as error:
            raise quantities.unit_refused(grid, column, unit, error) from None
    raise _no_unit(grid, column, unit)


_NAMED = {"s": "_ms", "byte": "_bytes", "bit/s": "_bps", "ratio": "_ratio", "m": "_km"}
"""Kind of a unit -> the end of a column's name with one, as ``columns`` takes it."""


def _no_unit(grid: cells.CellGrid, column: quantities.WrittenColumn, unit: str) -> ReaderError:
    value, name = next((cell for cell in column.cells if cell), ""), shorten(column.name)
    examples = quantities.EXAMPLES.get(unit, (unit,))
    said: dict[str, Any] = {}
    if not grid.header_line:
        named = name + _NAMED[unit]
        said["names"] = ",".join(
            named if heading == column.header else heading for heading in grid.header
        )
    return grid.refused(
        "named-column-without-unit" if said else "column-without-unit", column.name, column=name,
        value=shorten(value), unit=unit, example=examples[0],
        readings=[f"{shorten(value)} {example}" for example in examples], **said,
    )  # fmt: skip


def _measured(
    numbers: quantities.Numbers, column: quantities.WrittenColumn, unit: str
) -> NDArray[np.float64]:
    """Return a column with a unit, of values that can be measured: none below 0."""
    values = numbers.values(_required(numbers.grid, column, unit))
    _refuse_negative(numbers.grid, column, values)
    return values


def _refuse_negative(
    grid: cells.CellGrid, column: quantities.WrittenColumn, values: NDArray[np.float64]
) -> None:
    negative = np.flatnonzero(values < 0)
    if negative.size:
        index = int(negative[0])
        raise grid.refused(
            "negative-cell", column.name, line=grid.numbers[index],
            value=shorten(column.cells[index]), unit=column.written,
        )  # fmt: skip


def _rtt_samples(
    every: list[quantities.WrittenColumn],
    numbers: quantities.Numbers,
    meta: Meta,
    size: quantities.WrittenColumn,
    rtt: quantities.WrittenColumn,
) -> tuple[RttSamples, list[quantities.WrittenColumn]]:
    used = [size, rtt]
    columns: dict[str, NDArray[Any]] = {
        "payload_bytes": _measured(numbers, size, "byte"),
        "rtt_s": _measured(numbers, rtt, "s"),
    }
    house = {"resolution": ("resolution_s", "s"), "sent": ("sent_s", "s"), "ttl": ("ttl", "")}
    for column in every:
        name, unit = house.get(column.key, ("", ""))
        if column.key in _SEQUENCES and "sequence" not in columns:
            name, unit = "sequence", column.unit
        if name and (column.unit == unit or (not unit and column.unit == "1")):
            columns[name] = numbers.values(column)
            used.append(column)
        elif column.key in ("lost", "duplicate", "errorreply") and not column.unit:
            columns[column.name] = _flags(numbers.grid, column)
            used.append(column)
    step_s = numbers.resolution(rtt)
    if "resolution_s" not in columns and step_s > 0:
        columns["resolution_s"] = _resolution_s(columns["rtt_s"], step_s)
    warnings = _unused(every, used)
    if "lost" not in columns:
        lost = np.isnan(columns["rtt_s"])
        missing = int(lost.sum())
        if missing:  # of a file without any, the samples keep one False for all rows
            columns["lost"] = lost
            warnings.append(Notice("rows-without-time", {"count": missing}))
    whole: dict[str, Any] = fixed(columns)
    return RttSamples(**whole, meta=_with(meta, warnings)), used


def _resolution_s(rtt_s: NDArray[np.float64], step_s: float) -> NDArray[np.float64]:
    """Return the step of each time that is known; one number for all rows where all are. [s]"""
    missing = np.isnan(rtt_s)
    if missing.any():
        return np.where(missing, 0.0, step_s)
    return np.broadcast_to(np.float64(step_s), rtt_s.shape)


def _transfer_samples(
    every: list[quantities.WrittenColumn],
    numbers: quantities.Numbers,
    meta: Meta,
    size: quantities.WrittenColumn,
    duration: quantities.WrittenColumn,
) -> tuple[TransferSamples, list[quantities.WrittenColumn]]:
    used = [size, duration]
    failed = next((c for c in every if c.key == "failed" and not c.unit), None)
    durations = _measured(numbers, duration, "s")
    flags = np.isnan(durations)
    if failed is not None:
        flags = _flags(numbers.grid, failed)
        used.append(failed)
    columns: dict[str, Any] = {
        "payload_bytes": _measured(numbers, size, "byte"),
        "duration_s": durations,
        "failed": flags,
    }
    steps = _resolutions(numbers, {"duration_s": duration})
    meta = replace(_with(meta, _unused(every, used)), resolutions=steps)
    return TransferSamples(**fixed(columns), meta=meta), used


def _resolutions(
    numbers: quantities.Numbers, columns: Mapping[str, quantities.WrittenColumn]
) -> dict[str, float]:
    """Return the step in which each of these columns was written, where it is known."""
    steps = {name: numbers.resolution(column) for name, column in columns.items()}
    return {name: step for name, step in steps.items() if step > 0}


def _table_name(column: quantities.WrittenColumn) -> str:
    """Return the name of a column in a table: one with a unit ends in that of its SI unit."""
    if not column.unit:
        return column.english
    name, suffix = re.sub(r"\W+", "_", column.english).strip("_"), _SI_SUFFIXES.get(column.unit, "")
    return name if name.endswith(suffix) else name + suffix


def _table(
    columns: list[quantities.WrittenColumn], numbers: quantities.Numbers, meta: Meta
) -> Table:
    data: dict[str, NDArray[Any]] = {}
    units: dict[str, str] = {}
    written: dict[str, quantities.WrittenColumn] = {}
    for column in columns:
        if column.unit:
            name = _table_name(column)
            data[name] = numbers.values(column)
            if column.key in quantities.NEVER_NEGATIVE:
                _refuse_negative(numbers.grid, column, data[name])
            units[name], written[name] = column.unit, column
        elif numbers.numeric(column):
            if column.key in quantities.NEEDS_UNIT:
                _required(numbers.grid, column, quantities.NEEDS_UNIT[column.key])
            data[_table_name(column)] = numbers.values(column)
        else:
            data[column.name] = column.cells.texts()
    if not any(values.dtype.kind == "f" and values.size for values in data.values()):
        raise ReaderError("no-number-column", file=numbers.grid.source.name)
    all_units = {**meta.units, **units}
    steps = _resolutions(numbers, written)
    layers = {name: column.layer for name, column in written.items() if column.layer}
    meta = replace(_with(meta, [], units=all_units), resolutions=steps, layers=layers)
    return Table(data=fixed(data), meta=meta)


def _flags(grid: cells.CellGrid, column: quantities.WrittenColumn) -> NDArray[np.bool_]:
    flags = np.empty(len(column.cells), dtype=np.bool_)
    for row, (cell, line) in enumerate(zip(column.cells, grid.numbers, strict=True)):
        flag = _BOOLEANS.get(cell.lower())
        if flag is None:
            raise grid.refused("not-a-flag", column.name, line=line, value=shorten(cell))
        flags[row] = flag
    return flags


def _unused(
    every: list[quantities.WrittenColumn], used: list[quantities.WrittenColumn]
) -> list[Notice]:
    left = [shorten(column.header or column.name) for column in every if column not in used]
    return [Notice("columns-ignored", {"count": len(left), "columns": left})] if left else []


def _with(meta: Meta, warnings: list[Notice], units: Mapping[str, str] | None = None) -> Meta:
    return replace(meta, warnings=(*meta.warnings, *warnings), units=dict(units or meta.units))


def _read(file: Input) -> Samples:
    text = file.text
    file.let_go()
    return to_samples(
        file.unpacked, text, units=file.units, columns=file.columns, decimal=file.decimal
    )


FORMAT = Format(
    name="columns",
    description="columns of numbers",
    recognize=lambda file: looks_like_columns(file.text.lines),
    read=_read,
    traps=(
        "A size, a time or a rate without a unit is refused, never guessed.",
        "1,500 may be 1.5 or 1500: refused unless the other cells or the separator decide.",
        "Cells with units of their own (100 Mbit/s, 1 Gbit/s) are read if all have one, of a kind.",
        "The outer bars and the rule of a Markdown table are no cells.",
        "An empty cell, a dash or N/A is missing, not 0.",
        "Rows of another width are left out with their lines, or the file is refused.",
        "Text that a spreadsheet takes for a formula stays text.",
    ),
)


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
    file = Input(source)
    grid = frames.read_grid(file.unpacked, file.text, None)
    columns = quantities.named_columns(grid, {})
    # The name of the heading, too: columns of one name were numbered, a_ms and a_us to a and a_2.
    names = [
        {each.header, each.name, quantities.read_heading(each.header).name} for each in columns
    ]
    matching = [each for each, own in zip(columns, names, strict=True) if column in own] or [
        each
        for each, own in zip(columns, names, strict=True)
        if column.lower() in map(str.lower, own)
    ]
    if len(matching) != 1:
        code = "column-not-there" if not matching else "columns-of-one-name"
        headings = [shorten(each.header) for each in columns]
        raise grid.refused(
            code, column, column=shorten(column), columns=headings, count=len(matching)
        )
    column_read = matching[0]
    has_unit = column_read.unit and column_read.unit != "1"
    if has_unit and column_read.unit != unit:
        try:
            units.factor_of(column_read.written, unit)
        except UnitError as error:
            raise quantities.unit_refused(grid, column_read, unit, error) from None
    if not has_unit and unit != "1":
        raise _no_unit(grid, column_read, unit)
    values = quantities.Numbers(grid, None, columns).values(column_read)
    gaps = np.flatnonzero(np.isnan(values))
    if gaps.size or not values.size:
        raise grid.refused(
            "column-with-gaps" if gaps.size else "column-empty", column_read.header,
            line=grid.numbers[int(gaps[0])] if gaps.size else None,
            count=int(gaps.size), total=int(values.size),
        )  # fmt: skip
    factor = (
        units.factor_of(column_read.unit, unit) if has_unit and column_read.unit != unit else 1.0
    )
    return np.asarray(values * factor)


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
    grid = frames.read_grid(file.unpacked, text, columns)
    for notice in grid.warnings:  # a row of another width, or a last line that is cut
        line = notice.values.get("number") or notice.values["numbers"][0]
        raise file.refusal("sample-not-whole", line=line)
    columns_read = quantities.named_columns(grid, {})
    numbers = quantities.Numbers(grid, None, columns_read)
    directions = _directions(numbers, columns_read)
    step_s = _step_s(numbers, columns_read)
    interval = interval_s or step_s or INTERVAL_S
    rates = {}
    for column in directions:
        values = numbers.values(column)
        _refuse_gaps(grid, column, values)
        rates[column.name] = values if column.unit == "bit/s" else 8.0 * values / interval
    layers = {
        column.name: next(
            (layer for layer in LAYERS if layer == column.layer), octets_layer(column.name)
        )
        for column in directions
    }
    return Usage(file.name, rates, interval, layers)


def _directions(
    numbers: quantities.Numbers, columns: Sequence[quantities.WrittenColumn]
) -> list[quantities.WrittenColumn]:
    grid = numbers.grid
    directions = [column for column in columns if column.unit in ("bit/s", "byte")]
    for column in columns:
        counts = column.key in _NUMBERS or column.key in _TIMES
        if not column.unit and not counts and numbers.numeric(column):
            value = shorten(next((cell for cell in column.cells if cell), ""))
            readings = [f"{value} {example}" for example in quantities.EXAMPLES["bit/s"]]
            raise grid.refused(
                "column-without-unit", column.name, value=value, column=shorten(column.name),
                readings=readings, example=quantities.EXAMPLES["bit/s"][0],
            )  # fmt: skip
    if len(directions) not in (1, 2):
        code = "no-direction" if not directions else "too-many-directions"
        raise grid.refused(code, columns=[shorten(column.name) for column in directions])
    return directions


def _refuse_gaps(
    grid: cells.CellGrid, column: quantities.WrittenColumn, values: NDArray[np.float64]
) -> None:
    for code, wrong in (("sample-missing", np.isnan(values)), ("sample-negative", values < 0)):
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            value = shorten(column.cells[row]) or None
            raise grid.refused(code, column.name, line=grid.numbers[row], value=value)


def _step_s(numbers: quantities.Numbers, columns: Sequence[quantities.WrittenColumn]) -> float:
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
            raise numbers.grid.refused(
                "interval-uneven", column.name, line=numbers.grid.numbers[row],
                value=shorten(column.cells[row]), step=f"{step:g} s",
            )  # fmt: skip
        return step
    return 0.0


def _times_s(
    numbers: quantities.Numbers, column: quantities.WrittenColumn
) -> NDArray[np.float64] | None:
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
