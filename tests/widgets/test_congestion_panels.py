"""The panels of the lesson on congestion control: what they compute, draw, and add by a run."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from panels_seen import column, played, said

from netcalc.congestion import Result, Trajectory
from netcalc.congestion.recording import Recording, as_table, parse_rows
from netcalc.emulation.queue import Log
from netcalc.errors import ExperimentError, ReaderError
from netcalc.experiments.peers.flows_peer import BYTES, ROW
from netcalc.lessons import congestion_control as panels
from netcalc.samples import Meta
from netcalc.scenario import Flow

TIME_S = np.array([8.0, 16.0, 25.0, 30.0])


def made(scenario, *, by="theory", window=30.0):
    """Return a result by hand: both flows at 4 and 2 Mbit/s until 16 s, then at 2 and 4."""
    course = Trajectory(
        time_s=TIME_S,
        queue_bytes=np.array([0.0, 5e3, 10e3, 5e3]),
        window_packets=np.outer([1.0, 2.0, 3.0, 4.0], [window, window / 2]),
        goodput_bps=np.array([[9e6, 0.0], [4e6, 2e6], [2e6, 4e6], [9e6, 0.0]]),
        rtt_s=np.full(4, 0.05),
    )
    return Result(
        scenario=scenario, by=by, goodput_bps=np.array([6e6, 3e6]), finish_s=np.full(2, np.nan),
        queue_mean_bytes=5e3, queue_median_bytes=5e3, queue_p95_bytes=9e3, drop_count=1.0,
        utilization=0.9, trajectory=course,
    )  # fmt: skip


@pytest.fixture
def by_hand(monkeypatch):
    """Replace the theory; return the scenarios that it is asked for."""
    asked = []

    def run(scenario, *, stack):
        assert stack == "linux", "that of a live run"
        asked.append(scenario)
        return made(scenario)

    monkeypatch.setattr(panels, "theory", SimpleNamespace(run=run))
    return asked


def recorded(scenario, **more):
    found = made(scenario, by="live", window=20.0)
    return SimpleNamespace(scenario=scenario, meta=Meta(**more), result=lambda: found)


def test_the_controls_are_the_scenario(by_hand):
    panel = panels.two_flows_panel()
    for name, value in {"first": "reno", "second": "bbr", "rate_bps": 20e6, "rtt_s": 0.1,
                        "buffer_bdp": 2.0, "start_s": 5.0}.items():  # fmt: skip
        panel.controls[name].value = value
    asked = by_hand[-1]
    # derived: twice 20 Mbit/s times 100 ms
    assert asked.bottleneck.buffer_bytes == pytest.approx(500e3)
    assert [(flow.algorithm, flow.start_s, flow.stop_s) for flow in asked.flows] == [
        ("reno", 0.0, 30.0), ("bbr", 5.0, 25.0),
    ]  # fmt: skip
    # derived: 1448 of 1500 bytes of 20 Mbit/s, halved while both run
    at = column(panel, "goodput, ideal share of flow 1", "x")
    assert at == pytest.approx([0, 5, 5, 25, 25, 30])
    share = 20e6 * 1448 / 1500
    expected = [share, share, share / 2, share / 2, share, share]
    assert column(panel, "goodput, ideal share of flow 1") == pytest.approx(expected)
    assert column(panel, "queue, full buffer") == pytest.approx([500e3, 500e3])
    assert column(panel, "window, flow 1, reno, theory").tolist() == [30, 60, 90, 120]


@pytest.mark.usefixtures("by_hand")
def test_the_words_have_the_shares_while_both_run():
    panel = panels.two_flows_panel()
    # derived: (8 x 4 + 9 x 2) / 17 and (8 x 2 + 9 x 4) / 17 Mbit/s; (50 + 52)^2 / 2 / (50^2 + 52^2)
    rates = "2.941 Mbit/s (TCP payload) and 3.059 Mbit/s (TCP payload)"
    assert f"From 8 s to 25 s, theory: {rates}, Jain index 1.000." in said(panel)


def test_real_theory_shares_what_the_link_carries():
    panel = panels.two_flows_panel()
    sums = sum(
        np.nan_to_num(column(panel, f"goodput, flow {n}, cubic, theory")) for n in (1, 2)
    )  # fmt: skip
    # derived: no interval has more than the payload of the link, 9.653 Mbit/s
    assert sums.max() <= 10e6 * 1448 / 1500 * 1.001
    later = column(panel, "goodput, flow 1, cubic, theory", "x") > 8.0
    assert sums[later].mean() >= 0.9 * 10e6 * 1448 / 1500
    assert not panel.message.value


@pytest.mark.usefixtures("by_hand")
def test_a_live_run_adds_marks_until_a_slider_moves(monkeypatch):
    def record(scenario, *, progress, stop):
        progress(30.0, 30.0, 9e6)
        return recorded(scenario)

    monkeypatch.setattr(panels, "live", SimpleNamespace(record=record))
    panel = panels.two_flows_panel()
    button = played(panel)
    assert not button.message.is_alert, button.message.value
    assert button.progress.value == button.progress.max
    marks = "window, flow 1, cubic, live"
    assert column(panel, marks).tolist() == [20, 40, 60, 80]
    assert "Live: flow 1 6 Mbit/s" in said(panel)
    assert "25 s, live: 2.941 Mbit/s" in said(panel)
    panel.controls["rtt_s"].value = 0.08
    assert marks not in panel.figure.plot.sources
    panel.controls["rtt_s"].value = 0.04
    assert marks in panel.figure.plot.sources, "kept for these settings"


@pytest.mark.usefixtures("by_hand")
def test_a_slider_that_moves_during_a_run_goes_back_to_what_was_run(monkeypatch):
    def record(scenario, *, progress, stop):
        panel.controls["start_s"].value = 15.0
        return recorded(scenario)

    monkeypatch.setattr(panels, "live", SimpleNamespace(record=record))
    panel = panels.two_flows_panel()
    played(panel)
    assert panel.controls["start_s"].value == 8.0
    assert "queue, link, live" in panel.figure.plot.sources


@pytest.mark.usefixtures("by_hand")
def test_a_run_that_was_stopped_before_flow_2_is_drawn_without_its_share(monkeypatch):
    def record(scenario, *, progress, stop):
        found = made(scenario, by="live")
        short = replace(
            found.trajectory, time_s=TIME_S[:1], queue_bytes=np.zeros(1), rtt_s=np.zeros(1),
            window_packets=np.ones((1, 2)), goodput_bps=np.ones((1, 2)),
        )  # fmt: skip
        found = replace(found, trajectory=short)
        return SimpleNamespace(scenario=scenario, meta=Meta(), result=lambda: found)

    monkeypatch.setattr(panels, "live", SimpleNamespace(record=record))
    panel = panels.two_flows_panel()
    assert not played(panel).message.is_alert
    assert column(panel, "window, flow 1, cubic, live").tolist() == [1]
    assert "s, live: " not in said(panel)


@pytest.mark.usefixtures("by_hand")
def test_a_machine_without_namespaces_says_why(monkeypatch):
    def record(*_, **__):
        raise ExperimentError(
            "namespaces-not-permitted", phase="wire", reason="not permitted", step="unshare"
        )

    monkeypatch.setattr(panels, "live", SimpleNamespace(record=record))
    panel = panels.two_flows_panel()
    button = played(panel)
    assert button.message.is_alert
    assert "refuses network namespaces: not permitted" in button.message.value
    assert "queue, link, theory" in panel.figure.plot.sources, "theory needs none"


def test_a_buffer_below_a_packet_is_told_and_the_figure_stays():
    panel = panels.two_flows_panel()
    panel.controls["rate_bps"].value = 2e6
    before = column(panel, "queue, full buffer").tolist()
    panel.controls["rtt_s"].value = 0.01
    panel.controls["buffer_bdp"].value = 0.25
    # derived: 2 Mbit/s times 10 ms are 2500 bytes, a quarter of them 625
    assert "does not hold a single packet of 1500 B" in panel.message.value
    assert before == [10e3, 10e3], "derived: 2 Mbit/s times 40 ms"
    panel.controls["buffer_bdp"].value = 1.0
    assert not panel.message.value
    assert column(panel, "queue, full buffer").tolist() == [2500, 2500]


def test_three_flows_come_and_go_and_are_run(monkeypatch):
    def record(scenario, *, progress, stop):
        found = panels.theory.run(scenario, stack="linux")
        return SimpleNamespace(
            scenario=scenario, meta=Meta(), result=lambda: replace(found, by="live")
        )

    monkeypatch.setattr(panels, "live", SimpleNamespace(record=record))
    panel = panels.three_flows_panel()
    panel.controls["third"].value = "vegas"
    assert {"window, flow 1, cubic, theory", "window, flow 3, vegas, theory"} <= set(
        panel.figure.plot.sources
    )
    # derived: 1448 of 1500 bytes of 10 Mbit/s, by the number of flows that run
    whole = 10e6 * 1448 / 1500
    share = column(panel, "goodput, ideal share of flow 1")
    assert sorted(set(np.round(share))) == sorted(np.round([whole / 3, whole / 2, whole]))
    at = column(panel, "goodput, ideal share of flow 3", "x")
    known = np.isfinite(column(panel, "goodput, ideal share of flow 3"))
    assert (at[known].min(), at[known].max()) == (13, 23)
    assert "From 13 s to 23 s, theory: " in said(panel)
    assert not played(panel).message.is_alert
    assert "From 13 s to 23 s, live: " in said(panel)
    assert "window, flow 3, vegas, live" in panel.figure.plot.sources


@pytest.mark.usefixtures("by_hand")
def test_phase_panel_draws_window_against_window_while_both_run():
    panel = panels.phase_panel()
    assert column(panel, "theory", "x").tolist() == [60, 90]
    assert column(panel, "theory").tolist() == [30, 45]
    # derived: 10 Mbit/s times 40 ms are 33.3 packets, and as many fit in the buffer, whole ones
    assert column(panel, "link just full").tolist() == pytest.approx([400e3 / 12e3, 0])
    assert column(panel, "full buffer", "x").tolist() == pytest.approx([0, 400e3 / 12e3 + 33])
    panel.controls["buffer_bdp"].value = 2.0
    assert column(panel, "full buffer", "x").tolist() == pytest.approx([0, 400e3 / 12e3 + 66])


def test_the_unit_of_the_goodputs():
    panel = panels.goodput_unit_panel()
    # published: read at 23.5, 43 (both flows) and 44 s
    assert column(panel, "read off figure 15", "x").tolist() == [23.5, 43, 43, 44]
    # derived: bytes per second, eight bits each
    assert column(panel, "read off figure 15").tolist() == [77_120, 35_200, 36_800, 77_120]
    assert "0.0007712% of the line" in said(panel)
    panel.controls["unit_bps"].value = 1e6
    assert column(panel, "read off figure 15").tolist() == [9.64e9, 4.4e9, 4.6e9, 9.64e9]
    assert "96.4% of the line's 10 Gbit/s" in said(panel)


def test_the_unit_of_the_windows():
    panel = panels.window_unit_panel()
    assert column(panel, "read off figure 16")[[2, -1]].tolist() == [2750, 1150]
    # derived: 10 Gbit/s times 10 ms
    assert column(panel, "fills 10 Gbit/s (IP) over 10 ms").tolist() == [12.5e6, 12.5e6]
    panel.controls["unit_bytes"].value = 8948.0
    assert column(panel, "read off figure 16")[-1] == 1150 * 8948
    assert "carries 8.232 Gbit/s" in said(panel)  # derived: 1150 x 8948 x 8 / 10 ms


def test_requests_panel_has_the_bars_that_agree():
    panel = panels.requests_panel()
    x, y = column(panel, "blue", "x"), column(panel, "blue")
    assert y[x == 8].tolist() == y[x == 16].tolist() == [0.4e9]  # published
    panel.controls["name"].value = "small_request_goodput"
    # published: figure 19, yellow beside one flow
    assert column(panel, "yellow")[0] == 0.42e9
    assert "figure 19" in said(panel)


def test_theory_lies_over_the_readings_of_each_figure():
    panel = panels.figures_panel()
    assert column(panel, "flow 1").tolist() == [9.64e9, 4.4e9, 9.64e9]  # published: figure 15
    panel.controls["shown"].value = "Fig. 16"
    assert column(panel, "flow 2").tolist() == [500, 1270]  # published
    panel.controls["shown"].value = "Fig. 17"
    panel.controls["first"].value = "vegas"
    assert column(panel, "A").tolist() == [1e9]  # published
    assert np.isfinite(column(panel, "A, theory (vegas)")).all()
    assert "packets of 9000 B" in said(panel)


@pytest.mark.live
@pytest.mark.namespace
def test_both_flows_run_on_this_machine(monkeypatch):
    monkeypatch.setattr(panels, "END_S", 10.0)
    monkeypatch.setattr(panels, "STOP_S", 9.0)
    panel = panels.two_flows_panel()
    panel.controls["start_s"].value = 1.0
    button = played(panel)
    assert not button.message.is_alert, button.message.value
    found = column(panel, "goodput, flow 1, cubic, live")
    # derived: 10 s in means over 4 round trips of 40 ms, in whole intervals of 50 ms, are 50;
    # of the first and the last the start and the end of the flow may leave nothing
    assert np.isfinite(found).sum() >= 48
    # derived: the payload of the link, 9.653 Mbit/s; a burst after a repair is beyond it
    assert np.nanmean(found) <= 1.02 * 10e6 * 1448 / 1500


def empty_recording(scenario):
    """A run in which 1 MB of flow 1 came in 30 s, and nothing else."""
    head = [ROW.pack(BYTES, 0, 0, 0), ROW.pack(BYTES, 0, 30_000_000_000, 1_000_000)]
    nothing, received, _ = parse_rows(b"".join(head))
    return Recording(
        scenario=scenario, states=nothing, received=received, requests=received[:0],
        queue=Log().events(), ended_s=30.0,
        meta=Meta(experiment="congestion", tool="netcalc congestion"),
    )  # fmt: skip


@pytest.mark.usefixtures("by_hand")
def test_a_run_is_saved_by_its_link_and_opened_in_another_panel(monkeypatch):
    monkeypatch.setattr(
        panels, "live", SimpleNamespace(record=lambda scenario, **_: empty_recording(scenario))
    )
    panel = panels.two_flows_panel()
    panel.controls["first"].value, panel.controls["rtt_s"].value = "reno", 0.05
    keep = played(panel).keep
    data = base64.b64decode(re.search(r"base64,([^\"]+)", keep.link.value)[1])
    other = panels.two_flows_panel()
    opener = next(child for child in other.children if hasattr(child, "keep")).keep
    opener._open(opener._read(data, "two-flows-run.json.gz"))
    assert (other.controls["first"].value, other.controls["rtt_s"].value) == ("reno", 0.05)
    # derived: 1 MB in 30 s
    marks = column(other, "goodput, flow 1, reno, live")
    assert np.nanmean(marks.astype(float)) == pytest.approx(8e6 / 30, rel=1e-3)


@pytest.mark.each("change", [{"end_s": 20.0}, {"flows": (Flow(algorithm="reno", stop_s=30.0),)}])
def test_a_file_of_another_scenario_is_not_opened_here(change):
    panel = panels.two_flows_panel()
    scenario = replace(panels._scenario(**panel.values()), **change)
    opener = next(child for child in panel.children if hasattr(child, "keep")).keep
    table = as_table(empty_recording(scenario))
    with pytest.raises(ReaderError) as error:
        opener._open(opener._read(table.dumps(), "run.json"))
    assert error.value.code == "other-experiment"
    assert panel.controls["first"].value == "cubic"
