"""How long Ctrl-C takes: from the signal until the command and all that it started have ended.

Every kind of run is interrupted at a random moment, also while it loads and starts; seeded.

Run: python tests/benchmarks/interrupts.py [COUNT] [SEED] [WORD ...]
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from netcalc.experiments import EXPERIMENTS

PATH = ("--path", "10 Mbit/s 1 ms, 20 Mbit/s 1 ms")
LONG = {
    **{
        name.replace("_", " "): (
            experiment.command,
            *(PATH if "path" in experiment.shortest else ()),
            *(
                part
                for argument, value in experiment.lasting.items()
                for part in (f"--{argument.replace('_', '-')}", str(value))
            ),
        )
        for name, experiment in EXPERIMENTS.items()
    },
    "echo, TCP": ("echo", "--protocol", "tcp", "--count", "5000"),
    "echo, path": ("echo", "--count", "5000", *PATH),
    "small writes, path": ("small-writes", "--count", "20000", *PATH),
    "transactions, path": ("transactions", "--count", "200", *PATH),
    "bulk, path": ("bulk", "--runs", "50", "--count", "20000", *PATH),
}
LONG = {name: ("run", *arguments) for name, arguments in LONG.items()} | {
    "congestion, live": ("congestion", "--preset", "wan-10m", "--by", "live"),
    "congestion, batch": (
        "congestion", "--preset", "wan-10m", "--by", "live", "--vary", "buffer_bdp=1,2",
        "--out", "OUT",
    ),
}  # fmt: skip
INTERRUPTED = 130
LATEST_S = 3.0
"""The signal comes at a random time up to here; to load and start takes some 0.5 s. [s]"""
SCRIPT_S = 0.03
"""Before this Python itself starts: no line of any program can tell it how to end. [s]"""


EARLY_S, EARLY = 0.1, 100
"""Interrupts of a start: the latest, and how many for each run of a kind. [s], [1]"""


def group(number: int) -> set[int]:
    """Return the processes whose session is that of a command, or that it started."""
    found, parents = {number}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
    grown = True
    while grown:
        more = {child for child, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return found


def lives(number: int) -> bool:
    """Return whether a process is there and is more than an entry for its parent."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def interrupted(arguments: tuple[str, ...], after_s: float) -> tuple[float, int, str]:
    """Return how long a run took to end, its exit code, and what it said. [s]"""
    with TemporaryDirectory() as folder, subprocess.Popen(
        [sys.executable, "-m", "netcalc", *(text.replace("OUT", f"{folder}/out.jsonl")
                                            for text in arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0,
    ) as run:  # fmt: skip
        time.sleep(after_s)
        all_of_it = group(run.pid)
        begin_s = time.monotonic()
        run.send_signal(signal.SIGINT)
        _, err = run.communicate()
        while any(map(lives, all_of_it - {run.pid})):
            time.sleep(0.001)
        return time.monotonic() - begin_s, run.returncode, err


def at_the_start(count: int, seed: int) -> Counter[str]:
    """Return what came of interrupts while Python starts and netcalc begins to load."""
    draw, found = random.Random(seed), Counter[str]()
    for _ in range(count):
        _, code, said = interrupted(("calc", "--list"), draw.uniform(0.0, EARLY_S))
        if "Traceback" not in said:
            found[
                {INTERRUPTED: "quiet, 130", 0: "done before"}.get(code, "ended by the signal")
            ] += 1
        elif "/netcalc/" in said:
            found["a traceback with a line of netcalc"] += 1
        else:
            found["a traceback of Python alone"] += 1
    return found


def main(count: int, seed: int, *words: str) -> None:
    """Print the times, by kind of run and all together; of kinds whose names have the words."""
    # A shell that starts this in the background has it ignore SIGINT, and so its children would.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    draw = random.Random(seed)
    kinds = {name: given for name, given in LONG.items() if all(word in name for word in words)}
    times_s, codes, odd, early = {name: [] for name in kinds}, Counter(), [], 0
    for _ in range(count):
        for name, arguments in kinds.items():
            after_s = draw.uniform(SCRIPT_S, LATEST_S)
            took_s, code, said = interrupted(arguments, after_s)
            times_s[name].append(took_s)
            codes[code] += 1
            if code != INTERRUPTED and "/netcalc/" not in said and "netcalc:" not in said:
                early += 1
            elif code != INTERRUPTED or "Traceback" in said:
                odd.append(f"{name} after {after_s:.3f} s: exit {code}, {said.strip()[-300:]!r}")
    print(f"{count} runs of each kind, seed {seed}; from the signal to the end, in s")
    together = [one for some in times_s.values() for one in some]
    for name, found in [*times_s.items(), ("all", together)]:
        p50, p95 = np.percentile(found, (50, 95))
        print(f"  {name:20} p50 {p50:.3f}, p95 {p95:.3f}, max {max(found):.3f}")
    print(f"exit codes: {dict(codes)}; {early} before the first line of netcalc")
    print("\n".join(odd) or "all others ended quietly with 130")
    for what, number in at_the_start(EARLY * count, seed).most_common():
        print(f"in the first {EARLY_S:g} s: {number:4} {what}")


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:3]]
    main(*[*numbers, *(5, 1)[len(numbers) :]], *sys.argv[3:])
