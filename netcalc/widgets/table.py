"""A table below a figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from netcalc.language import phrase
from netcalc.printable import html_text


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in HTML, with the first column as the headings of its rows.

    Parameters
    ----------
    head : sequence of str
        Headings of the columns.
    rows : iterable of sequence of str
        Cells, as text.
    """
    top = "".join(
        f'<th scope="col">{html_text(phrase(text))}</th>' if text else "<td></td>" for text in head
    )
    body = "".join(
        f'<tr><th scope="row">{html_text(first)}</th>'
        + "".join(f"<td>{html_text(text)}</td>" for text in others)
        + "</tr>"
        for first, *others in rows
    )
    return f'<table class="netcalc-table"><thead><tr>{top}</tr></thead>{body}</table>'
