"""Estimates on paper, drawn over evaluated scenarios: fair shares, and the latency of requests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, named_arguments, non_negative, positive
from netcalc.compare import ideal_shares
from netcalc.congestion.result import segment_bytes
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES
from netcalc.models.tcp.sharing import drain_s
from netcalc.scenario import Scenario


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


@named_arguments
def payload_rate_bps(scenario: Scenario) -> float:
    """Return the payload rate of the full link: full packets without their headers.

    Examples
    --------
    >>> from netcalc.scenario import preset
    >>> round(payload_rate_bps(preset("wan-10m")))
    9653333
    """
    link = scenario.bottleneck
    return link.rate_bps * segment_bytes(scenario) / link.mtu_bytes


@named_arguments
def fair_ends_s(scenario: Scenario) -> FloatArray:
    """Return when each flow would end if all had equal shares without a pause, shape (flow,). [s]

    Examples
    --------
    >>> from netcalc.scenario import preset
    >>> fair_ends_s(preset("two-flows")).tolist()
    [60.0, 42.0]
    """
    flows = scenario.flows
    start: FloatArray = np.array([flow.start_s for flow in flows])
    stop = [scenario.end_s if flow.stop_s is None else flow.stop_s for flow in flows]
    end: FloatArray = np.minimum(np.array(stop), scenario.end_s)
    left: FloatArray = np.array(
        [np.inf if flow.size_bytes is None else flow.size_bytes for flow in flows]
    )
    now, last = 0.0, scenario.end_s
    while now < last:
        runs = (start <= now) & (end > now)
        share = payload_rate_bps(scenario) / 8.0 / max(int(np.count_nonzero(runs)), 1)
        done = np.where(runs, now + left / share, np.inf)
        later = np.concatenate([start[start > now], end[runs], done[runs], [last]])
        then = float(later.min())
        left[runs] -= share * (then - now)
        end[runs & (done <= then)] = then
        now = then
    return end


@named_arguments
def fair_shares_bps(scenario: Scenario) -> tuple[FloatArray, FloatArray]:
    """Return the max-min fair goodput of each flow over time, as steps.

    Returns
    -------
    time_s : numpy.ndarray
        Both sides of each step. [s]
    rate_bps : numpy.ndarray
        One row for each flow; nan while it does not run. [bit/s]
    """
    if not scenario.flows:
        return np.zeros(0), np.zeros((0, 0))
    start = np.array([flow.start_s for flow in scenario.flows])
    return ideal_shares(
        start,
        duration_s=fair_ends_s(scenario) - start,
        capacity_bps=payload_rate_bps(scenario),
    )
