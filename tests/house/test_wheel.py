"""The built wheel and sdist hold the package, its data and its lessons."""

from __future__ import annotations

import os
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def tracked(folder: str) -> set[str]:
    """Return the files of a folder by their path in the repository, caches left out."""
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts)
    }


@pytest.fixture(scope="module")
def built():
    """The folder of both, as the check has built them."""
    folder = os.environ.get("NETCALC_DIST")
    if not folder:
        pytest.skip("NETCALC_DIST names no folder with a wheel and an sdist")
    return Path(folder)


def test_wheel_holds_package_data_and_lessons(built):
    (wheel,) = built.glob("*.whl")
    assert wheel.name.startswith("netcalc_lab-")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= tracked("netcalc")
    assert names >= {f"netcalc/_bundled/{name}" for name in tracked("data")}
    assert names >= {f"netcalc/_bundled/{name}" for name in tracked("notebooks")}
    assert "netcalc/py.typed" in names
    assert any(name.endswith("figure.js") for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "docs/"))]


def test_sdist_holds_what_a_test_run_needs(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = set().union(*map(tracked, ("netcalc", "data", "notebooks", "tests")))
    wanted = {name for name in wanted if "screenshots" not in name}
    assert names >= wanted | {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml"}
    assert names >= {"CITATION.cff", ".ci/release_metadata.py"}
