"""What the tests of live runs share: a census of what a run may leave behind, and false peers."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from types import SimpleNamespace

import pytest

from netcalc.experiments.echo import EchoPlan, EchoRun, echo
from netcalc.experiments.peers.process import Peer
from netcalc.experiments.peers.remote import FarPeer
from netcalc.experiments.peers.service import PeerLimits, Service
from netcalc.experiments.running import instrument
from netcalc.experiments.running import record as _run
from netcalc.experiments.running.stopping import Ended, Stopping

echo_module = sys.modules[echo.__module__]  # the package has the function under the same name
probe_at = echo_module.probe_at


def children(of: int) -> list[int]:
    """Return the processes whose parent is ``of``, dead but not reaped ones too."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended while we looked
            continue
        if int(fields[1]) == of:
            found.append(int(stat.parent.name))
    return found


def open_files() -> list[str]:
    """Return what the open file descriptors of this process point to, without the one used here."""
    files = []
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names, not paths
        try:
            files.append(os.readlink(f"/proc/self/fd/{name}"))  # noqa: PTH115
        except OSError:
            continue
    return sorted(file for file in files if "/fd" not in file)


@pytest.fixture(autouse=True)
def short_look_at_the_processor(monkeypatch):
    """Spend little time on a run's own error, where a test is about something else."""
    monkeypatch.setattr(instrument, "_SPIN_S", 1e-3)


@pytest.fixture
def every_row_is_told(monkeypatch):
    """Call the progress function of a run for each of its rows."""
    monkeypatch.setattr(_run, "PROGRESS_S", 0.0)


POPEN = """
import os, resource, subprocess
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
used = len(os.listdir("/proc/self/fd")) - 1
resource.setrlimit(resource.RLIMIT_NOFILE, (used + 3, hard))
try:
    subprocess.Popen(["true"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
except OSError:
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    raise SystemExit(len(os.listdir("/proc/self/fd")) - 1 > used)
raise SystemExit("three more files were enough")
"""


@pytest.fixture(scope="session")
def popen_closes():
    """Skip where Popen itself leaves pipes open when there are too few files for all of them."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", POPEN], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    if done.returncode:
        version = ".".join(map(str, sys.version_info[:3]))
        pytest.skip(f"subprocess.Popen of Python {version} leaves pipes open where files are few")


def never(*_, **__):
    raise AssertionError("refused too late: a process was started, or a socket opened")


@pytest.fixture
def no_process(monkeypatch):
    """Fail a test that starts a process."""
    monkeypatch.setattr(subprocess, "Popen", never)


@pytest.fixture
def no_packet(no_process, monkeypatch):
    """Fail a test that starts a process or opens a socket."""
    monkeypatch.setattr(socket, "socket", never)


@pytest.fixture
def peers(monkeypatch):
    """Note the number of each process that a run starts to answer it."""
    started, ready = [], Peer._ready

    def noted(peer, stopping):
        started.append(peer.pid)
        return ready(peer, stopping)

    monkeypatch.setattr(Peer, "_ready", noted)
    return started


@pytest.fixture
def nothing_left(tmp_path, monkeypatch):
    """Compare what there is before and after a test: whatever way a run ends, it is the same."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def census():
        return {
            "processes": children(os.getpid()),
            "files": open_files(),
            "temporary files": sorted(
                path for path in tmp_path.rglob("*") if path.suffix != ".json"
            ),
            "threads": threading.active_count(),
            "processors": os.sched_getaffinity(0),
            "collector": gc.isenabled(),
            "handlers": [
                signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            ],
        }

    before = census()
    yield
    assert census() == before


class FalsePeer:
    """A peer in this process that does to each probe what a test says.

    ``behave(peer, data, sender)`` is called for each datagram; ``number(data)`` is the sequence,
    and warm-up probes are echoed before ``behave`` sees anything.
    """

    def __init__(self, behave, *, echo_warm_up=True):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind(("127.0.0.1", 0))
        self.address = self.sock.getsockname()
        self.held = []
        self._behave = behave
        self._echo_warm_up = echo_warm_up
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"the end of the test", self.address)
        self._thread.join()
        self.sock.close()

    def answer(self, data, sender):
        self.sock.sendto(data, sender)

    @staticmethod
    def number(data):
        return int.from_bytes(data[:4], "little")

    def _serve(self):
        while True:
            data, sender = self.sock.recvfrom(65_536)
            if data == b"the end of the test":
                return
            if self._echo_warm_up and len(data) >= 8 and self.number(data) >= 1 << 31:
                self.answer(data, sender)
            else:
                self._behave(self, data, sender)


@contextmanager
def listener(serve):
    """Run ``serve(connection)`` for one TCP connection; yield the address."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        sock.settimeout(10)

        def accept():
            connection, _ = sock.accept()
            with connection:
                connection.settimeout(10)
                serve(connection)

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield sock.getsockname()
        finally:
            thread.join()


def planned_run(sizes, *, count=1, protocol="udp", timeout_s=5.0, stop=None, **options):
    """Return a run as ``echo`` makes it, for a peer of the test's own."""
    plan = EchoPlan(
        sizes=sizes, count=count, protocol=protocol, host="127.0.0.1", port=0,
        interval_s=0.0, timeout_s=timeout_s,
    )  # fmt: skip
    return EchoRun(plan, stopping=Stopping(stop, limit_s=30.0), **options)


def measured_at(address, sizes, **options):
    """Send the probes of a run to an address and return the samples."""
    run = planned_run(sizes, **options)
    with run.stopping, suppress(Ended):
        probe_at(run, address)
    return run.samples()


@pytest.fixture
def bench():
    """The tools above, for test files that cannot import this one."""
    return SimpleNamespace(
        Event=threading.Event,
        children=children,
        echo_module=echo_module,
        probe_at=probe_at,
        FalsePeer=FalsePeer,
        listener=listener,
        measured_at=measured_at,
        planned_run=planned_run,
    )


@contextmanager
def serving(*, host="127.0.0.1", duration_s=60.0, carried_bytes=10**9, connections=64, **options):
    """Serve as ``netcalc peer`` does, in a thread; yield the peer and what it logs."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.bind((host, 0))
    listener.listen(64)
    allowed = PeerLimits(duration_s, carried_bytes, options.pop("rate_bps", inf), connections)
    log = []
    service = Service(
        listener, allowed, end_s=time.monotonic() + 60, log=lambda code, **values: log.append(code)
    )
    peer = FarPeer(host, token=service.token, port=listener.getsockname()[1])
    thread = threading.Thread(target=service.run, daemon=True)
    thread.start()
    try:
        yield SimpleNamespace(peer=peer, log=log, service=service, listener=listener)
    finally:
        service.end()
        thread.join(10)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def far():
    """A peer as ``netcalc peer`` runs it, in a thread of this process."""
    with serving() as served:
        yield served
