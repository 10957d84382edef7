"""Latencies of a request loop: how many, and the percentiles that so many can carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from netcalc.checks import FloatArray

SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
"""Percentiles by their names in results."""

LEAST_COUNT = {0.5: 10, 0.9: 10, 0.99: 100, 0.999: 1000}
"""Requests without which a percentile is not given: of fewer, the largest would stand for it; and
at least ten."""


@dataclass(frozen=True, slots=True, eq=False)
class Latencies:
    """Latencies of the requests of one loop that count.

    Parameters
    ----------
    latency_s : numpy.ndarray
        From the first byte of each request to the last of its reply, shape (request,). [s]

    Examples
    --------
    >>> loop = Latencies(np.arange(1, 21) / 1000.0)
    >>> loop.count, round(loop.percentile_s(0.5), 6), loop.percentile_s(0.99)
    (20, 0.0105, nan)
    """

    latency_s: FloatArray

    @property
    def count(self) -> int:
        """Requests that count."""
        return int(self.latency_s.size)

    @property
    def min_s(self) -> float:
        """Least latency, nan without requests. [s]"""
        return float(self.latency_s.min()) if self.count else float("nan")

    @property
    def mean_s(self) -> float:
        """Mean latency, nan without requests. [s]"""
        return float(self.latency_s.mean()) if self.count else float("nan")

    @property
    def max_s(self) -> float:
        """Greatest latency, nan without requests. [s]"""
        return float(self.latency_s.max()) if self.count else float("nan")

    def percentile_s(self, share: float) -> float:
        """Return a percentile, nan if there are fewer requests than :data:`LEAST_COUNT`. [s]

        Parameters
        ----------
        share : float
            0.5, 0.9, 0.99 or 0.999.
        """
        if self.count < LEAST_COUNT[share]:
            return float("nan")
        return float(np.quantile(self.latency_s, share))

    def as_dict(self) -> dict[str, Any]:
        """Return count, least, mean, greatest and percentiles by their names in results."""
        found: dict[str, Any] = {"count": self.count, "min_s": self.min_s, "mean_s": self.mean_s}
        found |= {f"{name}_s": self.percentile_s(share) for name, share in SHARES.items()}
        return {**found, "max_s": self.max_s}
