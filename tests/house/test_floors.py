"""The house: who may import whom, and which third-party package stands on which floor."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "netcalc"

FLOORS = (  # the ground floor first: a room imports from lower floors and from itself
    ("language",),
    ("version", "display", "printable", "rate_layers"),
    ("messages",),
    ("errors",),
    ("units", "equations", "checks", "workers"),
    ("documents",),
    ("models",),
    ("path", "scenario", "samples"),
    ("readers", "fit", "solver"),
    ("uncertain",),
    ("calculator", "compare", "datasets", "explain", "emulation", "planning"),
    ("claims", "experiments"),
    ("congestion", "exercises"),
    ("truth", "plots"),
    ("widgets",),
    ("lessons",),
    ("cli",),
)

THIRD_PARTIES = {
    "language": set(),
    "version": set(),
    "display": set(),
    "messages": set(),
    "printable": set(),
    "rate_layers": set(),
    "errors": set(),
    "units": set(),
    "equations": set(),
    "checks": {"numpy"},
    "workers": set(),
    "documents": set(),
    "models": {"numpy", "scipy"},
    "path": {"numpy"},
    "scenario": {"numpy"},
    "samples": {"numpy", "pandas"},
    "readers": {"numpy"},
    "fit": {"numpy", "scipy"},
    "solver": {"numpy", "scipy"},
    "uncertain": {"numpy", "scipy"},
    "calculator": {"numpy"},
    "compare": {"numpy", "scipy"},
    "datasets": {"numpy"},
    "explain": {"numpy"},
    "emulation": {"numpy"},
    "planning": {"numpy", "scipy", "networkx"},
    "claims": {"numpy"},
    "experiments": {"numpy"},
    "congestion": {"numpy", "ns", "cppyy"},
    "exercises": {"numpy", "scipy"},
    "truth": {"numpy"},
    "plots": {"numpy", "bokeh", "matplotlib"},
    "widgets": {"numpy", "bokeh", "ipywidgets", "anywidget", "traitlets", "IPython"},
    "lessons": {
        "numpy",
        "bokeh",
        "ipywidgets",
        "anywidget",
        "traitlets",
        "IPython",
        "nbconvert",
        "latex2mathml",
    },
    "cli": {
        "numpy",
        "click",
        "rich",
        "jinja2",
        "jupyter_client",
        "jupyter_server",
        "nbconvert",
        "nbformat",
        "psutil",
        "tornado",
        "traitlets",
        "voila",
    },
    "": set(),  # netcalc/__init__.py and __main__.py
}

LATE = {
    "pandas", "bokeh", "ipywidgets", "anywidget", "traitlets", "IPython", "nbconvert",
    "cppyy", "latex2mathml", "matplotlib", "networkx", "ns",
}  # fmt: skip
"""Packages of the extras: these rooms alone may import them when they are loaded."""
LATE_ROOMS = {"plots", "widgets", "lessons"}

FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
MODULES = sorted(PACKAGE.rglob("*.py"))
NAMES = [str(path.relative_to(PACKAGE)) for path in MODULES]


def room_of(path: Path) -> str:
    """Return the room a file belongs to; the front door belongs to none."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first in ("__init__", "__main__") else first


STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)


@cache
def import_statements(path: Path) -> list[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Return the imports of a file, and whether each is run as soon as the file is loaded."""
    found: list[tuple[ast.Import | ast.ImportFrom, bool]] = []

    def visit(node: ast.AST, at_load: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, STATEMENTS):
                continue  # an expression imports nothing
            late = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) or is_type_checking(
                child
            )
            if isinstance(child, ast.Import | ast.ImportFrom):
                found.append((child, at_load))
            visit(child, at_load and not late)

    visit(ast.parse(path.read_text(encoding="utf-8")), True)
    return found


@cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """Return what a file imports, and whether it does so as soon as it is loaded."""
    found: list[tuple[str, bool]] = []
    for node, at_load in import_statements(path):
        if isinstance(node, ast.Import):
            found.extend((alias.name, at_load) for alias in node.names)
            continue
        assert node.level == 0, f"{path}: relative import in line {node.lineno}"
        assert node.module
        names = [alias.name for alias in node.names]
        assert "*" not in names, f"{path}: star import in line {node.lineno}"
        if node.module == "netcalc":
            found.extend((f"netcalc.{name}", at_load) for name in names)
        else:
            found.append((node.module, at_load))
    return found


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def test_every_room_has_a_floor():
    rooms = {room_of(path) for path in MODULES} - {"", "_bundled"}
    assert rooms <= set(FLOOR_OF)
    assert set(THIRD_PARTIES) == set(FLOOR_OF) | {""}


@pytest.mark.each("path", MODULES, ids=NAMES)
def test_imports_go_downwards(path):
    room = room_of(path)
    for name, _ in imports(path):
        parts = name.split(".")
        if parts[0] != "netcalc" or room == "" or len(parts) == 1:
            continue
        target = parts[1]
        if target == room:
            continue
        assert target in FLOOR_OF, f"{path}: imports {name}, which is no room"
        assert FLOOR_OF[target] < FLOOR_OF[room], f"{path}: {room} may not import {target}"


@pytest.mark.each("path", MODULES, ids=NAMES)
def test_third_parties_stay_on_their_floor(path):
    room = room_of(path)
    for name, at_load in imports(path):
        package = name.split(".")[0]
        if package == "netcalc" or package in sys.stdlib_module_names:
            continue
        assert package in THIRD_PARTIES[room], f"{path}: {room} may not use {package}"
        if package in LATE and room not in LATE_ROOMS:
            assert not at_load, f"{path}: import {package} inside the function that needs it"


def private_parts(name: str, importer: Path) -> list[str]:
    """Return the underscored modules in an imported name that are not of the importer's folder."""
    parts = name.split(".")
    folder = ("netcalc", *importer.parent.relative_to(PACKAGE).parts)
    return [
        part
        for number, part in enumerate(parts)
        if part.startswith("_") and not part.startswith("__") and tuple(parts[:number]) != folder
    ]


@pytest.mark.each("path", MODULES, ids=NAMES)
def test_underscored_files_are_imported_from_their_own_folder_only(path):
    found = {}
    for node, _ in import_statements(path):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        for name in names:
            if name.startswith("netcalc.") and private_parts(name, path):
                found[node.lineno] = name
    assert found == {}, f"{path}: private imports by line {found}"
