"""One link in given time: against Lindley's recursion, a state count and sums of draws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netcalc.emulation import FATES, LinkQueue
from netcalc.errors import DomainError

T1 = 1.544e6


def driven(link, arrivals, sizes):
    """Push packets numbered from 0; return [(time, number)] of what comes out."""
    out = []
    for number, (now_s, size) in enumerate(zip(arrivals, sizes, strict=True)):
        link.push(number, float(now_s), int(size))
    while (next_s := link.next_event_s()) is not None:
        out += link.take(next_s)
    return out


def poisson(count, rate_pps, seed):
    source = np.random.default_rng(seed)
    return np.cumsum(source.exponential(1 / rate_pps, count)), source.integers(40, 1501, count)


def test_one_packet_takes_serialization_and_latency():
    link = LinkQueue(bandwidth_bps=T1, latency_s=0.005)
    link.push(bytes(1428), now_s=1.0)
    expected_s = 1.0 + 1428 * 8 / T1 + 0.005  # derived: the two parts of Fig. A-9
    assert link.next_event_s() == pytest.approx(expected_s, rel=1e-12)
    assert link.pop_ready(expected_s - 1e-9) == []
    assert link.pop_ready(expected_s + 1e-9) == [bytes(1428)]
    assert link.next_event_s() is None


@pytest.mark.parametrize("utilization", [0.3, 0.9, 1.5])
def test_waits_follow_lindley(utilization):
    """derived: W(n+1) = max(0, W(n) + S(n) - A(n+1)), Lindley 1952, no line of the code in it."""
    arrivals, sizes = poisson(3000, utilization * T1 / 8 / 770, seed=1)
    service = sizes * 8 / T1
    wait = np.zeros(arrivals.size)
    for n in range(1, arrivals.size):
        wait[n] = max(0.0, wait[n - 1] + service[n - 1] - (arrivals[n] - arrivals[n - 1]))
    out = driven(LinkQueue(bandwidth_bps=T1, latency_s=0.002), arrivals, sizes)
    assert [number for _, number in out] == list(range(arrivals.size))
    assert [when for when, _ in out] == pytest.approx(arrivals + wait + service + 0.002, abs=1e-9)


@pytest.mark.parametrize("unit", ["bytes", "packets"])
def test_drop_tail_follows_a_count_of_what_is_in_the_buffer(unit):
    """derived: before each arrival, everything not yet gone is counted anew from all departures."""
    arrivals, sizes = poisson(2000, 1.2 * T1 / 8 / 770, seed=2)
    limit = 6000 if unit == "bytes" else 7
    gone: list[tuple[float, int]] = []
    kept, free_s = [], 0.0
    for n, (now_s, size) in enumerate(zip(arrivals.tolist(), sizes.tolist(), strict=True)):
        inside = [held for leaves_s, held in gone if leaves_s > now_s]
        full = sum(inside) + size > limit if unit == "bytes" else len(inside) + 1 > limit
        if not full:
            free_s = max(free_s, now_s) + size * 8 / T1
            gone.append((free_s, size))
            kept.append(n)
    link = LinkQueue(bandwidth_bps=T1, **{f"buffer_{unit}": limit})
    assert [number for _, number in driven(link, arrivals, sizes)] == kept
    assert link.counters["full"] == arrivals.size - len(kept) > 50
    assert link.counters["delivered"] == len(kept)


def test_a_node_processes_one_packet_at_a_time():
    link = LinkQueue(bandwidth_bps=math.inf, processing_s=0.001)
    out = driven(link, [0.0, 0.0, 0.0, 0.01], [100] * 4)
    # derived: three at once leave 1, 2, 3 ms later; the fourth finds the node free
    assert [when for when, _ in out] == pytest.approx([0.001, 0.002, 0.003, 0.011])


def test_the_log_has_a_row_for_each_packet():
    link = LinkQueue(bandwidth_bps=8000.0, buffer_bytes=250)  # 1 ms a byte
    driven(link, [0.0, 0.05, 0.05, 0.2], [100, 100, 100, 100])
    events = link.log.events()
    # derived by hand: 100 bytes take 100 ms; at 50 ms one is on the line, a second still fits
    assert events.arrival_s.tolist() == [0.0, 0.05, 0.05, 0.2]
    assert events.departure_s == pytest.approx([0.1, 0.2, math.nan, 0.3], nan_ok=True)
    assert events.backlog_bytes.tolist() == [0, 100, 200, 0]
    assert [FATES[fate] for fate in events.fate] == ["delivered", "delivered", "full", "delivered"]


@pytest.mark.parametrize("fault", ["loss_ratio", "duplicate_ratio", "reorder_ratio"])
@pytest.mark.parametrize("share", [0.0, 1.0, 0.1])
def test_faults_are_counted_and_the_counts_are_true(fault, share):
    options = {fault: share, "reorder_s": 0.001, "seed": 3}
    link = LinkQueue(bandwidth_bps=1e9, **options)
    out = [number for _, number in driven(link, np.arange(5000) * 1e-4, [100] * 5000)]
    counters = link.counters
    name = {"loss_ratio": "lost", "duplicate_ratio": "duplicated", "reorder_ratio": "reordered"}
    count = counters[name[fault]]
    assert counters["delivered"] == len(out)
    # derived: binomial, 5 standard deviations
    assert count == pytest.approx(5000 * share, abs=5 * math.sqrt(5000 * share * (1 - share)))
    if fault == "loss_ratio":
        assert len(set(out)) == len(out) == 5000 - count
    elif fault == "duplicate_ratio":
        assert len(out) - len(set(out)) == count
    else:
        assert sorted(out) == list(range(5000))
        assert (out != sorted(out)) == (0 < share < 1)


def test_lost_packets_take_their_time_on_the_line():
    link = LinkQueue(bandwidth_bps=8000.0, loss_ratio=1.0)
    driven(link, [0.0, 0.0], [10, 10])
    assert link.log.events().departure_s == pytest.approx([0.01, 0.02])


def test_losses_in_runs_have_their_mean_length_and_share():
    link = LinkQueue(bandwidth_bps=1e9, loss_ratio=0.05, loss_burst_packets=8.0, seed=4)
    driven(link, np.arange(200_000) * 1e-5, [100] * 200_000)
    lost = link.log.events().fate == FATES.index("lost")
    runs = np.diff(np.concatenate(([0], lost.astype(int), [0])))
    lengths = np.flatnonzero(runs == -1) - np.flatnonzero(runs == 1)
    # derived: geometric runs, mean 8, about 1250 of them: 5 standard errors of the mean
    assert lengths.mean() == pytest.approx(8.0, abs=5 * 7.5 / math.sqrt(lengths.size))
    assert lost.mean() == pytest.approx(0.05, abs=0.01)


def test_a_damaged_packet_differs_in_one_bit_behind_the_ip_header():
    link = LinkQueue(bandwidth_bps=1e9, corrupt_ratio=1.0, seed=5)
    for _ in range(200):
        link.push(bytes(60), 0.0)
    for packet in link.pop_ready(1.0):
        assert len(packet) == 60
        assert packet[:20] == bytes(20)
        assert int.from_bytes(packet, "big").bit_count() == 1
    assert link.counters["corrupted"] == 200


def test_the_same_seed_gives_the_same_log_and_another_one_another():
    def log_hash(seed):
        options = {"loss_ratio": 0.1, "duplicate_ratio": 0.1, "reorder_ratio": 0.1}
        link = LinkQueue(bandwidth_bps=T1, reorder_s=0.01, seed=seed, **options)
        driven(link, *poisson(500, 150, seed=6))
        return link.log.events().sha256()

    assert log_hash(7) == log_hash(7) != log_hash(8)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bandwidth_bps", 0.0), ("bandwidth_bps", -1.0), ("bandwidth_bps", math.nan),
        ("latency_s", -1e-3), ("latency_s", math.inf), ("processing_s", math.nan),
        ("buffer_bytes", 0), ("buffer_packets", -1), ("loss_ratio", 1.5), ("loss_ratio", -0.1),
        ("duplicate_ratio", 3), ("reorder_ratio", 0.1), ("corrupt_ratio", math.nan),
        ("loss_burst_packets", 0.5),
    ],
)  # fmt: skip
def test_impossible_numbers_are_refused_by_name(name, value):
    with pytest.raises(DomainError) as caught:
        LinkQueue(**{"bandwidth_bps": 1e6, name: value})
    assert caught.value.name in (name, "reorder_s")


def test_a_loss_in_percent_is_recognised():
    with pytest.raises(DomainError, match=r"For 3 % write 0\.03"):
        LinkQueue(bandwidth_bps=1e6, loss_ratio=3)


def test_a_log_that_was_not_asked_for_is_refused():
    with pytest.raises(DomainError, match="log"):
        _ = LinkQueue(bandwidth_bps=1e6, log=False).log


def test_rows_beyond_the_limit_of_a_log_are_counted(monkeypatch):
    monkeypatch.setattr("netcalc.emulation.queue.MAX_LOGGED", 10)
    link = LinkQueue(bandwidth_bps=1e6)
    driven(link, np.arange(25), [100] * 25)
    assert len(link.log.events()) == 10
    assert link.log.unlogged_count == 15
