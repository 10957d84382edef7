"""Serial lines: PPP and HDLC with their stuffing, SONET, T-carrier, E-carrier, cells of ATM.

The flag that ends a frame must not occur inside it, so senders insert bits or bytes: after five one
bits a zero on synchronous lines, an escape before each reserved byte on others. The cost depends on
the data.

ATM carries packets in cells of 53 bytes, 48 of them payload. The size on the wire grows in steps: a
packet with its encapsulation and the trailer of AAL5 is padded to whole cells, so a bare
acknowledgement of 40 bytes takes one cell or two.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, choice, flag, model, non_negative, positive
from netcalc.errors import DomainError
from netcalc.models.sizes.headers import (
    FCS_BYTES,
    MAC_HEADER_BYTES,
    MIN_FRAME_BYTES,
    ip_packet,
    whole_packet,
)

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
    netcalc.models.sizes.serial_lines.atm_wire_bytes : ATM.
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
    netcalc.models.sizes.serial_lines.atm_packet_rate_pps : ATM.
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
        N of OC-N and STS-N: 1, or a multiple of 3; three times the N of STM. [1]

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
        N of OC-Nc and STS-Nc: 1, or a multiple of 3; three times the N of STM. [1]

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
        N of OC-Nc: 1, or a multiple of 3; three times the N of STM. [1]

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
    netcalc.models.sizes.serial_lines.atm_packet_rate_pps : ATM.
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


CELL_BYTES = 53.0
CELL_PAYLOAD_BYTES = 48.0

Encapsulation: TypeAlias = Literal[
    "none", "ipoa-vcmux", "ipoa-llcsnap", "bridged-vcmux", "bridged-llcsnap", "pppoa-vcmux",
    "pppoa-llc", "pppoe-vcmux", "pppoe-llcsnap",
]  # fmt: skip

ATM_OVERHEAD_BYTES: dict[str, float] = {
    "none": 0.0,
    "ipoa-vcmux": 8.0,
    "ipoa-llcsnap": 16.0,
    "bridged-vcmux": 24.0,
    "bridged-llcsnap": 32.0,
    "pppoa-vcmux": 10.0,
    "pppoa-llc": 14.0,
    "pppoe-vcmux": 32.0,
    "pppoe-llcsnap": 40.0,
}
"""What precedes the cells: headers and the trailer of AAL5 (8). ``none`` has no trailer either.
RFC 2684, RFC 2364, RFC 2516; bridged and pppoe without the Ethernet FCS. [byte]"""


@model
def atm_overhead_bytes(encapsulation: Encapsulation) -> FloatArray:
    r"""Encapsulation and AAL5 overhead of a packet, before segmentation into cells.

    .. math:: o = h + 8

    Parameters
    ----------
    encapsulation : str
        ipoa-vcmux, ipoa-llcsnap, bridged-vcmux, bridged-llcsnap, pppoa-vcmux, pppoa-llc,
        pppoe-vcmux, pppoe-llcsnap, or none for bare cells. [text]

    Returns
    -------
    numpy.ndarray
        Headers and the trailer of AAL5. [byte]

    Notes
    -----
    Validity: bridged frames without FCS.

    Range: everywhere.

    Symbols: Not in the equation: encapsulation (which sets h).

    Examples
    --------
    >>> float(atm_overhead_bytes("pppoe-llcsnap"))
    40.0

    References
    ----------
    RFC 2684, RFC 2364, RFC 2516, ITU-T I.363.5; the keyword table of tc-cake(8).
    """
    choice("encapsulation", encapsulation, tuple(ATM_OVERHEAD_BYTES))
    return np.asarray(ATM_OVERHEAD_BYTES[encapsulation])


@model
def atm_cell_count(
    packet_bytes: ArrayLike,
    *,
    encapsulation: Encapsulation = "pppoa-vcmux",
    fcs: bool = False,
    extra_bytes: ArrayLike = 0.0,
) -> FloatArray:
    r"""Number of ATM cells of a packet.

    .. math:: c = \lceil (n + x + o) / 48 \rceil

    Parameters
    ----------
    packet_bytes : array_like
        IP packet. [byte]
    encapsulation : str
        ipoa-vcmux, ipoa-llcsnap, bridged-vcmux, bridged-llcsnap, pppoa-vcmux, pppoa-llc,
        pppoe-vcmux, pppoe-llcsnap, or none for bare cells. [text]
    fcs : bool
        Whether an Ethernet frame in the cells keeps its FCS, and with it its padding to 64. [bool]
    extra_bytes : array_like
        Further headers of each packet. [byte]

    Returns
    -------
    numpy.ndarray
        Whole cells. [1]

    Notes
    -----
    Validity: AAL5, one packet at a time.

    Range: everywhere.

    Symbols: :math:`n` packet_bytes, :math:`x` extra_bytes, :math:`o` encapsulation (none: 0 B,
    ipoa-vcmux: 8 B, ipoa-llcsnap: 16 B, bridged-vcmux: 24 B, bridged-llcsnap: 32 B, pppoa-vcmux: 10
    B, pppoa-llc: 14 B, pppoe-vcmux: 32 B, pppoe-llcsnap: 40 B). Not in the equation: fcs (4 bytes
    and the shortest frame of 64).

    Examples
    --------
    >>> atm_cell_count([40, 1500], encapsulation="ipoa-vcmux").tolist()
    [1.0, 32.0]

    References
    ----------
    ITU-T I.363.5; RFC 2684.
    """
    size = whole_packet("packet_bytes", packet_bytes) + non_negative("extra_bytes", extra_bytes)
    size = size + atm_overhead_bytes(encapsulation)
    if flag("fcs", fcs) and encapsulation.startswith(("bridged", "pppoe")):
        # The frame is the sum less the part before it.
        frame = MAC_HEADER_BYTES + (8.0 if encapsulation.startswith("pppoe") else 0.0)
        before = ATM_OVERHEAD_BYTES[encapsulation] - frame
        size = np.maximum(size + FCS_BYTES, before + MIN_FRAME_BYTES)
    return checks.rounded_up(size / CELL_PAYLOAD_BYTES)


@model
def atm_wire_bytes(
    packet_bytes: ArrayLike,
    *,
    encapsulation: Encapsulation = "pppoa-vcmux",
    fcs: bool = False,
    extra_bytes: ArrayLike = 0.0,
) -> FloatArray:
    r"""Size of a packet in ATM cells.

    .. math:: W = 53 \lceil (n + x + o) / 48 \rceil

    Parameters
    ----------
    packet_bytes : array_like
        IP packet. [byte]
    encapsulation : str
        ipoa-vcmux, ipoa-llcsnap, bridged-vcmux, bridged-llcsnap, pppoa-vcmux, pppoa-llc,
        pppoe-vcmux, pppoe-llcsnap, or none for bare cells. [text]
    fcs : bool
        Whether an Ethernet frame in the cells keeps its FCS, and with it its padding to 64. [bool]
    extra_bytes : array_like
        Further headers of each packet. [byte]

    Returns
    -------
    numpy.ndarray
        Bytes of all its cells. [byte]

    See Also
    --------
    netcalc.models.sizes.framing.ethernet_wire_bytes : Ethernet.
    netcalc.models.sizes.serial_lines.ppp_wire_bytes : PPP.
    netcalc.models.sizes.encapsulation.tunnel_wire_bytes : Tunnels over Ethernet.

    Notes
    -----
    Validity: AAL5, one packet at a time.

    Range: everywhere.

    Symbols: :math:`n` packet_bytes, :math:`x` extra_bytes, :math:`o` encapsulation (none: 0 B,
    ipoa-vcmux: 8 B, ipoa-llcsnap: 16 B, bridged-vcmux: 24 B, bridged-llcsnap: 32 B, pppoa-vcmux: 10
    B, pppoa-llc: 14 B, pppoe-vcmux: 32 B, pppoe-llcsnap: 40 B). Not in the equation: fcs (4 bytes
    and the shortest frame of 64).

    Examples
    --------
    >>> float(atm_wire_bytes(1500, encapsulation="pppoe-vcmux"))
    1696.0

    References
    ----------
    ITU-T I.363.5; RFC 2684; tc-stab(8).
    """
    return CELL_BYTES * atm_cell_count(
        packet_bytes, encapsulation=encapsulation, fcs=fcs, extra_bytes=extra_bytes
    )


@model
def atm_efficiency_ratio(
    packet_bytes: ArrayLike,
    *,
    encapsulation: Encapsulation = "pppoa-vcmux",
    fcs: bool = False,
    extra_bytes: ArrayLike = 0.0,
) -> FloatArray:
    r"""Packet size over the size of its ATM cells.

    .. math:: e = \frac{n}{53 \lceil (n + x + o) / 48 \rceil}

    Parameters
    ----------
    packet_bytes : array_like
        IP packet. [byte]
    encapsulation : str
        ipoa-vcmux, ipoa-llcsnap, bridged-vcmux, bridged-llcsnap, pppoa-vcmux, pppoa-llc,
        pppoe-vcmux, pppoe-llcsnap, or none for bare cells. [text]
    fcs : bool
        Whether an Ethernet frame in the cells keeps its FCS, and with it its padding to 64. [bool]
    extra_bytes : array_like
        Further headers of each packet. [byte]

    Returns
    -------
    numpy.ndarray
        Efficiency, at most 48/53; nan for a packet of 0 cells. [ratio]

    Notes
    -----
    Validity: AAL5, one packet at a time.

    Range: everywhere.

    Symbols: :math:`n` packet_bytes, :math:`x` extra_bytes, :math:`o` encapsulation (none: 0 B,
    ipoa-vcmux: 8 B, ipoa-llcsnap: 16 B, bridged-vcmux: 24 B, bridged-llcsnap: 32 B, pppoa-vcmux: 10
    B, pppoa-llc: 14 B, pppoe-vcmux: 32 B, pppoe-llcsnap: 40 B). Not in the equation: fcs (4 bytes
    and the shortest frame of 64).

    Examples
    --------
    >>> round(float(atm_efficiency_ratio(1500, encapsulation="ipoa-llcsnap")), 4)
    0.8844

    References
    ----------
    ITU-T I.363.5; RFC 2684.
    """
    wire = atm_wire_bytes(
        packet_bytes, encapsulation=encapsulation, fcs=fcs, extra_bytes=extra_bytes
    )
    return whole_packet("packet_bytes", packet_bytes) / wire


@model
def atm_packet_rate_pps(
    packet_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    encapsulation: Encapsulation = "pppoa-vcmux",
    fcs: bool = False,
    extra_bytes: ArrayLike = 0.0,
) -> FloatArray:
    r"""Packet rate of an ATM line.

    .. math:: f = \frac{R}{8 \cdot 53 \lceil (n + x + o) / 48 \rceil}

    Parameters
    ----------
    packet_bytes : array_like
        IP packet. [byte]
    bandwidth_bps : array_like
        Rate at which cells are sent: of ADSL, the rate the modem shows. [bit/s, cells]
    encapsulation : str
        ipoa-vcmux, ipoa-llcsnap, bridged-vcmux, bridged-llcsnap, pppoa-vcmux, pppoa-llc,
        pppoe-vcmux, pppoe-llcsnap, or none for bare cells. [text]
    fcs : bool
        Whether an Ethernet frame in the cells keeps its FCS, and with it its padding to 64. [bool]
    extra_bytes : array_like
        Further headers of each packet. [byte]

    Returns
    -------
    numpy.ndarray
        Packets per second; inf for a packet of 0 cells. [packet/s]

    See Also
    --------
    netcalc.models.rates.line_rate.frame_rate_pps : Ethernet.
    netcalc.models.sizes.serial_lines.pos_frame_rate_pps : Packet over SONET.
    netcalc.models.sizes.serial_lines.ppp_packet_rate_pps : PPP.
    netcalc.models.rates.line_rate.mix_rate_pps : A mix of sizes.

    Notes
    -----
    Validity: packets of one size in one direction, no management cells.

    Range: everywhere.

    Symbols: :math:`n` packet_bytes, :math:`R` bandwidth_bps, :math:`x` extra_bytes, :math:`o`
    encapsulation (none: 0 B, ipoa-vcmux: 8 B, ipoa-llcsnap: 16 B, bridged-vcmux: 24 B,
    bridged-llcsnap: 32 B, pppoa-vcmux: 10 B, pppoa-llc: 14 B, pppoe-vcmux: 32 B, pppoe-llcsnap: 40
    B). Not in the equation: fcs (4 bytes and the shortest frame of 64).

    Examples
    --------
    >>> round(float(atm_packet_rate_pps(40, bandwidth_bps=1e6)), 1)
    1179.2

    References
    ----------
    ITU-T I.363.5; RFC 2684.
    """
    wire = atm_wire_bytes(
        packet_bytes, encapsulation=encapsulation, fcs=fcs, extra_bytes=extra_bytes
    )
    return positive("bandwidth_bps", bandwidth_bps) / 8.0 / wire
