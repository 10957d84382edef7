"""One probe, one reply: the timed part of an echo, over sockets that the caller made.

Stop and wait: read the clock, send a probe, receive its reply, read the clock. Any other reply is
classified afterwards: late, duplicate, damaged, or stray. Between the two readings of the clock
there are one send and one receive call only; the socket blocks in the kernel, with a timeout there,
so that no call of ``poll`` is added.
"""

from __future__ import annotations

import errno
import socket
import struct
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack

from netcalc.emulation.wire.ip_packets import checksum
from netcalc.errors import ExperimentError
from netcalc.experiments.peers.helper import readable, set_call_timeout, system_error, writable
from netcalc.experiments.peers.responder import TAG_BYTES
from netcalc.experiments.running.stopping import SLICE_S, Stopping

UNCOUNTED_FROM = 1 << 31
"""Sequence numbers from here on belong to the warm-up."""
MAX_DUPLICATES = 10_000
"""Duplicates that are kept as rows; further ones are only counted, so that memory is bounded."""


@dataclass(slots=True)
class Probe:
    """A probe that was sent, and whether its reply came in time."""

    payload_bytes: int
    sent_ns: int
    answered: bool = False


@dataclass(slots=True)
class Replies:
    """Counts the replies other than the expected one of each probe."""

    late_count: int = 0
    foreign_count: int = 0
    damaged_count: int = 0
    duplicate_count: int = 0
    duplicates: list[tuple[int, int]] = field(default_factory=list)
    _probes: dict[int, Probe] = field(default_factory=dict)

    def sent(self, sequence: int, payload_bytes: int, sent_ns: int) -> Probe:
        """Record a probe that was sent."""
        probe = self._probes[sequence] = Probe(payload_bytes, sent_ns)
        return probe

    def sort(self, sequence: int, payload_bytes: int, arrived_ns: int, *, expected: int) -> None:
        """Count a reply of this run that is not the expected one."""
        probe = self._probes.get(sequence)
        if sequence >= UNCOUNTED_FROM and probe is not None:
            return
        if probe is None or probe.payload_bytes != payload_bytes:
            self.damaged_count += 1
        elif not probe.answered:
            self.damaged_count += sequence == expected
            self.late_count += sequence != expected
        else:
            self.duplicate_count += 1
            if len(self.duplicates) < MAX_DUPLICATES:
                self.duplicates.append((sequence, arrived_ns - probe.sent_ns))


LINGER_S = 0.02
"""Time after the last probe for duplicates and late replies: they follow within a round trip of
the loopback, and the run should not wait much longer. [s]"""
DRAINED = 1000
"""Replies read and classified before a probe, at most: a flood of stray ones must not keep the run
from its next probe. [1]"""
DONT_WAIT: int = getattr(socket, "MSG_DONTWAIT", 0)
"""Flag of a receive call that must not wait; 0 on Windows, which has none."""
_UNDER_WAY = (errno.EINPROGRESS, errno.EALREADY, getattr(errno, "WSAEWOULDBLOCK", None))
_clock = time.perf_counter_ns
TIMEOUTS = (BlockingIOError, TimeoutError)
"""Errors of a call that waited in vain: at the kernel's timeout; at Python's, as with TLS."""


def require_alive(error: OSError) -> None:
    """Raise an error of :data:`TIMEOUTS` if it is the connection that has timed out."""
    if error.errno == errno.ETIMEDOUT:
        raise error


class WaitingProbes(TypedDict):
    """How long an exchange waits for a reply, and what may end it before."""

    timeout_s: float
    stopping: Stopping


class Exchange(ABC):
    """The interface of a protocol to a run: one socket, and the replies that were not expected."""

    def __init__(self, sock: socket.socket, *, timeout_s: float, stopping: Stopping) -> None:
        self._sock, self._stopping = sock, stopping
        self._timeout_ns = int(timeout_s * 1e9)
        self.replies = Replies()

    @abstractmethod
    def exchange(self, payload: bytearray, sequence: int) -> tuple[int, int | None]:
        """Send one probe; return its send time, and its round trip or None without a reply. [ns]"""

    @abstractmethod
    def linger(self) -> None:
        """Classify the replies that arrive after the last probe."""

    def close(self) -> None:
        """Close the socket."""
        self._sock.close()


