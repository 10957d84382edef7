"""The bytes of a capture, read forward by blocks, and a block of packets while it is decoded.

Bytes are inflated, bounded and hashed, and never held all at once.

Every packet has a ``kind``, which says what its next header is, an offset ``at`` where that begins,
and ``left``, the bytes that the headers before it leave for it. A decoder takes all the packets of
one kind at once and updates these three.
"""

from __future__ import annotations

import bz2
import hashlib
import io
import lzma
import os
import stat
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.source import ZSTD_MAGIC, Decompressor, Readable, Source, shorten
from netcalc.samples import Layer

BLOCK_BYTES = 2 << 20
"""Bytes that are read, inflated and decoded at once. [byte]"""

FREE_INFLATED_BYTES = 64 << 20
"""Compressed data may become as large as this without a question. [byte]"""

MOST_INFLATED_RATIO = 200
"""Beyond that, inflated data may be this many times the data read: headers shrink about 80-fold."""

_GZIP, _BZIP2, _XZ = b"\x1f\x8b", b"BZh", b"\xfd7zX"
_XZ_MEMORY_BYTES = 128 * 1024 * 1024
_STEP_BYTES = 1 << 18


class ByteStream:
    """A source of bytes with a name: ``read`` returns as much as asked for, less only at the end.

    Compressed data is inflated on the way. ``sha256`` is that of the source as it is stored, and
    complete once the end was read.
    """

    def __init__(self, source: Readable | Source, *, name: str | None = None) -> None:
        self.name, self._raw = _open(source, name)
        self._hash = hashlib.sha256()
        self.raw_bytes = 0
        self.is_cut = False
        """Whether compressed data ended too early."""
        self._pending = b""
        self._inflated_bytes = 0
        try:
            self._head = self._raw_read(4)
            self._inflate = _decompressor(self._head, self.name)
        except ReaderError:
            self._raw.close()
            raise

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes read from the source."""
        return self._hash.hexdigest()

    def read(self, size: int) -> bytes:
        """Return the next bytes, fewer than ``size`` only at the end."""
        if self._inflate is None:
            head, self._head = self._head[:size], self._head[size:]
            return head + self._raw_read(size - len(head))
        parts = [self._pending]
        have = len(self._pending)
        while have < size:
            part = self._next_inflated()
            if part is None:
                break
            parts.append(part)
            have += len(part)
        data = b"".join(parts)
        self._pending = data[size:]
        return data[:size]

    def _next_inflated(self) -> bytes | None:
        """Inflate the next piece of compressed data; None at the end."""
        if self.is_cut:
            return None
        if self._inflate.eof:
            rest = self._inflate.unused_data or self._raw_read(_STEP_BYTES)
            again = _decompressor(rest[:4], self.name)
            if again is None:  # padding, or a signature behind the data
                while self._raw_read(_STEP_BYTES):
                    pass
                return None
            self._inflate = again
            self._head = rest
        held = getattr(self._inflate, "unconsumed_tail", b"")
        waits = not getattr(self._inflate, "needs_input", True)  # zstd holds the rest itself
        piece = b"" if waits else held or self._head or self._raw_read(_STEP_BYTES)
        if not held and not waits:
            self._head = b""
        if not piece and not waits:
            self.is_cut = True
            return None
        try:
            part = bytes(self._inflate.decompress(piece, _STEP_BYTES * 8))
        except (zlib.error, lzma.LZMAError, ValueError, OSError, EOFError):
            raise ReaderError(
                "damaged-compression", file=self.name, offset=self.raw_bytes
            ) from None
        self._inflated_bytes += len(part)
        limit = max(FREE_INFLATED_BYTES, MOST_INFLATED_RATIO * self.raw_bytes)
        if self._inflated_bytes > limit:
            raise ReaderError("too-large-uncompressed", file=self.name, limit_bytes=limit)
        return part

    def _raw_read(self, size: int) -> bytes:
        try:
            data = self._raw.read(size)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ReaderError("unreadable-file", file=self.name, reason=reason) from None
        if not isinstance(data, bytes):
            raise ReaderError("text-for-a-capture", file=self.name)
        self._hash.update(data)
        self.raw_bytes += len(data)
        return data


def _decompressor(head: bytes, name: str) -> Any:
    """Return what inflates data that begins like this; None if it is not compressed."""
    if head[:2] == _GZIP:
        return zlib.decompressobj(wbits=31)
    if head[:3] == _BZIP2:
        return bz2.BZ2Decompressor()
    if head == _XZ:
        return lzma.LZMADecompressor(memlimit=_XZ_MEMORY_BYTES)
    return Decompressor(name) if head == ZSTD_MAGIC else None


def _open(source: Readable | Source, name: str | None) -> tuple[str, Any]:
    """Open a path, bytes or a binary file object."""
    if isinstance(source, Source):
        return source.name, io.BytesIO(source.data)
    if isinstance(source, bytes | bytearray | memoryview):
        return name or "<bytes>", io.BytesIO(bytes(source))
    if isinstance(source, str | os.PathLike):
        return _opened_path(Path(source), name)
    own = getattr(source, "name", None)
    label = name or (Path(own).name if isinstance(own, str) else "<stream>")
    return shorten(label, 200), _Borrowed(source)


def _opened_path(path: Path, name: str | None) -> tuple[str, IO[bytes]]:
    shown = shorten(str(path), 200)
    try:
        # Not blocking: a FIFO without a writer would never open otherwise.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(path, flags)
    except FileNotFoundError:
        raise ReaderError("no-such-file", file=shown) from None
    except PermissionError:
        raise ReaderError("no-permission", file=shown) from None
    except ValueError:
        raise ReaderError("invalid-file-name", file=shown) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ReaderError("unreadable-file", file=shown, reason=reason) from None
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        code = "is-directory" if stat.S_ISDIR(mode) else "not-regular-file"
        raise ReaderError(code, file=shown)
    return shorten(name or path.name, 200), os.fdopen(handle, "rb", buffering=0)


class _Borrowed(io.RawIOBase):
    """A file object of the caller: read to the length asked for, and left open."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> Any:
        return self._stream.read(size)


Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

