"""Paths: hop by hop, as traceroute shows them."""

from __future__ import annotations

from netcalc.readers.format import Format
from netcalc.readers.paths import traceroute

FORMATS: tuple[Format, ...] = (traceroute.FORMAT,)
"""The formats of this folder, in the order in which they are tried."""
