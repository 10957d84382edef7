"""Quantities that judge a measurement, by hand, and what is said of unknown tables."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from netcalc.explain import (
    Evidence,
    Known,
    delay_variation,
    described,
    explain_evidence,
    measurement,
)
from netcalc.explain.evidence import transfer_metrics
from netcalc.samples import Meta, RttSamples, Table


def test_variation_of_delay_by_hand():
    """RFC 3550: 16 ms / 16, then (16 - 1) / 16 more; differences of 16 ms; 0, 16 and 0 ms above."""
    found = delay_variation([0.100, 0.116, 0.100])
    assert found["jitter_s"] == pytest.approx(0.001 + 0.015 / 16)
    assert found["ipdv_mean_s"] == found["ipdv_max_s"] == pytest.approx(0.016)
    assert found["pdv_50_s"] == pytest.approx(0.0)
    assert found["rtt_90_s"] == pytest.approx(0.100 + 0.8 * 0.016)  # interpolated


def test_a_lost_packet_has_no_difference():
    """Derived: over the gap only the jitter knows a difference, of 20 ms."""
    found = delay_variation([0.010, np.nan, 0.030, 0.031])
    assert found["ipdv_max_s"] == pytest.approx(0.001)
    assert found["jitter_s"] == pytest.approx(0.020 / 16 + (0.001 - 0.020 / 16) / 16)
    assert delay_variation([0.01]) == delay_variation([np.nan, 0.01]) == {}


def test_each_group_of_a_ping_has_its_own():
    samples = RttSamples(
        payload_bytes=[56.0] * 4, rtt_s=[0.010, 0.012, 0.1, 0.1], group=["a", "a", "b", "b"]
    )
    one, two = measurement(samples)
    assert one.metrics["ipdv_max_s"] == pytest.approx(0.002)
    assert two.metrics["ipdv_max_s"] == 0.0


def test_the_metrics_of_rfc_6349():
    """RFC 6349, 4: 100 MB in 10 s, 2 % sent again, 25 ms grown to 32 ms (its example: 28 %)."""
    one = Evidence(
        rate_bps=80e6, size_bytes=100e6, duration_s=10.0, base_rtt_s=0.025, rtt_s=0.032,
        retransmit_count=100e6 / 1448 / 49,
    )  # fmt: skip
    found = explain_evidence(one, Known(line_bps=100e6)).metrics
    assert found["buffer_delay_factor"] == pytest.approx(0.28)
    assert found["efficiency_ratio"] == pytest.approx(0.98)
    # derived: 94.148 Mbit/s carry 100 MB in 8.497 s
    assert found["transfer_time_factor"] == pytest.approx(10 / 8.4972, rel=1e-4)
    assert found["line_share_ratio"] == pytest.approx(80 / 94.148, rel=1e-4)


@pytest.mark.each(
    ("units", "code"),
    [
        ({"x": "byte", "y": "s"}, "may-be-sizes-and-times"),
        ({"x": "byte", "y": "bit/s"}, "may-be-rates-over-size"),
        ({"x": "byte", "y": "packet/s"}, "may-be-rates-over-size"),
        ({"x": "s", "y": "bit/s"}, "may-be-rates-over-time"),
        ({"x": "s", "y": "1"}, "may-be-times"),
        ({"x": "bit/s", "y": "1"}, "may-be-rates"),
        ({"x": "1", "y": "1"}, "may-be-anything"),
    ],
)
def test_a_table_without_a_theory_says_what_it_may_be(units, code):
    table = Table(
        data={"x": [1.0, 2.0], "y": [3.0, 5.0], "who": ["a", "b"]}, meta=Meta(units=units)
    )
    found = {one.code: one.values for one in described(table)}
    assert found["column-of-numbers"]["low"] == 3.0  # the last column of numbers
    assert found["column-of-text"]["count"] == 2
    assert code in found
    assert "name-the-columns" in found
    assert all(str(one) for one in described(table))


TCP = Evidence(
    rate_bps=1e6, size_bytes=250_000.0, duration_s=3.0, base_rtt_s=0.02, rtt_s=0.03,
    retransmit_count=10.0, mtu_bytes=1052.0,
)  # fmt: skip


def metrics(one, *, ceiling_bps=2e6, **known):
    return transfer_metrics(one, Known(**known), line_ceiling_bps=ceiling_bps)


def test_each_metric_of_a_transfer():
    """By hand: 1 s is ideal; 10 segments of 1000 B are sent again; 10 ms more than 20."""
    assert metrics(TCP) == pytest.approx(
        {
            "line_share_ratio": 0.5,
            "transfer_time_factor": 3.0,
            "efficiency_ratio": 250 / 260,
            "buffer_delay_factor": 0.5,
        }
    )
    assert metrics(TCP, rtt_s=0.024)["buffer_delay_factor"] == pytest.approx(0.25), "as stated"
    datagrams = replace(TCP, protocol="udp")
    assert metrics(datagrams) == {"line_share_ratio": 0.5}
    assert metrics(datagrams, ceiling_bps=math.nan) == {}
    small = replace(TCP, rate_bps=0.25, size_bytes=0.5, duration_s=0.5, mtu_bytes=52.025)
    assert metrics(small, ceiling_bps=0.5) == pytest.approx(
        {
            "line_share_ratio": 0.5,  # faster than 4 bit at 0.5 bit/s: no factor of it
            "efficiency_ratio": 0.5 / 0.75,  # 10 segments of 0.025 B
            "buffer_delay_factor": 0.5,
        }
    )


@pytest.mark.each(
    ("changed", "ceiling_bps", "left"),
    [
        ({}, 0.0, "eb"), ({}, math.nan, "eb"), ({"size_bytes": 0.0}, 2e6, "lb"),
        ({"size_bytes": math.nan}, 2e6, "lb"), ({"duration_s": 0.0}, 2e6, "leb"),
        ({"duration_s": math.nan}, 2e6, "leb"), ({"retransmit_count": math.nan}, 2e6, "tlb"),
        ({"rtt_s": 0.019}, 2e6, "tle"), ({"rtt_s": math.nan}, 2e6, "tle"),
        ({"base_rtt_s": 0.0}, 2e6, "tle"), ({"base_rtt_s": math.nan}, 2e6, "tle"),
    ],
)  # fmt: skip
def test_metrics_whose_facts_are_missing_are_left_out(changed, ceiling_bps, left):
    found = metrics(replace(TCP, **changed), ceiling_bps=ceiling_bps)
    assert sorted(name[0] for name in found) == sorted(left)


def test_a_transfer_without_a_queue_or_a_loss():
    """RFC 6349, 4.2 and 4.3: 100 % of efficiency, and 0 % of buffer delay."""
    ideal = metrics(replace(TCP, retransmit_count=0.0, rtt_s=0.02))
    assert (ideal["efficiency_ratio"], ideal["buffer_delay_factor"]) == (1.0, 0.0)
    slow = metrics(replace(TCP, base_rtt_s=2.0, rtt_s=3.0))
    assert slow["buffer_delay_factor"] == pytest.approx(0.5)


def test_every_measure_of_the_variation_of_delay():
    """By hand: 1 to 101 ms; a percentile is the rank between the least and the largest."""
    found = delay_variation([n / 1000 for n in range(1, 102)])
    assert found.pop("jitter_s") == pytest.approx(0.001 * (1 - (15 / 16) ** 100))  # RFC 3550
    assert found == pytest.approx(
        {
            "ipdv_mean_s": 0.001, "ipdv_max_s": 0.001,
            "pdv_50_s": 0.050, "pdv_90_s": 0.090, "pdv_95_s": 0.095, "pdv_99_s": 0.099,
            "rtt_90_s": 0.091, "rtt_95_s": 0.096, "rtt_99_s": 0.100,
        }
    )  # fmt: skip


def test_differences_count_without_their_sign():
    """By hand: 4 ms up and 2 ms down."""
    found = delay_variation([0.010, 0.014, 0.012])
    assert found["ipdv_mean_s"] == pytest.approx(0.003)
    assert found["ipdv_max_s"] == pytest.approx(0.004)


def test_two_delays_around_a_lost_packet():
    """RFC 3550: a sixteenth of the 20 ms between them; IPDV has no pair."""
    found = delay_variation([0.01, np.nan, 0.03])
    assert found["jitter_s"] == pytest.approx(0.02 / 16)
    assert not {"ipdv_mean_s", "ipdv_max_s"} & set(found)
    assert found["pdv_50_s"] == pytest.approx(0.01)
    assert "jitter_s" in delay_variation([0.01, 0.01])


def test_what_cannot_be_a_delay_is_left_out():
    found = delay_variation([0.01, np.inf, 0.03])
    assert found["pdv_99_s"] == pytest.approx(0.99 * 0.02)
    assert all(math.isfinite(value) for value in found.values())


def test_a_control_connection_has_no_metrics_of_a_bulk_transfer():
    """By hand: ten segments of 1448 B are the first window, sent at once: 14,480 B."""
    known = Known(line_bps=1e8)
    small = Evidence(
        rate_bps=1e3, size_bytes=14_480.0, duration_s=100.0, retransmit_count=0.0, rtt_s=0.1,
        base_rtt_s=0.05,
    )  # fmt: skip
    assert transfer_metrics(small, known, line_ceiling_bps=1e8) == {"line_share_ratio": 1e-5}
    found = transfer_metrics(replace(small, size_bytes=14_481.0), known, line_ceiling_bps=1e8)
    assert set(found) == {
        "line_share_ratio", "transfer_time_factor", "efficiency_ratio", "buffer_delay_factor",
    }  # fmt: skip
