"""How often ``explain`` names the true cause: flows of known limits over the emulated path.

Each run draws a class and its numbers, opens two hosts with the kernel's own TCP and a path between
them, captures at one end with netcalc's own tap, and asks ``explain`` about that file alone. The
limit is known because it was set. The judges beside it are the kernel's counters of the connection
(``rwnd_limited``, ``sndbuf_limited`` of TCP_INFO) and what the emulator dropped.

A run in which the emulator was late is drawn again, and counted as disturbed if it is late again.

Run: python tests/benchmarks/causes.py [RUNS [SEED]] [--only CLASS] [--keep FOLDER]; 24 runs take 70
s. Exit code 1 if one is wrong and sure, or fewer than 90 % are right or acceptable.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

import numpy as np

from netcalc import readers
from netcalc.emulation.queue import FULL, LOST, OVERRUN
from netcalc.emulation.wire.carrier import DEVICE
from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.errors import DoubtWarning
from netcalc.experiments.endpoints import Tap
from netcalc.explain import measurement
from netcalc.explain.causes.cause import LOW, UNKNOWN_CAUSE, Cause
from netcalc.path import Link, Path

HOST = File(__file__).with_name("causes_host.py")
RUNS = 24
LEAST_RIGHT = 0.9
MOST_S = 12.0
"""Longest run. [s]"""
HEADERS = 52
"""Bytes of IPv4, TCP and time stamps before the payload. [byte]"""
LEAST_DATA_BYTES = 100
"""Packets that are longer carry data. [byte]"""
FAST_BPS = 60e6
"""A line that does not limit. [bit/s]"""
SAMPLES_S = 0.002
LEAST_SHARE = 0.05
"""Shares that are judged beside the kernel's counters are above it. [ratio]"""
VERDICTS = ("right", "acceptable", "unknown", "wrong", "wrong and sure")


@dataclass(kw_only=True)
class Run:
    """One scenario: the path, what both hosts do, and what limits it.

    ``sender`` is at A, where data come from, ``receiver`` at B; the client opens the connection.
    ``kind`` is the class, ``right`` are the causes that are true, ``also`` those that the end of
    the capture cannot tell from them.
    """

    right: tuple[str, ...]
    also: tuple[str, ...] = ()
    rate_bps: float = FAST_BPS
    rtt_s: float = 0.03
    there: dict[str, Any] = field(default_factory=dict)
    back: dict[str, Any] = field(default_factory=dict)
    sysctls: dict[str, str] = field(default_factory=dict)
    sender: dict[str, Any] = field(default_factory=dict)
    receiver: dict[str, Any] = field(default_factory=dict)
    client: str = ""
    end: str = ""
    mss_bytes: int = 1448


def bulk(d: random.Random, **more: Any) -> dict[str, Any]:
    """Return a sender that sends all it can for a while."""
    return {"does": "send", "lasts_s": d.uniform(1.8, 2.4), **more}


def line(d: random.Random) -> Run:
    rate, rtt = 10 ** d.uniform(6.4, 7.2), d.uniform(0.01, 0.05)
    buffer = int(max(d.uniform(1.0, 4.0) * rate * rtt / 8, 15_000))
    sender = bulk(d, algorithm=d.choice(("cubic", "reno")))
    return Run(right=("line",), rate_bps=rate, rtt_s=rtt, sender=sender,
               there={"buffer_bytes": buffer})  # fmt: skip


def receiver_window(d: random.Random) -> Run:
    size = d.randint(10_000, 40_000)
    return Run(right=("receiver-window",), rtt_s=d.uniform(0.03, 0.1), sender=bulk(d),
               receiver={"receive_buffer_bytes": size})  # fmt: skip


def sender_buffer(d: random.Random) -> Run:
    size = d.randint(30_000, 80_000)
    return Run(right=("sender-buffer",), rtt_s=d.uniform(0.04, 0.1), sender=bulk(d, polls=True),
               sysctls={"net.ipv4.tcp_wmem": f"4096 {size} {size}"})  # fmt: skip


