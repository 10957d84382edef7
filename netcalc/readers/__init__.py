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

from netcalc import samples as _samples
from netcalc.errors import ReaderError
from netcalc.readers import _kinds, _ping_lines, columns, ping
from netcalc.readers.columns import read_columns
from netcalc.readers.ping import read_ping
from netcalc.readers.source import (
    MAX_BYTES,
    Readable,
    Source,
    Text,
    decode,
    inflate,
    no_measurement,
    open_source,
)

__all__ = ["MAX_BYTES", "Readable", "read", "read_columns", "read_ping", "sniff"]


def read(
    source: Readable,
    *,
    name: str | None = None,
    units: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    decimal: str | None = None,
) -> _samples.Samples:
    """Read the output of ping, columns of numbers, or saved samples, recognized by content.

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
    RttSamples, TransferSamples or Table
        The samples, with their facts and the reader's warnings in ``meta``.

    Raises
    ------
    ReaderError
        If the source cannot be opened, is of another kind (which is named), has no measurement,
        or cannot be read with certainty.
    """
    kind, opened, text = _sniffed(source, name)
    if kind == "netcalc samples":
        return _samples.loads(opened.data, file=opened.name)
    if text is not None and kind == "ping":
        return ping.to_samples(opened, text)
    if text is not None and kind == "columns":
        return _columns(opened, text, units=units, columns=columns, decimal=decimal)
    if kind == "empty":
        raise ReaderError("file-empty", file=opened.name)
    if text is not None and kind == "text":
        raise no_measurement("neither-ping-nor-columns", opened, text)
    ping.refuse_other_kinds(opened, kind)
    raise AssertionError(kind)


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
        ``"ping"``, ``"columns"`` or ``"netcalc samples"``, which :func:`read` reads; ``"empty"``,
        ``"text"``, or the name of another format, such as ``"pcap"``.

    Raises
    ------
    ReaderError
        If the source cannot be opened, or is neither text nor of a known format.

    Examples
    --------
    >>> sniff("size_bytes,rtt_ms\\n100,1.5\\n"), sniff(b"%PDF-1.7 ...")
    ('columns', 'PDF')
    """
    return _sniffed(source, name)[0]


_columns = columns.to_samples


def _sniffed(source: Readable, name: str | None) -> tuple[str, Source, Text | None]:
    opened = open_source(source, name=name)
    kind = _kinds.kind_by_magic(opened.data)
    if kind == "gzip":
        inner = inflate(opened)
        if _is_saved(inner.data):
            return "netcalc samples", inner, None
        return _within(inner), opened, None
    if kind is not None:
        return kind, opened, None
    if _is_saved(opened.data):
        return "netcalc samples", opened, None
    text = decode(opened, words=_ping_lines.WORDS)
    if text.blank:
        return "empty", opened, text
    kind = _kinds.kind_by_text(text.whole)
    if kind is None:
        if ping.looks_like_ping(text.lines):
            kind = "ping"
        else:
            kind = "columns" if columns.looks_like_columns(text.lines) else "text"
    return kind, opened, text


def _is_saved(data: bytes) -> bool:
    """Whether bytes begin as samples do that netcalc saved: no need to read them twice."""
    return data[:1] == b"{" and b'"netcalc samples"' in data[:2000]


def _within(inner: Source) -> str:
    """Return the kind of the data inside gzip data, if it is another tool's format."""
    try:
        kind = _kinds.kind_by_magic(inner.data) or _kinds.kind_by_text(decode(inner).whole)
    except ReaderError:
        kind = None
    return kind or "gzip"
