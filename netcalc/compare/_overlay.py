"""Predicted and measured values of any samples: times against size, probes of nodes, trains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from netcalc import fit
from netcalc.checks import FloatArray, named_arguments
from netcalc.compare._comparison import PATH_LABEL, Comparison, curve_over, points, with_theory
from netcalc.compare._runs import emulated_path, is_router_queue, is_small_writes
from netcalc.compare._transactions import small_writes, transactions
from netcalc.compare._transfers import bulk
from netcalc.compare._waits import waits
from netcalc.compare._working import is_working_latency, working_latency
from netcalc.errors import ArgumentTypeError
from netcalc.fit import Fit
from netcalc.fit.costs import echo_headers
from netcalc.language import phrase, term
from netcalc.models.measuring.probing import pair_dispersion_s
from netcalc.path import Path
from netcalc.rate_layers import IN_HEADING, LINE, PAYLOAD, RateLayer, in_words
from netcalc.readers.places import rate_layer
from netcalc.samples import (
    BulkSamples,
    HopSamples,
    RttSamples,
    Table,
    TrainSamples,
    TransactionSamples,
    TransferSamples,
)
from netcalc.units import show, show_rate

LEAST_SIZES = 3
"""Sizes from which on each group of transfers is fitted by itself. [1]"""
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
        Measured, predicted, band and residual; of transfers those of the first of
        :func:`transfer_groups`.
    """
    if is_router_queue(samples):
        return waits(samples, title=title)
    if is_working_latency(samples):
        return working_latency(samples, path=path, title=title)
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
        (name, samples), *_ = transfer_groups(samples).items()
        title = title or ", ".join(filter(None, (size_title(samples), name)))
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
    # A message is of many packets, each with headers that its size does not count.
    is_of_messages = rate_layer(samples, {}, "throughput_bps") == PAYLOAD
    layer: RateLayer = PAYLOAD if is_of_messages and isinstance(samples, TransferSamples) else LINE
    comparison = from_fit(fitted, title or size_title(samples), layer)
    if path is None:
        return comparison
    # Nothing is fitted, so there are no outliers, and the prediction extends beyond the points.
    outlier, reach = np.zeros(comparison.x.shape, bool), np.append(comparison.x, REACH_BYTES)
    comparison = replace(comparison, outlier=outlier, curve_x=curve_over(reach))
    if isinstance(samples, TransferSamples):
        return with_theory(comparison, lambda size: path.one_way_s(size), label=PATH_LABEL)
    return with_theory(comparison, lambda size: path.rtt_s(size + headers), label=PATH_LABEL)


@named_arguments
def transfer_groups(samples: TransferSamples) -> dict[str, TransferSamples]:
    """Return the transfers of each group by its name, where each has a line of its own.

    Parameters
    ----------
    samples : TransferSamples
        Transfers of several tests, or of several runs of one.

    Returns
    -------
    dict of str to TransferSamples
        All together, without a name, where a group has less than :data:`LEAST_SIZES` sizes.
    """
    groups, good = np.asarray(samples.group), samples.measured
    sizes, times = np.asarray(samples.payload_bytes), np.asarray(samples.duration_s)
    names = dict.fromkeys(groups[good].tolist())
    rows = {name: good & (groups == name) for name in names}
    if len(rows) < 2 or any(np.unique(sizes[at]).size < LEAST_SIZES for at in rows.values()):
        return {"": samples}
    return {
        name: TransferSamples(payload_bytes=sizes[at], duration_s=times[at], meta=samples.meta)
        for name, at in rows.items()
    }


def from_fit(fitted: Fit, title: str, layer: RateLayer = LINE) -> Comparison:
    """Return the points, the line through them and its 95% band."""
    curve_x = curve_over(fitted.x, decades=fitted.line.is_relative)
    curve = fitted.predict(curve_x)
    low, high = fitted.band(curve_x)
    predicted = fitted.predict(fitted.x)
    is_rtt = fitted.y_name == "rtt_s"
    return Comparison(
        x=fitted.x,
        measured=fitted.measured,
        predicted=predicted,
        residual=fitted.residual,
        outlier=fitted.outlier,
        curve_x=curve_x,
        curve_y=curve,
        curve_low=low,
        curve_high=high,
        x_name=phrase("user data") if is_rtt else phrase("size"),
        x_unit="byte",
        y_name=phrase("round-trip time") if is_rtt else phrase("transfer time"),
        y_unit="s",
        title=title,
        measured_label=phrase("measured, minimum of each size") if is_rtt else phrase("measured"),
        predicted_label=_fit_label(fitted, layer),
        sentence=_fit_sentence(fitted, layer),
        fit=fitted,
    )


