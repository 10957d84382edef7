"""Lesson 10 in a real browser: the buffer moves a point, live runs lie over theory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

LESSON = Path(__file__).parents[2] / "notebooks" / "10_buffers_and_tail_latency.ipynb"
# Shorter runs than a reader makes; what is judged here is that they appear on the page. The 20 s
# that count have room for the 100 requests without which a cell of the lesson has no p99 to show.
SHORT = """from netcalc.lessons import tail_latency
tail_latency.END_S, tail_latency.START_S, tail_latency.WARM_S = 24.0, 2.0, 4.0
tail_latency.RUN_S = 3.0"""
HERE = "this buffer"


def played(page, label):
    """Press a button and wait until its run is done."""
    button = page.page.get_by_role("button", name=label)
    button.scroll_into_view_if_needed()
    button.click()
    runs = page.page.locator(".netcalc-run").filter(has=button)
    runs.get_by_text("done", exact=True).wait_for()
    page.wait_painted()


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.shown("lab", LESSON, first=SHORT)
def test_buffers_are_computed_run_and_explained(page):
    page.wait_figures(4)
    page.reveal()
    page.figure(0)
    page.wait_painted()
    page.screenshot("buffer")
    page.type_into(0, "2")
    page.wait_first(HERE, "x", 2.0)
    # derived: 40 ms and two bandwidth-delay products of queue
    assert page.column("round trip and full buffer", "y")[6] == pytest.approx(0.12)
    page.figure(1)
    page.screenshot("readings")
    # published: read off figure 20
    assert list(page.column("red", "y", 1)) == [0.84, 0.78, 0.15, 0.17, 0.18]

    played(page, "Send requests beside a flow")
    at = np.array(page.column("requests, live", "x", 2), dtype=float)
    latency = np.array(page.column("requests, live", "y", 2), dtype=float)
    assert np.median(latency[at > 6]) > 1.5 * np.median(latency[at < 2]), "the queue is there"
    page.figure(2)
    page.screenshot("bufferbloat")

    assert page.column("M/M/1", "y", 3)[0] == pytest.approx(0.2)  # derived: a load of 80 %
    played(page, "Send datagrams through this router")
    page.figure(3)
    page.screenshot("router")
    shares = page.column("points", "measured", 3)
    assert shares[-1] == 1.0
    page.page.get_by_label("figure", exact=True).nth(1).select_option("how many come together")
    page.wait_for(
        """() => [...document.querySelectorAll('.netcalc-figure')][3]
                   .netcalc.source('points').data.x[0] === 1"""
    )
    page.wait_painted()
    page.screenshot("arrivals")
    assert page.complaints() == []
