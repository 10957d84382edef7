"""The peer on a second machine, as a run sees it: the connection of orders, and the data's.

The far end runs ``netcalc peer``, whose user gave the token. Both ends prove it, so that neither
serves, nor measures, somebody else (:mod:`netcalc.experiments.peers.channel`).
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn, Self

from netcalc.checks import named_arguments
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments.exchange import connect_within
from netcalc.experiments.peers import channel, helper
from netcalc.experiments.running import limits
from netcalc.experiments.running.stopping import SLICE_S, Stopping

PORT = 20_521
"""Port of a peer, where nobody says otherwise."""
ANSWER_S = 5.0
"""Timeout of what a peer answers at once: a lost packet is sent again after 0.2, 0.4 and 0.8 s."""
CLOCK_COUNT = 8
"""Exchanges by which the offset of the peer's clock is found. [1]"""


@named_arguments
@dataclass(frozen=True, slots=True)
class FarPeer:
    """A peer on a second machine, where ``netcalc peer`` runs.

    Parameters
    ----------
    host : str
        Its IP address, with a zone where it is of a link: ``fe80::1%eth0``.
    token : str
        The token that it shows.
    port : int
        Its port.

    Raises
    ------
    DomainError
        If the host is no address of one machine, the token cannot be one, or the port is none.

    Examples
    --------
    >>> FarPeer("192.0.2.7", token="abcd-efgh-ijkm-npqr")
    FarPeer(host='192.0.2.7', port=20521)
    """

    host: str
    token: str = field(repr=False, kw_only=True)
    port: int = field(default=PORT, kw_only=True)

    def __post_init__(self) -> None:
        _require_one_host(self.host)
        limits.whole_number("port", self.port, 1, 65_535)
        if channel.secret_of(self.token) is None:
            raise DomainError("no-token", "token", self.token)


def _require_one_host(host: str) -> None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise ExperimentError("target-not-an-address", phase="target", host=host) from None
    if address.is_multicast:
        raise ExperimentError("target-is-multicast", phase="target", host=host)
    if address.is_unspecified or host == "255.255.255.255":
        raise ExperimentError("target-is-broadcast", phase="target", host=host)


class Offset(NamedTuple):
    """How far the clock of a peer is ahead, and how far that may be off. [ns]"""

    ahead_ns: int
    error_ns: int


