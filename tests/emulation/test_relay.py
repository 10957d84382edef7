"""The relay: datagrams through the queues of a path, without namespaces."""

from __future__ import annotations

import os
import resource
import socket
import threading
import time
from contextlib import ExitStack

import pytest

from netcalc.emulation import Relay
from netcalc.errors import DomainError, ExperimentError
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


@pytest.mark.parametrize("text", ["T1 5 ms", "10 Mbit/s 3 ms, 10 Mbit/s 2 ms"])
@pytest.mark.parametrize("size", [8, 1400])
def test_a_round_trip_takes_that_of_the_path(server, client, text, size):
    """identity: Path.rtt_s of the datagram and its headers; the best of six at most 2 ms late."""
    path = Path.parse(text)
    truth_s = float(path.rtt_s(size + 28))
    with Relay(path, target=server) as relay:
        client.connect(relay.address)
        found_s = [round_trip_s(client, size) for _ in range(6)]
        assert relay.lateness_s() >= 0
    assert truth_s <= min(found_s) <= truth_s + 2e-3


def test_a_lost_datagram_is_counted(server, client):
    client.settimeout(0.05)
    with Relay(Path.parse("10 Mbit/s"), target=server, loss_ratio=1.0) as relay:
        client.connect(relay.address)
        client.send(b"gone")
        with pytest.raises(TimeoutError):
            client.recv(10)
        assert relay.counters[0][0]["lost"] == 1


def test_a_second_client_is_not_served(server, client):
    with (
        Relay(Path.parse("10 Mbit/s"), target=server) as relay,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        client.connect(relay.address)
        round_trip_s(client, 10)
        other.settimeout(0.05)
        other.sendto(b"me too", relay.address)
        with pytest.raises(TimeoutError):
            other.recv(10)
        assert relay.foreign_count == 1


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
            pytest.raises(ExperimentError, match="too many files open"),
            Relay(Path.parse("T1"), target=server),
        ):
            raise AssertionError("it cannot be open")
    assert threading.active_count() == before


def test_bad_parameters_are_refused():
    path = Path.parse("T1")
    for host in ("192.0.2.1", "127.example.org", "::1:2"):
        with pytest.raises(ExperimentError, match="not a loopback address"):
            Relay(path, target=(host, 9))
    with pytest.raises(DomainError, match="header_bytes"):
        Relay(path, target=("127.0.0.1", 9), header_bytes=-1)
    with pytest.raises(DomainError, match="loss_ratio"):
        Relay(path, target=("127.0.0.1", 9), loss_ratio=2)
