"""M/M/1, M/G/1 and Kingman against state sums, against each other and next to full load."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.queues import mm1, queueing

NEAR_ONE = 1.0 - 1e-12
LOADS = [1e-300, 1e-9, 0.1, 0.5, 0.8, 0.95, 0.999, NEAR_ONE]


@pytest.mark.each(
    ("utilization", "wait", "source"),
    [
        (0.5, 1.0, "published: Kleinrock vol. 1, 3.2, rho/(1-rho) services"),
        (0.8, 4.0, "published: as above"),
        (0.9, 9.0, "published: as above"),
    ],
)
def test_mm1_wait(utilization, wait, source):
    assert mm1.mm1_wait_s(utilization, service_s=1.0) == pytest.approx(wait, rel=1e-12), source


@pytest.mark.each("utilization", [0.1, 0.5, 0.9])
def test_mm1_number_is_the_sum_over_its_states(utilization):
    """Derived: sums over the first 2000 states; the rest is below 1e-90."""
    n = np.arange(2000)
    shares = mm1.mm1_state_probability(utilization, customer_count=n)
    assert shares.sum() == pytest.approx(1.0, rel=1e-12)
    assert (n * shares).sum() == pytest.approx(float(mm1.mm1_customers(utilization)), rel=1e-12)
    waiting = (np.maximum(n - 1, 0) * shares).sum()
    assert waiting == pytest.approx(float(mm1.mm1_queue_length(utilization)), rel=1e-12)


@pytest.mark.each("utilization", LOADS)
def test_mm1_keeps_its_digits_next_to_full_load(utilization):
    """Derived: the same quantities with 60 digits by mpmath."""
    with mp.workdps(60):
        load = mp.mpf(utilization)
        wait, percentile = load / (1 - load), mp.log(load / mp.mpf("0.01")) / (1 - load)
        within = 1 - load * mp.exp(-(1 - load) * 3)
    assert float(mm1.mm1_wait_s(utilization, service_s=1.0)) == pytest.approx(
        float(wait), rel=1e-14
    )
    computed = mm1.mm1_wait_percentile_s(utilization, service_s=1.0, quantile=0.99)
    assert float(computed) == pytest.approx(max(float(percentile), 0.0), rel=1e-13)
    share = mm1.mm1_wait_cdf(3.0, utilization=utilization, service_s=1.0)
    assert float(share) == pytest.approx(float(within), rel=1e-14)


def test_mm1_percentiles_invert_the_distribution():
    """Identity: the cdf at a percentile is the quantile, where anyone waits at all."""
    quantile = np.array([0.3, 0.5, 0.9, 0.999999])
    wait = mm1.mm1_wait_percentile_s(0.8, service_s=2e-3, quantile=quantile)
    assert mm1.mm1_wait_cdf(wait, utilization=0.8, service_s=2e-3) == pytest.approx(quantile)
    assert mm1.mm1_wait_percentile_s(0.8, service_s=2e-3, quantile=0.1) == 0.0
    sojourn = mm1.mm1_sojourn_percentile_s(0.8, service_s=2e-3, quantile=quantile)
    mean = mm1.mm1_sojourn_s(0.8, service_s=2e-3)
    assert 1 - np.exp(-sojourn / mean) == pytest.approx(quantile), "identity: exponential"


@pytest.mark.each("utilization", [1.0, 1.5, 1e308])
def test_without_a_steady_state_times_are_infinite_and_never_negative(utilization):
    one = {"service_s": 1e-3}
    assert mm1.mm1_wait_s(utilization, **one) == np.inf
    assert mm1.mm1_sojourn_s(utilization, **one) == np.inf
    assert mm1.mm1_customers(utilization) == np.inf
    assert mm1.mm1_queue_length(utilization) == np.inf
    assert mm1.mm1_state_probability(utilization, customer_count=0) == 0.0
    assert mm1.mm1_wait_cdf(1e9, utilization=utilization, **one) == 0.0
    for quantile in (0.0, 0.5, 1.0):
        assert mm1.mm1_wait_percentile_s(utilization, **one, quantile=quantile) == np.inf
        assert mm1.mm1_sojourn_percentile_s(utilization, **one, quantile=quantile) == np.inf
    assert queueing.mg1_wait_s(utilization, **one, service_scv=0) == np.inf
    kingman = queueing.kingman_wait_s(utilization, **one, arrival_scv=0, service_scv=0)
    assert kingman == np.inf
    assert not queueing.is_stable(utilization)


@pytest.mark.each("queue", ["mm1k", "mmck", "mmcc"])
def test_a_queue_that_drops_is_stable_at_any_load(queue):
    # published: Kleinrock, Queueing Systems vol. 1, 3.6: finitely many states
    assert queueing.is_stable([0.5, 1.0, 5.0], queue=queue).all()
    assert not queueing.is_stable(np.nan, queue=queue)


@pytest.mark.each("queue", ["mm1", "md1", "mg1", "gg1", "mmc"])
def test_a_queue_without_losses_is_stable_below_full_load(queue):
    assert queueing.is_stable([0.99, 1.0], queue=queue).tolist() == [True, False]
    with pytest.raises(DomainError) as refused:
        queueing.is_stable(0.5, queue="mm2")
    assert (refused.value.code, refused.value.name) == ("not-a-choice", "queue")


def test_edges_of_the_percentiles():
    """Stated limits: nobody waits without load, and the last one waits forever with any."""
    assert mm1.mm1_wait_percentile_s(0.0, service_s=1.0, quantile=1.0) == 0.0
    assert mm1.mm1_wait_percentile_s(0.5, service_s=1.0, quantile=1.0) == np.inf
    assert mm1.mm1_sojourn_percentile_s(0.5, service_s=1.0, quantile=0.0) == 0.0


def test_mg1_between_its_special_cases():
    """Identity: exponential service is M/M/1, and no variance is half of it."""
    load = np.array(LOADS)
    half = queueing.mg1_wait_s(load, service_s=1.0, service_scv=0.0)
    assert queueing.mg1_wait_s(load, service_s=1.0, service_scv=1.0) == pytest.approx(
        mm1.mm1_wait_s(load, service_s=1.0), rel=1e-15
    )
    assert half == pytest.approx(0.5 * mm1.mm1_wait_s(load, service_s=1.0), rel=1e-15)


def test_kingman_is_exact_where_it_is_known_to_be():
    """Identity: Pollaczek-Khinchine with Poisson arrivals, for any service."""
    scv = np.array([0.0, 0.3, 1.0, 10.0])
    kingman = queueing.kingman_wait_s(0.9, service_s=2.0, arrival_scv=1.0, service_scv=scv)
    assert kingman == pytest.approx(queueing.mg1_wait_s(0.9, service_s=2.0, service_scv=scv))
    assert queueing.kingman_wait_s(0.9, service_s=1, arrival_scv=0, service_scv=0) == 0.0


def test_packet_mix_waits_by_wire_sizes():
    """Derived: lambda E[S^2] / (2 (1 - rho)) with the services written out packet by packet."""
    services = np.array([84] * 7 + [590] * 4 + [1538]) * 8 / 10e6
    arrival_pps = 0.5 / services.mean()
    expected = arrival_pps * (services**2).mean() / (2 * 0.5)
    mix = {"wire_bytes": [84, 590, 1538], "weight": [7, 4, 1]}
    computed = queueing.packet_mix_wait_s(0.5, bandwidth_bps=10e6, **mix)
    assert computed == pytest.approx(expected, rel=1e-12)
    assert queueing.packet_mix_scv(**mix) == pytest.approx(
        services.var() / services.mean() ** 2, rel=1e-12
    )
    by_frames = queueing.packet_mix_wait_s(
        0.5, wire_bytes=[64, 570, 1518], weight=[7, 4, 1], bandwidth_bps=10e6
    )
    assert by_frames != pytest.approx(computed, rel=5e-3), "the trap: frames are not served alone"


def test_packet_mix_of_one_size_has_no_variance():
    assert queueing.packet_mix_scv([1538], weight=[3]) == 0.0
    assert queueing.packet_mix_scv([64, 1518], weight=[0, 5]) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.each(
    ("wire_bytes", "weight"),
    [([84, 1538], [1]), ([84], [0]), ([], []), ([0, 84], [1, 1]), ([84], [-1])],
)
def test_impossible_mixes_are_refused(wire_bytes, weight):
    with pytest.raises(DomainError):
        queueing.packet_mix_wait_s(0.5, wire_bytes=wire_bytes, weight=weight, bandwidth_bps=1e6)


def test_little_joins_rate_time_and_number():
    """Identity: N of M/M/1 is its arrival rate times its sojourn."""
    sojourn = mm1.mm1_sojourn_s(0.8, service_s=1e-3)
    number = queueing.little_number(0.8 / 1e-3, sojourn_s=sojourn)
    assert number == pytest.approx(float(mm1.mm1_customers(0.8)), rel=1e-12)