def sender_pauses(d: random.Random) -> Run:
    sender = bulk(d, chunk_bytes=d.randint(20_000, 60_000), pause_s=d.uniform(0.2, 0.5))
    return Run(right=("sender-program",), also=("server-time",), rtt_s=d.uniform(0.01, 0.03),
               sender=sender)  # fmt: skip


def sender_paced(d: random.Random) -> Run:
    sender = bulk(d, chunk_bytes=d.randint(1000, 5000), pause_s=d.uniform(0.006, 0.02))
    return Run(right=("sender-program",), rtt_s=d.uniform(0.015, 0.05), sender=sender)


def receiver_stops(d: random.Random) -> Run:
    stop = {"stop_bytes": d.randint(100_000, 300_000), "stop_s": d.uniform(1.2, 2.0)}
    return Run(right=("receiver-program",), also=("receiver-window",), rtt_s=d.uniform(0.02, 0.05),
               rate_bps=20e6, sender={"does": "send", "size_bytes": 900_000},
               receiver={"receive_buffer_bytes": d.randint(50_000, 90_000), **stop})  # fmt: skip


def receiver_slow(d: random.Random) -> Run:
    reads = {"read_bps": 10 ** d.uniform(6.0, 6.5), "read_bytes": 4096}
    return Run(right=("receiver-program",), also=("receiver-window",), rtt_s=d.uniform(0.015, 0.04),
               sender=bulk(d), receiver={"receive_buffer_bytes": 50_000, **reads})  # fmt: skip


def random_loss(d: random.Random) -> Run:
    return Run(right=("random-loss",), rtt_s=d.uniform(0.02, 0.06), sender=bulk(d),
               there={"loss_ratio": 10 ** d.uniform(-2.3, -1.4)})  # fmt: skip


def slow_start(d: random.Random) -> Run:
    sender = {"does": "send", "size_bytes": d.randint(40_000, 250_000)}
    return Run(right=("slow-start",), also=("round-trips",), rtt_s=d.uniform(0.08, 0.2),
               sender=sender)  # fmt: skip


def round_trips(d: random.Random) -> Run:
    plan = {"write_bytes": [d.randint(50, 900)], "reply_bytes": d.randint(50, 12_000)}
    asks = {"does": "ask", "request_count": d.randint(15, 30), "is_prompt": True, **plan}
    answers = {"does": "answer", "is_prompt": True, **plan}
    return Run(right=("round-trips",), rtt_s=d.uniform(0.03, 0.08), sender=asks, receiver=answers,
               client="A")  # fmt: skip


def server_time(d: random.Random) -> Run:
    plan = {"write_bytes": [d.randint(50, 900)], "reply_bytes": d.randint(500, 50_000)}
    think_s = d.uniform(0.08, 0.3)
    asks = {"does": "ask", "request_count": int(2.2 / think_s), "is_prompt": True, **plan}
    answers = {"does": "answer", "think_s": think_s, "is_prompt": True, **plan}
    return Run(right=("server-time",), rtt_s=d.uniform(0.005, 0.03), sender=asks, receiver=answers,
               client="A")  # fmt: skip


def small_writes(d: random.Random) -> Run:
    plan = {"write_bytes": [d.randint(50, 400), d.randint(50, 400)], "reply_bytes": 200}
    asks = {"does": "ask", "request_count": 30, **plan}
    return Run(right=("nagle-delayed-ack",), also=("delayed-ack",), rtt_s=d.uniform(0.002, 0.012),
               sender=asks, receiver={"does": "answer", **plan}, client="A")  # fmt: skip


def reverse_path(d: random.Random) -> Run:
    back = {"bandwidth_bps": 10 ** d.uniform(4.6, 5.0), "buffer_bytes": 20_000}
    return Run(right=("reverse-path",), rate_bps=30e6, rtt_s=d.uniform(0.02, 0.04),
               sender=bulk(d, lasts_s=2.5), back=back)  # fmt: skip


