"""Common part of all runs: facts, measurement error, progress, saved file and end."""

from __future__ import annotations

import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf, isfinite, nan
from pathlib import Path as File
from typing import Any, Generic, Protocol, TypeVar

from netcalc.emulation import EmulatedPath, Statistics
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments.peers import abilities
from netcalc.experiments.peers.remote import FarEnd, FarPeer
from netcalc.experiments.running import instrument, limits
from netcalc.experiments.running.stopping import Ended, Stop, Stopping
from netcalc.messages import Notice
from netcalc.path import Path
from netcalc.printable import excerpt
from netcalc.rate_layers import PAYLOAD
from netcalc.samples import GrowingFile, Instrument, Meta, Samples
from netcalc.version import __version__

SILENT_COUNT = 20
"""Probes in a row without a reply that end a run: by chance one in a million at 50% loss. [1]"""
PROGRESS_S = 0.1
"""Time between two calls of a progress function, at least: more often than a person sees would only
disturb the measurement. [s]"""
SAVE_S, LATEST_SAVE_S = 1.0, 1.5
"""Time between two saves of a run in progress, at least and at most, so that a run that is killed
loses 2 s at most of what it had measured. [s]"""
OWN_ERROR_S = 5.0
"""Time between two measurements of the error of a run in progress, at least: each takes about
20 ms, 0.4% of this. [s]"""

Progress = Callable[[Any, int, float], object]
"""Called with the rows done, their total and a value; a long row counts in fractions."""
Kept = TypeVar("Kept", bound=Samples)


