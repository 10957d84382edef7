"""What readers say of captures: sentences as in :mod:`netcalc.messages.files`."""

from __future__ import annotations

CAPTURES: dict[str, str] = {}

CAPTURES_EXPECTED: dict[str, str] = {}
"""What should be there: the sentence ends with "; expected EXPECTED"."""

CAPTURES_HINTS: dict[str, str] = {}