def outage(d: random.Random) -> Run:
    deaf = {"deaf_from_s": d.uniform(0.4, 0.8), "deaf_s": d.uniform(1.2, 1.8)}
    return Run(right=("outage",), also=("timeout",), rate_bps=5e6, rtt_s=d.uniform(0.02, 0.04),
               there={"buffer_bytes": 30_000}, sender=bulk(d, lasts_s=1.5), receiver=deaf,
               end="A")  # fmt: skip


def lost_syn(d: random.Random) -> Run:
    return Run(right=("handshake-loss",), rtt_s=d.uniform(0.02, 0.05), client="A",
               receiver={"deaf_first_s": 0.7}, end="A",
               sender={"does": "send", "size_bytes": d.randint(30_000, 200_000)})  # fmt: skip


def name_lookup(d: random.Random) -> Run:
    return Run(right=("name-resolution",), rtt_s=d.uniform(0.02, 0.05), client="A",
               receiver={"lookup_s": d.uniform(0.9, 1.5)},
               sender={"does": "send", "size_bytes": 100_000, "lookup": True})  # fmt: skip


def reordering(d: random.Random) -> Run:
    there = {"reorder_ratio": d.uniform(0.03, 0.1), "reorder_s": d.uniform(0.006, 0.02)}
    return Run(right=("reordering",), also=("line",), rate_bps=12e6, rtt_s=d.uniform(0.03, 0.05),
               there={"buffer_bytes": 120_000, **there}, sender=bulk(d))  # fmt: skip


def small_segments(d: random.Random) -> Run:
    mss = d.randint(150, 300)
    return Run(right=("small-segments",), also=("line", "packet-rate"), rate_bps=4e6, rtt_s=0.03,
               mss_bytes=mss - 12, there={"buffer_bytes": 30_000},
               sender=bulk(d, mss_bytes=mss))  # fmt: skip


def short_buffer(d: random.Random) -> Run:
    rate, rtt = d.uniform(6e6, 12e6), d.uniform(0.06, 0.1)
    return Run(right=("shallow-buffer",), also=("random-loss", "line"), rate_bps=rate, rtt_s=rtt,
               there={"buffer_bytes": int(0.09 * rate * rtt / 8)}, sender=bulk(d))  # fmt: skip


CLASSES: dict[str, Callable[[random.Random], Run]] = {
    "line": line, "receiver's window": receiver_window, "sender's buffer": sender_buffer,
    "sender pauses": sender_pauses, "sender paced": sender_paced, "receiver stops": receiver_stops,
    "receiver slow": receiver_slow, "random loss": random_loss, "slow start": slow_start,
    "requests in turn": round_trips, "server's time": server_time, "small writes": small_writes,
    "way back": reverse_path, "outage": outage, "lost SYN": lost_syn, "name look-up": name_lookup,
    "reordering": reordering, "small segments": small_segments, "short buffer": short_buffer,
}  # fmt: skip


@dataclass(kw_only=True)
class Outcome:
    """What a run showed, and what its judges say."""

    cause: Cause
    is_disturbed: bool
    kernel: dict[str, float]
    loss_ratio: float
    line_bps: float


def measure(run: Run, file: File, *, seed: int) -> Outcome:
    """Carry out a run, write its capture, and explain it."""
    path = EmulatedPath(
        Path.of([Link(run.rate_bps, run.rtt_s / 2)]), there=run.there, back=run.back,
        sysctls=run.sysctls, seed=seed, log=True,
    )  # fmt: skip
    with path:
        plans = {"A": {"does": "send", **run.sender}, "B": {"does": "receive", **run.receiver}}
        shared = {"port": 5001, "most_s": MOST_S}
        for side, peer in ("AB", "BA"):
            plans[side] |= {"own": path.address(side), "peer": path.address(peer), **shared}
            plans[side]["listens"] = side != run.client
        tap = Tap(path.socket(run.end, 17, 2), DEVICE, both_ends=False)  # AF_PACKET, SOCK_DGRAM
        ended = threading.Event()
        reader = threading.Thread(target=_read, args=(tap, ended))
        reader.start()
        try:
            rows = _converse(path, plans, run.client)
        finally:
            ended.set()
            reader.join()
        tap.save(file)
        tap.close()
        events, statistics = path.events("B"), path.statistics()
    is_data = events.packet_bytes > LEAST_DATA_BYTES
    dropped = np.isin(events.fate[is_data], (FULL, LOST, OVERRUN))
    loss = float(dropped.mean()) if dropped.size else 0.0
    whole = run.mss_bytes + HEADERS
    return Outcome(
        cause=measurement(readers.read(file))[0].cause,
        is_disturbed=statistics.invalid is not None,
        kernel=_counters(rows),
        loss_ratio=loss,
        line_bps=run.rate_bps * run.mss_bytes / whole,
    )


