"""Settings of the truth table in which losses limit TCP: the square-root law, live."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from netcalc.emulation.chain import both_directions
from netcalc.emulation.queue import LinkQueue
from netcalc.experiments.bulk import bulk
from netcalc.models.tcp.cubic import cubic_throughput_bps
from netcalc.models.tcp.loss_limited import mathis_throughput_bps
from netcalc.path import Path
from netcalc.truth.bench import HOLDS_ALL_BYTES, Bench, Setting, cost
from netcalc.truth.rates import (
    MSS_BYTES,
    PACKET_BYTES,
    TCP_HEADERS_BYTES,
    WRITE_BYTES,
)
from netcalc.truth.rows import TruthRow
from netcalc.units import show

SCATTER = 0.25
"""Relative standard deviation of a rate, times the square root of its number of losses, where that
number is known and only their times are random. Found by simulating a window from loss to loss."""
STANDARD_ERRORS = 4.0
"""Number of them by which a row may deviate. [1]"""
LAW_RATIO = 0.06
"""Allowance for what the laws omit: the round of the repair, and whole packets. [ratio]"""
SEED = 1
"""Of the losses. [1]"""


def losses_setting(
    path_text: str, loss_ratio: float, segments: int, *, rule: str = "reno", **options: Any
) -> Setting:
    """A stream on a link that is never full, with random losses.

    The seed determines the number of lost packets, and theory uses their share. Their times are
    random: a row is held to four standard errors of that plus what the law omits.
    """
    writes = segments * MSS_BYTES // WRITE_BYTES
    what = f"TCP {rule}, {show(loss_ratio, 'ratio')} lost"

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        samples = bench.require_complete(
            bulk(
                WRITE_BYTES,
                write_count=writes,
                run_count=1,
                buffer_bytes=None,
                congestion_control=rule,
                limit_s=30.0,
                path=path,
                link_buffer_bytes=HOLDS_ALL_BYTES,
                loss_ratio=loss_ratio,
                seed=SEED,
                stop=bench.should_stop,
            )
        )
        packets = round(float(samples.received_bytes[0]) / MSS_BYTES / (1.0 - loss_ratio))
        lost = lost_count(path, packets, loss_ratio=loss_ratio)
        rtt_s = float(path.rtt_s(PACKET_BYTES, reply_bytes=TCP_HEADERS_BYTES))
        predicted_bps = float(loss_limited_bps(lost / packets, rule=rule, rtt_s=rtt_s))
        error_ratio = SCATTER / np.sqrt(lost)
        yield setting.row(
            what,
            predicted=predicted_bps,
            measured=float(samples.goodput_bps[0]),
            statistic=f"{lost} of {packets} lost, standard error "
            + show(error_ratio, "ratio", digits=2),
            tolerance_ratio=LAW_RATIO + STANDARD_ERRORS * error_ratio,
            **cost(bench, "tcp", samples).errors(predicted_bps / rtt_s),
        )

    return Setting(
        lab="bulk",
        path_text=path_text,
        what=(what,),
        quantity="goodput",
        unit="bit/s",
        measure=measure,
        **options,
    )


def loss_limited_bps(loss_ratio: float, *, rule: str, rtt_s: float) -> float:
    """Return the payload rate under losses, by the law of a congestion control. [bit/s]"""
    if rule == "cubic":
        return float(cubic_throughput_bps(loss_ratio, packet_bytes=MSS_BYTES, rtt_s=rtt_s))
    return float(mathis_throughput_bps(loss_ratio, mss_bytes=MSS_BYTES, rtt_s=rtt_s))


def lost_count(path: Path, packet_count: int, *, loss_ratio: float) -> int:
    """Return how many of the first packets the first link of an emulated path loses."""
    there, _ = both_directions(path, loss_ratio=loss_ratio, seed=SEED, log=False)
    link = LinkQueue(**there[0])
    for number in range(packet_count):
        link.push(number, float(number), PACKET_BYTES)
    return link.counters["lost"]
