"""The live panels on line rate: what they draw of theory, what a run adds, what they say."""

from __future__ import annotations

import numpy as np
import pytest
from panels_seen import column, played, said

from netcalc import language
from netcalc.errors import ExperimentError
from netcalc.experiments import line_rate, lockstep
from netcalc.lessons import line_rate as panels
from netcalc.samples import BulkSamples, Meta

FRAMES = np.array([64.0, 512, 1518])
COSTS = {"loopback": (4e-6, 0.2e-9), "routed": (6e-6, 0.5e-9)}
"""Known costs of a packet and of a byte, by way."""


def blasts_of(way, *, refused=(), seen=None):
    """Return what stands for a run: of known costs, or through a box of known limits."""

    def run(*, progress, stop, routed=False, path=None, **options):
        found = "box" if path is not None else "routed" if routed else "loopback"
        if found in refused:
            raise ExperimentError("the system refuses namespaces", phase="wire")
        if seen is not None:
            seen.append((found, options))
        progress(len(FRAMES), len(FRAMES), 1.0)
        if way == found:
            stop.set()
        spent = COSTS["loopback"][0] + 0 * FRAMES
        facts, received = {}, np.full(3, 1000.0)
        if path is None:
            spent = COSTS[found][0] + COSTS[found][1] * FRAMES
            facts["routed"] = routed
        else:
            processings_s = [0.0, *(hop.processing_s for hop in path.hops)]
            facts["truth"] = {
                "bandwidths_bps": [link.bandwidth_bps for link in path.links],
                "latencies_s": [0.0, 0.0], "processings_s": processings_s,
            }  # fmt: skip
            received = np.full(3, 20.0)
        size = FRAMES - 46
        return BulkSamples(
            write_bytes=size, write_count=np.full(3, 1000.0), sent_bytes=1000 * size,
            received_bytes=received * size, wall_s=1000 * spent, delivery_s=[0.01] * 3,
            meta=Meta(tool="netcalc line-rate", target=found, instrument=facts,
                      warnings=("starved: it got 5%",)),
        )  # fmt: skip

    return run


def test_the_figure_before_a_run():
    panel = panels.three_ways_panel()
    # published: the article's routers, read with the payload of 10 bytes at 64 captured
    assert column(panel, "router of 100 yuan")[0] == pytest.approx(3512.5)
    assert column(panel, "router of 100 yuan", "x").tolist() == [68, 1518], "with FCS"
    frames = column(panel, "emulated device, theory", "x")
    # derived: 2000 a second, or 10 Mbit/s over frames with 20 bytes around each
    expected = np.minimum(2000, 10e6 / 8 / (frames + 20))
    assert column(panel, "emulated device, theory") == pytest.approx(expected)
    assert column(panel, "line of 100 Mbit/s") == pytest.approx(100e6 / 8 / (frames + 20))
    assert np.isnan(column(panel, "loopback, fitted")).all()
    assert "the device is the limit up to frames of 605 bytes, then its line" in said(panel)


def test_a_box_that_is_moved_is_another_box():
    panel = panels.three_ways_panel()
    panel.controls["bandwidth_bps"].value = 100e6
    assert "the device is the limit at every size" in said(panel)
    panel.controls["bandwidth_bps"].value = 1e6
    assert "its line is the limit at every size" in said(panel)
    frames = column(panel, "emulated device, theory", "x")
    assert column(panel, "emulated device, theory") == pytest.approx(1e6 / 8 / (frames + 20))


