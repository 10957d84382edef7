"""The lessons in a real browser: each one runs whole, and lesson 01 is played through."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
LESSON_01 = next(lesson for lesson in LESSONS if lesson.name.startswith("01"))
OWN = 4  # the fifth figure of lesson 01: the reader's own measurement

# Ping as iputils prints it, three probes each of two sizes: 10 ms and 50 ms at best.
PING = "".join(
    f"PING 192.0.2.7 (192.0.2.7) {size}({size + 28}) bytes of data.\n"
    + "".join(
        f"{size + 8} bytes from 192.0.2.7: icmp_seq={n + 1} ttl=64 time={time + n} ms\n"
        for n in range(3)
    )
    + "\n--- 192.0.2.7 ping statistics ---\n"
    "3 packets transmitted, 3 received, 0% packet loss, time 2002ms\n"
    f"rtt min/avg/max/mdev = {time}.000/{time + 1}.000/{time + 2}.000/0.816 ms\n"
    for size, time in ((100, 10), (1100, 50))
)


def panels(lesson: Path) -> int:
    """How many figures a lesson shows: cells that end in a panel."""
    cells = nbformat.read(lesson, as_version=4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    return sum("_panel(" in source for source in sources)


@contextmanager
def played(open_notebook, lesson: Path) -> Iterator:
    """A lesson, run whole, with all its figures drawn."""
    with open_notebook(lesson) as page:
        page.run_all()
        page.wait_figures(panels(lesson))
        page.wait_painted()
        yield page


@pytest.mark.parametrize("server", ["lab"], indirect=True)
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_whole(open_notebook, lesson):
    with played(open_notebook, lesson) as page:
        for number in range(panels(lesson)):
            page.figure(number)
            page.wait_painted()
            page.screenshot(f"figure-{number}")
        assert page.page.locator(".jp-RenderedText[data-mime-type*=stderr]").count() == 0
        assert page.complaints() == []


@pytest.mark.parametrize("server", ["lab", "voila"], indirect=True)
def test_lesson_01_is_played_through(open_notebook, tmp_path):
    with played(open_notebook, LESSON_01) as page:
        # The slider moves the curve: derived, d + 8N/R for the first size, 100 bytes, on a T1.
        before, pixels = page.column("T1", "y"), page.pixels()
        assert before[0] == pytest.approx(0.03 + 800 / 1.544e6)
        page.drag(0, 1.0)
        page.wait_changed("T1", "y", before)
        page.wait_painted()
        assert page.column("T1", "y")[0] == pytest.approx(10 + 800 / 1.544e6)
        assert page.pixels() != pixels
        page.screenshot("slider")

        # A live run puts new points into the figure of the reader's own measurement.
        recorded = page.column("points", "measured", OWN)
        assert recorded[0] == pytest.approx(0.0114)  # what the recorded ping printed at 8 bytes
        page.page.get_by_role("button", name="Run an echo").last.click()
        page.page.get_by_text("done", exact=True).last.wait_for()
        page.wait_painted()
        live = page.column("points", "measured", OWN) + page.column("outliers", "measured", OWN)
        assert len(live) == 15  # the sizes of the book's experiment
        assert max(live) < min(recorded)
        page.figure(OWN)
        page.screenshot("live")

        # A file of one's own is read and overlaid: the smallest of each size.
        own = tmp_path / "my ping.txt"
        own.write_text(PING)
        page.page.locator(".netcalc-upload input[type=file]").last.set_input_files(own)
        page.page.get_by_text("my ping.txt is read.").wait_for()
        page.wait_painted()
        assert page.column("points", "x", OWN) == [100, 1100]
        assert page.column("points", "measured", OWN) == pytest.approx([0.010, 0.050])
        # derived: 16 x 1000 bytes / 40 ms
        assert "400 kbit/s" in page.figure(OWN).get_attribute("aria-label")
        page.screenshot("upload")
        assert page.complaints() == []
