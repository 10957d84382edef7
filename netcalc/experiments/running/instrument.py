"""The measurement error of a run: clock, timers and CPU share, measured during the run.

:func:`measurement_error` describes it in one sentence.
"""

from __future__ import annotations

import gc
import os
import platform
import random
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from netcalc.checks import named_arguments
from netcalc.display import show
from netcalc.experiments.peers import helper
from netcalc.language import phrase, term
from netcalc.messages import Notice
from netcalc.samples import Instrument, Samples

STARVED_S = 2e-3
"""Lateness of timers, 99th percentile, above which a run warns of CPU contention: far above the
wake-up of an idle machine, below the time slice of another program, which is some ms. [s]"""
STARVED_RATIO = 0.8
"""CPU share below which a run warns of contention: another busy program leaves half, and a fifth
is allowed for background work. [ratio]"""
CLOCK_STEP_S = 0.05
"""Difference between wall and monotonic clock that counts as a step: a clock slewed by NTP, at most
500 ppm, takes 100 s to drift that far. [s]"""
_SLEEP_S = 5e-4  # longer than the kernel's timer slack of 50 us, short enough for many of them
_SPIN_S = 0.012  # longer than a scheduler's time slice of some ms: another program gets its turn
_LEAST_S = 0.3  # the kernel counts processor time in ticks of 10 ms: 3% of this
_STAT, _BUSY = Path("/proc/stat"), (1, 2, 3, 8)  # user, nice, system, stolen
_TICK_CLOCK = 5  # CLOCK_REALTIME_COARSE: it moves with the kernel's tick
_clock = time.perf_counter_ns


def timer() -> dict[str, float]:
    """Measure the resolution of the clock and the cost of one reading. [s]"""
    readings = [_clock() for _ in range(2000)]
    steps = np.diff(np.array(readings))
    nominal_s = time.get_clock_info("perf_counter").resolution
    smallest_s = float(steps[steps > 0].min()) * 1e-9 if (steps > 0).any() else nominal_s
    return {
        "timer_resolution_s": max(nominal_s, smallest_s),
        "clock_call_s": (readings[-1] - readings[0]) * 1e-9 / (len(readings) - 1),
    }


def tick_s() -> float:
    """Return the period of the kernel's tick; 0 where it is unknown. [s]"""
    if sys.platform != "linux":  # another clock has this number, or there is none
        return 0.0
    try:
        return time.clock_getres(_TICK_CLOCK)
    except OSError:
        return 0.0


@contextmanager
def one_processor() -> Iterator[int | None]:
    """Pin this thread, and the processes it starts, to the quietest of a few processors.

    Client and peer alternate, so one processor suffices. On two, each wakes the other from idle,
    which takes longer than the exchange itself and varies within a run. Where the system cannot
    pin a thread, this yields None and changes nothing.
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
    """Time short sleeps on each processor and stay where they end earliest."""
    worst_s = {}
    for processor in processors:
        os.sched_setaffinity(0, {processor})
        worst_s[processor] = max(scheduling_delays_s(4))
    quietest = min(worst_s, key=worst_s.__getitem__)
    os.sched_setaffinity(0, {quietest})
    return quietest


def exchange_call_s(host: str) -> float:
    """Measure one send and one receive call of 8 bytes within this process. [s]"""
    payload, times = bytearray(8), []
    with suppress(OSError), socket.socket(helper.address_family(host), socket.SOCK_DGRAM) as sock:
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
    """Measure how much the interpreter adds to a round trip, at least. [s]

    It is one reading of the clock and four calls. Each call costs its arguments and result,
    measured by a receive call with an empty buffer, which returns before it enters the kernel, and
    the release of the interpreter's lock, measured as the difference between two system calls.
    Cold caches and the peer's own bytecode are not included, so it is a lower bound; nan where the
    system has no socket left.
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
    """Return the time of one call: the median of nine batches. [s]"""
    times = []
    for _ in range(9):
        begin_ns = _clock()
        deque(made(calls), maxlen=0)
        times.append(_clock() - begin_ns)
    return float(np.median(times)) * 1e-9 / calls


def scheduling_delays_s(count: int) -> list[float]:
    """Measure how late short sleeps end. [s]"""
    delays = []
    for _ in range(count):
        begin_ns = _clock()
        time.sleep(_SLEEP_S)
        delays.append((_clock() - begin_ns) * 1e-9 - _SLEEP_S)
    return delays


def processor_ratio() -> float:
    """Measure the CPU share of this thread in a busy loop. [ratio]

    Schedulers favour a thread that sleeps often, even on a busy processor, so that the lateness of
    timers alone does not show contention.
    """
    begin_s, ran_s = time.perf_counter(), time.thread_time()
    while (elapsed_s := time.perf_counter() - begin_s) < _SPIN_S:
        pass
    return min(1.0, (time.thread_time() - ran_s) / elapsed_s)


class CpuContention:
    """CPU time that other programs take during a run, on the processors it may use.

    Parameters
    ----------
    needed_count : int
        Processors that the run keeps busy at once.
    """

    def __init__(self, needed_count: int = 1) -> None:
        self._begin_s = time.monotonic()
        self._processors = set(range(os.cpu_count() or 1))
        with suppress(AttributeError, OSError):
            self._processors = os.sched_getaffinity(0)
        self._needed_count = min(needed_count, len(self._processors))
        self._spent_s = busy_s(self._processors) - own_s()

    def left_ratio(self) -> float:
        """Return the share of its CPU need that the run could get; 1 for a very short run. [ratio]

        Child processes count as the run's own once they are reaped.
        """
        elapsed_s = time.monotonic() - self._begin_s
        taken_s = busy_s(self._processors) - own_s() - self._spent_s
        if elapsed_s < _LEAST_S or not np.isfinite(taken_s):
            return 1.0
        left_s = elapsed_s * len(self._processors) - max(0.0, taken_s)
        return float(np.clip(left_s / (elapsed_s * self._needed_count), 0.0, 1.0))


