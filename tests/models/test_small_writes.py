"""Small writes: the closed forms against the event model, the article's runs, both rules."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.hosts import small_writes
from netcalc.models.hosts.small_writes import write_timeline


@pytest.mark.each(
    ("size", "unacked", "nodelay", "expected", "source"),
    [
        (1460, 5000, False, True, "published: RFC 896, a full segment"),
        (1459, 1460, False, False, "published: RFC 896, small with data in flight"),
        (100, 0, False, True, "published: RFC 896, idle"),
        (100, 1, True, True, "published: RFC 1122 4.2.3.4, TCP_NODELAY"),
        (0, 0, True, False, "identity: nothing to send"),
    ],
)
def test_nagle(size, unacked, nodelay, expected, source):
    may = small_writes.nagle_may_send(size, mss_bytes=1460, unacked_bytes=unacked, nodelay=nodelay)
    assert bool(may) is expected, source


def test_nagle_lets_half_the_largest_window_go():
    """Published: RFC 1122, 4.2.3.4, condition 3."""
    may = small_writes.nagle_may_send(
        [499, 500], mss_bytes=1460, unacked_bytes=100, max_window_bytes=1000
    )
    assert may.tolist() == [False, True]


def test_minshall_minds_small_segments_only():
    """Published: draft-minshall-nagle; where Nagle waits behind a full segment it does not."""
    small = [False, True]
    may = small_writes.minshall_may_send(100, mss_bytes=1460, unacked_small=small)
    assert may.tolist() == [True, False]
    assert small_writes.minshall_may_send(1460, mss_bytes=1460, unacked_small=small).all()
    free = small_writes.minshall_may_send(1, mss_bytes=1460, unacked_small=True, nodelay=True)
    assert free


@pytest.mark.each(
    ("nagle", "quickack"), [(True, True), (True, False), (False, True), (False, False)]
)
def test_write_write_read_against_events(nagle, quickack):
    for rtt_s, held_s, gap_s in itertools.product((0, 0.02, 0.1), (0, 0.04, 0.2), (0, 0.015, 0.5)):
        kind = {"delayed_ack_s": held_s, "quickack": quickack, "server_s": 0.001}
        computed = small_writes.write_write_read_s(rtt_s, nagle=nagle, write_gap_s=gap_s, **kind)
        events = write_timeline(
            [0, gap_s],
            write_bytes=[6, 7],
            rtt_s=rtt_s,
            policy="nagle" if nagle else "nodelay",
            **kind,
        )
        assert computed == pytest.approx(events.done_s, abs=1e-12), (rtt_s, held_s, gap_s)


def test_the_article():
    """Measured: medians 100 and 47.5 ms, 62 at first; RTT 30 ms, delay 40 ms, gap 15 ms."""
    path = {"rtt_s": 0.03, "delayed_ack_s": 0.04}
    assert small_writes.write_write_read_s(**path) == pytest.approx(0.100)
    quick = small_writes.write_write_read_s(quickack=True, **path)
    assert quick == pytest.approx(0.062, abs=0.003)
    nodelay = small_writes.write_write_read_s(nagle=False, write_gap_s=0.015, **path)
    assert nodelay == pytest.approx(0.0475, abs=0.003)


def sent_at(timeline):
    return [t for t, what in zip(timeline.start_s, timeline.what, strict=True) if what == "segment"]


@pytest.mark.each("policy", ["nagle", "minshall", "nodelay"])
@pytest.mark.each("size", [1, 1459, 1460, 1461, 2920, 3000, 4380, 4400, 5840, 7000, 9000])
def test_tail_against_events(policy, size):
    path = {"rtt_s": 0.05, "delayed_ack_s": 0.2, "mss_bytes": 1460, "policy": policy}
    computed = small_writes.tail_delay_s(size, **path)
    times = sent_at(write_timeline([0], write_bytes=[size], **path))
    assert computed == pytest.approx(times[-1]), "derived: the last segment leaves then"


def test_tail_of_odd_and_even():
    """Published: Mogul and Minshall 2001: odd RTT + delay, even RTT, whole segments none."""
    waits = small_writes.tail_delay_s([1500, 3000, 4400, 2920, 700], rtt_s=0.05, delayed_ack_s=0.2)
    assert waits == pytest.approx([0.25, 0.05, 0.25, 0, 0])


def test_impossible_and_not_finite():
    with pytest.raises(DomainError, match="policy"):
        small_writes.tail_delay_s(1500, rtt_s=0.05, delayed_ack_s=0.2, policy="flush")
    with pytest.raises(DomainError, match="delayed_ack_s"):
        small_writes.write_write_read_s(0.03, delayed_ack_s=-1)
    assert np.isnan(small_writes.write_write_read_s(np.nan))
    assert np.isnan(small_writes.tail_delay_s(np.nan, rtt_s=0.05, delayed_ack_s=0.2))
    assert not small_writes.nagle_may_send(np.nan, mss_bytes=1460, unacked_bytes=0)
