"""The built wheel and sdist hold the package, its data and its lessons."""

from __future__ import annotations

import email
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


def test_wheel_has_a_bill_of_what_it_asks_for(built):
    """The components are those of the metadata, read another way; the folder is that of PEP 770."""
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        place = f"{Path(metadata).parent}/sboms/netcalc-lab.cdx.json"
        bill = json.loads(archive.read(place))
        asked = email.message_from_bytes(archive.read(metadata)).get_all("Requires-Dist")
    needed, optional = set(), set()
    for requirement in map(Requirement, asked):
        extra = str(requirement.marker or "").partition("extra == ")[2].strip('"')
        if extra not in {"test", "dev"} and requirement.name != "netcalc-lab":
            (optional if extra else needed).add(canonicalize_name(requirement.name))
    found = {one["name"]: one for one in bill["components"]}
    assert {name for name, one in found.items() if one["scope"] == "required"} == needed
    assert needed == {"click", "numpy", "rich", "scipy"}
    assert set(found) == needed | optional
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert (
        bill["metadata"]["component"]["purl"] == f"pkg:pypi/netcalc-lab@{wheel.name.split('-')[1]}"
    )
    assert found["ns3"]["licenses"] == [{"license": {"id": "GPL-2.0-only"}}]
    assert {"name": "netcalc:requires:lab", "value": "tornado>=6.5.6"} in found["tornado"][
        "properties"
    ]
    assert not {"timestamp", "serialNumber"} & {*bill, *bill["metadata"]}, "the same at each build"
