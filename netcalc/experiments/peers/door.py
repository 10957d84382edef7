"""Whom a TCP peer serves: its own client, known by its first bytes; the standard library only.

Anybody on the machine may connect to a peer and say nothing, or one byte a second, or nonsense.
Every connection is accepted at once and waits with the others until its first bytes arrive; so
none of them holds up the client of the run. Until the first stranger comes, no call is made that a
peer alone with its client would not make.
"""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections import deque
from typing import Any

from netcalc.experiments.peers.lifetime import Counts

TOKEN_S = 2.0
"""Time for a connection to send its first bytes. The client's own needs this much where a packet of
the emulated path is sent again; a stranger's costs nothing while it waits. [s]"""
PATIENCE_S = 0.01
"""Time for the first bytes of a connection until it waits beside others: on a loopback they take
some 10 us; a silent stranger delays the run by this time, once. [s]"""
LOOK_S = 0.05
"""Time between two looks for new connections while a client is served: the backlog must not fill,
as its overflow would cost the next connection a retransmission of 1 s. [s]"""
MAX_WAITING = 256
"""Connections that wait; with more the oldest is closed. Below the limit of 1024 files that most
systems have. [1]"""
ACCEPTED = 32
"""Connections that are accepted before those that wait get their turn. [1]"""
_HANDSHAKE = b"\x16"  # the first byte of TLS


class Caller:
    """A connection that has not yet shown whose it is."""

    def __init__(self, sock: Any) -> None:
        self.sock, self.head, self.have = sock, b"", 0
        self.secure = False  # whether its handshake of TLS is done
        self.end_s = time.monotonic() + TOKEN_S


