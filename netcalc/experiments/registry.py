"""The table of all experiments: what each returns, which theory it has, its shortest run.

Tests, benchmarks and the table of experiments in the documentation go through it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from netcalc import samples as measurements
from netcalc.experiments.bulk import bulk, line_rate, lockstep
from netcalc.experiments.echo import echo
from netcalc.experiments.probing import packet_trains, probing
from netcalc.experiments.router import router
from netcalc.experiments.router_queue import router_queue
from netcalc.experiments.small_writes import small_writes
from netcalc.experiments.transactions import transactions
from netcalc.experiments.working_latency import working_latency
from netcalc.path import Path


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment.

    Attributes
    ----------
    measure : callable
        Its function in :mod:`netcalc.experiments`.
    samples : type
        What it returns.
    theory : str
        The function of :mod:`netcalc.compare` that predicts what it measures.
    shortest : mapping
        Arguments of a run of a fraction of a second, with a path where it needs one.
    lasting : mapping
        Arguments that make a run go on for seconds, below every limit; none if every run does.
    """

    measure: Callable[..., Any]
    samples: type[measurements.Samples]
    theory: str
    shortest: Mapping[str, Any]
    lasting: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.measure.__name__

    @property
    def command(self) -> str:
        """Name of its command, after ``netcalc run``."""
        return self.name.replace("_", "-")


_SHORT_PATH = Path.parse("100 Mbit/s 1 ms")
_ALL = (
    Experiment(
        echo, measurements.RttSamples, "overlay",
        {"payload_bytes": (4, 100), "count": 20}, {"count": 5000},
    ),
    Experiment(
        small_writes, measurements.TransactionSamples, "small_writes",
        {"modes": ("single",), "count": 30}, {"count": 5000},
    ),
    Experiment(
        transactions, measurements.TransactionSamples, "transactions",
        {"payload_bytes": (8, 100), "protocols": ("udp", "tcp"), "count": 10}, {"count": 200},
    ),
    Experiment(
        bulk, measurements.BulkSamples, "bulk",
        {"write_bytes": (100, 200), "write_count": 10, "run_count": 8}, {"run_count": 1000},
    ),
    Experiment(
        line_rate, measurements.BulkSamples, "bulk",
        {"frame_bytes": (64, 128), "duration_s": 0.01, "run_count": 2}, {"run_count": 100},
    ),
    Experiment(
        lockstep, measurements.BulkSamples, "bulk",
        {"pair_count": (1, 8), "duration_s": 0.01, "run_count": 2}, {"run_count": 100},
    ),
    Experiment(
        probing, measurements.HopSamples, "probes",
        {"payload_bytes": (520, 1472), "count": 3, "path": _SHORT_PATH}, {"count": 400},
    ),
    Experiment(
        packet_trains, measurements.TrainSamples, "trains",
        {"count": 10, "path": _SHORT_PATH}, {"count": 5000},
    ),
    Experiment(
        router, measurements.BulkSamples, "bulk",
        {"captured_bytes": (64, 1514), "duration_s": 0.01, "run_count": 2, "path": _SHORT_PATH},
        {"run_count": 20},
    ),
    Experiment(
        router_queue, measurements.Table, "waits",
        {"count": 20, "path": _SHORT_PATH}, {"count": 100_000},
    ),
    Experiment(
        working_latency, measurements.RttSamples, "working_latency",
        {"directions": ("forward",), "duration_s": 0.2, "warm_s": 0.1, "path": _SHORT_PATH},
        {},
    ),
)  # fmt: skip
EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}
"""The experiments by name, as in ``meta.experiment`` of their samples."""
