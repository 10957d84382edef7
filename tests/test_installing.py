"""What is said of how netcalc was installed: which line adds an extra, and what mixes with it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from netcalc import version
from netcalc.errors import MissingPackageError
from netcalc.version import requirement

ROOT = Path(__file__).parents[1]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ORIGINS = [
    (None, "netcalc-lab[lab]"),
    ({"url": "file:///srv/a%20b/x.whl", "archive_info": {}}, "/srv/a b/x.whl[lab]"),
    ({"url": "file:///srv/netcalc", "dir_info": {}}, "/srv/netcalc[lab]"),
    (
        {"url": "https://example.org/x.whl", "archive_info": {}},
        "netcalc-lab[lab] @ https://example.org/x.whl",
    ),
    (
        {"url": "https://example.org/x", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
        f"netcalc-lab[lab] @ git+https://example.org/x@{COMMIT}",
    ),
]


@pytest.mark.each(("origin", "wanted"), ORIGINS)
def test_the_line_names_where_this_copy_is_from(origin, wanted, tmp_path_factory):
    """As pip records it (PEP 610); the name alone is for a copy from a package index."""
    folder = tmp_path_factory.mktemp("site-packages")
    recorded = folder / "netcalc_lab-0.1.0.dist-info"
    recorded.mkdir()
    (recorded / "METADATA").write_text("Metadata-Version: 2.4\nName: netcalc-lab\nVersion: 0.1.0\n")
    if origin is not None:
        (recorded / "direct_url.json").write_text(json.dumps(origin))
    assert shlex.split(requirement("lab", folder=str(folder))) == [wanted]


@pytest.mark.each("name", ["copy", "a copy", "$HOME", "it's"])
def test_of_a_checkout_the_line_names_its_folder(name, tmp_path_factory):
    """Installed with -e or not at all: nothing is recorded beside the package."""
    folder = tmp_path_factory.mktemp("x") / name
    folder.mkdir()
    assert shlex.split(requirement("lab", folder=str(folder))) == ["-e", f"{folder}[lab]"]
    assert shlex.split(requirement(folder=str(folder))) == ["-e", str(folder)]


def test_the_error_of_a_missing_package_has_the_line():
    said = str(MissingPackageError("bokeh", extra="lab", purpose="--plot"))
    assert said.endswith(f"Install it with: pip install -e {shlex.quote(f'{ROOT}[lab]')}")


def run_in(folder, *arguments):
    """Run Python with the packages of a folder before those of this repository."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True,
        check=True, timeout=60,
    )  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with a copy of the package, as site-packages has it."""
    folder = tmp_path_factory.mktemp("site packages")
    (folder / "netcalc_lab-0.1.0.dist-info").mkdir()
    leave_out = shutil.ignore_patterns("__pycache__", "_bundled", "*.js", "lessons", "widgets")
    shutil.copytree(ROOT / "netcalc", folder / "netcalc", ignore=leave_out)
    return folder


IMPORT = "import netcalc, sys; print(netcalc.__file__, 'netcalc.errors' in sys.modules)"


@pytest.mark.each("recorded", [None, "netcalc-2.0.1.dist-info", "netcalc-0.3-py3.11.egg-info"])
def test_an_import_warns_of_another_netcalc_in_the_same_place(recorded, place):
    if recorded is None:
        alone = run_in(place, "-c", IMPORT)
        assert alone.stdout == f"{place}/netcalc/__init__.py False\n"
        assert alone.stderr == ""
        return
    (place / recorded).mkdir()
    try:
        done = run_in(place, "-c", IMPORT)
    finally:
        (place / recorded).rmdir()
    assert done.stdout.startswith(str(place))
    assert "MixedInstallationWarning: another distribution has a package netcalc" in done.stderr
    for word in (recorded, str(place), "pip uninstall netcalc", "--force-reinstall"):
        assert word in done.stderr


def test_the_warning_is_shown_at_the_line_that_imports(place):
    (place / "netcalc-2.0.1.dist-info").mkdir()
    (place / "mine.py").write_text("x = 1\nimport netcalc\n")
    try:
        done = run_in(place, "mine.py")
    finally:
        (place / "netcalc-2.0.1.dist-info").rmdir()
    assert f"{place}/mine.py:2: MixedInstallationWarning" in done.stderr


def test_what_is_recorded_beside_the_package_is_listed(monkeypatch, tmp_path):
    monkeypatch.setattr(version, "FOLDER", str(tmp_path))
    assert version.mixed_with() == []
    (tmp_path / "netcalc-2.0.1.dist-info").mkdir()
    assert version.mixed_with() == ["netcalc-2.0.1.dist-info"]
    monkeypatch.setattr(version, "FOLDER", str(tmp_path / "archive.zip"))
    assert version.mixed_with() == []
