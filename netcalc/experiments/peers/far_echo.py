"""Programs of a peer that answer: echoes, requests of one size, and transactions.

They work in a thread, on sockets that the client has opened by its tickets. The first 8 bytes of
the ticket are the session.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from netcalc.experiments.peers import helper, responder
from netcalc.experiments.peers.helper import ENDLESS_BYTES
from netcalc.experiments.peers.job import Job

_clock = time.perf_counter_ns


class AnswerCounts(helper.HelperCounts):
    """What a program counted: messages, and the bytes in both directions."""

    def __init__(self) -> None:
        super().__init__()
        self.sent_bytes = self.received_bytes = self.reply_bytes = 0
        self.before_bytes = 0
        """Bytes of the connections before this one, both directions together. [byte]"""

    def carry(self, carried_bytes: int) -> None:
        """Set the bytes in both directions together, half of which are replies."""
        self.sent_bytes = self.received_bytes = (self.before_bytes + carried_bytes) // 2


def echo_datagrams(
    socks: Sequence[socket.socket], order: dict[str, Any], job: Job, counts: AnswerCounts
) -> dict[str, Any]:
    """Echo datagrams of the session, and those too short for it, to the host of the client only."""
    (sock,) = socks
    session, host = order["session"][:4], order["host"]
    if order["one_port"]:
        look = _look(job, counts)
        responder.echo_to_one(sock, session, ENDLESS_BYTES, counts, look, order["look_bytes"])
        return {}
    helper.set_call_timeout(sock, responder.LOOK_S)
    buffer = bytearray(65_536)
    view = memoryview(buffer)
    carried_bytes, looked_bytes, look_ns = 0, 0, 0
    while True:
        try:
            size, sender = sock.recvfrom_into(buffer)
        except (BlockingIOError, TimeoutError):
            size, sender = -1, ("", 0)
        except ConnectionError:  # an earlier reply reached a closed port
            continue
        if size >= 0 and sender is not None:  # None: the socket is shut down
            is_own = size < responder.TAG_BYTES or buffer[4:8] == session
            if sender[0] != host or not is_own:
                counts.refused += 1
            else:
                try:
                    sock.sendto(view[:size], sender)
                    counts.echoed += 1
                except OSError:
                    counts.unsent += 1
                carried_bytes += 2 * size
        unlooked_bytes = carried_bytes - looked_bytes
        if (now_ns := _clock()) > look_ns or unlooked_bytes >= order["look_bytes"]:
            look_ns, looked_bytes = now_ns + responder.LOOK_NS, carried_bytes
            counts.carry(carried_bytes)
            if job.look(now_ns):
                return {}


def echo_stream(
    socks: Sequence[socket.socket], order: dict[str, Any], job: Job, counts: AnswerCounts
) -> dict[str, Any]:
    """Echo messages that begin with their length, after a greeting with the session."""
    view = memoryview(bytearray(order["message_bytes"] + 65_536))
    answers = _answers(order, job, counts, view)
    helper.set_call_timeout(socks[0], responder.LOOK_S)
    have = _first_bytes(socks[0], view[: responder.TAG_BYTES], job)
    if view[: responder.TAG_BYTES] == order["session"]:
        counts.carry(answers.echo_stream(socks[0], have))
    return {}


def answer_rounds(
    socks: Sequence[socket.socket], order: dict[str, Any], job: Job, counts: AnswerCounts
) -> dict[str, Any]:
    """Answer requests of one size, each once it is complete."""
    view = memoryview(bytearray(order["message_bytes"]))
    counts.carry(_answers(order, job, counts, view).answer_rounds(socks[0], 0))
    return {}


def answer_transactions(
    arrivals: SimpleQueue[socket.socket],
) -> Callable[..., dict[str, Any]]:
    """Return the program that answers a request on each connection that arrives."""

    def answer(
        socks: Sequence[socket.socket], order: dict[str, Any], job: Job, counts: AnswerCounts
    ) -> dict[str, Any]:
        view = memoryview(bytearray(order["message_bytes"] + 1))
        answers = _answers(order, job, counts, view)
        secure = responder.tls_server(str(responder.CERTIFICATE)) if order["tls"] else None
        while not job.look(_clock()):
            counts.carry(0)
            try:
                sock = arrivals.get(timeout=responder.LOOK_S)
            except Empty:
                continue
            try:
                with _secured(sock, secure) as connection:
                    have = _first_bytes(connection, view[: responder.TAG_BYTES], job)
                    counts.before_bytes += answers.answer_once(connection, have)
            except OSError:
                counts.unsent += 1
        return {}

    return answer


def _first_bytes(sock: socket.socket, view: memoryview, job: Job) -> int:
    """Fill a view with what a connection begins with; return how much came before its end."""
    have = 0
    while have < len(view):
        try:
            got = sock.recv_into(view[have:])
        except (BlockingIOError, TimeoutError):
            if job.look(_clock()):
                break
            continue
        if not got:
            break
        have += got
    return have


def _secured(sock: socket.socket, secure: Any) -> socket.socket:
    """Return a connection, with TLS where the order says so; it has a timeout."""
    with helper.kept(sock):
        if secure is None:
            sock.setblocking(True)
            helper.set_call_timeout(sock, responder.LOOK_S)
            return sock
        sock.settimeout(responder.TOKEN_S)
        secured: socket.socket = secure.wrap_socket(sock, server_side=True)
        secured.settimeout(responder.LOOK_S)
        return secured


def _answers(
    order: dict[str, Any], job: Job, counts: AnswerCounts, view: memoryview
) -> responder.Answers:
    settings = {**order, "bytes": ENDLESS_BYTES}  # the limit of a peer is its service's
    return responder.Answers(order["session"], settings, counts, view, _look(job, counts))


def _look(job: Job, counts: AnswerCounts) -> Callable[[int], bool]:
    """Return what a program calls from time to time with the bytes carried."""

    def look(carried_bytes: int) -> bool:
        counts.carry(carried_bytes)
        return job.look(_clock())

    return look
