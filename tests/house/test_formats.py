"""Formats: each has a recorded file with its origin, and says what is easily read wrong in it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from netcalc.readers import FORMATS, formats, read, sniff
from netcalc.samples import FACTS

INPUTS = Path(__file__).parents[1] / "readers" / "inputs"
NAMES = [one.name for one in FORMATS]
NOMENCLATURE = (Path(__file__).parents[2] / "docs" / "nomenclature.md").read_text("utf-8")
COLUMNS = ["file", "format", "tool", "version", "made", "command"]


def recorded() -> dict[str, str]:
    """Return the recorded files that manifests list, with their formats."""
    found = {}
    for manifest in sorted(INPUTS.glob("*/MANIFEST.csv")):
        with manifest.open(encoding="utf-8", newline="") as stream:
            rows = csv.DictReader(stream)
            assert rows.fieldnames == COLUMNS, manifest
            for row in rows:
                assert all(row[name] for name in COLUMNS), (manifest, row)
                assert row["made"] in ("recorded", "by hand"), row
                found[f"{manifest.parent.name}/{row['file']}"] = row["format"]
    return found


RECORDED = recorded()


def test_every_recorded_file_has_its_origin():
    listed = set(RECORDED)
    there = {
        f"{path.parent.name}/{path.name}"
        for path in INPUTS.glob("*/*")
        if path.name != "MANIFEST.csv"
    }
    assert there == listed
    readme = (INPUTS / "README.md").read_text("utf-8")
    assert [p.name for p in INPUTS.glob("*.*") if p.name not in readme and p.stem != "README"] == []


def test_every_format_has_a_recorded_file():
    older = {sniff(path) for path in INPUTS.glob("*.*") if path.suffix in (".txt", ".json")}
    assert set(NAMES) - set(RECORDED.values()) - older == set()


@pytest.mark.each("file", sorted(RECORDED))
def test_a_recorded_file_is_of_its_format_and_has_facts(file):
    assert sniff(INPUTS / file) == RECORDED[file]
    for row in read(INPUTS / file).facts():
        assert row
        assert {name for name in row if ":" not in name} <= set(FACTS)


@pytest.mark.each("one", FORMATS, ids=NAMES)
def test_every_format_says_its_traps(one):
    assert one.description
    assert one.traps, f"{one.name} has no traps"
    assert all(re.fullmatch(r"\S.*\.", trap) for trap in one.traps)


@pytest.mark.each("one", FORMATS, ids=NAMES)
def test_a_name_is_no_description(one):
    """A name is what a user types; a message says that a file is read as the description."""
    assert one.name == one.description or len(one.name) < len(one.description)
    assert not re.match(r"(?:the|an?|of) |.* (?:of|as) ", one.name), one.name


def test_a_format_is_listed_once():
    assert len(set(NAMES)) == len(NAMES)
    assert set(NAMES) & (set(formats.KINDS) | {"empty"}) == set()


def test_facts_are_in_the_nomenclature():
    listed = set(re.findall(r"`(\w+)`", NOMENCLATURE))
    assert set(FACTS) - listed == set()