class DatagramExchange(Exchange):
    """Common part of probes without a connection: the tags, and the sorting of replies."""

    def __init__(
        self, sock: socket.socket, session: bytes, **common: Unpack[WaitingProbes]
    ) -> None:
        super().__init__(sock, **common)
        self._session = session[:4]
        self._slice_s = slice_s(common["timeout_s"])
        self._buffer = bytearray(65_536)
        set_timeout(sock, self._slice_s)

    def linger(self) -> None:
        """Classify the replies that arrive after the last probe."""
        self._sock.settimeout(LINGER_S)
        self._sort_arrived(0)

    def _tag(self, payload: bytearray, sequence: int) -> int:
        """Write the tag of a probe, as far as it has room; return the size of the probe."""
        tag = sequence.to_bytes(4, "little") + self._session
        payload[:TAG_BYTES] = tag[: len(payload)]
        return len(payload)

    def _drain(self) -> None:
        """Classify the replies that are there."""
        if DONT_WAIT:
            self._sort_arrived(DONT_WAIT)
        else:
            self._sock.setblocking(False)
            self._sort_arrived(0)
            set_timeout(self._sock, self._slice_s)

    def _sort_arrived(self, flags: int) -> None:
        for _ in range(DRAINED):
            try:
                got = self._sock.recv_into(self._buffer, 0, flags)
            except TIMEOUTS:
                return
            self._sort(got, _clock(), expected=-1)

    @abstractmethod
    def _sort(self, got: int, arrived_ns: int, *, expected: int) -> None:
        """Count what has arrived, where it is not the expected reply."""


class UdpExchange(DatagramExchange):
    """Probes as datagrams over a connected socket.

    The kernel discards datagrams from any other address. A probe of 8 bytes or more carries its
    sequence and the session of the run. A shorter one cannot: each has a socket, and so a port, of
    its own, so that a reply to one is never taken for a reply to another.
    """

    def __init__(
        self, connect: Callable[[], socket.socket], session: bytes, **common: Unpack[WaitingProbes]
    ) -> None:
        self._connect = connect
        super().__init__(connect(), session, **common)

    def exchange(self, payload: bytearray, sequence: int) -> tuple[int, int | None]:
        """Send one probe; return its send time, and its round trip or None without a reply. [ns]"""
        size = self._tag(payload, sequence)
        if size < TAG_BYTES:
            self._sock.close()
            self._sock = self._connect()
            set_timeout(self._sock, self._slice_s)
        else:
            self._drain()
        buffer, send, receive, clock = self._buffer, self._sock.send, self._sock.recv_into, _clock
        sent_ns = clock()
        send(payload)
        while True:
            try:
                got = receive(buffer)
                arrived_ns = clock()
            except TIMEOUTS as error:
                require_alive(error)
                got, arrived_ns = -1, clock()
            in_time = arrived_ns - sent_ns <= self._timeout_ns
            if in_time and got == size and buffer.startswith(payload):
                self.replies.sent(sequence, size, sent_ns).answered = True
                return sent_ns, arrived_ns - sent_ns
            if not in_time:
                self.replies.sent(sequence, size, sent_ns)
                if got == size < TAG_BYTES:
                    self.replies.late_count += 1
                else:
                    self._sort(got, arrived_ns, expected=-1)
                return sent_ns, None
            self._sort(got, arrived_ns, expected=sequence)
            self._stopping.check()

    def _sort(self, got: int, arrived_ns: int, *, expected: int) -> None:
        if got < 0:
            return
        if got < TAG_BYTES or self._buffer[4:TAG_BYTES] != self._session:
            self.replies.foreign_count += 1
            return
        sequence = int.from_bytes(self._buffer[:4], "little")
        self.replies.sort(sequence, got, arrived_ns, expected=expected)


