"""Fails where an installed package has a known hole of .ci/known_holes.toml.

Run: PYTHON .ci/known_holes.py, with the Python of the environment. It asks nobody.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import distributions
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def found(packages: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each hole of packages with their versions."""
    return [
        f"{hole['package']} {version}: {hole['id']} in versions {affected}; see {hole['source']}"
        for name, version in packages
        for hole in TABLE["hole"]
        for affected in hole["affected"]
        if canonicalize_name(name) == hole["package"]
        and SpecifierSet(affected).contains(version, prereleases=True)
    ]


def main() -> None:
    """Look at the packages of this Python."""
    installed = {(one.metadata["Name"], one.version) for one in distributions()}
    if holes := found(sorted(installed)):
        sys.exit("\n".join([*holes, "Install later versions: pip install --upgrade"]))
    count = len(TABLE["hole"])
    print(f"{len(installed)} packages, none with one of {count} holes known {TABLE['looked_up']}")


if __name__ == "__main__":
    main()
