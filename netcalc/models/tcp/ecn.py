r"""ECN and DCTCP: the queue at which a switch marks, and how far the queue swings around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model


@model
def dctcp_threshold_bytes(bandwidth_bps: ArrayLike, *, rtt_s: ArrayLike) -> FloatArray:
    r"""Least marking threshold of DCTCP that keeps the link busy with any number of flows.

    .. math:: K = \frac{C \cdot RTT}{8 \cdot 7}

    Parameters
    ----------
    bandwidth_bps : array_like
        Rate of the bottleneck. [bit/s]
    rtt_s : array_like
        Round-trip time without queue. [s]

    Returns
    -------
    numpy.ndarray
        Queue above which packets are marked. [byte]

    See Also
    --------
    ecn_threshold_bytes : Senders that halve their window at a mark.

    Notes
    -----
    Validity: long flows in step, evenly sent. Real hosts send bursts (segmentation offload, delayed
    interrupts): 65 packets instead of 20 are recommended at 10 Gbit/s. The paper measured it at 1
    and 10 Gbit/s.

    Typical: 18 kB at 10 Gbit/s and 100 µs.

    Range: bandwidth_bps from 1e9 up to 1e10.

    Symbols: :math:`C` bandwidth_bps, :math:`RTT` rtt_s.

    Examples
    --------
    >>> round(float(dctcp_threshold_bytes(10e9, rtt_s=100e-6)))
    17857

    References
    ----------
    Alizadeh et al., Data center TCP (DCTCP), SIGCOMM 2010, doi:10.1145/1851182.1851192, eq. 13 in
    3.4; RFC 8257.
    """
    return (
        checks.positive("bandwidth_bps", bandwidth_bps) / 56.0 * checks.non_negative("rtt_s", rtt_s)
    )


@model
def dctcp_amplitude_packets(
    flow_count: ArrayLike, *, bdp_packets: ArrayLike, threshold_packets: ArrayLike
) -> FloatArray:
    r"""Amplitude of the queue's swing under DCTCP.

    .. math:: A = \frac12 \sqrt{2 N (C \cdot RTT + K)}

    Parameters
    ----------
    flow_count : array_like
        Flows that share the link. [1]
    bdp_packets : array_like
        Product of rate and round-trip time, in packets. [1]
    threshold_packets : array_like
        Marking threshold K, in packets. [1]

    Returns
    -------
    numpy.ndarray
        From the lowest to the highest queue, in packets; the highest is K + N. [1]

    Notes
    -----
    Validity: long flows in step; windows of many packets. It grows with the root of the product,
    where the swing of Reno grows with the product itself. From windows of ten packets on it is at
    most 8 % below the exact solution of the paper's equation 6, at five 12 %.

    Typical: 2 flows at 10 Gbit/s and 100 µs (83 packets) with K = 40: 11 packets.

    Range: window_packets (the product and the threshold, over the flows) from 10.

    Symbols: :math:`N` flow_count, :math:`C \cdot RTT` bdp_packets, :math:`K` threshold_packets.

    Examples
    --------
    >>> round(float(dctcp_amplitude_packets(2, bdp_packets=83, threshold_packets=40)), 2)
    11.09

    References
    ----------
    Alizadeh et al., SIGCOMM 2010, doi:10.1145/1851182.1851192, eq. 8 in 3.3.
    """
    flows = checks.whole("flow_count", flow_count, low=1)
    held = checks.non_negative("bdp_packets", bdp_packets)
    held = held + checks.non_negative("threshold_packets", threshold_packets)
    checks.note_outside_range(dctcp_amplitude_packets, window_packets=held / flows)
    return np.sqrt(0.5 * flows) * np.sqrt(held)


@model
def ecn_threshold_bytes(
    bandwidth_bps: ArrayLike,
    *,
    rtt_s: ArrayLike,
    flow_count: ArrayLike = 1,
    decrease_factor: ArrayLike = 0.5,
) -> FloatArray:
    r"""Marking threshold that keeps the link busy with senders that answer a mark as a loss.

    .. math:: K = \frac{1 - \beta}{\beta} \frac{C \cdot RTT}{8 \sqrt N}

    Parameters
    ----------
    bandwidth_bps : array_like
        Rate of the bottleneck. [bit/s]
    rtt_s : array_like
        Round-trip time without queue. [s]
    flow_count : array_like
        Flows that are not in step; 1 if they are. [1]
    decrease_factor : array_like
        Multiplicative decrease: the window after a mark over that before it; 0.85 for CUBIC with
        ABE (RFC 8511). [ratio]

    Returns
    -------
    numpy.ndarray
        Queue above which packets are marked; ``inf`` for a factor of 0. [byte]

    See Also
    --------
    dctcp_threshold_bytes : DCTCP.
    netcalc.models.tcp.sharing.buffer_rule_bytes : The buffer that losses need.

    Notes
    -----
    Validity: long flows; the root holds for some hundred flows that are not in step.

    Typical: 125 kB at 10 Gbit/s and 100 µs for one flow of Reno: seven times what DCTCP needs.

    Range: flow_count (of several flows) from 100.

    Symbols: :math:`C` bandwidth_bps, :math:`RTT` rtt_s, :math:`N` flow_count, :math:`\beta`
    decrease_factor.

    Examples
    --------
    >>> round(float(ecn_threshold_bytes(10e9, rtt_s=100e-6)))
    125000

    References
    ----------
    Appenzeller, Keslassy and McKeown, Sizing router buffers, SIGCOMM 2004,
    doi:10.1145/1015467.1015499; RFC 8511, 3.1 (the factor).
    """
    kept = checks.between("decrease_factor", decrease_factor, 0.0, 1.0)
    product = (
        checks.positive("bandwidth_bps", bandwidth_bps) / 8.0 * checks.non_negative("rtt_s", rtt_s)
    )
    flows = checks.whole("flow_count", flow_count, low=1)
    checks.note_outside_range(
        ecn_threshold_bytes, code="few-flows", where=flows > 1.0, flow_count=flows
    )
    return product * ((1.0 - kept) / (kept * np.sqrt(flows)))
