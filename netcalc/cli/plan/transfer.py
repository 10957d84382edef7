"""``netcalc plan transfer``: the time of a transfer, what limits it, what would help."""

from __future__ import annotations

from typing import Any

import click

from netcalc import planning
from netcalc.cli.mistakes import named_as_typed
from netcalc.cli.options import PlannersCommand
from netcalc.cli.plan.page import Known, check_page, page_options, print_page
from netcalc.cli.plan.sending import sending_options, with_path


@click.command(cls=PlannersCommand)
@click.argument("payload_bytes", type=Known("byte"), metavar="SIZE")
@sending_options
@page_options
def transfer(
    payload_bytes: Any, as_json: bool, plot_path: str | None, force: bool, draws: int | None,
    **given: Any,
) -> None:  # fmt: skip
    """Plan a TCP transfer of SIZE: its time, what limits it, and what would make it faster.

    Every quantity may be a range, such as --rate "80..100 Mbit/s".

    \b
    netcalc plan transfer 10GB --path "1 Gbit/s 20 ms" --loss 0.01%
    netcalc plan transfer 1GB --rate 1Gbit/s --rtt "30 ms +- 5 ms" --window 64KiB
    """
    check_page(plot_path, force=force)
    with named_as_typed():
        plan = planning.transfer(payload_bytes, draws=draws or 0, **with_path(given))
    print_page(plan, as_json=as_json, plot_path=plot_path)
