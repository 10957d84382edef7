r"""Variation of delay, three quantities called "jitter", by their own names.

The RTP jitter is a smoothed mean of absolute differences, IPDV the differences themselves, PDV
the delay above its least. A constant offset between two clocks cancels in all three.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, in_blocks, model, one_dimensional, real


@model
def jitter_rfc3550_s(transit_s: ArrayLike) -> FloatArray:
    r"""Interarrival jitter of RTP, after each packet.

    .. math:: J_i = J_{i-1} + \frac{|D_i| - J_{i-1}}{16}, \quad D_i = T_i - T_{i-1}, \quad J_0 = 0

    Parameters
    ----------
    transit_s : 1-D array_like
        Transit time of each packet, in order of arrival; by clocks that may be offset. [s]

    Returns
    -------
    numpy.ndarray
        Running estimate after each packet: the last one is reported. [s]

    See Also
    --------
    ipdv_s : Differences of consecutive packets.
    pdv_s : Delay above the minimum.

    Notes
    -----
    Validity: exact. A packet without a transit time (lost) has nan and is skipped; the difference
    is taken between those that arrived.

    Range: everywhere.

    Symbols: :math:`T_i` transit_s.

    Examples
    --------
    >>> jitter_rfc3550_s([0.100, 0.116, 0.100]).round(6).tolist()
    [0.0, 0.001, 0.001938]

    References
    ----------
    RFC 3550, 6.4.1 and A.8.
    """
    transit = one_dimensional("transit_s", real("transit_s", transit_s))
    jitters = np.full(transit.size, np.nan)
    jitter, before = 0.0, np.nan
    for part, kept in in_blocks(transit, jitters):
        arrived = np.flatnonzero(~np.isnan(part))
        if not arrived.size:
            continue
        times = part[arrived]
        first = times[0] if np.isnan(before) else before
        running = []
        for difference in np.abs(np.diff(times, prepend=first)).tolist():
            jitter += (difference - jitter) / 16.0
            running.append(jitter)
        kept[arrived], before = running, times[-1]
    return jitters


@model
def ipdv_s(transit_s: ArrayLike) -> FloatArray:
    r"""IP packet delay variation: the difference of the delays of consecutive packets.

    .. math:: D_i = T_i - T_{i-1}

    Parameters
    ----------
    transit_s : 1-D array_like
        Transit time of each packet, in the order sent; by clocks that may be offset. [s]

    Returns
    -------
    numpy.ndarray
        Differences with their sign, one fewer than packets. [s]

    See Also
    --------
    jitter_rfc3550_s : Smoothed mean of the differences.
    pdv_s : Delay above the minimum.

    Notes
    -----
    Validity: exact. Undefined (nan) where one of the two was lost. Adjacent differences share a
    packet: their sum is that of the ends.

    Range: everywhere.

    Symbols: :math:`T_i` transit_s.

    Examples
    --------
    >>> ipdv_s([0.100, 0.116, 0.100]).round(6).tolist()
    [0.016, -0.016]

    References
    ----------
    RFC 3393; RFC 5481, 4.1.
    """
    return np.diff(one_dimensional("transit_s", real("transit_s", transit_s)))


@model
def pdv_s(transit_s: ArrayLike) -> FloatArray:
    r"""Packet delay variation: the delay of each packet above the minimum.

    .. math:: V_i = T_i - \min_k T_k

    Parameters
    ----------
    transit_s : 1-D array_like
        Transit time of each packet; by clocks that may be offset. [s]

    Returns
    -------
    numpy.ndarray
        Delay above the least of all, one per packet. [s]

    See Also
    --------
    jitter_rfc3550_s : Smoothed mean of the differences.
    ipdv_s : Differences of consecutive packets.

    Notes
    -----
    Validity: exact. Lost packets stay nan. Its distribution is that of the queueing delay, if one
    packet met no queue.

    Range: everywhere.

    Symbols: :math:`T_i` transit_s.

    Examples
    --------
    >>> pdv_s([0.100, 0.116, 0.103]).round(6).tolist()
    [0.0, 0.016, 0.003]

    References
    ----------
    RFC 5481, 4.2.
    """
    transit = one_dimensional("transit_s", real("transit_s", transit_s))
    return transit - float(np.fmin.reduce(transit))
