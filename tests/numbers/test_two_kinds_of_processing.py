"""Processing of one packet at a time, and processing that only delays, told apart."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from netcalc.errors import DomainError, doubts
from netcalc.models.delays.store_and_forward import pipeline_timeline, store_and_forward_s
from netcalc.path import Path

SMALL = {"bandwidth_bps": [1e9] * 5, "latency_s": 10e-6, "processing_s": 20e-6}


def by_events(sizes, rates, latencies, nodes, *, serial):
    """Send packets through nodes and links, event by event: when each is through the last node."""
    free_node, free_link = [0.0] * len(nodes), [0.0] * len(rates)
    events = [(0.0, number, 0) for number in range(len(sizes))]
    done = [0.0] * len(sizes)
    heapq.heapify(events)
    while events:
        now, number, node = heapq.heappop(events)
        begin = max(now, free_node[node]) if serial else now
        free_node[node] = ready = begin + nodes[node]
        if node == len(rates):
            done[number] = ready
            continue
        begin = max(ready, free_link[node])
        free_link[node] = begin + 8 * sizes[number] / rates[node]
        heapq.heappush(events, (free_link[node] + latencies[node], number, node + 1))
    return done


@pytest.mark.each(("kind", "expected_s"), [("serial", 2.113e-3), ("delay", 0.183e-3)])
def test_five_links_and_a_hundred_small_packets(kind, expected_s):
    with doubts() as found:
        time_s = store_and_forward_s(64, **SMALL, packet_count=100, processing_kind=kind)
    # derived: 5 x 0.512 us + 5 x 10 us + 4 x 20 us, then 99 times 20 us or 0.512 us
    assert time_s == pytest.approx(expected_s, abs=0.5e-6)
    assert [doubt.code for doubt in found] == [f"processing-{kind}"]
    events = by_events(
        [64] * 100, [1e9] * 5, [10e-6] * 5, [0, *[20e-6] * 4, 0], serial=kind == "serial"
    )
    assert time_s == pytest.approx(max(events))  # derived: event by event


@pytest.mark.each("kind", ["serial", "delay"])
def test_unequal_packets_event_by_event(kind):
    rng = np.random.default_rng(7)
    sizes = rng.integers(64, 1519, 40).tolist()
    rates, latencies = [1e8, 1e9, 2e8], [1e-4, 2e-4, 3e-4]
    between, ends = [5e-5, 9e-5], [1e-5, 6e-5]
    with doubts() as found:
        line = pipeline_timeline(
            sizes, bandwidth_bps=rates, latency_s=latencies, processing_s=between,
            source_processing_s=ends[0], destination_processing_s=ends[1], processing_kind=kind,
        )  # fmt: skip
    nodes = [ends[0], *between, ends[1]]
    expected = by_events(sizes, rates, latencies, nodes, serial=kind == "serial")
    assert line.done_s == pytest.approx(expected)  # derived: event by event
    assert [doubt.code for doubt in found] == [f"processing-{kind}"]


def test_nothing_is_said_where_both_are_the_same():
    with doubts() as found:
        one = store_and_forward_s(64, **SMALL)
        assert store_and_forward_s(64, **SMALL, processing_kind="delay") == one  # identity
        store_and_forward_s(9000, **SMALL, packet_count=100)  # 72 us on a link
    assert found == []


def test_a_path_says_it_in_its_documentation():
    with doubts() as found:
        path = Path.parse("2 x 1 Gbit/s 10 us", processing_s=20e-6)
        path.one_way_s(64, packet_count=9)
    assert found == []


def test_another_word_is_refused():
    with pytest.raises(DomainError) as error:
        store_and_forward_s(64, **SMALL, processing_kind="parallel")
    assert error.value.code == "not-a-choice"
