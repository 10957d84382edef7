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
"""

from __future__ import annotations

import gc
import socket
import struct
import time
from pathlib import Path
from typing import Any

from netcalc.experiments.peers.door import LOOK_S, Door, set_receive_timeout
from netcalc.experiments.peers.lifetime import LIMIT_REACHED, Counts, read_settings, say, start
from netcalc.experiments.running.sockets import BACKLOG, accept_only_from, granted

TAG_BYTES = 8
"""Tag of every probe: over UDP 4 bytes sequence, 4 session; over TCP 4 bytes length, 4 sequence."""
CERTIFICATE = Path(__file__).with_name("public_test_key.pem")
"""Key and self-signed certificate of every TLS server: a published key, for this machine alone."""
LOOK_NS = int(LOOK_S * 1e9)
_clock = time.perf_counter_ns


def main() -> int:
    """Serve one run; return the exit code."""
    settings = read_settings()
    try:
        sock = bound_socket(settings)
    except OSError as error:
        say({"error": error.errno, "text": error.strerror or str(error)})
        return 2
    counts = Counts()
    start(settings, {"port": sock.getsockname()[1], **granted(sock)}, counts)
    session = bytes.fromhex(settings["session"])
    if settings["protocol"] == "udp":
        gc.disable()  # a collection between two datagrams would only add to one round trip
        echo_datagrams(sock, session[:4], settings, counts)
    elif settings["protocol"] in ("rounds", "transactions"):
        answer_connections(sock, session, settings, counts)
    else:
        echo_connections(sock, session, settings, counts)
    say(vars(counts))
    return LIMIT_REACHED


def bound_socket(settings: dict[str, Any]) -> socket.socket:
    """Open the socket that the settings describe, or use the inherited one."""
    if "fd" in settings:
        return socket.socket(fileno=settings["fd"])
    family = socket.AF_INET6 if ":" in settings["host"] else socket.AF_INET
    stream = settings["protocol"] == "tcp"
    sock = socket.socket(family, socket.SOCK_STREAM if stream else socket.SOCK_DGRAM)
    if stream:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((settings["host"], settings["port"]))
    if stream:
        if settings.get("client"):
            accept_only_from(sock, settings["client"])
        sock.listen(BACKLOG)
    return sock


def echo_datagrams(
    sock: socket.socket, session: bytes, settings: dict[str, Any], counts: Counts
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


def echo_to_one(sock: socket.socket, session: bytes, limit_bytes: int, counts: Counts) -> None:
    """Echo datagrams on a connected socket, which saves the address in both calls."""
    buffer = bytearray(65_536)
    view = memoryview(buffer)
    reply, size, left_bytes = view, len(view), limit_bytes // 2
    receive, send, begins = sock.recv_into, sock.send, buffer.startswith
    while left_bytes > 0:
        try:
            got = receive(buffer)
        except ConnectionError:  # an earlier reply reached a closed port
            continue
        if got != size:
            size, reply = got, view[:got]
        left_bytes -= got
        if got < TAG_BYTES or not begins(session, 4):
            counts.refused += 1
            continue
        counts.echoed += 1
        try:
            send(reply)
        except OSError:
            counts.echoed -= 1
            counts.unsent += 1


def echo_connections(
    listener: socket.socket, session: bytes, settings: dict[str, Any], counts: Counts
) -> None:
    """Serve the connections of the client one after the other until the limit."""
    left_bytes: int = settings["bytes"]
    view = memoryview(bytearray(settings["message_bytes"] + 65_536))
    door = Door(listener, counts, view, session)
    while left_bytes > 0:
        connection, have = door.next()
        with connection:
            try:
                set_receive_timeout(connection, LOOK_S)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.sendall(session)
                view[: have - TAG_BYTES] = view[TAG_BYTES:have]
                most = settings["message_bytes"], left_bytes
                left_bytes -= echo_stream(connection, view, have - TAG_BYTES, *most, counts, door)
            except OSError:
                counts.unsent += 1


def echo_stream(
    connection: socket.socket,
    view: memoryview,
    have: int,
    largest_bytes: int,
    limit_bytes: int,
    counts: Counts,
    door: Door,
) -> int:
    """Echo complete messages until the client is done; return the bytes carried."""
    carried_bytes, look_ns = 0, _clock() + LOOK_NS
    while carried_bytes < limit_bytes:
        try:
            got = connection.recv_into(view[have:])
        except BlockingIOError:
            door.look()
            continue
        if not got:
            break
        have += got
        while have >= TAG_BYTES:
            (length,) = struct.unpack_from("!I", view)
            if not TAG_BYTES <= length <= largest_bytes:
                counts.refused += 1
                return carried_bytes
            if have < length:
                break
            counts.echoed += 1
            connection.sendall(view[:length])
            carried_bytes += 2 * length
            view[: have - length] = view[length:have]
            have -= length
        if _clock() > look_ns:
            look_ns = _clock() + LOOK_NS
            door.look()
    return carried_bytes


def answer_connections(
    listener: socket.socket, session: bytes, settings: dict[str, Any], counts: Counts
) -> None:
    """Answer the requests of the client, connection by connection, until the limit."""
    rounds = settings["protocol"] == "rounds"
    size = settings["message_bytes"]
    view = memoryview(bytearray(size + 1))
    reply = bytes(settings.get("reply_bytes", 0))
    if rounds:
        quickack = settings["quickack"]
        door = Door(
            listener, counts, view[:size], session[: min(size, TAG_BYTES)], quickack=quickack
        )
    else:
        secure = tls_server(settings["certificate"]) if settings.get("certificate") else None
        door = Door(listener, counts, view, session[:4], token_at=4, secure=secure)
    left_bytes: int = settings["bytes"]
    while left_bytes > 0:
        connection, have = door.next()
        try:
            with connection:
                if rounds:
                    set_receive_timeout(connection, LOOK_S)
                    left_bytes -= answer_rounds(
                        connection, view, have, session, settings, reply, counts, door
                    )
                else:
                    left_bytes -= answer_once(connection, view, have, counts)
        except OSError:
            counts.unsent += 1


def answer_rounds(
    connection: socket.socket,
    view: memoryview,
    have: int,
    session: bytes,
    settings: dict[str, Any],
    reply: bytes,
    counts: Counts,
    door: Door,
) -> int:
    """Answer each complete request until the client is done; return the bytes carried."""
    size, quickack = settings["message_bytes"], settings["quickack"]
    carried_bytes, look_ns = 0, _clock() + LOOK_NS
    while True:
        if have == size:
            if view[: min(size, TAG_BYTES)] != session[:size]:
                counts.refused += 1
                return carried_bytes
            counts.echoed += 1
            connection.sendall(reply)
            carried_bytes += size + len(reply)
            have = 0
            if _clock() > look_ns:
                look_ns = _clock() + LOOK_NS
                door.look()
        if quickack:  # the kernel resets it, so it is set before each read
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        try:
            got = connection.recv_into(view[have:size])
        except BlockingIOError:
            door.look()
            continue
        if not got:
            return carried_bytes
        have += got


def answer_once(connection: socket.socket, view: memoryview, have: int, counts: Counts) -> int:
    """Echo a request once it is complete; its length is in its first bytes."""
    size = int.from_bytes(view[:4], "little")
    if TAG_BYTES <= size < len(view):
        while have < size:
            try:
                got = connection.recv_into(view[have:])
            except (BlockingIOError, TimeoutError):  # without and with TLS
                continue
            if not got:
                break
            have += got
    if have != size:
        counts.refused += 1
        return have
    counts.echoed += 1
    connection.sendall(view[:have])
    return 2 * have


def tls_server(certificate: str) -> Any:
    """Return the server's TLS 1.3 context; without tickets each handshake is a full one."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.num_tickets = 0
    context.options |= ssl.OP_IGNORE_UNEXPECTED_EOF  # a request ends with its stream
    context.load_cert_chain(certificate)
    return context
