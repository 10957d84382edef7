"""The echo over a path of one's choice: theory, the book's points, and runs of this minute."""

from __future__ import annotations

import numpy as np
import pytest
from panels_seen import button_of, column

from netcalc.errors import ExperimentError
from netcalc.lessons import latency
from netcalc.samples import Meta, RttSamples

LIMIT_S = 60


def at(panel, size):
    """Theory or fit at a size."""
    return float(np.interp(size, column(panel, "curve", "x"), column(panel, "curve")))


@pytest.mark.each(
    ("links", "protocol", "at_1400_s", "source"),
    [
        ("T1 40 ms", "udp", 0.08 + 16 * 1428 / 1.544e6, "derived: by hand, 2 d + 16 (N + 28) / R"),
        ("T1 40 ms", "tcp", 0.08 + 16 * 1452 / 1.544e6, "derived: by hand, 52 bytes of headers"),
        ("56 kbit/s 40 ms", "icmp", 0.08 + 16 * 1428 / 56e3, "derived: by hand"),
        (
            "6 x T1 3 ms, 6 x T3 3 ms, 10 Mbit/s 4 ms",
            "udp",
            0.08 + 24 * 0.5e-3 + 16 * 1428 * (6 / 1.544e6 + 6 / 44.736e6 + 1 / 10e6),
            "derived: by hand, 12 routers of 0.5 ms, twice",
        ),
    ],
)
def test_theory_and_the_book_before_a_run(links, protocol, at_1400_s, source):
    panel = latency.echo_panel()
    panel.controls["protocol"].value = protocol
    panel.controls["links"].value = links
    assert at(panel, 1400) == pytest.approx(at_1400_s, rel=1e-6), source
    assert column(panel, "Stevens: connix.com to noao.edu").tolist() == [0.08, 0.193]  # published
    assert sorted(column(panel, "Stevens: intercepts of the other curves")) == [
        0.03, 0.098, 0.155, 0.202,
    ]  # fmt: skip
    assert "No run yet." in panel.figure.description
    assert "limits this transfer" in panel.figure.description


def test_the_book_s_loopback():
    panel = latency.echo_panel()
    # published: 1.5 to 2 ms between tcpdump and program, and as much in tcpdump itself
    found = column(panel, "Stevens' loopback, UDP: minimum and maximum")
    assert found == pytest.approx([0.003, 0.004, 0.003, 0.004])


def test_a_path_of_one_s_own_and_a_wrong_one():
    panel = latency.echo_panel("T1 40 ms")
    own = panel.controls["own"]
    assert own.layout.display == "none"
    panel.controls["links"].value = latency.YOURS
    assert own.layout.display is None
    own.value = "10 Mbit/s 1 ms"
    assert at(panel, 1400) == pytest.approx(0.002 + 16 * 1428 / 10e6)
    own.value = "fast"
    assert "link rate" in panel.message.value
    assert at(panel, 1400) == pytest.approx(0.002 + 16 * 1428 / 10e6)
    own.value = "10 Mbit/s 2 ms"
    assert panel.message.value == ""


def test_where_no_path_can_be_emulated_the_loopback_is_offered(monkeypatch):
    def refused(sizes, *, path, **options):
        if path is not None:
            raise ExperimentError("the system refuses: Operation not permitted", phase="wire")
        return RttSamples(payload_bytes=[8.0, 1400.0], rtt_s=[2e-5, 3e-5])

    monkeypatch.setattr(latency, "echo", refused)
    panel = latency.echo_panel("T1 40 ms")
    panel.controls["protocol"].value = "icmp"
    button = button_of(panel)
    button.start()
    button._thread.join(LIMIT_S)
    assert "no path can be emulated on this machine" in button.message.value
    assert "Operation not permitted" in button.message.value
    assert "The loopback is now selected" in button.message.value
    assert panel.controls["links"].value == latency.LOOPBACK
    button.start()
    button._thread.join(LIMIT_S)
    assert column(panel, "points", "measured").tolist() == [2e-5, 3e-5]


