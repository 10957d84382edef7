"""``netcalc plan buffer``: the buffer in front of a line, in bytes and in delay."""

from __future__ import annotations

from typing import Any

import click

from netcalc import planning
from netcalc.cli.mistakes import CommandError, named_as_typed
from netcalc.cli.options import PlannersCommand
from netcalc.cli.plan.page import Known, check_page, known_option, page_options, print_page


@click.command(cls=PlannersCommand)
@click.argument("bandwidth_bps", type=Known("bit/s"), metavar="RATE")
@known_option(
    "--rtt",
    "rtt_s",
    unit="s",
    required=True,
    help="Mean round-trip time of the flows without load.",
)
@known_option(
    "--flows",
    "flow_count",
    unit="1",
    default="1",
    show_default=True,
    help="Long flows that share the line.",
)
@known_option(
    "--fan-in", "sender_count", unit="1", help="Senders that start a burst at the same time."
)
@known_option("--burst", "burst_bytes", unit="byte", help="Burst of each of them.")
@known_option(
    "--sender", "sender_bps", unit="bit/s", help="Rate of a sender; by default that of the line."
)
@page_options
def buffer(
    bandwidth_bps: Any, sender_count: Any, burst_bytes: Any, as_json: bool, plot_path: str | None,
    force: bool, draws: int | None, **given: Any,
) -> None:  # fmt: skip
    """Plan the buffer in front of a line of a RATE, and the delay that it adds when it is full.

    \b
    netcalc plan buffer 10Gbit/s --rtt 250ms --flows 50000
    netcalc plan buffer 10Gbit/s --rtt 100us --fan-in 40 --burst 64KiB
    """
    check_page(plot_path, force=force)
    if burst_bytes is None and (sender_count is not None or given["sender_bps"] is not None):
        raise CommandError("fan-in-without-burst")
    with named_as_typed():
        plan = planning.buffer(
            bandwidth_bps,
            sender_count=1.0 if sender_count is None else sender_count,
            burst_bytes=burst_bytes,
            draws=draws or 0,
            **given,
        )
    print_page(plan, as_json=as_json, plot_path=plot_path)
