"""The public names: those of the faces, of the reference, and of what people copy are the same."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import netcalc
from netcalc import samples
from netcalc.errors import ReaderError
from netcalc.models import CHAPTERS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "netcalc"
DOCS = ROOT / "docs"
FRONT = {"Hop", "Link", "Path", "ask", "read", "search", "solve"}
"""What ``netcalc`` itself offers beside its rooms: shorter ways to names of these."""
ROOMS = [name for name in netcalc.__all__ if name not in FRONT]
PRIVATE = {"cli", "documents", "language", "printable", "version", "workers"}
"""Rooms that no other program should import, as the page of the contract says."""


def with_parts(module: ModuleType) -> list[ModuleType]:
    """Return a face, and the modules that its ``__all__`` names."""
    values = [getattr(module, name) for name in getattr(module, "__all__", ())]
    parts = filter(inspect.ismodule, values)
    return [module, *(inner for part in parts for inner in with_parts(part))]


@cache
def modules() -> dict[str, ModuleType]:
    """Return every public module by name: faces, parts, chapters and their files."""
    pytest.importorskip("bokeh")
    public = [part for room in ROOMS for part in with_parts(import_module(f"netcalc.{room}"))]
    named = {module.__name__: module for module in public}
    for chapter in CHAPTERS:
        for file in (PACKAGE / "models" / chapter).glob("[a-z]*.py"):
            name = f"netcalc.models.{chapter}.{file.stem}"
            named[name] = import_module(name)
    return named


DEFINED = re.compile(
    r"^(?:(?:def|class) ([A-Za-z]\w*)|([A-Z][A-Z0-9_]*)(?:: [^=\n]+)? = "
    r"|from \S+ import ([A-Za-z]\w*) as \3$)",
    re.MULTILINE,
)


def defined(module: ModuleType) -> set[str]:
    """Return the functions, classes and constants of a file, and what it imports as itself."""
    return {"".join(groups) for groups in DEFINED.findall(inspect.getsource(module))}


@cache
def public_names() -> set[str]:
    """Return every public name, whole: by the ``__all__`` of a face, else by definition."""
    whole = set()
    for name, module in modules().items():
        names = set(getattr(module, "__all__", ())) or defined(module)
        whole |= {
            f"{name}.{short}" for short in names if not inspect.ismodule(getattr(module, short))
        }
    return whole


def has_all(path: Path) -> bool:
    """Whether a file assigns ``__all__``."""
    return re.search(r"^__all__\b", path.read_text(encoding="utf-8"), re.M) is not None


CALLED = {
    "compare", "congestion", "datasets", "experiments", "explain", "fit", "models", "path", "plots",
    "samples", "scenario", "solver", "uncertain",
}  # fmt: skip
"""Rooms whose functions people call with named arguments."""


UNNAMED = {"netcalc.samples.json_ready"}
"""Called for each value that is saved, so without the second call that naming an argument costs."""


def takes_any_name(function: Callable[..., object]) -> bool:
    """Whether a function has no names of its own that a caller could miss."""
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    return inspect.Parameter.VAR_KEYWORD in kinds


def test_a_wrong_argument_is_named_wherever_people_call():
    called, silent = 0, []
    for whole in sorted(public_names()):
        module, _, short = whole.rpartition(".")
        function = getattr(modules()[module], short)
        is_ours = getattr(function, "__module__", "").startswith("netcalc.")
        if module.split(".")[1] not in CALLED or not is_ours:
            continue
        if whole in UNNAMED or not inspect.isfunction(function) or takes_any_name(function):
            continue
        called += 1
        with pytest.raises(TypeError) as caught:
            function(no_such_argument=1)
        if getattr(caught.value, "values", {}).get("name") != "no_such_argument":
            silent.append(whole)
    assert called > 400  # it was 524
    assert silent == []


def test_only_public_faces_have_all():
    files = {PACKAGE / "__init__.py", *(Path(face.__file__) for face in faces().values())}
    assert {path for path in PACKAGE.rglob("*.py") if has_all(path)} == files
    assert all(hasattr(import_module(f"netcalc.{room}"), "__all__") for room in ROOMS)


def contract() -> str:
    """Return the page "What you can rely on"."""
    return (DOCS / "contract.md").read_text(encoding="utf-8")


def test_a_room_is_public_or_said_to_be_private():
    rooms = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert rooms - {"__init__", "__main__", "__pycache__", "_bundled", "py"} == set(ROOMS) | PRIVATE
    private = contract().partition("Private is")[2].partition("`netcalc.__version__`")[0]
    assert set(re.findall(r"`netcalc\.(\w+)`", private)) == PRIVATE


@cache
def faces() -> dict[str, ModuleType]:
    """Return the public modules that have an ``__all__``."""
    return {name: module for name, module in modules().items() if hasattr(module, "__all__")}


def test_the_names_of_a_face_are_there_and_none_that_it_defines_is_missing():
    for name, face in faces().items():
        assert [word for word in face.__all__ if word[0] == "_" or not hasattr(face, word)] == []
        assert defined(face) - set(face.__all__) == set(), name


def test_completion_in_a_face_offers_public_names_only():
    for name, face in faces().items():
        assert dir(face) == sorted(face.__all__), name
    for chapter, subjects in CHAPTERS.items():
        assert dir(modules()[f"netcalc.models.{chapter}"]) == sorted(subjects)


@pytest.mark.parametrize("name", ["congestion", "exercises", "scenario"])
def test_a_room_of_the_reference_is_an_attribute(name):
    assert getattr(netcalc, name) is import_module(f"netcalc.{name}")


@cache
def reference() -> ModuleType:
    """Return what writes the pages of the reference; ``docs/ext`` is not a package."""
    pytest.importorskip("sphinx")
    path = DOCS / "ext" / "reference.py"
    spec = importlib.util.spec_from_file_location("docs_reference", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def documented(text: str) -> list[str]:
    """Return the names that a page of the reference documents."""
    return re.findall(r"^\.\. auto(?:class|data|exception|function):: (\S+)$", text, re.M)


def test_the_reference_documents_every_public_name_once_and_no_other():
    pages = [*map(reference().room_text, ROOMS), *map(reference().chapter_text, CHAPTERS)]
    names = [name for page in pages for name in documented(page)]
    assert sorted(names) == sorted(public_names())
    listed = [name for page in pages for name in re.findall(r"\{py:\w+\}`\w+ <(\S+)>`", page)]
    assert sorted(listed) == sorted(names)


def test_every_room_and_chapter_has_a_page_in_the_reference():
    index = (DOCS / "reference" / "index.md").read_text(encoding="utf-8").splitlines()
    for name in (*ROOMS, *CHAPTERS):
        text = (DOCS / "reference" / f"{name}.md").read_text(encoding="utf-8")
        assert f"../generated/reference/{name}.txt" in text, name
        assert name in index, name


def python_of(path: Path) -> list[str]:
    """Return the Python that a reader of a page or notebook can copy."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return [text]
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        blocks = ["".join(cell["source"]) for cell in cells]
    else:
        blocks = re.findall(r"```(?:python|pycon)\n(.*?)```", text, re.S)
        blocks = list(map(textwrap.dedent, blocks))
    prompts = [re.findall(r"^(?:>>>|\.\.\.) ?(.*)", block, re.M) for block in blocks]
    return ["\n".join(lines) or block for lines, block in zip(prompts, blocks, strict=True)]


