"""One request, one response: what a connection, its security and a fragment cost, by size."""

from __future__ import annotations

import errno
import os
import secrets
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from netcalc.emulation._packets import checksum
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import _certificate, _instrument
from netcalc.experiments._exchange import limit_receive, send_all
from netcalc.experiments._limits import (
    MAX_BYTES,
    MAX_COUNT,
    MAX_DURATION_S,
    finite,
    loopback_address,
    require_bounded,
    require_linux,
    require_path,
    require_writable,
    whole_number,
)
from netcalc.experiments._peer import TAG_BYTES
from netcalc.experiments._process import Peer
from netcalc.experiments._responses import (
    Place,
    Responses,
    counted,
    grown,
    place_of,
    save_capture,
    taps_of,
)
from netcalc.experiments._run import Progress, finish
from netcalc.experiments._stopping import SLICE_S, Stop, Stopping
from netcalc.experiments._tap import Packet, Tap, exchange_rows, exchange_s
from netcalc.models._domain import as_float, choice, one_dimensional
from netcalc.path import Path
from netcalc.samples import TransactionSamples

PROTOCOLS = ("ping", "udp", "tfo", "tcp", "tls")
"""What carries a transaction: TCP Fast Open is what T/TCP was, TLS is TLS 1.3 over TCP."""
BOOK_TRANSACTION_SIZES = (0, *range(100, 1501, 100), 1508, 1509, *range(1600, 2001, 100))
"""The sizes of Fig. A-4 to A-6; ping starts at 8 there, for its time stamp. [byte]"""
BOOK_MTU_BYTES = 1536
"""MTU of the book's loopback: 1508 bytes of UDP fit one packet, 1509 do not. [byte]"""
WARM_UP_COUNT = 3
"""Transactions of each protocol that are not among the samples; one fetches Fast Open's cookie."""
MAX_CONNECTIONS = 20_000
"""Connections of one run, at most: each keeps its port for a minute. [1]"""
HEADER_BYTES = {
    4: {"ping": 28, "udp": 28, "tfo": 52, "tcp": 52, "tls": 52},
    6: {"ping": 48, "udp": 48, "tfo": 72, "tcp": 72, "tls": 72},
}
"""Headers of each protocol by version of IP, those of TCP with its timestamps. [byte]"""
MIN_MTU_BYTES = {4: 576, 6: 1280}
"""Smallest loopback of a run, by version of IP. [byte]"""
CLOSING_S = 60.0
"""So long after the time limit of a transaction a packet of it may come, at most. [s]"""
COUNTED = ("TCPFastOpenActive", "TCPFastOpenPassive", "TCPFastOpenActiveFail", "DelayedACKs")
"""Counters of the kernel that tell what a protocol really did."""
_ECHO_REQUEST, _SOL_RAW, _ICMP_FILTER = {4: 8, 6: 128}, 255, 1
_ECHO_REPLY_V6, _ICMP6_FILTER = 129, 1
_SYN_SENT = 2
_FASTOPEN = "net.ipv4.tcp_fastopen"
_LARGEST = {"ping": 65_507, "udp": 65_507, "tfo": 1 << 16, "tcp": 1 << 16, "tls": 1 << 16}
_clock = time.perf_counter_ns

