r"""Encapsulation: packet sizes in a tunnel or a stack of tunnels.

A stack is written as a capture shows it, outermost layer first, joined by ``+``:
``"vxlan4+wireguard4"`` is WireGuard inside VXLAN over IPv4. The names of the layers:

- ``pppoe``, ``tag``, ``macsec`` (``macsec_no_sci``: on links of two stations), each on Ethernet
- ``mpls`` (``mpls2``: two labels), ``cw`` (control word behind a label), ``eth`` (an Ethernet
  header in a layer that has none, such as ``mpls``)
- ``ipip``, ``6in4`` (``sit``, ``6rd``), ``4in6`` (``ipip6``), ``ip6ip6``, ``udp4``, ``udp6``
- ``gre``, ``gre6``, ``gretap``, ``gretap6``, each with ``_key``, ``_seq``, ``_csum``
- ``vxlan4``, ``vxlan6``, ``geneve4``, ``geneve6``, ``nvgre4``, ``nvgre6``, each with
  ``_inner_vlan``; GENEVE with ``_opt8`` for 8 bytes of options
- ``gtpu4``, ``gtpu6`` (``_pdu``: PDU session container of 5G), ``lisp4``, ``lisp6``,
  ``l2tpv2_udp``, ``l2tpv2_udp6``
- ``l2tpv3_ip4``, ``l2tpv3_ip6``, ``l2tpv3_udp4``, ``l2tpv3_udp6`` with Ethernet inside (each with
  ``_cookie4``, ``_cookie8``, ``_l2spec``), ``stt4``, ``stt6``
- ``openvpn4``, ``openvpn6`` over UDP with an AEAD cipher (``_tap``, ``_comp``: compression
  framing), ``fastd4``, ``fastd6`` (``_tap``, ``_null``: the method without cipher)
- ``wireguard4``, ``wireguard6``
- ``esp4:SUITE``, ``esp6:SUITE`` (``:transport``, ``:nat`` behind the suite, see
  :mod:`netcalc.models.sizes.vpn`)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, as_float, keep_nan, model, note, positive
from netcalc.models.sizes.framing import ethernet_wire_bytes
from netcalc.models.sizes.headers import (
    TIMESTAMP_BYTES,
    UDP_HEADER_BYTES,
    ip_header_bytes,
    left_for_packets,
    left_for_payload,
    tcp_ip_header_bytes,
    whole_packet,
    without_headers,
)
from netcalc.models.sizes.layers import fixed_bytes, inside, outside, stack_layers


@model
def tunnel_packet_bytes(
    packet_bytes: ArrayLike, *, stack: str, mtu_bytes: ArrayLike = 1500.0
) -> FloatArray:
    r"""Outer packet of an inner packet in a stack of tunnels.

    .. math:: P_0 = P_n + \sum_{i=1}^{n} h_i \quad\text{(a padding layer: its staircase)}

    Parameters
    ----------
    packet_bytes : array_like
        Inner IP packet. [byte]
    stack : str
        Layers, outermost first, joined by ``+``: ``vxlan4+wireguard4``; options follow the name:
        ``gre_key``, ``geneve4_opt8``, ``esp4:SUITE:transport``. [text]
    mtu_bytes : array_like
        Largest packet of the path, up to which WireGuard pads. [byte]

    Returns
    -------
    numpy.ndarray
        Outer packet, the payload of Ethernet, larger than ``mtu_bytes`` where it is fragmented.
        [byte]

    Raises
    ------
    DomainError
        If ``stack`` is empty, unknown or impossible, such as Ethernet in bare Ethernet, or its
        headers do not fit.

    See Also
    --------
    netcalc.models.sizes.vpn.esp_packet_bytes : IPsec.
    netcalc.models.sizes.vpn.wireguard_packet_bytes : WireGuard.

    Notes
    -----
    Validity: no IP options; inner Ethernet frames without FCS and not padded to 60 bytes.

    Range: everywhere.

    Symbols: :math:`P_n` packet_bytes. Not in the equation: stack, mtu_bytes (the layers' headers,
    and where padding ends).

    Examples
    --------
    >>> tunnel_packet_bytes([40, 1390], stack="vxlan4+wireguard4").tolist()
    [158.0, 1500.0]

    References
    ----------
    IEEE 802.1AE; RFC 2516, 2784, 2890, 3032, 3931, 4303, 4719, 7348, 7637, 8926, 9300; 3GPP
    TS 29.281; draft-davie-stt-08; OpenVPN, Linux drivers/net/ovpn/proto.h; fastd manual, MTU
    configuration.
    """
    mtu = whole_packet("mtu_bytes", mtu_bytes)
    size = _outer_bytes(whole_packet("packet_bytes", packet_bytes), stack, mtu)
    above = size > mtu
    if np.any(above):
        pair = np.broadcast_arrays(size, mtu)
        value, most = (float(sizes.flat[np.argmax(above)]) for sizes in pair)
        note("tunnel-above-mtu", name="packet_bytes", value=value, limit=most)
    return keep_nan(size, mtu)


@model
def tunnel_wire_bytes(
    packet_bytes: ArrayLike,
    *,
    stack: str,
    mtu_bytes: ArrayLike = 1500.0,
    tag_count: ArrayLike = 0,
) -> FloatArray:
    r"""Wire size of an inner packet in a stack of tunnels over Ethernet.

    .. math:: W = \max\left(64,\; P_n + \sum_{i=1}^{n} h_i + 18 + 4 t\right) + 20

    Parameters
    ----------
    packet_bytes : array_like
        Inner IP packet. [byte]
    stack : str
        Layers, outermost first, joined by ``+``: ``vxlan4+wireguard4``; options follow the name:
        ``gre_key``, ``geneve4_opt8``, ``esp4:SUITE:transport``. [text]
    mtu_bytes : array_like
        Largest packet of the path. [byte]
    tag_count : array_like
        802.1Q or 802.1ad tags of the outer frame. [1]

    Returns
    -------
    numpy.ndarray
        Bytes on the wire; nan where the packet does not fit in one frame. [byte]

    Raises
    ------
    DomainError
        If ``stack`` is empty, unknown or impossible, such as Ethernet in bare Ethernet, or its
        headers do not fit.

    See Also
    --------
    netcalc.models.sizes.framing.ethernet_wire_bytes : Ethernet.
    netcalc.models.sizes.serial_lines.ppp_wire_bytes : PPP.
    netcalc.models.sizes.serial_lines.atm_wire_bytes : ATM.

    Notes
    -----
    Validity: as :func:`tunnel_packet_bytes`; larger packets are fragmented or dropped.

    Range: everywhere.

    Symbols: :math:`P_n` packet_bytes, :math:`t` tag_count. Not in the equation: stack, mtu_bytes
    (the layers' headers, and what fits).

    Examples
    --------
    >>> tunnel_wire_bytes([40, 1450, 1451], stack="vxlan4").tolist()
    [128.0, 1538.0, nan]

    References
    ----------
    IEEE 802.3, and as :func:`tunnel_packet_bytes`.
    """
    outer = tunnel_packet_bytes(packet_bytes, stack=stack, mtu_bytes=mtu_bytes)
    wire = ethernet_wire_bytes(outer, tag_count=tag_count)
    return np.where(outer > whole_packet("mtu_bytes", mtu_bytes), np.nan, wire)


@model
def tunnel_overhead_bytes(
    packet_bytes: ArrayLike, *, stack: str, mtu_bytes: ArrayLike = 1500.0
) -> FloatArray:
    r"""Overhead of a stack of tunnels, padding included.

    .. math:: o = P_0 - P_n

    Parameters
    ----------
    packet_bytes : array_like
        Inner IP packet. [byte]
    stack : str
        Layers, outermost first, joined by ``+``: ``vxlan4+wireguard4``; options follow the name:
        ``gre_key``, ``geneve4_opt8``, ``esp4:SUITE:transport``. [text]
    mtu_bytes : array_like
        Largest packet of the path, up to which WireGuard pads. [byte]

    Returns
    -------
    numpy.ndarray
        Overhead inside the outer MTU. [byte]

    Raises
    ------
    DomainError
        If ``stack`` is empty, unknown or impossible, such as Ethernet in bare Ethernet, or its
        headers do not fit.

    Notes
    -----
    Validity: as :func:`tunnel_packet_bytes`; only of layers that do not pad is it constant.

    Range: everywhere.

    Symbols: :math:`P_n` packet_bytes. Not in the equation: stack, mtu_bytes (which give the outer
    packet).

    Examples
    --------
    >>> float(tunnel_overhead_bytes(1400, stack="gre_key"))
    28.0

    References
    ----------
    As :func:`tunnel_packet_bytes`.
    """
    outer = tunnel_packet_bytes(packet_bytes, stack=stack, mtu_bytes=mtu_bytes)
    return outer - whole_packet("packet_bytes", packet_bytes)


@model
def tunnel_mtu_bytes(mtu_bytes: ArrayLike = 1500.0, *, stack: str) -> FloatArray:
    r"""Inner MTU of a stack of tunnels: the largest inner packet sent unfragmented.

    .. math::

        M_n = M_0 - \sum_{i=1}^{n} h_i \quad\text{(a padding layer: the highest step that fits)}

    Parameters
    ----------
    mtu_bytes : array_like
        Largest packet of the path: the payload of its Ethernet frames. [byte]
    stack : str
        Layers, outermost first, joined by ``+``: ``vxlan4+wireguard4``; options follow the name:
        ``gre_key``, ``geneve4_opt8``, ``esp4:SUITE:transport``. [text]

    Returns
    -------
    numpy.ndarray
        Inner MTU. [byte]

    Raises
    ------
    DomainError
        If ``stack`` is empty, unknown or impossible, such as Ethernet in bare Ethernet, or its
        headers do not fit.

    Notes
    -----
    Validity: as :func:`tunnel_packet_bytes`. The MTU of each WireGuard device is set to the largest
    that fits.

    Range: everywhere.

    Defaults: mtu_bytes.

    Symbols: :math:`M_0` mtu_bytes. Not in the equation: stack (the layers' headers).

    Examples
    --------
    >>> float(tunnel_mtu_bytes(1500, stack="vxlan4"))
    1450.0

    References
    ----------
    As :func:`tunnel_packet_bytes`.
    """
    return left_for_packets(_inner_bytes(mtu_bytes, stack, 0.0))


@model
def tunnel_tcp_payload_bytes(
    mtu_bytes: ArrayLike = 1500.0,
    *,
    stack: str,
    ip_version: int = 4,
    tcp_option_bytes: ArrayLike = 0.0,
) -> FloatArray:
    r"""Largest TCP payload in a stack of tunnels; without options, the MSS to announce.

    .. math:: p = M_0 - \sum_{i=1}^{n} h_i - H_{IP} - 20 - o

    Parameters
    ----------
    mtu_bytes : array_like
        Largest packet of the path: the payload of its Ethernet frames. [byte]
    stack : str
        Layers, outermost first, joined by ``+``: ``vxlan4+wireguard4``; options follow the name:
        ``gre_key``, ``geneve4_opt8``, ``esp4:SUITE:transport``. [text]
    ip_version : int
        Version of the inner packet, 4 or 6. [1]
    tcp_option_bytes : array_like
        TCP options: 12 with timestamps, at most 40. [byte]

    Returns
    -------
    numpy.ndarray
        TCP payload of a full segment. [byte]

    Raises
    ------
    DomainError
        If ``stack`` is empty, unknown or impossible, such as Ethernet in bare Ethernet, or its
        headers do not fit.

    See Also
    --------
    netcalc.models.sizes.framing.tcp_payload_bytes : Plain.

    Notes
    -----
    Validity: as :func:`tunnel_packet_bytes`.

    Range: everywhere.

    Defaults: mtu_bytes.

    Symbols: :math:`M_0` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6: 40 B), :math:`o`
    tcp_option_bytes. Not in the equation: stack (the layers' headers).

    Examples
    --------
    >>> float(tunnel_tcp_payload_bytes(1500, stack="vxlan4+wireguard4"))
    1350.0

    References
    ----------
    RFC 9293 section 3.7.1, RFC 6691, and as :func:`tunnel_packet_bytes`.
    """
    headers = tcp_ip_header_bytes(ip_version, tcp_option_bytes)
    return left_for_payload(_inner_bytes(mtu_bytes, stack, headers))


@model
def tunnel_udp_payload_bytes(
    mtu_bytes: ArrayLike = 1500.0, *, stack: str, ip_version: int = 4
) -> FloatArray:
    r"""Largest UDP payload in a stack of tunnels that is sent unfragmented.

    .. math:: p = M_0 - \sum_{i=1}^{n} h_i - H_{IP} - 8

    Parameters
    ----------
    mtu_bytes : array_like
        Largest packet of the path: the payload of its Ethernet frames. [byte]
    stack : str
        Layers, outermost first, joined by ``+``: ``vxlan4+wireguard4``; options follow the name:
        ``gre_key``, ``geneve4_opt8``, ``esp4:SUITE:transport``. [text]
    ip_version : int
        Version of the inner packet, 4 or 6. [1]

    Returns
    -------
    numpy.ndarray
        UDP payload. [byte]

    Raises
    ------
    DomainError
        If ``stack`` is empty, unknown or impossible, such as Ethernet in bare Ethernet, or its
        headers do not fit.

    Notes
    -----
    Validity: as :func:`tunnel_packet_bytes`.

    Range: everywhere.

    Defaults: mtu_bytes.

    Symbols: :math:`M_0` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6: 40 B). Not in the
    equation: stack (the layers' headers).

    Examples
    --------
    >>> float(tunnel_udp_payload_bytes(1500, stack="pppoe"))
    1464.0

    References
    ----------
    RFC 768, and as :func:`tunnel_packet_bytes`.
    """
    headers = ip_header_bytes(ip_version) + UDP_HEADER_BYTES
    return left_for_payload(_inner_bytes(mtu_bytes, stack, headers))


@model
def tunnel_goodput_bps(
    mtu_bytes: ArrayLike = 1500.0,
    *,
    stack: str,
    bandwidth_bps: ArrayLike,
    ip_version: int = 4,
    tcp_option_bytes: ArrayLike = TIMESTAMP_BYTES,
    tag_count: ArrayLike = 0,
) -> FloatArray:
    r"""Maximum TCP goodput of an Ethernet line through a stack of tunnels.

    .. math:: G = R \, \frac{M_0 - \sum_i h_i - H_{IP} - 20 - o}{\max(64,\; P_0 + 18 + 4 t) + 20}

    Parameters
    ----------
    mtu_bytes : array_like
        Largest packet of the path: the payload of its Ethernet frames. [byte]
    stack : str
        Layers, outermost first, joined by ``+``: ``vxlan4+wireguard4``; options follow the name:
        ``gre_key``, ``geneve4_opt8``, ``esp4:SUITE:transport``. [text]
    bandwidth_bps : array_like
        Rate of the line. [bit/s, Ethernet line]
    ip_version : int
        Version of the inner packet, 4 or 6. [1]
    tcp_option_bytes : array_like
        TCP options: 12 with timestamps, at most 40. [byte]
    tag_count : array_like
        802.1Q or 802.1ad tags of the outer frame. [1]

    Returns
    -------
    numpy.ndarray
        Goodput of full segments. [bit/s, TCP payload]

    Raises
    ------
    DomainError
        If ``stack`` is empty, unknown or impossible, such as Ethernet in bare Ethernet, or its
        headers do not fit.

    See Also
    --------
    netcalc.models.rates.goodput.tcp_goodput_bps : TCP, full duplex.
    netcalc.models.rates.goodput.udp_goodput_bps : UDP.
    netcalc.models.rates.goodput.half_duplex_goodput_bps : TCP, half duplex.

    Notes
    -----
    Validity: full duplex, every segment full and none fragmented, cipher and host fast enough.

    Range: everywhere.

    Defaults: mtu_bytes, tcp_option_bytes.

    Symbols: :math:`R` bandwidth_bps, :math:`M_0` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6:
    40 B), :math:`o` tcp_option_bytes, :math:`t` tag_count. Not in the equation: stack (the layers'
    headers).

    Examples
    --------
    >>> goodput = tunnel_goodput_bps(1500, stack="esp4:aes-gcm-16", bandwidth_bps=1e9)
    >>> round(float(goodput) / 1e6, 1)
    906.4

    References
    ----------
    IEEE 802.3, and as :func:`tunnel_packet_bytes`.
    """
    inner = _inner_bytes(mtu_bytes, stack, 0.0)
    payload = without_headers("mtu_bytes", inner, tcp_ip_header_bytes(ip_version, tcp_option_bytes))
    outer = _outer_bytes(inner, stack, as_float("mtu_bytes", mtu_bytes))
    wire = ethernet_wire_bytes(outer, tag_count=tag_count)
    return positive("bandwidth_bps", bandwidth_bps) * (payload / wire)


def _outer_bytes(size: FloatArray, stack: str, mtu: FloatArray) -> FloatArray:
    """Return a packet with the headers and the padding of all layers of a stack."""
    layers = stack_layers(stack)
    limits = [mtu]
    for layer in layers:
        limits.append(inside(layer, limits[-1]))
    for layer, limit in zip(reversed(layers), reversed(limits[1:]), strict=True):
        size = outside(layer, size, limit)
    return size


def _inner_bytes(mtu_bytes: ArrayLike, stack: str, headers: FloatArray | float) -> FloatArray:
    """Return what a stack of tunnels, and the headers of the packet inside it, leave of an MTU."""
    inner = whole_packet("mtu_bytes", mtu_bytes)
    fixed = 0.0  # of neighbours that only add headers, taken off together
    for layer in stack_layers(stack):
        if layer.base == "esp":
            inner = inside(layer, without_headers("mtu_bytes", inner, fixed) if fixed else inner)
            fixed = 0.0
        else:
            fixed += fixed_bytes(layer)
    return without_headers("mtu_bytes", inner, fixed + headers)
