"""``netcalc run``: live measurements on this machine."""

from __future__ import annotations

import sys
from typing import Any

import click

from netcalc import compare, units
from netcalc.cli import print_json, show_help_alone
from netcalc.cli.exchanges import small_writes, transactions
from netcalc.cli.live import Progress, partial_shown
from netcalc.cli.output import check_outputs, save_plot
from netcalc.cli.probing import packet_trains, probing
from netcalc.cli.read import describe, summary
from netcalc.cli.transfers import bulk, line_rate, lockstep
from netcalc.experiments import echo as measure_echo
from netcalc.path import Path


@click.group(invoke_without_command=True)
@click.pass_context
def run(ctx: click.Context) -> None:
    """Measure live, on loopback: nothing leaves this machine."""
    show_help_alone(ctx)


@run.command()
@click.option(
    "--protocol",
    type=click.Choice(["udp", "tcp", "icmp"]),
    default="udp",
    show_default=True,
    help="icmp needs a --path.",
)
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="SIZE",
    help="User data, e.g. 512B; again for more. Default: the 15 sizes of the book.",
)
@click.option(
    "--count",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Probes of each size.",
)
@click.option(
    "--interval", default="0 s", show_default=True, help="From one probe to the next, at least."
)
@click.option("--timeout", default="1 s", show_default=True, help="Longest wait for a reply.")
@click.option("--host", default="127.0.0.1", show_default=True, help="127.0.0.1 or ::1.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port of the peer; 0 takes a free one."
)
@click.option(
    "--path",
    "path_text",
    metavar="LINKS",
    help='Run through an emulated path, e.g. "T1 5 ms, T1 1 ms".',
)
@click.option(
    "--save",
    "save_path",
    metavar="FILE.json",
    help="Keep the samples, also of a run that is stopped.",
)
@click.option("--plot", "plot_path", metavar="OUT.html", help="Draw theory on the points.")
@click.option("--force", is_flag=True, help="Replace files that exist.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def echo(
    protocol: str,
    sizes: tuple[str, ...],
    count: int,
    interval: str,
    timeout: str,
    host: str,
    port: int,
    path_text: str | None,
    save_path: str | None,
    plot_path: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Echo of several sizes over UDP, TCP or ICMP: round-trip time against size.

    By default the ping experiment of Stevens' book: 15 sizes of 8 to 1400 bytes, 10 probes each.
    Ctrl-C stops it and keeps what was measured.
    """
    check_outputs(save_path, plot_path, force=force)
    options: dict[str, Any] = {}
    if sizes:
        options["payload_bytes"] = [units.parse(size, "byte", field="size") for size in sizes]
    name = f"echo over {protocol}"
    with Progress("echo") as progress, partial_shown(name, as_json=as_json):
        samples = measure_echo(
            **options,
            protocol=protocol,
            count=count,
            interval_s=units.parse(interval, "s", field="interval"),
            timeout_s=units.parse(timeout, "s", field="timeout"),
            host=host,
            port=port,
            path=None if path_text is None else Path.parse(path_text),
            progress=progress,
            save=save_path,
        )
    if as_json:
        print_json(summary(name, samples))
    else:
        click.echo(describe(name, samples))
    if plot_path is not None:
        save_plot(compare.overlay(samples), plot_path)
    if samples.meta.partial:
        sys.exit(130)


run.add_command(small_writes)
run.add_command(transactions)
run.add_command(bulk)
run.add_command(line_rate)
run.add_command(lockstep)
run.add_command(probing)
run.add_command(packet_trains)
