"""Panels of lesson 2 that probe a path: before a run, after one, and after a change."""

from __future__ import annotations

import ipywidgets
import numpy as np
import pytest
from panels_seen import column

from netcalc import fit
from netcalc.emulation import capabilities
from netcalc.experiments import PROBE_SIZES
from netcalc.lessons import probing, store_and_forward
from netcalc.path import Path
from netcalc.samples import HopSamples, Meta
from netcalc.widgets.panel import html_table
from netcalc.widgets.run import RunButton

LIVE = [pytest.mark.live, pytest.mark.namespace, pytest.mark.usefixtures("wires")]


@pytest.fixture(scope="module")
def wires():
    found = capabilities()
    if not found.wire:
        pytest.skip(f"no wire here: {found.why_not}")


def table(panel):
    return next(child.value for child in panel.children if isinstance(child, ipywidgets.HTML)
                and "netcalc-message" not in child._dom_classes
                and child is not panel.message)  # fmt: skip


def run(panel):
    """Click the button and wait; return what the button says."""
    button = next(child for child in panel.children if isinstance(child, RunButton))
    button.start()
    button._thread.join(60)
    assert "done" in button.message.value
    assert panel.message.value == ""
    return button


def test_links_panel_shows_theory_before_a_run():
    panel = probing.links_panel()
    path = Path.parse(probing.PATHS[0])
    times = column(panel, "theory of the path")
    assert times[2] == pytest.approx(float(fit.to_node_s(1500, path=path, hop=1)))
    assert np.isnan(times).sum() == len(path.hops)
    assert "one line to each of 3 nodes" in panel.figure.description
    assert table(panel) == ""


def test_another_path_and_one_that_is_none():
    panel = probing.links_panel()
    panel.controls["path"].value = "T1, T1"
    # derived: 8 x (1500 + 576) / 1.544e6 = 10.757 ms for each link
    assert column(panel, "theory of the path")[[2, -2]] == pytest.approx(
        [0.010757, 0.021513], abs=1e-6
    )
    panel.controls["path"].value = "fast, T1"
    assert "fast" in panel.message.value
    assert panel.message.is_alert
    assert "one line to each of 2 nodes" in panel.figure.description


@pytest.mark.each("text", probing.PATHS)
def test_paths_to_choose_from_can_be_run(text):
    path = Path.parse(text)
    longest = fit.to_node_s(1500, path=path, hop=len(path.hops))
    count = probing.PROBE_COUNT * len(PROBE_SIZES) * len(path.hops)
    assert longest * count < 30, "a reader waits no longer than half a minute"


class TestLive:
    pytestmark = LIVE

    def test_links_panel_after_a_run(self):
        panel = probing.links_panel()
        panel.controls["path"].value = "10 Mbit/s, T1 1 ms"
        run(panel)
        assert column(panel, "points", "measured").size == 2 * len(PROBE_SIZES)
        assert "link 1: " in panel.figure.description
        assert table(panel).count("<tr>") == 3
        assert "1.544 Mbit/s" in table(panel)
        panel.controls["path"].value = "10 Mbit/s, T1 2 ms"
        assert table(panel) == "", "the run was of another path"
        assert "No run yet" in panel.figure.description
        panel.controls["path"].value = "10 Mbit/s 0 ms, T1 1 ms"
        assert table(panel).count("<tr>") == 3, "the same path, written in another way"

    def test_trains_panel_after_a_run(self):
        panel = probing.trains_panel()
        assert "7.772 ms apart" in panel.figure.description  # derived: 12,000 bit / 1.544e6
        panel.controls["cross_ratio"].value = 0.3
        run(panel)
        alone = column(panel, "no cross traffic between")
        crossed = column(panel, "cross traffic between")
        assert alone.size + crossed.size == 40
        assert np.median(alone) == pytest.approx(12e3 / 1.544e6, rel=0.2)
        assert np.median(crossed) > np.median(alone)
        assert "The bottleneck link is set to 1.544 Mbit/s" in panel.figure.description
        panel.controls["path"].value = "T3"
        assert not column(panel, "no cross traffic between").size

    def test_train_panel_after_a_run(self):
        panel = store_and_forward.train_panel()
        assert not column(panel, "this machine").size
        run(panel)
        done_s = column(panel, "this machine")
        theory_s = column(panel, "back to back")
        assert column(panel, "this machine", "x").tolist() == list(range(1, 31))
        assert np.all(done_s >= theory_s - 1e-4)
        assert np.median(done_s - theory_s) < 0.01
        assert "This machine: ten back to back" in panel.figure.description
        panel.controls["router_count"].value = 2.0
        assert not column(panel, "this machine").size
        panel.controls["router_count"].value = 1.0
        assert not column(panel, "this machine").size, "what is gone does not come back"

    def test_hops_panel_after_a_run(self):
        panel = store_and_forward.live_hops_panel()
        panel.controls["line_name"].value = "10 Mbit/s"
        run(panel)
        numbers = column(panel, "this machine", "x").astype(int)
        stored = column(panel, "store-and-forward")
        assert numbers.tolist() == list(store_and_forward.LIVE_HOPS)
        assert np.all(column(panel, "this machine") >= stored[numbers - 1] - 1e-6)
        assert np.all(column(panel, "this machine") <= stored[numbers - 1] * 1.1 + 5e-3)
        assert "This machine is at most" in panel.figure.description
        panel.controls["packet_bytes"].value = 100.0
        assert not column(panel, "this machine").size


