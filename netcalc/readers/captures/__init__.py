"""Captures: pcap and pcapng to columns of header fields, and those to flows.

:func:`read_capture` returns all packets of a file, :func:`stream_capture` those of one part after
the other, so that the length of a file does not matter. No packet becomes an object; payloads are
not kept.
"""

from __future__ import annotations

from netcalc.readers.captures import capture, lists
from netcalc.readers.captures.anonymous import anonymized as anonymized
from netcalc.readers.captures.anonymous import anonymized_error as anonymized_error
from netcalc.readers.captures.anonymous import anonymized_samples as anonymized_samples
from netcalc.readers.captures.capture import MAX_PACKETS as MAX_PACKETS
from netcalc.readers.captures.capture import CaptureStream as CaptureStream
from netcalc.readers.captures.capture import is_capture as is_capture
from netcalc.readers.captures.capture import read_capture as read_capture
from netcalc.readers.captures.capture import stream_capture as stream_capture
from netcalc.readers.format import Format

FORMATS: tuple[Format, ...] = (*capture.FORMATS, *lists.FORMATS)
"""The formats of this folder, in the order in which they are tried."""
