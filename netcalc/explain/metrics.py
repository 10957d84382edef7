"""Quantities that judge a measurement: the variation of delay, and the three of RFC 6349.

>>> [f"{name} {value:.4f}" for name, value in delay_variation([0.1, 0.116, 0.1]).items()][:2]
['jitter_s 0.0019', 'ipdv_mean_s 0.0160']
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, named_arguments
from netcalc.explain.evidence import Evidence, Known, first_known
from netcalc.models.measuring import delay_variation as variation
from netcalc.models.tcp import rfc6349
from netcalc.models.tcp.slow_start import INITIAL_WINDOW_SEGMENTS

PERCENTILES = (50, 90, 95, 99)


@named_arguments
def delay_variation(delay_s: ArrayLike) -> dict[str, float]:
    """Return the variation of delays in the order in which they were measured.

    Parameters
    ----------
    delay_s : 1-D array_like
        Delays or round-trip times, nan for a lost packet. [s]

    Returns
    -------
    dict of str to float
        ``jitter_s`` (RFC 3550, the last value), ``ipdv_mean_s`` and ``ipdv_max_s`` (absolute
        differences of neighbours), ``pdv_50_s`` to ``pdv_99_s`` (percentiles of the delay above its
        least), ``rtt_90_s`` to ``rtt_99_s``; empty for fewer than two delays. [s]

    See Also
    --------
    netcalc.models.measuring.delay_variation : The definitions.

    Notes
    -----
    Validity: the differences are those of replies that came one after the other; a lost packet
    between two of them is skipped in the jitter and leaves no difference in IPDV.

    References
    ----------
    RFC 3550, 6.4.1; RFC 3393; RFC 5481.
    """
    delay = np.asarray(delay_s, dtype=np.float64)
    finite = np.isfinite(delay)
    finite_s = delay if finite.all() else delay[finite]
    if finite_s.size < 2:
        return {}
    metrics = {"jitter_s": float(variation.jitter_rfc3550_s(finite_s)[-1])}
    ipdv = variation.ipdv_s(finite_s) if finite.all() else _ipdv_between(delay)
    np.abs(ipdv, out=ipdv)
    if ipdv.size:
        metrics |= {"ipdv_mean_s": float(ipdv.mean()), "ipdv_max_s": float(ipdv.max())}
    del ipdv
    above = np.percentile(variation.pdv_s(finite_s), PERCENTILES, overwrite_input=True)
    metrics |= {
        f"pdv_{percentile}_s": at
        for percentile, at in zip(PERCENTILES, above.tolist(), strict=True)
    }
    times = np.percentile(finite_s, PERCENTILES[1:])
    metrics |= {
        f"rtt_{percentile}_s": at
        for percentile, at in zip(PERCENTILES[1:], times.tolist(), strict=True)
    }
    return metrics


def _ipdv_between(delay: FloatArray) -> FloatArray:
    """Return the differences of neighbours of which both arrived. [s]"""
    runs = [part[np.isfinite(part)] for part in np.split(delay, np.flatnonzero(np.isnan(delay)))]
    ipdv: FloatArray = np.concatenate([variation.ipdv_s(run) for run in runs if run.size])
    return ipdv[np.isfinite(ipdv)]


def transfer_metrics(
    evidence: Evidence, stated: Known, *, line_ceiling_bps: float
) -> dict[str, float]:
    """Return the metrics of RFC 6349 of a bulk transfer, as far as they are known.

    Parameters
    ----------
    one : Evidence
        The transfer.
    stated : Known
        Facts stated besides it.
    line_ceiling_bps : float
        Goodput of the line; nan if it is not known. [bit/s]

    Returns
    -------
    dict of str to float
        ``transfer_time_factor`` (actual over ideal time), ``efficiency_ratio`` (share of the bytes
        sent that were no retransmissions), ``buffer_delay_factor`` (increase of the round trip over
        its base), ``line_share_ratio`` (rate over the ceiling of the line).

    Notes
    -----
    Validity: TCP only, and transfers longer than the first window, as RFC 6349 is of bulk
    transfers; retransmissions count as full segments where the file has only their number.

    References
    ----------
    RFC 6349, 4.1.
    """
    metrics: dict[str, float] = {}
    if line_ceiling_bps > 0:
        metrics["line_share_ratio"] = evidence.rate_bps / line_ceiling_bps
    # A transfer of no more than the first window is no bulk transfer: a request, a control
    # connection
    first_bytes = INITIAL_WINDOW_SEGMENTS * evidence.segment_bytes
    if evidence.is_udp or 0 < evidence.size_bytes <= first_bytes:
        return metrics
    if line_ceiling_bps > 0 and evidence.size_bytes > 0 and evidence.duration_s > 0:
        ideal = rfc6349.ideal_transfer_s(evidence.size_bytes, throughput_bps=line_ceiling_bps)
        if evidence.duration_s >= ideal:  # else the line is not what was stated: a note says so
            factor = rfc6349.transfer_time_factor(evidence.duration_s, ideal_s=ideal)
            metrics["transfer_time_factor"] = float(factor)
    again = first_known(
        evidence.retransmitted_bytes, evidence.retransmit_count * evidence.segment_bytes
    )
    if evidence.size_bytes > 0 and not math.isnan(again):
        share = rfc6349.efficiency_ratio(evidence.size_bytes + again, retransmitted_bytes=again)
        metrics["efficiency_ratio"] = float(share)
    base = first_known(stated.rtt_s, evidence.base_rtt_s)
    if base > 0 and evidence.rtt_s >= base:
        factor = rfc6349.buffer_delay_factor(evidence.rtt_s, base_rtt_s=base)
        metrics["buffer_delay_factor"] = float(factor)
    return metrics
