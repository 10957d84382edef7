"""A capture file as one trace, or as one trace for each part of it, and what it cannot show.

Blocks of packets become columns of header fields; fragmented headers are put together.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.captures import blocks, headers, pcap
from netcalc.readers.captures.flows import MIRROR_S, SYN, mirrored
from netcalc.readers.captures.groups import Bools
from netcalc.readers.captures.headers import Addresses
from netcalc.readers.captures.tcp import fact_rows, flow_table
from netcalc.readers.format import Format, Input
from netcalc.readers.places import TRANSPORT, Counted
from netcalc.readers.source import Readable, Source, note
from netcalc.samples import Layer, Meta, PacketTrace

_HEADER_BYTES = 60
"""The longest header of TCP. [byte]"""

_MOST = 100_000
"""Fragments of a block that are looked at."""

_TRANSPORTS = np.uint32(Layer.TCP | Layer.UDP | Layer.ICMP)
_Key = tuple[int, ...]


def put_together(layers: blocks.Layers, addresses: Addresses) -> blocks.Ints:
    """Put headers together that are longer than their first fragment.

    The bytes are laid behind those of the block, and the row of the first fragment begins there.

    Returns
    -------
    array
        The rows whose transport header can now be read.
    """
    if not layers.parts:
        return np.empty(0, np.int64)
    rows = np.concatenate([rows for rows, _ in layers.parts])
    offsets = np.concatenate([offsets for _, offsets in layers.parts]) * 8
    first: blocks.Ints = rows[(offsets == 0) & (layers.layers[rows] & _TRANSPORTS == 0)]
    if not first.size:
        return first
    same = np.isin(layers.columns["ip_id"][rows], layers.columns["ip_id"][first])
    rows, offsets = rows[same][:_MOST], offsets[same][:_MOST]
    parts: dict[tuple[_Key, int], list[int]] = {}
    for row, offset in zip(rows.tolist(), offsets.tolist(), strict=True):
        parts.setdefault((_key(layers, addresses, row), offset), []).append(row)
    headers: dict[int, bytes] = {}
    for row in first.tolist():
        header = _header(layers, addresses, row, parts)
        if header:
            headers[row] = header
    return _laid_behind(layers, headers)


def _key(layers: blocks.Layers, addresses: Addresses, row: int) -> _Key:
    """Return what the fragments of one packet have in common."""
    columns = layers.columns
    return (
        *addresses.source[row].tolist(),
        *addresses.destination[row].tolist(),
        *(int(columns[name][row]) for name in ("ip_id", "ip_protocol", "ip_version")),
    )


def _header(
    layers: blocks.Layers,
    addresses: Addresses,
    first: int,
    parts: dict[tuple[_Key, int], list[int]],
) -> bytes:
    """Return the bytes from the first fragment on, as far as a header goes; empty with a gap."""
    key = _key(layers, addresses, first)
    data, row = b"", first
    while len(data) < _HEADER_BYTES:
        size = int(layers.left[row])
        at = int(layers.at[row])
        if size <= 0 or at + size > int(layers.end[row]):  # the snap length cut it
            return b""
        data += layers.data[at : at + size].tobytes()
        following = parts.get((key, len(data)), [])
        if not following:  # the last one, or a gap: whether it is long enough its decoder says
            break
        row = min(following, key=lambda part: abs(part - first))  # numbers are used again
    return data if row != first else b""


def _laid_behind(layers: blocks.Layers, headers: dict[int, bytes]) -> blocks.Ints:
    rows = np.array(list(headers), np.int64)
    if not rows.size:
        return rows
    sizes = np.array([len(data) for data in headers.values()], np.int64)
    # A block ends in PAD_BYTES of zeros, so that any header can be gathered at its very end without
    # a check of the bounds. The headers come where these zeros were, and the zeros behind them.
    begin = layers.data.size - blocks.PAD_BYTES
    more = np.frombuffer(b"".join(headers.values()), np.uint8)
    layers.data = np.concatenate([layers.data[:begin], more, np.zeros(blocks.PAD_BYTES, np.uint8)])
    layers.at[rows] = begin + np.cumsum(sizes) - sizes
    layers.end[rows] = layers.at[rows] + sizes
    layers.left[rows] = sizes
    layers.kind[rows] = blocks.PROTOCOL + layers.columns["ip_protocol"][rows].astype(np.int64)
    return rows


_OWN_COLUMNS = {"time_s", "kept_bytes", "original_bytes", "layers", "interface", "link_number",
                "source", "destination"}  # fmt: skip
DECODED: dict[str, Any] = {
    name: kind for name, kind in PacketTrace.column_types.items() if name not in _OWN_COLUMNS
}
"""Columns that the headers give, and their types."""

_MOST_PASSES = 300
_EXTENSIONS = {blocks.PROTOCOL + number: number for number in headers.EXTENSIONS}

Pairs = NDArray[np.uint64]


class AddressBook:
    """The addresses of a capture: each once, in the order of their first packet."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self._index: dict[tuple[int, int], int] = {(0, 0): 0}

    def index_of(self, high: int, low: int) -> int:
        """Return the number of an address given as two halves; IPv4 is mapped into IPv6."""
        index = self._index.get((high, low))
        if index is None:
            index = self._index[high, low] = len(self.texts)
            self.texts.append(_text(high, low))
        return index

    def number(
        self, addresses: headers.Addresses, has_ip: NDArray[np.bool_]
    ) -> tuple[blocks.Ints, blocks.Ints]:
        """Return the numbers of the sources and the destinations of a block."""
        halves = (addresses.source, addresses.destination)
        words = [half[:, part].astype(np.uint64) for half in halves for part in (0, 1)]
        first, back = _distinct(words)
        shown = [word[first].tolist() for word in words]
        is_shown = has_ip[first].tolist()
        source, to = (
            np.array([
                self.index_of(high, low) if has_ip_here else 0
                for high, low, has_ip_here in zip(*halves_shown, is_shown, strict=True)
            ], np.int64)[back]
            for halves_shown in (shown[:2], shown[2:])
        )  # fmt: skip
        return source, to


