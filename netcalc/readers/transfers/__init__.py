"""Transfers: what iperf and its relatives print."""

from __future__ import annotations

from netcalc.readers.format import Format
from netcalc.readers.transfers import (
    collectives,
    copies,
    iperf2,
    iperf3_json,
    iperf_text,
    ndt7,
    netperf,
    pscheduler,
    reports,
    speed_tests,
    testbeds,
    ttcp,
)

FORMATS: tuple[Format, ...] = (
    iperf3_json.FORMAT,
    iperf_text.FORMAT,
    iperf2.TEXT,
    iperf2.CSV,
    iperf2.ENHANCED_CSV,
    testbeds.FLENT,
    netperf.NETPERF,
    speed_tests.SPEEDTEST,
    ndt7.FORMAT,
    testbeds.FLOWMON,
    testbeds.NETESTO,
    netperf.SMALL_WRITES,
    ttcp.NUTTCP,
    copies.DD,
    copies.WGET,
    copies.CURL,
    copies.SCP,
    copies.RSYNC,
    ttcp.NTTTCP,
    ttcp.NTTTCP_LINUX,
    netperf.QPERF,
    pscheduler.FORMAT,
    collectives.NCCL,
    collectives.OSU,
    collectives.IMB,
    collectives.PERFTEST,
    collectives.NETPIPE,
    reports.MININET,
    reports.IXCHARIOT,
    reports.SOURCE,
    reports.LATTE,
)
"""The formats of this folder, in the order in which they are tried."""