class Door:
    """The listener of a peer, and the connections that wait.

    Parameters
    ----------
    listener : socket.socket
        The listener.
    counts : Counts
        Its ``refused`` counts the connections that were not the client's.
    view : memoryview
        Where the first bytes of a connection are read to; its length is the most that is read.
    token : bytes
        What the client's first bytes are.
    token_at : int
        How many others come before them.
    secure : ssl.SSLContext, optional
        Of a server of TLS.
    quickack : bool
        Whether to ask for quick acknowledgements before each read; the kernel resets it.
    """

    def __init__(
        self,
        listener: socket.socket,
        counts: Counts,
        view: memoryview,
        token: bytes,
        *,
        token_at: int = 0,
        secure: Any = None,
        quickack: bool = False,
    ) -> None:
        self._listener, self._counts, self._view = listener, counts, view
        self._token, self._token_at = token, token_at
        self._head_bytes = token_at + len(token)
        self._scratch = memoryview(bytearray(self._head_bytes))
        self._secure, self._quickack = secure, quickack
        self._alone = True  # no other connection so far
        self._own: deque[Caller] = deque()
        self._poll = selectors.DefaultSelector()
        self._poll.register(listener, selectors.EVENT_READ)
        self.waiting: dict[int, Caller] = {}
        """Connections whose first bytes are not there, by descriptor, the oldest first."""

    def next(self) -> tuple[Any, int]:
        """Wait for the client; return its connection, and how many bytes of it are in the view."""
        while not self._own:
            if self._alone:
                try:
                    sock, _ = self._listener.accept()
                except OSError:  # it has gone already, or there are no files left
                    time.sleep(PATIENCE_S)
                else:
                    self._admit(sock, PATIENCE_S)
            else:
                self._look(self._left_s())
        caller = self._own.popleft()
        self._view[: len(caller.head)] = caller.head
        return caller.sock, caller.have

    def look(self) -> None:
        """Accept waiting connections and read their bytes; called while a client is served."""
        self._look(0.0)

    def close(self) -> None:
        """Close the connections that wait."""
        for caller in list(self.waiting.values()):
            self._refuse(caller)
        self._poll.close()

    def _look(self, wait_s: float | None) -> None:
        for key, _ in self._poll.select(wait_s):
            if key.fileobj is self._listener:
                self._accept_all()
            elif key.fd in self.waiting:
                self._hear(self.waiting[key.fd], self._scratch)
        now_s = time.monotonic()
        while self.waiting and self._oldest().end_s <= now_s:
            self._refuse(self._oldest())

    def _accept_all(self) -> None:
        self._alone = False
        self._listener.setblocking(False)
        for _ in range(ACCEPTED):
            try:
                sock, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError:  # it has gone already, or there are no files left
                if not self.waiting:
                    time.sleep(PATIENCE_S)
                    return
                self._refuse(self._oldest())
                continue
            self._admit(sock, 0.0)

    def _admit(self, sock: socket.socket, patience_s: float) -> None:
        """Take a connection; it waits if its first bytes do not come soon."""
        caller = Caller(sock)
        try:
            if self._secure is not None or not patience_s:
                sock.settimeout(patience_s)
            else:
                set_receive_timeout(sock, PATIENCE_S)
        except OSError:  # it has gone already
            self._refuse(caller)
            return
        if self._hear(caller, self._view if patience_s else self._scratch):
            return
        self._alone = False
        caller.sock.setblocking(False)
        if len(self.waiting) >= MAX_WAITING:
            self._refuse(self._oldest())
        self.waiting[caller.sock.fileno()] = caller
        self._poll.register(caller.sock, selectors.EVENT_READ)

    def _hear(self, caller: Caller, view: memoryview) -> bool:
        """Read what a connection has sent; return whether that shows whose it is."""
        have = len(caller.head)
        view[:have] = caller.head
        try:
            if self._secure is None or self._shake_hands(caller):
                if self._quickack:
                    caller.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                have += caller.sock.recv_into(view[have:])
        except (BlockingIOError, TimeoutError):
            return False
        except OSError as error:
            if type(error).__name__ in ("SSLWantReadError", "SSLWantWriteError"):
                return False
        came = have > len(caller.head)
        if came and have < self._head_bytes and self._token.startswith(view[self._token_at : have]):
            caller.head = bytes(view[:have])
            return False
        if not came or view[self._token_at : min(have, self._head_bytes)] != self._token:
            self._refuse(caller)
            return True
        self._forget(caller)
        caller.have = have
        if view is not self._view:
            caller.head = bytes(view[:have])
            caller.sock.setblocking(True)
            set_receive_timeout(caller.sock, LOOK_S)
        if self._secure is not None:
            caller.sock.settimeout(LOOK_S)
        self._own.append(caller)
        return True

    def _shake_hands(self, caller: Caller) -> bool:
        """Go on with the handshake of TLS; return False if the other end does not speak TLS."""
        if caller.secure:
            return True
        if not hasattr(caller.sock, "do_handshake"):
            if caller.sock.recv(1, socket.MSG_PEEK) != _HANDSHAKE:
                return False
            caller.sock = self._secure.wrap_socket(
                caller.sock, server_side=True, do_handshake_on_connect=False
            )
        caller.sock.do_handshake()
        caller.secure = True
        return True

    def _refuse(self, caller: Caller) -> None:
        self._counts.refused += 1
        self._forget(caller)
        caller.sock.close()

    def _forget(self, caller: Caller) -> None:
        if self.waiting.pop(caller.sock.fileno(), None) is not None:
            self._poll.unregister(caller.sock)

    def _oldest(self) -> Caller:
        return next(iter(self.waiting.values()))

    def _left_s(self) -> float | None:
        """Return how long the oldest connection may still wait; None if there is none. [s]"""
        if not self.waiting:
            return None
        return max(0.0, self._oldest().end_s - time.monotonic())


def set_receive_timeout(sock: socket.socket, limit_s: float) -> None:
    """Set the kernel's timeout of receive calls, which needs no call of ``poll``."""
    timeval = struct.pack("ll", int(limit_s), int(limit_s % 1.0 * 1e6))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval)
