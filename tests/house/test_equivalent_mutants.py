"""Mutants: the rooms hold every file that computes or reads, and the list of those that no test can
notice names lines that are there."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


LIVE = ("cli", "experiments", "lessons", "truth", "widgets")
"""Folders whose tests start programs, measure or draw pages: minutes for each mutant."""
LIVE_EMULATION = ("wire", "capability.py", "relay.py")
LIVE_CONGESTION = ("live.py", "ns3.py", "_ns3_child.py")
ENTRANCES = ("__init__.py", "__main__.py", "version.py")
"""Files of the package itself, and of folders, that only name others."""


def is_measured(path: Path) -> bool:
    """Whether a file computes or reads, so that mutants judge its tests."""
    parts = path.relative_to(ROOT / "netcalc").parts
    if parts[0] in LIVE or (parts[0] == "emulation" and parts[1] in LIVE_EMULATION):
        return False
    if parts[0] == "congestion" and parts[1] in LIVE_CONGESTION:
        return False
    return len(parts) > 1 or parts[0] not in ENTRANCES


def test_every_file_that_computes_or_reads_is_in_a_room(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "benchmarks"))
    import mutations

    monkeypatch.delitem(sys.modules, "mutations")
    rooms = mutations.ROOMS.values()
    held = {path for room in rooms for one in room.sources for path in ROOT.glob(one)}
    others = {path for path in (ROOT / "netcalc").rglob("*.py") if is_measured(path)} - held
    assert [str(path) for path in sorted(others) if list(mutations.mutants(path))] == []
    for room in rooms:
        assert [one for one in (*room.sources, *room.tests) if not list(ROOT.glob(one))] == []


def test_every_equivalent_mutant_is_one_of_the_code(monkeypatch):
    """An entry for a line of before would excuse nothing, and hide that nobody looked again."""
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "benchmarks"))
    import mutations

    monkeypatch.delitem(sys.modules, "mutations")
    known = tomllib.loads(mutations.EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]
    lines: dict[str, set[str]] = {}
    for one in known:
        lines.setdefault(one["file"], set()).add(one["line"])
    found = {
        (path.name, mutant.text, mutant.change)
        for path in (ROOT / "netcalc").rglob("*.py")
        if path.name in lines
        for mutant in mutations.mutants(path, frozenset(lines[path.name]))
    }
    listed = {(one["file"], one["line"], change) for one in known for change in one["changes"]}
    assert not listed - found
