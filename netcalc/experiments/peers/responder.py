"""The peer of a run: a helper program that echoes or answers messages.

Started by :mod:`netcalc.experiments.peers.process`; it needs the standard library only. The
``protocol`` of its settings is one of:

``udp``
    A datagram is echoed if it carries the session of this run, or is too short for one.
``tcp``
    A connection starts with a greeting of 8 bytes, which is echoed; then each message starts with
    its own length and is echoed once it is complete.
``rounds``
    Requests of one size on a connection, each answered once it is complete. A request starts with
    the session, as far as it is long enough.
``transactions``
    One request per connection, optionally within TLS. It starts with its own length and the
    session, and is echoed once it is complete.

Over TCP the peer serves its own client only, which it knows by its first bytes. Anybody on the
machine may connect and say nothing, or one byte a second, or nonsense. The :class:`Door` accepts
every connection at once and lets it wait with the others until its first bytes arrive; so none of
them holds up the client of the run. Until the first stranger comes, no call is made that a peer
alone with its client would not make.
"""

from __future__ import annotations

import gc
import selectors
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from netcalc.experiments.peers import helper
from netcalc.experiments.peers.helper import ENDLESS_BYTES

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


class Listener:
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
        counts: helper.HelperCounts,
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
                helper.set_call_timeout(sock, PATIENCE_S)
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
            helper.set_call_timeout(caller.sock, LOOK_S)
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


TAG_BYTES = 8
"""Tag of every probe: over UDP 4 bytes sequence, 4 session; over TCP 4 bytes length, 4 sequence."""
CERTIFICATE = Path(__file__).with_name("public_test_key.pem")
"""Key and self-signed certificate of every TLS server: a published key, for this machine alone."""
LOOK_NS = int(LOOK_S * 1e9)
_clock = time.perf_counter_ns


def main() -> int:
    """Serve one run; return the exit code."""
    settings = helper.read_settings()
    try:
        sock = bound_socket(settings)
    except OSError as error:
        helper.say({"error": error.errno, "text": error.strerror or str(error)})
        return 2
    counts = helper.HelperCounts()
    helper.start(settings, {"port": sock.getsockname()[1], **helper.granted(sock)}, counts)
    session = bytes.fromhex(settings["session"])
    if settings["protocol"] == "udp":
        gc.disable()  # a collection between two datagrams would only add to one round trip
        echo_datagrams(sock, session[:4], settings, counts)
    else:
        Service(sock, session, settings, counts).run()
    helper.say(vars(counts))
    return helper.LIMIT_REACHED


def bound_socket(settings: dict[str, Any]) -> socket.socket:
    """Open the socket that the settings describe, or use the inherited one."""
    if "fd" in settings:
        return socket.socket(fileno=settings["fd"])
    stream = settings["protocol"] == "tcp"
    sock = socket.socket(
        helper.address_family(settings["host"]), socket.SOCK_STREAM if stream else socket.SOCK_DGRAM
    )
    if stream:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((settings["host"], settings["port"]))
    if stream:
        if settings.get("client"):
            helper.accept_only_from(sock, settings["client"])
        sock.listen(helper.BACKLOG)
    return sock


def echo_datagrams(
    sock: socket.socket, session: bytes, settings: dict[str, Any], counts: helper.HelperCounts
) -> None:
    """Echo datagrams until the limit; connect to the client if it uses one port."""
    buffer = bytearray(65_536)
    view = memoryview(buffer)
    left_bytes = settings["bytes"]
    while left_bytes > 0:
        size, sender = sock.recvfrom_into(buffer)
        left_bytes -= 2 * size
        if size >= TAG_BYTES and buffer[4:8] != session:
            counts.refused += 1
            continue
        counts.echoed += 1  # before the reply: the client may end this process as soon as it has it
        try:
            sock.sendto(view[:size], sender)
        except OSError:
            counts.echoed -= 1
            counts.unsent += 1
        if settings.get("one_port") and size >= TAG_BYTES:
            sock.connect(sender)
            echo_to_one(sock, session, left_bytes, counts)
            return


