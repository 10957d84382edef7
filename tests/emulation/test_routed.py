"""Two hosts and a third namespace whose kernel routes: what passes, what is counted, what is left.

Where a number comes from: a router takes 1 of the time to live (RFC 1812, 5.3.1), of which the
hosts send 64; counts are those of the kernels and of the sockets, exact.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path as File

import pytest

from netcalc.emulation import Routed
from netcalc.emulation.wire import emulated_path as routed_module
from netcalc.emulation.wire.carrier import FORWARDING
from netcalc.errors import DomainError, ExperimentError

pytestmark = [pytest.mark.namespace, pytest.mark.core, pytest.mark.usefixtures("nothing_left")]

ROOT = File(routed_module.__file__).parents[2]
SO_MEMINFO = 55


def dropped_by(sock):
    """Return the datagrams that a socket had no room for, by the kernel's own count."""
    return struct.unpack("9I", sock.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36))[8]


def connected(hosts, version=4, **receiver_options):
    """Return a datagram socket of A and one of B, connected."""
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    sender = hosts.socket("A", family, socket.SOCK_DGRAM)
    receiver = hosts.socket("B", family, socket.SOCK_DGRAM)
    for option, value in receiver_options.items():
        receiver.setsockopt(socket.SOL_SOCKET, getattr(socket, option), value)
    receiver.bind((hosts.address("B", version), 0))
    sender.connect(receiver.getsockname()[:2])
    return sender, receiver


@pytest.mark.parametrize("user_namespace", [False, True])
@pytest.mark.parametrize("version", [4, 6])
def test_a_ping_passes_one_router(user_namespace, version):
    with Routed(user_namespace=user_namespace) as hosts:
        command = ["ping", f"-{version}", "-c", "3", "-i", "0.05", hosts.address("B", version)]
        printed = hosts.run(command).stdout
        assert "3 received" in printed
        assert printed.count("ttl=63") == 3
        assert hosts.run([*command[:-1], hosts.address("A", version)], "B").stdout.count("ttl=63")


def test_a_traceroute_shows_the_router():
    if shutil.which("traceroute") is None:
        pytest.skip("traceroute is not installed")
    with Routed() as hosts:
        printed = hosts.run(["traceroute", "-n", hosts.address("B")]).stdout.splitlines()
        addresses = [line.split()[1] for line in printed[1:]]
        assert addresses == [hosts.router_address(0), hosts.address("B")]


@pytest.mark.parametrize("version", [4, 6])
def test_every_packet_is_counted_where_it_passes(version):
    with Routed() as hosts:
        sender, receiver = connected(hosts, version)
        with sender, receiver:
            sender.send(b"first")  # neighbours are looked for once
            receiver.settimeout(10)
            receiver.recv(100)
            before = hosts.forwarding()
            for number in range(500):
                sender.send(b"%d" % number)
                assert receiver.recv(100) == b"%d" % number
            after = hosts.forwarding()
        assert after.forwarded_count - before.forwarded_count == 500
        assert after.received_count - before.received_count >= 500
        assert after.input_drop_count == before.input_drop_count
        assert after.output_drop_count == before.output_drop_count
        assert hosts.statistics().carried_count == after.forwarded_count


def test_what_arrives_and_what_was_dropped_is_what_was_sent():
    """A flood into a socket that nobody reads, of a small buffer: identity of four counts."""
    sent = 20_000
    with Routed() as hosts:
        sender, receiver = connected(hosts, SO_RCVBUF=8192)
        with sender, receiver:
            before = hosts.forwarding()
            for _ in range(sent):
                sender.send(bytes(18))
            arrived = 0
            receiver.settimeout(0.2)
            try:
                while receiver.recv(100):
                    arrived += 1
            except TimeoutError:
                pass
            after = hosts.forwarding()
            at_the_socket = dropped_by(receiver)
    router = after.input_drop_count - before.input_drop_count
    router += after.output_drop_count - before.output_drop_count
    assert arrived + at_the_socket + router == sent
    assert 0 < arrived < sent
    assert at_the_socket > 0


def test_a_packet_that_is_not_to_be_routed_is_dropped_at_the_input():
    with Routed() as hosts:
        sender, receiver = connected(hosts)
        with sender, receiver:
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 1)
            before = hosts.forwarding()
            sender.send(b"ends at the router")
            end_s = time.monotonic() + 10
            while hosts.forwarding().input_drop_count == before.input_drop_count:
                assert time.monotonic() < end_s
        assert hosts.forwarding().forwarded_count == before.forwarded_count
        assert hosts.statistics().invalid.code == "packets-unread"


def test_a_stream_passes_in_whole_packets():
    """derived: 4 MB in segments of at most 1460 bytes are 2740 packets at least, each forwarded."""
    total = 4_000_000
    with Routed() as hosts, hosts.socket("B") as listener, hosts.socket("A") as sender:
        listener.bind((hosts.address("B"), 0))
        listener.listen()
        listener.settimeout(10)
        sender.settimeout(10)
        sender.connect(listener.getsockname())
        receiver, _ = listener.accept()
        with receiver:
            receiver.settimeout(10)
            left, received = memoryview(bytes(total)), 0
            while received < total:
                left = left[sender.send(left[:60_000]) :]
                received += len(receiver.recv(1 << 20))
        assert hosts.forwarding().forwarded_count >= total / 1460


