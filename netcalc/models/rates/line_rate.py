r"""Line rate: how many frames a link carries per second, and their throughput by layer.

A frame of :math:`F` bytes takes :math:`F + 20` on an Ethernet wire, so a link of rate :math:`R`
carries :math:`R / 8(F + 20)` of them. Published tables truncate the fraction; these functions do
not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError
from netcalc.models.bounds import at_most_line
from netcalc.models.sizes.headers import MIN_FRAME_BYTES, PREAMBLE_AND_GAP_BYTES, padded_frame


@model
def frame_rate_pps(
    frame_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Maximum frame rate of an Ethernet link.

    .. math:: f = \frac{R}{8 (\max(F_{min},\; F) + o)}

    Parameters
    ----------
    frame_bytes : array_like
        Frame with FCS and tags; of a captured length, 4 more. [byte]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, Ethernet line]
    overhead_bytes : array_like
        Preamble and start delimiter (8) and gap (12). [byte]
    min_frame_bytes : array_like
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Frames per second, not rounded; inf for a frame of 0 bytes on a medium without a smallest
        frame. [packet/s]

    See Also
    --------
    netcalc.models.sizes.serial_lines.pos_frame_rate_pps : Packet over SONET.
    netcalc.models.sizes.serial_lines.ppp_packet_rate_pps : PPP.
    netcalc.models.sizes.atm.atm_packet_rate_pps : ATM.
    mix_rate_pps : A mix of sizes.

    Notes
    -----
    Validity: back-to-back frames of one size in one direction; clocks are within 100 ppm. Network
    cards of 40 Gbit/s and above may not reach it with small frames.

    Typical: 148,810 frames of 64 bytes and 8127 of 1518 per second at 100 Mbit/s.

    Range: everywhere.

    Symbols: :math:`F` frame_bytes, :math:`R` bandwidth_bps, :math:`o` overhead_bytes,
    :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    >>> float(frame_rate_pps(64, bandwidth_bps=10e9))
    14880952.38095238

    References
    ----------
    RFC 2544 appendix B; RFC 5180 appendix A.1 (whose table has three misprints: 4096 bytes at 1
    and 10 Gbit/s, 9216 bytes at 1 Gbit/s).
    """
    wire = padded_frame(frame_bytes, min_frame_bytes) + checks.non_negative(
        "overhead_bytes", overhead_bytes
    )
    return checks.positive("bandwidth_bps", bandwidth_bps) / 8.0 / wire


