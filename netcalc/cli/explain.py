"""``netcalc explain``: the limit of a path, in one sentence and with the arithmetic."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from netcalc import explain as explanations
from netcalc.checks import non_negative
from netcalc.cli import print_json, say
from netcalc.cli.mistakes import Command, named_as_typed
from netcalc.cli.quantity import Quantity, read_path


@click.command(cls=Command)
@click.argument("words", nargs=-1, required=True, metavar="PATH")
@click.option(
    "--size",
    "payload_bytes",
    type=Quantity("byte"),
    help="Bytes to transfer, such as 1MB, in packets of --mtu bytes.",
)
@click.option(
    "--rtt",
    "rtt_s",
    type=Quantity("s"),
    help="Round-trip time, if it differs from that of the links.",
)
@click.option(
    "--window",
    "window_bytes",
    type=Quantity("byte"),
    help="Maximum window: the smaller of both hosts' buffers.",
)
@click.option(
    "--loss",
    "loss_ratio",
    type=Quantity("ratio"),
    default="0%",
    show_default=True,
    help="Random packet loss.",
)
@click.option(
    "--mtu",
    "mtu_bytes",
    type=Quantity("byte"),
    default="1500B",
    show_default=True,
    help="Maximum packet size (IP).",
)
@click.option(
    "--reverse",
    "reverse_bandwidth_bps",
    type=Quantity("bit/s"),
    help="Rate of the reverse path, if it differs.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(
    words: tuple[str, ...],
    payload_bytes: float | None,
    mtu_bytes: float,
    as_json: bool,
    **given: Any,
) -> None:
    """Explain what limits a PATH: rate and one-way latency of each link, separated by commas.

    \b
    netcalc explain "1 Gbit/s 40 ms" --window 64KiB --loss 0.01%
    netcalc explain "6 x T1 1 ms, T3 5 ms" --size 1MB
    """
    links = read_path(" ".join(words), typed="PATH")
    one = None
    with named_as_typed():
        found = explanations.rate(links, mtu_bytes=mtu_bytes, **given)
        if payload_bytes is not None:
            size = float(non_negative("payload_bytes", payload_bytes))
            one = explanations.transfer(size, path=links, packet_bytes=mtu_bytes)
    if as_json:
        print_json({"rate": asdict(found), "transfer": None if one is None else asdict(one)})
        return
    if one is not None:
        say(f"{one}\n")
    say(str(found))
