"""What was typed into the exercises of a page, kept in a file for the next kernel.

A kernel ends with its page. Where a variable of the environment names a file, as in a class, the
fields of its exercises write there what they hear, and a new page begins where the last one ended.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

FILE = "NETCALC_ANSWERS"
"""The variable that names the file."""
MOST_BYTES = 256 << 10
"""Nothing is written behind this: thousands of answers, which a new page hears again. [byte]"""


def keep(exercise: Sequence[str], content: Mapping[str, str]) -> None:
    """Write what the field of an exercise has heard; without a file, or if it is full, nothing."""
    name = os.environ.get(FILE)
    line = json.dumps({"of": list(exercise), **content}) + "\n"
    with suppress(OSError):  # the exercise works without it
        if name and Path(name).stat().st_size + len(line) <= MOST_BYTES:
            with Path(name).open("a", encoding="ascii") as stream:
                stream.write(line)


def kept(exercise: Sequence[str]) -> list[dict[str, str]]:
    """Return what the field of an exercise has heard, oldest first."""
    name = os.environ.get(FILE)
    if not name:
        return []
    try:
        with Path(name).open("rb") as stream:
            lines = stream.read(MOST_BYTES).splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        with suppress(ValueError, RecursionError):  # a line that was cut
            content = json.loads(line)
            if isinstance(content, dict) and content.pop("of", None) == list(exercise):
                found.append({key: str(value) for key, value in content.items()})
    return found
