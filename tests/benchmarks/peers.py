"""Live runs beside other programs and beside theory: same machine, same minute, in turn.

Transfers beside iperf3, both as two processes on whatever processors the kernel picks, with the
buffers left to it. Both sinks copy what they read; what limits ours is shown by
``transfer_limits.py``. The echo beside sockperf, client and server of both on the same one
processor. Small writes and transactions over an emulated path beside what theory predicts for it.

Prints every ratio of medians beside its floor or ceiling, whether it is met or not, the smallest
and the largest ratio of a round, the spread of the rounds of both sides (half of the range between
the quartiles) and the load meanwhile. Asserts nothing. A peer that is not installed is named and
left out.

``--processors`` repeats the whole comparison, with the programs of both sides, on that number of
processors (as ``taskset`` does); a number that the machine does not have is named and left out.
``--only`` takes a part of it.

Run: python tests/benchmarks/peers.py [ROUNDS [SECONDS]] [--processors 2 4] [--only iperf3]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

import numpy as np

from netcalc import compare
from netcalc.errors import ExperimentError
from netcalc.experiments import bulk, echo, small_writes, transactions
from netcalc.path import Path

WRITES = (300, 1440, 16_384, 131_072)
TCP_FLOORS = dict(zip(WRITES, (1.5, 1.4, 1.05, 1.05), strict=True))
UDP_FLOOR, TOGETHER_FLOOR = 1.05, 48.0
PING_CEILING, BARE_PING_CEILING = 1.1, 1.05
THEORY_BAND = 0.05
PATH = "100 Mbit/s 10 ms"
SCALES = {"Gbit/s": 1e9, "k/s": 1e3, "us": 1e-6, "ms": 1e-3}


@dataclass
class Row:
    """One line of the table, and what was measured for it round by round."""

    what: str
    unit: str
    low: float = 0.0
    high: float = np.inf
    own: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)

    def add(self, own: float, peer: float) -> None:
        """Note a round."""
        self.own.append(own)
        self.peer.append(peer)
        self.loads.append(os.getloadavg()[0])

    def __str__(self) -> str:
        own, peer = float(np.median(self.own)), float(np.median(self.peer))
        scale, ratio = SCALES[self.unit], own / peer
        wanted = " to ".join(f"{edge:g}" for edge in (self.low, self.high) if 0 < edge < np.inf)
        wanted = f"<= {wanted}" if not self.low else f">= {wanted}" if self.high > 1e9 else wanted
        met = "met" if self.low <= ratio <= self.high else "NOT met"
        ratios = [one / other for one, other in zip(self.own, self.peer, strict=True)]
        return (
            f"{self.what:36}{own / scale:10.3f}{peer / scale:10.3f} {self.unit:7}{ratio:7.3f}"
            f"{min(ratios):8.3f}{max(ratios):8.3f}"
            f"  {wanted:14}{met:9}{spread(self.own):5.1%}{spread(self.peer):7.1%}"
            f"{np.median(self.loads):7.1f}"
        )


def spread(values: list[float]) -> float:
    """Return half of the range between the quartiles, as a share of the median."""
    low, middle, high = np.percentile(values, (25, 50, 75))
    return float((high - low) / 2 / middle)


def main() -> None:
    """Measure on each number of processors, and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", nargs="?", type=int, default=7)
    parser.add_argument("seconds", nargs="?", type=int, default=1)
    parser.add_argument("--processors", nargs="+", type=int, default=[])
    parser.add_argument("--only", choices=("iperf3", "sockperf", "theory"))
    given = parser.parse_args()
    allowed = os.sched_getaffinity(0)
    for count in given.processors or [len(allowed)]:
        if not 1 <= count <= len(allowed):
            print(f"{count} processors: left out, {len(allowed)} are available here")
            continue
        os.sched_setaffinity(0, sorted(allowed)[:count])
        try:
            compare_with_peers(given.rounds, given.seconds, given.only)
        finally:
            os.sched_setaffinity(0, allowed)


