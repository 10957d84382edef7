"""The panels of the lesson on TCP against UDP: what they draw, and what a run adds."""

from __future__ import annotations

import numpy as np
import pytest
from panels_seen import column, played, said

from netcalc.errors import ExperimentError
from netcalc.experiments import bulk
from netcalc.lessons import transfers
from netcalc.samples import BulkSamples, Meta

SIZES = np.array([64.0, 1440.0, 65_000.0])


def made(write_bytes, wall_s, *, lost=0.0, mss_bytes=1448, protocol="UDP"):
    """Return the samples of a run of 1000 writes a row, by costs that are known."""
    size = np.asarray(write_bytes, dtype=float)
    return BulkSamples(
        write_bytes=size, write_count=np.full(size.size, 1000.0), sent_bytes=1000 * size,
        received_bytes=1000 * size * (1 - lost), wall_s=wall_s, delivery_s=wall_s,
        lost_count=np.full(size.size, 1000 * lost),
        meta=Meta(target=f"loopback, {protocol}", instrument={"mss_bytes": mss_bytes}),
    )  # fmt: skip


def test_byte_cost_panel_fits_one_name_and_misses_the_other():
    panel = transfers.byte_cost_panel()
    panel.controls["byte_cost"].value = 0.9558 / 7.2e6  # published: localhost took 0.9558 s
    # derived: a cost per byte alone gives every size of a segment the rate of 7.2 MB in 0.9558 s
    assert column(panel, "theory") == pytest.approx(np.full(150, 8 * 7.2e6 / 0.9558))
    assert "956 ms in segments of 1448 bytes and in segments of 16332" in said(panel)
    assert column(panel, "TCP, writes of 1440 B").tolist() == [20e6, 60.24e6]


def test_segment_cost_panel():
    panel = transfers.segment_cost_panel()
    # published: 2.88 s at 1448 bytes a segment, 0.9558 s at 16332; the sliders start at its costs.
    assert "2.88 s in segments of 1448" in said(panel)
    assert column(panel, "TCP, writes of 1440 B", "x").tolist() == [1448, 16_332]
    assert column(panel, "TCP, writes of 1440 B").tolist() == [20e6, 60.24e6]
    panel.controls["packet_cost"].value = 1e-3
    segments = column(panel, "theory", "x")
    # derived: 8 N over pieces times 1 ms and 107 ns a byte
    expected = 8 * 7.2e6 / (np.ceil(7.2e6 / segments) * 1e-3 + 7.2e6 * 107e-9)
    assert column(panel, "theory") == pytest.approx(expected)


def test_wire_panel():
    panel = transfers.wire_panel()
    # derived: 1440 of 1506 bytes on the wire; 1.235 MB/s are 103.3% of that, published.
    assert "carries 9.562 Mbit/s" in said(panel)
    assert "103.3%" in said(panel)
    assert column(panel, "sent, as printed").tolist() == [9.88e6, 6.28e6]
    panel.controls["bandwidth_bps"].value = 20e6
    sizes = column(panel, "maximum of the line", "x")
    wire = np.maximum(sizes + 46, 64) + 20
    assert column(panel, "maximum of the line") == pytest.approx(20e6 * sizes / wire)


def test_source_sink_panel_draws_both_runs(monkeypatch):
    def run(sizes, *, protocol, progress, stop, **_):
        progress(3 * len(sizes), 3 * len(sizes), 0.1)
        time_s = 1000 * (5e-6 + 0.5e-9 * SIZES)
        return made(SIZES, time_s, lost=0.25 * (protocol == "udp"), protocol=protocol.upper())

    monkeypatch.setattr(transfers, "bulk", run)
    panel = transfers.source_sink_panel()
    assert np.isnan(column(panel, "UDP, theory with fitted costs")).all()
    # published: 7.2 MB in 0.9558 s, 1.5 MB in 1.059 s
    assert column(panel, "TCP, received (Snader)") == pytest.approx([60.26e6, 11.33e6], rel=1e-3)
    button = played(panel)
    assert not button.message.is_alert, button.message.value
    assert button.progress.value == button.progress.max
    rate_bps = 8 * SIZES / (5e-6 + 0.5e-9 * SIZES)
    assert column(panel, "TCP, received") == pytest.approx(rate_bps)
    assert column(panel, "UDP, sent") == pytest.approx(rate_bps)
    assert column(panel, "UDP, received") == pytest.approx(0.75 * rate_bps)
    at = column(panel, "UDP, theory with fitted costs", "x")
    assert column(panel, "UDP, theory with fitted costs") == pytest.approx(
        8 * at / (5e-6 + 0.5e-9 * at), rel=1e-6
    )
    assert "5 µs per datagram + 0.5 ns per byte" in said(panel)
    assert "25.0% of the datagrams were lost" in said(panel)


def test_mtu_panel_finds_the_two_costs(monkeypatch):
    def run(size, *, mtu_bytes, **_):
        pieces = np.ceil(7.2e6 / (mtu_bytes - 52))
        return made([size], [pieces * 2e-6 + 7.2e6 * 0.1e-9], mss_bytes=mtu_bytes - 52)

    monkeypatch.setattr(transfers, "bulk", run)
    panel = transfers.mtu_panel()
    # published: Snader, table 2.2: TCP to bsd and to localhost
    assert column(panel, "Snader's bsd, and its localhost").tolist() == [2.88, 0.9558]
    played(panel)
    assert column(panel, "measured", "x").tolist() == [1448, 4044, 16_332, 65_484]
    assert "2 µs per segment and 0.1 ns per byte" in said(panel)


@pytest.mark.parametrize("wall_s", [[1.0, 1.0, 2.0, 1.0], [3.0, 2.0, 0.001, 1.0]])
def test_a_machine_too_busy_for_two_costs_is_told(wall_s, monkeypatch):
    times = iter(wall_s)

    def run(size, *, mtu_bytes, **_):
        return made([size], [next(times)], mss_bytes=mtu_bytes - 52)

    monkeypatch.setattr(transfers, "bulk", run)
    panel = transfers.mtu_panel()
    played(panel)
    assert "too busy" in said(panel)


def test_a_run_that_is_refused_is_told(monkeypatch):
    def run(*_, **__):
        raise ExperimentError("no namespace of its own", phase="namespace")

    monkeypatch.setattr(transfers, "bulk", run)
    for make in (transfers.mtu_panel, transfers.buffer_panel):
        assert "no namespace" in played(make()).message.value


@pytest.mark.live
def test_a_live_run(monkeypatch):
    def shorter(sizes, **options):
        return bulk(sizes, **{**options, "write_count": 20})

    monkeypatch.setattr(transfers, "bulk", shorter)
    panel = transfers.source_sink_panel()
    assert not played(panel).message.is_alert
    assert column(panel, "TCP, received", "x").tolist() == list(transfers.LIVE_SIZES)


@pytest.mark.live
@pytest.mark.namespace
def test_a_live_sweep_of_the_buffer(monkeypatch):
    def shorter(size, **options):
        return bulk(size, **{**options, "write_count": 10})

    monkeypatch.setattr(transfers, "bulk", shorter)
    panel = transfers.buffer_panel("100 Mbit/s 1 ms")
    assert not played(panel).message.is_alert
    assert column(panel, "points", "x").tolist() == list(transfers.LIVE_BUFFERS)