class Record(ABC, Generic[Kept]):
    """Common part of all runs: facts, warnings, measurement error, progress and saved samples.

    Parameters
    ----------
    experiment, protocol, target : str
        Name of the experiment, its protocol, and the host or path that it measures.
    total_count : int
        Rows of the complete run.
    unit : str
        What a row is, in the plural: ``"probes"``.
    host, port : str, int
        Address that an error names.
    command : str
        The call that repeats the run.
    layers : mapping
        Per column: the layer at which a size is counted.
    note : str
        What a reader of the samples should know.
    stopping : Stopping
        Ends the run, and has its clock.
    progress : callable, optional
        Called after rows, at a bounded rate.
    save : path, optional
        File of the samples.
    """

    processor_count = 1
    """Processors that the run keeps busy at once."""

    def __init__(
        self,
        *,
        experiment: str,
        protocol: str,
        target: str,
        total_count: int,
        unit: str,
        host: str = "",
        port: int | None = None,
        command: str = "",
        layers: Mapping[str, str] | None = None,
        note: str = "",
        stopping: Stopping,
        progress: Progress | None = None,
        save: str | os.PathLike[str] | None = None,
    ) -> None:
        self.experiment, self.protocol, self.target = experiment, protocol, target
        self.total_count, self.unit = total_count, unit
        self.host, self.port = host, port
        self.stopping, self.clock = stopping, stopping.clock
        self.phase = "start"
        self.error_of_caller: BaseException | None = None
        self.facts: dict[str, Any] = {}  # attributes of the Instrument of the samples
        self.warnings: list[Notice | str] = []
        self.delays_s: list[float] = []
        self._silent_count = 0
        self.processor_ratio = 1.0
        self._contention = instrument.CpuContention(self.processor_count)
        self._progress = progress
        self._save = None if save is None else File(save)
        self._growing = None if save is None else GrowingFile(File(save))
        self._saved_s = 0.0
        self._command, self._note, self._layers = command, note, layers or {}
        self._start_wall_ns = self.clock.wall_ns()
        self._start_ns = self.clock.now_ns()
        self._progress_due_s = 0.0
        self._save_due_s = SAVE_S
        if save is not None:
            stopping.meanwhile = self.save_while_waiting
        self._error_due_s = OWN_ERROR_S

    @property
    @abstractmethod
    def done_count(self) -> int:
        """Rows so far."""

    @property
    def row_count(self) -> int:
        """Rows of the samples so far, an incomplete one included."""
        return self.done_count

    @abstractmethod
    def samples(self) -> Kept:
        """Return the samples so far."""

    @property
    def elapsed_s(self) -> float:
        """Time since the start of the run. [s]"""
        return self.since_start_s(self.clock.now_ns())

    def since_start_s(self, at_ns: int) -> float:
        """Return a reading of the clock as time since the start of the run. [s]"""
        return (at_ns - self._start_ns) * 1e-9

    def record_measurement_error(self) -> None:
        """Measure how the system serves this thread: before the rows, after them, and between."""
        self.delays_s += instrument.scheduling_delays_s(15)
        self.processor_ratio = min(self.processor_ratio, instrument.processor_ratio())
        self._error_due_s = self.elapsed_s + OWN_ERROR_S
        self.stopping.resume()

    def measure_contention(self) -> None:
        """Measure the CPU time of other programs, once all processes of the run are reaped."""
        self.processor_ratio = min(self.processor_ratio, self._contention.left_ratio())

    def record_machine(self, version: int = 4) -> None:
        """Record the facts of the machine and its clock that affect times."""
        self.facts.update(instrument.machine(), **instrument.timer())
        self.facts["address_family"] = f"IPv{version}"

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Measure the error of the run before what is done within, and after it."""
        self.record_measurement_error()
        yield
        self.record_measurement_error()

    @contextmanager
    def over(self, emulated: EmulatedPath, *, judged: bool = True) -> Iterator[EmulatedPath]:
        """Open an emulated path and watch its process; record what was set and how late it was."""
        with emulated, self.stopping.watching(emulated.require_alive):
            self.facts["truth"] = emulated.truth()
            yield emulated
            self.add_path_statistics(emulated.statistics(), judged=judged)

    def add_path_statistics(self, statistics: Statistics, *, judged: bool = True) -> None:
        """Record how punctual the emulated path was; warn if it did not keep up."""
        self.facts |= statistics.facts()
        if judged and statistics.invalid is not None:
            self.warnings.append(statistics.invalid)

    def write(self, samples: Kept) -> None:
        """Write the samples to the file of the run, if there is one."""
        if self._save is None:
            return
        self.save_no_more()
        try:
            samples.save(self._save)
        except OSError as error:
            raise ExperimentError(
                "samples-not-saved",
                phase="save",
                partial=samples,
                reason=error.strerror or str(error),
            ) from error

    def save_no_more(self) -> None:
        """Close the file that grows during the run; what is in it stays."""
        if self._growing is not None:
            self.stopping.meanwhile = None
            self._growing.close()
            self._growing = None

    def failure(self, error: OSError | MemoryError) -> ExperimentError:
        """Return the error of the run for one of the system: its phase, address and cause."""
        number = None if isinstance(error, MemoryError) else error.errno
        code = failure_code(error)
        if number == errno.ENETUNREACH and self.host.startswith(("127.", "::1")):
            code = "loopback-down"
        return ExperimentError(
            code,
            phase=self.phase,
            host=self.host,
            port=self.port,
            errno=number,
            reason=getattr(error, "strerror", None) or str(error) or os.strerror(errno.ENOMEM),
        )

    def count_silence(self, answered: bool, code: str, **values: Any) -> None:
        """Count the rows in a row without an answer; end the run after too many."""
        self._silent_count = 0 if answered else self._silent_count + 1
        if self._silent_count >= SILENT_COUNT:
            raise self.silence(code, count=self._silent_count, **values)

    def silence(self, code: str, **values: Any) -> ExperimentError:
        """Return the error of a run without answers."""
        return ExperimentError(code, phase=self.phase, host=self.host, port=self.port, **values)

    def pace(self, last_ns: int, interval_s: float) -> None:
        """Wait for the end of the interval since the last row."""
        wait_s = interval_s - (self.clock.now_ns() - last_ns) * 1e-9
        if self.elapsed_s + wait_s > self._save_due_s:
            self.save_so_far()
            wait_s = interval_s - (self.clock.now_ns() - last_ns) * 1e-9
        if wait_s > 0:
            self.delays_s.append(self.stopping.sleep(wait_s))

    def advance(self, value: float, *, within: float = 0) -> None:
        """Call the progress function, save, and measure the error, each at a bounded rate.

        ``within`` is the completed share of the current row; the error is measured between rows.
        """
        now_s, done = self.elapsed_s, self.done_count + within
        if self._progress and (now_s >= self._progress_due_s or done == self.total_count):
            try:
                with self.stopping.caller():
                    self._progress(done, self.total_count, value)
            except BaseException as error:
                self.error_of_caller = error
                raise
            self._progress_due_s = self.elapsed_s + PROGRESS_S
        if now_s >= self._save_due_s:
            self.save_so_far()
        if now_s >= self._error_due_s and done < self.total_count and not within:
            self.record_measurement_error()

    def save_while_waiting(self) -> None:
        """Save within a long wait, in which a reply that comes meanwhile is read later by it."""
        if self.elapsed_s > self._saved_s + LATEST_SAVE_S and self.row_count:
            self.save_so_far()

    def save_so_far(self) -> None:
        """Add what is new to the file; what cannot be written now is written the next time."""
        if self._growing is None:
            return
        self._saved_s = self.elapsed_s
        try:
            self._growing.keep(self.samples())
        except OSError as error:
            facts = {"done": self.done_count, "unit": self.unit}
            late = Notice("save-postponed", {**facts, "reason": error.strerror or str(error)})
            others = [w for w in self.warnings if getattr(w, "code", "") != late.code]
            self.warnings = [*others, late]
        self._save_due_s = self._saved_s + SAVE_S
        self.stopping.resume()

    def meta(
        self, counts: Mapping[str, Any] | None = None, warnings: Sequence[Notice] = ()
    ) -> Meta:
        """Describe the samples: the experiment, its instrument, and what makes them doubtful."""
        elapsed_s = self.elapsed_s
        wall_s = (self.clock.wall_ns() - self._start_wall_ns) * 1e-9
        timing = instrument.scheduling(self.delays_s) if self.delays_s else {}
        partial = self.done_count < self.total_count
        notices = [
            self._early_end() if partial else None,
            *self.warnings,
            instrument.cpu_contention(
                timing.get("scheduling_delay_p99_s", 0.0), self.processor_ratio
            ),
            instrument.clock_step(wall_s, elapsed_s),
            instrument.suspension(self.stopping.gaps),
            *warnings,
        ]
        facts: dict[str, Any] = {
            **self.facts,
            **timing,
            "processor_ratio": self.processor_ratio,
            "start_wall_ns": self._start_wall_ns,
            "start_monotonic_ns": self._start_ns,
            "duration_s": elapsed_s,
            "gaps": [list(gap) for gap in self.stopping.gaps],
            "ended_by": self.stopping.reason,
            **(counts or {}),
        }
        start = datetime.fromtimestamp(self._start_wall_ns / 1e9, UTC)
        return Meta(
            tool=f"netcalc {self.experiment.replace('_', '-')}",
            tool_version=__version__,
            experiment=self.experiment,
            protocol=self.protocol,
            command=self._command,
            host=instrument.host(),
            target=self.target,
            clock="monotonic (perf_counter), 0 at the start of the run",
            start=start.isoformat(timespec="microseconds"),
            note=self._note,
            layers=self._layers,
            instrument=Instrument(**facts),
            warnings=tuple(notice for notice in notices if notice is not None),  # type: ignore[misc]
            partial=partial,
        )

    def _early_end(self) -> Notice | None:
        if not self.stopping.reason:
            return None
        facts = {"reason": self.stopping.reason, "done": self.done_count}
        return Notice("ended-early", {**facts, "total": self.total_count, "unit": self.unit})


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What all experiments have in common: where they go, how they report, end and save.

    Raises
    ------
    DomainError
        If the path is none.
    ExperimentError
        If this system has no live runs, or the host is not the loopback.

    Attributes
    ----------
    path : Path, optional
        The emulated path.
    host : str
        The host as it was given.
    peer : FarPeer, optional
        The peer on a second machine.
    progress : callable, optional
        Called as rows are done.
    stop : threading.Event or callable, optional
        Ends the run.
    save : path, optional
        File of the samples.
    needs_path : bool
        Whether the experiment runs over a path only.
    linux_for : str
        For what it requires Linux without a peer; empty where it runs on other systems, too.
    address : str
        The address of the host.
    """

    path: Path | None = None
    host: str = "127.0.0.1"
    peer: FarPeer | None = None
    progress: Progress | None = None
    stop: Stop | None = None
    save: str | os.PathLike[str] | None = None
    needs_path: bool = False
    linux_for: str = ""
    address: str = field(init=False)

    def __post_init__(self) -> None:
        limits.require_processes(has_peer=self.peer is not None)
        if self.peer is not None:
            self._require_peer_alone(self.peer)
            object.__setattr__(self, "address", self.peer.host)
            return
        if self.linux_for:
            limits.require_linux(self.linux_for)
        limits.require_path(self.path, needed=self.needs_path)
        object.__setattr__(self, "address", limits.loopback_address(self.host))

    def _require_peer_alone(self, peer: FarPeer) -> None:
        """Refuse what is no peer, and a path or a host beside it."""
        if not isinstance(peer, FarPeer):
            raise DomainError("not-a-peer", "peer", peer)
        if self.path is not None:
            raise DomainError("not-with-peer", "path", str(self.path))
        if self.host != "127.0.0.1":
            raise DomainError("not-with-peer", "host", self.host)

    @property
    def place(self) -> str:
        """Where the run goes, as in the target of its samples."""
        return "loopback" if self.peer is None else f"peer {self.peer.host}"

    @property
    def version(self) -> int:
        """Version of IP of the host, 4 or 6."""
        return limits.ip_version(self.address)

    def conduct(
        self, measure: Callable[[Any], object], kind: Callable[..., Record[Kept]], **options: Any
    ) -> Kept:
        """Make a run, measure, and return its samples however it ends.

        Parameters
        ----------
        measure : callable
            Measures; called with the run.
        kind : type
            The class of the run.
        options : dict
            What it is made of, besides ``stopping``, ``progress`` and ``save``.
        """
        limits.require_writable(self.save)
        with Stopping(self.stop, limit_s=limits.MAX_DURATION_S) as stopping:
            run = kind(stopping=stopping, progress=self.progress, save=self.save, **options)
            return finish(run, lambda: measure(run))


