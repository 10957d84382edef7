"""Round-trip time by size: the ping experiment of a book, on the loopback or an emulated path."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import choice, named_arguments
from netcalc.emulation.relay import NOT_SHOWN, Relay
from netcalc.emulation.wire.control import REFUSALS
from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import exchange as exchanges
from netcalc.experiments.peers.helper import BACKLOG, address_family, kept, own_source
from netcalc.experiments.peers.process import Peer, record_peer, responder_settings
from netcalc.experiments.peers.remote import FarEnd, FarPeer
from netcalc.experiments.peers.responder import TAG_BYTES
from netcalc.experiments.running import instrument, limits, record
from netcalc.experiments.running.stopping import Stop, Stopping
from netcalc.messages import Notice
from netcalc.path import Path
from netcalc.samples import RttSamples

WARM_UP_COUNT = 5
"""Exchanges before the probes of each size, not among the samples: the first one or two fill caches
and resolve addresses, and five distinguish a lossy path from a silent peer. [1]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoPlan:
    """The checked parameters of an echo."""

    sizes: list[int]
    count: int
    protocol: str
    host: str
    port: int
    interval_s: float
    timeout_s: float
    session: bytes = field(default_factory=lambda: secrets.token_bytes(8))

    @property
    def probe_count(self) -> int:
        """Probes of the whole run."""
        return len(self.sizes) * self.count

    def command(self, path: Path | None, peer: FarPeer | None = None) -> str:
        """Return the call that makes this plan."""
        is_standard = tuple(self.sizes) == BOOK_SIZES
        target: dict[str, Any] = {"host": self.host, "port": self.port}
        if path is not None or peer is not None:
            target = {"path": path} if peer is None else {"peer": peer}
        return record.written_call(
            "echo", "BOOK_SIZES" if is_standard else record.short_list(self.sizes, "sizes"),
            protocol=self.protocol, count=self.count, interval_s=self.interval_s,
            timeout_s=self.timeout_s, **target,
        )  # fmt: skip


