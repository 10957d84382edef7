"""What readers say of pings: sentences as in :mod:`netcalc.messages.files`."""

from __future__ import annotations

PINGS: dict[str, str] = {}

PINGS_EXPECTED: dict[str, str] = {}
"""What should be there: the sentence ends with "; expected EXPECTED"."""

PINGS_HINTS: dict[str, str] = {}
