"""Transaction time by size: the cost of a connection, of TLS and of a fragment."""

from __future__ import annotations

import errno
import os
import secrets
import socket
import struct
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import as_float, named_arguments, one_dimensional
from netcalc.emulation.wire.ip_packets import checksum
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import endpoints, exchange
from netcalc.experiments.peers import helper
from netcalc.experiments.peers.helper import system_error
from netcalc.experiments.peers.process import Peer, responder_settings
from netcalc.experiments.peers.remote import FarEnd, FarPeer
from netcalc.experiments.peers.responder import CERTIFICATE, TAG_BYTES
from netcalc.experiments.running import instrument, limits, record
from netcalc.experiments.running.stopping import SLICE_S, Stop, Stopping
from netcalc.messages import Notice
from netcalc.path import Path
from netcalc.samples import TransactionSamples

_ECHO_REQUEST, _SOL_RAW, _ICMP_FILTER = {4: 8, 6: 128}, 255, 1
_ECHO_REPLY_V6, _ICMP6_FILTER = 129, 1
_SYN_SENT = 2
_SYN_DATA = 32  # TCPI_OPT_SYN_DATA of linux/tcp.h
_clock = time.perf_counter_ns


class ClientEnd(Protocol):
    """Where the client of a transaction opens its sockets."""

    @property
    def version(self) -> int:
        """Version of IP, 4 or 6."""

    def client_socket(self, kind: int, protocol: int = 0) -> socket.socket:
        """Open a socket of the client."""


class RequestPlan:
    """Requests by one protocol, each echoed by the server.

    ``address`` is the server's address, ``secure`` the TLS context where there is one.
    """

    def __init__(
        self,
        protocol: str,
        ends: ClientEnd,
        *,
        largest_bytes: int,
        timeout_s: float,
        stopping: Stopping,
    ) -> None:
        self._protocol, self._endpoints = protocol, ends
        self._timeout_s, self._stopping = timeout_s, stopping
        self._timeout_ns = int(timeout_s * 1e9)
        self._buffer = memoryview(bytearray(largest_bytes + 65_536))
        self.address: tuple[Any, ...] = ()
        self.secure: Any = None
        self.with_syn_count = 0
        """Requests of Fast Open that went with the SYN, as the kernel says. [1]"""

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
            exchange.set_timeout(sock, SLICE_S)
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
            exchange.set_timeout(sock, SLICE_S)
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
            exchange.set_timeout(sock, SLICE_S)
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
            self.with_syn_count += self._protocol == "tfo" and _sent_with_syn(sock)
        finally:
            sock.close()
        if self._buffer[:have] != request:
            raise ExperimentError(
                "wrong-response", phase=self._protocol, got_bytes=have, sent_bytes=len(request)
            )
        return response_ns

    def _send(self, sock: socket.socket, data: bytes) -> None:
        exchange.send_all(sock, data, timeout_s=self._timeout_s, stopping=self._stopping)

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
        if sys.platform != "linux":  # whose timeout of calls is of this one, too
            exchange.connect_within(
                sock, self.address, limit_s=self._timeout_s, stopping=self._stopping
            )
            return exchange.set_timeout(sock, SLICE_S)
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
        except exchange.TIMEOUTS as error:
            exchange.require_alive(error)
            self._check_time(sent_ns)
            return -1

    def _check_time(self, sent_ns: int) -> None:
        """Raise if the run is to end, or at the timeout of this transaction."""
        self._stopping.check()
        if _clock() - sent_ns > self._timeout_ns:
            raise system_error(errno.ETIMEDOUT)


def _sent_with_syn(sock: socket.socket) -> bool:
    """Return whether the other end took the data that a connection sent with its SYN (Linux)."""
    options = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 6)[5]
    return bool(options & _SYN_DATA)


