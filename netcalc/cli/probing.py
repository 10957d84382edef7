"""``netcalc run probing`` and ``run packet-trains``: what a path is made of, from its end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from netcalc import compare, fit, units
from netcalc.cli import print_json
from netcalc.cli.live import Progress, partial_shown
from netcalc.cli.output import check_outputs, print_table, save_plot
from netcalc.cli.read import describe, summary
from netcalc.experiments import packet_trains as measure_trains
from netcalc.experiments import probing as measure_probes
from netcalc.path import Path
from netcalc.samples import HopSamples, TrainSamples

if TYPE_CHECKING:
    from rich.table import Table


def _common(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that both commands have."""
    for option in (
        click.option(
            "--path",
            "path_text",
            metavar="LINKS",
            default="10 Mbit/s 1 ms, T1 5 ms, T3 2 ms",
            show_default=True,
            help="Emulated path.",
        ),
        click.option(
            "--timeout", default="2 s", show_default=True, help="Longest wait for an answer."
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


@click.command()
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="SIZE",
    help="User data, e.g. 1000B; again for more. Default: eight sizes from 520 to 1472 bytes.",
)
@click.option(
    "--count", type=click.IntRange(min=1), default=10, show_default=True, help="Of each size."
)
@_common
def probing(sizes: tuple[str, ...], count: int, **common: Any) -> None:
    """Traceroute with sizes: rate and latency of each link, found from one end of a path.

    Beside each estimate stands what was set. A fast link behind slow ones drowns in their error;
    then there is only a bound. Ctrl-C stops the run and keeps what was measured.
    """
    options: dict[str, Any] = {"count": count}
    if sizes:
        options["payload_bytes"] = [units.parse(size, "byte", field="size") for size in sizes]
    _measured("probes", measure_probes, **options, **common)


@click.command("packet-trains")
@click.option("--size", default="1472 B", show_default=True, help="User data of each packet.")
@click.option(
    "--packets",
    "packet_count",
    type=click.IntRange(min=2),
    default=2,
    show_default=True,
    help="Packets of a train.",
)
@click.option("--count", type=click.IntRange(min=1), default=40, show_default=True, help="Trains.")
@click.option(
    "--cross",
    default="0%",
    show_default=True,
    help="Share of the packets before which one of somebody else's gets onto the path.",
)
@_common
def packet_trains(size: str, packet_count: int, count: int, cross: str, **common: Any) -> None:
    """Packet pairs, or longer trains: the narrowest link, from how far apart they arrive.

    \b
    netcalc run packet-trains --path "T1 2 ms, 10 Mbit/s 1 ms" --cross 30%
    """
    _measured(
        "trains",
        measure_trains,
        payload_bytes=units.parse(size, "byte", field="size"),
        packet_count=packet_count,
        count=count,
        cross_ratio=units.parse(cross, "ratio", field="cross"),
        **common,
    )


def _measured(
    name: str,
    measure: Callable[..., HopSamples | TrainSamples],
    *,
    path_text: str,
    timeout: str,
    save_path: str | None,
    plot_path: str | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Run an experiment, and print and draw what it measured."""
    check_outputs(save_path, plot_path, force=force)
    with Progress(name) as progress, partial_shown(name, as_json=as_json):
        samples = measure(
            **options,
            path=Path.parse(path_text),
            timeout_s=units.parse(timeout, "s", field="timeout"),
            progress=progress,
            save=save_path,
        )
    name = f"{name} over the path {path_text}"
    if as_json:
        print_json(summary(name, samples))
    else:
        click.echo(describe(name, samples))
        if isinstance(samples, HopSamples):
            print_table(table_of(samples))
    if plot_path is not None:
        save_plot(compare.overlay(samples), plot_path)
    if samples.meta.partial:
        sys.exit(130)


def table_of(samples: HopSamples) -> Table:
    """Return what was found of each link beside what was set, as a table."""
    from rich.table import Table  # late: calc and the help do without

    table = Table(box=None, pad_edge=False)
    for heading in fit.LINK_HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for link in fit.links(samples).links:
        table.add_row(*link.texts())
    return table
