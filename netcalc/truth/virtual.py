"""Settings of the truth table in virtual time: the emulation itself, without packets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netcalc.emulation.chain import simulate
from netcalc.models.queues.md1 import md1_wait_s
from netcalc.truth.bench import Bench, Measure, Setting
from netcalc.truth.rows import TruthRow

EXACT_RATIO = 1e-9
"""Tolerance for rounding between a formula and the same queue in virtual time. [ratio]"""
MD1_COUNT = 60_000
"""Packets of a queue with random arrivals. [packet]"""
MD1_RATIO = 0.05
"""Four standard errors of the mean wait of this number of packets. [ratio]"""
_PACKET_BYTES = 1250


def train_setting(path_text: str, packet_count: int, **options: bool) -> Setting:
    """A train of packets through all links: the arrival of the last one."""
    what = f"{packet_count} packets of {_PACKET_BYTES} B"

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        run = simulate(path, packet_bytes=_PACKET_BYTES, sent_s=np.zeros(packet_count))
        yield setting.row(
            what,
            predicted=float(path.one_way_s(_PACKET_BYTES, packet_count=packet_count)),
            measured=float(run.received_s[-1]),
            statistic="last packet",
            tolerance_ratio=EXACT_RATIO,
        )

    return _virtual(path_text, what, "arrival", "s", measure, **options)


def md1_setting(path_text: str, utilization: float, **options: bool) -> Setting:
    """Poisson arrivals at one link: the mean wait, compared with the queue M/D/1."""
    what = f"random, {utilization:.0%} used"

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        service_s = 8.0 * _PACKET_BYTES / path.bottleneck_bps
        gaps_s = np.random.default_rng(1).exponential(service_s / utilization, MD1_COUNT)
        events = simulate(path, packet_bytes=_PACKET_BYTES, sent_s=np.cumsum(gaps_s)).events
        waits_s = events.departure_s - events.arrival_s - service_s
        yield setting.row(
            what,
            predicted=float(md1_wait_s(utilization, service_s=service_s)),
            measured=float(np.mean(waits_s)),
            statistic=f"mean of {MD1_COUNT}",
            tolerance_ratio=MD1_RATIO,
        )

    return _virtual(path_text, what, "mean wait", "s", measure, **options)


def burst_loss_setting(
    path_text: str, loss_ratio: float, burst_packets: float, **options: bool
) -> Setting:
    """Packets lost in bursts: the share that is lost."""
    what = f"{loss_ratio:.0%} lost, {burst_packets:g} in a row"
    count = 40_000
    # A two-state loss process: the variance of the share is 2 b (1 - p) - 1 times as large.
    more = 2.0 * burst_packets * (1.0 - loss_ratio) - 1.0
    deviation = float(np.sqrt(loss_ratio * (1.0 - loss_ratio) * more / count))

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        sent_s = np.arange(count) * 8.0 * _PACKET_BYTES / path.bottleneck_bps
        run = simulate(
            path, packet_bytes=_PACKET_BYTES, sent_s=sent_s, seed=1,
            loss_ratio=loss_ratio, loss_burst_packets=burst_packets,
        )  # fmt: skip
        yield setting.row(
            what,
            predicted=loss_ratio,
            measured=float(np.isnan(run.received_s).mean()),
            statistic=f"of {count} packets",
            tolerance_ratio=4.0 * deviation / loss_ratio,
        )

    return _virtual(path_text, what, "loss", "ratio", measure, **options)


def _virtual(
    path_text: str, what: str, quantity: str, unit: str, measure: Measure, **options: bool
) -> Setting:
    return Setting(
        lab="virtual",
        path_text=path_text,
        what=(what,),
        quantity=quantity,
        unit=unit,
        measure=measure,
        needs_wire=False,
        **options,
    )
