"""Delayed acknowledgements: the systems' own documents, a heartbeat ticked through."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.hosts import small_writes


@pytest.mark.each(
    ("system", "shortest_s", "longest_s", "source"),
    [
        ("linux", 0.04, 0.2, "published: include/net/tcp.h"),
        ("bsd44", 0.0, 0.2, "published: PR_FASTHZ 5"),
        ("freebsd_before_2020", 0.1, 0.1, "published: r360010"),
        ("freebsd_since_2020", 0.04, 0.04, "published: r360010"),
        ("xnu", 0.1, 0.2, "published: tcp_timer.h"),
        ("windows_2000", 0.2, 0.2, "published: TcpDelAckTicks"),
        ("windows_ce", 0.2, 0.2, "published: Windows CE 6.0 documentation"),
        ("rfc1122", 0.0, 0.5, "published: RFC 1122, 4.2.3.2"),
        ("solaris_local", 0.05, 0.05, "published: tunable parameters"),
        ("solaris_remote", 0.1, 0.1, "published: tunable parameters"),
        ("rhel7_rt", 0.004, 0.004, "published: tuning guide"),
    ],
)
def test_systems(system, shortest_s, longest_s, source):
    assert small_writes.delayed_ack_s(system, statistic="shortest") == shortest_s, source
    assert small_writes.delayed_ack_s(system, statistic="longest") == longest_s, source
    mean = small_writes.delayed_ack_s(system, statistic="mean")
    assert mean == pytest.approx((shortest_s + longest_s) / 2), "the middle of the range"
    # published: tcp_delack_timer of Linux starts at TCP_ATO_MIN, and grows in no request alone
    typical = shortest_s if system == "linux" else mean
    assert small_writes.delayed_ack_s(system) == typical


def test_all_keep_the_rule():
    """Identity: RFC 1122 asks for less than 0.5 s; Solaris waits for 8 segments on a LAN."""
    for name, system in small_writes.SYSTEMS.items():
        assert 0 <= system.shortest_s <= system.longest_s <= 0.5, name
        assert system.every_segments == (8 if name == "solaris_local" else 2), name
        assert system.source, name


def test_heartbeat_mean_is_that_of_all_phases():
    """Derived: 4.4BSD's tick waited for at 1000 phases; Cardwell et al. print 100 ms."""
    arrivals = (np.arange(1000) + 0.5) / 1000 * 0.2
    waits = small_writes.heartbeat_wait_s(arrivals, phase_s=0.07)
    assert waits.mean() == pytest.approx(small_writes.heartbeat_mean_s(0.2))
    assert waits.min() > 0
    assert waits.max() <= 0.2
    assert small_writes.delayed_ack_s("bsd44") == small_writes.heartbeat_mean_s(0.2)


def test_heartbeat_ticks():
    """Derived: the next tick after 1.03, 1.17 and 1.27 with ticks at 0.07, 0.27 ..."""
    waits = small_writes.heartbeat_wait_s([1.03, 1.17, 1.2], phase_s=0.07)
    assert waits == pytest.approx([0.04, 0.10, 0.07])


def test_impossible():
    with pytest.raises(DomainError, match="system"):
        small_writes.delayed_ack_s("cpm")
    with pytest.raises(DomainError, match="statistic"):
        small_writes.delayed_ack_s("linux", statistic="mode")
    with pytest.raises(DomainError, match="period_s"):
        small_writes.heartbeat_wait_s(0.0, period_s=0)


@pytest.mark.each(
    ("arrival_s", "expected_s", "source"),
    [
        (0.0, 0.044, "derived: a timer that counts from a tick, and is never early"),
        (0.0001, 0.0439, "measured: rounds of 43.9 ms on a loopback, HZ = 250"),
        (0.0203, 0.0437, "measured: 64 ms for 20.3 ms of round trips and the timer"),
        (0.0604, 0.0436, "measured: 104 ms for 60.4 ms of round trips and the timer"),
    ],
)
def test_timer_in_ticks(arrival_s, expected_s, source):
    assert float(small_writes.tick_timer_wait_s(arrival_s)) == pytest.approx(expected_s), source


def test_timer_in_ticks_is_never_early_and_a_tick_late_at_most():
    arrivals = np.linspace(0, 0.1, 10_001)
    waits = small_writes.tick_timer_wait_s(arrivals, tick_count=40, tick_s=0.001)
    assert waits.min() > 0.04 - 1e-12  # derived: HZ / 25 at HZ = 1000
    assert waits.max() <= 0.041 + 1e-12
    with pytest.raises(DomainError) as refused:
        small_writes.tick_timer_wait_s(0.0, tick_count=0.5)
    assert (refused.value.code, refused.value.name) == ("not-whole", "tick_count")
