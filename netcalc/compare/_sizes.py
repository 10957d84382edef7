"""Comparison of times against size: a latency and a rate are fitted."""

from __future__ import annotations

import numpy as np

from netcalc.compare._comparison import Comparison, curve_over
from netcalc.fit import Fit
from netcalc.rate_layers import IN_HEADING, LINE
from netcalc.samples import (
    RttSamples,
    TransferSamples,
)
from netcalc.units import show, show_rate


def from_fit(fitted: Fit, title: str) -> Comparison:
    """Return the points, the line through them and its 95% band."""
    curve_x = curve_over(fitted.x)
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
        x_name="user data" if is_rtt else "size",
        x_unit="byte",
        y_name="round-trip time" if is_rtt else "transfer time",
        y_unit="s",
        title=title,
        measured_label="measured, minimum of each size" if is_rtt else "measured",
        predicted_label=_fit_label(fitted),
        sentence=_fit_sentence(fitted),
        fit=fitted,
    )


def _fit_label(fitted: Fit) -> str:
    rate = fitted.params["bandwidth_bps"]
    if np.isnan(rate):
        return f"{'line' if fitted.line.slope else 'mean'} of the points, no rate"
    start = "base_rtt_s" if fitted.y_name == "rtt_s" else "latency_s"
    return f"fitted: {show(fitted.params[start], 's')} + {show_rate(rate, LINE, digits=3)}"


def _fit_sentence(fitted: Fit) -> str:
    if not fitted.x.size:
        what = "round trip" if fitted.y_name == "rtt_s" else "transfer"
        return f"No {what} has both a size and a time."
    reason = fitted.not_identifiable.get("bandwidth_bps")
    start = "base_rtt_s" if fitted.y_name == "rtt_s" else "latency_s"
    if reason is not None:
        return f"Minimum time {show(float(fitted.measured.min()), 's')}; {reason}."
    if start in fitted.not_identifiable:
        return (
            f"Equivalent rate {show_rate(fitted.params['bandwidth_bps'], LINE)}, latency unknown: "
            f"{fitted.not_identifiable[start]}."
        )
    largest = float(fitted.x.max())
    at_largest = float(fitted.predict(np.asarray(largest)))
    share = fitted.params[start] / at_largest
    limiting = "latency" if share >= 0.5 else "bandwidth"
    said = "" if np.isnan(fitted.stderr["bandwidth_bps"]) else " (± 1 standard error)"
    kept = ~fitted.outlier
    if np.unique(fitted.x[kept]).size < 3:
        quality = "two sizes, so the line is exact: a third size would test it"
    else:
        spread = float(np.median(np.abs(fitted.residual[kept])))
        quality = f"median absolute residual {show(spread, 's', digits=2)}"
    return (
        f"At {show(largest, 'byte')}, {share:.0%} of the {show(at_largest, 's')} is latency "
        f"({show(fitted.params[start], 's')}{_plus_minus(fitted, start, 's')}), the rest is "
        "serialization at an equivalent rate of "
        f"{show_rate(fitted.params['bandwidth_bps'], IN_HEADING, digits=3)}"
        f"{_plus_minus(fitted, 'bandwidth_bps', 'bit/s')} ({LINE}){said}: {limiting} limits; "
        f"{quality}."
    )


def _plus_minus(fitted: Fit, name: str, unit: str) -> str:
    error = fitted.stderr[name]
    return "" if np.isnan(error) else f" ± {show(error, unit, digits=2)}"


def size_title(samples: RttSamples | TransferSamples) -> str:
    """Return the title of a figure of times against size."""
    what = "Round-trip time" if isinstance(samples, RttSamples) else "Transfer time"
    origin = samples.meta.target or samples.meta.source
    return f"{what} against size" + (f", {origin}" if origin else "")