def test_three_runs_are_drawn_with_what_is_fitted_and_what_is_known(monkeypatch):
    seen = []
    monkeypatch.setattr(panels, "blasts", blasts_of("", seen=seen))
    panel = panels.three_ways_panel()
    button = played(panel)
    assert not button.message.is_alert, button.message.value
    assert [way for way, _ in seen] == ["loopback", "routed", "box"]
    assert button.progress.value == button.progress.max == 9
    at = column(panel, "loopback, fitted", "x")
    for way, (each, byte) in COSTS.items():
        # identity: the costs that the points were made of
        assert column(panel, panels.WAYS[way]) == pytest.approx(1 / (each + byte * FRAMES))
        fitted = column(panel, panels.FITTED[way])
        assert fitted == pytest.approx(1 / (each + byte * at), rel=1e-3)
    assert column(panel, "emulated device").tolist() == [2000] * 3, "20 in 10 ms"
    assert "The sender takes 4 µs" in said(panel)
    assert "Forwarding adds 2 µs ± " in said(panel)
    assert "Measured minus predicted: median" in said(panel)
    assert "Starved: it got 5%." in said(panel)
    assert "Save these samples" in button.keep.link.value, "of all three"
    panel.controls["device_pps"].value = 4000
    assert np.isnan(column(panel, "emulated device")).all(), "that was another box"
    assert column(panel, panels.WAYS["routed"]).size == 3
    assert "node of" not in said(panel)
    assert "The sender takes 4 µs" in said(panel)


def test_a_box_that_is_moved_during_its_run_is_another_box(monkeypatch):
    panel = panels.three_ways_panel()

    def moving(**options):
        if options.get("path") is not None:
            panel.controls["device_pps"].value = 4000
        return blasts_of("")(**options)

    monkeypatch.setattr(panels, "blasts", moving)
    assert not played(panel).message.is_alert
    assert np.isnan(column(panel, "emulated device")).all()
    assert "node of" not in said(panel)
    assert column(panel, panels.WAYS["loopback"]).size == 3


def test_a_price_that_is_not_seen_is_not_told(monkeypatch):
    monkeypatch.setitem(COSTS, "routed", (3.9e-6, 0.5e-9))
    monkeypatch.setattr(panels, "blasts", blasts_of(""))
    panel = panels.three_ways_panel()
    played(panel)
    assert "below the scatter" in said(panel)


def test_where_namespaces_are_refused_loopback_is_left(monkeypatch):
    monkeypatch.setattr(panels, "blasts", blasts_of("", refused=("routed", "box")))
    panel = panels.three_ways_panel()
    assert not played(panel).message.is_alert
    assert column(panel, panels.WAYS["loopback"]).size == 3
    assert "Emulated device: wire: the system refuses namespaces." in said(panel)
    assert "To be forwarded" not in said(panel)
    monkeypatch.setattr(panels, "blasts", blasts_of("", refused=("loopback",)))
    assert "the system refuses namespaces" in played(panel).message.value


def test_a_stop_leaves_the_later_ways_out(monkeypatch):
    monkeypatch.setattr(panels, "blasts", blasts_of("loopback"))
    panel = panels.three_ways_panel()
    assert "stopped" in played(panel).message.value
    assert column(panel, panels.WAYS["loopback"]).size == 3
    assert np.isnan(column(panel, panels.WAYS["routed"])).all()


def pairs_of(goodput_bps, *, target, pairs=panels.PAIRS, **facts):
    received = np.asarray(goodput_bps) / 8
    return BulkSamples(
        write_bytes=[1460.0] * len(pairs), write_count=received / 1460, sent_bytes=received,
        received_bytes=received, wall_s=[1.0] * len(pairs), delivery_s=[1.0] * len(pairs),
        pair_count=pairs, cycle_s=[1e-4] * len(pairs),
        meta=Meta(tool="netcalc lockstep", target=target, instrument=facts),
    )  # fmt: skip


