"""The bytes of a capture, read forward by blocks: inflated, bounded, hashed, never all at once."""

from __future__ import annotations

import bz2
import hashlib
import io
import lzma
import os
import stat
import zlib
from pathlib import Path
from typing import IO, Any

from netcalc.errors import ReaderError
from netcalc.readers.source import ZSTD_MAGIC, Decompressor, Readable, Source, shorten

BLOCK_BYTES = 8 << 20
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
                self._drain()
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

    def _drain(self) -> None:
        while self._raw_read(_STEP_BYTES):
            pass

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
