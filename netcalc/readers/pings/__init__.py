"""Round trips measured by other tools than ping."""

from __future__ import annotations

from netcalc.readers.format import Format
from netcalc.readers.pings import (
    arping,
    connections,
    fping,
    hping,
    irtt,
    nping,
    oping,
    owamp,
    ping_json,
    ripe_atlas,
    routers,
    sockperf,
    windows,
)

FORMATS: tuple[Format, ...] = (
    irtt.JSON,
    irtt.FORMAT,
    ripe_atlas.FORMAT,
    ping_json.FORMAT,
    fping.JSON,
    sockperf.FORMAT,
    fping.FORMAT,
    hping.FORMAT,
    nping.FORMAT,
    arping.FORMAT,
    connections.HTTPING,
    oping.FORMAT,
    routers.CISCO,
    routers.HUAWEI,
    routers.MIKROTIK,
    routers.NOKIA,
    windows.HRPING,
    connections.TCPING,
    windows.TEST_CONNECTION,
    owamp.OWPING,
    owamp.TWPING,
)
"""The formats of this folder, in the order in which they are tried."""