def _fit_label(fitted: Fit, layer: RateLayer) -> str:
    rate = fitted.params["bandwidth_bps"]
    if np.isnan(rate):
        if fitted.line.slope:
            return phrase("line of the points, no rate")
        return phrase("mean of the points, no rate")
    start = "base_rtt_s" if fitted.y_name == "rtt_s" else "latency_s"
    return phrase(
        "fitted: {start} + {rate}",
        start=show(fitted.params[start], "s"),
        rate=show_rate(rate, layer, digits=3),
    )


def _fit_sentence(fitted: Fit, layer: RateLayer) -> str:
    if not fitted.x.size:
        if fitted.y_name == "rtt_s":
            return phrase("No round trip has both a size and a time.")
        return phrase("No transfer has both a size and a time.")
    reason = fitted.not_identifiable.get("bandwidth_bps")
    start = "base_rtt_s" if fitted.y_name == "rtt_s" else "latency_s"
    steps = "" if fitted.stepped is None else "; ".join(map(str, fitted.stepped.said)) + ". "
    if reason is not None:
        return steps + phrase(
            "Minimum time {time}; {reason}.",
            time=show(float(fitted.measured.min()), "s"),
            reason=reason,
        )
    if start in fitted.not_identifiable:
        return steps + phrase(
            "Equivalent rate {rate}, latency unknown: {reason}.",
            rate=show_rate(fitted.params["bandwidth_bps"], layer),
            reason=fitted.not_identifiable[start],
        )
    kept = ~fitted.outlier
    if fitted.line.is_relative:
        spread = float(np.median(np.abs(fitted.residual[kept] / fitted.predict(fitted.x)[kept])))
        quality = phrase(
            "weighted by relative errors, median absolute residual {spread} of the time",
            spread=show(spread, "ratio", digits=2),
        )
    elif np.unique(fitted.x[kept]).size < 3:
        quality = phrase("two sizes, so the line is exact: a third size would test it")
    else:
        spread = float(np.median(np.abs(fitted.residual[kept])))
        quality = phrase("median absolute residual {spread}", spread=show(spread, "s", digits=2))
    largest = float(fitted.x.max())
    at_largest = float(fitted.predict(np.asarray(largest)))
    share = fitted.params[start] / at_largest
    rate = show_rate(fitted.params["bandwidth_bps"], IN_HEADING, digits=3)
    is_sure = fitted.stepped is None and np.isnan(fitted.stderr["bandwidth_bps"])
    values = {
        "largest": show(largest, "byte"),
        "share": share,
        "at_largest": show(at_largest, "s"),
        "start": show(fitted.params[start], "s") + _plus_minus(fitted, start, "s"),
        "rate": rate + _plus_minus(fitted, "bandwidth_bps", "bit/s"),
        "layer": in_words(layer),
        "said": "" if is_sure else phrase(" (± 1 standard error)"),
        "quality": quality,
    }
    if fitted.stepped is not None:
        return steps + phrase(
            "At {largest}, {share:.0%} of the {at_largest} is latency ({start}) and {stepped:.0%} "
            "steps, the rest is serialization at an equivalent rate of {rate} ({layer}){said}; "
            "{quality}.",
            stepped=sum(step.jump for step in fitted.steps) / at_largest,
            **values,
        )
    sentence = (
        term(
            "At {largest}, {share:.0%} of the {at_largest} is latency ({start}), the rest is "
            "serialization at an equivalent rate of {rate} ({layer}){said}: latency limits; "
            "{quality}."
        )
        if share >= 0.5
        else term(
            "At {largest}, {share:.0%} of the {at_largest} is latency ({start}), the rest is "
            "serialization at an equivalent rate of {rate} ({layer}){said}: bandwidth limits; "
            "{quality}."
        )
    )
    return phrase(sentence, **values)


def _plus_minus(fitted: Fit, name: str, unit: str) -> str:
    error = fitted.stderr[name]
    return "" if np.isnan(error) else f" ± {show(error, unit, digits=2)}"


