"""Lesson 8 in a real browser: a file is uploaded, a puzzle is predicted and opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc import datasets

LESSON = Path(__file__).parents[2] / "notebooks" / "08_your_own_measurement.ipynb"


@pytest.mark.shown("lab", LESSON)
def test_a_file_is_explained_and_a_puzzle_is_opened(page):
    page.wait_figures(2)
    own, puzzle = (page.page.locator(".netcalc-panel").nth(number) for number in (0, 1))
    own.locator("input[type=file]").set_input_files(
        datasets.data_folder() / "puzzles" / datasets.puzzle("line").file
    )
    own.get_by_text("Read line.json", exact=False).first.wait_for()
    line = own.locator("input[type=text]").first
    line.fill("20 Mbit/s")
    line.press("Enter")
    own.get_by_text("The line limits this", exact=False).first.wait_for()
    page.wait_painted()
    # derived: 1448 of 1538 bytes of 20 Mbit/s
    assert page.column("the line, 1448 B per packet", "y", 0) == pytest.approx(
        [20e6 * 1448 / 1538] * 2
    )
    page.figure(0)
    page.screenshot("own")

    assert puzzle.get_by_text("The truth.").count() == 0
    puzzle.locator("select").nth(1).select_option(label="a window")
    puzzle.get_by_text("Show the explanation and the truth").click()
    puzzle.get_by_text("You predicted: a window.").wait_for()
    puzzle.get_by_text("The truth.").wait_for()
    page.figure(1)
    page.screenshot("puzzle")
    assert page.complaints() == []
