"""Counters: what kernels and devices count."""

from __future__ import annotations

from netcalc.readers.counters import (
    ethtool,
    ip_link,
    netstat,
    netstat_list,
    netstat_windows,
    nstat,
    proc_net,
    proc_net_list,
    qdisc,
    sadf,
    sar,
    ss,
    ss_summary,
    tcp_info,
)
from netcalc.readers.format import Format

BY_BYTES: tuple[Format, ...] = (tcp_info.FORMAT,)
"""Formats that are recognized by their first bytes, and need not be text."""

FORMATS: tuple[Format, ...] = (
    ss.FORMAT,
    ss_summary.FORMAT,
    nstat.FORMAT,
    proc_net.FORMAT,
    ip_link.FORMAT,
    qdisc.FORMAT,
    ethtool.FORMAT,
    netstat.FORMAT,
    netstat_windows.FORMAT,
    netstat_list.FORMAT,
    proc_net_list.FORMAT,
    sar.FORMAT,
    sadf.FORMAT,
)
"""The formats of this folder, in the order in which they are tried."""
