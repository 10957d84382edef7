"""Round trips measured by other tools than ping."""

from __future__ import annotations

from netcalc.readers.format import Format
from netcalc.readers.pings import (
    fping,
    monitors,
    other_protocols,
    ping_json,
    ripe_atlas,
    routers,
    udp,
    windows,
)

FORMATS: tuple[Format, ...] = (
    udp.IRTT_JSON,
    udp.IRTT,
    ripe_atlas.FORMAT,
    ping_json.FORMAT,
    fping.FPING_JSON,
    udp.SOCKPERF,
    fping.FPING,
    other_protocols.HPING,
    other_protocols.NPING,
    other_protocols.ARPING,
    other_protocols.HTTPING,
    fping.OPING,
    routers.CISCO,
    routers.HUAWEI,
    routers.MIKROTIK,
    routers.NOKIA,
    routers.VPP,
    windows.HRPING,
    other_protocols.PAPING,
    other_protocols.PSPING_ICMP,
    other_protocols.TCPING,
    other_protocols.DNSPING,
    other_protocols.L2PING,
    other_protocols.IBPING,
    other_protocols.TAILSCALE_PING,
    windows.TEST_CONNECTION,
    monitors.SMOKEPING,
    monitors.BLACKBOX,
    udp.OWPING,
    udp.TWPING,
)
"""The formats of this folder, in the order in which they are tried."""
