"""An emulated path: links as queues in given time, and a wire that carries real packets."""

from __future__ import annotations

from netcalc.emulation.chain import Chain, Simulated, chain_of, simulate
from netcalc.emulation.queue import FATES, Events, LinkQueue
from netcalc.emulation.wire import Statistics, Wire

__all__ = [
    "FATES",
    "Chain",
    "Events",
    "LinkQueue",
    "Simulated",
    "Statistics",
    "Wire",
    "chain_of",
    "simulate",
]
