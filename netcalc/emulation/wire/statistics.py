"""The counters of an emulated path, and whether it kept up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from netcalc.messages import Notice

MAX_LATE_RATIO = 0.05
"""Above this share of late packets a run does not show the path: minima and medians hardly change
with one late packet in twenty, the 95th percentile does. [ratio]"""


@dataclass(frozen=True, slots=True)
class Overdue:
    """The packets that were delivered more than 50 us late, by the cause.

    Parameters
    ----------
    asleep_count : int
        Due while the process slept: the system ended its sleep later than was asked. [packet]
    stopped_count : int
        Due while it was awake, but did not run for half of the delay or more: the system, or that
        below it, gave the processor to others. [packet]
    busy_count : int
        Due while it carried other packets. [packet]
    """

    asleep_count: int
    stopped_count: int
    busy_count: int

    @property
    def count(self) -> int:
        """All of them. [packet]"""
        return self.asleep_count + self.stopped_count + self.busy_count

    @property
    def host_ratio(self) -> float:
        """Share of them that are the host's and not the process's own; 0 if there are none."""
        return (self.asleep_count + self.stopped_count) / self.count if self.count else 0.0


@dataclass(frozen=True, slots=True)
class Statistics:
    """The counters of an emulated path so far.

    Parameters
    ----------
    carried_count : int
        Packets delivered at one end or the other. [packet]
    lateness_p50_s, lateness_p95_s, lateness_p99_s : float
        Delivery later than computed: median, 95th and 99th percentile. [s]
    unread_max_s : float
        Longest time that a packet without a stamp of the kernel may have waited to be read. One
        with a stamp enters the path at that time. [s]
    late_ratio : float
        Share of packets delivered, or read without a stamp, more than 0.5 ms late. [ratio]
    noise_count, refused_count, answered_count : int
        Packets to neighbours only, which are not carried; packets that the kernel refused at
        delivery; answers of routers. [packet]
    device_drop_count : int
        Packets that the kernel dropped because the path did not read them in time. [packet]
    links : tuple
        The counters of each link, from A to B and from B to A.
    overdue : Overdue, optional
        Why packets were delivered more than 50 us late; None where it is not known.
    is_empty : bool
        No packet is under way or waits unread at either end.
    """

    carried_count: int
    lateness_p50_s: float
    lateness_p95_s: float
    lateness_p99_s: float
    unread_max_s: float
    late_ratio: float
    noise_count: int
    refused_count: int
    answered_count: int
    device_drop_count: int
    links: tuple[list[dict[str, int]], list[dict[str, int]]]
    overdue: Overdue | None = None
    is_empty: bool = True

    @classmethod
    def from_counts(cls, found: dict[str, Any], *, device_drop_count: int) -> Statistics:
        """Combine the counts of the carrying process and those of the kernel at both devices."""
        carried = found["carried_count"]
        return cls(
            carried_count=carried,
            lateness_p50_s=found["lateness_p50_s"],
            lateness_p95_s=found["lateness_p95_s"],
            lateness_p99_s=found["lateness_p99_s"],
            unread_max_s=found["unread_max_s"],
            late_ratio=min(1.0, found["late_count"] / carried) if carried else 0.0,
            noise_count=found["noise_count"],
            refused_count=found["refused_count"],
            answered_count=found["answered_count"],
            device_drop_count=device_drop_count + found["unread_count"],
            links=(found["links"][0], found["links"][1]),
            overdue=Overdue(**found["overdue"]),
            is_empty=found["empty"],
        )

    def facts(self) -> dict[str, float]:
        """Return how late the path was and why, by the names of the record of a run."""
        found = {
            "wire_lateness_p50_s": self.lateness_p50_s,
            "wire_lateness_p95_s": self.lateness_p95_s,
            "wire_lateness_p99_s": self.lateness_p99_s,
            "wire_late_ratio": self.late_ratio,
        }
        if self.overdue is not None and self.carried_count:
            found["wire_overdue_ratio"] = self.overdue.count / self.carried_count
            found["wire_overdue_host_ratio"] = self.overdue.host_ratio
        return found

    @property
    def invalid(self) -> Notice | None:
        """Why a run does not show the path, or None if it does."""
        if self.device_drop_count:
            return Notice("packets-unread", {"count": self.device_drop_count})
        if self.late_ratio > MAX_LATE_RATIO:
            return Notice(
                "packets-late", {"late_ratio": self.late_ratio, "limit_ratio": MAX_LATE_RATIO}
            )
        return None


def device_drops(table: str, device: str) -> int:
    """Return the packets dropped unread at a device, from the text of ``/proc/net/dev``."""
    for line in table.splitlines():
        name, _, fields = line.partition(":")
        if name.strip() == device:
            return int(fields.split()[11])
    return 0