STREAMS = ("tfo", "tcp", "tls")
"""Protocols with a connection for each transaction."""
WARM_UP_COUNT = 3
"""Transactions of each protocol that are not among the samples: the first fetches the cookie of
Fast Open, the others fill caches. [1]"""
CLOSING_S = 60.0
"""Time after the timeout of a transaction in which a packet of it can arrive: as long as the kernel
keeps a closed connection. [s]"""
COUNTED = ("TCPFastOpenActive", "TCPFastOpenPassive", "TCPFastOpenActiveFail", "DelayedACKs")
"""Counters of the kernel that show the work of a protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionPlan:
    """The checked parameters of a run of transactions."""

    sizes: tuple[int, ...]
    protocols: tuple[str, ...]
    count: int
    mtu_bytes: int
    timeout_s: float
    tap: bool
    host: str
    session: bytes = field(default_factory=lambda: secrets.token_bytes(TAG_BYTES))

    @property
    def transaction_count(self) -> int:
        """Transactions of the whole run."""
        return len(self.protocols) * len(self.sizes) * self.count

    @property
    def version(self) -> int:
        """Version of IP."""
        return limits.ip_version(self.host)

    def command(self, path: Path | None, peer: FarPeer | None = None) -> str:
        """Return the call that makes this plan."""
        is_book = self.sizes == BOOK_TRANSACTION_SIZES
        sizes = "BOOK_TRANSACTION_SIZES" if is_book else str(list(self.sizes))
        where = f"mtu_bytes={self.mtu_bytes}" if path is None else f"path={path}"
        if peer is not None:
            return (
                f"transactions({sizes}, protocols={list(self.protocols)}, count={self.count}, "
                f"peer={peer}, timeout_s={self.timeout_s:g})"
            )
        return (
            f"transactions({sizes}, protocols={list(self.protocols)}, count={self.count}, "
            f"{where}, timeout_s={self.timeout_s:g}, tap={self.tap}, host={self.host!r})"
        )


class Transactions:
    """The transactions of one protocol."""

    def __init__(
        self,
        run: endpoints.Responses,
        plan: TransactionPlan,
        ends: Any,
        taps: Sequence[endpoints.Tap],
        protocol: str,
        settle_s: float,
    ) -> None:
        self._run, self._plan, self._endpoints, self._taps = run, plan, ends, taps
        self._protocol = protocol
        self._settle_s = settle_s
        self._fastest_s: dict[int, float] = {}
        self._number = 0
        self._requests = RequestPlan(
            protocol, ends, largest_bytes=max(plan.sizes),
            timeout_s=plan.timeout_s, stopping=run.stopping,
        )  # fmt: skip

    def measure(self) -> None:
        """Start the server, if there is one, and measure every size."""
        self._requests.address = (self._endpoints.server_host, 0)
        before = self._endpoints.counters()
        with ExitStack() as undo:
            peer = None if self._protocol == "ping" else self._server(undo)
            try:
                with record.attribute_errors(self._run, peer):
                    self._sizes()
            finally:
                growth = endpoints.counter_growth(before, self._endpoints.counters(), COUNTED)
                self._run.facts["counters"][self._protocol] = growth

    def _server(self, undo: ExitStack) -> Peer:
        """Start the process that answers, on a socket of the server's end."""
        plan, kind = self._plan, socket.SOCK_STREAM
        if self._protocol == "udp":
            kind = socket.SOCK_DGRAM
        listener = undo.enter_context(self._endpoints.listener(kind))
        if self._protocol == "tfo":
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 64)
        self._requests.address = address = listener.getsockname()
        self._run.port = address[1]
        passed = [listener.fileno()]
        settings = responder_settings(
            "udp" if self._protocol == "udp" else "transactions", plan.session, address,
            fd=passed[0], message_bytes=self._size(max(plan.sizes)),
        )  # fmt: skip
        if self._protocol == "tls":
            settings["certificate"] = str(CERTIFICATE)
            self._requests.secure = _client_tls()
        peer = undo.enter_context(Peer(settings, stopping=self._run.stopping, passed=passed))
        listener.close()
        return peer

    def _sizes(self) -> None:
        run, plan = self._run, self._plan
        run.phase = self._protocol
        self._seen()
        before = sum(tap.seen_count for tap in self._taps[:1])
        with instrument.collector_off():
            for number in range(WARM_UP_COUNT):
                run.stopping.check()
                run.facts["warm_up_count"] += 1
                first_ns = self._once(self._size(plan.sizes[0]))
                if number == 0 and first_ns is not None:
                    run.facts["first_response_s"][self._protocol] = first_ns * 1e-9
            # In turns: a machine that becomes faster or slower makes no step between two sizes.
            for sequence, asked in enumerate(plan.sizes * plan.count, start=1):
                size = self._size(asked)
                run.stopping.check()
                self._settle()
                sent_ns = _clock()
                response_ns = self._once(size)
                seen = self._seen()
                row = (self._protocol, sequence, size, size, sent_ns, response_ns)
                run.add(endpoints.Response(*row, tap_s=self._tap_s(seen)))
                if response_ns is not None:
                    self._note_exchange(seen, size, response_ns * 1e-9)
        if self._taps and self._number:
            run.stopping.sleep(2e-3 + self._settle_s)  # for the last acknowledgements
            self._seen()
            packet_count = self._taps[0].seen_count - before
            run.facts["packets"][self._protocol] = packet_count / self._number

    def _settle(self) -> None:
        """Wait until the last packets of the previous connection have left the path."""
        if self._settle_s and self._protocol in STREAMS:
            self._run.stopping.sleep(self._settle_s)
        self._seen()

    def _seen(self) -> list[list[endpoints.TappedPacket]]:
        """Return what each tap saw since the last call."""
        return [tap.read() for tap in self._taps]

    def _note_exchange(
        self, seen: list[list[endpoints.TappedPacket]], size: int, response_s: float
    ) -> None:
        """Keep the packets of the fastest transaction of each size."""
        if not any(seen) or response_s >= self._fastest_s.get(size, np.inf):
            return
        rows = endpoints.exchange_rows(seen[0], seen[-1], server=self._requests.address[0])
        if rows:
            self._fastest_s[size] = response_s
            kept = self._run.facts["exchanges"].setdefault(self._protocol, {})
            kept[str(size)] = [row._asdict() for row in rows]

    def _tap_s(self, seen: list[list[endpoints.TappedPacket]]) -> float:
        """Return the time by the client's tap; nan without one. [s]"""
        if not any(seen):
            return np.nan
        longest_s = self._plan.timeout_s + CLOSING_S
        return endpoints.exchange_s(seen[0], self._requests.address[0], longest_s=longest_s)

    def _size(self, size_bytes: int) -> int:
        """Return the size that this protocol carries: at least a tag, except over UDP."""
        return size_bytes if self._protocol == "udp" else max(size_bytes, TAG_BYTES)

    def _once(self, size: int) -> int | None:
        """Make one transaction; return its time, or None without a response. [ns]"""
        self._number += 1
        tag = self._number.to_bytes(4, "little") + self._plan.session[:4]
        if self._protocol in STREAMS:
            tag = size.to_bytes(4, "little") + self._plan.session[:4]
        request = (tag + bytes(range(256)) * (size // 256 + 1))[:size]
        try:
            return self._requests.response_ns(request, self._number)
        except TimeoutError:
            return None


@dataclass(frozen=True, slots=True)
class FarClient:
    """The client of transactions with a peer."""

    host: str

    @property
    def version(self) -> int:
        """Version of IP, 4 or 6."""
        return limits.ip_version(self.host)

    def client_socket(self, kind: int, protocol: int = 0) -> socket.socket:
        """Open a socket."""
        return socket.socket(helper.address_family(self.host), kind, protocol)


class FarTransactions(Transactions):
    """The transactions of one protocol with a peer."""

    def __init__(
        self, run: endpoints.Responses, plan: TransactionPlan, far: FarEnd, protocol: str
    ) -> None:
        super().__init__(run, plan, FarClient(plan.host), (), protocol, 0.0)
        self._far = far

    def measure(self) -> None:
        """Let the peer answer, and measure every size."""
        number = self._begin()
        self._requests.address = self._far.address
        self._sizes()
        self._far.end(number)
        if self._protocol == "tfo" and not self._requests.with_syn_count:
            self._run.warnings.append(Notice("no-data-with-syn"))

    def _begin(self) -> int:
        """Order the answers of this protocol; return the number of the job."""
        far, message_bytes = self._far, self._size(max(self._plan.sizes))
        if self._protocol == "udp":
            with socket.socket(helper.address_family(self._plan.host), socket.SOCK_DGRAM) as sock:
                line = far.open([sock], one_port=False)
            self._plan = replace(self._plan, session=line.session)
            return far.echo(line, max(message_bytes, TAG_BYTES))
        number = far.order(
            "transactions", message_bytes=message_bytes, tls=int(self._protocol == "tls"),
            fast_open=int(self._protocol == "tfo"),
        )  # fmt: skip
        session = far.answer(number)["session"]
        self._plan = replace(self._plan, session=session)
        if self._protocol == "tls":
            self._requests.secure = _client_tls()
        return number


def _measure_at_peer(run: endpoints.Responses, plan: TransactionPlan, peer: FarPeer) -> None:
    """Measure every protocol that is possible with a peer."""
    run.record_machine(plan.version)
    run.facts.update(warm_up_count=0, header_bytes=HEADER_BYTES[plan.version], rtt_s=0.0)
    run.facts["first_response_s"] = {}
    run.phase = "peer"
    with (
        FarEnd(peer, stopping=run.stopping) as far,
        record.measuring_with(run, far),
        record.attribute_errors(run, far),
    ):
        for protocol in plan.protocols:
            if protocol == "ping" or (protocol == "tfo" and not hasattr(socket, "MSG_FASTOPEN")):
                run.warnings.append(Notice("left-out-with-peer", {"protocol": protocol}))
                run.total_count -= len(plan.sizes) * plan.count
            else:
                FarTransactions(run, plan, far, protocol).measure()


def _client_tls() -> Any:
    """Return the client's TLS 1.3 context, which trusts the test certificate alone."""
    try:
        import ssl
    except ImportError as error:
        raise ExperimentError("tls-unavailable", phase="tls", reason=str(error)) from error
    secure = ssl.create_default_context(cafile=CERTIFICATE)
    secure.check_hostname = False  # the certificate names no host
    secure.options |= ssl.OP_IGNORE_UNEXPECTED_EOF  # a response ends with its stream
    secure.minimum_version = ssl.TLSVersion.TLSv1_3
    # Python 3.13 requires extensions that a test certificate need not have.
    secure.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return secure


PROTOCOLS = ("ping", "udp", "tfo", "tcp", "tls")
"""Protocols of a transaction: TCP Fast Open for the T/TCP of the book, TLS 1.3 over TCP."""
BOOK_TRANSACTION_SIZES = (0, *range(100, 1501, 100), 1508, 1509, *range(1600, 2001, 100))
"""The sizes of Fig. A-4 to A-6; ping starts at 8 there, for its time stamp. [byte]"""
BOOK_MTU_BYTES = 1536
"""MTU of the book's loopback: 1508 bytes of UDP fit one packet, 1509 do not. [byte]"""
MAX_CONNECTIONS = 20_000
"""Connections of one run, at most: each keeps its port for a minute, and Linux has 28,000. [1]"""
HEADER_BYTES = {
    4: {"ping": 28, "udp": 28, "tfo": 52, "tcp": 52, "tls": 52},
    6: {"ping": 48, "udp": 48, "tfo": 72, "tcp": 72, "tls": 72},
}
"""Headers of each protocol by version of IP; TCP headers with timestamps. [byte]"""
MIN_MTU_BYTES = {4: 576, 6: 1280}
"""Smallest MTU of the loopback, by version of IP. [byte]"""
_FASTOPEN = "net.ipv4.tcp_fastopen"
_LARGEST = dict.fromkeys(PROTOCOLS, 1 << 16) | dict.fromkeys(
    ("ping", "udp"), limits.MAX_UDP_BYTES[4]
)


@named_arguments
def transactions(
    payload_bytes: ArrayLike = BOOK_TRANSACTION_SIZES,
    *,
    protocols: Sequence[str] = PROTOCOLS,
    count: int = 10,
    host: str = "127.0.0.1",
    peer: FarPeer | None = None,
    path: Path | None = None,
    mtu_bytes: int = BOOK_MTU_BYTES,
    timeout_s: float = 1.0,
    tap: bool = True,
    pcap: str | os.PathLike[str] | None = None,
    progress: record.Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> TransactionSamples:
    """Measure a request and a response of the same size, each over a new socket.

    Over TCP the client connects, writes, ends its side of the stream and reads to the end of the
    response; the server answers as soon as the request is complete. The response time is taken by
    the program, from before the first packet until the response is read. A packet tap gives a
    second time, from the first packet to the last one of the server.

    Parameters
    ----------
    payload_bytes : array_like
        Sizes of request and response: up to 65,507, over TCP 65,536. Below 8 bytes protocols other
        than UDP carry 8 instead, as the book's ping does. [byte]
    protocols : sequence of {'ping', 'udp', 'tfo', 'tcp', 'tls'}
        ``ping``: ICMP echo, answered by the kernel. ``udp``: a datagram, answered by a program.
        ``tfo``: TCP Fast Open, the request in the first segment. ``tcp``. ``tls``: TLS 1.3 over
        TCP, with a published test certificate.
    count : int
        Transactions of each size and protocol; the sizes alternate. [1]
    host : str
        Loopback address, IPv4 or IPv6. In a namespace of the run, and over a path, it selects the
        address family only.
    peer : Peer, optional
        A second machine, on which ``netcalc peer`` runs as the server, without ``ping``. The times
        are the program's; there is no tap.
    path : Path, optional
        Path between client and server, emulated on this machine; without it both are on a
        loopback.
    mtu_bytes : int
        MTU of that loopback, 576 (over IPv6 1280) to 65,536; the book's was 1536. [byte]
    timeout_s : float
        Response timeout, 0.001 to 60. [s]
    tap : bool
        Measure with a packet tap as well, which copies each packet.
    pcap : path, optional
        Capture file for the packet headers, as seen at the client.
    progress : callable, optional
        Called as ``progress(done, total, response_s)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File to save the samples to: written every second, at the end and on failure.

    Returns
    -------
    TransactionSamples
        One row per transaction; ``mode`` is the protocol. ``meta.instrument.counters`` has the
        kernel's counters, ``packets`` the packets per transaction, ``first_response_s`` the time of
        the first transaction, which is not among the rows: over Fast Open it fetches the cookie.
        ``exchanges`` has, by protocol and size, the packets of the fastest transaction and the
        wait of each.

    Raises
    ------
    DomainError
        If a size, protocol, count or time is impossible.
    ExperimentError
        If the run would exceed a limit, or the run fails; then ``partial`` has the samples so far.

    Notes
    -----
    At most 100,000 transactions, 20,000 connections, 2 GB in both directions and 600 s.

    Ping, Fast Open, the tap and the MTU need a network namespace of the run; where the system
    permits none, they are left out with a warning. No setting of the host is changed; in the
    namespace connections use Reno, which does not pace its segments.

    Examples
    --------
    >>> samples = transactions([8, 1400], protocols=["udp", "tcp"], count=2)
    >>> samples.modes, len(samples), int(samples.failed.sum())
    (('udp', 'tcp'), 8, 0)

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, appendix A.2, Fig. A-4 to A-8; RFC 7413; RFC 8446.
    """
    common = record.Common(
        path=path, host=host, peer=peer, progress=progress, stop=stop, save=save,
        linux_for="its counters and TCP Fast Open",
    )  # fmt: skip
    if peer is not None and pcap is not None:
        raise DomainError("not-with-peer", "pcap", str(pcap))
    selected = limits.distinct_choices("protocols", protocols, PROTOCOLS)
    least_bytes = MIN_MTU_BYTES[common.version]
    plan = TransactionPlan(
        sizes=_sizes(payload_bytes, selected),
        protocols=selected,
        count=limits.whole_number("count", count, 1, limits.MAX_COUNT),
        mtu_bytes=limits.whole_number("mtu_bytes", mtu_bytes, least_bytes, 65_536),
        timeout_s=limits.timeout_s(timeout_s),
        tap=bool(tap) or pcap is not None,
        host=common.address,
    )
    least_s = 0.0  # all transactions on a path, as datagrams
    if path is not None:
        packets = np.array(plan.sizes) + HEADER_BYTES[plan.version]["udp"]
        least_s = float(path.rtt_s(packets).sum()) * len(selected) * plan.count
    limits.require_bounded(
        probe_count=plan.transaction_count,
        carried_bytes=2 * sum(plan.sizes) * len(selected) * plan.count,
        duration_s=least_s,
    )
    connections = len(set(selected) & set(STREAMS)) * len(plan.sizes) * plan.count
    if connections > MAX_CONNECTIONS:
        raise ExperimentError(
            "too-many-connections", phase="plan", count=connections, limit=MAX_CONNECTIONS
        )
    limits.require_writable(pcap)
    measure = partial(_measure, plan=plan, path=path, pcap=pcap)
    if peer is not None:
        measure = partial(_measure_at_peer, plan=plan, peer=peer)
    return common.conduct(
        measure,
        endpoints.Responses,
        experiment="transactions",
        protocol=", ".join(selected),
        target=common.place if path is None else "emulated path",
        total_count=plan.transaction_count,
        unit="transactions",
        host=common.address,
        command=plan.command(path, peer),
    )


def _sizes(payload_bytes: ArrayLike, protocols: tuple[str, ...]) -> tuple[int, ...]:
    sizes = one_dimensional("payload_bytes", as_float("payload_bytes", payload_bytes))
    largest = min(_LARGEST[protocol] for protocol in protocols)
    return limits.numbered("payload_bytes", sizes, 0, largest)


def _measure(
    run: endpoints.Responses,
    plan: TransactionPlan,
    path: Path | None,
    pcap: str | os.PathLike[str] | None,
) -> None:
    """Open the ends and the taps, and measure every protocol that is possible there."""
    run.facts.update(instrument.machine(), **instrument.timer())
    run.facts.update(warm_up_count=0, header_bytes=HEADER_BYTES[plan.version])
    for name in ("counters", "packets", "exchanges", "first_response_s"):
        run.facts[name] = {}
    # The last packets of a connection take this long, and would delay the first of the next.
    settle_s = 0.0 if path is None else float(path.rtt_s(HEADER_BYTES[plan.version]["tcp"]))
    run.facts["rtt_s"] = 0.0 if path is None else float(path.rtt_s(40))
    with endpoints.open_ends(
        run, path, mtu_bytes=plan.mtu_bytes, version=plan.version, sysctls={_FASTOPEN: "3"},
        tap=plan.tap, pcap=pcap,
    ) as (ends, taps):  # fmt: skip
        for protocol in plan.protocols:
            if protocol in ("ping", "tfo") and not ends.own:
                run.warnings.append(Notice("left-out", {"protocol": protocol}))
                run.total_count -= len(plan.sizes) * plan.count
            else:
                Transactions(run, plan, ends, taps, protocol, settle_s).measure()
