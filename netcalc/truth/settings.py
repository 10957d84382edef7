"""The settings of the truth table, with those in virtual time: the emulation without packets.

From 56 kbit/s to 1 Gbit/s, 1, 3 and 12 links, 8 to 1400 bytes, round trips of some µs to 200 ms.
The times of most are far longer than the instrument's own; the last settings of the echo are hard.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netcalc.emulation.chain import simulate
from netcalc.models.queues.md1 import md1_wait_s
from netcalc.truth.bench import Bench, Measure, Setting
from netcalc.truth.rates import (
    buffers_setting,
    bulk_setting,
    line_rate_setting,
    links_setting,
    lockstep_setting,
    losses_setting,
    packet_pairs_setting,
)
from netcalc.truth.rows import TruthRow
from netcalc.truth.times import echo_setting, small_writes_setting, transactions_setting

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
        "virtual", path_text, (what,), quantity, unit, measure, needs_wire=False, **options
    )


EARLY_SEEDS = (1, 26, 46, 47, 62)
"""Seeds of random losses whose first lost packet is one of the first 35, at 0.3 % and above."""
SETTINGS: tuple[Setting, ...] = (
    echo_setting("T1 5 ms", 8, 512, 1400, quick=True),
    echo_setting("56 kbit/s 5 ms", 8, 200),
    echo_setting("56 kbit/s 5 ms", 1400, count=2),
    echo_setting("T1 5 ms", 512, protocol="icmp", quick=True),
    echo_setting("T1 10 ms", 8, 1400, protocol="tcp"),
    echo_setting("T1 10 ms", 512, version=6, quick=True),
    echo_setting("3 x T1 5 ms", 8, 1400),
    echo_setting(
        "T1 1 ms, 56 kbit/s 5 ms, T3 10 ms", 512, protocol="icmp", processing_s=1e-3, count=5
    ),
    echo_setting("12 x 10 Mbit/s 2 ms", 8, 1400, quick=True),
    echo_setting("100 Mbit/s 25 ms", 1400, version=6, protocol="icmp"),
    echo_setting("1 Gbit/s 100 ms", 1400, count=4),
    echo_setting("10 Mbit/s 1 ms", 1400, runs=2),
    echo_setting("T3 0.5 ms", 1400, runs=3, quick=True),
    echo_setting("100 Mbit/s 0 ms", 1400, runs=4),
    small_writes_setting(
        "10 Mbit/s 20 ms", "nagle", "nodelay", "single", "cork", quick=True, side_by_side=True
    ),
    small_writes_setting("100 Mbit/s 50 ms", "nagle", "nodelay", count=4, side_by_side=True),
    small_writes_setting("10 Mbit/s 50 ms", "nagle", quickack=True, count=4, side_by_side=True),
    transactions_setting(
        "10 Mbit/s 20 ms", 400, "ping", "udp", "tfo", "tcp", quick=True, side_by_side=True
    ),
    transactions_setting("T1 5 ms", 1400, "udp", "tfo", "tcp", side_by_side=True),
    transactions_setting("100 Mbit/s 100 ms", 1400, "tls", count=2, side_by_side=True),
    lockstep_setting("10 Mbit/s 10 ms", 1, 8, 32, quick=True, side_by_side=True),
    lockstep_setting("3 x T1 10 ms", 1, 4, side_by_side=True),
    bulk_setting(
        "100 Mbit/s 50 ms", 100, quantity="delivery", count=3, quick=True, side_by_side=True
    ),
    bulk_setting("56 kbit/s 5 ms", 10, count=1, side_by_side=True),
    bulk_setting("T1 50 ms", 180, count=1, side_by_side=True),
    bulk_setting("10 Mbit/s 20 ms", 900, count=2, side_by_side=True),
    bulk_setting("12 x 10 Mbit/s 1 ms", 900, count=2, side_by_side=True),
    buffers_setting("10 Mbit/s 20 ms", 405, 32_768, 131_072, quick=True, side_by_side=True),
    buffers_setting("20 Mbit/s 20 ms", 1035, 65_536, 204_800, count=2, side_by_side=True),
    losses_setting("200 Mbit/s 5 ms", 0.01, 1350, *EARLY_SEEDS[:3], quick=True, side_by_side=True),
    losses_setting("200 Mbit/s 5 ms", 0.005, 2700, *EARLY_SEEDS, side_by_side=True),
    losses_setting("200 Mbit/s 5 ms", 0.003, 3600, *EARLY_SEEDS, rule="cubic", side_by_side=True),
    bulk_setting("100 Mbit/s 5 ms", 5400, count=3, quick=True),
    bulk_setting("1 Gbit/s 0.5 ms", 45_000, count=3),
    line_rate_setting("1 Gbit/s, 10 Mbit/s", 64, 512, 1518, device_pps=2000.0, count=2, quick=True),
    line_rate_setting("1 Gbit/s, 100 Mbit/s", 64, 1518, device_pps=5000.0),
    links_setting("10 Mbit/s 2 ms, T1 5 ms, 10 Mbit/s 2 ms", 3),
    links_setting("56 kbit/s 5 ms", 1, count=3),
    links_setting("T1 1 ms", 1, count=24, ip_version=6),
    packet_pairs_setting("10 Mbit/s 2 ms, T1 5 ms, 10 Mbit/s 2 ms", quick=True),
    train_setting("12 x T1 1 ms", 10, quick=True),
    md1_setting("10 Mbit/s", 0.5),
    burst_loss_setting("10 Mbit/s", 0.1, 3.0),
)
"""Every run of the table, in its order."""
LABS = tuple(dict.fromkeys(setting.lab for setting in SETTINGS))
"""The experiments of the table."""
