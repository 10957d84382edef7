"""Text that is not one quantity, one name or one formula.

``shown`` is the text, quoted and cut where it is long; ``expected`` the quantity wanted.
"""

from __future__ import annotations

TEXTS: dict[str, str] = {
    "text-empty": "{expected} is required, got an empty text",
    "no-number": "{shown} is not {expected}: it contains no number",
    "malformed-number": "{shown} is not {expected}: {number!r} is not one number",
    "number-too-large": "{shown} is too large for a number",
    "ambiguous-number": "{shown} is ambiguous: write {readings:or}",
    "ambiguous-unit": "{shown} is ambiguous: write {readings:or}",
    "unit-missing": "{shown} needs a unit: {readings:or}",
    "unit-of-other-kind": "{shown} is not {expected}: {written!r} is a unit of {kind}",
    "unit-unknown": "{shown} is not {expected}: the unit {written!r} is unknown",
    "units-incomparable": "{shown} measures {kind}, {to_unit!r} measures {to_kind}",
    "kind-unknown": "{shown} is not a unit of netcalc, which are {known}",
    "line-unknown": "{shown} is not a named line",
}

TEXTS_HINTS: dict[str, str] = {
    "text-empty": "Write for example {example}",
    "no-number": "Write for example {example}",
    "unit-of-other-kind": "Write for example {example}",
    "unit-unknown": "Write for example {example}",
    "line-unknown": "Known: {known}",
}
