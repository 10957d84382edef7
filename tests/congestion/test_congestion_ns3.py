"""The adapter of ns-3, with programs in its place: what it is given, and what it answers."""

from __future__ import annotations

import json
import sys

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
NUMBERS = [
    7.0,  # drops
    1_000_000.0, -1.0, 1_500_000.0, 30_000.0,  # counted bytes, finish, sent, resent
    50_000.0, 1.5, 60_000.0, 10_000.0,
    0.5, 0.0, 100_000.0, 14_480.0, 0.0, 0.0,  # time, queue; bytes and window of each flow
    1.0, 3000.0, 500_000.0, 28_960.0, 10_000.0, 14_480.0,
    1.5, 6000.0, 1_000_000.0, 28_960.0, 50_000.0, 14_480.0,
    2.0, 9000.0, 1_500_000.0, 28_960.0, 50_000.0, 14_480.0,
]  # fmt: skip

PROGRAM = """#!{python}
import sys, time
{body}
"""


def interpreter(tmp_path, body):
    """Write a program that stands for a Python with ns-3."""
    path = tmp_path / "python"
    path.write_text(PROGRAM.format(python=sys.executable, body=body))
    path.chmod(0o755)
    return str(path)


def test_the_child_is_given_the_scenario():
    given = ns3.arguments(SCENARIO)
    assert given["algorithms"] == ["TcpCubic", "TcpLinuxReno"]
    assert (given["starts"], given["stops"]) == ([0.0, 0.5], [2.0, -1.0])
    assert given["sizes"] == [0.0, 50_001.0], "identity: whole bytes"
    assert (given["buffer_packets"], given["loss_ratio"], given["seed"]) == (20, 0.01, 3)
    assert json.dumps(given)


def test_numbers_become_a_result():
    found = ns3.result(SCENARIO, np.array(NUMBERS))
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
    assert course.rtt_s[1] == pytest.approx(0.04 + 0.0012 + 0.0024), "derived: 3000 B queued"
    assert found.as_dict()["finish_s"] == [None, 1.5]


def test_a_program_answers_scenario_after_scenario(tmp_path):
    body = f"""
print('{{"ready": "ns", "version": "3.44"}}', flush=True)
for line in sys.stdin:
    print({json.dumps(json.dumps(NUMBERS))}, flush=True)
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
