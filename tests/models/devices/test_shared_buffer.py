"""Shared buffers and incast: stepped through in small pieces of time."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.models.queues import backlog, shared_buffer


@pytest.mark.each("alpha", [0.0625, 0.5, 1.0, 8.0])
@pytest.mark.each("queues", [1, 3, 10])
def test_queues_settle_where_each_is_at_its_threshold(alpha, queues):
    """Second method: queues that grow by one step while they are below their threshold."""
    length = 0.0
    while length < alpha * (1.0 - queues * length):
        length += 1e-5
    found = shared_buffer.shared_queue_bytes(1.0, alpha=alpha, queue_count=queues)
    assert found == pytest.approx(length, abs=2e-5)
    free = shared_buffer.free_buffer_bytes(1.0, alpha=alpha, queue_count=queues)
    assert free == pytest.approx(1.0 - queues * length, abs=queues * 2e-5)


def burst_of_steps(alpha, queues, input_rate, step=2e-6):
    """Second method: a queue that grows, and others that take nothing above their threshold."""
    others = alpha / (1 + alpha * queues) if queues else 0.0
    grown = sent = 0.0
    while True:
        threshold = alpha * (1.0 - grown - queues * others)
        if grown >= threshold:
            return sent
        others = max(others - step, min(others, threshold)) if queues else 0.0
        grown, sent = grown + (input_rate - 1) * step, sent + input_rate * step


@pytest.mark.each("alpha", [0.25, 1.0, 4.0])
@pytest.mark.each("queues", [0, 1, 4])
@pytest.mark.each("input_rate", [1.5, 4.0, 20.0])
def test_burst_step_by_step(alpha, queues, input_rate):
    found = shared_buffer.shared_buffer_burst_bytes(
        1.0, input_bps=input_rate, output_bps=1.0, alpha=alpha, queue_count=queues
    )
    assert found == pytest.approx(burst_of_steps(alpha, queues, input_rate), rel=3e-3)


def test_a_port_as_fast_as_its_input_takes_all():
    for burst in (shared_buffer.shared_buffer_burst_bytes, shared_buffer.absorbed_burst_bytes):
        assert burst(1e6, input_bps=1e9, output_bps=1e9) == np.inf
        assert burst(1e6, input_bps=0, output_bps=1e9) == np.inf


def test_a_buffer_alone_is_the_time_in_which_it_fills():
    """Derived: the same from the fluid of another formula."""
    fill = backlog.fluid_fill_s(1e6, input_bps=40e9, output_bps=10e9)
    found = shared_buffer.absorbed_burst_bytes(1e6, input_bps=40e9, output_bps=10e9)
    assert found == pytest.approx(float(fill) * 40e9 / 8, rel=1e-12)
    shared = shared_buffer.shared_buffer_burst_bytes(
        1e6, input_bps=40e9, output_bps=10e9, alpha=1e12
    )
    assert shared == pytest.approx(float(found), rel=1e-9), "all of the buffer is for one queue"


@pytest.mark.each(("senders", "speed"), [(1, 1.0), (2, 1.0), (40, 1.0), (8, 0.25), (3, 0.25)])
def test_incast_packet_by_packet(senders, speed):
    """Second method: packets of 1000 bytes of all senders in order, served one by one."""
    rate = 1e9
    arrivals = sorted(
        (packet + 1) * 8000 / (speed * rate) for packet in range(100) for _ in range(senders)
    )
    free = most = 0.0
    for arrival in arrivals:
        free = max(free, arrival) + 8000 / rate
        most = max(most, (free - arrival) * rate / 8)
    found = shared_buffer.incast_backlog_bytes(
        senders, burst_bytes=1e5, sender_bps=speed * rate, bandwidth_bps=rate
    )
    # The fluid has sent a part of the first packets before they are whole, the packets have not.
    assert found == pytest.approx(most, abs=1000 * max(1 / speed, senders) + 1e-6)
    assert found <= most


def test_senders_are_the_most_that_fit():
    """Derived: one more overflows the buffer."""
    port = {"burst_bytes": 15_000, "sender_bps": 1e10, "bandwidth_bps": 4e10}
    for buffer in (0.0, 1e5, 150_000.0, 1e6):
        count = float(shared_buffer.incast_sender_count(buffer, **port))
        assert shared_buffer.incast_backlog_bytes(count, **port) <= buffer
        assert shared_buffer.incast_backlog_bytes(count + 1, **port) > buffer
    nothing = {**port, "burst_bytes": 0}
    assert (shared_buffer.incast_sender_count([0, 1e6], **nothing) == np.inf).all()


def test_goodput_of_blocks_one_after_the_other():
    """Derived: a hundred blocks, some of which wait; published: below 1/10 with 200 ms timers."""
    time = sum(8e6 / 1e9 + (0.2 if block % 4 == 0 else 0.0) for block in range(100))
    found = shared_buffer.incast_goodput_bps(1e6, bandwidth_bps=1e9, timeout_ratio=0.25)
    assert found == pytest.approx(100 * 8e6 / time, rel=1e-12)
    assert shared_buffer.incast_goodput_bps(1e6, bandwidth_bps=1e9) < 0.1e9
    assert shared_buffer.incast_goodput_bps(
        1e6, bandwidth_bps=1e9, timeout_ratio=0
    ) == pytest.approx(1e9)
