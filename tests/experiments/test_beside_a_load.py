"""Round trips without and with a load: their phases, their rates, and an emulated path's buffer."""

from __future__ import annotations

import socket

import numpy as np
import pytest

from netcalc import compare, explain
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import working_latency
from netcalc.experiments.peers.remote import FarPeer
from netcalc.experiments.running.stopping import Clock, Stopping
from netcalc.experiments.working_latency import LoadPlan, TimedProbes
from netcalc.path import Path
from netcalc.samples import load
from tests.experiments.conftest import serving

LINE = Path.parse("1 Mbit/s 5 ms")


def plan(**changes):
    settings = {
        "directions": ("forward", "both"), "duration_s": 0.3, "warm_s": 0.1, "interval_s": 0.1,
        "payload_bytes": 64, "timeout_s": 1.0, "congestion_control": "", **changes,
    }  # fmt: skip
    return LoadPlan(**settings)


def test_a_plan_has_idle_phases_around_those_with_a_load():
    assert plan().phases == ("idle", "forward", "both", "idle after")
    assert plan().phase_count == 3  # 0.3 / 0.1 is 2.9999999999999996
    assert plan().way_count == 3


def test_the_transfers_together_carry_no_more_than_a_run_may():
    """By hand: three ways, 20 GB."""
    assert 3 * plan().transfer.total_bytes <= 20 * 10**9


@pytest.mark.parametrize(
    "wrong",
    [
        {"directions": ("up",)}, {"directions": ()}, {"directions": ("back", "back")},
        {"duration_s": 0}, {"warm_s": -1}, {"interval_s": 0}, {"payload_bytes": 7},
        {"timeout_s": float("nan")},
    ],
)  # fmt: skip
def test_what_no_run_can_be_is_refused(wrong, no_process):
    with pytest.raises(DomainError):
        working_latency(**{"path": LINE, **wrong})


def test_a_peer_has_no_buffer_that_is_set(no_process):
    peer = FarPeer("127.0.0.1", token="abcd-efgh-ijkm-npqr")
    with pytest.raises(DomainError) as caught:
        working_latency(peer=peer, link_buffer_bytes=1000)
    assert caught.value.code == "not-with-peer"


def test_a_run_needs_a_path_or_a_peer(no_process):
    with pytest.raises((DomainError, ExperimentError)) as caught:
        working_latency()
    assert "path" in str(caught.value)


@pytest.fixture
def pair():
    """Probes over the loopback, and the other end."""
    there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    there.bind(("127.0.0.1", 0))

    def connect():
        here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        here.connect(there.getsockname())
        return here

    with Stopping(None, limit_s=10) as stopping:
        probes = TimedProbes(connect, b"sessions", timeout_s=0.2, stopping=stopping)
        probes.start()
        yield probes, there
        probes.close()
    there.close()


def test_a_probe_does_not_wait_for_the_one_before(pair):
    """The replies come in the other order, and each is taken for its own probe."""
    probes, there = pair
    now_ns = Clock().now_ns
    for number in (1, 2):
        probes.send(bytearray(20), number, now_ns())
    requests = [there.recvfrom(100) for _ in range(2)]
    for data, address in reversed(requests):
        there.sendto(data, address)
    while probes.is_waiting(now_ns()):
        probes.receive(0.01)
    assert list(probes.rtt_ns) == [2, 1]
    assert min(probes.rtt_ns.values()) > 0
    assert probes.rtt_ns[1] > 0


def test_replies_that_are_none_are_counted(pair):
    """A stray one, a second one, and one after the timeout."""
    probes, there = pair
    now_ns = Clock().now_ns
    probes.send(bytearray(20), 1, now_ns())
    probes.send(bytearray(20), 2, now_ns() - 10**9)
    (first, address), (late, _) = (there.recvfrom(100) for _ in range(2))
    for data in (b"\1\0\0\0foreign", first, first, late):
        there.sendto(data, address)
    for _ in range(4):
        probes.receive(0.2)
    replies = probes.replies
    assert list(probes.rtt_ns) == [1]
    assert (replies.foreign_count, replies.duplicate_count, replies.late_count) == (1, 1, 1)
    assert not probes.is_waiting(now_ns())


