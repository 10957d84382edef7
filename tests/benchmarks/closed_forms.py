"""Closed forms on ten million points beside the bare numpy expression, in one run.

Prints, for each form, the median time of both in turn, their ratio, and how much memory the
form held at most beyond its result, in arrays of the input's size.

Run: python tests/benchmarks/closed_forms.py [POINTS]
"""

from __future__ import annotations

import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from netcalc.models import framing, latency, line_rate, store_and_forward

RUNS = 7


def forms(points: int) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """Return each model beside the same expression written by hand."""
    size = np.random.default_rng(1).uniform(64, 9000, points)
    rates = [1.544e6, 45e6, 10e6]
    inverse = sum(8 / rate for rate in rates)
    most = 8 / min(rates)
    return {
        "latency.serialization_s": (
            lambda: latency.serialization_s(size, bandwidth_bps=1e9),
            lambda: 8 * size / 1e9,
        ),
        "latency.transfer_s": (
            lambda: latency.transfer_s(size, bandwidth_bps=1e9, latency_s=0.03),
            lambda: 0.03 + 8 * size / 1e9,
        ),
        "latency.latency_share_ratio": (
            lambda: latency.latency_share_ratio(size, bandwidth_bps=1e9, latency_s=0.03),
            lambda: 0.03 / (0.03 + 8 * size / 1e9),
        ),
        "latency.transfer_throughput_bps": (
            lambda: latency.transfer_throughput_bps(size, bandwidth_bps=1e9, latency_s=0.03),
            lambda: 8 * size / (0.03 + 8 * size / 1e9),
        ),
        "latency.echo_rtt_s": (
            lambda: latency.echo_rtt_s(size, base_rtt_s=0.03, bandwidth_bps=1e9),
            lambda: 0.03 + 16 * (size + 28) / 1e9,
        ),
        "framing.ethernet_wire_bytes": (
            lambda: framing.ethernet_wire_bytes(size),
            lambda: np.maximum(size + 18, 64) + 20,
        ),
        "line_rate.frame_rate_pps": (
            lambda: line_rate.frame_rate_pps(size, bandwidth_bps=1e9),
            lambda: 1e9 / (8 * (size + 20)),
        ),
        "line_rate.line_utilization": (
            lambda: line_rate.line_utilization(1e3, frame_bytes=size, bandwidth_bps=1e9),
            lambda: 1e3 * 8 * (size + 20) / 1e9,
        ),
        "store_and_forward.store_and_forward_s (3 links, 10 packets)": (
            lambda: store_and_forward.store_and_forward_s(
                size, bandwidth_bps=rates, packet_count=10
            ),
            lambda: size * inverse + 9 * size * most,
        ),
        "store_and_forward.cut_through_s (3 links)": (
            lambda: store_and_forward.cut_through_s(size, bandwidth_bps=[1e9] * 3),
            lambda: 8 * size / 1e9 + 2 * 8 * np.minimum(14, size) / 1e9,
        ),
    }


def seconds(function: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def extra_arrays(function: Callable[[], object], points: int) -> float:
    """Return the most memory held beyond the result, in arrays of the input's size."""
    tracemalloc.start()
    result = function()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (peak - np.asarray(result).nbytes) / (8 * points)


def main() -> None:
    """Print the table."""
    points = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    print(f"{points:,} points, medians of {RUNS} calls in turn")
    for name, (model, bare) in forms(points).items():
        model()
        bare()
        times = [(seconds(model), seconds(bare)) for _ in range(RUNS)]
        ours, theirs = (statistics.median(column) for column in zip(*times, strict=True))
        ratio = statistics.median(a / b for a, b in times)
        print(
            f"{name:62} {ours * 1e3:7.1f} ms  bare {theirs * 1e3:7.1f} ms  ratio {ratio:4.2f}  "
            f"temporaries {extra_arrays(model, points):.2f}"
        )


if __name__ == "__main__":
    main()
