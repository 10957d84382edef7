"""An exchange of packets over a path, held to closed forms and to queues in virtual time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcalc.emulation.chain import Chain, both_directions
from netcalc.emulation.queue import LinkQueue
from netcalc.errors import DomainError
from netcalc.models.delays.store_and_forward import exchange_timeline, pipeline_timeline
from netcalc.path import Hop, Link, Path


def test_a_request_and_its_response_take_the_round_trip_of_the_path():
    path = Path.parse(
        "T1 5 ms, 56 kbit/s 1 ms", processing_s=0.003, source_processing_s=0.001,
        destination_processing_s=0.002,
    )  # fmt: skip
    steps = exchange_timeline(
        [100, 300], sender=[0, 1], after=[-1, 0], bandwidth_bps=[1.544e6, 56e3],
        latency_s=[0.005, 0.001], processing_s=0.003, source_processing_s=0.001,
        destination_processing_s=0.002,
    )  # fmt: skip
    # identity: two packets, one for the other, are what Path.rtt_s describes
    assert steps.received_s[1] == pytest.approx(float(path.rtt_s(100, reply_bytes=300)))
    # derived by hand: 1 + 0.518 + 5 + 3 + 14.286 + 1 ms
    assert steps.received_s[0] == pytest.approx(0.024804, abs=1e-6)


def test_two_packets_share_the_line_and_each_direction_has_its_own():
    steps = exchange_timeline(
        [700, 700, 70], sender=[0, 0, 1], after=[-1, -1, 0], wait_s=[0, 0.01, 0.005],
        bandwidth_bps=56e3, latency_s=0.02,
    )  # fmt: skip
    # derived by hand: 100 ms each on the line, one after the other; 10 ms for the small one
    assert steps.sent_s.tolist() == pytest.approx([0, 0.01, 0.125])
    assert steps.received_s.tolist() == pytest.approx([0.12, 0.22, 0.155])


def virtual(path, sizes, sides, after, waits):
    """Run the exchange through the queues of an emulated path, event by event."""
    chains = [Chain([LinkQueue(**link) for link in links]) for links in both_directions(path)]
    sent, received = {}, {}
    while len(received) < len(sizes):
        due = [
            (waits[k] + (received[after[k]] if after[k] >= 0 else 0.0), 0, k)
            for k in range(len(sizes))
            if k not in sent and (after[k] < 0 or after[k] in received)
        ]
        due += [
            (when, 1, side)
            for side, chain in enumerate(chains)
            if (when := chain.next_event_s()) is not None
        ]
        now, arrived, number = min(due)
        if arrived:
            for when, packet in chains[number].take(now):
                received[packet] = when
        else:
            sent[number] = now
            chains[sides[number]].push(number, now, sizes[number])
    return np.array([received[k] for k in range(len(sizes))])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_exchange_is_as_through_queues_in_virtual_time(data):
    count = data.draw(st.integers(1, 8))
    sizes = data.draw(st.lists(st.integers(40, 1500), min_size=count, max_size=count))
    sides, after = [], []
    for number in range(count):
        sides.append(data.draw(st.integers(0, 1)) if number else 0)
        others = [k for k in range(number) if sides[k] != sides[number]]
        after.append(data.draw(st.sampled_from([-1, *others])))
    waits = data.draw(
        st.lists(st.integers(0, 50), min_size=count, max_size=count, unique=True)
    )  # fmt: skip
    waits = [wait * 1e-3 for wait in waits]
    links = data.draw(
        st.lists(st.tuples(st.sampled_from([56e3, 1.544e6, 1e7]), st.integers(0, 30)),
                 min_size=1, max_size=3)
    )  # fmt: skip
    nodes = data.draw(st.lists(st.integers(0, 5), min_size=len(links), max_size=len(links)))
    path = Path(
        tuple(Hop(Link(rate, ms * 1e-3), node * 1e-3)
              for (rate, ms), node in zip(links, nodes, strict=True)),
        0.002,
    )  # fmt: skip
    steps = exchange_timeline(
        sizes, sender=sides, after=after, wait_s=waits,
        bandwidth_bps=[rate for rate, _ in links], latency_s=[ms * 1e-3 for _, ms in links],
        processing_s=[node * 1e-3 for node in nodes[:-1]], source_processing_s=0.002,
        destination_processing_s=nodes[-1] * 1e-3,
    )  # fmt: skip
    # derived by a second method: the queues that real packets go through
    expected = virtual(path, sizes, sides, after, waits)
    assert steps.received_s == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.each(
    ("changed", "facts"),
    [
        (
            {"after": [-1, 1]},
            {"code": "not-an-earlier-packet", "name": "after", "value": 1, "packet": 1},
        ),
        (
            {"sender": [0, 2]},
            {"code": "out-of-range", "name": "sender", "value": 2, "index": 1, "low": 0, "high": 1},
        ),
        (
            {"after": [-1]},
            {"code": "wrong-count-or-one", "name": "after", "count": 1, "expected": 2},
        ),
        ({"after": [-1, 0.5]}, {"code": "not-whole", "name": "after"}),
        ({"after": [-2, 0]}, {"code": "below-minimum", "name": "after", "value": -2}),
        ({"bandwidth_bps": 0}, {"code": "not-positive", "name": "bandwidth_bps", "value": 0}),
        (
            {"packet_bytes": []},
            {"code": "not-one-dimensional", "name": "packet_bytes", "value": [0]},
        ),
    ],
)
def test_impossible_exchanges(changed, facts):
    arguments = {"packet_bytes": [100, 300], "sender": [0, 1], "after": [-1, 0],
                 "bandwidth_bps": 1e6, **changed}  # fmt: skip
    with pytest.raises(DomainError) as refused:
        exchange_timeline(arguments.pop("packet_bytes"), **arguments)
    assert {"code": refused.value.code, **refused.value.values}.items() >= facts.items()


def test_a_number_that_is_missing():
    steps = exchange_timeline(
        [100, 300], sender=[0, 1], after=[-1, 0], bandwidth_bps=1e6, latency_s=float("nan")
    )
    assert np.isnan(steps.received_s).all()


def test_a_train_either_way_is_one_through_the_links_in_that_order():
    """Identity: packets of unequal sizes at once are a pipeline, from the source or the other end.

    No link, latency or node is like another, so that an order exchanged shows.
    """
    sizes = [1500.0, 40.0, 900.0, 1200.0]
    rate, latency, nodes = [1e6, 4e6, 2e6], [0.001, 0.004, 0.0005], [0.002, 0.0007]
    ends = {"source_processing_s": 0.0003, "destination_processing_s": 0.0011}
    for side, step in ((0, 1), (1, -1)):
        steps = exchange_timeline(
            sizes, sender=[side] * 4, after=[-1] * 4, bandwidth_bps=rate, latency_s=latency,
            processing_s=nodes, **ends,
        )  # fmt: skip
        first, last = (0.0003, 0.0) if side == 0 else (0.0011, 0.0003)
        train = pipeline_timeline(
            sizes, bandwidth_bps=rate[::step], latency_s=latency[::step],
            processing_s=nodes[::step], source_processing_s=first, destination_processing_s=last,
        )  # fmt: skip
        assert steps.received_s == pytest.approx(train.done_s)
        assert steps.sent_s.tolist() == [0.0] * 4
    free = exchange_timeline(sizes, sender=0, after=-1, bandwidth_bps=1e6)
    assert free.received_s == pytest.approx(np.cumsum(sizes) * 8e-6), "one node and no latency"
