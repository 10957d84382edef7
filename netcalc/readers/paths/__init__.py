"""Paths: hop by hop, as traceroute shows them."""

from __future__ import annotations

from netcalc.readers.format import Format
from netcalc.readers.paths import mtr, nexttrace, reports, ripe_atlas, scamper, traceroute, tracert

FORMATS: tuple[Format, ...] = (
    traceroute.DUBLIN,
    traceroute.DUBLIN_TEXT,
    traceroute.JC,
    nexttrace.TEXT,
    mtr.JSON,
    ripe_atlas.FORMAT,
    scamper.TRACE,
    scamper.PING,
    reports.TRIPPY,
    reports.TRIPPY_CSV,
    reports.WINMTR,
    reports.MIKROTIK,
    mtr.CSV,
    mtr.XML,
    mtr.REPORT,
    mtr.RAW,
    tracert.PATHPING,
    tracert.WINDOWS,
    traceroute.TRACEPATH,
    tracert.HUAWEI,
    traceroute.TRACEROUTE,
)
"""The formats of this folder, in the order in which they are tried."""
