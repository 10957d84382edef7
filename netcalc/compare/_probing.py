"""Comparison of probes to every node of a path, and of packets sent back to back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from netcalc import fit
from netcalc.checks import FloatArray, named_arguments
from netcalc.compare._comparison import PATH_LABEL, Comparison, emulated_path, points
from netcalc.language import phrase
from netcalc.models.measuring.probing import pair_dispersion_s
from netcalc.path import Path
from netcalc.samples import (
    HopSamples,
    TrainSamples,
)


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
    for hop, line in enumerate(fitted.lines, 1):
        size = fitted.points[hop - 1][0]
        if path is None or hop > len(path.hops):
            predicted, curve = (line.intercept + line.slope * x for x in (size, curve_at))
        else:
            predicted, curve = (
                fit.to_node_s(x, path=path, hop=hop, ip_version=version) for x in (size, curve_at)
            )
        parts.append((fitted.points[hop - 1][1], predicted))
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
        A run of :func:`netcalc.experiments.probing`.
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