def echo_to_one(
    sock: socket.socket,
    session: bytes,
    limit_bytes: int,
    counts: helper.HelperCounts,
    look: Callable[[int], object] | None = None,
    look_bytes: int = ENDLESS_BYTES,
) -> None:
    """Echo datagrams on a connected socket, which saves the address in both calls.

    ``look`` is called with the bytes carried, at least every 50 ms while there are none, and after
    ``look_bytes``; it ends the echo by True.
    """
    buffer = bytearray(65_536)
    view = memoryview(buffer)
    # What is received is sent back: half of the limit of both directions together.
    reply, size, left_bytes = view, len(view), limit_bytes // 2
    look_left_bytes = left_bytes - look_bytes // 2
    # Local names: each look-up of a method would add to every round trip.
    receive, send, begins = sock.recv_into, sock.send, buffer.startswith
    if look is None:
        look = _never
    else:
        receive = helper.timed_receive(sock, LOOK_S)
    while left_bytes > 0:
        try:
            got = receive(buffer)
        except BlockingIOError:
            if look(limit_bytes - 2 * left_bytes):
                return
            continue
        except ConnectionError:  # an earlier reply reached a closed port
            continue
        if got != size:  # a view is made once for all datagrams of a size
            size, reply = got, view[:got]
        left_bytes -= got
        # The session is behind 4 bytes of sequence; startswith compares it without a copy.
        if got < TAG_BYTES or not begins(session, 4):
            if look(limit_bytes - 2 * left_bytes):  # of a socket that is shut down 0 bytes come
                return
            counts.refused += 1
            continue
        counts.echoed += 1
        try:
            send(reply)
        except OSError:
            counts.echoed -= 1
            counts.unsent += 1
        # A reading of the clock would take longer than this; 64 of the largest are 8 MB.
        if not counts.echoed & 63 or left_bytes <= look_left_bytes:
            look_left_bytes = left_bytes - look_bytes // 2
            if look(limit_bytes - 2 * left_bytes):
                return


def _never(_: int) -> bool:
    return False


