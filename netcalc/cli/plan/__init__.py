"""``netcalc plan``: a question of a capacity planner, answered on one page."""

from __future__ import annotations

import click

from netcalc.cli import LazyGroup, show_help_alone

_COMMANDS = {
    "backup": "Does a backup fit its window?",
    "buffer": "How large a buffer, and what delay it adds.",
    "buy": "What limits a transfer, and the cheapest step out of it.",
    "host": "Socket buffers and settings of a host for a path.",
    "link": "Rate for many users, and the date it is full.",
    "network": "Load, delay, failures and growth of a whole network.",
    "transfer": "How long a transfer takes, and why.",
    "tunnel": "MTU, MSS and goodput through a tunnel.",
    "voice": "Trunks and bandwidth for telephone calls.",
}


class _Plans(LazyGroup):
    lines = _COMMANDS

    def place(self, name: str) -> str:
        return f"{__name__}.{'network' if name == 'network' else 'pages'}:{name}"


@click.group(cls=_Plans, invoke_without_command=True)
@click.pass_context
def plan(ctx: click.Context) -> None:
    """Answer a question of capacity planning on one page.

    Each input is a value with its unit, or a range of it; the answers come first. --json prints the
    same for a program, --plot draws it.

    \b
    netcalc plan transfer 10GB --path "1 Gbit/s 20 ms" --loss 0.01%
    netcalc plan link 500 --each 2Mbit/s --active 10%
    netcalc plan voice "1200 calls/h" --holding 3min --codec g729
    """
    show_help_alone(ctx)
