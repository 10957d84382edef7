"""What the settings of a truth table share: a path, a way to stop, the instrument's own cost."""

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
from netcalc.path import Link, Path
from netcalc.samples import RttSamples, Samples
from netcalc.truth.relayed import echo_through_relay
from netcalc.truth.rows import TruthRow

PAUSE_S = 0.01
"""Pause between exchanges that measure the instrument: processors fall asleep meanwhile. [s]"""
OWN_COUNT = 20
"""Exchanges that measure the instrument's own cost. [1]"""
OWN_PERCENTILE = 75
"""Of their times: what is above is the waiting of a busy machine, which the best do not share."""
OWN_BYTES = 512
"""User data of each of them. [byte]"""
AT_ONCE = Path.of([Link(1e12)])
"""A path that takes no time: what an exchange takes on it is the instrument's own."""
HOLDS_ALL_BYTES = 64 << 20
"""A buffer of a link that loses nothing of what the runs here send. [byte]"""

LATE_PATH = ("packets-unread", "packets-late")
"""Warnings of an emulated path that did not keep up."""
Kept = TypeVar("Kept", bound=Samples)


class Bench:
    """What the rows of one table share: how to stop, and what the instrument costs by itself."""

    def __init__(self, stopping: Stopping) -> None:
        self.stopping = stopping
        self.own_exchanges_s: dict[str, float] = {}
        self._own_goodput_bps = np.nan
        self._why_no_wire: str | None = None

    @property
    def why_no_wire(self) -> str:
        """Why this system has no wire; empty where it has one. Found by making one."""
        if self._why_no_wire is None:
            self._why_no_wire = ""
            try:
                with EmulatedPath(AT_ONCE):
                    pass
            except ExperimentError as error:
                self._why_no_wire = error.what
        return self._why_no_wire

    def over(self) -> bool:
        """Whether the table is to end: what each run asks while it goes on."""
        try:
            self.stopping.check()
        except Ended:
            return True
        return False

    def complete(self, samples: Kept) -> Kept:
        """Return the samples of a run; raise if it was ended before its time."""
        if samples.meta.partial:
            ended_by = samples.meta.instrument["ended_by"]
            if not ended_by:
                raise ExperimentError("the run is not whole", phase=samples.meta.tool)
            self.stopping.end(ended_by)
            self.stopping.check()
        return samples

    def echoed(
        self,
        sizes: Sequence[int],
        *,
        path: Path,
        count: int,
        protocol: str = "udp",
        version: int = 4,
        interval_s: float = 0.0,
    ) -> RttSamples:
        """Run an echo through a path; where there is no wire, UDP through the relay."""
        common: dict[str, Any] = {
            "path": path, "count": count, "interval_s": interval_s, "stop": self.over,
        }  # fmt: skip
        if self.why_no_wire:
            return self.complete(echo_through_relay(sizes, **common))
        host = "::1" if version == 6 else "127.0.0.1"
        return self.complete(echo(sizes, protocol=protocol, host=host, **common))

    def own_exchange_s(self, protocol: str) -> float:
        """Return what three of four exchanges take at most where the path takes no time. [s]"""
        if protocol not in self.own_exchanges_s:
            samples = self.echoed(
                [OWN_BYTES], path=AT_ONCE, count=OWN_COUNT, protocol=protocol, interval_s=PAUSE_S
            )
            self.own_exchanges_s[protocol] = float(np.percentile(samples.best_s, OWN_PERCENTILE))
        return self.own_exchanges_s[protocol]

    def own_goodput_bps(self) -> float:
        """Return the rate of a stream where the path takes no time. [bit/s]"""
        if np.isnan(self._own_goodput_bps):
            samples = bulk(
                131_072,
                write_count=2000,
                run_count=2,
                buffer_bytes=None,
                congestion_control="reno",
                path=AT_ONCE,
                link_buffer_bytes=HOLDS_ALL_BYTES,
                stop=self.over,
            )
            self._own_goodput_bps = float(self.complete(samples).goodput_bps.max())
        return self._own_goodput_bps


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One run of a lab, which gives a row for each of ``what``.

    ``needs_wire`` is False where the run also goes without namespaces; ``quick`` marks what a short
    table has.
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

    def not_run(self, why_not: str) -> list[TruthRow]:
        """Return its rows without a measurement, and say why."""
        return [self.row(what, predicted=np.nan, why_not=why_not) for what in self.what]


Measure = Callable[[Bench, Setting], Iterable[TruthRow]]
"""What runs a setting."""


def least_s(times_s: FloatArray) -> float:
    """Return the smallest time; nan, with which no table holds, where nothing was measured. [s]"""
    return float(times_s.min()) if times_s.size else np.nan


def late_s(samples: Samples) -> float:
    """Return how late the wire delivered a packet of a run, 99th percentile. [s]

    At most as late as it still calls punctual: where more than a few are later, it says itself that
    it did not keep up, and the best of some are not later.
    """
    return min(float(samples.meta.instrument.get("wire_lateness_p99_s", 0.0)), LATE_S)


def own_error_s(bench: Bench, protocol: str, samples: Samples) -> float:
    """Return what the instrument adds to an exchange of a run: itself, and a late wire. [s]"""
    return bench.own_exchange_s(protocol) + 2 * late_s(samples)


def doubt(samples: Samples) -> str:
    """Return what a run says against its own wire, or of programs that took its processor.

    A rate over some time, or a median, has every wait of the two hosts in it; and where a machine
    is busy enough, so has the smallest of a few.
    """
    found = {notice.code: notice for notice in samples.meta.warnings}
    late = next((one for one in samples.meta.warnings if one.code in LATE_PATH), None)
    worst = late or found.get("cpu-contention")
    return "" if worst is None else str(worst)
