"""Whether the figures of a saved lesson live when it is opened again and run, many times in a row.

    python tests/benchmarks/reopened.py [OPENINGS] [lesson or proof]

A notebook is run and saved with its widgets; then, for each opening, its kernel is ended, the page
is loaded anew, and all cells are run as soon as the notebook has a kernel: in turn by the command
and by the mouse, in the menu. An opening *lived* if every figure is drawn and the first one follows
its slider; otherwise it has *failed*, and the line says how far it came. Prints a table and ends
with 1 if an opening failed.
"""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "browser"))

import conftest as harness  # noqa: E402

NOTEBOOKS = {
    "lesson": (HERE.parents[1] / "notebooks" / "01_latency_and_bandwidth.ipynb", 6),
    "proof": (HERE.parent / "browser" / "proof.ipynb", 2),
}
"""By name: the notebook, and how many figures it has."""
SAVE_WIDGETS = """async () => {
  const command = '@jupyter-widgets/jupyterlab-manager:saveWidgetState';
  if (!jupyterapp.commands.isToggled(command))
    await jupyterapp.commands.execute(command);
}"""
STATES = """() => [...document.querySelectorAll('.netcalc-panel')].map(
  panel => panel.querySelector('.netcalc-drawn') ? 'drawn' : 'a picture').join(', ')"""
WAYS = ("command", "menu")


def run_all(page: harness.Page, way: str) -> None:
    """Run all cells, as a program does or as a person does."""
    if way == "command":
        page.run_all()
        return
    page.page.get_by_role("menuitem", name="Run", exact=True).first.click()
    page.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()


def open_again(page: harness.Page, way: str, figures: int) -> str:
    """Open the saved notebook once; return what failed, empty if it lives."""
    page.save()
    page.shut_down()
    page.page.reload()
    step = "the page shows the saved pictures"
    try:
        page.page.locator(".netcalc-saved").first.wait_for()
        step = "a kernel is attached"
        page.wait_attached()
        step = "the cells run"
        run_all(page, way)
        step = "every figure is drawn"
        page.wait_figures(figures)
        step = "the first figure follows its slider"
        before = page.column("T1", "y")
        page.drag(0, 0.0 if before[0] > 0.1 else 1.0)
        page.wait_changed("T1", "y", before)
    except Exception as error:
        said = str(error).splitlines()[0][:80]
        return f"not reached: {step}; figures: {page.page.evaluate(STATES)}; {said}"
    return ""


def main(openings: int, name: str) -> int:
    """Print a line for each opening that failed, and the table."""
    notebook, figures = NOTEBOOKS[name]
    counts = {way: {"lived": 0, "failed": 0} for way in WAYS}
    begin_s = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # of timeout: the table is printed
    try:
        open_many(notebook, figures, openings, counts)
    finally:
        print(f"{notebook.name}, {figures} figures, {time.monotonic() - begin_s:.0f} s")
        print(f"{'run by':<10}{'opened':>8}{'lived':>8}{'failed':>8}")
        for way, count in counts.items():
            opened = sum(count.values())
            print(f"{way:<10}{opened:>8}{count['lived']:>8}{count['failed']:>8}", flush=True)
    return int(any(count["failed"] for count in counts.values()))


def open_many(
    notebook: Path, figures: int, openings: int, counts: dict[str, dict[str, int]]
) -> None:
    """Save a notebook with its widgets and open it many times; count in ``counts``."""
    with (
        tempfile.TemporaryDirectory() as folder,
        harness.chromium() as browser,
        harness.serving("lab", Path(folder)) as server,
        harness.opened(browser, server, notebook) as page,
    ):
        page.wait_figures(figures)
        page.page.evaluate(SAVE_WIDGETS)
        for number in range(openings):
            way = WAYS[number % len(WAYS)]
            wrong = open_again(page, way, figures)
            counts[way]["failed" if wrong else "lived"] += 1
            if wrong:
                print(f"opening {number + 1}, by {way}: {wrong}", flush=True)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    counts = [int(one) for one in arguments if one.isdecimal()]
    names = [one for one in arguments if one in NOTEBOOKS]
    sys.exit(main((counts or [50])[0], (names or ["lesson"])[0]))
