"""Transfers of known size that a tool says in a line: size, time, rate, as one container."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Input
from netcalc.readers.transfers._runs import DOWNLOAD, NAN
from netcalc.readers.transfers._text import origin
from netcalc.samples import Meta, TransferSamples, fact_row


@dataclass(slots=True)
class Transfer:
    """One transfer as its line shows it."""

    byte_count: float = NAN
    duration_s: float = NAN
    rate_bps: float = NAN
    direction: str = DOWNLOAD
    target: str = ""
    failed: bool = False
    handshake_rtt_s: float = NAN


def transfers(
    given: Input, found: list[Transfer], warnings: list[Notice], *, tool: str, partial: bool = False
) -> TransferSamples:
    """Return the transfers as samples; refuse a file without one."""
    if not found:
        raise ReaderError("transfer-nothing", file=given.name)
    groups = [f"run {index}" if len(found) > 1 else "" for index in range(1, len(found) + 1)]
    facts = []
    for group, one in zip(groups, found, strict=True):
        end = {"download": "received", "upload": "sent"}.get(one.direction, "sent")
        row: dict[str, Any] = {
            f"{end}_byte_count": one.byte_count,
            f"{end}_rate_bps": one.rate_bps,
        }
        facts.append(
            fact_row(
                row,
                group=group,
                target=one.target,
                direction=one.direction,
                duration_s=one.duration_s,
                handshake_rtt_min_s=one.handshake_rtt_s,
                partial=one.failed or (partial and one is found[-1]),
            )
        )
    return TransferSamples(
        payload_bytes=[one.byte_count for one in found],
        duration_s=[one.duration_s for one in found],
        failed=[one.failed for one in found],
        group=groups,
        meta=Meta(
            tool=tool,
            target=", ".join(dict.fromkeys(one.target for one in found if one.target)),
            facts=tuple(facts),
            warnings=tuple(warnings),
            partial=partial or any(one.failed for one in found),
            **origin(given),
        ),
    )


def rate_of(byte_count: float, duration_s: float) -> float:
    """Return bytes over time in bit/s; nan where one of them is not known."""
    rate = 8 * byte_count / duration_s if duration_s > 0 else NAN
    return rate if math.isfinite(rate) else NAN
