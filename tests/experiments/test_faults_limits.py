"""Faults E5, E6, E12, E14, E16: what a system has no more of, does not grant, or must not give.

Each test takes the scarce thing away from a program of its own: a namespace with four ports, a
limit of the process, a file system of two pages.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import (
    bulk,
    echo,
    line_rate,
    lockstep,
    router_queue,
    small_writes,
    transactions,
)
from netcalc.experiments.running import limits
from netcalc.path import Path as Route

pytestmark = [pytest.mark.live, pytest.mark.namespace]

HEAD = """
import os, resource, sys
from functools import partial
from pathlib import Path as File
from netcalc import experiments as lab
from netcalc.errors import ExperimentError
from netcalc.path import Path
WIRE = Path.parse("100 Mbit/s 1 ms")
RUNS = {
    **{name: partial(lab.EXPERIMENTS[name].measure, **lab.EXPERIMENTS[name].shortest)
       for name in lab.EXPERIMENTS},
    "echo tcp": lambda **k: lab.echo(100, protocol="tcp", count=20, **k),
    "echo, path": lambda **k: lab.echo([8, 100], count=20, path=WIRE, **k),
    "transactions, path": lambda **k: lab.transactions(
        [8, 100], protocols=["tls"], count=9, path=WIRE, **k
    ),
}
def tried(name, **options):
    try:
        return f"whole {len(RUNS[name](**options))}"
    except ExperimentError as error:
        whole = "" if error.partial is None else f" ({len(error.partial)} kept)"
        reason = error.values.get("reason", "")
        return f"{error.phase}: {error.code}{whole} {reason}. {error.hint}"
"""
WHOLE = {
    "echo": 40, "small_writes": 30, "transactions": 40, "bulk": 16, "line_rate": 4, "lockstep": 4,
    "probing": 6, "packet_trains": 20, "router": 4, "router_queue": 20, "working_latency": 30,
    "echo tcp": 20, "echo, path": 40, "transactions, path": 18,
}  # fmt: skip
"""Rows of each run, counted by hand."""
NO_PORT = "out-of-ports|address-not-available"


def printed(script, *, inside=(), **options):
    """Run text after the head, perhaps inside a program that prepares its place; return lines."""
    done = subprocess.run(
        [*inside, sys.executable, "-c", HEAD + script], capture_output=True, text=True,
        timeout=120, check=False, stdin=subprocess.DEVNULL, **options,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return dict(line.split(" | ") for line in done.stdout.splitlines())


ROOT = [] if os.geteuid() == 0 else ["-Ur"]
OWN_NETWORK = ["unshare", "--net", *ROOT, "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
OWN_MOUNTS = ["unshare", "--mount", *ROOT]
NO_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


def test_no_port_is_left():
    """E5: four ports for all of a namespace, and a closed connection keeps one for a minute."""
    script = """
range_of_ports = File("/proc/sys/net/ipv4/ip_local_port_range")
range_of_ports.write_text("40000 40003")
for name in ("echo", "line_rate", "echo tcp", "lockstep", "bulk", "small_writes"):
    tried(name)
    print(name, "|", tried(name))
"""
    found = printed(script, inside=OWN_NETWORK)
    for name in ("echo", "line_rate"):
        assert found[name] == f"whole {WHOLE[name]}", "datagrams give their ports back at once"
    for name in ("echo tcp", "bulk"):  # the kernel may give a port again to another address
        said = re.match(f"(connect|bind): ({NO_PORT}|port-in-use) ", found[name])
        assert found[name] == f"whole {WHOLE[name]}" or said
    assert re.match(f"connect: ({NO_PORT}) .*ip_local_port_range", found["lockstep"])
    assert found["small_writes"] == "whole 30", "the ports of its own namespace"


def test_no_port_is_left_where_no_namespace_is_allowed():
    """E5, N1: on the loopback of the host, whose ports are out."""
    script = """
File("/proc/sys/net/ipv4/ip_local_port_range").write_text("40000 40003")
File("/proc/sys/user/max_net_namespaces").write_text("0")
print("transactions", "|", tried("transactions"))
print("small_writes", "|", tried("small_writes"))
print("tls, path", "|", tried("transactions, path"))
print("echo, path", "|", tried("echo, path"))
print("mtu", "|", tried("bulk", mtu_bytes=1500))
"""
    inside = ["unshare", "-Urn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    found = printed(script, inside=inside)
    assert re.match(rf"tcp: ({NO_PORT}) \(2\d kept\)", found["transactions"])
    assert re.match(f"whole 30|(connect|start): ({NO_PORT}) ", found["small_writes"])
    assert re.match("emulated path: namespaces-exhausted .*max_net_namespaces", found["tls, path"])
    assert found["echo, path"] == "whole 40", "by the relay"
    assert found["mtu"].startswith("namespace: namespace-refused ")


@pytest.mark.usefixtures("popen_closes")
def test_too_few_file_descriptors():
    """E6: each run is whole or says that there are no more, and leaves none open."""
    script = """
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
for name in RUNS:
    tried(name)  # loads what is loaded late
    used = len(os.listdir("/proc/self/fd")) - 1
    for more in (0, 3, 4, 6, 9, 64 - used):
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + more, hard))
        said = tried(name)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        left = len(os.listdir("/proc/self/fd")) - 1 - used
        print(f"{name}, {more if used + more != 64 else 'of 64'} | {said}, left {left}")
