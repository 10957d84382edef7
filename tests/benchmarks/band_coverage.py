"""How often the band of a fitted line holds the true line, by size count and kind of noise.

``python tests/benchmarks/band_coverage.py [RUNS]``: seeded Monte Carlo, 20,000 runs for each case.
All noise is drawn at once; each run goes through the public fit. The true line is that through the
expected times: the noise has a mean of 0. At 20,000 runs a share of 95 % is uncertain by 0.15 %.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from netcalc import fit
from netcalc.samples import RttSamples

SEED = 20261122
COUNTS = (5, 10, 15)
SCATTER_S, BASE_S, SLOPE_S = 1e-4, 0.02, 16 / 1e6
DRAWS = {
    "gaussian": lambda random, shape: random.normal(size=shape),
    "exponential": lambda random, shape: random.exponential(size=shape) - 1.0,
}
WHERE = ("smallest", "middle", "largest")


def coverage(count: int, noise: str, runs: int) -> tuple[NDArray[np.float64], float]:
    """Return how often the band holds the true line at three sizes, and how often points are lost.

    Sizes are those of a sweep of ping, from 56 to 1472 bytes.
    """
    random = np.random.default_rng([SEED, count, len(noise)])
    sizes = np.linspace(56.0, 1472.0, count)
    times = BASE_S + SLOPE_S * sizes + SCATTER_S * DRAWS[noise](random, (runs, count))
    at = np.array([sizes[0], sizes.mean(), sizes[-1]])
    held, lost = np.zeros(at.size), 0
    for rtt in times:
        found = fit.rtt_against_size(RttSamples(payload_bytes=sizes, rtt_s=rtt))
        low, high = found.band(at)
        held += (low <= BASE_S + SLOPE_S * at) & (BASE_S + SLOPE_S * at <= high)
        lost += bool(found.outlier.any())
    return held / runs, lost / runs


if __name__ == "__main__":
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    print(
        "sizes  noise        " + "".join(f"{one:>10}" for one in WHERE) + "  runs that lose a size"
    )
    for sizes in COUNTS:
        for kind in DRAWS:
            shares, losing = coverage(sizes, kind, total)
            cells = "".join(f"{share:10.2%}" for share in shares)
            print(f"{sizes:5}  {kind:12} {cells}  {losing:.2%}", flush=True)
