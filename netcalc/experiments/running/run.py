"""What every run keeps, whatever it measures: its facts, its own error, its file, and its end."""

from __future__ import annotations

import errno
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from netcalc.emulation import Statistics
from netcalc.errors import ExperimentError
from netcalc.experiments.running import instrument
from netcalc.experiments.running.stopping import Ended, Stopping
from netcalc.samples import Meta, Samples
from netcalc.version import __version__

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
        self._rivals = instrument.CpuContention(self.processor_count)
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
        self.delays_s += instrument.scheduling_delays_s(15)
        self.processor_ratio = min(self.processor_ratio, instrument.processor_ratio())
        self._own_error_due_s = time.monotonic() + OWN_ERROR_S
        self.stopping.look()

    def measure_contention(self) -> None:
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
        timing = instrument.scheduling(self.delays_s) if self.delays_s else {}
        warnings = [
            *self.warnings,
            instrument.starved(timing.get("scheduling_delay_p99_s", 0.0), self.processor_ratio),
            instrument.clock_step(wall_s, elapsed_s),
            instrument.stood_still(self.stopping.gaps),
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
            host=instrument.host(),
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
            run.measure_contention()
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
