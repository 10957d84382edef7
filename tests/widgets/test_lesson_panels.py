"""The panels of the lessons: what they draw at first, and what a control changes, in numbers."""

from __future__ import annotations

import numpy as np
import pytest
from panels_seen import column, said

from netcalc import datasets
from netcalc.lessons import latency, line_rate, store_and_forward


def upload_of(panel):
    return next(child for child in panel.children if hasattr(child, "take"))


def test_transfer_panel():
    panel = latency.transfer_panel()
    sizes = column(panel, "T1", "x")
    # derived: d + 8N/R
    assert column(panel, "T1") == pytest.approx(0.03 + 8 * sizes / 1.544e6)
    panel.controls["latency_s"].value = 0.3
    assert column(panel, "T1") == pytest.approx(0.3 + 8 * sizes / 1.544e6)
    assert column(panel, "Stevens").tolist() == [5.21, 0.208, 0.082]
    assert "Latency limits" in said(panel)
    panel.controls["bandwidth_bps"].box.value = "T1"
    assert "The bottleneck link limits" in said(panel)


def test_a_wrong_value_leaves_the_figure_and_is_told_beside_the_box():
    panel = latency.transfer_panel()
    before = column(panel, "T1").tolist()
    for wrong in ("abc", "", "5M", "1e999 s", "-3 ms"):
        panel.controls["latency_s"].box.value = wrong
        assert "latency" in panel.controls["latency_s"].message.value
        assert column(panel, "T1").tolist() == before


def test_balance_panel():
    panel = latency.balance_panel()
    rates = column(panel, "bandwidth-delay product", "x")
    assert column(panel, "bandwidth-delay product") == pytest.approx(0.03 * rates / 8)
    assert "holds 5790 B" in said(panel)  # derived: 30 ms x 1.544 Mbit/s / 8
    panel.controls["payload_bytes"].value = 5790
    assert "Latency is 50% of the transfer time" in said(panel)


def test_distance_panel():
    panel = latency.distance_panel()
    # derived: 2 x 20,000 km at c, and at c / 1.468
    assert column(panel, "light in vacuum")[-1] == pytest.approx(4e7 / 299_792_458)
    assert column(panel, "light in fibre")[-1] == pytest.approx(4e7 * 1.468 / 299_792_458)
    panel.controls["rtt_s"].value = 0.01
    assert "impossible" in said(panel)


def test_wan_panel_goes_through_the_two_printed_points():
    panel = latency.wan_panel()
    # derived: slope 113 ms / 1400 B is 7.79 T1 lines; 80 ms less the headers' 2.26 ms
    panel.controls["base_rtt_s"].value = 0.0777
    panel.controls["line_count"].value = 7.79
    assert "80 ms" in said(panel)
    line = column(panel, "theory")
    assert line[0] == pytest.approx(0.080, abs=2e-4)
    assert np.interp(1400, column(panel, "theory", "x"), line) == pytest.approx(0.193, abs=2e-4)
    assert column(panel, "connix.com - noao.edu").tolist() == [0.08, 0.193]


def test_timeline_panel():
    panel = store_and_forward.timeline_panel()
    assert "23 ms, processing ends at 24 ms: 476 kbit/s" in said(
        panel
    )  # published, misprint mended
    panel.controls["packet_count"].value = 10
    assert "90.5 ms, processing ends at 91.5 ms" in said(panel)  # published: 91.5 ms
    panel.controls["processing_s"].value = 0
    assert "88.5 ms, processing ends at 88.5 ms" in said(panel)  # derived: 5 + 1 + 11 x 7.5


def test_train_and_hops_panels():
    train = store_and_forward.train_panel()
    assert column(train, "back to back")[[0, 9]] == pytest.approx([0.024, 0.0915])  # published
    assert column(train, "each waits for the one before")[9] == pytest.approx(0.24)
    hops = store_and_forward.hops_panel()
    assert column(hops, "T1 links")[9] == pytest.approx(0.0286, abs=5e-5)  # published
    hops.controls["packet_bytes"].value = 1104
    assert column(hops, "T1 links")[9] == pytest.approx(0.0572, abs=1e-4)  # twice the size


def test_mix_panel_finds_the_book_s_187_ms():
    panel = store_and_forward.mix_panel()
    panel.controls["t1_count"].value = 6
    panel.controls["t3_count"].value = 6
    # derived: 80 + 24 x 0.5 ms + 16 x 1400 B x (6/1.544 + 6/45 + 1/10) us/bit = 184.3 ms; the
    # book's 187 takes 7.5 ms for 7.25 on each T1
    at_1400 = np.interp(
        1400,
        column(panel, "this combination of links", "x"),
        column(panel, "this combination of links"),
    )
    assert at_1400 == pytest.approx(0.1843, abs=1e-4)
    for name in ("t1_count", "t3_count", "ethernet_count"):
        panel.controls[name].value = 0
    assert "No links are selected" in said(panel)