def compare_with_peers(rounds: int, seconds: int, only: str | None) -> None:
    """Measure in turn and print the table."""
    load = os.getloadavg()[0]
    print(
        f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} processors, load {load:.1f}, "
        f"{rounds} rounds of {seconds} s"
    )
    print(
        f"{'':36}{'netcalc':>10}{'peer':>10} {'':7}{'ratio':>7}{'least':>8}{'most':>8}  "
        f"{'wanted':14}{'':7}{'spread':>6}{'peer':>7}{'load':>7}"
    )
    for peer, rows in (
        ("iperf3", beside_iperf3),
        ("sockperf", beside_sockperf),
        ("", writes_beside_theory),
        ("", transactions_beside_theory),
    ):
        if only is not None and only != (peer or "theory"):
            continue
        if peer and shutil.which(peer) is None:
            print(f"{peer} is not installed: apt install {peer}")
            continue
        try:
            for row in rows(rounds, seconds):
                print(row, flush=True)
        except ExperimentError as error:
            print(f"{rows.__name__}: left out, {error}")
    for peer in filter(shutil.which, ("iperf3", "sockperf")):
        told = subprocess.run([peer, "--version"], capture_output=True, text=True, check=False)
        print(f"{peer}: {(told.stdout or told.stderr).strip().splitlines()[0]}")


def in_turn(round_number: int, own: Callable[[], dict], peer: Callable[[], dict]) -> tuple:
    """Call both, the other one first in every second round; return what both found."""
    if round_number % 2:
        other = peer()
        return own(), other
    return own(), peer()


def beside_iperf3(rounds: int, seconds: int) -> Iterator[Row]:
    """Measure TCP by size of the write, and UDP of 64 bytes with one call each and with many."""
    for size in WRITES:
        sides = {
            side: Row(f"TCP, writes of {size} B, {side}", "Gbit/s", TCP_FLOORS[size])
            for side in ("sent", "received")
        }
        for number in range(rounds):
            own, peer = in_turn(
                number,
                lambda size=size: moved(size, "tcp", seconds=seconds),
                lambda size=size: iperf3("-l", str(size), seconds=seconds),
            )
            for side, row in sides.items():
                row.add(own[side], peer[side])
        yield from sides.values()
    for together, name, floor in (
        (1, "one call each", UDP_FLOOR),
        (64, "64 in a call", TOGETHER_FLOOR),
    ):
        sides = {
            side: Row(f"UDP, 64 B, {name}, {side}", "k/s", floor) for side in ("sent", "received")
        }
        for number in range(rounds):
            own, peer = in_turn(
                number,
                lambda together=together: moved(64, "udp", seconds=seconds, together=together),
                lambda: iperf3("-u", "-b", "0", "-l", "64", seconds=seconds),
            )
            for side, row in sides.items():
                row.add(own[side], peer[side])
        yield from sides.values()


def beside_sockperf(rounds: int, seconds: int) -> Iterator[Row]:
    """Measure the median round trip of 64 bytes, as it is and without the instrument's own cost."""
    whole = Row("UDP ping-pong, 64 B, round trip", "us", high=PING_CEILING)
    bare = Row("the same less its own cost", "us", high=BARE_PING_CEILING)
    processor = max(os.sched_getaffinity(0))
    for number in range(rounds):
        with on_one(processor):
            own, peer = in_turn(
                number, lambda: round_trip(count=20_000), lambda: sockperf(seconds=seconds)
            )
        whole.add(own["rtt_s"], peer["rtt_s"])
        bare.add(own["rtt_s"] - own["own_cost_s"], peer["rtt_s"])
    yield from (whole, bare)


def writes_beside_theory(rounds: int, _: int) -> Iterator[Row]:
    """Measure what small writes take over a path, by the way of writing; the peer is theory."""
    rows: dict[str, Row] = {}
    for _ in range(rounds):
        samples = small_writes(count=10, path=Path.parse(PATH))
        compared = compare.small_writes(samples)
        measured = np.asarray(samples.measured)
        modes = np.asarray(samples.mode)[measured]
        counted = ~np.asarray(samples.warm_up)[measured]
        for mode in samples.modes:
            chosen = (modes == mode) & counted
            row = rows.setdefault(mode, beside(f"small writes, {mode}, beside theory"))
            row.add(
                float(np.median(compared.measured[chosen])),
                float(np.median(compared.predicted[chosen])),
            )
    yield from rows.values()


def transactions_beside_theory(rounds: int, _: int) -> Iterator[Row]:
    """Measure transactions of 1400 bytes over a path, by protocol; the peer is theory."""
    rows: dict[str, Row] = {}
    for _ in range(rounds):
        samples = transactions([1400], count=5, path=Path.parse(PATH))
        for mode in samples.modes:
            compared = compare.transactions(samples, mode=mode)
            row = rows.setdefault(mode, beside(f"transaction, {mode}, beside theory"))
            row.add(float(compared.measured[0]), float(compared.predicted[0]))
    yield from rows.values()


