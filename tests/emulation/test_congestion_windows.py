"""Congestion windows of a stream in virtual time, each number by hand from the RFC it names."""

from __future__ import annotations

import math

import pytest

from netcalc.emulation.congestion import RULES, CubicWindow, Window


def reno(size, *, slow_start=False):
    return Window(size, slow_start=slow_start)


def grown(window, count, in_flight, now_s=0.0, rtt_s=0.1):
    window.acknowledged(count, now_s, rtt_s, in_flight)
    return window.size


def test_slow_start_adds_what_was_acknowledged_if_the_window_is_in_use():
    """RFC 5681, 3.1; RFC 7661: a window of which half or less is used does not grow."""
    window = reno(10, slow_start=True)
    assert grown(window, 4, in_flight=5) == 10
    assert grown(window, 4, in_flight=6) == 14
    window.threshold = 16
    assert grown(window, 3, in_flight=15) == 16, "one of the three is left for avoidance"
    assert [grown(window, 1, in_flight=16) for _ in range(15)] == [16] * 14 + [17]


def test_avoidance_adds_a_segment_for_each_window_of_acknowledgements():
    """RFC 5681, 3.1: 10 acknowledged segments add one, then 11."""
    window = reno(10)
    assert grown(window, 10, in_flight=8) == 10, "two segments of it were not in use"
    assert grown(window, 9, in_flight=9) == 10
    assert grown(window, 1, in_flight=9) == 11
    assert [grown(window, 1, in_flight=11) for _ in range(11)] == [11] * 10 + [12]
    assert grown(window, 24, in_flight=12) == 14, "two windows at once"


def test_a_loss_leaves_half_and_at_least_two_a_timeout_one():
    """RFC 5681, equation 4 and 3.1."""
    for size, half in ((11, 5), (4, 2), (3, 2), (2, 2)):
        window = reno(size)
        window.reduce(0.0)
        assert (window.threshold, window.is_reducing, window.size) == (half, True, size)
        window.end_reduction()
        assert (window.size, window.is_reducing) == (half, False)
        window.end_reduction()
        assert window.size == half
    window = reno(20)
    window.time_out()
    assert (window.size, window.threshold, window.is_reducing) == (1, 10, False)
    assert grown(window, 1, in_flight=1) == 2, "slow start again"


def test_a_reduction_sends_in_proportion_to_what_arrives():
    """RFC 6937, 3: of 10 segments 5 stay, so every second delivered segment sends one."""
    window = reno(10)
    window.sent()  # outside of a reduction it is not counted
    window.reduce(0.0)
    sizes = []
    for delivered in range(1, 5):
        in_flight = 10 - delivered
        window.proportion(1, in_flight, advanced=False)
        sizes.append(window.size - in_flight)
        for _ in range(sizes[-1]):
            window.sent()
    assert sizes == [1, 0, 1, 0], "ceil(5 n / 10) sent after n"
    # 4 delivered, 2 sent; below the threshold: up to it, and no more than arrived
    window.proportion(1, 2, advanced=False)
    assert window.size == 2 + 3, "5 delivered less 2 sent, and 3 are missing"
    window.proportion(1, 4, advanced=True)
    assert window.size == 5, "one is missing"
    window.proportion(0, 1, advanced=False)
    assert window.size == 5, "6 delivered less 2 sent"


def after_loss(size):
    window = CubicWindow(size, slow_start=False)
    window.reduce(0.0)
    window.end_reduction()
    return window


def follow(window, until_s, rtt_s=0.1, now_s=0.0):
    """Acknowledge a whole window each round trip; return the window by time."""
    found = {}
    while now_s < until_s - rtt_s / 2:
        grown(window, window.size, window.size, now_s, rtt_s)
        now_s += rtt_s
        found[round(now_s, 6)] = window.size
    return found


def test_cubic_follows_its_function():
    """RFC 9438, equations 1 and 2: W(t) = C (t - K)^3 + W_max, K = cbrt((W_max - cwnd) / C)."""
    window = after_loss(100)
    assert window.size == 70, "beta = 717/1024 in Linux: 70.02"
    k_s = (30 / 0.4) ** (1 / 3)
    assert k_s == pytest.approx(4.217, abs=1e-3)
    sizes = follow(window, 9.0)
    for now_s in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0):
        assert sizes[now_s] == pytest.approx(0.4 * (now_s - k_s) ** 3 + 100, abs=1.5), now_s


def test_cubic_leaves_room_if_it_had_not_reached_its_maximum():
    """RFC 9438, 4.7: a second loss at 70 takes W_max = 70 (1 + beta) / 2 = 59.5, not 70."""
    window = after_loss(100)
    window.reduce(0.0)
    window.end_reduction()
    assert window.size == 49, "70 * 717 / 1024"
    k_s = ((59.51 - 49) / 0.4) ** (1 / 3)
    sizes = follow(window, 6.0, rtt_s=0.25)  # so long that Reno is slower
    for now_s in (2.0, 3.0, 5.0, 6.0):
        assert sizes[now_s] == pytest.approx(0.4 * (now_s - k_s) ** 3 + 59.51, abs=1.5), now_s


def test_cubic_is_as_fast_as_reno_where_round_trips_are_short():
    """RFC 9438, equation 4: 3 (1 - beta) / (1 + beta) = 0.529 segments a round trip."""
    window = after_loss(100)
    rounds = 60
    sizes = follow(window, rounds * 0.001, rtt_s=0.001)
    factor = 3 * (1 - 717 / 1024) / (1 + 717 / 1024)
    assert sizes[round(rounds * 0.001, 6)] == pytest.approx(70 + rounds * factor, abs=2.0)


def test_cubic_before_its_first_loss_grows_a_segment_in_20():
    """As Linux: without a maximum, 20 acknowledged segments add one at least."""
    window = CubicWindow(100, slow_start=False)
    assert grown(window, 19, in_flight=100) == 100
    assert grown(window, 1, in_flight=100) == 101


def test_the_rules_by_name():
    assert {"reno": Window, "cubic": CubicWindow} == RULES
    assert math.isinf(Window(10).threshold)
