"""Lesson 03 played through: the machine's own numbers appear beside the article's."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from netcalc.lessons import line_rate as panels

LESSON = Path(__file__).parents[2] / "notebooks" / "03_line_rate.ipynb"
WAYS, PAIRS, ROUTER = 4, 5, 6  # the fifth figure of the lesson, and those after it
# Shorter runs than a reader makes; what is judged here is that they appear on the page.
SHORT = """from netcalc.lessons import line_rate
line_rate.BLAST_S, line_rate.BLAST_RUNS, line_rate.PAIRS = 0.03, 1, (1, 4)
line_rate.ROUTER_S = 0.2"""


def pressed(page, name):
    """Press a run button and wait for its end."""
    button = page.page.get_by_role("button", name=name)
    button.scroll_into_view_if_needed()
    button.click()
    runs = page.page.locator(".netcalc-run").filter(has=button)
    runs.get_by_text("done", exact=True).wait_for()
    page.wait_painted()


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.shown("lab", LESSON, first=SHORT)
def test_the_machine_is_measured_beside_the_article(page):
    cells = nbformat.read(LESSON, as_version=4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    shown = [source for source in sources if "_panel(" in source]
    assert ["three_ways" in shown[WAYS], "lockstep" in shown[PAIRS]] == [True, True]
    page.wait_figures(len(shown))
    page.wait_painted()

    # published: the article's routers; nothing of this machine yet
    assert page.column("router of 100 yuan", "y", WAYS)[0] == pytest.approx(3512.5)
    assert page.column(panels.WAYS["box"], "y", WAYS) == [None]
    pressed(page, "Send datagrams on three paths")
    for name in (panels.WAYS[way] for way in ("loopback", "routed", "box")):
        assert len(page.column(name, "y", WAYS)) == 7, "the sizes of RFC 2544"
    received = page.column(panels.WAYS["box"], "y", WAYS)
    # derived: 2000 a second, and 10 Mbit/s over frames with 20 bytes around each
    assert received[0] <= 2001
    assert received[-1] <= 10e6 / 8 / 1538 + 1
    text = page.figure(WAYS).get_attribute("aria-label")
    assert "Measured minus predicted: median" in text
    assert "The sender takes" in text
    page.screenshot("three-ways")

    pressed(page, "Run pairs in lockstep")
    assert page.column("path, measured", "x", PAIRS) == [1, 4]
    # derived: a cycle is no shorter than 2 ms each way
    assert page.column("path, measured", "y", PAIRS)[0] <= 8 * 1460 / 0.004
    page.figure(PAIRS)
    page.screenshot("lockstep")

    assert len(page.column("back, points", "x", ROUTER)) == 6, "the recorded run"
    pressed(page, "Measure an emulated router")
    rates = page.column("points", "measured", ROUTER) + page.column("outliers", "measured", ROUTER)
    # derived: no more than 2000 a second, and than 10 Mbit/s of 1538 bytes each
    assert len(rates) == 6
    assert max(rates) <= 2020
    assert min(rates) <= 1.01 * 10e6 / 8 / 1538
    page.screenshot("router")
    assert page.complaints() == []
