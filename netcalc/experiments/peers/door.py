"""Who comes to the one port of a peer: clients with the token, their data, and strangers.

Anybody may connect and say nothing, or nonsense, a thousand times: a connection is closed after a
time, and where there are too many the oldest of the host that has most of them, so that none holds
up a client. To a stranger the peer sends nothing but its hello, which is no longer than the hello
that it answers.
"""

from __future__ import annotations

import errno
import hmac
import secrets
import selectors
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

from netcalc.experiments.peers import channel

SPEAK_S = 5.0
"""Time of a connection to say whose it is: lost packets are sent again after 1 s and 3 s. [s]"""
WRONG_S = 1.0
"""Time after a wrong proof, in which the connection is kept without an answer. [s]"""
MAX_WAITING = 256
"""Connections that wait; with more some are closed. [1]"""
_OUT_OF_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
OUT_OF_FILES_S = 0.02
"""Pause of a process that has no file left for the connection that waits. [s]"""
ACCEPTED = 32
"""Connections that are accepted before those that wait get their turn. [1]"""
TICKET_BYTES = 16
"""First bytes of a data connection: as long as the magic of a hello and more. [byte]"""
TLS_HANDSHAKE = b"\x16"
"""First byte of a client of TLS."""
Log = Callable[..., object]
"""Called with the code of what happened, and values."""


class Caller:
    """A connection that has not yet shown whose it is."""

    def __init__(self, sock: socket.socket, host: str) -> None:
        self.sock, self.host = sock, host
        self.received = bytearray()
        self.handshake: channel.Handshake | None = None
        self.is_wrong = False
        self.end_s = time.monotonic() + SPEAK_S


class Guest:
    """Connections of the client without a ticket, each with a transaction.

    Parameters
    ----------
    host : str
        Of the client.
    session : bytes
        The second four bytes of a transaction.
    is_secure : bool
        Whether they begin with a handshake of TLS.
    most : int
        Connections that may wait.
    """

    def __init__(self, host: str, session: bytes, *, is_secure: bool, most: int) -> None:
        self._host, self._session, self._is_secure = host, session[:4], is_secure
        self._most = most
        self.arrivals: SimpleQueue[socket.socket] = SimpleQueue()

    def takes(self, caller: Caller) -> bool:
        """Take a connection whose first bytes are those of a transaction."""
        if caller.host != self._host or caller.received or caller.handshake is not None:
            return False
        if self.arrivals.qsize() >= self._most:
            return False
        head = caller.sock.recv(8, socket.MSG_PEEK)
        return head[:1] == TLS_HANDSHAKE if self._is_secure else head[4:] == self._session


