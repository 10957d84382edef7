"""One request and its response by ping, UDP or TCP, each over a new socket."""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys
import time
from typing import Any, cast

from netcalc.emulation.wire.packets import checksum
from netcalc.errors import ExperimentError
from netcalc.experiments.exchanges.endpoints import Endpoints
from netcalc.experiments.exchanges.exchange import send_all, set_timeout
from netcalc.experiments.running.stopping import SLICE_S, Stopping

_ECHO_REQUEST, _SOL_RAW, _ICMP_FILTER = {4: 8, 6: 128}, 255, 1
_ECHO_REPLY_V6, _ICMP6_FILTER = 129, 1
_SYN_SENT = 2
_clock = time.perf_counter_ns


class Requests:
    """Requests by one protocol, each echoed by the server.

    ``address`` is that of the server, ``secure`` the TLS context where there is one.
    """

    def __init__(
        self,
        protocol: str,
        endpoints: Endpoints,
        *,
        largest_bytes: int,
        timeout_s: float,
        stopping: Stopping,
    ) -> None:
        self._protocol, self._endpoints = protocol, endpoints
        self._timeout_s, self._stopping = timeout_s, stopping
        self._timeout_ns = int(timeout_s * 1e9)
        self._buffer = memoryview(bytearray(largest_bytes + 65_536))
        self.address: tuple[Any, ...] = (endpoints.server_host, 0)
        self.secure: Any = None

    def response_ns(self, request: bytes, number: int) -> int:
        """Send a request; return its response time, counted from before the first packet. [ns]"""
        if self._protocol == "ping":
            return self._ping(request, number)
        return self._udp(request) if self._protocol == "udp" else self._stream(request)

    def _ping(self, request: bytes, number: int) -> int:
        """Send an echo request, which the kernel of the other end answers."""
        version = self._endpoints.version
        head = struct.pack(
            "!BBHHH", _ECHO_REQUEST[version], 0, 0, os.getpid() & 0xFFFF, number % 65536
        )
        packet = head + request
        protocol = socket.IPPROTO_ICMPV6
        if version == 4:
            packet = head[:2] + checksum(packet).to_bytes(2, "big") + head[4:] + request
            protocol = socket.IPPROTO_ICMP
        with self._endpoints.client_socket(socket.SOCK_RAW, protocol) as sock:
            if version == 4:
                sock.setsockopt(_SOL_RAW, _ICMP_FILTER, struct.pack("I", ~1 & 0xFFFFFFFF))
            else:
                blocked = ~(1 << _ECHO_REPLY_V6) & ((1 << 256) - 1)
                filtered = blocked.to_bytes(32, sys.byteorder)
                sock.setsockopt(protocol, _ICMP6_FILTER, filtered)
            set_timeout(sock, SLICE_S)
            sock.connect(self.address)
            sent_ns = _clock()
            sock.send(packet)
            while True:
                got = self._receive(sock, sent_ns)
                at = (
                    4 * (self._buffer[0] & 15) if version == 4 else 0
                )  # IPv6 raw sockets deliver no header
                if got >= 0 and self._buffer[at + 4 : got] == packet[4:]:
                    return _clock() - sent_ns
                self._check_time(sent_ns)

    def _udp(self, request: bytes) -> int:
        """Send a datagram and wait for its echo."""
        with self._endpoints.client_socket(socket.SOCK_DGRAM) as sock:
            sock.connect(self.address)
            set_timeout(sock, SLICE_S)
            sent_ns = _clock()
            sock.send(request)
            while True:
                got = self._receive(sock, sent_ns)
                if got >= 0 and self._buffer[:got] == request:
                    return _clock() - sent_ns
                self._check_time(sent_ns)

    def _stream(self, request: bytes) -> int:
        """Connect, send, end the stream, and read to the end of the response."""
        sock = self._endpoints.client_socket(socket.SOCK_STREAM)
        try:
            set_timeout(sock, SLICE_S)
            sent_ns = _clock()
            done = 0
            if self._protocol == "tfo":
                done = self._open_with(sock, request, sent_ns)
            else:
                self._connect(sock, sent_ns)
                if self.secure is not None:
                    sock = self._start_tls(sock, sent_ns)
            if done < len(request):
                self._send(sock, request[done:] if done else request)
            socket.socket.shutdown(sock, socket.SHUT_WR)  # the method of ssl would end TLS, too
            have = 0
            while got := self._receive(sock, sent_ns, have):
                have += max(got, 0)
                if _clock() - sent_ns > self._timeout_ns:
                    self._check_time(sent_ns)
            response_ns = _clock() - sent_ns
        finally:
            sock.close()
        if self._buffer[:have] != request:
            raise ExperimentError(
                "wrong-response",
                phase=self._protocol,
                got_bytes=have,
                sent_bytes=len(request),
            )
        return response_ns

    def _send(self, sock: socket.socket, data: bytes) -> None:
        """Send all of a request."""
        send_all(sock, data, timeout_s=self._timeout_s, stopping=self._stopping)

    def _start_tls(self, sock: socket.socket, sent_ns: int) -> socket.socket:
        """Do the TLS handshake on a connection."""
        sock.settimeout(SLICE_S)
        secured: Any = self.secure.wrap_socket(sock, do_handshake_on_connect=False)
        try:
            while True:
                try:
                    secured.do_handshake()
                except TimeoutError:
                    self._check_time(sent_ns)
                else:
                    return cast("socket.socket", secured)
        except BaseException:
            secured.close()
            raise

    def _connect(self, sock: socket.socket, sent_ns: int) -> None:
        """Connect, or wait for a connection in progress."""
        while True:
            try:
                return sock.connect(self.address)
            except BlockingIOError:
                self._check_time(sent_ns)
            except OSError as error:
                if error.errno == errno.EISCONN:
                    return None
                raise

    def _open_with(self, sock: socket.socket, request: bytes, sent_ns: int) -> int:
        """Send the request with the SYN; return how many of its bytes were accepted."""
        try:
            done = sock.sendto(request, socket.MSG_FASTOPEN, self.address)
        except BlockingIOError:
            self._check_time(sent_ns)
            done = 0
        if sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == _SYN_SENT:
            self._connect(
                sock, sent_ns
            )  # ending the stream before it is established would abort it
        return done

    def _receive(self, sock: socket.socket, sent_ns: int, have: int = 0) -> int:
        """Read what has arrived; return -1 if nothing does for a while."""
        try:
            return sock.recv_into(self._buffer[have:])
        except (BlockingIOError, TimeoutError) as error:  # without and with TLS
            if error.errno == errno.ETIMEDOUT:
                raise
            self._check_time(sent_ns)
            return -1

    def _check_time(self, sent_ns: int) -> None:
        """Raise if the run is to end, or at the timeout of this transaction."""
        self._stopping.check()
        if _clock() - sent_ns > self._timeout_ns:
            raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
