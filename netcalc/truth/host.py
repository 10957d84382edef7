"""Time that the two hosts of an emulated path add to an exchange, measured without links.

Each exchange of a run wakes programs and passes the kernels of two hosts, which no link causes. A
calibration measures the same exchange over a path of no latency and 1 Tbit/s: a time for each
packet, and one for each byte. Theory adds it, with its uncertainty.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from netcalc.path import Link, Path
from netcalc.samples import RttSamples

INSTANT_PATH = Path.of([Link(1e12)])
"""A path that takes no time, so that an exchange over it takes what the hosts add."""
SIZES = (8, 1400)
"""User data of the exchanges. [byte]"""
COUNT = 16
"""Exchanges of each size. [1]"""
PERCENTILE = 100.0 / 9.0
"""Percentile of their times that counts: on average that of the smallest of eight, which a row of
the table reports."""


class Calibration(NamedTuple):
    """How exchanges are measured for paths of at least this one-way time."""

    least_one_way_s: float
    pause_s: float
    run_count: int


CALIBRATIONS = (
    Calibration(4e-3, 10e-3, 1), Calibration(1e-3, 2e-3, 2), Calibration(0.0, 0.0, 4),
)  # fmt: skip
"""The pause is that of the path: a processor that has waited longer wakes later; one that waits
less than a millisecond does not sleep. Where two programs land on the processors changes from run
to run what they add: an exchange without a pause took 58 to 104 us in twelve runs of a quiet
machine, those within one run a few us. So a short path, where that matters, has several."""
VALID_S = 60.0
"""How long a calibration counts. [s]"""
BRACKETED_BELOW_S = 4e-3
"""One-way time below which a run needs a calibration before it and one right after it: a fifth of
the time is that of the hosts there, which a slow moment changes by tens of percent. [s]"""
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
    def of(cls, samples: RttSamples) -> HostCost:
        """Compute the cost from exchanges of two sizes over a path that takes no time."""
        sizes = np.asarray(samples.payload_bytes)[samples.measured]
        small, large = (samples.best_s[sizes == size] for size in SIZES)
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


Measure = Callable[[str, float], RttSamples]
"""Measures exchanges of ``SIZES`` over a protocol, with a pause before each. [s]"""


class Hosts:
    """Calibrations of the hosts, each measured when it is needed and again after a minute."""

    def __init__(self, measure: Measure, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._measure, self._clock = measure, clock
        self._one_at_a_time = threading.Lock()
        self._found: dict[tuple[str, float], list[tuple[float, HostCost]]] = {}

    def cost(self, protocol: str, one_way_s: float) -> HostCost:
        """Return what the hosts add to an exchange over a path of this one-way time.

        It is asked after a run. For a short path the last calibration before the run and one right
        after it count, of which the smaller is taken: a slow moment would have to fall on both.
        """
        chosen = next(each for each in CALIBRATIONS if one_way_s >= each.least_one_way_s)
        is_bracketed = one_way_s < BRACKETED_BELOW_S
        newest_s, wanted = (SAME_MOMENT_S, 2) if is_bracketed else (VALID_S, 1)
        with self._one_at_a_time:  # settings that run side by side share it
            kept = self._found.setdefault((protocol, chosen.pause_s), [])
            now_s = self._clock()
            kept[:] = [one for one in kept if now_s - one[0] <= VALID_S]
            if not kept or now_s - kept[-1][0] > newest_s:
                kept.append(self._calibrate(protocol, chosen))
            while len(kept) < wanted:
                kept.append(self._calibrate(protocol, chosen))
            costs = [cost for _, cost in kept[-wanted:]]
            return HostCost.least(costs) if is_bracketed else costs[0]

    def _calibrate(self, protocol: str, chosen: Calibration) -> tuple[float, HostCost]:
        """Return a new calibration, and when it ended."""
        runs = [self._measure(protocol, chosen.pause_s) for _ in range(chosen.run_count)]
        return self._clock(), HostCost.least([HostCost.of(run) for run in runs])

    @property
    def exchanges_s(self) -> dict[str, float]:
        """The latest calibrations by protocol and pause: the time of an exchange. [s]"""
        return {
            f"{protocol}, pause {1e3 * pause_s:g} ms": kept[-1][1].exchange_s
            for (protocol, pause_s), kept in self._found.items()
            if kept
        }
