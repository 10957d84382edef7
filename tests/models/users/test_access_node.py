"""Access nodes and the busy hour: inverses, sums by hand, and the exact multiplexing."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.models.queues import queueing
from netcalc.models.users import multiplexing


def test_a_sum_by_hand():
    """Derived: 200 x 2 Mbit/s + 1.2 x 1 Gbit/s; with a K of 1 the least."""
    node = {"mean_bps": 2e6, "sold_bps": 1e9}
    assert float(multiplexing.access_node_bandwidth_bps(200, **node)) == 400e6 + 1.2e9
    assert float(multiplexing.access_node_bandwidth_bps(200, **node, peak_factor=1)) == 1.4e9


def test_the_rule_is_above_the_exact_percentile():
    """Second method: 2 Mbit/s in the mean is 1 Gbit/s in 0.2 % of the time; by the rule's 1.6
    Gbit/s at least one such user gets through in all but a few percent of the time."""
    exact = multiplexing.overload_ratio(1, user_count=200, active_ratio=0.002)
    assert float(exact) == pytest.approx(1 - 0.998**200 - 200 * 0.002 * 0.998**199, rel=1e-9)
    assert float(exact) < 0.07


@pytest.mark.each("count", [0, 1, 7, 650, 10**6])
@pytest.mark.each("mean", [0.3e6, 2.1e6])
def test_subscribers_are_the_inverse(count, mean):
    node = {"mean_bps": mean, "sold_bps": 1e9}
    rate = multiplexing.access_node_bandwidth_bps(count, **node)
    assert float(multiplexing.access_node_subscriber_count(rate, **node)) == count
    less = multiplexing.access_node_subscriber_count(rate - 0.01 * mean, **node)
    assert float(less) == max(count - 1, 0)


def test_a_node_below_the_rate_sold_carries_nobody():
    node = {"mean_bps": 1e6, "sold_bps": 1e9}
    found = multiplexing.access_node_subscriber_count([1.0, 1.1e9, 1.2e9, 1.3e9], **node)
    np.testing.assert_array_equal(found, [0, 0, 0, 100])


def test_oversubscription():
    """Derived: 48 ports of 1 Gbit/s on 2 x 10 are 2.4:1; and as many users as circuits are 1:1."""
    assert float(multiplexing.oversubscription(48, sold_bps=1e9, bandwidth_bps=20e9)) == 2.4
    assert float(multiplexing.oversubscription(10, sold_bps=1e6, bandwidth_bps=1e7)) == 1.0


def test_the_busy_hour():
    """Identities: a day of equal hours has the mean rate of the day; Little's theorem."""
    day = multiplexing.busy_hour_bps(10.8e9, busy_hour_ratio=1 / 24)
    assert float(day) == pytest.approx(10.8e9 * 8 / 86400, rel=1e-14)
    calls = multiplexing.busy_hour_erlang(240, holding_s=90)
    assert float(calls) == float(queueing.little_number(240 / 3600, sojourn_s=90))
