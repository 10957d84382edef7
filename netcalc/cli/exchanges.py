"""``netcalc run small-writes`` and ``netcalc run transactions``: requests and their responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from netcalc.cli.live import live_options, live_run, place
from netcalc.cli.quantity import Quantity, WholeNumber
from netcalc.experiments import small_writes as measure_writes
from netcalc.experiments import transactions as measure_transactions
from netcalc.experiments.small_writes import MODES
from netcalc.experiments.transactions import PROTOCOLS


def _common(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that both commands have."""
    for option in (
        click.option(
            "--host",
            default="127.0.0.1",
            show_default=True,
            metavar="ADDRESS",
            help="::1 asks for IPv6.",
        ),
        click.option("--pcap", metavar="FILE.pcap", help="Keep the first bytes of each packet."),
        click.option(
            "--timeout",
            "timeout_s",
            type=Quantity("s"),
            default="5 s",
            show_default=True,
            help="Longest wait for a response.",
        ),
        live_options(),
    )[::-1]:
        command = option(command)
    return command


@click.command("small-writes", short_help="Nagle's rule meets the delayed acknowledgement.")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice(MODES),
    help="Way of writing; again for more. flush: as nagle, with a call of flush, which does "
    "nothing to TCP. single: all in one write. cork, more: the kernel holds the parts back, by "
    "TCP_CORK or MSG_MORE. Default: the first four.",
)
@click.option(
    "--write",
    "write_bytes",
    type=Quantity("byte"),
    multiple=True,
    metavar="SIZE",
    help="One write, e.g. 6B; again for more.",
)
@click.option(
    "--count", type=WholeNumber(1), default=10, show_default=True, help="Rounds of each mode."
)
@click.option(
    "--reply",
    "reply_bytes",
    type=Quantity("byte"),
    default="13 B",
    show_default=True,
    help="Size of the response.",
)
@click.option(
    "--interval",
    "interval_s",
    type=Quantity("s"),
    default="0 s",
    show_default=True,
    help="From one round to the next, at least.",
)
@click.option(
    "--gap",
    "write_gap_s",
    type=Quantity("s"),
    default="0 s",
    show_default=True,
    help="Pause between two writes.",
)
@click.option("--quickack", is_flag=True, help="The server acknowledges at once.")
@click.option("--autocorking", is_flag=True, help="Leave Linux's autocorking on.")
@_common
def small_writes(**given: Any) -> None:
    """A request in small writes: Nagle's rule meets the delayed acknowledgement.

    By default two writes of 6 and 7 bytes, with Nagle's rule, without it, with a flush, and in a
    single write. --path "100 Mbit/s 15 ms" shows it as over the Internet.
    """
    live_run(f"small writes over {place(**given)}", measure_writes, **given)


@click.command(short_help="One request and its response over five protocols.")
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    type=click.Choice(PROTOCOLS),
    help="Only this one; again for more. Default: all five.",
)
@click.option(
    "--size",
    "payload_bytes",
    type=Quantity("byte"),
    multiple=True,
    metavar="SIZE",
    help="User data, e.g. 512B; again for more. Default: the 23 sizes of the book.",
)
@click.option(
    "--count", type=WholeNumber(1), default=10, show_default=True, help="Transactions of each size."
)
@click.option(
    "--mtu",
    "mtu_bytes",
    type=Quantity("byte"),
    default="1536 B",
    show_default=True,
    help="MTU of the run's loopback.",
)
@_common
def transactions(**given: Any) -> None:
    """One request, one response: ping, UDP, Fast Open, TCP and TLS 1.3, by size.

    By default the experiment of Stevens' book on a loopback whose packets hold 1508 bytes of UDP:
    one byte more makes a second packet. Figures show the first protocol; name one for another.
    """
    live_run(f"transactions over {place(**given)}", measure_transactions, **given)
