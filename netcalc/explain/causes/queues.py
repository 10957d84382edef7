"""Packets of which each arrival, wait and service is known, and trains of packets behind a line."""

from __future__ import annotations

import numpy as np

from netcalc.explain.causes.cause import HIGH, Cause, Sign
from netcalc.explain.finding import Finding
from netcalc.fit.path_links import bottleneck
from netcalc.models.queues.md1 import md1_wait_s
from netcalc.models.queues.mm1 import mm1_wait_s
from netcalc.rate_layers import IP
from netcalc.samples import Table, TrainSamples

COLUMNS = ("arrival_s", "wait_s", "service_s")


def explain_queue(samples: Table) -> tuple[Finding, ...]:
    """Return how long packets waited for a line, and how long theory lets them at its load.

    Empty for other tables, and at a load of 1 or more, where no wait is the mean one.
    """
    if any(samples.meta.units.get(name) != "s" for name in COLUMNS):
        return ()
    arrivals, waits, services = (np.asarray(samples[name], dtype=np.float64) for name in COLUMNS)
    served = np.isfinite(waits) & (services > 0)
    span_s = float(np.ptp(arrivals)) if arrivals.size else 0.0
    if span_s <= 0 or not served.any():
        return ()
    service_s = float(services[served].mean())
    load = service_s * (arrivals.size - 1) / span_s
    if not 0 < load < 1:
        return ()
    theory = {
        "equal_s": float(md1_wait_s(load, service_s=service_s)),
        "exponential_s": float(mm1_wait_s(load, service_s=service_s)),
    }
    wait_s = float(waits[served].mean())
    signs = (
        Sign("wait_s", wait_s, "the packets"), Sign("utilization", load, "the packets"),
        *(Sign(name, each, "theory") for name, each in theory.items()),
    )  # fmt: skip
    cause = Cause(code="line", confidence=HIGH, signs=signs, variant="waits")
    return (Finding(unit="s", measured=wait_s, cause=cause),)


def explain_trains(samples: TrainSamples) -> tuple[Finding, ...]:
    """Return the rate of the slowest line, from packets sent back to back; empty without any."""
    rate_bps = bottleneck(samples).bandwidth_bps
    if not rate_bps > 0:
        return ()
    count = float(np.unique(np.asarray(samples.train)).size)
    signs = (Sign("fitted_bps", rate_bps, "the trains"), Sign("row_count", count, "the trains"))
    cause = Cause(code="line", confidence=HIGH, signs=signs, variant="back-to-back", layer=IP)
    return (Finding(measured=rate_bps, cause=cause, layer=IP),)
