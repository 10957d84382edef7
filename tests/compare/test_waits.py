"""Waits in a router: what is sent, what its log says, and the queues of theory beside it."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import compare
from netcalc.emulation.queue import DELIVERED, FULL, LOST, Events
from netcalc.errors import DomainError
from netcalc.experiments import router_queue
from netcalc.experiments.router_queue import BURST, QueuePlan, late_load, waits
from netcalc.path import Path
from netcalc.plots.measured import is_drawn
from netcalc.samples import Meta, Table, loads

LINE = Path.parse("1 Mbit/s 1 ms")


def plan(**given):
    return QueuePlan(**{"load": 0.5, "rate_bps": 1e6, "arrivals": "poisson", "service": "constant",
                   "payload_bytes": 272, "count": 20_000, "seed": 1, **given})  # fmt: skip


def test_constant_arrivals_are_evenly_spaced():
    """derived: 300 bytes take 2.4 ms at 1 Mbit/s, and at a load of a half come every 4.8 ms."""
    times, payloads = zip(*plan(arrivals="constant", count=3).datagrams(), strict=True)
    assert times == pytest.approx([0.0048, 0.0096, 0.0144])
    assert payloads == (272, 272, 272)


@pytest.mark.each(("arrivals", "scv"), [("poisson", 1.0), ("bursty", 9.0)])
def test_random_arrivals_have_their_load_and_variation(arrivals, scv):
    """derived: a burst of 5 has gaps 0, 0, 0, 0, X with X exponential of mean 5 g: the variance is
    2 (5 g)^2 / 5 - g^2 = 9 g^2; without bursts it is g^2. Four standard errors are allowed."""
    gaps = np.diff([at for at, _ in plan(arrivals=arrivals).datagrams()])
    assert gaps.mean() == pytest.approx(0.0048, rel=4 * np.sqrt(scv / gaps.size))
    assert gaps.var() / gaps.mean() ** 2 == pytest.approx(scv, rel=0.15)


def test_bursts_are_sent_back_to_back():
    times = np.array([at for at, _ in plan(arrivals="bursty", count=4 * BURST).datagrams()])
    assert [len(set(part)) for part in times.reshape(4, BURST)] == [1] * 4
    assert len(set(times)) == 4


def test_exponential_sizes_are_packets_that_exist():
    sizes = np.array([size for _, size in plan(service="exponential").datagrams()]) + 28
    assert sizes.min() >= 28
    assert sizes.max() <= 1500
    # derived: exp(-28/300) = 0.911 of an exponential of mean 300 lie above the least packet
    assert (sizes > 28).mean() == pytest.approx(0.911, abs=0.01)


def test_a_load_that_was_not_reached_is_said():
    """derived: 1 s of datagrams that take 1.04 s are within 5 %, those that take 1.1 s are not."""
    planned = [0.5, 1.0, 1.5]
    assert late_load(planned, np.array([0.0, 0.5, 1.04])) == ()
    [notice] = late_load(planned, np.array([0.0, 0.5, 1.1]))
    assert notice.code == "load-not-offered"
    assert "1 s took 1.1 s" in str(notice)
    assert late_load([0.5], np.array([0.0])) == late_load([], np.zeros(0)) == ()


def events():
    return Events(
        link=np.zeros(4, int),
        arrival_s=np.array([10.0, 10.001, 10.002, 10.003]),
        departure_s=np.array([10.0024, 10.0048, np.nan, 10.0072]),
        packet_bytes=np.array([300, 300, 300, 300]),
        backlog_bytes=np.array([0, 300, 600, 300]),
        fate=np.array([DELIVERED, DELIVERED, FULL, LOST], np.int8),
    )


def test_a_wait_is_what_is_left_without_the_service():
    """derived: by hand; the second leaves 3.8 ms after it came, 2.4 ms of them service."""
    found = waits(events(), 1e6)
    assert found["arrival_s"] == pytest.approx([0, 0.001, 0.002])
    assert found["wait_s"][:2] == pytest.approx([0.0, 0.0014], abs=1e-9)
    assert np.isnan(found["wait_s"][2])
    assert found["dropped"].tolist() == [0, 0, 1]
    assert found["service_s"].tolist() == [0.0024] * 3


def queue(service_s, *, seed=5, load=0.6):
    """Return a run of a queue by Lindley's recursion."""
    arrival = np.cumsum(np.random.default_rng(seed).exponential(1.0 / load, service_s.size))
    wait = np.zeros(arrival.size)
    for at in range(1, arrival.size):
        step = service_s[at - 1] - (arrival[at] - arrival[at - 1])
        wait[at] = max(0.0, wait[at - 1] + step)
    data = {"arrival_s": arrival, "wait_s": wait, "service_s": service_s,
            "packet_bytes": 125 * service_s, "backlog_bytes": 0 * wait,
            "dropped": 0 * wait}  # fmt: skip
    truth = {"there": {"buffer_packets": 50}}
    meta = Meta(tool="netcalc router-queue", experiment="router_queue",
                instrument={"truth": truth})  # fmt: skip
    return Table(data=data, meta=meta)


