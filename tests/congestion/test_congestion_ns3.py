"""The adapter of ns-3, with programs in its place: what it is given, and what it answers."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from netcalc.congestion import ns3
from netcalc.errors import ExperimentError
from netcalc.scenario import Bottleneck, Flow, Requests, Scenario, preset

LINK = Bottleneck.of(rate_bps=10e6, rtt_s=0.04, buffer_packets=20, loss_ratio=0.01)
SCENARIO = Scenario(
    bottleneck=LINK,
    flows=(
        Flow(algorithm="cubic", stop_s=2.0),
        Flow(algorithm="reno", start_s=0.5, size_bytes=50_000.5),
    ),
    end_s=2.0,
    warm_s=1.0,
    seed=3,
)
ANSWER = {
    "drops": 7.0,
    "payload_bytes": 1_040_000.0,
    "flows": [  # counted bytes, finish, sent, sent again
        [1_000_000.0, -1.0, 1_500_000.0, 30_000.0],
        [50_000.0, 1.5, 60_000.0, 10_000.0],
    ],
    "loops": [],
    "samples": [  # time, queue, drops so far; bytes and window of each flow
        0.5, 0.0, 0.0, 100_000.0, 14_480.0, 0.0, 0.0,
        1.0, 3000.0, 2.0, 500_000.0, 28_960.0, 10_000.0, 14_480.0,
        1.5, 6000.0, 2.0, 1_000_000.0, 28_960.0, 50_000.0, 14_480.0,
        2.0, 9000.0, 7.0, 1_500_000.0, 28_960.0, 50_000.0, 14_480.0,
    ],
}  # fmt: skip

PROGRAM = """#!{python}
import sys, time
{body}
"""


def interpreter(tmp_path, body):
    """Write a program that stands for a Python with ns-3."""
    tmp_path.mkdir(exist_ok=True)
    path = tmp_path / "python"
    path.write_text(PROGRAM.format(python=sys.executable, body=body))
    path.chmod(0o755)
    return str(path)


@pytest.mark.each(("body", "status"), [
    ("sys.exit(3)", "exit status 3"),
    ("""print('{"ready": 1}', flush=True); sys.stdin.readline(); sys.exit(4)""", "exit status 4"),
    ("print('no JSON', flush=True); time.sleep(60)", "exit status -9"),  # ended by netcalc
])  # fmt: skip
def test_a_program_that_ends_is_named_with_its_own_status(tmp_path, body, status):
    program = interpreter(tmp_path / str(len(body)), body)
    with pytest.raises(ExperimentError, match=status):
        ns3.run(SCENARIO, python=program)


def test_the_child_is_given_the_scenario():
    given = ns3.arguments(SCENARIO)
    assert given["algorithms"] == ["TcpCubic", "TcpLinuxReno"]
    assert (given["starts"], given["stops"]) == ([0.0, 0.5], [2.0, -1.0])
    assert given["sizes"] == [0.0, 50_001.0], "identity: whole bytes"
    assert (given["buffer_packets"], given["loss_ratio"], given["seed"]) == (20, 0.01, 3)
    assert json.dumps(given)


def test_numbers_become_a_result():
    found = ns3.result(SCENARIO, ANSWER)
    # derived: 1 MB in the second after the warm-up; 50 kB in the half second to its finish
    assert found.goodput_bps.tolist() == [8e6, 800e3]
    assert np.isnan(found.finish_s[0])
    assert found.finish_s[1] == 1.5
    assert found.drop_count == 7
    assert found.resent_ratio == pytest.approx(4 / 156), "derived: 40 kB of 1.56 MB"
    assert found.queue_mean_bytes == 7500, "derived: samples after 1 s: 6000 and 9000"
    assert found.queue_p95_bytes == pytest.approx(8850), "derived: 6000 + 0.95 x 3000"
    # derived: bytes of both flows from 1 s to 2 s, with the headers of their packets
    assert found.utilization == pytest.approx(1_040_000 * 8 / 10e6 * 1500 / 1448)
    course = found.trajectory
    assert course.window_packets[0].tolist() == [10.0, 0.0]
    assert course.drop_count.tolist() == [0.0, 2.0, 2.0, 7.0], "identity"
    assert course.rtt_s[1] == pytest.approx(0.04 + 0.0012 + 0.0024), "derived: 3000 B queued"
    assert found.as_dict()["finish_s"] == [None, 1.5]


def test_the_latencies_of_each_loop_are_kept():
    latencies = [0.05 + 0.001 * number for number in range(100)]
    loops = (Requests(request_bytes=10e3, stop_s=2.0), Requests(request_bytes=1e6, stop_s=2.0))
    scenario = replace(SCENARIO, requests=loops)
    found = ns3.result(scenario, ANSWER | {"loops": [latencies, [0.9]]})
    assert found.request_p50_s[0] == pytest.approx(0.0995), "derived: between the 50th and 51st"
    assert found.request_p99_s[0] == pytest.approx(0.05 + 0.001 * 98.01), "derived: 0.99 of 99 gaps"
    assert np.isnan(found.request_p50_s[1]), "identity: one request has no median"
    plain = ns3.result(SCENARIO, ANSWER)
    assert found.goodput_bps == pytest.approx(plain.goodput_bps)
    given = ns3.arguments(scenario)
    assert given["loop_sizes"] == [10_000.0, 1_000_000.0]
    assert given["loop_algorithms"] == ["TcpCubic", "TcpCubic"]


def test_a_program_answers_scenario_after_scenario(tmp_path):
    body = f"""
