"""Probes as ICMP echo requests, as ``ping`` sends them, over a raw socket of a namespace."""

from __future__ import annotations

import socket
import struct
import time

from netcalc.emulation.wire.packets import checksum
from netcalc.experiments.exchanges.exchange import DRAINED, LINGER_S, set_timeout, slice_s
from netcalc.experiments.exchanges.replies import Replies
from netcalc.experiments.peers.responder import TAG_BYTES
from netcalc.experiments.running.stopping import Stopping

_HEADER = struct.Struct("!BBHHH")  # type, code, checksum, identifier, sequence
_REQUEST_V4, _REPLY_V4, _REQUEST_V6, _REPLY_V6 = 8, 0, 128, 129
_clock = time.perf_counter_ns


class IcmpExchange:
    """Echo requests to a host whose kernel answers them.

    Each carries an identifier of the run and its sequence in the header, and from 8 bytes of user
    data on also there, as over UDP.
    """

    def __init__(
        self, sock: socket.socket, session: bytes, *, timeout_s: float, stopping: Stopping
    ) -> None:
        self._sock = sock
        self._session = session[:4]
        self._identifier = int.from_bytes(session[4:6], "big")
        self._ipv6 = sock.family == socket.AF_INET6
        self._timeout_ns = int(timeout_s * 1e9)
        self._slice_s = slice_s(timeout_s)
        self._stopping = stopping
        self._buffer = bytearray(65_536)
        self.replies = Replies()
        set_timeout(sock, self._slice_s)

    def exchange(self, payload: bytearray, sequence: int) -> tuple[int, int | None]:
        """Send one probe; return its send time, and its round trip or None without a reply. [ns]"""
        size = len(payload)
        tag = sequence.to_bytes(4, "little") + self._session
        payload[:TAG_BYTES] = tag[:size]
        packet = self._packet(payload, sequence)
        self._drain(socket.MSG_DONTWAIT)
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
            found = self._reply(got)
            if in_time and found is not None and found == (sequence & 0xFFFF, payload):
                self.replies.sent(sequence, size, sent_ns).answered = True
                return sent_ns, arrived_ns - sent_ns
            if not in_time:
                self.replies.sent(sequence, size, sent_ns)
            self._sort(got, found, arrived_ns, expected=sequence if in_time else -1)
            if not in_time:
                return sent_ns, None
            self._stopping.check()

    def linger(self) -> None:
        """Classify the replies that arrive after the last probe."""
        self._sock.settimeout(LINGER_S)
        self._drain(0)

    def close(self) -> None:
        """Close the socket."""
        self._sock.close()

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

    def _drain(self, flags: int) -> None:
        for _ in range(DRAINED):
            try:
                got = self._sock.recv_into(self._buffer, 0, flags)
            except (BlockingIOError, TimeoutError):
                return
            self._sort(got, self._reply(got), _clock(), expected=-1)

    def _sort(
        self, got: int, found: tuple[int, bytearray] | None, arrived_ns: int, *, expected: int
    ) -> None:
        if got < 0:
            return
        if found is None:
            self.replies.foreign_count += 1
        elif len(found[1]) < TAG_BYTES:
            self.replies.late_count += 1
        elif found[1][4:TAG_BYTES] != self._session:
            self.replies.foreign_count += 1
        else:
            sequence = int.from_bytes(found[1][:4], "little")
            self.replies.sort(sequence, len(found[1]), arrived_ns, expected=expected)
