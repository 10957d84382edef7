"""Files and pasted text in, samples out: the content shows the format, the name never does.

>>> import netcalc.readers
>>> samples = netcalc.readers.read(
...     "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.481 ms\\n"
...     "64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=0.502 ms\\n")
>>> type(samples).__name__, samples.received, samples.meta.partial
('RttSamples', 2, True)

A reader gives the right numbers or raises :class:`~netcalc.errors.ReaderError` with file, line,
field and unit. What it skipped or repaired, and what does not agree, is in ``meta.warnings``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from netcalc.checks import named_arguments
from netcalc.errors import DomainError, ReaderError
from netcalc.messages import Notice
from netcalc.readers import formats
from netcalc.readers.columns import FORMAT as _COLUMNS
from netcalc.readers.columns import read_column
from netcalc.readers.format import Format, Input, damaged_numbers
from netcalc.readers.formats import FORMATS
from netcalc.readers.pastes import read_paste
from netcalc.readers.pings import ping, ping_lines
from netcalc.readers.ranges import settled
from netcalc.readers.source import MAX_BYTES, Readable, Source, no_measurement
from netcalc.samples import RttSamples, Samples, Table

__all__ = [
    "FORMATS", "MAX_BYTES", "Format", "Readable", "read", "read_column", "read_columns",
    "read_ping", "sniff",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers

_NOTHING_READ = frozenset({
    "neither-ping-nor-columns", "other-format", "no-header", "data-for-header", "unequal-rows",
    "no-number-column", "column-without-unit", "units-apart", "not-a-number",
    "columns-of-one-name", "no-ping",
})  # fmt: skip
"""Refusals of a text that no tool's mark was seen in: it may be a part of an output."""


@named_arguments
def read(
    source: Readable,
    *,
    name: str | None = None,
    units: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    decimal: str | None = None,
) -> Samples:
    """Read a measurement of any format of :data:`FORMATS`, recognized by content.

    Parameters
    ----------
    source : path, str, bytes or file object
        The input. A ``str`` with a line end in it is text, any other is a path.
    name : str, optional
        Name of the source, if it is not a path (an uploaded file).
    units : mapping of str to str, optional
        Units of columns whose header has none: ``{"rtt": "ms"}``.
    columns : sequence of str, optional
        Names of the columns, if there is no header.
    decimal : {'.', ','}, optional
        The decimal sign of columns, where the numbers do not show it.

    Returns
    -------
    Samples
        The samples; ``facts()`` says in a few numbers what they hold, ``meta.warnings`` what was
        repaired, skipped or does not agree.

    Raises
    ------
    ReaderError
        If the source cannot be opened, is of another kind (which is named), has no measurement,
        or cannot be read with certainty.
    """
    file = Input(
        source, name=name, words=ping_lines.WORDS, units=units, columns=columns, decimal=decimal
    )
    return read_paste(file, _read_named)


def _read_named(file: Input) -> Samples:
    """Read an input, or refuse it by the name of the tool that its lines are a part of."""
    try:
        return _read(file)
    except ReaderError as error:
        whole = formats.part_of(file) if error.code in _NOTHING_READ else None
        if whole is None or formats.named(file) in formats.MARKED:  # its reader knows more
            raise
        raise file.refusal("part-of-output", format=whole.description, needs=whole.needs) from error


def _read(file: Input) -> Samples:
    recognized = formats.recognized(file)
    if isinstance(recognized, Format):
        formats.require_short_lines(file, recognized)
        is_of_tool = recognized is ping.FORMAT or recognized.name in formats.OF_SHORT_LINES
        damaged = damaged_numbers(file) if is_of_tool else []
        try:
            samples = _with_damaged(recognized.read(file), damaged)
            is_own = recognized.name.startswith("netcalc ")  # a table of a formula may hold inf
            if is_own and isinstance(samples, Table):
                return samples
            is_text = b"\0" not in file.head
            return settled(samples, file.name, (lambda: file.text) if is_text else None)
        except DomainError as error:  # a number of the file that no measurement has
            if error.code != "is-negative":
                raise
            raise file.refusal("negative-number", field=error.name, found=error.value) from error
    if recognized == formats.TEXT:
        raise no_measurement("neither-ping-nor-columns", file.unpacked, file.text)
    raise formats.no_format(file, recognized)


