"""Compressed inputs: gzip, bzip2, xz and zstd, uncompressed up to a limit.

zstd is in the standard library from Python 3.14 on; before, the package backports.zstd reads it.
"""

from __future__ import annotations

import bz2
import importlib
import lzma
import zlib
from dataclasses import replace
from typing import Any

from netcalc.errors import ReaderError
from netcalc.readers import source as _source
from netcalc.readers.source import Source, inflate

_GZIP, _BZIP2, _XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"


def unpack(source: Source) -> Source:
    """Return a source uncompressed; as it is if it is not compressed. The hash stays.

    Raises
    ------
    ReaderError
        If the data are damaged, cut, or larger than the limit of an input.
    """
    if source.data.startswith(_GZIP):
        return inflate(source)
    if source.data.startswith(MAGIC):
        return replace(source, data=frames(source, _source.MAX_BYTES))
    worker = _worker(source.data)
    if worker is None:
        return source
    limit = _source.MAX_BYTES
    try:
        data: bytes = worker.decompress(source.data, limit + 1)
    except (OSError, ValueError, EOFError, lzma.LZMAError):
        raise ReaderError("damaged-packing", file=source.name) from None
    if len(data) > limit:
        raise ReaderError("too-large-uncompressed", file=source.name, limit_bytes=limit)
    if not worker.eof:
        raise ReaderError("packing-cut-short", file=source.name, offset=len(source.data))
    return replace(source, data=data)


def unpack_head(head: bytes, limit: int) -> bytes:
    """Uncompress the beginning of an input, as far as it goes; at most ``limit`` bytes."""
    if head.startswith(MAGIC):
        return beginning(head, limit)
    worker = zlib.decompressobj(wbits=31) if head.startswith(_GZIP) else _worker(head)
    if worker is None:
        return head
    try:
        unpacked: bytes = worker.decompress(head, limit)
    except (OSError, ValueError, EOFError, zlib.error, lzma.LZMAError):
        return head
    return unpacked


def _worker(data: bytes) -> Any:
    if data.startswith(_BZIP2) and data[3:4].isdigit():
        return bz2.BZ2Decompressor()
    if data.startswith(_XZ):
        return lzma.LZMADecompressor(memlimit=128 * 1024 * 1024)
    return None


MAGIC = b"\x28\xb5\x2f\xfd"
"""The first bytes of a frame."""

_MODULES = ("compression.zstd", "backports.zstd")
_STEP_BYTES = 1 << 20


class Decompressor:
    """One frame, as the decompressors of the standard library: what is damaged is a ValueError.

    Parameters
    ----------
    name : str
        Name of the file, for an error.

    Raises
    ------
    ReaderError
        If neither Python nor a package can read zstd.
    """

    def __init__(self, name: str) -> None:
        module = _module()
        if module is None:
            raise ReaderError("zstd-not-at-hand", file=name)
        self._worker: Any = module.ZstdDecompressor()
        self._error: type[Exception] = module.ZstdError

    @property
    def eof(self) -> bool:
        """Whether the frame is at its end."""
        return bool(self._worker.eof)

    @property
    def needs_input(self) -> bool:
        """Whether all that was given is used up."""
        return bool(self._worker.needs_input)

    @property
    def unused_data(self) -> bytes:
        """What is behind the frame."""
        return bytes(self._worker.unused_data)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most ``max_length`` bytes more."""
        try:
            return bytes(self._worker.decompress(data, max_length))
        except self._error as error:
            raise ValueError(str(error)) from None


def frames(source: Source, limit: int) -> bytes:
    """Return the frames of a source uncompressed, up to a limit.

    Raises
    ------
    ReaderError
        If they are damaged, cut, or larger than the limit.
    """
    parts: list[bytes] = []
    size = 0
    rest = source.data
    while rest.startswith(MAGIC):
        frame = Decompressor(source.name)
        while not frame.eof:
            try:
                parts.append(frame.decompress(rest, _STEP_BYTES))
            except ValueError:
                raise ReaderError("damaged-packing", file=source.name) from None
            rest = b""
            size += len(parts[-1])
            if size > limit:
                raise ReaderError("too-large-uncompressed", file=source.name, limit_bytes=limit)
            if frame.needs_input and not frame.eof:
                raise ReaderError("packing-cut-short", file=source.name, offset=len(source.data))
        rest = frame.unused_data
    if rest.strip(b"\0"):
        raise ReaderError("damaged-packing", file=source.name)
    return b"".join(parts)


def beginning(head: bytes, limit: int) -> bytes:
    """Return the beginning of the first frame uncompressed; as it is if that cannot be done."""
    try:
        return Decompressor("").decompress(head, limit)
    except (ReaderError, ValueError):
        return head


def _module() -> Any:
    for name in _MODULES:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None