MISSING_NS = int(np.iinfo(np.int64).min)
"""Time of a packet whose block has none."""

MAX_PACKET_BYTES = 262_144
"""Most bytes that a packet may have in a file; no capture program writes more. [byte]"""

PAD_BYTES = 128
"""Zeros behind the bytes of a block: a header can be gathered at its very end. [byte]"""


@dataclass(frozen=True, slots=True)
class Interface:
    """What a file says of one interface: link type, snap length (0: none), clock, name."""

    link_type: int
    snap_bytes: int = 0
    fcs_bytes: int = 0
    resolution_s: float = 1e-6
    name: str = ""


@dataclass(slots=True)
class FileFacts:
    """What is known of a capture file when it has been read to its end or its fault."""

    format: str = ""
    writer: str = ""
    host: str = ""
    interfaces: list[Interface] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    partial: bool = False
    capture_drop_count: int = 0
    section_count: int = 0


@dataclass(frozen=True, slots=True)
class PacketBlock:
    """Packets of a part of a file.

    ``data`` holds the bytes, with zeros behind; packet i has ``kept[i]`` of them from ``at[i]`` on,
    and had ``original[i]`` on the link.
    """

    data: Bytes
    at: Ints
    kept: Ints
    original: Ints
    time_ns: Ints
    interface: Ints
    first_number: int

    def __len__(self) -> int:
        return int(self.at.size)

    def first(self, count: int) -> PacketBlock:
        """Return the first packets of the block."""
        columns = (self.at, self.kept, self.original, self.time_ns, self.interface)
        at, kept, original, time_ns, interface = (column[:count] for column in columns)
        return PacketBlock(self.data, at, kept, original, time_ns, interface, self.first_number)


def padded(data: bytes) -> Bytes:
    """Return bytes as an array with zeros behind."""
    array = np.zeros(len(data) + PAD_BYTES, np.uint8)
    array[: len(data)] = np.frombuffer(data, np.uint8)
    return array


def gather(data: Bytes, at: Ints, layout: np.dtype[np.void]) -> NDArray[np.void]:
    """Return one header for each offset: all fields of all packets in one copy.

    The bytes are seen as overlapping records, one beginning at every byte, of which those at the
    offsets are taken. Offsets behind the last record give that one: a caller checks the length.
    """
    size = layout.itemsize
    records = np.ndarray((data.size - size + 1,), f"V{size}", data, strides=(1,))
    taken: NDArray[np.void] = records[np.minimum(at, data.size - size)].view(layout)
    return taken


