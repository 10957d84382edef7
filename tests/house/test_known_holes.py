"""No version with a known vulnerability is allowed by the extras, pinned, or installed here."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

CI = Path(__file__).parents[2] / ".ci"
read = runpy.run_path(str(CI / "known_holes.py"))
ROWS, found = read["TABLE"]["hole"], read["found"]


def lowest_allowed() -> dict[str, list[Version]]:
    """Return the lower bounds of each package, of all extras."""
    project = tomllib.loads((CI.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds: dict[str, list[Version]] = {}
    for lines in (project["dependencies"], *project["optional-dependencies"].values()):
        for requirement in map(Requirement, lines):
            name = canonicalize_name(requirement.name)
            bounds.setdefault(name, []).extend(
                Version(one.version) for one in requirement.specifier if one.operator == ">="
            )
    return bounds


@pytest.mark.each("row", ROWS, ids=lambda row: f"{row['package']} {row['id']}")
def test_each_row_has_its_source_and_a_bound_that_excludes_it(row):
    assert re.fullmatch(r"CVE-\d{4}-\d{4,}|GHSA(-[2-9cfghjmpqrvwx]{4}){3}", row["id"])
    assert row["source"].startswith("https://")
    assert canonicalize_name(row["package"]) == row["package"]
    fixed = [
        Version(one.version)
        for affected in row["affected"]
        for one in SpecifierSet(affected)
        if one.operator == "<"
    ]
    assert len(fixed) == len(row["affected"]), "each range ends where it was fixed"
    bounds = lowest_allowed()[row["package"]]
    assert bounds
    assert min(bounds) >= max(fixed)


def test_no_row_stands_twice_and_they_are_in_order():
    assert len({(row["package"], row["id"]) for row in ROWS}) == len(ROWS) > 30
    assert [row["package"] for row in ROWS] == sorted(row["package"] for row in ROWS)


@pytest.mark.each("name", ["constraints.txt", "lowest.txt"])
def test_no_pinned_version_has_a_known_hole(name):
    lines = (CI / name).read_text(encoding="utf-8").split()
    assert found(line.split("==") for line in lines) == []


def test_known_holes_are_found():
    """By the advisories: JupyterLab until 4.2.4 and Notebook until 7.2.1 have CVE-2024-43805."""

    def ids(**versions):
        return {line.split()[2] for line in found(versions.items())}

    assert "CVE-2024-43805" in ids(jupyterlab="4.2.4") & ids(notebook="7.2.1")
    assert "CVE-2024-43805" not in ids(jupyterlab="4.2.5") | ids(notebook="7.2.2")
    assert ids(jupyterlab="4.6.4") == ids(notebook="7.6.3") == set()
    assert ids(jupyterlab="4.5.11") == set(), "fixed in an older series, too"
    assert ids(jupyterlab="4.6.3") == {"CVE-2026-102830", "CVE-2026-102831"}
    assert ids(Jupyter_Server="2.19.0") == {"CVE-2026-44727"}
    assert ids(numpy="1.0") == set()


def test_the_check_passes_here_and_fails_beside_an_old_package(tmp_path, monkeypatch, capsys):
    read["main"]()
    assert "none with one of" in capsys.readouterr().out
    old = tmp_path / "tornado-6.4.dist-info"
    old.mkdir()
    (old / "METADATA").write_text("Metadata-Version: 2.1\nName: tornado\nVersion: 6.4\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SystemExit, match=r"^tornado 6\.4: CVE-\S+ in versions <[\d.]+; see https:"):
        read["main"]()
