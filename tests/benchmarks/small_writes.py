"""Small writes: predicted against measured, over paths, writes, responses and families.

Run: ``python tests/benchmarks/small_writes.py [ROUNDS [SETTINGS]]``. Each line is a way of writing
over one path, with the median of the rounds that keep step with the kernel's timer and the
prediction, which knows the path, the 40 ms of Linux and the tick of its timer; nothing is fitted.
Where they differ by more than 2 %, the last column has the reason according to the taps, or that
there is none. SETTINGS limits each table to its first few.
"""

from __future__ import annotations

import sys
from itertools import product
from typing import Any

import numpy as np

from netcalc import compare
from netcalc.experiments import small_writes
from netcalc.path import Path
from netcalc.samples import TransactionSamples

PATHS = ("100 Mbit/s 5 ms", "100 Mbit/s 15 ms", "100 Mbit/s 25 ms", "100 Mbit/s 50 ms")
WRITES = (2, 5)
REPLIES = (13, 5000)
OTHERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("100 Mbit/s 5 ms", {"host": "::1"}),
    ("T1 5 ms", {}),
    ("56 kbit/s 5 ms", {}),
    ("56 kbit/s 5 ms", {"host": "::1", "reply_bytes": 1000}),
    ("100 Mbit/s 25 ms", {"quickack": True}),
    ("100 Mbit/s 25 ms", {"write_gap_s": 0.02}),
    ("100 Mbit/s 5 ms", {"write_gap_s": 0.1}),
    ("100 Mbit/s 5 ms", {"interval_s": 0.15}),
)
GAPS_S = (0.01, 0.03, 0.06, 0.1)
LIMIT_RATIO = 0.02


def own_s(samples: TransactionSamples, mode: str, path: Path) -> tuple[float, float]:
    """Return what the wire, and what the two ends, took of a round, by the taps. [s]"""
    steps = compare.ladder(samples, mode=mode)
    header = 72 if samples.meta.instrument.address_family == "IPv6" else 52
    trains: list[tuple[str, float, float, list[float]]] = []  # what is on the lines together
    for what, start_s, end_s, size in zip(*steps[1:5], strict=True):
        if what not in ("segment", "response"):
            continue
        if trains and trains[-1][0] == what and start_s < trains[-1][2]:
            _, first_s, _, sizes = trains.pop()
            trains.append((what, first_s, end_s, [*sizes, size + header]))
        else:
            trains.append((what, start_s, end_s, [size + header]))
    wire_s = sum(
        max(end_s - start_s - float(path.timeline(sizes).done_s[-1]), 0.0)
        for _, start_s, end_s, sizes in trains
    )
    ends_s = max(trains[-1][1] - trains[-2][2], 0.0) if len(trains) > 1 else 0.0
    return wire_s, ends_s


def why(samples: TransactionSamples, mode: str, path: Path, error_s: float, way_s: float) -> str:
    """Say what makes the difference, or that it is not known."""
    facts = samples.meta.instrument
    tick_s = facts.tick_s
    wire_s, ends_s = own_s(samples, mode, path)
    waited = facts.waits.get(mode, {}).get("waited_count", 0)
    if mode in ("nagle", "flush") and waited and abs(error_s) < 1.1 * tick_s:
        return "within a tick of the timer"
    if abs(error_s - wire_s - ends_s) < max(2e-4, LIMIT_RATIO * way_s):
        return f"wire {wire_s * 1e6:.0f} us, ends {ends_s * 1e6:.0f} us, by the taps"
    found = [one for one in samples.meta.warnings if one.code == "cpu-contention"]
    return str(found[0]).partition(";")[0] if found else "NOT EXPLAINED"


def lines(path_text: str, count: int, **options: Any) -> list[float]:
    """Run one setting; print a line for each way of writing, return the relative errors."""
    path = Path.parse(path_text)
    samples = small_writes(count=count, path=path, **options)
    found = compare.overlay(samples)
    what = ", ".join(
        f"{name} {len(value) if name == 'write_bytes' else value}"
        for name, value in options.items()
    )
    errors = []
    for mode in samples.modes:
        rows = np.flatnonzero(samples.in_mode(mode))[1:]  # the first is not in step yet
        if not rows.size:
            sys.exit(f"no round of {mode} is in step: ROUNDS must be at least 3, got {count}")
        predicted = float(np.median(found.predicted[rows]))
        error_s = float(np.median(found.measured[rows])) - predicted
        ratio = error_s / predicted
        errors.append(ratio)
        reason = "" if abs(ratio) <= LIMIT_RATIO else why(samples, mode, path, error_s, predicted)
        print(
            f"{path_text:17} {what:38} {mode:8} {predicted * 1e3:8.2f} "
            f"{(predicted + error_s) * 1e3:8.2f} {ratio:+7.2%}  {reason}",
            flush=True,
        )
    return errors


def holds(path_text: str, gap_s: float) -> None:
    """Print how long the server held acknowledgements of a request in many parts."""
    samples = small_writes(
        [1] * 8, modes=["nodelay"], count=2, write_gap_s=gap_s, path=Path.parse(path_text)
    )
    steps = compare.ladder(samples, mode="nodelay")
    held = [
        f"{(end - start) * 1e3:.1f}"
        for who, what, start, end, _ in zip(*steps[:5], strict=True)
        if (who, what) == ("server", "holds acknowledgement")
    ]
    delayed = samples.meta.instrument.counters["nodelay"]["server"]["DelayedACKs"]
    print(f"{path_text:17} gap {gap_s * 1e3:5.0f} ms  held, ms: {' '.join(held)}  timer: {delayed}")


def main(count: int = 6, setting_count: int | None = None) -> None:
    """Print the tables."""
    print(f"{'path':17} {'setting':38} {'mode':8} predicted measured, ms   error  why, above 2 %")
    errors: list[float] = []
    for path, writes, reply in list(product(PATHS, WRITES, REPLIES))[:setting_count]:
        errors += lines(path, count, write_bytes=[7] * writes, reply_bytes=reply)
    for path, options in OTHERS[:setting_count]:
        errors += lines(path, count, **options)
    size = np.abs(errors)
    print(
        f"{size.size} lines: median error {np.median(size):.2%}, 95th percentile "
        f"{np.percentile(size, 95):.2%}, largest {size.max():.2%}, above 2 %: "
        f"{int((size > LIMIT_RATIO).sum())}"
    )
    print("\nAcknowledgements that the server held, of 8 parts written one by one (TCP_NODELAY):")
    for path, gap_s in list(product((PATHS[0], PATHS[-1]), GAPS_S))[:setting_count]:
        holds(path, gap_s)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