def busy_s(processors: set[int]) -> float:
    """Return the CPU time of all programs on some processors; nan where unknown. [s]

    Interrupts are not included: most of the kernel's work for a run happens in them.
    """
    names = {f"cpu{number}" for number in processors}
    try:
        lines = [line.split() for line in _STAT.read_text().splitlines()]
        spent = [sum(int(row[i]) for i in _BUSY) for row in lines if row and row[0] in names]
        return sum(spent) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return float("nan")


def own_s() -> float:
    """Return the CPU time of this process and of its reaped children. [s]"""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def scheduling(delays_s: list[float]) -> dict[str, float]:
    """Summarize the lateness of timers: median, 99th percentile, count. [s]"""
    median_s, p99_s = np.percentile(delays_s, (50, 99))
    return {
        "scheduling_delay_median_s": float(median_s),
        "scheduling_delay_p99_s": float(p99_s),
        "scheduling_delay_count": len(delays_s),
    }


def cpu_contention(late_p99_s: float, cpu_ratio: float) -> Notice | None:
    """Return the warning of a run that got too little CPU, or got it too late."""
    if cpu_ratio >= STARVED_RATIO and late_p99_s <= STARVED_S:
        return None
    values = {
        "cpu_ratio": cpu_ratio,
        "least_ratio": STARVED_RATIO,
        "late_p99_s": late_p99_s,
        "most_late_s": STARVED_S,
    }
    return Notice("cpu-contention", values)


def clock_step(wall_s: float, monotonic_s: float) -> Notice | None:
    """Return the warning of a run whose wall clock was set, by both clocks' durations."""
    step_s = wall_s - monotonic_s
    return Notice("clock-stepped", {"step_s": step_s}) if abs(step_s) > CLOCK_STEP_S else None


def suspension(gaps: Sequence[tuple[float, float]]) -> Notice | None:
    """Return the warning of a run that was suspended, with its longest gap."""
    if not gaps:
        return None
    at_s, longest_s = max(gaps, key=lambda gap: gap[1])
    return Notice("run-suspended", {"count": len(gaps), "at_s": at_s, "longest_s": longest_s})


def host() -> str:
    """Describe the machine by system, kernel and architecture, never by its host name."""
    return f"{platform.system()} {platform.release()} {platform.machine()}"


def machine() -> dict[str, Any]:
    """Return the facts of the machine that affect times."""
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
    """Return the facts of the loopback interface that affect times."""
    facts: dict[str, Any] = {
        "offload": "loopback: no wire, no frames, no computed checksums; TCP segments up to the "
        "MTU and beyond",
    }
    with suppress(OSError, ValueError):
        facts["loopback_mtu_bytes"] = int(Path("/sys/class/net/lo/mtu").read_text())
    return facts


def granted(sock: socket.socket) -> dict[str, Any]:
    """Read back the buffers and, for TCP, the options that the kernel granted."""
    facts = helper.granted(sock)
    if sock.type == socket.SOCK_STREAM:
        facts["nodelay"] = bool(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        with suppress(OSError):
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


WORDING = (
    ("timer_resolution_s", term("timer resolution {time}")),
    ("clock_call_s", term("clock reading {time}")),
    ("own_cost_s", term("interpreter overhead at least {time} a round trip")),
    ("scheduling_delay_median_s", term("timers {time} late (median)")),
    ("scheduling_delay_p99_s", term("timers {time} late (p99)")),
    ("clock_error_s", term("the peer's clock known within {time}")),
    ("peer_scheduling_delay_p99_s", term("the peer's timers {time} late (p99)")),
    ("wire_lateness_p99_s", term("emulated path {time} late (p99)")),
)
"""The attributes of an instrument that are errors, and the wording of each."""


@named_arguments
def measurement_error(*runs: Samples) -> str:
    """Describe the measurement error of live runs in one sentence; of several, the largest of each.

    Parameters
    ----------
    runs : Samples
        Samples of live runs, as measured or loaded from a file.

    Returns
    -------
    str
        The sentence; empty if nothing is known, as for a file of another tool.

    Examples
    --------
    >>> from netcalc.samples import Instrument, Meta, RttSamples
    >>> facts = Instrument(timer_resolution_s=4e-8, scheduling_delay_p99_s=1.2e-4)
    >>> measurement_error(RttSamples(payload_bytes=[], rtt_s=[], meta=Meta(instrument=facts)))
    'Measurement error: timer resolution 40 ns; timers 120 µs late (p99).'
    """
    instruments = [run.meta.instrument for run in runs]
    parts = [
        phrase(wording, time=show(max(values), "s", digits=2))
        for name, wording in WORDING
        if (values := _measured(instruments, name))
    ]
    if shares := _measured(instruments, "processor_ratio"):
        parts.append(phrase("CPU share {share:.0%}", share=min(shares)))
    if shares := _measured(instruments, "peer_processor_ratio"):
        parts.append(phrase("the peer's CPU share {share:.0%}", share=min(shares)))
    return phrase("Measurement error: {parts}.", parts="; ".join(parts)) if parts else ""


def _measured(instruments: Iterable[Instrument], name: str) -> list[float]:
    values = (getattr(instrument, name) for instrument in instruments)
    return [float(value) for value in values if value is not None]
