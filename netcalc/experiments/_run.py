"""One run: what was asked, what was measured so far, and how it is kept and ends."""

from __future__ import annotations

import errno
import os
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from netcalc import __version__
from netcalc.emulation import Statistics
from netcalc.errors import ExperimentError
from netcalc.experiments import _instrument
from netcalc.experiments._exchange import Exchange
from netcalc.experiments._replies import UNCOUNTED_FROM, Replies
from netcalc.experiments._stopping import Ended, Stopping
from netcalc.samples import Meta, RttSamples, Samples
from netcalc.units import show

WARM_UP_COUNT = 5
"""Exchanges before the probes of each size; they are not among the samples. [1]"""
SILENT_COUNT = 20
"""So many probes in a row without a reply end a run. [1]"""
PROGRESS_S = 0.1
"""Time between two calls of a progress function, at least. [s]"""
SAVE_S = 2.0
"""Time between two savings of a run that is under way, at least. [s]"""
OWN_ERROR_S = 5.0
"""Time between two measurements of the own error of a run that is under way, at least. [s]"""

Progress = Callable[[Any, int, float], object]
"""Called with what is done, of how much, and a value: done is a float where a row is long."""
Kept = TypeVar("Kept", bound=Samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What was asked for, checked."""

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

    @property
    def carried_bytes(self) -> int:
        """Payload of the whole run in both directions, with the warm-up."""
        return 2 * sum(self.sizes) * (self.count + WARM_UP_COUNT)

    def command(self, standard: tuple[int, ...], path: object = None) -> str:
        """Return the call that asks for this plan."""
        sizes = "BOOK_SIZES" if tuple(self.sizes) == standard else str(self.sizes)
        if len(self.sizes) > 32 and tuple(self.sizes) != standard:
            sizes = f"[{self.sizes[0]}, ... {len(self.sizes)} sizes ..., {self.sizes[-1]}]"
        return (
            f"echo({sizes}, protocol={self.protocol!r}, count={self.count}, "
            f"interval_s={self.interval_s:g}, timeout_s={self.timeout_s:g}, "
            + (f"host={self.host!r}, port={self.port})" if path is None else f"path={path!r})")
        )


class Record(ABC, Generic[Kept]):
    """What every run keeps: its facts, its own error, who is told, and the file of its samples.

    Parameters
    ----------
    total_count : int
        Rows that the whole run has.
    unit : str
        What a row is, in the plural: ``"probes"``.
    """

    processor_count = 1
    """Processors that the run keeps busy at once."""

    def __init__(
        self,
        *,
        total_count: int,
        unit: str,
        host: str,
        port: int | None,
        stopping: Stopping,
        progress: Progress | None = None,
        save: str | os.PathLike[str] | None = None,
        command: str = "",
    ) -> None:
        self.total_count, self.unit = total_count, unit
        self.host, self.port = host, port
        self.stopping = stopping
        self.phase = "start"
        self.error_of_caller: BaseException | None = None
        self.facts: dict[str, Any] = {}
        self.warnings: list[str] = []
        self.delays_s: list[float] = []
        self.processor_ratio = 1.0
        self._rivals = _instrument.Rivals(self.processor_count)
        self._progress = progress
        self._progress_due_s = 0.0
        self._own_error_due_s = time.monotonic() + OWN_ERROR_S
        self._save = None if save is None else Path(save)
        self._save_due_s = time.monotonic() + SAVE_S
        self._command = command
        self._start_wall_ns = time.time_ns()
        self._start_ns = time.perf_counter_ns()

    @property
    @abstractmethod
    def done_count(self) -> int:
        """Rows so far."""

    @abstractmethod
    def samples(self) -> Kept:
        """Return what was measured so far."""

    def measure_own_error(self) -> None:
        """Measure how the system serves this thread: before the rows, after them, and between."""
        self.delays_s += _instrument.scheduling_delays_s(15)
        self.processor_ratio = min(self.processor_ratio, _instrument.processor_ratio())
        self._own_error_due_s = time.monotonic() + OWN_ERROR_S
        self.stopping.look()

    def measure_rivals(self) -> None:
        """Measure what other programs left of the processors, when all processes are reaped."""
        self.processor_ratio = min(self.processor_ratio, self._rivals.left_ratio())

    def note_wire(self, found: Statistics, *, judged: bool = True) -> None:
        """Note how punctual an emulated path was; warn if it did not keep up."""
        self.facts["wire_lateness_p99_s"] = found.lateness_p99_s
        self.facts["wire_late_ratio"] = found.late_ratio
        if judged and found.invalid is not None:
            self.warnings.append(found.invalid)

    def keep(self, samples: Kept) -> None:
        """Write the samples to the file that was asked for, if any."""
        if self._save is not None:
            try:
                samples.save(self._save)
            except OSError as error:
                raise ExperimentError(
                    f"the samples cannot be written: {error.strerror or error}",
                    phase="save",
                    hint="They are in the attribute partial of this error",
                    partial=samples,
                ) from error

    def failure(self, error: OSError | MemoryError) -> ExperimentError:
        """Say in which phase the system or the peer ended the run, and what it had no more of."""
        hint = None
        if isinstance(error, MemoryError):
            what, reason = "there is no memory left", "the limit of this process, or of the machine"
        else:
            reason = error.strerror or str(error)
            what, hint = _BY_NUMBER.get(error.errno or 0) or (
                _BROKEN.get(type(error).__name__, "the system refuses"),
                None,
            )
        return ExperimentError(
            f"{what}: {reason}", phase=self.phase, host=self.host, port=self.port, hint=hint
        )

    def pace(self, last_ns: int, interval_s: float) -> None:
        """Wait until the interval since the last row is over."""
        wait_s = interval_s - (time.perf_counter_ns() - last_ns) * 1e-9
        if wait_s > 0:
            self.delays_s.append(self.stopping.sleep(wait_s))

    def tell(self, value: float, *, within: float = 0) -> None:
        """Call the progress function and save, both at a bounded rate.

        ``within`` is the share of a row under way: then nothing of the own error is measured.
        """
        now_s, done = time.monotonic(), self.done_count + within
        if self._progress and (now_s >= self._progress_due_s or done == self.total_count):
            try:
                with self.stopping.caller():
                    self._progress(done, self.total_count, value)
            except BaseException as error:
                self.error_of_caller = error
                raise
            self._progress_due_s = time.monotonic() + PROGRESS_S
        if self._save and now_s >= self._save_due_s and done < self.total_count:
            try:
                self.keep(self.samples())
            except ExperimentError as error:
                self.warnings.append(f"not saved after {done:g} {self.unit}: {error.what}")
            took_s = time.monotonic() - now_s
            self._save_due_s = now_s + max(SAVE_S, 20 * took_s)
            self.stopping.look()
        if now_s >= self._own_error_due_s and done < self.total_count and not within:
            self.measure_own_error()

    def since_start_s(self, at_ns: int) -> float:
        """Return a reading of the clock as time since the start of the run."""
        return (at_ns - self._start_ns) * 1e-9

    def meta(
        self,
        *,
        tool: str,
        target: str,
        layers: Mapping[str, str],
        counts: Mapping[str, Any],
        remarks: Sequence[str] = (),
        note: str = "",
    ) -> Meta:
        """Describe the samples: the instrument, its own error, and what makes them doubtful."""
        elapsed_s = (time.perf_counter_ns() - self._start_ns) * 1e-9
        wall_s = (time.time_ns() - self._start_wall_ns) * 1e-9
        start = datetime.fromtimestamp(self._start_wall_ns / 1e9, UTC)
        timing = _instrument.scheduling(self.delays_s) if self.delays_s else {}
        warnings = [
            *self.warnings,
            _instrument.starved(timing.get("scheduling_delay_p99_s", 0.0), self.processor_ratio),
            _instrument.clock_step(wall_s, elapsed_s),
            _instrument.stood_still(self.stopping.gaps),
            *remarks,
        ]
        partial = self.done_count < self.total_count
        if partial and self.stopping.reason:
            ended = f"ended by {self.stopping.reason}"
            warnings.insert(0, f"{ended} after {self.done_count} of {self.total_count} {self.unit}")
        return Meta(
            tool=tool,
            tool_version=__version__,
            command=self._command,
            host=_instrument.host(),
            target=target,
            clock="monotonic (perf_counter), 0 at the start of the run",
            start=start.isoformat(timespec="microseconds"),
            note=note,
            layers=layers,
            instrument={
                **self.facts,
                **timing,
                "processor_ratio": self.processor_ratio,
                "start_wall_ns": self._start_wall_ns,
                "start_monotonic_ns": self._start_ns,
                "duration_s": elapsed_s,
                "gaps": [list(gap) for gap in self.stopping.gaps],
                "ended_by": self.stopping.reason,
                **counts,
            },
            warnings=tuple(filter(None, warnings)),
            partial=partial,
        )


def finish(run: Record[Kept], measure: Callable[[], object]) -> Kept:
    """Let a run go to its end, whichever it is, and keep what it measured."""
    try:
        try:
            measure()
        finally:
            run.measure_rivals()
    except Ended:
        pass
    except BaseException as error:
        failure: BaseException = error
        if error is not run.error_of_caller and isinstance(error, OSError | MemoryError):
            failure = run.failure(error)
        if run.done_count and isinstance(failure, ExperimentError):
            failure.partial = run.samples()
        second = bool(run.stopping.reason)
        if second or not isinstance(error, KeyboardInterrupt):
            if run.done_count:
                run.keep(run.samples())
            if failure is error:
                raise
            raise failure from error
        run.stopping.end("interrupt")
    samples = run.samples()
    run.keep(samples)
    return samples


_BROKEN = {
    "ConnectionRefusedError": "nobody listens there",
    "ConnectionResetError": "the peer closed the connection",
    "BrokenPipeError": "the peer closed the connection",
    "TimeoutError": "no answer in time",
    "PermissionError": "the system does not let this packet out, perhaps a firewall",
}
_PORTS = (
    "no port is free",
    "Others hold them all (net.ipv4.ip_local_port_range); a closed connection keeps its port for a "
    "minute",
)
_FILES = ("no file may be opened any more", "Close some, or raise the limit (ulimit -n)")
_BY_NUMBER: dict[int, tuple[str, str | None]] = {
    errno.EADDRINUSE: _PORTS,
    errno.EADDRNOTAVAIL: ("no port is free, or the address is not there", _PORTS[1]),
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.ENOMEM: ("there is no memory left", None),
    errno.ENOBUFS: ("there is no memory left", None),
    errno.ENOTCONN: ("the peer closed the connection", None),
}


class Run(Record[RttSamples]):
    """The probes of one echo, as they come."""

    def __init__(
        self,
        plan: Plan,
        *,
        stopping: Stopping,
        progress: Progress | None = None,
        save: str | os.PathLike[str] | None = None,
        command: str = "",
    ) -> None:
        super().__init__(
            total_count=plan.probe_count,
            unit="probes",
            host=plan.host,
            port=plan.port or None,
            stopping=stopping,
            progress=progress,
            save=save,
            command=command,
        )
        self.plan = plan
        self._rows: list[tuple[int, int, int, int | None]] = []  # size, sequence, sent, rtt
        self._replies = Replies()
        self._silent_count = 0
        self._warm_up_count = 0

    def probe(self, exchange: Exchange) -> None:
        """Send every probe, size by size, each after the reply to the one before."""
        self._replies = exchange.replies
        sequence = 0
        with _instrument.collector_off():
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
                    self._listen_to_silence(rtt_ns)
                    self.tell(np.nan if rtt_ns is None else rtt_ns * 1e-9)
            exchange.linger()

    @property
    def done_count(self) -> int:
        """Probes sent and answered or lost so far."""
        return len(self._rows)

    def samples(self) -> RttSamples:
        """Return what was measured so far."""
        replies = self._replies
        sent = {sequence: (size, sent_ns) for size, sequence, sent_ns, _ in self._rows}
        rows = [(seq, size, at_ns, rtt_ns, False) for size, seq, at_ns, rtt_ns in self._rows]
        rows += [
            (seq, *sent[seq], rtt_ns, True) for seq, rtt_ns in replies.duplicates if seq in sent
        ]
        rows.sort(key=lambda row: (row[0], row[4]))
        rtts = [np.nan if rtt_ns is None else rtt_ns * 1e-9 for *_, rtt_ns, _ in rows]
        resolution_s = self.facts.get("timer_resolution_s", np.nan)
        return RttSamples(
            payload_bytes=[row[1] for row in rows],
            rtt_s=rtts,
            sequence=[row[0] for row in rows],
            lost=[row[3] is None for row in rows],
            duplicate=[row[4] for row in rows],
            resolution_s=[resolution_s] * len(rows),
            sent_s=[self.since_start_s(row[2]) for row in rows],
            meta=self._meta_of_echo(),
        )

    def _exchange(
        self, exchange: Exchange, payload: bytearray, sequence: int
    ) -> tuple[int, int | None]:
        try:
            return exchange.exchange(payload, sequence)
        except OSError as error:
            raise self.failure(error) from error

    def _warm_up(self, exchange: Exchange, payload: bytearray) -> None:
        """Fill caches before the clock counts; the first of them finds out if anybody answers."""
        self.phase = "warm-up"
        self.delays_s += _instrument.scheduling_delays_s(3)
        for attempt in range(WARM_UP_COUNT):
            self.stopping.check()
            self._warm_up_count += 1
            _, rtt_ns = self._exchange(exchange, payload, UNCOUNTED_FROM + self._warm_up_count)
            if rtt_ns is not None and "warm_up_first_rtt_s" not in self.facts:
                self.facts["warm_up_first_rtt_s"] = rtt_ns * 1e-9
            if rtt_ns is None and self._rows:
                return  # a lossy path is known to answer: no second time limit is spent on it
            if rtt_ns is None and attempt == WARM_UP_COUNT - 1:
                self._refuse_silence(WARM_UP_COUNT)

    def _listen_to_silence(self, rtt_ns: int | None) -> None:
        self._silent_count = 0 if rtt_ns is not None else self._silent_count + 1
        if self._silent_count >= SILENT_COUNT:
            self._refuse_silence(self._silent_count)

    def _refuse_silence(self, count: int) -> None:
        raise ExperimentError(
            f"{count} probes in a row had no reply within {show(self.plan.timeout_s, 's')} each",
            phase=self.phase,
            host=self.plan.host,
            port=self.port,
            hint="The peer hangs, or a firewall drops the packets",
        )

    def _meta_of_echo(self) -> Meta:
        plan, replies = self.plan, self._replies
        return self.meta(
            tool="netcalc echo",
            target=f"{plan.host}, {plan.protocol.upper()}",
            layers={"payload_bytes": f"{plan.protocol.upper()} payload"},
            counts={
                "warm_up_count": self._warm_up_count,
                "late_count": replies.late_count,
                "foreign_count": replies.foreign_count,
                "damaged_count": replies.damaged_count,
                "duplicate_count": replies.duplicate_count,
            },
            remarks=_remarks(replies, plan.timeout_s),
        )


def _remarks(replies: Replies, timeout_s: float) -> list[str]:
    """Say what came beside the replies that count."""
    remarks = []
    if count := replies.late_count:
        limit = show(timeout_s, "s")
        remarks.append(f"replies after the time limit of {limit}, their probes are lost: {count}")
    if count := replies.foreign_count:
        remarks.append(f"datagrams that are not of this run, ignored: {count}")
    if count := replies.damaged_count:
        remarks.append(f"damaged replies, ignored: {count}")
    if (count := replies.duplicate_count) > len(replies.duplicates):
        remarks.append(f"duplicates: {count}, kept as rows: {len(replies.duplicates)}")
    return remarks
