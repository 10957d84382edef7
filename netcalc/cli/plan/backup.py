"""``netcalc plan backup``: whether a backup fits its window, and what would make it fit."""

from __future__ import annotations

from typing import Any

import click

from netcalc import planning
from netcalc.cli.mistakes import named_as_typed
from netcalc.cli.options import PlannersCommand
from netcalc.cli.plan.page import Known, check_page, known_option, page_options, print_page
from netcalc.cli.plan.sending import sending_options, with_path


@click.command(cls=PlannersCommand)
@click.argument("data_bytes", type=Known("byte"), metavar="DATA")
@known_option(
    "--in", "window_s", unit="s", required=True, help="Time in which the backup must end."
)
@known_option(
    "--change",
    "change_ratio",
    unit="ratio",
    default="100%",
    show_default=True,
    help="Share of the data that changes from one backup to the next.",
)
@known_option(
    "--reduction",
    "reduction_factor",
    unit="1",
    default="1",
    show_default=True,
    help="Factor by which compression and deduplication shrink the changes.",
)
@sending_options
@page_options
def backup(
    data_bytes: Any, as_json: bool, plot_path: str | None, force: bool, draws: int | None,
    **given: Any,
) -> None:  # fmt: skip
    """Plan a backup of DATA over a line: does it fit its window, and what would make it fit.

    \b
    netcalc plan backup 50TB --change 3% --in 8h --path "1 Gbit/s 20 ms"
    netcalc plan backup 2TB --in 8h --rate 1Gbit/s --rtt 5ms --change "3..8%"
    """
    check_page(plot_path, force=force)
    with named_as_typed():
        plan = planning.backup(data_bytes, draws=draws or 0, **with_path(given))
    print_page(plan, as_json=as_json, plot_path=plot_path)
