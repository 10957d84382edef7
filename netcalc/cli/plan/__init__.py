"""``netcalc plan``: a question of a capacity planner, answered on one page."""

from __future__ import annotations

from importlib import import_module

import click

from netcalc.cli import ending_quietly, show_help_alone
from netcalc.cli.mistakes import Group

_COMMANDS = {
    "backup": "Does a backup fit its window?",
    "buffer": "How large a buffer, and what delay it adds.",
    "buy": "What limits a transfer, and the cheapest step out of it.",
    "link": "Rate for many users, and the date it is full.",
    "network": "Load, delay, failures and growth of a whole network.",
    "transfer": "How long a transfer takes, and why.",
    "tunnel": "MTU, MSS and goodput through a tunnel.",
    "voice": "Trunks and bandwidth for telephone calls.",
}


class _Plans(Group):
    """Plans that are imported when they are used, so that each of them starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = "network" if cmd_name == "network" else "pages"
        with ending_quietly():
            command: click.Command = getattr(import_module(f"{__name__}.{module}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


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