class Answers:
    """What is answered on the connections of the client.

    A connection of ``tcp`` starts with a greeting, and each message on it with its own length; one
    of ``rounds`` has requests of one size, one of ``transactions`` a single request.

    Parameters
    ----------
    session : bytes
        Of the run.
    settings : dict
        The longest message, the reply, the limit of bytes, and whether to acknowledge quickly.
    counts : HelperCounts
        What is counted.
    view : memoryview
        Where messages are read to.
    look : callable
        Called every 50 ms, and after ``look_bytes`` of the settings, with the bytes carried on
        this connection; ends it by returning True.
    """

    def __init__(
        self,
        session: bytes,
        settings: dict[str, Any],
        counts: helper.HelperCounts,
        view: memoryview,
        look: Callable[[int], object],
    ) -> None:
        self.session, self.counts, self.view, self.look = session, counts, view, look
        self.size: int = settings["message_bytes"]
        self.left_bytes: int = settings["bytes"]
        self.look_bytes: int = settings.get("look_bytes", ENDLESS_BYTES)
        self.reply = bytes(settings.get("reply_bytes", 0))
        self.quickack = settings.get("quickack", False) and hasattr(socket, "TCP_QUICKACK")

    def echo_stream(self, connection: socket.socket, have: int) -> int:
        """Echo complete messages until the client is done; return the bytes carried."""
        view, counts = self.view, self.counts
        receive = helper.timed_receive(connection, LOOK_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(self.session)
        view[: have - TAG_BYTES] = view[TAG_BYTES:have]
        have -= TAG_BYTES
        carried_bytes, looked_bytes, look_ns = 0, 0, _clock() + LOOK_NS
        unpack, send = struct.Struct("!I").unpack_from, connection.sendall
        while carried_bytes < self.left_bytes:
            try:
                got = receive(view[have:] if have else view)
            except BlockingIOError:
                if self.look(carried_bytes):
                    break
                continue
            if not got:
                break
            have += got
            while have >= TAG_BYTES:
                (length,) = unpack(view)
                if not TAG_BYTES <= length <= self.size:
                    counts.refused += 1
                    return carried_bytes
                if have < length:
                    break
                counts.echoed += 1
                send(view[:length])
                carried_bytes += 2 * length
                have -= length
                if have:
                    view[:have] = view[length : length + have]
            if _clock() > look_ns or carried_bytes - looked_bytes >= self.look_bytes:
                look_ns, looked_bytes = _clock() + LOOK_NS, carried_bytes
                if self.look(carried_bytes):
                    break
        return carried_bytes

    def answer_rounds(self, connection: socket.socket, have: int) -> int:
        """Answer each complete request until the client is done; return the bytes carried."""
        view, counts, size, reply = self.view, self.counts, self.size, self.reply
        receive = helper.timed_receive(connection, LOOK_S)
        carried_bytes, looked_bytes, look_ns = 0, 0, _clock() + LOOK_NS
        while True:
            if have == size:
                if view[: min(size, TAG_BYTES)] != self.session[:size]:
                    counts.refused += 1
                    return carried_bytes
                counts.echoed += 1
                connection.sendall(reply)
                carried_bytes += size + len(reply)
                have = 0
                if _clock() > look_ns or carried_bytes - looked_bytes >= self.look_bytes:
                    look_ns, looked_bytes = _clock() + LOOK_NS, carried_bytes
                    if self.look(carried_bytes):
                        return carried_bytes
            if self.quickack:  # the kernel resets it, so it is set before each read
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            try:
                got = receive(view[have:size])
            except BlockingIOError:
                if self.look(carried_bytes):
                    return carried_bytes
                continue
            if not got:
                return carried_bytes
            have += got

    def answer_once(self, connection: socket.socket, have: int) -> int:
        """Echo a request once it is complete; its length is in its first bytes."""
        view, size = self.view, int.from_bytes(self.view[:4], "little")
        if TAG_BYTES <= size < len(view):
            while have < size:
                try:
                    got = connection.recv_into(view[have:])
                except (BlockingIOError, TimeoutError):  # without and with TLS
                    if self.look(have):
                        break
                    continue
                if not got:
                    break
                have += got
        if have != size:
            self.counts.refused += 1
            return have
        self.counts.echoed += 1
        connection.sendall(view[:have])
        return 2 * have


class Service(Answers):
    """The connections of the client to a listener, served one after the other."""

    def __init__(
        self,
        listener: socket.socket,
        session: bytes,
        settings: dict[str, Any],
        counts: helper.HelperCounts,
    ) -> None:
        protocol, size = settings["protocol"], settings["message_bytes"]
        view = memoryview(bytearray(size + (65_536 if protocol == "tcp" else 1)))
        super().__init__(session, settings, counts, view, lambda _: self.door.look())
        self.serve = {
            "tcp": self.echo_stream, "rounds": self.answer_rounds, "transactions": self.answer_once,
        }[protocol]  # fmt: skip
        if protocol == "tcp":
            self.door = Listener(listener, counts, view, session)
        elif protocol == "rounds":
            token = session[: min(size, TAG_BYTES)]
            self.door = Listener(listener, counts, view[:size], token, quickack=self.quickack)
        else:
            secure = tls_server(settings["certificate"]) if settings.get("certificate") else None
            self.door = Listener(listener, counts, view, session[:4], token_at=4, secure=secure)

    def run(self) -> None:
        """Serve until the limit."""
        while self.left_bytes > 0:
            connection, have = self.door.next()
            try:
                with connection:
                    self.left_bytes -= self.serve(connection, have)
            except OSError:
                self.counts.unsent += 1


def tls_server(certificate: str) -> Any:
    """Return the server's TLS 1.3 context; without tickets each handshake is a full one."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.num_tickets = 0
    context.options |= ssl.OP_IGNORE_UNEXPECTED_EOF  # a request ends with its stream
    context.load_cert_chain(certificate)
    return context
