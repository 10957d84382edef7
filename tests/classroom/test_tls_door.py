"""The door of a class with TLS, attacked: a crowd that is refused costs one who enters nothing."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import netcalc
from tests.classroom.coroutines import run

pytest.importorskip("voila", reason="needs the lab extra")

CERTIFICATE = Path(netcalc.__file__).parent / "experiments/peers/public_test_key.pem"
RECORD, CROWD, OTHER = 5, "127.0.0.1", "127.0.0.2"
PLAIN = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


def hello() -> bytes:
    """Return what a client begins with, in one record."""
    sent = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        unwary().wrap_bio(ssl.MemoryBIO(), sent).do_handshake()
    return sent.read()


def unwary() -> ssl.SSLContext:
    """Return a client that believes every certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def in_records(message: bytes, size: int) -> bytes:
    parts = [message[at : at + size] for at in range(0, len(message), size)]
    return b"".join(b"\x16\x03\x01" + len(part).to_bytes(2, "big") + part for part in parts)


class Opened:
    """A door on loopback with a server that answers ``in``, in the loop of a test."""

    def __init__(self) -> None:
        from tornado.httpserver import HTTPServer
        from tornado.web import Application, RequestHandler

        from netcalc.cli.classroom.tls_door import TlsDoor

        class In(RequestHandler):
            def get(self) -> None:
                self.write(f"in by {self.request.protocol}")

        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(CERTIFICATE)
        self.begun: list[str] = []
        wrap = context.wrap_socket

        def noted(sock: socket.socket, **options: Any) -> ssl.SSLSocket:
            self.begun.append(sock.getpeername()[0])
            return wrap(sock, **options)

        context.wrap_socket = noted  # type: ignore[method-assign]
        self.listening = socket.create_server((CROWD, 0), backlog=300)
        self.listening.setblocking(False)
        self.address = self.listening.getsockname()
        self.door = TlsDoor(HTTPServer(Application([("/", In)])), context)
        self.door.listen(self.listening)

    def connect(self, data: bytes = b"", *, source: str = CROWD) -> socket.socket:
        """Connect and send; the door sees nothing of it before its loop goes on."""
        client = socket.create_connection(self.address, source_address=(source, 0))
        client.sendall(data)
        client.setblocking(False)
        return client

    async def page(self, *, source: str = CROWD, newest: ssl.TLSVersion | None = None) -> bytes:
        """Return what a browser gets."""
        context = unwary()
        if newest:
            context.maximum_version = context.minimum_version = newest
        reader, writer = await asyncio.open_connection(
            *self.address, ssl=context, local_addr=(source, 0)
        )
        writer.write(b"GET / HTTP/1.0\r\n\r\n")
        answer = await reader.read()
        writer.close()
        return answer.rpartition(b"\r\n")[2]


def played(play: Callable[[Opened], Awaitable[None]]) -> None:
    """Play a scene at a door that is open."""

    async def whole() -> None:
        opened = Opened()
        with opened.listening:
            await play(opened)

    run(whole())


async def end_of(client: socket.socket) -> bytes:
    """Return what a client is sent until the door closes its connection."""
    loop, answer = asyncio.get_running_loop(), b""
    try:
        while data := await loop.sock_recv(client, 4096):
            answer += data
    except ConnectionError:  # where the door had not read all
        pass
    client.close()
    return answer


NO_TLS = {
    "plain HTTP": PLAIN,
    "ssh": b"SSH-2.0-OpenSSH_9.2\r\n",
    "zeros": bytes(20_000),
    "SSL 2": b"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10" + bytes(40),
    "data first": b"\x17\x03\x03\x00\x64" + bytes(100),
    "an alert first": b"\x15\x03\x01\x00\x02\x01\x5a" * 1000,
    "empty records": b"\x16\x03\x01\x00\x00" * 1000,
    "a hello that states 16 MB": b"\x16\x03\x01\x40\x00\x01\xff\xff\xff" + bytes(16_380),
    "a hello in records of one byte": in_records(hello()[RECORD:], 1),
    "another message than a hello": in_records(b"\x02" + hello()[RECORD + 1 :], 4000),
}


@pytest.mark.parametrize("sent", NO_TLS.values(), ids=NO_TLS)
def test_what_is_no_hello_has_no_handshake_and_one_line_however_often_it_comes(sent, capfd):
    async def play(opened: Opened) -> None:
        for _ in range(20):
            answer = await end_of(opened.connect(sent))
            assert sent != PLAIN or b"begins with https://" in answer
        assert opened.begun == []
        assert await opened.page() == b"in by https"

    played(play)
    said = capfd.readouterr().err
    assert said.startswith("Connections refused at the TLS door: 1, last 127.0.0.1: ")
    assert said.count("\n") == 1


def test_a_handshake_that_fails_is_not_a_line_each(capfd):
    cut = bytearray(hello())
    cut[RECORD + 4 : RECORD + 6] = b"\x03\x00"  # SSL 3

    async def play(opened: Opened) -> None:
        for _ in range(20):
            await end_of(opened.connect(bytes(cut) + b"\x15\x03\x00\x00\x02\x02\x28"))
        assert len(opened.begun) == 20
        assert await opened.page() == b"in by https"

    played(play)
    assert capfd.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_both_protocols_of_today_enter(newest):
    async def play(opened: Opened) -> None:
        assert await opened.page(newest=newest) == b"in by https"

    played(play)


def test_one_address_has_its_turn_before_the_crowd_of_another():
    async def play(opened: Opened) -> None:
        begin = hello()
        crowd = [opened.connect(begin) for _ in range(100)]
        assert await opened.page(source=OTHER) == b"in by https"
        assert opened.begun.index(OTHER) < 50, "behind the whole crowd"
        for client in crowd:
            client.close()

    played(play)


def test_silence_takes_no_turn_and_the_oldest_of_most_goes_for_a_new_one(monkeypatch):
    from netcalc.cli.classroom import tls_door

    monkeypatch.setattr(tls_door, "MOST_UNFINISHED", 20)

    async def play(opened: Opened) -> None:
        other = opened.connect(source=OTHER)
        crowd = [opened.connect(hello()[:50]) for _ in range(30)]
        for client in crowd[:11]:
            assert await end_of(client) == b""
        for client in (other, *crowd[11:]):
            with pytest.raises(BlockingIOError):
                client.recv(1)
        assert opened.begun == []
        assert await opened.page() == b"in by https"
        for client in (other, *crowd[11:]):
            client.close()

    played(play)


@pytest.mark.parametrize("sent", [b"", hello()[:50], hello()], ids=["nothing", "half", "hello"])
def test_a_handshake_that_does_not_go_on_is_ended(monkeypatch, sent):
    from netcalc.cli.classroom import tls_door

    monkeypatch.setattr(tls_door, "LIMIT_S", 0.3)

    async def play(opened: Opened) -> None:
        await end_of(opened.connect(sent))

    played(play)
