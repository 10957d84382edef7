"""The list of licences is that of the packages, by their own metadata."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

CI = Path(__file__).parents[2] / ".ci"
TABLE = tomllib.loads((CI / "licences.toml").read_text(encoding="utf-8"))
LISTED = {name: licence for licence, names in TABLE.items() for name in names}
OF_EXTRAS_ALONE = {"distributed", "ns3"}
"""Not among the pinned packages: their extras are not installed by the checks."""

OTHERWISE = {
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "GNU General Public License (GPL)": "GPL",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Public Domain": "public domain",
    "Python Software Foundation License": "PSF",
}
"""Other names of what the list names."""


def test_each_pinned_package_is_listed_once():
    lines = (CI / "constraints.txt").read_text(encoding="utf-8").split()
    assert set(LISTED) - OF_EXTRAS_ALONE == {line.partition("==")[0] for line in lines}
    assert sum(map(len, TABLE.values())) == len(LISTED)
    assert all(names == sorted(names, key=str.lower) for names in TABLE.values())


def test_what_is_installed_has_the_licence_that_is_listed():
    pinned = (line.split("==") for line in (CI / "constraints.txt").read_text().split())
    other = {}
    for name, version in pinned:
        try:
            about = metadata(name)
        except PackageNotFoundError:
            continue
        classifiers = [
            text.split(" :: ")[-1]
            for text in about.get_all("Classifier", [])
            if text.startswith("License ::")
        ]
        expression = about.get("License-Expression") or (not classifiers and about.get("License"))
        stated = [expression] if expression else classifiers
        said = ", ".join(OTHERWISE.get(one, one) for one in stated)
        if about["Version"] == version and said not in ("", LISTED[name]):
            other[name] = said
    assert other == {}


def test_one_package_alone_binds_those_who_pass_it_on():
    """The extra that is said to; docutils has the GPL for a file of its sources alone."""
    strong = {licence: names for licence, names in TABLE.items() if "GPL" in licence}
    assert strong == {"GPL-2.0-only": ["ns3"], "public domain, BSD, GPL": ["docutils"]}
