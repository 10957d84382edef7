"""The peer on a second machine, as a run sees it: the connection of orders, and the data's.

The far end runs ``netcalc peer``, whose user gave the token. Both ends prove it, so that neither
serves, nor measures, somebody else (:mod:`netcalc.experiments.peers.channel`).
"""

from __future__ import annotations

import errno
import hmac
import ipaddress
import re
import socket
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn, Self

from netcalc.checks import named_arguments
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments.exchange import connect_within
from netcalc.experiments.peers import abilities, answers, channel, helper
from netcalc.experiments.peers.responder import TAG_BYTES
from netcalc.experiments.peers.service import ORDERS
from netcalc.experiments.running import limits
from netcalc.experiments.running.stopping import SLICE_S, Stopping
from netcalc.printable import excerpt

PORT = 20_521
"""Port of a peer, where nobody says otherwise."""
ANSWER_S = 5.0
"""Timeout of what a peer answers at once: a lost packet is sent again after 0.2, 0.4 and 0.8 s."""
CLOCK_COUNT, CLOCK_S = 8, 0.1
"""Exchanges by which the offset of the peer's clock is measured [1], and their longest time. [s]"""
AGAIN_S = 0.5
"""Time after which a ticket in a datagram is sent again: longer than most round trips. [s]"""
WELCOME = -1
"""Number of messages that answer no order."""
OPEN_S = 15.0
"""Time for a line to open: a peer says after 10 s what has not come. [s]"""
MAX_ANSWERS = 2
"""Answers to one order that wait to be read: tickets, and that the line is open. [1]"""
READ_AT_ONCE = 100
"""Messages that are read before the run looks whether it is to end. [1]"""


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
        address = require_one_host(self.host)
        if mapped := getattr(address, "ipv4_mapped", None):  # whose packets are of IPv4
            object.__setattr__(self, "host", str(mapped))
            require_one_host(self.host)
        limits.whole_number("port", self.port, 1, 65_535)
        if not isinstance(self.token, str) or channel.secret_of(self.token) is None:
            raise DomainError("no-token", "token")  # and never the text: it is a secret


