"""The clocks of a run. A test passes others, whose time passes without waiting."""

from __future__ import annotations

import time


class Clock:
    """The system's clocks: one that never steps, one that counts sleep, and the wall clock."""

    def now_ns(self) -> int:
        """Read the monotonic clock, which measures every interval. [ns]"""
        return time.perf_counter_ns()

    def wall_ns(self) -> int:
        """Read the wall clock, which can be set. [ns]"""
        return time.time_ns()

    def since_boot_s(self) -> float:
        """Read a clock that continues while the machine sleeps, where the system has one. [s]"""
        if hasattr(time, "CLOCK_BOOTTIME"):
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.monotonic()

    def sleep(self, duration_s: float) -> None:
        """Sleep. [s]"""
        time.sleep(duration_s)


SYSTEM_CLOCK = Clock()
