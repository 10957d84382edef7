"""What readers say of transfers: sentences as in :mod:`netcalc.messages.files`."""

from __future__ import annotations

TRANSFERS: dict[str, str] = {}

TRANSFERS_EXPECTED: dict[str, str] = {}
"""What should be there: the sentence ends with "; expected EXPECTED"."""

TRANSFERS_HINTS: dict[str, str] = {}
