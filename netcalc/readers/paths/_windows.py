"""How tracert and pathping write a node: its address alone, or in brackets behind its name."""

from __future__ import annotations

import re

from netcalc.readers.paths._traces import ADDRESS

_NAMED = re.compile(rf"(?<!\S)(?P<name>\S+) \[(?P<address>{ADDRESS.pattern})\]")
_BARE = re.compile(rf"(?<![\w.:]){ADDRESS.pattern}(?![\w.:])")


def node_in(text: str) -> tuple[str, str]:
    """Return the address in a text, and the name before it if it is in brackets."""
    if both := _NAMED.search(text):
        return both["address"], both["name"]
    bare = _BARE.search(text)
    return (bare[0], "") if bare else ("", "")
