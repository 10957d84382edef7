"""The parts of a link, each by itself and nested: against sums, draws and distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netcalc.emulation import Delay, Faults, Line, LinkQueue, Loss, Node
from netcalc.emulation.queue import MARK_DAMAGED, MARK_HELD_BACK, MARK_LOST
from netcalc.errors import DomainError


class Sink:
    """Keeps what a part pushes: packet, time, bytes, marks."""

    def __init__(self):
        self.pushed = []

    def push(self, packet, now_s, packet_bytes=None, marks=0):
        self.pushed.append((packet, now_s, packet_bytes, marks))

    def take(self, now_s):
        return []

    def next_event_s(self):
        return None


def test_parts_nest_and_their_times_add_up():
    link = Node(0.001, then=Line(8e6, then=Delay(0.005)))
    for number in range(3):
        link.push(number, 0.0, 1000)
    # derived: processed at 1, 2, 3 ms; each then takes 1 ms on the line and 5 ms behind it
    assert link.next_event_s() == pytest.approx(0.007)
    assert link.take(1.0) == [(pytest.approx(t), n) for n, t in enumerate((0.007, 0.008, 0.009))]


def test_ten_nested_delays_add_up():
    """identity, as in mahimahi's acceptance test: the round trip is the sum of all delays."""
    queue = Delay(0.0)
    for _ in range(10):
        queue = Line(math.inf, then=queue)
    lines = [Delay(0.01) for _ in range(10)]
    now_s = 0.0
    for delay in lines:
        delay.push(b"packet", now_s)
        [(now_s, packet)] = delay.take(1.0)
    queue.push(packet, now_s)
    assert queue.take(1.0) == [(pytest.approx(0.1), b"packet")]


@pytest.mark.each("part", [Delay(), Line(math.inf), Node(0.0), Loss(0.0), Faults()])
def test_each_part_is_a_queue_by_itself(part):
    """The same four verbs; the length of a packet is its size where none is given."""
    assert part.next_event_s() is None
    part.push(b"packet", 1.0)
    assert part.next_event_s() == 1.0
    assert part.pop_ready(0.999) == []
    assert part.pop_ready(1.0) == [b"packet"]


def test_a_held_back_packet_is_passed_by_others():
    delay = Delay(0.001, reorder_s=0.01)
    delay.push("held back", 0.0, marks=MARK_HELD_BACK)
    delay.push("next", 0.002)
    delay.push("lost", 0.002, marks=MARK_LOST)
    delay.push("damaged", 0.003, marks=MARK_DAMAGED)
    found = delay.take(1.0)
    assert [packet for _, packet in found] == ["next", "damaged", "held back"]
    assert [when for when, _ in found] == pytest.approx([0.003, 0.004, 0.011])
    assert (delay.lost_count, delay.reordered_count, delay.corrupted_count) == (1, 1, 1)


@pytest.mark.each(
    ("loss_ratio", "burst_packets", "packets"),
    [(0.3, 8.0, 200_000), (0.05, 2.0, 200_000), (0.5, 1.0, 20_000), (0.3, 12.0, 400_000)],
)
def test_loss_bursts_have_their_mean_length_and_share(loss_ratio, burst_packets, packets):
    """derived: geometric bursts of mean b and standard deviation sqrt(b (b - 1)), 5 errors of it.

    So many packets that the mean is known to 7 % or better: bursts 10 % short are noticed.
    """
    sink = Sink()
    loss = Loss(loss_ratio, loss_burst_packets=burst_packets, seed=11, then=sink)
    for number in range(packets):
        loss.push(number, 0.0, 1)
    lost = np.array([marks for *_, marks in sink.pushed]) == MARK_LOST
    edges = np.diff(np.concatenate(([0], lost.astype(int), [0])))
    lengths = np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
    deviation = math.sqrt(burst_packets * (burst_packets - 1))
    allowed = 5 * deviation / math.sqrt(lengths.size)
    assert allowed < 0.07 * burst_packets
    assert lengths.mean() == pytest.approx(burst_packets, abs=allowed + 1e-9)
    # derived: the share is b / (b + gap); with the mean gap b (1 - p) / p it is p
    assert lost.mean() == pytest.approx(loss_ratio, rel=0.1)
    # derived: geometric, so that a burst is as likely to go on at its 2nd packet as at its 5th
    expected = 1 - 1 / burst_packets
    for length in (1, 4) if expected else (1,):
        reached = (lengths >= length).sum()
        goes_on = (lengths > length).sum() / reached
        error = 5 * math.sqrt(expected * (1 - expected) / reached)
        assert goes_on == pytest.approx(expected, abs=error + 1e-9)


