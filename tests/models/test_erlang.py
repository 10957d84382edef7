"""Erlang B, Erlang C and M/M/c against direct sums, published tables and their inverses."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from netcalc.errors import DomainError, NotFiniteWarning
from netcalc.models.queues import erlang, mm1


def exact_b(offered, servers):
    """Second method: 1/B as the sum of c!/(c-k)! A^-k, with 60 digits."""
    with mp.workdps(60):
        term = total = mp.mpf(1)
        for k in range(servers):
            term *= (servers - k) / mp.mpf(offered)
            total += term
        return 1 / total


@pytest.mark.each(
    ("offered", "servers"),
    [
        (5e-324, 1), (1e-300, 1), (1e-9, 2), (0.5, 4), (7, 3), (20, 30), (100, 100), (500, 1000),
        (999.999, 1000), (1000, 900), (1e4, 50), (1e300, 100), (3000, 3000), (2900, 3200),
    ],
)  # fmt: skip
def test_erlang_b_against_the_direct_sum(offered, servers):
    expected = float(exact_b(offered, servers))
    computed = float(erlang.erlang_b_ratio(offered, server_count=servers))
    assert computed == pytest.approx(expected, rel=1e-12, abs=1e-307)
    beside = erlang.erlang_b_ratio([offered, 3.0], server_count=[servers, 5000])
    assert beside[0] == pytest.approx(expected, rel=1e-12, abs=1e-307), "as one of an array"


@pytest.mark.each("offered", [99_000.0, 100_000.0, 101_000.0])
def test_a_hundred_thousand_servers_against_the_plain_recursion(offered):
    """Second method: every step of the recursion from one server on."""
    blocking = 1.0
    for k in range(1, 100_001):
        blocking = offered * blocking / (k + offered * blocking)
    computed = erlang.erlang_b_ratio(offered, server_count=100_000)
    assert computed == pytest.approx(blocking, rel=1e-11)


@pytest.mark.each(
    ("servers", "blocking", "offered", "source"),
    [
        (1, 0.01, 0.0101, "published: standard Erlang B table"),
        (5, 0.05, 2.22, "published: standard Erlang B table"),
        (10, 0.01, 4.46, "published: standard Erlang B table"),
        (20, 0.01, 12.0, "published: standard Erlang B table"),
        (50, 0.01, 37.9, "published: standard Erlang B table"),
    ],
)
def test_capacity_of_published_tables(servers, blocking, offered, source):
    computed = erlang.erlang_b_load(blocking, server_count=servers)
    assert computed == pytest.approx(offered, rel=4e-3), source


@pytest.mark.each("servers", [1, 2, 10, 1000])
@pytest.mark.each("blocking", [1e-300, 1e-12, 0.01, 0.499, 0.5, 0.501, 0.99, 1 - 1e-12])
def test_capacity_inverts_blocking(servers, blocking):
    """Identity, in exact arithmetic: of the found load that share is blocked, and accepted."""
    found = float(erlang.erlang_b_load(blocking, server_count=servers))
    exact, wanted = exact_b(found, servers), mp.mpf(blocking)
    assert abs(exact / wanted - 1) < 1e-11
    assert abs((1 - exact) / (1 - wanted) - 1) < 1e-11


def test_capacity_of_a_hundred_thousand_servers():
    found = erlang.erlang_b_load([1e-300, 0.01], server_count=100_000)
    computed = erlang.erlang_b_ratio(found, server_count=100_000)
    assert computed == pytest.approx([1e-300, 0.01], rel=1e-9, abs=0)


@pytest.mark.each("offered", [0.01, 1.0, 33.333333333333336, 1000.0, 100_000.0])
@pytest.mark.each("blocking", [1e-6, 0.01, 0.3, 0.9])
def test_one_server_less_blocks_too_much(offered, blocking):
    """Identity: the least number that will do."""
    count = int(erlang.erlang_b_server_count(offered, blocking_ratio=blocking))
    assert erlang.erlang_b_ratio(offered, server_count=count) <= blocking
    assert count == 0 or erlang.erlang_b_ratio(offered, server_count=count - 1) > blocking


def test_published_number_of_lines():
    count = erlang.erlang_b_server_count(100 / 3, blocking_ratio=0.01)
    assert count == 45, "published: 33.333 erlang at 1 % need 45 lines (erlang.com)"


def test_edges_of_erlang_b():
    """Stated limits."""
    assert erlang.erlang_b_ratio(3.0, server_count=0) == 1.0
    assert erlang.erlang_b_ratio(0.0, server_count=[0, 1, 50]).tolist() == [1.0, 0.0, 0.0]
    assert erlang.erlang_b_ratio(1.0, server_count=1_000_000) == 0.0
    assert erlang.erlang_b_load([0.0, 1.0], server_count=7).tolist() == [0.0, np.inf]
    counts = erlang.erlang_b_server_count([0.0, 5.0, 5.0], blocking_ratio=[0.0, 0.0, 1.0])
    assert counts.tolist() == [0.0, np.inf, 0.0]
    assert np.isnan(erlang.erlang_b_ratio(np.nan, server_count=5))
    assert np.isnan(erlang.erlang_b_load(np.nan, server_count=5))
    assert np.isnan(erlang.erlang_b_server_count(np.nan, blocking_ratio=0.1))
    assert erlang.erlang_b_ratio([], server_count=5).shape == (0,)
    assert erlang.erlang_b_load([], server_count=5).shape == (0,)


@pytest.mark.each("servers", [-1, 2.5, 1e7 + 1, 1e300])
def test_a_number_of_servers_is_whole_and_within_reason(servers):
    with pytest.raises(DomainError, match="server_count"):
        erlang.erlang_b_ratio(1.0, server_count=servers)


def test_counting_up_to_an_endless_load_is_refused():
    with pytest.raises(DomainError, match="offered_erlang"):
        erlang.erlang_b_server_count(1e300, blocking_ratio=0.1)
    with pytest.raises(DomainError, match="offered_erlang"):
        erlang.erlang_c_server_count(1e300, service_level_ratio=0.1)


def exact_c(offered, servers):
    blocking = exact_b(offered, servers)
    with mp.workdps(60):
        return servers * blocking / (servers - mp.mpf(offered) * (1 - blocking))


@pytest.mark.each(
    ("offered", "servers"),
    [(0.8, 1), (2, 3), (90, 100), (100 * (1 - 1e-12), 100), (1e-9, 5), (900, 1000)],
)
def test_mmc_against_the_direct_sum(offered, servers):
    waiting = exact_c(offered, servers)
    with mp.workdps(60):
        wait = float(waiting / (servers - mp.mpf(offered)))
        tail = waiting / mp.mpf(0.125)
        percentile = float(mp.log(tail) / (servers - mp.mpf(offered)))
    crew = {"server_count": servers}
    assert erlang.erlang_c_ratio(offered, **crew) == pytest.approx(float(waiting), rel=1e-12)
    assert erlang.mmc_wait_s(offered, **crew, service_s=1.0) == pytest.approx(wait, rel=1e-12)
    computed = erlang.mmc_wait_percentile_s(offered, **crew, service_s=1.0, quantile=0.875)
    assert computed == pytest.approx(max(percentile, 0.0), rel=1e-11)


def test_one_server_is_mm1():
    """Identity: M/M/c with one server."""
    load = np.array([0.1, 0.5, 0.9, 1 - 1e-12])
    one = {"server_count": 1}
    assert erlang.erlang_c_ratio(load, **one) == pytest.approx(load, rel=1e-14)
    assert erlang.mmc_wait_s(load, **one, service_s=2.0) == pytest.approx(
        mm1.mm1_wait_s(load, service_s=2.0), rel=1e-14
    )
    assert erlang.mmc_wait_percentile_s(load, **one, service_s=2.0, quantile=0.99) == pytest.approx(
        mm1.mm1_wait_percentile_s(load, service_s=2.0, quantile=0.99), rel=1e-12
    )


def test_service_level_and_percentile_are_inverse():
    """Identity: the share that waits at most the 95th percentile is 95 %."""
    crew = {"server_count": 20, "service_s": 180.0}
    wait = erlang.mmc_wait_percentile_s(18, **crew, quantile=0.95)
    level = erlang.service_level_ratio(18, **crew, within_s=wait)
    assert level == pytest.approx(0.95, rel=1e-12)


@pytest.mark.each("offered", [0.5, 17.0, 90.0, 5000.0])
@pytest.mark.each(("level", "within_s"), [(0.0, 0.0), (0.5, 0.0), (0.8, 20.0), (0.999, 5.0)])
def test_one_server_less_is_too_late(offered, level, within_s):
    """Identity: the least number above the load that will do."""
    wanted = {"service_level_ratio": level, "within_s": within_s, "service_s": 180.0}
    count = int(erlang.erlang_c_server_count(offered, **wanted))
    reached = {"within_s": within_s, "service_s": 180.0}
    assert count > offered
    assert erlang.service_level_ratio(offered, server_count=count, **reached) >= level
    if count - 1 > offered:
        assert erlang.service_level_ratio(offered, server_count=count - 1, **reached) < level


def test_overload_has_no_steady_state():
    """Stated limits: from as many erlangs as servers on, all wait forever."""
    crew = {"server_count": 3, "service_s": 1.0}
    assert erlang.erlang_c_ratio([3, 4, 1e308], server_count=3).tolist() == [1.0, 1.0, 1.0]
    assert erlang.mmc_wait_s([3, 4], **crew).tolist() == [np.inf, np.inf]
    assert erlang.mmc_wait_percentile_s(3, **crew, quantile=0.0) == np.inf
    assert erlang.service_level_ratio([3, 4], **crew, within_s=1e9).tolist() == [0.0, 0.0]
    assert erlang.mmc_wait_s(0.0, **crew) == 0.0
    assert erlang.mmc_wait_percentile_s(0.0, **crew, quantile=1.0) == 0.0
    counts = erlang.erlang_c_server_count([0.0, 2.0], service_level_ratio=1.0)
    assert counts.tolist() == [0.0, np.inf]
    assert np.isnan(erlang.erlang_c_server_count(2.0, service_level_ratio=np.nan))


@pytest.mark.each(("offered", "servers"), [(1.0, 170), (1.0, 171), (100.0, 900), (1000.0, 2900)])
def test_blocking_next_to_the_smallest_float(offered, servers):
    """Where no step of the recursion is made the result has to be what it would have been."""
    expected = float(exact_b(offered, servers))
    smallest = float(np.finfo(float).tiny)
    computed = float(erlang.erlang_b_ratio(offered, server_count=servers))
    assert computed == pytest.approx(expected if expected >= smallest else 0.0, rel=1e-12, abs=0)


def test_a_great_many_idle_servers_need_no_steps():
    """Blocking is 0 to all digits beside a load that needs steps, and beside a missing one."""
    with pytest.warns(NotFiniteWarning):
        alone = erlang.erlang_b_ratio([np.nan, 1.0], server_count=1e7)
    assert np.isnan(alone[0])
    assert alone[1] == 0.0
    both = erlang.erlang_b_ratio([1.0, 1e6], server_count=1e6)
    assert both.tolist() == [0.0, float(erlang.erlang_b_ratio(1e6, server_count=1e6))]
    assert erlang.mmc_wait_s(1.0, server_count=1e7, service_s=1.0) == 0.0


def test_a_private_step_makes_no_list_of_a_long_range():
    with pytest.raises(DomainError) as refused:
        erlang._waiting_share(range(10**12), np.array(2.0))
    assert refused.value.code == "too-long-range"
