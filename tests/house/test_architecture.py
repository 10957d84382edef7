"""The page and the picture of the architecture name every room, and files that are there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FLOORS = runpy.run_path(str(Path(__file__).with_name("test_floors.py")))["FLOORS"]
PICTURE = (ROOT / "docs" / "_static" / "house.svg").read_text(encoding="utf-8")


def test_the_picture_names_every_room():
    entries = (ROOT / "netcalc").iterdir()
    rooms = {
        path.stem for path in entries if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    rooms -= {"__init__", "__main__", "_bundled", "__pycache__"}
    drawn = set(re.findall(r"[\w/]+", " ".join(re.findall(r">([^<]+)</text>", PICTURE))))
    assert sorted(rooms - drawn) == []


def test_the_picture_has_the_floors_of_the_table():
    named = re.findall(r'class="n" x="[^"]*" y="([^"]*)"[^>]*>([^<]+)</text>', PICTURE)
    drawn: dict[float, list[str]] = {}
    for height, room in named:
        drawn.setdefault(float(height), []).append(room)
    from_the_ground = [drawn[height] for height in sorted(drawn, reverse=True)]
    assert list(map(set, from_the_ground)) == list(map(set, FLOORS))


def test_every_file_the_page_names_is_there():
    named = re.findall(
        r"`((?:netcalc|tests|cli|readers|running|exchanges|lessons|peers)/[^`<]*)`", PAGE
    )
    assert len(named) > 8
    missing = [
        name
        for name in named
        if not any(
            (ROOT / start / name).exists() for start in ("", "netcalc", "netcalc/experiments")
        )
    ]
    assert missing == []
