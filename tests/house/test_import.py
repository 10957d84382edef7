"""``import netcalc`` is quick and quiet: no heavy package, no socket, no program."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable

import pytest

from netcalc import models
from netcalc.calculator import names as _index
from netcalc.version import requirement

SCRIPT = """
import json, sys
loaded = set(sys.modules)
seen = []
watched = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "urllib.")
sys.addaudithook(lambda event, args: seen.append(event) if event.startswith(watched) else None)
{statement}
packages = {{name.split(".")[0] for name in set(sys.modules) - loaded}}
print(json.dumps([sorted(packages - sys.stdlib_module_names), seen]))
"""


def loaded_by(statement: str) -> tuple[set[str], list[str]]:
    """Return the packages that a statement loads in a fresh Python, and what else it did."""
    script = SCRIPT.format(statement=statement)
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60
    )
    packages, events = json.loads(done.stdout)
    return set(packages), events


def test_the_package_alone_loads_nothing_else():
    assert loaded_by("import netcalc") == ({"netcalc"}, [])


def test_a_model_loads_numpy_and_opens_nothing():
    packages, events = loaded_by("import netcalc; netcalc.models.delays.latency.serialization_s")
    assert packages == {"netcalc", "numpy"}
    assert events == []


MODULES = """
import sys
from netcalc import calculator
{statement}
print(*sorted(name for name in sys.modules if name.startswith("netcalc.")))
"""


def modules_after(statement: str) -> set[str]:
    """Return the modules of netcalc that are loaded after a statement about formulas."""
    script = MODULES.format(statement=statement)
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60
    )
    return set(done.stdout.split())


def test_a_formula_is_found_by_its_name_without_the_others():
    own = modules_after("from netcalc.models.rates import line_rate")
    found = modules_after("print(end=calculator.command(calculator.formula('frame-rate'))[:0])")
    assert found == own


NOT_FOR_AN_ANSWER = {
    "csv", "difflib", "html", "pathlib", "shutil", "scipy", "rich", "docstring_parser",
    "netcalc.calculator.searching", "netcalc.calculator.vocabulary", "netcalc.path",
    "netcalc.readers", "netcalc.samples",
}  # fmt: skip
"""What other commands and options need, or a mistake; each of them takes 1 ms or more to load."""


def test_an_answer_of_the_command_loads_what_it_needs():
    script = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules))\n"
        "sys.argv = 'netcalc calc frame-rate 64B --bandwidth 1Gbit/s'.split()\n"
        "from netcalc.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60
    )
    answer, loaded = done.stdout.splitlines()
    assert answer == "1.488 Mpps"  # RFC 2544, Appendix B.2 has 14880 at 10 Mbit/s
    assert not NOT_FOR_AN_ANSWER & set(loaded.split())


def test_the_names_of_all_formulas_are_those_of_the_functions_that_are_defined():
    for subject, names in _index.defined().items():
        assert names == _index.public_names(models.subject_module(subject)), subject
    assert tuple(_index.defined()) == models.SUBJECTS


NOT_FOR_ITS_HELP = {
    "billing": {"netcalc.compare", "netcalc.explain"},
    "data": {"netcalc.claims", "netcalc.readers"},
    "doctor": {"netcalc.truth"},
    "export": {"netcalc.compare", "netcalc.explain"},
}  # fmt: skip
"""Rooms that other commands need; each takes 0.1 s or more to load."""


@pytest.mark.parametrize("command", NOT_FOR_ITS_HELP)
def test_a_command_loads_no_room_of_another(command):
    script = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules))\n"
        f"sys.argv = ['netcalc', {command!r}, '--help']\n"
        "from netcalc.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60
    )
    assert not NOT_FOR_ITS_HELP[command] & set(done.stdout.splitlines()[-1].split())


def test_names_are_found_without_the_files_of_the_modules(monkeypatch, tmp_path):
    from_files = _index.defined()
    monkeypatch.setattr(models, "__file__", str(tmp_path / "archive" / "__init__.py"))
    assert _index.defined.__wrapped__() == from_files


def test_a_public_name_that_is_not_there_is_an_attribute_error():
    script = "import netcalc\ntry: netcalc.nothing\nexcept AttributeError as error: print(error)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "nothing" in done.stdout


def test_completion_offers_public_names_only():
    script = "import netcalc; print([name for name in dir(netcalc) if name not in netcalc.__all__])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['__doc__', '__version__']\n"


FORKED = """
import os, sys
import numpy
for case in sys.argv[1:]:
    if os.fork() == 0:
        exec(case)
        sys.stdout.flush()
        os._exit(0)
    assert os.wait()[1] == 0, case
    print(end="\\0", flush=True)
"""


def said_by(cases: Iterable[str]) -> list[str]:
    """Run each case in a fork of one Python that has numpy; return what each prints."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED, *cases], capture_output=True, text=True, check=True
    )
    return done.stdout.split("\0")[:-1]


EXTRAS = [
    ("plots", "bokeh"), ("widgets", "bokeh"), ("widgets", "ipywidgets"), ("widgets", "anywidget"),
]  # fmt: skip
IMPORTS = ("from netcalc import {}", "import netcalc.{}")


def test_without_the_extra_one_sentence_says_what_to_install():
    cases = [(*extra, how) for extra in EXTRAS for how in IMPORTS]
    said = said_by(
        f"sys.modules[{missing!r}] = None\n"
        "from netcalc.errors import MissingPackageError\n"
        f"try: {how.format(room)}\nexcept MissingPackageError as error: print(error)"
        for room, missing, how in cases
    )
    for (room, missing, how), text in zip(cases, said, strict=True):
        assert f"netcalc.{room} needs the package {missing}" in text, how
        assert f"pip install {requirement('lab')}" in text, how


OLD = [
    ("plots", "bokeh", "1.4.0"),
    ("widgets", "bokeh", "2.4.3"),
    ("widgets", "ipywidgets", "6.0.1"),
]


def test_a_package_two_versions_behind_is_named_with_what_to_install():
    said = said_by(
        f"import {package}; {package}.__version__ = {version!r}\n"
        "from netcalc.errors import MissingPackageError\n"
        f"try: import netcalc.{room}\nexcept MissingPackageError as error: print(error)"
        for room, package, version in OLD
    )
    for (room, package, version), text in zip(OLD, said, strict=True):
        who = "plots" if package == "bokeh" else room
        wanted = f"netcalc.{who} needs the package {package}, in a later version than {version}."
        assert text == f"{wanted} Install it with: pip install {requirement('lab')}\n"