def names_used(code: str) -> set[str]:
    """Return the names of netcalc that a piece of Python uses, whole."""
    names, short = set(), {}
    nodes = list(ast.walk(ast.parse(re.sub(r"^\s*[%!].*", "", code, flags=re.M))))
    for node in nodes:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            whole = f"{module}{alias.name}"
            if whole.partition(".")[0] == "netcalc":
                names.add(whole)
                bound = alias.asname or (alias.name if module else "netcalc")
                short[bound] = whole if module or alias.asname else "netcalc"
    for node in nodes:
        text = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
        first, _, rest = text.partition(".")
        if first in short and re.fullmatch(r"[\w.]+", text):
            names.add(f"{short[first]}.{rest}")
    return names


def is_public(name: str) -> bool:
    """Whether a name is in the contract, or an attribute of one that is."""
    parts = name.split(".")
    if name in ("netcalc", "netcalc.__version__") or parts[1] in FRONT:
        return True
    starts = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    return name in modules() or bool(starts & public_names())


COPIED = [
    ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("howto/*.md"), *DOCS.glob("gallery/**/*.py"),
    *ROOT.glob("notebooks/*.ipynb"),
]  # fmt: skip


def test_what_people_copy_uses_public_names_only():
    used = {
        (path.name, name)
        for path in COPIED
        for code in python_of(path)
        for name in names_used(code)
    }
    assert len(used) > 300  # it was 504: the search above works
    assert {(where, name) for where, name in used if not is_public(name)} == set()


def test_a_private_name_in_a_page_is_seen():
    code = (
        "import netcalc\nfrom netcalc import units\nnetcalc.units.re\nunits.parse('1 s', 's').real"
    )
    assert {name for name in names_used(code) if not is_public(name)} == {"netcalc.units.re"}


def test_the_page_has_the_number_of_every_saved_file():
    rows = dict(re.findall(r"^\| (\w+) [^|]*\| `schema` (\d+) \|", contract(), re.M))
    numbers = {
        "saved": samples.SCHEMA,
        "results": import_module("netcalc.congestion.batch").SCHEMA,
        "notebooks": import_module("netcalc.exercises.classes.sheets").SCHEMA,
    }
    assert {name: int(number) for name, number in rows.items()} == numbers
    named = [path for path in PACKAGE.rglob("*.py") if "\nSCHEMA = " in path.read_text("utf-8")]
    assert len(named) == len(numbers)


def test_a_saved_file_of_a_later_number_is_refused_and_of_this_one_read():
    kept = samples.RttSamples(payload_bytes=[56.0], rtt_s=[0.01]).dumps()
    assert samples.loads(kept, file="a.json").sent == 1
    later = re.sub(rb'("schema": *)\d+', rb"\g<1>%d" % (samples.SCHEMA + 1), kept, count=1)
    with pytest.raises(ReaderError) as caught:
        samples.loads(later, file="a.json")
    assert caught.value.code == "later-schema"


def test_the_page_has_the_pythons_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [text.rpartition(":: ")[2] for text in project["classifiers"] if ":: 3." in text]
    assert f"\n{listed[0]} to {listed[-1]}. " in contract()
    assert project["requires-python"] == f">={listed[0]}"
