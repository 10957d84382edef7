"""Whatever refuses, breaks or is killed: the error says so, and nothing is left."""

from __future__ import annotations

import errno
import ipaddress
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path as File

import pytest

from netcalc.emulation import EmulatedPath, Statistics
from netcalc.emulation.wire import carrier, emulated_path
from netcalc.emulation.wire.emulated_path import Overdue
from netcalc.errors import DomainError, ExperimentError, NetcalcError
from netcalc.path import Path

pytestmark = [pytest.mark.namespace, pytest.mark.usefixtures("nothing_left")]

PATH = Path.parse("10 Mbit/s 1 ms")
ROOT = File(emulated_path.__file__).parents[2]
"""Where the package is."""

OWNER = """
import sys, time, threading, signal
from netcalc.emulation import EmulatedPath
from netcalc.path import Path
with EmulatedPath(Path.parse("10 Mbit/s 1 ms")) as wire:
    wire.start(["sh", "-c", "sleep 1000 & sleep 1000"], "A")
    wire.start(["ping", "-q", "-i", "0.05", wire.address("B")], "A", stdout=-3)
    wire.start(["sleep", "1000"], "B")
    print(wire._control.pid, flush=True)
    sys.stdin.readline()
    {end}
"""


@pytest.mark.parametrize("way", ["fails", "kills"])
@pytest.mark.parametrize(("device", "make"), [("tun", "open_tun"), ("veth", "make_veth_pair")])
def test_a_fault_at_any_call_undoes_the_ones_before(
    way, device, make, looking, broken_call, calls_of
):
    """Every call of a path that opens, every third one with SIGKILL; the way decides how many."""
    before, calls = looking.census(), calls_of(EmulatedPath(PATH, device=device))
    assert calls.count(make) == 2, "a device for each end: the calls were counted"
    for number in range(1, len(calls) + 1, 1 if way == "fails" else 3):
        error = broken_call(number, way, EmulatedPath(PATH, device=device))
        assert looking.census() == before, number
        if way == "fails" and calls[number - 1] == "set_sysctl":
            assert error is None, "a value that may be missing"
        else:
            assert error is not None, number
            assert error.values["step" if way == "fails" else "number"] == (
                f"call {number}" if way == "fails" else signal.SIGKILL
            )
    assert broken_call(len(calls) + 1, way, EmulatedPath(PATH, device=device)) is None


@pytest.mark.parametrize(
    "end",
    [
        "pass",
        "raise ValueError",
        "for _ in range(600): time.sleep(0.1) # INT",
        "for _ in range(600): time.sleep(0.1) # TERM",
        "for _ in range(600): time.sleep(0.1) # KILL",
    ],
)
def test_a_run_may_end_in_any_way(end, looking):
    """Normal, exception, Ctrl-C, SIGTERM, SIGKILL; three programs and a grandchild under way.

    Many short sleeps: Python looks for signals before a sleep, and one that comes in the
    microsecond between that look and the system call would be noticed at its end only.
    """
    mark = secrets.token_hex(8)
    with owner(end, **{looking.MARK: mark}) as (process, carrier):
        inside = looking.marked_processes(mark)
        ours = looking.hold(inside)
        assert carrier in inside
        process.stdin.write(b"\n")
        process.stdin.flush()
        if "sleep" in end:
            name = end.partition("# ")[2]
            process.send_signal(signal.Signals[f"SIG{name}"])
        process.wait(10)
    assert looking.gone(mark) == []
    assert not looking.still_there(ours)


class owner:  # noqa: N801 - used as a function
    """A process of its own that owns a wire; gives it and the number of its carrier."""

    def __init__(self, end, **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWNER.format(end=end)], cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def __enter__(self):
        return self.process, int(self.process.stdout.readline())

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def test_when_owner_and_carrier_are_killed_at_once_nothing_is_left(looking):
    """A grandchild neither: nobody looks for it, the kernel ends it with its PID namespace."""
    mark = secrets.token_hex(8)
    with owner("time.sleep(60)", **{looking.MARK: mark}) as (process, carrier):
        os.kill(carrier, signal.SIGSTOP)  # it cannot clean up
        process.kill()
        process.wait()
        os.kill(carrier, signal.SIGKILL)
        assert looking.gone(mark) == []


