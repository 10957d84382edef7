"""Options of plans that send by TCP: the path, its loss, the window, the flows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from netcalc.cli.mistakes import CommandError
from netcalc.cli.options import Choice, Quantity, read_path
from netcalc.cli.plan.page import known_option
from netcalc.errors import NetcalcError
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES
from netcalc.models.tcp.ceilings import CONGESTION_CONTROLS

if TYPE_CHECKING:
    from netcalc.path import Path

Function = TypeVar("Function", bound=Callable[..., Any])


def sending_options(function: Function) -> Function:
    """Add the options of a TCP transfer."""
    for option in (
        click.option("--mtu", "mtu_bytes", type=Quantity("byte", bare=True), default="1500 B",
                     show_default=True, help="Size of the full IP packets."),
        click.option("--algorithm", "congestion_control", type=Choice(list(CONGESTION_CONTROLS)),
                     default="cubic", show_default=True, help="Congestion control of the sender."),
        known_option("--flows", "flow_count", unit="1", default="1", show_default=True,
                     help="Flows that share the transfer."),
        known_option("--window", "window_bytes", unit="byte",
                     help="Largest window of a flow; without it the window is no limit."),
        known_option("--loss", "loss_ratio", unit="ratio", help="Random loss of packets."),
        known_option("--rtt", "rtt_s", unit="s", help="Round-trip time of the idle path."),
        known_option("--rate", "bandwidth_bps", unit="bit/s", help="Rate of the line."),
        click.option("--path", "path_text", metavar="PATH",
                     help='Rate and one-way latency of each link, such as "1 Gbit/s 20 ms".'),
    ):  # fmt: skip
        function = option(function)
    return function


def with_path(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options with the rate and the round trip of a path that is named.

    Raises
    ------
    CommandError
        If neither a path nor both numbers are there, or both are.
    """
    text = given.pop("path_text")
    numbers = (given["bandwidth_bps"], given["rtt_s"])
    if text is None:
        if None in numbers:
            raise CommandError("path-or-rate")
        return given
    if numbers[0] is not None:
        raise CommandError("options-exclusive", first="--path", second="--rate")
    path = _read_path(text)
    if numbers[1] is None:
        given["rtt_s"] = float(path.rtt_s(given["mtu_bytes"], reply_bytes=STAMPED_HEADERS_BYTES))
    return {**given, "bandwidth_bps": float(path.bottleneck_bps)}


def _read_path(text: str) -> Path:
    """Read a path; a range in it is refused with the options that take one."""
    try:
        return read_path(text)
    except NetcalcError:
        from netcalc.uncertain.text import is_distribution  # late: most paths have none

        if is_distribution(text):
            example = '--rate "80..100 Mbit/s" --rtt 40ms'
            raise CommandError(
                "range-in-path", name="--path", value=text, example=example
            ) from None
        raise
