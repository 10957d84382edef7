"""The stored table of ``netcalc validate``, with the machine and the date of the run."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from netcalc.samples import Table, load
from netcalc.truth import truth_rows, truth_summary
from netcalc.units import show

RUN = Path(__file__).parents[1] / "measured" / "truth.json"
"""What ``netcalc validate --save`` wrote; nothing here is typed by hand."""


def text() -> str:
    """Return the table, with a line about the run above it and the summary below."""
    table = load(RUN)
    assert isinstance(table, Table)
    facts, rows = table.meta.instrument, truth_rows(table)
    lines = [
        f"Measured on {str(table.meta.start)[:16].replace('T', ' at ')} UTC, on "
        f"{facts.cpu_count} processors of {table.meta.host}, Python {facts.python}; the run "
        f"took {facts.duration_s:.0f} s. The load when it began was {facts.load_1min:.0f}, "
        f"and other programs left {facts.processor_ratio:.0%} of the processor time that the "
        "emulation may need.",
        "",
    ]
    for lab, of_lab in groupby(rows, key=lambda row: row.lab):
        lines += [f"**{lab}**", "", "```{rst-class} stacked truth", "```", ""]
        lines += ["| path, setting | predicted | measured | error | verdict |"]
        lines.append("|---|--:|--:|--:|---|")
        for row in of_lab:
            setting = f"{row.path}: {row.what}".replace("|", r"\|")
            values = (show(row.predicted, row.unit), show(row.measured, row.unit))
            error = f"{row.error_ratio:+.2%}".replace("-0.00%", "+0.00%")
            lines.append(f"| {setting} | {values[0]} | {values[1]} | {error} | {row.verdict} |")
        lines.append("")
    lines += ["What the command says about this table:", ""]
    lines += [f"> {truth_summary(rows).sentence()}", ""]
    return "\n".join(lines)
