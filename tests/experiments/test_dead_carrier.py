"""Fault N4 from the run's side: the process that carries its packets dies, or is stopped.

The error names it and its signal, whatever the run noticed first, and what was measured is kept.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import partial

import pytest

from netcalc.emulation.wire.control import Control
from netcalc.errors import ExperimentError
from netcalc.experiments import EXPERIMENTS, bulk, echo, line_rate, router_queue, transactions
from netcalc.path import Path

pytestmark = [pytest.mark.live, pytest.mark.namespace]

PATH = Path.parse("10 Mbit/s 1 ms")
LONG = Path.parse("10 Mbit/s 1 ms, 10 Mbit/s 1 ms")
SENT = {"working_latency": 5}
"""Where a row is done when it is sent: the last one may be unanswered."""
RUNS = {
    **{
        name: (partial(experiment.measure, path=LONG, **experiment.lasting), SENT.get(name, 0.001))
        for name, experiment in EXPERIMENTS.items()
        if name != "router_queue"  # judged below
    },
    "echo udp": (lambda **k: echo(100, count=5000, path=PATH, **k), 3),
    "echo tcp": (lambda **k: echo(100, protocol="tcp", count=5000, path=PATH, **k), 3),
    "echo icmp": (lambda **k: echo(100, protocol="icmp", count=5000, path=PATH, **k), 3),
    "ping": (lambda **k: transactions(8, protocols=["ping"], count=5000, path=PATH, **k), 3),
    "udp": (lambda **k: transactions(8, protocols=["udp"], count=5000, path=PATH, **k), 3),
    "tcp": (lambda **k: transactions(8, protocols=["tcp"], count=2000, path=PATH, **k), 3),
    "tls": (lambda **k: transactions(8, protocols=["tls"], count=2000, path=PATH, **k), 3),
    "bulk tcp": (
        lambda **k: bulk(1440, protocol="tcp", write_count=10**5, run_count=1, path=PATH, **k), 0.01
    ),
    "bulk udp": (
        lambda **k: bulk(1440, protocol="udp", write_count=10**6, run_count=1, path=PATH, **k),
        0.001
    ),
    "routed": (lambda **k: line_rate(64, duration_s=10, run_count=1, routed=True, **k), 0.001),
}  # fmt: skip
"""Runs that go on for many seconds, and how much is done when the carrier is killed."""


@pytest.mark.each("name", RUNS)
def test_a_carrier_that_dies_is_named(name, nothing_left, monkeypatch):
    """N4, E6: the samples so far are in the error, one long transfer in progress included."""
    error = ended_by(signal.SIGKILL, name, monkeypatch)
    found = (error.code, error.values["ended_by"], error.values["number"], error.phase)
    assert found == ("emulator-ended", "signal", signal.SIGKILL, "emulated path")


@pytest.mark.each("name", ["echo udp", "tls", "bulk tcp", "routed", "packet_trains"])
def test_a_carrier_that_is_stopped_is_named(name, nothing_left, monkeypatch):
    """The run need not wait for its own limits: the process is there, and will answer nothing."""
    error = ended_by(signal.SIGSTOP, name, monkeypatch)
    assert (error.code, error.phase) == ("emulator-stopped", "emulated path")


@pytest.mark.each("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_router_that_dies_takes_its_log_with_it(number, nothing_left, monkeypatch):
    """Nothing else has the wait of a datagram: the error says who ended, and no row is made up."""

    def run(**options):
        return router_queue(0.7, path=Path.parse("1 Mbit/s 1 ms"), count=5000, **options)

    error = signalled(number, run, 3, monkeypatch)
    assert error.code == ("emulator-ended" if number == signal.SIGKILL else "emulator-stopped")
    assert len(error.partial) == 0
    assert error.partial.meta.partial


def ended_by(number, name, monkeypatch):
    """Return the error of a run whose carrier gets a signal; it has what was measured before."""
    error = signalled(number, *RUNS[name], monkeypatch)
    assert len(error.partial) >= 1
    assert error.partial.meta.partial
    return error


def signalled(number, run, enough, monkeypatch):
    """Return the error of a run whose carrier gets a signal when enough is done."""
    carriers = []
    set_up = Control.set_up

    def noted(control, settings):
        carriers.append(control.pid)
        return set_up(control, settings)

    def killing(done, total, value):
        if done >= enough and carriers:
            os.kill(carriers.pop(), number)

    with monkeypatch.context() as patched:
        patched.setattr(Control, "set_up", noted)
        with pytest.raises(ExperimentError) as caught:
            run(progress=killing)
    return caught.value


COMMAND = """
import os, signal
from netcalc.emulation.wire.control import Control
from netcalc.experiments.running.record import Record
set_up, advance, carriers = Control.set_up, Record.advance, []
def noted(control, settings):
    carriers.append(control.pid)
    return set_up(control, settings)
def killing(run, value, **more):
    advance(run, value, **more)
    if run.done_count >= 3 and carriers:
        os.kill(carriers.pop(), signal.SIGKILL)
Control.set_up, Record.advance = noted, killing
from netcalc.cli import main
main(["run", "echo", "--size", "100 B", "--count", "3000", "--path", "10 Mbit/s 1 ms", "--json"])
"""


def test_the_command_prints_what_was_measured_before():
    done = subprocess.run(
        [sys.executable, "-c", COMMAND], capture_output=True, text=True, timeout=60, check=False
    )
    found = json.loads(done.stdout)
    assert done.returncode == 2
    assert found["error"]["code"] == "emulator-ended"
    assert found["probes"] >= 3 if "probes" in found else found
    assert done.stderr.count("\n") == 1
    assert "the process of the emulated path has ended (signal 9)" in done.stderr
