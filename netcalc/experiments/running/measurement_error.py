"""The measurement error of live runs as one sentence."""

from __future__ import annotations

from collections.abc import Iterable

from netcalc.display import show
from netcalc.samples import Instrument, Samples

WORDING = (
    ("timer_resolution_s", "timer resolution {}"),
    ("clock_call_s", "clock reading {}"),
    ("own_cost_s", "interpreter overhead at least {} a round trip"),
    ("scheduling_delay_median_s", "timers {} late (median)"),
    ("scheduling_delay_p99_s", "timers {} late (p99)"),
    ("wire_lateness_p99_s", "emulated path {} late (p99)"),
)
"""The attributes of an instrument that are errors, and the wording of each."""


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
        wording.format(show(max(values), "s", digits=2))
        for name, wording in WORDING
        if (values := _measured(instruments, name))
    ]
    if shares := _measured(instruments, "processor_ratio"):
        parts.append(f"CPU share {min(shares):.0%}")
    return f"Measurement error: {'; '.join(parts)}." if parts else ""


def _measured(instruments: Iterable[Instrument], name: str) -> list[float]:
    values = (getattr(one, name) for one in instruments)
    return [float(value) for value in values if value is not None]
