"""The formulas that search or sum, and the command from a shell: medians of several runs.

Prints beside each what it may take. Asserts nothing.

Run: python tests/benchmarks/special_forms.py [RUNS [PROCESSES]]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from netcalc.models.queues import erlang, md1
from netcalc.models.tcp import pftk

RUNS = 7
PROCESSES = 15
PAIRS = 1_000_000


def median_s(function: Callable[[], object], runs: int) -> float:
    """Return the median wall time of some calls, after one that warms up."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def forms() -> dict[str, tuple[Callable[[], object], float]]:
    """Return what is called, and the seconds that it may take."""
    rng = np.random.default_rng(1)
    loss, rtt = 10 ** rng.uniform(-6, -0.5, PAIRS), 10 ** rng.uniform(-3, 0, PAIRS)
    return {
        "Erlang B, 100,000 servers": (
            lambda: erlang.erlang_b_ratio(99_000, server_count=100_000),
            1.0,
        ),
        "Erlang B, the load for 1 % at 100,000 servers": (
            lambda: erlang.erlang_b_load(0.01, server_count=100_000),
            1.0,
        ),
        "Erlang C, servers for 80 % in 20 s at 100,000 erlangs": (
            lambda: erlang.erlang_c_server_count(
                100_000, service_level_ratio=0.8, within_s=20, service_s=180
            ),
            1.0,
        ),
        "M/D/1, 99th percentile at utilization 0.99": (
            lambda: md1.md1_wait_percentile_s(0.99, service_s=1e-3, quantile=0.99),
            0.010,
        ),
        "PFTK, a million pairs of loss and round trip": (
            lambda: pftk.pftk_rate_pps(loss, rtt_s=rtt, rto_s=1.0, max_window_packets=1000),
            1.0,
        ),
        "PFTK turned round, 10,000 pairs": (
            lambda: pftk.pftk_loss_ratio(
                10 / rtt[:10_000], rtt_s=rtt[:10_000], rto_s=1.0, max_window_packets=1000
            ),
            1.0,
        ),
    }


def process_s(command: list[str]) -> float:
    """Return the wall time of one process."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def commands() -> dict[str, list[str]]:
    """Return what a shell starts."""
    beside = Path(sys.executable).with_name("netcalc")
    netcalc = [str(beside)] if beside.exists() else [sys.executable, "-m", "netcalc"]
    transfer = ["transfer", "1MB", "--bandwidth", "T1", "--latency", "30ms"]
    return {
        "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
        "netcalc calc transfer ...": [*netcalc, "calc", *transfer],
        "netcalc calc latency.transfer ...": [
            *netcalc, "calc", "latency.transfer", *transfer[1:],
        ],
        "netcalc calc erlang-b-ratio ...": [
            *netcalc, "calc", "erlang-b-ratio", "8", "--server-count", "10",
        ],
        "netcalc calc transfer ... --explain": [*netcalc, "calc", *transfer, "--explain"],
    }  # fmt: skip


def main(runs: int = RUNS, processes: int = PROCESSES) -> None:
    """Print both tables."""
    for name, (function, allowed_s) in forms().items():
        print(f"{name:54} {median_s(function, runs) * 1e3:8.2f} ms, allowed {allowed_s * 1e3:.0f})")
    times: dict[str, list[float]] = {name: [] for name in commands()}
    for _ in range(processes):
        for name, command in commands().items():
            times[name].append(process_s(command))
    numpy_s = statistics.median(times["python -c 'import numpy'"])
    for name, values in times.items():
        more = statistics.median(values) - numpy_s
        print(
            f"{name:40} median {statistics.median(values) * 1e3:6.1f} ms  "
            f"({min(values) * 1e3:.1f} to {max(values) * 1e3:.1f})  "
            f"{more * 1e3:+7.1f} ms to numpy (allowed +250)"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
