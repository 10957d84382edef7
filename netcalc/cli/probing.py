"""``netcalc run probing`` and ``run packet-trains``: what a path is made of, from its end."""

from __future__ import annotations

from typing import Any

import click

from netcalc.cli.live import live_options, live_run, place
from netcalc.cli.quantity import Quantity, WholeNumber
from netcalc.experiments import packet_trains as measure_trains
from netcalc.experiments import probing as measure_probes

_PATH = "10 Mbit/s 1 ms, T1 5 ms, T3 2 ms"
_timeout = click.option(
    "--timeout",
    "timeout_s",
    type=Quantity("s"),
    default="2 s",
    show_default=True,
    help="Longest wait for an answer.",
)


@click.command(short_help="Rate and latency of each link, by traceroute with sizes.")
@click.option(
    "--size",
    "payload_bytes",
    type=Quantity("byte"),
    multiple=True,
    metavar="SIZE",
    help="User data, e.g. 1000B; again for more. Default: eight sizes from 520 to 1472 bytes.",
)
@click.option(
    "--count", type=WholeNumber(1), default=10, show_default=True, help="Probes of each size."
)
@_timeout
@live_options(path=_PATH)
def probing(**given: Any) -> None:
    """Traceroute with sizes: rate and latency of each link, found from one end of a path.

    Beside each estimate stands what was set. A fast link behind slow ones drowns in their error;
    then there is only a bound. Ctrl-C stops the run and keeps what was measured.
    """
    live_run(f"probes over {place(**given)}", measure_probes, **given)


@click.command("packet-trains", short_help="The narrowest link, by packets sent back to back.")
@click.option(
    "--size",
    "payload_bytes",
    type=Quantity("byte"),
    default="1472 B",
    show_default=True,
    help="User data of each packet.",
)
@click.option(
    "--packets",
    "packet_count",
    type=WholeNumber(2),
    default=2,
    show_default=True,
    help="Packets in a train.",
)
@click.option(
    "--count", type=WholeNumber(1), default=40, show_default=True, help="Number of trains."
)
@click.option(
    "--cross",
    "cross_ratio",
    type=Quantity("ratio"),
    default="0%",
    show_default=True,
    help="Share of the packets in front of which one of somebody else's gets.",
)
@_timeout
@live_options(path=_PATH)
def packet_trains(**given: Any) -> None:
    """Packet pairs, or longer trains: the narrowest link, from how far apart they arrive.

    \b
    netcalc run packet-trains --path "T1 2 ms, 10 Mbit/s 1 ms" --cross 30%
    """
    live_run(f"trains over {place(**given)}", measure_trains, **given)