@model
def required_bandwidth_bps(
    rate_pps: ArrayLike,
    *,
    frame_bytes: ArrayLike,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Line rate that a frame rate requires: the inverse of :func:`frame_rate_pps`.

    .. math:: R = 8 f (\max(F_{min},\; F) + o)

    Parameters
    ----------
    rate_pps : array_like
        Frames per second. [packet/s]
    frame_bytes : array_like
        Frame with FCS and tags. [byte]
    overhead_bytes : array_like
        Preamble and start delimiter (8) and gap (12). [byte]
    min_frame_bytes : array_like
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Rate of the link. [bit/s, line]

    Notes
    -----
    Validity: frames of one size in one direction.

    Range: everywhere.

    Symbols: :math:`f` rate_pps, :math:`F` frame_bytes, :math:`o` overhead_bytes, :math:`F_{min}`
    min_frame_bytes.

    Examples
    --------
    >>> float(required_bandwidth_bps(148_810, frame_bytes=128))
    176191040.0

    References
    ----------
    RFC 2544 appendix B.
    """
    wire = padded_frame(frame_bytes, min_frame_bytes) + checks.non_negative(
        "overhead_bytes", overhead_bytes
    )
    return checks.non_negative("rate_pps", rate_pps) * (8.0 * wire)


@model
def frame_throughput_bps(
    frame_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Maximum layer 2 throughput of a link, FCS included.

    .. math:: R_2 = R \, \frac{L}{L + o}, \quad L = \max(F_{min},\; F)

    Parameters
    ----------
    frame_bytes : array_like
        Frame with FCS and tags. [byte]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, Ethernet line]
    overhead_bytes : array_like
        Preamble and start delimiter (8) and gap (12). [byte]
    min_frame_bytes : array_like
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Layer 2 rate; nan for a frame of 0 bytes without overhead. [bit/s, Ethernet frame]

    Notes
    -----
    Validity: back-to-back frames of one size. Linux counters and captures leave the FCS out.

    Range: everywhere.

    Symbols: :math:`F` frame_bytes, :math:`R` bandwidth_bps, :math:`o` overhead_bytes,
    :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    >>> round(float(frame_throughput_bps(64, bandwidth_bps=1e9)) / 1e6, 1)
    761.9

    References
    ----------
    RFC 2544 appendix B.
    """
    frame = padded_frame(frame_bytes, min_frame_bytes)
    wire = frame + checks.non_negative("overhead_bytes", overhead_bytes)
    return checks.positive("bandwidth_bps", bandwidth_bps) * (frame / wire)


@model
def line_utilization(
    rate_pps: ArrayLike,
    *,
    frame_bytes: ArrayLike,
    bandwidth_bps: ArrayLike,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Utilization of a link at a given frame rate.

    .. math:: u = \frac{8 f (\max(F_{min},\; F) + o)}{R}

    Parameters
    ----------
    rate_pps : array_like
        Frames per second. [packet/s]
    frame_bytes : array_like
        Frame with FCS and tags. [byte]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, Ethernet line]
    overhead_bytes : array_like
        Preamble and start delimiter (8) and gap (12). [byte]
    min_frame_bytes : array_like
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Utilization; above 1, with a note, where the link cannot carry the rate. [ratio]

    Notes
    -----
    Validity: frames of one size in one direction.

    Range: everywhere.

    Symbols: :math:`f` rate_pps, :math:`F` frame_bytes, :math:`R` bandwidth_bps, :math:`o`
    overhead_bytes, :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    >>> round(float(line_utilization(7809.25, frame_bytes=1518, bandwidth_bps=100e6)), 3)
    0.961

    References
    ----------
    RFC 2544 appendix B.
    """
    wire = padded_frame(frame_bytes, min_frame_bytes) + checks.non_negative(
        "overhead_bytes", overhead_bytes
    )
    share = wire * (8.0 / checks.positive("bandwidth_bps", bandwidth_bps))
    return at_most_line(checks.non_negative("rate_pps", rate_pps) * share)


@model
def payload_throughput_bps(
    payload_bytes: ArrayLike, *, wire_bytes: ArrayLike, bandwidth_bps: ArrayLike
) -> FloatArray:
    r"""Maximum payload throughput of a link, for any packet and layer.

    .. math:: G = R \, p / W

    Parameters
    ----------
    payload_bytes : array_like
        Payload of each packet, at any layer. [byte]
    wire_bytes : array_like
        Wire size of each packet. [byte]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, line]

    Returns
    -------
    numpy.ndarray
        Payload rate; nan where the payload exceeds the wire. [bit/s, payload]

    Notes
    -----
    Validity: back-to-back packets of one size.

    Range: everywhere.

    Symbols: :math:`p` payload_bytes, :math:`W` wire_bytes, :math:`R` bandwidth_bps.

    Examples
    --------
    TCP without options in full frames of Fast Ethernet:

    >>> goodput = payload_throughput_bps(1460, wire_bytes=1538, bandwidth_bps=100e6)
    >>> round(float(goodput) / 1e6, 2)
    94.93

    References
    ----------
    RFC 6349 section 4.1.
    """
    share = checks.non_negative("payload_bytes", payload_bytes) / checks.positive(
        "wire_bytes", wire_bytes
    )
    share = np.where(share > 1.0, np.nan, share)
    return checks.positive("bandwidth_bps", bandwidth_bps) * share


@model
def mix_mean_frame_bytes(
    frame_bytes: ArrayLike, *, weight: ArrayLike, min_frame_bytes: float = MIN_FRAME_BYTES
) -> FloatArray:
    r"""Mean frame size of a mix of sizes (IMIX).

    .. math:: \bar F = \sum_i w_i \max(F_{min},\; F_i) \Big/ \sum_i w_i

    Parameters
    ----------
    frame_bytes : 1-D array_like
        Sizes of the frames, FCS included. [byte]
    weight : 1-D array_like
        Number of frames of each size, in any unit. [1]
    min_frame_bytes : float
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Mean size, one number. [byte]

    Raises
    ------
    DomainError
        If all weights are 0.

    Notes
    -----
    Validity: weights count frames, not bytes.

    Range: everywhere.

    Symbols: :math:`F_i` frame_bytes, :math:`w_i` weight, :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    >>> round(float(mix_mean_frame_bytes([64, 570, 1518], weight=[7, 4, 1])), 2)
    353.83

    References
    ----------
    RFC 6985 (IMIX genome); FD.io CSIT (7:4:1).
    """
    least = checks.scalar(
        "min_frame_bytes", checks.non_negative("min_frame_bytes", min_frame_bytes)
    )
    sizes = checks.one_dimensional("frame_bytes", padded_frame(frame_bytes, least))
    weights = checks.one_dimensional("weight", checks.non_negative("weight", weight))
    if weights.size != sizes.size:
        raise DomainError("wrong-count", "weight", count=weights.size, expected=sizes.size)
    total = weights.sum()
    if total == 0.0:
        raise DomainError("all-zero", "weight")
    return np.asarray(sizes @ (weights / total))


@model
def mix_rate_pps(
    frame_bytes: ArrayLike,
    *,
    weight: ArrayLike,
    bandwidth_bps: ArrayLike,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
    min_frame_bytes: float = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Maximum frame rate of a link for a mix of sizes (IMIX).

    .. math::

        f = \frac{R}{8 (\bar F + o)}, \quad \bar F = \sum_i w_i \max(F_{min},\; F_i) \Big/ \sum_i
        w_i

    Parameters
    ----------
    frame_bytes : 1-D array_like
        Sizes of the frames, FCS included. [byte]
    weight : 1-D array_like
        Number of frames of each size, in any unit. [1]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, Ethernet line]
    overhead_bytes : array_like
        Preamble and start delimiter (8) and gap (12). [byte]
    min_frame_bytes : float
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Frames per second, all sizes. [packet/s]

    Raises
    ------
    DomainError
        If all weights are 0.

    See Also
    --------
    frame_rate_pps : Ethernet.
    netcalc.models.sizes.serial_lines.pos_frame_rate_pps : Packet over SONET.
    netcalc.models.sizes.serial_lines.ppp_packet_rate_pps : PPP.
    netcalc.models.sizes.atm.atm_packet_rate_pps : ATM.

    Notes
    -----
    Validity: exact for the mean over whole cycles of the mix.

    Range: everywhere.

    Symbols: :math:`F_i` frame_bytes, :math:`w_i` weight, :math:`R` bandwidth_bps, :math:`o`
    overhead_bytes, :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    >>> round(float(mix_rate_pps([64, 570, 1518], weight=[7, 4, 1], bandwidth_bps=10e9)))
    3343736

    References
    ----------
    RFC 6985; RFC 5180 appendix A.1 with the mean frame.
    """
    least = checks.scalar(
        "min_frame_bytes", checks.non_negative("min_frame_bytes", min_frame_bytes)
    )
    frames = padded_frame(frame_bytes, least)
    mean = mix_mean_frame_bytes(frames, weight=weight, min_frame_bytes=0.0)
    return frame_rate_pps(
        mean, bandwidth_bps=bandwidth_bps, overhead_bytes=overhead_bytes, min_frame_bytes=0.0
    )
