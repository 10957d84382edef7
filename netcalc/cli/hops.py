"""The table of hops that ``netcalc read`` prints of a path."""

from __future__ import annotations

import math

from netcalc.cli import say
from netcalc.cli.output import cell, print_table
from netcalc.messages import Notice
from netcalc.printable import excerpt
from netcalc.readers.paths.hops import Hop, hop_rows
from netcalc.readers.places import probes
from netcalc.samples import Samples
from netcalc.units import show

MOST_HOPS = 64
"""Rows that the text shows; ``--json`` has all."""


def print_hops(samples: Samples) -> None:
    """Print a row for each hop of a path, and what its increase depends on."""
    from rich.table import Table  # late: calc and the help do without

    rows = hop_rows(samples)
    if not rows:
        return
    middle = "median" if any(not math.isnan(row.rtt_median_s) for row in rows) else "mean"
    several = len({row.group for row in rows}) > 1
    table = Table(box=None, pad_edge=False)
    headings = (*(["run"] if several else []), "hop", "address", "sent", "loss", "min", middle,
                "max", "increase", "")  # fmt: skip
    for heading in headings:
        left = heading in ("run", "address", "")
        table.add_column(
            heading, justify="left" if left else "right", no_wrap=not left, overflow="fold"
        )
    for row in rows[:MOST_HOPS]:
        table.add_row(*([cell(excerpt(row.group))] if several else []), *map(cell, _cells(row)))
    print_table(table)
    if len(rows) > MOST_HOPS:
        say(f"  {len(rows) - MOST_HOPS} more hops: --json has them")
    say(f"  {Notice('increase-of-hops', {'place': str(probes(samples))})}")


def _cells(row: Hop) -> list[str]:
    middle = row.rtt_mean_s if math.isnan(row.rtt_median_s) else row.rtt_median_s
    times = (row.rtt_min_s, middle, row.rtt_max_s, row.increase_s)
    return [
        str(row.hop),
        excerpt(row.node) or "no answer",
        _known(row.sent_count, "1"),
        _known(row.loss_ratio, "ratio"),
        *(_known(one, "s") for one in times),
        "slow" if row.answers_slowly else "",
    ]


def _known(value: float, unit: str) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:g}" if unit == "1" else show(value, unit)
