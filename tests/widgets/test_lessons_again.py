"""The cells of a lesson run all twice, the second time from the last to the first.

Nothing that they do opens a socket or starts a program: a live run waits for a click.

What a reader does who changes a number somewhere: no cell may need another one to have been run
again before it, break what stands already, or leave a run going. The first time is judged as
what a notebook's file has of it, too: a picture of each figure and the values as text, small.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbformat.v4 import new_output
from traitlets.config import Config

from netcalc.experiments import echo

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
LIMIT = 100_000  # bytes of a lesson that has run, from the requirements


MEASURES = {
    "socket.bind", "socket.connect", "socket.sendto", "socket.sendmsg", "subprocess.Popen",
    "os.fork", "os.posix_spawn", "os.exec",
}  # fmt: skip
"""Audit events of Python without which no experiment runs: each has sockets and other programs."""
_listening: list[list[str]] = []


def _note(event, _arguments):
    if _listening and event in MEASURES:
        _listening[0].append(event)


sys.addaudithook(_note)  # for good: there is no way to take one back


@pytest.fixture
def started():
    """The events of a measurement while a test runs."""
    found: list[str] = []
    _listening.append(found)
    yield found
    _listening.remove(found)


@pytest.fixture
def shell():
    """A shell of IPython in this process, as a kernel has one."""
    made = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    yield made
    made.restore_sys_module_state()
    InteractiveShell.clear_instance()


def run(shell, cell):
    """Run a cell; give it the outputs that a notebook's file would have."""
    with capture_output() as captured:
        shell.run_cell(cell.source).raise_error()
    assert captured.stderr == ""
    shown = [output for output in captured.outputs if not output.update]
    cell.outputs = [new_output("display_data", one.data, metadata=one.metadata) for one in shown]
    if captured.stdout:
        cell.outputs.append(new_output("stream", text=captured.stdout))


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.stem)
def test_cells_run_twice_in_any_order_and_their_outputs_are_small(shell, started, lesson):
    notebook = nbformat.read(lesson, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in cells:
        run(shell, cell)
    data = [out.data for cell in cells for out in cell.outputs if "data" in out]
    panels = sum("_panel(" in cell.source for cell in cells)
    assert sum("image/svg+xml" in one for one in data) == panels
    assert sum("netcalc-saved" in one.get("text/html", "") for one in data) == panels
    assert len(json.dumps(notebook, indent=1)) < LIMIT
    for cell in reversed(cells):
        run(shell, cell)
    assert started == [], "a live run starts when it is asked for"
    running = [thread.name for thread in threading.enumerate()]
    assert "netcalc experiment" not in running


@pytest.mark.live
def test_a_measurement_is_noticed(started):
    echo([64], count=1)
    assert {"socket.bind", "subprocess.Popen"} & set(started)