def _read(tap: Tap, ended: threading.Event) -> None:
    while not ended.wait(SAMPLES_S):
        tap.read()
    tap.read()


def _converse(path: EmulatedPath, plans: dict[str, Any], client: str) -> dict[str, Any]:
    """Run both hosts; return the row of the end from which data came."""
    server = "B" if client == "A" else "A"
    hosts = {}
    for side in (server, client):
        command = [sys.executable, "-I", "-S", str(HOST), json.dumps(plans[side])]
        hosts[side] = path.start(command, side, stdout=subprocess.PIPE, text=True)
        if side == server:
            hosts[side].stdout.readline()
    said = {side: host.communicate(timeout=MOST_S + 10)[0] for side, host in hosts.items()}
    side = "B" if plans["B"]["does"] == "answer" else "A"
    found: dict[str, Any] = json.loads(said[side].splitlines()[-1])
    return found


def _counters(row: dict[str, Any]) -> dict[str, float]:
    """Return the kernel's counters of the sender. [s]"""
    info = bytes.fromhex(row["info"])
    names = ("busy_s", "window_s", "buffer_s")
    return dict(zip(names, (value * 1e-6 for value in struct.unpack_from("QQQ", info, 168)),
                    strict=True)) | {"took_s": row["took_s"]}  # fmt: skip


def verdict(run: Run, cause: Cause) -> str:
    """Return what a cause is beside the one that was set."""
    if cause.code in run.right:
        return "right"
    if cause.code in run.also:
        return "acceptable"
    if cause.code == UNKNOWN_CAUSE:
        return "unknown"
    return "wrong" if cause.confidence == LOW else "wrong and sure"


def drawn(count: int, seed: int, only: str | None) -> list[tuple[str, int]]:
    """Return the classes of all runs, each as often as the others, with a seed for each run."""
    source = random.Random(seed)
    names: list[str] = []
    while len(names) < count:
        some = [only] if only else list(CLASSES)
        source.shuffle(some)
        names += some
    return [(name, source.randrange(1 << 30)) for name in names[:count]]


def run_all(count: int, seed: int, only: str | None, folder: File) -> int:
    """Run, print each run and the table; return the exit code."""
    begin_s, table = time.monotonic(), defaultdict(Counter)
    errors: dict[str, list[float]] = defaultdict(list)
    confident: dict[str, Counter[str]] = defaultdict(Counter)
    for number, (name, own_seed) in enumerate(drawn(count, seed, only)):
        for _ in range(2):
            source = random.Random(own_seed)
            run = CLASSES[name](source)
            run.client = run.client or source.choice("AB")
            run.end = run.end or source.choice("AB")
            file = folder / f"{number:03d}-{name.replace(' ', '_')}-{run.end}.pcap"
            outcome = measure(run, file, seed=own_seed)
            if not outcome.is_disturbed:
                break
        said = verdict(run, outcome.cause)
        is_judged = not outcome.is_disturbed or said in VERDICTS[:2]
        table[name][said if is_judged else "disturbed"] += 1
        confident[outcome.cause.confidence][said] += is_judged
        judged = numbers(run, outcome)
        for what, (number_said, true) in judged.items():
            errors[what].append(error(what, number_said, true))
        shares = ", ".join(f"{code} {share:.0%}" for code, share in outcome.cause.shares.items()
                           if share >= 0.02)  # fmt: skip
        print(
            f"{number:3d} {name:17s} at {_place(run):8s} "
            f"{said:14s} {outcome.cause.code} ({outcome.cause.confidence}; {shares})"
            + "".join(f"; {what} {one:.4g} for {true:.4g}" for what, (one, true) in judged.items()),
            flush=True,
        )
    return print_table(table, errors, confident, seed, time.monotonic() - begin_s)


