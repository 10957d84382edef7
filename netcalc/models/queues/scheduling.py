r"""Schedulers that give each flow a rate: weighted fair queueing and its bound of the delay."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, keep_nan, model, non_negative, positive, whole


@model
def wfq_delay_s(
    bucket_bytes: ArrayLike,
    *,
    reserved_bps: ArrayLike,
    bandwidth_bps: ArrayLike,
    packet_bytes: ArrayLike,
    largest_bytes: ArrayLike,
    link_count: ArrayLike = 1,
) -> FloatArray:
    r"""Bound of the delay of a flow under weighted fair queueing (Parekh and Gallager).

    .. math:: D = \frac{8 b}{g} + (K - 1) \frac{8 L}{g} + K \frac{8 M}{R}

    Parameters
    ----------
    bucket_bytes : array_like
        Depth of the token bucket that limits the flow, a packet at least. [byte]
    reserved_bps : array_like
        Rate that the weight of the flow gives it, not below its token rate. [bit/s]
    bandwidth_bps : array_like
        Rate of the links. [bit/s]
    packet_bytes : array_like
        Largest packet of the flow. [byte]
    largest_bytes : array_like
        Largest packet of any flow. [byte]
    link_count : array_like
        Links of the path. [1]

    Returns
    -------
    numpy.ndarray
        Bound of the delay, without propagation; ``inf`` where the rate reserved is above that of
        the links. [s]

    See Also
    --------
    netcalc.models.queues.network_calculus.delay_bound_s : Any service with a rate and a latency.

    Notes
    -----
    Validity: token rates of all flows within their reservations. The fluid scheduler (GPS) has
    the first term alone; a packet is at most one largest packet later at each link.

    Typical: voice of one packet of 214 bytes with 100 kbit/s reserved on 2 Mbit/s: 23 ms, of which
    6 ms behind a packet of 1538 bytes.

    Range: everywhere.

    Symbols: :math:`b` bucket_bytes, :math:`g` reserved_bps, :math:`K` link_count, :math:`L`
    packet_bytes, :math:`M` largest_bytes, :math:`R` bandwidth_bps.

    Examples
    --------
    >>> bound = wfq_delay_s(
    ...     214, reserved_bps=100e3, bandwidth_bps=2e6, packet_bytes=214, largest_bytes=1538
    ... )
    >>> round(float(bound) * 1e3, 2)
    23.27

    References
    ----------
    Parekh and Gallager, A generalized processor sharing approach to flow control in integrated
    services networks: the multiple node case, IEEE/ACM ToN 2 (1994), doi:10.1109/90.298432; RFC
    2212, 2 (the same with error terms).
    """
    burst = non_negative("bucket_bytes", bucket_bytes)
    reserved = positive("reserved_bps", reserved_bps)
    bandwidth = positive("bandwidth_bps", bandwidth_bps)
    links = whole("link_count", link_count, low=1)
    packet = 8.0 / reserved * positive("packet_bytes", packet_bytes)
    gathered = np.where(links > 1.0, (links - 1.0) * packet, 0.0)
    own = 8.0 / reserved * burst + gathered
    others = links * (8.0 / bandwidth * positive("largest_bytes", largest_bytes))
    bound = np.where(reserved <= bandwidth, own + others, np.inf)
    return keep_nan(bound, own, others, packet)
