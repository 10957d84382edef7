"""Flows to a peer on a second machine: their bytes, their ends, and the shares of a known line."""

from __future__ import annotations

import json
import os
import sys
import time

import numpy as np
import pytest

from netcalc.congestion import live, theory
from netcalc.congestion.recording import as_table, from_table, parse_rows
from netcalc.emulation import EmulatedPath
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments.peers.remote import FarPeer, Offset
from netcalc.path import Path
from netcalc.scenario import Bottleneck, Flow, Requests, Scenario, as_document
from tests.experiments.conftest import serving

LOOP = Requests(request_bytes=100, reply_bytes=100, algorithm="reno", stop_s=1.0)
WAY = Bottleneck(rate_bps=1e9, rtt_s=1e-3, buffer_bytes=150_000)
THERE = FarPeer("127.0.0.1", token="abcd-efgh-ijkm-npqr")


def endless(**options):
    return Flow(algorithm="reno", stop_s=600.0, **options)


def scenario(*flows, end_s=1.0, **options):
    return Scenario(bottleneck=WAY, flows=flows, end_s=end_s, **options)


@pytest.mark.live
def test_each_flow_is_counted_from_its_start_to_its_end():
    flows = (
        Flow(algorithm="reno", size_bytes=300_000),
        Flow(algorithm="cubic", start_s=0.4, size_bytes=2_000_000),
        Flow(algorithm="reno", start_s=0.3, stop_s=0.6, size_bytes=10**12),
    )
    with serving(carried_bytes=10**12) as served:
        recording = live.record(scenario(*flows), peer=served.peer)
    end_s = np.array([1.0])
    assert recording.received_bytes(0, end_s)[0] == 300_000
    assert recording.received_bytes(1, end_s)[0] == 2_000_000
    # Nothing of a flow before its start; the clocks of both ends are the same here.
    error_s = recording.meta.instrument.clock_error_s
    for index, start_s in ((1, 0.4), (2, 0.3)):
        rows = recording.received[recording.received["index"] == index]
        begun = rows["at_ns"][rows["value"] > 0][0] * 1e-9
        assert begun > start_s - error_s
        assert recording.received_bytes(index, np.array([start_s - error_s]))[0] == 0
    assert recording.received_bytes(2, end_s)[0] > 0
    assert set(recording.states["index"]) == {0, 1, 2}
    assert np.isfinite(recording.result().finish_s).tolist() == [True, True, False]


class Far:
    """A peer that has counted two flows by 100 and 200 ns of its clock, which is 10 ns ahead."""

    clock = Offset(10, 1)

    def __init__(self):
        self.so_far_says = [
            {"at_ns": 100, "flow_bytes": [0, 5]}, {"at_ns": 200, "flow_bytes": [70, 5]},
        ]  # fmt: skip
        self.report = None

    def order(self, name, **fields):
        return 1

    def so_far(self, number):
        return self.so_far_says.pop(0)

    def answer_if_there(self, number):
        return self.report


def test_what_a_peer_counted_is_in_the_order_of_time():
    """By hand: flow 0 from 150 to 250, flow 1 from 60 to 80 of its clock, both 10 less here."""
    far = Far()
    sink = live._FarSink(far, 1, count=2)
    sink.zero_ns = 40
    sink.poll()
    sink.poll()
    far.report = {
        "end_ns": 300, "flow_bytes": [90, 5], "spans_ns": [[150, 250], [60, 80]],
        "user_s": 0.5, "system_s": 0.25,
    }  # fmt: skip
    sink.poll()
    _, received, _ = parse_rows(sink.rows())
    rows = received[["at_ns", "value"]]
    assert rows[received["index"] == 0].tolist() == [
        (60, 0), (100, 0), (160, 70), (200, 90), (260, 90),
    ]  # fmt: skip
    assert rows[received["index"] == 1].tolist() == [
        (10, 0), (30, 5), (60, 5), (160, 5), (260, 5),
    ]  # fmt: skip
    assert sink.report_of_run["count"] == 2
    assert sink.cpu_s == 0.75
    assert sink.total_bytes == 95


