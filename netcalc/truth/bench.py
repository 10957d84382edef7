"""Common parts of the settings of a truth table: a path, a stop, the cost of the instrument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from netcalc.checks import FloatArray
from netcalc.emulation.wire.carrier import LATE_S
from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.errors import ExperimentError
from netcalc.experiments.bulk import bulk
from netcalc.experiments.echo import echo
from netcalc.experiments.running.stopping import Ended, Stopping
from netcalc.messages import Notice
from netcalc.path import Path
from netcalc.samples import RttSamples, Samples
from netcalc.truth.host import COUNT, INSTANT_PATH, SIZES, HostCost, Hosts
from netcalc.truth.rows import NO_PATH, TruthRow

HOLDS_ALL_BYTES = 64 << 20
"""A buffer of a link that loses nothing of the runs here. [byte]"""

UNREAD, LATE, CONTENTION = "packets-unread", "packets-late", "cpu-contention"
DISTURBANCES = (UNREAD, LATE, CONTENTION)
"""Codes of warnings that the instrument of a run was disturbed, the most severe first."""
TIMEOUT_S = 0.2
"""Least retransmission timeout of Linux (TCP_RTO_MIN): the cost of a packet that the emulator
did not read. [s]"""
WAKE_UPS = 2
"""Programs that an exchange wakes, each of which may be served late: client and peer. [1]"""
SHARE_RATIO = 0.05
"""Least share of a processor that is believed: of a smaller one the ticks of the kernel's
accounting are most. [ratio]"""
Kept = TypeVar("Kept", bound=Samples)


class Bench:
    """Common state of the rows of one table: the stop, and the cost of the instrument."""

    def __init__(self, stopping: Stopping) -> None:
        self.stopping = stopping
        self.hosts = Hosts(self._calibrate)
        self.own_exchanges_s: dict[str, float] = {}
        self._own_goodput_bps = np.nan
        self._refusal: Notice | None = None
        self._is_tried = False

    @property
    def refusal(self) -> Notice | None:
        """The reason why this system emulates no path; None where it does. Found by making one."""
        if not self._is_tried:
            self._is_tried = True
            try:
                with EmulatedPath(INSTANT_PATH):
                    pass
            except ExperimentError as error:
                self._refusal = Notice(NO_PATH, {"reason": error.what})
        return self._refusal

    def should_stop(self) -> bool:
        """Whether the table is to end; every run calls this while it goes on."""
        try:
            self.stopping.check()
        except Ended:
            return True
        return False

    def require_complete(self, samples: Kept) -> Kept:
        """Return the samples of a run; raise if it ended early."""
        if samples.meta.partial:
            ended_by = samples.meta.instrument.ended_by
            if not ended_by:
                raise ExperimentError("run-incomplete", phase=samples.meta.tool)
            self.stopping.end(ended_by)
            self.stopping.check()
        return samples

    def run_echo(
        self,
        sizes: Sequence[int],
        *,
        path: Path,
        count: int,
        protocol: str = "udp",
        version: int = 4,
        interval_s: float = 0.0,
    ) -> RttSamples:
        """Run an echo through an emulated path; without namespaces, UDP runs through the relay."""
        samples = echo(
            sizes,
            protocol=protocol,
            host="::1" if version == 6 else "127.0.0.1",
            path=path,
            count=count,
            interval_s=interval_s,
            stop=self.should_stop,
        )
        return self.require_complete(samples)

    def host_cost(self, protocol: str, path: Path) -> HostCost:
        """Return what the two hosts add to an exchange over a path."""
        found = self.hosts.cost(protocol, path.latency_s)
        self.own_exchanges_s.update(self.hosts.exchanges_s)
        return found

    def _calibrate(self, protocol: str, pause_s: float) -> RttSamples:
        """Exchange over a path without links, for :class:`netcalc.truth.host.Hosts`."""
        return self.run_echo(
            SIZES, path=INSTANT_PATH, count=COUNT, protocol=protocol, interval_s=pause_s
        )

    def own_goodput_bps(self) -> float:
        """Return the rate of a stream over a path that takes no time. [bit/s]"""
        if np.isnan(self._own_goodput_bps):
            samples = bulk(
                131_072,
                write_count=2000,
                run_count=2,
                buffer_bytes=None,
                congestion_control="reno",
                path=INSTANT_PATH,
                link_buffer_bytes=HOLDS_ALL_BYTES,
                stop=self.should_stop,
            )
            self._own_goodput_bps = float(self.require_complete(samples).goodput_bps.max())
        return self._own_goodput_bps


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One run of an experiment, which gives a row for each of ``what``.

    ``needs_wire`` is False where the run also works without namespaces; ``quick`` marks the
    settings of a short table, ``side_by_side`` those that may run while others do: few packets a
    second between processes of their own, and a long time for each.
    """

    lab: str
    path_text: str
    what: tuple[str, ...]
    quantity: str
    unit: str
    measure: Measure = field(repr=False)
    processing_s: float = 0.0
    needs_wire: bool = True
    quick: bool = False
    side_by_side: bool = False

    @property
    def path(self) -> Path:
        """The path; the nodes between the hosts all take the same time for a packet."""
        return Path.parse(self.path_text, processing_s=self.processing_s)

    def row(self, what: str, **values: Any) -> TruthRow:
        """Return one row."""
        return TruthRow(
            lab=self.lab,
            path=self.path_text,
            what=what,
            quantity=self.quantity,
            unit=self.unit,
            **values,
        )

    def not_run(self, reason: Notice | ExperimentError) -> list[TruthRow]:
        """Return its rows without a measurement, with the reason."""
        text = reason.what if isinstance(reason, ExperimentError) else str(reason)
        return [
            self.row(what, predicted=np.nan, why_not=text, why_not_code=reason.code)
            for what in self.what
        ]


