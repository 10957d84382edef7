"""Paths: hop by hop, as traceroute shows them."""

from __future__ import annotations

from netcalc.readers.format import Format
from netcalc.readers.paths import mtr, ripe_atlas, tracepath, traceroute, tracert

FORMATS: tuple[Format, ...] = (
    traceroute.DUBLIN,
    traceroute.JSON,
    mtr.JSON,
    ripe_atlas.FORMAT,
    mtr.CSV,
    mtr.REPORT,
    mtr.RAW,
    tracert.PATHPING,
    tracert.WINDOWS,
    tracepath.FORMAT,
    tracert.HUAWEI,
    traceroute.FORMAT,
)
"""The formats of this folder, in the order in which they are tried."""
