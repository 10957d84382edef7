"""``netcalc plan voice``: trunks of telephone calls, and their bits on the line."""

from __future__ import annotations

from typing import Any

import click

from netcalc import planning
from netcalc.cli.mistakes import CommandError, named_as_typed
from netcalc.cli.options import Choice, PlannersCommand, Quantity
from netcalc.cli.plan.page import (
    Known,
    check_page,
    known_option,
    page_options,
    print_page,
    read_stack,
)
from netcalc.planning.voice import LINKS


@click.command(cls=PlannersCommand)
@click.argument("calls_per_second", type=Known("call/s"), required=False, metavar="CALLS")
@known_option("--erlang", "offered_erlang", unit="1", help="Offered load in place of CALLS.")
@known_option(
    "--holding",
    "holding_s",
    unit="s",
    default="3 min",
    show_default=True,
    help="Mean holding time of a call.",
)
@click.option(
    "--codec",
    "codec_name",
    metavar="CODEC",
    default="G.711",
    show_default=True,
    help="Codec: G.711, G.722, G.723.1, G.726, G.728, G.729, iLBC.",
)
@click.option(
    "--interval",
    "interval_s",
    type=Quantity("s"),
    help="Time of voice in a packet; by default that of the codec, mostly 20 ms.",
)
@known_option(
    "--blocking",
    "blocking_ratio",
    unit="ratio",
    default="1%",
    show_default=True,
    help="Calls that may find all trunks busy.",
)
@click.option(
    "--tunnel",
    "stack",
    metavar="STACK",
    default="none",
    show_default=True,
    help="Layers of a tunnel, outermost first: wireguard4, gre+esp4.",
)
@click.option(
    "--link",
    type=Choice(list(LINKS)),
    default="ethernet",
    show_default=True,
    help="Link layer of the line.",
)
@click.option("--ipv6", "ip_version", flag_value=6, type=int, default=4, help="Calls over IPv6.")
@click.option("--srtp", is_flag=True, help="Voice encrypted by SRTP.")
@known_option("--line", "bandwidth_bps", unit="bit/s", help="Rate of an existing line.")
@click.option(
    "--mtu",
    "mtu_bytes",
    type=Quantity("byte", bare=True),
    default="1500 B",
    show_default=True,
    help="Largest packet of the path.",
)
@page_options
def voice(
    calls_per_second: Any, offered_erlang: Any, as_json: bool, plot_path: str | None, force: bool,
    draws: int | None, **given: Any,
) -> None:  # fmt: skip
    """Plan the trunks of telephone calls, and their bandwidth in each direction.

    CALLS are the call attempts of the busy hour, such as "1200 calls/h". Every quantity may be a
    range: "1000..1400 calls/h", "3 min +- 30 s".

    \b
    netcalc plan voice "1200 calls/h" --codec G.729 --tunnel wireguard4
    netcalc plan voice --erlang 60 --blocking 1% --line "5 Mbit/s"
    """
    check_page(plot_path, force=force)
    if (calls_per_second is None) == (offered_erlang is None):
        raise CommandError("calls-or-erlang")
    if offered_erlang is not None:  # calls of one second each, so many a second
        calls_per_second, given["holding_s"] = offered_erlang, 1.0
    typed = ("CALLS", "call/s") if offered_erlang is None else ("--erlang", "")
    given["stack"] = read_stack(given["stack"], typed="--tunnel")
    with named_as_typed(calls_per_second=typed, codec=("--codec", "")):
        plan = planning.voice(calls_per_second, draws=draws or 0, **given)
    print_page(plan, as_json=as_json, plot_path=plot_path)
