"""The door of a class with TLS, where no client makes another wait.

A handshake is a signature: a millisecond of the one thread that serves the class. Taken as they
come, a thousand of them stop all pages for seconds. So one is begun in each round of the loop, and
addresses take turns. Before its turn a connection is a socket and no more; a client that says
nothing, or nothing that TLS begins with, never has one.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import sys
from collections import deque
from contextlib import suppress
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import SSLIOStream, StreamClosedError
from tornado.netutil import add_accept_handler

MOST_UNFINISHED = 512
"""Connections without a whole handshake; one more ends the oldest of the address with most. [1]"""
LIMIT_S = 10.0
"""How long a handshake may take, its turn included. [s]"""
QUIET_S = 60.0
"""Time between two lines about connections that were refused. [s]"""
_BACKLOG = 1024
_RECORD, _HANDSHAKE, _HELLO, _MOST_BYTES = 5, 22, 1, 1 << 14
"""Bytes before a record, its kind, the kind of its message, and the longest one."""
_PLAIN = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    b"The address of this class begins with https://\n"
)


class TlsDoor:
    """Accepts connections, and hands those with a whole handshake to a server.

    Parameters
    ----------
    server : tornado.httpserver.HTTPServer
        What the connections are for; it has no TLS of its own.
    context : ssl.SSLContext
        The certificate.
    """

    def __init__(self, server: HTTPServer, context: ssl.SSLContext) -> None:
        self._server, self._context = server, context
        self._unfinished: dict[str, dict[socket.socket, asyncio.Task[None]]] = {}
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._refused_count, self._said_s = 0, -QUIET_S
        # Each failure of a handshake would be a line of Tornado's own.
        logging.getLogger("tornado.general").addFilter(lambda it: "SSL Error" not in str(it.msg))

    def listen(self, listening: socket.socket) -> None:
        """Accept what comes to a socket, from now on."""
        listening.listen(_BACKLOG)
        add_accept_handler(listening, self.take)

    def take(self, connection: socket.socket, address: Any) -> None:
        """Begin with a connection that was accepted."""
        connection.setblocking(False)
        host = str(address[0])
        if sum(map(len, self._unfinished.values())) >= MOST_UNFINISHED:
            most = max(self._unfinished.values(), key=len)
            most.pop(next(iter(most))).cancel()
        task = asyncio.ensure_future(self._admit(connection, address, host))
        self._unfinished.setdefault(host, {})[connection] = task
        deadline = asyncio.get_running_loop().call_later(LIMIT_S, task.cancel)

        def forget(_: object) -> None:
            deadline.cancel()
            if task.cancelled():  # before it began
                connection.close()
            mine = self._unfinished.get(host, {})
            mine.pop(connection, None)
            if not mine:
                self._unfinished.pop(host, None)

        task.add_done_callback(forget)

    async def _admit(self, connection: socket.socket, address: Any, host: str) -> None:
        stream = None
        try:
            await _whole_hello(connection)
            await self._turn(host)
            wrapped = self._context.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            )
            stream = SSLIOStream(wrapped)
            await stream.wait_for_handshake()
        except (OSError, ValueError, asyncio.CancelledError) as error:
            (stream or connection).close()
            error = getattr(error, "real_error", None) or error
            if not isinstance(error, (ConnectionError, StreamClosedError, ssl.SSLEOFError)):
                self._note(host, error)
        else:
            self._server.handle_stream(stream, address)

    async def _turn(self, host: str) -> None:
        """Wait for a round of the loop in which no other handshake is begun."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._begin_next)
        turn = loop.create_future()
        self._waiting.setdefault(host, deque()).append(turn)
        await turn

    def _begin_next(self) -> None:
        host, line = next(iter(self._waiting.items()))
        del self._waiting[host]
        turn = line.popleft()
        if line:
            self._waiting[host] = line  # behind the other addresses
        _wake(turn)
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._begin_next)

    def _note(self, host: str, error: BaseException) -> None:
        """Say that connections were refused: one line a minute, however many they are."""
        self._refused_count += 1
        now_s = asyncio.get_running_loop().time()
        if now_s - self._said_s >= QUIET_S:
            reason = getattr(error, "reason", None) or str(error) or "no handshake in time"
            print(
                f"Connections refused at the TLS door: {self._refused_count}, last {host}: "
                f"{str(reason).replace('_', ' ').lower()}",
                file=sys.stderr,
                flush=True,
            )
            self._refused_count, self._said_s = 0, now_s


async def _whole_hello(connection: socket.socket) -> None:
    """Wait until the first message of a client is there, in one record as browsers send it."""
    head = await _peek(connection, _RECORD)
    if head[:2] != bytes((_HANDSHAKE, 3)):
        with suppress(OSError):
            connection.recv(_MOST_BYTES)  # what is not read would take the answer with it
            connection.send(_PLAIN)
        raise ValueError("what came is not TLS")
    size = int.from_bytes(head[3:], "big")
    if not 4 <= size <= _MOST_BYTES:
        raise ValueError("no first message of TLS")
    message = (await _peek(connection, _RECORD + size))[_RECORD:]
    if message[0] != _HELLO or int.from_bytes(message[1:4], "big") + 4 > size:
        raise ValueError("no first message of TLS")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)


def _wake(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


async def _peek(connection: socket.socket, size: int) -> bytes:
    """Return the first bytes of a connection, which stay unread; nobody is woken for fewer."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
    loop = asyncio.get_running_loop()
    readable = loop.create_future()
    loop.add_reader(connection, _wake, readable)
    try:
        await readable
    finally:
        loop.remove_reader(connection)
    data = connection.recv(size, socket.MSG_PEEK)
    if len(data) < size:
        raise ConnectionError("it ended before a handshake")
    return data
