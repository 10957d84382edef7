"""Captures in which no time passes: there is nothing to share, and no traceback."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

from netcalc.explain import measurement
from netcalc.readers import read

RECORDED = Path(__file__).parent / "captures"


def test_a_capture_whose_times_are_all_equal_has_no_cause(tmp_path):
    """Every time stamp of a recorded capture is set to that of its first packet."""
    data = bytearray(gzip.decompress(min(RECORDED.glob("*.pcap.gz")).read_bytes()))
    first, at = data[24:32], 24
    while at < len(data):
        (kept,) = struct.unpack_from("<I", data, at + 8)
        data[at : at + 8] = first
        at += 16 + kept
    file = tmp_path / "still.pcap"
    file.write_bytes(data)
    causes = {finding.as_dict()["cause"] for finding in measurement(read(file))}
    assert causes == {"unknown"}
