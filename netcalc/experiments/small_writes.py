"""Requests in several small writes: Nagle's algorithm and delayed acknowledgements."""

from __future__ import annotations

import errno
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, as_float, choice, named_arguments, one_dimensional
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import endpoints, exchange
from netcalc.experiments.peers import far_writes, helper, process, responder
from netcalc.experiments.peers.far_writes import MODES
from netcalc.experiments.peers.remote import FarEnd, FarLine, FarPeer
from netcalc.experiments.running import instrument, limits, record
from netcalc.experiments.running.stopping import SLICE_S, Ended, Stop, Stopping
from netcalc.messages import Notice
from netcalc.models.hosts.small_writes import HOLDS_ACK
from netcalc.models.sizes.headers import TIMESTAMP_BYTES, tcp_ip_header_bytes
from netcalc.path import Path
from netcalc.samples import TransactionSamples

WAITING_MODES = ("nagle", "flush")
"""Modes in which Nagle's algorithm holds back a later part."""
MAX_QUICK_ROUNDS = 16
"""Rounds at the start of a connection that may be warm-up: Linux acknowledges up to 16 segments at
once (quick ACKs) before it delays. [1]"""
MAX_LADDER_PACKETS = 256
"""Rounds with more packets are timed only: a ladder of them could not be read. [packet]"""
_clock = time.perf_counter_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePlan:
    """The checked parameters of a run of small writes."""

    sizes: tuple[int, ...]
    modes: tuple[str, ...]
    count: int
    reply_bytes: int
    interval_s: float
    write_gap_s: float
    quickack: bool
    autocorking: bool
    host: str
    timeout_s: float
    session: bytes = field(default_factory=lambda: secrets.token_bytes(responder.TAG_BYTES))

    @property
    def request_bytes(self) -> int:
        """User data of a request."""
        return sum(self.sizes)

    @property
    def round_count(self) -> int:
        """Rounds of the whole run."""
        return len(self.modes) * self.count

    @property
    def version(self) -> int:
        """Version of IP."""
        return limits.ip_version(self.host)

    @property
    def round_s(self) -> float:
        """Time from one round to the next, at least. [s]"""
        return max(self.interval_s, self.write_gap_s * (len(self.sizes) - 1))

    def waits(self, mode: str) -> bool:
        """Return whether a later part of a request is expected to wait for an acknowledgement."""
        return mode in WAITING_MODES and len(self.sizes) > 1

    def request(self) -> bytes:
        """Return a request: the session of the run, repeated."""
        return far_writes.request_of(self.session, self.request_bytes)

    def pieces(self) -> list[bytes]:
        """Return the parts of a request, one per write."""
        return far_writes.pieces_of(self.request(), self.sizes)

    def command(
        self, path: Path | None, peer: FarPeer | None = None, direction: str = "forward"
    ) -> str:
        """Return the call that makes this plan."""
        names = ("count", "reply_bytes", "interval_s", "write_gap_s", "quickack", "autocorking",
                 "host", "timeout_s")  # fmt: skip
        arguments = {name: getattr(self, name) for name in names}
        if peer is not None:
            del arguments["host"], arguments["autocorking"]
            arguments |= {"peer": peer, "direction": direction}
        sizes = record.short_list(self.sizes, "writes")
        call = record.written_call("small_writes", sizes, modes=list(self.modes), **arguments)
        return call if path is None else f"{call[:-1]}, path={path})"


