"""A run of transfers: its limits, and its course from the first to the last."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from netcalc.errors import ExperimentError
from netcalc.experiments.running.limits import MAX_BULK_BYTES, MAX_DURATION_S
from netcalc.experiments.running.run import Progress, conduct
from netcalc.experiments.running.stopping import Stop
from netcalc.experiments.transfers.placement import Placement, both_ends
from netcalc.experiments.transfers.transfer_run import Transfer, Transfers
from netcalc.samples import BulkSamples

MAX_TRANSFERS = 10_000
"""Transfers of a run: their rows fit a notebook, their connections the free ports. [1]"""
MAX_TOGETHER = 64
"""Datagrams that the kernel accepts in one call (UDP_MAX_SEGMENTS of Linux). [1]"""
MAX_TOGETHER_BYTES = 65_507
"""Payload that the kernel accepts in one call: that of the largest datagram. [byte]"""


def run_transfers(
    transfers: Sequence[Transfer],
    placement: Placement,
    *,
    experiment: str,
    unit: str,
    host: str,
    command: str,
    facts: Mapping[str, Any] | None = None,
    progress: Progress | None,
    stop: Stop | None,
    save: str | os.PathLike[str] | None,
) -> BulkSamples:
    """Do the transfers one after the other and return their samples."""
    require_bounded_transfers(transfers)
    protocol = transfers[0].protocol

    def measure(run: Transfers) -> None:
        run.facts.update(facts or {})
        with both_ends(run, placement) as ends:
            for transfer in transfers:
                run.stopping.check()
                ends.move(transfer)

    make = partial(
        Transfers,
        experiment=experiment,
        protocol=protocol,
        target=f"{placement.name}, {protocol.upper()}",
        total_count=len(transfers),
        unit=unit,
        host=host,
        command=command,
    )
    return conduct(make, measure, progress=progress, stop=stop, save=save)


def require_bounded_transfers(transfers: Sequence[Transfer]) -> None:
    """Refuse a run whose estimated count, volume or time is above a limit."""
    finite = [transfer for transfer in transfers if not transfer.endless]
    carried_bytes = sum(transfer.total_bytes for transfer in finite)
    duration_s = sum(transfer.limit_s for transfer in transfers if transfer.endless)
    values: dict[str, Any]
    if duration_s > MAX_DURATION_S:
        code, values = "transfers-too-long", {"duration_s": duration_s, "limit_s": MAX_DURATION_S}
    elif len(transfers) > MAX_TRANSFERS:
        code, values = "too-many-transfers", {"count": len(transfers), "limit": MAX_TRANSFERS}
    elif carried_bytes > MAX_BULK_BYTES:
        code = "too-many-transfer-bytes"
        values = {"carried_bytes": carried_bytes, "limit_bytes": MAX_BULK_BYTES}
    else:
        return
    raise ExperimentError(code, phase="plan", **values)