def size_title(samples: RttSamples | TransferSamples) -> str:
    """Return the title of a figure of times against size."""
    origin = samples.meta.target or samples.meta.source
    is_rtt = isinstance(samples, RttSamples)
    what = phrase("Round-trip time against size" if is_rtt else "Transfer time against size")
    return what + (f", {origin}" if origin else "")


@named_arguments
def probes(samples: HopSamples, *, path: Path | None = None, title: str = "") -> Comparison:
    """Compare probes to every node of a path with predictions: one line for each node.

    Parameters
    ----------
    samples : HopSamples
        A run of :func:`netcalc.experiments.probing`.
    path : Path, optional
        The path; by default the emulated one of the run. Without one a line is fitted to each node.
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Points and curves of one node after the other; a nan separates two curves.
    """
    fitted = fit.links(samples)
    path = path or emulated_path(samples.meta.instrument)
    largest = max((float(size.max()) for size, _ in fitted.points), default=1500.0)
    version = 6 if samples.meta.instrument.address_family == "IPv6" else 4
    least, quoted = (28.0, fit.QUOTED_BYTES) if version == 4 else (48.0, fit.QUOTED_V6_BYTES)
    curve_at = np.array([least, quoted, max(largest, quoted)])
    parts: list[tuple[FloatArray, FloatArray]] = []
    curves: list[tuple[FloatArray, FloatArray]] = []
    for hop, line, (size, measured) in zip(samples.hops, fitted.lines, fitted.points, strict=True):
        if path is None or hop > len(path.hops):
            predicted, curve = (line.intercept + line.slope * x for x in (size, curve_at))
        else:
            predicted, curve = (
                fit.to_node_s(x, path=path, hop=hop, ip_version=version) for x in (size, curve_at)
            )
        parts.append((measured, predicted))
        curves.append((np.append(curve_at, np.nan), np.append(curve, np.nan)))
    nothing = np.zeros(0)
    compared = points(
        np.concatenate([nothing, *(size for size, _ in fitted.points)]),
        measured=np.concatenate([nothing, *(measured for measured, _ in parts)]),
        theory=lambda x: np.full_like(x, np.nan),
        x_name="packet",
        x_unit="byte",
        y_name=phrase("round-trip time"),
        y_unit="s",
        title=title or "Round-trip time to every node, against size",
        measured_label=phrase("measured, minimum of each size"),
        predicted_label=phrase("fitted, one line for each node") if path is None else PATH_LABEL,
    )
    curve_y = np.concatenate([nothing, *(curve for _, curve in curves)])
    predictions = np.concatenate([nothing, *(predicted for _, predicted in parts)])
    return replace(
        compared,
        predicted=predictions,
        residual=compared.measured - predictions,
        curve_x=np.concatenate([nothing, *(x for x, _ in curves)]),
        curve_y=curve_y,
        curve_low=curve_y,
        curve_high=curve_y,
        sentence=fitted.sentence,
    )


@named_arguments
def trains(samples: TrainSamples, *, path: Path | None = None, title: str = "") -> Comparison:
    """Compare the spacing of packets sent back to back with the prediction.

    Parameters
    ----------
    samples : TrainSamples
        A run of :func:`netcalc.experiments.packet_trains`.
    path : Path, optional
        The path; by default the emulated one of the run. Without one the rate of the bottleneck
        link is estimated.
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Points by train; trains with cross traffic between their packets are marked as outliers.
    """
    bottleneck = fit.bottleneck(samples)
    path = path or emulated_path(samples.meta.instrument)
    rate = bottleneck.bandwidth_bps if path is None else path.bottleneck_bps
    rows = samples.trains()
    gap_s = rows["dispersion_s"] / (rows["packet_count"] - 1.0)
    size = float(np.median(rows["packet_bytes"])) if gap_s.size else 0.0
    apart_s = float(pair_dispersion_s(size, bandwidth_bps=rate)) if rate > 0 else np.nan
    compared = points(
        rows["train"],
        measured=gap_s,
        theory=lambda train: np.full_like(train, apart_s),
        x_name="train",
        x_unit="1",
        y_name=phrase("time between packets"),
        y_unit="s",
        title=title or "Packets sent back to back",
        measured_label=phrase("measured at the receiver"),
        predicted_label=phrase("fitted, mode of the rates") if path is None else PATH_LABEL,
    )
    return replace(compared, outlier=rows["crossed_count"] > 0, sentence=bottleneck.sentence)
