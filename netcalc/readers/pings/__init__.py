"""Round trips measured by other tools than ping."""

from __future__ import annotations

from netcalc.readers.format import Format
from netcalc.readers.pings import fping

FORMATS: tuple[Format, ...] = (fping.FORMAT,)
"""The formats of this folder, in the order in which they are tried."""
