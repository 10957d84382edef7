"""``netcalc run``: live measurements on this machine."""

from __future__ import annotations

from typing import Any

import click

from netcalc.cli import show_help_alone
from netcalc.cli.exchanges import small_writes, transactions
from netcalc.cli.live import live_options, live_run
from netcalc.cli.probing import packet_trains, probing
from netcalc.cli.quantity import Quantity, WholeNumber
from netcalc.cli.transfers import bulk, line_rate, lockstep
from netcalc.experiments import echo as measure_echo


@click.group(invoke_without_command=True)
@click.pass_context
def run(ctx: click.Context) -> None:
    """Measure live, on loopback: nothing leaves this machine."""
    show_help_alone(ctx)


@run.command(short_help="Round-trip time against size, over UDP, TCP or ICMP.")
@click.option(
    "--protocol",
    type=click.Choice(["udp", "tcp", "icmp"]),
    default="udp",
    show_default=True,
    help="icmp needs a --path.",
)
@click.option(
    "--size",
    "payload_bytes",
    type=Quantity("byte"),
    multiple=True,
    metavar="SIZE",
    help="User data, e.g. 512B; again for more. Default: the 15 sizes of the book.",
)
@click.option(
    "--count",
    type=WholeNumber(1),
    default=10,
    show_default=True,
    help="Probes of each size.",
)
@click.option(
    "--interval",
    "interval_s",
    type=Quantity("s"),
    default="0 s",
    show_default=True,
    help="From one probe to the next, at least.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=Quantity("s"),
    default="1 s",
    show_default=True,
    help="Longest wait for a reply.",
)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Or ::1.")
@click.option(
    "--port", type=WholeNumber(0, 65535), default=0, help="Port of the peer; 0 takes a free one."
)
@live_options()
def echo(**given: Any) -> None:
    """Echo of several sizes over UDP, TCP or ICMP: round-trip time against size.

    By default the ping experiment of Stevens' book: 15 sizes of 8 to 1400 bytes, 10 probes each.
    Ctrl-C stops it and keeps what was measured.
    """
    if given["protocol"] == "icmp" and given["path_text"] is None:
        raise click.UsageError(
            "--protocol icmp is without a --path, and the loopback of this machine gives no raw "
            'socket to everybody; add one, such as --path "10 Mbit/s 1 ms"'
        )
    live_run(f"echo over {given['protocol']}", measure_echo, **given)


run.add_command(small_writes)
run.add_command(transactions)
run.add_command(bulk)
run.add_command(line_rate)
run.add_command(lockstep)
run.add_command(probing)
run.add_command(packet_trains)