def _place(run: Run) -> str:
    """Return whether the capture was made where data come from."""
    return "sender" if run.end == ("B" if run.receiver.get("does") else "A") else "receiver"


def numbers(run: Run, outcome: Outcome) -> dict[str, tuple[float, float]]:
    """Return what was said and what the judges say, of what is there to be judged."""
    cause, kernel = outcome.cause, outcome.kernel
    found = {}
    if run.sender.get("does") == "send" and cause.duration_s > 0:
        shares, whole_s = cause.shares, cause.duration_s
        window = shares.get("receiver-window", 0.0) + shares.get("receiver-program", 0.0)
        found["window share"] = window, kernel["window_s"] / whole_s
        found["buffer share"] = shares.get("sender-buffer", 0.0), kernel["buffer_s"] / whole_s
        found = {name: pair for name, pair in found.items() if max(pair) > LEAST_SHARE}
    if outcome.loss_ratio > 0 and run.right != ("outage",):  # there a host drops, not the path
        found["loss"] = cause.sign("loss_ratio"), outcome.loss_ratio
    if run.right == ("line",):
        found["line"] = cause.sign("line_bps"), outcome.line_bps
    return found


def error(name: str, said: float, true: float) -> float:
    """Return how far a number is from its judge: of shares the difference, of others the ratio."""
    return abs(said - true) if "share" in name else abs(said / true - 1)


def print_table(
    table: dict[str, Counter[str]],
    errors: dict[str, list[float]],
    confident: dict[str, Counter[str]],
    seed: int,
    took_s: float,
) -> int:
    """Print what was found by class, and whether it is enough."""
    heads = (*VERDICTS, "disturbed")
    print(f"\n| class | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    total: Counter[str] = sum(table.values(), Counter())
    for name, counts in [*((name, table[name]) for name in CLASSES if name in table),
                         ("all", total)]:  # fmt: skip
        print(f"| {name} | {' | '.join(str(counts[head]) for head in heads)} |")
    for name, values in sorted(errors.items()):
        known = np.array(values)[np.isfinite(values)]
        if known.size:
            print(
                f"{name}: median error {np.median(known):.2%}, 90 % of {known.size} within "
                f"{np.percentile(known, 90):.2%}; not said in {len(values) - known.size}"
            )
    for name, counts in sorted(confident.items()):
        print(f"confidence {name}: {counts['right'] + counts['acceptable']} right or acceptable, "
              f"{counts['wrong'] + counts['wrong and sure']} wrong")  # fmt: skip
    judged = sum(total[name] for name in VERDICTS)
    good = total["right"] + total["acceptable"]
    day = datetime.datetime.now(datetime.UTC).date()
    print(f"{good} of {judged} right or acceptable, {total['wrong and sure']} wrong and sure; seed "
          f"{seed}, {took_s:.0f} s, {day}, {platform.system()} {platform.release()}, "
          f"{len(os.sched_getaffinity(0))} processors")  # fmt: skip
    return int(total["wrong and sure"] > 0 or good < int(LEAST_RIGHT * judged))


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("runs", nargs="?", type=int, default=RUNS)
    words.add_argument("seed", nargs="?", type=int, default=datetime.date.today().toordinal())
    words.add_argument("--only", choices=list(CLASSES))
    words.add_argument("--keep", type=File, help="a folder that keeps the captures")
    chosen = words.parse_args()
    print(f"seed {chosen.seed}")
    warnings.simplefilter("ignore", DoubtWarning)  # limits that are shown beside the cause
    with tempfile.TemporaryDirectory() as made:
        folder = chosen.keep or File(made)
        folder.mkdir(parents=True, exist_ok=True)
        return run_all(chosen.runs, chosen.seed, chosen.only, folder)


if __name__ == "__main__":
    sys.exit(main())
