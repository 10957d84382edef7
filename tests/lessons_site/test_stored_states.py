"""Panels as tables: every position that is stored, and the way to it."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.lessons import latency, store_and_forward
from netcalc.lessons.latency import echo_panel
from netcalc.lessons.site.cells import PageControl, States, notes
from netcalc.lessons.site.html import prose
from netcalc.widgets.controls import Quantity


def test_stops_go_from_end_to_end_with_the_start_among_them() -> None:
    made = PageControl("rtt", Quantity("rtt", "33 ms", unit="s", low="1 ms", high="1 s"), most=9)
    assert made.count == 9
    assert made.texts[0] == "1 ms"
    assert made.texts[-1] == "1 s"
    assert made.texts[made.start] == "33 ms"
    made.put(0)
    assert made.widget.value == 0.001
    assert made.here() == 0


def test_all_combinations_are_stored_where_they_are_few() -> None:
    panel = latency.distance_panel()
    start = panel.figure.description
    states = States(panel, most=300)
    states.walk()
    assert states.joint
    assert states.count == states.controls[0].count * states.controls[1].count <= 300
    assert panel.figure.description == start  # identity: it goes back


def test_controls_are_moved_alone_where_the_combinations_are_many() -> None:
    states = States(store_and_forward.timeline_panel(), most=200)
    assert not states.joint
    moved = [
        sum(a != one.start for a, one in zip(position, states.controls, strict=True))
        for position in states.positions()
    ]
    assert max(moved) == 1
    assert len(moved) == sum(one.count for one in states.controls)


def test_a_panel_draws_once_for_controls_that_change_at_once() -> None:
    panel = latency.distance_panel()
    drawn = []
    panel.figure.observe(lambda change: drawn.append(change["new"]), "description")
    with panel.at_once():
        panel.controls["distance_m"].value = 1e6
        panel.controls["rtt_s"].value = 0.2
        assert drawn == []
    assert len(drawn) == 1
    x = panel.figure.plot.sources["your path"].data
    assert (np.asarray(x["x"]).tolist(), np.asarray(x["y"]).tolist()) == ([1e6], [0.2])


def test_a_live_panel_names_the_command() -> None:
    told = notes(echo_panel("T1 40 ms"))
    assert [one["command"] for one in told] == ["netcalc run echo"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        (
            "1. Why?\n   <details><summary>Answer</summary>As <code>x</code> $x < y$.</details>",
            "<details><summary>Answer</summary>As <code>x</code> <math",
        ),
        ("`<details>` folds", "<code>&lt;details&gt;</code>"),
        ("<details onclick=alert(1)>", "&lt;details onclick=alert(1)&gt;"),
        ("a `<b>` and $x < y$", "<code>&lt;b&gt;</code>"),
        ("[l](02b_probing.ipynb#top)", 'href="02b_probing.html#top"'),
        ("[l](https://example.org/a.ipynb)", 'href="https://example.org/a.ipynb"'),
    ],
)
def test_prose_is_html_without_that_of_the_lesson(text: str, expected: str) -> None:
    assert expected in prose(text)


def test_a_lesson_without_a_page_is_no_link() -> None:
    text = "[*two*](02_store_and_forward.ipynb), [three](03_mbufs.ipynb#a), [x](x.html)"
    written = prose(text, ["03_mbufs"])
    assert "02_store" not in written
    assert "<em>two</em>, " in written
    assert '<a href="03_mbufs.html#a">three</a>' in written
    assert '<a href="x.html">x</a>' in written
