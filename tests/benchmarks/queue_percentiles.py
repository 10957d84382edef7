"""The M/G/1 percentile of a packet mix: time of one answer, and how far it is off.

Prints, for loads and quantiles, the median wall time of one call (budget: 50 ms) and the relative
difference from a lattice sixteen times as fine; for packets of one size from the exact M/D/1, too.

Run: python tests/benchmarks/queue_percentiles.py
"""

from __future__ import annotations

import statistics
import time

from netcalc.models.queues import md1, queueing

BUDGET_S = 0.05
RUNS = 9
MIXES = {
    "one size": ([1538.0], [1.0]),
    "IMIX 7:4:1": ([84.0, 590.0, 1538.0], [7.0, 4.0, 1.0]),
    "jumbo, rare": ([84.0, 1538.0, 9038.0], [1000.0, 500.0, 1.0]),
    "200 sizes": ([84.0 + 7.3 * i for i in range(200)], [1.0] * 200),
}
LOADS = (0.3, 0.8, 0.95, 0.99)
QUANTILES = (0.95, 0.99, 0.99999)


def percentile(mix: str, load: float, quantile: float) -> float:
    sizes, weight = MIXES[mix]
    return float(
        queueing.packet_mix_wait_percentile_s(
            load, wire_bytes=sizes, weight=weight, bandwidth_bps=1e9, quantile=quantile
        )
    )


def main() -> None:
    worst = 0.0
    print(f"{'mix':12} {'load':>5} {'quantile':>9} {'time':>9} {'beside 16x':>11} {'M/D/1':>9}")
    for mix in MIXES:
        for load in LOADS:
            for quantile in QUANTILES:
                times = []
                for _ in range(RUNS):
                    start = time.perf_counter()
                    found = percentile(mix, load, quantile)
                    times.append(time.perf_counter() - start)
                fine, queueing.FINE = queueing.FINE, 16 * queueing.FINE
                finer = percentile(mix, load, quantile)
                queueing.FINE = fine
                exact = ""
                if mix == "one size":
                    service = 8 * 1538.0 / 1e9
                    md1_s = float(
                        md1.md1_wait_percentile_s(load, service_s=service, quantile=quantile)
                    )
                    exact = f"{found / md1_s - 1:9.1e}"
                spent = statistics.median(times)
                worst = max(worst, spent)
                print(
                    f"{mix:12} {load:5} {quantile:9} {spent * 1e3:6.2f} ms "
                    f"{found / finer - 1:11.1e} {exact}"
                )
    print(f"slowest median {worst * 1e3:.1f} ms, budget {BUDGET_S * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