@pytest.mark.slow
@pytest.mark.each("kind", ["M/D/1", "M/M/1"])
def test_the_distribution_of_theory_is_that_of_a_simulated_queue(kind):
    """derived: Lindley's recursion, 40,000 customers; correlated, they leave some hundredths."""
    count = 40_000
    draw = np.random.default_rng(6)
    service = np.ones(count) if kind == "M/D/1" else draw.exponential(1.0, count)
    found = compare.overlay(loads(queue(service).dumps()))
    assert found.predicted_label.startswith(kind)
    assert np.abs(found.residual).max() < 0.05
    load = service.mean() * 0.6
    mean = load / (1 - load) / (2 if kind == "M/D/1" else 1)
    assert queue(service)["wait_s"].mean() == pytest.approx(mean, rel=0.1)
    assert "M/M/1/50" in found.sentence


def finite_queue(places, *, load, seed=8, count=20_000):
    """Return a run of M/M/1/K, customer by customer."""
    draw = np.random.default_rng(seed)
    came = np.cumsum(draw.exponential(1.0 / load, count))
    takes, free, inside = draw.exponential(1.0, count), 0.0, []
    wait, dropped = np.full(count, np.nan), np.zeros(count)
    for at, (now, service) in enumerate(zip(came.tolist(), takes.tolist(), strict=True)):
        inside = [end for end in inside if end > now]
        if len(inside) >= places:
            dropped[at] = 1.0
            continue
        wait[at] = max(free - now, 0.0)
        free = max(free, now) + service
        inside.append(free)
    data = {"arrival_s": came, "wait_s": wait, "service_s": takes, "packet_bytes": 125 * takes,
            "backlog_bytes": 0 * takes, "dropped": dropped}  # fmt: skip
    meta = Meta(experiment="router_queue",
                instrument={"truth": {"there": {"buffer_packets": places}}})  # fmt: skip
    return Table(data=data, meta=meta)


@pytest.mark.each("load", [0.8, 1.4])
def test_a_finite_queue_has_the_distribution_of_the_finite_model(load):
    """derived: a queue simulated one by one; M/M/1 knows no capacity, and none at all above 1."""
    run = finite_queue(4, load=load)
    assert np.abs(compare.waits(run).residual).max() < 0.02
    assert compare.waits(run).predicted_label.startswith("M/M/1/4")
    assert np.abs(compare.waits(run, model="M/M/1").residual).max() > 0.05


def test_what_a_model_makes_of_the_measured_arrivals_is_the_measured_wait():
    """derived: by hand; 2 s each, at 0, 1, 2 and 10 s, the third is dropped."""
    names = ("arrival_s", "wait_s", "service_s", "packet_bytes", "backlog_bytes", "dropped")
    rows = zip((0, 0, 2, 250, 0, 0), (1, 1, 2, 250, 250, 0), (2, np.nan, 2, 250, 500, 1),
               (10, 0, 2, 250, 0, 0), strict=True)  # fmt: skip
    data = dict(zip(names, map(np.array, rows), strict=True))
    run = Table(data=data, meta=Meta(experiment="router_queue"))
    found = compare.waits(run, model="one server, these arrivals")
    assert found.x.tolist() == [0, 0, 1]
    assert found.residual.tolist() == [0, 0, 0]
    assert list(compare.wait_models(run)) == ["M/M/1", "M/D/1", "one server, these arrivals"]


def test_a_model_that_is_not_there_is_refused():
    with pytest.raises(DomainError):
        compare.waits(queue(np.ones(9)), model="M/G/1")


