"""ns-3 as an independent judge: the same scenario, simulated packet by packet.

The simulator runs in its own process, by the interpreter that has it: netcalc's own, or another
one. Its import takes 10 to 20 seconds; a :class:`Simulator` pays that once for many scenarios.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from netcalc.checks import FloatArray
from netcalc.congestion.result import Result, Trajectory, counted_span_s, segment_bytes
from netcalc.errors import ExperimentError
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

RUN_S = 600.0
"""Longest time for one scenario. [s]"""

MOST_PACKETS = 30e6
"""Packets beyond which a scenario is refused: an hour of computing. [packet]"""


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
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
                env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            )
        except OSError as error:
            raise ExperimentError(
                "ns3-no-python", phase="ns-3", python=self._python, reason=str(error.strerror)
            ) from None
        ready = self._line(START_S)
        if not ready.startswith('{"ready"'):
            self.close()
            raise ExperimentError("ns3-absent", phase="ns-3", python=self._python)
        self.version = str(json.loads(ready).get("version", ""))

    def run(self, scenario: Scenario) -> Result:
        """Simulate a scenario.

        Raises
        ------
        ExperimentError
            If ns-3 fails, or the scenario is beyond it.
        """
        wanted = arguments(scenario)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(wanted) + "\n")
            self._process.stdin.flush()
        except OSError:  # it has ended: the answer below is empty
            pass
        line = self._line(RUN_S)
        try:
            numbers = np.array(json.loads(line), dtype=float)
        except ValueError:
            self.close()
            raise ExperimentError("ns3-failed", phase="ns-3", python=self._python) from None
        return replace(result(scenario, numbers), about={"ns3": self.version})

    def close(self) -> None:
        """End the process."""
        process = self._process
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.kill()
        process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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


def run(scenario: Scenario, *, python: str | None = None) -> Result:
    """Simulate one scenario in a process of its own.

    Parameters
    ----------
    scenario : Scenario
        What to simulate; its request loops are left out.
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


def arguments(scenario: Scenario) -> dict[str, Any]:
    """Return what the child program is given.

    Raises
    ------
    ExperimentError
        If the scenario has no flow, or more packets than ns-3 gets through.
    """
    link = scenario.bottleneck
    if not scenario.flows:
        raise ExperimentError("ns3-no-flows", phase="ns-3")
    packets = link.rate_bps / (8 * link.mtu_bytes) * scenario.end_s
    if packets > MOST_PACKETS:
        raise ExperimentError("ns3-too-long", phase="ns-3", packets=packets, limit=MOST_PACKETS)
    return {
        "rate_bps": link.rate_bps,
        "rtt_s": link.rtt_s,
        "buffer_packets": link.buffer_packets,
        "marking_packets": link.marking_packets,
        "mtu_bytes": link.mtu_bytes,
        "loss_ratio": link.loss_ratio,
        "end_s": scenario.end_s,
        "warm_s": scenario.warm_s,
        "seed": scenario.seed % 2**31,
        "step_s": STEP_S,
        "algorithms": [ALGORITHMS[flow.algorithm] for flow in scenario.flows],
        "starts": [flow.start_s for flow in scenario.flows],
        "stops": [-1.0 if flow.stop_s is None else flow.stop_s for flow in scenario.flows],
        "sizes": [
            0.0 if flow.size_bytes is None else float(math.ceil(flow.size_bytes))
            for flow in scenario.flows
        ],
    }


def result(scenario: Scenario, numbers: FloatArray) -> Result:
    """Make a result of the child's numbers: drops; of each flow bytes, finish, bytes sent and sent
    again; samples."""
    count = len(scenario.flows)
    per_flow = numbers[1 : 1 + 4 * count].reshape(count, 4)
    samples = numbers[1 + 4 * count :].reshape(-1, 2 + 2 * count)
    sent, resent = per_flow[:, 2].sum(), per_flow[:, 3].sum()
    finish = np.where(per_flow[:, 1] < 0, np.nan, per_flow[:, 1])
    spans = np.array([counted_span_s(flow, scenario) for flow in scenario.flows])
    lengths = np.fmin(spans[:, 1], finish) - spans[:, 0]
    times, queue = samples[:, 0], samples[:, 1]
    received = np.vstack([np.zeros(count), samples[:, 2::2]])
    warm = times > scenario.warm_s
    first = int(np.argmax(warm))
    payload = float((received[-1] - received[first]).sum())
    whole = times[-1] - (times[first - 1] if first else 0.0)
    packet_share = scenario.bottleneck.mtu_bytes / segment_bytes(scenario)
    median, p95 = np.percentile(queue[warm], [50, 95])
    return Result(
        scenario=scenario,
        by="ns3",
        goodput_bps=np.where(lengths > 0, per_flow[:, 0] * 8 / np.maximum(lengths, 1e-9), 0.0),
        queue_mean_bytes=float(queue[warm].mean()),
        queue_median_bytes=float(median),
        queue_p95_bytes=float(p95),
        drop_count=float(numbers[0]),
        finish_s=finish,
        utilization=payload * 8 / whole / scenario.bottleneck.rate_bps * packet_share,
        trajectory=_trajectory(scenario, samples, received),
        resent_ratio=float(resent / sent) if sent else float("nan"),
    )


def _trajectory(scenario: Scenario, samples: FloatArray, received: FloatArray) -> Trajectory:
    link = scenario.bottleneck
    own_s = link.rtt_s + 8 * link.mtu_bytes / link.rate_bps
    return Trajectory(
        time_s=samples[:, 0],
        queue_bytes=samples[:, 1],
        window_packets=samples[:, 3::2] / segment_bytes(scenario),
        goodput_bps=np.diff(received, axis=0) * 8 / STEP_S,
        rtt_s=own_s + 8 * samples[:, 1] / link.rate_bps,
    )


def run_many(scenarios: Sequence[Scenario], *, python: str | None = None) -> list[Result]:
    """Simulate scenarios one after the other in one process."""
    with Simulator(python) as simulator:
        return [simulator.run(scenario) for scenario in scenarios]
