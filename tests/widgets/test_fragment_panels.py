"""The step where a datagram is cut: the book's, and this machine's by its MTU."""

from __future__ import annotations

import numpy as np
import pytest
from panels_seen import button_of, column

from netcalc.experiments import transactions
from netcalc.lessons import mbufs
from netcalc.messages import Notice
from netcalc.samples import Meta, TransactionSamples

LIMIT_S = 60


def run(mtu=1536.0, step_s=8e-6, noted=1536.0):
    sizes = np.array(mbufs.live_sizes(mtu), dtype=float)
    times = 30e-6 + step_s * (mtu - 28 < sizes) + 1e-8 * np.sin(sizes)
    return TransactionSamples(
        mode=["udp"] * sizes.size, sequence=np.arange(sizes.size) + 1.0, payload_bytes=sizes,
        response_s=times, tap_s=times / 2,
        meta=Meta(
            tool="netcalc transactions", experiment="transactions",
            instrument={"loopback_mtu_bytes": noted},
        ),
    )  # fmt: skip


def test_the_book_before_a_run():
    panel = mbufs.step_panel()
    # published: Stevens vol. 3, A.2: almost 25% from 1508 to 1509 bytes
    assert column(panel, "Stevens: almost 25% more", "x").tolist() == [1508, 1509]
    assert column(panel, "Stevens: almost 25% more").tolist() == [1.0, 1.25]
    assert "3 ms to 4 ms unfragmented, 5 ms to 6 ms" in panel.figure.description
    summed = dict(
        zip(
            column(panel, "4.4BSD, sum of the costs above", "x"),
            column(panel, "4.4BSD, sum of the costs above"),
            strict=True,
        )
    )
    # by hand: 2 x 0.667 ms of 2 x 0.667 + 2 x 0.75 + 1508 x 0.48 us + 2 x (2 x 0.1 + 0.02)
    whole_s = 2 * 0.667e-3 + 2 * 0.75e-3 + 1508 * 0.48e-6 + 2 * 0.22e-3
    assert summed[1509] == pytest.approx(1 + (2 * 0.667e-3 + 0.48e-6) / whole_s)
    panel.controls["relative"].value = False
    assert column(panel, "Stevens: minimum and maximum") == pytest.approx([3e-3, 4e-3, 5e-3, 6e-3])


def test_saved_samples_are_drawn_by_either_clock():
    panel = mbufs.step_panel()
    button_of(panel).keep.field.take(run().dumps(), "saved.json")
    # derived: 8 of 30
    assert "From 1508 to 1509 bytes the time increases by 27%: 8 µs" in panel.figure.description
    assert "(95%) (95%)" not in panel.figure.description
    panel.controls["clock"].value = "tap"
    assert ": 4 µs ± " in panel.figure.description
    panel.controls["relative"].value = False
    assert column(panel, "points", "measured").max() < 2e-5
    button_of(panel).keep.field.take(run(noted=65_536.0).dumps(), "saved.json")
    assert "No step can be determined" in panel.figure.description


@pytest.mark.each("mtu", [576, 1500, 1536, 9000])
def test_sizes_stand_on_both_sides_of_the_step_and_of_each_mbuf(mtu):
    sizes = set(mbufs.live_sizes(mtu))
    assert {mtu - 28, mtu - 27} <= sizes
    assert {100, 101, 207, 208} <= sizes  # published: MHLEN 100, MINCLSIZE 208
    assert min(sizes) == 8


@pytest.mark.live
@pytest.mark.namespace
def test_a_live_step():
    panel = mbufs.step_panel()
    panel.controls["mtu_bytes"].value = 1500.0
    button = button_of(panel)
    button.start()
    button._thread.join(LIMIT_S)
    assert "done" in button.message.value
    assert "From 1472 to 1473 bytes" in panel.figure.description
    x, y = column(panel, "points", "x"), column(panel, "points", "measured")
    assert np.median(y[x > 1472]) > np.median(y[x <= 1472]), "a packet more takes longer"
    assert "Measurement error" in button.about.value


@pytest.mark.live
def test_without_a_namespace_the_host_s_loopback_has_no_step(monkeypatch):
    def on_the_host(sizes, **options):
        samples = transactions(sizes, **{**options, "count": 2, "tap": False})
        facts = {**samples.meta.instrument.stored(), "loopback_mtu_bytes": 65_536}
        meta = Meta(instrument=facts, warnings=(Notice("host-loopback", {"reason": "refused"}),))
        return TransactionSamples(**samples.columns(), meta=meta)

    monkeypatch.setattr(mbufs, "transactions", on_the_host)
    panel = mbufs.step_panel()
    button = button_of(panel)
    button.start()
    button._thread.join(LIMIT_S)
    assert (
        "No step can be determined: all datagrams consist of the same number of packets"
        in panel.figure.description
    )
    assert "no network namespace (refused)" in panel.figure.description
