"""Lesson 8 in a real browser: a file is uploaded, a capture is marked, a puzzle is opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc import datasets

LESSON = Path(__file__).parents[2] / "notebooks" / "08_your_own_measurement.ipynb"


@pytest.mark.shown("lab", LESSON)
def test_a_file_is_explained_a_capture_marked_and_a_puzzle_opened(page):
    page.wait_figures(3)
    own, marked, puzzle = (page.page.locator(".netcalc-panel").nth(number) for number in range(3))
    own.locator("input[type=file]").set_input_files(
        datasets.data_folder() / "puzzles" / datasets.puzzle("line").file
    )
    own.get_by_text("Read line.json", exact=False).first.wait_for()
    line = own.locator("input[type=text]").first
    line.fill("20 Mbit/s")
    line.press("Enter")
    own.get_by_text("The line was full", exact=False).first.wait_for()
    page.wait_painted()
    # derived: 1448 of 1538 bytes of 20 Mbit/s
    assert page.column("the line, 1448 B per packet", "y", 0) == pytest.approx(
        [20e6 * 1448 / 1538] * 2
    )
    page.figure(0)
    page.screenshot("own")

    first, second = (marked.locator("select").nth(number) for number in (1, 2))
    opened = marked.get_by_text("Show what netcalc says")
    opened.click()
    marked.get_by_text("Mark first", exact=False).wait_for()
    assert marked.get_by_text("Of the time", exact=False).count() == 0, "not before the marks"
    first.select_option(label="the receiver's window")
    second.focus()  # by the keyboard: the second entry from the start
    for _ in range(2):
        page.page.keyboard.press("ArrowDown")
    marked.get_by_text("1 of 2 marks agree.").wait_for()
    second.select_option(label="the handshake")
    marked.get_by_text("2 of 2 marks agree.").wait_for()
    page.wait_painted()
    # published with the recording: 39,552 bytes are offered in each round trip of 40 ms
    assert marked.get_by_text("39.55 kB at 40.14 ms", exact=False).count() >= 1
    page.figure(1)
    page.screenshot("marked")

    assert puzzle.get_by_text("The truth.").count() == 0
    puzzle.locator("select").nth(1).select_option(label="a window")
    puzzle.get_by_text("Show the explanation and the truth").click()
    puzzle.get_by_text("You predicted: a window.").wait_for()
    puzzle.get_by_text("The truth.").wait_for()
    page.figure(2)
    page.screenshot("puzzle")
    assert page.complaints() == []
