"""Settings of the truth table that estimate links from the ends: slopes and packet pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from netcalc.errors import ExperimentError
from netcalc.experiments.packet_trains import packet_trains
from netcalc.experiments.probing import probing
from netcalc.fit.packet_pairs import bottleneck
from netcalc.fit.path_links import links
from netcalc.truth.bench import Bench, Measure, Setting, cost
from netcalc.truth.rows import TruthRow

STANDARD_ERRORS = 2.0
"""Number of standard errors of an estimate that make its own error. [1]"""


PAYLOAD_BYTES = (520, 838, 1154, 1472)
"""Sizes of the probes: few, with many probes of each, because the smallest of more is closer to
the path, and the slope depends most on the ends. All answers have the same size. [byte]"""


PAYLOAD_V6_BYTES = (1184, 1274, 1362, 1452)
"""The same over IPv6, where a node quotes more of a probe. [byte]"""


def links_setting(
    path_text: str, link_count: int, *, count: int = 20, ip_version: int = 4, **options: Any
) -> Setting:
    """The rate of each link, from the slopes of time against size to its two ends."""
    over = " over IPv6" if ip_version == 6 else ""
    what = tuple(f"link {number}{over}" for number in range(1, link_count + 1))
    sizes_of_probes = PAYLOAD_V6_BYTES if ip_version == 6 else PAYLOAD_BYTES

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        samples = bench.require_complete(
            probing(
                sizes_of_probes,
                path=setting.path,
                count=count,
                ip_version=ip_version,
                stop=bench.should_stop,
            )
        )
        found = links(samples).links
        if len(found) < link_count:
            raise ExperimentError("node-silent", phase="probing", node=len(found) + 1)
        added = cost(bench, "udp", samples, setting.path)
        sizes = np.asarray(samples.packet_bytes)
        span_bits = 8.0 * float(sizes.max() - sizes.min())
        for link, text in zip(found, what, strict=True):
            rate_bps = setting.path.links[link.hop - 1].bandwidth_bps
            is_known = not np.isnan(link.bandwidth_bps)
            # Two slopes make a link; each is off by a delay over the time from least to most bytes.
            errors = added.errors(2.0 * rate_bps**2 / span_bits)
            errors["own_error"] = STANDARD_ERRORS * link.bandwidth_stderr_bps
            yield setting.row(
                text,
                predicted=rate_bps,
                measured=link.bandwidth_bps,
                statistic=f"slope of the smallest of {count}",
                both_ways=True,
                why_not="" if is_known else link.why_not,
                why_not_code="" if is_known else "rate-unknown",
                **errors,
            )

    return _probing(path_text, what, measure, **options)


def packet_pairs_setting(path_text: str, *, count: int = 30, **options: Any) -> Setting:
    """The rate of the narrowest link, from packets sent back to back."""
    what = "packet pairs"

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        samples = bench.require_complete(
            packet_trains(path=setting.path, count=count, stop=bench.should_stop)
        )
        found = bottleneck(samples)
        rate_bps = setting.path.bottleneck_bps
        # The time between two packets is off by a delay.
        errors = cost(bench, "udp", samples, setting.path).errors(
            rate_bps**2 / (8.0 * float(np.max(samples.packet_bytes)))
        )
        errors["own_error"] = 0.5 * (found.high_bps - found.low_bps)
        yield setting.row(
            what,
            predicted=rate_bps,
            measured=found.bandwidth_bps,
            statistic=f"mode of {count}",
            both_ways=True,
            **errors,
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
