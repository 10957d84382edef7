"""The list of mutants that no test can notice names lines that are there."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_equivalent_mutant_is_one_of_the_code(monkeypatch):
    """An entry for a line of before would excuse nothing, and hide that nobody looked again."""
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "benchmarks"))
    import mutations

    monkeypatch.delitem(sys.modules, "mutations")
    known = tomllib.loads(mutations.EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]
    files = {one["file"] for one in known}
    found = {
        (path.name, mutant.text, mutant.change)
        for path in (ROOT / "netcalc").rglob("*.py")
        if path.name in files
        for mutant in mutations.mutants(path)
    }
    listed = {(one["file"], one["line"], change) for one in known for change in one["changes"]}
    assert not listed - found
