"""A wire on machines that lack something, or use what it would take: tried in namespaces."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path as File

import pytest

from netcalc.emulation import EmulatedPath
from netcalc.emulation.chain import simulate
from netcalc.emulation.wire import emulated_path
from netcalc.errors import DomainError, ExperimentError
from netcalc.path import Link, Path

pytestmark = [pytest.mark.namespace, pytest.mark.usefixtures("nothing_left")]

ROOT = File(emulated_path.__file__).parents[2]
IMPORTS = """
import sys
from netcalc.emulation import EmulatedPath, capabilities
from netcalc.errors import ExperimentError
from netcalc.path import Path
path = Path.parse("10 Mbit/s 1 ms")
"""


def output(script, *, before="", needs=(), drop=(), **options):
    """Run Python as root of a machine of its own: new user, mount and network namespaces."""
    for program in ("unshare", *needs):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    shell = f'{before}\nexec "$@"'
    command = ["unshare", "--user", "--map-root-user", "--mount", "--net", "sh", "-ec", shell, "sh"]
    result = subprocess.run(
        [*command, *drop, sys.executable, "-c", IMPORTS + script],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False, **options,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_user_namespaces_that_are_not_allowed_are_said_so():
    """N1: no right to make a network namespace, and no user namespace to get it in."""
    out = output(
        "found = capabilities(); print(found.wire, found.refusal, found.why_not)",
        before="echo 0 > /proc/sys/user/max_user_namespaces",
        needs=["setpriv"],
        drop=["setpriv", "--bounding-set=-all", "--inh-caps=-all"],
    )
    assert out.split()[:2] == ["False", "namespaces-exhausted"]
    assert "user.max_user_namespaces" in out


def test_without_the_node_of_tun_a_pair_of_devices_serves():
    """N2: an empty folder lies over /dev/net."""
    out = output(
        """
with EmulatedPath(path) as wire:
    print(wire.chosen["device"])
    for version in 4, 6:
        print(wire.run(["ping", "-c", "1", "-W", "5", wire.address("B", version)]).returncode)
found = capabilities()
print(found.wire, found.offload, found.tun)
try:
    EmulatedPath(path, device="tun").__enter__()
except ExperimentError as error:
    print(error.code, error.values["step"], error.values["errno"])
""",
        before="mount -t tmpfs none /dev/net",
        needs=["mount", "ping"],
    ).splitlines()
    assert out[:3] == ["veth", "0", "0"]
    assert out[3] == "True False /dev/net/tun: No such file or directory"
    assert out[4] == f"tun-refused /dev/net/tun {errno.ENOENT}"


def test_no_program_is_needed():
    """N2: no ip, no ping, nothing at all; what is missing is named when it is asked for."""
    out = output(
        """
import socket
with EmulatedPath(path) as wire, wire.socket("A", kind=socket.SOCK_DGRAM) as a:
    with wire.socket("B", kind=socket.SOCK_DGRAM) as b:
        b.bind((wire.address("B"), 0))
        b.settimeout(10)
        a.sendto(b"without programs", b.getsockname())
        print(b.recv(100).decode())
    try:
        wire.run(["ip", "link"])
    except ExperimentError as error:
        print(error.code, error.values["program"])
""",
        before="PATH=/nonexistent",
    ).splitlines()
    assert out == ["without programs", "program-not-started ip"]


@pytest.mark.namespace("tun")
def test_what_others_made_under_the_same_names_stays_and_their_addresses_are_left():
    """N5, N6: devices of these names, routes into the ranges that a wire takes its addresses of."""
    out = output(
        """
import subprocess
show = lambda: [subprocess.run(["ip", "-o", *what.split()], capture_output=True).stdout
                for what in ("link", "-4 route show table all", "-6 route show table all")]
before = show()
for device in "tun", "veth":
    with EmulatedPath(path, device=device) as wire:
        print(wire.address("A"), wire.address("A", 6))
        assert show() == before