class Rounds:
    """The rounds of one mode, and the packets of each."""

    def __init__(
        self, run: endpoints.Responses, plan: WritePlan, mode: str, taps: Sequence[endpoints.Tap]
    ) -> None:
        self._run, self._plan, self._mode, self._taps = run, plan, mode, taps
        self._server = ""
        self._held_s: list[float] = []  # per counted round
        self._waited_s: list[float] = []
        self._client_held_s: list[float] = []  # per round with a pause behind it
        self._waits = plan.waits(mode)
        self._quick = not plan.quickack  # so far the kernel acknowledges at once
        self._window: tuple[int, int, list[tuple[int, int]]] | None = None  # of the ladder

    def measure(self, ends: endpoints.Endpoints, address: tuple[Any, ...]) -> None:
        """Measure the rounds on a new connection."""
        run = self._run
        self._server = ends.server_host
        run.phase = "connect"
        with ends.client_socket(socket.SOCK_STREAM) as sock:
            exchange.connect_within(sock, address, limit_s=limits.CONNECT_S, stopping=run.stopping)
            self.measure_on(sock)

    def measure_on(self, sock: socket.socket) -> None:
        """Measure the rounds on a connection."""
        run, mode = self._run, self._mode
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, mode == "nodelay")
        exchange.set_timeout(sock, SLICE_S)
        granted = instrument.granted(sock)
        run.facts["nodelay"][mode] = granted.pop("nodelay")
        run.facts.update(granted)
        first_bytes = self._plan.sizes[0]
        self._waits = self._plan.waits(mode) and first_bytes < granted.get("mss_bytes", inf)
        run.phase = "round"
        with instrument.collector_off():
            self._rounds(sock)
        self._conclude()

    def _rounds(self, sock: socket.socket) -> None:
        run, plan, mode, taps = self._run, self._plan, self._mode, self._taps
        stamps: list[int] = []
        write = _writer(sock, mode, plan, stamps, run.stopping)
        view = memoryview(bytearray(plan.reply_bytes))
        sizes = (plan.request_bytes,) if mode == "single" else plan.sizes
        sent_ns = 0
        seen: list[list[endpoints.TappedPacket]] = [[] for _ in taps]
        for sequence in range(1, plan.count + 1):
            if sent_ns and plan.interval_s:
                run.pace(sent_ns, plan.interval_s)
            run.stopping.check()
            for packets, tap in zip(seen, taps, strict=True):
                packets += tap.read()
            self._note_ladder(seen)
            self._note_client(seen)
            seen = [[] for _ in taps]
            stamps.clear()
            begin_ns = time.time_ns()
            sent_ns = _clock()
            write()
            response_ns = _read(run, sock, view, sent_ns, plan.timeout_s)
            if any(view) or _has_more(sock):
                raise ExperimentError(
                    "wrong-protocol", phase="round", **exchange.peer_address(sock)
                )
            for packets, tap in zip(seen, taps, strict=True):
                packets += tap.read()
            writes = [(begin_ns + at - sent_ns, n) for at, n in zip(stamps, sizes, strict=True)]
            self._window = (sequence, begin_ns, writes)
            row = (mode, sequence, plan.request_bytes, plan.reply_bytes, sent_ns, response_ns)
            run.add(endpoints.Response(*row, warm_up=self._is_warm_up(sequence, seen)))
        self._note_ladder(seen)

    def _is_warm_up(self, sequence: int, seen: list[list[endpoints.TappedPacket]]) -> bool:
        """Return whether the kernel still acknowledges at once; record the waits if it does not."""
        rows = self._rows(seen)
        held = [row.duration_s for row in rows if row.who == "server"]
        self._quick &= self._waits and bool(rows) and not held and sequence <= MAX_QUICK_ROUNDS
        if sequence == 1 or self._quick:
            return True
        if rows:
            waited = [row.duration_s for row in rows if row.who == "client"]
            self._held_s.append(max(held, default=0.0))
            self._waited_s.append(max(waited, default=0.0))
        return False

    def _note_ladder(self, seen: list[list[endpoints.TappedPacket]]) -> None:
        """Keep the packets of the second round, or of the only one."""
        if self._window is None or self._window[0] != min(2, self._plan.count):
            return
        if rows := self._rows(seen):
            self._run.facts["ladder"][self._mode] = [row._asdict() for row in rows]

    def _note_client(self, seen: list[list[endpoints.TappedPacket]]) -> None:
        """Keep how long the client held back its acknowledgement of the response.

        Only a pause shows it: otherwise the next request carries the acknowledgement.
        """
        if self._plan.interval_s and self._window is not None and self._window[0] > 1:
            rows = self._rows(seen)
            held = [row.duration_s for row in rows if (row.who, row.what) == ("client", HOLDS_ACK)]
            if rows:
                self._client_held_s.append(max(held, default=0.0))

    def _rows(self, seen: list[list[endpoints.TappedPacket]]) -> list[endpoints.LadderRow]:
        if not seen or self._window is None or len(seen[0]) > MAX_LADDER_PACKETS:
            return []
        _, begin_ns, writes = self._window
        return endpoints.ladder_rows(
            seen[0], seen[-1], server=self._server, begin_ns=begin_ns, writes=writes
        )

    def _conclude(self) -> None:
        """Summarize the waits; warn where Nagle's algorithm had nothing to hold back."""
        run, plan, mode = self._run, self._plan, self._mode
        if not self._held_s:
            return
        held, waited = (np.array(times) for times in (self._held_s, self._waited_s))
        waits = {"round_count": held.size, **_summary("held", held), **_summary("waited", waited)}
        if self._client_held_s:
            client = np.array(self._client_held_s)
            waits |= {"client_round_count": client.size, **_summary("client_held", client)}
        run.facts["waits"][mode] = waits
        free = int((waited == 0).sum())
        if self._waits and 2 * free > held.size:
            facts = {
                "mode": mode, "free": free, "rounds": int(held.size),
                "rtt_s": run.facts["rtt_s"], "write_gap_s": plan.write_gap_s,
                "quickack": "on" if plan.quickack else "off",
            }  # fmt: skip
            run.warnings.append(Notice("nothing-held-back", facts))


