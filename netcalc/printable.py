"""Text of a file, a host or a user, made safe for a terminal, a title, a page and a log.

Such text may contain escape sequences, which a terminal obeys, or directional overrides and
invisible characters, which mislead a reader. All output goes through one of these functions; text
that is saved or passed on in Python is unchanged.
"""

from __future__ import annotations

from typing import Any

_KEPT = "\n\t"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
"""What a spreadsheet takes for a formula at the start of a text, and the mark against it."""

LONGEST_SHOWN = 80
"""Characters of text that cannot be read which a message repeats: one line of a terminal."""


def printable(text: str) -> str:
    r"""Return text as one line in which each character that is not printable is an escape.

    Examples
    --------
    >>> printable("a\x1b[31mred")
    'a\\x1b[31mred'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def printable_lines(text: str) -> str:
    r"""Return text as :func:`printable` does, with its line ends and tabs.

    Examples
    --------
    >>> printable_lines("one\ntwo\x07")
    'one\ntwo\\x07'
    """
    if text.isprintable():
        return text
    return "".join(c if c in _KEPT else printable(c) for c in text)


def excerpt(text: str, limit: int = 60) -> str:
    r"""Return the beginning of a text, printable, to be named in a sentence.

    Examples
    --------
    >>> excerpt("64 bytes\x1b[2J from here", 15)
    '64 bytes\\x1b[2J...'
    """
    return printable(text if len(text) <= limit else text[: limit - 3] + "...")


def safe_str(value: Any) -> str:
    """Return a value as text, or its class where the value cannot say it."""
    try:
        return str(value)
    except Exception:
        return type(value).__name__


def safe_repr(value: Any) -> str:
    """Return what Python writes of a value, cut where it is long; its class where that fails."""
    try:
        written = repr(value)
    except Exception:
        return type(value).__name__
    return written if len(written) <= LONGEST_SHOWN else f"{written[:LONGEST_SHOWN]}..."


def html_text(text: str) -> str:
    r"""Return text for a page: printable, and no tag in it.

    Examples
    --------
    >>> html_text("<b>\u202e")
    '&lt;b&gt;\\u202e'
    """
    import html  # late: it has a table of all entities

    return html.escape(printable_lines(text))


def spreadsheet_text(text: str) -> str:
    """Return text for a cell of CSV: a spreadsheet takes none of it for a formula.

    An apostrophe goes before what would begin one, and before an apostrophe.

    Examples
    --------
    >>> spreadsheet_text("=1+1"), spreadsheet_text("one")
    ("'=1+1", 'one')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def json_in_page(document: str) -> str:
    """Return a JSON document as the content of a script in a page, as bokeh writes its own.

    Examples
    --------
    >>> json_in_page('["</script>"]')
    '["&lt;/script&gt;"]'
    """
    import html  # late: it has a table of all entities

    return html.escape(document, quote=False)


def json_text(document: str) -> str:
    r"""Return the same JSON document, with escapes for characters that are not printable.

    Examples
    --------
    >>> json_text('["\u202e"]')
    '["\\u202e"]'
    """
    if document.isprintable():
        return document
    import json  # late: most text is printable

    return "".join(c if c.isprintable() or c in _KEPT else json.dumps(c)[1:-1] for c in document)
