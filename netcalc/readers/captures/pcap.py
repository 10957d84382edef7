"""Files of libpcap, pcap and pcapng.

pcap has a header of 24 bytes, then records of a time, two lengths and the bytes. pcapng has
sections of blocks, each section with its own byte order, interfaces and clocks.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.captures import blocks
from netcalc.readers.source import shorten

HEADER_BYTES = 24
_RECORD_BYTES = 16
_MODIFIED_RECORD_BYTES = 24
_NOKIA_RECORD_BYTES = 20

# magic -> byte order, nanoseconds, bytes of a record header
_MAGIC = {
    b"\xd4\xc3\xb2\xa1": ("<", False, _RECORD_BYTES),
    b"\xa1\xb2\xc3\xd4": (">", False, _RECORD_BYTES),
    b"\x4d\x3c\xb2\xa1": ("<", True, _RECORD_BYTES),
    b"\xa1\xb2\x3c\x4d": (">", True, _RECORD_BYTES),
    b"\x34\xcd\xb2\xa1": ("<", False, _MODIFIED_RECORD_BYTES),
    b"\xa1\xb2\xcd\x34": (">", False, _MODIFIED_RECORD_BYTES),
}
MAGICS = tuple(_MAGIC)

_LINK_TYPE_BITS = 0xFFFF
_FCS_PRESENT_BIT = 1 << 26
_RESERVED_BITS = 0x0BFF_0000
_ENOUGH_RECORDS = 3
_FIRST_BYTES = 1_000_000
_ONE_YEAR_S = 366 * 86400

_Lengths = Callable[[bytes, int], tuple[int, ...]]


def read_pcap_blocks(
    stream: blocks.ByteStream, head: bytes, facts: blocks.FileFacts
) -> Iterator[blocks.PacketBlock]:
    """Yield the packets of a file by blocks; ``head`` has the bytes read already.

    An impossible record is the end: the packets before it are yielded, and the fault is among the
    notices of ``facts``.
    """
    head += stream.read(HEADER_BYTES - len(head))
    if len(head) < HEADER_BYTES:
        raise ReaderError(
            "capture-header-cut", file=stream.name, offset=len(head),
            count=len(head), total=HEADER_BYTES,
        )  # fmt: skip
    order, is_nano, record_bytes = _MAGIC[head[:4]]
    minor = _check_header(head, order, stream.name, facts, is_nano=is_nano)
    facts.format, facts.section_count = "pcap", 1

    data = stream.read(blocks.BLOCK_BYTES)
    lengths = _lengths_by_version(order, minor)
    record_bytes = _variant(data, order, lengths, record_bytes, facts)
    begin, number = HEADER_BYTES, 0
    while data:
        starts, end, fault = _scan(data, lengths, record_bytes)
        if starts.size:
            block = _block(data, starts, order, record_bytes, is_nano, minor, number)
            blank = np.flatnonzero((block.original == 0) & (block.time_ns == 0))
            if blank.size:  # zeros behind the packets: a hole in the file, no packets of no length
                fault, end = 0, int(starts[blank[0]])
                block = block.first(int(blank[0]))
            number += len(block)
            if len(block):
                yield block
        more = stream.read(blocks.BLOCK_BYTES) if fault is None else b""
        if fault is None and more:
            data = data[end:] + more
            begin += end
            continue
        left = len(data) - end
        if left:
            code = "record-header-cut" if left < record_bytes else "record-cut"
            code = code if fault is None else "record-length-impossible"
            _end_at_fault(stream, facts, number, code, begin + end, left, fault)
        return


def _check_header(
    head: bytes, order: str, name: str, facts: blocks.FileFacts, *, is_nano: bool
) -> int:
    """Check version and link type; return the minor version."""
    major, minor, _, _, snap_bytes, word = struct.unpack(order + "HHiIII", head[4:])
    if major != 2 or minor > 4:
        raise ReaderError("capture-version", file=name, offset=4, value=f"{major}.{minor}")
    if word & _RESERVED_BITS:
        raise ReaderError("link-type-reserved-bits", file=name, offset=20, value=f"0x{word:08x}")
    fcs_bytes = 2 * (word >> 28) if word & _FCS_PRESENT_BIT else 0
    resolution_s = 1e-9 if is_nano else 1e-6
    facts.interfaces.append(
        blocks.Interface(word & _LINK_TYPE_BITS, snap_bytes, fcs_bytes, resolution_s)
    )
    return int(minor)


def _lengths_by_version(order: str, minor: int) -> _Lengths:
    """Return what reads the length in the file: up to 2.2 the second one, in 2.3 the lesser."""
    if minor == 3:
        both = struct.Struct(order + "II").unpack_from
        return lambda data, at: (min(both(data, at)),)
    return struct.Struct(order + ("I" if minor > 3 else "4xI")).unpack_from


def _variant(
    data: bytes, order: str, lengths: _Lengths, record_bytes: int, facts: blocks.FileFacts
) -> int:
    """Return the length of the record headers, which some programs enlarged under the old magic."""
    if record_bytes != _RECORD_BYTES:
        return record_bytes
    beginning = data[:_FIRST_BYTES]
    plain, end, fault = _scan(beginning, lengths, record_bytes)
    array = blocks.padded(beginning)
    is_whole = fault is None and end == len(beginning)
    enough = is_whole or plain.size >= _ENOUGH_RECORDS
    if enough and (not plain.size or _plausible(array, plain[:_ENOUGH_RECORDS], order)):
        return record_bytes
    for other in (_MODIFIED_RECORD_BYTES, _NOKIA_RECORD_BYTES):
        starts, _, other_fault = _scan(beginning, lengths, other)
        if other_fault is not None or starts.size < _ENOUGH_RECORDS:
            continue
        if _plausible(array, starts, order):
            facts.notices.append(Notice("record-header-variant", {"header_bytes": other}))
            return other
    return record_bytes


def _plausible(array: blocks.Bytes, starts: blocks.Ints, order: str) -> bool:
    """Whether records have lengths that agree, fractions of a second, and times of one year."""
    records = blocks.gather(array, starts, _layout(order))
    seconds = records["seconds"].astype(np.int64)
    agree = (records["kept"] <= records["original"]) & (
        records["original"] <= blocks.MAX_PACKET_BYTES
    )
    agree &= records["fraction"] < 10**9
    return bool(agree.all() and np.ptp(seconds) < _ONE_YEAR_S)


def _layout(order: str) -> np.dtype[np.void]:
    return np.dtype([(name, order + "u4") for name in ("seconds", "fraction", "kept", "original")])


def _scan(data: bytes, lengths: _Lengths, record_bytes: int) -> tuple[blocks.Ints, int, int | None]:
    """Walk from record to record: offsets, where the walk ended, and a length that cannot be."""
    at, offsets = 0, list[int]()
    append, limit = offsets.append, len(data) - record_bytes
    while at <= limit:  # one step for each packet of a file: nothing else belongs in here
        append(at)
        at += lengths(data, at + 8)[0] + record_bytes
    if not offsets:
        return np.zeros(0, np.int64), 0, None
    starts = np.array(offsets, np.int64)
    kept = np.diff(starts, append=at) - record_bytes
    bad = np.flatnonzero(kept > blocks.MAX_PACKET_BYTES)
    if bad.size:
        first = int(bad[0])
        return starts[:first], int(starts[first]), int(kept[first])
    if at > len(data):  # the last one is not complete
        return starts[:-1], int(starts[-1]), None
    return starts, at, None


def _block(
    data: bytes,
    starts: blocks.Ints,
    order: str,
    record_bytes: int,
    is_nano: bool,
    minor: int,
    number: int,
) -> blocks.PacketBlock:
    array = blocks.padded(data)
    records = blocks.gather(array, starts, _layout(order))
    kept, original = records["kept"].astype(np.int64), records["original"].astype(np.int64)
    if minor < 3:
        kept, original = original, kept
    elif minor == 3:
        kept, original = np.minimum(kept, original), np.maximum(kept, original)
    seconds = records["seconds"].astype(np.int64)
    fraction = records["fraction"].astype(np.int64)
    time_ns = seconds * 1_000_000_000 + fraction * (1 if is_nano else 1000)
    interface = np.zeros(starts.size, np.int64)
    return blocks.PacketBlock(
        array, starts + record_bytes, kept, original, time_ns, interface, number + 1
    )


def _end_at_fault(
    stream: blocks.ByteStream, facts: blocks.FileFacts, number: int, code: str, offset: int,
    left: int, claimed: int | None,
) -> None:  # fmt: skip
    """Say where a file ends early; without a packet before, that is an error."""
    facts.partial = True
    if not number and facts.format == "pcap":
        raise ReaderError(
            "first-record-damaged", file=stream.name, offset=offset, left=left, claimed=claimed
        )
    if not number:
        raise ReaderError("first-block-damaged", file=stream.name, offset=offset, fault=code)
    values = {"number": number + 1, "offset": offset, "left": left}
    facts.notices.append(
        Notice(code, values if claimed is None else {**values, "claimed": claimed})
    )


_OS, _PROGRAM = 3, 4
_NAME, _RESOLUTION, _OFFSET = 2, 9, 14
_INTERFACE_DROPS, _SYSTEM_DROPS = 5, 7
_MOST_S = 9_000_000_000
"""Latest time that 64 bits of nanoseconds hold: the year 2255. [s]"""


@dataclass(frozen=True, slots=True)
class _Clock:
    """How the time stamps of an interface count: units in a second, and seconds to add."""

    base: int = 10
    exponent: int = 6
    offset_s: int = 0

    def to_ns(self, units: NDArray[np.uint64]) -> blocks.Ints:
        """Return time stamps as nanoseconds; those that no date can be are missing."""
        per_second = self.base**self.exponent
        if per_second > 2**63:
            return np.full(units.size, blocks.MISSING_NS, np.int64)
        seconds = (units // np.uint64(per_second)).astype(np.float64) + self.offset_s
        whole = (units // np.uint64(per_second)).astype(np.int64)
        rest = units % np.uint64(per_second)
        if self.base == 10 and self.exponent <= 9:
            fraction = rest * np.uint64(10 ** (9 - self.exponent))
        elif self.base == 10:
            fraction = rest // np.uint64(10 ** (self.exponent - 9))
        else:
            spare = max(self.exponent - 34, 0)  # so that the product fits into 64 bits
            fraction = (rest >> np.uint64(spare)) * np.uint64(10**9)
            fraction >>= np.uint64(self.exponent - spare)
        is_date = np.abs(seconds) < _MOST_S
        offset_s = self.offset_s if abs(self.offset_s) < _MOST_S else 0
        total = np.where(is_date, whole, 0) + offset_s
        return np.where(
            is_date, total * 1_000_000_000 + fraction.astype(np.int64), blocks.MISSING_NS
        )

    @property
    def resolution_s(self) -> float:
        """The unit of the time stamps. [s]"""
        return math.pow(self.base, -self.exponent)


def _options(body: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield the options in a part of a block; number -1 for one that goes beyond its end."""
    at = 0
    while at + 4 <= len(body):
        number, length = struct.unpack_from(order + "HH", body, at)
        if number == 0:
            return
        if at + 4 + length > len(body):
            yield -1, b""
            return
        yield number, body[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4


def _described(
    body: bytes, order: str, link_type: int, snap_bytes: int
) -> tuple[blocks.Interface, _Clock, bool]:
    """Return an interface and its clock, and whether its options were whole."""
    base, exponent, offset_s, name, is_whole = 10, 6, 0, "", True
    for number, value in _options(body, order):
        if number < 0:
            is_whole = False
        elif number == _RESOLUTION and len(value) == 1:
            base, exponent = (2, value[0] & 0x7F) if value[0] & 0x80 else (10, value[0])
        elif number == _OFFSET and len(value) == 8:
            (offset_s,) = struct.unpack(order + "q", value)
        elif number == _NAME:
            name = _text(value, 80)
    clock = _Clock(base, exponent, offset_s)
    return blocks.Interface(link_type, snap_bytes, 0, clock.resolution_s, name), clock, is_whole


def _dropped(body: bytes, order: str) -> int:
    """Return the packets that the capture lost, as a statistics block counts them."""
    total = 0
    for number, value in _options(body, order):
        if number in (_INTERFACE_DROPS, _SYSTEM_DROPS) and len(value) == 8:
            total += int(struct.unpack(order + "Q", value)[0])
    return total


PCAPNG_MAGIC = b"\x0a\x0d\x0d\x0a"

_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _STATISTICS, _PACKET = 0x0A0D0D0A, 1, 2, 3, 5, 6
_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_LEAST_BLOCK_BYTES = 12
_MOST_BLOCK_BYTES = 16 << 20
_MOST_INTERFACES = 100_000


@dataclass(slots=True)
class _Section:
    """The section that is being read: byte order, and its interfaces among all of the file."""

    order: str = "<"
    first_interface: int = 0
    clocks: list[_Clock] = field(default_factory=list)
    snaps: list[int] = field(default_factory=list)


class _FaultError(Exception):
    """An impossible block: its offset within the bytes at hand, and the fault."""

    def __init__(self, code: str, at: int, claimed: int = 0) -> None:
        super().__init__(code)
        self.code, self.at, self.claimed = code, at, claimed


def read_pcapng_blocks(
    stream: blocks.ByteStream, head: bytes, facts: blocks.FileFacts
) -> Iterator[blocks.PacketBlock]:
    """Yield the packets of a file by blocks; ``head`` has the bytes read already."""
    facts.format = "pcapng"
    data = head + stream.read(blocks.BLOCK_BYTES)
    section, begin, number = _Section(), 0, 0
    while data:
        parts: list[blocks.PacketBlock] = []
        fault = None
        try:
            at = _walk(data, section, facts, parts, number)
        except _FaultError as error:
            at, fault = error.at, error
        for block in parts:
            number += len(block)
            yield block
        more = stream.read(blocks.BLOCK_BYTES) if fault is None else b""
        if more:
            data, begin = data[at:] + more, begin + at
            continue
        if fault is not None or at < len(data):
            code, claimed = (fault.code, fault.claimed) if fault else ("block-cut", None)
            _end_at_fault(stream, facts, number, code, begin + at, len(data) - at, claimed)
        return


def _walk(
    data: bytes,
    section: _Section,
    facts: blocks.FileFacts,
    parts: list[blocks.PacketBlock],
    number: int,
) -> int:
    """Walk over the whole blocks in ``data``; add their packets to ``parts``, return the end."""
    at, array = 0, blocks.padded(data)
    starts: list[int] = []  # of packet blocks of one section
    kinds: list[int] = []
    words = struct.Struct(section.order + "II").unpack_from

    def flush() -> None:
        if starts:
            before = number + sum(map(len, parts))
            block, fault = _packets(array, starts, kinds, section, before)
            starts.clear()
            kinds.clear()
            if block is not None:
                parts.append(block)
            if fault is not None:
                raise fault

    try:
        while at + _LEAST_BLOCK_BYTES <= len(data):
            kind, length = words(data, at)
            if kind == _SECTION:
                order = _ORDERS.get(data[at + 8 : at + 12])
                if order is None:
                    raise _FaultError("section-byte-order-unknown", at)
                (length,) = struct.unpack_from(order + "I", data, at + 4)
            if length < _LEAST_BLOCK_BYTES or length % 4 or length > _MOST_BLOCK_BYTES:
                raise _FaultError("block-length-impossible", at, length)
            if at + length > len(data):
                break
            if kind == _PACKET or kind in (_OLD_PACKET, _SIMPLE_PACKET):
                starts.append(at)
                kinds.append(kind)
            elif kind == _SECTION:
                flush()
                section.order = order or "<"
                _begin_section(data, at, length, section, facts)
                words = struct.Struct(section.order + "II").unpack_from
            elif kind == _INTERFACE:
                _add_interface(data, at, length, section, facts)
            elif kind == _STATISTICS and length >= 24:
                body = data[at + 20 : at + length - 4]
                facts.capture_drop_count += _dropped(body, section.order)
            at += length
    finally:  # what was before a fault is kept
        flush()
    return at


def _begin_section(
    data: bytes, at: int, length: int, section: _Section, facts: blocks.FileFacts
) -> None:
    if length < 28:
        raise _FaultError("block-length-impossible", at, length)
    major, _ = struct.unpack_from(section.order + "HH", data, at + 12)
    if major != 1:
        raise _FaultError("section-version", at, major)
    section.first_interface = len(facts.interfaces)
    section.clocks, section.snaps = [], []
    facts.section_count += 1
    said = dict(_options(data[at + 24 : at + length - 4], section.order))
    facts.host = facts.host or _text(said.get(_OS, b""), 200)
    facts.writer = facts.writer or _text(said.get(_PROGRAM, b""), 200)


def _text(value: bytes, limit: int) -> str:
    return shorten(value.decode("utf-8", "replace"), limit)


def _add_interface(
    data: bytes, at: int, length: int, section: _Section, facts: blocks.FileFacts
) -> None:
    if not facts.section_count:
        raise _FaultError("block-before-section", at)
    if length < 20:
        raise _FaultError("block-length-impossible", at, length)
    if len(facts.interfaces) >= _MOST_INTERFACES:
        raise _FaultError("too-many-interfaces", at, _MOST_INTERFACES)
    link_type, _, snap_bytes = struct.unpack_from(section.order + "HHI", data, at + 8)
    body = data[at + 16 : at + length - 4]
    interface, clock, is_whole = _described(body, section.order, link_type, snap_bytes)
    if not is_whole:
        facts.notices.append(Notice("options-beyond-block", {"offset": at}))
    facts.interfaces.append(interface)
    section.clocks.append(clock)
    section.snaps.append(snap_bytes)


def _packets(
    array: blocks.Bytes, at: list[int], kinds_at: list[int], section: _Section, before: int
) -> tuple[blocks.PacketBlock | None, _FaultError | None]:
    """Return the packet blocks of one section as arrays, up to the first that cannot be."""
    order = section.order
    u4 = order + "u4"
    starts, kinds = np.array(at, np.int64), np.array(kinds_at, np.int64)
    layout = np.dtype([(name, u4) for name in ("kind", "length", "a", "high", "low", "kept", "b")])
    headers = blocks.gather(array, starts, layout)
    lengths = headers["length"].astype(np.int64)
    own = headers["a"].astype(np.int64)
    kept, original = headers["kept"].astype(np.int64), headers["b"].astype(np.int64)
    units = (headers["high"].astype(np.uint64) << np.uint64(32)) | headers["low"].astype(np.uint64)
    header = np.full(starts.size, 28, np.int64)
    is_simple = kinds == _SIMPLE_PACKET
    if is_simple.any():
        snap = (section.snaps[0] if section.snaps else 0) or blocks.MAX_PACKET_BYTES
        original = np.where(is_simple, own, original)
        kept = np.where(is_simple, np.minimum(own, np.minimum(lengths - 16, snap)), kept)
        header[is_simple] = 12
        own = np.where(is_simple, 0, own)
    is_old = kinds == _OLD_PACKET
    if is_old.any():  # two 16-bit numbers where the later block has one of 32
        own = np.where(is_old, own & 0xFFFF if order == "<" else own >> 16, own)
    is_unknown = own >= len(section.clocks)
    bad = (kept > lengths - header - 4) | is_unknown | (kept < 0)
    good = int(np.argmax(bad)) if bad.any() else starts.size
    fault = None
    if good < starts.size:
        code = "no-such-interface" if is_unknown[good] else "packet-beyond-block"
        claimed = int(own[good] if is_unknown[good] else kept[good])
        fault = _FaultError(code, int(starts[good]), claimed)
    if not good:
        return None, fault
    time_ns = np.full(good, blocks.MISSING_NS, np.int64)
    for index in np.unique(own[:good]).tolist():
        rows = (own[:good] == index) & ~is_simple[:good]
        time_ns[rows] = section.clocks[index].to_ns(units[:good][rows])
    interface = own[:good] + section.first_interface
    block = blocks.PacketBlock(
        array, (starts + header)[:good], kept[:good], original[:good], time_ns, interface,
        before + 1,
    )  # fmt: skip
    return block, fault
