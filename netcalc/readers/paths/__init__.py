"""Paths: hop by hop, as traceroute shows them."""

from __future__ import annotations

from netcalc.readers.format import Format
from netcalc.readers.paths import mtr, ripe_atlas, traceroute, tracert

FORMATS: tuple[Format, ...] = (
    traceroute.DUBLIN,
    traceroute.JC,
    mtr.JSON,
    ripe_atlas.FORMAT,
    mtr.CSV,
    mtr.REPORT,
    mtr.RAW,
    tracert.PATHPING,
    tracert.WINDOWS,
    traceroute.TRACEPATH,
    tracert.HUAWEI,
    traceroute.TRACEROUTE,
)
"""The formats of this folder, in the order in which they are tried."""
