"""A peer and a client on two hosts: namespaces of an ordinary user, with a known path between."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from inspect import signature
from types import SimpleNamespace

import numpy as np
import pytest

from netcalc import compare
from netcalc.emulation import EmulatedPath
from netcalc.experiments.registry import EXPERIMENTS
from netcalc.path import Path
from netcalc.samples import load

pytestmark = [pytest.mark.slow, pytest.mark.namespace("tun")]

LINE = Path.parse("100 Mbit/s 1 ms")
OVERHEAD_BYTES = 38
"""Of a packet on an Ethernet line: header 14, FCS 4, preamble 8, gap 12."""
NAMES = [name for name, each in EXPERIMENTS.items() if "peer" in signature(each.measure).parameters]
SHORTEST = """
import os, sys
from netcalc import experiments
from netcalc.experiments.registry import EXPERIMENTS
peer = experiments.Peer(sys.argv[1], token=os.environ["NETCALC_PEER_TOKEN"])
for name in sys.argv[3:]:
    options = {key: value for key, value in EXPERIMENTS[name].shortest.items() if key != "path"}
    if name == "router":  # two sizes do not show which limit is which
        options["captured_bytes"] = (64, 256, 1024, 1514)
    EXPERIMENTS[name].measure(**options, peer=peer).save(f"{sys.argv[2]}/{name}.json")
"""
LASTING = """
import os, sys
from netcalc import errors, experiments
peer = experiments.Peer(sys.argv[1], token=os.environ["NETCALC_PEER_TOKEN"])
try:
    experiments.bulk(
        50_000, write_count=4, run_count=2000, buffer_bytes=None, peer=peer, save=sys.argv[2],
        progress=lambda done, total, _: print(int(done), flush=True),
    )
except errors.ExperimentError as error:
    print(error.code, len(error.partial), flush=True)
"""


@contextmanager
def two_hosts():
    """Give the path between two hosts, and the peer on one of them."""
    with EmulatedPath(LINE, user_namespace=True, overhead_bytes=OVERHEAD_BYTES) as path:
        peer = path.start(
            [sys.executable, "-m", "netcalc", "peer", "--listen", path.address("B")], side="B",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        token = next(line for line in peer.stdout if line.startswith("Token: ")).split()[1]
        yield SimpleNamespace(path=path, peer=peer, env={"NETCALC_PEER_TOKEN": token})


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The shortest run of each experiment with a peer, by its name."""
    folder = tmp_path_factory.mktemp("runs")
    with two_hosts() as hosts:
        command = [sys.executable, "-c", SHORTEST, hosts.path.address("B"), folder, *NAMES]
        done = hosts.path.run(command, env=hosts.env, timeout_s=300)
    assert (done.returncode, done.stderr) == (0, "")
    return {name: load(folder / f"{name}.json") for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_each_experiment_is_drawn_with_its_theory(runs, name):
    samples, experiment = runs[name], EXPERIMENTS[name]
    assert samples.meta.partial is False
    assert samples.meta.instrument.peer_machine["host"] == samples.meta.host  # the same machine
    mode = {"mode": "udp"} if name == "transactions" else {}
    drawn = getattr(compare, experiment.theory)(samples, path=LINE, **mode)
    assert drawn.x.size > 0
    assert np.isfinite(drawn.predicted).all()


def least_s(samples):
    """Return the round trip of a datagram both ways: 20 bytes of IP and 8 of UDP; TCP has more."""
    line_bytes = samples.payload_bytes + 28 + OVERHEAD_BYTES
    return 2 * (1e-3 + 8 * line_bytes / 100e6)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("echo", "rtt_s"),
        ("working_latency", "rtt_s"),
        ("transactions", "response_s"),
        ("small_writes", "response_s"),
    ],
)
def test_no_answer_is_here_before_the_path_can_bring_it(runs, name, column):
    samples = runs[name]
    measured_s = np.asarray(getattr(samples, column))
    arrived = np.isfinite(measured_s)
    assert arrived.any()
    assert (measured_s[arrived] > least_s(samples)[arrived]).all()


def test_a_pair_in_lockstep_waits_for_the_path(runs):
    # 1460 bytes are two segments of 1448 and 12, each with 52 bytes of headers; the answer has 1.
    least = 2e-3 + 8 * (1460 + 2 * 52 + 1 + 52 + 3 * OVERHEAD_BYTES) / 100e6
    samples = runs["lockstep"]
    assert samples.pair_count.tolist() == [1.0, 8.0] * 2
    assert (samples.cycle_s > least).all()


@pytest.mark.parametrize("name", ["line_rate", "router"])
def test_no_more_arrives_than_the_line_carries(runs, name):
    samples = runs[name]
    through = ~np.char.endswith(np.asarray(samples.direction, dtype=str), "alone")
    assert through.any()
    write_bytes = samples.write_bytes[through]
    arrived_count = samples.received_bytes[through] / write_bytes
    carried_s = 8 * (write_bytes + 28 + OVERHEAD_BYTES) * arrived_count / 100e6
    delivered_s = samples.delivery_s[through] + samples.meta.instrument.clock_error_s
    assert (delivered_s > carried_s).all()


def test_a_run_whose_cable_is_pulled_keeps_what_it_measured(tmp_path):
    """Where the process that carries the packets is stopped, nothing arrives on either side."""
    file = tmp_path / "bulk.json"
    with two_hosts() as hosts:
        client = hosts.path.start(
            [sys.executable, "-c", LASTING, hosts.path.address("B"), file], env=hosts.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        for line in client.stdout:
            if int(line) >= 3:
                break
        carrier = hosts.path._control.pid
        os.kill(carrier, signal.SIGSTOP)
        try:
            said, _ = client.communicate(timeout=60)
            log = next(line for line in hosts.peer.stdout if "ended its run" in line)
        finally:
            os.kill(carrier, signal.SIGCONT)
        assert hosts.peer.poll() is None
    code, count = said.splitlines()[-1].split()
    assert code == "far-peer-gone"
    kept = load(file)
    assert 3 <= len(kept) == int(count)
    assert kept.meta.partial is True
    # Each whole transfer has all its bytes; the last one is that of the cable.
    assert set(kept.received_bytes[:3].tolist()) == {200_000.0}
    assert " 0 B in " not in log
