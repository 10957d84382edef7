"""What readers say of paths: sentences as in :mod:`netcalc.messages.files`."""

from __future__ import annotations

PATHS: dict[str, str] = {}

PATHS_EXPECTED: dict[str, str] = {}
"""What should be there: the sentence ends with "; expected EXPECTED"."""

PATHS_HINTS: dict[str, str] = {}
