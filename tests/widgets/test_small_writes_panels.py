"""The panels on small writes: what they draw at first, after a control, and after a run."""

from __future__ import annotations

import numpy as np
import pytest
from panels_seen import column

from netcalc import plots
from netcalc.lessons import small_writes as panels
from netcalc.models.hosts.small_writes import write_timeline
from netcalc.plots import svg
from netcalc.widgets.run import RunButton


def test_article_panel():
    panel = panels.article_panel()
    # published: the ten times with Nagle's rule on
    assert column(panel, "Nagle on").tolist() == pytest.approx(
        [0.062, 0.107, 0.1, 0.109, 0.104, 0.104, 0.1, 0.1, 0.1, 0.1]
    )
    panel.controls["rtt_s"].value = 0.03
    panel.controls["delayed_ack_s"].value = 0.04
    # derived: 2 RTT, then 2 RTT + 40 ms; RTT
    assert column(panel, panels.TWO).tolist() == pytest.approx([0.06] + [0.1] * 9)
    assert column(panel, panels.ONE).tolist() == pytest.approx([0.03] * 10)
    panel.controls["write_gap_s"].value = 0.015
    assert column(panel, panels.NODELAY).tolist() == pytest.approx([0.045] * 10)
    assert "Two writes take 100 ms (the article's median is 100 ms)" in panel.figure.description


def test_ladder_panel():
    panel = panels.ladder_panel()
    # derived: 30 ms there and back twice, 40 ms in between; the client waits 30 + 40 ms
    assert "after 100 ms" in panel.figure.description
    assert "client waits for acknowledgement for 70 ms" in panel.figure.description
    assert column(panel, "holds acknowledgement", "left").tolist() == pytest.approx([0.015])
    panel.controls["policy"].value = "nodelay"
    assert "after 30 ms" in panel.figure.description
    panel.controls["policy"].value = "nagle"
    panel.controls["quickack"].value = True
    assert "after 60 ms" in panel.figure.description
    panel.controls["quickack"].value = False
    panel.controls["write_count"].value = 1.0
    assert "1 segment without a wait" in panel.figure.description
    assert panel.message.value == ""


def test_a_ladder_in_numbers():
    steps = write_timeline([0, 0], write_bytes=[6, 7], rtt_s=0.03, server_s=0.005)
    plot = plots.ladder(steps, title="Ladder")
    segments = plot.sources["segment"].data
    # derived: the first part leaves at 0, the second when the acknowledgement is there
    assert np.asarray(segments["x"])[[0, 1, 3, 4]].tolist() == pytest.approx(
        [0, 0.015, 0.07, 0.085]
    )
    assert np.asarray(segments["y"])[[0, 1]].tolist() == [0.0, -1.0]
    # the last acknowledgement is held while the server works, and rides on the response
    assert plot.sources["labels"].data["text"] == ["70 ms", "40 ms", "5 ms", "5 ms"]
    works = plot.sources["works"].data
    assert (works["left"][0], works["right"][0]) == pytest.approx((0.085, 0.09))
    picture = svg(plot)
    assert "holds acknowledgement" in picture
    assert "40 ms" in picture


@pytest.mark.each("theme", ["light", "dark"])
def test_ladders_of_one_form_differ_in_columns_only(theme):
    first, second, third = (
        plots.ladder(write_timeline([0, 0], write_bytes=[6, 7], rtt_s=rtt_s), theme=theme)
        for rtt_s in (0.01, 0.02, float("nan"))
    )
    assert first.form == second.form
    assert first.form != third.form, "the legend has only what there is"
    assert "a value is not known" in third.description


def test_live_panel_shows_the_theory_before_a_run():
    panel = panels.live_panel()
    assert column(panel, panels.TWO).tolist() == pytest.approx([0.06] + [0.1] * 9)
    panel.controls["latency_s"].value = 0.005
    assert column(panel, panels.TWO).tolist() == pytest.approx([0.02] + [0.06] * 9)
    assert not column(panel, "yours: two writes").size
    panel.controls["write_gap_s"].value = 0.015
    # derived: the gap, and two latencies of 5 ms
    assert column(panel, panels.NODELAY).tolist() == pytest.approx([0.025] * 10)
    # published: the article's ten times stand beside
    assert column(panel, "article: two writes")[:2].tolist() == pytest.approx([0.062, 0.107])
    assert column(panel, "article: one write").size == 10


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.parametrize(("latency_s", "family"), [(0.0, "127.0.0.1"), (0.005, "::1")])
def test_live_panel_after_a_run(latency_s, family):
    panel = panels.live_panel()
    panel.controls["latency_s"].value = latency_s
    panel.controls["family"].value = family
    button = next(child for child in panel.children if isinstance(child, RunButton))
    button.start()
    button._thread.join(30)
    assert "done" in button.message.value
    assert column(panel, "yours: two writes", "x").tolist() == list(range(1, 11))
    # On a starved machine a round may pass without the timer; most do not.
    assert np.median(column(panel, "yours: two writes")[1:]) > 2 * latency_s + 0.036
    # derived: two round trips and the 40 ms of Linux, up to a tick more; one write one round trip
    theory = column(panel, panels.TWO)
    assert (theory[1:] >= 4 * latency_s + 0.04).all()
    assert (theory[1:] < 4 * latency_s + 0.0502).all()
    assert column(panel, panels.ONE) == pytest.approx(2 * latency_s, abs=1e-4)
    assert "nagle: predicted" in panel.figure.description
    panel.controls["view"].value = "nagle"
    assert column(panel, "segment", "x").size >= 6, "two arrows, each with a gap behind"
    assert "The response arrives after" in panel.figure.description
    panel.controls["view"].value = "single"
    assert "the request took 1 segment" in panel.figure.description
    panel.controls["view"].value = ""
    assert column(panel, "yours: two writes").size == 10
