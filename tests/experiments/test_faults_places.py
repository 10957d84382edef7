"""Faults E4, E11, E15, E18, E19: addresses, families, offloads, others at once, other systems."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
import threading
from functools import partial

import pytest

from netcalc import experiments
from netcalc.errors import ExperimentError
from netcalc.experiments import (
    EXPERIMENTS,
    bulk,
    echo,
    small_writes,
    transactions,
)
from netcalc.path import Path

pytestmark = [pytest.mark.live, pytest.mark.namespace]

WIRE = Path.parse("100 Mbit/s 1 ms")
RUNS = {
    **{
        name: partial(experiment.measure, **experiment.shortest)
        for name, experiment in EXPERIMENTS.items()
    },
    "echo tcp": lambda **k: echo(100, protocol="tcp", count=60, **k),
    "echo icmp, path": lambda **k: echo(100, protocol="icmp", count=20, path=WIRE, **k),
    "bulk tcp": lambda **k: bulk(100, write_count=500, run_count=10, **k),
    "bulk udp, path": lambda **k: bulk(
        100, protocol="udp", write_count=100, run_count=3, path=WIRE, **k
    ),
    "transactions, path": lambda **k: transactions(
        8, protocols=["ping", "tls"], count=3, path=WIRE, **k
    ),
}  # fmt: skip
ROWS = {
    "echo": 40, "echo tcp": 60, "echo icmp, path": 20, "bulk": 16, "bulk tcp": 10,
    "bulk udp, path": 3, "line_rate": 4, "lockstep": 4, "small_writes": 30, "transactions": 40,
    "transactions, path": 6, "probing": 6, "packet_trains": 20, "router_queue": 20,
    "router": 4, "working_latency": 30,
}  # fmt: skip
"""Counted by hand; a train has two packets."""


def test_all_runs_at_once_do_not_meet(nothing_left):
    """E18: each in a thread; every count is exact, and nothing of one is seen by another."""
    results, errors = {}, {}

    def one(name):
        try:
            results[name] = RUNS[name]()
        except BaseException as error:
            errors[name] = error

    threads = [threading.Thread(target=one, args=(name,)) for name in RUNS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == {}
    assert {name: len(results[name]) for name in ROWS} == ROWS
    for name, result in results.items():
        assert not result.meta.instrument.foreign_count, name
        assert not result.meta.instrument.damaged_count, name
    assert (results["bulk tcp"].received_bytes == 50_000).all()


TWICE = """
from netcalc import experiments as lab
from netcalc.path import Path
path = Path.parse("100 Mbit/s 1 ms")
print(len(lab.echo(8, count=200)), len(lab.echo(8, count=20, path=path)),
      len(lab.transactions(8, protocols=["udp", "tcp"], count=5)))
"""


def test_the_same_runs_in_several_programs_at_once():
    """E18: names and ports are of each program alone."""
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", TWICE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = [program.communicate(timeout=120) for program in programs]
    assert said == [("200 20 10\n", "")] * 2


# --- Where packets may go -----------------------------------------------------------------------

ADDRESSES = """
import sys
from netcalc import experiments as lab
from netcalc.path import Path
seen = set()
def look(event, arguments):
    events = ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg")
    if event in events and arguments[1] is not None:
        seen.add(str(arguments[1]))
    assert event not in ("socket.getaddrinfo", "socket.gethostbyname"), event
