"""Live echo: what a run measures, refuses and keeps. Counts are exact, times are only plausible.

Where a number comes from: the sizes and counts of the book's experiment are published (Stevens,
TCP/IP Illustrated vol. 3, appendix A.2); the largest datagrams are derived (65,535 bytes of packet
less 28 of headers over IPv4, 65,535 of payload less 8 over IPv6); all others are counted by hand.
"""

from __future__ import annotations

import errno
import json
import math
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from netcalc import experiments, samples
from netcalc.errors import ArgumentTypeError, DomainError, ExperimentError
from netcalc.experiments import BOOK_SIZES, echo
from netcalc.experiments.running import limits, record

pytestmark = [pytest.mark.live, pytest.mark.core]

BOOK = [8, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1300, 1400]


def has_address(host):
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as sock:
        try:
            sock.bind((host, 0))
        except OSError:
            return False
    return True


def test_the_books_sizes():
    assert list(BOOK_SIZES) == BOOK, "published: appendix A.2, 8 and 100 to 1400 in steps of 100"


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_the_books_experiment(protocol, nothing_left):
    result = echo(protocol=protocol)
    assert isinstance(result, samples.RttSamples)
    assert result.payload_bytes.tolist() == [size for size in BOOK for _ in range(10)]
    assert result.sequence.tolist() == list(range(1, 151))
    assert (result.sent, result.received, result.duplicates, result.errors) == (150, 150, 0, 0)
    assert result.loss_ratio == 0.0
    assert not result.meta.partial
    assert np.isfinite(result.rtt_s).all()
    # Bounds that no machine passes: light takes 1 ns for 30 cm, and the time limit was 1 s.
    assert 1e-9 < result.rtt_s.min() <= result.rtt_s.max() <= 1.0
    assert (np.diff(result.sent_s) > 0).all()
    # Stop and wait: a probe leaves after the reply to the one before.
    assert (result.sent_s[1:] >= result.sent_s[:-1] + result.rtt_s[:-1]).all()


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_ipv6_loopback(protocol, nothing_left):
    if has_address("::1"):
        result = echo([8, 1400], count=3, protocol=protocol, host="::1")
        assert result.received == 6
        assert result.meta.instrument.address_family == "IPv6"
    else:
        with pytest.raises(ExperimentError) as caught:
            echo([8, 1400], count=3, protocol=protocol, host="::1")
        assert (caught.value.phase, caught.value.host) == ("bind", "::1")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "::ffff:127.0.0.1"])
def test_every_spelling_of_the_loopback(host, nothing_left):
    result = echo(100, count=2, host=host)
    assert result.received == 2
    assert result.meta.instrument.address_family == "IPv4"


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_extreme_sizes(protocol, nothing_left):
    sizes = [0, 1, 3, 7, 8, 9, 65_507] if protocol == "udp" else [8, 9, 65_536, 1 << 20]
    result = echo(sizes, count=2, protocol=protocol)
    assert result.received == 2 * len(sizes)
    assert sorted(set(result.payload_bytes)) == sizes


def test_one_size_as_a_number_an_array_and_repeated():
    assert echo(8, count=1).payload_bytes.tolist() == [8]
    assert echo(np.array([8, 16]), count=1).payload_bytes.tolist() == [8, 16]
    assert echo([16.0, 8, 16], count=1).payload_bytes.tolist() == [16, 8, 16]


def test_interval_is_kept():
    result = echo(8, count=3, interval_s=0.02)
    assert (np.diff(result.sent_s) >= 0.02 * (1 - 1e-9)).all()
    # The sleeps between probes count as measurements of the scheduling delay, too:
    # 2 x 15 around the run, 3 in the warm-up of one size, 2 between three probes.
    assert result.meta.instrument.scheduling_delay_count == 35


REFUSED = [
    ({"payload_bytes": 65_508}, "payload_bytes", "size-for-ipv4"),
    ({"payload_bytes": 65_528, "host": "::1"}, "payload_bytes", "size-for-ipv6"),
    ({"payload_bytes": [8, -1]}, "payload_bytes[1]", "size-for-ipv4"),
    ({"payload_bytes": 8.5}, "payload_bytes", "size-for-ipv4"),
    ({"payload_bytes": math.nan}, "payload_bytes", "size-for-ipv4"),
    ({"payload_bytes": []}, "payload_bytes", "not-one-dimensional"),
    ({"payload_bytes": 7, "protocol": "tcp"}, "payload_bytes", "size-for-tcp"),
    ({"payload_bytes": (1 << 20) + 1, "protocol": "tcp"}, "payload_bytes", "size-for-tcp"),
    ({"protocol": "sctp"}, "protocol", "not-a-choice"),
    ({"protocol": "icmp"}, "protocol", "needs-a-path"),
    ({"count": 0}, "count", "not-whole"),
    ({"count": 1.5}, "count", "not-whole"),
    ({"count": 100_001}, "count", "whole-out-of-range"),
    ({"interval_s": -1}, "interval_s", "out-of-range"),
    ({"interval_s": math.nan}, "interval_s", "out-of-range"),
    ({"timeout_s": 0}, "timeout_s", "out-of-range"),
    ({"timeout_s": math.inf}, "timeout_s", "out-of-range"),
    ({"port": 65_536}, "port", "whole-out-of-range"),
    ({"port": -1}, "port", "not-whole"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "name", "code"), REFUSED)
