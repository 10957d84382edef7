"""Compressed inputs: gzip, bzip2, xz and zstd, uncompressed up to a limit."""

from __future__ import annotations

import bz2
import lzma
import zlib
from dataclasses import replace
from typing import Any

from netcalc.errors import ReaderError
from netcalc.readers import source as _source
from netcalc.readers import zstd
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
    if source.data.startswith(zstd.MAGIC):
        return replace(source, data=zstd.frames(source, _source.MAX_BYTES))
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
    if head.startswith(zstd.MAGIC):
        return zstd.beginning(head, limit)
    worker = zlib.decompressobj(wbits=31) if head.startswith(_GZIP) else _worker(head)
    if worker is None:
        return head
    try:
        found: bytes = worker.decompress(head, limit)
    except (OSError, ValueError, EOFError, zlib.error, lzma.LZMAError):
        return head
    return found


def _worker(data: bytes) -> Any:
    if data.startswith(_BZIP2) and data[3:4].isdigit():
        return bz2.BZ2Decompressor()
    if data.startswith(_XZ):
        return lzma.LZMADecompressor(memlimit=128 * 1024 * 1024)
    return None
