"""The error of a live run itself, in words: what its times cannot be trusted beyond."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netcalc.samples import Samples
from netcalc.units import show

WORDS = (
    ("timer_resolution_s", "its clock steps by {}"),
    ("clock_call_s", "a reading of it takes {}"),
    ("own_cost_s", "the interpreter adds at least {} to a round trip"),
    ("scheduling_delay_median_s", "short sleeps end {} late in the median"),
    ("scheduling_delay_p99_s", "one in 100 short sleeps ends more than {} late"),
    ("wire_lateness_p99_s", "the emulated path delivers one in 100 packets more than {} late"),
)
"""What of ``meta.instrument`` is an error, and how it is said."""


def measurement_error(*runs: Samples) -> str:
    """Say in one sentence what a live run knows of its own error; of several, the largest of each.

    Parameters
    ----------
    runs : Samples
        Samples of live runs, as measured or read back from a file.

    Returns
    -------
    str
        The sentence; empty if nothing is known, as of a file of another tool.

    Examples
    --------
    >>> from netcalc.samples import Meta, RttSamples
    >>> facts = {"timer_resolution_s": 4e-8, "scheduling_delay_p99_s": 1.2e-4}
    >>> measurement_error(RttSamples(payload_bytes=[], rtt_s=[], meta=Meta(instrument=facts)))
    'Own error: its clock steps by 40 ns; one in 100 short sleeps ends more than 120 µs late.'
    """
    facts = [run.meta.instrument for run in runs]
    told = [(words, _largest(facts, name)) for name, words in WORDS]
    parts = [words.format(show(value, "s", digits=2)) for words, value in told if value is not None]
    share = _smallest(facts, "processor_ratio")
    if share is not None:
        parts.append(f"it got {share:.0%} of its processor")
    return f"Own error: {'; '.join(parts)}." if parts else ""


def _largest(facts: list[Mapping[str, Any]], name: str) -> float | None:
    return max((float(one[name]) for one in facts if name in one), default=None)


def _smallest(facts: list[Mapping[str, Any]], name: str) -> float | None:
    return min((float(one[name]) for one in facts if name in one), default=None)