class FarEnd:
    """The connection to a peer of which both ends have proved the token, for one run.

    Parameters
    ----------
    peer : FarPeer
        Where it is.
    stopping : Stopping
        Ends the run, while it waits as well.

    Attributes
    ----------
    machine : dict
        What the peer says of its machine.
    limits : dict
        What its user allows.
    """

    def __init__(self, peer: FarPeer, *, stopping: Stopping) -> None:
        self._peer, self._stopping = peer, stopping
        family = helper.address_family(peer.host)
        self.address: tuple[Any, ...] = socket.getaddrinfo(
            peer.host, peer.port, family, flags=socket.AI_NUMERICHOST
        )[0][4]
        with helper.kept(socket.socket(family, socket.SOCK_STREAM)) as sock:
            try:
                connect_within(sock, self.address, limit_s=limits.CONNECT_S, stopping=stopping)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError as error:
                self._fail("far-peer-unreachable", error, reason=error.strerror or str(error))
            self._channel = channel.Channel(sock, self._prove(sock), is_client=True)
        welcome = self.answer(ANSWER_S)
        self.machine: dict[str, Any] = welcome.get("welcome", {})
        self.limits: dict[str, Any] = welcome.get("limits", {})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def order(self, do: str, **fields: Any) -> None:
        """Send an order."""
        try:
            self._channel.send({"do": do, **fields})
        except OSError as error:
            self._fail("far-peer-gone", error)

    def poll(self) -> dict[str, Any] | None:
        """Return the next message, if it is there; raise what the peer refuses."""
        try:
            message = self._channel.receive()
        except OSError as error:
            self._fail("far-peer-gone", error)
        if message is not None and "refused" in message:
            self._fail(str(message["refused"]))
        return message

    def answer(self, limit_s: float) -> dict[str, Any]:
        """Wait for a message that is no report of progress."""
        end_s = time.monotonic() + limit_s
        while time.monotonic() < end_s:
            self._stopping.check()
            if (message := self.poll()) is None:
                helper.readable(self._channel.sock, SLICE_S)
            elif not message.get("so_far"):
                return message
        self._fail("far-peer-silent")

    def clock_offset(self) -> Offset:
        """Return how far the peer's clock is ahead of the one of this process.

        The fastest of several exchanges: the peer read its clock within that round trip.
        """
        best: Offset | None = None
        for _ in range(CLOCK_COUNT):
            before_ns = time.perf_counter_ns()
            self.order("clock")
            there_ns = int(self.answer(ANSWER_S)["now_ns"])
            after_ns = time.perf_counter_ns()
            half_ns = (after_ns - before_ns) // 2
            if best is None or half_ns < best.error_ns:
                best = Offset(there_ns - before_ns - half_ns, half_ns)
        assert best is not None
        return best

    def open(
        self, socks: Sequence[socket.socket], *, buffer_bytes: int = 0, is_receiver: bool = True
    ) -> dict[str, Any]:
        """Connect sockets to the peer; return what its kernel granted to the first of them."""
        is_stream = socks[0].type == socket.SOCK_STREAM
        self.order(
            "open", protocol="tcp" if is_stream else "udp", count=len(socks),
            buffer_bytes=buffer_bytes, is_receiver=int(is_receiver),
        )  # fmt: skip
        tickets = [bytes.fromhex(ticket) for ticket in self.answer(ANSWER_S)["tickets"]]
        for sock, ticket in zip(socks, tickets, strict=True):
            if is_stream:
                connect_within(
                    sock, self.address, limit_s=limits.CONNECT_S, stopping=self._stopping
                )
            else:
                sock.connect(self.address)
            sock.sendall(ticket)
        while True:
            message = self._answer_within(SLICE_S)
            if message is not None:
                opened: dict[str, Any] = message["opened"]
                return opened
            if not is_stream:
                socks[0].send(tickets[0])  # the first one may be lost

    def _answer_within(self, limit_s: float) -> dict[str, Any] | None:
        self._stopping.check()
        message = self.poll()
        if message is None:
            helper.readable(self._channel.sock, limit_s)
            message = self.poll()
        return message

    def _prove(self, sock: socket.socket) -> bytes:
        """Exchange hellos and proofs; return the key of the messages."""
        sock.settimeout(ANSWER_S)
        secret = channel.secret_of(self._peer.token)
        assert secret is not None
        own = channel.new_hello()
        try:
            sock.sendall(own.packed)
            packed = _received(sock, channel.HELLO_BYTES)
        except OSError as error:
            self._fail("far-peer-silent", error)
        other = channel.hello_of(packed) if len(packed) == channel.HELLO_BYTES else None
        if other is None:
            self._fail("far-peer-other-program")
        if other.version != own.version:
            self._fail("far-peer-other-version", there=other.version, here=own.version)
        handshake = channel.Handshake(secret, own, other)
        try:
            sock.sendall(handshake.proof_of_client)
            proof = _received(sock, channel.PROOF_BYTES)
        except OSError as error:
            self._fail("far-peer-silent", error)
        if not proof:
            self._fail("far-peer-wrong-token")
        if not hmac.compare_digest(proof, handshake.proof_of_peer):
            self._fail("far-peer-without-token")
        return handshake.key

    def _fail(self, code: str, cause: BaseException | None = None, **values: Any) -> NoReturn:
        raise ExperimentError(
            code, phase="peer", host=self._peer.host, port=self._peer.port, **values
        ) from cause


def _received(sock: socket.socket, count: int) -> bytes:
    """Return so many bytes; fewer at the end of the connection."""
    data = b""
    while len(data) < count:
        got = sock.recv(count - len(data))
        if not got:
            break
        data += got
    return data