def test_independent_losses_are_independent():
    """derived: binomial shares of one loss and of two in a row, 5 standard errors."""
    sink = Sink()
    loss = Loss(0.1, seed=2, then=sink)
    for number in range(100_000):
        loss.push(number, 0.0, 1)
    lost = np.array([marks for *_, marks in sink.pushed]) == MARK_LOST
    assert lost.mean() == pytest.approx(0.1, abs=5 * math.sqrt(0.09 / 1e5))
    assert (lost[1:] & lost[:-1]).mean() == pytest.approx(0.01, abs=5 * math.sqrt(0.0099 / 5e4))


def test_every_fault_is_counted_where_it_is_seen():
    """identity: what arrives, compared with what was sent, packet by packet."""
    link = LinkQueue(
        bandwidth_bps=1e9, duplicate_ratio=0.2, corrupt_ratio=0.3, reorder_ratio=0.1,
        reorder_s=1e-3, loss_ratio=0.15, seed=9,
    )  # fmt: skip
    count = 4000
    for number in range(count):
        link.push(number.to_bytes(4, "big") * 15, number * 1e-4)
    out = link.pop_ready(10.0)
    sent = {number.to_bytes(4, "big") * 15 for number in range(count)}
    damaged = sum(packet not in sent for packet in out)
    found = link.counters
    assert found["corrupted"] == damaged
    assert found["delivered"] == len(out)
    assert found["duplicated"] == found["delivered"] + found["lost"] - count
    # derived: binomial, 5 standard deviations; damage counts packets and copies that arrive
    for name, share, of in (
        ("duplicated", 0.2, count), ("lost", 0.15, 1.2 * count), ("reordered", 0.085, count),
        ("corrupted", 0.3, 1.2 * 0.85 * count),
    ):  # fmt: skip
        spread = 5 * math.sqrt(1.5 * of * share * (1 - share))
        assert found[name] == pytest.approx(of * share, abs=spread), name


def test_a_copy_is_sent_once_and_damaged_alike():
    sink = Sink()
    faults = Faults(duplicate_ratio=1.0, corrupt_ratio=1.0, reorder_ratio=1.0, then=sink)
    faults.push(bytes(60), 1.0)
    (first, *_, marks), (copy, *_, copy_marks) = sink.pushed
    assert first == copy != bytes(60)
    assert marks == MARK_DAMAGED | MARK_HELD_BACK
    assert copy_marks == MARK_DAMAGED, "the copy is not held back"
    assert faults.duplicated_count == 1


@pytest.mark.each(
    ("make", "code", "name"),
    [
        (lambda: Delay(-1.0), "is-negative", "latency_s"),
        (lambda: Delay(0.0, reorder_s=math.nan), "not-finite", "reorder_s"),
        (lambda: Line(0.0), "not-positive", "bandwidth_bps"),
        (lambda: Line(1e6, buffer_bytes=0), "below-minimum", "buffer_bytes"),
        (lambda: Node(math.inf), "not-finite", "processing_s"),
        (lambda: Loss(-0.1), "out-of-range", "loss_ratio"),
        (lambda: Loss(5), "percent-for-ratio", "loss_ratio"),
        (lambda: Loss(0.9, loss_burst_packets=2.0), "below-minimum", "loss_burst_packets"),
        (lambda: Loss(0.1, loss_burst_packets=math.inf), "not-finite", "loss_burst_packets"),
        (lambda: Faults(corrupt_ratio=math.nan), "out-of-range", "corrupt_ratio"),
        (lambda: LinkQueue(bandwidth_bps=1e6, reorder_ratio=0.1), "not-positive", "reorder_s"),
    ],
)
def test_impossible_parts_are_refused(make, code, name):
    with pytest.raises(DomainError) as caught:
        make()
    assert (caught.value.code, caught.value.name) == (code, name)


def test_the_share_that_bursts_can_reach_is_said():
    """derived: a burst of 2 packets and a gap of 1 lose 2/3; for 0.9 they must be 9 long."""
    with pytest.raises(DomainError) as caught:
        Loss(0.9, loss_burst_packets=8.9)
    assert caught.value.values["low"] == pytest.approx(9.0)
    Loss(0.9, loss_burst_packets=9.0001)
