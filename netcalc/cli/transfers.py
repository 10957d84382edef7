"""``netcalc run bulk``, ``line-rate`` and ``lockstep``: what a source pours into a sink."""

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
from netcalc.experiments import BOOK_WRITES, TESTER_FRAMES
from netcalc.experiments import bulk as measure_bulk
from netcalc.experiments import line_rate as measure_line_rate
from netcalc.experiments import lockstep as measure_lockstep
from netcalc.experiments.line_rate import BOX_INPUT_PACKETS
from netcalc.models._domain import positive
from netcalc.path import Path
from netcalc.samples import BulkSamples

_ROUTED = "Through a third namespace whose kernel routes between two others."


def _common(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that all of them have."""
    for option in (
        click.option(
            "--runs", type=click.IntRange(min=1), default=5, show_default=True, help="Repetitions."
        ),
        click.option(
            "--path",
            "path_text",
            metavar="LINKS",
            help='Emulated path, e.g. "10 Mbit/s 10 ms" or "T1 5 ms, T1 1 ms".',
        ),
        click.option("--link-buffer", metavar="SIZE", help="What each link of the --path holds."),
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
@click.option("--protocol", type=click.Choice(["tcp", "udp"]), default="tcp", show_default=True)
@click.option(
    "--size",
    "-s",
    "sizes",
    multiple=True,
    metavar="SIZE",
    help="One write, e.g. 1440 (bytes) or 16KiB; again for more. Default: the book's 1440 and 300.",
)
@click.option(
    "--count", "-c", type=click.IntRange(min=1), default=5000, show_default=True, help="Writes."
)
@click.option(
    "--buffer",
    "-b",
    "buffers",
    multiple=True,
    metavar="SIZE",
    help="Socket buffers, e.g. 32768 or 32KiB; again for more; 0 leaves them to the system. "
    "Default: the book's 32 KiB.",
)
@click.option(
    "--together",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Datagrams in a call.",
)
@click.option("--congestion", default="", metavar="NAME", help="Rule of TCP, e.g. cubic.")
@click.option("--limit", default="10 s", show_default=True, help="Longest time of a transfer.")
@click.option("--host", default="127.0.0.1", show_default=True, help="127.0.0.1 or ::1.")
@click.option("--mtu", metavar="SIZE", help="MTU of a loopback of its own, or of the path.")
@_common
def bulk(
    protocol: str,
    sizes: tuple[str, ...],
    count: int,
    buffers: tuple[str, ...],
    together: int,
    congestion: str,
    limit: str,
    host: str,
    mtu: str | None,
    **common: Any,
) -> None:
    """From a source to a sink by TCP or UDP: what is sent, what arrives, what it costs.

    By default the experiment of Snader's book: 5000 writes, buffers of 32 KiB. The book's own
    options work, with --runs 50: -s 1440 -b 32768 -c 5000. Ctrl-C stops it and keeps what was
    measured.
    """
    asked: Any = 32_768
    if buffers:
        asked = [_bare_bytes(size, "buffer") for size in buffers]
        if asked == [0.0]:
            asked = None
    _measured(
        f"bulk over {protocol}",
        measure_bulk,
        [_bare_bytes(size, "size") for size in sizes] or list(BOOK_WRITES),
        protocol=protocol,
        write_count=count,
        buffer_bytes=asked,
        datagrams_per_call=together,
        congestion_control=congestion,
        limit_s=units.parse(limit, "s", field="limit"),
        host=host,
        mtu_bytes=_bytes(mtu, "mtu"),
        **common,
    )


@click.command("line-rate")
@click.option(
    "--frame",
    "frames",
    multiple=True,
    metavar="SIZE",
    help="Ethernet frame with FCS, e.g. 64B; again for more. Default: the testers' seven sizes.",
)
@click.option("--duration", default="200 ms", show_default=True, help="How long each blast lasts.")
@click.option(
    "--together",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Datagrams in a call.",
)
@click.option("--routed", is_flag=True, help=_ROUTED)
@click.option(
    "--node-rate",
    metavar="RATE",
    help='Packets that each node of the path passes, e.g. "2 kpps"; beyond it drops.',
)
@click.option(
    "--node-input",
    type=click.IntRange(min=1),
    help=f"Packets that the input of each node of the path holds.  [default: {BOX_INPUT_PACKETS}]",
)
@_common
def line_rate(
    frames: tuple[str, ...],
    duration: str,
    together: int,
    node_rate: str | None,
    node_input: int | None,
    **common: Any,
) -> None:
    """Datagrams as fast as the sender can, by frame size: packets a second, and who drops.

    Over loopback; --routed through a third namespace whose kernel forwards them; or through an
    emulated box whose limits are known: --path "1 Gbit/s, 10 Mbit/s" --node-rate "2 kpps". The
    links of the path are Ethernet, with 20 bytes around each frame.
    """
    processing_s = 0.0
    if node_input is not None and common["path_text"] is None:
        raise click.UsageError("--node-input is of the nodes of a path: it needs a --path")
    if node_rate is not None:
        if "," not in (common["path_text"] or ""):
            raise click.UsageError(
                "--node-rate is of the node between two links: it needs a --path with two of them"
            )
        processing_s = 1 / float(positive("node-rate", units.parse(node_rate, "packet/s")))
    _measured(
        "line rate",
        measure_line_rate,
        _sizes(frames, TESTER_FRAMES),
        duration_s=units.parse(duration, "s", field="duration"),
        datagrams_per_call=together,
        input_packets=node_input or BOX_INPUT_PACKETS,
        processing_s=processing_s,
        **common,
    )


@click.command()
@click.option(
    "--pairs",
    multiple=True,
    type=click.IntRange(1, 32),
    help="Connections at once; again for more. Default: 1, 2, 4, 8 and 16.",
)
@click.option("--size", default="1460 B", show_default=True, help="What each sends, then waits.")
@click.option("--reply", default="1 B", show_default=True, help="The answer it waits for.")
@click.option("--duration", default="200 ms", show_default=True, help="How long each run lasts.")
@click.option("--routed", is_flag=True, help=_ROUTED)
@_common
def lockstep(pairs: tuple[int, ...], size: str, reply: str, duration: str, **common: Any) -> None:
    """Senders that wait for an answer to each message: goodput by their number."""
    _measured(
        "lockstep",
        measure_lockstep,
        list(pairs) or [1, 2, 4, 8, 16],
        write_bytes=_bytes(size, "size"),
        reply_bytes=_bytes(reply, "reply"),
        duration_s=units.parse(duration, "s", field="duration"),
        **common,
    )


def _sizes(texts: tuple[str, ...], standard: tuple[int, ...]) -> list[float]:
    return [units.parse(text, "byte", field="size") for text in texts] or list(standard)


def _bare_bytes(text: str, name: str) -> float:
    """Read a size; digits alone are bytes, as they are for the book's programs."""
    if text.isascii() and text.isdecimal():
        return float(text)
    return units.parse(text, "byte", field=name)


def _bytes(text: str | None, name: str) -> Any:
    """Read a size; the experiment itself refuses a fraction."""
    return None if text is None else units.parse(text, "byte", field=name)


def _measured(
    name: str,
    measure: Callable[..., BulkSamples],
    swept: list[Any],
    *,
    runs: int,
    path_text: str | None,
    processing_s: float = 0.0,
    link_buffer: str | None,
    save_path: str | None,
    plot_path: str | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Run an experiment, and print and draw what it measured."""
    check_outputs(save_path, plot_path, force=force)
    if path_text is None and link_buffer is not None:
        raise click.UsageError("--link-buffer is of the links of a path: it needs a --path")
    path = None if path_text is None else Path.parse(path_text, processing_s=processing_s)
    where = "loopback" if path_text is None else f"the path {path_text}"
    where = "a third namespace that routes" if options.get("routed") else where
    name = f"{name} over {where}" if " over " not in name else f"{name}, {where}"
    with Progress(name, unit="byte") as progress, partial_shown(name, as_json=as_json):
        samples = measure(
            swept,
            **options,
            run_count=runs,
            path=path,
            link_buffer_bytes=_bytes(link_buffer, "link-buffer"),
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
