"""Theory of the readings of congestion-control figures: requests and flows on a shared link."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, named_arguments
from netcalc.models.rates.goodput import tcp_goodput_bps
from netcalc.models.sizes.framing import tcp_payload_bytes
from netcalc.models.sizes.headers import TIMESTAMP_BYTES
from netcalc.models.tcp.fairness import max_min_bps
from netcalc.models.tcp.sharing import drain_s
from netcalc.models.tcp.slow_start import rounds

MTU_BYTES = 1500


@named_arguments
def request_goodput_bps(
    stream_count: ArrayLike,
    *,
    request_bytes: float,
    bandwidth_bps: float,
    rtt_s: float,
    queue_bytes: float = 0.0,
    slow_start: bool = False,
) -> FloatArray:
    """Estimate the goodput of back-to-back requests that share a link with long flows.

    A request takes its round trips, each with a wait in the queue, and its size over an equal
    share of the goodput of an Ethernet line with packets of 1500 bytes and TCP time stamps.

    Parameters
    ----------
    stream_count : array_like
        Long flows beside the requests. [1]
    request_bytes : float
        Size of a request. [byte]
    bandwidth_bps, rtt_s : float
        Rate of the line, and round trip without load. [bit/s], [s]
    queue_bytes : float
        Queue that each round trip waits for. [byte]
    slow_start : bool
        Whether a request takes the round trips of slow start from ten segments; otherwise one.

    Returns
    -------
    numpy.ndarray
        Mean goodput of the requests. [bit/s]

    Examples
    --------
    One megabyte beside one flow, 10 Gbit/s and 20 us: 1.70 ms over half of the line, and 20 us.

    >>> found = request_goodput_bps(1, request_bytes=1e6, bandwidth_bps=1e10, rtt_s=20e-6)
    >>> round(float(found) / 1e9, 3)
    4.653
    """
    line_bps = float(
        tcp_goodput_bps(MTU_BYTES, bandwidth_bps=bandwidth_bps, tcp_option_bytes=TIMESTAMP_BYTES)
    )
    share_bps = line_bps / (np.asarray(stream_count, dtype=float) + 1.0)
    segment = float(tcp_payload_bytes(MTU_BYTES, tcp_option_bytes=TIMESTAMP_BYTES))
    trips = float(rounds(np.ceil(request_bytes / segment))) if slow_start else 1.0
    wait_s = float(drain_s(queue_bytes, bandwidth_bps=bandwidth_bps))
    bits = 8.0 * request_bytes
    return np.asarray(bits / (trips * (rtt_s + wait_s) + bits / share_bps))


@named_arguments
def ideal_shares(
    start_s: ArrayLike, *, duration_s: ArrayLike, capacity_bps: float
) -> tuple[FloatArray, FloatArray]:
    """Return the max-min fair rates of flows that come and go on one link, as steps.

    Parameters
    ----------
    start_s, duration_s : array_like
        Start and duration of each flow. [s]
    capacity_bps : float
        What the flows share. [bit/s]

    Returns
    -------
    time_s : numpy.ndarray
        Both sides of each step. [s]
    rate_bps : numpy.ndarray
        One row for each flow; nan while it does not run. [bit/s]

    Examples
    --------
    >>> time_s, rate_bps = ideal_shares([0, 20], duration_s=[60, 20], capacity_bps=10.0)
    >>> time_s.tolist(), rate_bps[0].tolist()
    ([0.0, 20.0, 20.0, 40.0, 40.0, 60.0], [10.0, 10.0, 5.0, 5.0, 10.0, 10.0])
    """
    start = np.asarray(start_s, dtype=float)
    end = start + np.asarray(duration_s, dtype=float)
    edges = np.unique(np.concatenate([start, end]))
    rate = np.full((start.size, edges.size - 1), np.nan)
    for column, (low, high) in enumerate(pairwise(edges)):
        runs = (start < high) & (end > low)
        if not runs.any():
            continue
        demand = np.full(np.count_nonzero(runs), capacity_bps)
        rate[runs, column] = max_min_bps(demand, capacity_bps=capacity_bps)
    return np.repeat(edges, 2)[1:-1], np.repeat(rate, 2, axis=1)
