"""Files of libpcap: a header of 24 bytes, then records of a time, two lengths and the bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import numpy as np

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.captures.blocks import (
    MAX_PACKET_BYTES,
    Bytes,
    FileFacts,
    Interface,
    Ints,
    PacketBlock,
    gather,
    padded,
)
from netcalc.readers.captures.stream import BLOCK_BYTES, ByteStream

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


def read_blocks(stream: ByteStream, head: bytes, facts: FileFacts) -> Iterator[PacketBlock]:
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

    data = stream.read(BLOCK_BYTES)
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
        more = stream.read(BLOCK_BYTES) if fault is None else b""
        if fault is None and more:
            data = data[end:] + more
            begin += end
            continue
        left = len(data) - end
        if left:
            _end_at_fault(stream, facts, number, begin + end, fault, left, record_bytes)
        return


def _check_header(head: bytes, order: str, name: str, facts: FileFacts, *, is_nano: bool) -> int:
    """Check version and link type; return the minor version."""
    major, minor, _, _, snap_bytes, word = struct.unpack(order + "HHiIII", head[4:])
    if major != 2 or minor > 4:
        raise ReaderError("capture-version", file=name, offset=4, value=f"{major}.{minor}")
    if word & _RESERVED_BITS:
        raise ReaderError("link-type-reserved-bits", file=name, offset=20, value=f"0x{word:08x}")
    fcs_bytes = 2 * (word >> 28) if word & _FCS_PRESENT_BIT else 0
    resolution_s = 1e-9 if is_nano else 1e-6
    facts.interfaces.append(Interface(word & _LINK_TYPE_BITS, snap_bytes, fcs_bytes, resolution_s))
    return int(minor)


def _lengths_by_version(order: str, minor: int) -> _Lengths:
    """Return what reads the length in the file: up to 2.2 the second one, in 2.3 the lesser."""
    if minor == 3:
        both = struct.Struct(order + "II").unpack_from
        return lambda data, at: (min(both(data, at)),)
    return struct.Struct(order + ("I" if minor > 3 else "4xI")).unpack_from


def _variant(
    data: bytes, order: str, lengths: _Lengths, record_bytes: int, facts: FileFacts
) -> int:
    """Return the length of the record headers, which some programs enlarged under the old magic."""
    if record_bytes != _RECORD_BYTES:
        return record_bytes
    beginning = data[:_FIRST_BYTES]
    plain, end, fault = _scan(beginning, lengths, record_bytes)
    array = padded(beginning)
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


def _plausible(array: Bytes, starts: Ints, order: str) -> bool:
    """Whether records have lengths that agree, fractions of a second, and times of one year."""
    records = gather(array, starts, _layout(order))
    seconds = records["seconds"].astype(np.int64)
    agree = (records["kept"] <= records["original"]) & (records["original"] <= MAX_PACKET_BYTES)
    agree &= records["fraction"] < 10**9
    return bool(agree.all() and np.ptp(seconds) < _ONE_YEAR_S)


def _layout(order: str) -> np.dtype[np.void]:
    return np.dtype([(name, order + "u4") for name in ("seconds", "fraction", "kept", "original")])


def _scan(data: bytes, lengths: _Lengths, record_bytes: int) -> tuple[Ints, int, int | None]:
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
    bad = np.flatnonzero(kept > MAX_PACKET_BYTES)
    if bad.size:
        first = int(bad[0])
        return starts[:first], int(starts[first]), int(kept[first])
    if at > len(data):  # the last one is not complete
        return starts[:-1], int(starts[-1]), None
    return starts, at, None


def _block(
    data: bytes, starts: Ints, order: str, record_bytes: int, is_nano: bool, minor: int, number: int
) -> PacketBlock:
    array = padded(data)
    records = gather(array, starts, _layout(order))
    kept, original = records["kept"].astype(np.int64), records["original"].astype(np.int64)
    if minor < 3:
        kept, original = original, kept
    elif minor == 3:
        kept, original = np.minimum(kept, original), np.maximum(kept, original)
    seconds = records["seconds"].astype(np.int64)
    fraction = records["fraction"].astype(np.int64)
    time_ns = seconds * 1_000_000_000 + fraction * (1 if is_nano else 1000)
    return PacketBlock(
        array,
        starts + record_bytes,
        kept,
        original,
        time_ns,
        np.zeros(starts.size, np.int64),
        number + 1,
    )


def _end_at_fault(
    stream: ByteStream,
    facts: FileFacts,
    number: int,
    offset: int,
    length: int | None,
    left: int,
    record_bytes: int,
) -> None:
    """Say where the file ends early; without a packet before, that is an error."""
    facts.partial = True
    if length is None and left < record_bytes:
        code, values = "record-header-cut", {"number": number + 1, "offset": offset, "left": left}
    elif length is None:
        code, values = "record-cut", {"number": number + 1, "offset": offset, "left": left}
    else:
        code = "record-length-impossible"
        values = {"number": number + 1, "offset": offset, "claimed": length, "left": left}
    if not number:
        raise ReaderError("first-record-damaged", file=stream.name, offset=offset, left=left,
                          claimed=length)  # fmt: skip
    facts.notices.append(Notice(code, values))