def _summary(name: str, times_s: FloatArray) -> dict[str, float]:
    """Return how many times are above 0, and their median; 0 without any. [1], [s]"""
    positive = times_s[times_s > 0]
    median_s = float(np.median(positive)) if positive.size else 0.0
    return {f"{name}_count": int(positive.size), f"{name}_median_s": median_s}


def _read(
    run: endpoints.Responses, sock: socket.socket, view: memoryview, sent_ns: int, timeout_s: float
) -> int:
    """Read one response; return its time since the first write. [ns]"""
    have = 0
    written_ns = _clock()
    while True:
        try:
            got = sock.recv_into(view[have:])
            now_ns = _clock()
        except exchange.TIMEOUTS as error:
            exchange.require_alive(error)
            got, now_ns = -1, _clock()
        if got == 0:
            raise helper.system_error(errno.ECONNRESET)
        have += max(got, 0)
        if have == len(view):
            return now_ns - sent_ns
        if now_ns - written_ns > timeout_s * 1e9:
            raise ExperimentError(
                "no-response", phase="round", timeout_s=timeout_s, **exchange.peer_address(sock)
            )
        run.stopping.check()


def _has_more(sock: socket.socket) -> bool:
    """Return True if more than a response has arrived."""
    return helper.readable(sock, 0.0) and bool(sock.recv(1, socket.MSG_PEEK))


def _writer(
    sock: socket.socket, mode: str, plan: WritePlan, stamps: list[int], stopping: Stopping
) -> Callable[[], Any]:
    """Return a function that writes a request in one mode and records the time of each write."""
    pieces = [plan.request()] if mode == "single" else plan.pieces()

    def parts() -> Iterator[bytes]:
        for index, piece in enumerate(pieces):
            if index and plan.write_gap_s:
                stopping.sleep(plan.write_gap_s)
            stamps.append(_clock())
            yield piece

    send = partial(exchange.send_all, sock, timeout_s=plan.timeout_s, stopping=stopping)
    write = far_writes.writer(sock, mode, send)
    return lambda: write(parts(), len(pieces))


ARTICLE_WRITES = (6, 7)
"""The two writes of the article: "hello " and "world" with its line end. [byte]"""
ARTICLE_MODES = ("nagle", "nodelay", "flush", "single")
"""The four modes of the article."""
MAX_WRITES = 1000
"""Writes of one request, at most: each is a system call and may be a segment. [1]"""
COUNTED = ("DelayedACKs", "DelayedACKLost", "TCPAutoCorking", "TCPLossProbes", "TCPPureAcks")
"""Counters of the kernel that explain the time of a round."""
_AUTOCORKING = "net.ipv4.tcp_autocorking"


