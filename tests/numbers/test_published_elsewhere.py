"""Values that others have printed, and exact sums, beside those that the formulas were built by."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from netcalc import calculator


def value(name, first, **others):
    return calculator.formula(name).function(first, **others)


@pytest.mark.each(
    ("servers", "blocking", "erlangs"),
    # published, recalled: tables of Erlang B, three digits (T. Angus, An introduction to Erlang B
    # and Erlang C, 2001)
    [(5, 0.01, 1.36), (10, 0.01, 4.46), (20, 0.01, 12.0), (30, 0.01, 20.3), (50, 0.01, 37.9),
     (100, 0.01, 84.1), (10, 0.02, 5.08), (30, 0.02, 21.9), (15, 0.05, 10.6), (24, 0.001, 12.2)],
)  # fmt: skip
def test_tables_of_erlang_b(servers, blocking, erlangs):
    found = value("erlang-b-load", blocking, server_count=servers)
    assert found == pytest.approx(erlangs, rel=5e-3)


def test_a_call_centre_of_fourteen():
    """Published, recalled: 100 calls of 180 s in half an hour, 14 agents (callcentrehelper.com)."""
    assert value("erlang-c", 10, server_count=14) == pytest.approx(0.1741, rel=1e-3)
    level = value("service-level", 10, server_count=14, within_s=20, service_s=180)
    assert level == pytest.approx(0.888, abs=5e-4)
    assert value("mmc-wait", 10, server_count=14, service_s=180) == pytest.approx(7.8, abs=0.05)


def test_fifty_agents_and_callers_that_give_up():
    """Published, recalled: Mandelbaum and Zeltyn, The Palm/Erlang-A queue (2005), section 1: 50
    agents, 2880 calls an hour, a minute of service, two of patience."""
    assert value("mmc-wait", 48, server_count=50, service_s=60) == pytest.approx(20.8, abs=0.05)
    found = value("erlang-a", 48, server_count=50, service_s=60, patience_s=120)
    assert found.abandoned_ratio == pytest.approx(0.031, abs=5e-4)
    assert found.wait_s == pytest.approx(3.7, abs=0.05)


def test_more_calls_than_agents_ever_serve():
    """Derived: all are busy, and what they do not serve gives up: 1 - 1000/20000."""
    found = value("erlang-a", 20_000, server_count=1000, service_s=1, patience_s=10)
    assert found.waiting_ratio == pytest.approx(1.0, abs=1e-12)
    assert found.abandoned_ratio == pytest.approx(0.95, rel=1e-9)


@pytest.mark.each("bits", [48, 512, 1024, 4096])
@pytest.mark.each("stations", [1, 2, 5, 32, 256])
def test_the_first_model_of_ethernet(bits, stations):
    """Published equation: Metcalfe and Boggs, CACM 19 (1976), (P/C) / (P/C + W T) with 3 Mbit/s,
    slots of 16 us, W = (1 - A) / A and A = (1 - 1/Q)^(Q - 1); in rational numbers."""
    alone = (1 - Fraction(1, stations)) ** (stations - 1)
    frame = Fraction(bits, 3)  # in us
    efficiency = frame / (frame + (1 - alone) / alone * 16)
    found = value(
        "csma-cd-stations-efficiency", stations, serialization_s=bits / 3e6, propagation_s=8e-6
    )
    assert found == pytest.approx(float(efficiency), rel=1e-12)


@pytest.mark.each(
    ("peers", "server_s", "slow_s", "medium_s", "fast_s"),
    # published, recalled: Kurose and Ross, solutions to chapter 2, P22; there 1 Gbit is 1024 Mbit,
    # and 1 Mbit is 1024 kbit
    [(10, 7680, 7680, 7680, 7680), (100, 51_200, 25_904, 15_616, 7680),
     (1000, 512_000, 47_559, 21_525, 7680)],
)  # fmt: skip
def test_peers_against_a_server(peers, server_s, slow_s, medium_s, fast_s):
    path = {"payload_bytes": 15 * 1024e6 / 8, "server_bps": 30e6, "download_bps": 2e6}
    assert value("client-server-distribution", peers, **path) == pytest.approx(server_s, abs=1)
    for upload_bps, printed in ((300e6 / 1024, slow_s), (700e6 / 1024, medium_s), (2e6, fast_s)):
        found = value("peer-to-peer-distribution", peers, **path, upload_bps=upload_bps)
        assert found == pytest.approx(printed, rel=1e-4)


@pytest.mark.each(
    ("offered", "circuits", "servers"),
    [((Fraction(5, 2), Fraction(3, 2), Fraction(1, 2)), (1, 2, 6), 12),
     ((Fraction(4), Fraction(1)), (1, 5), 10), ((Fraction(1),) * 3, (3, 4, 7), 11)],
)  # fmt: skip
def test_classes_of_calls_state_by_state(offered, circuits, servers):
    """Derived: the weight of every combination of calls, in rational numbers."""
    weights = {}
    for calls in itertools.product(*(range(servers // each + 1) for each in circuits)):
        if (used := sum(map(math.prod, zip(calls, circuits, strict=True)))) <= servers:
            weight = math.prod(
                a**n / math.factorial(n) for a, n in zip(offered, calls, strict=True)
            )
            weights[used] = weights.get(used, 0) + weight
    total = sum(weights.values())
    full = [
        sum(w for used, w in weights.items() if used + each > servers) / total for each in circuits
    ]
    found = value(
        "multirate-blocking", [float(one) for one in offered],
        circuits_per_call=list(circuits), server_count=servers,
    )  # fmt: skip
    np.testing.assert_allclose(found, [float(one) for one in full], rtol=1e-12)


@pytest.mark.each(
    ("offered", "servers", "places"),
    [(Fraction(8), 10, 5), (Fraction(12), 10, 5), (Fraction(5), 5, 3), (Fraction(1, 2), 1, 9)],
)
def test_a_limited_queue_state_by_state(offered, servers, places):
    """Derived: birth and death, in rational numbers."""
    states = [Fraction(1)]
    for number in range(1, servers + places + 1):
        states.append(states[-1] * offered / min(number, servers))
    blocking = states[-1] / sum(states)
    waiting = sum(max(n - servers, 0) * one for n, one in enumerate(states)) / sum(states)
    given = {"server_count": servers, "waiting_count": places}
    found = value("mmck-blocking", float(offered), **given)
    assert found == pytest.approx(float(blocking), rel=1e-12)
    wait_s = value("mmck-wait", float(offered), **given, service_s=2.0)
    assert wait_s == pytest.approx(float(2 * waiting / (offered * (1 - blocking))), rel=1e-12)


@pytest.mark.each(
    ("sources", "load", "servers"),
    [
        (10, Fraction(1, 5), 4),
        (100, Fraction(3, 20), 20),
        (12, Fraction(1, 2), 12),
        (8, Fraction(2), 3),
    ],
)
def test_limited_sources_state_by_state(sources, load, servers):
    """Derived: binomial weights in rational numbers; an arriving call sees the others."""

    def share(others):
        weights = [math.comb(others, n) * load**n for n in range(servers + 1)]
        return float(weights[-1] / sum(weights))

    given = {"source_erlang": float(load), "server_count": servers}
    assert value("engset-time", sources, **given) == pytest.approx(share(sources), rel=1e-12)
    blocking = value("engset-blocking", sources, **given)
    assert blocking == pytest.approx(share(sources - 1), rel=1e-12)


@pytest.mark.each(
    ("count", "demands", "think"),
    [(5, (0.1, 0.3, 0.2), 0.0), (20, (0.05, 0.08, 0.01), 1.5), (1, (0.4,), 0.6)],
)
def test_closed_networks_by_convolution(count, demands, think):
    """Derived: throughput is a quotient of normalizing constants (Buzen, CACM 16, 1973)."""
    constants = [think**n / math.factorial(n) for n in range(count + 1)]
    for demand in demands:
        for number in range(1, count + 1):
            constants[number] += demand * constants[number - 1]
    found = value("mva-throughput", count, demand_s=list(demands), think_s=think)
    assert found == pytest.approx(constants[count - 1] / constants[count], rel=1e-12)


def test_a_third_class_that_does_not_fit():
    """Derived by hand (Cobham, with what is served of it): classes of load 0.2 and 0.3 leave 0.5 of
    a third one; residuals 0.2 / 2 + 0.3 + 0.5 x (4 + 0.75) / (2 x 2). Event by event over 1.2
    million packets it was 1.245 and 2.481."""
    given = {"service_s": [1, 1, 2], "service_scv": [0, 1, 0.75 / 4]}
    found = value("priority-wait", [0.2, 0.3, 1.0], **given)
    residual = 0.1 + 0.3 + 0.5 * 4.75 / 4
    assert found[0] == pytest.approx(residual / 0.8)
    assert found[1] == pytest.approx(residual / 0.8 / 0.5)
    assert found[2] == math.inf
    np.testing.assert_allclose(found[:2], [1.245, 2.481], rtol=0.01)


def test_the_loss_of_a_policer_by_its_equation():
    """Derived in rational numbers where the roots are whole: W = 50, sqrt(2 b / MSS) = 10."""
    path = {"token_bps": 50 * 1460 * 8 / 0.1, "rtt_s": 0.1, "mss_bytes": 1460}
    found = value("policed-loss", 50 * 1460, **path)
    assert found == pytest.approx(float(Fraction(2 * 10) / (Fraction(3, 4) * 60**2)), rel=1e-12)
    # a bucket that never empties before W = 2 W / (1 + beta): 50 / 3 above
    most = value("policed-loss", 1e9, **path)
    assert most == pytest.approx(
        float(2 * Fraction(50, 3) / (Fraction(3, 4) * Fraction(200, 3) ** 2)), rel=1e-12
    )
    least = value("policed-loss", 0, **path)
    assert least == pytest.approx(2 / (0.75 * 50**2), rel=1e-12)  # one segment at least


def test_a_few_users_of_a_large_rate_are_few():
    """Derived: a line of 1000 users of 1 Mbit/s and one of 1 Gbit/s, who sends in 1 % of the time,
    takes 1.1 Gbit/s at the 99.5th percentile; the normal distribution says 368 Mbit/s."""
    from netcalc.errors import doubts

    mixed = {"active_ratio": [0.1, 0.01], "user_bps": [1e6, 1e9], "quantile": 0.995}
    with doubts() as found:
        rate = value("class-bandwidth", [1000, 1], **mixed)
    assert rate == pytest.approx(110e6 + 2.5758 * math.sqrt(90e12 + 0.0099e18), rel=1e-4)
    assert [one.code for one in found] == ["few-for-normal"]
    same = {"active_ratio": [0.1, 0.1], "user_bps": [1e6, 1e6], "quantile": 0.995}
    with doubts() as found:  # identity: one rate in two classes; 0.09 x 112 = 10.08
        value("class-bandwidth", [100, 12], **same)
    assert found == []
    with doubts() as found:
        value("class-bandwidth", [100, 10], **same)
    assert [one.code for one in found] == ["few-for-normal"]
