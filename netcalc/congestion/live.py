"""A scenario with the kernel's own TCP: hosts in namespaces, and the bottleneck between them.

Each host is a process of its own, and so is the bottleneck. The congestion control of each flow is
set on its socket and read back; the kernel grants a user some of those it has, and what it does not
grant is refused before anything is sent.
"""

from __future__ import annotations

import json
import math
import os
import socket
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from operator import itemgetter
from pathlib import Path as File
from typing import Any, NoReturn

import numpy as np

from netcalc.congestion.recording import Recording, as_table, parse_rows
from netcalc.congestion.result import Result
from netcalc.emulation import EmulatedPath, Events, Statistics
from netcalc.emulation.wire.control import LOST, start_failure
from netcalc.emulation.wire.emulated_path import MAX_MTU_BYTES, MIN_MTU_BYTES
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments.peers.flows_peer import BYTES, ROW
from netcalc.experiments.peers.helper import address_family, readable
from netcalc.experiments.peers.process import ControlledPeer
from netcalc.experiments.peers.remote import FarEnd, FarPeer
from netcalc.experiments.running import instrument
from netcalc.experiments.running.limits import require_linux, require_writable
from netcalc.experiments.running.record import SAVE_S, Progress, peer_facts
from netcalc.experiments.running.stopping import SLICE_S, Ended, Stop, Stopping
from netcalc.experiments.transfer import set_congestion_control
from netcalc.messages import Notice
from netcalc.path import Link, Path
from netcalc.samples import GrowingFile, Instrument, Meta
from netcalc.scenario import Flow, Requests, Scenario
from netcalc.version import __version__

MAX_RATE_BPS = 1e9
"""Fastest bottleneck: up to it the emulated path reaches the ceiling of the framing. [bit/s]"""
MAX_CONNECTIONS = 200
"""Flows and request loops of a live run: a message carries the descriptors of so many. [1]"""
MAX_END_S = 600.0
"""Longest live run. [s]"""
SAMPLE_S = 5e-3
"""Interval of the samples of ``TCP_INFO`` and of received bytes. [s]"""
SAMPLES_PER_S = 2000.0
"""Most samples of all connections together; of more connections each has fewer. [1/s]"""
LEAD_S = 0.3
"""Time from the last host's start to the beginning of the scenario. [s]"""
GRACE_S = 5.0
"""Time for the reports of all hosts after the end. [s]"""
DELAYS = 15
"""Timers before the run and after it that show how late the system serves them. [1]"""
END_S = 0.5
"""Time for all hosts to end when the run is stopped. [s]"""
UNSENT_S, LEAST_UNSENT_BYTES = 5e-3, 16_384
"""What a sender may have written beyond what is sent: so little that a flow ends at its stop, and
enough that the kernel never waits for the program. [s], [byte]"""
MOST_CPU_RATIO = 0.9
"""Above this share of one processor a host, which is one process, may be the limit. [ratio]"""
SYSCTLS = {
    "net.ipv4.tcp_rmem": "10000 262144 33554432",
    "net.ipv4.tcp_wmem": "10000 262144 33554432",
    "net.ipv4.tcp_no_metrics_save": "1",
}
"""Of the namespaces of the run: windows that no buffer limits, and flows that learn nothing from
those before them. The first two are Netesto's."""
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_ORDERS = {"sender": "send", "receiver": "receive"}
_OF_HOST = {
    "peer-ended": "host-ended",
    "peer-silent": "host-silent",
    "peer-at-limit": "host-at-limit",
}
"""Codes of errors about the process of a host, which name it."""
UNKNOWN_S = 0.5
"""Time before a save of a run in progress for which a host or the bottleneck may not have written
its log yet: what is saved ends so long before. [s]"""
SHOWN_S = 1.0
"""Time between two calls of a progress function. [s]"""


