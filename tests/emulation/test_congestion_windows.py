"""Congestion windows of a stream in virtual time, each number by hand from the RFC it names."""

from __future__ import annotations

import math

import pytest

from netcalc.emulation.stream import RULES, CubicWindow, Window


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
    window.proportion(0, 0, advanced=False)
    assert window.size == 4, "6 delivered less 2 sent"


def test_a_reduction_is_proportional_down_to_one_above_the_threshold():
    """RFC 6937, 3: 6 in flight are more than 5, so ceil(5 * 3 / 10) less the one sent."""
    window = reno(10)
    window.reduce(0.0)
    window.sent()
    window.proportion(3, 6, advanced=False)
    assert window.size == 7


def test_a_reduction_that_sent_too_much_waits():
    """RFC 6937, 3: ceil(5 / 10) of one delivered, but two were sent: none now."""
    window = reno(10)
    window.reduce(0.0)
    window.sent()
    window.sent()
    window.proportion(1, 8, advanced=False)
    assert window.size == 8


def test_a_count_above_what_a_segment_needs_now_adds_one_and_begins_anew():
    """As Linux (tcp_cong_avoid_ai): 9 of 10 are more than 5, so one; then 5 for the next."""
    window = reno(10)
    sizes = []
    for count, per_segment in ((9, 10), (1, 5), (3, 5), (1, 5)):
        window._count(count, per_segment)
        sizes.append(window.size)
    assert sizes == [10, 11, 11, 12]


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
    rounds = 200
    sizes = follow(window, rounds * 0.001, rtt_s=0.001)
    factor = 3 * (1 - 717 / 1024) / (1 + 717 / 1024)
    assert sizes[round(rounds * 0.001, 6)] == pytest.approx(70 + rounds * factor, abs=2.0)


def test_cubic_before_its_first_loss_grows_a_segment_in_20():
    """As Linux: without a maximum, 20 acknowledged segments add one at least."""
    window = CubicWindow(100, slow_start=False)
    assert grown(window, 19, in_flight=100, rtt_s=0.0) == 100, "its function begins at 100"
    assert grown(window, 1, in_flight=100) == 101


def test_cubic_begins_a_new_curve_after_each_loss():
    """RFC 9438, 4.2 and 4.7: 2 s after the loss at 100, below it, the next starts its own time."""
    window = after_loss(100)
    follow(window, 2.0)
    before, beta = window.size, 717 / 1024
    window.reduce(2.0)
    window.end_reduction()
    assert window.size == int(before * beta)
    origin = before * (1 + beta) / 2
    k_s = ((origin - window.size) / 0.4) ** (1 / 3)
    sizes = follow(window, 6.0, rtt_s=0.25, now_s=2.0)  # so long that Reno is slower
    for now_s in (3.0, 4.0, 5.0, 6.0):
        assert sizes[now_s] == pytest.approx(0.4 * (now_s - 2 - k_s) ** 3 + origin, abs=1.5)


def test_cubic_above_its_function_waits_for_a_hundred_windows():
    """As Linux: 100 * 200 acknowledged segments for one more."""
    window = after_loss(100)
    assert grown(window, 1, in_flight=70) == 70, "the curve begins"
    window.size = 200
    assert grown(window, 19_998, in_flight=200) == 200
    assert grown(window, 1, in_flight=200) == 201


def test_cubic_two_segments_behind_reno_grows_twice_as_fast():
    """As Linux: 280 acknowledged put Reno 280 / 70 * 0.529 = 2.1 ahead; 280 / (70 / 2) = 8."""
    assert grown(after_loss(100), 280, in_flight=70, rtt_s=0.001) == 78


def test_cubic_keeps_its_growth_for_a_32nd_of_a_second_while_the_window_stays():
    """As Linux (bictcp_update): Reno's estimate is ahead of 14 after 27 acknowledged segments, in
    the second round; the window follows in the fifth, 40 ms after the curve began. Then 70 put Reno
    two ahead: one more for each 14 / 2, that is one for those of before, two for the round."""
    sizes = follow(after_loss(20), 0.05, rtt_s=0.01)
    assert list(sizes.values()) == [14, 14, 14, 14, 17]


def test_cubic_grows_by_half_a_round_at_most():
    """As Linux: two acknowledged segments for one more, however far its curve is ahead."""
    window = after_loss(100)
    assert grown(window, 1, in_flight=70) == 70
    assert grown(window, 10, in_flight=70, now_s=1000.0) == 75, "11 // 2"


def test_avoidance_counts_from_nothing_after_a_timeout():
    """As Linux (tcp_enter_loss): what had been counted before does not count."""
    window = reno(20)
    assert grown(window, 10, in_flight=20) == 20
    window.time_out()
    assert grown(window, 9, in_flight=1) == 10, "the threshold"
    assert [grown(window, 1, in_flight=10) for _ in range(10)] == [10] * 9 + [11]


def test_cubic_keeps_two_segments():
    """RFC 5681, equation 4: 0.7 of two would be one."""
    assert after_loss(2).size == 2


def test_the_rules_by_name():
    assert {"reno": Window, "cubic": CubicWindow} == RULES
    assert math.isinf(Window(10).threshold)
