"""Marking thresholds: the least queue of DCTCP over all numbers of flows, and the buffer rules."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.models.tcp import ecn, sharing


def test_the_threshold_is_where_the_queue_just_does_not_empty():
    """Second method: the lowest queue K + N - A (eq. 7 to 9 of the source) over all N."""
    product = 10e9 * 500e-6 / 8 / 1500
    threshold = float(ecn.dctcp_threshold_bytes(10e9, rtt_s=500e-6)) / 1500
    flows = np.arange(1.0, 400.0)
    for factor, empties in ((1.0, False), (0.9, True)):
        queue = factor * threshold
        swing = ecn.dctcp_amplitude_packets(flows, bdp_packets=product, threshold_packets=queue)
        lowest = (queue + flows - swing).min()
        assert (lowest < -0.01) == empties
        if not empties:
            assert float(lowest) == pytest.approx(0.0, abs=0.01)


def test_the_published_example():
    """Published (section 3.4 of the source): K above a seventh of the product."""
    assert float(ecn.dctcp_threshold_bytes(7e9, rtt_s=8e-3)) == pytest.approx(1e6, rel=1e-12)


def test_marks_that_halve_need_the_buffer_that_losses_need():
    """Identity: the exact buffer of one flow, and the rule of many."""
    for factor in (0.5, 0.7, 0.85):
        found = ecn.ecn_threshold_bytes(10e9, rtt_s=1e-3, decrease_factor=factor)
        exact = 1.25e6 * float(sharing.full_use_buffer_bdp(factor))
        assert float(found) == pytest.approx(exact, rel=1e-12)
    many = ecn.ecn_threshold_bytes(10e9, rtt_s=1e-3, flow_count=400)
    rule = sharing.buffer_rule_bytes(10e9, rtt_s=1e-3, flow_count=400)
    assert float(many) == pytest.approx(float(rule), rel=1e-12)
