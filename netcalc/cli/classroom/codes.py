"""The codes that let into a class."""

from __future__ import annotations

import secrets

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Of a code: no two of them look alike on a board."""
CODE_LENGTH, KEY_LENGTH = 8, 16


def new_code(length: int = CODE_LENGTH) -> str:
    """Return a random code in groups of four letters."""
    drawn = "".join(secrets.choice(LETTERS) for _ in range(length))
    return "-".join(drawn[at : at + 4] for at in range(0, length, 4))


def plain(code: str) -> bytes:
    """Return a code as it is compared: without its dashes and spaces, in capitals."""
    return "".join(letter for letter in code.upper() if letter.isalnum()).encode()[:100]