def _distinct(words: list[Pairs]) -> tuple[blocks.Ints, blocks.Ints]:
    """Return the first row of each distinct row of words, and for each row which one it is.

    Rows differ by a 64-bit mix of their words; rows of one mix are compared word by word.
    """
    mixed = words[1] * np.uint64(0x9E37_79B9_7F4A_7C15) ^ words[3]
    mixed = mixed * np.uint64(0xC2B2_AE3D_27D4_EB4F) ^ words[0]
    mixed = mixed * np.uint64(0x1656_67B1_9E37_79F9) ^ words[2]
    _, first, back = np.unique(mixed, return_index=True, return_inverse=True)
    if all(np.array_equal(word[first][back], word) for word in words):
        return first, back
    rows = np.stack(words, axis=1)
    _, first, back = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, back.reshape(-1)


def _text(high: int, low: int) -> str:
    if high == 0 and low >> 32 == 0xFFFF:
        return str(ipaddress.IPv4Address(low & 0xFFFF_FFFF))
    return str(ipaddress.IPv6Address((high << 64) | low))


def columns(
    block: blocks.PacketBlock, interfaces: list[blocks.Interface], book: AddressBook
) -> dict[str, NDArray[Any]]:
    """Return the columns of a block; ``time_ns`` is the time as the file has it."""
    by_interface = np.array([interface.link_type for interface in interfaces] or [0], np.int64)
    link_types = by_interface[block.interface]
    layers = blocks.Layers.of(block, link_types, DECODED)
    addresses = headers.Addresses(len(block))
    if any(interface.fcs_bytes for interface in interfaces):  # no part of the packet
        fcs = np.array([interface.fcs_bytes for interface in interfaces], np.int64)[block.interface]
        layers.left = np.maximum(layers.left - fcs, 0)
    _decode(layers, np.arange(len(block), dtype=np.int64), addresses)
    _decode(layers, put_together(layers, addresses), addresses)
    has_ip = layers.columns["ip_version"] != 0
    source, destination = book.number(addresses, has_ip)
    return {
        "time_ns": block.time_ns,
        "kept_bytes": block.kept.astype(np.uint32),
        "original_bytes": block.original.astype(np.uint32),
        "layers": layers.layers,
        "interface": block.interface.astype(np.uint32),
        "link_number": link_types.astype(np.uint16),
        "source": source.astype(np.uint32),
        "destination": destination.astype(np.uint32),
        **layers.columns,
    }