def test_large_packets_pass_where_they_are_asked_for():
    with Routed(mtu_bytes=9000) as hosts:
        sender, receiver = connected(hosts)
        with sender, receiver:
            receiver.settimeout(10)
            before = hosts.forwarding().forwarded_count
            sender.send(bytes(8972))
            assert len(receiver.recv(9000)) == 8972
            assert hosts.forwarding().forwarded_count - before == 1, "one packet, not fragments"


def test_forwarding_is_set_in_the_router_only():
    host = File("/proc/sys/net/ipv4/ip_forward").read_bytes()
    with Routed() as hosts:
        assert File("/proc/sys/net/ipv4/ip_forward").read_bytes() == host
        ends = [hosts.read("/proc/sys/net/ipv4/ip_forward", side) for side in "AB"]
        assert hosts._read_router("/proc/sys/net/ipv4/ip_forward") == "1\n"
        assert hosts._read_router("/proc/sys/net/ipv6/conf/all/forwarding") == "1\n"
        assert ends == ["0\n", "0\n"] or host == b"1\n"


@pytest.mark.parametrize("way", ["fails", "kills"])
def test_a_fault_at_any_call_undoes_the_ones_before(way, broken_call, calls_of, looking):
    """Every third call of the process that makes it."""
    before, calls = looking.census(), calls_of(Routed())
    assert calls.count("make_veth_pair") == 2, "a port for each end: the calls were counted"
    for number in range(1, len(calls) + 1, 3):
        error = broken_call(number, way, Routed())
        assert looking.census() == before, number
        if error is None:
            assert (way, calls[number - 1]) == ("fails", "set_sysctl")
            assert calls[:number].count("set_sysctl") > len(FORWARDING), "one that may be missing"
        else:
            assert error.values["step" if way == "fails" else "number"] == (
                f"call {number}" if way == "fails" else signal.SIGKILL
            )


OWNER = """
import sys, time
from netcalc.emulation import Routed
with Routed() as hosts:
    hosts.start(["sh", "-c", "sleep 1000 & sleep 1000"], "A")
    hosts.start(["ping", "-q", "-i", "0.05", hosts.address("B")], "A", stdout=-3)
    print(hosts._control.pid, flush=True)
    sys.stdin.readline()
    {end}
"""


@contextmanager
def owner(end, **environment):
    """A process of its own that owns a router; gives it and the number of the router's process."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER.format(end=end)], cwd=ROOT, env={**os.environ, **environment},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@pytest.mark.parametrize("name", ["", "INT", "TERM", "KILL", "error"])
def test_a_run_may_end_in_any_way(name, looking):
    """Normal, Ctrl-C, SIGTERM, SIGKILL, exception; two programs and a grandchild under way."""
    ends = {"": "pass", "error": "raise ValueError"}
    mark = secrets.token_hex(8)
    end = ends.get(name, "for _ in range(600): time.sleep(0.1)")
    with owner(end, **{looking.MARK: mark}) as (process, router):
        inside = looking.marked_processes(mark)
        ours = looking.hold(inside)
        assert router in inside
        process.stdin.write(b"\n")
        process.stdin.flush()
        if name.isupper():
            process.send_signal(signal.Signals[f"SIG{name}"])
        process.wait(10)
    assert looking.gone(mark) == []
    assert not looking.still_there(ours)


def test_the_death_of_the_router_is_named():
    with Routed() as hosts:
        os.kill(hosts._control.pid, signal.SIGKILL)
        with pytest.raises(ExperimentError) as caught:
            hosts.forwarding()
    assert (caught.value.code, caught.value.values["number"]) == ("emulator-ended", 9)


UNPRIVILEGED = """
import sys
sys.path.insert(0, {root!r})
from netcalc.emulation.wire.emulated_path import Routed
with Routed() as hosts:
    print(hosts.chosen["way"], hosts.run(["ping", "-c", "2", "-i", "0.1", hosts.address("B")]))
    print(hosts.forwarding().forwarded_count)
"""


def test_a_user_without_any_privilege_gets_a_router(as_nobody):
    """With no capability at all."""
    result = as_nobody(UNPRIVILEGED)
    assert result.stdout.startswith("user namespace"), result.stderr
    assert "2 received" in result.stdout
    assert int(result.stdout.splitlines()[-1]) >= 4, "two requests and two answers"


def test_what_is_not_possible_is_refused():
    with pytest.raises(DomainError) as refused:
        Routed(mtu_bytes=100)
    assert (refused.value.code, refused.value.name) == ("out-of-range", "mtu_bytes")
    hosts = Routed()
    for action in (hosts.forwarding, hosts.statistics, lambda: hosts.run(["true"])):
        with pytest.raises(ExperimentError) as closed:
            action()
        assert closed.value.code == "path-not-open"
    for question, code in (
        (hosts.events, "no-log"),
        (lambda: hosts.router_address(2), "not-a-choice"),
    ):
        with pytest.raises(DomainError) as refused:
            question()
        assert refused.value.code == code
    with hosts, pytest.raises(ExperimentError) as opened, hosts:
        pass
    assert opened.value.code == "path-already-open"
    with hosts:
        assert hosts.truth()["device"] == "router"
