"""Paths: hop by hop, as traceroute shows them."""

from __future__ import annotations

from netcalc.readers.format import Format
from netcalc.readers.paths import (
    dublin_traceroute,
    huawei_tracert,
    mtr_csv,
    mtr_json,
    mtr_raw,
    mtr_report,
    pathping,
    ripe_atlas_paths,
    tracepath,
    traceroute,
    traceroute_json,
    tracert,
)

FORMATS: tuple[Format, ...] = (
    dublin_traceroute.FORMAT,
    traceroute_json.FORMAT,
    mtr_json.FORMAT,
    ripe_atlas_paths.FORMAT,
    mtr_csv.FORMAT,
    mtr_report.FORMAT,
    mtr_raw.FORMAT,
    pathping.FORMAT,
    tracert.FORMAT,
    tracepath.FORMAT,
    huawei_tracert.FORMAT,
    traceroute.FORMAT,
)
"""The formats of this folder, in the order in which they are tried."""
