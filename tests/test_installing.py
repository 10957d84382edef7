"""What is said of how netcalc was installed: which line adds an extra, and what mixes with it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from netcalc.errors import MissingPackageError
from netcalc.messages.installing import requirement

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
    assert shlex.split(requirement("lab", folder=folder)) == [wanted]


@pytest.mark.each("name", ["copy", "a copy", "$HOME", "it's"])
def test_of_a_checkout_the_line_names_its_folder(name, tmp_path_factory):
    """Installed with -e or not at all: nothing is recorded beside the package."""
    folder = tmp_path_factory.mktemp("x") / name
    folder.mkdir()
    assert shlex.split(requirement("lab", folder=folder)) == ["-e", f"{folder}[lab]"]
    assert shlex.split(requirement(folder=folder)) == ["-e", str(folder)]


def test_the_error_of_a_missing_package_has_the_line():
    root = Path(__file__).parents[1]
    said = str(MissingPackageError("bokeh", extra="lab", purpose="--plot"))
    assert said.endswith(f"Install it with: pip install -e {shlex.quote(f'{root}[lab]')}")
