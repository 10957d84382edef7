"""What a wire did, and whether it kept up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MAX_LATE_RATIO = 0.05
"""A run through the wire is invalid above this share of late packets. [ratio]"""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a wire did so far.

    Parameters
    ----------
    carried_count : int
        Packets delivered at one end or the other. [packet]
    lateness_p50_s, lateness_p99_s : float
        How much later than computed they were delivered: median, 99th percentile. [s]
    unread_max_s : float
        How long a packet without a stamp of the kernel may have stood before the wire read it, at
        most. One with a stamp enters its path at that time. [s]
    late_ratio : float
        Share of packets delivered, or read without a stamp, more than 0.5 ms late. [ratio]
    noise_count, refused_count, answered_count : int
        Packets to neighbours only, not carried; not taken by the kernel; answers of routers.
    device_drop_count : int
        Packets that the kernel dropped because the wire did not read them in time. [packet]
    links : tuple
        The counters of each link, from A to B and from B to A.
    """

    carried_count: int
    lateness_p50_s: float
    lateness_p99_s: float
    unread_max_s: float
    late_ratio: float
    noise_count: int
    refused_count: int
    answered_count: int
    device_drop_count: int
    links: tuple[list[dict[str, int]], list[dict[str, int]]]

    @classmethod
    def of(cls, found: dict[str, Any], *, device_drop_count: int) -> Statistics:
        """Make them of what the carrying process counted, and the kernel at both devices."""
        carried = found["carried_count"]
        return cls(
            carried_count=carried,
            lateness_p50_s=found["lateness_p50_s"],
            lateness_p99_s=found["lateness_p99_s"],
            unread_max_s=found["unread_max_s"],
            late_ratio=min(1.0, found["late_count"] / carried) if carried else 0.0,
            noise_count=found["noise_count"],
            refused_count=found["refused_count"],
            answered_count=found["answered_count"],
            device_drop_count=device_drop_count + found["unread_count"],
            links=(found["links"][0], found["links"][1]),
        )

    @property
    def invalid(self) -> str | None:
        """Say why a run through the wire does not show the path, or None if it does."""
        if self.device_drop_count:
            return f"the wire did not keep up: {self.device_drop_count} packets were dropped unread"
        if self.late_ratio > MAX_LATE_RATIO:
            limit = f"limit {MAX_LATE_RATIO:.0%}"
            return f"the wire did not keep up: {self.late_ratio:.0%} of its packets late ({limit})"
        return None


def device_drops(table: str, device: str) -> int:
    """Return what the kernel dropped unread at a device, of the text of ``/proc/net/dev``."""
    for line in table.splitlines():
        name, _, fields = line.partition(":")
        if name.strip() == device:
            return int(fields.split()[11])
    return 0
