"""Common parts of the settings of a truth table: a path, a stop, the cost of hosts and instrument.

Each exchange of a run wakes programs and passes the kernels of two hosts, which no link causes. A
calibration measures the same exchange over a single link of 1 Tbit/s, whose latency is all that its
path takes: a time for each packet, and one for each byte. Theory adds it, with its uncertainty.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from netcalc.checks import FloatArray
from netcalc.emulation.wire.carrier import LATE_S
from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.errors import ExperimentError
from netcalc.experiments.bulk import bulk
from netcalc.experiments.echo import echo
from netcalc.experiments.running import instrument
from netcalc.experiments.running.instrument import CpuContention
from netcalc.experiments.running.stopping import Ended, Stopping
from netcalc.messages import Notice
from netcalc.path import Link, Path
from netcalc.samples import RttSamples, Samples
from netcalc.truth.rows import NO_PATH, TruthRow
from netcalc.units import show

INSTANT_BPS = 1e12
"""Rate at which a packet takes no time. [bit/s]"""
INSTANT_PATH = Path.of([Link(INSTANT_BPS)])
"""A path that takes no time."""
SIZES = (8, 1400)
"""User data of the exchanges. [byte]"""
COUNT = 16
"""Exchanges of each size. [1]"""
PERCENTILE = 100.0 / 9.0
"""Percentile of their times that counts: on average that of the smallest of eight, which a row of
the table reports."""


class Calibration(NamedTuple):
    """How many runs calibrate a path of at least this one-way time."""

    least_one_way_s: float
    run_count: int


CALIBRATIONS = Calibration(4e-3, 1), Calibration(1e-3, 2), Calibration(0.0, 4)
"""Where two programs land on the processors changes from run to run what they add: an exchange of a
path of 114 us took 45 to 90 us more in twelve runs of a quiet machine, those within one run a few
us. So a short path, where that matters, has several."""
VALID_S = 60.0
"""How long a calibration counts. [s]"""
BRACKETED_BELOW_S = 4e-3
"""One-way time below which a run needs a calibration of its own, before it and right after it: a
fifth of the time is that of the hosts there, which a slow moment changes by tens of percent. What
is done while a packet is on its way adds nothing, and a processor that has waited longer wakes
later, so that path takes as long; it takes this time for all longer ones. [s]"""
SAME_MOMENT_S = 1.0
"""How long before a question a calibration may be, to be the one right after a run. [s]"""


@dataclass(frozen=True, slots=True)
class HostCost:
    """What two hosts add to a round trip.

    Parameters
    ----------
    exchange_s : float
        For any packet there and back. [s]
    byte_s : float
        More for each byte of the user data. [s/byte]
    error_s : float
        Uncertainty of the sum: from the percentile that counts to the third quartile. [s]
    """

    exchange_s: float
    byte_s: float
    error_s: float

    def time_s(self, payload_bytes: float) -> float:
        """Return what an exchange with this user data takes. [s]"""
        return self.exchange_s + self.byte_s * payload_bytes

    @classmethod
    def of(cls, samples: RttSamples, *, path_s: float) -> HostCost:
        """Compute the cost from exchanges of two sizes over a path that takes this time for all."""
        sizes = np.asarray(samples.payload_bytes)[samples.measured]
        small, large = (samples.best_s[sizes == size] - path_s for size in SIZES)
        low_s, high_s = (float(np.percentile(times, PERCENTILE)) for times in (small, large))
        byte_s = max(0.0, high_s - low_s) / (SIZES[1] - SIZES[0])
        spreads = [np.percentile(x, 75) - np.percentile(x, PERCENTILE) for x in (small, large)]
        mean_s = (low_s + high_s - byte_s * sum(SIZES)) / 2.0
        return cls(mean_s, byte_s, float(max(spreads)))

    @classmethod
    def least(cls, costs: Sequence[HostCost]) -> HostCost:
        """Return the smallest cost of several runs; how far they differ is uncertain, too."""
        means_s = [cost.time_s(sum(SIZES) / len(SIZES)) for cost in costs]
        best = costs[int(np.argmin(means_s))]
        return replace(best, error_s=max(best.error_s, max(means_s) - min(means_s)))


Calibrate = Callable[[str, float], RttSamples]
"""Measures exchanges of ``SIZES`` over a protocol, and a path of a one-way time. [s]"""


class Hosts:
    """Calibrations of the hosts, each measured when it is needed and again after a minute."""

    def __init__(self, measure: Calibrate, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._measure, self._clock = measure, clock
        self._one_at_a_time = threading.Lock()
        self._found: dict[tuple[str, float], list[tuple[float, HostCost]]] = {}

    def cost(self, protocol: str, one_way_s: float) -> HostCost:
        """Return what the hosts add to an exchange over a path of this one-way time.

        It is asked after a run. For a short path the last calibration before the run and one right
        after it count, of which the smaller is taken: a slow moment would have to fall on both.
        """
        one_way_s = min(one_way_s, BRACKETED_BELOW_S)
        chosen = next(each for each in CALIBRATIONS if one_way_s >= each.least_one_way_s)
        is_bracketed = one_way_s < BRACKETED_BELOW_S
        newest_s, needed_count = (SAME_MOMENT_S, 2) if is_bracketed else (VALID_S, 1)
        with self._one_at_a_time:  # settings that run side by side share it
            kept = self._found.setdefault((protocol, one_way_s), [])
            now_s = self._clock()
            kept[:] = [measured for measured in kept if now_s - measured[0] <= VALID_S]
            if not kept or now_s - kept[-1][0] > newest_s:
                kept.append(self._calibrate(protocol, one_way_s, chosen.run_count))
            while len(kept) < needed_count:
                kept.append(self._calibrate(protocol, one_way_s, chosen.run_count))
            costs = [cost for _, cost in kept[-needed_count:]]
            return HostCost.least(costs) if is_bracketed else costs[0]

    def _calibrate(self, protocol: str, one_way_s: float, run_count: int) -> tuple[float, HostCost]:
        """Return a new calibration, and when it ended."""
        runs = [self._measure(protocol, one_way_s) for _ in range(run_count)]
        return self._clock(), HostCost.least(
            [HostCost.of(run, path_s=2 * one_way_s) for run in runs]
        )

    @property
    def exchanges_s(self) -> dict[str, float]:
        """The latest calibrations by protocol and one-way time: what the hosts add. [s]"""
        return {
            f"{protocol}, {show(one_way_s, 's', digits=3)}": kept[-1][1].exchange_s
            for (protocol, one_way_s), kept in list(self._found.items())
            if kept
        }


TOGETHER = 2
"""Settings that run side by side: each has a process that carries packets, and two ends. [1]"""
LOOK_SLEEPS, LOOKS = 1500, 3
"""Short sleeps of a look at the processors, about a second, and how many looks must find them busy.
[1]"""


def require_judge() -> None:
    """Raise if other programs leave a table too little of the processors to judge by."""
    values: Mapping[str, Any] = {}
    for _ in range(LOOKS):
        contention = CpuContention(TOGETHER)
        late_p99_s = float(np.percentile(instrument.scheduling_delays_s(LOOK_SLEEPS), 99))
        busy = instrument.cpu_contention(late_p99_s, contention.left_ratio())
        if busy is None:
            return
        values = busy.values
    raise ExperimentError("machine-cannot-judge", phase="start", **values)


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
    ) -> RttSamples:
        """Run an echo through an emulated path; without namespaces, UDP runs through the relay."""
        samples = echo(
            sizes,
            protocol=protocol,
            host="::1" if version == 6 else "127.0.0.1",
            path=path,
            count=count,
            stop=self.should_stop,
        )
        return self.require_complete(samples)

    def host_cost(self, protocol: str, one_way_s: float) -> HostCost:
        """Return what the two hosts add to an exchange over a path of this one-way time."""
        added = self.hosts.cost(protocol, one_way_s)
        self.own_exchanges_s.update(self.hosts.exchanges_s)
        return added

    def _calibrate(self, protocol: str, one_way_s: float) -> RttSamples:
        """Exchange over a path of this latency alone, for :class:`Hosts`."""
        path = Path.of([Link(INSTANT_BPS, one_way_s)])
        return self.run_echo(SIZES, path=path, count=COUNT, protocol=protocol)

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


@dataclass(frozen=True, slots=True)
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
    _: KW_ONLY
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


def cost(bench: Bench, protocol: str, samples: Samples, one_way_s: float) -> Cost:
    """Return the time that the instrument adds to an exchange, undisturbed and disturbed."""
    host = bench.host_cost(protocol, one_way_s)
    late_s = emulator_lateness_s(samples)
    warnings = {notice.code: notice for notice in samples.meta.warnings}
    disturbance_s, cpu_ratio = 0.0, 1.0
    if UNREAD in warnings:
        disturbance_s += TIMEOUT_S * warnings[UNREAD].values["count"]
    if LATE in warnings:
        disturbance_s += 2 * (late_s - min(late_s, LATE_S))
    if CONTENTION in warnings:
        values = warnings[CONTENTION].values
        cpu_ratio = min(1.0, max(SHARE_RATIO, values["cpu_ratio"]))
        disturbance_s += host.exchange_s * (1.0 / cpu_ratio - 1.0) + WAKE_UPS * values["late_p99_s"]
    worst = next((warnings[code] for code in DISTURBANCES if code in warnings), None)
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
