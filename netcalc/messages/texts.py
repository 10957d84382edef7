"""Text that is not one quantity, one name or one formula."""

from __future__ import annotations

TEXTS: dict[str, str] = {}

TEXTS_HINTS: dict[str, str] = {}
