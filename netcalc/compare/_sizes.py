"""Comparison of times against size: a latency and a rate are fitted."""

from __future__ import annotations

import numpy as np

from netcalc.compare._comparison import Comparison, curve_over
from netcalc.fit import Fit
from netcalc.language import phrase, term
from netcalc.rate_layers import IN_HEADING, LINE, in_words
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
        x_name=phrase("user data") if is_rtt else phrase("size"),
        x_unit="byte",
        y_name=phrase("round-trip time") if is_rtt else phrase("transfer time"),
        y_unit="s",
        title=title,
        measured_label=phrase("measured, minimum of each size") if is_rtt else phrase("measured"),
        predicted_label=_fit_label(fitted),
        sentence=_fit_sentence(fitted),
        fit=fitted,
    )


def _fit_label(fitted: Fit) -> str:
    rate = fitted.params["bandwidth_bps"]
    if np.isnan(rate):
        if fitted.line.slope:
            return phrase("line of the points, no rate")
        return phrase("mean of the points, no rate")
    start = "base_rtt_s" if fitted.y_name == "rtt_s" else "latency_s"
    return phrase(
        "fitted: {start} + {rate}",
        start=show(fitted.params[start], "s"),
        rate=show_rate(rate, LINE, digits=3),
    )


def _fit_sentence(fitted: Fit) -> str:
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
            rate=show_rate(fitted.params["bandwidth_bps"], LINE),
            reason=fitted.not_identifiable[start],
        )
    largest = float(fitted.x.max())
    at_largest = float(fitted.predict(np.asarray(largest)))
    share = fitted.params[start] / at_largest
    said = "" if np.isnan(fitted.stderr["bandwidth_bps"]) else phrase(" (± 1 standard error)")
    kept, predicted = ~fitted.outlier, fitted.predict(fitted.x)
    if np.unique(fitted.x[kept]).size < 3:
        quality = phrase("two sizes, so the line is exact: a third size would test it")
    else:
        spread = float(np.median(np.abs(fitted.residual[kept])))
        quality = phrase(
            "median absolute residual {spread}",
            spread=show(spread, "s", digits=2),
        )
    if fitted.line.is_relative:
        spread = float(np.median(np.abs(fitted.residual[kept] / predicted[kept])))
        quality = phrase("median absolute residual {spread} of the time", spread=f"{spread:.2g}")
    if fitted.stepped is not None:
        return steps + _stepped_sentence(fitted, start, quality)
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
    rate = show_rate(fitted.params["bandwidth_bps"], IN_HEADING, digits=3)
    return phrase(
        sentence,
        largest=show(largest, "byte"),
        share=share,
        at_largest=show(at_largest, "s"),
        start=show(fitted.params[start], "s") + _plus_minus(fitted, start, "s"),
        rate=rate + _plus_minus(fitted, "bandwidth_bps", "bit/s"),
        layer=in_words(LINE),
        said=said,
        quality=quality,
    )


def _stepped_sentence(fitted: Fit, start: str, quality: str) -> str:
    """Return what the time at the largest size consists of, steps among it."""
    largest = float(fitted.x.max())
    at_largest = float(fitted.predict(np.asarray(largest)))
    rate = show_rate(fitted.params["bandwidth_bps"], IN_HEADING, digits=3)
    return phrase(
        "At {largest}, {share:.0%} of the {at_largest} is latency ({start}) and {stepped:.0%} "
        "steps, the rest is serialization at an equivalent rate of {rate} ({layer}){said}; "
        "{quality}.",
        largest=show(largest, "byte"),
        share=fitted.params[start] / at_largest,
        at_largest=show(at_largest, "s"),
        start=show(fitted.params[start], "s") + _plus_minus(fitted, start, "s"),
        stepped=sum(step.jump for step in fitted.steps) / at_largest,
        rate=rate + _plus_minus(fitted, "bandwidth_bps", "bit/s"),
        layer=in_words(LINE),
        said=phrase(" (± 1 standard error)"),
        quality=quality,
    )


def _plus_minus(fitted: Fit, name: str, unit: str) -> str:
    error = fitted.stderr[name]
    return "" if np.isnan(error) else f" ± {show(error, unit, digits=2)}"


def size_title(samples: RttSamples | TransferSamples) -> str:
    """Return the title of a figure of times against size."""
    origin = samples.meta.target or samples.meta.source
    is_rtt = isinstance(samples, RttSamples)
    what = phrase("Round-trip time against size" if is_rtt else "Transfer time against size")
    return what + (f", {origin}" if origin else "")
