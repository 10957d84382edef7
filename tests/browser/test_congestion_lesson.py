"""Lesson 09 in a real browser: a slider moves the theory, a live run lies over it, units change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

LESSON = Path(__file__).parents[2] / "notebooks" / "09_congestion_control.ipynb"
# A shorter run than a reader makes; what is judged here is that it appears on the page.
SHORT = """from netcalc.lessons import congestion_control
congestion_control.END_S, congestion_control.STOP_S = 12.0, 11.0
congestion_control.THREE_S = (0.0, 12.0), (2.0, 11.0), (4.0, 10.0)"""
SHARE = "goodput, ideal share of flow 1"


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.shown("lab", LESSON, first=SHORT)
def test_two_flows_are_computed_run_and_compared(page):
    page.wait_figures(6)
    # derived: 1448 of 1500 bytes of 10 Mbit/s
    assert page.column(SHARE, "y")[0] == pytest.approx(10e6 * 1448 / 1500)
    page.figure(0)
    page.wait_painted()
    page.screenshot("theory")
    page.type_into(0, "20 Mbit/s")
    page.wait_first(SHARE, "y", 20e6 * 1448 / 1500)

    button = page.page.get_by_role("button", name="Run both flows on this machine")
    button.scroll_into_view_if_needed()
    button.click()
    runs = page.page.locator(".netcalc-run").filter(has=button)
    runs.get_by_text("done", exact=True).wait_for()
    page.wait_painted()
    live = np.array(page.column("goodput, flow 1, cubic, live", "y"), dtype=float)
    assert np.isfinite(live).sum() > 50
    assert np.nanmean(live) <= 1.02 * 20e6 * 1448 / 1500, "derived: the payload of the link"
    page.figure(0)
    page.screenshot("live")

    # derived: 10 Mbit/s times 40 ms in packets of 1500 bytes
    assert page.column("link just full", "y", 1)[0] == pytest.approx(400e3 / 12e3)
    page.figure(1)
    page.screenshot("phase")
    assert any(page.column("window, flow 3, cubic, theory", "y", 2))
    page.figure(2)
    page.screenshot("three")
    units = page.page.get_by_label("unit of the axis")
    units.nth(0).select_option("Mbit/s")
    page.wait_for(
        """() => [...document.querySelectorAll('.netcalc-figure')][3]
                   .netcalc.source('read off figure 15').data.y[0] === 9.64e9"""
    )
    page.figure(3)
    page.screenshot("unit")
    page.figure(4)
    page.screenshot("windows")
    page.figure(5)
    page.screenshot("requests")
    assert page.complaints() == []
