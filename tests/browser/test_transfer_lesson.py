"""Lesson 06 in a real browser: its three live runs are clicked, and their points are there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

LESSON = Path(__file__).parents[2] / "notebooks" / "06_tcp_against_udp.ipynb"


@pytest.mark.shown("lab", LESSON)
def test_transfers_are_measured_beside_the_book(page):
    page.wait_figures(8)
    # Three open exercises have their answers, closed, and four have a field for one.
    assert (
        page.page.locator("details:not([open], .netcalc-values, .netcalc-peer) > summary").count()
        == 3
    )
    assert page.page.locator(".netcalc-answer").count() == 4
    for done, (label, figure, shot) in enumerate(
        (
            ("Run source and sink", 5, "both"),
            ("Run at four MTUs", 6, "mtu"),
            ("Sweep the buffer over 10 Mbit/s 10 ms", 7, "buffer"),
        ),
        start=1,
    ):
        page.page.get_by_role("button", name=label).last.click()
        page.page.locator(".netcalc-panel").get_by_text("done", exact=True).nth(done - 1).wait_for()
        page.wait_painted()
        page.figure(figure)
        page.screenshot(shot)
    sizes = page.column("TCP, received", "x", 5)
    assert len(sizes) == len(page.column("UDP, received", "x", 5)) == 7
    # Nobody receives more than was sent, but a median may: both are of three runs.
    sent, received = (np.array(page.column(f"UDP, {what}", "y", 5)) for what in
                      ("sent", "received"))  # fmt: skip
    assert (received <= 1.05 * sent).all()
    # Derived: segments are the MTU less 40 of headers and 12 of timestamps.
    assert page.column("measured", "x", 6)[:1] == [1448]
    assert page.page.locator(".netcalc-panel").get_by_text("in flight was at most").count() >= 1
    assert page.complaints() == []
