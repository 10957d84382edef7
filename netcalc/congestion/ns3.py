"""ns-3 as an independent judge: the same scenario, simulated packet by packet.

The simulator runs in its own process, by the interpreter that has it: netcalc's own, or another
one. Its import takes 10 to 20 seconds; a :class:`Simulator` pays that once for many scenarios.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.congestion.result import (
    Latencies,
    Result,
    Trajectory,
    counted_span_s,
    mean_rtt_s,
    segment_bytes,
)
from netcalc.errors import ExperimentError
from netcalc.printable import safe_str
from netcalc.scenario import Scenario

CHILD = Path(__file__).with_name("_ns3_child.py")

ALGORITHMS = {
    "reno": "TcpLinuxReno",
    "cubic": "TcpCubic",
    "bbr": "TcpBbr",
    "vegas": "TcpVegas",
    "dctcp": "TcpDctcp",
}
"""ns-3's names; its TcpNewReno is held back by delayed ACKs, TcpLinuxReno is not."""

STEP_S = 0.02
"""Interval of the samples. [s]"""

START_S = 120.0
"""Longest time for the import and the compiler. [s]"""

RUN_S = 3600.0
"""Longest time for one scenario: some 60 us of computing for each of MOST_PACKETS, and more on a
busy machine. [s]"""

ENDING_S = 2.0
"""How long a process that gave no answer may take to end by itself. [s]"""

MOST_PACKETS = 30e6
"""Packets beyond which a scenario is refused: an hour of computing. [packet]"""

MOST_HELD_BYTES = (2**32 - 1 - 4e6) / 6
"""Bandwidth-delay product and buffer together: the socket buffers of the simulation are up to six
times as large plus 4 MB, and ns-3 has 32 bits for them. [byte]"""

LONGEST_REASON = 300
"""Characters that are shown of what a simulator that failed has written. [1]"""


class Simulator:
    """A process with ns-3, for one scenario after the other.

    Parameters
    ----------
    python : str, optional
        The interpreter that has ns-3; netcalc's own by default.

    Raises
    ------
    ExperimentError
        If ns-3 is absent or does not work there.
    """

    def __init__(self, python: str | None = None) -> None:
        self._python = python or sys.executable
        command = [self._python, "-u", str(CHILD)]
        self._written = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._written,
                text=True,
                start_new_session=True,
                env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            )
        except OSError as error:
            self._written.close()
            raise ExperimentError(
                "ns3-no-python", phase="ns-3", python=self._python, reason=str(error.strerror)
            ) from None
        ready = self._line(START_S)
        if not ready.startswith('{"ready"'):
            raise self._failure("ns3-absent")
        self.version = str(json.loads(ready).get("version", ""))

    def run(self, scenario: Scenario) -> Result:
        """Simulate a scenario.

        Raises
        ------
        ExperimentError
            If ns-3 fails, or the scenario is beyond it.
        """
        order = arguments(scenario)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except OSError:  # it has ended: the answer below is empty
            pass
        line = self._line(RUN_S)
        try:
            answer = json.loads(line)
        except ValueError:
            raise self._failure("ns3-failed") from None
        return replace(result(scenario, answer), about={"ns3": self.version})

    def close(self) -> None:
        """End the process."""
        process = self._process
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.kill()
        process.wait()
        self._written.close()

    def _failure(self, code: str) -> ExperimentError:
        """End the process, and return what it said at last as an error."""
        try:
            status = self._process.wait(ENDING_S)  # its own status, where it has ended by itself
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._written.seek(0)
        lines = self._written.read().decode(errors="replace").split("\n")
        printed = [line.strip() for line in lines if line.strip()]
        broken = [line for line in printed if "*** Break ***" in line]  # by a signal
        frames = [line.split(" in ", 1)[1] for line in printed if " in ns3::" in line]
        printed = [line for line in printed if "msg=" in line] or printed  # ns-3's own fatal errors
        reason = printed[-1] if printed else f"no reason was written, exit status {status}"
        if broken:
            where = f" in {frames[0].split(' from ')[0]}" if frames else ""
            reason = broken[0].replace("*** Break ***", "").strip() + where
        self.close()
        shown = safe_str(reason)[:LONGEST_REASON]
        return ExperimentError(code, phase="ns-3", python=self._python, reason=shown)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _line(self, timeout_s: float) -> str:
        """Return the next line of the process, empty if it ends, or is ended for its slowness."""
        assert self._process.stdout is not None
        watch = threading.Timer(timeout_s, self._process.kill)
        watch.daemon = True
        watch.start()
        try:
            return self._process.stdout.readline()
        finally:
            watch.cancel()