def beside(what: str) -> Row:
    """Return a row whose peer is theory."""
    return Row(what, "ms", 1 - THEORY_BAND, 1 + THEORY_BAND)


Start = Callable[..., "subprocess.Popen[str]"]
"""Starts a command on host 0 or 1, with options of Popen."""


def on_this(command: list[str], _: int, **options: Any) -> subprocess.Popen[str]:
    """Start a command on this machine, which is both hosts."""
    return subprocess.Popen(command, text=True, **options)


def moved(
    size: int, protocol: str, *, seconds: float, together: int = 1, **options: Any
) -> dict[str, float]:
    """Run one transfer; UDP in datagrams a second, as iperf3 below."""
    run = bulk(
        size, protocol=protocol, write_count=20_000_000_000 // size // 2, run_count=1,
        buffer_bytes=None, datagrams_per_call=together, limit_s=seconds, **options,
    )  # fmt: skip
    if protocol == "tcp":
        return {"sent": float(run.sent_rate_bps[0]), "received": float(run.goodput_bps[0])}
    return {"sent": float(run.sent_rate_pps[0]), "received": float(run.rate_pps[0])}


def iperf3(
    *options: str, seconds: int, start: Start = on_this, host: str = "127.0.0.1"
) -> dict[str, float]:
    """Run iperf3 once; return the rates of its sender and receiver."""
    port = free_port()
    command = ["iperf3", "-c", host, "-p", str(port), "-t", str(seconds), "-J", *options]
    server = ["iperf3", "-s", "-1", "-p", str(port), "-B", host]
    end = json.loads(answered(server, command, start, port))["end"]
    if "-u" not in options:
        return {
            "sent": end["sum_sent"]["bits_per_second"],
            "received": end["sum_received"]["bits_per_second"],
        }
    stream = end["streams"][0]["udp"]
    return {
        "sent": stream["packets"] / stream["seconds"],
        "received": (stream["packets"] - stream["lost_packets"]) / stream["seconds"],
    }


def answered(server: list[str], command: list[str], start: Start, port: int) -> str:
    """Return what a command of host 0 prints, which a server on a port of host 1 answers."""
    serving = start(server, 1, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until_served(port, serving)
        with start(command, 0, stdout=subprocess.PIPE) as client:
            return client.communicate(timeout=60)[0]
    finally:
        serving.kill()
        serving.wait()


def wait_until_served(port: int, serving: subprocess.Popen[str]) -> None:
    """Wait until a server has its port: how long that takes, a busy machine decides."""
    tables = [File(f"/proc/{serving.pid}/net/{name}") for name in ("tcp", "udp", "tcp6", "udp6")]
    end_s = time.monotonic() + SERVED_LIMIT_S
    while serving.poll() is None and time.monotonic() < end_s:
        if any(f":{port:04X} " in table.read_text() for table in tables if table.exists()):
            return
        time.sleep(0.01)
    raise RuntimeError(f"nobody serves port {port}: {serving.args}")


def round_trip(*, count: int, **options: Any) -> dict[str, float]:
    """Run the echo; return its median and its own cost. [s]"""
    samples = echo(64, count=count, **options)
    return {
        "rtt_s": float(np.nanmedian(samples.rtt_s)),
        "own_cost_s": samples.meta.instrument.own_cost_s,
    }


SERVED_LIMIT_S = 20.0
"""Longest wait for a server to have its port. [s]"""
SOCKPERF_TRIES = 3
"""Beside another benchmark its second may pass without an observation that it counts."""


def sockperf(
    *options: str, seconds: int, start: Start = on_this, host: str = "127.0.0.1"
) -> dict[str, float]:
    """Return the median round trip of sockperf's ping-pong, 64 bytes over UDP. [s]"""
    for _ in range(SOCKPERF_TRIES):
        port = free_port()  # a new one: the last server's connection may still hold its own
        at = ["-i", host, "-p", str(port), *options]
        command = ["sockperf", "ping-pong", *at, "-m", "64", "-t", str(seconds), "--full-rtt"]
        said = answered(["sockperf", "server", *at], command, start, port)
        if found := re.search(r"percentile 50\.000 =\s*([\d.]+)", said):
            return {"rtt_s": float(found[1]) * 1e-6}
    raise RuntimeError(f"sockperf printed no median:\n{said}")


@contextmanager
def on_one(processor: int) -> Iterator[None]:
    """Keep this thread, and the programs it starts, on one processor."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def free_port() -> int:
    """Return a port that nobody uses at the moment."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


if __name__ == "__main__":
    main()