"""
    found = printed(script)
    for name, said in found.items():
        kind = name.rpartition(", ")[0]
        assert said.endswith("left 0"), (name, said)
        assert said.startswith(f"whole {WHOLE[kind]},") or "Too many open files" in said
    assert [said for name, said in found.items() if name.endswith("of 64")] == [
        f"whole {count}, left 0" for count in WHOLE.values()
    ]


@pytest.mark.skipif(
    resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 1400, reason="no more files are allowed here"
)
def test_very_many_open_files():
    """E6: a notebook that holds a thousand files: select(2) takes no descriptor above 1023."""
    script = """
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
kept = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
for name in RUNS:
    print(name, "|", tried(name))
"""
    assert printed(script) == {name: f"whole {count}" for name, count in WHOLE.items()}


def test_little_memory():
    """E6: 64 MB beyond what the libraries take are enough for all."""
    script = """
used = int(File("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
limit = used + (64 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for name in RUNS:
    print(name, "|", tried(name))
"""
    found = printed(script, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert found == {name: f"whole {count}" for name, count in WHOLE.items()}


def test_a_write_larger_than_the_memory():
    """E6: the source has no room for what it shall write."""
    script = """
RUNS["large"] = lambda: lab.bulk(1 << 24, write_count=2, run_count=1)
from netcalc.experiments.peers import process as _process
popen = _process.subprocess.Popen
def limited(*arguments, **options):
    limit = 34 << 20
    return popen(*arguments, **options, preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_AS, (limit, limit)))
_process.subprocess.Popen = limited
print("large", "|", tried("large"))
"""
    assert re.match("(transfer: out-of-memory|start: )", printed(script)["large"])


def test_a_disk_that_is_full():
    """E6: what was measured is in the error, an earlier file is whole, no part is left."""
    script = """
os.system("mount -t tmpfs -o size=8k none /mnt")
File("/mnt/others").write_text("the other page")
for name in RUNS:
    File("/mnt/run.json").write_text("an earlier run")
    said = tried(name, save="/mnt/run.json")
    names = sorted(os.listdir("/mnt"))
    print(name, "|", said, "|", names, File("/mnt/run.json").read_text()[:20])
"""
    command = [*OWN_MOUNTS, sys.executable, "-c", HEAD + script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == ""
    lines = [line.split(" | ") for line in done.stdout.splitlines()]
    assert [name for name, *_ in lines] == list(WHOLE)
    for name, said, left in lines:
        kept = f"save: samples-not-saved ({WHOLE[name]} kept) No space left on device."
        assert said.startswith(kept), said
        assert left == "['others', 'run.json'] an earlier run"


def test_a_place_that_is_read_only():
    """E6: a home and a working directory where nothing can be written are enough for a run."""
    script = """
os.system("mount -t tmpfs -o ro none /mnt")
os.environ["HOME"] = "/mnt"
os.chdir("/mnt")
for name in RUNS:
    print(name, "|", tried(name))
print("save", "|", tried("echo", save="/mnt/run.json"))
"""
    found = printed(script, inside=OWN_MOUNTS)
    assert found.pop("save").startswith("save: file-not-writable Read-only file system")
    assert found == {name: f"whole {count}" for name, count in WHOLE.items()}


def test_a_congestion_control_that_this_user_may_not_take():
    """E12: refused with the list of those that are allowed; one that is, is read back."""
    script = """
def words(name):
    return File(f"/proc/sys/net/ipv4/tcp_{name}_congestion_control").read_text().split()
allowed = words("allowed")
closed = [name for name in words("available") if name not in allowed] or ["nosuch"]
RUNS["closed"] = lambda: lab.bulk(100, write_count=1, run_count=1, congestion_control=closed[0])
print("closed", "|", tried("closed"))
for name in allowed:
    taken = lab.bulk(100, write_count=1, run_count=1, congestion_control=name)
    print(name, "|", taken.meta.instrument.congestion_control)
print("allowed", "|", ", ".join(allowed))
"""
    found = printed(script, inside=NO_RIGHTS)
    allowed, closed = found.pop("allowed"), found.pop("closed")
    assert closed.startswith("congestion control: congestion-control-refused ")
    assert f"Permitted to all users: {allowed};" in closed
    assert all(name == taken for name, taken in found.items())


def test_the_congestion_control_of_the_system_is_told():
    """E12: whichever it is, the samples name it."""
    script = """
default = File("/proc/sys/net/ipv4/tcp_congestion_control")
default.write_text("reno")
facts = lab.bulk(100, write_count=1, run_count=1).meta.instrument
print("bulk", "|", facts.congestion_control)
facts = lab.echo(100, protocol="tcp", count=1).meta.instrument
print("echo", "|", facts.peer_congestion_control)
facts = lab.lockstep(1, duration_s=0.01, run_count=1).meta.instrument
print("lockstep", "|", facts.congestion_control)
"""
    found = printed(script, inside=OWN_NETWORK)
    assert found == {"bulk": "reno", "echo": "reno", "lockstep": "reno"}


@pytest.mark.parametrize("experiment", [bulk, line_rate])
def test_a_buffer_that_is_not_granted(experiment, nothing_left):
    """E14: the effective value is in the result."""
    short = {"write_count": 1} if experiment is bulk else {"duration_s": 0.01}
    result = experiment(100, run_count=1, buffer_bytes=1 << 30, **short)
    limit = 2 * int(Path("/proc/sys/net/core/wmem_max").read_text())
    assert result.asked_buffer_bytes.tolist() == [1 << 30]
    assert result.send_buffer_bytes.tolist() == [limit], "socket(7): twice wmem_max at most"
    assert any(
        one.code == "buffer-not-granted" and one.values["requested_bytes"] == 1 << 30
        for one in result.meta.warnings
    )


def test_the_buffers_of_every_run_are_read_back():
    """E14: where none is asked for, too."""
    runs = [
        echo(8, count=1),
        echo(8, count=1, protocol="tcp"),
        small_writes(modes=["single"], count=1),
    ]
    for run in runs:
        assert run.meta.instrument.send_buffer_bytes > 0
        assert run.meta.instrument.peer_receive_buffer_bytes > 0
    for transfers in (bulk(1, write_count=1, run_count=1), lockstep(1, duration_s=0.01)):
        assert (transfers.receive_buffer_bytes > 0).all()


@pytest.mark.parametrize(
    ("experiment", "arguments"),
    [
        (echo, {"count": 10**6}), (echo, {"interval_s": 86_400}), (echo, {"timeout_s": 86_400}),
        (bulk, {"limit_s": 86_400}), (bulk, {"write_count": 10**12}), (bulk, {"run_count": 10**6}),
        (line_rate, {"duration_s": 86_400}), (line_rate, {"run_count": 10**6}),
        (lockstep, {"duration_s": 86_400}), (lockstep, {"pair_count": 10**6}),
        (small_writes, {"count": 10**6}), (small_writes, {"interval_s": 86_400}),
        (transactions, {"count": 10**6}), (transactions, {"count": 10_000}),
        (transactions, {"timeout_s": 86_400}),
        (partial(router_queue, path=Route.parse("1 Mbit/s 1 ms")), {"count": 10**6}),
    ],
)  # fmt: skip
def test_a_day_or_a_million_is_refused_before_anything_starts(experiment, arguments, no_process):
    """E16: with the limit among the values."""
    with pytest.raises((DomainError, ExperimentError)) as caught:
        experiment(**arguments)
    assert caught.value.values.keys() & {"high", "limit", "limit_s", "limit_bytes"}


@pytest.mark.parametrize("experiment", [line_rate, lockstep])
def test_a_run_ends_when_it_has_carried_what_it_may(experiment, nothing_left, monkeypatch):
    """E16: no limit of rate, but one of bytes: what is beyond it is not sent."""
    limit_bytes = 3_000_000
    monkeypatch.setattr(limits, "MAX_BULK_BYTES", limit_bytes)
    result = experiment(duration_s=5.0, run_count=10)
    assert result.meta.partial
    assert result.meta.instrument.ended_by == "limit of 3 MB"
    # One message more for each connection that is just being served.
    most = limit_bytes + float(np.max(result.pair_count * result.write_bytes))
    assert limit_bytes * 0.9 < result.sent_bytes.sum() <= most


def test_the_last_bytes_that_are_allowed_need_not_fill_a_call(nothing_left, monkeypatch):
    """E16: the run ends by itself, not with an empty transfer."""
    monkeypatch.setattr(limits, "MAX_BULK_BYTES", 1000)
    result = line_rate(64, duration_s=0.01, run_count=1, datagrams_per_call=64)
    assert (len(result), result.meta.instrument.ended_by) == (0, "limit of 1000 B")


@pytest.mark.parametrize("run", [echo, bulk, line_rate, lockstep, small_writes, transactions])
def test_the_text_of_a_path_is_refused_with_what_reads_it(run):
    with pytest.raises(DomainError) as caught:
        run(path="10 Mbit/s 1 ms")
    assert (caught.value.name, caught.value.code) == ("path", "not-a-path")
    assert "Path.parse('10 Mbit/s 1 ms')" in caught.value.hint
