"""How fast the two most frequent kinds of files are read, beside the least that it could cost.

A ping of 100,000 lines, and an iperf3 document of 20 MB with an interval for each 500 bytes. The
floor is what finds the numbers and does nothing with them, in the same run: ``re.findall`` for the
ping, ``json.loads`` for iperf3. Processor time, the best of five turns each, in turn. What is read
is compared with what was written. Ends with 1 if it differs, or takes longer than it may.

Run: python tests/benchmarks/reader_speed.py [SHARE]
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from netcalc import readers

LIMITS_S = {"ping": 0.5, "iperf3 JSON": 1.0}
"""At full size. [s]"""
LINES, DOCUMENT_BYTES = 100_000, 20e6
TURNS = 5
RUN = Path(__file__).parents[1] / "readers" / "inputs" / "transfers" / "iperf3_tcp.json"
_REPLY = re.compile(r"icmp_seq=(\d+) ttl=(\d+) time=([\d.]+) ms")


def ping(count: int) -> tuple[bytes, list[str]]:
    """Return the output of a ping, and its times as printed. [ms]"""
    draw = random.Random(9)
    times = [f"{draw.uniform(10, 30):.3g}" for _ in range(count)]
    lines = [
        f"64 bytes from 192.0.2.1: icmp_seq={number % 65536} ttl=64 time={ms} ms\n"
        for number, ms in enumerate(times, 1)
    ]
    head = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
    end = f"{count} packets transmitted, {count} received, 0% packet loss, time {1000 * count}ms\n"
    return f"{head}{''.join(lines)}\n--- 192.0.2.1 ping statistics ---\n{end}".encode(), times


def iperf3(size_bytes: float) -> tuple[bytes, list[int]]:
    """Return a document of iperf3, and the bytes of its intervals."""
    run: dict[str, Any] = json.loads(RUN.read_text())
    (stream,), total = run["intervals"][0]["streams"], run["intervals"][0]["sum"]
    count = int(size_bytes / len(json.dumps(run["intervals"][0], indent="\t"))) + 1
    counts = [stream["bytes"] + number for number in range(count)]
    run["intervals"] = [
        {
            name: {**part, "start": float(n), "end": n + 1.0, "seconds": 1.0, "bytes": sent}
            if name == "sum"
            else [{**part, "start": float(n), "end": n + 1.0, "seconds": 1.0, "bytes": sent}]
            for name, part in (("streams", stream), ("sum", total))
        }
        for n, sent in enumerate(counts)
    ]
    return json.dumps(run, indent="\t").encode(), counts


def best_s(*steps: Callable[[], object]) -> list[float]:
    """Return the least processor time of each step, in turn."""
    least = [float("inf")] * len(steps)
    for _ in range(TURNS):
        for index, step in enumerate(steps):
            begin_s = time.process_time()
            step()
            least[index] = min(least[index], time.process_time() - begin_s)
    return least


def main(share: float = 1.0) -> int:
    said, faults = [], 0
    text, times = ping(int(LINES * share))
    right = readers.read(text).columns()["rtt_s"].tolist() == [float(f"{ms}e-3") for ms in times]
    floor = lambda: _REPLY.findall(text.decode())  # noqa: E731 - a step, as the other
    said.append(("ping", text, floor, right))
    document, counts = iperf3(DOCUMENT_BYTES * share)
    right = readers.read(document).columns()["payload_bytes"].tolist() == counts
    said.append(("iperf3 JSON", document, lambda: json.loads(document), right))
    for name, data, least, is_right in said:
        floor_s, read_s = best_s(least, lambda data=data: readers.read(data))
        fault = not is_right or (share >= 1 and read_s > LIMITS_S[name])
        faults += fault
        print(
            f"{name:12} {len(data) / 1e6:5.1f} MB  floor {floor_s:.3f} s  read {read_s:.3f} s  "
            f"ratio {read_s / floor_s:4.1f}  limit {LIMITS_S[name]} s at full size"
            f"{'  FAULT' * fault}"
        )
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:])))