class TcpExchange(Exchange):
    """Probes as messages over one connection, each headed by its length and sequence."""

    def __init__(
        self,
        sock: socket.socket,
        session: bytes,
        *,
        largest_bytes: int,
        **common: Unpack[WaitingProbes],
    ) -> None:
        super().__init__(sock, **common)
        self._peer = peer_address(sock)
        self._largest_bytes = largest_bytes
        self._buffer = bytearray(largest_bytes + 65_536)
        self._view = memoryview(self._buffer)
        self._have = 0
        self._greet(session)
        set_timeout(sock, slice_s(common["timeout_s"]))

    def exchange(self, payload: bytearray, sequence: int) -> tuple[int, int | None]:
        """Send one probe; return its send time, and its round trip or None without a reply. [ns]"""
        size = len(payload)
        struct.pack_into("!II", payload, 0, size, sequence)
        sock, buffer = self._sock, self._view[self._have :]
        sent_ns = _clock()
        try:
            done = sock.send(payload)
        except TIMEOUTS as error:
            require_alive(error)
            done = 0
        if done < size:
            self._send_rest(payload, done, sent_ns)
        probe = None
        while True:
            try:
                got = sock.recv_into(buffer)
                arrived_ns = _clock()
            except TIMEOUTS as error:
                require_alive(error)
                got, arrived_ns = -1, _clock()
            probe = probe or self.replies.sent(sequence, size, sent_ns)
            if got == 0:
                raise system_error(errno.ECONNRESET)
            self._have += max(got, 0)
            in_time = arrived_ns - sent_ns <= self._timeout_ns
            while length := self._complete():
                if in_time and not probe.answered and self._buffer.startswith(payload):
                    probe.answered = True
                    self._drop(length)
                else:
                    self._sort(length, arrived_ns, expected=sequence if in_time else -1)
            if probe.answered:
                return sent_ns, arrived_ns - sent_ns
            if not in_time:
                return sent_ns, None
            self._stopping.check()
            buffer = self._view[self._have :]

    def linger(self) -> None:
        """Classify the replies that arrive after the last probe."""
        self._sock.settimeout(LINGER_S)
        for _ in range(DRAINED):
            try:
                got = self._sock.recv_into(self._view[self._have :])
            except TIMEOUTS:
                return
            if not got:
                return
            self._have += got
            while length := self._complete():
                self._sort(length, _clock(), expected=-1)

    def _greet(self, session: bytes) -> None:
        """Send the session and wait for its echo, which shows that this is the peer of the run."""
        self._sock.sendall(session)
        answer = b""
        end_s = time.monotonic() + (self._sock.gettimeout() or 0.0)
        while len(answer) < len(session):
            self._stopping.check()
            if not readable(self._sock, SLICE_S):
                if time.monotonic() > end_s:
                    raise system_error(errno.ETIMEDOUT)
                continue
            got = self._sock.recv(len(session) - len(answer))
            if not got:
                raise system_error(errno.ECONNRESET)
            answer += got
        if answer != session:
            raise ExperimentError("wrong-greeting", phase="greeting", **self._peer)

    def _send_rest(self, payload: bytearray, done: int, sent_ns: int) -> None:
        while done < len(payload):
            if more := sock_send(self._sock, memoryview(payload)[done:]):
                done += more
            else:
                self._stopping.check()
                if _clock() - sent_ns > self._timeout_ns:
                    raise ExperimentError(
                        "peer-stopped-reading",
                        phase="send",
                        done_bytes=done,
                        message_bytes=len(payload),
                        **self._peer,
                    ) from None

    def _complete(self) -> int:
        """Return the length of the first message if it is complete, else 0."""
        if self._have < TAG_BYTES:
            return 0
        (length,) = struct.unpack_from("!I", self._buffer)
        if not TAG_BYTES <= length <= self._largest_bytes:
            raise ExperimentError("wrong-length", phase="echo", message_bytes=length, **self._peer)
        return int(length) if self._have >= length else 0

    def _sort(self, length: int, arrived_ns: int, *, expected: int) -> None:
        (sequence,) = struct.unpack_from("!I", self._buffer, 4)
        self._drop(length)
        self.replies.sort(sequence, length, arrived_ns, expected=expected)

    def _drop(self, length: int) -> None:
        self._view[: self._have - length] = self._view[length : self._have]
        self._have -= length


def send_all(
    sock: socket.socket, data: bytes, *, timeout_s: float, stopping: Stopping, flags: int = 0
) -> None:
    """Send a whole message on a socket with a timeout; check for a reason to end."""
    done = sock_send(sock, data, flags)
    if done == len(data):
        return
    moved_s = time.monotonic()
    while done < len(data):
        stopping.check()
        if more := sock_send(sock, memoryview(data)[done:], flags):
            done, moved_s = done + more, time.monotonic()
        elif time.monotonic() - moved_s > timeout_s:
            raise ExperimentError(
                "peer-stopped-reading",
                phase="send",
                done_bytes=done,
                message_bytes=len(data),
                **peer_address(sock),
            )


def sock_send(sock: socket.socket, data: bytes | bytearray | memoryview, flags: int = 0) -> int:
    """Return how many bytes the kernel accepted, 0 at the timeout."""
    try:
        return sock.send(data, flags)
    except TIMEOUTS as error:
        require_alive(error)
        return 0


