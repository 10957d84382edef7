"""The relay: datagrams through the queues of a path, without namespaces."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import numpy as np
import pytest

from netcalc.emulation import NOT_SHOWN, REFUSALS, EmulatedPath, Relay
from netcalc.emulation.relay import MAX_CLIENTS
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import echo
from netcalc.path import Path

pytestmark = pytest.mark.live


@pytest.fixture
def server():
    """Echo datagrams until the test ends."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))

    def serve():
        while (found := sock.recvfrom(65_535))[0] != b"end":
            sock.sendto(*found)

    thread = threading.Thread(target=serve)
    thread.start()
    yield sock.getsockname()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
        last.sendto(b"end", sock.getsockname())
    thread.join()
    sock.close()


@pytest.fixture
def client():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(2)
        yield sock


def round_trip_s(client, size):
    begin_s = time.monotonic()
    client.send(bytes(size))
    assert len(client.recv(65_535)) == size
    return time.monotonic() - begin_s


@pytest.mark.parametrize("text", ["T1 5 ms", "10 Mbit/s 3 ms, 10 Mbit/s 2 ms", "56 kbit/s 1 ms"])
@pytest.mark.parametrize("size", [8, 1400])
def test_a_round_trip_takes_that_of_the_path(server, client, text, size):
    """identity: Path.rtt_s of the datagram and its headers; the best of six at most 2 ms late.

    At 56 kbit/s the 28 bytes of headers take 8 ms of it.
    """
    path = Path.parse(text)
    truth_s = float(path.rtt_s(size + 28))
    with Relay(path, target=server) as relay:
        client.connect(relay.address)
        found_s = [round_trip_s(client, size) for _ in range(6)]
    found = relay.statistics()  # when its thread has ended: it counts a datagram after it sent it
    assert truth_s <= min(found_s) <= truth_s + 2e-3
    assert found.carried_count == 2 * len(found_s)
    # identity: the best round trip is late by what the relay was late, twice, and by the calls
    assert 0 < found.lateness_p50_s <= found.lateness_p99_s
    assert relay.lateness_s(0.0) <= (min(found_s) - truth_s) / 2


def test_how_late_it_was_is_counted(server, client, monkeypatch):
    """by hand: whoever looks 10 ms after the time finds each datagram 10 ms late."""
    with Relay(Path.parse("1 Gbit/s"), target=server) as relay:
        deliver = relay._deliver

        def late():
            if any(chain.next_event_s() is not None for chain in relay._chains):
                time.sleep(0.01)
            deliver()

        monkeypatch.setattr(relay, "_deliver", late)
        client.connect(relay.address)
        for _ in range(5):
            assert round_trip_s(client, 10) >= 0.02
    found = relay.statistics()  # when its thread has ended, as above
    assert (found.carried_count, found.late_ratio) == (10, 1.0)
    assert found.lateness_p50_s >= 0.0099
    assert found.invalid.code == "packets-late"


def test_a_lost_datagram_is_counted(server, client):
    client.settimeout(0.05)
    with Relay(Path.parse("10 Mbit/s"), target=server, loss_ratio=1.0) as relay:
        client.connect(relay.address)
        client.send(b"gone")
        with pytest.raises(TimeoutError):
            client.recv(10)
        assert relay.counters[0][0]["lost"] == 1


def test_each_client_gets_its_own_replies(server):
    """More clients than are served at once, one after the other: each gets what it sent."""
    with Relay(Path.parse("100 Mbit/s"), target=server) as relay:
        for number in range(MAX_CLIENTS + 10):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
                client.settimeout(2)
                client.sendto(b"%d" % number, relay.address)
                assert client.recv(10) == b"%d" % number
        assert len(relay._to_target) == MAX_CLIENTS


def test_nobody_at_the_target_is_silence(client):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        target = free.getsockname()
    client.settimeout(0.1)
    with Relay(Path.parse("10 Mbit/s"), target=target) as relay:
        client.connect(relay.address)
        client.send(b"anybody?")
        with pytest.raises(TimeoutError):
            client.recv(10)
        assert relay.unsent_count >= 1