sys.addaudithook(look)
path = Path.parse("100 Mbit/s 1 ms")
lab.echo([4, 8], count=2)
lab.echo(8, count=2, protocol="tcp")
lab.echo(8, count=2, protocol="icmp", path=path)
lab.bulk(100, write_count=5, run_count=1)
lab.line_rate(64, duration_s=0.01, run_count=1)
lab.lockstep(1, duration_s=0.01, run_count=1)
lab.small_writes(modes=["single"], count=2)
lab.transactions(8, count=1)
lab.transactions(8, protocols=["udp", "tcp"], count=1, path=path)
print(*sorted(seen), sep="\\n")
"""


def test_every_address_is_of_this_machine_or_of_an_emulated_path():
    """E15: every address that any socket of the program is given, whoever gives it."""
    done = subprocess.run(
        [sys.executable, "-c", ADDRESSES], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert any("127.0.0.1" in line for line in lines)
    for line in lines:
        # 198.18.0.0/15 is the range for tests of devices (RFC 2544), fd00::/8 a private one.
        allowed = r"\('(127\.|::1|198\.1[89]\.|fd)[0-9a-f.:]*', |\('(lo|wire0)', |b?''$"
        assert re.match(allowed, line), line


TARGETS = {
    "target-not-an-address", "target-is-multicast", "target-is-broadcast", "target-not-loopback",
}  # fmt: skip


WITH_HOST = [
    name
    for name in experiments.__all__
    if callable(getattr(experiments, name))
    and name != "Peer"  # a second machine, whose user has agreed
    and "host" in inspect.signature(getattr(experiments, name)).parameters
]


@pytest.mark.parametrize("name", WITH_HOST)
def test_only_an_address_of_the_loopback_is_taken(name, no_process):
    """E15: of all that can be called, what takes a host refuses others before the first packet."""
    public = getattr(experiments, name)
    for host in ("8.8.8.8", "0.0.0.0", "224.0.0.1", "255.255.255.255", "fe80::1", "example.org"):
        with pytest.raises(ExperimentError) as caught:
            public(host=host)
        assert caught.value.code in TARGETS
        assert (caught.value.phase, caught.value.host) == ("target", host)


FAMILIES = """
import sys
from netcalc import experiments as lab
from netcalc.errors import ExperimentError
for run, host in ((lab.echo, "::1"), (lab.echo, "127.0.0.1")):
    for protocol in ("udp", "tcp"):
        try:
            result = run(8, count=2, host=host, protocol=protocol)
            print(len(result), result.meta.instrument.address_family)
        except ExperimentError as error:
            print(error.code, error.phase, error.host)
"""
ROOT = [] if os.geteuid() == 0 else ["-Ur"]


@pytest.mark.parametrize(
    ("prepare", "there", "missing"),
    [
        ("sysctl -qw net.ipv6.conf.lo.disable_ipv6=1", "IPv4", "::1"),
        ("ip addr del 127.0.0.1/8 dev lo", "IPv6", "127.0.0.1"),
    ],
)
def test_a_machine_with_one_family_alone(prepare, there, missing):
    """E4: what is there works and is named, what is not is refused by address and port."""
    prepare = prepare.replace("sysctl -qw net.ipv6.conf.lo.disable_ipv6=1",
                              "echo 1 > /proc/sys/net/ipv6/conf/lo/disable_ipv6")  # fmt: skip
    shell = f'ip link set lo up && {prepare} && exec "$@"'
    done = subprocess.run(
        ["unshare", "--net", *ROOT, "sh", "-c", shell, "sh", sys.executable, "-c", FAMILIES],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines.count(f"2 {there}") == 2
    refused = [line for line in lines if not line.startswith("2 ")]
    assert len(refused) == 2
    for line in refused:
        assert line == f"address-missing bind {missing}"


DOWN = """
from netcalc.cli import main
for host in ("127.0.0.1", "::1"):
    try:
        main(["run", "echo", "--count", "2", "--host", host, "--json"])
    except SystemExit as ended:
        print(ended.code)
