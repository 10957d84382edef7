"""Predicted and measured values of any samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from netcalc import fit
from netcalc.checks import named_arguments
from netcalc.compare._comparison import (
    PATH_LABEL,
    Comparison,
    curve_over,
    emulated_path,
    is_router_queue,
    is_small_writes,
    with_theory,
)
from netcalc.compare._probing import probes, trains
from netcalc.compare._sizes import from_fit, size_title, transactions
from netcalc.compare._small_writes import small_writes
from netcalc.compare._transfers import bulk
from netcalc.compare._waits import waits
from netcalc.errors import ArgumentTypeError
from netcalc.fit.costs import echo_headers
from netcalc.path import Path
from netcalc.samples import (
    BulkSamples,
    HopSamples,
    RttSamples,
    Table,
    TrainSamples,
    TransactionSamples,
    TransferSamples,
)

REACH_BYTES = 1400.0
"""Size up to which the prediction for a path is drawn at least: about a full packet. [byte]"""


@named_arguments
def overlay(
    samples: RttSamples
    | TransferSamples
    | TransactionSamples
    | BulkSamples
    | HopSamples
    | TrainSamples
    | Table,
    *,
    path: Path | None = None,
    header_bytes: int | None = None,
    title: str = "",
) -> Comparison:
    """Compare measured times with predictions: against size, or exchange by exchange.

    Parameters
    ----------
    samples : RttSamples, TransferSamples, TransactionSamples, BulkSamples, HopSamples, TrainSamples
        The measurement.
    path : Path, optional
        The path, if it is known: then nothing is fitted, and the residual is the error of the
        prediction. By default the emulated path of the run; without one latency and rate are
        fitted.
    header_bytes : int, optional
        Headers of the packet of an echo; by default those of the run, or of ping. [byte]
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Measured, predicted, band and residual.
    """
    if is_router_queue(samples):
        return waits(samples, title=title)
    if isinstance(samples, HopSamples):
        return probes(samples, path=path, title=title)
    if isinstance(samples, TrainSamples):
        return trains(samples, path=path, title=title)
    if isinstance(samples, BulkSamples):
        return bulk(samples, path=path, title=title)
    if isinstance(samples, TransactionSamples):
        if is_small_writes(samples):
            return small_writes(samples, path=path, title=title)
        return transactions(samples, path=path, title=title)
    headers = 0 if header_bytes is None else header_bytes
    if isinstance(samples, TransferSamples):
        fitted = fit.transfer_against_size(samples)
    elif isinstance(samples, RttSamples):
        headers = echo_headers(samples.meta) if header_bytes is None else header_bytes
        path = path or emulated_path(samples.meta.instrument)
        fitted = fit.rtt_against_size(samples, header_bytes=headers)
    else:
        raise ArgumentTypeError(
            "not-of-class",
            "samples",
            type(samples).__name__,
            expected="RttSamples, TransferSamples or TransactionSamples",
        )
    comparison = from_fit(fitted, title or size_title(samples))
    if path is None:
        return comparison
    # Nothing is fitted, so there are no outliers, and the prediction extends beyond the points.
    outlier, reach = np.zeros(comparison.x.shape, bool), np.append(comparison.x, REACH_BYTES)
    comparison = replace(comparison, outlier=outlier, curve_x=curve_over(reach))
    if isinstance(samples, TransferSamples):
        return with_theory(comparison, lambda size: path.one_way_s(size), label=PATH_LABEL)
    return with_theory(comparison, lambda size: path.rtt_s(size + headers), label=PATH_LABEL)
