"""How long from a move of a slider until the figure is painted anew, in a real browser.

    python tests/benchmarks/slider.py [lab] [voila] [notebook]

Each move is one of the mouse with its button down. The clock runs in the page: from the time stamp
of the pointer's event to the animation frame after bokeh's paint with the new columns. Prints
figures; asserts nothing.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "browser"))

import conftest as harness  # noqa: E402

PROOF = HERE.parent / "browser" / "proof.ipynb"
MOVES = 50

WATCH = """() => {
  const el = document.querySelector('.netcalc-figure');
  const drawn = el.netcalc, watch = window.netcalcWatch = {};
  let moved = 0, changed = false;
  document.addEventListener('pointermove', e => { moved = e.timeStamp; }, true);
  drawn.source('T1').change.connect(() => { changed = true; });
  const view = drawn.document.views_manager.get_one(drawn.document.roots()[0]);
  const paint = view._actual_paint.bind(view);
  view._actual_paint = (...args) => {
    paint(...args);
    if (!changed) return;
    changed = false;
    requestAnimationFrame(() => { watch.done?.(performance.now() - moved); });
  };
  window.netcalcNext = () => { watch.next = new Promise(done => { watch.done = done; }); };
}"""


def moves_ms(page: harness.Page) -> list[float]:
    """Drag the first slider move by move, each after the figure has followed the one before."""
    page.page.evaluate(WATCH)
    track = page.page.locator(".netcalc-control .noUi-base").first
    handle = page.page.locator(".netcalc-control .noUi-handle").first
    track.scroll_into_view_if_needed()
    rail, knob = track.bounding_box(), handle.bounding_box()
    y = rail["y"] + rail["height"] / 2
    page.page.mouse.move(knob["x"] + knob["width"] / 2, y)
    page.page.mouse.down()
    took = []
    for i in range(MOVES + 3):
        page.page.evaluate("netcalcNext()")
        page.page.mouse.move(rail["x"] + rail["width"] * (0.1 + 0.8 * i / (MOVES + 3)), y)
        took.append(page.page.evaluate("netcalcWatch.next"))
    page.page.mouse.up()
    return took[3:]  # the first ones warm up


def fast_drag(page: harness.Page) -> int:
    """Drag as fast as events come; return how many of 60 values were drawn."""
    page.page.evaluate(
        """() => {
          window.netcalcPaints = 0;
          document.querySelector('.netcalc-figure').netcalc.source('T1')
            .change.connect(() => { window.netcalcPaints += 1; });
        }"""
    )
    page.drag(0, 0.05, steps=60)
    page.page.wait_for_timeout(1000)
    return int(page.page.evaluate("window.netcalcPaints"))


def measure(front_end: str, browser: object) -> None:
    """Print the figures of one front end."""
    with (
        tempfile.TemporaryDirectory() as folder,
        harness.serving(front_end, Path(folder)) as server,
        ExitStack() as open_pages,
    ):
        server.wait()
        start = time.perf_counter()
        page = open_pages.enter_context(harness.opened(browser, server, PROOF))
        page.wait_figures(1)
        first_s = time.perf_counter() - start
        page.wait_figures(2)
        page.page.wait_for_timeout(1000)
        took = moves_ms(page)
        drawn = fast_drag(page)
        page.save()
        saved = page.path.stat().st_size
    cuts = statistics.quantiles(took, n=20)
    print(
        f"{front_end:9} slider to repaint, {MOVES} moves: median {statistics.median(took):.0f} ms, "
        f"p95 {cuts[18]:.0f} ms, worst {max(took):.0f} ms; page to first figure {first_s:.1f} s; "
        f"fast drag: {drawn} of 60 values drawn"
        + ("" if front_end == "voila" else f"; saved {saved / 2e3:.1f} kB a figure")
    )


def main() -> None:
    """Measure the front ends that the command line names, or all."""
    if reason := harness.missing():
        sys.exit(reason)
    with harness.chromium() as browser:
        for front_end in sys.argv[1:] or ["lab", "voila", "notebook"]:
            measure(front_end, browser)


if __name__ == "__main__":
    main()
