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
    known = delay if finite.all() else delay[finite]
    if known.size < 2:
        return {}
    found = {"jitter_s": float(variation.jitter_rfc3550_s(known)[-1])}
    ipdv = variation.ipdv_s(known) if finite.all() else _ipdv_between(delay)
    np.abs(ipdv, out=ipdv)
    if ipdv.size:
        found |= {"ipdv_mean_s": float(ipdv.mean()), "ipdv_max_s": float(ipdv.max())}
    del ipdv
    above = np.percentile(variation.pdv_s(known), PERCENTILES, overwrite_input=True)
    found |= {f"pdv_{one}_s": at for one, at in zip(PERCENTILES, above.tolist(), strict=True)}
    times = np.percentile(known, PERCENTILES[1:])
    found |= {f"rtt_{one}_s": at for one, at in zip(PERCENTILES[1:], times.tolist(), strict=True)}
    return found


def _ipdv_between(delay: FloatArray) -> FloatArray:
    """Return the differences of neighbours of which both arrived. [s]"""
    runs = [part[np.isfinite(part)] for part in np.split(delay, np.flatnonzero(np.isnan(delay)))]
    ipdv: FloatArray = np.concatenate([variation.ipdv_s(run) for run in runs if run.size])
    return ipdv[np.isfinite(ipdv)]


def transfer_metrics(one: Evidence, known: Known, *, line_ceiling_bps: float) -> dict[str, float]:
    """Return the metrics of RFC 6349 of a bulk transfer, as far as they are known.

    Parameters
    ----------
    one : Evidence
        The transfer.
    known : Known
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
    found: dict[str, float] = {}
    if line_ceiling_bps > 0:
        found["line_share_ratio"] = one.rate_bps / line_ceiling_bps
    # A transfer of no more than the first window is no bulk transfer: a request, a control
    # connection
    first_bytes = INITIAL_WINDOW_SEGMENTS * one.segment_bytes
    if one.is_udp or 0 < one.size_bytes <= first_bytes:
        return found
    if line_ceiling_bps > 0 and one.size_bytes > 0 and one.duration_s > 0:
        ideal = rfc6349.ideal_transfer_s(one.size_bytes, throughput_bps=line_ceiling_bps)
        if one.duration_s >= ideal:  # else the line is not what was stated: a note says so
            factor = rfc6349.transfer_time_factor(one.duration_s, ideal_s=ideal)
            found["transfer_time_factor"] = float(factor)
    again = first_known(one.retransmitted_bytes, one.retransmit_count * one.segment_bytes)
    if one.size_bytes > 0 and not math.isnan(again):
        share = rfc6349.efficiency_ratio(one.size_bytes + again, retransmitted_bytes=again)
        found["efficiency_ratio"] = float(share)
    base = first_known(known.rtt_s, one.base_rtt_s)
    if base > 0 and one.rtt_s >= base:
        factor = rfc6349.buffer_delay_factor(one.rtt_s, base_rtt_s=base)
        found["buffer_delay_factor"] = float(factor)
    return found
