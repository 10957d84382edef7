"""Percentiles of a closed form from a million draws, beside the same by bare numpy in this run.

Bare numpy draws pseudo-random numbers, computes the formula, and takes the same percentiles; it has
no sequence that is even, no indices, and no checks. Asserts nothing.

Run: python tests/benchmarks/uncertain.py [RUNS]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from netcalc import uncertain
from netcalc.models.delays.latency import transfer_s
from netcalc.models.queues.mm1 import mm1_wait_s
from netcalc.models.tcp.loss_limited import mathis_throughput_bps

DRAWS = 1_000_000
RUNS = 7
MOST_S = 1.0
"""What a million draws may take. [s]"""
PERCENTS = (5, 50, 95)


def median_s(function: Callable[[], object], runs: int) -> float:
    """Return the median wall time of some calls, after one that warms up."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def bare_transfer() -> object:
    rng = np.random.default_rng(1)
    rate, latency = rng.uniform(80e6, 100e6, DRAWS), rng.normal(0.03, 0.005, DRAWS)
    return np.percentile(latency + 8e9 / rate, PERCENTS)


def bare_queue() -> object:
    rng = np.random.default_rng(1)
    load = rng.uniform(0.5, 0.9, DRAWS)
    return np.percentile(1e-3 * load / (1 - load), PERCENTS)


def bare_loss() -> object:
    rng = np.random.default_rng(1)
    loss, rtt = rng.uniform(1e-4, 1e-2, DRAWS), 0.03 * np.exp(0.4 * rng.standard_normal(DRAWS))
    return np.percentile(8 * 1460 / rtt * np.sqrt(1.5 / loss), PERCENTS)


CASES: dict[str, tuple[Callable[..., object], dict[str, object], Callable[[], object]]] = {
    "transfer, range and normal": (
        transfer_s,
        {
            "payload_bytes": 1e9,
            "bandwidth_bps": uncertain.uniform(80e6, 100e6),
            "latency_s": uncertain.normal(0.03, 0.005),
        },
        bare_transfer,
    ),
    "M/M/1 wait, range": (
        mm1_wait_s,
        {"utilization": uncertain.uniform(0.5, 0.9), "service_s": 1e-3},
        bare_queue,
    ),
    "loss-limited TCP, range and lognormal": (
        mathis_throughput_bps,
        {
            "loss_ratio": uncertain.uniform(1e-4, 1e-2),
            "mss_bytes": 1460,
            "rtt_s": uncertain.lognormal(0.03, value=0.058),
        },
        bare_loss,
    ),
}


def main() -> None:
    """Print the time of each case, that of bare numpy, and their ratio."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print(f"{DRAWS:,} draws; may take {MOST_S:g} s")
    for name, (model, inputs, bare) in CASES.items():
        own_s = median_s(lambda m=model, i=inputs: uncertain.spread(m, i, draws=DRAWS), runs)
        bare_s = median_s(bare, runs)
        print(f"{name:40} {own_s:6.3f} s  numpy {bare_s:6.3f} s  ratio {own_s / bare_s:4.1f}")


if __name__ == "__main__":
    main()
