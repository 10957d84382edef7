r"""Token bucket: delay and throughput of traffic shaped by a token bucket.

Tokens arrive at the sustained rate into a bucket of limited depth; traffic with tokens leaves at
the peak rate. The bucket is full at the start.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, keep_nan, model, non_negative, positive


@model
def token_bucket_transfer_s(
    traffic_bytes: ArrayLike,
    *,
    bucket_bytes: ArrayLike,
    token_bps: ArrayLike,
    peak_bps: ArrayLike = np.inf,
) -> FloatArray:
    r"""Time to send an amount of traffic through a token bucket.

    .. math:: t = \max\left(\frac{8 S}{p}, \frac{8 (S - b)}{r}\right)

    Parameters
    ----------
    traffic_bytes : array_like
        Traffic queued at the start. [byte]
    bucket_bytes : array_like
        Depth of the bucket, full at the start. [byte]
    token_bps : array_like
        Token rate. [bit/s]
    peak_bps : array_like
        Rate of the link behind the bucket. [bit/s]

    Returns
    -------
    numpy.ndarray
        Time until the last bit has left. [s]

    Notes
    -----
    Validity: a fluid; whole packets may wait for up to a packet more. With ten full frames that is
    a tenth.

    Range: traffic_bytes from 15180.

    Symbols: :math:`S` traffic_bytes, :math:`b` bucket_bytes, :math:`r` token_bps, :math:`p`
    peak_bps.

    Examples
    --------
    1 MB through a bucket of 125 kB, 10 Mbit/s behind it, on a link of 1 Gbit/s:

    >>> float(token_bucket_transfer_s(1e6, bucket_bytes=125e3, token_bps=10e6, peak_bps=1e9))
    0.7

    References
    ----------
    RFC 2697 and RFC 2698; Cruz, A calculus for network delay, IEEE Trans. IT 37 (1991),
    doi:10.1109/18.61109.
    """
    traffic = non_negative("traffic_bytes", traffic_bytes)
    depth = non_negative("bucket_bytes", bucket_bytes)
    sustained = (traffic - depth) * (8.0 / positive("token_bps", token_bps))
    return np.maximum(traffic * (8.0 / positive("peak_bps", peak_bps, allow_inf=True)), sustained)


@model
def token_bucket_passed_bytes(
    duration_s: ArrayLike,
    *,
    bucket_bytes: ArrayLike,
    token_bps: ArrayLike,
    peak_bps: ArrayLike = np.inf,
) -> FloatArray:
    r"""Maximum traffic through a token bucket in a given time.

    .. math:: S = \min(p\, t / 8, b + r\, t / 8)

    Parameters
    ----------
    duration_s : array_like
        Time from a full bucket on. [s]
    bucket_bytes : array_like
        Depth of the bucket. [byte]
    token_bps : array_like
        Token rate. [bit/s]
    peak_bps : array_like
        Rate of the link behind the bucket. [bit/s]

    Returns
    -------
    numpy.ndarray
        Traffic that has left. [byte]

    Notes
    -----
    Validity: a fluid, always enough to send: the arrival curve of the output. Whole packets are up
    to one less: a tenth of ten full frames.

    Range: result from 15180.

    Symbols: :math:`t` duration_s, :math:`b` bucket_bytes, :math:`r` token_bps, :math:`p` peak_bps.

    Examples
    --------
    >>> float(token_bucket_passed_bytes(0.7, bucket_bytes=125e3, token_bps=10e6, peak_bps=1e9))
    1000000.0

    References
    ----------
    Cruz, IEEE Trans. IT 37 (1991), doi:10.1109/18.61109; RFC 2215, 3.6.
    """
    time = non_negative("duration_s", duration_s)
    depth = non_negative("bucket_bytes", bucket_bytes)
    sustained = depth + positive("token_bps", token_bps) / 8.0 * time
    peak = positive("peak_bps", peak_bps, allow_inf=True) / 8.0
    at_peak = np.where(np.isinf(peak), np.inf, peak * time)
    return np.minimum(at_peak, sustained)


@model
def token_bucket_burst_bytes(
    bucket_bytes: ArrayLike, *, token_bps: ArrayLike, peak_bps: ArrayLike
) -> FloatArray:
    r"""Longest burst at the peak rate from a full token bucket.

    .. math:: S = \frac{b\, p}{p - r}

    Parameters
    ----------
    bucket_bytes : array_like
        Depth of the bucket, full at the start. [byte]
    token_bps : array_like
        Token rate. [bit/s]
    peak_bps : array_like
        Rate of the link behind the bucket. [bit/s]

    Returns
    -------
    numpy.ndarray
        Length of the burst; ``inf`` where tokens arrive at the peak rate. [byte]

    Notes
    -----
    Validity: a fluid. More than the bucket, because tokens arrive during the burst. Whole packets
    are up to one less: a tenth of ten full frames.

    Range: result from 15180.

    Symbols: :math:`b` bucket_bytes, :math:`r` token_bps, :math:`p` peak_bps.

    Examples
    --------
    >>> round(float(token_bucket_burst_bytes(125e3, token_bps=10e6, peak_bps=1e9)))
    126263

    References
    ----------
    Tanenbaum and Wetherall, Computer Networks, 5.4 (burst length b/(p - r)).
    """
    depth = non_negative("bucket_bytes", bucket_bytes)
    peak = positive("peak_bps", peak_bps)
    excess = peak - positive("token_bps", token_bps)
    burst = np.where(excess > 0.0, depth * (peak / excess), np.inf)
    return keep_nan(burst, depth, excess)
