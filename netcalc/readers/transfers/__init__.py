"""Transfers: what iperf and its relatives print."""

from __future__ import annotations

from netcalc.readers.format import Format
from netcalc.readers.transfers import (
    curl,
    dd,
    flent,
    flowmon,
    iperf2_csv,
    iperf2_csv_enhanced,
    iperf2_text,
    iperf3_json,
    iperf3_text,
    ndt7,
    netesto,
    netperf,
    ntttcp,
    nuttcp,
    qperf,
    scp,
    small_writes,
    speedtest,
    wget,
)

FORMATS: tuple[Format, ...] = (
    iperf3_json.FORMAT,
    iperf3_text.FORMAT,
    iperf2_text.FORMAT,
    iperf2_csv.FORMAT,
    iperf2_csv_enhanced.FORMAT,
    flent.FORMAT,
    netperf.FORMAT,
    speedtest.FORMAT,
    ndt7.FORMAT,
    flowmon.FORMAT,
    netesto.FORMAT,
    small_writes.FORMAT,
    nuttcp.FORMAT,
    dd.FORMAT,
    wget.FORMAT,
    curl.FORMAT,
    scp.FORMAT,
    ntttcp.FORMAT,
    qperf.FORMAT,
)
"""The formats of this folder, in the order in which they are tried."""