def test_a_process_that_others_started_lives():
    """It is in the namespace of an end, and has the mark by which leftovers were once found."""
    if shutil.which("nsenter") is None:
        pytest.skip("nsenter is not installed")
    with subprocess.Popen(["sleep", "1000"], env={**os.environ, "NETCALC_WIRE": "1:1"}) as marked:
        with EmulatedPath(PATH, user_namespace=True) as wire:
            end, user = wire._programs._namespaces[0], wire._programs._user
            files = f"/proc/{os.getpid()}/fd"
            enter = ["nsenter", f"--user={files}/{user}", f"--net={files}/{end}"]
            guest = subprocess.Popen([*enter, "--preserve-credentials", "sleep", "1000"])
            inode, end_s = os.fstat(end).st_ino, time.monotonic() + 5.0
            while File(f"/proc/{guest.pid}/ns/net").stat().st_ino != inode:
                assert time.monotonic() < end_s
        with EmulatedPath(PATH):
            assert (marked.poll(), guest.poll()) == (None, None)
        marked.kill()
        guest.kill()
        guest.wait()


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("exit 7", 7), ("kill -USR1 $$", -signal.SIGUSR1), ("ulimit -c 0; kill -ABRT $$", -6),
        ("kill -KILL $$", -9), ("trap 'exit 5' TERM; kill -TERM $PPID; sleep 9 & wait", 5),
        ("sleep 1000 & exit 0", 0),
    ],
)  # fmt: skip
def test_a_program_ends_as_it_would_without_a_wire(script, code):
    """What sh returns by POSIX; a signal that reaches the process around it is passed on."""
    with EmulatedPath(PATH) as wire:
        assert wire.run(["sh", "-c", script], timeout_s=20.0).returncode == code


def test_the_death_of_the_carrier_is_named():
    with EmulatedPath(PATH) as wire:
        os.kill(wire._control.pid, signal.SIGKILL)
        with pytest.raises(ExperimentError) as caught:
            wire.statistics()
    assert caught.value.code == "emulator-ended"
    assert (caught.value.values["ended_by"], caught.value.values["number"]) == ("signal", 9)


@pytest.mark.parametrize("device", ["tun", "veth"])
@pytest.mark.parametrize("side", ["A", "B"])
def test_a_device_that_somebody_deletes_is_named_and_the_end_does_not_mind(side, device):
    if shutil.which("ip") is None:
        pytest.skip("ip is not installed")
    with EmulatedPath(PATH, device=device) as wire:
        assert wire.run(["ip", "link", "del", "wire0"], side).returncode == 0
        end_s = time.monotonic() + 5.0
        with suppress(ExperimentError):
            while time.monotonic() < end_s:
                wire.statistics()
        with pytest.raises(ExperimentError) as caught:
            wire.statistics()
    assert (caught.value.code, caught.value.values["device"]) == ("device-deleted", "wire0")


def test_garbage_from_an_end_is_counted_and_carried_or_dropped():
    """N9: shorter than a header, no IP, a length that lies, larger than the MTU."""
    with (
        EmulatedPath(Path.parse("10 Mbit/s, 10 Mbit/s")) as wire,
        wire.socket("A", socket.AF_PACKET, socket.SOCK_DGRAM) as raw,
    ):
        for data in (b"\x45", b"\x00" * 60, b"\x4f" + b"\xff" * 40, b"\x60" + b"\xff" * 50,
                     b"\x45" + b"\x00" * 19, b"\x60" + b"\x00" * 39):  # fmt: skip
            raw.sendto(data, ("wire0", 0x0800))
        with pytest.raises(OSError, match="Message too long"):
            raw.sendto(bytes(1600), ("wire0", 0x0800))
        result = wire.run(["ping", "-c", "1", "-W", "2", wire.address("B")])
        assert "1 received" in result.stdout
        assert wire.statistics().noise_count >= 2


