"""The packets of lesson 02 are stepped, played and paused, by mouse and by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest

LESSON = Path(__file__).parents[2] / "notebooks" / "02_store_and_forward.ipynb"


@pytest.mark.shown("lab", LESSON)
def test_packets_are_stepped_played_and_paused(page):
    page.wait_figures(1)
    board = page.page.locator(".netcalc-playback").first
    board.scroll_into_view_if_needed()
    clock = board.locator(".netcalc-play-clock")
    packets = board.locator("svg rect")
    step = board.get_by_role("button", name="Step", exact=True)
    slider = board.get_by_role("slider", name="time")
    slider.focus()
    page.page.keyboard.press("Home")
    assert clock.inner_text() == "0.000 µs"
    assert packets.count() == 0
    # published, Fig. A-9: 1 ms of the source, first bit at the router at 6 ms
    for expected in ("1.000 ms", "6.000 ms"):
        step.click()
        assert clock.inner_text() == expected
    assert packets.count() == 1
    assert "packet 1 (theory) from source to router" in board.get_by_role("status").inner_text()
    page.screenshot("stepped")
    board.get_by_role("button", name="Step back").click()
    assert clock.inner_text() == "1.000 ms"

    slider.focus()
    page.page.keyboard.press("End")
    assert slider.get_attribute("aria-valuetext") == "24.00 ms"
    assert packets.count() == 0

    play = board.get_by_role("button", name="Play again")
    play.focus()
    page.page.keyboard.press("Enter")
    board.get_by_role("button", name="Pause").wait_for()
    page.page.wait_for_function("(clock) => clock.textContent !== '0.000 µs'",
                                arg=clock.element_handle())  # fmt: skip
    board.get_by_role("button", name="Pause").click()
    paused = clock.inner_text()
    assert float(paused.split()[0]) > 0.0
    page.page.wait_for_timeout(300)
    assert clock.inner_text() == paused
    assert page.complaints() == []


@pytest.mark.shown("lab", LESSON)
def test_reduced_motion_goes_from_event_to_event(page):
    page.wait_figures(1)
    page.page.emulate_media(reduced_motion="reduce")
    board = page.page.locator(".netcalc-playback").first
    slider = board.get_by_role("slider", name="time")
    slider.focus()
    page.page.keyboard.press("Home")
    board.get_by_role("button", name="Play", exact=True).click()
    clock = board.locator(".netcalc-play-clock")
    page.page.wait_for_function("(clock) => clock.textContent === '6.000 ms'",
                                arg=clock.element_handle())  # fmt: skip
    board.get_by_role("button", name="Pause").click()
    page.page.emulate_media(reduced_motion="no-preference")
    assert page.complaints() == []
