"""Quantities that judge a measurement, by hand, and what is said of unknown tables."""

from __future__ import annotations

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
