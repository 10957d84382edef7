"""The docstring of a model in its sections, as numpydoc has them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import NamedTuple

_HEADING = re.compile(r"^([A-Z][A-Za-z ]*)\n-{3,}\n", re.MULTILINE)


class Item(NamedTuple):
    """An entry of a section: ``names : kind`` with an indented description."""

    names: str
    kind: str
    description: str


class Docstring(NamedTuple):
    """A docstring: its first line, what follows it, and the sections by their headings."""

    summary: str
    description: str
    sections: Mapping[str, str]

    def items(self, heading: str) -> list[Item]:
        """Return the entries of a section; none where it is missing.

        Examples
        --------
        >>> parsed('One.\\n\\nReturns\\n-------\\nfloat\\n    Its time.\\n').items("Returns")
        [Item(names='float', kind='', description='Its time.')]
        """
        entries: list[list[str]] = []
        for line in self.sections.get(heading, "").splitlines():
            if line.strip() and not line[0].isspace():
                entries.append([line])
            elif entries:
                entries[-1].append(line.strip())
        return [_item(*lines) for lines in entries]


def parsed(text: str) -> Docstring:
    """Return a docstring in its parts.

    Examples
    --------
    >>> parsed("One.\\n\\nMore.\\n\\nNotes\\n-----\\nIt holds.\\n")
    Docstring(summary='One.', description='More.', sections={'Notes': 'It holds.'})
    """
    first, *rest = _HEADING.split(inspect.cleandoc(text))
    summary, _, description = first.partition("\n")
    sections = {name: body.strip("\n") for name, body in zip(rest[::2], rest[1::2], strict=True)}
    return Docstring(summary.strip(), description.strip(), sections)


def _item(first: str, *lines: str) -> Item:
    names, _, kind = first.partition(" : ")
    return Item(names.strip(), kind.strip(), "\n".join(lines).strip())
