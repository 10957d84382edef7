"""Round trips without a load and during transfers: what a queue on the way adds to each of them."""

from __future__ import annotations

import math
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import (
    AbstractContextManager,
    ExitStack,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np

from netcalc.checks import named_arguments
from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import exchange as exchanges
from netcalc.experiments import transfer as transfers
from netcalc.experiments.echo import WARM_UP_COUNT, open_connected
from netcalc.experiments.far_transfer import DIRECTIONS, FarEnds
from netcalc.experiments.peers import helper
from netcalc.experiments.peers.far_trains import received
from netcalc.experiments.peers.process import Peer, record_peer, responder_settings
from netcalc.experiments.peers.remote import FarEnd, FarPeer
from netcalc.experiments.peers.responder import TAG_BYTES
from netcalc.experiments.running import instrument, limits, record
from netcalc.experiments.running.stopping import SLICE_S, Stop
from netcalc.path import Path
from netcalc.samples import RttSamples, fact_row

IDLE, AFTER = "idle", "idle after"
"""Phases without a load: before the first one, and after the last."""
MAX_PAYLOAD_BYTES = 1400
"""Largest probe: one packet of most ways. [byte]"""
WRITE_BYTES = 1 << 17
"""Writes of the load: two of Linux's largest segments. [byte]"""
PROBE_WAIT_S = 5e-3
"""Longest wait between two looks at the transfers. [s]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """The checked parameters of a run."""

    directions: tuple[str, ...]
    duration_s: float
    warm_s: float
    interval_s: float
    payload_bytes: int
    timeout_s: float
    congestion_control: str

    @property
    def phases(self) -> tuple[str, ...]:
        """The phases in their order."""
        return (IDLE, *self.directions, AFTER)

    @property
    def phase_count(self) -> int:
        """Probes of a phase. [1]"""
        return max(1, math.floor(self.duration_s / self.interval_s + 1e-9))

    @property
    def way_count(self) -> int:
        """Transfers of the run. [1]"""
        return sum(len(DIRECTIONS[direction]) for direction in self.directions)

    @property
    def transfer(self) -> transfers.Transfer:
        """The load of one way: it ends with its phase."""
        return transfers.Transfer(
            protocol="tcp",
            write_bytes=WRITE_BYTES,
            write_count=limits.MAX_BULK_BYTES // max(1, self.way_count) // WRITE_BYTES,
            limit_s=self.warm_s + self.duration_s + self.timeout_s + limits.CONNECT_S,
            congestion_control=self.congestion_control,
            endless=True,
        )

    def command(self, **target: Any) -> str:
        """Return the call that makes this plan."""
        return record.written_call(
            "working_latency", list(self.directions), duration_s=self.duration_s,
            warm_s=self.warm_s, interval_s=self.interval_s, payload_bytes=self.payload_bytes,
            timeout_s=self.timeout_s, congestion_control=self.congestion_control, **target,
        )  # fmt: skip


class TimedProbes(exchanges.UdpExchange):
    """Probes at times of their own: each is sent whether or not those before were answered.

    A probe that waited for the one before would leave out the times when the queue is longest.
    """

    def __init__(self, connect: Callable[[], socket.socket], session: bytes, **common: Any) -> None:
        super().__init__(connect, session, **common)
        self._waiting: dict[int, exchanges.Probe] = {}
        self.rtt_ns: dict[int, int] = {}
        """Round trip of each probe with a reply in time, by its sequence. [ns]"""

    def start(self) -> None:
        """Let the kernel stamp each reply, where it does that."""
        with suppress(OSError):
            self._sock.setsockopt(socket.SOL_SOCKET, helper.SO_TIMESTAMPNS, 1)

    def send(self, payload: bytearray, sequence: int, now_ns: int) -> None:
        """Send a probe."""
        size = self._tag(payload, sequence)
        self._waiting[sequence] = self.replies.sent(sequence, size, now_ns)
        with suppress(BlockingIOError, TimeoutError):  # a full queue of this host: it is lost
            self._sock.send(payload)

    def receive(self, wait_s: float) -> None:
        """Take the replies that are there, the first of them within a time. [s]"""
        self._sock.settimeout(wait_s)
        with suppress(BlockingIOError, TimeoutError):
            while True:
                data, arrived_ns = received(self._sock)
                self._buffer[: len(data)] = data
                self._take(len(data), arrived_ns)
                self._sock.settimeout(0.0)

    def is_waiting(self, now_ns: int) -> bool:
        """Forget the probes that have waited for too long; return whether there are others."""
        while self._waiting:
            sequence, probe = next(iter(self._waiting.items()))
            if now_ns - probe.sent_ns <= self._timeout_ns:
                return True
            del self._waiting[sequence]
        return False

    def _take(self, got: int, arrived_ns: int) -> None:
        sequence = int.from_bytes(self._buffer[:4], "little")
        probe = self._waiting.get(sequence)
        is_own = got >= TAG_BYTES and self._buffer[4:TAG_BYTES] == self._session
        if not is_own or probe is None or arrived_ns - probe.sent_ns > self._timeout_ns:
            self._sort(got, arrived_ns, expected=-1)
            return
        del self._waiting[sequence]
        probe.answered = True
        # Before it was sent: the wall clock was set since its stamp; it was read just now.
        late_ns = time.perf_counter_ns() if arrived_ns < probe.sent_ns else arrived_ns
        self.rtt_ns[sequence] = late_ns - probe.sent_ns


class Load:
    """The transfers of a phase, in progress.

    Parameters
    ----------
    run : WorkingRun
        The run.
    ways : sequence of Way
        The transfers, none in an idle phase.
    transfer : Transfer
        What each of them carries.
    """

    def __init__(
        self, run: WorkingRun, ways: Sequence[transfers.Way], transfer: transfers.Transfer
    ) -> None:
        self._run, self._ways = run, ways
        self._first: dict[str, dict[str, Any]] = {}
        self._last: dict[str, dict[str, Any]] = {}
        source, sink = transfers.orders(transfer)
        for way in ways:
            way.start(source, {**sink, "wake_bytes": 1})
            way.leave_sink()

    def begin(self) -> None:
        """Count from now on."""
        self._first.clear()

    def look(self) -> None:
        """Read what the sinks have received; raise the error of a transfer that broke off."""
        for way in self._ways:
            for worker in (way.source, way.sink):
                if (report := worker.answer(0.0)) is not None:
                    self._fail(way, worker, report)
            if "at_ns" in (count := way.sink.so_far):
                self._first.setdefault(way.direction, count)
                self._last[way.direction] = count

    def rates_bps(self) -> dict[str, float]:
        """Return the mean payload rate of each way since :meth:`begin`. [bit/s]"""
        rates = {}
        for direction, first in self._first.items():
            last = self._last[direction]
            if (took_ns := last["at_ns"] - first["at_ns"]) > 0:
                carried = last["received_bytes"] - first["received_bytes"]
                rates[direction] = 8e9 * carried / took_ns
        return rates

    def end(self) -> None:
        """End the transfers at once: a sink that closes resets its connection."""
        now = {"do": "end", "now": True}
        for way in self._ways:
            with suppress(ExperimentError):  # the peer may be gone
                way.sink.order(now)
                way.source.order(now)
                way.wake_source()
        for way in self._ways:
            for worker in (way.sink, way.source):
                with suppress(ExperimentError):
                    worker.answer(4 * SLICE_S, watch=False)

    def _fail(
        self, way: transfers.Way, worker: transfers.TransferWorker, report: dict[str, Any]
    ) -> None:
        """Raise what ended a transfer before its phase: its error, or the run's limit of bytes."""
        if "error" in report:
            failure = self._run.failure(helper.reported_error(report))
            raise way.other(worker).explain(failure)
        self._run.stopping.end(f"limit of {limits.MAX_BULK_BYTES // 10**9} GB")
        self._run.stopping.check()


Loads = Callable[[str], AbstractContextManager[Sequence[transfers.Way]]]
"""Opens the transfers of a phase with a load."""


class WorkingRun(record.Record[RttSamples]):
    """The probes of one run in progress."""

    processor_count = 2  # the source or the sink, and the probes

    def __init__(self, plan: LoadPlan, **options: Any) -> None:
        super().__init__(
            experiment="working_latency",
            protocol="udp",
            layers={"payload_bytes": "UDP payload"},
            total_count=len(plan.phases) * plan.phase_count,
            unit="probes",
            **options,
        )
        self.plan = plan
        self.rates_bps: dict[str, float] = {}
        self._rows: list[tuple[str, int, int]] = []  # phase, sequence, sent
        self._probes: TimedProbes | None = None

    @property
    def done_count(self) -> int:
        """Probes sent so far."""
        return len(self._rows)

    def measure(self, probes: TimedProbes, loads: Loads, alive: Callable[[], object]) -> None:
        """Send the probes of all phases; ``alive`` raises the error of an end that is gone."""
        self._warm_up(probes)
        self._probes = probes
        probes.start()
        drained_s = 0.0
        with instrument.collector_off():
            for phase in self.plan.phases:
                with loads(phase) if phase in DIRECTIONS else nullcontext(()) as ways:
                    load = Load(self, ways, self.plan.transfer)
                    try:
                        self._wait(drained_s + self.plan.warm_s * (phase != IDLE), load, alive)
                        self._probe(phase, load, alive)
                        self.rates_bps |= load.rates_bps()
                    finally:
                        load.end()
                drained_s = 2 * self._last_rtt_s  # for what is still under way
                self.advance(self._last_rtt_s)

    def probes_on(self, sock: socket.socket, session: bytes) -> TimedProbes:
        """Return the probes of a connected socket."""
        self.facts.update(instrument.granted(sock))
        common = {"timeout_s": self.plan.timeout_s, "stopping": self.stopping}
        return TimedProbes(lambda: sock, session, **common)

    def _warm_up(self, probes: TimedProbes) -> None:
        """Refuse a far end that answers none of the first exchanges."""
        self.phase = "warm-up"
        payload = bytearray(self.plan.payload_bytes)
        for number in range(1, WARM_UP_COUNT + 1):
            self.stopping.check()
            try:
                _, rtt_ns = probes.exchange(payload, exchanges.UNCOUNTED_FROM + number)
            except OSError as error:
                raise self.failure(error) from error
            if rtt_ns is not None:
                return
        raise self.silence("no-replies", count=WARM_UP_COUNT, timeout_s=self.plan.timeout_s)

    def _wait(self, wait_s: float, load: Load, alive: Callable[[], object]) -> None:
        """Let a load fill the queue, or the queue run empty."""
        self.phase = "load"
        end_ns = self.clock.now_ns() + int(wait_s * 1e9)
        while (left_s := (end_ns - self.clock.now_ns()) * 1e-9) > 0:
            self.stopping.sleep(min(left_s, SLICE_S))
            load.look()
            alive()
            if self._rows:
                self.advance(self._last_rtt_s, within=1e-9)

    def _probe(self, phase: str, load: Load, alive: Callable[[], object]) -> None:
        """Send the probes of a phase at their times, and wait for the last replies."""
        assert self._probes is not None
        self.phase = "echo"
        probes, clock_ns = self._probes, self.clock.now_ns
        payload = bytearray((bytes(range(256)) * 6)[: self.plan.payload_bytes])
        interval_ns = int(self.plan.interval_s * 1e9)
        begin_ns, sent = clock_ns(), 0
        load.begin()
        while sent < self.plan.phase_count or probes.is_waiting(clock_ns()):
            try:
                due_ns = begin_ns + sent * interval_ns
                if sent < self.plan.phase_count and (now_ns := clock_ns()) >= due_ns:
                    sequence = len(self._rows) + 1
                    probes.send(payload, sequence, now_ns)
                    self._rows.append((phase, sequence, now_ns))
                    sent += 1
                    due_ns += interval_ns
                probes.receive(min(PROBE_WAIT_S, max(0.0, (due_ns - clock_ns()) * 1e-9)))
            except OSError as error:
                raise self.failure(error) from error
            load.look()
            alive()
            self.stopping.check()
            self.advance(self._last_rtt_s, within=1e-9)
        if not probes.rtt_ns.keys() & {number for name, number, _ in self._rows if name == phase}:
            raise self.silence("no-replies", count=sent, timeout_s=self.plan.timeout_s)

    @property
    def _last_rtt_s(self) -> float:
        times = self._probes.rtt_ns if self._probes else {}
        return next(reversed(times.values())) * 1e-9 if times else 0.0

    def samples(self) -> RttSamples:
        """Return the samples so far, without probes whose replies may still come."""
        times = self._probes.rtt_ns if self._probes else {}
        replies = self._probes.replies if self._probes else exchanges.Replies()
        last_ns = self.clock.now_ns() - int(self.plan.timeout_s * 1e9)
        rows = [(phase, number, sent_ns, times.get(number), False)
                for phase, number, sent_ns in self._rows
                if number in times or sent_ns < last_ns]  # fmt: skip
        named = {number: (phase, sent_ns) for phase, number, sent_ns in self._rows}
        rows += [(named[number][0], number, named[number][1], rtt_ns, True)
                 for number, rtt_ns in replies.duplicates if number in named]  # fmt: skip
        rows.sort(key=lambda row: (row[1], row[4]))
        names = ("late_count", "foreign_count", "damaged_count", "duplicate_count")
        counts = {name: getattr(replies, name) for name in names}
        self.facts["load_rates_bps"] = dict(self.rates_bps)
        samples = RttSamples(
            payload_bytes=[self.plan.payload_bytes] * len(rows),
            rtt_s=[record.seconds(row[3]) for row in rows],
            sequence=[row[1] for row in rows],
            lost=[row[3] is None for row in rows],
            duplicate=[row[4] for row in rows],
            resolution_s=[self.facts.get("timer_resolution_s", np.nan)] * len(rows),
            sent_s=[self.since_start_s(row[2]) for row in rows],
            group=[row[0] for row in rows],
            meta=self.meta(counts),
        )
        facts = tuple(self._fact_row(samples, phase) for phase in samples.groups)
        return replace(samples, meta=replace(samples.meta, facts=facts))

    def _fact_row(self, samples: RttSamples, phase: str) -> dict[str, Any]:
        own = np.asarray(samples.group) == phase
        times = np.asarray(samples.rtt_s)[samples.measured & own]
        sent = int(np.count_nonzero(own & ~np.asarray(samples.duplicate)))
        ends = (times.min(), np.median(times), times.max()) if times.size else (None,) * 3
        return fact_row(
            group=phase, target=samples.meta.target, sent_count=sent, received_count=times.size,
            loss_ratio=1 - times.size / sent, partial=samples.meta.partial,
            received_rate_bps=self.rates_bps.get(phase),
            **dict(zip(("rtt_min_s", "rtt_median_s", "rtt_max_s"), ends, strict=True)),
        )  # fmt: skip


@named_arguments
def working_latency(
    directions: Sequence[str] = tuple(DIRECTIONS),
    *,
    duration_s: float = 6.0,
    warm_s: float = 2.0,
    interval_s: float = 0.02,
    payload_bytes: float = 64,
    timeout_s: float = 2.0,
    congestion_control: str = "",
    peer: FarPeer | None = None,
    path: Path | None = None,
    link_buffer_bytes: int | None = None,
    progress: record.Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> RttSamples:
    """Measure round trips without a load, during transfers by TCP, and without a load again.

    The queue that a transfer fills delays every packet behind it: a call, a game, a click. How much
    is seen only while something else is transferred.

    Parameters
    ----------
    directions : sequence of {'forward', 'back', 'both'}
        Where the transfers go, one phase after the other: to the peer or the far end of the path,
        from it, or both at once. [text]
    duration_s : float
        Duration of each phase, 0.1 to 60. [s]
    warm_s : float
        Time without probes after the start of a transfer, in which it fills the queue, and after
        the end of the last one, 0 to 60. [s]
    interval_s : float
        Time from one probe to the next, 0.001 to 10: none waits for the one before. [s]
    payload_bytes : float
        Size of the probes, UDP datagrams, 8 to 1400. [byte]
    timeout_s : float
        Reply timeout, 0.001 to 60. [s]
    congestion_control : str
        Congestion control of the transfers, such as ``'reno'``; empty leaves it to the system.
    peer : Peer, optional
        A second machine, on which ``netcalc peer`` runs.
    path : Path, optional
        Path of the probes and the transfers, emulated on this machine. One of the two is needed.
    link_buffer_bytes : int, optional
        Buffer of each link of the path; by default twice the bandwidth-delay product. [byte]
    progress : callable, optional
        Called as ``progress(done, total, rtt_s)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File to save the samples to: written every second, at the end and on failure.

    Returns
    -------
    RttSamples
        One row per probe; ``group`` is its phase: ``idle``, the directions, and ``idle after``.
        ``meta.facts`` has a row for each phase, and ``meta.instrument.load_rates_bps`` the payload
        rate of each transfer meanwhile. After a stop, a first Ctrl-C or the time limit, the rows so
        far, marked as partial.

    Raises
    ------
    DomainError
        If a direction, size or time is impossible.
    ExperimentError
        If the run would exceed a limit, the system does not grant the congestion control or the
        namespaces, or the run fails; then ``partial`` has the samples so far.

    Notes
    -----
    At most 100,000 probes, 20 GB and 600 s; a transfer that would carry more ends the run.

    One connection fills a queue to its end only if its window grows so far: a line with a long
    round trip may need several, or more time.

    Examples
    --------
    >>> samples = working_latency(["forward"], duration_s=0.5, warm_s=0.5,
    ...     path=Path.parse("10 Mbit/s 5 ms"))
    >>> samples.groups, samples.sent
    (['idle', 'forward', 'idle after'], 75)

    References
    ----------
    Paasch, Meyer, Cheshire and Hawkins, "Responsiveness under Working Conditions",
    draft-ietf-ippm-responsiveness-08, 2025. Gettys and Nichols, "Bufferbloat: Dark Buffers in the
    Internet", ACM Queue 9 (11), 2011.
    """
    common = record.Common(
        path=path, peer=peer, needs_path=True, progress=progress, stop=stop, save=save
    )
    placement = transfers.Placement(path=path, link_buffer_bytes=link_buffer_bytes)
    plan = LoadPlan(
        directions=limits.distinct_choices("directions", directions, tuple(DIRECTIONS)),
        duration_s=limits.finite("duration_s", duration_s, 0.1, MAX_LOAD_S),
        warm_s=limits.finite("warm_s", warm_s, 0.0, MAX_LOAD_S),
        interval_s=limits.finite("interval_s", interval_s, 0.001, 10.0),
        payload_bytes=limits.whole_number(
            "payload_bytes", payload_bytes, TAG_BYTES, MAX_PAYLOAD_BYTES
        ),
        timeout_s=limits.timeout_s(timeout_s),
        congestion_control=congestion_control,
    )
    count = len(plan.phases)
    limits.require_bounded(
        probe_count=count * plan.phase_count,
        carried_bytes=2 * count * plan.phase_count * plan.payload_bytes,
        duration_s=count * (plan.duration_s + plan.warm_s) - plan.warm_s,
    )
    target: dict[str, Any]
    if peer is not None:
        if link_buffer_bytes is not None:
            raise DomainError("not-with-peer", "link_buffer_bytes", link_buffer_bytes)
        measure, host = partial(_measure_at_peer, peer=peer), peer.host
        target = {"peer": peer}
    else:
        assert path is not None
        emulated = EmulatedPath(path, buffer_bytes=placement.buffer_bytes)
        measure, host = partial(_measure_on_path, emulated=emulated), emulated.address("B")
        target = {"path": path, "link_buffer_bytes": placement.buffer_bytes}
    return common.conduct(
        measure,
        WorkingRun,
        plan=plan,
        target=f"{common.place if peer else placement.name}, UDP beside TCP",
        host=host,
        command=plan.command(**target),
    )


MAX_LOAD_S = 60.0
"""Longest phase. [s]"""


def _measure_at_peer(run: WorkingRun, peer: FarPeer) -> None:
    """Send the probes and the transfers to a peer on a second machine."""
    plan = run.plan
    run.record_machine(limits.ip_version(peer.host))
    run.port, run.phase = peer.port, "peer"
    with FarEnd(peer, stopping=run.stopping) as far, record.measuring_with(run, far):
        run.phase = "connect"
        with record.attribute_errors(run, far), ExitStack() as undo:
            family = helper.address_family(peer.host)
            sock = undo.enter_context(socket.socket(family, socket.SOCK_DGRAM))
            line = far.open([sock])
            number = far.echo(line, plan.payload_bytes)

            @contextmanager
            def loads(phase: str) -> Iterator[Sequence[transfers.Way]]:
                ends = FarEnds(cast(transfers.Transfers, run), far, DIRECTIONS[phase])
                with ends, _opened(ends.ways(plan.transfer)) as opened:
                    yield opened

            run.measure(run.probes_on(sock, line.session), loads, far.poll)
            report = far.end(number)
            for name in ("echoed", "refused", "unsent"):
                run.facts[f"peer_{name}_count"] = int(report[name])


def _measure_on_path(run: WorkingRun, emulated: EmulatedPath) -> None:
    """Send the probes and the transfers through an emulated path."""
    plan, host = run.plan, run.host
    run.record_machine(limits.ip_version(host))
    session = secrets.token_bytes(TAG_BYTES)
    with run.measuring(), run.over(emulated, judged=False):
        with emulated.socket("B", helper.address_family(host), socket.SOCK_DGRAM) as sock:
            sock.bind((host, 0))
            settings = responder_settings(
                "udp", session, (host, 0), message_bytes=plan.payload_bytes, from_one_port=True,
                fd=sock.fileno(),
            )  # fmt: skip
            peer = Peer(settings, stopping=run.stopping, passed=[sock.fileno()])

        @contextmanager
        def loads(phase: str) -> Iterator[Sequence[transfers.Way]]:
            with ExitStack() as undo:
                ways: list[transfers.Way] = []
                for direction in DIRECTIONS[phase]:
                    source, sink = "AB" if direction.startswith("forward") else "BA"
                    run.host = emulated.address(sink)
                    ends = transfers.TransferEnds(
                        cast(transfers.Transfers, run),
                        source_socket=partial(emulated.socket, source),
                        sink_socket=partial(emulated.socket, sink),
                    )
                    opened = undo.enter_context(ends).ways(plan.transfer)
                    for way in undo.enter_context(_opened(opened)):
                        way.direction = direction
                        ways.append(way)
                yield ways

        opener = partial(emulated.socket, "A")
        with (
            peer,
            record_peer(run, peer),
            open_connected((host, peer.port), opener) as sock,
        ):
            run.measure(run.probes_on(sock, session), loads, bool)


@contextmanager
def _opened(ways: Iterator[transfers.Way]) -> Iterator[list[transfers.Way]]:
    """Close all ways at the end, also where one does not open."""
    opened: list[transfers.Way] = []
    try:
        for way in ways:
            opened.append(way)
        yield opened
    finally:
        for way in opened:
            way.close()
