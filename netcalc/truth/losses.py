"""Settings of the truth table in which random losses limit TCP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from netcalc.emulation.stream import deliver
from netcalc.experiments.bulk import bulk
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES
from netcalc.truth.bench import HOLDS_ALL_BYTES, Bench, Cost, Setting, cost
from netcalc.truth.rates import MSS_BYTES, PACKET_BYTES, WRITE_BYTES
from netcalc.truth.rows import TruthRow
from netcalc.units import show

LOSSES_RATIO = 0.05
"""Tolerance of a mean over seeds: two standard errors of 2 %, and 1 % for the host. [ratio]"""


def losses_setting(
    path_text: str,
    loss_ratio: float,
    segments: int,
    *seeds: int,
    rule: str = "reno",
    **options: Any,
) -> Setting:
    """Streams on a link that is never full, with random losses, one for each seed.

    A seed determines which packets are lost. Theory is the stream in virtual time that loses the
    same ones, so that the choice of losses cancels in the comparison: what remains
    is the standard error of the mean over the seeds. Acknowledgements are sent and taken by the
    kernels, without waking a program, so that a round trip has nothing of the cost of an exchange
    (0.4 ms on a quiet virtual machine, which made 4 % here). Their first loss comes early enough to
    end slow start before the buffers of the kernel, which grow by rules of their own, limit it.
    """
    writes = segments * MSS_BYTES // WRITE_BYTES
    what = f"TCP {rule}, {show(loss_ratio, 'ratio')} lost"

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        costs: list[Cost] = []
        predicted, measured, lost = [], [], 0
        for seed in seeds:
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
                    seed=seed,
                    stop=bench.should_stop,
                )
            )
            costs.append(cost(bench, "tcp", samples, path))
            sent = round(float(samples.sent_bytes[0]) / MSS_BYTES)
            stream = deliver(
                path,
                segments=sent,
                rule=rule,
                loss_ratio=loss_ratio,
                seed=seed,
            )
            lost += stream.lost_count
            predicted.append(8.0 * sent * MSS_BYTES / stream.delivery_s)
            measured.append(float(samples.goodput_bps[0]))
        ratios = np.array(measured) / np.array(predicted)
        error_ratio = float(np.std(ratios, ddof=1) / np.sqrt(len(seeds)))
        rate_bps = float(np.mean(predicted))
        rtt_s = float(path.rtt_s(PACKET_BYTES, reply_bytes=STAMPED_HEADERS_BYTES))
        worst = max(costs, key=lambda one: one.disturbance_s)
        yield setting.row(
            what,
            predicted=rate_bps,
            measured=rate_bps * float(np.mean(ratios)),
            statistic=f"mean of {len(seeds)} seeds, {lost} lost, standard error "
            + show(error_ratio, "ratio", digits=2),
            tolerance_ratio=LOSSES_RATIO,
            **worst.errors(rate_bps / rtt_s),
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
