"""Captures: pcap and pcapng to columns of header fields, and those to flows.

:func:`read_capture` returns all packets of a file, :func:`stream_capture` those of one part after
the other, so that the length of a file does not matter. No packet becomes an object; payloads are
not kept.
"""

from __future__ import annotations

from netcalc.readers.captures.capture import (
    MAX_PACKETS,
    CaptureStream,
    is_capture,
    read_capture,
    stream_capture,
)

__all__ = ["MAX_PACKETS", "CaptureStream", "is_capture", "read_capture", "stream_capture"]
