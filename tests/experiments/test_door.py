"""Fault S4 at a run's own peer: strangers at its port, silent, slow, many; judged by counts.

No test here waits for a deadline: what a stranger would have held up has happened before it.
"""

from __future__ import annotations

import importlib
import socket
import ssl
from contextlib import ExitStack

import pytest

from netcalc.experiments import echo, small_writes, transactions
from netcalc.experiments.exchanges import endpoints, transaction_run
from netcalc.experiments.peers import door as _door
from netcalc.experiments.peers.door import Door
from netcalc.experiments.peers.lifetime import Counts
from netcalc.experiments.peers.process import Peer
from netcalc.experiments.peers.responder import CERTIFICATE, tls_server

pytestmark = pytest.mark.live

TOKEN = b"\x00\x11\x22\x33"


@pytest.fixture
def hall():
    """Open a listener with a door; ``call(data)`` connects to it and sends."""
    with ExitStack() as undo:
        listener = undo.enter_context(socket.create_server(("127.0.0.1", 0), backlog=1024))

        class Hall:
            counts = Counts()

            @staticmethod
            def door(**options):
                view = memoryview(bytearray(64))
                door = Door(listener, Hall.counts, view, TOKEN, **options)
                undo.callback(door.close)
                return door, view

            @staticmethod
            def call(data=b""):
                sock = undo.enter_context(socket.create_connection(listener.getsockname(), 10))
                sock.sendall(data)
                return sock

        yield Hall


def is_closed(sock):
    """Return whether the other end has closed a connection, or wait 10 s for that."""
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("before", [0, 1, 50])
def test_the_client_is_served_beside_those_who_say_nothing(hall, before):
    """S4: all of them wait still, and none of their two seconds is over."""
    door, view = hall.door()
    for number in range(before):
        hall.call(TOKEN[: number % 4])  # nothing, or some of the right bytes and no more
    client = hall.call(TOKEN + b"and more")
    served, have = door.next()
    assert served.getpeername() == client.getsockname()
    data = bytes(view[:have])
    while len(data) < 12:  # in the first read, or in the server's
        data += served.recv(12 - len(data))
    assert data == TOKEN + b"and more"
    assert (len(door.waiting), hall.counts.refused) == (before, 0)
    served.close()


def test_wrong_bytes_are_refused_at_once(hall):
    door, _ = hall.door(token_at=2)
    wrong = [hall.call(data) for data in (b"GET / HTTP", b"??wrong", b"??\x00\x11\x22\x34")]
    hall.call(b"??" + TOKEN)
    served, _ = door.next()
    assert all(map(is_closed, wrong))
    assert (len(door.waiting), hall.counts.refused) == (0, 3)
    served.close()


def test_first_bytes_may_come_one_by_one(hall):
    door, view = hall.door()
    client = hall.call(TOKEN[:1])
    hall.call()
    for byte in TOKEN[1:]:
        for _ in range(3):
            door.look()
        client.sendall(bytes([byte]))
    served, have = door.next()
    assert (bytes(view[:have]), len(door.waiting)) == (TOKEN, 1)
    served.close()


def test_a_connection_without_first_bytes_is_closed_in_time(hall, monkeypatch):
    """The clock is the test's: 2 s, and everybody is gone."""
    now_s = [100.0]
    monkeypatch.setattr(_door.time, "monotonic", lambda: now_s[0])
    door, _ = hall.door()
    strangers = [hall.call(b"\0") for _ in range(3)]
    while len(door.waiting) < 3:
        door.look()
    now_s[0] += _door.TOKEN_S - 0.01
    door.look()
    assert len(door.waiting) == 3
    now_s[0] += 0.02
    door.look()
    assert (len(door.waiting), hall.counts.refused) == (0, 3)
    assert all(map(is_closed, strangers))


def test_with_too_many_the_oldest_goes(hall, monkeypatch):
    monkeypatch.setattr(_door, "MAX_WAITING", 5)
    door, _ = hall.door()
    strangers = [hall.call() for _ in range(8)]
    hall.call(TOKEN)
    served, _ = door.next()
    assert all(map(is_closed, strangers[:3]))
    assert (len(door.waiting), hall.counts.refused) == (5, 3)
    served.close()


def test_strangers_at_a_server_of_tls(hall):
    """Silent, of another protocol, and one that begins a handshake and stops."""
    door, _ = hall.door(secure=tls_server(str(CERTIFICATE)))
    hall.call()
    hall.call(b"\x16\x03\x01\x02\x00")  # by RFC 8446, the header of a record, and nothing in it
    web = hall.call(b"GET / HTTP/1.1\r\n\r\n")
    client = ssl.create_default_context(cafile=CERTIFICATE)
    client.check_hostname = False
    client.verify_flags &= ~ssl.VERIFY_X509_STRICT
    raw = hall.call()
    raw.setblocking(False)
    secured = client.wrap_socket(raw, do_handshake_on_connect=False)
    while True:
        try:
            secured.do_handshake()
            break
        except ssl.SSLWantReadError:
            door.look()
    secured.send(TOKEN + b"more")
    served, have = door.next()
    assert have >= len(TOKEN)
    assert (len(door.waiting), hall.counts.refused) == (2, 1)
    assert is_closed(web)
    served.close()
    secured.close()


STRANGERS = 30
RUNS = {
    "echo": (lambda: echo(100, protocol="tcp", count=5), 5),
    "small_writes": (lambda: small_writes(modes=["single", "nodelay"], count=5), 10),
    "tcp": (lambda: transactions(100, protocols=["tcp"], count=5), 5),
    "tls": (lambda: transactions(100, protocols=["tls"], count=5), 5),
}


@pytest.mark.each("name", RUNS)
def test_a_run_is_whole_beside_strangers(name, monkeypatch):
    """S4: half are silent, half speak another protocol; they came before the client did."""
    run, count = RUNS[name]
    ready, come = Peer._ready, []

    def beset(peer, stopping):
        report = ready(peer, stopping)
        for number in range(STRANGERS if "port" in report else 0):
            come.append(socket.create_connection((peer._host, report["port"]), 10))
            if number % 2:
                come[-1].sendall(b"GET / HTTP/1.1\r\n\r\n")
        return report

    class OnTheHost(endpoints.Namespace):
        def __init__(self, **options):
            super().__init__(**{**options, "own": False})

    with monkeypatch.context() as patched:
        patched.setattr(endpoints, "Namespace", OnTheHost)
        for module in (transaction_run, importlib.import_module(echo.__module__)):
            patched.setattr(module.Peer, "_ready", beset)
        samples = run()
    assert (len(samples), samples.meta.partial) == (count, False)
    assert len(come) == STRANGERS
    if name == "echo":  # the others report no counts of their peer, or have several
        assert samples.meta.instrument.peer_refused_count == STRANGERS / 2
    for sock in come:
        sock.close()
