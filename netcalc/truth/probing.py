"""Settings of the truth table that estimate links from their ends: slopes and packet pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from netcalc.errors import ExperimentError
from netcalc.experiments.packet_trains import packet_trains
from netcalc.experiments.probing import probing
from netcalc.fit.packet_pairs import bottleneck
from netcalc.fit.path_links import links
from netcalc.truth.bench import Bench, Measure, Setting, doubt
from netcalc.truth.rows import TruthRow

STANDARD_ERRORS = 2.0
"""So many standard errors of an estimate are taken as its own error."""


def of_links(path_text: str, link_count: int, *, count: int = 5, **options: Any) -> Setting:
    """The rate of each link, from the slope of time against size to both its ends."""
    what = tuple(f"link {place}" for place in range(1, link_count + 1))

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        samples = bench.complete(probing(path=setting.path, count=count, stop=bench.over))
        found = links(samples).links
        if len(found) < link_count:
            raise ExperimentError(f"node {len(found) + 1} answered no probe", phase="probing")
        for link, text in zip(found, what, strict=True):
            yield setting.row(
                text,
                predicted=setting.path.links[link.hop - 1].bandwidth_bps,
                measured=link.bandwidth_bps,
                statistic=f"slope of the smallest of {count}",
                own_error=STANDARD_ERRORS * link.bandwidth_stderr_bps,
                both_ways=True,
                doubt=doubt(samples),
                why_not=link.why_not if np.isnan(link.bandwidth_bps) else "",
            )

    return _probing(path_text, what, measure, **options)


def of_pairs(path_text: str, *, count: int = 30, **options: Any) -> Setting:
    """The rate of the narrowest link, from packets that were sent back to back."""
    what = "packet pairs"

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        samples = bench.complete(packet_trains(path=setting.path, count=count, stop=bench.over))
        found = bottleneck(samples)
        yield setting.row(
            what,
            predicted=setting.path.bottleneck_bps,
            measured=found.bandwidth_bps,
            statistic=f"mode of {count}",
            own_error=0.5 * (found.high_bps - found.low_bps),
            both_ways=True,
            doubt=doubt(samples),
        )

    return _probing(path_text, (what,), measure, **options)


def _probing(path_text: str, what: tuple[str, ...], measure: Measure, **options: Any) -> Setting:
    return Setting(
        lab="probing",
        path_text=path_text,
        what=what,
        quantity="rate of a link",
        unit="bit/s",
        measure=measure,
        **options,
    )
