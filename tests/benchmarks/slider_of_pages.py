"""How long from a move of a slider until the figure is painted anew, in pages without a kernel.

    python tests/benchmarks/slider_of_pages.py [FOLDER | short]

FOLDER is a site that ``netcalc site`` has written; without one a site of lesson 01 is written
first, and with ``short`` one of a single panel. The first slider of each panel is moved stop by
stop. The clock runs in the page: from the input event to the animation frame after bokeh's paint.
Prints figures; asserts nothing.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "browser"))

import conftest as harness  # noqa: E402
from netcalc.lessons.site.build import build  # noqa: E402

MOVES = 50
LESSON = HERE.parents[1] / "notebooks" / "01_latency_and_bandwidth.ipynb"
ONE_PANEL = "from netcalc.lessons import latency as panels\n\npanels.distance_panel()"

MOVE = """async ([panel, position]) => {
  const element = document.querySelectorAll('.panel')[panel];
  const input = element.querySelector('input[type=range]');
  const { document: drawn } = element.querySelector('.figure').netcalc;
  const roots = [];
  const visit = (view) => { // a figure, or several in a column
    if (view._actual_paint) roots.push(view);
    for (const child of view.child_views ?? []) visit(child);
  };
  visit(drawn.views_manager.get_one(drawn.roots()[0]));
  const began = performance.now();
  const painted = Promise.race([
    ...roots.map((view) => new Promise((done) => {
      const paint = view._actual_paint;
      view._actual_paint = (...args) => {
        view._actual_paint = paint;
        paint.apply(view, args);
        requestAnimationFrame(() => done(performance.now() - began));
      };
    })),
    new Promise((done) => setTimeout(() => done(null), 500)), // the figure stays as it is
  ]);
  input.value = String(position % (Number(input.max) + 1));
  input.dispatchEvent(new Event('input', { bubbles: true }));
  return painted;
}"""


def moves_ms(page: Any, panel: int) -> list[float]:
    """Move the first slider of a panel step by step."""
    took = [page.evaluate(MOVE, [panel, i]) for i in range(MOVES + 3)]
    return [one for one in took[3:] if one is not None]


def measure(page: Any, path: Path) -> list[float]:
    """Print and return the times of the panels of one page."""
    page.goto(path.as_uri())
    everything: list[float] = []
    for panel in range(page.locator(".panel").count()):
        element = page.locator(".panel").nth(panel)
        element.scroll_into_view_if_needed()
        page.wait_for_function(
            "i => document.querySelectorAll('.panel .figure')[i].netcalc", arg=panel
        )
        page.wait_for_timeout(300)
        if element.locator("input[type=range]:not([hidden])").count() == 0:
            continue
        took = moves_ms(page, panel)
        everything += took
        if len(took) > 5:
            p50, p95 = statistics.median(took), statistics.quantiles(took, n=20)[-1]
            print(f"{path.stem:32} panel {panel + 1}: p50 {p50:5.1f} ms, p95 {p95:5.1f} ms")
    return everything


def main(arguments: list[str]) -> None:
    """Measure the pages of a site."""
    with tempfile.TemporaryDirectory() as place, harness.chromium() as browser:
        folder = (
            Path(arguments[0]) if arguments and arguments[0] != "short" else Path(place, "site")
        )
        if not folder.exists():
            lesson = LESSON
            if arguments:
                lesson = Path(place, "01_short.ipynb")
                cell = {"cell_type": "code", "source": ONE_PANEL, "metadata": {}}
                lesson.write_text(json.dumps({"cells": [cell]}))
            build(folder, lessons=[lesson])
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        took = [one for path in sorted(folder.glob("[0-9]*.html")) for one in measure(page, path)]
        p50, p95 = statistics.median(took), statistics.quantiles(took, n=20)[-1]
        print(f"all {len(took)} moves: p50 {p50:.1f} ms, p95 {p95:.1f} ms (25 ms wanted)")


if __name__ == "__main__":
    main(sys.argv[1:])
