"""Times or rates of several sizes: a fixed part and a rate, or why they show none."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from netcalc.explain.causes.cause import LOW, MEDIUM, Cause, Sign, cause_of_limit
from netcalc.explain.causes.tools import TRIP_ERROR
from netcalc.explain.evidence import Evidence, Known
from netcalc.explain.finding import Finding
from netcalc.explain.rate_limits import above_line, rate_limits
from netcalc.explain.tables import (
    FITTED_TOLERANCE,
    LEAST_OFF,
    left_out,
    numbers,
    plausible,
    rows_of,
    series_of,
    two_points,
)
from netcalc.fit import Fit, transfer_against_size
from netcalc.messages import Notice
from netcalc.rate_layers import TCP_PAYLOAD
from netcalc.samples import Samples, Table, TransferSamples

FEW_TRIPS = 10.0
"""Of more round trips than these any time is nearly a whole number. [1]"""
OF_SIZES = ("line", "window", "packet-rate")
"""Limits of a rate that does not depend on the size of the transfer."""


def explain_transfer_sizes(samples: Samples, stated: Known) -> tuple[Finding, ...]:
    """Return what times of transfers of several sizes consist of: a fixed part, and a rate.

    Parameters
    ----------
    samples : TransferSamples or Table
        Sizes and times; or a table of sizes and times, or of sizes and rates.
    stated : Known
        ``line_bps``, and ``window_bytes`` with ``rtt_s``, are compared with the rate; ``rtt_s``
        with the fixed part.

    Returns
    -------
    tuple of Finding
        One for each group of more than one size; empty for other samples.
    """
    transfers = _transfers(samples) if isinstance(samples, Table) else samples
    if not isinstance(transfers, TransferSamples):
        return ()
    if any("handshake_rtt_min_s" in row for row in transfers.facts()):
        return ()  # a run that measured its round trip: the limits of its rate say more
    sizes, times = np.asarray(transfers.payload_bytes), np.asarray(transfers.duration_s)
    good = transfers.measured & plausible(times) & (sizes >= 0)
    rows = rows_of([str(name) for name in transfers.group], good)
    if stated.rtt_s is not None and good.any():
        trips = times[good] / stated.rtt_s
        off = np.abs(trips - np.maximum(np.rint(trips), 1))
        if trips.max() <= FEW_TRIPS and off.max() <= TRIP_ERROR:
            return ()  # whole round trips, not a line
    if any(np.unique(sizes[at]).size < 2 for at in rows.values()):
        return ()
    said = left_out(sizes.size, rows)
    findings = []
    for name, at in rows.items():
        part = TransferSamples(
            payload_bytes=sizes[at], duration_s=times[at], meta=replace(transfers.meta, facts=())
        )
        finding = _of_group(transfer_against_size(part), stated)
        findings.append(replace(
            finding, label=name, layer=TCP_PAYLOAD,
            notices=(*said, *two_points(np.unique(sizes[at])), *finding.notices),
            missing=() if stated.line_bps is not None else (Notice("ask-line"),),
        ))  # fmt: skip
    return tuple(findings)


def _transfers(table: Table) -> TransferSamples | None:
    """Return the transfers of a table of sizes with times or with rates; None of another."""
    sizes, times = numbers(table, "packet_bytes"), numbers(table, "transfer_s")
    rates = numbers(table, "goodput_bps")
    rates = numbers(table, "rate_bps") if rates is None else rates
    if sizes is None or (times is None) == (rates is None):
        return None
    if times is None:
        assert rates is not None  # one of both is there
        with np.errstate(all="ignore"):  # rows without a rate are left out
            times = np.where(plausible(sizes, rates), 8 * sizes / rates, math.nan)
    return TransferSamples(
        payload_bytes=sizes, duration_s=times, failed=~plausible(times),
        group=np.array(series_of(table), object),
    )  # fmt: skip


def _of_group(fit: Fit, stated: Known) -> Finding:
    """Return what the times of one group say."""
    kept: NDArray[np.bool_] = ~fit.outlier
    times, sizes = fit.measured[kept], fit.x[kept]
    count = Sign(name="row_count", value=float(times.size), unit="1", origin="the table")
    rate_bps, latency_s = fit.params["bandwidth_bps"], fit.params["latency_s"]
    if math.isnan(rate_bps) or (times.max() <= times.min() and fit.x.size > 1):
        span = float(sizes.max() / max(sizes.min(), 1.0))
        seen = (count, _sign("low_s", float(times.min()), "s"),
                _sign("high_s", float(times.max()), "s"),
                _sign("span_ratio", span, "ratio"))  # fmt: skip
        is_flat = times.max() <= (1 + FITTED_TOLERANCE) * times.min()
        return Finding(
            cause=Cause(signs=seen, variant="sizes-flat" if is_flat else "sizes-scatter"),
            notices=() if is_flat else tuple(fit.not_identifiable.values())[:1],
        )
    off = max(float(f"{np.abs(times / fit.predict(sizes) - 1).max():.2g}"), LEAST_OFF)
    rate = _fitted(fit, "fitted_bps", "bandwidth_bps", "bit/s")
    signs = [rate, count, _sign("off_ratio", off, "ratio")]
    variant, said = "sizes-alone", list(fit.notes)
    if not math.isnan(latency_s):
        latency = _fitted(fit, "latency_s", "latency_s", "s")
        is_exact = math.isnan(latency.low) or math.isnan(rate.low)
        variant = "sizes-exact" if is_exact else "sizes"
        signs = [latency, *signs, _sign("even_bytes", latency_s * rate_bps / 8, "byte")]
        if stated.rtt_s is not None:
            values = {"latency_s": latency_s, "rtt_s": stated.rtt_s,
                      "trips": latency_s / stated.rtt_s}  # fmt: skip
            said.append(Notice("sizes-trips", values))
    cause = Cause(signs=tuple(signs), variant=variant)
    said += above_line(rate_bps, stated)
    limits = tuple(
        rate_limit
        for rate_limit in rate_limits(Evidence(rate_bps=rate_bps), stated)
        if rate_limit.name in OF_SIZES
    )
    finding = Finding(measured=rate_bps, limits=limits, layer=TCP_PAYLOAD, notices=tuple(said))
    if not finding.is_explained:
        return replace(finding, cause=cause, notices=(Notice("sizes-rate-of-what"), *said))
    # What is stated agrees with the rate: that says it, and the fit stands beside it.
    assert finding.binding is not None  # it is explained
    confidence = MEDIUM if variant == "sizes" else LOW
    agreeing = Cause(
        code=cause_of_limit(finding.binding.name), confidence=confidence, signs=tuple(signs)
    )
    return replace(finding, cause=agreeing, notices=(cause.said, *said))


def _sign(name: str, value: float, unit: str) -> Sign:
    return Sign(name=name, value=value, unit=unit, origin="the table")


def _fitted(fit: Fit, name: str, param: str, unit: str) -> Sign:
    low, high = fit.interval(param)
    value = fit.params[param]
    if not (low <= value <= high and math.isfinite(high)):
        low = high = math.nan
    return Sign(name=name, value=value, unit=unit, low=low, high=high, origin="fitted to the rows")
