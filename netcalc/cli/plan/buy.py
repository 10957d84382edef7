"""``netcalc plan buy``: a map of what limits a transfer, and the cheapest step out of it."""

from __future__ import annotations

from typing import Any

import click

from netcalc import planning
from netcalc.cli.mistakes import named_as_typed
from netcalc.cli.options import Choice, PlannersCommand
from netcalc.cli.plan.page import Known, check_page, page_options, print_page
from netcalc.cli.plan.sending import sending_options, with_path
from netcalc.errors import DomainError

_AXES = {
    "rate": "bandwidth_bps",
    "rtt": "rtt_s",
    "loss": "loss_ratio",
    "window": "window_bytes",
    "flows": "flow_count",
}


@click.command(cls=PlannersCommand)
@click.argument("payload_bytes", type=Known("byte"), metavar="SIZE")
@click.option(
    "--over",
    "axes",
    nargs=2,
    type=Choice(list(_AXES)),
    default=("rate", "rtt"),
    show_default=True,
    help="Inputs along the axes of the map.",
)
@sending_options
@page_options
def buy(
    payload_bytes: Any, axes: tuple[str, str], as_json: bool, plot_path: str | None, force: bool,
    draws: int | None, **given: Any,
) -> None:  # fmt: skip
    """Plan what to buy for a TCP transfer of SIZE: what limits it, and the cheapest step out of it.

    With --plot the answer is a map over two inputs, coloured by the limit that binds.

    \b
    netcalc plan buy 1GB --path "1 Gbit/s 20 ms" --loss 0.01% --plot map.html
    netcalc plan buy 1GB --rate 1G --rtt 40ms --loss 1% --over loss rtt
    """
    check_page(plot_path, force=force)
    if axes[0] == axes[1]:
        raise DomainError("one-axis-twice", "--over", axes[0])
    over = (_AXES[axes[0]], _AXES[axes[1]])
    with named_as_typed(over=("--over", "")):
        plan = planning.buy(payload_bytes, over=over, draws=draws or 0, **with_path(given))
    print_page(plan, as_json=as_json, plot_path=plot_path)