def test_impossible_numbers_are_refused(arguments, name, code, no_packet):
    with pytest.raises(DomainError) as caught:
        echo(**arguments)
    assert (caught.value.name, caught.value.code) == (name, code)


@pytest.mark.parametrize(
    ("arguments", "code", "estimate"),
    [
        # derived: 15 x 10,000; 2 directions x 65,507 x (40,000 + 5 warm-up); 149 intervals of 10 s
        ({"count": 10_000}, "too-many-probes", {"count": 150_000, "limit": 100_000}),
        (
            {"payload_bytes": 65_507, "count": 40_000},
            "too-many-bytes",
            {"carried_bytes": 2 * 65_507 * 40_005, "limit_bytes": 2_000_000_000},
        ),
        ({"interval_s": 10}, "run-too-long", {"duration_s": 1490, "limit_s": 600}),
    ],
)
def test_a_run_beyond_a_limit_is_refused_with_its_estimate(arguments, code, estimate, no_packet):
    with pytest.raises(ExperimentError) as caught:
        echo(**arguments)
    assert (caught.value.phase, caught.value.code) == ("plan", code)
    assert estimate.items() <= caught.value.values.items()
    assert caught.value.hint


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("8.8.8.8", "target-not-loopback"),
        ("192.168.1.1", "target-not-loopback"),
        ("0.0.0.0", "target-not-loopback"),
        ("::", "target-not-loopback"),
        ("fe80::1", "target-not-loopback"),
        ("fe80::1%eth0", "target-not-loopback"),
        ("::ffff:8.8.8.8", "target-not-loopback"),
        ("224.0.0.1", "target-is-multicast"),
        ("ff02::1", "target-is-multicast"),
        ("255.255.255.255", "target-is-broadcast"),
        ("127.255.255.255", "target-is-broadcast"),
        ("example.org", "target-not-an-address"),
        ("", "target-not-an-address"),
        ("127.0.0.1; rm -rf /", "target-not-an-address"),
    ],
)
def test_other_targets_are_refused_before_the_first_packet(host, code, no_packet):
    with pytest.raises(ExperimentError) as caught:
        echo(8, count=1, host=host)
    error = caught.value
    assert (error.phase, error.code, error.host) == ("target", code, host)


def test_wrong_types_are_named(no_packet):
    with pytest.raises(ArgumentTypeError) as caught:
        echo("1400 B")
    assert (caught.value.code, caught.value.values["name"]) == ("text-for-numbers", "payload_bytes")
    with pytest.raises(ArgumentTypeError) as caught:
        echo(8, stop=3)
    assert (caught.value.code, caught.value.values["found"]) == ("not-an-event", "int")


@pytest.mark.parametrize("platform_name", ["emscripten", "wasi"])
def test_a_place_without_processes_is_told_what_works(platform_name, monkeypatch, no_packet):
    monkeypatch.setattr(limits.sys, "platform", platform_name)
    with pytest.raises(ExperimentError) as caught:
        echo(8)
    error = caught.value
    assert (error.code, error.values["platform"]) == ("platform-unsupported", platform_name)
    assert error.hint


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_port_in_use(protocol, nothing_left):
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, kind) as holder:
        holder.bind(("127.0.0.1", 0))
        if protocol == "tcp":
            holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(ExperimentError) as caught:
            echo(8, count=1, protocol=protocol, port=port)
    error = caught.value
    assert (error.phase, error.host, error.port) == ("bind", "127.0.0.1", port)
    assert error.code == "port-in-use"
    assert "port=0" in error.hint
    assert error.partial is None


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_a_port_can_be_chosen_and_used_again_at_once(protocol, nothing_left):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as holder:
        holder.bind(("127.0.0.1", 0))
        port = holder.getsockname()[1]
    for _ in range(3):  # the connections before are in TIME_WAIT
        assert echo(8, count=1, protocol=protocol, port=port).received == 1


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("", "no-interpreter"),
        ("/nowhere/python", "process-not-started"),
        (shutil.which("true"), "peer-not-ready"),
    ],
)
def test_a_peer_that_cannot_start(program, code, monkeypatch, nothing_left):
    monkeypatch.setattr(sys, "executable", program)
    with pytest.raises(ExperimentError) as caught:
        echo(8, count=1)
    assert (caught.value.phase, caught.value.code) == ("start", code)


