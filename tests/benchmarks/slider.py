"""How long from a move of a slider until the figure is painted anew, in a real browser.

    python tests/benchmarks/slider.py [lab] [voila] [notebook]

Each move is one of the mouse with its button down. The clock runs in the page: from the time stamp
of the pointer's event to the animation frame after bokeh's paint with the new columns. In the same
minute, for comparison, a plain slider of ipywidgets whose kernel writes its number into a label:
what a slider takes that asks its kernel and draws nothing. A sum of numbers, before and after, says
how fast the machine is in that minute. Prints figures; asserts nothing.
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


PLAIN = """import ipywidgets
slider, label = ipywidgets.IntSlider(max=1000), ipywidgets.Label("0")
slider.observe(lambda change: setattr(label, "value", str(change["new"])), "value")
ipywidgets.VBox([slider, label])"""

WATCH_LABEL = """() => {
  const watch = window.netcalcWatch = {};
  let moved = 0;
  document.addEventListener('pointermove', e => { moved = e.timeStamp; }, true);
  new MutationObserver(() => {
    requestAnimationFrame(() => { watch.done?.(performance.now() - moved); });
  }).observe(document.querySelector('.widget-label:last-child'),
             { childList: true, characterData: true, subtree: true });
  window.netcalcNext = () => { watch.next = new Promise(done => { watch.done = done; }); };
}"""


def moves_ms(
    page: harness.Page, watch: str = WATCH, within: str = ".netcalc-control"
) -> list[float]:
    """Drag the first slider move by move, each after the page has followed the one before."""
    page.page.evaluate(watch)
    track = page.page.locator(f"{within} .noUi-base").first
    handle = page.page.locator(f"{within} .noUi-handle").first
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


def plain(folder: Path) -> Path:
    """Write the notebook of the plain slider."""
    import nbformat

    path = folder / "plain.ipynb"
    cells = [nbformat.v4.new_code_cell(PLAIN)]
    kernel = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    return path


def floor_ms(front_end: str, browser: object) -> list[float]:
    """Return the times of the plain slider, in a front end of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        harness.serving(front_end, Path(folder)) as server,
    ):
        server.wait()
        with harness.opened(browser, server, plain(Path(folder))) as page:
            page.page.locator(".widget-slider .noUi-handle").wait_for()
            page.page.wait_for_timeout(2000)
            return moves_ms(page, WATCH_LABEL, ".widget-slider")


def sum_ms() -> float:
    """Return the time to add three million numbers, the median of five."""
    took = []
    for _ in range(5):
        start = time.perf_counter()
        sum(i for i in range(3_000_000))
        took.append((time.perf_counter() - start) * 1e3)
    return statistics.median(took)


def percentiles(took: list[float]) -> str:
    """Return what is printed of times."""
    middle, late = statistics.median(took), statistics.quantiles(took, n=20)[18]
    return f"median {middle:.0f} ms, p95 {late:.0f} ms, worst {max(took):.0f} ms"


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
        before_ms = sum_ms()
        took = moves_ms(page)
        after_ms = sum_ms()
        drawn = fast_drag(page)
        page.save()
        saved = page.path.stat().st_size
    floor = floor_ms(front_end, browser)
    print(
        f"{front_end:9} slider to repaint, {MOVES} moves: {percentiles(took)}; "
        f"page to first figure {first_s:.1f} s; fast drag: {drawn} of 60 values drawn"
        + ("" if front_end == "voila" else f"; saved {saved / 2e3:.1f} kB a figure")
    )
    more = statistics.median(took) / statistics.median(floor)
    print(
        f"{'':9} plain slider and label: {percentiles(floor)}; a figure takes {more:.2f} times that"
        f"; sum of 3 million numbers: {before_ms:.0f} ms before, {after_ms:.0f} ms after"
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
