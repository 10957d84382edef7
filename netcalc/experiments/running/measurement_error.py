"""The measurement error of live runs as one sentence."""

from __future__ import annotations

from collections.abc import Iterable

from netcalc.checks import named_arguments
from netcalc.display import show
from netcalc.language import phrase, term
from netcalc.samples import Instrument, Samples

WORDING = (
    ("timer_resolution_s", term("timer resolution {time}")),
    ("clock_call_s", term("clock reading {time}")),
    ("own_cost_s", term("interpreter overhead at least {time} a round trip")),
    ("scheduling_delay_median_s", term("timers {time} late (median)")),
    ("scheduling_delay_p99_s", term("timers {time} late (p99)")),
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
    return phrase("Measurement error: {parts}.", parts="; ".join(parts)) if parts else ""


def _measured(instruments: Iterable[Instrument], name: str) -> list[float]:
    values = (getattr(one, name) for one in instruments)
    return [float(value) for value in values if value is not None]
