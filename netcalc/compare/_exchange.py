"""Exchanges of packets over the links of a path."""

from __future__ import annotations

from numpy.typing import ArrayLike

from netcalc.models.delays.exchange import ExchangeTimeline, exchange_timeline
from netcalc.path import Path


def exchange_over(
    path: Path, packet_bytes: ArrayLike, sender: ArrayLike, after: ArrayLike, wait_s: ArrayLike
) -> ExchangeTimeline:
    """Return when the packets of an exchange pass the links and nodes of a path."""
    return exchange_timeline(
        packet_bytes,
        sender=sender,
        after=after,
        wait_s=wait_s,
        bandwidth_bps=[link.bandwidth_bps for link in path.links],
        latency_s=[link.latency_s for link in path.links],
        processing_s=[hop.processing_s for hop in path.hops[:-1]],
        source_processing_s=path.source_processing_s,
        destination_processing_s=path.hops[-1].processing_s,
    )
