"""Who comes to the port of a peer and must not be served, counted; and that it lives on.

Most of them come without a kernel, so that 100,000 take seconds and no clock but the test's
decides; the others by loopback.
"""

from __future__ import annotations

import errno
import json
import os
import random
import re
import socket
import struct
import threading
import time
import tracemalloc
from collections import deque
from contextlib import suppress
from types import SimpleNamespace

import pytest

from netcalc import experiments, messages
from netcalc.errors import ExperimentError
from netcalc.experiments.peers import channel, door, helper, remote, service
from netcalc.experiments.running.stopping import Stopping

TOKEN = "abcd-efgh-ijkm-npqr"
SECRET = b"abcdefghijkmnpqr"
OTHERS_TOKEN = "2222-3333-4444-5555"
live = pytest.mark.live
KINDS = 8
"""Kinds of malformed beginnings."""


class Wire:
    """A connection without a kernel, whose client has sent all it will; what it gets is counted."""

    def __init__(self, *parts):
        self.parts = deque(filter(None, parts))
        self.received, self.sent, self.is_closed = 0, b"", False

    def setblocking(self, _):
        pass

    def recv(self, count):
        if not self.parts:
            raise BlockingIOError
        part = self.parts.popleft()
        if len(part) > count:
            self.parts.appendleft(part[count:])
        self.received += len(part[:count])
        return part[:count]

    def send(self, data):
        self.sent += data
        assert self.received >= channel.HELLO_BYTES, "nothing is sent before a hello"
        assert len(self.sent) <= self.received, "no more is sent than was received"
        return len(data)

    def close(self):
        self.is_closed = True


class Listener:
    """Accepts what the test has put into its queue."""

    def __init__(self):
        self.queue = deque()

    def setblocking(self, _):
        pass

    def accept(self):
        if not self.queue:
            raise BlockingIOError
        return self.queue.popleft()

    def close(self):
        pass


class Poll:
    """Says of each connection that it can be read."""

    def __init__(self):
        self.socks = {}

    def register(self, sock, _):
        self.socks[sock] = SimpleNamespace(fileobj=sock)

    def unregister(self, sock):
        del self.socks[sock]

    def select(self, _):
        return [(key, 1) for key in self.socks.values()]


@pytest.fixture
def hall(monkeypatch):
    """A door without a kernel, whose clock is the test's."""
    now_s = [1000.0]
    monkeypatch.setattr(door.time, "monotonic", lambda: now_s[0])
    monkeypatch.setattr(door.selectors, "DefaultSelector", Poll)
    log = []
    listener = Listener()
    own = door.Door(listener, SECRET, lambda code, **values: log.append((code, values)))

    class Hall:
        pass

    hall = Hall()
    hall.door, hall.log = own, log

    def wait(time_s):
        now_s[0] += time_s
        own.step(0.0)

    def come(wire, host="192.0.2.66"):
        listener.queue.append((wire, (host, 4000)))
        return wire

    hall.wait, hall.come = wait, come
    return hall


def proof(secret, own, said_by_peer):
    """Return the proof of a client that has sent a hello and got one."""
    other = channel.hello_of(said_by_peer)
    return channel.Handshake(secret, own, other).proof_of_client


def begin(hall, host="192.0.2.66"):
    """Come with a good hello; return the connection and the hello."""
    own = channel.new_hello()
    wire = hall.come(Wire(own.packed), host)
    hall.wait(0.0)
    hall.wait(0.0)
    return wire, own


def test_a_client_with_the_token_is_let_in(hall):
    wire, own = begin(hall)
    assert len(wire.sent) == channel.HELLO_BYTES
    wire.parts.append(proof(SECRET, own, wire.sent))
    hall.wait(0.0)
    assert len(wire.sent) == channel.HELLO_BYTES + channel.PROOF_BYTES
    assert (len(hall.door.proved), hall.door.counts["proved"]) == (1, 1)