@named_arguments
def small_writes(
    write_bytes: ArrayLike = ARTICLE_WRITES,
    *,
    modes: Sequence[str] = ARTICLE_MODES,
    count: int = 10,
    reply_bytes: int = 13,
    interval_s: float = 0.0,
    write_gap_s: float = 0.0,
    quickack: bool = False,
    autocorking: bool = False,
    host: str = "127.0.0.1",
    peer: FarPeer | None = None,
    direction: str = "forward",
    path: Path | None = None,
    timeout_s: float = 5.0,
    pcap: str | os.PathLike[str] | None = None,
    progress: record.Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> TransactionSamples:
    """Measure the response time of requests in several small writes, by mode of writing.

    A client writes a request over TCP, part by part, and waits for the response, which a server
    process sends when the request is complete. Each mode has its own connection. Its first round,
    and those after it in which the kernel still acknowledges at once, are marked as warm-up.

    Parameters
    ----------
    write_bytes : array_like
        Sizes of the writes that make one request, at most 1000 and 1 MiB together. [byte]
    modes : sequence of {'nagle', 'nodelay', 'flush', 'single', 'cork', 'more'}
        ``nagle``: separate writes with default options. ``nodelay``: with TCP_NODELAY. ``flush``:
        as ``nagle``, with a flush after the last write, which has no effect. ``single``: one
        write. ``cork``: with TCP_CORK around the writes. ``more``: with MSG_MORE on all writes but
        the last.
    count : int
        Rounds in each mode. [1]
    reply_bytes : int
        User data of the response. [byte]
    interval_s : float
        Minimum time from one round to the next; with 0 it follows immediately. [s]
    write_gap_s : float
        Pause of the client between two writes of a request. [s]
    quickack : bool
        The server sets TCP_QUICKACK before every read: immediate acknowledgements.
    autocorking : bool
        Let Linux merge small segments while an earlier one is in its queues; off by default in the
        namespaces of the run, because it changes the number of segments.
    host : str
        Loopback address, IPv4 or IPv6. In a namespace of the run, and over a path, it selects the
        address family only.
    peer : Peer, optional
        A second machine, on which ``netcalc peer`` runs as the server. Nothing is seen there but
        what the client's times show: no packets, and no counters of the kernel.
    direction : {'forward', 'back'}
        With ``'back'`` the peer writes, and this machine is the one that may delay its
        acknowledgements. [text]
    path : Path, optional
        Path between client and server, emulated on this machine; without it both are on a
        loopback.
    timeout_s : float
        Response timeout, counted from the last write, 0.001 to 60. [s]
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
        One row per round. ``meta.instrument.counters`` has, by mode, the growth of the kernel's
        counters, over a path also by end: ``DelayedACKs`` proves what the times suggest.
        ``ladder`` has the packets of the second round, seen by taps
        (:func:`netcalc.compare.ladder`); ``waits``, by mode, how many rounds had a held
        acknowledgement or a waiting client, and the median of each; with
        ``interval_s`` also in how many the client held its acknowledgement of the response, and
        the median. After a stop, a first Ctrl-C
        or the time limit, the rows so far, marked as partial.

    Raises
    ------
    DomainError
        If a size, mode, count or time is impossible.
    ExperimentError
        If the run would exceed a limit, or the run fails; then ``partial`` has the samples so far.

    Notes
    -----
    At most 100,000 rounds, 2 GB in both directions and 600 s.

    Both ends are in a network namespace of the run where the system permits one, so that its
    counters count this run alone; otherwise they are on the host's loopback, with a warning.
    In a namespace connections use Reno, because BBR, the default of some systems, spreads the
    segments of a response over the round trip.

    Examples
    --------
    >>> samples = small_writes(modes=["nodelay", "single"], count=3)
    >>> samples.modes, len(samples), int(samples.warm_up.sum())
    (('nodelay', 'single'), 6, 2)

    References
    ----------
    RFC 896 (Nagle's algorithm); RFC 1122, 4.2.3.2 (delayed acknowledgements).
    """
    common = record.Common(
        path=path, host=host, peer=peer, progress=progress, stop=stop, save=save,
        linux_for="its counters of delayed acknowledgements",
    )  # fmt: skip
    choice("direction", direction, ("forward", "back"))
    if peer is None and direction != "forward":
        raise DomainError("direction-needs-peer", "direction", direction)
    if peer is not None:
        _refuse_beside_peer(direction, pcap=pcap, autocorking=autocorking, write_gap_s=write_gap_s)
    most_count = limits.MAX_COUNT if direction == "forward" else far_writes.MAX_COUNT
    plan = WritePlan(
        sizes=_checked_sizes(write_bytes),
        modes=_checked_modes(modes),
        count=limits.whole_number("count", count, 1, most_count),
        reply_bytes=limits.whole_number("reply_bytes", reply_bytes, 1, limits.MAX_TCP_BYTES),
        interval_s=limits.finite("interval_s", interval_s, 0.0, limits.MAX_DURATION_S),
        write_gap_s=limits.finite("write_gap_s", write_gap_s, 0.0, limits.MAX_DURATION_S),
        quickack=bool(quickack),
        autocorking=bool(autocorking),
        host=common.address,
        timeout_s=limits.timeout_s(timeout_s),
    )
    least_s = 0.0  # of a round on a path, headers not included
    if path is not None:
        least_s = float(path.rtt_s(plan.request_bytes, reply_bytes=plan.reply_bytes))
    limits.require_bounded(
        probe_count=plan.round_count,
        carried_bytes=plan.round_count * (plan.request_bytes + plan.reply_bytes),
        duration_s=max(plan.round_s, least_s) * (plan.round_count - 1),
    )
    limits.require_writable(pcap)
    measure = partial(_measure, plan=plan, path=path, pcap=pcap)
    if peer is not None:
        measure = partial(_measure_at_peer, plan=plan, peer=peer, direction=direction)
    return common.conduct(
        measure,
        endpoints.Responses,
        experiment="small_writes",
        protocol="tcp",
        target=f"{common.place}, TCP" if path is None else "emulated path, TCP",
        total_count=plan.round_count,
        unit="rounds",
        host=common.address,
        command=plan.command(path, peer, direction),
    )


def _refuse_beside_peer(direction: str, **options: Any) -> None:
    """Refuse what cannot be done with a peer; a pause between writes is one of this machine."""
    if direction == "forward":
        del options["write_gap_s"]
    for name, value in options.items():
        if value:
            raise DomainError("not-with-peer", name, value)


def _checked_sizes(write_bytes: ArrayLike) -> tuple[int, ...]:
    """Return the sizes as whole numbers; refuse more than one request may have."""
    sizes = one_dimensional("write_bytes", as_float("write_bytes", write_bytes))
    if sizes.size > MAX_WRITES:
        raise DomainError("too-many-writes", "write_bytes", sizes.size, high=MAX_WRITES)
    checked = limits.numbered("write_bytes", sizes, 1, limits.MAX_TCP_BYTES)
    if sum(checked) > limits.MAX_TCP_BYTES:
        raise DomainError("sum-too-large", "write_bytes", sum(checked), high=limits.MAX_TCP_BYTES)
    return checked


def _checked_modes(modes: Sequence[str]) -> tuple[str, ...]:
    """Return the modes; refuse those that the system does not have."""
    names = limits.distinct_choices("modes", modes, MODES)
    for mode, option in (("cork", "TCP_CORK"), ("more", "MSG_MORE")):
        if mode in names and not hasattr(socket, option):
            raise ExperimentError("option-unavailable", phase="plan", option=option)
    return names


def _measure(
    run: endpoints.Responses,
    plan: WritePlan,
    path: Path | None,
    pcap: str | os.PathLike[str] | None,
) -> None:
    run.facts.update(instrument.machine(), **instrument.timer())
    run.facts["rtt_s"] = 0.0  # of the path; the host's own time is in the samples
    if path is not None:
        packet_bytes = max(plan.sizes) + int(tcp_ip_header_bytes(plan.version, TIMESTAMP_BYTES))
        run.facts["rtt_s"] = float(path.rtt_s(packet_bytes))
    sysctls = {_AUTOCORKING: str(int(plan.autocorking))}
    with endpoints.open_ends(
        run,
        path,
        mtu_bytes=process.LOOPBACK_MTU_BYTES,
        version=plan.version,
        sysctls=sysctls,
        pcap=pcap,
    ) as (ends, taps):
        measure_writes(run, plan, ends, taps)


def _measure_at_peer(
    run: endpoints.Responses, plan: WritePlan, peer: FarPeer, direction: str
) -> None:
    """Measure each mode on a connection of its own to a peer, which answers, or writes."""
    run.record_machine(plan.version)
    _record_plan(run, plan)
    run.facts["rtt_s"] = 0.0  # unknown: it is in the samples
    run.phase = "peer"
    with FarEnd(peer, stopping=run.stopping) as far, record.measuring_with(run, far):
        far.require(*(["quickack"] * plan.quickack if direction == "forward" else plan.modes))
        far.measure_clock()
        for mode in plan.modes:
            run.phase = "connect"
            family = helper.address_family(peer.host)
            number: int | None = None
            with (
                record.attribute_errors(run, far),
                socket.socket(family, socket.SOCK_STREAM) as sock,
            ):
                line = far.open([sock])
                if direction == "forward":
                    number = far.order(
                        "rounds", line=line.number, message_bytes=plan.request_bytes,
                        reply_bytes=plan.reply_bytes, quickack=int(plan.quickack),
                    )  # fmt: skip
                    Rounds(run, replace(plan, session=line.session), mode, ()).measure_on(sock)
                else:
                    _answer_peer(run, plan, far, mode, sock, line)
            if number is not None:  # its connection counts until then
                far.answer(number)


def _answer_peer(
    run: endpoints.Responses,
    plan: WritePlan,
    far: FarEnd,
    mode: str,
    sock: socket.socket,
    line: FarLine,
) -> None:
    """Answer the requests that a peer writes, and take the times that it measures."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    run.phase = "round"
    number = far.order(
        "write_rounds", line=line.number, mode=mode, sizes=list(plan.sizes), count=plan.count,
        reply_bytes=plan.reply_bytes, interval_ms=round(1e3 * plan.interval_s),
    )  # fmt: skip
    report: dict[str, Any] | None = None
    measured_count = 0

    def add_rounds(report: Mapping[str, Any] | None = None) -> None:
        nonlocal measured_count
        for sequence, sent_ns, response_ns in far.new_rounds(number, report):
            measured_count += 1
            if sequence != measured_count or sequence > plan.count:
                far.fail("far-peer-malformed")
            row = (mode, sequence, plan.request_bytes, plan.reply_bytes, sent_ns, response_ns)
            run.add(endpoints.Response(*row, warm_up=sequence == 1))

    def look(_: int) -> bool:
        nonlocal report
        report = report or far.answer_if_there(number)
        add_rounds()
        try:
            run.stopping.check()
        except Ended:  # what the peer has measured comes first
            return True
        return report is not None

    view = memoryview(bytearray(plan.request_bytes))
    settings = {
        "message_bytes": plan.request_bytes, "reply_bytes": plan.reply_bytes,
        "quickack": plan.quickack, "bytes": limits.MAX_BYTES,
    }  # fmt: skip
    answers = responder.Answers(line.session, settings, helper.HelperCounts(), view, look)
    try:
        with instrument.collector_off():
            answers.answer_rounds(sock, 0)
        report = report or far.end(number, watch=False)
    finally:
        add_rounds(report)
    if "error" in report:
        raise helper.reported_error(report)
    run.stopping.check()


def _record_plan(run: endpoints.Responses, plan: WritePlan) -> None:
    run.facts.update(
        quickack=plan.quickack,
        write_bytes=list(plan.sizes),
        write_gap_s=plan.write_gap_s,
        interval_s=plan.interval_s,
        tick_s=instrument.tick_s(),
        **{name: {} for name in ("counters", "nodelay", "ladder", "waits")},
    )


def measure_writes(
    run: endpoints.Responses,
    plan: WritePlan,
    ends: endpoints.Endpoints,
    taps: Sequence[endpoints.Tap],
) -> None:
    """Start the server and measure each mode on a connection of its own."""
    facts = run.facts
    _record_plan(run, plan)
    facts["autocorking"] = ends.read_number(_AUTOCORKING)
    with ends.listener(socket.SOCK_STREAM) as listener:
        address = listener.getsockname()
        run.port = address[1]
        settings = process.responder_settings(
            "rounds", plan.session, address, fd=listener.fileno(), quickack=plan.quickack,
            message_bytes=plan.request_bytes, reply_bytes=plan.reply_bytes,
        )  # fmt: skip
        with (
            process.Peer(settings, stopping=run.stopping, passed=[listener.fileno()]) as peer,
            process.record_peer(run, peer),
        ):
            listener.close()  # now the peer's alone: nobody connects to a dead one
            for mode in plan.modes:
                before = ends.counters()
                Rounds(run, plan, mode, taps).measure(ends, address)
                after = ends.counters()
                facts["counters"][mode] = endpoints.counter_growth(before, after, COUNTED)
