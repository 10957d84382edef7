"""``netcalc run small-writes`` and ``netcalc run transactions``: requests and their responses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from netcalc import compare, units
from netcalc.cli import print_json
from netcalc.cli.live import Progress, partial_shown
from netcalc.cli.output import check_outputs, save_plot
from netcalc.cli.read import describe, summary
from netcalc.experiments import small_writes as measure_writes
from netcalc.experiments import transactions as measure_transactions
from netcalc.experiments.small_writes import ARTICLE_MODES, MODES
from netcalc.experiments.transactions import PROTOCOLS
from netcalc.path import Path
from netcalc.samples import TransactionSamples


def _common(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that both commands have."""
    for option in (
        click.option(
            "--path",
            "path_text",
            metavar="LINKS",
            help='Emulated path, e.g. "100 Mbit/s 15 ms" or "T1 5 ms, T1 1 ms".',
        ),
        click.option("--host", default="127.0.0.1", show_default=True, help="::1 asks for IPv6."),
        click.option("--pcap", metavar="FILE.pcap", help="Keep the heads of the packets."),
        click.option(
            "--timeout", default="5 s", show_default=True, help="Longest wait for a response."
        ),
        click.option(
            "--save",
            "save_path",
            metavar="FILE.json",
            help="Keep the samples, also of a run that is stopped.",
        ),
        click.option("--plot", "plot_path", metavar="OUT.html", help="Draw theory on the points."),
        click.option("--force", is_flag=True, help="Replace files that exist."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    )[::-1]:
        command = option(command)
    return command


@click.command("small-writes")
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
    "--write", "writes", multiple=True, metavar="SIZE", help="One write, e.g. 6B; again for more."
)
@click.option(
    "--count", type=click.IntRange(min=1), default=10, show_default=True, help="Rounds a mode."
)
@click.option("--reply", default="13 B", show_default=True, help="Size of the response.")
@click.option(
    "--interval", default="0 s", show_default=True, help="From one round to the next, at least."
)
@click.option("--gap", default="0 s", show_default=True, help="Pause between two writes.")
@click.option("--quickack", is_flag=True, help="The server acknowledges at once.")
@click.option("--autocorking", is_flag=True, help="Leave Linux its autocorking.")
@_common
def small_writes(
    modes: tuple[str, ...],
    writes: tuple[str, ...],
    count: int,
    reply: str,
    interval: str,
    gap: str,
    quickack: bool,
    autocorking: bool,
    **common: Any,
) -> None:
    """A request in small writes: Nagle's rule meets the delayed acknowledgement.

    By default two writes of 6 and 7 bytes, with Nagle's rule, without it, with a flush, and in a
    single write. --path "100 Mbit/s 15 ms" shows it as over the Internet.
    """
    options: dict[str, Any] = {"modes": modes or ARTICLE_MODES}
    if writes:
        options["write_bytes"] = [units.parse(size, "byte", field="write") for size in writes]
    _measured(
        "small writes",
        measure_writes,
        **options,
        count=count,
        reply_bytes=units.parse(reply, "byte", field="reply"),
        interval_s=units.parse(interval, "s", field="interval"),
        write_gap_s=units.parse(gap, "s", field="gap"),
        quickack=quickack,
        autocorking=autocorking,
        **common,
    )


@click.command()
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    type=click.Choice(PROTOCOLS),
    help="Again for more. Default: all five.",
)
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="SIZE",
    help="User data, e.g. 512B; again for more. Default: the 23 sizes of the book.",
)
@click.option(
    "--count", type=click.IntRange(min=1), default=10, show_default=True, help="Of each size."
)
@click.option("--mtu", default="1536 B", show_default=True, help="MTU of the run's loopback.")
@_common
def transactions(
    protocols: tuple[str, ...],
    sizes: tuple[str, ...],
    count: int,
    mtu: str,
    **common: Any,
) -> None:
    """One request, one response: ping, UDP, Fast Open, TCP and TLS 1.3, by size.

    By default the experiment of Stevens' book on a loopback whose packets hold 1508 bytes of UDP:
    one byte more makes a second packet. Figures show the first protocol; name one for another.
    """
    options: dict[str, Any] = {"protocols": protocols or PROTOCOLS}
    if sizes:
        options["payload_bytes"] = [units.parse(size, "byte", field="size") for size in sizes]
    _measured(
        "transactions",
        measure_transactions,
        **options,
        count=count,
        mtu_bytes=units.parse(mtu, "byte", field="mtu"),
        **common,
    )


def _measured(
    name: str,
    measure: Callable[..., TransactionSamples],
    *,
    path_text: str | None,
    timeout: str,
    host: str,
    pcap: str | None,
    save_path: str | None,
    plot_path: str | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Run an experiment, and print and draw what it measured."""
    check_outputs(pcap, save_path, plot_path, force=force)
    path = None if path_text is None else Path.parse(path_text)
    where = "loopback" if path_text is None else f"the path {path_text}"
    with Progress(name) as progress, partial_shown(name, as_json=as_json):
        samples = measure(
            **options,
            host=host,
            path=path,
            pcap=pcap,
            timeout_s=units.parse(timeout, "s", field="timeout"),
            progress=progress,
            save=save_path,
        )
    name = f"{name} over {where}"
    if as_json:
        print_json(summary(name, samples))
    else:
        click.echo(describe(name, samples))
    if plot_path is not None:
        save_plot(compare.overlay(samples), plot_path)
    if samples.meta.partial:
        sys.exit(130)