def _decode(layers: blocks.Layers, active: blocks.Ints, addresses: headers.Addresses) -> None:
    """Read one kind of header after the other, each for all packets that have it next."""
    for _ in range(_MOST_PASSES):
        if not active.size:
            break
        kinds = layers.kind[active]
        kind = int(kinds[0])
        is_this = kinds == kind
        rows = active if is_this.all() else active[is_this]
        _read_header(layers, rows, kind, addresses)
        active = active[layers.kind[active] != blocks.DONE]
    layers.kind[active] = blocks.DONE


def _read_header(
    layers: blocks.Layers, rows: blocks.Ints, kind: int, addresses: headers.Addresses
) -> None:
    if kind == blocks.IPV4:
        headers.ipv4(layers, rows, addresses)
    elif kind == blocks.IPV6:
        headers.ipv6(layers, rows, addresses)
    elif kind in _EXTENSIONS:
        headers.extension(layers, rows, _EXTENSIONS[kind])
    elif kind in headers.SAME_AS:
        layers.kind[rows] = headers.SAME_AS[kind]
    elif kind in headers.DECODERS:
        headers.DECODERS[kind](layers, rows)
    elif kind >= blocks.PPP:
        layers.kind[rows] = headers.PPP_KINDS.get(kind - blocks.PPP, blocks.DONE)
    else:
        layers.kind[rows] = blocks.DONE


def is_read(link_type: int) -> bool:
    """Whether packets of a link type are decoded."""
    return blocks.LINK + link_type in headers.DECODERS or blocks.LINK + link_type in headers.SAME_AS


JUMBO_FRAME_BYTES = 9100
"""Longer than any jumbo frame in use: above it, where no MSS was seen, is no frame. [byte]"""

COMMON_PACKET_BYTES = 1500
"""Longest IP packet of Ethernet without jumbo frames. [byte]"""

_NO_LIMIT = 65535
"""The MSS that stands for any length (RFC 2675, section 5)."""


def notices_of(trace: PacketTrace, facts: blocks.FileFacts, times: blocks.Ints) -> list[Notice]:
    """Return the notices of a whole capture."""
    return [*_file_notices(trace, facts), *_clock_notices(times), *_packet_notices(trace)]


def _file_notices(trace: PacketTrace, facts: blocks.FileFacts) -> list[Notice]:
    notices: list[Notice] = []
    note(notices, "capture-dropped", count=facts.capture_drop_count)
    seen, counts = np.unique(trace.ints("link_number"), return_counts=True)
    for number, count in zip(seen.tolist(), counts.tolist(), strict=True):
        if not is_read(number):
            name = headers.NAMES.get(number, "unknown")
            notices.append(
                Notice("link-type-skipped", {"number": number, "name": name, "count": count})
            )
    return notices


def _clock_notices(times: blocks.Ints) -> list[Notice]:
    notices: list[Notice] = []
    timed = times != blocks.MISSING_NS
    note(notices, "packets-without-time", count=int(np.count_nonzero(~timed)))
    steps = np.diff(times[timed])
    back = steps < 0
    if back.any():
        values = {"count": int(back.sum()), "largest_s": float(-steps.min() / 1e9)}
        notices.append(Notice("time-goes-back", values))
    return notices


