"""Fault S4 at a run's own peer: strangers at its port, silent, slow, many; judged by counts.

No test here waits for a deadline: what a stranger would have held up has happened before it.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import select
import socket
import ssl
import struct
from contextlib import ExitStack

import pytest

from netcalc.experiments import bulk, echo, small_writes, transactions, transfer
from netcalc.experiments.peers import helper, process, responder
from netcalc.experiments.peers.helper import HelperCounts
from netcalc.experiments.peers.process import Peer
from netcalc.experiments.peers.responder import CERTIFICATE, Listener, tls_server

echo_module = importlib.import_module(echo.__module__)

pytestmark = [pytest.mark.live, pytest.mark.core]

TOKEN = b"\x00\x11\x22\x33"


@pytest.fixture
def hall():
    """Open a listener with a door; ``call(data)`` connects to it and sends."""
    with ExitStack() as undo:
        listener = undo.enter_context(socket.create_server(("127.0.0.1", 0), backlog=1024))

        class Hall:
            counts = HelperCounts()

            @staticmethod
            def door(**options):
                view = memoryview(bytearray(64))
                door = Listener(listener, Hall.counts, view, TOKEN, **options)
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
    monkeypatch.setattr(responder.time, "monotonic", lambda: now_s[0])
    door, _ = hall.door()
    strangers = [hall.call(b"\0") for _ in range(3)]
    while len(door.waiting) < 3:
        door.look()
    now_s[0] += responder.TOKEN_S - 0.01
    door.look()
    assert len(door.waiting) == 3
    now_s[0] += 0.02
    door.look()
    assert (len(door.waiting), hall.counts.refused) == (0, 3)
    assert all(map(is_closed, strangers))


def test_with_too_many_the_oldest_goes(hall, monkeypatch):
    monkeypatch.setattr(responder, "MAX_WAITING", 5)
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
SO_ATTACH_FILTER, RETURN = 26, 0x06
RUNS = {
    "echo": (lambda: echo(100, protocol="tcp", count=5), 5),
    "small_writes": (lambda: small_writes(modes=["single", "nodelay"], count=5), 10),
    "tcp": (lambda: transactions(100, protocols=["tcp"], count=5), 5),
    "tls": (lambda: transactions(100, protocols=["tls"], count=5), 5),
}


class OnTheHost(process.Namespace):
    """The loopback that all programs share, as where the system refuses a namespace."""

    def __init__(self, **options):
        super().__init__(**{**options, "own": False})


def run_beside_strangers(name, come, monkeypatch):
    """Make a run; ``come`` is called with the address of its peer before its client connects."""
    ready = Peer._ready

    def beset(peer, stopping):
        report = ready(peer, stopping)
        if "port" in report:
            come((peer._host, report["port"]))
        return report

    with monkeypatch.context() as patched:
        patched.setattr(process, "Namespace", OnTheHost)
        patched.setattr(Peer, "_ready", beset)
        return RUNS[name][0]()


@pytest.mark.each("name", RUNS)
def test_a_run_is_whole_beside_strangers(name, monkeypatch):
    """S4: half are silent, half speak another protocol; they came before the client did.

    They know the address of the client, or the system refuses the filter.
    """
    for module in (helper, echo_module):
        monkeypatch.setattr(module, "own_source", lambda _: None)
    strangers = []

    def come(address):
        for number in range(STRANGERS):
            strangers.append(socket.create_connection(address, 10))
            if number % 2:
                strangers[-1].sendall(b"GET / HTTP/1.1\r\n\r\n")

    samples = run_beside_strangers(name, come, monkeypatch)
    assert (len(samples), samples.meta.partial) == (RUNS[name][1], False)
    assert len(strangers) == STRANGERS
    if name == "echo":  # the others report no counts of their peer, or have several
        assert samples.meta.instrument.peer_refused_count == STRANGERS / 2
    for sock in strangers:
        sock.close()


@pytest.fixture(scope="module")
def filters():
    """Skip where the system lets this user attach no filter to a socket, not even an empty one."""
    passes_all = ctypes.create_string_buffer(struct.pack("HBBI", RETURN, 0, 0, 0xFFFFFFFF))
    with socket.socket() as sock:
        code = struct.pack("HP", 1, ctypes.addressof(passes_all))
        try:
            sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, code)
        except OSError as error:
            pytest.skip(f"no filter of a socket here (SO_ATTACH_FILTER): {error.strerror}")


@pytest.mark.usefixtures("filters")
@pytest.mark.each("name", RUNS)
def test_only_the_client_of_a_run_reaches_its_server(name, monkeypatch):
    """Their SYN is dropped on arrival: they are in no queue that the client could wait in."""
    strangers, connected = [], []

    def come(address):
        for _ in range(STRANGERS):
            sock = socket.socket()
            sock.setblocking(False)
            assert sock.connect_ex(address) == errno.EINPROGRESS
            strangers.append(sock)
        connected.extend(select.select([], strangers, [], 0.1)[1])

    samples = run_beside_strangers(name, come, monkeypatch)
    assert (len(samples), samples.meta.partial) == (RUNS[name][1], False)
    assert (len(strangers), connected) == (STRANGERS, [])
    if name == "echo":
        assert samples.meta.instrument.peer_refused_count == 0
    for sock in strangers:
        sock.close()


@pytest.mark.usefixtures("filters")
def test_a_bulk_run_is_reached_by_its_source_only(monkeypatch):
    """A stranger connects in the moment after the sink listens, before its source does."""
    connect, states = transfer.connect_within, []

    def connected(sock, address, **options):
        with socket.socket() as stranger:
            stranger.setblocking(False)
            assert stranger.connect_ex(address) == errno.EINPROGRESS
            states.append(select.select([], [stranger], [], 0.1)[1])
        connect(sock, address, **options)

    monkeypatch.setattr(transfer, "connect_within", connected)
    samples = bulk(1440, write_count=100, run_count=2)
    assert len(samples) == 2
    assert samples.received_bytes.tolist() == [144_000, 144_000]
    assert set(map(tuple, states)) == {()}
