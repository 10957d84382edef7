"""The panels of the lesson on buffers: theory against the buffer, the book, live requests."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from panels_seen import column, played, said

from netcalc.congestion import Result, Trajectory
from netcalc.congestion.result import Latencies
from netcalc.errors import ExperimentError
from netcalc.lessons import tail_latency as panels
from netcalc.samples import Meta
from netcalc.scenario import ALGORITHMS

TIME_S = np.array([3.0, 10.0, 50.0])


def made(scenario, *, by="theory", p99_s=None):
    """Return a result by hand: the queue is half of the buffer, p99 a round trip and all of it."""
    link = scenario.bottleneck
    queue_bytes = link.buffer_bytes / 2
    full_s = link.rtt_s + 8 * link.buffer_bytes / link.rate_bps
    latencies_s = np.repeat([full_s / 2, p99_s or full_s], [101, 99])
    if p99_s is not None and np.isnan(p99_s):
        latencies_s = np.full(20, full_s / 2)
    course = Trajectory(
        time_s=TIME_S, queue_bytes=np.full(3, queue_bytes), window_packets=np.ones((3, 1)),
        goodput_bps=np.full((3, 1), 9e6), rtt_s=np.array([0.04, 0.1, full_s]),
    )  # fmt: skip
    return Result(
        scenario=scenario, by=by, goodput_bps=np.array([link.rate_bps / 2]),
        finish_s=np.full(1, np.nan), queue_mean_bytes=queue_bytes, queue_median_bytes=queue_bytes,
        queue_p95_bytes=queue_bytes, drop_count=1.0, utilization=0.9, trajectory=course,
        requests=(Latencies(latencies_s),),
    )  # fmt: skip


@pytest.fixture
def by_hand(monkeypatch):
    """Replace the theory; return the scenarios that it is asked for."""
    asked = []

    def run(scenario, *, stack):
        assert stack == "linux", "that of a live run"
        asked.append(scenario)
        return made(scenario)

    def run_many(many, *, stack, with_course):
        assert with_course, "requests need it"
        return [run(one, stack=stack) for one in many]

    by_hand = SimpleNamespace(run=run, run_many=run_many, estimated_s=lambda scenario: 0.1)
    monkeypatch.setattr(panels, "theory", by_hand)
    for kept in (panels.outcomes, panels._evaluated):
        kept.cache_clear()
    yield asked
    for kept in (panels.outcomes, panels._evaluated):
        kept.cache_clear()


def recorded(scenario, *, latencies_s=(0.05, 0.2), p99_s=0.19, **more):
    """Return a recording: one request before the flow, one beside it."""
    rows = np.array(
        [
            (1, int(at * 1e9), int((at + s) * 1e9))
            for at, s in zip((1, 20), latencies_s, strict=True)
        ],
        dtype=[("index", "i4"), ("at_ns", "i8"), ("value", "i8")],
    )
    found = made(scenario, by="live", p99_s=p99_s)
    return SimpleNamespace(
        scenario=scenario, requests=rows, meta=Meta(**more), result=lambda: found
    )


def test_a_buffer_of_the_curves_is_computed_once(by_hand):
    panels.buffer_panel()  # begins with 1 BDP
    assert len(by_hand) == len(panels.BUFFERS), "derived: one scenario for each buffer"
    panels.outcome("cubic", panels.RATE_BPS, panels.RTT_S, 1.3)
    assert len(by_hand) == len(panels.BUFFERS) + 1


def test_a_buffer_of_the_curves_has_what_it_has_alone():
    at = panels.BUFFERS.index(2.0)
    alone = panels._outcome(panels._evaluated(panels._scenario("reno", 10e6, 0.04, 2.0)))
    assert panels.outcomes("reno", 10e6, 0.04)[at] == pytest.approx(alone)  # identity
    assert panels.outcome("reno", 10e6, 0.04, 2.0) == pytest.approx(alone)


def test_the_goodput_is_named_as_it_is_counted():
    titles = [one.title.text.text for one in panels.buffer_panel().figure.plot.figure.children]
    assert titles[1] == "Goodput of flow and requests, against the buffer"


@pytest.mark.usefixtures("by_hand")
def test_the_buffer_moves_a_point_along_the_curves():
    panel = panels.buffer_panel()
    panel.controls["buffer_bdp"].value = 2.0
    # derived: 2 BDP of 40 ms are 80 ms of queue, half of it on average; 120 ms with the round trip
    assert column(panel, panels.HERE).tolist() == pytest.approx([0.12, 0.06, 0.04])
    assert column(panel, panels.HERE, "x").tolist() == [2.0] * 3
    at = column(panel, panels.P99, "x")
    assert at[[0, -1]].tolist() == [0.25, 8.0]
    assert column(panel, panels.P99) == pytest.approx(0.04 * (1 + at))
    assert column(panel, panels.FULL) == pytest.approx(0.04 * (1 + at))
    assert column(panel, panels.QUEUE) == pytest.approx(0.02 * at)
    # derived: half of the link is the flow's; 200 requests of 10 kB in the 42 s that count
    goodput = 0.5 + 200 * 8e4 / 42 / 10e6
    assert column(panel, panels.GOODPUT) == pytest.approx(np.full(at.size, goodput))
    rate = "5.381 Mbit/s (TCP payload)"
    expected = f"2 BDP (100 kB, 66 packets): goodput of all {rate}, mean queueing delay 40 ms"
    assert expected in said(panel)
    assert "median 60 ms, p99 120 ms" in said(panel)


def test_the_other_controls_move_the_curves(by_hand):
    panel = panels.buffer_panel()
    panel.controls["algorithm"].value = "reno"
    panel.controls["rtt_s"].value = 0.1
    panel.controls["rate_bps"].value = 20e6
    asked = by_hand[-1]
    assert [flow.algorithm for flow in asked.flows] == ["reno"]
    assert (asked.bottleneck.rate_bps, asked.bottleneck.rtt_s) == (20e6, 0.1)
    assert asked.requests[0].request_bytes == 10e3
    assert column(panel, panels.FULL)[-1] == pytest.approx(0.9)  # derived: nine times 100 ms
    count = len(by_hand)
    panel.controls["buffer_bdp"].value = 3.0
    assert len(by_hand) == count + 1, "only the point is computed"


def test_real_theory_has_no_more_goodput_from_a_deep_buffer_but_more_delay():
    panel = panels.buffer_panel()
    at, goodput = column(panel, panels.GOODPUT, "x"), column(panel, panels.GOODPUT)
    # derived: 1448 of 1500 bytes; CUBIC keeps 0.7, so that 0.43 BDP fill the link
    assert goodput[at >= 1.0] == pytest.approx(np.full((at >= 1.0).sum(), 1448 / 1500), rel=0.01)
    assert goodput[0] < goodput[-1]
    p99 = column(panel, panels.P99)
    full = column(panel, panels.FULL)
    # derived: the last packet of a request that loses none waits for a full buffer at most
    assert p99[at >= 1.0] == pytest.approx(full[at >= 1.0], rel=0.02)
    assert not panel.message.value


def test_many_scenarios_at_once_have_the_latencies_of_each_alone():
    """identity: 2 and 8 BDP, one of which takes more steps."""
    for algorithm in ("cubic", "bbr"):
        together = dict(zip(panels.BUFFERS, panels.outcomes(algorithm, 10e6, 0.04), strict=True))
        for bdp in (2.0, 8.0):
            assert together[bdp] == panels.outcome(algorithm, 10e6, 0.04, bdp)


def test_where_a_minute_has_too_few_requests_theory_takes_those_of_many_starts():
    """derived: 42 s have no hundred requests of 1.8 s each, the round trip with a full buffer."""
    panel = panels.buffer_panel()
    panel.controls["rtt_s"].value = 0.2
    panel.controls["buffer_bdp"].value = 8.0
    assert column(panel, panels.P99)[-1] == pytest.approx(0.2 * (1 + 8), rel=0.05)
    assert not panel.message.value


@pytest.mark.usefixtures("by_hand")
def test_the_readings_of_the_book_lie_beside_the_full_buffer():
    panel = panels.readings_panel()
    # published: read off figure 20
    assert column(panel, "blue").tolist() == [0.15, 0.12, 0.14, 0.2, 0.35]
    assert column(panel, "red").tolist() == [0.84, 0.78, 0.15, 0.17, 0.18]
    assert column(panel, "yellow", "x").tolist() == [16, 33, 266]
    # derived: 1/4 and 8 BDP of 40 ms beyond the round trip
    assert column(panel, panels.FULL)[[0, -1]].tolist() == pytest.approx([0.05, 0.36])
    assert "840 ms at 16, 780 ms at 33, 150 ms at 66" in said(panel)
    panel.controls["algorithm"].value = "bbr"
    assert "beside BBR" in said(panel)


@pytest.mark.usefixtures("by_hand")
def test_a_live_run_adds_requests_and_a_point_with_its_residual(monkeypatch):
    def record(scenario, *, progress, stop):
        progress(50.0, 50.0, 9e6)
        panel.controls["buffer_bdp"].value = 8.0  # goes back to what was run
        return recorded(scenario)

    monkeypatch.setattr(panels, "live", SimpleNamespace(record=record))
    panel = panels.bufferbloat_panel()
    assert "No run with these settings yet." in said(panel)
    button = played(panel)
    assert not button.message.is_alert, button.message.value
    assert panel.controls["buffer_bdp"].value == 4.0
    assert column(panel, "requests, live", "x").tolist() == [1, 20]
    assert column(panel, "requests, live").tolist() == pytest.approx([0.05, 0.2])
    assert "live: median 100 ms, p99 190 ms. Before the flow: median 50 ms." in said(panel)
    panel.controls["view"].value = panels.DISTRIBUTION
    live = column(panel, "requests 1 of 10 kB, cubic, live", "x")
    assert (live.min(), live.max()) == pytest.approx((0.1, 0.19))
    assert column(panel, "requests 1 of 10 kB, cubic, theory", "x").max() == pytest.approx(0.2)
    panel.controls["view"].value = panels.AGAINST_BUFFER
    assert column(panel, "points", "x").tolist() == [4.0]
    # derived: 190 ms measured; by theory 40 ms and 4 BDP, 200 ms
    assert column(panel, "points", "residual").tolist() == pytest.approx([-0.01])
    assert column(panel, "curve", "x")[-1] == 8.0
    panel.controls["algorithm"].value = "reno"
    assert not column(panel, "points", "x").size, "no run of Reno"


@pytest.mark.usefixtures("by_hand")
def test_too_few_requests_have_no_p99(monkeypatch):
    def record(scenario, *, progress, stop):
        return recorded(scenario, p99_s=np.nan)

    monkeypatch.setattr(panels, "live", SimpleNamespace(record=record))
    panel = panels.bufferbloat_panel()
    played(panel)
    assert "live: median 100 ms, too few requests for a p99" in said(panel)
    panel.controls["view"].value = panels.AGAINST_BUFFER
    assert not column(panel, "points", "x").size
    assert not panel.message.value


@pytest.mark.usefixtures("by_hand")
def test_a_machine_without_namespaces_says_why_in_a_sentence(monkeypatch):
    def record(*_, **__):
        raise ExperimentError(
            "namespaces-not-permitted", phase="wire", reason="not permitted", step="unshare"
        )

    monkeypatch.setattr(panels, "live", SimpleNamespace(record=record))
    panel = panels.bufferbloat_panel()
    button = played(panel)
    assert button.message.is_alert
    assert "refuses network namespaces: not permitted" in button.message.value
    assert "Where it happened" not in button.message.value
    assert "round trip, theory" in panel.figure.plot.sources


@pytest.mark.slow
def test_a_buffer_below_a_packet_is_told_and_the_other_ones_are_drawn():
    panel = panels.buffer_panel()
    before = column(panel, panels.P99).tolist()
    panel.controls["rate_bps"].value = 2e6
    panel.controls["rtt_s"].value = 0.01
    panel.controls["buffer_bdp"].value = 0.25
    # derived: 2 Mbit/s times 10 ms are 2500 bytes, a quarter of them 625, 0.6 of them 1500
    at = np.array(panels.BUFFERS)
    assert np.isfinite(column(panel, panels.P99)).tolist() == (at * 2500 >= 1500).tolist()
    assert np.isnan(column(panel, panels.HERE)).all()
    assert "are 625 B: no packet of 1500 B fits into this buffer" in said(panel)
    panel.controls["buffer_bdp"].value = 1.0
    assert "(2500 B, 1 packets)" in said(panel)
    panel.controls["rtt_s"].value = 0.04
    panel.controls["rate_bps"].value = 10e6
    assert not panel.message.value
    assert column(panel, panels.P99).tolist() == before


@pytest.mark.usefixtures("by_hand")
def test_every_algorithm_of_theory_can_be_chosen():
    for panel in (panels.buffer_panel(), panels.readings_panel(), panels.bufferbloat_panel()):
        chosen = [value for _, value in panel.controls["algorithm"].options]
        assert sorted(chosen) == sorted(ALGORITHMS)
        for name in chosen:
            panel.controls["algorithm"].value = name
            assert not panel.message.value


def test_long_computing_is_announced_before_it_begins(by_hand, monkeypatch):
    panel = panels.buffer_panel()
    told = []
    describe = panel.figure.describe
    monkeypatch.setattr(panels.theory, "estimated_s", lambda scenario: 12.4)
    monkeypatch.setattr(
        panel.figure, "describe", lambda text: (told.append((len(by_hand), text)), describe(text))
    )
    asked = len(by_hand)
    panel.controls["algorithm"].value = "bbr"
    assert told[0] == (asked, "Theory computes 11 buffers, for about 12 s.")
    assert "One flow of BBR" in told[1][1]


def test_below_a_product_requests_beside_bbr_wait_for_timers():
    """published: the cliff of figure 20; measured: Linux 6.18, the table of ``docs/congestion.md``.

    At 1/2, 1, 2, 4 and 8 products the live p99 was 468, 538, 119, 119 and 120 ms.
    """
    p99_s = dict(
        zip(panels.BUFFERS, [one.p99_s for one in panels.outcomes("bbr", 10e6, 0.04)], strict=True)
    )
    for bdp, live_s in ((0.5, 0.468), (1.0, 0.538), (2.0, 0.119), (4.0, 0.119), (8.0, 0.120)):
        assert p99_s[bdp] == pytest.approx(live_s, rel=0.3), bdp


@pytest.mark.live
@pytest.mark.namespace
def test_requests_beside_a_flow_wait_for_its_queue(monkeypatch):
    monkeypatch.setattr(panels, "END_S", 12.0)
    monkeypatch.setattr(panels, "START_S", 2.0)
    monkeypatch.setattr(panels, "WARM_S", 5.0)
    panel = panels.bufferbloat_panel()
    button = played(panel)
    assert not button.message.is_alert, button.message.value
    at, latency = column(panel, "requests, live", "x"), column(panel, "requests, live")
    # derived: a round trip of 40 ms, seven packets of 1.2 ms; 4 BDP are 160 ms more
    assert np.median(latency[at < 2.0]) == pytest.approx(0.0484, abs=0.02)
    assert 0.1 < np.median(latency[at > 6.0]) < 0.22