def connect_within(
    sock: socket.socket, address: tuple[Any, ...], *, limit_s: float, stopping: Stopping
) -> None:
    """Connect, checking for a reason to end the run; then make the socket blocking."""
    sock.setblocking(False)
    end_s = time.monotonic() + limit_s
    code = sock.connect_ex(address)
    while code in _UNDER_WAY:
        stopping.check()
        if writable(sock, SLICE_S):
            code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        elif time.monotonic() > end_s:
            code = errno.ETIMEDOUT
    if code:
        raise system_error(code)
    sock.setblocking(True)


def set_timeout(sock: socket.socket, limit_s: float) -> None:
    """Set the timeout of receive and send calls: the kernel's, which needs no extra call."""
    sock.settimeout(None)
    set_call_timeout(sock, limit_s, (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO))


def peer_address(sock: socket.socket) -> dict[str, Any]:
    """Return host and port of the other end, for an error."""
    host, port = sock.getpeername()[:2]
    return {"host": host, "port": port}


def slice_s(timeout_s: float) -> float:
    """Divide a timeout into equal slices, short enough to notice a stop in time. [s]"""
    return timeout_s / max(1, -(-timeout_s // SLICE_S))


_HEADER = struct.Struct("!BBHHH")  # type, code, checksum, identifier, sequence
_REQUEST_V4, _REPLY_V4, _REQUEST_V6, _REPLY_V6 = 8, 0, 128, 129


class IcmpExchange(DatagramExchange):
    """Echo requests to a host whose kernel answers them.

    Each carries an identifier of the run and its sequence in the header, and from 8 bytes of user
    data on also there, as over UDP.
    """

    def __init__(
        self, sock: socket.socket, session: bytes, **common: Unpack[WaitingProbes]
    ) -> None:
        super().__init__(sock, session, **common)
        self._identifier = int.from_bytes(session[4:6], "big")
        self._ipv6 = sock.family == socket.AF_INET6

    def exchange(self, payload: bytearray, sequence: int) -> tuple[int, int | None]:
        """Send one probe; return its send time, and its round trip or None without a reply. [ns]"""
        size = self._tag(payload, sequence)
        packet = self._packet(payload, sequence)
        self._drain()
        sock, buffer = self._sock, self._buffer
        sent_ns = _clock()
        sock.send(packet)
        while True:
            try:
                got = sock.recv_into(buffer)
                arrived_ns = _clock()
            except BlockingIOError:
                got, arrived_ns = -1, _clock()
            in_time = arrived_ns - sent_ns <= self._timeout_ns
            if in_time and self._reply(got) == (sequence & 0xFFFF, payload):
                self.replies.sent(sequence, size, sent_ns).answered = True
                return sent_ns, arrived_ns - sent_ns
            if not in_time:
                self.replies.sent(sequence, size, sent_ns)
            self._sort(got, arrived_ns, expected=sequence if in_time else -1)
            if not in_time:
                return sent_ns, None
            self._stopping.check()

    def _packet(self, payload: bytearray, sequence: int) -> bytes:
        kind = _REQUEST_V6 if self._ipv6 else _REQUEST_V4
        fields = (self._identifier, sequence & 0xFFFF)
        head = _HEADER.pack(kind, 0, 0, *fields)
        if self._ipv6:  # the kernel adds the checksum
            return head + payload
        return _HEADER.pack(kind, 0, checksum(head + payload), *fields) + payload

    def _reply(self, got: int) -> tuple[int, bytearray] | None:
        """Return sequence and user data of an echo reply to this run, or None."""
        begin = 0 if self._ipv6 else 4 * (self._buffer[0] & 0xF)
        if got < begin + _HEADER.size:
            return None
        kind, _, _, identifier, sequence = _HEADER.unpack_from(self._buffer, begin)
        if kind != (_REPLY_V6 if self._ipv6 else _REPLY_V4) or identifier != self._identifier:
            return None
        return sequence, self._buffer[begin + _HEADER.size : got]

    def _sort(self, got: int, arrived_ns: int, *, expected: int) -> None:
        if got < 0:
            return
        reply = self._reply(got)
        if reply is None:
            self.replies.foreign_count += 1
        elif len(reply[1]) < TAG_BYTES:
            self.replies.late_count += 1
        elif reply[1][4:TAG_BYTES] != self._session:
            self.replies.foreign_count += 1
        else:
            sequence = int.from_bytes(reply[1][:4], "little")
            self.replies.sort(sequence, len(reply[1]), arrived_ns, expected=expected)
