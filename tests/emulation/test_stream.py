"""A TCP stream in virtual time, against closed forms and a renewal computation of its window."""

import numpy as np
import pytest

from netcalc.emulation.chain import simulate
from netcalc.emulation.stream import CubicWindow, Window, deliver
from netcalc.errors import DomainError
from netcalc.models.tcp.short_transfers import sending_s
from netcalc.path import Path


@pytest.mark.each(
    ("text", "segments"),
    [("100 Mbit/s 50 ms", 100), ("T1 50 ms", 180), ("12 x 10 Mbit/s 1 ms", 900), ("T1 5 ms", 10)],
)
def test_without_loss_it_is_slow_start_and_then_the_link(text, segments):
    """derived: the closed form of a slow start of whole windows, less than 0.1 % off.

    An acknowledgement for every second segment lets a flight begin a segment later.
    """
    path = Path.parse(text)
    clock_s = 12_000 / path.bottleneck_bps
    base_s = float(path.rtt_s(1500, reply_bytes=52)) - clock_s
    sent_s = sending_s(
        segments, packet_bytes=1500, bandwidth_bps=path.bottleneck_bps, base_rtt_s=base_s
    )
    expected_s = float(sent_s) + float(path.one_way_s(1500)) - clock_s
    found = deliver(path, segments=segments)
    assert found.delivery_s == pytest.approx(expected_s, rel=1e-3)
    assert (found.sent_count, found.lost_count, found.timeout_count) == (segments, 0, 0)


def test_a_window_is_a_window_each_round_trip():
    """derived: ten segments in each of 100 rounds; even, so that none waits for its neighbour."""
    path = Path.parse("1 Gbit/s 20 ms")
    round_s = float(path.rtt_s(1500, reply_bytes=52))
    found = deliver(path, segments=1000, window_bytes=10 * 1448, write_segments=10)
    assert found.delivery_s == pytest.approx(99.5 * round_s, rel=5e-3)


def test_hosts_take_their_time_in_each_round():
    """derived: a hundred rounds of ten segments, 1 ms each; half of it in the last one."""
    path = Path.parse("1 Gbit/s 20 ms")
    alone, slower = (
        deliver(
            path, segments=1000, window_bytes=10 * 1448, write_segments=10, host_s=host_s
        ).delivery_s
        for host_s in (0.0, 1e-3)
    )
    assert slower - alone == pytest.approx(99.5e-3, rel=2e-2)


def test_it_loses_what_a_wire_of_this_seed_loses():
    """identity: a SYN, the third packet, and each data packet are drawn in the order of sending."""
    path = Path.parse("1 Gbit/s 5 ms")
    found = deliver(path, segments=2000, loss_ratio=0.01, seed=3)
    drawn = simulate(
        path, packet_bytes=1500, sent_s=np.arange(found.sent_count + 2.0), seed=6, loss_ratio=0.01
    )
    assert found.lost_count == int(np.isnan(drawn.received_s).sum()) > 10
    # derived: each lost segment is sent once more, and a tail loss probe may repeat one
    assert 0 <= found.sent_count - 2000 - found.lost_count <= 2
    assert found == deliver(path, segments=2000, loss_ratio=0.01, seed=3)


def renewal_packets(loss_ratio, *, more, kept, most=150):
    """Return the packets a round trip of a window under random losses (second method).

    From the end of a repair with a window of w the rounds carry w, w + more, ... packets until one
    loses. Until the loss is noticed a further round carries as many; the round of the repair
    carries the reduced window, and a loss in it or of what is repeated costs one more. The windows
    at the ends of repairs are a Markov chain. With an acknowledgement for every second segment
    the last of an odd window waits for half a round: a quarter of a packet in the mean.
    """
    arrives = 1.0 - loss_ratio
    chain, packets, rounds = np.zeros((most + 1, most + 1)), np.zeros(most + 1), np.zeros(most + 1)
    for first in range(2, most + 1):
        left, sent, window, count = 1.0, 0.0, float(first), 0
        while left > 1e-12:
            size = int(window)
            loses = left * (1.0 - arrives**size)
            half = max(int(kept * size), 2)
            quarter = max(int(kept * half), 2)
            again = 1.0 - arrives**half
            repeated = loss_ratio * (1.0 + loss_ratio * size)
            packets[first] += loses * (
                sent + size / 2 + size + half + again * quarter + repeated * half
            )
            rounds[first] += loses * (count + 0.5 + 1 + 1 + again + repeated)
            chain[first, half] += loses * (1.0 - again)
            chain[first, quarter] += loses * again
            sent, left, window, count = sent + size, left * arrives**size, window + more, count + 1
            if window > most:
                break
    share = np.ones(most + 1) / most
    share[:2] = 0.0
    for _ in range(200):
        share = share @ chain
        share /= share.sum()
    return float(share @ packets / (share @ rounds)) - 0.25


