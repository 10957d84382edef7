"""What the tests of the wire share: whether one is possible here, and a census around each test."""

from __future__ import annotations

import ctypes
import errno
import ipaddress
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

import netcalc
from netcalc.emulation import capabilities
from netcalc.emulation.wire import carrier, control, kernel
from netcalc.emulation.wire.carrier import DEVICE, PORTS
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


COUNTERS = ("nf_conntrack_count",)
"""Values of net.* that count what all programs of the machine do."""


def net_sysctls():
    """Return all values of net.* that are no counters of time or load."""
    values = {}
    for folder, _, names in os.walk("/proc/sys/net"):  # passes over a device that is gone
        for path in (Path(folder, name) for name in names if name not in COUNTERS):
            with suppress(OSError):
                values[str(path)] = path.read_bytes()
    return values


LINKS = (DEVICE, *PORTS, "end")
"""How the names of all links begin that a wire or a router makes."""
SUBNETS = ipaddress.ip_network("198.18.0.0/15")
"""Where the addresses of all wires are."""
NEW_MOUNTS, RECURSIVE, PRIVATE = 0x20000, 0x4000, 0x40000


@pytest.fixture(scope="session")
def own_mounts():
    """Give this process, and what it starts, mounts to which nobody else adds any.

    It keeps them to its end: to return would change its working directory. Returns those that were
    there before; they may vanish, as others delete the place of a mount. None where it has no right
    to mount: nothing that a test starts has it either.
    """
    try:
        kernel.unshare(NEW_MOUNTS, "create mount namespace")
    except PermissionError:
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"none", b"/", None, RECURSIVE | PRIVATE, None):
        raise OSError(ctypes.get_errno(), "make the mounts private")
    return all_mounts()


def all_mounts():
    """Return the mounts of this thread, a line each."""
    return frozenset(Path("/proc/thread-self/mountinfo").read_text().splitlines())


def census(inherited):
    """Return everything that a wire could leave behind or change.

    Only what is its own by name, address or parent: other programs start and end at any time. Of
    mounts those that were not ``inherited`` (see ``own_mounts``).
    """
    return {
        "children": descendants(os.getpid()),
        "files": open_files(),
        "devices": sorted(name for _, name in socket.if_nameindex() if name.startswith(LINKS)),
        "routes": own_routes(),
        "own namespace": Path("/proc/self/ns/net").stat().st_ino,
        "mounts": set() if inherited is None else all_mounts() - inherited,
        "processors": os.sched_getaffinity(0),
        "scheduling": os.sched_getscheduler(0),
    }


def own_routes():
    """Return the routes of this namespace that lead to a wire."""
    lines = [line.split() for line in Path("/proc/net/route").read_text().splitlines()[1:]]
    return [
        line
        for line in lines
        if line[0].startswith(LINKS)
        or ipaddress.ip_address(int(line[1], 16).to_bytes(4, "little")) in SUBNETS
    ]


def namespaces():
    """Return the network namespaces that any process is in."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is another user's
            found.add((entry / "ns/net").stat().st_ino)
    return found


@contextmanager
def holding():
    """Give a function that returns the network namespaces of processes but for that of this one.

    They are kept open, empty or not, as the kernel gives the number of one that is gone to the next
    one that anybody makes.
    """
    with ExitStack() as opened:

        def hold(pids):
            inodes = set()
            for pid in pids:
                inode = os.fstat(opened.enter_context(Path(f"/proc/{pid}/ns/net").open()).fileno())
                inodes.add(inode.st_ino)
            return inodes - {Path("/proc/self/ns/net").stat().st_ino}

        yield hold


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
    after = net_sysctls()
    both = before.keys() & after.keys()  # others add devices and modules, and take them away
    assert {name: after[name] for name in both} == {name: before[name] for name in both}


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
def nothing_left(wires, values_stay, own_mounts, tmp_path_factory):
    """Compare what there is before and after a test: whichever way it ends, it is the same.

    What it starts has a mark, and a folder of its own for temporary files.
    """
    mark, folder = secrets.token_hex(8), tmp_path_factory.mktemp("left")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(MARK, mark)
        patched.setenv("TMPDIR", str(folder))
        patched.setattr(tempfile, "tempdir", str(folder))
        before = census(own_mounts)
        yield
        assert census(own_mounts) == before
        assert gone(mark) == []
        assert list(folder.iterdir()) == []


BROKEN = {
    kernel: (
        "unshare",
        "enter",
        "open_tun",
        "set_up",
        "set_sysctl",
        "add_router",
        "make_veth_pair",
        "prepare_veth",
        "open_veth_frames",
    ),
}
"""Calls of the process that makes namespaces and devices."""
OPENED = "opened"


def broken_carrier(number, way, log):
    """Carry packets in this process, in which one call fails or kills; return the exit code.

    The name of each call is written to a file, and OPENED where it says that all are made.
    """
    calls, send = count(1), carrier.send

    def noted(name):
        with log.open("a") as lines:
            print(name, file=lines)

    def send_noted(*arguments):
        noted(OPENED)
        send(*arguments)

    def counted(call):
        def may_break(*arguments, **options):
            at = next(calls)
            noted(call.__name__)
            if at == number and way == "kills":
                os.kill(os.getpid(), signal.SIGKILL)
            if at == number:
                raise OSError(errno.EIO, "broken by a test", f"call {at}")
            return call(*arguments, **options)

        return may_break

    for module, names in BROKEN.items():
        for name in names:
            setattr(module, name, counted(getattr(module, name)))
    carrier.send = send_noted
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
def broken_call(forked, tmp_path):
    """Break one call of the process that makes namespaces and devices: it fails or kills."""

    def break_at(number, way, path):
        """Open a path; return its error, or None where it opens all the same."""
        forked(partial(broken_carrier, number, way, tmp_path / "calls"))
        try:
            with path:
                return None
        except ExperimentError as error:
            return error

    return break_at


@pytest.fixture
def calls_of(broken_call, tmp_path):
    """Give a function that opens a path and returns the names of the calls that made it."""

    def calls(path):
        log = tmp_path / "calls"
        log.unlink(missing_ok=True)
        assert broken_call(0, "fails", path) is None
        names = log.read_text().split()
        return names[: names.index(OPENED)]  # what comes later is about packets

    return calls


@pytest.fixture
def looking(own_mounts):
    """Give a test the eyes of the census."""
    with holding() as hold:
        yield SimpleNamespace(
            MARK=MARK, census=partial(census, own_mounts), descendants=descendants, gone=gone,
            hold=hold, marked_processes=marked_processes, still_there=still_there,
        )  # fmt: skip
