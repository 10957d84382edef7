"""How often a run is flagged for CPU contention: on an idle machine, and where it should be.

``idle`` makes every kind of run many times over and prints how many carry the flag; nothing else
may run meanwhile, and the load average is printed beside it. ``loaded`` makes the same runs alone
first, for what their results are, and then beside programs that never rest, two for each processor,
in the session of the runs: it prints how many results are more than 5 % off, and how many of those
carry the flag. ``both`` does one after the other.

Run: python tests/benchmarks/contention_flags.py [idle|loaded|both] [ROUNDS] [KIND ...]
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from functools import partial

import numpy as np

from netcalc import experiments as lab
from netcalc.errors import ExperimentError
from netcalc.path import Path

OFF_RATIO = 0.05
"""A result is off from here on, against the median of the runs alone. [ratio]"""
PATH = Path.parse("10 Mbit/s 1 ms")
LINKS = Path.parse("10 Mbit/s 1 ms, 20 Mbit/s 1 ms")
SEED = 1
HOGS = """
import os
for _ in range(2 * len(os.sched_getaffinity(0)) - 1):
    if not os.fork():
        break
print(flush=True)
while True:
    pass
"""


def median(samples, column):
    """Return the median of a column, without what did not arrive."""
    return float(np.nanmedian(getattr(samples, column)))


def throughput(samples):
    """Return the median rate of delivery of transfers. [bit/s]"""
    return float(np.nanmedian(8 * samples.received_bytes / samples.delivery_s))


KINDS = {
    "echo": (partial(lab.echo, 100, count=200), partial(median, column="rtt_s")),
    "echo, path": (partial(lab.echo, 100, count=50, path=PATH), partial(median, column="rtt_s")),
    "small writes": (
        partial(lab.small_writes, modes=["single"], count=200),
        partial(median, column="response_s"),
    ),
    "transactions": (
        partial(lab.transactions, 100, protocols=["tcp"], count=100),
        partial(median, column="response_s"),
    ),
    "bulk": (partial(lab.bulk, 1440, write_count=5000, run_count=5), throughput),
    "bulk, path": (
        partial(lab.bulk, 1440, write_count=300, run_count=1, path=PATH), throughput
    ),
    "line rate": (partial(lab.line_rate, 64, duration_s=0.2, run_count=3), throughput),
    "lockstep": (
        partial(lab.lockstep, 4, duration_s=0.2, run_count=3), partial(median, column="cycle_s"),
    ),
    "probing": (partial(lab.probing, path=LINKS, count=5), partial(median, column="rtt_s")),
    "packet trains": (
        partial(lab.packet_trains, path=PATH, count=30),
        lambda samples: median(samples, "received_s") - median(samples, "sent_s"),
    ),
}  # fmt: skip
"""Each kind of run, short as people make them, and its result as one number."""


@contextmanager
def crowd():
    """Keep every processor busy with two programs; of this session, as the scheduler shares the
    processors among sessions first, and would leave the run what it needs."""
    with subprocess.Popen(
        [sys.executable, "-S", "-c", HOGS], process_group=0, stdout=subprocess.PIPE
    ) as hogs:
        try:
            hogs.stdout.readline()
            yield
        finally:
            os.killpg(hogs.pid, signal.SIGKILL)


def made(kind):
    """Make a run; return its result, nan if it failed, and whether it was flagged or said why."""
    run, result = KINDS[kind]
    try:
        samples = run()
    except ExperimentError as error:
        if error.partial is None:
            return np.nan, False
        samples = error.partial
    codes = {getattr(one, "code", "") for one in samples.meta.warnings}
    with suppress(ValueError):
        return result(samples), "cpu-contention" in codes
    return np.nan, "cpu-contention" in codes


def idle(rounds, kinds):
    """Print how many runs are flagged with nothing else on the machine."""
    print(f"idle: {rounds} runs of each kind, load {os.getloadavg()[0]:.2f} at the start")
    most = 0.0
    for kind in kinds:
        flagged = sum(made(kind)[1] for _ in range(rounds))
        most = max(most, flagged / rounds)
        print(f"  {kind:14} {flagged:4} flagged of {rounds}", flush=True)
    print(f"  most of a kind: {most:.1%} (at most 2 %), load {os.getloadavg()[0]:.2f} at the end")


def loaded(rounds, kinds):
    """Print how many results that are off are flagged, beside programs that never rest."""
    print(f"loaded: {rounds} runs of each kind beside {2 * len(os.sched_getaffinity(0))} hogs")
    print(
        f"  {'kind':14} {'off':>5} {'flagged':>8} {'both':>5}   median error of those not flagged"
    )
    all_off = all_both = 0
    for kind in kinds:
        alone = np.nanmedian([made(kind)[0] for _ in range(max(5, rounds // 4))])
        with crowd():
            found = [made(kind) for _ in range(rounds)]
        errors = np.array([value / alone - 1 for value, _ in found])
        flags = np.array([flag for _, flag in found])
        off = ~(np.abs(errors) <= OFF_RATIO)  # a run that failed is off
        both = off & flags
        all_off, all_both = all_off + off.sum(), all_both + both.sum()
        rest = errors[off & ~flags]
        shown = f"{np.median(rest):+.1%}" if rest.size else "-"
        print(f"  {kind:14} {off.sum():5} {flags.sum():8} {both.sum():5}   {shown}", flush=True)
    share = all_both / all_off if all_off else 1.0
    print(
        f"  flagged of those more than 5 % off: {all_both} of {all_off}, {share:.1%} (95 % wanted)"
    )


def main(what="both", rounds="50", *names):
    """Measure one of the rates, or both."""
    random.seed(SEED)
    kinds = names or tuple(KINDS)
    if what in ("idle", "both"):
        idle(int(rounds), kinds)
    if what in ("loaded", "both"):
        loaded(int(rounds), kinds)


if __name__ == "__main__":
    main(*sys.argv[1:])
