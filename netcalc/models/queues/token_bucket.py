r"""Token buckets: shaped traffic, and the bounds of delay and backlog by network calculus.

Tokens arrive at the sustained rate into a bucket of limited depth; traffic with tokens leaves at
the peak rate. The bucket is full at the start.

The bounds of network calculus hold for every packet. Arrivals are limited by a token bucket: in any
time :math:`t` at most :math:`b + r t`. Service is at least of rate :math:`R` after a latency
:math:`T`, as a link, a scheduler or a shaper promises.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, keep_nan, model, non_negative, one_dimensional, positive
from netcalc.errors import DomainError


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


@model
def delay_bound_s(
    bucket_bytes: ArrayLike,
    *,
    token_bps: ArrayLike,
    service_bps: ArrayLike,
    latency_s: ArrayLike = 0.0,
) -> FloatArray:
    r"""Delay that no bit of a token bucket's traffic exceeds.

    .. math:: d = \frac{8 b}{R} + T

    Parameters
    ----------
    bucket_bytes : array_like
        Depth of the token bucket: the largest burst. [byte]
    token_bps : array_like
        Token rate. [bit/s]
    service_bps : array_like
        Rate of the service. [bit/s]
    latency_s : array_like
        Latency of the service: how long it may wait before it works. [s]

    Returns
    -------
    numpy.ndarray
        Bound of the delay; ``inf`` where the token rate is above the service rate. [s]

    See Also
    --------
    path_delay_bound_s : Several links.
    netcalc.models.queues.scheduling.wfq_delay_s : Weighted fair queueing, packet by packet.

    Notes
    -----
    Validity: no loss, first come first served within the flow; a bound that is reached by the
    worst traffic and by the slowest service that the two descriptions allow.

    Typical: a burst of 15 kB into 10 Mbit/s with a latency of 1 ms: 13 ms.

    Range: everywhere.

    Symbols: :math:`b` bucket_bytes, :math:`R` service_bps, :math:`T` latency_s. Not in the
    equation: token_bps.

    Examples
    --------
    >>> round(float(
    ...     delay_bound_s(15e3, token_bps=5e6, service_bps=10e6, latency_s=1e-3)), 9)
    0.013

    References
    ----------
    Le Boudec and Thiran, Network Calculus, 1.4, doi:10.1007/3-540-45318-0; Cruz, IEEE Trans. IT 37
    (1991), doi:10.1109/18.61109.
    """
    burst, tokens = non_negative("bucket_bytes", bucket_bytes), positive("token_bps", token_bps)
    service = positive("service_bps", service_bps)
    bound = burst * (8.0 / service) + non_negative("latency_s", latency_s)
    return keep_nan(np.where(tokens > service, np.inf, bound), tokens)


@model
def backlog_bound_bytes(
    bucket_bytes: ArrayLike,
    *,
    token_bps: ArrayLike,
    service_bps: ArrayLike,
    latency_s: ArrayLike = 0.0,
) -> FloatArray:
    r"""Backlog that a token bucket's traffic never exceeds, and the burst with which it leaves.

    .. math:: B = b + r T / 8

    Parameters
    ----------
    bucket_bytes : array_like
        Depth of the token bucket: the largest burst. [byte]
    token_bps : array_like
        Token rate. [bit/s]
    service_bps : array_like
        Rate of the service. [bit/s]
    latency_s : array_like
        Latency of the service. [s]

    Returns
    -------
    numpy.ndarray
        Buffer that loses nothing; ``inf`` where the token rate is above the service rate. [byte]

    Notes
    -----
    Validity: as :func:`delay_bound_s`. The traffic that leaves is limited by a token bucket of the
    same rate and of this depth: the next link has to expect it.

    Range: everywhere.

    Symbols: :math:`b` bucket_bytes, :math:`r` token_bps, :math:`T` latency_s. Not in the
    equation: service_bps.

    Examples
    --------
    >>> float(backlog_bound_bytes(15e3, token_bps=5e6, service_bps=10e6, latency_s=1e-3))
    15625.0

    References
    ----------
    Le Boudec and Thiran, Network Calculus, 1.4, doi:10.1007/3-540-45318-0.
    """
    burst, tokens = non_negative("bucket_bytes", bucket_bytes), positive("token_bps", token_bps)
    service = positive("service_bps", service_bps)
    missed = tokens * (non_negative("latency_s", latency_s) / 8.0)
    bound = burst + (missed + 0.0 * service)  # of the shape of all arguments
    is_above = tokens > service
    return np.where(is_above, np.inf, bound) if is_above.any() else bound


@model
def path_delay_bound_s(
    bucket_bytes: ArrayLike,
    *,
    token_bps: ArrayLike,
    service_bps: ArrayLike,
    latency_s: ArrayLike,
) -> FloatArray:
    r"""Delay that no bit of a token bucket's traffic exceeds over several links.

    .. math:: d = \frac{8 b}{\min_i R_i} + \sum_i T_i

    Parameters
    ----------
    bucket_bytes : array_like
        Depth of the token bucket at the start of the path. [byte]
    token_bps : array_like
        Token rate. [bit/s]
    service_bps : 1-D array_like
        Rate of the service of each link. [bit/s]
    latency_s : 1-D array_like
        Latency of the service of each link, propagation included. [s]

    Returns
    -------
    numpy.ndarray
        Bound of the delay over the path; ``inf`` where the token rate is above the least of the
        services. [s]

    See Also
    --------
    delay_bound_s : One link.

    Notes
    -----
    Validity: as :func:`delay_bound_s`. The burst is paid for only once, at the slowest link: the
    sum of the bounds of single links is larger.

    Range: everywhere.

    Symbols: :math:`b` bucket_bytes, :math:`R_i` service_bps, :math:`T_i` latency_s. Not in the
    equation: token_bps.

    Examples
    --------
    >>> round(float(path_delay_bound_s(
    ...     15e3, token_bps=5e6, service_bps=[100e6, 10e6], latency_s=[2e-3, 1e-3])), 9)
    0.015

    References
    ----------
    Le Boudec and Thiran, Network Calculus, 1.4.3 (pay bursts only once),
    doi:10.1007/3-540-45318-0.
    """
    service = one_dimensional("service_bps", positive("service_bps", service_bps))
    latency = one_dimensional("latency_s", non_negative("latency_s", latency_s))
    if latency.size != service.size:
        raise DomainError("wrong-count", "latency_s", count=latency.size, expected=service.size)
    burst, tokens = non_negative("bucket_bytes", bucket_bytes), positive("token_bps", token_bps)
    slowest = service.min()
    bound = burst * (8.0 / slowest) + latency.sum()
    return keep_nan(np.where(tokens <= slowest, bound, np.inf), bound, tokens)
