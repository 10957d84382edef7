"""Captures: pcap and pcapng to columns of header fields, and those to flows.

:func:`read_capture` returns all packets of a file, :func:`stream_capture` those of one part after
the other, so that the length of a file does not matter. No packet becomes an object; payloads are
not kept.
"""

from __future__ import annotations

from netcalc.readers.captures import capture_files, lists
from netcalc.readers.captures.anonymous import anonymized, anonymized_error, anonymized_samples
from netcalc.readers.captures.capture import (
    MAX_PACKETS,
    CaptureStream,
    is_capture,
    read_capture,
    stream_capture,
)
from netcalc.readers.format import Format

__all__ = [
    "FORMATS", "MAX_PACKETS", "CaptureStream", "anonymized", "anonymized_error",
    "anonymized_samples", "is_capture", "read_capture", "stream_capture",
]  # fmt: skip

FORMATS: tuple[Format, ...] = (*capture_files.FORMATS, *lists.FORMATS)
"""The formats of this folder, in the order in which they are tried."""
