"""Lines of a text that are whole, and what of a container's facts is the same for all tools."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Input


def whole_lines(
    given: Input, warnings: list[Notice], *, padded: bool = False
) -> tuple[list[tuple[int, str]], bool]:
    """Return the numbered lines, and whether the last one was left out because it is cut.

    The lines of a tool that are ``padded`` with blanks are whole if they end in one.
    """
    text = given.text
    warnings += text.warnings
    found = list(zip(text.numbers, text.lines, strict=True))
    while found and not found[-1][1].strip():
        found.pop()
    if found and not text.ends_complete and not (padded and found[-1][1][-1:].isspace()):
        number, _ = found.pop()
        warnings.append(Notice("last-line-cut", {"number": number}))
        return found, True
    return found, False


def origin(given: Input) -> dict[str, Any]:
    """Return the name and the hash of the source for ``Meta``."""
    source = given.unpacked
    return {"source": source.name if source.is_file else "", "sha256": source.sha256}


def xml_root(given: Input) -> ElementTree.Element:
    """Return the root element; a document type is refused, as it may hold entities."""
    text = "\n".join(given.text.whole)
    if re.search(r"<!(?:DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise ReaderError("xml-document-type", file=given.name)
    try:
        return ElementTree.fromstring(text.lstrip("\ufeff"))
    except ElementTree.ParseError as error:
        raise ReaderError("damaged-xml", file=given.name, line=error.position[0]) from None
    except (ValueError, LookupError, RecursionError):
        raise ReaderError("damaged-xml", file=given.name) from None
