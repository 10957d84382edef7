"""Every live panel opens again what it saved, also in a panel that was set to something else."""

from __future__ import annotations

import base64
import re
from functools import partial

import numpy as np
import pytest
from panels_seen import button_of

from netcalc import experiments
from netcalc.lessons import (
    latency,
    line_rate,
    mbufs,
    probing,
    protocol_stack,
    small_writes,
    store_and_forward,
    transfers,
)

LIMIT_S = 120


def saved(panel):
    """Run a panel's experiment; return the file that its link offers."""
    button = button_of(panel)
    button.start()
    button._thread.join(LIMIT_S)
    assert "done" in button.message.value
    found = re.search(
        r'download="([^"]+)" href="data:[^;]+;base64,([^"]+)"', button.keep.link.value
    )
    return base64.b64decode(found[2]), found[1]


PANELS = [
    pytest.param(make, change, sources, id=name)
    for name, make, change, sources in (
        ("echo", latency.echo_panel, {"links": "T1 40 ms"}, ["points"]),
        ("step", mbufs.step_panel, {"relative": False}, ["points"]),
        ("links", probing.links_panel, {"path": "T3"}, ["points"]),
        ("pairs", probing.trains_panel, {"path": "T3"}, ["no cross traffic between"]),
        ("train", store_and_forward.train_panel, {"router_count": 4.0}, ["this machine"]),
        (
            "hops",
            store_and_forward.live_hops_panel,
            {"line_name": "T3", "packet_bytes": 500.0},
            ["this machine"],
        ),
        (
            "three ways",
            line_rate.three_ways_panel,
            {"device_pps": 1000.0, "bandwidth_bps": 5e6},
            list(line_rate.WAYS.values()),
        ),
        (
            "lockstep",
            line_rate.lockstep_panel,
            {"latency_s": 0.01},
            ["loopback, measured", "path, measured"],
        ),
        ("transactions", protocol_stack.live_panel, {"latency_s": 0.01}, ["UDP", "TCP"]),
        (
            "source and sink",
            transfers.source_sink_panel,
            {},
            ["TCP, received", "UDP, received"],
        ),
        ("mtu", transfers.mtu_panel, {}, ["measured"]),
        ("buffer", lambda: transfers.buffer_panel("50 Mbit/s 1 ms"), {}, ["points"]),
        ("writes", small_writes.live_panel, {"latency_s": 0.01}, ["yours: two writes"]),
    )
]


@pytest.fixture
def short(monkeypatch):
    """As little as these panels can run and still have something to save."""
    monkeypatch.setattr(line_rate, "BLAST_S", 0.03)
    monkeypatch.setattr(line_rate, "BLAST_RUNS", 1)
    monkeypatch.setattr(line_rate, "PAIRS", (1, 2))
    monkeypatch.setattr(store_and_forward, "LIVE_HOPS", (1, 2))
    monkeypatch.setattr(probing, "PROBE_COUNT", 2)
    monkeypatch.setattr(mbufs, "COUNT", 2)
    monkeypatch.setattr(transfers, "LIVE_SIZES", (300, 1440, 4096))
    monkeypatch.setattr(transfers, "LIVE_MTUS", (1500, 16_384, 65_536))
    for panels, name, less in (
        (line_rate, "lockstep", {"duration_s": 0.03}),
        (protocol_stack, "transactions", {"count": 2}),
        (experiments, "small_writes", {"count": 2}),
    ):
        monkeypatch.setattr(panels, name, partial(getattr(panels, name), **less))


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(("make", "change", "sources"), PANELS)
def test_a_saved_run_is_shown_again(make, change, sources):
    panel = make()
    data, name = saved(panel)
    again = make()
    for control, value in change.items():
        again.controls[control].value = value
    field = button_of(again).keep.field
    field.take(data, name)
    assert f"Read {name}. Measured 2" in field.message.value
    assert not again.message.is_alert
    assert "Measurement error" in button_of(again).about.value
    if "relative" in change:
        again.controls["relative"].value = True
    for source in sources:
        for column, values in panel.figure.plot.sources[source].data.items():
            shown = again.figure.plot.sources[source].data[column]
            assert len(values), "a run has something to show"
            np.testing.assert_array_equal(np.asarray(shown, float), np.asarray(values, float))


def test_a_file_of_another_experiment_is_refused_by_every_panel():
    from netcalc.samples import Meta, RttSamples

    other = RttSamples(payload_bytes=[1.0], rtt_s=[1.0], meta=Meta(tool="another")).dumps()
    for parameters in PANELS:
        panel = parameters.values[0]()
        field = button_of(panel).keep.field
        assert field in button_of(panel).keep.children
        field.take(other, "other.json")
        assert field.message.is_alert
    own = latency.round_trip_panel()
    assert button_of(own).keep.field not in button_of(own).keep.children, "it has an upload"