def peer_facts(far: FarEnd) -> dict[str, Any]:
    """Return what a peer says of its machine, what its user allows, and what this system lacks."""
    machine: dict[str, Any] = {
        name: excerpt(value) if isinstance(value, str) else int(value)
        for name in ("host", "python", "cpu_count")
        if isinstance(value := far.machine.get(name), str | int)
    }
    allowed = {
        name: float(value) for name, value in far.limits.items() if isinstance(value, int | float)
    }
    machine["lacks"] = abilities.names_among(far.machine.get("lacks"))
    return {"peer_machine": machine, "peer_limits": allowed, "lacks": abilities.lacks()}


class Explaining(Protocol):
    """An end that may know the cause of an error."""

    def explain(self, error: ExperimentError) -> ExperimentError:
        """Return the error of a run, or that of its cause."""


@contextmanager
def attribute_errors(run: Record[Any], peer: Explaining | None) -> Iterator[None]:
    """Turn errors of the system into those of the run, or into what a peer says is their cause.

    An error that a function of the caller raised stays as it is.
    """
    try:
        yield
    except (OSError, ExperimentError) as error:
        if error is run.error_of_caller:
            raise
        failure = run.failure(error) if isinstance(error, OSError) else error
        explained = failure if peer is None else peer.explain(failure)
        if explained is error:
            raise
        raise explained from error


