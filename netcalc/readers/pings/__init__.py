"""Round trips measured by other tools than ping."""

from __future__ import annotations

from netcalc.readers.format import Format
from netcalc.readers.pings import fping, irtt_json, ripe_atlas, sockperf

FORMATS: tuple[Format, ...] = (
    irtt_json.FORMAT,
    ripe_atlas.FORMAT,
    sockperf.FORMAT,
    fping.FORMAT,
)
"""The formats of this folder, in the order in which they are tried."""