def _packet_notices(trace: PacketTrace) -> list[Notice]:
    notices: list[Notice] = []
    kept, original = trace.ints("kept_bytes"), trace.ints("original_bytes")
    note(notices, "kept-above-original", count=int(np.count_nonzero(kept > original)))
    shorter = kept < original
    if shorter.any():
        values = {
            "count": int(np.count_nonzero(shorter)),
            "snap_bytes": int(kept[shorter].max()),
        }
        notices.append(Notice("snap-length", values))
    for code, layer in (
        ("headers-cut", Layer.CUT),
        ("lengths-disagree", Layer.MALFORMED),
        ("ip-fragments", Layer.FRAGMENT),
        ("length-left-to-card", Layer.OFFLOADED),
    ):
        note(notices, code, count=int(np.count_nonzero(trace.has(layer))))
    copies = int(np.count_nonzero(mirrored(trace)))
    note(notices, "packets-mirrored", count=copies, within_s=MIRROR_S)
    no_ip = ~trace.has(Layer.IPV4 | Layer.IPV6 | Layer.ARP)
    no_ip &= np.isin(trace.ints("link_number"), list(headers.READ))
    note(notices, "packets-without-ip", count=int(np.count_nonzero(no_ip)))
    above, unlimited = _above_mss(trace)
    for code, large in (("offload-frames", above), ("offload-or-jumbo", unlimited)):
        if large.any():
            values = {
                "count": int(np.count_nonzero(large)),
                "largest_bytes": int(trace.ints("packet_bytes")[large].max()),
            }
            notices.append(Notice(code, values))
    return notices


def _above_mss(trace: PacketTrace) -> tuple[Bools, Bools]:
    """Return masks of the TCP segments that are no packets of the link, and that may be none.

    The first have more payload than the MSS that their receiver offered, or where no offer was
    seen, more than any frame; the others fill more than a common frame, and no offer was seen.
    """
    is_tcp = trace.has(Layer.TCP)
    payload, mss = trace.ints("payload_bytes"), trace.ints("mss_bytes")
    offers = np.flatnonzero(is_tcp & (trace.ints("tcp_flags") & SYN != 0) & (mss > 0))
    size = trace.ints("packet_bytes")
    above: Bools = is_tcp & (size > JUMBO_FRAME_BYTES)
    doubtful: Bools = is_tcp & (size > COMMON_PACKET_BYTES)
    if not offers.size:
        return above, doubtful & ~above
    rows = np.flatnonzero(is_tcp & (payload > mss[offers].min()) | doubtful)
    if not rows.size:
        return above, doubtful & ~above
    source, destination = _ends(trace, "source"), _ends(trace, "destination")
    ends = np.unique(np.append(source[offers], destination[offers]))
    ways = np.searchsorted(ends, destination[offers]) * ends.size
    ways += np.searchsorted(ends, source[offers])
    ways_offered, which = np.unique(ways, return_inverse=True)
    limits = np.zeros(ways_offered.size, np.int64)
    offered = mss[offers].astype(np.int64)
    np.maximum.at(limits, which, np.where(offered == _NO_LIMIT, 2**32, offered))

    sender, receiver = np.searchsorted(ends, source[rows]), np.searchsorted(ends, destination[rows])
    way = sender * ends.size + receiver
    place = np.minimum(np.searchsorted(ways_offered, way), ways_offered.size - 1)
    last = ends.size - 1
    has_offer = (ends[np.minimum(sender, last)] == source[rows]) & (ways_offered[place] == way)
    has_offer &= ends[np.minimum(receiver, last)] == destination[rows]
    above[rows] = np.where(has_offer, payload[rows] > limits[place], above[rows])
    doubtful[rows] &= ~has_offer
    return above, doubtful & ~above


def _ends(trace: PacketTrace, name: str) -> NDArray[np.uint64]:
    """Return address and port of the senders, or of the receivers."""
    address = trace.ints(name).astype(np.uint64) << np.uint64(16)
    ends: NDArray[np.uint64] = address | trace.ints(f"{name}_port")
    return ends


MAX_PACKETS = 20_000_000
"""Most packets that are held at once; :func:`stream_capture` reads longer files."""

_Columns = dict[str, NDArray[Any]]


