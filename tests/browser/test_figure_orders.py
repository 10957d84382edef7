"""The figure's conversation with the kernel in every order, with played time, in a real browser.

Each of the 5040 orders of the seven events is played once, in one of six cases: three intervals
between the events, with questions to a kernel that does not run answered later, or never. In each
case every order of any five events is played, with the other two events somewhere among them.
"""

from __future__ import annotations

import random
from itertools import combinations, permutations, product
from pathlib import Path

import pytest

from netcalc.widgets import figure

PLAY = Path(__file__).with_name("figure_orders.js").read_text()
FIGURE = figure.SCRIPT
EVENTS = ("saved", "view", "page", "kernel", "library", "document", "slider")
ORDERS = list(permutations(EVENTS))
random.Random(79).shuffle(ORDERS)  # a seed with which each share holds all orders of five
GAPS_MS = (10, 3000, 8000)
CASES = list(product(GAPS_MS, (False, True)))


def orders_of(gap_ms, lost):
    """The share of one case."""
    return ORDERS[CASES.index((gap_ms, lost)) :: len(CASES)]


@pytest.fixture(scope="module")
def played(browser):
    context = browser.new_context()
    page = context.new_page()
    page.set_content("<style>div { min-height: 1px }</style>")
    page.add_script_tag(content=PLAY)
    yield lambda *given: page.evaluate("given => playAll(...given)", [FIGURE, *given])
    context.close()


def test_every_order_is_played_and_every_order_of_five_events_in_each_case():
    assert {order for case in CASES for order in orders_of(*case)} == set(permutations(EVENTS))
    for case in CASES:
        parts = {part for order in orders_of(*case) for part in combinations(order, 5)}
        assert parts == set(permutations(EVENTS, 5))


@pytest.mark.parametrize("lost", [False, True], ids=["answered later", "not answered"])
@pytest.mark.parametrize("gap_ms", [pytest.param(GAPS_MS[0], marks=pytest.mark.core), *GAPS_MS[1:]])
def test_a_figure_is_drawn_in_every_order_of_events(played, gap_ms, lost):
    """A saved view, a live view, its element on the page, the kernel, its answers, a slider."""
    orders = orders_of(gap_ms, lost)
    found = played(orders, gap_ms, lost)
    assert found["count"] == len(orders)
    assert found["wrong"] == 0, found["first"]
    # Within 10 ms nobody complains; where seconds pass without an answer, the page says so.
    assert (found["silent"] > 0) == (gap_ms > 10)