@pytest.mark.live
def test_a_run_to_a_peer_is_saved_and_read_like_any_other():
    with serving() as served:
        recording = live.record(
            scenario(Flow(algorithm="reno", size_bytes=10**6)), peer=served.peer
        )
    assert recording.result().about["to"] == "peer 127.0.0.1, TCP"
    assert recording.meta.instrument.peer_machine["python"].startswith("3.")
    assert served.service.token not in json.dumps(recording.meta.stored(), default=str)
    again = from_table(as_table(recording))
    assert again.queue is None
    assert (again.received["value"] == recording.received["value"]).all()
    assert np.isnan(again.result().drop_count)


@pytest.mark.live
def test_a_peer_that_reaches_its_limit_leaves_what_was_recorded():
    with serving(carried_bytes=10**7) as served, pytest.raises(ExperimentError) as caught:
        live.record(scenario(endless(), end_s=5.0), peer=served.peer)
    assert caught.value.code == "peer-limit-bytes"
    assert caught.value.partial.meta.partial
    assert caught.value.partial.states.size


@pytest.mark.live
def test_a_stop_ends_both_ends_and_keeps_what_was_recorded():
    end_s = time.monotonic() + 1.0
    with serving(carried_bytes=10**12) as served:
        run = scenario(endless(), end_s=30.0)
        recording = live.record(run, peer=served.peer, stop=lambda: time.monotonic() > end_s)
    assert recording.meta.partial
    assert 0 < recording.ended_s < 30
    assert recording.received["value"].max() > 0


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("requests", {"requests": (LOOP,)}),
        ("senders", {"senders": 2}),
        ("end_s", {"end_s": 1e4}),
    ],
)
def test_what_a_peer_does_not_do_is_refused_before_it_is_asked(field, given):
    with pytest.raises(DomainError) as caught:
        live.record(scenario(endless(), endless(), **given), peer=THERE)
    assert caught.value.name == field


@pytest.mark.live
@pytest.mark.namespace
def test_two_flows_share_a_known_line_as_theory_says():
    """Both ends in namespaces of an emulated path of 10 Mbit/s and 20 ms, each its own program.

    1448 of 1500 bytes of a full packet are payload. The second flow has its share after some
    seconds; from then on Jain's index is at least 0.8, that of shares of 1 to 3.
    """
    run = Scenario(
        bottleneck=Bottleneck(rate_bps=1e7, rtt_s=0.02, buffer_bytes=50_000),
        flows=(endless(), endless(start_s=1.0)), end_s=10.0, warm_s=4.0,
    )  # fmt: skip
    program = (
        "import sys; from netcalc.congestion import live; from netcalc.scenario import "
        "from_document; from netcalc.congestion.recording import as_table; import json; "
        "from netcalc.experiments import Peer; host, token, document = sys.argv[1:]; "
        "found = live.run(from_document(json.loads(document)), peer=Peer(host, token=token)); "
        "print(json.dumps(found.as_dict()))"
    )
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with EmulatedPath(Path.parse("10 Mbit/s 10 ms"), buffer_bytes=50_000) as path:
        command = [sys.executable, "-m", "netcalc", "peer", "--for", "60s", "--listen"]
        host = path.address("B")
        with path.start([*command, host], "B", stdout=-1, text=True, env=environment) as peer:
            try:
                lines = iter(peer.stdout.readline, "")
                token = next(line.split()[1] for line in lines if line.startswith("Token"))
                arguments = [host, token, json.dumps(as_document(run))]
                done = path.run([sys.executable, "-c", program, *arguments], "A", env=environment)
            finally:
                peer.terminate()
    assert not done.returncode, done.stderr
    found = json.loads(done.stdout)
    assert sum(found["goodput_bps"]) == pytest.approx(1e7 * 1448 / 1500, rel=0.03)
    assert found["utilization"] == pytest.approx(1.0, abs=0.03)
    assert found["jain"] > 0.8
    assert theory.run(run, stack="linux").jain > 0.8
