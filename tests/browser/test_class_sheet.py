"""A sheet of a class in JupyterLab: what is typed into a box comes back without a kernel."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from netcalc import exercises
from netcalc.exercises.classes import collect, make
from netcalc.exercises.classes.sheets import Student, notebook_text

SHEET = make("monday", students=[Student(name="Ada")], lessons=["01"])
FOLDER = tempfile.TemporaryDirectory(prefix="netcalc-sheet-")
FILE = Path(FOLDER.name) / SHEET.files[0]
FILE.write_text(notebook_text(SHEET, SHEET.students[0]), encoding="utf-8")


@pytest.mark.shown("lab", FILE)
def test_what_is_typed_into_a_box_is_collected(page):
    page.wait_run()
    (asked, *_) = exercises.sheet_of(SHEET.ids, student="Ada", sheet="monday")
    field = page.page.get_by_label(f"Answer to {asked.id}, with its unit")
    field.fill(f"{asked.answer:.4g} {asked.unit}")
    field.press("Enter")
    page.page.locator(".netcalc-said").filter(has_text="Right.").first.wait_for()
    page.wait_painted()
    page.screenshot("answered")
    page.wait_for("""() => {
      const cells = [...jupyterapp.shell.currentWidget.content.model.sharedModel.cells];
      return cells.some(cell => JSON.stringify(cell.toJSON()).includes('Right.'));
    }""")
    page.save()
    (found,) = collect({FILE.name: page.path.read_bytes()}, records=[SHEET])
    (row,) = found.rows
    assert (row.counted, row.points) == (True, 1)
    assert list(row.answers) == [asked.id]
    said = json.loads(page.path.read_text(encoding="utf-8"))["cells"][-1]["outputs"]
    assert "points" in json.dumps(said)
    assert page.complaints() == []