def run(
    scenario: Scenario,
    *,
    peer: FarPeer | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Result:
    """Run a scenario live and return its means; see :func:`record`."""
    return record(scenario, peer=peer, progress=progress, stop=stop).result()


def record(
    scenario: Scenario,
    *,
    sample_s: float = SAMPLE_S,
    peer: FarPeer | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> Recording:
    """Run a scenario live and return all that was recorded.

    Parameters
    ----------
    scenario : Scenario
        At most 200 flows and request loops, 1 Gbit/s and 600 s.
    sample_s : float
        Interval of the samples of ``TCP_INFO``. [s]
    peer : Peer, optional
        A second machine, on which ``netcalc peer`` runs: the flows go from this machine to it, over
        the way that there is. Rate, round trip and buffer of the scenario are then what is stated
        of that way, for the theory; queue and drops are unknown.
    progress : callable, optional
        Called as ``progress(done_s, end_s, rate_bps)``, once a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True; what was recorded is kept.
    save : path, optional
        File that grows during the run: a run that is killed leaves what it recorded, less the last
        2 s at most. It is marked as partial, until ``as_table(recording).save(path)`` replaces it.

    Raises
    ------
    DomainError
        If the scenario is beyond what a machine carries, or flows have round trips of their own.
    ExperimentError
        If the system refuses namespaces or a congestion control, or a process of the run ends.
    """
    require_linux("congestion control per socket")
    _require_possible(scenario, peer)
    require_writable(save)
    with ExitStack() as undo, Stopping(stop, limit_s=MAX_END_S + 60.0) as stopping:
        growing = None if save is None else undo.enter_context(closing(GrowingFile(File(save))))
        common = (scenario, sample_s, progress, stopping, growing)
        return (_LiveRun(*common) if peer is None else _PeerRun(*common, peer)).measure()


def emulated_path(scenario: Scenario) -> EmulatedPath:
    """Return the path of a scenario: the bottleneck towards B, nothing but delay back."""
    shared = scenario.bottleneck
    there_s = 0.0 if shared.delay_on_acks else shared.rtt_s / 2.0
    there = {
        "latency_s": there_s,
        "buffer_bytes": int(shared.buffer_bytes),
        "loss_ratio": shared.loss_ratio,
    }
    return EmulatedPath(
        Path.of([Link(shared.rate_bps, shared.rtt_s / 2.0)]),
        mtu_bytes=shared.mtu_bytes,
        there=there,
        back={"latency_s": shared.rtt_s - there_s},
        seed=scenario.seed,
        sysctls=SYSCTLS,
        log=True,
        senders=scenario.senders,
    )


class _Host(ControlledPeer):
    """One host of the run, a sender or the receiver, with the log that it writes."""

    def __init__(self, role: str, number: int | None, *, stopping: Stopping) -> None:
        self.log, self.role, self.number = -1, role, number
        self.report_of_run: dict[str, Any] | None = None
        self.total_bytes = 0
        self._told = False  # that it is to end
        super().__init__("flows_peer", stopping=stopping, duration_s=MAX_END_S + 60.0)

    def order(self, plan: dict[str, Any], socks: Sequence[socket.socket]) -> None:
        """Have it follow a plan with some sockets."""
        try:
            self._order(_ORDERS[self.role], plan, socks)
        except OSError as error:
            raise start_failure(error, "start") from error

    def _order(self, does: str, plan: dict[str, Any], socks: Sequence[socket.socket]) -> None:
        self.log = os.memfd_create("netcalc log")
        written = os.memfd_create("netcalc plan")
        try:
            os.write(written, json.dumps(plan).encode())
            os.lseek(written, 0, os.SEEK_SET)
            data = [json.dumps({"do": does}).encode()]
            handles = [written, self.log, *(sock.fileno() for sock in socks)]
            socket.send_fds(self.control, data, handles)
        finally:
            os.close(written)

    @property
    def cpu_s(self) -> float:
        """Processor time that it has reported; nan if it has not. [s]"""
        return float((self.report_of_run or {}).get("cpu_s", np.nan))

    def explain(self, error: ExperimentError) -> ExperimentError:
        """Return the error with the name of this host, if its process is at fault."""
        explained = super().explain(error)
        code = _OF_HOST.get(explained.code)
        if code is None:
            return explained
        values = explained.values
        facts = {name: values[name] for name in ("status", "symptom") if name in values}
        return ExperimentError(code, phase=explained.phase, **self.named, **facts)

    @property
    def named(self) -> dict[str, Any]:
        """What an error says of this host: role, number among several, and both in words."""
        return {"role": self.role, "number": self.number, "host_name": self._words(self.role)}

    def _words(self, what: str) -> str:
        return what if self.number is None else f"{ORDINALS[self.number - 1]} {what}"

    @property
    def adjective(self) -> str:
        """What kind of host it is, in words."""
        return self._words({"sender": "sending", "receiver": "receiving"}[self.role])

    def wait(self, limit_s: float) -> None:
        """Wait for a report. [s]"""
        readable(self.control, limit_s)

    def poll(self) -> None:
        """Read the reports that are there."""
        while self.report_of_run is None and readable(self.control, 0.0):
            data = self.control.recv(1 << 16)
            if not data:
                self.fail(None)
            report = json.loads(data)
            if report.get("so_far"):
                self.total_bytes = report["total_bytes"]
            else:
                self.report_of_run = report

    def ends(self) -> bool:
        """Have it end, and return whether it has: by a report, or because it is gone."""
        if self.report_of_run is None:
            try:
                if not self._told:
                    self.send({"do": "end"})
                    self._told = True
                self.wait(SLICE_S)
                self.poll()
            except ExperimentError:
                return True
        return self.report_of_run is not None

    def rows(self, begin: int = 0) -> bytes:
        """Return what it has logged, from a byte of it on."""
        return os.pread(self.log, max(0, os.fstat(self.log).st_size - begin), begin)

    def close(self) -> dict[str, int]:
        """End the process."""
        if self.log >= 0:
            os.close(self.log)
            self.log = -1
        return super().close()


class _FarSink:
    """The receiver of a run at a peer, with the interface of a host.

    Parameters
    ----------
    far : FarEnd
        The peer.
    line : int
        Number of the line of its connections.
    count : int
        Connections. [1]
    """

    role, number, adjective = "receiver", None, "receiving"

    def __init__(self, far: FarEnd, line: int, *, count: int) -> None:
        self._far, self._flow_count = far, count
        self._job = far.order("flows", line=line)
        self.zero_ns = 0
        self.report_of_run: dict[str, Any] | None = None
        self.total_bytes = self._at_ns = 0
        self.cpu_s = float("nan")
        self._counts: list[tuple[int, int, int]] = []  # time, connection, bytes
        self._told = False

    @property
    def named(self) -> dict[str, Any]:
        """What an error says of this host."""
        return {"role": self.role, "number": None, "host_name": self.role}

    def wait(self, limit_s: float) -> None:
        """Wait for a report. [s]"""
        self._far.wait(limit_s)

    def poll(self) -> None:
        """Note the bytes of each connection so far."""
        if self.report_of_run is not None:
            return
        report = self._far.answer_if_there(self._job)
        count = self._far.so_far(self._job) if report is None else report
        at_ns = count.get("at_ns", count.get("end_ns", 0))
        counted = count.get("flow_bytes", [])
        spans_ns = count.get("spans_ns", [])
        if {len(counted), len(spans_ns)} - {0, self._flow_count} or len(spans_ns) > len(counted):
            self._far.fail("far-peer-malformed")
        if at_ns > self._at_ns:
            self._at_ns = at_ns
            self._counts += [(at_ns, index, value) for index, value in enumerate(counted)]
            self.total_bytes = sum(counted)
        if report is not None:
            ahead_ns = self._far.clock.ahead_ns
            for index, (first_ns, last_ns) in enumerate(spans_ns):
                if last_ns:
                    self._counts.append((first_ns - ahead_ns, index, 0))
                    self._counts.append((last_ns - ahead_ns, index, counted[index]))
            self.cpu_s = report["user_s"] + report.get("system_s", float("nan"))
            self.report_of_run = {**report, "count": len(counted)}

    def ends(self) -> bool:
        """Have it end, and return whether it has."""
        if self.report_of_run is None:
            try:
                if not self._told:
                    self._told = True
                    self._far.order_end(self._job)
                self.wait(SLICE_S)
                self.poll()
            except ExperimentError:
                return True
        return self.report_of_run is not None

    def rows(self, begin: int = 0) -> bytes:
        """Return what it has counted, from a byte of it on."""
        if begin and self.report_of_run is not None:
            return b""  # which has times before those of the rows so far
        rows = b"".join(
            ROW.pack(BYTES, index, at_ns - self.zero_ns, value)
            for at_ns, index, value in sorted(self._counts)
        )
        return rows[begin:]

    def fail(self, cause: BaseException | None) -> NoReturn:
        """Raise the error of a peer that does not respond."""
        self._far.fail("far-peer-silent", cause)


class _LiveRun:
    """A live run in progress."""

    command, target = "netcalc congestion --by live", ""

    def __init__(
        self,
        scenario: Scenario,
        sample_s: float,
        progress: Progress | None,
        stopping: Stopping,
        growing: GrowingFile | None,
    ) -> None:
        self.scenario, self.progress, self.stopping = scenario, progress, stopping
        self.growing, self.save_due_s = growing, UNKNOWN_S
        self.saved_bytes: dict[_Host | _FarSink, int] = {}  # of the log of each host
        self.loads: list[tuple[int, Flow | Requests]] = [
            *enumerate(scenario.flows), *enumerate(scenario.requests),
        ]  # fmt: skip
        self.sample_s = max(sample_s, len(self.loads) / SAMPLES_PER_S)
        self.warnings: list[Notice] = []
        self.facts: dict[str, Any] = {}
        self.is_broken = False
        self.zero_ns = stopping.clock.now_ns()  # of the scenario, once all hosts are started
        self.start_ns, self.start_wall_ns = stopping.clock.now_ns(), stopping.clock.wall_ns()

    def measure(self) -> Recording:
        """Run all hosts, and return what they recorded with what makes it doubtful."""
        contention = instrument.CpuContention()
        delays_s = instrument.scheduling_delays_s(DELAYS)
        try:
            recording = self._run()
        except Ended:  # before the hosts had begun
            recording = self._recording((), None, (), self.start_ns)
        except OSError as error:
            raise start_failure(error, "start") from error
        except ExperimentError as error:
            _name_bottleneck(error)
            raise
        delays_s += instrument.scheduling_delays_s(DELAYS)
        timing = instrument.scheduling(delays_s)
        left_ratio = contention.left_ratio()
        short = instrument.cpu_contention(timing["scheduling_delay_p99_s"], left_ratio)
        return replace(recording, meta=self._meta(short, **timing, processor_ratio=left_ratio))

    def _run(self) -> Recording:
        """Open the path, run all hosts, and return what they recorded."""
        with ExitStack() as undo, emulated_path(self.scenario) as path:
            self.facts["truth"] = path.truth()
            self.stopping.check()
            undo.enter_context(self.stopping.watching(path.require_alive))
            return self._recorded(self._start(path, undo), path)

    def _recorded(self, hosts: Sequence[_Host | _FarSink], path: EmulatedPath | None) -> Recording:
        """Wait for the end of all hosts, and return what they recorded."""
        broken: ExperimentError | None = None
        try:
            self._wait(hosts, path)
        except Ended:
            pass
        except ExperimentError as error:
            self.is_broken, broken = True, error
        end_ns = self.stopping.clock.now_ns()
        if broken or self.stopping.reason:
            self._end(hosts)
        queue = None if path is None else self._queue(path)
        recording = self._recording([host.rows() for host in hosts], queue, hosts, end_ns)
        self._judge_hosts(hosts, recording.ended_s)
        if broken is not None:
            broken.partial = replace(recording, meta=self._meta())
            raise broken
        if not self.stopping.reason:
            self._judge_count(hosts[-1])
        return recording

    def _recording(
        self,
        logs: Sequence[bytes],
        queue: Events | None,
        hosts: Sequence[_Host | _FarSink],
        end_ns: int,
    ) -> Recording:
        """Return logs of all hosts and of the queue, until a time of the clock."""
        states, received, requests = parse_rows(*logs)
        ended_s = (end_ns - self.zero_ns) * 1e-9
        return Recording(
            scenario=self.scenario,
            states=states,
            received=received,
            requests=requests,
            queue=None if queue is None else _from_zero(queue, self.zero_ns),
            ended_s=min(self.scenario.end_s, max(0.0, ended_s)) if any(logs) else 0.0,
            cpu_s=tuple(host.cpu_s for host in hosts) or (np.nan,) * (self.scenario.senders + 1),
            meta=self._meta(),
        )

    def _queue(self, path: EmulatedPath) -> Events | None:
        """Return the log of the bottleneck, and note how late it was; None if it died with it."""
        try:
            queue = path.events("B")
            self._judge_path(path.statistics())
        except ExperimentError as error:
            self.warnings.append(Notice("queue-log-lost", {"cause": error.code}))
            return None
        return queue

    def _end(self, hosts: Sequence[_Host | _FarSink]) -> None:
        """Have all hosts end now, and wait for what they log; one that is gone is left out."""
        clock = self.stopping.clock
        end_ns = clock.now_ns() + int(END_S * 1e9)
        left = list(hosts)
        while left and clock.now_ns() < end_ns:
            for host in tuple(left):
                if host.ends():
                    left.remove(host)

    def _start(self, path: EmulatedPath, undo: ExitStack) -> list[_Host]:
        """Open the connections' sockets and start all hosts: the senders, and the receiver last."""
        sources: list[list[socket.socket]] = [[] for _ in range(self.scenario.senders)]
        plans: list[list[dict[str, Any]]] = [[] for _ in sources]
        listeners = []
        senders = [path.sides[0], *path.sides[2:]]
        for number, (index, load) in enumerate(self.loads):
            sender = self.scenario.sender_of(index)
            source = undo.enter_context(path.socket(senders[sender]))
            set_congestion_control(source, load.algorithm)
            listener = undo.enter_context(path.socket("B"))
            listener.bind((path.address("B"), 0))
            listener.listen(1)
            address = {"host": path.address("B"), "port": listener.getsockname()[1]}
            plans[sender].append({"index": number, **address, **_times_and_sizes(load)})
            sources[sender].append(source)
            listeners.append(listener)
        several = len(sources) > 1
        roles = [
            ("receiver", None),
            *(("sender", at if several else None) for at in range(1, len(sources) + 1)),
        ]
        sink, *hosts = [undo.enter_context(_Host(*role, stopping=self.stopping)) for role in roles]
        self.zero_ns = self.stopping.clock.now_ns() + int(LEAD_S * 1e9)
        connections = sorted(chain.from_iterable(plans), key=itemgetter("index"))
        sink.order(self._plan(connections), listeners)
        for host, plan, socks in zip(hosts, plans, sources, strict=True):
            host.order(self._plan(plan), socks)
        return [*hosts, sink]

    def _plan(self, connections: list[dict[str, Any]]) -> dict[str, Any]:
        unsent = self.scenario.bottleneck.rate_bps / 8.0 * UNSENT_S
        return {
            "zero_ns": self.zero_ns,
            "end_s": self.scenario.end_s,
            "sample_s": self.sample_s,
            "unsent_bytes": int(max(LEAST_UNSENT_BYTES, unsent)),
            "connections": connections,
        }

    def _save_new(self, hosts: Sequence[_Host | _FarSink], path: EmulatedPath | None) -> None:
        """Add what all have logged since the last time to the file of the run."""
        now_ns = self.stopping.clock.now_ns()
        now_s = (now_ns - self.zero_ns) * 1e-9
        if self.growing is None or now_s < self.save_due_s:
            return
        self.save_due_s = now_s + SAVE_S
        logs = []
        for host in hosts:
            begin = self.saved_bytes.get(host, 0)
            log = host.rows(begin)
            self.saved_bytes[host] = begin + sum(part.nbytes for part in parse_rows(log))
            logs.append(log)
        queue = None if path is None else path.new_events()
        recording = self._recording(logs, queue, hosts, now_ns)
        known_s = min(now_s - UNKNOWN_S, self.scenario.end_s)
        try:
            self.growing.add(as_table(replace(recording, ended_s=max(0.0, known_s))))
        except OSError as error:
            values = {"done": now_s, "unit": "s", "reason": error.strerror or str(error)}
            late = Notice("save-postponed", values)
            self.warnings = [*(each for each in self.warnings if each.code != late.code), late]

    def _wait(self, hosts: Sequence[_Host | _FarSink], path: EmulatedPath | None) -> None:
        """Wait for all reports; a stop ends all hosts, and keeps what they logged."""
        clock, last_bytes, last_s, rate_bps = self.stopping.clock, 0, 0.0, 0.0
        sink = hosts[-1]
        overdue_ns = self.zero_ns + int((self.scenario.end_s + GRACE_S) * 1e9)
        while silent := [host for host in hosts if host.report_of_run is None]:
            self.stopping.check()
            silent[0].wait(SLICE_S)
            for host in hosts:
                host.poll()
            self._save_new(hosts, path)
            now_s = (clock.now_ns() - self.zero_ns) * 1e-9
            if self.progress and now_s - last_s >= SHOWN_S:
                rate_bps = 8.0 * (sink.total_bytes - last_bytes) / (now_s - last_s)
                last_bytes, last_s = sink.total_bytes, now_s
                self._show(now_s, rate_bps)
            if clock.now_ns() > overdue_ns:
                silent[0].fail(None)
        for host in hosts:
            report = host.report_of_run or {}
            if "error" in report:
                raise ExperimentError(
                    "connection-broken", phase="transfer", errno=report["error"],
                    reason=report["text"], **host.named,
                )  # fmt: skip
        self._show(math.inf, rate_bps)

    def _show(self, now_s: float, rate_bps: float) -> None:
        """Tell the progress function how far the run is."""
        if self.progress is None:
            return
        total_s = math.ceil(self.scenario.end_s)
        with self.stopping.caller():
            self.progress(min(now_s, total_s), total_s, rate_bps)

    def _judge_path(self, statistics: Statistics) -> None:
        """Note how late the path was, and whether the run shows it."""
        self.facts |= statistics.facts()
        if statistics.invalid is not None:
            self.warnings.append(statistics.invalid)

    def _judge_count(self, sink: _Host | _FarSink) -> None:
        """Note flows and request loops that the receiving host never saw."""
        count = int((sink.report_of_run or {}).get("count", 0))
        if count < len(self.loads):
            values = {"count": len(self.loads) - count, "total": len(self.loads)}
            self.warnings.append(Notice("flows-not-connected", values))

    def _judge_hosts(self, hosts: Sequence[_Host | _FarSink], ended_s: float) -> None:
        """Note a host whose processor was the limit."""
        for host in hosts:
            cpu_ratio = host.cpu_s / ended_s if ended_s else 0.0
            if cpu_ratio > MOST_CPU_RATIO:
                values = {"host": host.adjective, "cpu_ratio": cpu_ratio,
                          "limit_ratio": MOST_CPU_RATIO}  # fmt: skip
                self.warnings.append(Notice("host-cpu-limit", values))

    def _meta(self, *warnings: Notice | None, **facts: Any) -> Meta:
        noted = [*self.warnings, instrument.suspension(self.stopping.gaps), *warnings]
        elapsed_s = (self.stopping.clock.now_ns() - self.start_ns) * 1e-9
        return Meta(
            tool="netcalc congestion",
            tool_version=__version__,
            experiment="congestion",
            protocol="tcp",
            host=instrument.host(),
            command=self.command,
            target=self.target,
            clock="perf_counter",
            start=datetime.fromtimestamp(self.start_wall_ns / 1e9, UTC).isoformat(),
            warnings=tuple(notice for notice in noted if notice is not None),
            partial=self.is_broken or bool(self.stopping.reason),
            instrument=Instrument(
                **instrument.machine(),
                **self.facts,
                **facts,
                start_wall_ns=self.start_wall_ns,
                start_monotonic_ns=self.start_ns,
                duration_s=elapsed_s,
                gaps=[list(gap) for gap in self.stopping.gaps],
                ended_by=self.stopping.reason,
            ),
        )


class _PeerRun(_LiveRun):
    """A live run in progress whose receiver is a peer on a second machine."""

    def __init__(
        self,
        scenario: Scenario,
        sample_s: float,
        progress: Progress | None,
        stopping: Stopping,
        growing: GrowingFile | None,
        peer: FarPeer,
    ) -> None:
        super().__init__(scenario, sample_s, progress, stopping, growing)
        self._peer = peer
        self.command += f" --peer {peer.host}"
        self.target = f"peer {peer.host}, TCP"

    def _run(self) -> Recording:
        """Connect all flows, start the sender, and return what both ends recorded."""
        with ExitStack() as undo:
            far = undo.enter_context(FarEnd(self._peer, stopping=self.stopping))
            self.facts |= peer_facts(far)
            source = undo.enter_context(_Host("sender", None, stopping=self.stopping))
            # The connections are open before their flows begin.
            with ExitStack() as opened:
                socks = []
                plan: list[dict[str, Any]] = []
                for number, flow in enumerate(self.scenario.flows):
                    family = address_family(self._peer.host)
                    socks.append(opened.enter_context(socket.socket(family, socket.SOCK_STREAM)))
                    set_congestion_control(socks[-1], flow.algorithm)
                    address = {"host": self._peer.host, "port": self._peer.port}
                    plan.append({"index": number, **address, **_times_and_sizes(flow)})
                self.facts["clock_error_s"] = far.measure_clock().error_ns * 1e-9
                sink = _FarSink(far, far.open(socks).number, count=len(socks))
                self.zero_ns = sink.zero_ns = self.stopping.clock.now_ns() + int(LEAD_S * 1e9)
                source.order(self._plan(plan), socks)
            return self._recorded([source, sink], None)


def _name_bottleneck(error: ExperimentError) -> None:
    """Name the bottleneck in the error of a run that lost it, and keep what was recorded."""
    if error.code in LOST:
        if isinstance(error.__cause__, ExperimentError) and error.partial is None:
            error.partial = error.__cause__.partial  # what was noticed first
        error.values |= {"role": "bottleneck", "phase": "bottleneck"}
        error.phase = "bottleneck"


def _times_and_sizes(load: Flow | Requests) -> dict[str, Any]:
    """Return what the plan of the hosts says of a flow or a request loop."""
    times = {"start_s": load.start_s, "stop_s": load.stop_s}
    if isinstance(load, Requests):
        sizes = {"request_bytes": load.request_bytes, "reply_bytes": load.reply_bytes}
    else:
        sizes = {} if load.size_bytes is None else {"size_bytes": load.size_bytes}
    return times | {name: int(size) for name, size in sizes.items()}


def _from_zero(queue: Events, zero_ns: int) -> Events:
    """Return the log of the bottleneck with its times from the start of the scenario."""
    columns = queue.columns()
    for name in ("arrival_s", "departure_s"):
        columns[name] = columns[name] - zero_ns * 1e-9
    return Events(**columns)


def _require_possible(scenario: Scenario, peer: FarPeer | None) -> None:
    link = scenario.bottleneck
    if peer is not None:
        if scenario.requests:
            raise DomainError("not-with-peer", "requests", len(scenario.requests))
        if scenario.senders > 1:
            raise DomainError("not-with-peer", "senders", scenario.senders)
    elif link.rate_bps > MAX_RATE_BPS:
        raise DomainError("live-rate", "rate_bps", link.rate_bps, high=MAX_RATE_BPS)
    elif not MIN_MTU_BYTES <= link.mtu_bytes <= MAX_MTU_BYTES:
        limits = {"low": MIN_MTU_BYTES, "high": MAX_MTU_BYTES}
        raise DomainError("live-mtu", "mtu_bytes", link.mtu_bytes, **limits)
    if set(scenario.rtts_s()) - {link.rtt_s}:
        raise DomainError("live-rtts", "flows", sorted(set(scenario.rtts_s())))
    if scenario.end_s > MAX_END_S:
        raise DomainError("live-end", "end_s", scenario.end_s, high=MAX_END_S)
    count = len(scenario.flows) + len(scenario.requests)
    if count > MAX_CONNECTIONS:
        raise DomainError("live-count", "flows", count, high=MAX_CONNECTIONS)