def test_lockstep_panel(monkeypatch):
    panel = panels.lockstep_panel()
    count = column(panel, "the article's line", "x")
    # published: one pair about 20 Mbit/s; derived: up to 1460 bytes of each 1538, 94.93 Mbit/s
    expected = np.minimum(20e6 * count, 94.93e6)
    assert column(panel, "the article's line") == pytest.approx(expected, rel=1e-4)
    assert column(panel, "the article").tolist() == [20e6, 91.212e6], "published"
    # derived by hand: 1500 and 64 bytes there, 53 back at 20 Mbit/s, 2 ms each way
    cycle_s = 0.004 + 8 * (1564 + 53) / 20e6
    theory = np.minimum(count * 8 * 1460 / cycle_s, 20e6 * 1460 / 1564)
    assert column(panel, "path, theory") == pytest.approx(theory)
    assert "8 fill the line" in said(panel)

    def run(pairs, *, progress, path=None, **_):
        progress(len(pairs), len(pairs), 1.0)
        if path is None:
            return pairs_of([1e8, 2e8, 3e8, 3e8, 3e8], target="loopback, TCP")
        truth = {"bandwidths_bps": [20e6], "latencies_s": [0.002], "processings_s": [0.0, 0.0]}
        return pairs_of([2e6, 5e6, 9e6, 15e6, 18e6], target="path, TCP", truth=truth)

    monkeypatch.setattr(panels, "lockstep", run)
    button = played(panel)
    assert not button.message.is_alert, button.message.value
    assert column(panel, "path, measured").tolist() == [2e6, 5e6, 9e6, 15e6, 18e6]
    # derived: 1460 bytes in 0.1 ms, 116.8 Mbit/s a pair, up to the 300 that were reached
    known = count <= 16
    assert column(panel, "loopback, fitted")[known] == pytest.approx(
        np.minimum(116.8e6 * count, 3e8)[known], rel=0.15
    )
    panel.controls["latency_s"].value = 0.02
    assert np.isnan(column(panel, "path, measured")).all(), "that was another path"
    assert column(panel, "loopback, measured").size == 5


def test_lockstep_is_drawn_in_another_language(monkeypatch):
    monkeypatch.setattr(
        panels, "lockstep",
        lambda pairs, **_: pairs_of([1e8, 2e8, 3e8, 3e8, 3e8], target="loopback, TCP"),
    )  # fmt: skip
    language.use_lookup(lambda text: f"⟦{text}⟧")
    try:
        panel = panels.lockstep_panel()
        assert not played(panel).message.is_alert
        assert column(panel, "loopback, measured").size == 5
    finally:
        language.use_lookup(None)


def test_a_path_that_is_moved_during_its_run_is_another_path(monkeypatch):
    panel = panels.lockstep_panel()

    def moving(pairs, *, path=None, **_):
        if path is not None:
            panel.controls["latency_s"].value = 0.02
        return pairs_of([1e8, 2e8, 3e8, 3e8, 3e8], target="TCP")

    monkeypatch.setattr(panels, "lockstep", moving)
    assert not played(panel).message.is_alert
    assert np.isnan(column(panel, "path, measured")).all()
    assert column(panel, "loopback, measured").size == 5


def test_lockstep_without_namespaces_and_stopped_at_once(monkeypatch):
    def run(pairs, *, path=None, **_):
        if path is not None:
            raise ExperimentError("the system refuses namespaces", phase="wire")
        return pairs_of([1e8], target="loopback, TCP", pairs=[1])

    monkeypatch.setattr(panels, "lockstep", run)
    panel = panels.lockstep_panel()
    assert not played(panel).message.is_alert
    assert np.isnan(column(panel, "loopback, measured")).all()
    assert "Path: wire: the system refuses namespaces." in said(panel)


@pytest.mark.live
@pytest.mark.namespace
def test_live_runs(monkeypatch):
    monkeypatch.setattr(
        panels, "blasts", lambda **options: line_rate([64, 1518], **options | {"duration_s": 0.05})
    )
    panel = panels.three_ways_panel()
    button = played(panel)
    assert not button.message.is_alert, button.message.value
    for name in (panels.WAYS[way] for way in ("loopback", "routed", "box")):
        assert column(panel, name, "x").tolist() == [64, 1518]
        assert (column(panel, name) > 0).all()
    monkeypatch.setattr(
        panels, "lockstep",
        lambda pairs, **options: lockstep([1, 2], **options, duration_s=0.05),
    )  # fmt: skip
    panel = panels.lockstep_panel()
    button = played(panel)
    assert not button.message.is_alert, button.message.value
    assert column(panel, "path, measured", "x").tolist() == [1, 2]
