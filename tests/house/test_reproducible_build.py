"""The same files give the same wheel and sdist, wherever and whenever they are built."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
KEPT = (
    ".ci", ".github", ".gitignore", "CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md",
    "conftest.py", "data", "docs", "netcalc", "notebooks", "pyproject.toml", "tests",
)  # fmt: skip
LEFT = shutil.ignore_patterns("__pycache__", "_build", "generated", ".*_cache", "screenshots")


def copied(folder: Path, *, backwards: bool, time_s: int, umask: int) -> Path:
    """Return a copy whose files were made in another order, at another time, with other rights."""
    before = os.umask(umask)
    try:
        folder.mkdir(parents=True)
        for name in sorted(KEPT, reverse=backwards):
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=LEFT, copy_function=shutil.copyfile)
            else:
                shutil.copyfile(source, folder / name)
    finally:
        os.umask(before)
    for path in folder.rglob("*"):
        os.utime(path, (time_s, time_s))
    return folder


def built(folder: Path, **environment: str) -> dict[str, str]:
    """Build both in a folder; return the digest of each file."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in {"SOURCE_DATE_EPOCH", "NETCALC_REPOSITORY"}
    }
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build"], cwd=folder, env=inherited | environment,
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    files = sorted((folder / "dist").iterdir())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_two_builds_are_the_same_bit_for_bit(tmp_path):
    pytest.importorskip("hatchling", reason="hatchling, of the extra dev, is not installed")
    first = copied(tmp_path / "one", backwards=False, time_s=1_700_000_000, umask=0o022)
    second = copied(tmp_path / "two" / "below", backwards=True, time_s=1_800_000_001, umask=0o077)
    one = built(first, TZ="UTC", PYTHONHASHSEED="1", LC_ALL="C.UTF-8")
    two = built(second, TZ="Asia/Kathmandu", PYTHONHASHSEED="2", LC_ALL="C")
    assert [Path(name).suffix for name in one] == [".whl", ".gz"]
    assert one == two
