"""Every benchmark once in its shortest form, so that none of them stops to run unseen.

Prints what each of them prints, and how long it took. Ends with 1 if one failed; its figures are
not judged, as those of a short form say little. So two run at a time; named ones run alone, one
after the other.

Run: python tests/benchmarks/short.py [NAME ...]
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryFile

FOLDER = Path(__file__).parent
NOT_RUN = {"short", "record_puzzles", "congestion_scenarios", "causes_host"}
"""This script, the one that writes the bundled puzzles anew, a list of scenarios, and the hosts of
the benchmark of causes."""
RUN_BY_TESTS = {"hostile_arguments", "scarcity"}
"""Tests run these files (test_hostile_arguments, test_scarcity)."""
SHORT = {
    "band_coverage": ("100",),
    "calculator_page": ("5", "latency.transfer_s"),
    "captures": ("20000",),
    "causes": ("6",),
    "class_attacks": ("1", "3"),
    "classroom": ("2", "1"),
    "census": ("--count", "5"),
    "closed_forms": ("1e5", "latency.transfer_s", "mm1.mm1_wait_s"),
    "congestion": (),
    "congestion_live": ("1", "6"),
    "contention_flags": ("both", "1", "echo", "bulk"),
    "draws_of_formulas": ("1000", "latency.transfer_s", "mm1.mm1_wait_s"),
    "echo": ("20",),
    "exercise_checks": ("100",),
    "fit_coverage": ("100",),
    "import_time": ("1",),
    "interrupts": ("1",),
    "killed_runs": ("--count", "3"),
    "large_inputs": ("0.02",),
    "mutants": ("300", "8", "1"),
    "mutant_numbers": ("300", "8"),
    "mutations": ("layers", "--count", "1"),
    "plan_network": ("50", "200", "1000"),
    "peer_strangers": ("3", "20"),
    "peers": ("1", "1", "--processors", "2", "4"),
    "queue_percentiles": (),
    "queues_and_loss": ("1",),
    "reader_speed": ("0.05",),
    "reopened": ("2", "proof"),
    "slider": ("voila",),
    "slider_of_pages": ("short",),
    "small_writes": ("4", "1"),
    "special_forms": ("1", "1"),
    "strangers": ("1", "5"),
    "transfer_limits": ("1", "0.05"),
    "two_machines": ("--short",),
    "uncertain": (),
    "wire": ("--short",),
}
"""What to add to the command of each benchmark for its shortest form."""
LIMIT_S = 240.0
LONGEST = (
    "two_machines", "wire", "congestion_live", "interrupts", "peers", "large_inputs", "reopened",
    "slider", "class_attacks", "classroom", "census", "causes",
)  # fmt: skip
"""Those that take more than 10 s are begun first."""


def run(name: str) -> tuple[str, int, float, str]:
    """Run one benchmark; return its exit code (-1 if it took too long), its time and its output."""
    start_s = time.monotonic()
    command = [sys.executable, str(FOLDER / f"{name}.py"), *SHORT[name]]
    with TemporaryFile("w+") as output:  # a pipe ends with the last process that has it
        try:
            code = subprocess.run(
                command, timeout=LIMIT_S, check=False, stdout=output, stderr=output
            ).returncode
        except subprocess.TimeoutExpired:
            code = -1
        output.seek(0)
        return name, code, time.monotonic() - start_s, output.read()


def print_all(results: Iterable[tuple[str, int, float, str]]) -> list[str]:
    """Print what each benchmark said when it has ended; return those that failed."""
    failed = []
    for name, code, took_s, said in results:
        print(f"\n=== {name} {' '.join(SHORT[name])}\n{said}", end="")
        print(f"--- {name}: exit {code}, {took_s:.1f} s", flush=True)
        if code:
            failed.append(name)
    return failed


def main(names: list[str]) -> int:
    there = {path.stem for path in FOLDER.glob("*.py")} - NOT_RUN - RUN_BY_TESTS
    if unknown := there ^ set(SHORT):
        print(f"not listed here, or not there: {', '.join(sorted(unknown))}")
        return 1
    # A shell that starts this in the background has it ignore SIGINT, and so its children would.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    begin_s = time.monotonic()
    with ThreadPoolExecutor(1 if names else 2) as pool:
        failed = print_all(pool.map(run, names or [*LONGEST, *sorted(there - {*LONGEST})]))
    print(f"\n{time.monotonic() - begin_s:.0f} s; failed: {', '.join(failed) or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
