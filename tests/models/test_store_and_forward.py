"""Store-and-forward, cut-through, pipelining, against Fig. A-9 and an independent simulation."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netcalc.errors import DomainError
from netcalc.models.delays import store_and_forward as sf
from netcalc.models.delays.latency import serialization_s

# Fig. A-9 as printed: 1428 bytes, 7.5 ms on each T1, latency 5 and 1 ms, 1 ms in every node.
T1_OF_THE_BOOK = 1428 * 8 / 7.5e-3
FIG_A9 = {
    "bandwidth_bps": [T1_OF_THE_BOOK] * 2,
    "latency_s": [5e-3, 1e-3],
    "processing_s": 1e-3,
    "source_processing_s": 1e-3,
    "destination_processing_s": 1e-3,
}


def simulate(sizes, rates, latencies, nodes):
    """Independent of the models: a discrete-event simulation with one queue a server."""
    servers = []
    for link, rate in enumerate(rates):
        servers.append([nodes[link]] * len(sizes))
        servers.append([8 * size / rate for size in sizes])
    servers.append([nodes[-1]] * len(sizes))
    waiting = [[] for _ in servers]
    busy = [False] * len(servers)
    done = {}
    events = [(0.0, number, 0, "arrive") for number in range(len(sizes))]
    heapq.heapify(events)
    while events:
        now, number, server, what = heapq.heappop(events)
        if what == "arrive":
            heapq.heappush(waiting[server], number)
        else:
            busy[server] = False
            if server == len(servers) - 1:
                done[number] = now
            else:
                delay = latencies[server // 2] if server % 2 else 0.0
                heapq.heappush(events, (now + delay, number, server + 1, "arrive"))
        if waiting[server] and not busy[server]:
            first = heapq.heappop(waiting[server])
            busy[server] = True
            heapq.heappush(events, (now + servers[server][first], first, server, "finish"))
    return [done[number] for number in range(len(sizes))]


def test_fig_a9_bit_by_bit():
    line = sf.pipeline_timeline([1428], **FIG_A9)
    ms = 1e3
    # published: Stevens A.3: 1, 6, 13.5, 14.5, 15.5 ms; the last bit is printed as 25 but must be
    # 23, because 1 ms of processing later the book itself says 24.
    assert line.start_s[0, 0] * ms == pytest.approx(1)
    assert line.first_bit_s[0] * ms == pytest.approx([6, 15.5])
    assert line.last_bit_s[0] * ms == pytest.approx([13.5, 23])
    assert line.start_s[0, 1] * ms == pytest.approx(14.5)
    assert line.done_s * ms == pytest.approx([24])


def test_fig_a9_rates_and_the_next_packet():
    total = sf.store_and_forward_s(1428, **FIG_A9)
    assert 8 * 1428 / total == pytest.approx(476_000)  # published
    bare = sf.store_and_forward_s(1428, bandwidth_bps=[T1_OF_THE_BOOK] * 2, latency_s=[5e-3, 1e-3])
    assert 8 * 1428 / bare == pytest.approx(544_000)  # published
    line = sf.pipeline_timeline([1428, 1428], **FIG_A9)
    assert line.start_s[1, 0] == pytest.approx(8.5e-3)  # published


def test_ten_packets_back_to_back():
    total = sf.store_and_forward_s(1428, packet_count=10, **FIG_A9)
    assert total == pytest.approx(91.5e-3)  # published
    assert 10 * 8 * 1428 / total == pytest.approx(1_248_525, abs=1)  # published
    line = sf.pipeline_timeline([1428] * 10, **FIG_A9)
    # derived: the last bit arrives at 90.5, its processing ends at the printed 91.5.
    assert line.last_bit_s[-1, -1] == pytest.approx(90.5e-3)
    assert line.done_s[-1] == pytest.approx(91.5e-3)


@pytest.mark.each(
    ("rate", "expected_ms", "source"),
    [
        (1.544e6, 28.6, "published: Stevens A.3, ten T1 hops"),
        (45e6, 1.0, "published: Stevens A.3, ten T3 hops, rounded from 0.98"),
    ],
)
def test_ten_hops(rate, expected_ms, source):
    total = sf.store_and_forward_s(552, bandwidth_bps=[rate] * 10)
    assert total * 1e3 == pytest.approx(expected_ms, rel=0.02), source


def test_a_path_of_187_ms():
    # derived: 6 T1 of the book's 7.5 ms, 6 T3 and one 10 Mbit/s Ethernet; 1428 bytes; 12 routers of
    # 0.5 ms, both ways, on top of the 80 ms of Fig. A-3: one mix of several that fit its 187 ms.
    rates = [T1_OF_THE_BOOK] * 6 + [45e6] * 6 + [10e6]
    one_way = sf.store_and_forward_s(1428, bandwidth_bps=rates, processing_s=0.5e-3)
    assert 0.080 + 2 * one_way == pytest.approx(0.187, abs=0.0005)


SIZES = st.lists(st.integers(min_value=1, max_value=9000), min_size=1, max_size=6)
RATES = st.lists(st.floats(min_value=1e4, max_value=1e10), min_size=1, max_size=5)
TIMES = st.floats(min_value=0, max_value=0.1)


@given(sizes=SIZES, rates=RATES, data=st.data())
def test_the_timeline_equals_an_event_simulation(sizes, rates, data):
    """Derived by a second method: unequal packets, unequal links, processing in every node."""
    latencies = data.draw(st.lists(TIMES, min_size=len(rates), max_size=len(rates)))
    nodes = data.draw(st.lists(TIMES, min_size=len(rates) + 1, max_size=len(rates) + 1))
    line = sf.pipeline_timeline(
        sizes,
        bandwidth_bps=rates,
        latency_s=latencies,
        processing_s=nodes[1:-1],
        source_processing_s=nodes[0],
        destination_processing_s=nodes[-1],
    )
    expected = simulate(sizes, rates, latencies, nodes)
    assert line.done_s.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(size=st.integers(1, 9000), rates=RATES, count=st.integers(1, 8), nodes=TIMES)
def test_the_closed_form_equals_the_timeline_for_equal_packets(size, rates, count, nodes):
    options = {"bandwidth_bps": rates, "processing_s": nodes, "source_processing_s": nodes}
    closed = sf.store_and_forward_s(size, packet_count=count, **options)
    line = sf.pipeline_timeline([size] * count, **options)
    assert closed == pytest.approx(line.done_s[-1], rel=1e-9)


@given(size=st.integers(1, 9000), rates=RATES, count=st.integers(1, 50), seed=st.integers(0, 99))
def test_the_order_of_links_does_not_matter(size, rates, count, seed):
    shuffled = np.random.default_rng(seed).permutation(rates)
    assert sf.store_and_forward_s(
        size, bandwidth_bps=shuffled, packet_count=count
    ) == pytest.approx(sf.store_and_forward_s(size, bandwidth_bps=rates, packet_count=count))


@given(rates=RATES, count=st.integers(1, 50))
def test_a_larger_packet_is_never_sooner(rates, count):
    times = sf.store_and_forward_s([64, 512, 1500], bandwidth_bps=rates, packet_count=count)
    assert (np.diff(times) >= 0).all()


def test_cut_through():
    # derived: 64 B at 100 Mbit/s are 5.12 us, 14 B 1.12 us, 1 us in the switch, 2 x 1 us of line.
    one_switch = sf.cut_through_s(
        64, bandwidth_bps=[1e8, 1e8], latency_s=1e-6, switch_latency_s=1e-6
    )
    assert one_switch == pytest.approx(9.24e-6)
    # identity: a faster output must store the whole frame, so nothing is gained.
    into_faster = sf.cut_through_s(1500, bandwidth_bps=[1e8, 1e9])
    assert into_faster == pytest.approx(sf.store_and_forward_s(1500, bandwidth_bps=[1e8, 1e9]))
    # identity: a frame shorter than the header is sent on when it is complete.
    assert sf.cut_through_s(10, bandwidth_bps=[1e8, 1e8], min_frame_bytes=0) == pytest.approx(
        2 * 80 / 1e8
    )


@given(
    segment=st.integers(1, 3000), message=st.integers(1, 9000), rates=RATES,
    header=st.integers(0, 100),
)  # fmt: skip
def test_a_message_in_segments_equals_the_timeline(segment, message, rates, header):
    full, rest = divmod(message, segment)
    sizes = [segment + header] * full + ([rest + header] if rest else [])
    line = sf.pipeline_timeline(sizes, bandwidth_bps=rates, latency_s=1e-3)
    total = sf.message_s(
        segment, message_bytes=message, bandwidth_bps=rates, latency_s=1e-3, header_bytes=header
    )
    assert total == pytest.approx(line.done_s[-1], rel=1e-9)


def test_the_optimal_segment_is_a_minimum():
    # derived: Kurose and Ross, sqrt(320 x 8e6 / 2) = 35,777 bits; and no neighbour is better.
    best = float(sf.optimal_segment_bits(8e6, header_bits=320, link_count=3))
    assert best == pytest.approx(35_777.09, abs=0.01)

    def time(bits):
        count = 8e6 / bits
        return (count + 2) * (bits + 320) / 2e6

    assert time(best) < min(time(0.99 * best), time(1.01 * best))
    assert np.isposinf(sf.optimal_segment_bits(8e6, header_bits=320, link_count=1))


def test_equivalent_bandwidth():
    # identity: one line of that rate takes as long as all of them.
    rates = [1.544e6, 45e6, 10e6]
    one = serialization_s(1000, bandwidth_bps=sf.equivalent_bandwidth_bps(rates))
    assert one == pytest.approx(sum(8000 / rate for rate in rates))


@pytest.mark.each(
    ("options", "said"),
    [
        ({"bandwidth_bps": []}, "bandwidth_bps"),
        ({"bandwidth_bps": [1e6, 0]}, "bandwidth_bps"),
        ({"bandwidth_bps": [1e6, 1e6], "latency_s": [1, 2, 3]}, "latency_s"),
        ({"bandwidth_bps": [1e6, 1e6], "processing_s": [1, 2]}, "processing_s"),
        ({"bandwidth_bps": [1e6], "latency_s": [-1]}, "latency_s"),
        ({"bandwidth_bps": [1e6], "packet_count": 0}, "packet_count"),
        ({"bandwidth_bps": [1e6], "packet_count": 1.5}, "packet_count"),
        ({"bandwidth_bps": [1e6], "source_processing_s": -1}, "source_processing_s"),
    ],
)
def test_impossible_paths_are_refused_by_name(options, said):
    with pytest.raises(DomainError, match=said):
        sf.store_and_forward_s(1500, **options)
