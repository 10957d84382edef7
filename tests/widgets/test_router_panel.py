"""The panel on a router as a queue: theory before the run, the run over it, its arrivals."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from panels_seen import column, played, said

from netcalc.errors import ExperimentError
from netcalc.lessons import tail_latency as panels
from netcalc.models.queues.mm1 import mm1k_wait_cdf
from netcalc.samples import Meta, Table

NAMES = ("arrival_s", "wait_s", "service_s", "packet_bytes", "backlog_bytes", "dropped")


def in_batches(places=50):
    """Return a run by hand: two come together each 10 ms, with 2.4 ms each."""
    data = dict(zip(NAMES, np.zeros((6, 6)), strict=True))
    data["arrival_s"] = np.array([0, 0, 0.01, 0.01, 0.02, 0.02])
    data["service_s"] = np.full(6, 0.0024)
    data["wait_s"] = np.array([0, 0.0024] * 3)
    truth = {"there": {"buffer_packets": places}}
    meta = Meta(tool="netcalc router-queue", experiment="router_queue",
                instrument={"truth": truth})  # fmt: skip
    return Table(data=data, meta=meta)


@pytest.fixture
def asked(monkeypatch):
    """Replace the experiment; return what it is asked for."""
    calls = []

    def router_queue(utilization, **options):
        options.pop("progress")(1, 1, 0.0)
        calls.append({"utilization": utilization, **options})
        return in_batches(options["place_count"])

    monkeypatch.setattr(panels, "experiments", SimpleNamespace(router_queue=router_queue))
    return calls


def test_theory_is_there_before_a_run_and_moves():
    panel = panels.router_panel()
    panel.controls["utilization"].value = 0.5
    panel.controls["place_count"].value = 3.0
    # derived: half of the packets wait; 0.5 / (2 (1 - 0.5)) and twice as many services of 2.4 ms
    assert column(panel, "M/M/1")[0] == pytest.approx(0.5)
    assert "M/M/1 2.4 ms, M/D/1 1.2 ms, M/M/1/3 " in said(panel)
    at = column(panel, "M/M/1/K", "x")
    expected = mm1k_wait_cdf(at, utilization=0.5, place_count=3, service_s=0.0024)
    assert column(panel, "M/M/1/K") == pytest.approx(expected)
    panel.controls["utilization"].value = 1.2
    assert "no steady state from a load of 1 on" in said(panel)
    assert column(panel, "M/M/1").max() == 0.0


def test_the_controls_are_the_run(asked):
    panel = panels.router_panel()
    for name, value in {"utilization": 0.6, "place_count": 7.0, "arrivals": "bursty",
                        "service": "exponential", "batch_s": 0.01}.items():  # fmt: skip
        panel.controls[name].value = value
    assert not played(panel).message.is_alert
    (call,) = asked
    assert call["path"].text == "1 Mbit/s 1 ms"
    wanted = {"utilization": 0.6, "place_count": 7, "arrivals": "bursty",
              "service": "exponential", "batch_s": 0.01, "payload_bytes": 272}  # fmt: skip
    assert {name: call[name] for name in wanted} == wanted
    assert call["count"] == 5000  # derived: 20 s of 0.6 / 2.4 ms


@pytest.mark.usefixtures("asked")
def test_a_run_lies_over_every_theory_and_shows_its_arrivals():
    panel = panels.router_panel()
    played(panel)
    assert column(panel, "points", "measured").tolist() == [0.5] * 3 + [1.0] * 3
    assert {"M/D/1", "M/M/1/50", "one server, these arrivals"} <= set(panel.figure.plot.sources)
    panel.controls["model"].value = "one server, these arrivals"
    assert column(panel, "points", "residual").tolist() == [0] * 6
    panel.controls["model"].value = "M/M/1/K"
    assert {"M/D/1", "M/M/1"} <= set(panel.figure.plot.sources)
    panel.controls["view"].value = panels.GAPS
    assert sorted(set(column(panel, "points", "x").tolist())) == pytest.approx([0, 0.01])
    panel.controls["view"].value = panels.BATCHES
    assert column(panel, "points", "measured").tolist() == [0, 1], "all come by two"
    assert "Batches have 2 packets in the mean" in said(panel)


@pytest.mark.usefixtures("asked")
def test_another_setting_has_no_run_until_it_is_made():
    panel = panels.router_panel()
    played(panel)
    panel.controls["utilization"].value = 0.3
    assert "points" not in panel.figure.plot.sources
    assert "No run with these settings yet." in said(panel)
    panel.controls["utilization"].value = 0.8
    assert "points" in panel.figure.plot.sources


def test_a_machine_without_namespaces_says_why_in_a_sentence(monkeypatch):
    def refused(*_, **__):
        raise ExperimentError(
            "namespaces-not-permitted", phase="wire", reason="not permitted", step="unshare"
        )

    monkeypatch.setattr(panels, "experiments", SimpleNamespace(router_queue=refused))
    panel = panels.router_panel()
    button = played(panel)
    assert button.message.is_alert
    assert "refuses network namespaces: not permitted" in button.message.value
    assert "M/D/1" in panel.figure.plot.sources


@pytest.mark.live
@pytest.mark.namespace
def test_packets_of_one_size_wait_as_in_md1_on_this_machine(monkeypatch):
    monkeypatch.setattr(panels, "RUN_S", 2.0)
    panel = panels.router_panel()
    panel.controls["model"].value = "one server, these arrivals"
    button = played(panel)
    assert not button.message.is_alert, button.message.value
    assert np.abs(column(panel, "points", "residual")).max() < 0.01
