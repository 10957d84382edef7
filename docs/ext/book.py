"""The page of the book check, from what the models give now."""

from __future__ import annotations

from itertools import groupby

from netcalc import claims


def _cell(text: str) -> str:
    return text.replace("*", r"\*").replace("|", r"\|")


def text() -> str:
    """Return the page: each number as a row, its reason below its quantity."""
    checked = claims.check(claims.book())
    counted = ", ".join(f"{number} {name}" for name, number in claims.counts(checked).items())
    basis = claims.basis_counts(checked)
    lines = [
        "# The book check",
        "",
        "The numbers printed in the five sources, recomputed by the models of netcalc where there "
        "is a formula, as `netcalc book` prints them. Below a number that does not simply agree "
        "stands the reason. [Your own claims](../claims.md) are checked in the same way.",
        "",
        f"{len(checked)} numbers: {counted}. {basis['computed'] + basis['implied']} are computed: "
        f"{basis['computed']} verdicts, and {basis['implied']} values that follow from measured or "
        f"given numbers. The other {basis['recorded']} verdicts are those on record.",
    ]
    for work, numbers in groupby(checked, key=lambda item: item.claim.work):
        lines += ["", f"## {work}", "", "```{rst-class} stacked book-check", "```", ""]
        lines += ["| quantity, and the reason | printed | computed | verdict |", "|" + "---|" * 4]
        for item in numbers:
            reason = f"<br>{_cell(item.reason)}" if item.reason else ""
            what = (
                f"{_cell(item.claim.quantity)} ({_cell(item.claim.id)}, "
                f"{_cell(item.claim.place)}){reason}"
            )
            cells = (what, *map(_cell, (item.printed_text, item.computed_text, item.verdict)))
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
