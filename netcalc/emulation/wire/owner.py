"""Who owns the processes of a wire, so that leftovers of a dead owner can be found and ended.

Namespaces and devices of a wire have no names and go with its processes. So the processes are all
that could ever be left, and each carries the mark of its owner in its environment.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

MARK = "NETCALC_WIRE"


def start_ticks(pid: int) -> str:
    """Return when a process started, in ticks since the boot; empty if there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] == "Z" else fields[19]


def mark() -> str:
    """Return the mark of this process: a number may come again, with its start it cannot."""
    return f"{os.getpid()}:{start_ticks(os.getpid())}"


def end_leftovers() -> int:
    """Kill the processes of wires whose owner is dead; return how many there were."""
    count, prefix = 0, f"{MARK}=".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        owner = next((v[len(prefix) :] for v in variables if v.startswith(prefix)), None)
        if owner is None:
            continue
        pid, _, started = owner.decode("ascii", "replace").partition(":")
        if pid.isdigit() and start_ticks(int(pid)) != started:
            with suppress(OSError):
                os.kill(int(entry.name), 9)
                count += 1
    return count