def run_over(links, protocol="UDP"):
    """A run as a file has it: what it went over is only in what it noted."""
    truth = {
        "T1": {"bandwidths_bps": [1.544e6], "latencies_s": [0.04], "processings_s": [0.0, 0.0]},
        "other": {"bandwidths_bps": [2e6, 1e7], "latencies_s": [0.001, 0.002],
                  "processings_s": [0.0, 0.001, 0.0]},
    }.get(links)  # fmt: skip
    meta = Meta(
        tool="netcalc echo", experiment="echo", target=f"10.0.0.2, {protocol}",
        layers={"payload_bytes": f"{protocol} payload"},
        instrument={"truth": truth} if truth else {},
    )  # fmt: skip
    return RttSamples(payload_bytes=[8.0, 700.0, 1400.0], rtt_s=[0.1, 0.11, 0.12], meta=meta)


@pytest.mark.each(
    ("links", "protocol", "chosen", "own"),
    [
        ("T1", "TCP", "T1 40 ms", None),
        ("other", "ICMP", latency.YOURS, "2 Mbit/s 1 ms, 10 Mbit/s 2 ms"),
        ("none", "UDP", latency.LOOPBACK, None),
    ],
)
def test_saved_samples_say_themselves_where_they_went(links, protocol, chosen, own):
    panel = latency.echo_panel("56 kbit/s 40 ms")
    button_of(panel).keep.field.take(run_over(links, protocol).dumps(), "saved.json")
    assert panel.controls["links"].value == chosen
    assert panel.controls["protocol"].value == protocol.lower()
    assert own is None or panel.controls["own"].value == own
    assert column(panel, "points", "measured").tolist() == [0.1, 0.11, 0.12]
    if links == "other":  # by hand, with the millisecond of the node that the run noted
        expected = 0.008 + 16 * 1428 * (1 / 2e6 + 1 / 1e7)
        assert at(panel, 1400) == pytest.approx(expected, rel=1e-6)


def test_each_path_keeps_its_run():
    panel = latency.echo_panel()
    field = button_of(panel).keep.field
    field.take(run_over("T1").dumps(), "saved.json")
    panel.controls["links"].value = latency.LOOPBACK
    assert column(panel, "points", "measured").size == 0
    panel.controls["links"].value = "T1 40 ms"
    assert column(panel, "points", "measured").tolist() == [0.1, 0.11, 0.12]


@pytest.mark.live
def test_a_run_on_the_loopback_is_fitted():
    panel = latency.echo_panel()
    button = button_of(panel)
    button.start()
    button._thread.join(LIMIT_S)
    assert "done" in button.message.value
    drawn = [*column(panel, "points", "x"), *column(panel, "outliers", "x")]
    assert sorted(drawn) == [8, *range(100, 1401, 100)], "published: the book's 15 sizes"
    assert "Measurement error" in button.about.value
    panel.controls["protocol"].value = "icmp"
    button.start()
    button._thread.join(LIMIT_S)
    assert "Choose UDP, or an emulated path" in button.message.value


@pytest.mark.live
@pytest.mark.namespace
def test_a_run_over_a_path_lies_on_its_theory():
    panel = latency.echo_panel(latency.YOURS)
    panel.controls["own"].value = "10 Mbit/s 1 ms, 10 Mbit/s 1 ms"
    panel.controls["protocol"].value = "icmp"
    button = button_of(panel)
    button.start()
    button._thread.join(LIMIT_S)
    assert "done" in button.message.value
    residual = column(panel, "points", "residual")
    assert residual.size == 15
    assert float(np.median(residual)) < 5e-3, "a busy machine adds, a path takes nothing away"
    assert residual.min() > -1e-4
    assert "Measured minus predicted" in panel.figure.description


@pytest.mark.live
@pytest.mark.namespace
def test_a_run_that_is_stopped_keeps_what_it_measured():
    panel = latency.echo_panel("56 kbit/s 40 ms")
    button = button_of(panel)
    button.start()
    for _ in range(600):
        if button.progress.value:
            break
        button._thread.join(0.1)
    button.stop(wait=True)
    assert not button.running
    assert "stopped" in button.message.value
    assert column(panel, "points", "x").size
    assert "ended by stop" in panel.figure.description
    assert "netcalc-save" in button.keep.link.value
