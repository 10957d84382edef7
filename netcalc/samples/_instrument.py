"""Record of a live run: machine, clock, sockets, path and measurement error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from netcalc.checks import named_arguments


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True)
class Instrument:
    """Record of a live run, in SI units; ``None`` where a run did not measure it.

    The names are those of the nomenclature. A setting that differs by mode or protocol is a
    mapping from its name.
    """

    # The machine.
    kernel: str | None = None
    python: str | None = None
    cpu_count: int | None = None
    usable_cpu_count: int | None = None
    load_1min: float | None = None
    shared_processor: int | None = None
    loopback_mtu_bytes: int | None = None
    namespace: str | None = None
    offload: str | None = None
    tick_s: float | None = None
    timer_slack_s: float | None = None
    autocorking: bool | int | None = None

    # The clock, and the run's own error.
    timer_resolution_s: float | None = None
    clock_call_s: float | None = None
    exchange_call_s: float | None = None
    own_cost_s: float | None = None
    own_exchanges_s: Mapping[str, Any] | None = None
    scheduling_delay_median_s: float | None = None
    scheduling_delay_p99_s: float | None = None
    scheduling_delay_count: int | None = None
    processor_ratio: float | None = None

    # When it ran, and how it ended.
    start_wall_ns: int | None = None
    start_monotonic_ns: int | None = None
    duration_s: float | None = None
    gaps: Sequence[Sequence[float]] | None = None
    ended_by: str | None = None

    # Its sockets, as the kernel granted them.
    address_family: str | None = None
    send_buffer_bytes: int | None = None
    receive_buffer_bytes: int | None = None
    congestion_control: str | None = None
    mss_bytes: int | None = None
    nodelay: bool | Mapping[str, bool] | None = None
    quickack: bool | None = None
    peer_send_buffer_bytes: int | None = None
    peer_receive_buffer_bytes: int | None = None
    peer_congestion_control: str | None = None
    peer_echoed_count: int | None = None
    peer_refused_count: int | None = None
    peer_unsent_count: int | None = None

    # Its path.
    truth: Mapping[str, Any] | None = None
    routed: Mapping[str, Any] | None = None
    rtt_s: float | None = None
    wire_lateness_p50_s: float | None = None
    wire_lateness_p95_s: float | None = None
    wire_lateness_p99_s: float | None = None
    wire_late_ratio: float | None = None
    wire_overdue_ratio: float | None = None
    wire_overdue_host_ratio: float | None = None

    # What it exchanged.
    write_bytes: Sequence[int] | None = None
    write_gap_s: float | None = None
    interval_s: float | None = None
    reply_bytes: int | None = None
    header_bytes: Mapping[str, Any] | None = None
    warm_up_count: int | None = None
    warm_up_first_rtt_s: float | None = None
    first_response_s: Mapping[str, float] | None = None
    intervals: Mapping[str, Sequence[float]] | None = None
    ladder: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
    exchanges: Mapping[str, Any] | None = None
    waits: Mapping[str, Any] | None = None
    packets: Mapping[str, float] | None = None
    counters: Mapping[str, Mapping[str, int | Mapping[str, int]]] | None = None

    # What it left out.
    late_count: int | None = None
    foreign_count: int | None = None
    damaged_count: int | None = None
    duplicate_count: int | None = None
    lost_count: int | None = None
    cut_count: int | None = None

    other: Mapping[str, Any] = field(default_factory=dict)
    """Facts of a saved file under names that this version does not know."""

    def __post_init__(self) -> None:
        for one in fields(self):  # nan is "not measured", which a saved file writes as null
            value = getattr(self, one.name)
            if isinstance(value, float) and math.isnan(value):
                object.__setattr__(self, one.name, None)

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Instrument:
        """Return the facts as a saved file has them."""
        names = {one.name for one in fields(cls)} - {"other"}
        known = {name: value for name, value in stored.items() if name in names}
        return cls(**known, other={k: v for k, v in stored.items() if k not in names})

    def stored(self) -> dict[str, Any]:
        """Return the facts as a saved file has them: those that were measured, by name."""
        names = [one.name for one in fields(self) if one.name != "other"]
        measured = {name: getattr(self, name) for name in names}
        return {k: v for k, v in {**measured, **self.other}.items() if v is not None}

    def __bool__(self) -> bool:
        """Whether there is any fact: False for samples that no live run measured."""
        return bool(self.stored())
