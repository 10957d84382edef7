"""Lesson 13 in a real browser: a guess, sizes and ranks by keyboard, and a run of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LESSON = ROOT / "notebooks" / "13_collectives.ipynb"
RUN = ROOT / "tests" / "readers" / "inputs" / "transfers" / "nccl_all_gather.txt"
TIMES, HALF, MEASURED = range(3)


def panel_of(page, number):
    """A panel of the lesson."""
    return page.page.locator(".netcalc-panel").nth(number)


def control(page, number, name):
    """A control of a panel."""
    return panel_of(page, number).locator(".netcalc-control").filter(has_text=name).first


def put(page, number, name, text):
    """Type a value into a control of a panel."""
    box = control(page, number, name).locator("input[type=text]")
    box.fill(text)
    box.press("Enter")


@pytest.mark.shown("lab voila", LESSON)
def test_an_all_reduce_is_guessed_predicted_and_measured(page):
    page.wait_figures(3)
    page.wait_painted()
    page.screenshot("opened")
    times = panel_of(page, TIMES)
    times.locator(".netcalc-guess input[type=text]").fill("280 ms")
    times.get_by_text("Compare with the model").click()
    # derived: 14 parts of an eighth of 14 GB at 50 GB/s, and 14 steps of 10 us
    times.get_by_text("the model says 490.1 ms, 1.8 times your guess").first.wait_for()
    put(page, TIMES, "vector", "8 B")
    times.get_by_text("the fastest is recursive doubling with 30 µs").first.wait_for()
    page.screenshot("small")

    # derived: half a megabyte for each rank; the second of 200 stops from 8 is 8.51, 9 ranks
    handle = control(page, HALF, "ranks").locator(".noUi-handle")
    panel_of(page, HALF).get_by_text("Up to 4 MB latency").first.wait_for()
    handle.focus()
    handle.press("ArrowRight")
    handle.press("ArrowRight")
    panel_of(page, HALF).get_by_text("Up to 4.5 MB latency").first.wait_for()
    page.figure(HALF)
    page.wait_painted()
    page.screenshot("half")

    page.page.set_input_files("input[type=file]", RUN)
    measured = panel_of(page, MEASURED)
    measured.get_by_text(f"Read {RUN.name}.").wait_for()
    measured.get_by_text("bus bandwidth of this all-gather is 161").first.wait_for()
    assert len(page.column("measured", "x", MEASURED)) == 19  # sizes from 1 KiB to 256 MiB
    page.figure(MEASURED)
    page.wait_painted()
    page.screenshot("own")
    assert page.complaints() == []
