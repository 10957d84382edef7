"""The relay's counts without its thread and by a given clock: sizes on a link, lateness."""

from __future__ import annotations

import socket

import pytest

from netcalc.emulation import Relay
from netcalc.emulation import relay as relay_module
from netcalc.path import Path

HOSTS = [("127.0.0.1", 28), ("::1", 48)]
"""derived: IP 20 or 40 bytes, and UDP 8."""


@pytest.fixture
def placed(monkeypatch):
    """Make a relay with its socket and a clock that stands at 100 s, but without its thread."""
    opened = []

    def make(host, **options):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        near, target, sender = (socket.socket(family, socket.SOCK_DGRAM) for _ in range(3))
        opened.extend((near, target, sender))
        near.bind((host, 0))
        target.bind((host, 0))
        relay = Relay(Path.parse("1 Mbit/s"), target=target.getsockname()[:2], **options)
        relay._near = near
        monkeypatch.setattr(relay_module, "_clock", lambda: 100.0)
        opened.append(relay)
        return relay, target, sender

    yield make
    for one in opened:
        for sock in one._to_target.values() if isinstance(one, Relay) else (one,):
            sock.close()


@pytest.mark.parametrize(("host", "headers"), HOSTS)
def test_a_datagram_takes_its_headers_in_a_buffer(placed, host, headers):
    """derived: a buffer of 100 bytes and the headers takes 100 of data, not 101."""
    relay, _, sender = placed(host, buffer_bytes=100 + headers)
    for size in (101, 100):
        sender.sendto(bytes(size), relay.address)
        relay._read(relay._near, None)
    [there], [back] = relay.counters
    assert (there["arrived"], there["full"], there["delivered"]) == (2, 1, 1)
    assert back["arrived"] == 0
    assert [len(data) for data, _ in relay._chains[0].pop_ready(200.0)] == [100]


@pytest.mark.parametrize(("host", "headers"), HOSTS)
def test_a_datagram_takes_its_headers_on_the_line(placed, host, headers):
    """derived: 8 us a byte at 1 Mbit/s."""
    relay, _, sender = placed(host)
    sender.sendto(bytes(100), relay.address)
    relay._read(relay._near, None)
    due_s = relay._chains[0].next_event_s()
    assert due_s == pytest.approx(100.0 + 8e-6 * (100 + headers), abs=1e-9)


def test_what_goes_out_late_is_counted(placed, monkeypatch):
    """by hand: 8 us and 8 us a byte after 100 s; one datagram 0.1 ms late, two 2 ms late."""
    relay, target, sender = placed("127.0.0.1")
    for late_s in (1e-4, 2e-3, 2e-3):
        sender.sendto(b"", relay.address)
        relay._read(relay._near, None)
        now_s = relay._chains[0].next_event_s() + late_s
        monkeypatch.setattr(relay_module, "_clock", lambda now_s=now_s: now_s)
        relay._deliver()
        assert target.recv(10) == b""
    found = relay.statistics()
    assert (found.carried_count, found.late_ratio) == (3, pytest.approx(2 / 3))
    assert found.lateness_p50_s == pytest.approx(2e-3, abs=1e-9)
    assert relay.lateness_s(0.0) == pytest.approx(1e-4, abs=1e-9)
    assert found.invalid.code == "packets-late"
