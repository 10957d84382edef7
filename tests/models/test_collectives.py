"""Collectives: messages between ranks one by one, and numbers that tools print."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from netcalc.models.collectives import all_reduce, broadcast, bus_bandwidth

LATENCY, RATE = 3e-6, 2e10
ALPHA_BETA = {"latency_s": LATENCY, "bandwidth_bps": RATE}
SIZE = 840_840.0
"""It divides by every number of ranks up to 15."""


def exchange(clock, data, messages, *, add):
    """Ranks send and receive at once: each message waits for both of its ends."""
    new_clock, new_data = list(clock), [dict(parts) for parts in data]
    for source, target, parts in messages:
        size = sum(part_bytes for part, part_bytes in parts)
        done = max(clock[source], clock[target]) + LATENCY + 8 * size / RATE
        new_clock[source] = max(new_clock[source], done)
        new_clock[target] = max(new_clock[target], done)
        for part, _ in parts:
            value = data[source][part]
            new_data[target][part] = data[target].get(part, 0) + value if add else value
    return new_clock, new_data


def ring(clock, data, *, add, first):
    """One way around the ring: p - 1 steps of one part each."""
    ranks = len(clock)
    for step in range(ranks - 1):
        messages = [
            (rank, (rank + 1) % ranks, [((rank + first - step) % ranks, SIZE / ranks)])
            for rank in range(ranks)
        ]
        clock, data = exchange(clock, data, messages, add=add)
    return clock, data


@pytest.mark.each("ranks", [2, 3, 5, 8, 13])
def test_ring_message_by_message(ranks):
    """Second method: parts of numbers go round until every rank has every sum."""
    values = np.arange(ranks * ranks).reshape(ranks, ranks)
    data = [dict(enumerate(row.tolist())) for row in values]
    clock, data = ring([0.0] * ranks, data, add=True, first=0)
    half = broadcast.ring_allgather_s(SIZE, rank_count=ranks, **ALPHA_BETA)
    assert max(clock) == pytest.approx(half, rel=1e-12)
    clock, data = ring(clock, data, add=False, first=1)
    total = dict(enumerate(values.sum(axis=0).tolist()))
    assert all(parts == total for parts in data)
    found = all_reduce.ring_allreduce_s(SIZE, rank_count=ranks, **ALPHA_BETA)
    assert max(clock) == pytest.approx(found, rel=1e-12)


def doubling(ranks, *, halved):
    """Recursive doubling with whole vectors, or halving and doubling of parts."""
    power = 1
    while 2 * power <= ranks:
        power *= 2
    whole = [(part, SIZE / power) for part in range(power)]
    clock, data = [0.0] * ranks, [{part: rank for part, _ in whole} for rank in range(ranks)]
    spare = range(power, ranks)
    clock, data = exchange(clock, data, [(rank, rank - power, whole) for rank in spare], add=True)
    kept = [list(range(power)) for _ in range(power)]
    distances, distance = [], power // 2
    while distance:
        distances.append(distance)
        distance //= 2
    for distance in distances:
        messages = []
        for rank in range(power):
            mate = rank ^ distance
            parts = kept[rank]
            if halved:
                middle = len(parts) // 2
                sent = parts[middle:] if rank < mate else parts[:middle]
            else:
                sent = parts
            messages.append((rank, mate, [(part, SIZE / power) for part in sent]))
        clock, data = exchange(clock, data, messages, add=True)
        if halved:
            kept = [
                parts[: len(parts) // 2] if rank < rank ^ distance else parts[len(parts) // 2 :]
                for rank, parts in enumerate(kept)
            ]
    for distance in reversed(distances) if halved else ():
        messages = [
            (rank, rank ^ distance, [(part, SIZE / power) for part in kept[rank]])
            for rank in range(power)
        ]
        clock, data = exchange(clock, data, messages, add=False)
        kept = [kept[rank] + kept[rank ^ distance] for rank in range(power)]
    clock, data = exchange(clock, data, [(rank - power, rank, whole) for rank in spare], add=False)
    assert all(parts == dict.fromkeys(range(power), sum(range(ranks))) for parts in data)
    return max(clock)


@pytest.mark.each("ranks", [1, 2, 3, 4, 6, 8, 13])
def test_doubling_message_by_message(ranks):
    """Second method: whole vectors, or halves of halves, until every rank has the sum."""
    found = all_reduce.recursive_doubling_allreduce_s(SIZE, rank_count=ranks, **ALPHA_BETA)
    assert doubling(ranks, halved=False) == pytest.approx(found, rel=1e-12)
    found = all_reduce.rabenseifner_allreduce_s(SIZE, rank_count=ranks, **ALPHA_BETA)
    assert doubling(ranks, halved=True) == pytest.approx(found, rel=1e-12)


@pytest.mark.each("ranks", [1, 2, 3, 4, 5, 16, 17, 100])
def test_broadcast_rank_by_rank(ranks):
    """Second method: who has the data sends it on, until all have it; a chain piece by piece."""
    reached, steps = 1, 0
    while reached < ranks:
        reached, steps = min(2 * reached, ranks), steps + 1
    found = broadcast.binomial_broadcast_s(SIZE, rank_count=ranks, **ALPHA_BETA)
    assert found == pytest.approx(steps * (LATENCY + 8 * SIZE / RATE), rel=1e-12)
    chunk, pieces = SIZE / 7, 7
    arrived = np.zeros((ranks, pieces))
    for rank in range(1, ranks):
        for piece in range(pieces):
            ready = max(arrived[rank - 1, piece], arrived[rank, piece - 1] if piece else 0.0)
            arrived[rank, piece] = ready + LATENCY + 8 * chunk / RATE
    found = broadcast.pipelined_broadcast_s(SIZE, rank_count=ranks, chunk_bytes=chunk, **ALPHA_BETA)
    assert arrived.max() == pytest.approx(found, rel=1e-9)


def test_gather_and_scatter_phases():
    """Derived: doubling of what each rank has; published: costs of Thakur et al., by hand."""
    has, time = SIZE / 8, 0.0
    while has < SIZE:
        time, has = time + LATENCY + 8 * has / RATE, 2 * has
    found = broadcast.recursive_doubling_allgather_s(SIZE, rank_count=8, **ALPHA_BETA)
    assert found == pytest.approx(time, rel=1e-12)
    # (lg p + p - 1) alpha + 2 (p - 1) / p n beta: 10 x 3 µs + 2 x 7/8 x 336.336 µs
    found = broadcast.scatter_allgather_broadcast_s(SIZE, rank_count=8, **ALPHA_BETA)
    assert found == pytest.approx(30e-6 + 1.75 * 336.336e-6, rel=1e-12)


def test_trees_and_where_the_ring_overtakes_them():
    """By hand: 2 x 3 latencies and the vector twice; identity: equal times at the crossover."""
    found = all_reduce.double_tree_allreduce_s(SIZE, rank_count=[1, 8], **ALPHA_BETA)
    assert found == pytest.approx([0.0, 6 * LATENCY + 16 * SIZE / RATE], rel=1e-12)
    ranks = np.array([4, 8, 9, 100])
    size = all_reduce.ring_tree_crossover_bytes(ranks, **ALPHA_BETA)
    by_ring = all_reduce.ring_allreduce_s(size, rank_count=ranks, **ALPHA_BETA)
    by_tree = all_reduce.double_tree_allreduce_s(size, rank_count=ranks, **ALPHA_BETA)
    assert by_ring == pytest.approx(by_tree, rel=1e-12)
    assert (all_reduce.ring_tree_crossover_bytes([1, 2, 3], **ALPHA_BETA) == 0.0).all()


def test_hierarchy_of_one_level_is_a_ring():
    """Identity: a single node, or nodes of a single rank, are one ring; both phases add up."""
    one = {"latency_s": 1e-5, "bandwidth_bps": 4e11}
    other = {"node_latency_s": 2e-6, "node_bandwidth_bps": 3.6e12}
    found = all_reduce.hierarchical_allreduce_s(
        1e6, node_count=[1, 8, 4], node_rank_count=[8, 1, 8], **one, **other
    )
    within = all_reduce.ring_allreduce_s(1e6, rank_count=8, latency_s=2e-6, bandwidth_bps=3.6e12)
    between = all_reduce.ring_allreduce_s(1e6, rank_count=8, **one)
    part = all_reduce.ring_allreduce_s(1.25e5, rank_count=4, **one)
    assert found == pytest.approx([within, between, within + part], rel=1e-12)


@pytest.mark.each(
    ("operation", "ranks", "size", "time_us", "busbw"),
    [
        # lines of all_reduce_perf and all_gather_perf, as users published them; both numbers of a
        # line are rounded
        ("all-reduce", 16, 10_737_418_240, 111_812, 180.06),
        ("all-reduce", 8, 1_073_741_824, 13_867, 135.50),
        ("all-reduce", 2, 2_147_483_648, 756_857, 2.84),
        ("all-gather", 16, 8_589_934_592, 42_637, 188.88),
        ("broadcast", 8, 1_000_000, 100, 10.0),
        ("reduce", 8, 1_000_000, 100, 10.0),
        ("reduce-scatter", 8, 1_000_000, 100, 8.75),
        ("all-to-all", 4, 1_000_000, 100, 7.5),
    ],
)
def test_bus_bandwidth_as_nccl_tests_print_it(operation, ranks, size, time_us, busbw):
    """Published: outputs; the last four by hand from the factors of doc/PERFORMANCE.md."""
    found = bus_bandwidth.bus_bandwidth_bps(
        size, duration_s=time_us * 1e-6, rank_count=ranks, operation=operation
    )
    assert found / 8e9 == pytest.approx(busbw, abs=0.01)
    least = bus_bandwidth.least_collective_s(
        size, rank_count=ranks, bandwidth_bps=found, operation=operation
    )
    assert least == pytest.approx(time_us * 1e-6, rel=1e-12)


def test_half_of_the_rate():
    """Identity: at that size a ring's bus bandwidth is half the line's, at nine times it 90 %."""
    size = bus_bandwidth.ring_half_rate_bytes(8, **ALPHA_BETA) * np.array([1.0, 9.0])
    time = all_reduce.ring_allreduce_s(size, rank_count=8, **ALPHA_BETA)
    found = bus_bandwidth.bus_bandwidth_bps(size, duration_s=time, rank_count=8)
    assert found / RATE == pytest.approx([0.5, 0.9], rel=1e-12)


def test_a_collective_sends_no_less_than_the_least():
    """Identity: no all-reduce is faster than its data at full rate; a ring comes close to it."""
    for ranks, more in pairwise([2, 8, 64, 512]):
        least = bus_bandwidth.least_collective_s(1e12, rank_count=ranks, bandwidth_bps=RATE)
        times = [
            function(1e12, rank_count=ranks, **ALPHA_BETA)
            for function in (
                all_reduce.ring_allreduce_s,
                all_reduce.double_tree_allreduce_s,
                all_reduce.recursive_doubling_allreduce_s,
                all_reduce.rabenseifner_allreduce_s,
            )
        ]
        assert min(times) >= least
        assert times[0] == pytest.approx(least, rel=1e-4)
        assert times[0] < all_reduce.ring_allreduce_s(1e12, rank_count=more, **ALPHA_BETA)


def test_loggp_cycle_by_cycle():
    """By hand, Alexandrov et al. section 2: o + (k - 1) G + L + o, and a second message g later."""
    model = {"latency_s": 5e-6, "overhead_s": 2e-6, "bandwidth_bps": 8e6}  # G is 1 µs
    found = broadcast.loggp_message_s([0, 1, 11], **model)
    assert found == pytest.approx([9e-6, 9e-6, 19e-6], rel=1e-12)
    found = broadcast.loggp_message_s(11, message_gap_s=[0.0, 7e-6], message_count=2, **model)
    assert found == pytest.approx([31e-6, 36e-6], rel=1e-12)
