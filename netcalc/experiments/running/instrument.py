"""How good the instrument is: its own error, measured in the run that it belongs to."""

from __future__ import annotations

import gc
import os
import platform
import random
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from netcalc.experiments.running import sockets
from netcalc.units import show

STARVED_S = 2e-3
"""A run is called starved if short sleeps end later than this, at their 99th percentile. [s]"""
STARVED_RATIO = 0.8
"""It is also called starved if it gets less of its processor than this. [ratio]"""
CLOCK_STEP_S = 0.05
"""A wall clock that runs off by more than this in a run was set, or the machine slept. [s]"""
_SLEEP_S = 5e-4
_SPIN_S = 0.012
_LEAST_S = 0.3  # the kernel counts processor time in ticks of 10 ms
_STAT, _BUSY = Path("/proc/stat"), (1, 2, 3, 8)  # user, nice, system, stolen
_TICK_CLOCK = 5  # CLOCK_REALTIME_COARSE: it moves with the kernel's tick
_clock = time.perf_counter_ns


def timer() -> dict[str, float]:
    """Measure the clock: its smallest step and what one reading costs. [s]"""
    readings = [_clock() for _ in range(2000)]
    steps = np.diff(np.array(readings))
    nominal_s = time.get_clock_info("perf_counter").resolution
    smallest_s = float(steps[steps > 0].min()) * 1e-9 if (steps > 0).any() else nominal_s
    return {
        "timer_resolution_s": max(nominal_s, smallest_s),
        "clock_call_s": (readings[-1] - readings[0]) * 1e-9 / (len(readings) - 1),
    }


def tick_s() -> float:
    """Return the time between two ticks of the kernel; 0 where it is not known. [s]"""
    try:
        return time.clock_getres(_TICK_CLOCK)
    except OSError:
        return 0.0