def test_poisson_arrivals_have_exponential_gaps_and_geometric_batches():
    """derived: 1.36 / sqrt(n) bounds the difference in 95 of 100 runs; this one is fixed."""
    run = queue(np.ones(10_000))
    assert np.abs(compare.arrival_gaps(run).residual).max() < 1.36 / np.sqrt(10_000)
    found = compare.arrival_batches(run)
    assert np.abs(found.residual).max() < 0.01
    # derived: load 0.6, within 0.05 services: exp(-0.03) come alone; the mean gap is within 3 %
    assert found.predicted[0] == pytest.approx(np.exp(-0.03), rel=1e-3)


def test_batches_are_counted():
    """derived: by hand; three together, one alone, two together."""
    at = np.array([0, 0, 0, 5, 9, 9.01])
    names = ("wait_s", "packet_bytes", "backlog_bytes", "dropped")
    data = {"arrival_s": at, "service_s": np.ones(6), **dict.fromkeys(names, np.zeros(6))}
    found = compare.arrival_batches(Table(data=data, meta=Meta(experiment="router_queue")))
    assert found.x.tolist() == [1, 2, 3]
    assert found.measured == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert "2 packets in the mean, at most 3" in found.sentence


def test_a_saved_run_is_drawn_and_another_table_is_not():
    run = queue(np.ones(100))
    assert is_drawn(run)
    assert not is_drawn(Table(data={"wait_s": [1.0]}))


def test_a_run_without_packets_is_compared_too():
    names = ("arrival_s", "wait_s", "service_s", "packet_bytes", "backlog_bytes", "dropped")
    empty = Table(data=dict.fromkeys(names, np.zeros(0)), meta=Meta(experiment="router_queue"))
    for compared in (compare.overlay, compare.arrival_gaps, compare.arrival_batches):
        assert "Fewer than two" in compared(empty).sentence


@pytest.mark.each("given", [
    {"arrivals": "poison"}, {"service": "slow"}, {"utilization": 0}, {"payload_bytes": 1473},
    {"place_count": 0}, {"batch_s": -1}, {"batch_s": 2}, {"path": Path.parse("T1 1 ms, T1 1 ms")},
])  # fmt: skip
def test_what_cannot_be_sent_is_refused(given):
    with pytest.raises(DomainError):
        router_queue(**{"path": LINE, **given})


@pytest.mark.live
@pytest.mark.namespace
def test_a_live_router_is_the_queue_of_its_arrivals():
    """derived: Lindley's recursion over the logged arrivals gives the wait of each packet."""
    found = router_queue(0.7, path=LINE, count=300)
    assert len(found) == 300
    arrival, wait = found["arrival_s"], 0.0
    for at in range(1, len(found)):
        wait = max(0.0, wait + 0.0024 - (arrival[at] - arrival[at - 1]))
        assert found["wait_s"][at] == pytest.approx(wait, abs=1e-6)


@pytest.mark.live
@pytest.mark.namespace
def test_a_short_buffer_drops_and_bounds_the_wait():
    """derived: with two places a packet waits at most for the one on the line, 2.4 ms."""
    found = router_queue(1.5, path=LINE, count=200, place_count=2, arrivals="bursty")
    dropped = found["dropped"] > 0
    # derived: of five back to back at least three find no place
    assert dropped.sum() >= 120
    assert found["wait_s"][~dropped].max() <= 0.0024 + 1e-6


@pytest.mark.live
@pytest.mark.namespace
def test_a_box_that_hands_over_batches_is_seen_in_its_arrivals():
    """derived: a datagram each 4.8 ms, collected for 20 ms from the first on: at most five come
    together, and batches begin 20 ms apart or more."""
    found = router_queue(0.5, path=LINE, count=200, arrivals="constant", batch_s=0.02)
    gaps = np.diff(found["arrival_s"])
    assert np.all((gaps < 1e-3) | (gaps > 0.019))
    together = compare.arrival_batches(found)
    assert together.measured[[0, 1]].sum() < 0.1
    assert together.x.max() >= 4
    replayed = compare.waits(found, model="one server, these arrivals")
    assert np.abs(replayed.residual).max() < 0.01, "the server is one, whatever the arrivals are"
    assert np.abs(compare.waits(found, model="M/D/1").residual).max() > 0.2
