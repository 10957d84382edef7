r"""Policers and TCP: a token bucket that drops what exceeds it, and no queue that would smooth it.

A flow of AIMD grows until the bucket is empty, loses, and falls below the token rate; the bucket
fills meanwhile. A shallow bucket is full before the flow is back at the token rate: tokens are
lost, and the flow stays below the rate that was bought.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.models.bounds import tcp_rate


@model
def policer_rule_bytes(token_bps: ArrayLike, *, rtt_s: ArrayLike) -> FloatArray:
    r"""Burst of a policer by the rule of thumb: token rate times round-trip time.

    .. math:: b = CIR \cdot RTT / 8

    Parameters
    ----------
    token_bps : array_like
        Token rate (CIR). [bit/s]
    rtt_s : array_like
        Round-trip time of the flows; 1.5 s in the rule of Cisco's CAR. [s]

    Returns
    -------
    numpy.ndarray
        Committed burst (Bc). [byte]

    See Also
    --------
    policer_full_use_bytes : What one flow of TCP needs.

    Notes
    -----
    Validity: a rule of thumb for flows that send a window at once. One flow of Reno gets little
    more than 75 % of the rate with it: see :func:`policed_throughput_bps`.

    Typical: 125 kB at 10 Mbit/s and 100 ms.

    Range: everywhere.

    Symbols: :math:`CIR` token_bps, :math:`RTT` rtt_s.

    Examples
    --------
    >>> float(policer_rule_bytes(10e6, rtt_s=0.1))
    125000.0

    References
    ----------
    RFC 2697 (the burst sizes); Cisco IOS, committed access rate (rate times round-trip time, 1.5 s
    without another number); TCP behind such a bucket: van Haalen and Malhotra, Improving TCP
    performance with bufferless token bucket policing: a TCP friendly policer, LANMAN 2007,
    doi:10.1109/LANMAN.2007.4295978.
    """
    return checks.positive("token_bps", token_bps) / 8.0 * checks.non_negative("rtt_s", rtt_s)


@model
def policer_full_use_bytes(
    token_bps: ArrayLike,
    *,
    rtt_s: ArrayLike,
    mss_bytes: ArrayLike = 1460.0,
    decrease_factor: ArrayLike = 0.5,
) -> FloatArray:
    r"""Burst with which one flow of AIMD gets the full token rate of a policer.

    .. math:: b = \left(\frac{1 - \beta}{1 + \beta}\right)^2 \frac{(CIR \cdot RTT / 8)^2}{2\, MSS}

    Parameters
    ----------
    token_bps : array_like
        Token rate (CIR), in payload. [bit/s]
    rtt_s : array_like
        Round-trip time. [s]
    mss_bytes : array_like
        Payload of a segment. [byte]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]

    Returns
    -------
    numpy.ndarray
        Depth of the bucket. [byte]

    See Also
    --------
    policer_rule_bytes : Rule of thumb.
    netcalc.models.tcp.sharing.full_use_buffer_bdp : Of a buffer instead of a policer.

    Notes
    -----
    Validity: one flow that adds a segment per round trip, without delayed acknowledgements, and
    sends evenly. It grows with the square of the product of rate and round-trip time: a buffer
    that does the same holds one product.

    Typical: 596 kB at 10 Mbit/s and 100 ms: five times the rule of thumb.

    Range: window_packets (token rate times round trip, in segments) from 20.

    Defaults: mss_bytes.

    Symbols: :math:`CIR` token_bps, :math:`RTT` rtt_s, :math:`MSS` mss_bytes, :math:`\beta`
    decrease_factor.

    Examples
    --------
    >>> round(float(policer_full_use_bytes(10e6, rtt_s=0.1, mss_bytes=1460)))
    594559

    References
    ----------
    Derived: the sawtooth from 2/3 to 4/3 of the token rate puts (CIR RTT)^2 / (18 MSS) into the
    bucket and takes it out again. The damage of shallow buckets: Flach et al., An Internet-wide
    analysis of traffic policing, SIGCOMM 2016, doi:10.1145/2934872.2934873.
    """
    kept = checks.between("decrease_factor", decrease_factor, 0.0, 1.0)
    share = 0.125 * (1.0 - kept) / (1.0 + kept)
    tokens, rtt = checks.positive("token_bps", token_bps), checks.non_negative("rtt_s", rtt_s)
    segment = checks.positive("mss_bytes", mss_bytes)
    checks.note_outside_range(policer_full_use_bytes, window_packets=tokens / 8.0 * rtt / segment)
    product = tokens * (share * rtt)
    return product * (product * (0.5 / segment))


@model
def policed_throughput_bps(
    bucket_bytes: ArrayLike,
    *,
    token_bps: ArrayLike,
    rtt_s: ArrayLike,
    mss_bytes: ArrayLike = 1460.0,
    decrease_factor: ArrayLike = 0.5,
) -> FloatArray:
    r"""Throughput of one flow of AIMD through a policer.

    .. math:: X = \min\left(CIR, \frac{1 + \beta}{2} \left(CIR +
        \frac{8}{RTT} \sqrt{2\, b\, MSS}\right)\right)

    Parameters
    ----------
    bucket_bytes : array_like
        Depth of the bucket (Bc). [byte]
    token_bps : array_like
        Token rate (CIR), in payload. [bit/s]
    rtt_s : array_like
        Round-trip time. [s]
    mss_bytes : array_like
        Payload of a segment. [byte]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]

    Returns
    -------
    numpy.ndarray
        Throughput in payload, at most the token rate. [bit/s, layer of token_bps]

    See Also
    --------
    netcalc.models.tcp.sharing.aimd_utilization : A buffer instead of the policer.

    Notes
    -----
    Validity: as :func:`policer_full_use_bytes`; no timeouts, which bursts of losses cause in real
    policers, above all after slow start: an upper estimate. With a bucket of 0 it is the 75 % of a
    link without a buffer. With 20 segments and more in a round trip it is within 3 % of a
    simulation of the packets, with ten up to 22 % too high.

    Typical: 10 Mbit/s, 100 ms and the burst of the rule of thumb: 8.6 Mbit/s.

    Range: window_packets (token rate times round trip, in segments) from 20.

    Defaults: mss_bytes.

    Symbols: :math:`b` bucket_bytes, :math:`CIR` token_bps, :math:`RTT` rtt_s, :math:`MSS`
    mss_bytes, :math:`\beta` decrease_factor.

    Examples
    --------
    >>> rate = policed_throughput_bps(125e3, token_bps=10e6, rtt_s=0.1, mss_bytes=1460)
    >>> round(float(rate) / 1e6, 2)
    8.65

    References
    ----------
    Derived as :func:`policer_full_use_bytes`; Flach et al., SIGCOMM 2016,
    doi:10.1145/2934872.2934873.
    """
    tokens, segment = (
        checks.positive("token_bps", token_bps),
        checks.positive("mss_bytes", mss_bytes),
    )
    kept = checks.between("decrease_factor", decrease_factor, 0.0, 1.0)
    depth = checks.non_negative("bucket_bytes", bucket_bytes)
    rtt = checks.positive("rtt_s", rtt_s)
    checks.note_outside_range(policed_throughput_bps, window_packets=tokens / 8.0 * rtt / segment)
    above = np.sqrt(2.0 * depth) * np.sqrt(segment) * (8.0 / rtt)
    rate = np.minimum(tokens, 0.5 * (1.0 + kept) * (tokens + above))
    return tcp_rate(policed_throughput_bps, rate, rtt)


@model
def policed_loss_ratio(
    bucket_bytes: ArrayLike,
    *,
    token_bps: ArrayLike,
    rtt_s: ArrayLike,
    mss_bytes: ArrayLike = 1460.0,
    decrease_factor: ArrayLike = 0.5,
) -> FloatArray:
    r"""Loss of one flow of AIMD through a policer.

    .. math:: p = \frac{2 \max(1, W_m - W)}{(1 - \beta^2) W_m^2}, \quad W = \frac{CIR \cdot RTT}
        {8\, MSS}, \quad W_m = \min\left(\frac{2 W}{1 + \beta}, W + \sqrt{2 b / MSS}\right)

    Parameters
    ----------
    bucket_bytes : array_like
        Depth of the bucket (Bc). [byte]
    token_bps : array_like
        Token rate (CIR), in payload. [bit/s]
    rtt_s : array_like
        Round-trip time. [s]
    mss_bytes : array_like
        Payload of a segment. [byte]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]

    Returns
    -------
    numpy.ndarray
        Share of segments lost, at most 1. [ratio]

    See Also
    --------
    policer_overload_loss_ratio : Traffic that does not react.

    Notes
    -----
    Validity: as :func:`policed_throughput_bps`. From the moment at which the bucket is empty until
    the sender reacts, a round trip later, all is lost that exceeds the token rate. Within 12 % of a
    simulation with 20 segments and more in a round trip.

    Typical: 10 Mbit/s, 100 ms and the burst of the rule of thumb: 0.4 %. Measured on the
    Internet, policed transfers lose six times as much as others.

    Range: window_packets (token rate times round trip, in segments) from 20.

    Defaults: mss_bytes.

    Symbols: :math:`b` bucket_bytes, :math:`CIR` token_bps, :math:`RTT` rtt_s, :math:`MSS`
    mss_bytes, :math:`\beta` decrease_factor.

    Examples
    --------
    >>> loss = policed_loss_ratio(125e3, token_bps=10e6, rtt_s=0.1, mss_bytes=1460)
    >>> round(float(loss), 5)
    0.00358

    References
    ----------
    Derived as :func:`policer_full_use_bytes`; Flach et al., SIGCOMM 2016,
    doi:10.1145/2934872.2934873, section 3.
    """
    kept = checks.between("decrease_factor", decrease_factor, 0.0, 1.0)
    depth, segment = (
        checks.non_negative("bucket_bytes", bucket_bytes),
        checks.positive("mss_bytes", mss_bytes),
    )
    window = (
        checks.positive("token_bps", token_bps) / 8.0 * checks.positive("rtt_s", rtt_s) / segment
    )
    checks.note_outside_range(policed_loss_ratio, window_packets=window)
    above = np.minimum(np.sqrt(2.0 * depth / segment), (1.0 - kept) / (1.0 + kept) * window)
    most = window + above
    lost = np.maximum(above, 1.0) / most / most
    return np.minimum(2.0 / ((1.0 - kept) * (1.0 + kept)) * lost, 1.0)


@model
def policer_overload_loss_ratio(input_bps: ArrayLike, *, token_bps: ArrayLike) -> FloatArray:
    r"""Loss in a policer of traffic that does not react to it.

    .. math:: p = \max(0, 1 - CIR / r)

    Parameters
    ----------
    input_bps : array_like
        Rate that is sent. [bit/s]
    token_bps : array_like
        Token rate (CIR). [bit/s]

    Returns
    -------
    numpy.ndarray
        Share lost in the long run, once the bucket is empty. [ratio]

    See Also
    --------
    policed_loss_ratio : A flow that reacts.

    Notes
    -----
    Validity: an even rate, or bursts within the depth of the bucket.

    Typical: a stream of 12 Mbit/s into 10 loses a sixth.

    Range: everywhere.

    Symbols: :math:`r` input_bps, :math:`CIR` token_bps.

    Examples
    --------
    >>> round(float(policer_overload_loss_ratio(12e6, token_bps=10e6)), 6)
    0.166667

    References
    ----------
    RFC 2697, section 3; straight line.
    """
    sent, tokens = (
        checks.non_negative("input_bps", input_bps),
        checks.positive("token_bps", token_bps),
    )
    excess = np.where(sent > 0.0, (sent - tokens) / sent, 0.0 * sent)
    return np.maximum(excess, 0.0)
