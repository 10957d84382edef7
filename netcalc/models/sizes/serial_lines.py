r"""Serial lines: PPP and HDLC with their stuffing, packet over SONET, T-carrier and E-carrier.

The flag that ends a frame must not occur inside it, so senders insert bits or bytes: after five one
bits a zero on synchronous lines, an escape before each reserved byte on others. The cost depends on
the data.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError
from netcalc.models.sizes.headers import ip_packet

PPP_HEADER_BYTES = 4.0
"""Address, control and protocol. [byte]"""


@model
def bit_stuffing_ratio(ones_ratio: ArrayLike = 0.5) -> FloatArray:
    r"""Overhead of HDLC bit stuffing: a zero after every five ones.

    .. math:: s = 1 \Big/ \sum_{k=1}^{5} q^{-k} = \frac{q^5 (1 - q)}{1 - q^5}

    Parameters
    ----------
    ones_ratio : array_like
        Share of one bits in the data: 0.5 in random data, 1 at worst. [ratio]

    Returns
    -------
    numpy.ndarray
        Added bits over data bits: 1/62 for random data, 1/5 at worst. [ratio]

    See Also
    --------
    byte_stuffing_ratio : Asynchronous lines and SONET.

    Notes
    -----
    Validity: independent bits; the mean over long data.

    Range: everywhere.

    Symbols: :math:`q` ones_ratio.

    Examples
    --------
    >>> round(float(1 / bit_stuffing_ratio(0.5))), round(float(bit_stuffing_ratio(1.0)), 3)
    (62, 0.2)

    References
    ----------
    ISO/IEC 13239; RFC 1662 section 5.2; RFC 4814 section 4.
    """
    q = checks.ratio("ones_ratio", ones_ratio)
    # q^5 / (1 + q + q^2 + q^3 + q^4): the same without a division of 0 by 0 at q = 1.
    return q**5 / ((((q + 1.0) * q + 1.0) * q + 1.0) * q + 1.0)


@model
def byte_stuffing_ratio(control_count: ArrayLike = 0) -> FloatArray:
    r"""Overhead of PPP byte stuffing in random data: an escape before each reserved byte.

    .. math:: s = (2 + c) / 256

    Parameters
    ----------
    control_count : array_like
        Control characters that are escaped too: 0 on Ethernet-like and SONET lines, 32 with the
        full map of asynchronous lines. [1]

    Returns
    -------
    numpy.ndarray
        Added bytes over data bytes; data of reserved bytes alone has 1. [ratio]

    See Also
    --------
    bit_stuffing_ratio : Synchronous lines.

    Notes
    -----
    Validity: all 256 values equally likely; the mean over long data.

    Range: everywhere.

    Symbols: :math:`c` control_count.

    Examples
    --------
    >>> float(byte_stuffing_ratio(0)), float(byte_stuffing_ratio(32))
    (0.0078125, 0.1328125)

    References
    ----------
    RFC 1662 section 4.2 and 7.1.
    """
    controls = checks.whole(
        "control_count", checks.between("control_count", control_count, 0.0, 32.0)
    )
    return (controls + 2.0) / 256.0


@model
def ppp_wire_bytes(
    packet_bytes: ArrayLike,
    *,
    fcs_bytes: ArrayLike = 2.0,
    flag_bytes: ArrayLike = 2.0,
    stuffing_ratio: ArrayLike = 0.0,
) -> FloatArray:
    r"""Wire size of a packet in PPP with HDLC-like framing.

    .. math:: W = (n + 4 + c)(1 + s) + f

    Parameters
    ----------
    packet_bytes : array_like
        IP packet. [byte]
    fcs_bytes : array_like
        FCS: 2, or 4 on fast lines. [byte]
    flag_bytes : array_like
        Flags of each frame: 2, or 1 where frames share theirs. [byte]
    stuffing_ratio : array_like
        Added by stuffing: :func:`bit_stuffing_ratio`, :func:`byte_stuffing_ratio`. [ratio]

    Returns
    -------
    numpy.ndarray
        Bytes on the wire, on average. [byte]

    See Also
    --------
    netcalc.models.sizes.framing.ethernet_wire_bytes : Ethernet.
    netcalc.models.sizes.atm.atm_wire_bytes : ATM.
    netcalc.models.sizes.encapsulation.tunnel_wire_bytes : Tunnels over Ethernet.

    Notes
    -----
    Validity: address, control and protocol fields not compressed (4 bytes).

    Range: everywhere.

    Symbols: :math:`n` packet_bytes, :math:`c` fcs_bytes, :math:`f` flag_bytes, :math:`s`
    stuffing_ratio.

    Examples
    --------
    >>> float(ppp_wire_bytes(1500))
    1508.0

    References
    ----------
    RFC 1661, RFC 1662; RFC 6349 section 4.1 (8 bytes).
    """
    frame = ip_packet("packet_bytes", packet_bytes) + (
        PPP_HEADER_BYTES + checks.non_negative("fcs_bytes", fcs_bytes)
    )
    stuffed = frame * (1.0 + checks.ratio("stuffing_ratio", stuffing_ratio))
    return stuffed + checks.non_negative("flag_bytes", flag_bytes)


@model
def ppp_packet_rate_pps(
    packet_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    fcs_bytes: ArrayLike = 2.0,
    flag_bytes: ArrayLike = 2.0,
    stuffing_ratio: ArrayLike = 0.0,
) -> FloatArray:
    r"""Packet rate of a line with PPP.

    .. math:: f = \frac{R}{8 ((n + 4 + c)(1 + s) + g)}

    Parameters
    ----------
    packet_bytes : array_like
        IP packet. [byte]
    bandwidth_bps : array_like
        Rate of the line without its own framing: 1.536 Mbit/s of a T1. [bit/s, channel payload]
    fcs_bytes : array_like
        FCS: 2, or 4 on fast lines. [byte]
    flag_bytes : array_like
        Flags of each frame: 2, or 1 where frames share theirs. [byte]
    stuffing_ratio : array_like
        Added by stuffing: :func:`bit_stuffing_ratio`, :func:`byte_stuffing_ratio`. [ratio]

    Returns
    -------
    numpy.ndarray
        Packets per second. [packet/s]

    See Also
    --------
    netcalc.models.rates.line_rate.frame_rate_pps : Ethernet.
    pos_frame_rate_pps : Packet over SONET.
    netcalc.models.sizes.atm.atm_packet_rate_pps : ATM.
    netcalc.models.rates.line_rate.mix_rate_pps : A mix of sizes.

    Notes
    -----
    Validity: packets of one size in one direction.

    Range: everywhere.

    Symbols: :math:`R` bandwidth_bps, :math:`n` packet_bytes, :math:`c` fcs_bytes, :math:`g`
    flag_bytes, :math:`s` stuffing_ratio.

    Examples
    --------
    >>> int(ppp_packet_rate_pps(1500, bandwidth_bps=44.21e6))
    3664

    References
    ----------
    RFC 6349 section 4.1 (3664 frames per second on a T3).
    """
    wire = ppp_wire_bytes(
        packet_bytes, fcs_bytes=fcs_bytes, flag_bytes=flag_bytes, stuffing_ratio=stuffing_ratio
    )
    return checks.positive("bandwidth_bps", bandwidth_bps) / 8.0 / wire


@model
def sonet_line_bps(sts_count: ArrayLike) -> FloatArray:
    r"""Line rate of a SONET or SDH signal.

    .. math:: R = 51.84 \cdot 10^6 \, N

    Parameters
    ----------
    sts_count : array_like
        N of OC-N and STS-N: 1, or a multiple of 3; three times that of STM. [1]

    Returns
    -------
    numpy.ndarray
        Line rate. [bit/s, line]

    Raises
    ------
    DomainError
        If ``sts_count`` is neither 1 nor a multiple of 3.

    Notes
    -----
    Validity: exact: 90 columns of 9 rows of bytes, 8000 times a second.

    Range: everywhere.

    Symbols: :math:`N` sts_count.

    Examples
    --------
    >>> sonet_line_bps([3, 192]).tolist()
    [155520000.0, 9953280000.0]

    References
    ----------
    ANSI T1.105; ITU-T G.707.
    """
    return _sts(sts_count) * 51.84e6


@model
def sonet_payload_bps(sts_count: ArrayLike) -> FloatArray:
    r"""Payload rate of one concatenated SONET or SDH signal.

    .. math:: R = (87 N - \max(1, N / 3)) \cdot 9 \cdot 8 \cdot 8000

    Parameters
    ----------
    sts_count : array_like
        N of OC-Nc and STS-Nc: 1, or a multiple of 3; three times that of STM. [1]

    Returns
    -------
    numpy.ndarray
        Payload rate. [bit/s, SONET payload]

    Raises
    ------
    DomainError
        If ``sts_count`` is neither 1 nor a multiple of 3.

    Notes
    -----
    Validity: one concatenated envelope: path overhead and, from STS-12c, the fixed stuff columns
    that some books leave out. A single STS-1 has two more of those for some contents.

    Range: everywhere.

    Symbols: :math:`N` sts_count.

    Examples
    --------
    >>> sonet_payload_bps([3, 12]).tolist()
    [149760000.0, 599040000.0]

    References
    ----------
    ANSI T1.105; RFC 5180 appendix A.2.
    """
    sts = _sts(sts_count)
    return (87.0 * sts - np.maximum(sts / 3.0, 1.0)) * (9.0 * 8.0 * 8000.0)


@model
def pos_frame_rate_pps(frame_bytes: ArrayLike, *, sts_count: ArrayLike) -> FloatArray:
    r"""Maximum frame rate of packet over SONET.

    .. math:: f = \frac{(87 N - \max(1, N / 3)) \cdot 9 \cdot 8000}{X + 1}

    Parameters
    ----------
    frame_bytes : array_like
        PPP frame with FCS, without the one flag that frames share. [byte]
    sts_count : array_like
        N of OC-Nc: 1, or a multiple of 3; three times that of STM. [1]

    Returns
    -------
    numpy.ndarray
        Frames per second, not rounded. [packet/s]

    Raises
    ------
    DomainError
        If ``sts_count`` is neither 1 nor a multiple of 3.

    See Also
    --------
    netcalc.models.rates.line_rate.frame_rate_pps : Ethernet.
    ppp_packet_rate_pps : PPP.
    netcalc.models.sizes.atm.atm_packet_rate_pps : ATM.
    netcalc.models.rates.line_rate.mix_rate_pps : A mix of sizes.

    Notes
    -----
    Validity: no byte stuffing; with data that needs it, divide by 1 plus its ratio.

    Range: everywhere.

    Symbols: :math:`X` frame_bytes, :math:`N` sts_count.

    Examples
    --------
    >>> float(pos_frame_rate_pps(47, sts_count=3))
    390000.0

    References
    ----------
    RFC 5180 appendix A.2; RFC 2615.
    """
    wire = checks.non_negative("frame_bytes", frame_bytes) + 1.0
    return sonet_payload_bps(sts_count) / 8.0 / wire


@model
def channel_payload_bps(channel_count: ArrayLike) -> FloatArray:
    r"""Payload rate of the channels of a T-carrier or E-carrier line.

    .. math:: R = 64000 \, n

    Parameters
    ----------
    channel_count : array_like
        Channels of 64 kbit/s: 24 of a T1, 31 of an E1, 30 of an E1 with signalling. [1]

    Returns
    -------
    numpy.ndarray
        Payload rate. [bit/s, channel payload]

    Notes
    -----
    Validity: clear channels; where a bit is robbed for signalling, 56 kbit/s each are left.

    Range: everywhere.

    Symbols: :math:`n` channel_count.

    Examples
    --------
    >>> channel_payload_bps([24, 31]).tolist()
    [1536000.0, 1984000.0]

    References
    ----------
    ANSI T1.107; ITU-T G.704.
    """
    return checks.whole("channel_count", channel_count) * 64e3


def _sts(sts_count: ArrayLike) -> FloatArray:
    sts = checks.at_least("sts_count", sts_count, 1.0)
    thirds = sts / 3.0
    odd = np.asarray(np.floor(thirds) != thirds)
    if odd.any():
        odd &= (checks.whole("sts_count", sts) != 1.0) & ~np.isnan(sts)
        if odd.any():
            raise DomainError("not-a-multiple", "sts_count", float(sts[odd].flat[0]), factor=3)
    return sts
