"""Messages between a run and its peer on a second machine, who both prove that they have the token.

The client connects, and each side sends a hello with its version and a nonce; then the client
proves the token by an HMAC over both hellos, and the peer does. The token itself is never sent, and
what the peer sends is never longer than what it answers. From then on messages are JSON, each with
an HMAC over its number and direction, by a key of this connection: none can be changed, repeated or
put in by others, though all of them can be read.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import struct
import sys
from contextlib import suppress
from typing import Any, NamedTuple

MAGIC = b"netcalc peer"
"""First bytes of a hello."""
VERSION = 1
"""Version of the messages; ends of two versions refuse each other."""
TOKEN_CHARACTERS = 16
"""Length of a token without its hyphens: 80 bits. [1]"""
MESSAGE_BYTES = 1 << 20
"""Longest message of a peer: the report of a train of a thousand packets takes a tenth. [byte]"""
ORDER_BYTES = 1 << 14
"""Longest message of a client. [byte]"""
GONE_S = (1, 1, 3)
"""Another side that is gone is noticed by TCP's keep-alive: idle and between probes [s], and the
number of probes [1]."""
_UNACKNOWLEDGED = {
    "linux": (18, 1e-3),  # TCP_USER_TIMEOUT [ms]
    "win32": (5, 1.0),  # TCP_MAXRT [s]
    "darwin": (0x80, 1.0),  # TCP_RXT_CONNDROPTIME [s]
}
"""Option of TCP by which that holds for what was sent and is not acknowledged; its unit. [s]"""
UNSENT_BYTES = 4 * MESSAGE_BYTES
"""Most that waits for a side that does not read, before it counts as gone. [byte]"""
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
"""32 characters without those that look alike: l and 1, o and 0."""
_HELLO = struct.Struct(f"!{len(MAGIC)}sHxx16s")
HELLO_BYTES, PROOF_BYTES = _HELLO.size, 32
"""Bytes of a hello, and of a proof. [byte]"""
_TAG_BYTES = 16
_HEAD = struct.Struct(f"!I{_TAG_BYTES}s")
_CLIENT, _PEER = b"client", b"peer"


def new_token() -> str:
    """Return a token to be typed: four groups of four characters."""
    text = "".join(secrets.choice(_ALPHABET) for _ in range(TOKEN_CHARACTERS))
    return "-".join(text[at : at + 4] for at in range(0, TOKEN_CHARACTERS, 4))


def secret_of(token: str) -> bytes | None:
    """Return a typed token as the key of proofs; None if it cannot be a token.

    >>> secret_of(" ABCD-efgh-ijkm-npqr ")
    b'abcdefghijkmnpqr'
    >>> secret_of("abcd")
    """
    plain = "".join(token.split()).replace("-", "").lower()
    is_token = len(plain) == TOKEN_CHARACTERS and set(plain) <= set(_ALPHABET)
    return plain.encode() if is_token else None


class Hello(NamedTuple):
    """What each side sends first."""

    version: int
    packed: bytes


def new_hello() -> Hello:
    """Return the hello of a new connection."""
    return Hello(VERSION, _HELLO.pack(MAGIC, VERSION, secrets.token_bytes(16)))


def hello_of(packed: bytes) -> Hello | None:
    """Return a hello that was received; None if it is none."""
    magic, version, _ = _HELLO.unpack(packed)
    return Hello(version, packed) if magic == MAGIC else None


class Handshake(NamedTuple):
    """Both hellos and the secret, of which the proofs and the key of a connection are made."""

    secret: bytes
    client: Hello
    peer: Hello

    @property
    def proof_of_client(self) -> bytes:
        """What only a client with the token can send."""
        return self._digest(_CLIENT)

    @property
    def proof_of_peer(self) -> bytes:
        """What only a peer with the token can send."""
        return self._digest(_PEER)

    @property
    def key(self) -> bytes:
        """Key of the messages of this connection."""
        return self._digest(b"messages")

    def _digest(self, purpose: bytes) -> bytes:
        text = b"\0".join((purpose, self.client.packed, self.peer.packed))
        return hmac.digest(self.secret, text, "sha256")


class BrokenChannel(ConnectionError):  # noqa: N818 - as the errors of sockets are named
    """The other side closed the connection, or sent what is no message of it."""


class Channel:
    """A connection of which both sides have proved the token.

    Parameters
    ----------
    sock : socket.socket
        The connection; the channel makes it non-blocking.
    key : bytes
        Key of its messages.
    is_client : bool
        Which side this is.
    """

    def __init__(self, sock: socket.socket, key: bytes, *, is_client: bool) -> None:
        self.sock, self._key = sock, key
        sock.setblocking(False)
        self._own, self._other = (_CLIENT, _PEER) if is_client else (_PEER, _CLIENT)
        self._most_bytes = MESSAGE_BYTES if is_client else ORDER_BYTES
        self._sent_count = self._received_count = 0
        self._received = bytearray()
        self._unsent = bytearray()

    def send(self, message: dict[str, Any]) -> None:
        """Send a message; what the kernel does not take at once waits for :meth:`flush`."""
        text = json.dumps(message).encode()
        tag = self._tag(self._own, self._sent_count, text)
        self._sent_count += 1
        self._unsent += _HEAD.pack(len(text), tag) + text
        if not self.flush() and len(self._unsent) > UNSENT_BYTES:
            raise BrokenChannel("does not read")

    def flush(self) -> bool:
        """Send what waits; return whether all of it has been sent."""
        while self._unsent:
            try:
                done = self.sock.send(self._unsent)
            except BlockingIOError:
                return False
            del self._unsent[:done]
        return True

    def receive(self) -> dict[str, Any] | None:
        """Return the next message; None if it is not there yet.

        Raises
        ------
        BrokenChannel
            At the end of the connection, or at what is no message of it.
        """
        while (message := self._next()) is None:
            try:
                got = self.sock.recv(1 << 16)
            except BlockingIOError:
                return None
            if not got:
                raise BrokenChannel("closed")
            self._received += got
        return message

    def close(self) -> None:
        """Close the connection."""
        self.sock.close()

    def _next(self) -> dict[str, Any] | None:
        if len(self._received) < _HEAD.size:
            return None
        length, tag = _HEAD.unpack_from(self._received)
        if length > self._most_bytes:
            raise BrokenChannel("too long")
        end = _HEAD.size + length
        if len(self._received) < end:
            return None
        text = bytes(self._received[_HEAD.size : end])
        if not hmac.compare_digest(tag, self._tag(self._other, self._received_count, text)):
            raise BrokenChannel("not of this connection")
        del self._received[:end]
        self._received_count += 1
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            raise BrokenChannel("no JSON") from None
        if not isinstance(message, dict):
            raise BrokenChannel("no object")
        return message

    def _tag(self, sender: bytes, number: int, text: bytes) -> bytes:
        head = sender + number.to_bytes(8, "big")
        return hmac.digest(self._key, head + text, "sha256")[:_TAG_BYTES]


def keep_alive(sock: socket.socket) -> None:
    """Let the kernel notice within 5 s that the other side is gone, where the system can."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in zip(("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT"), GONE_S, strict=True):
        option = getattr(socket, name, None)
        if option is None and name == "TCP_KEEPIDLE":
            option = getattr(socket, "TCP_KEEPALIVE", None)  # its name on macOS
        if option is not None:
            with suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, option, value)
    if sys.platform in _UNACKNOWLEDGED:
        option, unit_s = _UNACKNOWLEDGED[sys.platform]
        with suppress(OSError):
            idle_s, between_s, count = GONE_S
            limit_s = idle_s + between_s * count
            sock.setsockopt(socket.IPPROTO_TCP, option, round(limit_s / unit_s))
