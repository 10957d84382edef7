"""Networks of queues: a simulation, the M/M/1, and the product form summed over all states."""

from __future__ import annotations

import heapq
from itertools import product

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.queues import mm1, networks

THREE = {
    "from_node": [0, 0, 1, 2],
    "to_node": [1, 2, 0, 1],
    "routing_ratio": [0.5, 0.3, 0.2, 1.0],
}
OUTSIDE, SERVICE = [20.0, 5.0, 0.0], [0.01, 0.012, 0.05]


def test_rates_by_letting_packets_go_round():
    """Second method: what is forwarded is added until nothing is left."""
    total, flow = np.zeros(3), np.array(OUTSIDE)
    while flow.max() > 1e-15:
        total, onward = total + flow, np.zeros(3)
        for start, end, share in zip(*THREE.values(), strict=True):
            onward[end] += flow[start] * share
        flow = onward
    assert networks.jackson_rate_pps(OUTSIDE, **THREE) == pytest.approx(total, rel=1e-12)


def test_one_node_is_an_mm1():
    """Identity."""
    none = {"from_node": [0], "to_node": [0], "routing_ratio": [0.0]}
    found = networks.jackson_sojourn_s([80.0], service_s=[0.01], **none)
    assert found == pytest.approx(float(mm1.mm1_sojourn_s(0.8, service_s=0.01)), rel=1e-12)


def test_a_queue_with_feedback():
    """Published: Bertsekas and Gallager 3.8: N = rho / (1 - rho) with rho = g s / p of leaving."""
    found = networks.jackson_sojourn_s(
        [30.0], service_s=[0.01], from_node=[0], to_node=[0], routing_ratio=[0.5]
    )
    assert found == pytest.approx(0.6 / 0.4 / 30, rel=1e-12)


def test_packets_that_never_leave_fill_their_own_nodes_only():
    """Derived: two nodes send all to each other; half of the first node's packets get there."""
    ways = {"from_node": [0, 1, 2], "to_node": [1, 2, 1]}
    found = networks.jackson_rate_pps([1.0, 0.0, 0.0], **ways, routing_ratio=[0.5, 1.0, 1.0])
    assert found.tolist() == [1.0, np.inf, np.inf]
    # nobody gets there: an empty loop stays empty
    found = networks.jackson_rate_pps([1.0, 0.0, 0.0], **ways, routing_ratio=[0.0, 1.0, 1.0])
    assert found.tolist() == [1.0, 0.0, 0.0]
    sojourn = networks.jackson_sojourn_s(
        [1.0, 0.0, 0.0], **ways, routing_ratio=[0.0, 1.0, 1.0], service_s=[0.5, 1.0, 1.0]
    )
    assert sojourn == pytest.approx(1.0)  # derived: an M/M/1 of load 1/2, 0.5 / (1 - 0.5)
    # a ring of three that nothing leaves; a long line of 300 nodes
    ring = {"from_node": [0, 1, 2], "to_node": [1, 2, 0], "routing_ratio": [1.0] * 3}
    assert networks.jackson_rate_pps([1.0, 0.0, 0.0], **ring).tolist() == [np.inf] * 3
    line = {"from_node": range(299), "to_node": range(1, 300), "routing_ratio": [1.0] * 299}
    assert networks.jackson_rate_pps([1.0] + [0.0] * 299, **line).tolist() == [1.0] * 300


def test_what_a_network_is_not():
    with pytest.raises(DomainError, match="from_node must have 2 numbers, got 3"):
        networks.jackson_rate_pps(
            [1.0], from_node=[0, 0, 0], to_node=[0, 0], routing_ratio=[0.1, 0.2]
        )