@contextmanager
def one_processor() -> Iterator[int | None]:
    """Keep this thread, and the processes it starts, on the quietest of a few processors.

    Client and peer take turns, so one processor is enough; on two, each wakes the other's from its
    sleep, which takes longer than the exchange and comes and goes in a run. Where a thread cannot
    be kept on a processor, it yields None and changes nothing.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    kept = None
    allowed = os.sched_getaffinity(0)
    try:
        with suppress(OSError):  # the processors of a container may change at any time
            kept = _quietest(random.sample(sorted(allowed), min(len(allowed), 4)))
        yield kept
    finally:
        with suppress(OSError):
            os.sched_setaffinity(0, allowed)


def _quietest(processors: list[int]) -> int:
    """Try short sleeps on each processor and stay on the one where they end earliest."""
    worst_s = {}
    for processor in processors:
        os.sched_setaffinity(0, {processor})
        worst_s[processor] = max(scheduling_delays_s(4))
    quietest = min(worst_s, key=worst_s.__getitem__)
    os.sched_setaffinity(0, {quietest})
    return quietest


def exchange_call_s(host: str) -> float:
    """Measure one send and one receive call of 8 bytes with no other process in it. [s]"""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    payload, times = bytearray(8), []
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.bind((host, 0))
        sock.connect(sock.getsockname())
        sock.setblocking(False)
        for _ in range(200):
            begin_ns = _clock()
            sock.send(payload)
            sock.recv_into(payload)
            times.append(_clock() - begin_ns)
    return float(np.median(times)) * 1e-9 if times else float("nan")


def own_cost_s(clock_call_s: float) -> float:
    """Measure what a round trip takes because an interpreter makes it. [s]

    A reading of the clock, and four calls: of each the arguments and the result, as seen in a
    receive call with no room, which returns before it enters the kernel, and what giving up the
    interpreter's lock adds to a system call. What caches cost that another process has used is not
    in it, nor what stands between the peer's calls: it is the least that is the instrument's own;
    nan where the system has no socket left.
    """
    try:
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
            Path(os.devnull).open("rb") as null,
        ):
            number = null.fileno()
            arguments_s = _call_s(lambda calls: map(sock.recv_into, repeat(bytearray(), calls)))
            locked_s = _call_s(lambda calls: (os.getppid() for _ in range(calls)))
            unlocked_s = _call_s(lambda calls: (os.lseek(number, 0, 1) for _ in range(calls)))
    except OSError:
        return float("nan")
    return clock_call_s + 4 * (arguments_s + max(0.0, unlocked_s - locked_s))


def _call_s(made: Callable[[int], Iterable[object]], calls: int = 200) -> float:
    """Return the time of one of many calls, in the median of a few attempts. [s]"""
    times = []
    for _ in range(9):
        begin_ns = _clock()
        deque(made(calls), maxlen=0)
        times.append(_clock() - begin_ns)
    return float(np.median(times)) * 1e-9 / calls


def scheduling_delays_s(count: int) -> list[float]:
    """Measure how much too late short sleeps end. [s]"""
    delays = []
    for _ in range(count):
        begin_ns = _clock()
        time.sleep(_SLEEP_S)
        delays.append((_clock() - begin_ns) * 1e-9 - _SLEEP_S)
    return delays


def processor_ratio() -> float:
    """Measure the share of a processor that this thread gets when it does not sleep. [ratio]

    Short sleepers are served early even on a crowded processor; a thread that keeps going is not.
    """
    begin_s, ran_s = time.perf_counter(), time.thread_time()
    while (elapsed_s := time.perf_counter() - begin_s) < _SPIN_S:
        pass
    return min(1.0, (time.thread_time() - ran_s) / elapsed_s)


class CpuContention:
    """What other programs take of the processors that a run may use, while it lasts.

    Parameters
    ----------
    needed_count : int
        Processors that the run would keep busy at once.
    """

    def __init__(self, needed_count: int = 1) -> None:
        self._begin_s = time.monotonic()
        self._processors = set(range(os.cpu_count() or 1))
        with suppress(AttributeError, OSError):
            self._processors = os.sched_getaffinity(0)
        self._needed_count = min(needed_count, len(self._processors))
        self._spent_s = busy_s(self._processors) - own_s()

    def left_ratio(self) -> float:
        """Return the share of what the run needs that they left it; 1 in too short a time. [ratio]

        Only processes that this one has reaped are known as its own.
        """
        elapsed_s = time.monotonic() - self._begin_s
        taken_s = busy_s(self._processors) - own_s() - self._spent_s
        if elapsed_s < _LEAST_S or not np.isfinite(taken_s):
            return 1.0
        left_s = elapsed_s * len(self._processors) - max(0.0, taken_s)
        return float(np.clip(left_s / (elapsed_s * self._needed_count), 0.0, 1.0))


def busy_s(processors: set[int]) -> float:
    """Return how long some processors have worked for programs, or nan if it is not told. [s]

    Interrupts are not in it: much of what the kernel does for a run of this package is one.
    """
    names = {f"cpu{number}" for number in processors}
    try:
        lines = [line.split() for line in _STAT.read_text().splitlines()]
        spent = [sum(int(row[i]) for i in _BUSY) for row in lines if row and row[0] in names]
        return sum(spent) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return float("nan")


def own_s() -> float:
    """Return the processor time of this process and of those it has reaped. [s]"""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def scheduling(delays_s: list[float]) -> dict[str, float]:
    """Return the median and the 99th percentile of the delays. [s]"""
    median_s, p99_s = np.percentile(delays_s, (50, 99))
    return {
        "scheduling_delay_median_s": float(median_s),
        "scheduling_delay_p99_s": float(p99_s),
        "scheduling_delay_count": len(delays_s),
    }


def starved(p99_s: float, ratio: float) -> str | None:
    """Return the warning of a run whose processes did not get the processor in time."""
    signs = []
    if ratio < STARVED_RATIO:
        signs.append(f"it got {ratio:.0%} of its processor (limit {STARVED_RATIO:.0%})")
    if p99_s > STARVED_S:
        late, limit = show(p99_s, "s", digits=2), show(STARVED_S, "s")
        signs.append(f"short sleeps ended {late} late (99th percentile, limit {limit})")
    if not signs:
        return None
    return f"starved: {' and '.join(signs)}; the longer times are unreliable"


def clock_step(wall_s: float, monotonic_s: float) -> str | None:
    """Return the warning of a run in which the wall clock and the monotonic one disagree."""
    step_s = wall_s - monotonic_s
    if abs(step_s) <= CLOCK_STEP_S:
        return None
    return (
        f"the wall clock moved by {step_s:+.3g} s against the monotonic clock in the run: it was "
        "set, or the machine slept; times between probes may contain the gap"
    )


def stood_still(gaps: Sequence[tuple[float, float]]) -> str | None:
    """Return the warning of a run that did not go on for a while, with the longest such gap."""
    if not gaps:
        return None
    at_s, longest_s = max(gaps, key=lambda gap: gap[1])
    times = "once" if len(gaps) == 1 else f"{len(gaps)} times"
    return (
        f"the run stood still {times}, {show(at_s, 's', digits=3)} after its start for "
        f"{show(longest_s, 's', digits=3)}: it was stopped, or the machine slept; what was under "
        "way then contains the gap"
    )


def host() -> str:
    """Name the machine by system, kernel and processor, never by its name."""
    return f"{platform.system()} {platform.release()} {platform.machine()}"


def machine() -> dict[str, Any]:
    """Return what of the machine bears on the times."""
    facts: dict[str, Any] = {
        "kernel": platform.release(),
        "python": platform.python_version(),
        "cpu_count": os.cpu_count(),
    }
    with suppress(OSError, AttributeError):
        facts["load_1min"] = os.getloadavg()[0]
    with suppress(AttributeError):
        facts["usable_cpu_count"] = len(os.sched_getaffinity(0))
    return facts


def loopback() -> dict[str, Any]:
    """Return what of the loopback interface bears on the times."""
    facts: dict[str, Any] = {
        "offload": "loopback: no wire, no frames, no checksum computed; segments of TCP up to the "
        "MTU and beyond. Nothing here tells about frames",
    }
    with suppress(OSError, ValueError):
        facts["loopback_mtu_bytes"] = int(Path("/sys/class/net/lo/mtu").read_text())
    return facts


def granted(sock: socket.socket) -> dict[str, Any]:
    """Return the buffers and, for TCP, the options that the kernel gave, read back."""
    facts = sockets.granted(sock)
    if sock.type == socket.SOCK_STREAM:
        facts["nodelay"] = bool(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        facts["mss_bytes"] = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
    return facts


@contextmanager
def collector_off() -> Iterator[None]:
    """Keep the garbage collector from running between two readings of the clock."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