def test_what_the_system_refuses_a_peer_has_no_address(tmp_path, monkeypatch, nothing_left):
    """Derived: EAGAIN is what Linux answers above ulimit -u, whatever address is wanted."""
    refused = {"error": errno.EAGAIN, "text": "Resource temporarily unavailable"}
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\necho '{json.dumps(refused)}'\nexec cat > /dev/null\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(ExperimentError) as caught:
        echo(8, count=1)
    program.unlink()
    error = caught.value
    assert (error.phase, error.code, error.host, error.port) == (
        "start", "out-of-processes", None, None,
    )  # fmt: skip
    assert "127.0.0.1" not in str(error)


def run_script(script, *, unprivileged=False, **options):
    """Run Python text in a process of its own."""
    command = [sys.executable, "-c", script]
    if unprivileged and os.geteuid() == 0:
        # The user stays, because the interpreter may lie in its home, but no capability does.
        command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *command]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, **options
    )


def test_a_plain_user_can_run_it_and_a_privileged_port_is_explained():
    script = """
import netcalc
print(netcalc.experiments.echo(8, count=2).received)
try:
    print(netcalc.experiments.echo(8, count=1, port=1).received)
except netcalc.errors.ExperimentError as error:
    print(error)
"""
    done = run_script(script, unprivileged=True)
    first, second = done.stdout.splitlines()
    assert (first, done.stderr) == ("2", "")
    first_free = int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text())
    if first_free > 1:
        assert re.match(r"bind: the port is not permitted: Permission denied .*:1\)", second)
        assert "port=0" in second
    else:  # this machine lets everybody use every port
        assert second == "1"


def test_a_deleted_working_directory_does_not_matter(tmp_path):
    place = tmp_path / "gone"
    place.mkdir()
    script = f"""
import os, netcalc.experiments
os.rmdir({str(place)!r})
print(netcalc.experiments.echo(8, count=2).received)
"""
    done = run_script(script, cwd=place)
    assert (done.stdout, done.stderr) == ("2\n", "")