@contextmanager
def measuring_with(run: Record[Any], far: FarEnd) -> Iterator[None]:
    """Measure the errors of both ends before what is done within, and after it.

    What the peer says of its machine, and what its user allows, is recorded, too.
    """
    run.facts |= peer_facts(far)
    if isfinite(rate_bps := run.facts["peer_limits"].get("rate_bps", inf)):
        values = {"rate_bps": rate_bps, "layer": PAYLOAD}
        run.warnings.append(Notice("peer-limits-rate", values))
    errors = [far.own_error()]
    _record_errors(run, errors)
    with run.measuring():
        yield
    _record_errors(run, [*errors, far.own_error()])
    starved = instrument.cpu_contention(
        run.facts["peer_scheduling_delay_p99_s"], run.facts["peer_processor_ratio"]
    )
    if starved is not None:
        run.warnings.append(Notice("peer-contention", starved.values))


def _record_errors(run: Record[Any], errors: Sequence[Mapping[str, float]]) -> None:
    """Record the largest error of a peer, and its least share of a processor."""
    for name, worst in (
        ("timer_resolution_s", max), ("scheduling_delay_p99_s", max), ("processor_ratio", min),
    ):  # fmt: skip
        run.facts[f"peer_{name}"] = worst(error[name] for error in errors)


