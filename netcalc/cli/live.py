"""What the commands of live runs share: a bar meanwhile, and what is left if they break off."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator

import click

from netcalc.cli import complain, print_json
from netcalc.cli.read import describe, summary
from netcalc.errors import ExperimentError
from netcalc.units import show


@contextlib.contextmanager
def partial_shown(name: str, *, as_json: bool) -> Iterator[None]:
    """Show what a run that breaks off has measured, and why it did."""
    try:
        yield
    except ExperimentError as error:
        if error.partial is None:
            raise
        if as_json:
            print_json({**summary(name, error.partial), "error": error.as_dict()})
        else:
            click.echo(describe(name, error.partial))
        complain(f"{error.phase}: {error.what}; what was measured until then is above")
        sys.exit(2)


class Progress:
    """A bar on the terminal; nothing where standard error is no terminal.

    With a unit the value that a run tells stands beside its name: what it has moved so far.
    """

    def __init__(self, name: str, *, unit: str = "") -> None:
        self._name, self._unit = name, unit

    def __enter__(self) -> Progress:
        from rich.console import Console
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        self._bar = Bar(console=console, transient=True, disable=not console.is_terminal)
        self._bar.start()
        self._task = self._bar.add_task(self._name, total=None)
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, done: float, total: int, value: float = math.nan) -> None:
        name = self._name
        if self._unit and value > 0:
            name += f", {show(value, self._unit, digits=3)}"
        self._bar.update(self._task, completed=done, total=total, description=name)