@named_arguments
def run(scenario: Scenario, *, python: str | None = None) -> Result:
    """Simulate one scenario in a process of its own.

    Parameters
    ----------
    scenario : Scenario
        What to simulate.
    python : str, optional
        The interpreter that has ns-3; netcalc's own by default.

    Raises
    ------
    ExperimentError
        If ns-3 is absent or fails, or the scenario is beyond it.
    """
    arguments(scenario)  # refused before the import
    with Simulator(python) as simulator:
        return simulator.run(scenario)


@named_arguments
def arguments(scenario: Scenario) -> dict[str, Any]:
    """Return what the child program is given.

    Raises
    ------
    ExperimentError
        If the scenario has no flow, a number that ns-3 does not take, or more packets than it gets
        through.
    """
    link = scenario.bottleneck
    if not scenario.flows:
        raise ExperimentError("ns3-no-flows", phase="ns-3")
    _require_possible(scenario)
    packets = link.rate_bps / (8 * link.mtu_bytes) * scenario.end_s
    if packets > MOST_PACKETS:
        raise ExperimentError("ns3-too-long", phase="ns-3", packets=packets, limit=MOST_PACKETS)
    hosts = _hosts(scenario)
    rtts_s = _rtts_of_hosts(scenario, hosts)
    shortest_s = min(rtts_s)
    return {
        "rate_bps": link.rate_bps,
        "rtt_s": shortest_s,
        "buffer_packets": link.buffer_packets,
        "marking_packets": link.marking_packets,
        "mtu_bytes": link.mtu_bytes,
        "loss_ratio": link.loss_ratio,
        "end_s": scenario.end_s,
        "warm_s": scenario.warm_s,
        "seed": scenario.seed,
        "step_s": STEP_S,
        "delay_on_acks": link.delay_on_acks,
        "hosts": hosts,
        "host_rtts": [rtt_s - shortest_s for rtt_s in rtts_s],
        "algorithms": [ALGORITHMS[flow.algorithm] for flow in scenario.flows],
        "starts": [flow.start_s for flow in scenario.flows],
        "stops": [-1.0 if flow.stop_s is None else flow.stop_s for flow in scenario.flows],
        "sizes": [0.0 if flow.size_bytes is None else flow.size_bytes for flow in scenario.flows],
        "loop_algorithms": [ALGORITHMS[loop.algorithm] for loop in scenario.requests],
        "loop_starts": [loop.start_s for loop in scenario.requests],
        "loop_stops": [loop.stop_s for loop in scenario.requests],
        "loop_sizes": [loop.request_bytes for loop in scenario.requests],
        "loop_replies": [loop.reply_bytes for loop in scenario.requests],
    }


def _hosts(scenario: Scenario) -> list[int]:
    """Return the number of the host of each flow and then of each request loop.

    With one sender each has a host, and so an access line, of its own: a shared one would be a
    queue that no other way has.
    """
    if scenario.senders == 1:
        return list(range(len(scenario.flows) + len(scenario.requests)))
    of = scenario.sender_of
    return [*map(of, range(len(scenario.flows))), *map(of, range(len(scenario.requests)))]


def _rtts_of_hosts(scenario: Scenario, hosts: list[int]) -> list[float]:
    """Return the round-trip time of each host: all that it sends has the same."""
    loops = [scenario.bottleneck.rtt_s] * len(scenario.requests)
    found: dict[int, float] = {}
    for host, rtt_s in zip(hosts, (*scenario.rtts_s(), *loops), strict=True):
        if found.setdefault(host, rtt_s) != rtt_s:
            raise ExperimentError("ns3-rtts-of-host", phase="ns-3", number=host + 1)
    return [found.get(host, min(found.values())) for host in range(max(hosts) + 1)]


def _require_possible(scenario: Scenario) -> None:
    """Refuse numbers that ns-3's own types do not hold: it would end, or take others instead."""
    link = scenario.bottleneck
    most_rate = 2**64 / 40  # an access line has 20 times the rate, of 64 bits
    limits = [
        ("rate_bps", link.rate_bps, 1.0, most_rate),
        ("mtu_bytes", link.mtu_bytes, 68.0, 65535.0),
        ("seed", scenario.seed, 0.0, 2**31 - 1.0),
        ("buffer_bytes", link.buffer_bytes + link.bdp_bytes, 0.0, MOST_HELD_BYTES),
    ]
    for at, flow in enumerate(scenario.flows):
        limits.append((f"flows[{at}].size_bytes", flow.size_bytes or 1.0, 1.0, 2.0**53))
    for at, loop in enumerate(scenario.requests):
        limits.append((f"requests[{at}].request_bytes", loop.request_bytes, 1.0, 2**32 - 1.0))
        limits.append((f"requests[{at}].reply_bytes", loop.reply_bytes, 1.0, 2**32 - 1.0))
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise ExperimentError(
                "ns3-limit", phase="ns-3", name=name, value=value, low=low, high=high
            )