class Door:
    """The listener of a peer, and the connections that wait.

    Parameters
    ----------
    listener : socket.socket
        The listener.
    secret : bytes
        The token, as :func:`netcalc.experiments.peers.channel.secret_of` has it.
    log : callable
        Told of wrong proofs, other versions and strangers.
    """

    def __init__(self, listener: socket.socket, secret: bytes, log: Log) -> None:
        self.listener, self._secret, self._log = listener, secret, log
        listener.setblocking(False)
        self._poll = selectors.DefaultSelector()
        self._poll.register(listener, selectors.EVENT_READ)
        self._waiting: dict[socket.socket, Caller] = {}
        self._waiting_of: Counter[str] = Counter()  # by host
        self._tickets: dict[bytes, socket.socket | None] = {}
        self._ticket_host = ""
        self.counts = dict.fromkeys(("proved", "wrong", "other_version", "stranger"), 0)
        self.guest: Guest | None = None
        self.proved: deque[tuple[channel.Channel, str]] = deque()
        """Clients with the token, each with its host."""

    def new_tickets(self, count: int, host: str) -> list[bytes]:
        """Return what the next data connections, of a host, have to send first."""
        self._ticket_host = host
        tickets = [secrets.token_bytes(TICKET_BYTES) for _ in range(count)]
        self._tickets |= dict.fromkeys(tickets)
        return tickets

    def arrived(self, tickets: Sequence[bytes]) -> list[socket.socket] | None:
        """Return the data connections with these tickets; None until all have come."""
        socks = [self._tickets[ticket] for ticket in tickets]
        if None in socks:
            return None
        for ticket in tickets:
            del self._tickets[ticket]
        return socks  # type: ignore[return-value]

    def forget(self, tickets: Sequence[bytes]) -> None:
        """Close the data connections with these tickets, and take no more of them."""
        for ticket in tickets:
            if (sock := self._tickets.pop(ticket, None)) is not None:
                sock.close()

    def step(self, wait_s: float, *also: Any) -> None:
        """Serve who is there; wait so long for that, or for something to read at ``also``."""
        for sock in also:
            self._poll.register(sock, selectors.EVENT_READ)
        try:
            ready = self._poll.select(wait_s)
        finally:
            for sock in also:
                self._poll.unregister(sock)
        for key, _ in ready:
            if key.fileobj is self.listener:
                self._accept()
            elif (caller := self._waiting.get(key.fileobj)) is not None:  # type: ignore[call-overload]
                self._hear(caller)
        now_s = time.monotonic()
        for caller in [each for each in self._waiting.values() if each.end_s <= now_s]:
            self._refuse(caller, "stranger")

    @property
    def patience_s(self) -> float | None:
        """Time until the next connection has waited too long; None if none waits. [s]"""
        ends = [caller.end_s for caller in self._waiting.values()]
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def close(self) -> None:
        """Close all connections, and the listener."""
        self.forget(list(self._tickets))
        for caller in list(self._waiting.values()):
            self._leave(caller)
            caller.sock.close()
        for connection, _ in self.proved:
            connection.close()
        self._poll.close()
        self.listener.close()

    def _accept(self) -> None:
        for _ in range(ACCEPTED):
            try:
                sock, address = self.listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _OUT_OF_FILES:
                    if not self._waiting:
                        time.sleep(OUT_OF_FILES_S)  # the next one waits in the listener
                        return
                    self._make_room()
                continue  # else it has gone already
            sock.setblocking(False)
            if len(self._waiting) >= MAX_WAITING:
                self._make_room()
            caller = self._waiting[sock] = Caller(sock, address[0])
            self._waiting_of[caller.host] += 1
            self._poll.register(sock, selectors.EVENT_READ)
            self._hear(caller)

    def _make_room(self) -> None:
        """Close the oldest connection of the host that has most of them."""
        most = max(self._waiting_of, key=self._waiting_of.__getitem__)
        oldest = next(caller for caller in self._waiting.values() if caller.host == most)
        self._refuse(oldest, "stranger")

    def _hear(self, caller: Caller) -> None:
        """Read no more than the next part of what a connection has to say."""
        wanted = self._wanted_bytes(caller)
        try:
            if self.guest is not None and self.guest.takes(caller):
                self._leave(caller)
                self.guest.arrivals.put(caller.sock)
                return
            got = caller.sock.recv(wanted - len(caller.received))
        except BlockingIOError:
            return
        except OSError:
            got = b""
        if not got:
            self._refuse(caller, "stranger")
            return
        caller.received += got
        if len(caller.received) == self._wanted_bytes(caller):
            self._judge(caller, bytes(caller.received))

    @staticmethod
    def _wanted_bytes(caller: Caller) -> int:
        if caller.handshake is not None:
            return channel.PROOF_BYTES
        is_hello = channel.MAGIC.startswith(caller.received[: len(channel.MAGIC)])
        is_long = len(caller.received) >= len(channel.MAGIC)
        return channel.HELLO_BYTES if is_hello and is_long else TICKET_BYTES

    def _judge(self, caller: Caller, said: bytes) -> None:
        """Go on with a connection of which the next part is complete."""
        if caller.handshake is not None:
            self._check_proof(caller, caller.handshake, said)
        elif len(said) == channel.HELLO_BYTES:
            self._greet(caller, said)
        elif caller.host == self._ticket_host and self._tickets.get(said, caller) is None:
            self._leave(caller)
            self._tickets[said] = caller.sock
        else:
            self._refuse(caller, "stranger")

    def _greet(self, caller: Caller, said: bytes) -> None:
        hello, own = channel.hello_of(said), channel.new_hello()
        if hello is None or not self._sent(caller, own.packed):
            self._refuse(caller, "stranger")
        elif hello.version != own.version:
            self._log("peer-other-version", host=caller.host, version=hello.version)
            self._refuse(caller, "other_version")
        else:
            caller.handshake = channel.Handshake(self._secret, hello, own)
            caller.received.clear()

    def _check_proof(self, caller: Caller, handshake: channel.Handshake, said: bytes) -> None:
        if not hmac.compare_digest(said, handshake.proof_of_client):
            caller.is_wrong, caller.end_s = True, time.monotonic() + WRONG_S
            self._poll.unregister(caller.sock)  # what comes now is not read
            self.counts["wrong"] += 1
            self._log("peer-wrong-token", host=caller.host, count=self.counts["wrong"])
        elif self._sent(caller, handshake.proof_of_peer):
            self._leave(caller)
            self.counts["proved"] += 1
            own = channel.Channel(caller.sock, handshake.key, is_client=False)
            self.proved.append((own, caller.host))
        else:
            self._refuse(caller, "stranger")

    @staticmethod
    def _sent(caller: Caller, data: bytes) -> bool:
        """Send a few bytes into an empty buffer; False if the other side has gone."""
        try:
            return caller.sock.send(data) == len(data)
        except OSError:
            return False

    def _refuse(self, caller: Caller, why: str) -> None:
        if not caller.is_wrong:  # which was counted
            self.counts[why] += 1
        self._leave(caller)
        caller.sock.close()

    def _leave(self, caller: Caller) -> None:
        del self._waiting[caller.sock]
        self._waiting_of[caller.host] -= 1
        if not self._waiting_of[caller.host]:
            del self._waiting_of[caller.host]
        if not caller.is_wrong:
            self._poll.unregister(caller.sock)
