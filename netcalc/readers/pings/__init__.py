"""Round trips measured by other tools than ping."""

from __future__ import annotations

from netcalc.readers.format import Format
from netcalc.readers.pings import (
    arping,
    cisco_ping,
    fping,
    fping_json,
    hping,
    hrping,
    httping,
    huawei_ping,
    irtt_json,
    irtt_text,
    mikrotik_ping,
    nping,
    oping,
    owping,
    ping_json,
    ripe_atlas,
    router_ping,
    sockperf,
    tcping,
    test_connection,
    twping,
)

FORMATS: tuple[Format, ...] = (
    irtt_json.FORMAT,
    irtt_text.FORMAT,
    ripe_atlas.FORMAT,
    ping_json.FORMAT,
    fping_json.FORMAT,
    sockperf.FORMAT,
    fping.FORMAT,
    hping.FORMAT,
    nping.FORMAT,
    arping.FORMAT,
    httping.FORMAT,
    oping.FORMAT,
    cisco_ping.FORMAT,
    huawei_ping.FORMAT,
    mikrotik_ping.FORMAT,
    router_ping.FORMAT,
    hrping.FORMAT,
    tcping.FORMAT,
    test_connection.FORMAT,
    owping.FORMAT,
    twping.FORMAT,
)
"""The formats of this folder, in the order in which they are tried."""
