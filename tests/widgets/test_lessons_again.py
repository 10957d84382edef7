"""The cells of a lesson run all twice, the second time from the last to the first.

What a reader does who changes a number somewhere: no cell may need another one to have been run
again before it, break what stands already, or leave a run going.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def cells(lesson):
    document = json.loads(lesson.read_text("utf-8"))
    return ["".join(c["source"]) for c in document["cells"] if c["cell_type"] == "code"]


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.stem)
def test_cells_run_twice_in_any_order(lesson, capsys):
    kept = {"__name__": "__main__"}
    programs = [compile(cell, lesson.name, "exec") for cell in cells(lesson)]
    for program in (*programs, *reversed(programs)):
        exec(program, kept)
    assert capsys.readouterr().err == ""
    running = [thread.name for thread in threading.enumerate()]
    assert "netcalc experiment" not in running