def is_capture(head: bytes) -> bool:
    """Whether data begins as a capture does.

    >>> is_capture(bytes.fromhex("d4c3b2a1")), is_capture(b"PING")
    (True, False)
    """
    return head.startswith(pcap.PCAPNG_MAGIC) or head[:4] in pcap.MAGICS


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
        self._stream = blocks.ByteStream(source, name=name)
        self.name = self._stream.name
        self.facts = blocks.FileFacts()
        self.packet_count = 0
        self.start_ns: int | None = None
        self._book = AddressBook()

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
        reader = pcap.read_pcapng_blocks if head == pcap.PCAPNG_MAGIC else pcap.read_pcap_blocks
        for block in reader(self._stream, head, self.facts):
            self.packet_count += len(block)
            yield columns(block, self.facts.interfaces, self._book)
        if self._stream.is_cut:
            self.facts.partial = True
            self.facts.notices.append(Notice("compressed-data-cut"))
        if not self.packet_count:
            raise ReaderError("capture-empty", file=self.name)

    def trace(self, columns: _Columns, meta: Meta) -> PacketTrace:
        """Return the trace of a part's columns."""
        times = columns.pop("time_ns")
        timed = times != blocks.MISSING_NS
        if self.start_ns is None and timed.any():
            self.start_ns = int(times[timed][0])
        since = np.where(timed, times - (self.start_ns or 0), 0)
        time_s = np.where(timed, since / 1e9, np.nan)
        snaps = [
            interface.snap_bytes for interface in self.facts.interfaces if interface.snap_bytes
        ]
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
            whole[column].flags.writeable = False  # so that the trace needs no copy
        times = whole["time_ns"]
        trace = capture.trace(whole, _meta(capture, times))
        notices = [*capture.facts.notices, *notices_of(trace, capture.facts, times)]
        object.__setattr__(trace.meta, "warnings", tuple(notices))
        return trace


def refuse_unread_links(capture: CaptureStream, parts: list[_Columns]) -> None:
    """Refuse a capture of which no packet has a link type that is read, by number and name."""
    seen = sorted({int(number) for part in parts for number in np.unique(part["link_number"])})
    if not any(is_read(number) for number in seen):
        named = [
            f"{number} ({headers.NAMES[number]})" if number in headers.NAMES else str(number)
            for number in seen
        ]
        raise ReaderError("link-type-not-read", file=capture.name, link_types=named)


def _meta(capture: CaptureStream, times: blocks.Ints) -> Meta:
    facts = capture.facts
    timed = times[times != blocks.MISSING_NS]
    return Meta(
        tool=facts.format,
        tool_version=facts.writer,
        host=facts.host,
        source=capture.name,
        sha256=capture.sha256,
        clock="wall clock of the capture" if timed.size else "",
        start=_iso(int(timed[0])) if timed.size else "",
        partial=facts.partial,
    )


def _iso(time_ns: int) -> str:
    """Write a time as ISO 8601 in UTC; nothing if it is not a date."""
    try:
        when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_ns // 1000)
    except OverflowError:
        return ""
    return when.isoformat()


def _read_capture_files(file: Input) -> PacketTrace:
    """Read a capture: a file straight from the disk, whatever its length, other data as it is."""
    source = file.path if file.path is not None else file.source
    trace = read_capture(source, name=file.name)
    rows, notices, analysis = fact_rows(trace)
    meta = replace(trace.meta, facts=rows, warnings=(*trace.meta.warnings, *notices))
    object.__setattr__(trace, "meta", meta)
    if analysis is not None:  # of more flows it is made when it is asked for
        flow_table(trace, analysis)
    return trace


PCAP = Format(
    name="pcap",
    description="a packet capture (pcap)",
    recognize=lambda file: file.head[:4] in pcap.MAGICS,
    read=_read_capture_files,
    traps=(
        "Lengths are those in the headers: the file may have been cut at a snap length.",
        "A fraction above a second, and a time before the last one, are kept and said.",
        "Packets of 64 kB are joined by the network card (GRO, TSO); a warning says so.",
        "Some programs wrote longer record headers under the same first bytes.",
    ),
    tools={
        # flows by their sequence numbers, or the lengths of their datagrams
        "pcap": Counted(rates=TRANSPORT),
    },
)
PCAPNG = Format(
    name="pcapng",
    description="a packet capture (pcapng)",
    recognize=lambda file: file.head.startswith(pcap.PCAPNG_MAGIC),
    read=_read_capture_files,
    traps=(
        "Each interface has a clock of its own: its resolution, its offset.",
        "Byte order and interfaces change with each section of a file.",
        "A simple packet block has no time: it stays missing.",
    ),
)
FORMATS = (PCAP, PCAPNG)