Measure = Callable[[Bench, Setting], Iterable[TruthRow]]
"""Runs a setting and returns its rows."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Time that the instrument adds to one exchange of a run.

    Parameters
    ----------
    host : HostCost
        What the two hosts add, which theory adds, too.
    disturbance_s : float
        What disturbed the run, at most; 0 where nothing did. [s]
    cpu_ratio : float
        Share of its processor that the run got, where it warned of contention; otherwise 1.
    doubt : Notice or None
        The most severe warning of a disturbance.
    """

    host: HostCost
    disturbance_s: float = 0.0
    cpu_ratio: float = 1.0
    doubt: Notice | None = None

    def errors(self, per_exchange: float = 1.0, *, payload_bytes: float = 0.0) -> dict[str, Any]:
        """Return the columns of a row whose value changes by ``per_exchange`` with each second."""
        columns: dict[str, Any] = {
            "host": per_exchange * self.host.time_s(payload_bytes),
            "own_error": per_exchange * self.host.error_s,
            "doubt_error": per_exchange * self.disturbance_s,
        }
        if self.doubt is not None:
            columns |= {"doubt": str(self.doubt), "doubt_code": self.doubt.code}
        return columns


def cost(bench: Bench, protocol: str, samples: Samples, path: Path) -> Cost:
    """Return the time that the instrument adds to an exchange, undisturbed and disturbed."""
    host = bench.host_cost(protocol, path)
    late_s = emulator_lateness_s(samples)
    found = {notice.code: notice for notice in samples.meta.warnings}
    disturbance_s, cpu_ratio = 0.0, 1.0
    if UNREAD in found:
        disturbance_s += TIMEOUT_S * found[UNREAD].values["count"]
    if LATE in found:
        disturbance_s += 2 * (late_s - min(late_s, LATE_S))
    if CONTENTION in found:
        values = found[CONTENTION].values
        cpu_ratio = min(1.0, max(SHARE_RATIO, values["cpu_ratio"]))
        disturbance_s += host.exchange_s * (1.0 / cpu_ratio - 1.0) + WAKE_UPS * values["late_p99_s"]
    worst = next((found[code] for code in DISTURBANCES if code in found), None)
    return Cost(host, disturbance_s, cpu_ratio, worst)


def emulator_lateness_s(samples: Samples) -> float:
    """Return how late the emulator delivered a packet of a run, 99th percentile. [s]

    Up to ``LATE_S`` it counts as punctual. Where more than a few packets are later, the run warns
    that the emulator did not keep up.
    """
    return samples.meta.instrument.wire_lateness_p99_s or 0.0


def least_s(times_s: FloatArray) -> float:
    """Return the smallest time; nan, with which no table holds, where nothing was measured. [s]"""
    return float(times_s.min()) if times_s.size else np.nan
