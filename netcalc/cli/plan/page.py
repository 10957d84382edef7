"""What all plans of the command line share: their options, inputs that may be ranges, the page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any, TypeVar

import click

from netcalc.cli import complain, print_json, say
from netcalc.cli.mistakes import CommandError, typed_name
from netcalc.cli.options import KINDS, Quantity, WholeNumber
from netcalc.cli.output import check_output, print_written, write_plot
from netcalc.messages import Notice
from netcalc.planning import Plan

Function = TypeVar("Function", bound=Callable[..., Any])


class Known(Quantity):
    """A quantity with its unit, a range or a distribution of it."""

    def __init__(self, unit: str, *, bare: bool = False) -> None:
        self.unit, self.bare = unit, bare
        self.name = KINDS.get(unit, "number")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the text; a mistake names the option."""
        if isinstance(value, str):
            from netcalc.uncertain.text import is_distribution, parse  # late: values need none

            if is_distribution(value):
                return parse(value, self.unit, field=typed_name(param) if param else None)
        return super().convert(value, param, ctx)


class Growth(Known):
    """A growth a year, or a range of it: ``30%``, ``30 % ± 5 % a year``."""

    def __init__(self) -> None:
        super().__init__("ratio")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the text; a mistake names the option."""
        if isinstance(value, str):
            from netcalc.uncertain.text import without_year  # late, as above

            value = without_year(value)
        return super().convert(value, param, ctx)


class Day(click.ParamType):  # type: ignore[type-arg] # click 8.1 has no argument there
    """A day in ISO form: ``2026-11-24``."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """Read the text; a mistake names the option."""
        if isinstance(value, date):
            return value
        try:
            return date.fromisoformat(str(value).strip())
        except ValueError:
            name = typed_name(param) if param is not None else self.name
            raise CommandError("date-malformed", name=name, value=value) from None


def known_option(
    *names: str, unit: str, bare: bool = False, **more: Any
) -> Callable[[Function], Function]:
    """Return an option whose value may be a range; with ``bare`` digits alone are in ``unit``."""
    return click.option(*names, type=Known(unit, bare=bare), **more)


def page_options(function: Function) -> Function:
    """Add the options of every plan: of its page, and of the draws of ranges."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option("--force", is_flag=True, help="Replace OUT if it exists."),
        click.option(
            "--plot", "plot_path", metavar="OUT", help="Draw the plan, as .html, .svg or .png."
        ),
        click.option("--truncate", is_flag=True, help="Discard impossible draws, with a note."),
        click.option("--seed", type=WholeNumber(0), default=0, help="Random seed of the draws."),
        click.option(
            "--draws", type=WholeNumber(2), help="Number of draws, if an input is a range: 10000."
        ),
    ):
        function = option(function)
    return function


def read_stack(text: str, *, typed: str) -> str:
    """Return a stack of tunnels by the names of its layers, and say how another name was read."""
    from netcalc.calculator import plain_name, stack  # late: most plans have no tunnel

    found = stack(text)
    if plain_name(found) != plain_name(text):
        complain(f"note: {Notice('read-as', {'name': typed, 'text': text, 'value': found})}")
    return found


def check_page(plot_path: str | None, *, force: bool) -> None:
    """Refuse a file of the figure before the work."""
    if plot_path is not None:
        check_output(plot_path, force=force, plot=True)


def print_page(plan: Plan, *, as_json: bool, plot_path: str | None) -> None:
    """Print the page of a plan, and draw it if a file is named."""
    if as_json:
        print_json(plan.as_dict())
    else:
        say(str(plan))
    if plot_path is not None:
        from netcalc import plots  # late: bokeh takes its time

        write_plot(plots.plan(plan), plot_path)
        print_written(plot_path)
