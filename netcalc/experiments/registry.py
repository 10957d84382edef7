"""The table of all experiments: what each returns, which theory it has, its shortest run.

Tests, benchmarks and the table of experiments in the documentation go through it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from netcalc.experiments.bulk import bulk, line_rate, lockstep
from netcalc.experiments.echo import echo
from netcalc.experiments.probing import packet_trains, probing
from netcalc.experiments.router_queue import router_queue
from netcalc.experiments.small_writes import small_writes
from netcalc.experiments.transactions import transactions
from netcalc.path import Path
from netcalc.samples import (
    BulkSamples,
    HopSamples,
    RttSamples,
    Samples,
    Table,
    TrainSamples,
    TransactionSamples,
)


@dataclass(frozen=True, slots=True, kw_only=True)
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
        Arguments that make a run go on for seconds, below every limit.
    """

    measure: Callable[..., Any]
    samples: type[Samples]
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
        measure=echo,
        samples=RttSamples,
        theory="overlay",
        shortest={"payload_bytes": (4, 100), "count": 20},
        lasting={"count": 5000},
    ),
    Experiment(
        measure=small_writes,
        samples=TransactionSamples,
        theory="small_writes",
        shortest={"modes": ("single",), "count": 30},
        lasting={"count": 5000},
    ),
    Experiment(
        measure=transactions,
        samples=TransactionSamples,
        theory="transactions",
        shortest={"payload_bytes": (8, 100), "protocols": ("udp", "tcp"), "count": 10},
        lasting={"count": 200},
    ),
    Experiment(
        measure=bulk,
        samples=BulkSamples,
        theory="bulk",
        shortest={"write_bytes": (100, 200), "write_count": 10, "run_count": 8},
        lasting={"run_count": 1000},
    ),
    Experiment(
        measure=line_rate,
        samples=BulkSamples,
        theory="bulk",
        shortest={"frame_bytes": (64, 128), "duration_s": 0.01, "run_count": 2},
        lasting={"run_count": 100},
    ),
    Experiment(
        measure=lockstep,
        samples=BulkSamples,
        theory="bulk",
        shortest={"pair_count": (1, 8), "duration_s": 0.01, "run_count": 2},
        lasting={"run_count": 100},
    ),
    Experiment(
        measure=probing,
        samples=HopSamples,
        theory="probes",
        shortest={"payload_bytes": (520, 1472), "count": 3, "path": _SHORT_PATH},
        lasting={"count": 400},
    ),
    Experiment(
        measure=packet_trains,
        samples=TrainSamples,
        theory="trains",
        shortest={"count": 10, "path": _SHORT_PATH},
        lasting={"count": 5000},
    ),
    Experiment(
        measure=router_queue,
        samples=Table,
        theory="waits",
        shortest={"count": 20, "path": _SHORT_PATH},
        lasting={"count": 100_000},
    ),
)
EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}
"""The experiments by name, as in ``meta.experiment`` of their samples."""
