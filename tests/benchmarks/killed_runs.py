"""Runs of all kinds that are killed at random times: what each lost, and what it left behind.

Run as ``python tests/benchmarks/killed_runs.py [--count 60] [--seed 1] [--only echo]``; takes some
ten minutes. Each file is loaded, read and drawn by the command. Ends with 1 if a run lost more than
2 s of what it had measured, or left anything behind; a busy machine is told by its load.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import census
import kills

MOST_LOST_S, LONGEST_S = 2.0, 10.0
"""What a killed run may lose, and the longest time after which one is killed. [s]"""


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    draw, lost, wrong, kept = random.Random(asked.seed), defaultdict(list), [], 0
    with kills.a_peer() as port:
        chosen = [run for run in kills.runs(port) if asked.only in " ".join(run)]
        for number in range(asked.count):
            arguments, after_s = chosen[number % len(chosen)], draw.uniform(0.0, LONGEST_S)
            folder = Path(tempfile.mkdtemp())
            kill = kills.killed(arguments, after_s, folder)
            lost[" ".join(arguments[:2])].append(kill.lost_s)
            file = folder / "run.json"
            if file.exists() and kill.row_count:
                kept += 1
                kill.wrong.extend(read(file))
            said = "; ".join(kill.wrong)
            print(f"{' '.join(arguments)[:70]:70} killed after {after_s:5.2f} s, lost "
                  f"{kill.lost_s:5.2f} s, {kill.row_count:7} rows {said}", flush=True)  # fmt: skip
            wrong += [said] if said or not kill.lost_s <= MOST_LOST_S else []
            shutil.rmtree(folder)
    for name, seconds in lost.items():
        print(f"{name:30} {len(seconds):3} kills, lost: median {statistics.median(seconds):.2f} s, "
              f"worst {max(seconds):.2f} s")  # fmt: skip
    every = [each for seconds in lost.values() for each in seconds]
    print(f"all: {len(every)} kills, lost: median {statistics.median(every):.2f} s, worst "
          f"{max(every):.2f} s; {kept} files with rows read and drawn; wrong: {len(wrong)}; load "
          f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")  # fmt: skip
    sys.exit(1 if wrong else 0)


def read(file: Path) -> list[str]:
    """Return what the command says of a file that it cannot read and draw as partial.

    A run over what is between two hosts that was killed before it has nothing to draw, and says so.
    """
    done = subprocess.run(
        [sys.executable, "-m", "netcalc", "read", str(file), "--plot", str(file) + ".html"],
        capture_output=True, text=True, cwd=census.ROOT, check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr
    is_read = done.returncode == 0 or "rows of the hosts alone" in said
    wrong = [] if is_read else [f"read: {done.stderr}"]
    return wrong + ([] if "partial" in said or "killed" in said else ["read: not partial"])


if __name__ == "__main__":
    main()
