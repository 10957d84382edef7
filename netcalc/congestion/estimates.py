"""Estimates on paper of the latency of requests beside flows, drawn over evaluated ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, named_arguments, non_negative, positive
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES
from netcalc.models.tcp.sharing import drain_s


@named_arguments
def full_buffer_s(buffer_bytes: ArrayLike, *, rate_bps: float, rtt_s: float) -> FloatArray:
    """Return the latency of a small request behind a full buffer: the round trip and its drain.

    Parameters
    ----------
    buffer_bytes : array_like
        Buffer at the bottleneck. [byte]
    rate_bps : float
        Rate of the bottleneck. [bit/s]
    rtt_s : float
        Round-trip time without load. [s]

    Returns
    -------
    numpy.ndarray
        Latency, of the shape of ``buffer_bytes``. [s]

    Examples
    --------
    The buffers of the book's figure 20, of 16 to 266 packets:

    >>> packets = np.array([16, 33, 66, 133, 266])
    >>> full_buffer_s(1500 * packets, rate_bps=10e6, rtt_s=0.04).round(3).tolist()
    [0.059, 0.08, 0.119, 0.2, 0.359]
    """
    wait_s = drain_s(buffer_bytes, bandwidth_bps=rate_bps)
    return np.asarray(positive("rtt_s", rtt_s) + wait_s, dtype=float)


@named_arguments
def equal_share_s(
    stream_count: ArrayLike,
    *,
    request_bytes: float,
    rate_bps: float,
    rtt_s: float,
    mtu_bytes: int = 1500,
) -> FloatArray:
    """Return the latency of a request with an equal share of the link: round trip, size over share.

    Parameters
    ----------
    stream_count : array_like
        Flows beside the request. [1]
    request_bytes : float
        Size of a request. [byte]
    rate_bps : float
        Rate of the bottleneck, for IP packets. [bit/s]
    rtt_s : float
        Round-trip time without load. [s]
    mtu_bytes : int
        Size of a full packet. [byte]

    Returns
    -------
    numpy.ndarray
        Latency, of the shape of ``stream_count``. [s]

    Examples
    --------
    One megabyte alone at 10 Mbit/s: 829 ms for its packets, and a round trip of 40 ms.

    >>> float(equal_share_s(0, request_bytes=1e6, rate_bps=10e6, rtt_s=0.04).round(3))
    0.869
    """
    count = non_negative("stream_count", stream_count)
    packet_bytes = request_bytes * mtu_bytes / (mtu_bytes - STAMPED_HEADERS_BYTES)
    return np.asarray(rtt_s + (count + 1.0) * 8.0 * packet_bytes / rate_bps, dtype=float)