assert show() == before
""",
        before="ip link add wire0 type veth peer name end0\n"
        "ip link add end1 type dummy || true\n"
        "ip link set lo up\n"
        "ip address add 10.1.0.1/24 dev wire0\n"
        "ip link set wire0 up\n"
        "ip route add 198.18.0.0/16 dev lo\n"
        "ip route add blackhole 198.19.0.0/17\n"
        "ip -6 route add fd00::/9 dev lo",
        needs=["ip"],
    )
    for v4, v6 in (line.split() for line in out.splitlines()):
        assert [int(part) // 128 for part in v4.split(".")[1:3]] == [0, 1]
        assert v4.startswith("198.19.")
        assert int(v6[2:4], 16) >= 0x80


@pytest.mark.namespace("tun")
def test_values_of_the_machine_stay_as_they_are_through_six_wires():
    """N11: all of net.* of this namespace, compared before and after by the census."""
    wanted = {
        "net.ipv4.tcp_fastopen": "3",
        "net.ipv4.ip_default_ttl": "33",
        "net.ipv6.conf.all.hop_limit": "44",
    }
    for number in range(6):
        with EmulatedPath(
            Path.parse("10 Mbit/s"), sysctls=wanted, device=("tun", "veth")[number % 2]
        ) as wire:
            assert wire.read("/proc/sys/net/ipv4/ip_default_ttl", "B") == "33\n"


def test_rates_that_other_emulators_cannot_hold():
    """N7: below 8 bit/s and above 2^32 bit/s; derived: 8 bits a byte, and the latency."""
    for rate_bps in (1.0, 7.9, 2.0**32 + 1, 1e11, 1e15):
        path = Path((Path.of([Link(rate_bps, 0.5)]).hops[0],))
        found = simulate(path, packet_bytes=[1000, 1000], sent_s=[0.0, 0.0]).received_s
        assert found == pytest.approx([8e3 / rate_bps + 0.5, 16e3 / rate_bps + 0.5], rel=1e-12)
    with EmulatedPath(Path.parse("100 Gbit/s 3 ms")) as wire:
        out = wire.run(["ping", "-c", "2", "-i", "0.1", "-W", "5", wire.address("B")]).stdout
        assert "2 received" in out
        assert float(out.split("/")[-3]) >= 6.0
    with EmulatedPath(Path.of([Link(4.0, 0.0)])) as wire:
        # derived: the first of 84 bytes takes 168 s; the wire ends all the same
        out = wire.run(["ping", "-c", "2", "-i", "0.1", "-W", "0.5", wire.address("B")]).stdout
        assert "0 received" in out
        assert wire.statistics().links[0][0]["arrived"] >= 2
    for rate_bps in (0.0, -1.0, float("nan")):
        with pytest.raises(DomainError) as caught:
            EmulatedPath(Path.of([Link(rate_bps, 0.0)]))
        assert caught.value.name == "bandwidth_bps"


def test_a_buffer_below_one_packet_is_refused_with_the_least_that_serves():
    """N7: a full packet would never find room."""
    path = Path.parse("10 Mbit/s 1 ms, 10 Mbit/s 1 ms")
    for options, found in (
        ({"buffer_bytes": 1499}, (1499, 1500)),
        ({"mtu_bytes": 9000, "faults": {1: {"buffer_bytes": 8999}}}, (8999, 9000)),
    ):
        with pytest.raises(DomainError) as caught:
            EmulatedPath(path, **options)
        assert (caught.value.code, caught.value.name) == ("below-mtu", "buffer_bytes")
        assert (caught.value.value, caught.value.values["low"]) == found
    with EmulatedPath(path, buffer_bytes=1500) as wire:
        command = ["ping", "-c", "1", "-W", "5", "-s", "1472", wire.address("B")]
        assert wire.run(command).returncode == 0


def test_a_question_that_was_interrupted_is_not_answered_to_the_next_one(monkeypatch):
    """The process that carries packets is stopped just after that was looked for: it is late."""
    with EmulatedPath(Path.parse("10 Mbit/s")) as wire:
        wire._control._socket.settimeout(0.1)
        os.kill(wire._control.pid, 19)
        with monkeypatch.context() as unseen:
            unseen.setattr(wire._control, "_require_running", lambda wait_s: None)
            with pytest.raises(ExperimentError) as silent:
                wire.statistics()
        os.kill(wire._control.pid, 18)
        with pytest.raises(ExperimentError) as interrupted:
            wire.read("/proc/net/dev")
    codes = [caught.value.code for caught in (silent, interrupted)]
    assert codes == ["emulator-silent", "emulator-interrupted"]


def test_a_process_that_does_not_end_by_itself_is_ended():
    start_s = time.monotonic()
    with EmulatedPath(Path.parse("10 Mbit/s")) as wire:
        os.kill(wire._control.pid, 19)
    assert time.monotonic() - start_s < 20.0
