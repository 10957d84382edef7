"""What a run was: its experiment, and the emulated path that it went over."""

from __future__ import annotations

from typing import Any, TypeGuard

from netcalc.checks import named_arguments
from netcalc.path import Path
from netcalc.samples import Instrument, Meta, Samples, Table, TransactionSamples

FULL_SEGMENT_BYTES = 1448
"""User data of a full segment with timestamps on a path with an MTU of 1500 bytes. [byte]"""

# Files saved before ``meta.experiment`` existed name the experiment in the tool.
_EXPERIMENTS = {
    "netcalc line-rate": "line_rate",
    "netcalc lockstep": "lockstep",
    "netcalc small-writes": "small_writes",
    "netcalc transactions": "transactions",
}


def experiment(meta: Meta) -> str:
    """Return the experiment of a run, such as ``line_rate``; empty for samples of another tool."""
    return meta.experiment or _EXPERIMENTS.get(meta.tool, "")


@named_arguments
def is_small_writes(samples: TransactionSamples) -> bool:
    """Whether each request of a run was written in parts."""
    name = experiment(samples.meta)
    if not name:  # samples that a program put together itself
        return samples.meta.instrument.write_bytes is not None
    return name == "small_writes"


@named_arguments
def is_router_queue(samples: Samples) -> TypeGuard[Table]:
    """Whether a table is a run of a router as a queue."""
    return isinstance(samples, Table) and experiment(samples.meta) == "router_queue"


def emulated_path(facts: Instrument) -> Path | None:
    """Return the emulated path of a run; None without one."""
    return Path.from_truth(facts.truth) if facts.truth else None


def truth_value(facts: Instrument, name: str, default: Any) -> Any:
    """Return a setting of the emulated path of a run, or a default without one."""
    return (facts.truth or {}).get(name, default)
