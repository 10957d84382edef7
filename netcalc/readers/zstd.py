"""zstd: of the standard library from Python 3.14 on, of the package backports.zstd before."""

from __future__ import annotations

import importlib
from typing import Any

from netcalc.errors import ReaderError
from netcalc.readers.source import Source

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
