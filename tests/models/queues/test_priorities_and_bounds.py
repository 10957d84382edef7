"""Priorities, schedulers and network calculus: identities, simulations, worst cases by hand."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from netcalc.models.queues import queueing, scheduling, token_bucket

# Priorities


def simulated_waits(loads, services, count, seed):
    """Second method: packets one by one, the most urgent that waits is sent next."""
    draw = np.random.default_rng(seed)
    arrivals = []
    for index, (load, service) in enumerate(zip(loads, services, strict=True)):
        gaps = draw.exponential(service / load, int(count * load / service * max(services)))
        arrivals += [(at, index) for at in np.cumsum(gaps)]
    arrivals.sort()
    waiting, now, found, position = [], 0.0, [[] for _ in loads], 0
    while position < len(arrivals) or waiting:
        if not waiting:
            now = max(now, arrivals[position][0])
        while position < len(arrivals) and arrivals[position][0] <= now:
            heapq.heappush(waiting, (arrivals[position][1], arrivals[position][0]))
            position += 1
        index, at = heapq.heappop(waiting)
        found[index].append(now - at)
        now += services[index]
    return [float(np.mean(waits)) for waits in found]


def test_priorities_against_a_simulation():
    """Measured: some 400,000 packets; the means are within 4 %."""
    loads, services = [0.15, 0.3, 0.35], [0.2e-3, 1e-3, 2e-3]
    found = scheduling.priority_wait_s(loads, service_s=services)
    np.testing.assert_allclose(found, simulated_waits(loads, services, 60_000, 5), rtol=0.04)


def test_one_class_is_mg1():
    """Identity: one class waits as in M/G/1; with preemption its sojourn adds the service."""
    whole = float(queueing.mg1_wait_s(0.7, service_s=1e-3, service_scv=2.0))
    one = scheduling.priority_wait_s([0.7], service_s=1e-3, service_scv=2.0)
    assert float(one[0]) == pytest.approx(whole, rel=1e-14)
    sojourn = scheduling.preemptive_sojourn_s([0.7, 0.2], service_s=1e-3, service_scv=2.0)
    assert float(sojourn[0]) == pytest.approx(whole + 1e-3, rel=1e-14)


def test_the_conservation_law():
    """Derived (Kleinrock vol. 2, 3.4): loads times waits sum up to the same in every order."""
    loads, services = np.array([0.2, 0.3, 0.1]), np.array([1e-3, 3e-3, 0.5e-3])
    residual = (loads * services / 2).sum()
    expected = 0.6 * residual / 0.4
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        waits = scheduling.priority_wait_s(loads[order], service_s=services[order])
        assert float(loads[order] @ waits) == pytest.approx(expected, rel=1e-12)


def test_overload_starves_the_last_class_only():
    """Derived: voice behind a link that is always busy with data of the other class."""
    waits = scheduling.priority_wait_s([0.1, 2.0], service_s=[1e-3, 6e-3])
    assert waits[1] == np.inf
    assert float(waits[0]) == pytest.approx((0.1 * 0.5e-3 + 0.9 * 3e-3) / 0.9, rel=1e-12)
    sojourn = scheduling.preemptive_sojourn_s([0.1, 2.0], service_s=[1e-3, 6e-3])
    assert float(sojourn[0]) == pytest.approx(1e-3 / 1.0 + 0.1 * 0.5e-3 / 0.9, rel=1e-12)
    assert sojourn[1] == np.inf


# Network calculus


def test_bounds_against_the_worst_fluid():
    """Second method: the greedy source into the laziest service, step by step."""
    burst, tokens, service, latency = 15e3, 5e6, 10e6, 1e-3
    time = np.linspace(0.0, 0.05, 500_001)
    arrived = burst * 8 + tokens * time
    served = np.minimum(np.maximum(service * (time - latency), 0.0), arrived)
    backlog_bits = float((arrived - served).max())
    when = np.interp(arrived[:100_000], served, time)
    delay = float((when - time[:100_000]).max())
    node = {"token_bps": tokens, "service_bps": service, "latency_s": latency}
    assert float(token_bucket.delay_bound_s(burst, **node)) == pytest.approx(delay, rel=1e-3)
    assert float(token_bucket.backlog_bound_bytes(burst, **node)) == pytest.approx(
        backlog_bits / 8, rel=1e-3
    )


def test_pay_bursts_only_once():
    """Identity: one link is the same; two links are below the sum of the single bounds."""
    one = {"token_bps": 5e6, "service_bps": 10e6, "latency_s": 1e-3}
    path = {"token_bps": 5e6, "service_bps": [10e6], "latency_s": [1e-3]}
    single = float(token_bucket.delay_bound_s(15e3, **one))
    assert float(token_bucket.path_delay_bound_s(15e3, **path)) == single
    two = {"token_bps": 5e6, "service_bps": [10e6, 10e6], "latency_s": [1e-3, 1e-3]}
    both = float(token_bucket.path_delay_bound_s(15e3, **two))
    after = float(token_bucket.backlog_bound_bytes(15e3, **one))
    separate = single + float(token_bucket.delay_bound_s(after, **one))
    assert single < both < separate
    assert both == pytest.approx(single + 1e-3)


def test_more_tokens_than_service_has_no_bound():
    node = {"token_bps": [9e6, 10e6, 11e6], "service_bps": 10e6}
    np.testing.assert_array_equal(
        np.isinf(token_bucket.delay_bound_s(1e4, **node)), [False, False, True]
    )
    assert token_bucket.backlog_bound_bytes(1e4, **node)[2] == np.inf


# Weighted fair queueing


def test_wfq_is_the_service_with_a_rate_and_a_latency():
    """Second method: each link is a rate-latency service with T = L/g + M/R (Le Boudec and Thiran,
    2.1.3); the last link need not gather the packet again."""
    flow = {
        "reserved_bps": 1e6,
        "bandwidth_bps": 100e6,
        "packet_bytes": 1500,
        "largest_bytes": 9000,
    }
    found = float(scheduling.wfq_delay_s(30_000, **flow, link_count=4))
    latency = [8 * 1500 / 1e6 + 8 * 9000 / 100e6] * 3 + [8 * 9000 / 100e6]
    bound = token_bucket.path_delay_bound_s(
        30_000, token_bps=1e6, service_bps=[1e6] * 4, latency_s=latency
    )
    assert found == pytest.approx(float(bound), rel=1e-12)


def test_wfq_alone_is_a_packet_behind_the_fluid():
    """Derived: 214 bytes at 100 kbit/s and one packet of 1538 at 2 Mbit/s."""
    found = scheduling.wfq_delay_s(
        214, reserved_bps=1e5, bandwidth_bps=2e6, packet_bytes=214, largest_bytes=1538
    )
    assert float(found) == pytest.approx(0.01712 + 0.006152, rel=1e-12)
    beyond = scheduling.wfq_delay_s(
        214, reserved_bps=3e6, bandwidth_bps=2e6, packet_bytes=214, largest_bytes=1538
    )
    assert float(beyond) == np.inf
