"""How long from a move of a slider on the calculator's page until its curve is painted anew.

    python tests/benchmarks/calculator_page.py [MOVES] [FORMULA ...]

The clock runs in the page: from the slider's event, at any time within a frame, to the first task
after the next frame was painted. Prints the median and the 95th percentile in milliseconds for each
formula, how much of it the program takes, and how long the page takes to open; asserts nothing.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "lessons_site"))

from offline_browser import chromium, missing, opened

from netcalc.lessons.site import calculator_page

FORMULAS = (
    "latency.transfer_s", "mm1.mm1_wait_s", "store_and_forward.cut_through_s",
    "transfer_time.transfer_time_s", "pftk.pftk_approx_loss_ratio",
)  # fmt: skip
MOVE = """moves => (async () => {
  const channel = new MessageChannel();
  const painted = () => new Promise(done => {
    channel.port1.onmessage = done;
    requestAnimationFrame(() => channel.port2.postMessage(0));
  });
  const pause = ms => new Promise(done => setTimeout(done, ms));
  const slider = document.querySelector('input[type=range]');
  const found = [];
  for (let i = 0; i < moves; i++) {
    slider.value = 20 + (i * 37) % 960;
    await pause(20 + (i * 7) % 17);
    const start = performance.now();
    slider.dispatchEvent(new Event('input', {bubbles: true}));
    const computed = performance.now() - start;
    await painted();
    found.push([performance.now() - start, computed]);
  }
  return found;
})()"""


def main() -> None:
    """Print one line a formula."""
    if missing():
        print(missing())
        return
    moves = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        file = calculator_page.write(Path(folder) / "calculator.html")
        for name in sys.argv[2:] or FORMULAS:
            begun = time.perf_counter()
            with opened(browser, f"{file.as_uri()}#{name}") as page:
                ready_s = time.perf_counter() - begun
                both = page.evaluate(MOVE, moves)
            times_ms, program_ms = (sorted(one) for one in zip(*both, strict=True))
            late = int(0.95 * (moves - 1))
            print(
                f"{name}: median {statistics.median(times_ms):.1f} ms, p95 {times_ms[late]:.1f} ms "
                f"of {moves} moves (the program {statistics.median(program_ms):.1f} and "
                f"{program_ms[late]:.1f} ms); opened in {ready_s:.2f} s"
            )


if __name__ == "__main__":
    main()
