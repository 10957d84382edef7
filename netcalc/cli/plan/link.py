"""``netcalc plan link``: the rate for many users, and the date on which it is full."""

from __future__ import annotations

from datetime import date
from typing import Any

import click

from netcalc import planning
from netcalc.cli.mistakes import named_as_typed
from netcalc.cli.options import Percentile, PlannersCommand, Quantity, WholeNumber
from netcalc.cli.plan.page import (
    Day,
    Growth,
    Known,
    check_page,
    known_option,
    page_options,
    print_page,
)


@click.command(cls=PlannersCommand)
@click.argument("user_count", type=Known("1"), metavar="USERS")
@known_option(
    "--each",
    "user_bps",
    unit="bit/s",
    required=True,
    help="Rate of an active user, with all headers.",
)
@known_option(
    "--active",
    "active_ratio",
    unit="ratio",
    default="100%",
    show_default=True,
    help="Share of the time that a user sends.",
)
@click.option(
    "--percentile",
    "quantile",
    type=Percentile(),
    default="95%",
    show_default=True,
    help="Share of the time in which the rate must suffice.",
)
@click.option(
    "--growth",
    "annual_growth",
    type=Growth(),
    default="0%",
    show_default=True,
    help="Growth of the traffic a year.",
)
@click.option(
    "--lasts",
    "horizon_s",
    type=Quantity("s"),
    default="3 years",
    show_default=True,
    help="Time for which the rate must suffice.",
)
@known_option(
    "--target",
    "target_utilization",
    unit="ratio",
    default="80%",
    show_default=True,
    help="Utilization at which a link counts as full.",
)
@click.option(
    "--links",
    "link_count",
    type=WholeNumber(1),
    default=1,
    show_default=True,
    help="Links that share the load equally.",
)
@click.option(
    "--failed",
    "failed_count",
    type=WholeNumber(0),
    default=0,
    show_default=True,
    help="Links that may fail without overload: 1 for N-1.",
)
@known_option(
    "--line",
    "bandwidth_bps",
    unit="bit/s",
    help="Rate of each link; by default the next rate of Ethernet.",
)
@click.option(
    "--from",
    "start",
    type=Day(),
    metavar="DATE",
    help="Date of the count of users, such as 2026-01-31; by default today.",
)
@click.option(
    "--map",
    "as_map",
    is_flag=True,
    help="With --plot: a map over users and rate in place of the demand over time.",
)
@page_options
def link(
    user_count: Any, start: date | None, as_json: bool, plot_path: str | None, force: bool,
    draws: int | None, **given: Any,
) -> None:  # fmt: skip
    """Plan the rate of a link for USERS, and the date on which it is full.

    \b
    netcalc plan link 500 --each 5Mbit/s --active 10% --percentile 99%
    netcalc plan link 400..600 --each 5Mbit/s --active 10% --growth 20..35%
    netcalc plan link 500 --each 5Mbit/s --active 10% --links 2 --failed 1
    """
    check_page(plot_path, force=force)
    with named_as_typed():
        plan = planning.link(user_count, start=start or date.today(), draws=draws or 0, **given)
    print_page(plan, as_json=as_json, plot_path=plot_path)