def test_frame_rate_panel():
    panel = line_rate.frame_rate_panel()
    assert "14.881 Mpps" in said(panel)  # published: RFC 5180, 14,880,952
    panel.controls["bandwidth_bps"].value = 1e8
    assert "148.81 kpps" in said(panel)
    assert column(panel, "your line") == pytest.approx(column(panel, "100 Mbit/s"))


def test_router_panel_takes_a_device_of_one_s_own():
    panel = line_rate.router_panel()
    panel.controls["device_pps"].value = 1e5
    assert "the line is the limit" in said(panel)
    upload_of(panel).take(b"frame [B], rate [pps]\n64, 21000\n1518, 8100\n", "mine.csv")
    assert column(panel, "your device").tolist() == [21000, 8100]
    upload_of(panel).take(b"a [s], b [s]\n1, 2\n", "wrong.csv")
    assert "no column in byte" in upload_of(panel).message.value
    assert column(panel, "your device").tolist() == [21000, 8100]


def test_conversion_panel_makes_the_article_s_paradox():
    panel = line_rate.conversion_panel()
    x = column(panel, "adding a constant", "x")
    # derived: (8 x 10 x 3512 + 6e6) / 8 / 84 = 9347 at 64 bytes
    assert np.interp(64, x, column(panel, "adding a constant")) == pytest.approx(9347, rel=0.005)
    assert column(panel, "dividing by the payload") == pytest.approx(np.full(x.size, 3512))
    assert "9346" in said(panel)
    assert "behind the second are at most 2792 pps" in said(panel)
    panel.controls["offset_bps"].value = 0
    assert np.interp(64, x, column(panel, "adding a constant")) < 500


def test_the_smallest_rate_of_the_article_is_below_that_of_64_bytes_at_any_size():
    """Derived by hand: (8 x 3146 x (n + 20) - 6e6) / 8 / (n - 54) at each size n of the test."""
    behind = line_rate.behind_printed_rate(captured_bytes=(64, 128, 256, 512, 1024, 1514))
    assert behind == pytest.approx({256: 585.6, 512: 2016.8, 1024: 2612.8, 1514: 2791.8}, rel=1e-4)
    panel = line_rate.conversion_panel()
    assert column(panel, "what 3146 pps would be")[-1] == pytest.approx(2791.8, rel=1e-4)
    # published: 0.281 Mbit/s of 10 B, 43.633 of 1460; two modes, so two sets of points
    assert column(panel, "one record a frame, 100 pairs") == pytest.approx([3512.5])
    assert column(panel, "default script, 1 pair") == pytest.approx([3735.7], rel=1e-5)


def test_round_trip_panel_draws_files_and_known_paths():
    recorded = datasets.load("ping_emulated_t1")
    panel = latency.round_trip_panel(recorded)
    assert "1.54 Mbit/s" in said(panel)
    upload_of(panel).take(b"size [B], rtt [ms]\n100, 10\n600, 20\n1100, 30\n", "mine.csv")
    assert column(panel, "points", "measured").tolist() == [0.010, 0.020, 0.030]
    assert "800 kbit/s" in said(panel)  # derived: 16 x 500 B / 10 ms
    upload_of(panel).take(b"", "empty.txt")
    assert "no measurement" in upload_of(panel).message.value
    assert column(panel, "points", "measured").tolist() == [0.010, 0.020, 0.030]

    known = latency.round_trip_panel(recorded, path="T1 5 ms")
    residual = column(known, "points", "residual")
    assert np.abs(residual).max() < 3e-4  # measured through a line of this truth
    known.controls["links"].value = "T1 6 ms"
    assert column(known, "points", "residual") == pytest.approx(residual - 0.002)
    known.controls["links"].value = "fast"
    assert "link rate" in known.message.value
    known.controls["links"].value = ""
    assert "1.54 Mbit/s" in said(known)


@pytest.mark.live
@pytest.mark.namespace
def test_round_trip_panel_runs_an_echo_over_the_path_that_is_known():
    panel = latency.round_trip_panel(sizes=[64.0, 1024.0], path="10 Mbit/s 2 ms")
    button = next(child for child in panel.children if hasattr(child, "start"))
    button.start()
    button._thread.join(30)
    assert column(panel, "points", "x").tolist() == [64, 1024]
    assert column(panel, "points", "residual").min() > -1e-4, "nothing is faster than the path"
    assert column(panel, "points", "measured").min() > 0.004


@pytest.mark.live
def test_round_trip_panel_runs_an_echo():
    panel = latency.round_trip_panel(sizes=[64.0, 1024.0])
    button = next(child for child in panel.children if hasattr(child, "start"))
    button.start()
    button._thread.join(20)
    drawn = [*column(panel, "points", "x"), *column(panel, "outliers", "x")]
    assert sorted(drawn) == [64, 1024]
