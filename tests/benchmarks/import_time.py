"""How long ``import netcalc`` and an answer of its command take beside ``import numpy``.

Fresh processes, in turn.

Run: python tests/benchmarks/import_time.py [RUNS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

RUNS = 15
STATEMENTS = {
    "python": "pass",
    "import numpy": "import numpy",
    "import netcalc": "import netcalc",
    "import netcalc and compute": "import netcalc as n; n.models.delays.latency.transfer_s("
    "1e6, bandwidth_bps=1e6, latency_s=0.03)",
}
ANSWER = ("calc", "frame-rate", "64B", "--bandwidth", "1Gbit/s")
COMMANDS = {
    **{name: (sys.executable, "-c", text) for name, text in STATEMENTS.items()},
    "python -m netcalc calc": (sys.executable, "-m", "netcalc", *ANSWER),
    "netcalc calc": (str(Path(sys.executable).with_name("netcalc")), *ANSWER),
}


def seconds(command: Sequence[str]) -> float:
    """Return the wall time of one fresh process."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main(runs: int = RUNS) -> None:
    """Print the median of each, and its ratio to numpy's."""
    for command in COMMANDS.values():
        seconds(command)
    times = {name: [] for name in COMMANDS}
    for _ in range(runs):
        for name, command in COMMANDS.items():
            times[name].append(seconds(command))
    numpy = statistics.median(times["import numpy"])
    for name, values in times.items():
        middle = statistics.median(values)
        print(
            f"{name:28} median {middle * 1e3:6.1f} ms  "
            f"({min(values) * 1e3:.1f} to {max(values) * 1e3:.1f})  {middle / numpy:.2f} x numpy"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
