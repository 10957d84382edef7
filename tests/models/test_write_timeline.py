"""The timeline of writes: rows as one would draw them by hand, bytes conserved."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.hosts.small_writes import write_timeline


def rows(timeline):
    return [
        (who, what, round(start, 6), round(end, 6), int(size))
        for who, what, start, end, size in zip(
            timeline.who,
            timeline.what,
            timeline.start_s,
            timeline.end_s,
            timeline.payload_bytes,
            strict=True,
        )
    ]


def test_hello_world_by_hand():
    """Derived: drawn from the rules: 30 ms round trip, 40 ms held acknowledgement."""
    timeline = write_timeline([0, 0], write_bytes=[6, 7], rtt_s=0.03, delayed_ack_s=0.04)
    assert rows(timeline) == [
        ("to server", "segment", 0.0, 0.015, 6),
        ("client", "waits for acknowledgement", 0.0, 0.07, 0),
        ("server", "holds acknowledgement", 0.015, 0.055, 0),
        ("to client", "acknowledgement", 0.055, 0.07, 0),
        ("to server", "segment", 0.07, 0.085, 7),
        ("to client", "response", 0.085, 0.1, 0),
    ]
    assert timeline.done_s == pytest.approx(0.1)


def test_five_letters():
    """Derived: the first goes alone, the other four wait and leave as one segment."""
    letters = write_timeline([0] * 5, write_bytes=[1] * 5, rtt_s=0.03, quickack=True)
    assert [row[4] for row in rows(letters) if row[1] == "segment"] == [1, 4]
    assert letters.done_s == pytest.approx(0.06)
    nodelay = write_timeline([0] * 5, write_bytes=[1] * 5, rtt_s=0.03, policy="nodelay")
    assert [row[4] for row in rows(nodelay) if row[1] == "segment"] == [1] * 5
    assert nodelay.done_s == pytest.approx(0.03)


@pytest.mark.each("policy", ["nagle", "minshall", "nodelay"])
def test_bytes_are_conserved_and_nothing_is_left(policy):
    """Identity: all that was written is sent once, and the response comes last."""
    rng = np.random.default_rng(3)
    times = np.sort(rng.uniform(0, 0.5, 40))
    sizes = rng.integers(1, 4000, 40)
    timeline = write_timeline(times, write_bytes=sizes, rtt_s=0.02, policy=policy)
    assert timeline.payload_bytes.sum() == sizes.sum()
    assert timeline.done_s == timeline.end_s.max()
    assert (timeline.end_s >= timeline.start_s).all()
    assert (np.diff(timeline.start_s) >= 0).all()
    assert timeline.what.count("response") == 1


def test_a_slow_server_lets_the_timer_fire():
    """Derived: the request waits 100 ms in the server, its acknowledgement leaves after 40."""
    timeline = write_timeline([0], write_bytes=[10], rtt_s=0.02, server_s=0.1)
    assert ("to client", "acknowledgement", 0.05, 0.06, 0) in rows(timeline)
    assert ("server", "works", 0.01, 0.11, 0) in rows(timeline)
    assert timeline.done_s == pytest.approx(0.12)


def test_an_acknowledgement_rides_on_an_answer_that_is_ready():
    """By hand: a server that acknowledges at once and needs no time sends one packet, not two."""
    at_once = write_timeline([0], write_bytes=[10], rtt_s=0.02, quickack=True)
    assert rows(at_once) == [
        ("to server", "segment", 0.0, 0.01, 10),
        ("to client", "response", 0.01, 0.02, 0),
    ]
    works = write_timeline([0], write_bytes=[10], rtt_s=0.02, server_s=0.005, quickack=True)
    assert rows(works) == [
        ("to server", "segment", 0.0, 0.01, 10),
        ("server", "works", 0.01, 0.015, 0),
        ("to client", "acknowledgement", 0.01, 0.02, 0),
        ("to client", "response", 0.015, 0.025, 0),
    ]


def test_a_write_at_the_moment_of_the_acknowledgement_does_not_wait():
    """By hand: 20 ms round trip; the second write, 20 ms later, meets the acknowledgement."""
    met = write_timeline([0, 0.02], write_bytes=[10, 20], rtt_s=0.02, quickack=True)
    assert rows(met) == [
        ("to server", "segment", 0.0, 0.01, 10),
        ("to client", "acknowledgement", 0.01, 0.02, 0),
        ("to server", "segment", 0.02, 0.03, 20),
        ("to client", "response", 0.03, 0.04, 0),
    ]


def test_impossible_and_not_finite():
    with pytest.raises(DomainError) as refused:
        write_timeline([1, 0], write_bytes=[1, 1], rtt_s=0.03)
    assert (refused.value.code, refused.value.name) == ("not-ascending", "write_s")
    assert refused.value.values["index"] == 1
    with pytest.raises(DomainError, match="write_bytes"):
        write_timeline([0, 0], write_bytes=[1], rtt_s=0.03)
    with pytest.raises(DomainError) as refused:
        write_timeline([0], write_bytes=[1e12], rtt_s=0.03)
    assert refused.value.code == "too-many-segments"
    missing = write_timeline([0], write_bytes=[1], rtt_s=np.nan)
    assert np.isnan(missing.done_s)
    assert missing.who == ()
