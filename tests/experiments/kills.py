"""Runs that are killed at random times, and what of their measurement is in the file they leave.

A run says when it begins and when it begins to measure, by the clock of its own times, so that what
is lost is exact: from the end of what the file has, or from the beginning, to the kill.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass

import census

from netcalc import samples
from netcalc.congestion import live
from netcalc.congestion.recording import from_table, is_recording
from netcalc.errors import NetcalcError

NOTED = """
import os, time
from netcalc.congestion import live
from netcalc.experiments.running import record, stopping
def note(kind, name, word):
    method = getattr(kind, name)
    def noted(*arguments, **options):
        os.write(2, b"\\n%s at %d ns\\n" % (word, time.perf_counter_ns()))
        return method(*arguments, **options)
    setattr(kind, name, noted)
note(stopping.Stopping, "__enter__", b"began")
note(record.Record, "__init__", b"measures")
note(live._LiveRun, "_recorded", b"measures")
from netcalc.__main__ import main
main()
"""
ROWS = [
    "echo --count 3000 --interval 4ms --size 64B --size 1400B",
    "echo --count 30 --interval 3s --size 64B",
    'echo --path "10 Mbit/s 5 ms" --count 2000',
    'bulk --path "100 Mbit/s 5 ms" --count 200000 --runs 1 --limit 30s --size 1440',
    "bulk --protocol udp --size 1000 --count 200000 --runs 50",
    "line-rate --duration 0.5s --runs 40 --frame 64B --frame 1518B",
    "line-rate --routed --duration 8s --runs 2 --frame 512B",
    "lockstep --duration 2s --runs 20 --pairs 1 --pairs 4",
    'packet-trains --path "10 Mbit/s 5 ms" --count 2000',
    'probing --path "10 Mbit/s 2 ms, 100 Mbit/s 3 ms" --count 400',
    'router --path "100 Mbit/s 1 ms" --runs 10',
    "router-queue --count 5000",
    'small-writes --path "10 Mbit/s 20 ms" --count 300',
    'transactions --path "10 Mbit/s 20 ms" --count 60 --no-tap',
    'working-latency --path "10 Mbit/s 10 ms" --duration 8s --warm 4s',
]
"""Runs of half a minute or more, by their arguments."""
PEERS = [
    "echo --count 3000 --interval 4ms --size 64B",
    "bulk --count 200000 --size 1440 --limit 20s --runs 60",
    "packet-trains --direction back --count 49000",
    "small-writes --direction back --count 300 --mode nodelay --interval 20ms",
    "router --runs 2",
    "working-latency --duration 8s",
]
"""Those to a peer, which here is another process of this machine."""
FLOWS = [
    "--preset two-flows --set end_s=40",
    "--preset two-flows --set rate_bps=400000000 --set end_s=40",
    "--preset requests-10kB-against-2 --set end_s=40",
]


ONE_FLOW = "--preset wan-10m --set end_s=40"


@dataclass(frozen=True)
class Kill:
    """What became of a run: seconds lost (nan without a run), rows kept, and what was left."""

    what: str
    lost_s: float
    row_count: int
    wrong: list[str]


def words(text):
    """Return arguments; a path has quotes."""
    return [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', text)]


def runs(port=0):
    """Return all runs as arguments of the command; those to a peer if its port is given."""
    peer = ["--peer", f"127.0.0.1:{port}"]
    return [
        *(["run", *words(row)] for row in ROWS),
        *(["congestion", *words(flows), "--by", "live"] for flows in FLOWS),
        *(["run", *words(row), *peer] for row in PEERS if port),
        *([["congestion", *words(ONE_FLOW), "--by", "live", *peer]] if port else []),
    ]


@contextmanager
def a_peer():
    """Start a peer on the loopback; yield its port. Its token is in the environment."""
    command = [sys.executable, "-m", "netcalc", "peer", "--port", "0", "--bytes", "1TB"]
    peer = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=census.ROOT
    )
    try:
        said = ""
        while "Token: " not in said:
            line = peer.stdout.readline()
            assert line, said
            said += line
        os.environ["NETCALC_PEER_TOKEN"] = re.search(r"Token: (\S+)", said)[1]
        yield int(re.search(r"port (\d+)", said)[1])
    finally:
        peer.kill()
        peer.wait()
        peer.stdout.close()


def killed(arguments, after_s, folder, *, until=lambda: True):
    """Kill a run some time after its start; return what it lost, and what it left.

    ``until`` is waited for, too: a busy machine may not have begun by then.
    """
    mark, kept = secrets.token_hex(8), folder / "run.json"
    devices = sorted(os.listdir("/sys/class/net"))  # noqa: PTH208
    with (folder / "said").open("w+") as said:
        run = subprocess.Popen(
            [sys.executable, "-c", NOTED, *arguments, "--save", str(kept)],
            stdout=subprocess.DEVNULL, stderr=said, cwd=census.ROOT,
            env={**os.environ, census.MARK: mark, "PYTHONPATH": str(census.ROOT)},
        )  # fmt: skip
        while not re.search(r"began at \d+ ns", (folder / "said").read_text()):
            if run.poll() is not None:
                return Kill(arguments[1], float("nan"), 0, [(folder / "said").read_text()])
            time.sleep(0.02)
        time.sleep(max(0.0, after_s))
        while not until() and run.poll() is None:
            time.sleep(0.05)
        ended = run.poll() is not None
        run.send_signal(signal.SIGKILL)
        killed_ns = time.perf_counter_ns()
        run.wait()
    measures = re.findall(r"measures at (\d+) ns", (folder / "said").read_text())
    (folder / "said").unlink()
    wrong = ["ended by itself"] if ended else []
    deadline = time.monotonic() + census.GONE_S
    while (left := census.marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    wrong += [f"process left: {command}" for command in left.values()]
    wrong += [f"file left: {path.name}" for path in folder.iterdir() if path != kept]
    if sorted(os.listdir("/sys/class/net")) != devices:  # noqa: PTH208
        wrong.append("device left")
    saved_ns, rows = int(measures[0]) if measures else killed_ns, 0
    if kept.exists():
        try:
            found = samples.load(kept)
        except NetcalcError as error:
            return Kill(arguments[1], float("nan"), 0, [*wrong, str(error)])
        rows, facts = len(found), found.meta.instrument
        wrong += [] if found.meta.partial else ["does not say that it is partial"]
        unknown_s = 0.0
        if is_recording(found):
            unknown_s = live.UNKNOWN_S
            from_table(found).result()
        saved_ns = facts.start_monotonic_ns + int((facts.duration_s - unknown_s) * 1e9)
    return Kill(arguments[1], (killed_ns - saved_ns) * 1e-9, rows, wrong)