def seconds(duration_ns: int | None) -> float:
    """Return a time, nan where there is none. [s]"""
    return nan if duration_ns is None else duration_ns * 1e-9


def written_call(name: str, first: object, **arguments: Any) -> str:
    """Write the call that repeats a run; ``first`` is its first argument."""
    texts = [
        f"{key}={value:g}" if isinstance(value, float) else f"{key}={value!r}"
        for key, value in arguments.items()
    ]
    return f"{name}({', '.join([str(first), *texts])})"


def short_list(sizes: Sequence[int], what: str) -> str:
    """Write sizes as a list, a long one by its ends and its number of ``what``."""
    if len(sizes) <= 32:
        return str(list(sizes))
    return f"[{sizes[0]}, ... {len(sizes)} {what} ..., {sizes[-1]}]"


def finish(run: Record[Kept], measure: Callable[[], object]) -> Kept:
    """Measure until the run ends, for whatever reason, and keep the samples."""
    try:
        return _finish(run, measure)
    finally:
        run.save_no_more()


def _finish(run: Record[Kept], measure: Callable[[], object]) -> Kept:
    try:
        try:
            measure()
        finally:
            run.measure_contention()
    except Ended:
        pass
    except BaseException as error:
        failure: BaseException = error
        if error is not run.error_of_caller and isinstance(error, OSError | MemoryError):
            failure = run.failure(error)
        if run.row_count and isinstance(failure, ExperimentError):
            failure.partial = run.samples()
        second = bool(run.stopping.reason)
        if second or not isinstance(error, KeyboardInterrupt):
            if run.row_count:
                run.write(run.samples())
            if failure is error:
                raise
            raise failure from error
        run.stopping.end("interrupt")
    samples = run.samples()
    run.write(samples)
    return samples


def failure_code(error: OSError | MemoryError) -> str:
    """Return the code of the run's error for one of the system."""
    if isinstance(error, MemoryError):
        return "out-of-memory"
    by_class = next((code for kind, code in _BY_CLASS if isinstance(error, kind)), "system-error")
    return _BY_NUMBER.get(error.errno or 0, by_class)


_BY_CLASS: tuple[tuple[type[OSError], str], ...] = (
    (ConnectionRefusedError, "peer-refused"),
    (ConnectionResetError, "peer-closed"),
    (BrokenPipeError, "peer-closed"),
    (TimeoutError, "connection-timed-out"),
    (PermissionError, "send-not-permitted"),
)
_BY_NUMBER = {
    errno.EADDRINUSE: "out-of-ports",
    errno.EADDRNOTAVAIL: "address-not-available",
    errno.EMFILE: "out-of-files",
    errno.ENFILE: "out-of-files",
    errno.ENOMEM: "out-of-memory",
    errno.ENOBUFS: "out-of-memory",
    errno.ENOTCONN: "peer-closed",
}
