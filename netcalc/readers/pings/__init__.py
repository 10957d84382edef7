"""Round trips measured by other tools than ping."""

from __future__ import annotations

from netcalc.readers.format import Format
from netcalc.readers.pings import (
    arping,
    cisco_ping,
    fping,
    hping,
    httping,
    irtt_json,
    nping,
    oping,
    ripe_atlas,
    sockperf,
)

FORMATS: tuple[Format, ...] = (
    irtt_json.FORMAT,
    ripe_atlas.FORMAT,
    sockperf.FORMAT,
    fping.FORMAT,
    hping.FORMAT,
    nping.FORMAT,
    arping.FORMAT,
    httping.FORMAT,
    oping.FORMAT,
    cisco_ping.FORMAT,
)
"""The formats of this folder, in the order in which they are tried."""