def _with_damaged(samples: Samples, numbers: Sequence[int]) -> Samples:
    """Warn of lines with damaged numbers, where no warning names them yet."""
    said: set[object] = set()
    for notice in samples.meta.warnings:
        said |= {notice.values.get("line"), notice.values.get("number")}
        said.update(notice.values.get("numbers") or ())
    unsaid = [number for number in dict.fromkeys(numbers) if number not in said]
    if not unsaid:
        return samples
    warnings = (*samples.meta.warnings, Notice("numbers-damaged", {"numbers": unsaid}))
    return replace(samples, meta=replace(samples.meta, warnings=warnings))  # type: ignore[type-var]


def sniff(source: Readable, *, name: str | None = None) -> str:
    """Name the kind of data in a source.

    Parameters
    ----------
    source : path, str, bytes or file object
        The input.
    name : str, optional
        Name of the source in an error.

    Returns
    -------
    str
        The name of one of :data:`FORMATS`, which :func:`read` reads; ``"empty"``, ``"text"``, or
        the name of a format that it does not, such as ``"PDF"``.

    Raises
    ------
    ReaderError
        If the source cannot be opened, or is neither text nor of a known format.

    Examples
    --------
    >>> sniff("size_bytes,rtt_ms\\n100,1.5\\n"), sniff(b"%PDF-1.7 ...")
    ('columns', 'PDF')
    """
    recognized = formats.recognized(Input(source, name=name, words=ping_lines.WORDS))
    return recognized.name if isinstance(recognized, Format) else recognized


def read_ping(source: Readable | Source, *, name: str | None = None) -> RttSamples:
    """Read the output of one or more runs of ping.

    Parameters
    ----------
    source : path, str, bytes or file object
        The output; a ``str`` with a line end in it is the text itself.
    name : str, optional
        Name of the source, if it is not a path.

    Returns
    -------
    RttSamples
        One row for each probe and for each duplicate reply. ``meta.printed`` has what the tool's
        own summary says, ``meta.warnings`` what does not agree or could not be read.

    Raises
    ------
    ReaderError
        If nothing can be read with certainty; it names the line, the field and the text found.

    Examples
    --------
    >>> samples = read_ping(
    ...     "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\\n"
    ...     "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.481 ms\\n"
    ...     "64 bytes from 192.0.2.1: icmp_seq=3 ttl=64 time=0.502 ms\\n")
    >>> samples.sent, samples.received, float(samples.best_s.min())
    (3, 2, 0.000481)
    """
    file = Input(source, name=name, words=ping_lines.WORDS)
    formats.refuse_others(file, ping.FORMAT, "not-ping-output")
    return settled(ping.read_whole(file), file.name, lambda: file.text)


def read_columns(
    source: Readable | Source,
    *,
    name: str | None = None,
    units: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    decimal: str | None = None,
) -> Samples:
    """Read columns of numbers with their units.

    Parameters
    ----------
    source : path, str, bytes or file object
        The columns; a ``str`` with a line end in it is the text itself.
    name : str, optional
        Name of the source, if it is not a path.
    units : mapping of str to str, optional
        Unit by column name, for columns whose header has none: ``{"rtt": "ms"}``; ``"text"`` for
        one whose cells are read as they are, units included.
    columns : sequence of str, optional
        Names of the columns, if there is no header: ``("size_bytes", "rtt_ms")``.
    decimal : {'.', ','}, optional
        The decimal sign, where the numbers do not show it.

    Returns
    -------
    RttSamples, TransferSamples or Table
        In SI units; ``meta.note`` says how the columns were separated.

    Raises
    ------
    ReaderError
        If a unit is missing, a cell is ambiguous or not a number, or there are no columns.

    Examples
    --------
    >>> samples = read_columns("size/B;rtt [ms]\\n56;1,5\\n1472;2,75\\n")
    >>> samples.payload_bytes.tolist(), samples.rtt_s.tolist()
    ([56.0, 1472.0], [0.0015, 0.00275])
    """
    file = Input(source, name=name, units=units, columns=columns, decimal=decimal)
    formats.refuse_others(file, _COLUMNS, "not-columns")
    return settled(_COLUMNS.read(file), file.name, lambda: file.text)
