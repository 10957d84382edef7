"""A capture file as one trace, or as one trace for each part of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.captures import decode, link, pcap, pcapng
from netcalc.readers.captures.blocks import MISSING_NS, FileFacts, Ints
from netcalc.readers.captures.notices import notices_of
from netcalc.readers.captures.stream import ByteStream
from netcalc.readers.source import Readable, Source
from netcalc.samples import Meta, PacketTrace

MAX_PACKETS = 20_000_000
"""Most packets that are held at once; :func:`stream_capture` reads longer files."""

_Columns = dict[str, NDArray[Any]]


def is_capture(head: bytes) -> bool:
    """Whether data begins as a capture does.

    >>> is_capture(bytes.fromhex("d4c3b2a1")), is_capture(b"PING")
    (True, False)
    """
    return head.startswith(pcapng.MAGIC) or head[:4] in pcap.MAGICS


class CaptureStream:
    """The packets of a capture, one part after the other: memory stays that of one part.

    Iterate once. ``addresses`` grows while it does; what is known of the whole file, such as where
    it is damaged, is in ``facts`` at the end.

    Parameters
    ----------
    source : path, bytes or binary file object
        A pcap or pcapng file, as it is or compressed with gzip.
    name : str, optional
        Name of the source, if it is not a path.
    """

    def __init__(self, source: Readable | Source, *, name: str | None = None) -> None:
        self._stream = ByteStream(source, name=name)
        self.name = self._stream.name
        self.facts = FileFacts()
        self.packet_count = 0
        self.start_ns: int | None = None
        self._book = decode.AddressBook()

    def __enter__(self) -> CaptureStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._stream.__exit__()

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses so far."""
        return tuple(self._book.texts)

    def __iter__(self) -> Iterator[PacketTrace]:
        """Yield a trace for each part; ``time_s`` counts from the first packet of the file."""
        for columns in self.columns():
            yield self.trace(columns, Meta(tool=self.facts.format, source=self.name))

    def columns(self) -> Iterator[_Columns]:
        """Yield the columns of each part, with ``time_ns`` for the time."""
        head = self._stream.read(4)
        if not head:
            raise ReaderError("file-empty", file=self.name)
        if not is_capture(head):
            raise ReaderError("not-a-capture", file=self.name, value=head.hex(" "))
        reader = pcapng.read_blocks if head == pcapng.MAGIC else pcap.read_blocks
        for block in reader(self._stream, head, self.facts):
            self.packet_count += len(block)
            yield decode.columns(block, self.facts.interfaces, self._book)
        if self._stream.is_cut:
            self.facts.partial = True
            self.facts.notices.append(Notice("compressed-data-cut"))
        if not self.packet_count:
            raise ReaderError("capture-empty", file=self.name)

    def trace(self, columns: _Columns, meta: Meta) -> PacketTrace:
        """Return the trace of a part's columns."""
        times = columns.pop("time_ns")
        known = times != MISSING_NS
        if self.start_ns is None and known.any():
            self.start_ns = int(times[known][0])
        since = np.where(known, times - (self.start_ns or 0), 0)
        time_s = np.where(known, since / 1e9, np.nan)
        snaps = [one.snap_bytes for one in self.facts.interfaces if one.snap_bytes]
        return PacketTrace(
            time_s=time_s,
            **columns,
            addresses=self.addresses,
            start_ns=self.start_ns,
            snap_bytes=min(snaps) if snaps else None,
            meta=meta,
        )

    @property
    def sha256(self) -> str:
        """SHA-256 of the file, once it was read to its end."""
        return self._stream.sha256


def stream_capture(source: Readable | Source, *, name: str | None = None) -> CaptureStream:
    """Open a capture that is read one part after the other, whatever its length.

    Parameters
    ----------
    source : path, bytes or binary file object
        A pcap or pcapng file, as it is or compressed with gzip.
    name : str, optional
        Name of the source, if it is not a path.

    Returns
    -------
    CaptureStream
        An iterable of :class:`~netcalc.samples.PacketTrace`, and a context manager.

    Raises
    ------
    ReaderError
        If the file cannot be opened; while it is read, if it is not a capture.
    """
    return CaptureStream(source, name=name)


def read_capture(source: Readable | Source, *, name: str | None = None) -> PacketTrace:
    """Read a pcap or pcapng file.

    Parameters
    ----------
    source : path, bytes or binary file object
        The capture, as it is or compressed with gzip.
    name : str, optional
        Name of the source, if it is not a path.

    Returns
    -------
    PacketTrace
        One row for each packet. ``meta.warnings`` has what the capture cannot show, and where it
        is damaged.

    Raises
    ------
    ReaderError
        If it is not a capture, has no packet, is damaged before its first packet, or has only link
        types that are not read.
    """
    with CaptureStream(source, name=name) as capture:
        parts = []
        for columns in capture.columns():
            parts.append(columns)
            if capture.packet_count > MAX_PACKETS:
                raise ReaderError("too-many-packets", file=capture.name, limit=MAX_PACKETS)
        refuse_unread_links(capture, parts)
        whole: _Columns = {}
        for column in list(parts[0]):
            whole[column] = np.concatenate([part.pop(column) for part in parts])
        times = whole["time_ns"]
        trace = capture.trace(whole, _meta(capture, times))
        notices = [*capture.facts.notices, *notices_of(trace, capture.facts, times)]
        object.__setattr__(trace.meta, "warnings", tuple(notices))
        return trace


def refuse_unread_links(capture: CaptureStream, parts: list[_Columns]) -> None:
    """Refuse a capture of which no packet has a link type that is read, by number and name."""
    seen = sorted({int(one) for part in parts for one in np.unique(part["link_number"])})
    if not any(decode.is_read(one) for one in seen):
        named = [f"{one} ({link.NAMES[one]})" if one in link.NAMES else str(one) for one in seen]
        raise ReaderError("link-type-not-read", file=capture.name, link_types=named)


def _meta(capture: CaptureStream, times: Ints) -> Meta:
    facts = capture.facts
    known = times[times != MISSING_NS]
    return Meta(
        tool=facts.format,
        tool_version=facts.writer,
        host=facts.host,
        source=capture.name,
        sha256=capture.sha256,
        clock="wall clock of the capture" if known.size else "",
        start=_iso(int(known[0])) if known.size else "",
        partial=facts.partial,
    )


def _iso(time_ns: int) -> str:
    """Write a time as ISO 8601 in UTC; nothing if it is not a date."""
    try:
        when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_ns // 1000)
    except OverflowError:
        return ""
    return when.isoformat()