def u16(data: Bytes, at: Ints) -> Ints:
    """Return the big-endian 16-bit numbers at offsets."""
    at = np.minimum(at, data.size - 2)
    return (data[at].astype(np.int64) << 8) | data[at + 1]


def u32(data: Bytes, at: Ints) -> Ints:
    """Return the big-endian 32-bit numbers at offsets."""
    return (u16(data, at) << 16) | u16(data, at + 2)


def u8(data: Bytes, at: Ints) -> Ints:
    """Return the bytes at offsets."""
    return data[np.minimum(at, data.size - 1)].astype(np.int64)


DONE = -1
LINK, PROTOCOL, PPP = 0x1_0000, 0x2_0000, 0x3_0000
"""Added to the number of a link type, an IP protocol, a PPP protocol; an EtherType is itself."""

IPV4, IPV6 = 0x0800, 0x86DD
ETHERNET = LINK + 1


_TRANSPORTS = Layer.TCP | Layer.UDP | Layer.ICMP | Layer.TIMESTAMPS | Layer.WINDOW_SCALE


@dataclass(slots=True)
class Layers:
    """The packets of a block while their headers are read, one layer after the other."""

    data: Bytes
    at: Ints
    end: Ints
    left: Ints
    kind: Ints
    layers: NDArray[np.uint32]
    columns: dict[str, NDArray[Any]]
    parts: list[tuple[Ints, Ints]] = field(default_factory=list)
    """Fragments: their rows, and their offsets in units of 8 bytes."""

    @classmethod
    def of(cls, block: PacketBlock, link_types: Ints, types: dict[str, type]) -> Layers:
        """Begin with the link layer of each packet."""
        count = len(block)
        return cls(
            block.data,
            block.at.copy(),
            block.at + block.kept,
            np.maximum(block.original, block.kept),
            LINK + link_types,
            np.zeros(count, np.uint32),
            {name: np.zeros(count, kind) for name, kind in types.items()},
        )

    def mark(self, rows: Ints, layer: int) -> None:
        """Note a layer that packets have."""
        self.layers[rows] |= np.uint32(layer)

    def begin_packet(self, rows: Ints, layer: int) -> None:
        """Note an IP header; one inside another packet replaces that packet's transport."""
        within = rows[self.layers[rows] & np.uint32(Layer.IPV4 | Layer.IPV6) != 0]
        if within.size:
            self.layers[within] &= np.uint32(~_TRANSPORTS & 0xFFFF_FFFF)
            self.mark(within, Layer.TUNNEL)
        self.mark(rows, layer)

    def header(self, rows: Ints, layout: np.dtype[np.void]) -> tuple[Ints, NDArray[np.void]]:
        """Return the packets that hold a whole header of this layout, and the headers.

        The others are done: the snap length cut them, or their lengths do not agree.
        """
        rows = self.with_bytes(rows, layout.itemsize)
        return rows, gather(self.data, self.at[rows], layout)

    def with_bytes(self, rows: Ints, needed: Ints | int) -> Ints:
        """Return the packets that hold this many bytes more; mark the others, cut or malformed."""
        is_cut = self.at[rows] + needed > self.end[rows]
        is_short = self.left[rows] < needed
        bad = is_cut | is_short
        if not bad.any():
            return rows
        is_part = self.layers[rows] & np.uint32(Layer.FRAGMENT) != 0  # the rest is in another
        self.mark(rows[is_short & ~is_part], Layer.MALFORMED)
        self.mark(rows[is_cut & ~is_short], Layer.CUT)
        self.kind[rows[bad]] = DONE
        return rows[~bad]

    def advance(self, rows: Ints, size: Ints | int, kind: Ints | int) -> None:
        """Go behind a header of this size, to the kind of header that follows."""
        self.at[rows] += size
        self.left[rows] -= size
        self.kind[rows] = kind

    def put(self, rows: Ints, **values: Any) -> None:
        """Store columns of these packets."""
        for name, column in values.items():
            self.columns[name][rows] = column