def test_twenty_wires_leave_no_more_than_one(forked):
    """N13, in the time of a test; the benchmark makes 200, each with a new Python."""
    forked(carrier.main)

    def resident_bytes():
        pages = File("/proc/self/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    with EmulatedPath(PATH):
        pass
    files, memory = len(os.listdir("/proc/self/fd")), resident_bytes()  # noqa: PTH208
    for _ in range(20):
        with EmulatedPath(PATH):
            pass
    assert len(os.listdir("/proc/self/fd")) == files  # noqa: PTH208
    assert resident_bytes() - memory < 3 << 20


def test_namespaces_that_are_not_allowed_are_said_so():
    """N1: a user namespace in which no more network namespaces may be made."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    script = (
        "open('/proc/sys/user/max_net_namespaces', 'w').write('0')\n"
        "from netcalc.emulation import capabilities\n"
        "found = capabilities()\n"
        "print(found.wire, found.refusal)\n"
        "print(found.why_not)\n"
    )
    command = ["unshare", "--user", "--map-root-user", sys.executable, "-c", script]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    first, sentence = result.stdout.splitlines()
    assert first == "False namespaces-exhausted"
    assert "user.max_net_namespaces" in sentence


UNPRIVILEGED = """
import sys
sys.path.insert(0, {root!r})
from types import SimpleNamespace as Facts
from netcalc.emulation.wire.emulated_path import EmulatedPath
hops = [Facts(link=Facts(bandwidth_bps=1e6, latency_s=0.01, framing="none"), processing_s=0.0)] * 2
back = Facts(hops=hops, source_processing_s=0.0)
path = Facts(hops=hops, source_processing_s=0.0, bottleneck_bps=1e6, reverse=back)
with EmulatedPath(path) as wire:
    sock = wire.socket("A", 2, 3, 1)  # raw ICMP
    print(wire.chosen["way"], wire.run(["ping", "-c", "2", "-i", "0.1", wire.address("B")]).stdout)
    for version in 4, 6:
        print("nodes", wire.router_address(0, version), wire.address("B", version))
        for program in {programs!r}:
            print(wire.run([*program, wire.address("B", version)]).stdout)
"""
PROBING = {
    "traceroute": ["-n", "-q", "1", "-N", "1", "-w", "1"],
    "mtr": ["-n", "--report", "-c", "1", "-i", "0.1", "-G", "0.5"],
}


def test_a_user_without_any_privilege_gets_a_wire(wires, as_nobody):
    """With no capability at all."""
    programs = [[wires.programs[name], *options] for name, options in PROBING.items()]
    result = as_nobody(UNPRIVILEGED, programs=[p for p in programs if p[0]])
    assert result.stdout.startswith("user namespace"), result.stderr
    assert "2 received" in result.stdout
    for _, node, far in (line.split() for line in result.stdout.splitlines() if "nodes" in line):
        # once here, and once from each program: raw sockets are allowed in a namespace of one's own
        assert result.stdout.count(f" {node} ") == 1 + sum(bool(p[0]) for p in programs)
        assert f"{far}\n" in result.stdout


def test_a_range_that_the_machine_uses_is_not_taken(monkeypatch):
    """N6: all of 198.18.0.0/15 is in use but for one subnet of it."""
    free = ipaddress.ip_network("198.18.7.0/24")
    whole = ipaddress.ip_network("198.18.0.0/15")
    monkeypatch.setattr(emulated_path, "routes", lambda: list(whole.address_exclude(free)))
    assert emulated_path.free_subnets()[4] == free
    monkeypatch.setattr(emulated_path, "routes", lambda: [whole])
    with pytest.raises(ExperimentError) as caught:
        emulated_path.free_subnets()
    assert (caught.value.code, caught.value.values["range"]) == ("no-free-subnet", str(whole))


def test_halves_of_everything_are_a_default_route(monkeypatch, tmp_path):
    """A tunnel that takes all there is leaves a range for a wire; by hand, as Linux writes them."""
    routes = {
        "0.0.0.0/0": ("00000000", "00000000"), "0.0.0.0/1": ("00000000", "00000080"),
        "128.0.0.0/1": ("00000080", "00000080"), "10.0.0.0/8": ("0000000A", "000000FF"),
        "198.18.7.0/24": ("000712C6", "00FFFFFF"),
    }  # fmt: skip
    lines = [f"tun0 {net} 00000000 0001 0 0 0 {mask} 0 0 0" for net, mask in routes.values()]
    table = tmp_path / "route"
    table.write_text("\n".join(["Iface Destination", *lines]))
    monkeypatch.setattr(
        emulated_path,
        "File",
        lambda name: table if name == "/proc/net/route" else tmp_path / "none",
    )
    assert [str(route) for route in emulated_path.routes()] == ["10.0.0.0/8", "198.18.7.0/24"]


@pytest.mark.parametrize("device", ["tun", "veth"])
def test_a_wire_that_did_not_keep_up_says_so(device):
    """N8: its process gets no processor while packets come, more than the kernel holds for it."""
    with (
        EmulatedPath(Path.parse("20 x 10 Gbit/s"), offload=False, device=device) as wire,
        wire.socket("A", kind=socket.SOCK_DGRAM) as sender,
    ):
        assert wire.statistics().invalid is None
        sender.connect((wire.address("B"), 9))
        os.kill(wire._control.pid, signal.SIGSTOP)
        sent = 0
        for _ in range(20_000):
            with suppress(OSError):
                sender.send(b"")
                sent += 1
        os.kill(wire._control.pid, signal.SIGCONT)
        found = wire.statistics()
        # identity: each datagram entered the first link or was dropped unread; beside them only
        # what IPv6 sends to its neighbours
        end_s = time.monotonic() + 10.0
        while entered(found) + found.device_drop_count < sent and time.monotonic() < end_s:
            found = wire.statistics()
    assert found.device_drop_count > 1000
    assert sent <= entered(found) + found.device_drop_count <= sent + 20
    assert (found.invalid.code, found.invalid.values["count"]) == (
        "packets-unread",
        found.device_drop_count,
    )


def entered(found):
    """Return the packets that entered the first link from A to B."""
    return found.links[0][0]["arrived"]


def test_the_facts_of_a_run_say_whose_the_late_packets_were():
    """by hand: 6 of 120 packets were overdue, 3 of these by the host."""
    known = {
        "carried_count": 120, "lateness_p50_s": 1e-5, "lateness_p95_s": 2e-5,
        "lateness_p99_s": 3e-5, "unread_max_s": 0.0, "late_ratio": 0.0, "noise_count": 0,
        "refused_count": 0, "answered_count": 0, "device_drop_count": 0, "links": ([], []),
    }  # fmt: skip
    found = Statistics(**known, overdue=Overdue(2, 1, 3)).facts()
    assert (found["wire_overdue_ratio"], found["wire_overdue_host_ratio"]) == (0.05, 0.5)
    unknown = Statistics(**known).facts()
    assert set(found) - set(unknown) == {"wire_overdue_ratio", "wire_overdue_host_ratio"}


def test_the_limits_of_a_valid_run():
    def invalid(**changed):
        facts = {
            "carried_count": 100,
            "lateness_p50_s": 0.0, "lateness_p95_s": 0.0, "lateness_p99_s": 0.0,
            "unread_max_s": 0.0, "late_ratio": 0.05, "noise_count": 0, "refused_count": 0,
            "answered_count": 0, "device_drop_count": 0, "links": ([], []),
        }  # fmt: skip
        return Statistics(**{**facts, **changed}).invalid

    assert invalid() is None
    late, unread = invalid(late_ratio=0.06), invalid(device_drop_count=1)
    assert (late.code, late.values["late_ratio"]) == ("packets-late", 0.06)
    assert (unread.code, unread.values["count"]) == ("packets-unread", 1)
    assert [str(late), str(unread)] == [
        "the emulator could not keep up: 6% of the packets were late (limit 5%)",
        "the emulator could not keep up: it dropped 1 packet unread",
    ]


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"device": "tap"}, "device"),
        ({"mtu_bytes": 100}, "mtu_bytes"), ({"mtu_bytes": 1 << 17}, "mtu_bytes"),
        ({"sysctls": {"kernel.panic": "1"}}, "sysctls"), ({"loss_ratio": 3}, "loss_ratio"),
        ({"buffer_bytes": 0}, "buffer_bytes"), ({"faults": {5: {}}}, "faults"),
    ],
)  # fmt: skip
def test_impossible_wires_are_refused_before_anything_is_made(options, name):
    with pytest.raises(DomainError) as caught:
        EmulatedPath(PATH, **options)
    assert caught.value.name == name


def test_more_nodes_than_a_packet_may_pass_are_refused():
    with pytest.raises(DomainError) as caught:
        EmulatedPath(Path.parse("252 x T1"))
    assert (caught.value.code, caught.value.values["high"]) == ("above-maximum", 251)


def test_a_wire_that_is_not_open_says_so():
    wire = EmulatedPath(PATH)
    for action in (wire.statistics, lambda: wire.run(["true"]), lambda: wire.socket("A")):
        with pytest.raises(ExperimentError) as caught:
            action()
        assert caught.value.code == "path-not-open"
    with wire, pytest.raises(ExperimentError) as caught, wire:
        pass
    assert caught.value.code == "path-already-open"


def test_bad_requests_are_refused_by_name():
    with EmulatedPath(PATH) as wire:
        for action, code, name, value in (
            (lambda: wire.socket("C"), "not-a-choice", "name", "side"),
            (lambda: wire.router_address(0), "no-such-node", "value", 0),
            (lambda: wire.events(), "no-log", "name", "log"),
            (lambda: wire.new_events(), "no-log", "name", "log"),
            (lambda: wire.read("/etc/passwd"), "request-refused", "step", "/etc/passwd"),
            (lambda: wire.socket("A", 250), "request-refused", "errno", errno.EAFNOSUPPORT),
            (
                lambda: wire.run(["no such program here"]), "program-not-started", "program",
                "no such program here",
            ),
            (
                lambda: wire.run(["sh", "-c", "echo begun; sleep 60"], timeout_s=3.0),
                "program-timeout", "timeout_s", 3.0,
            ),
        ):  # fmt: skip
            with pytest.raises(NetcalcError) as caught:
                action()
            assert (caught.value.code, caught.value.values[name]) == (code, value)
        assert caught.value.partial == "begun\n"
        assert wire.statistics().carried_count >= 0


def test_a_sysctl_that_does_not_exist_is_named():
    wire = EmulatedPath(PATH, sysctls={"net.ipv4.no_such_name": "1"})
    with pytest.raises(ExperimentError) as caught, wire:
        pass
    assert caught.value.code == "sysctl-refused"
    assert caught.value.values["step"] == "net.ipv4.no_such_name"
    assert caught.value.values["errno"] == errno.ENOENT
