"""``netcalc plan tunnel``: MTU, MSS and goodput through a stack of tunnels."""

from __future__ import annotations

from typing import Any

import click

from netcalc import planning, units
from netcalc.cli.mistakes import named_as_typed
from netcalc.cli.options import PlannersCommand, Quantity, WholeNumber
from netcalc.cli.plan.page import check_page, known_option, page_options, print_page, read_stack
from netcalc.errors import UnitError


@click.command(cls=PlannersCommand)
@click.argument("stack", metavar="STACK")
@known_option(
    "--rate",
    "bandwidth_bps",
    unit="bit/s",
    default="1 Gbit/s",
    show_default=True,
    help="Rate of the line.",
)
@known_option(
    "--mtu",
    "mtu_bytes",
    unit="byte",
    bare=True,
    default="1500 B",
    show_default=True,
    help="Largest packet of the path.",
)
@click.option("--ipv6", "ip_version", flag_value=6, type=int, default=4, help="IPv6 in the tunnel.")
@click.option(
    "--tcp-options",
    "tcp_option_bytes",
    type=Quantity("byte", bare=True),
    default="12 B",
    show_default=True,
    help="TCP options of a segment: 12 B with timestamps.",
)
@click.option(
    "--tags",
    "tag_count",
    type=WholeNumber(0),
    default=0,
    show_default=True,
    help="802.1Q tags of the outer frame.",
)
@click.option(
    "--mix",
    "mix_text",
    metavar="SIZE:WEIGHT,...",
    help="Mix of IP packets; by default 40B:7,576B:4,1500B:1.",
)
@page_options
def tunnel(
    stack: str, mix_text: str | None, as_json: bool, plot_path: str | None, force: bool,
    draws: int | None, **given: Any,
) -> None:  # fmt: skip
    """Plan a stack of tunnels over Ethernet: MTU, MSS, and what is left of the line.

    STACK is written as a capture shows it, outermost layer first: wireguard4, vxlan4+wireguard4,
    gre, esp4:aes-gcm-16, pppoe.

    \b
    netcalc plan tunnel wireguard6
    netcalc plan tunnel vxlan4+esp4 --rate 10Gbit/s --mtu 9000B
    """
    check_page(plot_path, force=force)
    stack = read_stack(stack, typed="STACK")
    mix = None if mix_text is None else read_mix(mix_text)
    with named_as_typed(stack=("STACK", ""), mix=("--mix", "byte")):
        plan = planning.tunnel(stack, mix=mix, draws=draws or 0, **given)
    print_page(plan, as_json=as_json, plot_path=plot_path)


def read_mix(text: str) -> dict[float, float]:
    """Read sizes with their weights: ``40B:7,576B:4,1500B:1``.

    Examples
    --------
    >>> read_mix("40B:7, 576B:4")
    {40.0: 7.0, 576.0: 4.0}
    """
    found = {}
    for part in text.split(","):
        size, colon, weight = part.partition(":")
        if not colon:
            raise UnitError("mix-malformed", part.strip(), expected="a size", field="--mix")
        number = units.parse_number(weight, field="--mix")
        found[units.parse(size, "byte", field="--mix")] = number
    return found
