r"""The TCP throughput test of RFC 6349: its three metrics and the number of connections.

Percentages of the RFC are ratios or factors here. Its ceilings are the goodput of full segments on
the link: :mod:`netcalc.models.rates.goodput`, :mod:`netcalc.models.sizes.serial_lines`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model, non_negative, positive
from netcalc.errors import DomainError
from netcalc.models.bounds import not_below, tcp_window


@model
def ideal_transfer_s(payload_bytes: ArrayLike, *, throughput_bps: ArrayLike) -> FloatArray:
    r"""Ideal transfer time: at the maximum TCP throughput.

    .. math:: t = 8 N / X

    Parameters
    ----------
    payload_bytes : array_like
        Size of the transfer. [byte]
    throughput_bps : array_like
        Highest payload rate of TCP on the link. [bit/s, TCP payload]

    Returns
    -------
    numpy.ndarray
        Ideal transfer time. [s]

    Notes
    -----
    Validity: no start-up; long against slow start.

    Range: everywhere.

    Symbols: :math:`N` payload_bytes, :math:`X` throughput_bps.

    Examples
    --------
    100 MB over 100 Mbit/s Ethernet:

    >>> round(float(ideal_transfer_s(100e6, throughput_bps=94.9e6)), 1)
    8.4

    References
    ----------
    RFC 6349, 3.4.1.
    """
    size = non_negative("payload_bytes", payload_bytes)
    return 8.0 * (size / positive("throughput_bps", throughput_bps))


@model
def transfer_time_factor(transfer_s: ArrayLike, *, ideal_s: ArrayLike) -> FloatArray:
    r"""TCP transfer time ratio: actual over ideal transfer time.

    .. math:: m = t / t_{ideal}

    Parameters
    ----------
    transfer_s : array_like
        Time measured. [s]
    ideal_s : array_like
        Time at the highest payload rate: :func:`ideal_transfer_s`. [s]

    Returns
    -------
    numpy.ndarray
        Factor, 1 at best. [1]

    Notes
    -----
    Validity: both times of the same bytes; below 1 one of them is wrong.

    Range: everywhere.

    Symbols: :math:`t` transfer_s, :math:`t_{ideal}` ideal_s.

    Examples
    --------
    >>> float(transfer_time_factor(13, ideal_s=8))
    1.625

    References
    ----------
    RFC 6349, 3.4.1.
    """
    measured, ideal = non_negative("transfer_s", transfer_s), positive("ideal_s", ideal_s)
    not_below("measured-below-ideal", "transfer_s", measured, ideal)
    return measured / ideal


@model
def efficiency_ratio(transmitted_bytes: ArrayLike, *, retransmitted_bytes: ArrayLike) -> FloatArray:
    r"""TCP efficiency: share of the transmitted bytes that were not retransmissions.

    .. math:: e = (B - B_r) / B

    Parameters
    ----------
    transmitted_bytes : array_like
        Bytes transmitted, retransmissions included. [byte]
    retransmitted_bytes : array_like
        Bytes retransmitted. [byte]

    Returns
    -------
    numpy.ndarray
        Efficiency. [ratio]

    Raises
    ------
    DomainError
        If more was retransmitted than transmitted.

    Notes
    -----
    Validity: spurious retransmissions count, too.

    Range: everywhere.

    Symbols: :math:`B` transmitted_bytes, :math:`B_r` retransmitted_bytes.

    Examples
    --------
    >>> round(float(efficiency_ratio(102_000, retransmitted_bytes=2_000)), 4)
    0.9804

    References
    ----------
    RFC 6349, 3.4.2 (prints 98.03 %, cut off).
    """
    sent = positive("transmitted_bytes", transmitted_bytes)
    again = non_negative("retransmitted_bytes", retransmitted_bytes)
    if (again > sent).any():
        most = float(np.nanmax(again))
        raise DomainError("above-argument", "retransmitted_bytes", most, other="transmitted_bytes")
    return 1.0 - again / sent


@model
def buffer_delay_factor(rtt_s: ArrayLike, *, base_rtt_s: ArrayLike) -> FloatArray:
    r"""Buffer delay: increase of the round-trip time during a transfer, relative to the base.

    .. math:: b = (RTT - RTT_0) / RTT_0

    Parameters
    ----------
    rtt_s : array_like
        Mean round-trip time during the transfer. [s]
    base_rtt_s : array_like
        Round-trip time of the empty path. [s]

    Returns
    -------
    numpy.ndarray
        Increase over the base, 0 at best; the RFC prints percent. [1]

    Notes
    -----
    Validity: negative where the base was not measured on an empty path.

    Range: everywhere.

    Symbols: :math:`RTT` rtt_s, :math:`RTT_0` base_rtt_s.

    Examples
    --------
    25 ms grow to 32 ms:

    >>> round(float(buffer_delay_factor(0.032, base_rtt_s=0.025)), 2)
    0.28

    References
    ----------
    RFC 6349, 3.4.3.
    """
    base = positive("base_rtt_s", base_rtt_s)
    rtt = non_negative("rtt_s", rtt_s)
    not_below("measured-below-base", "rtt_s", rtt, base)
    return (rtt - base) / base


@model
def connection_count(bdp_bytes: ArrayLike, *, window_bytes: ArrayLike = 65_535) -> FloatArray:
    r"""Number of connections that fill a path when each has a limited window.

    .. math:: n = \max(1, \lceil BDP / W \rceil)

    Parameters
    ----------
    bdp_bytes : array_like
        Bandwidth-delay product of the path. [byte]
    window_bytes : array_like
        Receive window of one connection. [byte]

    Returns
    -------
    numpy.ndarray
        Connections, at least 1. [1]

    Notes
    -----
    Validity: connections with equal shares of the link.

    Range: everywhere.

    Symbols: :math:`BDP` bdp_bytes, :math:`W` window_bytes.

    Examples
    --------
    500 Mbit/s and 5 ms, 312 500 bytes, with windows of 64 KB:

    >>> float(connection_count(312_500, window_bytes=65_535))
    5.0

    References
    ----------
    RFC 6349, 3.3.1 and 5.1.
    """
    product = non_negative("bdp_bytes", bdp_bytes)
    window = tcp_window(positive("window_bytes", window_bytes))
    return np.maximum(np.ceil(product / window), 1.0)
