"""Times against size: a latency and a rate are fitted, and what they say."""

from __future__ import annotations

import numpy as np

from netcalc.compare._comparison import (
    TCP_HEADERS_BYTES,
    Comparison,
    curve_over,
)
from netcalc.fit import Fit
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.samples import (
    Meta,
    RttSamples,
    TransferSamples,
)
from netcalc.units import show


def from_fit(fitted: Fit, title: str) -> Comparison:
    """Return the points, the line through them and its 95% band."""
    from scipy.special import stdtrit  # late: half of the package does without scipy

    curve_x = curve_over(fitted.x)
    curve = fitted.predict(curve_x)
    degrees = int((~fitted.outlier).sum()) - fitted.line.rank
    band = np.zeros_like(curve)
    if degrees > 0 and not np.isnan(fitted.line.covariance):
        band = float(stdtrit(degrees, 0.975)) * fitted.predict_stderr(curve_x)
    predicted = fitted.predict(fitted.x)
    is_rtt = fitted.y_name == "rtt_s"
    return Comparison(
        x=fitted.x,
        measured=fitted.measured,
        predicted=predicted,
        residual=fitted.measured - predicted,
        outlier=fitted.outlier,
        curve_x=curve_x,
        curve_y=curve,
        curve_low=curve - band,
        curve_high=curve + band,
        x_name="user data" if is_rtt else "size",
        x_unit="byte",
        y_name="round-trip time" if is_rtt else "transfer time",
        y_unit="s",
        title=title,
        measured_label="smallest of each size" if is_rtt else "measured",
        predicted_label=_fit_label(fitted),
        sentence=_fit_sentence(fitted),
        fit=fitted,
    )


def _fit_label(fitted: Fit) -> str:
    rate = fitted.params["bandwidth_bps"]
    if np.isnan(rate):
        what = "line" if fitted.line.slope else "mean"
        return f"{what} through the points: no rate to be seen"
    start = "base_rtt_s" if fitted.y_name == "rtt_s" else "latency_s"
    return f"fit: {show(fitted.params[start], 's')} + {show(rate, 'bit/s', digits=3)}"


def _fit_sentence(fitted: Fit) -> str:
    if not fitted.x.size:
        return "There is no round trip with a size and a time in these samples."
    reason = fitted.not_identifiable.get("bandwidth_bps")
    start = "base_rtt_s" if fitted.y_name == "rtt_s" else "latency_s"
    if reason is not None:
        return f"The best time is {show(float(fitted.measured.min()), 's')}; {reason}."
    if start in fitted.not_identifiable:
        return (
            f"An equivalent rate of {show(fitted.params['bandwidth_bps'], 'bit/s')} fits, but no "
            f"latency is left: {fitted.not_identifiable[start]}."
        )
    largest = float(fitted.x.max())
    at_largest = float(fitted.predict(np.asarray(largest)))
    share = fitted.params[start] / at_largest
    limiting = "latency" if share >= 0.5 else "bandwidth"
    spread = float(np.median(np.abs(fitted.residual[~fitted.outlier])))
    return (
        f"At {show(largest, 'byte')} {share:.0%} of the {show(at_largest, 's')} is latency "
        f"({show(fitted.params[start], 's')}{_plus_minus(fitted, start, 's')}), the rest clocks "
        f"bits at an equivalent {show(fitted.params['bandwidth_bps'], 'bit/s', digits=3)}"
        f"{_plus_minus(fitted, 'bandwidth_bps', 'bit/s')}: {limiting} limits; the points lie "
        f"within {show(spread, 's', digits=2)} of the line in the median."
    )


def _plus_minus(fitted: Fit, name: str, unit: str) -> str:
    error = fitted.stderr[name]
    return "" if np.isnan(error) else f" ± {show(error, unit, digits=2)}"


def title_of_sizes(samples: RttSamples | TransferSamples) -> str:
    """Return the title of a figure of times against size."""
    what = "Round-trip time" if isinstance(samples, RttSamples) else "Transfer time"
    origin = samples.meta.target or samples.meta.source
    return f"{what} against size" + (f", {origin}" if origin else "")


def echo_headers(meta: Meta) -> int:
    """Return the headers of an echo: those of a live run, else those of ping. [byte]"""
    of_tcp = meta.layers.get("payload_bytes") == "TCP payload"
    own = TCP_HEADERS_BYTES if of_tcp else DATAGRAM_HEADERS_BYTES
    return own + 20 * (meta.instrument.get("address_family") == "IPv6")
