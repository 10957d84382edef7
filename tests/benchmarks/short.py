"""Every benchmark once in its shortest form, so that none of them stops to run unseen.

Prints what each of them prints, and how long it took. Ends with 1 if one failed; its figures are
not judged, as those of a short form say little.

Run: python tests/benchmarks/short.py [NAME ...]
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).parent
NOT_RUN = {"short", "record_puzzles", "congestion_scenarios"}
"""This script, the one that writes the bundled puzzles anew, and a list of scenarios."""
SHORT = {
    "band_coverage": ("100",),
    "captures": ("20000",),
    "census": ("--count", "5"),
    "closed_forms": ("1e5", "latency.transfer_s", "mm1.mm1_wait_s"),
    "congestion": (),
    "congestion_live": ("1", "6"),
    "contention_flags": ("both", "1", "echo", "bulk"),
    "echo": ("20",),
    "hostile_arguments": ("1000",),
    "import_time": ("1",),
    "interrupts": ("1",),
    "large_inputs": ("0.02",),
    "mutants": ("300", "8", "1"),
    "mutant_numbers": ("300", "8"),
    "mutations": ("layers", "--count", "1"),
    "plan_network": ("50", "200", "1000"),
    "peers": ("1", "1", "--processors", "2", "4"),
    "queue_percentiles": (),
    "queues_and_loss": ("1",),
    "reader_speed": ("0.05",),
    "reopened": ("2", "proof"),
    "scarcity": ("ulimit -n 8",),
    "slider": ("voila",),
    "small_writes": ("4", "1"),
    "special_forms": ("1", "1"),
    "strangers": ("1", "5"),
    "transfer_limits": ("1", "0.05"),
    "uncertain": (),
    "wire": ("--short",),
}
"""What to add to the command of each benchmark for its shortest form."""
LIMIT_S = 240.0


def main(names: list[str]) -> int:
    there = {path.stem for path in FOLDER.glob("*.py")} - NOT_RUN
    if unknown := there ^ set(SHORT):
        print(f"not listed here, or not there: {', '.join(sorted(unknown))}")
        return 1
    failed, begin_s = [], time.monotonic()
    for name in names or sorted(SHORT):
        print(f"\n=== {name} {' '.join(SHORT[name])}", flush=True)
        start_s = time.monotonic()
        command = [sys.executable, str(FOLDER / f"{name}.py"), *SHORT[name]]
        try:
            code = subprocess.run(command, timeout=LIMIT_S, check=False).returncode
        except subprocess.TimeoutExpired:
            code = -1
        print(f"--- {name}: exit {code}, {time.monotonic() - start_s:.1f} s", flush=True)
        if code:
            failed.append(name)
    print(f"\n{time.monotonic() - begin_s:.0f} s; failed: {', '.join(failed) or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
