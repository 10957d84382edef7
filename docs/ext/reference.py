"""The pages of the reference: a table of one-line summaries, then every docstring."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

import netcalc
from netcalc import calculator
from netcalc.models import CHAPTERS
from netcalc.readers import FORMATS

_FILES = {module.name for module in pkgutil.iter_modules(netcalc.__path__)}
ROOMS = tuple(name for name in netcalc.__all__ if name in _FILES)
"""The public rooms: each has a page, beside those of the chapters of formulas."""
LONGEST_VALUE = 60
"""A constant's value is shown up to this length. [character]"""
_ROLE = re.compile(r":\w+(?::\w+)*:`~?(?:[^`<]*<)?([^`>]*)>?`")


def chapter_modules(chapter: str) -> list[ModuleType]:
    """Return the modules of a chapter of formulas: its subjects in order, then what they share."""
    package = import_module(f"netcalc.models.{chapter}")
    there = [one.name for one in pkgutil.iter_modules(package.__path__) if one.name[0] != "_"]
    names = [*CHAPTERS[chapter], *(name for name in there if name not in CHAPTERS[chapter])]
    return [import_module(f"{package.__name__}.{name}") for name in names]


def room_modules(room: str) -> list[ModuleType]:
    """Return the face of a room, and its parts that are public; chapters have their own pages."""
    face = import_module(f"netcalc.{room}")
    return [face] if room == "models" else _with_parts(face)


def _with_parts(module: ModuleType) -> list[ModuleType]:
    parts = filter(inspect.ismodule, public(module).values())
    return [module, *(inner for part in parts for inner in _with_parts(part))]


def public(module: ModuleType) -> dict[str, Any]:
    """Return what is public in a module: its ``__all__``, else what it defines without underscore.

    A file without ``__all__`` is a part of a room, such as a subject of the models.
    """
    names = getattr(module, "__all__", None) or _defined(module)
    return {name: getattr(module, name) for name in names}


def _defined(module: ModuleType) -> list[str]:
    """Return the functions, classes and constants of a file, and what it imports as itself."""
    names: list[str] = []
    for statement in ast.parse(inspect.getsource(module)).body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            names.append(statement.name)
        elif isinstance(statement, ast.ImportFrom):
            names += [alias.name for alias in statement.names if alias.asname == alias.name]
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            texts = [node.id for node in targets if isinstance(node, ast.Name)]
            names += [text for text in texts if text.isupper()]
    return [name for name in names if name[0] != "_"]


@cache
def constant_lines(name: str) -> tuple[str, ...]:
    """Return the docstring of a constant, which only the file that defines it has."""
    module, _, constant = name.rpartition(".")
    for node in ast.walk(ast.parse(inspect.getsource(import_module(module)))):
        if isinstance(node, ast.ImportFrom) and constant in [alias.name for alias in node.names]:
            return constant_lines(f"{node.module}.{constant}")
    return tuple(ModuleAnalyzer.for_module(module).find_attr_docs().get(("", constant), ()))


def one_line(text: str | None) -> str:
    """Return the first sentence of a docstring, without roles."""
    first = (text or "").strip().split("\n\n", 1)[0].replace("\n", " ")
    first = _ROLE.sub(r"\1", first).replace("``", "`").replace("|", r"\|")
    return re.sub(r"(?<=[.?!]) [A-Z].*$", "", re.sub(r"\s+", " ", first))


def _commands() -> dict[Any, str]:
    return {one.function: calculator.command(one) for one in calculator.formulas().values()}


def _kind(value: Any) -> str:
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if inspect.isfunction(value) else "data"


_ROLES = {"class": "class", "exception": "exc", "function": "func", "data": "data"}


def _table(module: ModuleType, commands: Mapping[Any, str]) -> list[str]:
    lines = []
    for name, value in public(module).items():
        if inspect.ismodule(value):
            continue
        kind, full = _kind(value), f"{module.__name__}.{name}"
        link = f"{{py:{_ROLES[kind]}}}`{name} <{full}>`"
        typed = f"`{commands[value]}`" if kind == "function" and value in commands else ""
        text = value.__doc__
        if kind == "data":
            shown = _readable(value)
            text = "\n".join(constant_lines(full)) or (f"`{shown}`" if shown else "")
        lines.append(f"| {link} | {typed} | {one_line(text)} |")
    if not any("| `" in line for line in lines):
        lines = [line.replace("|  |", "|", 1) for line in lines]
        head = ["```{rst-class} stacked", "```", "", "| name | what it is |", "|---|---|"]
        return [*head, *lines, ""] if lines else []
    calc = ["```{rst-class} stacked calc-names", "```", ""]
    return [*calc, "| function | `netcalc calc` | what it gives |", "|---|---|---|", *lines, ""]


def _documented(module: ModuleType) -> list[str]:
    """Return the directives for a module and for each of its public names."""
    lines = ["```{eval-rst}", f".. automodule:: {module.__name__}", ""]
    for name, value in public(module).items():
        if not inspect.ismodule(value):
            kind = _kind(value)
            members = ["   :members:"] if kind in ("class", "exception") else []
            lines += [f".. auto{kind}:: {module.__name__}.{name}", *members, ""]
    return [*lines, "```", ""]


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
            *_documented(module),
        ]
    return "\n".join(parts)


def room_text(room: str) -> str:
    """Return what the page of a room has below its introduction."""
    modules = room_modules(room)
    parts = ["## In one line each", ""]
    for module in modules:
        if len(modules) > 1:
            parts += [
                f"**{module.__name__.removeprefix('netcalc.')}**: {one_line(module.__doc__)}",
                "",
            ]
        parts += _table(module, {})
    for module in modules:
        parts += [f"## {module.__name__}", "", *_documented(module)]
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
        lines[:] = [*constant_lines(name), ""]  # without its own, autodoc takes that of its type
        shown = _readable(value)
        if shown is not None:
            lines[:0] = [f"``{shown}``" if "entries" not in shown else shown, ""]


def setup(app: Sphinx) -> None:
    """Have the words added before the sections of a docstring are made."""
    app.netcalc_commands = _commands()  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", add_words, priority=400)
