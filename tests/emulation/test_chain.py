"""Chains in virtual time: the same numbers as the closed forms and the timeline of the models."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.emulation import Chain, LinkQueue, simulate
from netcalc.emulation.chain import both_directions
from netcalc.errors import DomainError
from netcalc.path import Hop, Link, Path

UNEVEN = Path(
    (Hop(Link(1e6, 0.002), 0.001), Hop(Link(2e5, 0.0), 0.0), Hop(Link(1e7, 0.01), 0.003)), 0.0005
)


@pytest.mark.each(
    "path",
    [
        Path.parse("T1 5 ms, T1 1 ms", processing_s=0.001, source_processing_s=0.001),
        Path.parse("12 x T1 1 ms", processing_s=0.0005, destination_processing_s=0.002),
        Path.parse("56 kbit/s 30 ms, T3 1 ms, 10 Mbit/s"),
        UNEVEN,
    ],
)
def test_a_train_takes_what_the_models_say(path):
    """identity: store_and_forward_s and pipeline_timeline are other code for the same network."""
    alone = simulate(path, packet_bytes=1428, sent_s=[0.0])
    assert alone.received_s == pytest.approx([float(path.one_way_s(1428))], rel=1e-12)
    train = simulate(path, packet_bytes=512, sent_s=np.zeros(20))
    expected_s = float(path.one_way_s(512, packet_count=20))
    assert train.received_s[-1] == pytest.approx(expected_s, rel=1e-12)
    sizes = np.random.default_rng(1).integers(40, 1501, 50)
    mixed = simulate(path, packet_bytes=sizes, sent_s=np.zeros(50))
    assert mixed.received_s == pytest.approx(path.timeline(sizes).done_s, rel=1e-12)


@pytest.mark.each("path", [UNEVEN, Path.parse("T1 5 ms, T3 1 ms", processing_s=1e-4)])
def test_there_and_back_takes_the_round_trip_of_the_path(path):
    """identity: Path.rtt_s, with the turning host's processing counted once."""
    there, back = (Chain([LinkQueue(**link) for link in links]) for links in both_directions(path))
    there.push(bytes(1000), 0.0)
    arrives_s = there.next_event_s()
    back.push(bytes(1000), arrives_s)
    assert back.next_event_s() == pytest.approx(float(path.rtt_s(1000)), rel=1e-12)


def test_knowing_early_changes_nothing():
    """derived: the same links, made to wait for their time by a reordering that never happens."""
    path = Path.parse("1 Mbit/s 3 ms, 300 kbit/s 1 ms, 2 Mbit/s 2 ms", processing_s=2e-4)
    source = np.random.default_rng(2)
    sent_s = np.cumsum(source.exponential(0.02, 800))
    sizes = source.integers(40, 1501, 800)
    early = simulate(path, packet_bytes=sizes, sent_s=sent_s, buffer_bytes=8000)
    in_time = simulate(
        path, packet_bytes=sizes, sent_s=sent_s, buffer_bytes=8000,
        reorder_ratio=1e-300, reorder_s=1.0,
    )  # fmt: skip
    assert np.isnan(early.received_s).sum() > 20
    assert early.received_s == pytest.approx(in_time.received_s, nan_ok=True, rel=1e-12)
    assert early.events.sha256() == in_time.events.sha256()


def test_the_same_seed_gives_the_same_run():
    """published nowhere; identity: the hash of all events, run twice."""
    path = Path.parse("1 Mbit/s 3 ms, T1 1 ms")

    def run(seed):
        sent_s = np.arange(500) * 0.004
        faults = {1: {"loss_ratio": 0.1, "reorder_ratio": 0.2, "reorder_s": 0.02}}
        return simulate(path, packet_bytes=500, sent_s=sent_s, seed=seed, faults=faults)

    assert run(1).events.sha256() == run(1).events.sha256() != run(2).events.sha256()
    lost = run(1).counters[1]["lost"]
    assert run(1).counters[0]["lost"] == 0 < lost
    assert np.isnan(run(1).received_s).sum() == lost


def test_duplicates_are_counted_at_the_far_end():
    path = Path.parse("1 Mbit/s")
    run = simulate(path, packet_bytes=100, sent_s=np.arange(5.0), duplicate_ratio=1.0)
    assert run.received_count.tolist() == [2] * 5


@pytest.mark.each(
    ("frame_bytes", "line_pps"),
    [(64, 14_880), (128, 8445), (256, 4528), (512, 2349), (1024, 1197), (1280, 961), (1518, 812)],
)
def test_a_box_passes_the_smaller_of_its_limits(frame_bytes, line_pps):
    """published: RFC 2544, appendix B, for 10 Mbit/s, rounded down; the box has 2000 a second."""
    path = Path.parse("1 Gbit/s, 10 Mbit/s", processing_s=1 / 2000)
    run = simulate(
        path, packet_bytes=frame_bytes - 18, sent_s=np.arange(20_000) * 5e-5, overhead_bytes=38,
        input_packets=50, buffer_packets=50,
    )  # fmt: skip
    received_s = run.received_s[~np.isnan(run.received_s)]
    rate_pps = (received_s.size - 1) / np.ptp(received_s)
    assert np.floor(rate_pps + 1e-6) == min(2000, line_pps)
    fibre, line = run.counters
    assert fibre["delivered"] == line["arrived"] == 20_000
    assert line["overrun"] > 15_000, "20,000 a second into a box of 2000"
    assert (line["full"] > 0) == (line_pps < 2000)
    assert line["delivered"] == received_s.size == 20_000 - line["overrun"] - line["full"]


def test_the_destination_is_a_node_with_an_input_too():
    path = Path.parse("1 Gbit/s", destination_processing_s=0.001)
    run = simulate(path, packet_bytes=100, sent_s=np.zeros(10), input_packets=4)
    assert run.counters[-1]["overrun"] == 6
    there, _ = both_directions(path, input_packets=4)
    assert [link["input_packets"] for link in there] == [4]


def test_the_events_of_one_link_are_picked():
    run = simulate(Path.parse("T1, T1"), packet_bytes=100, sent_s=[0.0, 0.0])
    assert len(run.events) == 4
    assert run.events.at(1).link.tolist() == [1, 1]
    assert run.events.at(1).arrival_s.tolist() == run.events.at(0).departure_s.tolist()


@pytest.mark.each(
    ("options", "name"),
    [
        ({"sent_s": [1.0, 0.0], "packet_bytes": 1}, "sent_s"),
        ({"sent_s": [np.nan], "packet_bytes": 1}, "sent_s"),
        ({"sent_s": [0.0], "packet_bytes": -1}, "packet_bytes"),
        ({"sent_s": [0.0], "packet_bytes": 1.5}, "packet_bytes"),
        ({"sent_s": [0.0], "packet_bytes": 1, "faults": {3: {}}}, "faults"),
        ({"sent_s": [0.0], "packet_bytes": 1, "loss_ratio": 2}, "loss_ratio"),
        ({"sent_s": [0.0], "packet_bytes": 1, "input_packets": 0}, "input_packets"),
    ],
)
def test_impossible_simulations_are_refused(options, name):
    with pytest.raises(DomainError) as caught:
        simulate(Path.parse("T1"), **options)
    assert caught.value.name == name


def test_a_chain_has_a_link():
    with pytest.raises(DomainError):
        Chain([])
