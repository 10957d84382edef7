"""``netcalc explain``: what limits a path, in one sentence and with the arithmetic."""

from __future__ import annotations

from dataclasses import asdict

import click

from netcalc import explain as explanations
from netcalc import units
from netcalc.cli import print_json
from netcalc.path import Path


@click.command()
@click.argument("path")
@click.option("--size", help="Bytes to move, such as 1MB, in packets of --mtu.")
@click.option("--rtt", help="Round-trip time, if it is not that of the links.")
@click.option("--window", help="Largest window: the smaller of both hosts' buffers.")
@click.option("--loss", default="0%", show_default=True, help="Share of packets lost at random.")
@click.option("--mtu", default="1500B", show_default=True, help="Largest packet.")
@click.option("--reverse", help="Rate of the way back, if another.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(
    path: str,
    size: str | None,
    rtt: str | None,
    window: str | None,
    loss: str,
    mtu: str,
    reverse: str | None,
    as_json: bool,
) -> None:
    """Say what limits a PATH: links with rate and one-way latency, between commas.

    \b
    netcalc explain "1 Gbit/s 40 ms" --window 64KiB --loss 0.01%
    netcalc explain "6 x T1 1 ms, T3 5 ms" --size 1MB
    """
    links = Path.parse(path)
    found = explanations.rate(
        links,
        rtt_s=None if rtt is None else units.parse(rtt, "s", field="rtt"),
        window_bytes=None if window is None else units.parse(window, "byte", field="window"),
        loss_ratio=units.parse(loss, "ratio", field="loss"),
        mtu_bytes=units.parse(mtu, "byte", field="mtu"),
        reverse_bandwidth_bps=(
            None if reverse is None else units.parse(reverse, "bit/s", field="reverse")
        ),
    )
    one = None
    if size is not None:
        one = explanations.transfer(
            units.parse(size, "byte", field="size"),
            path=links,
            packet_bytes=units.parse(mtu, "byte", field="mtu"),
        )
    if as_json:
        print_json({"rate": asdict(found), "transfer": None if one is None else asdict(one)})
        return
    if one is not None:
        click.echo(f"{one}\n")
    click.echo(str(found))
