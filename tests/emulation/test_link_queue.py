"""One link in given time: against Lindley's recursion, a state count and sums of draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcalc.emulation import FATES, Events, LinkQueue
from netcalc.emulation.queue import Log
from netcalc.errors import DomainError

T1 = 1.544e6


def driven(link, arrivals, sizes):
    """Push packets numbered from 0; return [(time, number)] of what comes out."""
    out = []
    for number, (now_s, size) in enumerate(zip(arrivals, sizes, strict=True)):
        link.push(number, float(now_s), int(size))
    while (next_s := link.next_event_s()) is not None:
        out += link.take(next_s)
    return out


def poisson(count, rate_pps, seed):
    source = np.random.default_rng(seed)
    return np.cumsum(source.exponential(1 / rate_pps, count)), source.integers(40, 1501, count)


def test_one_packet_takes_serialization_and_latency():
    link = LinkQueue(bandwidth_bps=T1, latency_s=0.005)
    link.push(bytes(1428), now_s=1.0)
    expected_s = 1.0 + 1428 * 8 / T1 + 0.005  # derived: the two parts of Fig. A-9
    assert link.next_event_s() == pytest.approx(expected_s, rel=1e-12)
    assert link.pop_ready(expected_s - 1e-9) == []
    assert link.pop_ready(expected_s + 1e-9) == [bytes(1428)]
    assert link.next_event_s() is None


@pytest.mark.each("utilization", [0.3, 0.9, 1.5])
def test_waits_follow_lindley(utilization):
    """derived: W(n+1) = max(0, W(n) + S(n) - A(n+1)), Lindley 1952, no line of the code in it."""
    arrivals, sizes = poisson(3000, utilization * T1 / 8 / 770, seed=1)
    service = sizes * 8 / T1
    wait = np.zeros(arrivals.size)
    for n in range(1, arrivals.size):
        wait[n] = max(0.0, wait[n - 1] + service[n - 1] - (arrivals[n] - arrivals[n - 1]))
    out = driven(LinkQueue(bandwidth_bps=T1, latency_s=0.002), arrivals, sizes)
    assert [number for _, number in out] == list(range(arrivals.size))
    left = [when for when, _ in out]
    np.testing.assert_allclose(left, arrivals + wait + service + 0.002, rtol=0, atol=1e-9)


@pytest.mark.each("unit", ["bytes", "packets"])
def test_drop_tail_follows_a_count_of_what_is_in_the_buffer(unit):
    """derived: before each arrival, everything not yet gone is counted anew from all departures."""
    arrivals, sizes = poisson(2000, 1.2 * T1 / 8 / 770, seed=2)
    limit = 6000 if unit == "bytes" else 7
    gone: list[tuple[float, int]] = []
    kept, free_s = [], 0.0
    for n, (now_s, size) in enumerate(zip(arrivals.tolist(), sizes.tolist(), strict=True)):
        inside = [held for leaves_s, held in gone if leaves_s > now_s]
        full = sum(inside) + size > limit if unit == "bytes" else len(inside) + 1 > limit
        if not full:
            free_s = max(free_s, now_s) + size * 8 / T1
            gone.append((free_s, size))
            kept.append(n)
    link = LinkQueue(bandwidth_bps=T1, **{f"buffer_{unit}": limit})
    assert [number for _, number in driven(link, arrivals, sizes)] == kept
    assert link.counters["full"] == arrivals.size - len(kept) > 50
    assert link.counters["delivered"] == len(kept)


def test_a_node_processes_one_packet_at_a_time():
    link = LinkQueue(bandwidth_bps=math.inf, processing_s=0.001)
    out = driven(link, [0.0, 0.0, 0.0, 0.01], [100] * 4)
    # derived: three at once leave 1, 2, 3 ms later; the fourth finds the node free
    assert [when for when, _ in out] == pytest.approx([0.001, 0.002, 0.003, 0.011])


def test_the_input_of_a_node_has_an_end():
    link = LinkQueue(bandwidth_bps=8e6, processing_s=0.001, input_packets=2)
    out = driven(link, [0.0, 0.0, 0.0, 0.0015, 0.0015], [100, 200, 400, 300, 500])
    # derived by hand: the third finds two inside; at 1.5 ms one has left, so the fourth fits
    assert out == [(pytest.approx(t), n) for t, n in ((0.0011, 0), (0.0022, 1), (0.0033, 3))]
    assert (link.counters["arrived"], link.counters["overrun"]) == (5, 2)
    assert (link.counters["delivered"], link.counters["full"]) == (3, 0)
    events = link.log.events()
    fates = [FATES[fate] for fate in events.fate]
    assert fates == ["delivered", "delivered", "overrun", "delivered", "overrun"]
    assert events.arrival_s == pytest.approx([0.001, 0.002, 0.0, 0.003, 0.0015])
    assert np.isnan(events.departure_s).tolist() == [False, False, True, False, True]
    # what was in the buffer of the line; of an overrun, at the input: 100 + 200, 200 + 300
    assert events.backlog_bytes.tolist() == [0, 0, 300, 0, 500]


def test_an_input_without_an_end_holds_all():
    link = LinkQueue(bandwidth_bps=math.inf, processing_s=0.001)
    assert len(driven(link, np.zeros(5000), [100] * 5000)) == 5000
    assert link.counters["overrun"] == 0


@pytest.mark.each(("load", "places"), [(0.5, 2), (0.9, 5), (1.0, 8), (1.3, 4)])
def test_an_overrun_is_as_frequent_as_in_m_d_1_k(load, places):
    """derived: the chain of states at departures; one finds room so often as one is served.

    A departure leaves n behind, n < K; the next one leaves max(n, 1) - 1 + Poisson(load), at most
    K - 1. The server idles in n = 0 for a mean of one interarrival time, so that a service takes
    1 / load + (probability of 0) interarrival times: throughput is the inverse.
    """
    count = np.arange(places)
    logs = count * math.log(load) - load - np.cumsum(np.log(np.maximum(count, 1)))
    poisson_ratio = np.exp(logs)
    moves = np.zeros((places, places))
    for left in range(places):
        rest = max(left, 1) - 1
        moves[left, rest : places - 1] = poisson_ratio[: places - 1 - rest]
        moves[left, places - 1] = 1 - moves[left].sum()
    at_departure = np.linalg.matrix_power(moves, 4096)[0]
    expected = 1 - 1 / (at_departure[0] + load)
    packets, service_s = 100_000, 0.001
    arrivals = np.cumsum(np.random.default_rng(7).exponential(service_s / load, packets))
    link = LinkQueue(
        bandwidth_bps=math.inf, processing_s=service_s, input_packets=places, log=False
    )
    driven(link, arrivals, [100] * packets)
    # Over seeds the share scatters by less than this root, although overruns come in runs.
    found = link.counters["overrun"] / packets
    assert found == pytest.approx(expected, abs=5 * math.sqrt(3 * expected / packets))


@settings(deadline=None, max_examples=60)
@given(
    offered_s=st.floats(1e-6, 1e-2), processing_s=st.floats(1e-6, 1e-2),
    bandwidth_bps=st.floats(1e5, 1e9), size=st.integers(40, 1500),
    room=st.integers(2, 20), overhead=st.integers(0, 40),
)  # fmt: skip
def test_in_overload_the_slowest_of_three_sets_the_pace(
    offered_s, processing_s, bandwidth_bps, size, room, overhead
):
    """derived: one packet leaves each max(offered, processing, wire time), whatever is dropped."""
    link = LinkQueue(
        bandwidth_bps=bandwidth_bps, processing_s=processing_s, input_packets=room,
        buffer_packets=room, overhead_bytes=overhead,
    )  # fmt: skip
    out = driven(link, np.arange(300) * offered_s, [size] * 300)
    wire_s = 8 * (size + overhead) / bandwidth_bps
    slowest_s = max(offered_s, processing_s, wire_s)
    gaps = np.diff([when for when, _ in out])
    assert gaps == pytest.approx(np.full(gaps.size, slowest_s), rel=1e-6, abs=1e-12)
    dropped = link.counters["overrun"] + link.counters["full"]
    assert len(out) + dropped == 300
    if slowest_s == offered_s:
        assert dropped == 0


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6), room=st.integers(1, 6), buffer_packets=st.integers(1, 6),
    loss=st.floats(0, 0.5), twice=st.floats(0, 0.5), back=st.floats(0, 0.5),
)  # fmt: skip
def test_every_packet_is_counted_once(seed, room, buffer_packets, loss, twice, back):
    """identity: what came, and its copies, was delivered, lost, or dropped at one of two places."""
    arrivals, sizes = poisson(300, 1.5 * T1 / 8 / 770, seed)
    link = LinkQueue(
        bandwidth_bps=T1, processing_s=0.004, input_packets=room, buffer_packets=buffer_packets,
        loss_ratio=loss, duplicate_ratio=twice, reorder_ratio=back, reorder_s=0.01, seed=seed,
    )  # fmt: skip
    out = driven(link, arrivals, sizes)
    found = link.counters
    assert found["arrived"] == 300
    assert len(out) == found["delivered"]
    gone = found["lost"] + found["full"] + found["overrun"]
    assert found["arrived"] + found["duplicated"] == found["delivered"] + gone
    logged = np.bincount(link.log.events().fate, minlength=len(FATES))
    assert logged[FATES.index("overrun")] == found["overrun"]
    assert logged[FATES.index("full")] == found["full"]


def test_a_line_clocks_what_surrounds_a_packet():
    link = LinkQueue(bandwidth_bps=10e6, overhead_bytes=38, buffer_bytes=92)
    out = driven(link, [0.0, 0.0, 0.0], [46, 46, 46])
    # derived: 84 bytes at 10 Mbit/s, 67.2 us each; the buffer holds packets, two of them
    assert out == [(pytest.approx(67.2e-6), 0), (pytest.approx(134.4e-6), 1)]
    assert link.counters["full"] == 1


def test_the_log_has_a_row_for_each_packet():
    link = LinkQueue(bandwidth_bps=8000.0, buffer_bytes=250)  # 1 ms a byte
    driven(link, [0.0, 0.05, 0.05, 0.2], [100, 100, 100, 100])
    events = link.log.events()
    # derived by hand: 100 bytes take 100 ms; at 50 ms one is on the line, a second still fits
    assert events.arrival_s.tolist() == [0.0, 0.05, 0.05, 0.2]
    assert events.departure_s == pytest.approx([0.1, 0.2, math.nan, 0.3], nan_ok=True)
    assert events.backlog_bytes.tolist() == [0, 100, 200, 0]
    assert [FATES[fate] for fate in events.fate] == ["delivered", "delivered", "full", "delivered"]


@pytest.mark.each("fault", ["loss_ratio", "duplicate_ratio", "reorder_ratio"])
@pytest.mark.each("share", [0.0, 1.0, 0.1])
def test_faults_are_counted_and_the_counts_are_true(fault, share):
    options = {fault: share, "reorder_s": 0.001, "seed": 3}
    link = LinkQueue(bandwidth_bps=1e9, **options)
    out = [number for _, number in driven(link, np.arange(5000) * 1e-4, [100] * 5000)]
    counters = link.counters
    name = {"loss_ratio": "lost", "duplicate_ratio": "duplicated", "reorder_ratio": "reordered"}
    count = counters[name[fault]]
    assert counters["delivered"] == len(out)
    # derived: binomial, 5 standard deviations
    assert count == pytest.approx(5000 * share, abs=5 * math.sqrt(5000 * share * (1 - share)))
    if fault == "loss_ratio":
        assert len(set(out)) == len(out) == 5000 - count
    elif fault == "duplicate_ratio":
        assert len(out) - len(set(out)) == count
    else:
        assert sorted(out) == list(range(5000))
        assert (out != sorted(out)) == (0 < share < 1)


def test_lost_packets_take_their_time_on_the_line():
    link = LinkQueue(bandwidth_bps=8000.0, loss_ratio=1.0)
    driven(link, [0.0, 0.0], [10, 10])
    assert link.log.events().departure_s == pytest.approx([0.01, 0.02])


def test_losses_in_runs_have_their_mean_length_and_share():
    link = LinkQueue(bandwidth_bps=1e9, loss_ratio=0.05, loss_burst_packets=8.0, seed=4)
    driven(link, np.arange(200_000) * 1e-5, [100] * 200_000)
    lost = link.log.events().fate == FATES.index("lost")
    runs = np.diff(np.concatenate(([0], lost.astype(int), [0])))
    lengths = np.flatnonzero(runs == -1) - np.flatnonzero(runs == 1)
    # derived: geometric runs, mean 8, about 1250 of them: 5 standard errors of the mean
    assert lengths.mean() == pytest.approx(8.0, abs=5 * 7.5 / math.sqrt(lengths.size))
    assert lost.mean() == pytest.approx(0.05, abs=0.01)


def test_a_damaged_packet_differs_in_one_bit_behind_the_ip_header():
    link = LinkQueue(bandwidth_bps=1e9, corrupt_ratio=1.0, seed=5)
    for _ in range(200):
        link.push(bytes(60), 0.0)
    for packet in link.pop_ready(1.0):
        assert len(packet) == 60
        assert packet[:20] == bytes(20)
        assert int.from_bytes(packet, "big").bit_count() == 1
    assert link.counters["corrupted"] == 200


def test_the_same_seed_gives_the_same_log_and_another_one_another():
    def log_hash(seed):
        options = {"loss_ratio": 0.1, "duplicate_ratio": 0.1, "reorder_ratio": 0.1}
        link = LinkQueue(bandwidth_bps=T1, reorder_s=0.01, seed=seed, **options)
        driven(link, *poisson(500, 150, seed=6))
        return link.log.events().sha256()

    assert log_hash(7) == log_hash(7) != log_hash(8)


@pytest.mark.each(
    ("name", "value"),
    [
        ("bandwidth_bps", 0.0), ("bandwidth_bps", -1.0), ("bandwidth_bps", math.nan),
        ("latency_s", -1e-3), ("latency_s", math.inf), ("processing_s", math.nan),
        ("buffer_bytes", 0), ("buffer_packets", -1), ("loss_ratio", 1.5), ("loss_ratio", -0.1),
        ("duplicate_ratio", 3), ("reorder_ratio", 0.1), ("corrupt_ratio", math.nan),
        ("loss_burst_packets", 0.5), ("batch_s", -1.0), ("input_packets", 0),
        ("overhead_bytes", -1), ("overhead_bytes", math.nan),
    ],
)  # fmt: skip
def test_impossible_numbers_are_refused_by_name(name, value):
    with pytest.raises(DomainError) as caught:
        LinkQueue(**{"bandwidth_bps": 1e6, name: value})
    assert caught.value.name in (name, "reorder_s")


def test_a_loss_in_percent_is_recognised():
    with pytest.raises(DomainError) as caught:
        LinkQueue(bandwidth_bps=1e6, loss_ratio=3)
    assert caught.value.code == "percent-for-ratio"
    assert (caught.value.name, caught.value.values["percent"]) == ("loss_ratio", 3)


def test_a_log_that_was_not_asked_for_is_refused():
    with pytest.raises(DomainError) as caught:
        _ = LinkQueue(bandwidth_bps=1e6, log=False).log
    assert caught.value.code == "no-log"


def test_an_unknown_parameter_is_refused():
    with pytest.raises(TypeError, match="jitter_s"):
        LinkQueue(bandwidth_bps=1e6, jitter_s=0.1)


def test_rows_beyond_the_limit_of_a_log_are_counted(monkeypatch):
    monkeypatch.setattr("netcalc.emulation.queue.MAX_LOGGED", 10)
    link = LinkQueue(bandwidth_bps=1e6)
    driven(link, np.arange(25), [100] * 25)
    assert len(link.log.events()) == 10
    assert link.log.unlogged_count == 15


def test_what_a_log_has_written_is_read_in_parts():
    """identity: the same rows, wherever what another process has written so far is cut."""
    logs = [Log(), Log()]
    written, ends = b"", [0]
    for count in (3, 0, 5):
        for number, log in enumerate(logs):
            for row in range(count):
                log.add(row + 0.5, math.nan if row else 2.0, 100 + number, 7, row % 4)
            written += log.new_bytes(number)
            ends.append(len(written))
    for cut in range(0, len(written) + 1, 7):
        first, used = Log.from_new_bytes(written[:cut])
        assert used == max(end for end in ends if end <= cut)
        rest, more = Log.from_new_bytes(written[used:])
        assert used + more == len(written)
        for number, log in enumerate(logs):
            parts = [part.events() for link, part in first + rest if link == number]
            assert Events.concatenate(parts).sha256() == log.events().sha256()


def test_batches_go_on_together():
    """derived: 10 ms from the first packet of each batch; the line then takes 1 ms for each."""
    link = LinkQueue(bandwidth_bps=8e6, batch_s=0.01)
    for now_s in (0.0, 0.004, 0.0099, 0.0101, 0.030):
        link.push(bytes(1000), now_s)
    columns = link.log.events(0).columns()
    assert columns["arrival_s"] == pytest.approx([0.01, 0.01, 0.01, 0.0201, 0.04])
    assert columns["departure_s"] == pytest.approx([0.011, 0.012, 0.013, 0.0211, 0.041])
