"""What the tests of the wire share: whether one is possible here, and a census around each test."""

from __future__ import annotations

import errno
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

import netcalc
from netcalc.emulation import capabilities
from netcalc.emulation.wire import carrier, control, kernel, veth
from netcalc.errors import ExperimentError

PACKAGE = Path(netcalc.__file__).parent


@pytest.fixture(scope="session")
def wires():
    """Skip where this machine allows no wire; NETCALC_REQUIRE turns the skip into a failure."""
    found = capabilities()
    if not found.wire:
        pytest.skip(f"no wire here: {found.why_not}")
    return found


MARK = "NETCALC_TEST_OWNER"
"""Variable of the environment by which a test looks for what an owner of a wire has started."""


def marked_processes(mark):
    """Return the processes that have a mark in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def descendants(of):
    """Return the children of a process, dead but not reaped ones too."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == of:
            found.append(int(stat.parent.name))
    return found


def open_files():
    files = []
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names, not paths
        try:
            files.append(os.readlink(f"/proc/self/fd/{name}"))  # noqa: PTH115
        except OSError:
            continue
    return sorted(file.split(":")[0] for file in files if "/fd" not in file)


def net_sysctls():
    """Return all values of net.* that are no counters of time or load."""
    values = {}
    for path in Path("/proc/sys/net").rglob("*"):
        try:
            values[str(path)] = path.read_bytes()
        except OSError:
            continue
    return values


def census():
    """Return everything that a wire could leave behind or change."""
    return {
        "children": descendants(os.getpid()),
        "files": open_files(),
        "devices": sorted(path.name for path in Path("/sys/class/net").iterdir()),
        "routes": Path("/proc/net/route").read_text(),
        "own namespace": Path("/proc/self/ns/net").stat().st_ino,
        "mounts": Path("/proc/self/mounts").read_text(),
        "processors": os.sched_getaffinity(0),
        "scheduling": os.sched_getscheduler(0),
    }


def namespaces():
    """Return the network namespaces that any process is in or holds open."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*/ns/net"):
        try:
            found.add(entry.stat().st_ino)
        except OSError:
            continue
    return found


def gone(mark, within_s=5.0):
    """Wait until the processes with a mark have ended; return those that have not."""
    end_s = time.monotonic() + within_s
    while time.monotonic() < end_s:
        if not (left := marked_processes(mark)):
            break
    return left


def still_there(inodes, within_s=5.0):
    """Wait until nobody is in these namespaces; a process that ends leaves them last of all."""
    end_s = time.monotonic() + within_s
    while (left := inodes & namespaces()) and time.monotonic() < end_s:
        continue
    return left


@pytest.fixture(scope="module")
def values_stay():
    """Compare the values of the machine before and after the tests of a file: there are many."""
    before = net_sysctls()
    yield
    assert net_sysctls() == before


@pytest.fixture
def as_nobody():
    """Run text in Python as a user without any privilege; {root} stands for where netcalc is.

    The package is copied to a place that everybody may read.
    """
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    drop = []
    if os.geteuid() == 0:
        ids = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "--no-new-privs"]
        drop = ["setpriv", *ids, "--inh-caps=-all", "--bounding-set=-all"]
    python = [*drop, "/usr/bin/python3", "-I", "-S", "-c"]
    if subprocess.run([*python, ""], check=False).returncode:
        pytest.skip("no Python that everybody may run")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        shutil.copytree(PACKAGE, Path(folder) / PACKAGE.name)

        def run(script, **values):
            command = [*python, script.format(root=folder, **values)]
            return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

        yield run


@pytest.fixture
def nothing_left(wires, values_stay):
    """Compare what there is before and after a test: whichever way it ends, it is the same."""
    before = census()
    yield
    assert census() == before


BROKEN = {
    kernel: ("unshare", "enter", "open_tun", "set_up", "set_sysctl", "add_router"),
    veth: ("make_pair", "prepare", "open_frames"),
}
"""Calls of the process that makes namespaces and devices."""


def broken_carrier(number, way):
    """Carry packets in this process, in which one call fails or kills; return the exit code."""
    calls = count(1)

    def counted(call):
        def may_break(*arguments, **options):
            at = next(calls)
            if at == number and way == "kills":
                os.kill(os.getpid(), signal.SIGKILL)
            if at == number:
                raise OSError(errno.EIO, "broken by a test", f"call {at}")
            return call(*arguments, **options)

        return may_break

    for module, names in BROKEN.items():
        for name in names:
            setattr(module, name, counted(getattr(module, name)))
    return carrier.main()


class Fork:
    """A child that is a fork of this process, in which all modules are loaded already."""

    def __init__(self, main, command, *, stdin, start_new_session):
        self.returncode = None
        with warnings.catch_warnings():
            # newer Pythons warn of threads; no thread of a test runner holds what a carrier needs
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            code = 1
            with suppress(BaseException):
                if start_new_session:
                    os.setsid()
                os.dup2(stdin, 0)
                os.closerange(3, 1024)
                sys.argv = ["carrier", *command[command.index("0") :]]
                code = main()
            os._exit(code)
        self._handle = os.pidfd_open(self.pid)

    def poll(self):
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout=None):
        if self.returncode is None:
            if not select.select([self._handle], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("carrier", timeout)
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            os.close(self._handle)
        return self.returncode

    def kill(self):
        if self.returncode is None:
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)


@pytest.fixture
def forked(monkeypatch):
    """Let each path that is opened from now on be carried by a fork that calls a function."""

    def fork_to(main):
        instead = SimpleNamespace(
            Popen=partial(Fork, main), TimeoutExpired=subprocess.TimeoutExpired
        )
        monkeypatch.setattr(control, "subprocess", instead)

    return fork_to


@pytest.fixture
def broken_call(forked):
    """Break one call of the process that makes namespaces and devices: it fails or kills."""

    def break_at(number, way, path):
        """Open a path; return its error, or None where it opens all the same."""
        forked(partial(broken_carrier, number, way))
        try:
            with path:
                return None
        except ExperimentError as error:
            return error

    return break_at


@pytest.fixture
def looking():
    """Give a test the eyes of the census."""
    return SimpleNamespace(
        MARK=MARK, census=census, descendants=descendants, gone=gone,
        marked_processes=marked_processes, namespaces=namespaces, still_there=still_there,
    )  # fmt: skip
