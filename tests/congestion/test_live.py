"""Scenarios with the kernel's own TCP: the framing ceiling, sizes, requests, faults."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from netcalc.congestion import live
from netcalc.errors import DomainError, ExperimentError
from netcalc.scenario import Bottleneck, Flow, Requests, Scenario

CEILING = 1448 / 1500


def scenario(*flows, requests=(), end_s=4.0, warm_s=1.0, **shared):
    given = {"rate_bps": 10e6, "rtt_s": 0.02, "buffer_bdp": 1, **shared}
    return Scenario(bottleneck=Bottleneck.of(**given), flows=flows, requests=requests,
                    end_s=end_s, warm_s=warm_s)  # fmt: skip


@pytest.mark.live
@pytest.mark.namespace
def test_one_flow_fills_the_line_and_the_buffer():
    """derived: 1448 of 1500 bytes are payload; an ACK loss or two of the buffer are within 3 %."""
    seen = []
    found = live.record(scenario(Flow(algorithm="cubic", stop_s=4.0)),
                        progress=lambda *values: seen.append(values))  # fmt: skip
    means = found.result()
    assert means.goodput_bps[0] == pytest.approx(10e6 * CEILING, rel=0.03)
    assert 0 < means.queue_mean_bytes <= 25_000
    assert means.drop_count >= 1
    # identity: every byte that the senders sent passed the bottleneck
    assert found.states["sent_bytes"].max() >= found.received["value"].max()
    assert len(seen) > 1
    assert seen[-1][:2] == (4.0, 4.0)


@pytest.mark.live
@pytest.mark.namespace
def test_flows_that_come_and_go_share_the_line_with_requests():
    given = scenario(
        Flow(algorithm="reno", stop_s=4.0),
        Flow(algorithm="cubic", start_s=1.0, size_bytes=300_000),
        requests=[Requests(request_bytes=2000, stop_s=4.0)],
    )
    found = live.record(given)
    means = found.result()
    # derived: 300 kB alone take 0.24 s; beside another flow at least that, and less than the rest
    assert 1.24 < means.finish_s[1] < 4.0
    assert np.isnan(means.finish_s[0])
    # derived: a request takes at least the round trip and its serialization, 21.6 ms
    assert found.latencies_s(0).min() > 0.0216
    assert means.utilization <= 1.01
    assert sorted(set(found.states["index"].tolist())) == [0, 1, 2]


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.parametrize("rate_bps", [10e6, 400e6], ids=["packets", "super-packets"])
def test_each_sender_is_a_host_of_its_own(rate_bps, monkeypatch):
    """identity: flow i and request loop i are on sender i mod 3, behind the one bottleneck."""
    made, hosts = live.emulated_path, []

    def noted(given):
        path = made(given)
        opened = path.socket
        path.socket = lambda side, *more: hosts.append(side) or opened(side, *more)
        return path

    monkeypatch.setattr(live, "emulated_path", noted)
    flows = [Flow(algorithm=name, stop_s=4.0) for name in ("cubic", "reno", "cubic", "reno")]
    loops = [Requests(request_bytes=2000, stop_s=4.0)] * 2
    given = scenario(*flows, requests=loops, rate_bps=rate_bps)
    found = live.record(replace(given, senders=3))
    assert [side for side in hosts if side != "B"] == ["A", "A2", "A3", "A", "A", "A2"]
    means = found.result()
    assert len(found.cpu_s) == len(means.cpu_s) == 4
    assert np.isfinite(found.cpu_s).all()
    assert min(found.cpu_s) > 0
    # identity: each connection has states and bytes, and all bytes passed the one queue
    assert sorted(set(found.states["index"].tolist())) == list(range(6))
    assert sorted(set(found.received["index"].tolist())) == list(range(6))
    got = sum(found.received["value"][found.received["index"] == at].max() for at in range(6))
    passed = found.queue.packet_bytes[np.isfinite(found.queue.departure_s)].sum()
    assert got < passed
    # derived: they share one line, and 1448 of 1500 bytes are payload
    assert sum(means.goodput_bps) <= rate_bps * CEILING * 1.01
    assert sum(means.goodput_bps) > 0.6 * rate_bps
    assert means.queue_p95_bytes <= given.bottleneck.buffer_bytes
    assert found.latencies_s(1).min() > 0.02, "derived: the round trip without load"


@pytest.mark.live
@pytest.mark.namespace
def test_one_flow_from_one_of_eight_senders_is_like_one_flow():
    """derived: as of one sender; the other hosts have nothing to send."""
    given = replace(scenario(Flow(algorithm="cubic", stop_s=4.0)), senders=8)
    found = live.record(given)
    assert found.result().goodput_bps[0] == pytest.approx(10e6 * CEILING, rel=0.03)
    assert len(found.cpu_s) == 9


@pytest.mark.live
@pytest.mark.namespace
def test_a_stopped_run_keeps_what_it_has():
    stop = threading.Event()
    given = scenario(Flow(algorithm="reno", stop_s=60.0), end_s=60.0, warm_s=0.0)

    def enough(done_s, *_):
        if done_s >= 1.0:
            stop.set()

    found = live.record(given, progress=enough, stop=stop)
    assert found.meta.partial
    assert 1.0 <= found.ended_s < 30.0
    assert found.received["value"].max() > 100_000
    assert found.result().goodput_bps[0] > 1e6


@pytest.mark.live
@pytest.mark.namespace
def test_a_congestion_control_that_the_kernel_lacks_is_named():
    with pytest.raises(ExperimentError) as caught:
        live.run(scenario(Flow(algorithm="vegas", stop_s=4.0)))
    assert caught.value.code == "congestion-control-refused"
    assert "vegas" in str(caught.value)


@pytest.mark.each(
    ("given", "code"),
    [
        (scenario(Flow(algorithm="reno", stop_s=4.0), rate_bps=2e9), "live-rate"),
        (scenario(Flow(algorithm="reno", stop_s=4.0), mtu_bytes=576), "live-mtu"),
        (scenario(Flow(algorithm="reno", stop_s=4.0, rtt_s=0.3)), "live-rtts"),
        (scenario(Flow(algorithm="reno", stop_s=4.0), end_s=700.0), "live-end"),
        (scenario(*[Flow(algorithm="reno", stop_s=4.0)] * 201), "live-count"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_no_machine_carries_is_refused(given, code):
    """identity: before a namespace is made."""
    with pytest.raises(DomainError) as caught:
        live.run(given)
    assert caught.value.code == code
    assert caught.value.hint


def test_the_fastest_live_link_is_said_with_its_unit_and_reason():
    with pytest.raises(DomainError, match=r"10 Gbit/s.*1 Gbit/s") as caught:
        live.run(scenario(Flow(algorithm="reno", stop_s=4.0), rate_bps=1e10))
    assert "theory" in str(caught.value.hint)


@pytest.mark.live
@pytest.mark.namespace
def test_a_flow_that_did_not_connect_marks_the_run():
    """derived: it starts 10 ms before the end, and the way there takes 20 ms."""
    late = Flow(algorithm="reno", start_s=1.49, stop_s=1.5)
    usual = Flow(algorithm="reno", stop_s=1.5)
    found = live.record(scenario(usual, late, end_s=1.5, warm_s=0.5, rtt_s=0.04))
    [mark] = [one for one in found.meta.warnings if one.code == "flows-not-connected"]
    assert mark.values["count"] == 1
    assert found.meta.command
