"""``netcalc run bulk``, ``line-rate`` and ``lockstep``: what a source pours into a sink."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from netcalc.checks import positive
from netcalc.cli.live import live_options, live_run, place
from netcalc.cli.quantity import Quantity, WholeNumber
from netcalc.experiments import bulk as measure_bulk
from netcalc.experiments import line_rate as measure_line_rate
from netcalc.experiments import lockstep as measure_lockstep
from netcalc.experiments.line_rate import BOX_INPUT_PACKETS


class BareSize(Quantity):
    """A size; digits alone are bytes, as they are for the book's programs."""

    def __init__(self) -> None:
        super().__init__("byte")

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the text; a mistake names the option."""
        bare = isinstance(value, str) and value.isascii() and value.isdecimal()
        return super().convert(f"{value} B" if bare else value, param, ctx)


def _common(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that all of them have."""
    for option in (
        click.option(
            "--runs",
            "run_count",
            type=WholeNumber(1),
            default=5,
            show_default=True,
            help="Repetitions of each setting.",
        ),
        click.option(
            "--link-buffer",
            "link_buffer_bytes",
            type=Quantity("byte"),
            metavar="SIZE",
            help="What each link of the --path holds. "
            "Default: twice the path's bandwidth-delay product.",
        ),
        live_options(),
    )[::-1]:
        command = option(command)
    return command


_together = click.option(
    "--together",
    "datagrams_per_call",
    type=WholeNumber(1, 64),
    default=1,
    show_default=True,
    help="Datagrams handed to the kernel in one call.",
)
_duration = click.option(
    "--duration",
    "duration_s",
    type=Quantity("s"),
    default="200 ms",
    show_default=True,
    help="How long each run lasts.",
)
_routed = click.option(
    "--routed",
    is_flag=True,
    help="Through a third namespace whose kernel routes between two others.",
)


@click.command(short_help="What a transfer moves by TCP or UDP, and what it costs.")
@click.option("--protocol", type=click.Choice(["tcp", "udp"]), default="tcp", show_default=True)
@click.option(
    "--size",
    "-s",
    "write_bytes",
    type=BareSize(),
    multiple=True,
    metavar="SIZE",
    help="One write, e.g. 1440 (bytes) or 16KiB; again for more. Default: the book's 1440 and 300.",
)
@click.option(
    "--count",
    "-c",
    "write_count",
    type=WholeNumber(1),
    default=5000,
    show_default=True,
    help="Number of writes.",
)
@click.option(
    "--buffer",
    "-b",
    "buffer_bytes",
    type=BareSize(),
    multiple=True,
    metavar="SIZE",
    help="Socket buffers, e.g. 32768 or 32KiB; again for more; 0 leaves them to the system. "
    "Default: the book's 32 KiB.",
)
@_together
@click.option(
    "--congestion",
    "congestion_control",
    default="",
    metavar="NAME",
    help="Congestion control of TCP, e.g. cubic.",
)
@click.option(
    "--limit",
    "limit_s",
    type=Quantity("s"),
    default="10 s",
    show_default=True,
    help="Longest time of a transfer.",
)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Or ::1.")
@click.option(
    "--mtu",
    "mtu_bytes",
    type=Quantity("byte"),
    metavar="SIZE",
    help="MTU of a loopback of its own, or of the path.",
)
@click.option(
    "--loss",
    "loss_ratio",
    type=Quantity("ratio"),
    default="0%",
    metavar="SHARE",
    help="Packets that each link of the --path loses, there and back, e.g. 1%.",
)
@click.option("--seed", type=WholeNumber(0), default=0, help="Another number loses other packets.")
@_common
def bulk(**given: Any) -> None:
    """From a source to a sink by TCP or UDP: what is sent, what arrives, what it costs.

    By default the experiment of Snader's book: 5000 writes, buffers of 32 KiB. The book's own
    options work, with --runs 50: -s 1440 -b 32768 -c 5000. Ctrl-C stops it and keeps what was
    measured.
    """
    if given["buffer_bytes"] == (0.0,):
        given["buffer_bytes"] = None  # those of the system
    _measured(f"bulk over {given['protocol']},", measure_bulk, **given)


@click.command("line-rate", short_help="Packets a second by frame size, and who drops.")
@click.option(
    "--frame",
    "frame_bytes",
    type=Quantity("byte"),
    multiple=True,
    metavar="SIZE",
    help="Ethernet frame with FCS, e.g. 64B; again for more. Default: the testers' seven sizes.",
)
@_duration
@_together
@_routed
@click.option(
    "--node-rate",
    "node_rate_pps",
    type=Quantity("packet/s"),
    metavar="RATE",
    help='Packets that each node of the path passes, e.g. "2 kpps"; beyond it drops.',
)
@click.option(
    "--node-input",
    "input_packets",
    type=WholeNumber(1),
    help=f"Packets that the input of each node of the path holds.  [default: {BOX_INPUT_PACKETS}]",
)
@_common
def line_rate(node_rate_pps: float | None, **given: Any) -> None:
    """Datagrams as fast as the sender can, by frame size: packets a second, and who drops.

    Over loopback; --routed through a third namespace whose kernel forwards them; or through an
    emulated box whose limits are known: --path "1 Gbit/s, 10 Mbit/s" --node-rate "2 kpps". The
    links of the path are Ethernet, with 20 bytes around each frame.
    """
    path_text = given["path_text"]
    if given["input_packets"] is None:
        given["input_packets"] = BOX_INPUT_PACKETS
    elif path_text is None:
        raise click.UsageError("--node-input is of the nodes of a path: it needs a --path")
    if node_rate_pps is not None:
        if "," not in (path_text or ""):
            raise click.UsageError(
                "--node-rate is of the node between two links: it needs a --path with two of them"
            )
        given["processing_s"] = 1 / float(positive("--node-rate", node_rate_pps))
    _measured("line rate over", measure_line_rate, **given)


@click.command(short_help="Goodput of senders that wait, by their number.")
@click.option(
    "--pairs",
    "pair_count",
    multiple=True,
    type=WholeNumber(1, 32),
    help="Connections at once; again for more. Default: 1, 2, 4, 8 and 16.",
)
@click.option(
    "--size",
    "write_bytes",
    type=Quantity("byte"),
    default="1460 B",
    show_default=True,
    help="What each sends, then waits.",
)
@click.option(
    "--reply",
    "reply_bytes",
    type=Quantity("byte"),
    default="1 B",
    show_default=True,
    help="The answer it waits for.",
)
@_duration
@_routed
@_common
def lockstep(**given: Any) -> None:
    """Senders that each wait for an answer before they send again: goodput by their number."""
    _measured("lockstep over", measure_lockstep, **given)


def _measured(name: str, measure: Callable[..., Any], **given: Any) -> None:
    """Run an experiment, and print and draw what it measured."""
    if given["link_buffer_bytes"] is not None and given["path_text"] is None:
        raise click.UsageError("--link-buffer is of the links of a path: it needs a --path")
    if given.get("loss_ratio") and given["path_text"] is None:
        raise click.UsageError("--loss is of the links of a path: it needs a --path")
    if given.get("routed") and given["path_text"] is not None:
        raise click.UsageError("--routed and --path: one or the other lies between; name one")
    live_run(f"{name} {place(**given)}", measure, unit="byte", **given)