def simulated_sojourn(packets, seed=1):
    """Second method: events of a network of FIFO queues."""
    draws = np.random.default_rng(seed)
    shares = np.zeros((3, 3))
    for start, end, share in zip(*THREE.values(), strict=True):
        shares[start, end] = share
    events, number = [], 0
    for node, rate in enumerate(OUTSIDE):
        for at in np.cumsum(draws.exponential(1 / max(rate, 1e-9), size=int(packets * rate / 25))):
            events.append((at, number, node, at))
            number += 1
    heapq.heapify(events)
    free, times = [0.0] * 3, []
    while events:
        at, own, node, born = heapq.heappop(events)
        free[node] = max(free[node], at) + draws.exponential(SERVICE[node])
        where = draws.random()
        for end in range(3):
            where -= shares[node, end]
            if where < 0:
                heapq.heappush(events, (free[node], own, end, born))
                break
        else:
            times.append(free[node] - born)
    batches = np.array(times[: len(times) // 20 * 20]).reshape(20, -1).mean(axis=1)
    return batches.mean(), batches.std() / np.sqrt(20)


@pytest.mark.slow
def test_sojourn_against_a_simulation():
    """Derived: 100,000 packets; 4 standard errors of 20 batches."""
    mean, error = simulated_sojourn(100_000)
    found = networks.jackson_sojourn_s(OUTSIDE, service_s=SERVICE, **THREE)
    assert abs(found - mean) < 4 * error


def test_full_nodes_and_packets_that_never_leave():
    assert networks.jackson_sojourn_s([200.0, 0, 0], service_s=SERVICE, **THREE) == np.inf
    loop = {"from_node": [0, 1], "to_node": [1, 0], "routing_ratio": [1.0, 1.0]}
    assert (networks.jackson_rate_pps([1.0, 1.0], **loop) == np.inf).all()
    assert networks.jackson_sojourn_s([1.0, 1.0], service_s=[0.1, 0.1], **loop) == np.inf
    with pytest.raises(DomainError, match="routing_ratio"):
        networks.jackson_rate_pps([1.0], from_node=[0, 0], to_node=[0, 0], routing_ratio=[0.6, 0.6])
    with pytest.raises(DomainError, match="to_node"):
        networks.jackson_rate_pps([1.0], from_node=[0], to_node=[1], routing_ratio=[0.5])
    with pytest.raises(DomainError, match="service_s must have 3 numbers"):
        networks.jackson_sojourn_s(OUTSIDE, service_s=[0.1], **THREE)


def product_form(customers, demands, think):
    """Second method: throughput as a quotient of sums over all states (Gordon and Newell)."""

    def constant(number):
        total = 0.0
        for state in product(range(number + 1), repeat=len(demands)):
            rest = number - sum(state)
            if rest < 0:
                continue
            weight = np.prod([d**n for d, n in zip(demands, state, strict=True)])
            total += weight * think**rest / np.prod(range(1, rest + 1))
        return total

    return constant(customers - 1) / constant(customers)


@pytest.mark.each("customers", [1, 2, 5, 9])
@pytest.mark.each("think", [0.0, 15.0])
def test_closed_network_against_the_product_form(customers, think):
    demands = [0.605, 2.1, 1.35]
    rate = product_form(customers, demands, think)
    found = networks.mva_throughput_pps(customers, demand_s=demands, think_s=think)
    assert found == pytest.approx(rate, rel=1e-12)
    response = networks.mva_response_s(customers, demand_s=demands, think_s=think)
    assert response == pytest.approx(customers / rate - think, rel=1e-11)


def test_customers_in_an_array_and_at_the_ends():
    """Identity: one by one, and the bounds of the bottleneck."""
    several = networks.mva_response_s([0, 3, 1], demand_s=[0.2, 0.5])
    alone = [float(networks.mva_response_s(n, demand_s=[0.2, 0.5])) for n in (0, 3, 1)]
    assert several.tolist() == alone
    assert alone[0] == 0
    assert alone[2] == pytest.approx(0.7)
    many = networks.mva_throughput_pps(1000, demand_s=[0.2, 0.5], think_s=3)
    assert many == pytest.approx(1 / 0.5)
