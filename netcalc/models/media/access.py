r"""Access networks: asking for leave to send (DOCSIS, GPON, LTE), and framing of VDSL2.

On a medium that many share upstream, a head end says who may send when. A modem that has something
to send waits until it may ask, asks, waits until grants are made, and hears when it may send.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model, non_negative, ratio
from netcalc.models.sizes.headers import ip_packet, whole_packet
from netcalc.models.sizes.serial_lines import ppp_wire_bytes

PTM_BYTES = 22.0
"""Ethernet header and FCS 18, PTM flags and check 4."""


@model
def request_grant_s(
    interval_s: ArrayLike, *, propagation_s: ArrayLike = 0.0, processing_s: ArrayLike = 0.0
) -> FloatArray:
    r"""Mean time until a modem may send that must ask first (DOCSIS, GPON).

    .. math:: t = \frac{I}{2} + d + \frac{I}{2} + e + d

    Parameters
    ----------
    interval_s : array_like
        Interval of the messages with grants (MAP of DOCSIS, cycle of a GPON's assignment), in each
        of which a modem can ask once. [s]
    propagation_s : array_like
        Time of a signal from the modem to the head end. [s]
    processing_s : array_like
        Time of the head end and of the modem, and how far ahead grants are made. [s]

    Returns
    -------
    numpy.ndarray
        Time from the arrival of a packet at the modem to its first bit on the line. [s]

    See Also
    --------
    request_grant_max_s : The longest.

    Notes
    -----
    Validity: a packet at a random moment, without collisions of requests, and with space left in
    the next interval. A request that rides on earlier data (piggyback), or a grant that is not
    asked for, saves the wait to ask.

    Typical: intervals of 2 ms (DOCSIS), frames of 125 µs and cycles of some of them (GPON); 100 km
    are 0.5 ms.

    Range: everywhere.

    Symbols: :math:`I` interval_s, :math:`d` propagation_s, :math:`e` processing_s.

    Examples
    --------
    DOCSIS over 20 km, with 1 ms of processing:

    >>> round(float(request_grant_s(2e-3, propagation_s=0.1e-3, processing_s=1e-3)) * 1e3, 2)
    3.2

    References
    ----------
    Derived: mean waits for a periodic event; CableLabs, DOCSIS 3.1 MAC and Upper Layer Protocols
    Interface, 7.2 (upstream data transmission); ITU-T G.984.3 (dynamic bandwidth assignment).
    """
    interval = non_negative("interval_s", interval_s)
    way = non_negative("propagation_s", propagation_s)
    return interval + 2.0 * way + non_negative("processing_s", processing_s)


@model
def request_grant_max_s(
    interval_s: ArrayLike, *, propagation_s: ArrayLike = 0.0, processing_s: ArrayLike = 0.0
) -> FloatArray:
    r"""Longest time until a modem may send that must ask first (DOCSIS, GPON).

    .. math:: t = 2 I + 2 d + e

    Parameters
    ----------
    interval_s : array_like
        Interval of the messages with grants (MAP of DOCSIS, cycle of a GPON's assignment), in each
        of which a modem can ask once. [s]
    propagation_s : array_like
        Time of a signal from the modem to the head end. [s]
    processing_s : array_like
        Time of the head end and of the modem, and how far ahead grants are made. [s]

    Returns
    -------
    numpy.ndarray
        Time from the arrival of a packet at the modem to its first bit on the line. [s]

    See Also
    --------
    request_grant_s : The mean.

    Notes
    -----
    Validity: as :func:`request_grant_s`.

    Range: everywhere.

    Symbols: :math:`I` interval_s, :math:`d` propagation_s, :math:`e` processing_s.

    Examples
    --------
    >>> round(float(request_grant_max_s(2e-3, propagation_s=0.1e-3, processing_s=1e-3)) * 1e3, 2)
    5.2

    References
    ----------
    Derived: longest waits for a periodic event.
    """
    interval = non_negative("interval_s", interval_s)
    way = non_negative("propagation_s", propagation_s)
    return 2.0 * interval + 2.0 * way + non_negative("processing_s", processing_s)


@model
def ptm_wire_bytes(packet_bytes: ArrayLike, *, overhead_bytes: ArrayLike = PTM_BYTES) -> FloatArray:
    r"""Bytes that an IP packet takes on a VDSL2 line (PTM).

    .. math:: W = L + o + \left\lceil \frac{L + o}{64} \right\rceil

    Parameters
    ----------
    packet_bytes : array_like
        IP packet. [byte]
    overhead_bytes : array_like
        Ethernet header and FCS (18), PTM flags and check (4); 4 more for a VLAN tag, 8 for PPPoE.
        [byte]

    Returns
    -------
    numpy.ndarray
        Bytes on the line, at its synchronized rate. [byte]

    Notes
    -----
    Validity: each 64 bytes of the line are sent as 65; the part of the last ones is counted in
    whole bytes, as shapers do.

    Range: everywhere.

    Symbols: :math:`L` packet_bytes, :math:`o` overhead_bytes.

    Examples
    --------
    >>> float(ptm_wire_bytes(1500))
    1546.0

    References
    ----------
    IEEE 802.3-2018, 61.3.3 (64/65-octet encapsulation); tc-cake(8), ptm and bridged-ptm.
    """
    packet = whole_packet("packet_bytes", packet_bytes)
    inside = packet + non_negative("overhead_bytes", overhead_bytes)
    return inside + np.ceil(inside / 64.0)


@model
def ppp_efficiency_ratio(
    packet_bytes: ArrayLike,
    *,
    fcs_bytes: ArrayLike = 2.0,
    flag_bytes: ArrayLike = 2.0,
    stuffing_ratio: ArrayLike = 0.0,
) -> FloatArray:
    r"""Share of a serial line that carries IP packets with PPP.

    .. math:: \eta = \frac{L}{(L + 4 + c) (1 + s) + f}

    Parameters
    ----------
    packet_bytes : array_like
        IP packet. [byte]
    fcs_bytes : array_like
        Check sequence: 2 or 4. [byte]
    flag_bytes : array_like
        Flags of each frame: 2, or 1 where frames follow one another. [byte]
    stuffing_ratio : array_like
        What stuffing adds to the data. [ratio]

    Returns
    -------
    numpy.ndarray
        Share; nan for a packet of 0 bytes without anything else. [ratio]

    See Also
    --------
    hdlc_efficiency_ratio : Cisco's HDLC.

    Notes
    -----
    Validity: address, control and protocol take 4 bytes, with compression of these fields less.

    Typical: 99.5 % for 1500 bytes, 83 % for 40, without stuffing, which adds 1.6 % to random data
    on a bit-synchronous line.

    Range: everywhere.

    Symbols: :math:`L` packet_bytes, :math:`c` fcs_bytes, :math:`f` flag_bytes, :math:`s`
    stuffing_ratio.

    Examples
    --------
    >>> round(float(ppp_efficiency_ratio(1500)), 4)
    0.9947

    References
    ----------
    RFC 1661 section 2; RFC 1662 sections 3.1, 4.2 and 5.2.
    """
    wire = ppp_wire_bytes(
        packet_bytes, fcs_bytes=fcs_bytes, flag_bytes=flag_bytes, stuffing_ratio=stuffing_ratio
    )
    return ip_packet("packet_bytes", packet_bytes) / wire


@model
def hdlc_efficiency_ratio(
    packet_bytes: ArrayLike,
    *,
    header_bytes: ArrayLike = 4.0,
    fcs_bytes: ArrayLike = 2.0,
    flag_bytes: ArrayLike = 2.0,
    stuffing_ratio: ArrayLike = 0.0,
) -> FloatArray:
    r"""Share of a serial line that carries packets with HDLC.

    .. math:: \eta = \frac{L}{(L + h + c) (1 + s) + f}

    Parameters
    ----------
    packet_bytes : array_like
        Packet in the information field. [byte]
    header_bytes : array_like
        Address and control, with Cisco's protocol field 4, of the standard 2. [byte]
    fcs_bytes : array_like
        Check sequence: 2 or 4. [byte]
    flag_bytes : array_like
        Flags of each frame: 2, or 1 where frames follow one another. [byte]
    stuffing_ratio : array_like
        What stuffing adds to the data. [ratio]

    Returns
    -------
    numpy.ndarray
        Share; nan for a packet of 0 bytes without anything else. [ratio]

    See Also
    --------
    ppp_efficiency_ratio : PPP.

    Notes
    -----
    Validity: a bit-synchronous line, whose stuffing adds 1/62 to random data and 1/5 at worst
    (:func:`netcalc.models.sizes.serial_lines.bit_stuffing_ratio`).

    Range: everywhere.

    Symbols: :math:`L` packet_bytes, :math:`h` header_bytes, :math:`c` fcs_bytes, :math:`f`
    flag_bytes, :math:`s` stuffing_ratio.

    Examples
    --------
    Random data in packets of 1500 bytes:

    >>> round(float(hdlc_efficiency_ratio(1500, stuffing_ratio=1 / 62)), 4)
    0.9789

    References
    ----------
    ISO/IEC 13239, clause 4.
    """
    packet = non_negative("packet_bytes", packet_bytes)
    inside = packet + non_negative("header_bytes", header_bytes)
    inside = inside + non_negative("fcs_bytes", fcs_bytes)
    stuffed = inside * (1.0 + ratio("stuffing_ratio", stuffing_ratio))
    return packet / (stuffed + non_negative("flag_bytes", flag_bytes))