@pytest.mark.each(
    "parts",
    [
        [b""],
        [b"GET / HTTP/1.1\r\nHost: 192.0.2.7\r\n\r\n"],
        [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
        [b"netcalc peer"],
        [bytes(16)],
        [bytes(100_000)],
    ],
    ids=["silent", "http", "tls", "magic alone", "no such ticket", "zeros"],
)
def test_who_has_no_token_gets_nothing(parts, hall):
    before = hall.door.counts["stranger"]
    wire = hall.come(Wire(*parts))
    hall.wait(0.0)
    hall.wait(0.0)
    hall.wait(door.SPEAK_S + 0.01)
    assert (wire.sent, wire.is_closed) == (b"", True)
    assert (hall.door.counts["stranger"], hall.door.patience_s) == (before + 1, None)


def test_a_wrong_token_costs_a_second_and_is_counted(hall):
    secret = channel.secret_of(OTHERS_TOKEN)
    for number in (1, 2):
        wire, own = begin(hall)
        wire.parts.extend([proof(secret, own, wire.sent), bytes(10**6)])
        hall.wait(0.0)
        assert hall.door.counts["wrong"] == number, "the last of a peer counts, too"
        hall.wait(door.WRONG_S - 0.01)
        assert not wire.is_closed, "it may not try again on this connection, or see a difference"
        hall.wait(0.02)
        assert wire.is_closed
        assert len(wire.sent) == channel.HELLO_BYTES
        assert wire.received == channel.HELLO_BYTES + channel.PROOF_BYTES, "the rest is not read"
        assert hall.door.counts["wrong"] == number
    assert [code for code, _ in hall.log] == ["peer-wrong-token"] * 2
    assert [values["count"] for _, values in hall.log] == [1, 2]


def test_a_process_without_files_rests(hall, monkeypatch):
    def accept():
        raise OSError(errno.EMFILE, "Too many open files")

    pauses = []
    monkeypatch.setattr(hall.door.listener, "accept", accept)
    monkeypatch.setattr(door.time, "sleep", pauses.append)
    hall.wait(0.0)
    assert pauses == [door.OUT_OF_FILES_S]


def test_transactions_that_wait_are_no_more_than_connections_may_be():
    class Sock:
        def recv(self, *_):
            return b"1234own "

    guest = door.Guest("192.0.2.1", b"own session", is_secure=False, most=2)
    taken = []
    for _ in range(3):
        caller = door.Caller(Sock(), "192.0.2.1")
        taken.append(guest.takes(caller))
        if taken[-1]:
            guest.arrivals.put(caller.sock)
    assert taken == [True, True, False]


def test_a_recorded_handshake_opens_nothing(hall):
    """The nonce of the peer is another one each time, so the proof of yesterday is a wrong one."""
    wire, own = begin(hall)
    recorded = proof(SECRET, own, wire.sent)
    wire.parts.append(recorded)
    hall.wait(0.0)
    assert hall.door.counts["proved"] == 1
    again = hall.come(Wire(own.packed, recorded))
    for _ in range(3):
        hall.wait(0.0)
    hall.wait(door.WRONG_S + 0.01)
    assert (len(again.sent), again.is_closed) == (channel.HELLO_BYTES, True)
    assert (hall.door.counts["proved"], hall.door.counts["wrong"]) == (1, 1)


def test_the_peers_own_proof_is_none_of_a_client(hall):
    """Else a stranger could have the peer make it, on a second connection."""
    wire, own = begin(hall)
    other = channel.hello_of(wire.sent)
    wire.parts.append(channel.Handshake(SECRET, own, other).proof_of_peer)
    hall.wait(0.0)
    hall.wait(door.WRONG_S + 0.01)
    assert hall.door.counts["wrong"] == 1


@pytest.mark.each("version", [0, 2, 65_535])
def test_a_client_of_another_version_is_told_the_version_here(version, hall):
    packed = struct.pack("!12sHxx16s", channel.MAGIC, version, bytes(16))
    wire = hall.come(Wire(packed))
    hall.wait(0.0)
    hall.wait(0.0)
    assert channel.hello_of(wire.sent).version == channel.VERSION
    assert wire.is_closed
    assert hall.log[-1:] == [("peer-other-version", {"host": "192.0.2.66", "version": version})]


def test_a_ticket_is_good_for_its_host_and_once(hall):
    """It can be read on the way, as all messages."""
    (ticket,) = hall.door.new_tickets(1, "192.0.2.1")
    others = [hall.come(Wire(ticket), "192.0.2.66")]
    hall.wait(0.0)
    assert hall.door.arrived([ticket]) is None
    client = hall.come(Wire(ticket), "192.0.2.1")
    hall.wait(0.0)
    others += [hall.come(Wire(ticket), host) for host in ("192.0.2.66", "192.0.2.1")]
    hall.wait(0.0)
    assert hall.door.arrived([ticket]) == [client]
    others += [hall.come(Wire(ticket), "192.0.2.1")]
    hall.wait(0.0)
    assert [wire.is_closed for wire in others] == [True] * 4
    assert not client.is_closed


def test_byte_by_byte_gains_no_time(hall):
    own = channel.new_hello()
    wire = hall.come(Wire())
    for byte in own.packed[:20]:
        wire.parts.append(bytes([byte]))
        hall.wait(door.SPEAK_S / 19)
    assert (wire.sent, wire.is_closed) == (b"", True)


def test_a_stranger_with_all_connections_displaces_only_himself(hall):
    honest, own = begin(hall, "192.0.2.1")
    strangers = [hall.come(Wire(b"netcalc peer")) for _ in range(1000)]
    for _ in range(1000 // door.ACCEPTED + 1):
        hall.wait(0.0)
    assert sum(not wire.is_closed for wire in strangers) == door.MAX_WAITING - 1
    assert all(not wire.is_closed for wire in strangers[-door.MAX_WAITING + 1 :]), "the newest"
    honest.parts.append(proof(SECRET, own, honest.sent))
    hall.wait(0.0)
    assert [host for _, host in hall.door.proved] == ["192.0.2.1"]


def malformed(chance, kind):
    """Return what a stranger may send who knows the protocol, and not the token."""
    hello = struct.pack("!12sHxx16s", channel.MAGIC, channel.VERSION, chance.randbytes(16))
    if kind == 0:
        return [chance.randbytes(chance.randrange(100))]
    if kind == 1:
        return [hello[: chance.randrange(32)]]
    if kind == 2:
        broken = bytearray(hello)
        broken[chance.randrange(14)] ^= 1 << chance.randrange(8)  # of the magic or the version
        return [bytes(broken), chance.randbytes(32)]
    if kind == 3:
        return [hello, chance.randbytes(chance.randrange(33))]
    if kind == 4:
        return [hello, hello]
    if kind == 5:
        return [hello + bytes(64)]
    if kind == 6:
        return [hello[at : at + 4] for at in range(0, 32, 4)]
    return [hello, bytes(32), chance.randbytes(1000)]


@pytest.mark.parametrize("count", [2000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_malformed_hellos_and_proofs_leave_nothing(count, hall):
    """The connection itself judges that nothing is sent before a hello, and no more than came."""
    chance = random.Random(32)
    sent_bytes = 0

    def come(number):
        nonlocal sent_bytes
        wires = [hall.come(Wire(*malformed(chance, n % KINDS))) for n in range(number)]
        for _ in range(12):
            hall.wait(0.0)
        hall.wait(door.SPEAK_S + door.WRONG_S)
        assert all(wire.is_closed for wire in wires)
        assert hall.door.patience_s is None
        sent_bytes += sum(len(wire.sent) for wire in wires)
        hall.log.clear()

    tracemalloc.start()
    come(200)
    before_bytes, _ = tracemalloc.get_traced_memory()
    for _ in range(count // 200):
        come(200)
    after_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after_bytes - before_bytes < 20_000, "less than a byte for each of 100,000"
    assert sum(hall.door.counts.values()) == count + 200
    assert (hall.door.counts["proved"], len(hall.door.proved)) == (0, 0)
    assert sent_bytes > count, "there were answers to judge"


KEY = bytes(32)


def frame(text, number, key=KEY):
    """Return a message as a client with the key sends it."""
    whole = b"client" + number.to_bytes(8, "big") + text
    return struct.pack("!I16s", len(text), channel.hmac.digest(key, whole, "sha256")[:16]) + text


def received(*frames):
    """Return what a peer gets of frames: messages, then None or the error."""
    peer_side = channel.Channel(Wire(*frames), KEY, is_client=False)
    got = []
    try:
        while (message := peer_side.receive()) is not None:
            got.append(message)
    except channel.BrokenChannel as error:
        return [*got, str(error)]
    return got


CLOCK = b'{"do": "clock"}'


def test_messages_are_of_one_connection_in_one_order():
    assert received(frame(CLOCK, 0), frame(CLOCK, 1)) == [{"do": "clock"}] * 2
    assert received(frame(CLOCK, 0), frame(CLOCK, 0)) == [{"do": "clock"}, "not of this connection"]
    assert received(frame(CLOCK, 1)) == ["not of this connection"]
    assert received(frame(CLOCK, 0, bytes(31) + b"\1")) == ["not of this connection"]
    assert received(frame(CLOCK, 0)[:-1] + b" ") == ["not of this connection"]


@pytest.mark.each(
    "text",
    [b"", b"null", b"[]", b"17", b'"clock"', b"\xff\xfe", b"{", b"[" * 16_000, b"1" * 16_000,
     b'{"do": ' * 2000, b"\0", b'{"do"}'],
)  # fmt: skip
def test_what_is_no_message_ends_the_run_only(text):
    (error,) = received(frame(text, 0))
    assert error in ("no JSON", "no object")


@pytest.mark.each("length", [(1 << 14) + 1, 1 << 31, (1 << 32) - 1])
def test_a_message_of_a_client_is_short(length):
    """So that nobody has the peer keep gigabytes of what has not ended yet."""
    assert received(struct.pack("!I16s", length, bytes(16)) + bytes(1000)) == ["too long"]


def any_value(chance):
    """Return a value of any kind that JSON has, often near what an order takes."""
    return chance.choice([
        lambda: chance.randrange(-5, 5), lambda: chance.randrange(-(1 << 70), 1 << 70),
        lambda: chance.choice([1 << 10, 1 << 24, (1 << 24) + 1, 1 << 40, 600_000, 600_001]),
        chance.random, lambda: float("nan"), lambda: float("inf"), lambda: True, lambda: None,
        lambda: [1], lambda: {"do": "send"}, lambda: "tcp", lambda: "udp",
        lambda: chance.choice(["192.0.2.99", "/etc/passwd", "; id", "\x1b[2J", "::1", ""]),
    ])()  # fmt: skip


def any_order(chance):
    """Return what may come where an order should be."""
    name = chance.choice([*service.ORDERS, *service.ORDERS, "exec", "", 17, None, ["send"]])
    fields = service.ORDERS.get(name, {}) if isinstance(name, str) else {}
    message = {"do": name, "id": chance.randrange(9)}
    for field, allowed in fields.items():
        if isinstance(allowed, re.Pattern):
            allowed = ("", "cubic", "reno")
        if chance.random() < 0.97:
            is_good = chance.random() < 0.8
            good = chance.choice(allowed[:2])
            if not isinstance(good, str) and allowed[2:]:  # of a list
                good = [good] * chance.choice([1, allowed[2], 1, allowed[2] + 1])
            message[field] = good if is_good else any_value(chance)
    if chance.random() < 0.1:
        others = ["host", "path", "address", "port", "id"]
        message[chance.choice(others)] = any_value(chance)
    return message


def is_harmless(value):
    """Whether a value that was let through is a number, or a word of no more than a few letters."""
    if isinstance(value, list):
        return len(value) <= 1000 and all(map(is_harmless, value))
    if isinstance(value, str):
        return re.fullmatch(r"[a-z0-9_-]{0,15}", value) is not None
    return type(value) in (int, float) and 0 <= value <= 1 << 50


@pytest.mark.parametrize("count", [5000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_malformed_orders_are_refused_by_a_code(count):
    """By the key, each is a message of the client; what is let through names nothing."""
    chance = random.Random(32)
    let_through, codes = set(), set()
    for number in range(count):
        text = json.dumps(any_order(chance)).encode()
        (message,) = received(frame(text, 0)) if number % 10 == 0 else [json.loads(text)]
        try:
            name, _, values = service.checked(message)
        except service.OrderRefusedError as error:
            codes.add(error.args[0])
            continue
        let_through.add(name)
        assert all(map(is_harmless, values.values())), message
    assert let_through == set(service.ORDERS)
    assert codes == {"order-unknown", "order-field-unknown", "order-out-of-range"}


def test_no_order_can_name_a_third_host():
    """Nor a file or a command: of texts an order takes words of its own, and a kernel's name."""
    words, names = set(), set()
    for fields in service.ORDERS.values():
        for field, allowed in fields.items():
            if isinstance(allowed, re.Pattern):
                names.add(field)
                hosts = ("192.0.2.99", "::1", "2001:db8::1", "example.org", "/tmp", "..", "a;b")
                assert not any(map(allowed.fullmatch, hosts)), field
            elif isinstance(allowed[0], str):
                words.update(allowed)
            else:
                assert all(type(number) is int for number in allowed), field
    assert names == {"congestion_control"}
    assert words >= {"tcp", "udp"}
    assert all(re.fullmatch(r"[a-z]{1,10}", word) for word in words), "names of this program"


def ask(address, token, *, source="", version=channel.VERSION):
    """Come to a peer by a socket; return it, the key, and what came for the proof."""
    sock = socket.create_connection(address, 10, source_address=(source, 0) if source else None)
    own = struct.pack("!12sHxx16s", channel.MAGIC, version, os.urandom(16))
    sock.sendall(own)
    said = sock.recv(channel.HELLO_BYTES, socket.MSG_WAITALL)
    hello, other = channel.hello_of(own), channel.hello_of(said)
    handshake = channel.Handshake(channel.secret_of(token), hello, other)
    sock.sendall(handshake.proof_of_client)
    return sock, handshake.key, sock.recv(channel.PROOF_BYTES, socket.MSG_WAITALL)


class Client:
    """A client that has proved the token, and what the peer said last."""

    def __init__(self, peer, source=""):
        self.sock, key, self.proof = ask(peer.address, peer.token, source=source)
        self.channel = channel.Channel(self.sock, key, is_client=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def answer(self):
        while (message := self.channel.receive()) is None:
            assert helper.readable(self.sock, 20), "no answer"
        return message

    def clock(self):
        """Ask for the clock after the welcome: the peer serves this client."""
        assert "welcome" in self.answer()
        self.channel.send({"do": "clock", "id": 1})
        return self.answer()["now_ns"] > 0


@pytest.fixture
def peer():
    """A peer on loopback, in a thread."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    log = []
    limits = service.PeerLimits(60.0, 10**9, float("inf"), 4)
    served = service.Service(
        listener, limits, end_s=time.monotonic() + 120,
        log=lambda code, **values: log.append((code, values)),
    )  # fmt: skip
    own = SimpleNamespace(address=listener.getsockname(), token=served.token, log=log, it=served)
    thread = threading.Thread(target=served.run, daemon=True)
    thread.start()
    yield own
    served.end()
    thread.join(10)
    assert not thread.is_alive()


def wait_for(log, code, count=1):
    """Wait until the log of a peer has so many lines of a kind."""
    end_s = time.monotonic() + 20
    while sum(line[0] == code for line in log) < count:
        assert time.monotonic() < end_s, log
        time.sleep(0.005)


@live
def test_a_stolen_token_serves_nobody_else(peer):
    with Client(peer) as client:
        assert client.clock()
    with Client(peer, source="127.0.0.2") as thief:
        assert thief.answer() == {"refusal": "peer-token-elsewhere"}
    with Client(peer) as client:
        assert client.clock()
    assert [values["host"] for code, values in peer.log if code == "peer-token-elsewhere"] == [
        "127.0.0.2"
    ]


@live
def test_a_token_used_twice_at_once_is_told_that_the_peer_is_busy(peer):
    with Client(peer) as client:
        assert client.clock()
        with Client(peer) as second:
            assert second.answer() == {"refusal": "peer-busy"}
        client.channel.send({"do": "clock", "id": 2})
        assert client.answer()["id"] == 2
    wait_for(peer.log, "peer-run-ends")
    with Client(peer) as client:
        assert client.clock()


@live
def test_an_honest_client_is_served_beside_a_thousand_strangers(peer):
    """Silent ones and others who speak; more of them than may wait are there when it comes."""
    strangers = deque()
    for number in range(1000):
        sock = socket.create_connection(peer.address, 10, source_address=("127.0.0.2", 0))
        strangers.append(sock)
        if len(strangers) > 400:  # or the test is out of files
            strangers.popleft().close()
        with suppress(OSError):  # closed already, as one of too many
            sock.sendall([b"", b"netcalc", b"GET / HTTP/1.1\r\n\r\n"][number % 3])
    with Client(peer) as client:
        assert client.clock()
    for sock in strangers:
        sock.close()
    assert {host for _, values in peer.log for host in [values["host"]]} == {"127.0.0.1"}, peer.log


@live
@pytest.mark.slow
def test_three_thousand_malformed_messages_with_the_key(peer):
    """Each has proved the token first, so that it is a run; the peer serves the next."""
    chance = random.Random(32)
    count = 3000
    for number in range(count):
        sock, key, proof_of_peer = ask(peer.address, peer.token)
        assert len(proof_of_peer) == channel.PROOF_BYTES
        text = [chance.randbytes(40), json.dumps(any_order(chance)).encode()][number % 2]
        sock.sendall(frame(text, 0, key if number % 3 else bytes(32)))
        sock.close()
    wait_for(peer.log, "peer-run-ends", count)
    with Client(peer) as client:
        assert client.clock()
    assert not any(code == "peer-run-failed" for code, _ in peer.log)
    assert peer.it._door.patience_s is None


@live
@pytest.mark.slow
def test_who_does_not_read_is_gone(peer):
    """A client with the token asks for the clock a million times and takes no answer."""
    with Client(peer) as client:
        assert client.clock()
        asked, client.sock = 0, client.sock
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with suppress(OSError):
            client.sock.settimeout(20)
            while asked < 3 * 10**6:
                client.sock.sendall(
                    b"".join(
                        frame(b'{"do":"clock","id":1}', 1 + asked + n, client.channel._key)
                        for n in range(1000)
                    )
                )
                asked += 1000
        wait_for(peer.log, "peer-client-gone")
    with Client(peer) as client:
        assert client.clock()


@live
def test_a_client_without_a_cable_is_gone_within_five_seconds(peer, monkeypatch):
    """By what the kernel was asked for: the rest is the time for a job to end."""
    if not hasattr(socket, "TCP_USER_TIMEOUT"):
        pytest.skip("the system has no TCP_USER_TIMEOUT")
    tcp, asked = socket.IPPROTO_TCP, []
    keep_alive = service.channel.keep_alive

    def keep(sock):
        keep_alive(sock)
        asked.append(sock)

    monkeypatch.setattr(service.channel, "keep_alive", keep)
    with Client(peer) as client:
        assert client.clock()
        (accepted,) = asked
        idle_s, between_s, count = (
            accepted.getsockopt(tcp, option)
            for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
        )
        assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert idle_s + between_s * count + service.END_S < 5
        assert accepted.getsockopt(tcp, socket.TCP_USER_TIMEOUT) * 1e-3 + service.END_S < 5


@live
def test_where_only_udp_is_dropped_it_is_said(peer, monkeypatch):
    monkeypatch.setattr(service, "OPEN_S", 0.2)
    order = {"do": "open", "protocol": "udp", "count": 1, "buffer_bytes": 0}
    with Client(peer) as client:
        assert client.clock()
        client.channel.send({**order, "id": 2, "congestion_control": "", "one_port": 1})
        assert len(client.answer()["tickets"]) == 1
        assert client.answer() == {"id": 2, "failure": "data-datagram-missing"}
    assert "firewall" in messages.sentence("data-datagram-missing", {}) + str(
        messages.hint("data-datagram-missing", {})
    )


@live
def test_a_fault_of_the_peer_ends_the_run_only(peer, monkeypatch):
    def fail(_):
        raise ZeroDivisionError("a fault")

    with monkeypatch.context() as patched:
        patched.setattr(service.Run, "_report", fail)
        with Client(peer):
            wait_for(peer.log, "peer-run-failed")
    with Client(peer) as client:
        assert client.clock()


@live
def test_a_program_that_is_no_peer_is_told_by_name():
    """A web server, one of another version, one that only closes, and one without the token."""
    other = struct.pack("!12sHxx16s", channel.MAGIC, 2, bytes(16))
    own = struct.pack("!12sHxx16s", channel.MAGIC, channel.VERSION, bytes(16))
    for answers, code in [
        ([b"HTTP/1.1 400 Bad Request\r\n\r\n........"], "far-peer-other-program"),
        ([b""], "far-peer-other-program"),
        ([other], "far-peer-other-version"),
        ([own, b""], "far-peer-wrong-token"),
        ([own, bytes(32)], "far-peer-without-token"),
    ]:
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def answer(listener=listener, answers=answers):
                sock, _ = listener.accept()
                for data in answers:
                    sock.recv(32, socket.MSG_WAITALL)
                    sock.sendall(data)
                sock.close()

            thread = threading.Thread(target=answer)
            thread.start()
            peer = remote.FarPeer("127.0.0.1", token=TOKEN, port=listener.getsockname()[1])
            with pytest.raises(ExperimentError) as raised:
                remote.FarEnd(peer, stopping=Stopping(None, limit_s=60.0))
            thread.join()
        assert raised.value.code == code
        if code == "far-peer-other-version":
            assert (raised.value.values["there"], raised.value.values["here"]) == (2, 1)


@live
def test_nobody_there_is_unreachable():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))  # and does not listen
        peer = remote.FarPeer("127.0.0.1", token=TOKEN, port=sock.getsockname()[1])
        with pytest.raises(ExperimentError, match="NAT") as raised:
            remote.FarEnd(peer, stopping=Stopping(None, limit_s=60.0))
    assert raised.value.code == "far-peer-unreachable"


RUNS_TO_PEER = {
    "echo": lambda peer: experiments.echo([100], count=2, timeout_s=0.05, peer=peer),
    "bulk": lambda peer: experiments.bulk(
        [1000], write_count=5, run_count=1, direction="both", limit_s=0.5, peer=peer
    ),
    "trains": lambda peer: experiments.packet_trains(
        [500], packet_count=4, count=1, timeout_s=0.1, peer=peer
    ),
}


@live
@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS_TO_PEER)
def test_a_peer_that_answers_nonsense_ends_the_run_by_a_code(name, peer, monkeypatch):
    """In each run another field of its messages is wrong or left out; no error is a traceback."""
    chance = random.Random(32)
    send = channel.Channel.send
    values = [None, True, -1, 1 << 70, 1.5, float("nan"), "x", [], {}, [1], [[1]], {"a": [1]}]
    codes, said, sent_count, wrong_at = set(), set(), 0, 0

    def send_wrong(self, message):
        nonlocal sent_count
        if self._own == b"peer":
            sent_count += 1
            if sent_count == wrong_at:
                message = dict(message)
                field = chance.choice(list(message))
                message[field] = chance.choice(values)
                if chance.random() < 0.2:
                    del message[field]
        send(self, message)

    monkeypatch.setattr(channel.Channel, "send", send_wrong)
    monkeypatch.setattr(remote, "ANSWER_S", 0.5)  # of an answer that has lost its number
    there = experiments.Peer("127.0.0.1", token=peer.token, port=peer.address[1])
    RUNS_TO_PEER[name](there)
    tried = chance.sample(range(1, sent_count + 1), min(12, sent_count))
    for count, wrong in enumerate([1, *tried], 1):
        wait_for(peer.log, "peer-run-ends", count)
        sent_count, wrong_at = 0, wrong
        try:
            RUNS_TO_PEER[name](there)
        except ExperimentError as error:
            codes.add(error.code)
            said.add(str(error))  # its values are all there
    assert "far-peer-malformed" in codes
    assert "peer-busy" not in codes