def test_files_of_the_working_directory_are_not_imported(tmp_path):
    for name in ("json", "socket", "struct", "threading", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')")
    script = """
import sys; sys.path.remove('')
import netcalc.experiments
print(netcalc.experiments.echo(8, count=2).received)
"""
    environment = {**os.environ, "PYTHONPATH": ""}
    done = run_script(script, cwd=tmp_path, env=environment)
    assert (done.stdout, done.stderr) == ("2\n", "")


@pytest.mark.usefixtures("popen_closes")
def test_too_few_file_descriptors():
    script = """
import os, resource, netcalc.experiments
from netcalc.errors import ExperimentError
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
netcalc.experiments.echo(8, count=1)  # loads what is loaded late
used = len(os.listdir("/proc/self/fd")) - 1
for limit in (used, used + 3, used + 12):
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    try:
        print(netcalc.experiments.echo(8, count=2).received)
    except ExperimentError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    assert len(os.listdir("/proc/self/fd")) - 1 == used
"""
    done = run_script(script)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert "Too many open files" in lines[0]
    assert lines[-1] == "2", "12 more descriptors are enough"


def test_two_runs_at_once_do_not_meet(nothing_left):
    results = {}

    def one(protocol):
        results[protocol] = echo([8, 1400], count=50, protocol=protocol)

    threads = [threading.Thread(target=one, args=(protocol,)) for protocol in ("udp", "tcp")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results.values():
        assert (result.received, result.duplicates) == (100, 0)
        assert result.meta.instrument.foreign_count == 0


def test_a_file_gets_the_samples_and_gives_them_back(tmp_path, nothing_left):
    result = echo([0, 8, 1400], count=3, save=tmp_path / "run.json")
    again = samples.RttSamples.load(tmp_path / "run.json")
    for name, column in result.columns().items():
        np.testing.assert_array_equal(again.columns()[name], column, err_msg=name)
    assert asdict(again.meta) == asdict(result.meta)
    assert (again.sent, again.received) == (9, 9)


@pytest.mark.parametrize("name", ["", "not/there.json"])
def test_a_file_that_cannot_be_written_is_refused_before_the_run(name, tmp_path, no_packet):
    with pytest.raises(ExperimentError) as caught:
        echo(8, save=tmp_path / name)
    code = "file-not-writable" if name else "file-is-directory"
    assert (caught.value.phase, caught.value.code) == ("save", code)


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch, nothing_left):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    kept = tmp_path / "run.json"
    kept.write_text("an earlier run")
    monkeypatch.setattr(samples.saved, "write_atomically", full)
    monkeypatch.setattr(record, "SAVE_S", 0.0)
    with pytest.raises(ExperimentError) as caught:
        echo([8, 16], count=30, save=kept)
    assert (caught.value.phase, caught.value.code) == ("save", "samples-not-saved")
    assert caught.value.values["reason"] == "No space left on device"
    assert caught.value.partial.received == 60
    assert caught.value.partial.meta.warnings[0].code == "save-postponed"
    assert kept.read_text() == "an earlier run"


def test_a_run_is_saved_while_it_goes_on(tmp_path, monkeypatch, nothing_left):
    found = []

    def look(done, total, rtt_s):
        if (tmp_path / "run.json").exists():
            found.append(samples.RttSamples.load(tmp_path / "run.json"))

    monkeypatch.setattr(record, "SAVE_S", 0.0)
    monkeypatch.setattr(record, "PROGRESS_S", 0.0)
    echo([8, 16], count=3, save=tmp_path / "run.json", progress=look)
    assert found[0].sent == 1
    assert found[0].meta.partial
    assert not samples.RttSamples.load(tmp_path / "run.json").meta.partial


def test_progress_is_told_at_a_bounded_rate(monkeypatch):
    told = []
    monkeypatch.setattr(record, "PROGRESS_S", 600.0)
    result = echo([8, 16], count=20, progress=lambda *what: told.append(what))
    assert [(done, total) for done, total, _ in told] == [(1, 40), (40, 40)]
    assert [rtt_s for *_, rtt_s in told] == [result.rtt_s[0], result.rtt_s[-1]]


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_the_run_reports_its_own_error(protocol):
    result = echo([8, 100], count=4, protocol=protocol)
    meta, facts = result.meta, result.meta.instrument
    for name in ("timer_resolution_s", "clock_call_s", "exchange_call_s", "warm_up_first_rtt_s"):
        assert 0 < getattr(facts, name) < 1, name
    assert facts.clock_call_s < facts.own_cost_s < 1
    assert -1e-6 < facts.scheduling_delay_median_s <= facts.scheduling_delay_p99_s
    assert 0 < facts.processor_ratio <= 1
    assert set(result.resolution_s) == {facts.timer_resolution_s}
    for name in ("send_buffer_bytes", "receive_buffer_bytes"):
        assert getattr(facts, name) > 0
        assert getattr(facts, "peer_" + name) > 0
    assert facts.cpu_count == os.cpu_count()
    assert facts.kernel == platform.release()
    assert "no wire, no frames" in facts.offload
    # 2 sizes x (4 probes + 5 of warm-up), all of them echoed.
    assert (facts.warm_up_count, facts.peer_echoed_count) == (10, 18)
    assert facts.ended_by == ""
    if protocol == "tcp":
        allowed = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
        assert facts.congestion_control in allowed
        assert facts.peer_congestion_control in allowed
        assert facts.nodelay is True
    # Both clocks at the start, and the text says the same as the number.
    assert np.datetime64(meta.start.removesuffix("+00:00")).astype("datetime64[us]").astype(
        int
    ) == pytest.approx(facts.start_wall_ns / 1e3, abs=1)
    assert isinstance(facts.start_monotonic_ns, int)


def test_the_samples_describe_themselves_and_name_nobody(tmp_path):
    result = echo([8, 16], count=1, protocol="tcp", save=tmp_path / "run.json")
    meta = result.meta
    assert (meta.tool, meta.target) == ("netcalc echo", "127.0.0.1, TCP")
    assert meta.command == (
        "echo([8, 16], protocol='tcp', count=1, "
        "interval_s=0, timeout_s=1, host='127.0.0.1', port=0)"
    )
    assert eval(meta.command, {"echo": echo}).sent == 2, "the command runs as it stands"
    assert meta.layers["payload_bytes"] == "TCP payload"
    assert "monotonic" in meta.clock
    assert meta.host.startswith(platform.system())
    text = (tmp_path / "run.json").read_text()
    for private in (platform.node(), str(Path.home()), str(tmp_path), sys.executable):
        assert not private or private not in text


def test_the_public_names():
    assert callable(experiments.echo)
    assert (experiments.MAX_DURATION_S, experiments.MAX_BYTES, experiments.MAX_COUNT) == (
        600.0, 2_000_000_000, 100_000,
    )  # fmt: skip
