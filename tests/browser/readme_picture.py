"""The picture of the README that moves: a slider, then a live run, of lesson 00 in Voila.

    python tests/browser/readme_picture.py docs/_static/first_minutes.gif

Each frame is a picture of a panel as Chromium shows it. Needs Pillow.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
import lesson_pictures

import conftest as harness

LESSON = harness.ROOT / "notebooks" / "00_start_here.ipynb"
WIDTH, HEIGHT = 720, 700
"""Size of the picture. [px]"""
COLOURS = 40
LATENCIES = ("30 ms", "50 ms", "80 ms", "120 ms", "200 ms", "300 ms", "500 ms", "800 ms",
             "500 ms", "300 ms", "200 ms", "120 ms", "80 ms", "50 ms", "30 ms")  # fmt: skip
MOVE_MS, HOLD_MS, RUN_MS = 200, 1400, 200
"""How long a frame stands: while the slider moves, before something else, in the live run."""
MOST_RUN_FRAMES = 20
DONE = "panel => panel.querySelector('.netcalc-run').textContent.includes('done')"


def frame(page: Any, panel: Any) -> Image.Image:
    """Return a picture of a panel from its top on."""
    box = panel.bounding_box()
    clip = {"x": box["x"], "y": box["y"], "width": WIDTH, "height": HEIGHT}
    return Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")


def frames(page: Any) -> list[tuple[Image.Image, int]]:
    """Move the slider and run the echo; return the pictures, each with its time in ms."""
    panels = page.locator(".netcalc-panel")
    first, second = panels.nth(0), panels.nth(1)
    taken = [(frame(page, first), HOLD_MS)]
    box = first.locator("input[type=text]").nth(0)
    for latency in LATENCIES:
        box.fill(latency)
        box.press("Enter")
        page.wait_for_timeout(350)
        taken.append((frame(page, first), MOVE_MS))
    taken[-1] = (taken[-1][0], HOLD_MS)
    button = second.get_by_text("Run an echo on this machine")
    taken.append((frame(page, second), HOLD_MS))
    button.click()
    for _ in range(MOST_RUN_FRAMES):
        page.wait_for_timeout(60)
        taken.append((frame(page, second), RUN_MS))
        if second.evaluate(DONE):
            break
    page.wait_for_timeout(800)
    return [*taken, (frame(page, second), 2 * HOLD_MS)]


def main(path: Path) -> None:
    """Take the picture and write it."""
    with (
        harness.chromium() as browser,
        tempfile.TemporaryDirectory() as place,
        lesson_pictures.served("voila", Path(place)) as address,
    ):
        page = browser.new_page(viewport={"width": WIDTH + 40, "height": 4000})
        page.goto(address(LESSON), wait_until="domcontentloaded", timeout=120_000)
        lesson_pictures.wait_run(page, "voila", 2)
        page.wait_for_timeout(2000)
        taken = frames(page)
    palette = taken[0][0].quantize(COLOURS)
    pictures = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one, _ in taken]
    pictures[0].save(
        path, save_all=True, append_images=pictures[1:], duration=[ms for _, ms in taken],
        loop=0, optimize=True,
    )  # fmt: skip
    print(f"{path}: {len(taken)} frames, {sum(ms for _, ms in taken) / 1000:.1f} s, "
          f"{path.stat().st_size / 1000:.0f} kB")  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
