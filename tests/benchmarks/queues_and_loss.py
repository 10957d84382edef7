"""The slow formulas: many servers, percentiles near full load, PFTK on a million pairs.

Prints the median time of a few runs of each. The aims: Erlang B with 100,000 servers and PFTK on
a million pairs under 1 s, an M/D/1 percentile at a utilization of 0.99 under 10 ms.

Run: python tests/benchmarks/queues_and_loss.py [RUNS]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from netcalc.models.queues import backlog, erlang, md1
from netcalc.models.tcp import pftk

RUNS = 5


def cases() -> dict[str, Callable[[], object]]:
    """Return what is timed, by what it is."""
    random = np.random.default_rng(1)
    loss, rtt = 10 ** random.uniform(-6, -0.5, 10**6), random.uniform(1e-3, 0.3, 10**6)
    few = {"rtt_s": rtt[:10_000], "rto_s": 0.3}
    rates = pftk.pftk_rate_pps(loss[:10_000], **few)
    crew = {"server_count": 100_000}
    one = {"service_s": 1e-3}
    late = {"within_s": 20.0, "service_s": 180.0}
    gaps, services = random.exponential(1.0, 10**6), random.exponential(0.9, 10**6)
    waits = random.uniform(0, 0.06, 10**6)
    return {
        "Erlang B, 100,000 servers": lambda: erlang.erlang_b_ratio(99_000, **crew),
        "load of 100,000 servers at 1 %": lambda: erlang.erlang_b_load(0.01, **crew),
        "servers for 100,000 erlangs at 1 %": lambda: erlang.erlang_b_server_count(
            100_000, blocking_ratio=0.01
        ),
        "Erlang C, 100,000 servers": lambda: erlang.erlang_c_ratio(99_900, **crew),
        "servers for 80 % in 20 s, 10,000 erlangs": lambda: erlang.erlang_c_server_count(
            10_000, service_level_ratio=0.8, **late
        ),
        "M/D/1 percentile at 0.99": lambda: md1.md1_wait_percentile_s(0.99, **one, quantile=0.99),
        "M/D/1 distribution, a million waits": lambda: md1.md1_wait_cdf(
            waits, utilization=0.95, **one
        ),
        "PFTK full, a million pairs": lambda: pftk.pftk_rate_pps(loss, rtt_s=rtt, rto_s=0.3),
        "PFTK approximate, a million pairs": lambda: pftk.pftk_approx_rate_pps(
            loss, rtt_s=rtt, rto_s=0.3
        ),
        "PFTK inverse, ten thousand rates": lambda: pftk.pftk_loss_ratio(rates, **few),
        "Lindley, a million customers": lambda: backlog.lindley_wait_s(gaps, service_s=services),
    }


def main(runs: int = RUNS) -> None:
    """Print a line for each."""
    for name, run in cases().items():
        run()
        times = []
        for _ in range(runs):
            begin = time.perf_counter()
            run()
            times.append(time.perf_counter() - begin)
        print(f"{name:42} {1e3 * statistics.median(times):9.2f} ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
