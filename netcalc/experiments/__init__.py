"""Live runs on real sockets: raw samples with their measurement error.

Each run has hard limits of time, bytes and probes, uses the loopback or namespaces of its own only,
can be stopped within a second, keeps its samples, and leaves nothing behind.
"""

from __future__ import annotations

from netcalc.experiments.bulk import BOOK_WRITES, TESTER_FRAMES, bulk, line_rate, lockstep
from netcalc.experiments.echo import BOOK_SIZES, echo
from netcalc.experiments.peers.remote import FarPeer as Peer
from netcalc.experiments.probing import PROBE_SIZES, PROBE_SIZES_V6, packet_trains, probing
from netcalc.experiments.registry import EXPERIMENTS, Experiment
from netcalc.experiments.router import ARTICLE_SIZES, article_routers, router
from netcalc.experiments.router_queue import router_queue
from netcalc.experiments.running.instrument import measurement_error
from netcalc.experiments.running.limits import (
    MAX_BULK_BYTES,
    MAX_BYTES,
    MAX_COUNT,
    MAX_DURATION_S,
    MAX_TCP_BYTES,
)
from netcalc.experiments.small_writes import small_writes
from netcalc.experiments.transactions import BOOK_TRANSACTION_SIZES, transactions
from netcalc.experiments.working_latency import working_latency

__all__ = [
    "ARTICLE_SIZES",
    "BOOK_SIZES",
    "BOOK_TRANSACTION_SIZES",
    "BOOK_WRITES",
    "EXPERIMENTS",
    "MAX_BULK_BYTES",
    "MAX_BYTES",
    "MAX_COUNT",
    "MAX_DURATION_S",
    "MAX_TCP_BYTES",
    "PROBE_SIZES",
    "PROBE_SIZES_V6",
    "TESTER_FRAMES",
    "Experiment",
    "Peer",
    "article_routers",
    "bulk",
    "echo",
    "line_rate",
    "lockstep",
    "measurement_error",
    "packet_trains",
    "probing",
    "router",
    "router_queue",
    "small_writes",
    "transactions",
    "working_latency",
]
__dir__ = __all__.copy  # what TAB offers
