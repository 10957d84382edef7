"""Comparisons of measured and predicted values: one object to print and to draw.

>>> from netcalc.samples import TransferSamples
>>> transfers = TransferSamples(payload_bytes=[1e4, 1e5, 1e6], duration_s=[0.032, 0.048, 0.208])
>>> found = overlay(transfers)
>>> round(float(found.residual.max()), 4), found.predicted_label
(0.0, 'fitted: 30.22 ms + 45 Mbit/s (line)')
"""

from __future__ import annotations

from netcalc.compare._comparison import (
    CURVE_POINTS,
    PATH_LABEL,
    Comparison,
    ideal_shares,
    points,
    request_goodput_bps,
    with_theory,
)
from netcalc.compare._files import Compared, axis_notice, file_notices, files, on_one_axis
from netcalc.compare._overlay import overlay, probes, trains, transfer_groups
from netcalc.compare._router import (
    frame_throughputs,
    is_router,
    router,
    router_notes,
    router_regimes,
    router_verdicts,
)
from netcalc.compare._runs import is_router_queue, is_small_writes
from netcalc.compare._transactions import (
    TRANSACTIONS_OVER,
    datagram_costs,
    ladder,
    small_writes,
    transactions,
)
from netcalc.compare._transfers import bulk, frame_rates, lockstep_cycle
from netcalc.compare._waits import arrival_batches, arrival_gaps, wait_models, waits
from netcalc.compare._working import is_working_latency, working_latency

__all__ = [
    "CURVE_POINTS", "PATH_LABEL", "TRANSACTIONS_OVER", "Compared", "Comparison",
    "arrival_batches", "arrival_gaps", "axis_notice", "bulk", "datagram_costs", "file_notices",
    "files", "frame_rates", "frame_throughputs", "ideal_shares", "is_router", "is_router_queue",
    "is_small_writes", "is_working_latency", "ladder", "lockstep_cycle", "on_one_axis", "overlay",
    "points", "probes", "request_goodput_bps", "router", "router_notes", "router_regimes",
    "router_verdicts", "small_writes", "trains", "transactions", "transfer_groups", "wait_models",
    "waits", "with_theory", "working_latency",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers
