"""Packets that enter at nodes: against a simulation of its own, one event after the other."""

from __future__ import annotations

import heapq
import itertools
import random

import pytest

from netcalc.emulation.chain import Chain, JoinedChain
from netcalc.emulation.queue import LinkQueue


def simulated(links, packets):
    """Derived: an event for each arrival at a node, in order of time; a line clocks one at a time.

    ``packets`` are (time, first link, bytes, node where it ends or None); return when each is
    through, or ends.
    """
    numbers = itertools.count(len(packets))
    events = [(when, number, place, number) for number, (when, place, _, _) in enumerate(packets)]
    heapq.heapify(events)
    node_free, line_free = [0.0] * len(links), [0.0] * len(links)
    found = {}
    while events:
        when, _, place, number = heapq.heappop(events)
        _, first, size, ends_at = packets[number]
        if place == len(links) or (place == ends_at and place > first):
            found[number] = when
            continue
        link = links[place]
        node_free[place] = max(node_free[place], when) + link["processing_s"]
        starts = max(line_free[place], node_free[place])
        line_free[place] = starts + 8 * size / link["bandwidth_bps"]
        arrives = line_free[place] + link["latency_s"]
        heapq.heappush(events, (arrives, next(numbers), place + 1, number))
    return found


def carried(chain, packets):
    """Push packets at their times and take what is through as soon as the chain says so."""
    found, looks = {}, 0

    def look(until):
        nonlocal looks
        while (due := chain.next_event_s()) is not None and due <= until:
            looks += 1
            assert looks < 50 * len(packets)
            found.update((number, when) for when, number in chain.take(due))
            found.update((number, when) for when, _, number in chain.take_expired(due))

    for number, (when, first, size, ends_at) in enumerate(packets):
        look(when)
        chain.push(number, when, size, first=first, ends_at=ends_at)
    look(1e9)
    return found, looks


def made(seed, *, hops=6, count=400, probes=0.3):
    draw = random.Random(seed)
    links = [
        {
            "bandwidth_bps": draw.choice([64e3, 256e3, 1e6, 1e9]),
            "latency_s": draw.choice([0.0, 0.003, 0.05]),
            "processing_s": draw.choice([0.0, 0.0, 0.001]),
        }
        for _ in range(hops)
    ]
    when, packets = 0.0, []
    for _ in range(count):
        when += draw.expovariate(40.0)
        first = draw.randrange(hops) if draw.random() < probes else 0
        ends_at = draw.randrange(first + 1, hops + 1) if draw.random() < probes else None
        packets.append(
            (when, first, draw.randrange(40, 1500), None if ends_at == hops else ends_at)
        )
    return links, packets


@pytest.mark.each("seed", range(12))
def test_packets_from_nodes_take_their_turn(seed):
    links, packets = made(seed)
    found, _ = carried(JoinedChain(links), packets)
    assert found == pytest.approx(simulated(links, packets), rel=1e-12)


def test_an_answer_does_not_wait_for_a_packet_that_comes_there_later():
    """A chain that computes a packet through all links at once would let it."""
    links = [{"bandwidth_bps": 1e6, "latency_s": 0.05}, {"bandwidth_bps": 1e6, "latency_s": 0.0}]
    chain = JoinedChain(links)
    chain.push("long ago", 0.0, 1000)
    chain.push("answer", 0.01, 100, first=1)
    # derived: 100 bytes at 1 Mbit/s; 8 ms, 50 ms and 8 ms of the other
    assert chain.take(1.0) == [
        (pytest.approx(0.0108), "answer"),
        (pytest.approx(0.066), "long ago"),
    ]


def test_a_packet_expires_at_its_node_and_goes_no_further():
    line = JoinedChain([{"bandwidth_bps": 8e6, "latency_s": late} for late in (1e-3, 2e-3, 4e-3)])
    line.push(bytes(1000), 0.0, ends_at=2)
    # derived: two serializations of 1 ms, latencies of 1 and 2 ms
    assert line.take(0.0049) == line.take_expired(0.0049) == []
    assert line.take(0.0051) == []
    [(when, node, packet)] = line.take_expired(0.0051)
    assert (when, node, packet) == (pytest.approx(0.005), 2, bytes(1000))
    assert line.next_event_s() is None
    assert line.counters[2]["arrived"] == 0


def test_a_packet_may_enter_in_the_middle():
    line = JoinedChain([{"bandwidth_bps": 8e6, "latency_s": late} for late in (1e-3, 2e-3)])
    line.push(bytes(1000), 1.0, first=1)
    assert line.next_event_s() == pytest.approx(1.003)


def test_it_wakes_its_driver_about_once_a_packet():
    """Alone, a packet is looked at when it is through and not at each of 12 nodes."""
    links, packets = made(3, hops=12, probes=0.0)
    found, looks = carried(JoinedChain(links), packets)
    assert len(found) == len(packets)
    assert looks <= 2 * len(packets)


@pytest.mark.each("seed", range(4))
def test_without_packets_of_nodes_it_is_the_same_chain(seed):
    """identity: loss, copies, packets held back and full buffers, drawn from the same seeds."""
    links, packets = made(seed, probes=0.0)
    for place, link in enumerate(links):
        link.update(
            loss_ratio=0.05, duplicate_ratio=0.05, reorder_ratio=0.1, reorder_s=0.02,
            buffer_bytes=20_000, overhead_bytes=38, seed=place,
        )  # fmt: skip
    chains = JoinedChain(links), Chain([LinkQueue(**link) for link in links])
    taken = []
    for chain in chains:
        taken.append([])
        for number, (when, _, size, _) in enumerate(packets):
            while (due := chain.next_event_s()) is not None and due <= when:
                taken[-1] += chain.take(due)
            chain.push(number, when, size)
        while (due := chain.next_event_s()) is not None:
            taken[-1] += chain.take(due)
    assert taken[0] == taken[1]
    assert chains[0].counters == chains[1].counters
    assert len(taken[0]) > 100


def test_probes_that_are_lost_on_their_way_do_not_keep_it_awake():
    links = [
        {"bandwidth_bps": 1e6, "loss_ratio": 1.0},
        {"bandwidth_bps": 1e6},
        {"bandwidth_bps": 1e6},
    ]
    chain = JoinedChain(links)
    chain.push("probe", 0.0, 100, ends_at=2)
    assert chain.next_event_s() is None
    assert chain._ending_count == 0


def test_a_time_before_that_of_the_last_packet_counts_as_that():
    chain = JoinedChain([{"bandwidth_bps": 1e6}, {"bandwidth_bps": 1e6}])
    chain.push("one", 1.0, 125)
    chain.push("two", 0.5, 125)
    # derived: 1 ms on each of two lines, one behind the other
    assert [when for when, _ in chain.take(2.0)] == pytest.approx([1.002, 1.003])
