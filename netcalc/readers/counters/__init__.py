"""Counters: what kernels and devices count."""

from __future__ import annotations

from netcalc.readers.counters import counts, sar, sockets, tcp_info, wifi
from netcalc.readers.format import Format

BY_BYTES: tuple[Format, ...] = (tcp_info.FORMAT,)
"""Formats that are recognized by their first bytes, and need not be text."""

FORMATS: tuple[Format, ...] = (
    sockets.SS,
    sockets.SS_SUMMARY,
    counts.NSTAT,
    counts.PROC_NET,
    counts.IP_LINK,
    counts.IFCONFIG,
    counts.QDISC,
    counts.ETHTOOL,
    counts.NETSTAT,
    counts.NETSTAT_WINDOWS,
    sockets.NETSTAT_LIST,
    sockets.PROC_NET_LIST,
    sar.SAR,
    sar.SADF,
    *wifi.FORMATS,
)
"""The formats of this folder, in the order in which they are tried."""
