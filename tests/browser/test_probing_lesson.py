"""Lessons 2 and 2b in a real browser: trains, hops, probes, pairs and mixes, by their buttons."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc.emulation import capabilities

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
TRAINS, PATHS = NOTEBOOKS / "02_store_and_forward.ipynb", NOTEBOOKS / "02b_real_paths.ipynb"
FIGURES = {TRAINS: 4, PATHS: 6}
TRAIN = 1  # place of the figure on the page of lesson 2
HOPS, MIXES, LINKS, PAIRS = 0, 2, 3, 4  # of lesson 2b
# Shorter runs than a reader makes; what is judged here is that they appear on the page.
SHORT = """from netcalc.lessons import probing, store_and_forward
probing.PROBE_COUNT, store_and_forward.LIVE_HOPS = 3, (1, 2, 4)"""


@pytest.fixture(scope="module")
def wires():
    found = capabilities()
    if not found.wire:
        pytest.skip(f"no wire here: {found.why_not}")


def run(page, number, button):
    """Click a button and wait until its run is done."""
    panel = page.page.locator(".netcalc-panel").nth(number)
    panel.get_by_role("button", name=button).click()
    panel.get_by_text("done", exact=True).wait_for()
    page.wait_figures(FIGURES[page.sheet.notebook])
    page.wait_painted()
    return panel


@pytest.mark.namespace
@pytest.mark.usefixtures("wires")
@pytest.mark.shown("lab", TRAINS, first=SHORT)
def test_a_train_is_sent_in_lesson_2(page):
    page.wait_figures(FIGURES[TRAINS])
    page.reveal()
    run(page, TRAIN, "Send thirty packets")
    # published: 91.5 ms for ten packets; a busy machine adds some milliseconds
    assert page.column("this machine", "y", TRAIN)[9] == pytest.approx(0.0915, abs=0.02)
    page.figure(TRAIN)
    page.screenshot("train")
    assert page.complaints() == []


@pytest.mark.namespace
@pytest.mark.usefixtures("wires")
@pytest.mark.shown("lab", PATHS, first=SHORT)
def test_lesson_2b_is_played_through(page):
    page.wait_figures(FIGURES[PATHS])
    run(page, HOPS, "Send it on this machine")
    stored = page.column("store-and-forward", "y", HOPS)
    live = page.column("this machine", "y", HOPS)
    assert page.column("this machine", "x", HOPS) == [1, 2, 4]
    assert all(t >= stored[n - 1] - 1e-6 for n, t in zip([1, 2, 4], live, strict=True))
    page.figure(HOPS)
    page.screenshot("hops")

    mixes = page.page.locator(".netcalc-panel").nth(MIXES)
    # published: 187 ms; derived: three mixes, 6 T1, 2 of 10 Mbit/s and 4 T3 the nearest
    mixes.get_by_text("3 combinations of 12 or 13 links").wait_for()
    mixes.get_by_role("button", name="More controls").click()
    mixes.get_by_label("100 Mbit/s links").check()
    # derived: every multiset of 12 or 13 links of the four kinds tried, 12 are within 1 ms
    mixes.get_by_text("12 combinations of 12 or 13 links").first.wait_for()
    page.figure(MIXES)
    page.screenshot("mixes")
    mixes.locator(".netcalc-table").last.scroll_into_view_if_needed()
    page.screenshot("mixes-table")

    links = run(page, LINKS, "Probe this path")
    assert links.locator(".netcalc-table tr").count() == 4
    assert len(page.column("points", "measured", LINKS)) == 24
    links.locator(".netcalc-table").scroll_into_view_if_needed()
    page.screenshot("links")
    box = links.locator("input[type=text]").first
    box.fill("fast")
    box.press("Enter")
    links.get_by_role("alert").wait_for()
    box.fill("T1 1 ms, 1 Gbit/s 5 ms")
    box.press("Enter")
    links.get_by_text("one line to each of 2 nodes").wait_for()
    assert links.locator(".netcalc-table tr").count() == 0, "the run was of another path"

    pairs = run(page, PAIRS, "Send pairs")
    assert len(page.column("no cross traffic between", "y", PAIRS)) == 40
    pairs.get_by_text("The bottleneck link is set to 1.544 Mbit/s").wait_for()
    page.figure(PAIRS)
    page.screenshot("pairs")
    assert page.complaints() == []
