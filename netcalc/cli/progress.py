"""A bar on the terminal while a run measures."""

from __future__ import annotations

import math

from netcalc.units import show


class Progress:
    """A bar on the terminal; none if standard error is not a terminal.

    With a unit, the bytes moved so far are shown next to the name of the run.
    """

    def __init__(self, name: str, *, unit: str = "") -> None:
        self._name, self._unit = name, unit

    def __enter__(self) -> Progress:
        from rich.console import Console
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        self._bar = Bar(console=console, transient=True, disable=not console.is_terminal)
        try:
            self._bar.start()
        except RuntimeError:  # no thread is left (ulimit -u): the run goes on without a bar
            self._bar = Bar(disable=True)
        self._task = self._bar.add_task(self._name, total=None)
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, done: float, total: int, value: float = math.nan) -> None:
        name = self._name
        if self._unit and value > 0:
            name += f", {show(value, self._unit, digits=3)}"
        self._bar.update(self._task, completed=done, total=total, description=name)