@pytest.mark.each("loss_ratio", [0.02, 0.01])
def test_random_losses_leave_reno_what_a_renewal_computation_says(loss_ratio):
    """derived: 16 streams of 45 losses; the standard error of their mean is some 2 %."""
    path = Path.parse("1 Gbit/s 20 ms")
    round_s = float(path.rtt_s(1500, reply_bytes=52))
    expected = renewal_packets(loss_ratio, more=1.0, kept=0.5)
    segments = round(90 / loss_ratio / 2)
    found = [
        segments * round_s
        / deliver(
            path, segments=segments, loss_ratio=loss_ratio, seed=seed, slow_start=False,
            initial_window_segments=int(expected),
        ).delivery_s
        for seed in range(16)
    ]  # fmt: skip
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    assert error < 0.025 * np.mean(found)
    assert np.mean(found) == pytest.approx(expected, rel=0.05)


class TestWindow:
    def test_reno_grows_by_one_a_round_trip_and_halves(self):
        """published: RFC 5681, 3.1 and 3.2."""
        window = Window(10, slow_start=False)
        for _ in range(10):
            window.acknowledged(1, 0.0, 0.1, window.size)
        assert window.size == 11
        window.reduce(0.0)
        assert window.threshold == 5

    def test_slow_start_grows_by_what_is_acknowledged(self):
        """published: RFC 5681, 3.1; a window that is not half in use does not grow."""
        window = Window(10)
        window.acknowledged(2, 0.0, 0.1, 10)
        assert window.size == 12
        window.acknowledged(2, 0.0, 0.1, 6)
        assert window.size == 12

    def test_proportional_rate_reduction_sends_half_of_what_arrives(self):
        """published: RFC 6937, 3: of 20 segments delivered in a recovery from 20, 10 are sent."""
        window, in_flight, sent = Window(20, slow_start=False), 19, 0
        window.reduce(0.0)
        for _ in range(19):
            in_flight -= 1
            window.proportion(1, in_flight, advanced=False)
            while in_flight < window.size:
                in_flight += 1
                sent += 1
                window.sent()
        assert (sent, in_flight) == (10, 10)
        window.end_reduction()
        assert window.size == 10

    def test_cubic_returns_to_its_maximum_when_its_function_does(self):
        """published: RFC 9438, 4.2: K = cbrt(W (1 - 0.7) / 0.4), 4.22 s for 100 segments."""
        window, now_s, rtt_s = CubicWindow(100, slow_start=False), 0.0, 0.2
        window.reduce(now_s)
        window.end_reduction()
        assert window.size == 70
        while now_s < 4.2:
            for _ in range(window.size):
                window.acknowledged(1, now_s, rtt_s, window.size)
            now_s += rtt_s
        assert window.size == pytest.approx(100, abs=2)

    def test_cubic_is_at_least_as_fast_as_its_estimate_of_reno(self):
        """published: RFC 9438, 4.3: 9/17 of a segment a round trip at 0.7."""
        window, now_s, rtt_s = CubicWindow(20, slow_start=False), 0.0, 0.04
        window.reduce(now_s)
        window.end_reduction()
        first = window.size
        for _ in range(34):
            for _ in range(window.size):
                window.acknowledged(1, now_s, rtt_s, window.size)
            now_s += rtt_s
        assert window.size - first == pytest.approx(18, abs=2)

    def test_a_timeout_begins_again_with_one(self):
        """published: RFC 5681, 3.1, eq. 4."""
        window = Window(20, slow_start=False)
        window.time_out()
        assert (window.size, window.threshold) == (1, 10)


def test_an_unknown_rule_is_refused():
    with pytest.raises(DomainError) as refused:
        deliver(Path.parse("T1 5 ms"), segments=10, rule="vegas")
    assert refused.value.name == "rule"