def test_to_a_peer(tmp_path, nothing_left):
    file = tmp_path / "far.json"
    with serving(carried_bytes=10**11) as served:
        samples = working_latency(duration_s=0.4, warm_s=0.1, peer=served.peer, save=file)
    names = ["idle", "forward", "back", "both", "idle after"]
    assert samples.groups == names
    assert [np.count_nonzero(samples.group == name) for name in names] == [20] * 5
    assert samples.meta.target == "peer 127.0.0.1, UDP beside TCP"
    assert [row["group"] for row in samples.facts()] == names
    ways = {"forward", "back", "forward of both", "back of both"}
    rates = samples.meta.instrument.load_rates_bps
    assert set(rates) <= ways
    assert all(rate > 0 for rate in rates.values())
    # One probe of warm-up at least, and each probe of a phase that was not lost.
    assert samples.meta.instrument.peer_echoed_count >= 1 + samples.received
    assert load(file).meta.instrument.load_rates_bps == rates
    assert compare.overlay(load(file)).predicted_label == "median of each phase"


def test_a_peer_that_reaches_its_limit_leaves_what_was_measured(nothing_left):
    with serving(carried_bytes=10**6) as served, pytest.raises(ExperimentError) as caught:
        working_latency(["forward"], duration_s=0.5, warm_s=0.5, peer=served.peer)
    assert caught.value.code == "peer-limit-bytes"
    assert caught.value.partial.groups == ["idle"]
    assert caught.value.partial.meta.partial


@pytest.mark.live
@pytest.mark.namespace
def test_the_longest_round_trip_is_the_path_and_its_full_buffer(nothing_left):
    """derived: 92 bytes take 0.736 ms at 1 Mbit/s, the path 10 ms, 25,000 bytes of buffer 200 ms; a
    probe finds the queue full but for a packet of 1500 bytes, 12 ms, or it is lost. A busy machine
    delays some packets, but not one in fifty by a twentieth of that."""
    samples = working_latency(
        ["back", "both"],
        duration_s=2.5,
        warm_s=1.5,
        path=LINE,
        link_buffer_bytes=25_000,
        congestion_control="reno",
    )
    rtt_s = {
        name: np.asarray(samples.rtt_s)[samples.measured & (samples.group == name)]
        for name in samples.groups
    }
    empty_s = 0.01 + 2 * 8 * 92 / 1e6
    assert np.median(rtt_s["idle"]) == pytest.approx(empty_s, rel=0.05)
    assert np.median(rtt_s["idle after"]) == pytest.approx(empty_s, rel=0.05)
    assert np.quantile(rtt_s["back"], 0.98) == pytest.approx(empty_s + 0.2 - 0.006, rel=0.05)
    assert rtt_s["both"].max() > rtt_s["back"].max()
    # 1448 of 1500 bytes of a full packet are payload, and probes take 8 * 92 / 0.02 bit/s. What a
    # lost packet holds back at either end of the 2.5 s is at most a window of 26,250 bytes.
    rate_bps = samples.meta.instrument.load_rates_bps["back"]
    assert rate_bps == pytest.approx((1e6 - 36_800) * 1448 / 1500, abs=8 * 26_250 / 2.5)

    compared = compare.overlay(samples)
    queues = {"idle": 0, "back": 1, "both": 2, "idle after": 0}
    predicted = [empty_s + 0.2 * queues[name] for name in samples.group[samples.measured]]
    assert compared.predicted == pytest.approx(predicted)
    said = {finding.label: finding for finding in explain.measurement(samples)}
    assert {notice.code for notice in said["back"].notices} >= {"working-latency"}
    assert not {notice.code for notice in said["idle"].notices} & {"working-latency"}
