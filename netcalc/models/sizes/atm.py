r"""ATM and AAL5: packets in cells of 53 bytes, 48 of them payload.

The size on the wire grows in steps: a packet with its encapsulation and the trailer of AAL5 is
padded to whole cells, so a bare acknowledgement of 40 bytes takes one cell or two.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, choice, flag, model, non_negative, positive
from netcalc.models.sizes.headers import FCS_BYTES, MAC_HEADER_BYTES, MIN_FRAME_BYTES, whole_packet

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
    return np.ceil(size / CELL_PAYLOAD_BYTES)


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
