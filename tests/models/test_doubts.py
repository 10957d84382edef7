"""Answers beyond where a formula is known to hold, and what is said with them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netcalc import calculator, planning
from netcalc.errors import DoubtWarning, doubts
from netcalc.models.delays.latency import satellite_rtt_s, transfer_s
from netcalc.models.queues.md1 import md1_wait_s
from netcalc.models.queues.mm1 import mm1_wait_s
from netcalc.models.queues.queueing import kingman_wait_s, mg1_wait_s
from netcalc.models.rates.voice import codec_payload_bytes
from netcalc.models.tcp.cubic import cubic_throughput_bps
from netcalc.models.tcp.pftk import (
    pftk_rate_pps,
    pftk_timeout_ratio,
    pftk_window_packets,
    tfrc_throughput_bps,
)
from netcalc.models.tcp.sharing import buffer_rule_bytes
from netcalc.models.tcp.transfer_time import transfer_time_s


def told(model, *arguments, **keywords):
    """Return the codes, and the names, of what is doubtful about an answer."""
    with doubts() as found:
        model(*arguments, **keywords)
    return [(doubt.code, doubt.values["name"]) for doubt in found]


def test_every_formula_says_where_it_holds():
    silent = [f.name for f in calculator.formulas().values() if f.published_ranges is None]
    assert silent == []


@pytest.mark.each(
    ("model", "loss", "arguments"),
    [
        (cubic_throughput_bps, 0.2, {"packet_bytes": 1500, "rtt_s": 0.1}),
        (pftk_rate_pps, 0.4, {"rtt_s": 0.1, "rto_s": 0.4}),
        (tfrc_throughput_bps, 0.6, {"mss_bytes": 1460, "rtt_s": 0.1}),
    ],
)
def test_losses_beyond_the_source_are_told(model, loss, arguments):
    assert told(model, loss, **arguments) == [("beyond-published-range", "loss_ratio")]
    assert told(model, 0.009, **arguments) == []
    with pytest.warns(DoubtWarning, match="treat it as a guess"):
        model(loss, **arguments)


def test_where_the_window_of_pftk_is_three_segments():
    # derived: 4 (1 - p) / (3 p) + 4/9 = (3 - 2/3)^2 has the solution p = 4/19 = 0.2105 with b = 2
    with doubts():
        assert float(pftk_window_packets(4 / 19, segments_per_ack=2)) == pytest.approx(3.0)
        assert float(pftk_timeout_ratio(2.999, loss_ratio=4 / 19)) == 1.0


def test_kingman_is_for_heavy_traffic():
    """D/M/1 waits s/(1-s) services, where s = exp(-(1 - s)/load) (Kleinrock, 6.4)."""
    for load, above in ((0.7, 0.33), (0.9, 0.08)):
        share = 0.5
        for _ in range(5000):
            share = math.exp(-(1.0 - share) / load)
        with doubts():
            kingman = float(kingman_wait_s(load, service_s=1.0, arrival_scv=0.0, service_scv=1.0))
        assert kingman / (share / (1.0 - share)) - 1.0 == pytest.approx(above, abs=0.01)
    given = {"service_s": 1.0, "arrival_scv": 0.0, "service_scv": 1.0}
    assert told(kingman_wait_s, 0.7, **given) == [("below-heavy-traffic", "utilization")]
    assert told(kingman_wait_s, 0.9, **given) == []
    assert told(kingman_wait_s, 0.3, **{**given, "arrival_scv": 1.0}) == [], "Poisson: exact"


@pytest.mark.each(
    ("model", "arguments"),
    [
        (mm1_wait_s, {}),
        (md1_wait_s, {}),
        (mg1_wait_s, {"service_scv": 2.0}),
        (kingman_wait_s, {"arrival_scv": 2.0, "service_scv": 1.0}),
    ],
)
def test_a_nearly_full_queue_takes_long_to_its_mean(model, arguments):
    with doubts() as found:
        model([0.92, 0.99, 1.0, 2.0], service_s=1.0, **arguments)
    (doubt,) = found
    # derived: 1 / (1 - sqrt(0.99))^2 = (1 + sqrt(0.99))^2 / 0.01^2
    assert doubt.values["services"] == pytest.approx((1 + math.sqrt(0.99)) ** 2 / 1e-4)
    assert "about 39800 service times" in str(doubt)
    assert told(model, 0.95, service_s=1.0, **arguments) == []
    assert told(model, np.zeros(0), service_s=1.0, **arguments) == []


def test_a_low_orbit_is_not_its_geometry():
    assert told(satellite_rtt_s, 550e3) == [("low-orbit", "altitude_m")]
    assert told(satellite_rtt_s, 35_786e3) == []


def test_a_few_flows_keep_in_step():
    given = {"rtt_s": 0.1}
    assert told(buffer_rule_bytes, 1e9, flow_count=10, **given) == [("few-flows", "flow_count")]
    assert told(buffer_rule_bytes, 1e9, flow_count=[1, 1000], **given) == []


@pytest.mark.each(
    ("payload", "bandwidth", "latency", "said"),
    [
        # derived: 100 Mbit/s x 60 ms / 8 = 750 kB on the way, 51 initial windows of 14,600 bytes
        (1e6, 100e6, 0.03, True),
        (14_600, 100e6, 0.03, False),  # one window
        (1e6, 1.544e6, 0.03, False),  # 11.6 kB on the way: full at once
        (1e6, 100e6, 0.0, False),
    ],
)
def test_a_transfer_leaves_slow_start_out(payload, bandwidth, latency, said):
    found = told(transfer_s, payload, bandwidth_bps=bandwidth, latency_s=latency)
    assert found == [("slow-start-left-out", "payload_bytes")] * said


@pytest.mark.parametrize("model", [mm1_wait_s, md1_wait_s])
def test_a_load_in_percent_is_doubted(model):
    """A load of 80 is 8000 %: the wait is infinite, and 0.8 was meant."""
    with doubts() as found:
        assert model(80.0, service_s=1e-3) == math.inf
    assert [(one.code, one.values["ratio"]) for one in found] == [("load-as-percent", 0.8)]
    with doubts() as found:
        model(1.5, service_s=1e-3)
    assert found == []


def test_voice_that_is_not_whole_bytes_is_doubted():
    """5.3 kbit/s in 30 ms are 159 bits; ITU-T G.723.1 has frames of 20 and 24 bytes (RFC 3551)."""
    for codec_bps, size, frame in ((5.3e3, 159 / 8, 20.0), (6.3e3, 189 / 8, 24.0)):
        with doubts() as found:
            assert codec_payload_bytes(codec_bps, interval_s=0.03) == pytest.approx(size)
        assert [(one.code, one.values["whole"]) for one in found] == [
            ("voice-not-whole-bytes", frame)
        ]
    with doubts() as found:
        codec_payload_bytes([64e3, 8e3, 32e3], interval_s=[0.02, 0.03, 0.005])
        assert planning.voice(1.0, holding_s=60.0, codec_name="G.723.1")["packet_bytes"] == 64.0
    assert found == []


def test_a_window_that_tcp_cannot_announce_is_noted_in_a_transfer():
    """RFC 7323: 65,535 bytes shifted by 14 are the most, 1.07 GB."""
    path = {"bandwidth_bps": 1e10, "rtt_s": 0.1}
    assert told(transfer_time_s, 1e10, window_bytes=5e9, **path) == [
        ("window-above-tcp", "window_bytes")
    ]
    assert told(transfer_time_s, 1e10, window_bytes=1e9, **path) == []
    assert told(transfer_time_s, 1e10, **path) == []