def require_one_host(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Refuse what is no IP address of one host; names are not looked up."""
    try:
        address = ipaddress.ip_address(host if isinstance(host, str) else "")
    except ValueError:
        raise ExperimentError("target-not-an-address", phase="target", host=host) from None
    if address.is_multicast:
        raise ExperimentError("target-is-multicast", phase="target", host=host)
    if address.is_unspecified or host == "255.255.255.255":
        raise ExperimentError("target-is-broadcast", phase="target", host=host)
    has_no_zone = isinstance(address, ipaddress.IPv6Address) and not address.scope_id
    if has_no_zone and address.is_link_local:
        raise ExperimentError("target-needs-zone", phase="target", host=host)
    return address


def peer_at(text: str, *, token: str) -> FarPeer:
    """Return the peer at an address with or without a port.

    >>> peer_at("[fe80::1%eth0]:4000", token="abcd-efgh-ijkm-npqr")
    FarPeer(host='fe80::1%eth0', port=4000)
    """
    match = re.fullmatch(r"(?:\[(.*)\]|([^:]*))(?::([^:]*))?", text)
    host, port = (match[1] or match[2], match[3]) if match else (text, None)
    if port is not None and not re.fullmatch("[0-9]{1,5}", port):
        raise DomainError("port-not-a-number", "port", excerpt(port))
    return FarPeer(host, token=token, port=PORT if port is None else int(port))


class FarLine(NamedTuple):
    """A line that is open: its number, its session, and what the peer's kernel granted."""

    number: int
    session: bytes
    granted: dict[str, Any]


class Offset(NamedTuple):
    """How far the clock of a peer is ahead, and how far that may be off. [ns]"""

    ahead_ns: int
    error_ns: int


_TIMES = ("begin_ns", "end_ns", "first_ns", "answered_ns", "at_ns")
"""Times of a report, by the clock of the peer."""


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
    address : tuple
        Address of the peer, for sockets.
    machine : dict
        What the peer says of its machine.
    limits : dict
        What its user allows.
    clock : Offset
        The last offset of its clock.
    """

    def __init__(self, peer: FarPeer, *, stopping: Stopping) -> None:
        self._peer, self._stopping = peer, stopping
        self._order_count = 0
        self._messages: dict[int, deque[answers.Answer]] = defaultdict(deque)
        self._so_far: dict[int, answers.Answer] = {}
        self._rounds: dict[int, list[tuple[int, ...]]] = {}  # of jobs that write them
        self._has_more = False
        self.clock = Offset(0, 0)
        self._unexplained: ExperimentError | None = None
        family = helper.address_family(peer.host)
        try:
            self.address: tuple[Any, ...] = socket.getaddrinfo(
                peer.host, peer.port, family, flags=socket.AI_NUMERICHOST
            )[0][4]
        except OSError as error:  # of an address there is only the zone to be looked up
            zone = peer.host.partition("%")[2]
            self.fail("far-peer-no-interface", error, zone=excerpt(zone))
        with helper.kept(socket.socket(family, socket.SOCK_STREAM)) as sock:
            try:
                connect_within(sock, self.address, limit_s=limits.CONNECT_S, stopping=stopping)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                channel.keep_alive(sock)
            except OSError as error:
                self.fail("far-peer-unreachable", error, reason=error.strerror or str(error))
            self._channel = channel.Channel(sock, self._prove(sock), is_client=True)
            welcome = self.answer(WELCOME)
            self.machine: dict[str, Any] = welcome["welcome"]
            self.limits: dict[str, Any] = welcome["limits"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._channel.send({"do": "close", "id": self._order_count})
        self._channel.close()

    def order(self, do: str, **fields: Any) -> int:
        """Send an order; return its number, which its answers carry."""
        number = self._order_count
        self._order_count += 1
        if do == "write_rounds":
            self._rounds[number] = []
        try:
            self._channel.send({"do": do, "id": number, **fields})
        except OSError as error:
            self._read()  # what the peer said before it closed
            self.fail("far-peer-gone", error)
        return number

    def poll(self) -> None:
        """Read the messages that are there, and raise what the peer refuses."""
        try:
            self._channel.flush()
        except OSError as error:
            self._read()
            self.fail("far-peer-gone", error)
        self._read()

    def _read(self) -> None:
        self._has_more = False
        for _ in range(READ_AT_ONCE):
            try:
                message = self._channel.receive()
            except OSError as error:
                self.fail("far-peer-gone", error)
            if message is None:
                return
            try:
                self._sort(answers.checked(message))
            except answers.MalformedError as error:
                self.fail("far-peer-malformed", error)
        self._has_more = True

    def _sort(self, message: dict[str, Any]) -> None:
        """Keep a message for who waits for it."""
        if "refusal" in message:
            self.fail(*_code_of(message, "refusal"))
        number = message.pop("id", WELCOME)
        if number >= self._order_count or len(self._messages[number]) >= MAX_ANSWERS:
            raise answers.MalformedError
        for name in _TIMES:
            if name in message:
                message[name] -= self.clock.ahead_ns
        is_progress = message.pop("so_far", False)
        if is_progress and "times" in message:
            times = message.pop("times")
            if len(self._rounds.get(number, ())) + len(times) > answers.MAX_ITEMS:
                raise answers.MalformedError
            if number in self._rounds:
                self._rounds[number] += times
        answer = answers.Answer(message, self._miss)
        if is_progress:
            self._so_far[number] = answer
        else:
            self._messages[number].append(answer)

    def _miss(self, answer: answers.Answer) -> NoReturn:
        """Raise the error of an answer without a field: a job that failed says why."""
        if "error" in answer:
            self.fail("far-peer-failed", reason=answer.get("text") or "no reason given")
        self.fail("far-peer-malformed")

    def so_far(self, number: int) -> dict[str, Any]:
        """Return the last progress of an order; empty without any."""
        return self._so_far.get(number, {})

    def answer_if_there(self, number: int) -> dict[str, Any] | None:
        """Return the next answer to an order, None if there is none yet."""
        self.poll()
        waiting = self._messages[number]
        return waiting.popleft() if waiting else None

    def wait(self, limit_s: float) -> None:
        """Wait for a message. [s]"""
        helper.readable(self._channel.sock, 0.0 if self._has_more else limit_s)

    def answer(self, number: int, work_s: float = 0.0, *, watch: bool = True) -> dict[str, Any]:
        """Wait for the next answer to an order whose work takes ``work_s``. [s]"""
        return self._waited_for(
            lambda: self.answer_if_there(number), work_s + ANSWER_S, watch=watch
        )

    def _waited_for(
        self,
        take: Callable[[], dict[str, Any] | None],
        limit_s: float,
        *,
        watch: bool = True,
        meanwhile: Callable[[], object] = bool,
    ) -> dict[str, Any]:
        """Return the message that ``take`` takes; raise that the peer is silent, or its failure."""
        message = self._stopping.wait_for(
            take, self.wait, limit_s, watch=watch, meanwhile=meanwhile
        )
        if message is None:
            self.fail("far-peer-silent")
        if "failure" in message:
            self.fail(*_code_of(message, "failure"))
        return message

    def order_end(self, number: int) -> None:
        """Order a job to end at once."""
        self.order("end", job=number, now=1, sent_bytes=0, linger_ms=0, drain_ms=0)

    def end(self, number: int, *, watch: bool = True) -> dict[str, Any]:
        """End a job, and return its report."""
        self.order_end(number)
        return self.answer(number, watch=watch)

    def times_of(self, report: dict[str, Any]) -> dict[int, int]:
        """Return the times of a report by their number, by the clock of this process. [ns]"""
        return {number: at_ns - self.clock.ahead_ns for number, at_ns, *_ in report["times"]}

    def new_rounds(
        self, number: int, report: Mapping[str, Any] | None = None
    ) -> Iterator[tuple[int, int, int]]:
        """Take the rounds of a job that have come: number, begin by the clock here, duration. [ns]

        Those that it has told while it works, and those of its report.
        """
        rounds, self._rounds[number] = self._rounds.get(number, []), []
        for index, *times in rounds + (report["times"] if report is not None else []):
            if len(times) != 2 or times[1] <= 0:
                self.fail("far-peer-malformed")
            yield index, times[0] - self.clock.ahead_ns, times[1]

    def echo(self, line: FarLine, message_bytes: int) -> int:
        """Let the peer echo messages of up to a size on a line; return the number of the job."""
        return self.order("echo", line=line.number, message_bytes=message_bytes)

    def own_error(self) -> dict[str, float]:
        """Return the peer's own error: its clock and timers, and its share of a processor."""
        report = self.answer(self.order("own_error"))
        names = ("timer_resolution_s", "scheduling_delay_p99_s", "processor_ratio")
        return {name: report[name] for name in names}

    def own_rates(self, payload_bytes: int, *, limit_s: float) -> tuple[float, float]:
        """Return how many datagrams a second the peer sends and receives on its own loopback."""
        number = self.order(
            "own_rates", payload_bytes=payload_bytes, limit_ms=max(1, round(1e3 * limit_s))
        )
        report = self.answer(number, limit_s)
        return report["send_pps"], report["receive_pps"]

    def explain(self, error: ExperimentError) -> ExperimentError:
        """Return what the peer says, or that it is gone, if that is the cause of an error."""
        if error.phase == "peer" or error is self._unexplained:  # it is what the peer said, or not
            return error
        # A peer closes its connections first, and says why as soon as its machine lets it; between
        # the two its progress may still come.
        limit_s = ANSWER_S if error.code == "peer-closed" else SLICE_S
        try:
            watch = not self._stopping.reason
            self._stopping.wait_for(self.poll, self.wait, limit_s, watch=watch)
            self.poll()
        except ExperimentError as cause:
            return cause
        self._unexplained = error
        return error

    def measure_clock(self) -> Offset:
        """Measure how far the peer's clock is ahead of the one of this process.

        The fastest of several exchanges: the peer read its clock within that round trip.
        """
        best: Offset | None = None
        end_s = time.monotonic() + CLOCK_S
        for number in range(CLOCK_COUNT):
            if number and time.monotonic() > end_s:
                break
            before_ns = time.perf_counter_ns()
            there_ns = self.answer(self.order("clock"))["now_ns"]
            half_ns = (time.perf_counter_ns() - before_ns) // 2
            if best is None or half_ns < best.error_ns:
                best = Offset(there_ns - before_ns - half_ns, half_ns)
        assert best is not None
        self.clock = best
        return best

    def open(
        self,
        socks: Sequence[socket.socket],
        *,
        buffer_bytes: int | None = None,
        congestion_control: str = "",
        one_port: bool = True,
    ) -> FarLine:
        """Connect sockets to the peer; return the line between them.

        With ``one_port`` the peer takes datagrams of that socket only, otherwise of all of this
        host.
        """
        is_stream = socks[0].type == socket.SOCK_STREAM
        number = self.order(
            "open", protocol="tcp" if is_stream else "udp", count=len(socks),
            buffer_bytes=buffer_bytes or 0, congestion_control=congestion_control,
            one_port=int(one_port),
        )  # fmt: skip
        answer = self.answer(number)
        tickets = answer["tickets"]
        if len(tickets) != len(socks):
            self.fail("far-peer-malformed")
        port = answer.get("port", self.address[1])  # another where two sockets cannot share one
        for sock, ticket in zip(socks, tickets, strict=True):
            if is_stream:
                connect_within(
                    sock, self.address, limit_s=limits.CONNECT_S, stopping=self._stopping
                )
            else:
                sock.connect((self.address[0], port, *self.address[2:]))
            sock.sendall(ticket)
        again_s = time.monotonic() + AGAIN_S

        def send_again() -> None:
            nonlocal again_s
            if not is_stream and time.monotonic() > again_s:
                socks[0].send(tickets[0])  # the one before may be lost
                again_s += AGAIN_S

        message = self._waited_for(
            lambda: self.answer_if_there(number), OPEN_S, meanwhile=send_again
        )
        return FarLine(number, tickets[0][:TAG_BYTES], message["opened"])

    def _prove(self, sock: socket.socket) -> bytes:
        """Exchange hellos and proofs; return the key of the messages."""
        secret = channel.secret_of(self._peer.token)
        assert secret is not None
        own = channel.new_hello()
        try:
            sock.sendall(own.packed)
            packed = self._received(sock, channel.HELLO_BYTES)
        except OSError as error:
            self.fail("far-peer-silent", error)
        other = channel.hello_of(packed) if len(packed) == channel.HELLO_BYTES else None
        if other is None:
            self.fail("far-peer-other-program")
        if other.version != own.version:
            self.fail("far-peer-other-version", there=other.version, here=own.version)
        handshake = channel.Handshake(secret, own, other)
        try:
            sock.sendall(handshake.proof_of_client)
            proof = self._received(sock, channel.PROOF_BYTES)
        except OSError as error:
            self.fail("far-peer-silent", error)
        if not proof:
            self.fail("far-peer-wrong-token")
        if not hmac.compare_digest(proof, handshake.proof_of_peer):
            self.fail("far-peer-without-token")
        return handshake.key

    def require(self, *options: str) -> None:
        """Refuse a run with an option that the system of the peer does not have."""
        for option in abilities.names_among(self.machine.get("lacks")):
            if option in options:
                self.fail("far-peer-lacks", option=option)

    def _received(self, sock: socket.socket, count: int) -> bytes:
        """Return so many bytes; fewer at the end of the connection."""
        data, end_s = b"", time.monotonic() + ANSWER_S
        while len(data) < count:
            self._stopping.check()
            if time.monotonic() > end_s:
                raise helper.system_error(errno.ETIMEDOUT)
            if helper.readable(sock, SLICE_S):
                if not (got := sock.recv(count - len(data))):
                    break
                data += got
        return data

    def fail(self, code: str, cause: BaseException | None = None, **values: Any) -> NoReturn:
        """Raise an error of this peer."""
        raise ExperimentError(
            code, phase="peer", host=self._peer.host, port=self._peer.port, **values
        ) from cause


def _code_of(message: dict[str, Any], kind: str) -> tuple[str, None]:
    """Return the code of a refusal: what the peer says is no text of this program."""
    code = message[kind]
    return (code if code in _CODES else "far-peer-refuses"), None


_CODES = frozenset((
    "peer-busy", "peer-token-elsewhere", "peer-ends", "peer-limit-duration", "peer-limit-bytes",
    "peer-limit-connections", "data-connection-missing", "data-datagram-missing",
    "data-socket-refused",
))  # fmt: skip


class FarWorker:
    """A job of a peer, with the interface of :class:`netcalc.experiments.peers.process.Worker`.

    Parameters
    ----------
    far : FarEnd
        The peer.
    stopping : Stopping
        Ends the run while it waits.
    """

    def __init__(self, far: FarEnd, *, stopping: Stopping) -> None:
        self._far, self._stopping = far, stopping
        self._number = WELCOME
        self._answer: dict[str, Any] | None = None
        self.line: FarLine | None = None
        """What the next job works on."""

    @property
    def so_far(self) -> dict[str, Any]:
        """What the present job has counted so far."""
        return self._far.so_far(self._number)

    def order(self, order: dict[str, Any], socks: Sequence[socket.socket] = ()) -> None:
        """Order what to do on the line; ``socks`` are the sockets of a worker of this machine."""
        fields: dict[str, int] = {}
        for name in ORDERS[order["do"]]:
            if name in order:
                fields[name] = int(order[name])
            elif name.endswith("_ms"):
                fields[name] = max(1, round(1e3 * order.get(name.replace("_ms", "_s"), 0.0)))
        if order["do"] == "end":
            sent_bytes = int(order.get("sent_bytes", 0))
            self._far.order("end", **{**fields, "job": self._number, "sent_bytes": sent_bytes})
            return
        assert self.line is not None
        self._answer = None
        self._number = self._far.order(order["do"], **{**fields, "line": self.line.number})

    def answer(
        self, limit_s: float, *, watch: bool = True, meanwhile: Callable[[], object] = bool
    ) -> dict[str, Any] | None:
        """Wait for the report of a job; None at the limit. Checks for a reason to end."""
        return self._stopping.wait_for(
            self._take, self._far.wait, limit_s, watch=watch, meanwhile=meanwhile
        )

    def _take(self) -> dict[str, Any] | None:
        self.poll()
        answer, self._answer = self._answer, None
        return answer

    def poll(self) -> None:
        """Read the reports that are there, without waiting."""
        if self._answer is None:
            self._answer = self._far.answer_if_there(self._number)

    def explain(self, error: ExperimentError) -> ExperimentError:
        """Return the error of a run, or what the peer says if that is its cause."""
        return self._far.explain(error)

    def close(self) -> None:
        """Do nothing: the peer ends its jobs with the connection."""