Exchange = Callable[[bytes], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionPlan:
    """What was asked for, checked."""

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
        return 6 if ":" in self.host else 4

    def command(self, path: Path | None) -> str:
        """Return the call that asks for this plan."""
        book = self.sizes == BOOK_TRANSACTION_SIZES
        sizes = "BOOK_TRANSACTION_SIZES" if book else str(list(self.sizes))
        where = f"mtu_bytes={self.mtu_bytes}" if path is None else f"path={path}"
        return (
            f"transactions({sizes}, protocols={list(self.protocols)}, count={self.count}, "
            f"{where}, timeout_s={self.timeout_s:g}, tap={self.tap}, host={self.host!r})"
        )


def transactions(
    payload_bytes: ArrayLike = BOOK_TRANSACTION_SIZES,
    *,
    protocols: Sequence[str] = PROTOCOLS,
    count: int = 10,
    host: str = "127.0.0.1",
    path: Path | None = None,
    mtu_bytes: int = BOOK_MTU_BYTES,
    timeout_s: float = 1.0,
    tap: bool = True,
    pcap: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> TransactionSamples:
    """Measure a request and a response of the same size, each on a socket of its own.

    Over TCP the client connects, writes, ends its side of the stream and reads to the end of the
    response; the server answers as soon as the request is complete. The time is that of the
    program: from before the first packet until the response is read. Beside it stands the time of
    a packet tap: from the first packet to the last one of the server.

    Parameters
    ----------
    payload_bytes : array_like
        Sizes of the request, and of the response: up to 65,507, over TCP 65,536. Below 8 only UDP
        can go; the others carry 8 instead, as the book's ping does. [byte]
    protocols : sequence of {'ping', 'udp', 'tfo', 'tcp', 'tls'}
        ``ping``: ICMP echo, answered by the kernel. ``udp``: a datagram, answered by a program.
        ``tfo``: TCP Fast Open, the request in the first segment. ``tcp``. ``tls``: TLS 1.3 over
        TCP, with a certificate made for the run.
    count : int
        Transactions of each size and protocol. [1]
    host : str
        Address on the loopback, of IPv4 or IPv6. In a namespace of the run's own, and over a path,
        its family counts.
    path : Path, optional
        An emulated path between client and server, each in a namespace of its own; without it
        both are on a loopback.
    mtu_bytes : int
        Largest packet of that loopback, 576 (over IPv6 1280) to 65,536; the book's had 1536.
        [byte]
    timeout_s : float
        How long a response is awaited, 0.001 to 60. [s]
    tap : bool
        Whether a packet tap takes its times, too. It costs each packet a copy.
    pcap : path, optional
        File that receives the heads of the packets, for other tools.
    progress : callable, optional
        Called as ``progress(done, total, response_s)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File that receives the samples: every few seconds, at the end, and if the run breaks off.

    Returns
    -------
    TransactionSamples
        One row a transaction, ``mode`` is the protocol. ``meta.instrument["counters"]`` has what
        the kernel counted, ``["packets"]`` how many packets a transaction took,
        ``["first_response_s"]`` the time of the first one, which is not among the rows: over Fast
        Open it fetches the cookie. ``["exchanges"]`` has, by protocol and size, the packets of the
        fastest transaction, and what each waited for.

    Raises
    ------
    DomainError
        If a size, protocol, count or time is not possible.
    ExperimentError
        If a limit would be passed, or the run breaks off; then ``partial`` has what was measured.

    Notes
    -----
    At most 100,000 transactions, 20,000 connections, 2 GB in both directions and 600 s.

    Ping, Fast Open, the tap and the MTU need a network namespace of the run; where the system
    allows none, they are left out, and ``meta.warnings`` says so. No setting of the host is
    changed; in the run's own namespace connections use Reno, which does not pace its segments.

    Examples
    --------
    >>> samples = transactions([8, 1400], protocols=["udp", "tcp"], count=2)
    >>> samples.modes, len(samples), int(samples.failed.sum())
    (('udp', 'tcp'), 8, 0)

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, appendix A.2, Fig. A-4 to A-8; RFC 7413; RFC 8446.
    """
    require_linux("its counters and its Fast Open")
    require_path(path)
    given = _protocols(protocols)
    address = loopback_address(host)
    least_bytes = MIN_MTU_BYTES[6 if ":" in address else 4]
    plan = TransactionPlan(
        sizes=_sizes(payload_bytes, given),
        protocols=given,
        count=whole_number("count", count, 1, MAX_COUNT),
        mtu_bytes=whole_number("mtu_bytes", mtu_bytes, least_bytes, 65_536),
        timeout_s=finite("timeout_s", timeout_s, 0.001, 60.0),
        tap=bool(tap) or pcap is not None,
        host=address,
    )
    require_bounded(
        probe_count=plan.transaction_count,
        carried_bytes=2 * sum(plan.sizes) * len(given) * plan.count,
        duration_s=_least_s(plan, path),
    )
    connections = len(set(given) - {"ping", "udp"}) * len(plan.sizes) * plan.count
    if connections > MAX_CONNECTIONS:
        raise ExperimentError(
            f"the run would take {connections:,} connections, at most {MAX_CONNECTIONS:,}",
            phase="plan",
            hint="Ask for fewer: each connection keeps its port for a minute",
        )
    require_writable(save)
    require_writable(pcap)
    with Stopping(stop, limit_s=MAX_DURATION_S) as stopping:
        run = Responses(
            tool="netcalc transactions",
            target="loopback" if path is None else "emulated path",
            total_count=plan.transaction_count,
            unit="transactions",
            host="",
            port=None,
            stopping=stopping,
            progress=progress,
            save=save,
            command=plan.command(path),
        )
        return finish(run, lambda: _measure(run, plan, path, pcap))


def _least_s(plan: TransactionPlan, path: Path | None) -> float:
    """Return the time of a datagram and its answer of each size, for an estimate of the run's."""
    if path is None:
        return 0.0
    packets = np.array(plan.sizes) + HEADER_BYTES[plan.version]["udp"]
    return float(path.rtt_s(packets).sum()) * len(plan.protocols) * plan.count


def _sizes(payload_bytes: ArrayLike, protocols: tuple[str, ...]) -> tuple[int, ...]:
    sizes = one_dimensional("payload_bytes", as_float("payload_bytes", payload_bytes))
    largest = min(_LARGEST[protocol] for protocol in protocols)
    for place, size in enumerate(sizes.tolist()):
        whole_number(f"payload_bytes[{place}]", size, 0, largest)
    return tuple(int(size) for size in sizes)


def _protocols(protocols: Sequence[str]) -> tuple[str, ...]:
    given = (protocols,) if isinstance(protocols, str) else tuple(protocols)
    if not given:
        raise DomainError("protocols", "empty", "at least one of " + ", ".join(PROTOCOLS))
    for protocol in given:
        choice("protocols", protocol, PROTOCOLS)
    if len(set(given)) < len(given):
        raise DomainError("protocols", ", ".join(given), "each protocol once")
    return given


def _measure(
    run: Responses,
    plan: TransactionPlan,
    path: Path | None,
    pcap: str | os.PathLike[str] | None,
) -> None:
    """Make the place, open the tap, and go through the protocols that are possible there."""
    run.facts.update(_instrument.machine(), **_instrument.timer())
    run.facts.update(warm_up_count=0, header_bytes=HEADER_BYTES[plan.version])
    for name in ("counters", "packets", "exchanges", "first_response_s"):
        run.facts[name] = {}
    # So long a connection's last packets are under way, which would hold up the next one's first.
    settle_s = 0.0 if path is None else float(path.rtt_s(HEADER_BYTES[plan.version]["tcp"]))
    run.facts["rtt_s"] = 0.0 if path is None else float(path.rtt_s(40))
    with (
        place_of(
            run, path, mtu_bytes=plan.mtu_bytes, version=plan.version, sysctls={_FASTOPEN: "3"}
        ) as place,
        taps_of(run, place, wanted=plan.tap) as taps,
    ):
        try:
            for protocol in plan.protocols:
                if protocol in ("ping", "tfo") and not place.own:
                    run.warnings.append(f"{protocol} is left out: it needs a namespace of its own")
                    run.total_count -= len(plan.sizes) * plan.count
                else:
                    Transactions(run, plan, place, taps, protocol, settle_s).go()
        finally:
            save_capture(run, taps, pcap)


class Transactions:
    """The transactions of one protocol."""

    def __init__(
        self,
        run: Responses,
        plan: TransactionPlan,
        place: Place,
        taps: Sequence[Tap],
        protocol: str,
        settle_s: float,
    ) -> None:
        self._run, self._plan, self._place, self._taps = run, plan, place, taps
        self._protocol = protocol
        self._settle_s = settle_s
        self._address: tuple[Any, ...] = (place.server_host, 0)
        self._fastest_s: dict[int, float] = {}
        self._secure: Any = None
        self._number = 0
        self._timeout_ns = int(plan.timeout_s * 1e9)
        self._buffer = memoryview(bytearray(max(plan.sizes) + 65_536))

    def go(self) -> None:
        """Start the server, if there is one, and measure; say how it ended if it did."""
        before = self._place.counters()
        with ExitStack() as undo:
            peer = None if self._protocol == "ping" else self._server(undo)
            try:
                self._sizes()
            except (OSError, ExperimentError) as error:
                run = self._run
                failure = run.failure(error) if isinstance(error, OSError) else error
                death = peer and peer.death()
                if death:
                    failure = ExperimentError(
                        f"{failure.what}; {death}",
                        phase=failure.phase,
                        host=run.host,
                        port=run.port,
                    )
                raise failure from error
            finally:
                self._run.facts["counters"][self._protocol] = counted(
                    grown(before, self._place.counters()), COUNTED
                )

    def _server(self, undo: ExitStack) -> Peer:
        """Start the process that answers."""
        plan, kind = self._plan, socket.SOCK_STREAM
        if self._protocol == "udp":
            kind = socket.SOCK_DGRAM
        listener = undo.enter_context(self._place.listener(kind))
        if self._protocol == "tfo":
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 64)
        self._address = listener.getsockname()
        self._run.port = self._address[1]
        passed = [listener.fileno()]
        settings = {
            "protocol": "udp" if self._protocol == "udp" else "transactions",
            "host": self._address[0],
            "port": self._address[1],
            "fd": listener.fileno(),
            "session": plan.session.hex(),
            "duration_s": MAX_DURATION_S + 30,
            "bytes": MAX_BYTES + 100_000_000,
            "message_bytes": self._size(max(plan.sizes)),
        }
        if self._protocol == "tls":
            ssl = _tls()
            pem = _certificate.self_signed()
            descriptor = _certificate.in_memory(pem)
            undo.callback(os.close, descriptor)
            passed.append(descriptor)
            settings["certificate"] = f"/proc/self/fd/{descriptor}"
            own = pem[pem.index(b"-----BEGIN CERTIFICATE") :].decode()
            self._secure = ssl.create_default_context(cadata=own)
            self._secure.check_hostname = False  # it has no name: it is for this run
            self._secure.options |= ssl.OP_IGNORE_UNEXPECTED_EOF  # the stream's end is the end
            self._secure.minimum_version = ssl.TLSVersion.TLSv1_3
            # Python 3.13 wants extensions that a certificate of one run need not have.
            self._secure.verify_flags &= ~ssl.VERIFY_X509_STRICT
        peer = undo.enter_context(Peer(settings, stopping=self._run.stopping, passed=passed))
        listener.close()
        return peer

    def _sizes(self) -> None:
        run, plan = self._run, self._plan
        exchange: Exchange = {
            "ping": self._ping,
            "udp": self._udp,
            "tfo": self._stream,
            "tcp": self._stream,
            "tls": self._stream,
        }[self._protocol]
        run.phase = self._protocol
        self._seen()
        before = sum(tap.seen_count for tap in self._taps[:1])
        with _instrument.collector_off():
            for number in range(WARM_UP_COUNT):
                run.stopping.check()
                run.facts["warm_up_count"] += 1
                first_ns = self._once(exchange, self._size(plan.sizes[0]))
                if number == 0 and first_ns is not None:
                    run.facts["first_response_s"][self._protocol] = first_ns * 1e-9
            sequence = 0
            for asked in plan.sizes:
                size = self._size(asked)
                for _ in range(plan.count):
                    run.stopping.check()
                    self._settle()
                    sent_ns = _clock()
                    response_ns = self._once(exchange, size)
                    seen = self._seen()
                    sequence += 1
                    run.add(
                        self._protocol,
                        sequence,
                        payload_bytes=size,
                        reply_bytes=size,
                        sent_ns=sent_ns,
                        response_ns=response_ns,
                        tap_s=self._tap_s(seen),
                    )
                    if response_ns is not None:
                        self._note_exchange(seen, size, response_ns * 1e-9)
        if self._taps and self._number:
            run.stopping.sleep(2e-3 + self._settle_s)  # the last acknowledgements
            self._seen()
            found = self._taps[0].seen_count - before
            run.facts["packets"][self._protocol] = found / self._number

    def _settle(self) -> None:
        """Let the line carry the last packets of the connection before: they are not this one's."""
        if self._settle_s and self._protocol in ("tfo", "tcp", "tls"):
            self._run.stopping.sleep(self._settle_s)
        self._seen()

    def _seen(self) -> list[list[Packet]]:
        """Return what each tap saw since the last call."""
        return [tap.read() for tap in self._taps]

    def _note_exchange(self, seen: list[list[Packet]], size: int, response_s: float) -> None:
        """Keep the packets of the fastest transaction of a size."""
        if not any(seen) or response_s >= self._fastest_s.get(size, np.inf):
            return
        rows = exchange_rows(seen[0], seen[-1], server=self._address[0])
        if rows:
            self._fastest_s[size] = response_s
            kept = self._run.facts["exchanges"].setdefault(self._protocol, {})
            kept[str(size)] = rows

    def _tap_s(self, seen: list[list[Packet]]) -> float:
        """Return the time that the near tap saw; nan where there is none. [s]"""
        if not any(seen):
            return np.nan
        longest_s = self._plan.timeout_s + CLOSING_S
        return exchange_s(seen[0], self._address[0], longest_s=longest_s)

    def _size(self, asked: int) -> int:
        """Return the size that this protocol carries: a datagram may be empty, others have 8."""
        return asked if self._protocol == "udp" else max(asked, TAG_BYTES)

    def _once(self, exchange: Exchange, size: int) -> int | None:
        """Make one transaction; return its time, or None without a response. [ns]"""
        self._number += 1
        tag = self._number.to_bytes(4, "little") + self._plan.session[:4]
        if exchange == self._stream:
            tag = size.to_bytes(4, "little") + self._plan.session[:4]
        request = (tag + bytes(range(256)) * (size // 256 + 1))[:size]
        try:
            return exchange(request)
        except TimeoutError:
            return None

    def _ping(self, request: bytes) -> int:
        """Let the other kernel answer."""
        version = self._place.version
        head = struct.pack(
            "!BBHHH", _ECHO_REQUEST[version], 0, 0, os.getpid() & 0xFFFF, self._number % 65536
        )
        packet = head + request
        protocol = socket.IPPROTO_ICMPV6
        if version == 4:
            packet = head[:2] + checksum(packet).to_bytes(2, "big") + head[4:] + request
            protocol = socket.IPPROTO_ICMP
        with self._place.client_socket(socket.SOCK_RAW, protocol) as sock:
            if version == 4:
                sock.setsockopt(_SOL_RAW, _ICMP_FILTER, struct.pack("I", ~1 & 0xFFFFFFFF))
            else:
                blocked = ~(1 << _ECHO_REPLY_V6) & ((1 << 256) - 1)
                filtered = blocked.to_bytes(32, sys.byteorder)
                sock.setsockopt(protocol, _ICMP6_FILTER, filtered)
            limit_receive(sock, SLICE_S)
            sock.connect(self._address)
            sent_ns = _clock()
            sock.send(packet)
            while True:
                got = self._received(sock, sent_ns)
                at = 4 * (self._buffer[0] & 15) if version == 4 else 0  # of IPv6 no header is read
                if got >= 0 and self._buffer[at + 4 : got] == packet[4:]:
                    return _clock() - sent_ns
                self._wait_on(sent_ns)

    def _udp(self, request: bytes) -> int:
        """Send a datagram and wait for it to come back."""
        with self._place.client_socket(socket.SOCK_DGRAM) as sock:
            sock.connect(self._address)
            limit_receive(sock, SLICE_S)
            sent_ns = _clock()
            sock.send(request)
            while True:
                got = self._received(sock, sent_ns)
                if got >= 0 and self._buffer[:got] == request:
                    return _clock() - sent_ns
                self._wait_on(sent_ns)

    def _stream(self, request: bytes) -> int:
        """Connect, send, end the stream, read to the end of the response."""
        sock = self._place.client_socket(socket.SOCK_STREAM)
        try:
            limit_receive(sock, SLICE_S)
            sent_ns = _clock()
            done = 0
            if self._protocol == "tfo":
                done = self._open_with(sock, request, sent_ns)
            else:
                self._connect(sock, sent_ns)
                if self._secure is not None:
                    sock = self._secured(sock, sent_ns)
            if done < len(request):
                self._send(sock, request[done:] if done else request)
            socket.socket.shutdown(sock, socket.SHUT_WR)  # TLS stays: that of ssl would end it
            have = 0
            while got := self._received(sock, sent_ns, have):
                have += max(got, 0)
                if _clock() - sent_ns > self._timeout_ns:
                    self._wait_on(sent_ns)
            response_ns = _clock() - sent_ns
        finally:
            sock.close()
        if self._buffer[:have] != request:
            raise ExperimentError(
                f"the peer answered {have} bytes that are not the {len(request)} of the request",
                phase=self._protocol,
            )
        return response_ns

    def _send(self, sock: socket.socket, data: bytes) -> None:
        """Send all of a request."""
        timeout_s, stopping = self._plan.timeout_s, self._run.stopping
        send_all(sock, data, timeout_s=timeout_s, stopping=stopping)

    def _secured(self, sock: socket.socket, sent_ns: int) -> socket.socket:
        """Make TLS of a connection."""
        sock.settimeout(SLICE_S)
        secured: Any = self._secure.wrap_socket(sock, do_handshake_on_connect=False)
        try:
            while True:
                try:
                    secured.do_handshake()
                except TimeoutError:
                    self._wait_on(sent_ns)
                else:
                    return cast("socket.socket", secured)
        except BaseException:
            secured.close()
            raise

    def _connect(self, sock: socket.socket, sent_ns: int) -> None:
        """Connect, or wait until a connection that is being made stands."""
        while True:
            try:
                return sock.connect(self._address)
            except BlockingIOError:
                self._wait_on(sent_ns)
            except OSError as error:
                if error.errno == errno.EISCONN:
                    return None
                raise

    def _open_with(self, sock: socket.socket, request: bytes, sent_ns: int) -> int:
        """Send the request with the first segment; return how much of it was taken."""
        try:
            done = sock.sendto(request, socket.MSG_FASTOPEN, self._address)
        except BlockingIOError:
            self._wait_on(sent_ns)
            done = 0
        if sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == _SYN_SENT:
            self._connect(sock, sent_ns)  # to end the stream now would end the connection
        return done

    def _received(self, sock: socket.socket, sent_ns: int, have: int = 0) -> int:
        """Read what is there; return -1 if nothing came for a while."""
        try:
            return sock.recv_into(self._buffer[have:])
        except (BlockingIOError, TimeoutError) as error:  # without and with TLS
            if error.errno == errno.ETIMEDOUT:
                raise
            self._wait_on(sent_ns)
            return -1

    def _wait_on(self, sent_ns: int) -> None:
        """Raise if the run is to end, or the time of this transaction is over."""
        self._run.stopping.check()
        if _clock() - sent_ns > self._timeout_ns:
            raise TimeoutError(110, "no response in time")


def _tls() -> Any:
    """Return Python's TLS; say so where it has none."""
    try:
        import ssl
    except ImportError as error:
        raise ExperimentError(
            f"this Python has no TLS: {error}", phase="tls", hint="Ask for protocols without 'tls'"
        ) from error
    return ssl