def test_hops_panel_shows_both_kinds_of_switches():
    panel = store_and_forward.live_hops_panel()
    # derived: 2 x 12 x (8 x 1428 / 1.544e6 + 1 ms); 2 x (7.399 + 12 + 11 x 8 x 20 / 1544) ms
    assert column(panel, "store-and-forward")[-1] == pytest.approx(0.20158, abs=1e-5)
    assert column(panel, "cut-through")[-1] == pytest.approx(0.04108, abs=1e-5)
    assert column(panel, "store-and-forward")[0] == pytest.approx(column(panel, "cut-through")[0])


def test_mixes_panel_finds_the_book_s_mixes():
    """derived: three mixes of T1, 10 Mbit/s and T3 within 1 ms, 6-2-4 the nearest."""
    panel = probing.mixes_panel()
    assert "3 combinations of 12 or 13 links" in panel.figure.description
    assert "<td>6</td><td>2</td><td>4</td><td>12</td><td>187.4 ms</td>" in table(panel)
    assert '<th scope="row">traceroute with sizes</th><td>3</td><td>1</td>' in table(panel)
    fastest, slowest = (
        np.interp(1428, column(panel, name, "x"), column(panel, name))
        for name in ("the fastest combination", "the slowest combination")
    )
    assert (fastest, slowest) == pytest.approx((0.18614, 0.18791), abs=2e-5)


def test_mixes_panel_with_more_or_no_kinds():
    panel = probing.mixes_panel()
    panel.controls["has_fast"].value = True
    panel.controls["tolerance_s"].value = 0.005
    assert "and " in table(panel)
    assert "more</p>" in table(panel)
    panel.controls["rtt_s"].value = 0.1
    panel.controls["tolerance_s"].value = 1e-4
    panel.controls["link_count"].value = 2.0
    assert "0 combinations of 1 or 2 links" in panel.figure.description
    assert table(panel) == ""
    assert np.isnan(column(panel, "the slowest combination")).all()
    for kind in probing.KINDS:
        panel.controls[f"has_{kind}"].value = False
    assert "No kind of link is selected" in panel.figure.description
    assert panel.message.value == ""


def test_a_run_that_ended_before_its_path_was_there_shows_nothing():
    nothing = HopSamples(hop=[], packet_bytes=[], rtt_s=[], meta=Meta())
    assert not probing._is_of(nothing, Path.parse("T1"))


def test_cells_of_a_table_are_text():
    assert html_table(("<a>", "b"), [("1 & 2", "<script>")]) == (
        '<table class="netcalc-table"><thead><tr><th scope="col">&lt;a&gt;</th>'
        '<th scope="col">b</th></tr></thead><tr><th scope="row">1 &amp; 2</th>'
        "<td>&lt;script&gt;</td></tr></table>"
    )
