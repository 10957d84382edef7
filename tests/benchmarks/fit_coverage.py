"""How often the 95 % interval of a fitted latency and rate holds the true one, by kind of points.

``python tests/benchmarks/fit_coverage.py [RUNS]``: seeded Monte Carlo, 1,000 sets of each kind; all
go through the public fit. Of 1,000 sets a share of 95 % is uncertain by 0.7 % (binomial). What is
true of a ping with delays above the least is the line through the expected least time of a size.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcalc import fit
from netcalc.samples import RttSamples, TransferSamples

SEED = 20261128
BASE_S, LINE_BPS, HEADER_BYTES = 0.02, 1e6, 28
LATENCY_S, RATE_BPS = 12e-6, 800e9
PING = np.linspace(56.0, 1472.0, 15)
FEW = np.linspace(56.0, 1472.0, 5)
WIDE = 2.0 ** np.arange(10, 31, 2)  # 1 KiB to 1 GiB
WIDE_FEW = 2.0 ** np.array([10, 15, 20, 25, 30])
WIDE_EACH = np.repeat(2.0 ** np.arange(10, 31, 5), 8)
TWO_DECADES = np.geomspace(1e6, 1e8, 20)
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Kind:
    """Sizes of a set, whether it is of pings, and how its times scatter around the true ones."""

    sizes: Numbers
    is_ping: bool
    drawn: Callable[[np.random.Generator, Numbers], Numbers]


def absolute(scatter_s: float) -> Callable[[np.random.Generator, Numbers], Numbers]:
    """Return a scatter of the same width at every size."""
    return lambda random, true: true + random.normal(0.0, scatter_s, true.size)


def relative(ratio: float) -> Callable[[np.random.Generator, Numbers], Numbers]:
    """Return a scatter in proportion to the time."""
    return lambda random, true: true * (1.0 + random.normal(0.0, ratio, true.size))


def both(random: np.random.Generator, true: Numbers) -> Numbers:
    """Return a scatter in proportion to the time, beside that of a clock."""
    return absolute(1e-7)(random, relative(0.02)(random, true))


def least(random: np.random.Generator, true: Numbers) -> Numbers:
    """Return the least of ten times, each later by an exponential delay; its mean is taken off."""
    late = random.exponential(1e-3, (10, true.size)).min(axis=0) - 1e-3 / 10
    return np.asarray(true + late)


def stepped(random: np.random.Generator, true: Numbers) -> Numbers:
    """Return a scatter beside a step of ten times its width in the middle of the sizes."""
    step_s = np.where(np.arange(true.size) >= true.size // 2, 1e-3, 0.0)
    return absolute(1e-4)(random, true + step_s)


KINDS = {
    "ping, absolute": Kind(PING, True, absolute(1e-4)),
    "ping, absolute, 5 sizes": Kind(FEW, True, absolute(1e-4)),
    "ping, absolute, 200 sizes": Kind(np.linspace(56.0, 1472.0, 200), True, absolute(1e-4)),
    "ping, relative": Kind(PING, True, relative(0.01)),
    "ping, absolute, a step": Kind(PING, True, stepped),
    "ping, least of ten": Kind(PING, True, least),
    "ping, least of ten, 5 sizes": Kind(FEW, True, least),
    "wide, relative": Kind(WIDE, False, relative(0.05)),
    "wide, relative, 5 sizes": Kind(WIDE_FEW, False, relative(0.05)),
    "wide, relative, 8 of each size": Kind(WIDE_EACH, False, relative(0.05)),
    "wide, relative, 200 sizes": Kind(np.geomspace(1024.0, 2.0**30, 200), False, relative(0.05)),
    "wide, relative 2 % and 100 ns": Kind(WIDE, False, both),
    "wide, absolute": Kind(WIDE, False, absolute(2e-6)),
    "wide, absolute, 5 sizes": Kind(WIDE_FEW, False, absolute(2e-6)),
    "two decades, absolute": Kind(TWO_DECADES, False, absolute(3e-6)),
    "two decades, relative": Kind(TWO_DECADES, False, relative(0.05)),
}
"""Kinds of sets by name."""


def coverage(kind: Kind, runs: int) -> tuple[float, float]:
    """Return how often the intervals of the latency and of the rate hold the true ones."""
    random = np.random.default_rng([SEED, kind.sizes.size, int(kind.is_ping)])
    names = ("base_rtt_s", "bandwidth_bps") if kind.is_ping else ("latency_s", "bandwidth_bps")
    truths = (BASE_S, LINE_BPS) if kind.is_ping else (LATENCY_S, RATE_BPS)
    true = BASE_S + 16.0 * (kind.sizes + HEADER_BYTES) / LINE_BPS
    if not kind.is_ping:
        true = LATENCY_S + 8.0 * kind.sizes / RATE_BPS
    held = np.zeros(2)
    for _ in range(runs):
        times = kind.drawn(random, true)
        found = (
            fit.rtt_against_size(RttSamples(payload_bytes=kind.sizes, rtt_s=times))
            if kind.is_ping
            else fit.transfer_against_size(
                TransferSamples(payload_bytes=kind.sizes, duration_s=times)
            )
        )
        for place, (name, truth) in enumerate(zip(names, truths, strict=True)):
            low, high = found.interval(name)
            held[place] += low <= truth <= high
    return float(held[0] / runs), float(held[1] / runs)


if __name__ == "__main__":
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{'kind of points':32} {'latency':>8} {'rate':>8}")
    for title, one in KINDS.items():
        of_latency, of_rate = coverage(one, total)
        print(f"{title:32} {of_latency:8.1%} {of_rate:8.1%}", flush=True)