class EchoRun(record.Record[RttSamples]):
    """The probes of one echo in progress."""

    def __init__(self, plan: EchoPlan, *, command: str = "", **options: Any) -> None:
        super().__init__(
            experiment="echo",
            protocol=plan.protocol,
            target=f"{plan.host}, {plan.protocol.upper()}",
            layers={"payload_bytes": f"{plan.protocol.upper()} payload"},
            total_count=plan.probe_count,
            unit="probes",
            host=plan.host,
            port=plan.port or None,
            command=command,
            **options,
        )
        self.plan = plan
        self._rows: list[tuple[int, int, int, int | None]] = []  # size, sequence, sent, rtt
        self._replies = exchanges.Replies()
        self._warm_up_count = 0

    def probe(self, exchange: exchanges.Exchange) -> None:
        """Send every probe, size by size, each after the reply to the one before."""
        self._replies = exchange.replies
        sequence = 0
        with instrument.collector_off():
            for size in self.plan.sizes:
                payload = bytearray((bytes(range(256)) * (size // 256 + 1))[:size])
                self._warm_up(exchange, payload)
                self.phase = "echo"
                for _ in range(self.plan.count):
                    if self._rows and self.plan.interval_s:
                        self.pace(self._rows[-1][2], self.plan.interval_s)
                    self.stopping.check()
                    sequence += 1
                    sent_ns, rtt_ns = self._exchange(exchange, payload, sequence)
                    self._rows.append((size, sequence, sent_ns, rtt_ns))
                    self.count_silence(
                        rtt_ns is not None, "no-replies", timeout_s=self.plan.timeout_s
                    )
                    self.advance(record.seconds(rtt_ns))
            exchange.linger()

    @property
    def done_count(self) -> int:
        """Probes answered or lost so far."""
        return len(self._rows)

    def samples(self) -> RttSamples:
        """Return the samples so far."""
        replies = self._replies
        sent = {sequence: (size, sent_ns) for size, sequence, sent_ns, _ in self._rows}
        rows = [(seq, size, at_ns, rtt_ns, False) for size, seq, at_ns, rtt_ns in self._rows]
        rows += [
            (seq, *sent[seq], rtt_ns, True) for seq, rtt_ns in replies.duplicates if seq in sent
        ]
        rows.sort(key=lambda row: (row[0], row[4]))
        resolution_s = self.facts.get("timer_resolution_s", np.nan)
        names = ("late_count", "foreign_count", "damaged_count", "duplicate_count")
        counts = {name: getattr(replies, name) for name in names}
        return RttSamples(
            payload_bytes=[row[1] for row in rows],
            rtt_s=[record.seconds(row[3]) for row in rows],
            sequence=[row[0] for row in rows],
            lost=[row[3] is None for row in rows],
            duplicate=[row[4] for row in rows],
            resolution_s=[resolution_s] * len(rows),
            sent_s=[self.since_start_s(row[2]) for row in rows],
            meta=self.meta(
                {"warm_up_count": self._warm_up_count, **counts},
                _warnings(replies, self.plan.timeout_s),
            ),
        )

    def _exchange(
        self, exchange: exchanges.Exchange, payload: bytearray, sequence: int
    ) -> tuple[int, int | None]:
        try:
            return exchange.exchange(payload, sequence)
        except OSError as error:
            raise self.failure(error) from error

    def _warm_up(self, exchange: exchanges.Exchange, payload: bytearray) -> None:
        """Warm up the path; refuse a peer that answers none of the first exchanges."""
        self.phase = "warm-up"
        self.delays_s += instrument.scheduling_delays_s(3)
        for attempt in range(WARM_UP_COUNT):
            self.stopping.check()
            self._warm_up_count += 1
            _, rtt_ns = self._exchange(
                exchange, payload, exchanges.UNCOUNTED_FROM + self._warm_up_count
            )
            if rtt_ns is not None and "warm_up_first_rtt_s" not in self.facts:
                self.facts["warm_up_first_rtt_s"] = rtt_ns * 1e-9
            if rtt_ns is None and self._rows:
                return  # the peer is known to answer: spend no second timeout on it
            if rtt_ns is None and attempt == WARM_UP_COUNT - 1:
                raise self.silence("no-replies", count=WARM_UP_COUNT, timeout_s=self.plan.timeout_s)


def _warnings(replies: exchanges.Replies, timeout_s: float) -> list[Notice]:
    """Return the warnings about replies other than the expected ones."""
    kept_count = len(replies.duplicates)
    unkept_count = replies.duplicate_count if replies.duplicate_count > kept_count else 0
    counted: tuple[tuple[str, int, dict[str, Any]], ...] = (
        ("late-replies", replies.late_count, {"timeout_s": timeout_s}),
        ("stray-datagrams", replies.foreign_count, {}),
        ("damaged-replies", replies.damaged_count, {}),
        ("duplicates-not-kept", unkept_count, {"kept": kept_count}),
    )
    return [Notice(code, {"count": count, **values}) for code, count, values in counted if count]


BOOK_SIZES = (8, *range(100, 1401, 100))
"""The 15 sizes of Stevens, TCP/IP Illustrated vol. 3, appendix A. [byte]"""

Opener = Callable[[int, int, int], socket.socket]
"""Opens a socket of a family, kind and protocol: here, or at one end of an emulated path."""


@named_arguments
def echo(
    payload_bytes: ArrayLike = BOOK_SIZES,
    *,
    protocol: str = "udp",
    count: int = 10,
    interval_s: float = 0.0,
    timeout_s: float = 1.0,
    host: str = "127.0.0.1",
    port: int = 0,
    peer: FarPeer | None = None,
    path: Path | None = None,
    progress: record.Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> RttSamples:
    """Measure round-trip times to an echo process, size by size: on this machine, or on a peer.

    Each probe waits for the reply to the one before. A few exchanges before each size are warm-up
    and not among the samples. A probe is lost if no reply arrives within ``timeout_s``; a late
    reply is counted, and never taken for the reply to another probe.

    Parameters
    ----------
    payload_bytes : array_like
        Sizes of the probes, each sent ``count`` times: user data of a datagram, 0 to 65,507 (over
        IPv6 65,527), or of a TCP message, 8 to 1 MiB. [byte]
    protocol : {'udp', 'tcp', 'icmp'}
        Datagrams; messages over one connection with TCP_NODELAY; or ICMP echo requests as ``ping``
        sends them, which the kernel of the other end answers and which need a path.
    count : int
        Probes of each size. [1]
    interval_s : float
        Minimum time from one probe to the next; with 0 it follows immediately. [s]
    timeout_s : float
        Reply timeout, 0.001 to 60. [s]
    host : str
        Loopback address, IPv4 or IPv6.
    port : int
        Port on this machine; with 0 the kernel picks a free one. [1]
    peer : Peer, optional
        A second machine, on which ``netcalc peer`` runs.
    path : Path, optional
        Path of the probes, emulated between two namespaces of this machine; ``host`` then selects
        the address family only. Where the system refuses namespaces, a UDP echo goes through
        :class:`~netcalc.emulation.relay.Relay` on loopback, and a warning says what that omits.
        ``meta.instrument.truth`` has the settings of the path, ``wire_lateness_p99_s`` and
        ``wire_late_ratio`` how punctual the emulation was.
    progress : callable, optional
        Called as ``progress(done, total, rtt_s)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File to save the samples to: written every second, at the end and on failure.

    Returns
    -------
    RttSamples
        One row per probe and per duplicate. ``meta.instrument`` has the measurement error,
        ``meta.warnings`` what makes the times doubtful. After a stop, a first Ctrl-C or the time
        limit, the rows so far: ``meta.partial`` is True, and ``meta.instrument.ended_by`` has the
        reason. A second Ctrl-C raises KeyboardInterrupt once the run is cleaned up.

    Raises
    ------
    DomainError
        If a size, count, time or port is impossible.
    ExperimentError
        If the target is not the loopback, the run would exceed a limit, or it fails; then
        ``partial`` has the samples so far.

    Notes
    -----
    At most 100,000 probes, 2 GB in both directions and 600 s.

    Client and peer share one processor where the system permits: the times are then the
    calls and the kernel's path, without the wake-up of another processor.

    A datagram of 8 bytes or more carries a sequence number and a number of the run. A shorter one
    is distinguished by its port: each has a socket of its own.

    Examples
    --------
    >>> samples = echo([8, 1400], count=3)
    >>> samples.sent, samples.meta.tool, samples.meta.partial
    (6, 'netcalc echo', False)

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, appendix A.2 (15 sizes, 10 probes each).
    """
    common = record.Common(path=path, host=host, peer=peer, progress=progress, stop=stop, save=save)
    protocol = choice("protocol", protocol, ("udp", "tcp", "icmp"))
    address = common.address
    emulated = None if path is None else EmulatedPath(path, offload=False)
    if emulated is not None:
        address = emulated.address("B", common.version)
    elif protocol == "icmp":
        raise DomainError("needs-a-path", "protocol", "icmp", choices=["udp", "tcp"])
    plan = EchoPlan(
        sizes=limits.payload_sizes(payload_bytes, protocol=protocol, host=address),
        count=limits.whole_number("count", count, 1, limits.MAX_COUNT),
        protocol=protocol,
        host=address,
        port=limits.whole_number("port", port, 0, 65_535),
        interval_s=limits.finite("interval_s", interval_s, 0.0, limits.MAX_DURATION_S),
        timeout_s=limits.timeout_s(timeout_s),
    )
    least_s = 0.0 if path is None else float(path.rtt_s(min(plan.sizes)))
    limits.require_bounded(
        probe_count=plan.probe_count,
        carried_bytes=2 * sum(plan.sizes) * (plan.count + WARM_UP_COUNT),  # in both directions
        duration_s=plan.probe_count * max(plan.interval_s, least_s) - plan.interval_s,
    )
    if peer is not None:
        if plan.port:
            raise DomainError("not-with-peer", "port", plan.port)
        plan = replace(plan, port=peer.port)
        command = plan.command(None, peer)
        return common.conduct(
            partial(measure_at_peer, peer=peer), EchoRun, plan=plan, command=command
        )
    measure = measure_on_loopback
    if emulated is not None:
        measure = partial(measure_on_any_path, emulated=emulated)
    return common.conduct(measure, EchoRun, plan=plan, command=plan.command(path))


def measure_on_loopback(run: EchoRun) -> None:
    """Send the probes to a peer on the same processor."""
    record_instrument(run)
    run.facts.update(instrument.loopback())
    with instrument.one_processor() as processor, run.measuring():
        run.facts["shared_processor"] = processor
        client = own_source(run.plan.host) if run.plan.protocol == "tcp" else None
        with Peer(peer_settings(run.plan, client=client), stopping=run.stopping) as peer:
            run.facts["exchange_call_s"] = instrument.exchange_call_s(run.plan.host)
            probe_peer(run, peer, socket.socket if client is None else partial(open_from, client))


def measure_on_any_path(run: EchoRun, emulated: EmulatedPath) -> None:
    """Send the probes through a path; UDP over the relay where namespaces are refused."""
    try:
        measure_on_path(run, emulated)
    except ExperimentError as error:
        if error.code not in REFUSALS or run.plan.protocol != "udp":
            raise
        measure_on_relay(run, emulated.path, reason=error.code)


def measure_on_relay(run: EchoRun, path: Path, *, reason: str) -> None:
    """Send the probes to a peer on loopback, through a relay with the queues of the path."""
    run.plan = replace(run.plan, host="::1" if ":" in run.plan.host else "127.0.0.1")
    run.host = run.plan.host
    run.facts["offload"] = "one packet at a time"
    run.warnings.append(Notice("relay-used", {"reason": reason, "not_shown": list(NOT_SHOWN)}))
    with (
        Peer(peer_settings(run.plan), stopping=run.stopping) as peer,
        Relay(path, target=(run.host, peer.port)) as relay,
    ):
        run.facts["truth"] = relay.truth()
        probe_at(run, relay.address)
        run.add_path_statistics(relay.statistics())
    run.record_measurement_error()


def measure_on_path(run: EchoRun, emulated: EmulatedPath) -> None:
    """Send the probes through an emulated path, to a peer or the kernel at its far end."""
    plan = run.plan
    record_instrument(run)
    run.facts["offload"] = "one packet at a time"
    with run.measuring(), run.over(emulated):
        opener = partial(emulated.socket, "A")
        if plan.protocol == "icmp":
            probe_at(run, (plan.host, 0), opener)
        else:
            kind = socket.SOCK_STREAM if plan.protocol == "tcp" else socket.SOCK_DGRAM
            with emulated.socket("B", address_family(plan.host), kind) as sock:
                sock.bind((plan.host, plan.port))
                if plan.protocol == "tcp":
                    sock.listen(BACKLOG)
                settings = peer_settings(plan, fd=sock.fileno())
                peer = Peer(settings, stopping=run.stopping, passed=[sock.fileno()])
            with peer:
                probe_peer(run, peer, opener)


def measure_at_peer(run: EchoRun, peer: FarPeer) -> None:
    """Send the probes to a peer on a second machine."""
    record_instrument(run)
    run.phase = "peer"
    largest_bytes = max(run.plan.sizes)
    with FarEnd(peer, stopping=run.stopping) as far, record.measuring_with(run, far):
        run.phase = "connect"
        with record.attribute_errors(run, far):
            exchange, number = opened_echo(run, far, largest_bytes)
            with closing(exchange):
                run.probe(exchange)
            report = far.end(number)
            for name in ("echoed", "refused", "unsent"):
                run.facts[f"peer_{name}_count"] = int(report[name])


def opened_echo(run: EchoRun, far: FarEnd, largest_bytes: int) -> tuple[exchanges.Exchange, int]:
    """Open the sockets of a run to a peer, and let it echo; return the number of its job."""
    plan = run.plan
    common: dict[str, Any] = {"timeout_s": plan.timeout_s, "stopping": run.stopping}
    kind = socket.SOCK_STREAM if plan.protocol == "tcp" else socket.SOCK_DGRAM
    with kept(socket.socket(address_family(plan.host), kind)) as sock:
        if plan.protocol == "tcp":
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        one_port = min(plan.sizes) >= TAG_BYTES
        line = far.open([sock], one_port=one_port)
        run.plan = plan = replace(plan, session=line.session)
        run.facts.update(instrument.granted(sock))
        run.facts |= {f"peer_{name}": value for name, value in line.granted.items()}
        message_bytes = max(largest_bytes, TAG_BYTES)
        number = far.echo(line, message_bytes)
        if plan.protocol == "tcp":
            sock.settimeout(limits.CONNECT_S)
            return exchanges.TcpExchange(
                sock, plan.session, largest_bytes=largest_bytes, **common
            ), number
        if one_port:
            return exchanges.UdpExchange(lambda: sock, plan.session, **common), number
    sock.close()
    opener = partial(open_connected, far.address, socket.socket)
    return exchanges.UdpExchange(opener, plan.session, **common), number


def record_instrument(run: EchoRun) -> None:
    """Record the facts of the machine and its clock that affect times."""
    run.record_machine(limits.ip_version(run.plan.host))
    run.facts["own_cost_s"] = instrument.own_cost_s(run.facts["clock_call_s"])


def peer_settings(plan: EchoPlan, **more: Any) -> dict[str, Any]:
    """Return the settings of the peer of a run."""
    return responder_settings(
        plan.protocol, plan.session, (plan.host, plan.port), message_bytes=max(plan.sizes),
        one_port=min(plan.sizes) >= TAG_BYTES, **more,
    )  # fmt: skip


def probe_peer(run: EchoRun, peer: Peer, opener: Opener) -> None:
    """Send the probes of a run to its peer, and record the facts and counts of the peer."""
    with record_peer(run, peer):
        probe_at(run, (run.plan.host, peer.port), opener)


def probe_at(run: EchoRun, address: tuple[str, int], opener: Opener = socket.socket) -> None:
    """Send the probes of a run to an address that echoes them."""
    run.phase, run.port = "connect", address[1]
    try:
        exchange = connect(run, address, opener)
    except OSError as error:
        raise run.failure(error) from error
    with closing(exchange):
        run.probe(exchange)


def connect(run: EchoRun, address: tuple[str, int], opener: Opener) -> exchanges.Exchange:
    """Open the sockets of a run, and record what the kernel granted."""
    plan = run.plan
    common: dict[str, Any] = {"timeout_s": plan.timeout_s, "stopping": run.stopping}
    if plan.protocol == "udp":
        with open_connected(address, opener) as sock:
            run.facts.update(instrument.granted(sock))
        return exchanges.UdpExchange(
            partial(open_connected, address, opener), plan.session, **common
        )
    if plan.protocol == "icmp":
        icmp = socket.IPPROTO_ICMPV6 if ":" in address[0] else socket.IPPROTO_ICMP
        sock = open_connected(address, opener, socket.SOCK_RAW, icmp)
        run.facts.update(instrument.granted(sock))
        return exchanges.IcmpExchange(sock, plan.session, **common)
    with kept(open_tcp(address, opener, run.stopping)) as sock:
        run.facts.update(instrument.granted(sock))
        return exchanges.TcpExchange(sock, plan.session, largest_bytes=max(plan.sizes), **common)


def open_connected(
    address: tuple[Any, ...], opener: Opener, kind: int = socket.SOCK_DGRAM, protocol: int = 0
) -> socket.socket:
    """Open a socket without a connection that receives from one address only."""
    with kept(opener(address_family(address[0]), kind, protocol)) as sock:
        sock.connect(address)
        return sock


def open_tcp(address: tuple[str, int], opener: Opener, stopping: Stopping) -> socket.socket:
    """Open a connection with TCP_NODELAY."""
    with kept(opener(address_family(address[0]), socket.SOCK_STREAM, 0)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        exchanges.connect_within(sock, address, limit_s=limits.CONNECT_S, stopping=stopping)
        sock.settimeout(limits.CONNECT_S)
        return sock


def open_from(client: str, family: int, kind: int, protocol: int = 0) -> socket.socket:
    """Open a socket that is bound to an address of the client."""
    with kept(socket.socket(family, kind, protocol)) as sock:
        sock.bind((client, 0))
        return sock