def test_nothing_stays_when_it_ends(server):
    before = threading.active_count()
    with Relay(Path.parse("T1"), target=server):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_too_many_open_files_are_refused(server, tmp_path):
    """It waits with select(2), which takes no descriptor above 1023."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = threading.active_count()
    with ExitStack() as undo:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(2048, limits[1]), limits[1]))
        undo.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        kept = undo.enter_context((tmp_path / "kept").open("wb"))
        while (number := os.dup(kept.fileno())) < 1023:
            undo.callback(os.close, number)
        undo.callback(os.close, number)
        with (
            pytest.raises(ExperimentError) as caught,
            Relay(Path.parse("T1"), target=server),
        ):
            raise AssertionError("it cannot be open")
        assert caught.value.code == "too-many-files"
    assert threading.active_count() == before


def test_bad_parameters_are_refused():
    path = Path.parse("T1")
    for host in ("192.0.2.1", "127.example.org", "::1:2"):
        with pytest.raises(ExperimentError) as caught:
            Relay(path, target=(host, 9))
        assert (caught.value.code, caught.value.host) == ("not-loopback-target", host)
    for name, value in (("header_bytes", -1), ("loss_ratio", 2)):
        with pytest.raises(DomainError) as refused:
            Relay(path, target=("127.0.0.1", 9), **{name: value})
        assert refused.value.name == name


@pytest.fixture
def no_namespaces(monkeypatch):
    """Let the system refuse every path between namespaces, with a code."""

    def refuse(code):
        def set_up(path, undo):
            raise ExperimentError(
                code, phase="emulated path", platform="sunos",
                errno=1, reason="Operation not permitted", step="create user namespace",
            )  # fmt: skip

        monkeypatch.setattr(EmulatedPath, "_set_up", set_up)

    return refuse


@pytest.mark.parametrize("code", sorted(REFUSALS))
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_an_echo_over_a_path_works_without_namespaces(no_namespaces, code, host):
    """identity: Path.rtt_s with the headers of the IP version; the best is at most 3 ms more."""
    no_namespaces(code)
    path = Path.parse("56 kbit/s 2 ms")
    sizes = np.array([0, 8, 200])
    for _ in range(3):
        samples = echo(sizes, count=4, path=path, host=host)
        measured_sizes, best_s = samples.minima()
        assert measured_sizes.tolist() == sizes.tolist()
        late_s = best_s - path.rtt_s(sizes + (48 if ":" in host else 28))
        assert late_s.min() >= 0
        if late_s.max() < 3e-3:
            break
    assert late_s.max() < 3e-3
    assert samples.received == 12
    [notice] = [one for one in samples.meta.warnings if one.code == "relay-used"]
    assert notice.values["reason"] == code
    assert set(notice.values["not_shown"]) == set(NOT_SHOWN)
    truth = samples.meta.instrument.truth
    assert (truth["bandwidths_bps"], truth["latencies_s"]) == ([56e3], [0.002])
    assert truth["device"] == "relay"
    assert Path.from_truth(truth).same_lines(path)
    assert samples.meta.instrument.wire_lateness_p99_s > 0
    assert samples.meta.instrument.wire_late_ratio is not None


def test_what_a_relay_cannot_show_is_refused_without_namespaces(no_namespaces):
    no_namespaces("namespaces-not-permitted")
    for protocol in ("tcp", "icmp"):
        with pytest.raises(ExperimentError) as caught:
            echo(8, protocol=protocol, path=Path.parse("T1"))
        assert caught.value.code == "namespaces-not-permitted"
        assert "UDP echo" in caught.value.hint
    no_namespaces("request-refused")  # anything else is an error of UDP, too
    with pytest.raises(ExperimentError) as caught:
        echo(8, path=Path.parse("T1"))
    assert caught.value.code == "request-refused"


@pytest.mark.namespace
def test_a_system_that_refuses_namespaces_relays():
    """The kernel itself refuses: a user namespace in which no network namespace may be made."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    script = (
        "open('/proc/sys/user/max_net_namespaces', 'w').write('0')\n"
        "from netcalc.experiments import echo\n"
        "from netcalc.path import Path\n"
        "samples = echo([8], count=3, path=Path.parse('T1 5 ms'))\n"
        "print(samples.received, samples.best_s.min(), *(n.code for n in samples.meta.warnings))\n"
    )
    command = ["unshare", "--user", "--map-root-user", sys.executable, "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    received, best_s, *codes = result.stdout.split()
    assert received == "3"
    assert float(best_s) >= 0.01 + 2 * 8 * 36 / 1.544e6  # derived: latency, 36 bytes each way
    assert "relay-used" in codes
