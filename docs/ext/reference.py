"""The pages of the reference: a table of one-line summaries, then every docstring."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx

from netcalc import calculator
from netcalc.models import CHAPTERS
from netcalc.readers.formats import FORMATS

ROOMS: dict[str, tuple[str, ...]] = {
    "path": ("netcalc.path",),
    "scenario": ("netcalc.scenario",),
    "samples": ("netcalc.samples",),
    "readers": ("netcalc.readers",),
    "datasets": ("netcalc.datasets",),
    "fit": ("netcalc.fit",),
    "solver": ("netcalc.solver",),
    "uncertain": ("netcalc.uncertain",),
    "calculator": ("netcalc.calculator",),
    "compare": ("netcalc.compare",),
    "explain": ("netcalc.explain",),
    "claims": ("netcalc.claims",),
    "exercises": ("netcalc.exercises",),
    "planning": ("netcalc.planning", "netcalc.planning.network"),
    "congestion": tuple(
        f"netcalc.congestion.{name}"
        for name in (
            "theory", "ns3", "result", "quantities", "latencies", "ways", "estimates", "batch",
            "grid", "table",
        )
    ),
    "experiments": ("netcalc.experiments",),
    "emulation": ("netcalc.emulation",),
    "truth": ("netcalc.truth",),
    "plots": ("netcalc.plots",),
    "widgets": ("netcalc.widgets",),
    "lessons": ("netcalc.lessons",),
    "foundations": tuple(
        f"netcalc.{name}"
        for name in ("units", "rate_layers", "display", "equations", "checks", "errors", "messages")
    ),
}  # fmt: skip
"""Pages of the reference that are not chapters of formulas, and the modules of each."""
LONGEST_VALUE = 60
"""A constant's value is shown up to this length. [character]"""
_ROLE = re.compile(r":\w+(?::\w+)*:`~?(?:[^`<]*<)?([^`>]*)>?`")


def chapter_modules(chapter: str) -> list[ModuleType]:
    """Return the modules of a chapter of formulas: its subjects in order, then what they share."""
    package = import_module(f"netcalc.models.{chapter}")
    there = [one.name for one in pkgutil.iter_modules(package.__path__) if one.name[0] != "_"]
    names = [*CHAPTERS[chapter], *(name for name in there if name not in CHAPTERS[chapter])]
    return [import_module(f"{package.__name__}.{name}") for name in names]


def public(module: ModuleType) -> dict[str, Any]:
    """Return the functions and classes that a module's page documents."""
    names = getattr(module, "__all__", None)
    return {
        name: value
        for name, value in vars(module).items()
        if (inspect.isfunction(value) or inspect.isclass(value))
        and (
            name in names
            if names is not None
            else name[0] != "_" and value.__module__ == module.__name__
        )
    }


def one_line(text: str | None) -> str:
    """Return the first sentence of a docstring, without roles."""
    first = (text or "").strip().split("\n\n", 1)[0].replace("\n", " ")
    first = _ROLE.sub(r"\1", first).replace("``", "`").replace("|", r"\|")
    return re.sub(r"(?<=[.?!]) [A-Z].*$", "", re.sub(r"\s+", " ", first))


def _commands() -> dict[Any, str]:
    return {one.function: calculator.command(one) for one in calculator.formulas().values()}


def _table(module: ModuleType, commands: Mapping[Any, str]) -> list[str]:
    lines = []
    for name, value in public(module).items():
        role = "class" if inspect.isclass(value) else "func"
        link = f"{{py:{role}}}`{name} <{module.__name__}.{name}>`"
        typed = f"`{commands[value]}`" if value in commands else ""
        lines.append(f"| {link} | {typed} | {one_line(value.__doc__)} |")
    if not any("| `" in line for line in lines):
        lines = [line.replace("|  |", "|", 1) for line in lines]
        head = ["```{rst-class} stacked", "```", "", "| name | what it is |", "|---|---|"]
        return [*head, *lines, ""] if lines else []
    calc = ["```{rst-class} stacked calc-names", "```", ""]
    return [*calc, "| function | `netcalc calc` | what it gives |", "|---|---|---|", *lines, ""]


def _automodule(name: str) -> list[str]:
    return ["```{eval-rst}", f".. automodule:: {name}", "   :members:", "```", ""]


def chapter_text(chapter: str) -> str:
    """Return what the page of a chapter of formulas has below its introduction."""
    commands, modules = _commands(), chapter_modules(chapter)
    parts = ["## In one line each", ""]
    for module in modules:
        parts += [f"**{module.__name__.rpartition('.')[2]}**: {one_line(module.__doc__)}", ""]
        parts += _table(module, commands)
    for module in modules:
        parts += [
            f"## {module.__name__.removeprefix('netcalc.models.')}",
            "",
            *_automodule(module.__name__),
        ]
    return "\n".join(parts)


def room_text(room: str) -> str:
    """Return what the page of a room has below its introduction."""
    modules = [import_module(name) for name in ROOMS[room]]
    parts = ["## In one line each", ""]
    for module in modules:
        if len(modules) > 1:
            parts += [
                f"**{module.__name__.removeprefix('netcalc.')}**: {one_line(module.__doc__)}",
                "",
            ]
        parts += _table(module, {})
    for module in modules:
        parts += [f"## {module.__name__}", "", *_automodule(module.__name__)]
    return "\n".join(parts)


def formats_text() -> str:
    """Return the table of the formats that are read, in the order in which they are tried."""
    lines = [
        "```{rst-class} stacked",
        "```",
        "",
        "| format | what it is | what to know about it |",
        "|---|---|---|",
    ]
    for one in FORMATS:
        traps = "<br>".join(
            trap.replace("|", r"\|").replace("<", "&lt;").replace("*", r"\*") for trap in one.traps
        )
        lines.append(f"| {one.name} | {one.description} | {traps} |")
    return "\n".join(lines) + "\n"


def _readable(value: Any) -> str | None:
    if isinstance(value, Mapping) or (
        isinstance(value, tuple | list | set | frozenset) and len(repr(value)) > LONGEST_VALUE
    ):
        return f"{len(value)} entries"
    if isinstance(value, bool | int | float | str | tuple | list | set | frozenset):
        shown = f"{value:,}" if isinstance(value, int) and value >= 10_000 else repr(value)
        if " object at 0x" not in shown and "\n" not in shown and len(shown) <= LONGEST_VALUE:
            return shown
    return None


def add_words(
    app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    """Add to a formula its name in a terminal, and to a constant its value where it is readable."""
    if what == "function" and value in app.netcalc_commands:  # type: ignore[attr-defined]
        end = next((n for n, line in enumerate(lines) if not line.strip()), len(lines))
        typed = app.netcalc_commands[value]  # type: ignore[attr-defined]
        lines[end:end] = ["", f"In a terminal: ``netcalc calc {typed}``", ""]
    elif what == "data":
        shown = _readable(value)
        if shown is not None:
            lines[:0] = [f"``{shown}``" if "entries" not in shown else shown, ""]


def setup(app: Sphinx) -> None:
    """Have the words added before the sections of a docstring are made."""
    app.netcalc_commands = _commands()  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", add_words, priority=400)