"""


def test_a_loopback_that_is_down_is_named_for_either_family():
    """Without the interface 127.0.0.1 has no route, and ::1 is no address."""
    done = subprocess.run(
        ["unshare", "--net", *ROOT, sys.executable, "-c", DOWN],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    said = [part for part in re.split(r"^2\n", done.stdout, flags=re.MULTILINE) if part]
    assert [json.loads(part)["error"]["code"] for part in said] == ["loopback-down"] * 2


@pytest.mark.parametrize("name", ["echo", "bulk", "line_rate", "lockstep", "small_writes",
                                  "transactions"])  # fmt: skip
def test_what_the_loopback_leaves_out_is_recorded(name):
    """E11: no frames, no checksums, a huge MTU."""
    facts = RUNS[name]().meta.instrument
    assert "no wire, no frames, no computed checksums" in facts.offload
    assert facts.loopback_mtu_bytes >= 576


@pytest.mark.parametrize(
    ("rate", "offload"),
    [
        ("100 Mbit/s", False),
        pytest.param("1 Gbit/s", True, marks=pytest.mark.namespace("tun")),
    ],
)
@pytest.mark.parametrize("experiment", [echo, bulk, small_writes])
def test_what_a_path_offloads_is_recorded(experiment, rate, offload):
    """E11: whether the kernel handed over packets of 64 KiB; an echo has one at a time."""
    few = {"write_count": 5, "run_count": 1} if experiment is bulk else {"count": 2}
    result = experiment(100, path=Path.parse(f"{rate} 1 ms"), **few)
    assert result.meta.instrument.truth["offload"] is (offload and experiment is not echo)


# --- Other systems ------------------------------------------------------------------------------

ELSEWHERE = """
import sys
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[name] = None
sys.platform = {system!r}
import netcalc, netcalc.readers, netcalc.datasets
from netcalc import experiments, emulation
from netcalc.errors import ExperimentError
from netcalc.models.delays.latency import serialization_s
from netcalc.path import Path
print(float(serialization_s(1538, bandwidth_bps=1e9)))
print(len(netcalc.readers.read("64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=1.5 ms\\n"
                               "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\\n"
                               "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=1.5 ms\\n")))
path = Path.parse("T1 1 ms")
for name, options in {few}.items():
    try:
        getattr(experiments, name)(**options)
        print(name, "| ran")
    except ExperimentError as error:
        print(name, "|", error.phase, error.code)
try:
    with emulation.EmulatedPath(path):
        pass
except ExperimentError as error:
    print("wire", "|", error.code)
"""
FEW = {
    "echo": {"count": 1}, "bulk": {"write_count": 5, "run_count": 1},
    "line_rate": {"duration_s": 0.01, "run_count": 1},
    "lockstep": {"duration_s": 0.01, "run_count": 1},
    "small_writes": {"modes": ["single"], "count": 2},
    "transactions": {"payload_bytes": 8, "count": 1},
}  # fmt: skip


@pytest.mark.parametrize("system", ["emscripten", "wasi", "win32", "darwin"])
def test_another_system_is_told_before_a_run_what_works_there(system):
    """E19: JupyterLite, Windows, macOS, by name: models and readers work, each run says why not."""
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE.format(system=system, few=FEW)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    first, _, *lines = done.stdout.splitlines()
    assert float(first) == 1.2304e-05, "derived: 8 x 1538 / 1e9"
    said = dict(line.split(" | ") for line in lines)
    assert said.pop("wire") == "namespaces-not-linux"
    assert list(said) == list(FEW)
    why = {"win32": "platform-needs-peer", "darwin": "needs-linux"}
    refused = f"start {why.get(system, 'platform-unsupported')}"
    assert said == dict.fromkeys(FEW, refused) | ({"echo": "ran"} if system == "darwin" else {})


WITHOUT = """
from pathlib import Path as File
File("/proc/sys/user/max_net_namespaces").write_text("0")
from netcalc import experiments as lab
from netcalc.emulation import capabilities
from netcalc.errors import ExperimentError
from netcalc.path import Path
print("report |", capabilities().why_not)
path = Path.parse("100 Mbit/s 1 ms")
for name, options in {few}.items():
    print(name, "|", len(getattr(lab, name)(**options)))
    try:
        found = getattr(lab, name)(**options, path=path)
        print(name, "on a path |", *(notice.code for notice in found.meta.warnings))
    except ExperimentError as error:
        print(name, "on a path |", error.code)
"""


def test_a_container_without_namespaces():
    """E19: the report says so before a run; loopback runs go on, paths are refused with a hint."""
    inside = ["unshare", "-Urn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    done = subprocess.run(
        [*inside, sys.executable, "-c", WITHOUT.format(few=FEW)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    said = dict(line.split(" | ") for line in done.stdout.splitlines())
    assert "max_net_namespaces" in said.pop("report")
    assert "relay-used" in said.pop("echo on a path").split()
    for name, text in said.items():
        if name.endswith("path"):
            assert text == "namespaces-exhausted"
        else:
            assert int(text) > 0
    assert len(said) == 2 * len(FEW) - 1