@named_arguments
def result(scenario: Scenario, answer: Mapping[str, Any]) -> Result:
    """Make a result of the child's answer.

    Parameters
    ----------
    scenario : Scenario
        What was simulated.
    answer : mapping
        ``drops``; ``payload_bytes`` that the receivers got after ``warm_s``; ``flows``: of each the
        counted bytes, the finish, and the bytes sent and sent again; ``loops``: the latencies of
        each; and ``samples``: time, queue, drops so far, and of each flow bytes and window, one
        after the other.
    """
    count = len(scenario.flows)
    counted, finish, sent, resent = np.array(answer["flows"], dtype=float).reshape(count, 4).T
    samples = np.array(answer["samples"], dtype=float).reshape(-1, 3 + 2 * count)
    finish = np.where(finish < 0, np.nan, finish)
    spans = np.array([counted_span_s(flow, scenario) for flow in scenario.flows]).reshape(-1, 2)
    lengths = np.fmin(spans[:, 1], finish) - spans[:, 0]
    ran = lengths > 0
    queue = samples[samples[:, 0] > scenario.warm_s, 1]
    if not queue.size:  # no sample in an observation that is shorter than their interval
        queue = np.array([np.nan])
    payload_bps = answer["payload_bytes"] * 8 / (scenario.end_s - scenario.warm_s)
    packet_share = scenario.bottleneck.mtu_bytes / segment_bytes(scenario)
    median, p95 = np.percentile(queue, [50, 95])
    loops = tuple(Latencies(np.array(latencies, dtype=float)) for latencies in answer["loops"])
    return Result(
        scenario=scenario,
        by="ns3",
        goodput_bps=np.where(ran, counted * 8 / np.where(ran, lengths, 1.0), np.nan),
        queue_mean_bytes=float(queue.mean()),
        queue_median_bytes=float(median),
        queue_p95_bytes=float(p95),
        drop_count=float(answer["drops"]),
        finish_s=finish,
        utilization=payload_bps / scenario.bottleneck.rate_bps * packet_share,
        trajectory=_trajectory(scenario, samples, finish),
        resent_ratio=float(resent.sum() / sent.sum()) if sent.sum() else float("nan"),
        requests=loops or None,
    )


def _trajectory(scenario: Scenario, samples: FloatArray, finish: FloatArray) -> Trajectory:
    link = scenario.bottleneck
    own_s = scenario.longest_rtt_s + 8 * link.mtu_bytes / link.rate_bps
    rtt_s, flow_rtt_s = own_s + 8 * samples[:, 1] / link.rate_bps, None
    if not scenario.has_one_rtt:
        shorter_s = scenario.longest_rtt_s - np.array(scenario.rtts_s())
        starts = np.array([flow.start_s for flow in scenario.flows])
        stops = [scenario.end_s if flow.stop_s is None else flow.stop_s for flow in scenario.flows]
        time = samples[:, :1]
        runs = (time > starts) & (time <= np.fmin(stops, finish) + STEP_S)
        flow_rtt_s = np.where(runs, rtt_s[:, np.newaxis] - shorter_s, np.nan)
        rtt_s = mean_rtt_s(flow_rtt_s)
    received = np.vstack([np.zeros(len(scenario.flows)), samples[:, 3::2]])
    steps_s = np.diff(samples[:, 0], prepend=0.0)
    return Trajectory(
        time_s=samples[:, 0],
        queue_bytes=samples[:, 1],
        window_packets=samples[:, 4::2] / segment_bytes(scenario),
        goodput_bps=np.diff(received, axis=0) * 8 / steps_s[:, None],
        rtt_s=rtt_s,
        drop_count=samples[:, 2],
        flow_rtt_s=flow_rtt_s,
    )


@named_arguments
def run_many(scenarios: Sequence[Scenario], *, python: str | None = None) -> list[Result]:
    """Simulate scenarios one after the other in one process."""
    with Simulator(python) as simulator:
        return [simulator.run(scenario) for scenario in scenarios]
