"""Cores: cycles counted one packet after the other, and the published rates of netmap."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.models.hosts import host_stack


def test_published_rates():
    """Published: Rizzo 2012, 67.2 ns at 14.88 Mpps; one core at 900 MHz sends that many."""
    budget = host_stack.cycle_budget(14.88e6, clock_hz=1e9)
    assert budget == pytest.approx(67.2, abs=0.05)
    per_packet = host_stack.cycle_budget(14.88e6, clock_hz=900e6)
    assert per_packet == pytest.approx(60.5, abs=0.05)
    assert host_stack.core_rate_pps(per_packet, clock_hz=900e6) == pytest.approx(14.88e6)


@pytest.mark.each(("cycles", "clock", "count"), [(200, 3e9, 1), (1500, 2.4e9, 7)])
def test_a_second_of_packets_one_after_the_other(cycles, clock, count):
    """Derived: whole packets that some cores finish in a second."""
    done = count * int(clock // cycles)
    found = host_stack.core_rate_pps(cycles, clock_hz=clock, core_count=count)
    assert found == pytest.approx(done, rel=1e-6)


def test_cores_are_the_least_that_keep_up():
    """Derived: with one fewer the rate is not reached."""
    for rate in (1.0, 1e6, 1.99e6, 2e6, 2.01e6, 1e9):
        kept = {"clock_hz": 3e9, "target_utilization": 0.8}
        count = float(host_stack.core_count(rate, packet_cycles=1200, **kept))
        enough = host_stack.core_rate_pps(1200, core_count=count, **kept)
        assert enough >= rate * (1 - 1e-12)
        if count > 1:
            assert host_stack.core_rate_pps(1200, core_count=count - 1, **kept) < rate
    assert host_stack.core_count(0, packet_cycles=1200, clock_hz=3e9) == 0
    assert host_stack.core_count(1, packet_cycles=1, clock_hz=1, target_utilization=0) == np.inf
    assert host_stack.core_count(3e6, packet_cycles=1000, clock_hz=1e9) == 3