print('{{"ready": "ns", "version": "3.44"}}', flush=True)
for line in sys.stdin:
    print({json.dumps(json.dumps(ANSWER))}, flush=True)
"""
    results = ns3.run_many([SCENARIO, SCENARIO], python=interpreter(tmp_path, body))
    assert [one.drop_count for one in results] == [7, 7]
    found = ns3.run(SCENARIO, python=interpreter(tmp_path, body))
    assert (found.by, dict(found.about)) == ("ns3", {"ns3": "3.44"})


@pytest.mark.each(
    "body, code",
    [
        ("sys.exit(1)", "ns3-absent"),
        ("print('Traceback')", "ns3-absent"),
        ("""print('{"ready": 1}', flush=True); sys.stdin.readline()""", "ns3-failed"),
        (
            """print('{"ready": 1}', flush=True); sys.stdin.readline(); print('Segfault')""",
            "ns3-failed",
        ),
        ("""print('{"ready": 1}', flush=True); sys.stdin.close()""", "ns3-failed"),
    ],
)
def test_a_broken_simulator_is_one_sentence(tmp_path, body, code):
    with pytest.raises(ExperimentError) as refused:
        ns3.run(SCENARIO, python=interpreter(tmp_path, body))
    assert refused.value.code == code
    assert "\n" not in str(refused.value)


def test_what_cannot_be_simulated_is_refused_before_the_import(tmp_path):
    with pytest.raises(ExperimentError, match="cannot start"):
        ns3.run(SCENARIO, python=str(tmp_path / "none"))
    loop = Requests(request_bytes=1e4, stop_s=1.0)
    with pytest.raises(ExperimentError, match="has no flow"):
        ns3.run(Scenario(bottleneck=LINK, requests=(loop,), end_s=1.0))
    with pytest.raises(ExperimentError, match="50,000,000 packets, more than 30,000,000"):
        ns3.run(preset("lan"))


def test_a_slow_simulator_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(ns3, "RUN_S", 0.05)
    body = """print('{"ready": 1}', flush=True); time.sleep(30)"""
    with pytest.raises(ExperimentError, match="ended without a result"):
        ns3.run(SCENARIO, python=interpreter(tmp_path, body))


def test_the_course_has_the_round_trip_of_each_flow():
    """derived: 20 and 60 ms, the packet, and 0, 2.4, 4.8 and 7.2 ms of queue; ended at 1.5 s."""
    flows = [replace(one, rtt_s=rtt) for one, rtt in zip(SCENARIO.flows, (0.02, 0.06), strict=True)]
    course = ns3.result(replace(SCENARIO, flows=tuple(flows)), ANSWER).trajectory
    each = [[0.0212, np.nan], [0.0236, 0.0636], [0.026, 0.066], [0.0284, np.nan]]
    assert course.flow_rtt_s == pytest.approx(np.array(each), nan_ok=True)
    assert course.rtt_s.tolist() == pytest.approx([0.0212, 0.0436, 0.046, 0.0284])


def test_an_observation_shorter_than_a_sample_has_no_queue():
    """derived: 1 kB in 10 ms are 800 kbit/s; no sample, no queue."""
    brief = replace(SCENARIO, flows=SCENARIO.flows[:1], end_s=0.01, warm_s=0.0)
    rows = {"flows": [[1000.0, -1.0, 2000.0, 0.0]], "samples": [], "payload_bytes": 1000.0}
    found = ns3.result(brief, ANSWER | rows)
    assert found.goodput_bps.tolist() == pytest.approx([800e3])
    assert np.isnan(found.queue_mean_bytes)
    assert found.utilization == pytest.approx(1000 * 8 / 0.01 / 10e6 * 1500 / 1448)
    assert found.trajectory.time_s.size == 0


def test_a_flow_that_ends_in_the_warm_up_has_no_goodput():
    early = replace(SCENARIO.flows[0], stop_s=0.9)
    found = ns3.result(replace(SCENARIO, flows=(early, SCENARIO.flows[1])), ANSWER)
    assert np.isnan(found.goodput_bps[0])
    assert found.as_dict()["goodput_bps"][0] is None


@pytest.mark.each(
    "link, more, name",
    [
        ({"rate_bps": 0.1}, {}, "rate_bps"),
        ({"mtu_bytes": 70_000}, {"end_s": 2.0}, "mtu_bytes"),
        ({"buffer_packets": 1e10}, {}, "buffer_bytes"),
        ({}, {"seed": 2**31}, "seed"),
        ({}, {"requests": (Requests(request_bytes=2**32, stop_s=2.0),)},
         "requests[0].request_bytes"),
    ],
)  # fmt: skip
def test_numbers_beyond_those_of_ns3_are_refused(link, more, name):
    """identity: its types have 31, 32 or 16 bits, and a packet of IP 65,535 bytes."""
    shared = Bottleneck.of(**{"rate_bps": 10e6, "rtt_s": 0.04, "buffer_packets": 20} | link)
    with pytest.raises(ExperimentError) as refused:
        ns3.arguments(replace(SCENARIO, bottleneck=shared, **more))
    assert (refused.value.code, refused.value.values["name"]) == ("ns3-limit", name)
    assert name in str(refused.value)


def test_what_a_simulator_wrote_is_the_reason(tmp_path):
    body = (
        """print("msg='no such rate', file=x.cc", file=sys.stderr); print("bye", file=sys.stderr)"""
    )
    with pytest.raises(ExperimentError, match="no such rate"):
        ns3.run(SCENARIO, python=interpreter(tmp_path, body))


def test_the_child_is_told_where_the_delay_lies():
    assert ns3.arguments(SCENARIO)["delay_on_acks"] is False
    on_acks = replace(LINK, delay_on_acks=True)
    assert ns3.arguments(replace(SCENARIO, bottleneck=on_acks))["delay_on_acks"] is True


def test_the_child_is_told_how_many_hosts_send():
    """derived: one sender is a host for each flow and loop; two have every second one."""
    loops = (Requests(request_bytes=1e4, stop_s=1.0), Requests(request_bytes=1e6, stop_s=1.0))
    four = replace(SCENARIO, flows=SCENARIO.flows[:1] * 2, requests=loops)
    assert ns3.arguments(four)["hosts"] == [0, 1, 2, 3]
    assert ns3.arguments(replace(four, senders=2))["hosts"] == [0, 1, 0, 1]


def test_the_child_is_told_what_each_host_has_beyond_the_shortest_round_trip():
    """derived: the line has the shortest of 20 ms, 80 ms and the link's own, of the loop."""
    rtt_s = LINK.rtt_s
    flows = tuple(replace(SCENARIO.flows[0], rtt_s=at * rtt_s) for at in (0.5, 2.0))
    loop = Requests(request_bytes=1e4, stop_s=1.0)
    given = ns3.arguments(replace(SCENARIO, flows=flows, requests=(loop,)))
    assert given["rtt_s"] == 0.5 * rtt_s
    assert given["host_rtts"] == pytest.approx([0.0, 1.5 * rtt_s, 0.5 * rtt_s])
    with pytest.raises(ExperimentError) as caught:
        ns3.arguments(replace(SCENARIO, flows=flows * 2, senders=3))
    assert (caught.value.code, caught.value.values["number"]) == ("ns3-rtts-of-host", 1)


def test_a_simulator_that_a_signal_ended_is_said_with_the_place(tmp_path):
    body = """
print(" *** Break *** segmentation violation", file=sys.stderr)
print("#7  <signal handler called>", file=sys.stderr)
print("#8  0x00007f in ns3::TcpTxItem::GetPacketCopy() const () from /lib/x.so", file=sys.stderr)
print("#22 0x0000000000000000 in ?? ()", file=sys.stderr)
"""
    wanted = r"segmentation violation in ns3::TcpTxItem::GetPacketCopy\(\) const \(\)\."
    with pytest.raises(ExperimentError, match=wanted):
        ns3.run(SCENARIO, python=interpreter(tmp_path, body))
