"""The figure's conversation with the kernel in every order, with played time, in a real browser."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from netcalc.widgets import figure

PLAY = Path(__file__).with_name("figure_orders.js").read_text()
FIGURE = Path(figure.__file__).with_name("figure.js").read_text()
EVENTS = 7


@pytest.fixture
def played(browser):
    context = browser.new_context()
    page = context.new_page()
    page.set_content("<style>div { min-height: 1px }</style>")
    page.add_script_tag(content=PLAY)
    yield lambda *given: page.evaluate("given => playAll(...given)", [FIGURE, *given])
    context.close()


@pytest.mark.parametrize("lost", [False, True], ids=["answered later", "not answered"])
@pytest.mark.parametrize("gap_ms", [10, 3000, 8000])
def test_a_figure_is_drawn_in_every_order_of_events(played, gap_ms, lost):
    """A saved view, a live view, its element on the page, the kernel, its answers, a slider."""
    found = played(gap_ms, lost)
    assert found["count"] == math.factorial(EVENTS)
    assert found["wrong"] == 0, found["first"]
    # Within 10 ms nobody complains; where seconds pass without an answer, the page says so.
    assert (found["silent"] > 0) == (gap_ms > 10)
