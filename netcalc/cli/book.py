"""``netcalc book``: recompute printed numbers and give a verdict on each.

A file of its own, as ``claims`` loads the readers, which ``netcalc data`` need not wait for.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from netcalc import claims
from netcalc.claims import Checked
from netcalc.cli import mistakes, output, print_json, put, standard_input
from netcalc.cli.options import CSV, JSON, Choice, command
from netcalc.errors import DomainError
from netcalc.printable import spreadsheet_text

_VERDICTS = list(dict.fromkeys((*claims.COMPUTED, *claims.UNCOMPUTED)))


@command(JSON, CSV, names={"file": "--claims"}, types={"verdict": Choice(_VERDICTS)})
def book(
    *,
    source: str | None = None,
    verdict: str | None = None,
    file: str | None = None,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Recompute the numbers printed in five sources.

    \b
    netcalc book --verdict disagree
    netcalc book --source router
    netcalc book --claims mine.csv

    A number without a formula keeps the verdict on record; the summary counts both kinds.
    docs/claims.md describes the format of a file of claims. The exit code is 1 if a computed
    verdict or value differs from the record.

    Parameters
    ----------
    source : NAME
        Show one source: stevens, snader, router, nagle or netesto.
    verdict : VERDICT
        Show only numbers with this verdict, e.g. disagree.
    file : FILE.csv
        Check your own file of claims instead.
    """
    mistakes.check_one_form(as_json, as_csv)
    claims_read = (
        claims.read(standard_input() if file == "-" else Path(file)) if file else claims.book()
    )
    checked = claims.check(claims_read)
    sources = list(dict.fromkeys(item.claim.source for item in checked))
    if source is not None and source not in sources:
        raise DomainError("not-a-choice", "--source", source, choices=sources)
    shown = [
        item
        for item in checked
        if source in (None, item.claim.source) and verdict in (None, item.verdict)
    ]
    faults = [item for item in shown if item.fault]
    if as_json:
        print_json(
            {
                "claims": [item.as_dict() for item in shown],
                "counts": claims.counts(shown),
                "basis": claims.basis_counts(shown),
                "faults": len(faults),
            }
        )
    elif as_csv:
        rows = [item.as_dict() for item in shown]
        if rows:
            output.print_csv(rows[0], ([_cell(value) for value in row.values()] for row in rows))
    else:
        for name in sources:
            _print_table([item for item in shown if item.claim.source == name])
        put(_summary(shown, faults))
    if faults:
        sys.exit(1)


def _summary(shown: Sequence[Checked], faults: Sequence[Checked]) -> str:
    counted = ", ".join(f"{number} {name}" for name, number in claims.counts(shown).items())
    lines = [f"{len(shown)} numbers: {counted}." if shown else "No number has this verdict."]
    if shown:
        lines.append(_basis(claims.basis_counts(shown)))
    if faults:
        differing = ", ".join(item.claim.id for item in faults)
        lines.append(f"Different from the record: {differing}.")
    elif comparable := sum(1 for item in shown if item.computed and item.claim.verdict):
        lines.append(f"All {comparable} computed results match the record.")
    return "\n".join(click.wrap_text(line, 80) for line in lines)


def _basis(counts: Mapping[str, int]) -> str:
    """Return how many results are computed, and how many are only repeated from the record."""
    text = f"Computed by the models: {counts['computed'] + counts['implied']}"
    if counts["implied"]:
        implied = f"{counts['implied']} values that follow from measured or given numbers"
        text += f" ({counts['computed']} verdicts, {implied})"
    return f"{text}. Only recorded: {counts['recorded']}."


def _cell(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(map(_cell, value))
    if isinstance(value, float):
        return f"{value:.12g}"
    text = "" if value is None else str(value)
    return spreadsheet_text(text)  # claims may come from anyone


def _print_table(rows: Sequence[Checked]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    if not rows:
        return
    table = Table(
        title=output.cell(rows[0].claim.work),
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=0,
        pad_edge=False,
    )
    # These widths fit 80 columns; the reason is printed below the quantity that it explains.
    table.add_column("id, place", width=12, overflow="fold")
    table.add_column("quantity; reason", ratio=1, overflow="fold")
    for heading, width in (("printed", 11), ("computed", 11), ("verdict", 12)):
        table.add_column(heading, width=width, overflow="fold")
    for item in rows:
        what = output.cell(item.claim.quantity)
        if item.reason:
            what.append(output.cell(f"\n- {item.reason}", "dim"))
        table.add_row(
            output.cell(item.claim.id).append(output.cell(f"\n{item.claim.place}", "dim")),
            what,
            output.cell(item.printed_text),
            output.cell(item.computed_text),
            output.cell(item.verdict, _STYLES.get(item.verdict, "")),
        )
    output.print_table(table)


_STYLES = {
    "agree": "green", "agree rounded": "green", "model fits": "green", "disagree": "red",
    "model misses": "yellow", "ambiguous": "yellow",
}  # fmt: skip
