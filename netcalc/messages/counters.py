"""What readers say of counters: sentences as in :mod:`netcalc.messages.files`."""

from __future__ import annotations

COUNTERS: dict[str, str] = {}

COUNTERS_EXPECTED: dict[str, str] = {}
"""What should be there: the sentence ends with "; expected EXPECTED"."""

COUNTERS_HINTS: dict[str, str] = {}
