"""What limits a stream on loopback: source, copies of the sink, wake-ups, or placement.

A bare source and a bare sink, in turn with one thing changed; every figure is the median of the
rounds. The processor time of each end for a KiB says more than the rate on a busy machine: an end
at 345 ns per KiB cannot go beyond 8192 / 345 = 24 Gbit/s, whatever the other one does. A sink that
discards (MSG_TRUNC) lets the kernel drop the data without a copy; it shows what the copy costs, and
no program that uses its data can do the same.

Run: python tests/benchmarks/transfer_limits.py [ROUNDS [SECONDS]]
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import socket
import sys
import time
from dataclasses import dataclass
from itertools import repeat

import numpy as np

SIZES = (1440, 16_384, 131_072)
READ_BYTES = 1 << 17


@dataclass(frozen=True)
class Way:
    """One way to move a stream: the data that wakes the sink, its reads, the processors."""

    name: str
    wake_bytes: int = 1
    read_bytes: int = READ_BYTES
    copies: bool = True
    processors: tuple[int, ...] = ()


def ways() -> list[Way]:
    """Return the ways to compare; those of two processors only where there are two."""
    allowed = sorted(os.sched_getaffinity(0))
    found = [
        Way("plain sink"),
        Way("sink reads 16 KiB", read_bytes=1 << 14),
        Way("sink reads 1 MiB", read_bytes=1 << 20),
        Way("woken by 128 KiB", wake_bytes=1 << 17),
        Way("woken by 256 KiB", wake_bytes=1 << 18),
        Way("sink discards", copies=False),
        Way("discards, woken by 256 KiB", wake_bytes=1 << 18, copies=False),
        Way("both on one processor", processors=(allowed[0], allowed[0])),
    ]
    if len(allowed) > 1:
        found.append(Way("each on its own processor", processors=(allowed[0], allowed[1])))
    return found


def main(rounds: int = 7, seconds: float = 0.3) -> None:
    """Print what each way costs, by the size of the write."""
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {rounds} rounds of "
          f"{seconds:g} s; processor time in ns per KiB, sleeps of the sink per MiB")  # fmt: skip
    for size in SIZES:
        found: dict[str, list[tuple[float, ...]]] = {}
        for number in range(rounds):
            for way in ways()[:: -1 if number % 2 else 1]:
                found.setdefault(way.name, []).append(moved(size, way, seconds))
        print(f"\nwrites of {size} B{'Gbit/s':>28}{'source':>9}{'sink':>9}{'sleeps':>9}  busier")
        for way in ways():
            rate, source, sink, sleeps = np.median(found[way.name], axis=0)
            busier = "source" if source > sink else "sink"
            print(f"  {way.name:32}{rate:8.2f}{source:9.0f}{sink:9.0f}{sleeps:9.2f}  {busier}")
        print(f"  load {os.getloadavg()[0]:.1f}", flush=True)


def moved(size: int, way: Way, seconds: float) -> tuple[float, ...]:
    """Move a stream once; return its rate [Gbit/s], the costs of both ends, the sink's sleeps."""
    allowed = os.sched_getaffinity(0)
    ours, theirs = socket.socketpair()
    with socket.create_server(("127.0.0.1", 0)) as listener, ours, theirs:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                theirs.send(json.dumps(sink(listener, way)).encode())
                code = 0
            finally:
                os._exit(code)
        try:
            if way.processors:
                os.sched_setaffinity(0, {way.processors[0]})
            with socket.create_connection(listener.getsockname()) as sock:
                sent_bytes, used_s = source(sock, size, seconds)
        finally:
            os.sched_setaffinity(0, allowed)
        theirs.close()
        report = json.loads(ours.recv(4096))
        os.waitpid(child, 0)
    kib = sent_bytes / 1024
    return (
        8e-9 * report["bytes"] / report["taken_s"],
        1e9 * used_s / kib,
        1e9 * report["used_s"] / kib,
        1024 * report["sleeps"] / kib,
    )


def source(sock: socket.socket, size: int, seconds: float) -> tuple[int, float]:
    """Write until the time limit; return the bytes and the processor time. [s]"""
    payload, calls, sent_bytes = memoryview(bytes(size)), 1, 0
    used_s, now_s = time.process_time(), time.perf_counter()
    end_s = now_s + seconds
    while now_s < end_s:
        before_s = now_s
        sent_bytes += sum(map(sock.send, repeat(payload, calls)))
        now_s = time.perf_counter()
        calls = min(2 * calls, 4096) if now_s - before_s < 2.5e-3 else max(calls // 2, 1)
    sock.shutdown(socket.SHUT_WR)
    return sent_bytes, time.process_time() - used_s


def sink(listener: socket.socket, way: Way) -> dict[str, float]:
    """Read a stream to its end; return bytes, time, processor time, and how often it slept."""
    if way.processors:
        os.sched_setaffinity(0, {way.processors[1]})
    recv = ctypes.CDLL(None).recv
    recv.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    recv.restype = ctypes.c_ssize_t
    buffer, total = bytearray(way.read_bytes), 0
    with listener.accept()[0] as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, way.wake_bytes)
        before = resource.getrusage(resource.RUSAGE_SELF)
        begin_s = time.perf_counter()
        if way.copies:
            while got := sock.recv_into(buffer):
                total += got
        else:
            while (got := recv(sock.fileno(), None, way.read_bytes, socket.MSG_TRUNC)) > 0:
                total += got
        taken_s = time.perf_counter() - begin_s
        after = resource.getrusage(resource.RUSAGE_SELF)
    used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    sleeps = after.ru_nvcsw - before.ru_nvcsw
    return {"bytes": total, "taken_s": taken_s, "used_s": used_s, "sleeps": sleeps}


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *map(float, sys.argv[2:3]))
