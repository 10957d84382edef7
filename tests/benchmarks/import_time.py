"""How long ``import netcalc`` takes beside ``import numpy``, in fresh processes, in turn.

Run: python tests/benchmarks/import_time.py [RUNS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 15
STATEMENTS = {
    "python": "pass",
    "import numpy": "import numpy",
    "import netcalc": "import netcalc",
    "import netcalc and compute": "import netcalc as n; n.models.delays.latency.transfer_s("
    "1e6, bandwidth_bps=1e6, latency_s=0.03)",
    "netcalc calc": "import sys; sys.argv = ['netcalc', 'calc', 'transfer', '1MB', '--bandwidth',"
    " 'T1', '--latency', '30ms']; from netcalc.cli import main; main()",
}


def seconds(statement: str) -> float:
    """Return the wall time of one fresh process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main(runs: int = RUNS) -> None:
    """Print the median of each, and its ratio to numpy's."""
    for statement in STATEMENTS.values():
        seconds(statement)
    times = {name: [] for name in STATEMENTS}
    for _ in range(runs):
        for name, statement in STATEMENTS.items():
            times[name].append(seconds(statement))
    numpy = statistics.median(times["import numpy"])
    for name, values in times.items():
        middle = statistics.median(values)
        print(
            f"{name:28} median {middle * 1e3:6.1f} ms  "
            f"({min(values) * 1e3:.1f} to {max(values) * 1e3:.1f})  {middle / numpy:.2f} x numpy"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
