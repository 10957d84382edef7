"""Figures of plans: axes that can be read, and the step out of a limit."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from netcalc import planning, plots
from netcalc.planning.page import date_after
from netcalc.uncertain import uniform
from netcalc.units import show


def test_an_answer_that_hardly_differs_is_drawn_over_a_decade():
    page = planning.transfer(1e9, bandwidth_bps=1e9, rtt_s=0.04, window_bytes=65536)
    axis = plots.plan(page).figure.y_range
    # derived: 64 KiB each 40 ms, in the middle of ten times as much from end to end, in minutes
    middle = 1e9 / 65536 * 0.04 / 60.0
    assert axis.end / axis.start == pytest.approx(10.0)
    assert np.sqrt(axis.start * axis.end) == pytest.approx(middle, rel=0.01)


def test_an_answer_over_decades_has_its_own_range():
    page = planning.transfer(1e9, bandwidth_bps=1e6, rtt_s=0.04)
    drawn = plots.plan(page).figure
    assert np.isnan(drawn.y_range.start or np.nan)


@pytest.mark.each(
    "made, ticks",
    [
        # derived: 1, 2 and 5 of each decade, from a tenth of the rate to ten times
        (
            planning.link(120, user_bps=2e6, active_ratio=0.1, bandwidth_bps=1e8, as_map=True),
            [1e7, 2e7, 5e7, 1e8, 2e8, 5e8, 1e9],
        ),
        # derived: four decades around 10 ms
        (planning.buy(1e9, bandwidth_bps=1e8, rtt_s=0.01), [1e-4, 1e-3, 1e-2, 1e-1, 1.0]),
    ],
)
def test_ticks_of_a_map(made, ticks):
    assert plots.plan(made).figure.yaxis[0].ticker.ticks == pytest.approx(ticks)


@pytest.mark.each("over", [("window_bytes", "rtt_s"), ("rtt_s", "window_bytes")])
def test_the_step_on_the_map_is_that_of_the_sentence(over):
    """A window costs less than a nearer server, whichever is nearer on the map."""
    made = planning.buy(
        1e9, bandwidth_bps=1e8, rtt_s=0.04, window_bytes=65536.0, loss_ratio=1e-5, over=over
    )
    assert made.steps[0].change.code == "step-window"
    step = dict(zip(over, made.chart.step, strict=True))
    assert step["rtt_s"] == 0.04
    # derived: the window that fills the payload of the line in a round trip; a cell is 6 % wide
    assert step["window_bytes"] == pytest.approx(1e8 * 1448 / 1538 * 0.04 / 8, rel=0.06)


def test_a_link_is_full_within_the_day():
    # derived: day 511 after 1 January is 27 May of the next year, and it is not over
    assert date_after(date(2026, 1, 1), 511.9 / 365.25) == date(2027, 5, 27)


def test_long_times_are_drawn_in_hours():
    page = planning.backup(
        50e12, window_s=28_800.0, bandwidth_bps=1e9, rtt_s=0.04,
        change_ratio=uniform(0.02, 0.05), loss_ratio=1e-5,
    )  # fmt: skip
    drawn = plots.plan(page)
    hours = page["backup_s"] / 3600.0  # identity: an hour has 3600 seconds
    marks = [one.data["y"][0] for one in drawn.sources.values()
             if {"x", "y"} <= set(one.data) and len(one.data["y"]) == 1]  # fmt: skip
    assert marks == pytest.approx([hours])
    picture = plots.svg(drawn)
    assert "[h]" in picture
    median = page.main_answer.spread.percentile(50.0)
    assert f"median: {show(median / 3600.0, 'h')}" in picture
