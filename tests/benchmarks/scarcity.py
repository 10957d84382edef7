"""What the command says where the system has no more of something: one sentence with the cause.

Each case takes one thing away from a command of its own: memory, processes, open files, the disk,
the loopback interface, the device of TUN, namespaces. Prints the exit code and what was said.
As root the cases of an ordinary user are run as one, since root has no limit of processes.

Run: python tests/benchmarks/scarcity.py [WORD ...]
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import census

A_USER = 61_234
"""A number that no user has."""
SCENARIO = str(Path(__file__).resolve().with_name("one_flow.json"))
CALC = ("calc", "transfer", "1MB", "--bandwidth", "T1", "--latency", "30ms")
SOLVED = ("calc", "transfer", "1MB", "--latency", "30ms", "--solve", "bandwidth", "--for", "6s")
ECHO = ("run", "echo", "--count", "2")
BULK = ("run", "bulk", "--runs", "1", "--count", "100")
WRITES = ("run", "small-writes", "--count", "2")
ASKED = ("run", "transactions", "--count", "2", "--size", "100 B")
QUEUE = ("run", "router-queue", "--count", "50", "--path", "10 Mbit/s 1 ms")
LIVE = ("congestion", SCENARIO, "--by", "live")
BATCH = (*LIVE, "--vary", "buffer_bdp=1,2", "--out", "/mnt/out.jsonl")
ON_PATH = ("--path", "10 Mbit/s 1 ms")
FULL = "mount -t tmpfs -o size=4k none /mnt; echo there > /mnt/other; "


@dataclass(frozen=True)
class Case:
    """What is taken away, by lines of a shell, from which command; and what has to be said."""

    lack: str
    command: tuple[str, ...]
    cause: str
    """Words of the sentence; with ``|`` several, of which one; empty where the run is whole."""
    user: bool = False
    """Whether it is that of an ordinary user."""
    own: tuple[str, ...] = ("--mount",)
    """Namespaces of its own."""

    @property
    def name(self) -> str:
        """Return what is taken away from which command, and whose it is."""
        where = " (own network)" if self.own == NET else ""
        return f"{self.lack}{where}: {' '.join(self.command)}{' (user)' if self.user else ''}"


NET = ("--mount", "--net")
WHOLE_OR_FILES = "|open files"
CASES = [
    *(Case(f"ulimit -v {size}", command, "ulimit -v")
      for size in (60_000, 120_000, 200_000) for command in (ECHO, (*ECHO, "--json"))),
    *(Case(f"ulimit -v {size}", CALC, "ulimit -v") for size in (60_000, 120_000)),
    *(Case(f"ulimit -v {size}", command, "")
      for size in (141_000, 200_000) for command in (CALC, ("calc", "--list"), ("book",))),
    *(Case(f"ulimit -v {size}", SOLVED, "ulimit -v") for size in (60_000, 141_000, 200_000)),
    Case("ulimit -v 274000", SOLVED, ""),
    Case("ulimit -v 274000", ECHO, ""),
    Case("ulimit -v 274000", (*ASKED, *ON_PATH), ""),
    Case("ulimit -v 274000", (*ECHO, "--plot", "/tmp/plot.html"), ""),
    *(Case(f"ulimit -u {count}", CALC, "", user=True) for count in (1, 2)),
    *(Case(f"ulimit -u {count}", command, "|ulimit -u", user=True)
      for count in (1, 2, 3, 4) for command in (ECHO, BULK, WRITES, ASKED)),
    *(Case(f"ulimit -u {count}", (*command, *ON_PATH), "|ulimit -u", user=True)
      for count in (1, 2, 3) for command in (ECHO, BULK)),
    *(Case(f"ulimit -n {count}", command, WHOLE_OR_FILES)
      for count in (8, 10, 12, 14, 20) for command in (ECHO, BULK, WRITES, ASKED)),
    *(Case(f"ulimit -n {count}", (*command, *ON_PATH), WHOLE_OR_FILES)
      for count in (8, 10, 12, 16) for command in (ECHO, BULK)),
    *(Case(FULL, (*command, "--save", "/mnt/run.json"), "No space left")
      for command in (ECHO, BULK, (*ECHO, *ON_PATH))),
    Case(FULL, (*ECHO, "--plot", "/mnt/plot.html"), "No space left"),
    Case("exec > /dev/full", CALC, "No space left"),
    Case("exec > /dev/full", ECHO, "No space left"),
    Case("exec > /dev/full", (*ECHO, "--json"), "No space left"),
    *(Case("true", command, "loopback", own=NET) for command in (ECHO, BULK)),
    Case("true", (*ECHO, "--host", "::1"), "loopback", own=NET),
    *(Case("true", command, "", own=NET) for command in (WRITES, (*ECHO, *ON_PATH))),
    Case("mount --bind /dev/null /dev/net/tun", (*ECHO, *ON_PATH), ""),
    Case("mount -t tmpfs none /dev/net", (*BULK, *ON_PATH), ""),
    Case("echo 0 > /proc/sys/user/max_net_namespaces", (*ECHO, *ON_PATH), "", own=("-Urm",)),
    Case("echo 0 > /proc/sys/user/max_net_namespaces", (*BULK, *ON_PATH), "max_net_namespaces",
         own=("-Urm",)),
    *(Case(f"ulimit -n {count}", command, WHOLE_OR_FILES)
      for count in (8, 10, 12, 16, 20) for command in (LIVE, QUEUE)),
    *(Case(f"ulimit -u {count}", command, "|ulimit -u|namespaces", user=True)
      for count in (1, 2, 3, 4) for command in (LIVE, QUEUE)),
    *(Case("ulimit -v 274000", command, "") for command in (LIVE, QUEUE)),
    Case(FULL, BATCH, "No space left"),
    Case(FULL, (*LIVE, "--save", "/mnt/run.json"), "No space left"),
    Case(FULL, (*QUEUE, "--save", "/mnt/run.json"), "No space left"),
    Case("exec > /dev/full", (*LIVE, "--json"), "No space left"),
    *(Case("mount --bind /dev/null /dev/net/tun", command, "") for command in (LIVE, QUEUE)),
    *(Case("echo 0 > /proc/sys/user/max_net_namespaces", command, "max_net_namespaces",
           own=("-Urm",)) for command in (LIVE, QUEUE)),
    *(Case("true", command, "|namespaces", user=True) for command in (LIVE, QUEUE)),
    Case("true", CALC, "", user=True),
    Case("true", ECHO, "", user=True),
    Case("true", (*ASKED, *ON_PATH), "|namespaces", user=True),
]  # fmt: skip
NETCALC = [sys.executable, "-m", "netcalc"]


def tried(case: Case) -> subprocess.CompletedProcess[str]:
    """Run the command of a case; with only the thing taken away that the case is about."""
    root = os.geteuid() == 0
    command = ["bash", "-c", f'{case.lack}\nexec "$@"', "sh", *NETCALC, *case.command]
    own = list(case.own)
    if case.user and root:
        ids = ["--reuid", str(A_USER), "--regid", str(A_USER), "--clear-groups"]
        # the shell of an ordinary user: a limit of processes counts for that one
        command = ["setpriv", *ids, *command]
    if not root and "-Urm" not in own:
        own.append("-Ur")
    here = [sys.executable, "-B", str(Path(__file__).resolve()), "--inside", str(int(case.user))]
    return subprocess.run(
        ["unshare", *own, *here, *command], stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=90, check=False, cwd="/",
        env={**os.environ, "HOME": "/nonexistent", "PYTHONPATH": str(census.ROOT)},
    )  # fmt: skip


def inside(user: bool, command: list[str]) -> None:
    """Prepare the namespaces of a case, and become its command."""
    census.mount("none", "/", None, census.MS_REC | census.MS_PRIVATE)
    if user and os.geteuid() == 0:
        census.show_to_everybody([Path(sys.base_prefix), Path(sys.prefix), census.ROOT])
    checkout = os.open(census.ROOT, os.O_PATH)
    census.mount("none", "/tmp", "tmpfs", 0, "mode=1777,size=64m")
    if census.ROOT.is_relative_to("/tmp"):  # the new file system hides it: put it back
        census.ROOT.mkdir(parents=True)
        census.mount(
            f"/proc/self/fd/{checkout}", str(census.ROOT), None, census.MS_BIND | census.MS_REC
        )
    os.close(checkout)
    os.execvp(command[0], command)


def faults(case: Case, done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what is wrong with the end of a command; empty if it is as it should be."""
    found, lines = [], done.stderr.splitlines()
    causes = case.cause.split("|")
    if done.returncode not in (0, 2):
        found.append(f"exit code {done.returncode}")
    if done.returncode == 0 and "" not in causes:
        found.append("done, without what it needs")
    if done.returncode == 2:
        if len(lines) != 1 or not lines[0].startswith("netcalc: "):
            found.append(f"{len(lines)} lines on standard error")
        if not any(cause and cause in done.stderr for cause in causes):
            found.append("no cause")
    if "Traceback" in done.stdout + done.stderr or "netcalc: stopped" in done.stderr:
        found.append("a traceback, or stopped by nobody")
    return found


def main(words: list[str]) -> int:
    """Print what each case said; return the number of cases with a fault."""
    wrong = 0
    for case in CASES:
        if not all(word in case.name for word in words):
            continue
        done = tried(case)
        found = faults(case, done)
        wrong += bool(found)
        said = done.stderr.strip() or done.stdout.strip().partition("\n")[0]
        shown = "\n    ".join(said.splitlines()[-6:] if found else said.splitlines())
        print(f"{case.name}\n  exit {done.returncode}: {shown}", flush=True)
        if found:
            print(f"  FAULT: {', '.join(found)}", flush=True)
    print(f"{wrong} cases with a fault")
    return wrong


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[2] == "1", sys.argv[3:])
    sys.exit(bool(main(sys.argv[1:])))
