r"""Voice over IP: the bandwidth of a call, headers included.

Packets are small and regular, so headers are as large as the voice payload: longer packets take
less bandwidth and add delay.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.models.sizes.headers import FCS_BYTES, MAC_HEADER_BYTES, MIN_FRAME_BYTES

_WHOLE_BYTES = 1e-9
"""Share of a number of bytes by which rounding may have changed it."""

RTP_UDP_IPV4_BYTES = 40.0
"""RTP (12), UDP (8) and IPv4 (20). [byte]"""

LinkLayer: TypeAlias = Literal["ethernet", "frame", "ppp", "ip"]

LINK_LAYERS: dict[str, float] = {"ethernet": 38.0, "frame": 18.0, "ppp": 7.0, "ip": 0.0}
"""Bytes around a packet by what is counted: Ethernet with preamble and gap, its frames with FCS,
PPP, and nothing. PPP is multilink PPP or FRF.12, a header of 6 and a flag, as in Cisco's table of
the bandwidth of calls. [byte]"""


@model
def rtp_header_bytes(csrc_count: ArrayLike = 0, *, extension_bytes: ArrayLike = 0.0) -> FloatArray:
    r"""RTP header with contributing sources and an extension.

    .. math:: h = 12 + 4 n + e

    Parameters
    ----------
    csrc_count : array_like
        Contributing sources, 0 to 15. [1]
    extension_bytes : array_like
        Extension with its own header of 4. [byte]

    Returns
    -------
    numpy.ndarray
        RTP header. [byte]

    Notes
    -----
    Validity: RTP; secure RTP adds a tag of 4 or 10 bytes behind the payload.

    Range: everywhere.

    Symbols: :math:`n` csrc_count, :math:`e` extension_bytes.

    Examples
    --------
    A call of two, and a conference in which a mixer names three speakers:

    >>> rtp_header_bytes([0, 3]).tolist()
    [12.0, 24.0]

    References
    ----------
    RFC 3550 section 5.1.
    """
    sources = checks.whole("csrc_count", checks.between("csrc_count", csrc_count, 0.0, 15.0))
    return 4.0 * sources + (12.0 + checks.non_negative("extension_bytes", extension_bytes))


@model
def codec_payload_bytes(codec_bps: ArrayLike, *, interval_s: ArrayLike = 0.02) -> FloatArray:
    r"""Voice payload of a packet.

    .. math:: p = r \, T / 8

    Parameters
    ----------
    codec_bps : array_like
        Rate of the codec: 64 kbit/s of G.711, 8 kbit/s of G.729. [bit/s, codec]
    interval_s : array_like
        Packetization interval: voice time per packet. [s]

    Returns
    -------
    numpy.ndarray
        Voice bytes in a packet. [byte]

    Notes
    -----
    Validity: codecs of a constant rate, whole frames of the codec in a packet. A result that is not
    whole bytes comes with a note: each frame of a codec fills its last byte.

    Range: everywhere.

    Symbols: :math:`r` codec_bps, :math:`T` interval_s.

    Examples
    --------
    >>> codec_payload_bytes([64e3, 8e3]).tolist()
    [160.0, 20.0]

    References
    ----------
    ITU-T G.711, G.729; RFC 3551.
    """
    carried = (
        checks.positive("codec_bps", codec_bps) * checks.positive("interval_s", interval_s) / 8.0
    )
    broken = np.abs(carried - np.round(carried)) > _WHOLE_BYTES * carried
    if np.any(broken):
        least = float(np.min(carried, where=broken, initial=np.inf))
        checks.note(
            "voice-not-whole-bytes", carried=least, whole=float(np.ceil(least)), rank=-least
        )
    return carried


@model
def voip_bandwidth_bps(
    payload_bytes: ArrayLike,
    *,
    interval_s: ArrayLike = 0.02,
    header_bytes: ArrayLike = RTP_UDP_IPV4_BYTES,
    link_layer: LinkLayer = "ethernet",
    link_bytes: ArrayLike | None = None,
    concurrent_count: ArrayLike = 1.0,
) -> FloatArray:
    r"""Bandwidth of one direction of calls, on Ethernet unless another link layer is named.

    .. math:: R = n \frac{8 (p + h + l)}{T}

    Parameters
    ----------
    payload_bytes : array_like
        Voice in a packet: 160 of G.711, 20 of G.729 in 20 ms. [byte]
    interval_s : array_like
        Packetization interval: voice time per packet. [s]
    header_bytes : array_like
        RTP, UDP and IP: 40, of IPv6 60, compressed 2 or 4. [byte]
    link_layer : {'ethernet', 'frame', 'ppp', 'ip'}
        What is counted: Ethernet with preamble and gap, its frames with FCS alone, PPP, or IP
        packets. [text]
    link_bytes : array_like, optional
        Bytes of another link around a packet, without padding; by default 38 of Ethernet with
        preamble and gap, 18 of its frames, 7 of PPP. [byte]
    concurrent_count : array_like
        Calls at the same time. [1]

    Returns
    -------
    numpy.ndarray
        Rate of one direction. [bit/s, layer of link_layer or link_bytes]

    Notes
    -----
    Validity: no silence suppression, no RTCP (5 % by rule). Packets below 46 bytes are padded in
    Ethernet's frames.

    Typical: 95.2 kbit/s for G.711 and 39.2 kbit/s for G.729 on Ethernet, 20 ms per packet; 87.2
    and 31.2 kbit/s without preamble and gap, as calculators of vendors count.

    Range: everywhere.

    Defaults: link_layer.

    Symbols: :math:`p` payload_bytes, :math:`T` interval_s, :math:`h` header_bytes, :math:`l`
    link_bytes, :math:`n` concurrent_count. Not in the equation: link_layer (which says the bytes of
    the link).

    Examples
    --------
    >>> float(voip_bandwidth_bps(160)), float(voip_bandwidth_bps(20))
    (95200.0, 39200.0)
    >>> voip_bandwidth_bps([160, 20], link_layer="frame").tolist()
    [87200.0, 31200.0]

    References
    ----------
    RFC 3550; Cisco, Voice over IP - per call bandwidth consumption (87.2 and 31.2 kbit/s).
    """
    packet = checks.non_negative("payload_bytes", payload_bytes) + checks.non_negative(
        "header_bytes", header_bytes
    )
    size = _with_link(packet, link_layer, link_bytes)
    calls = checks.whole("concurrent_count", concurrent_count)
    return calls * (size * (8.0 / checks.positive("interval_s", interval_s)))


@model
def voip_call_count(
    bandwidth_bps: ArrayLike,
    *,
    payload_bytes: ArrayLike = 160.0,
    interval_s: ArrayLike = 0.02,
    header_bytes: ArrayLike = RTP_UDP_IPV4_BYTES,
    link_layer: LinkLayer = "ethernet",
    link_bytes: ArrayLike | None = None,
) -> FloatArray:
    r"""Number of calls that a link carries.

    .. math:: n = \left\lfloor \frac{B \, T}{8 (p + h + l)} \right\rfloor

    Parameters
    ----------
    bandwidth_bps : array_like
        Bandwidth available for voice in one direction. [bit/s, layer of link_layer or link_bytes]
    payload_bytes : array_like
        Voice in a packet: 160 of G.711, 20 of G.729 in 20 ms. [byte]
    interval_s : array_like
        Packetization interval: voice time per packet. [s]
    header_bytes : array_like
        RTP, UDP and IP: 40, of IPv6 60, compressed 2 or 4. [byte]
    link_layer : {'ethernet', 'frame', 'ppp', 'ip'}
        What is counted: Ethernet with preamble and gap, its frames with FCS alone, PPP, or IP
        packets. [text]
    link_bytes : array_like, optional
        Bytes of another link around a packet, without padding; by default 38 of Ethernet with
        preamble and gap, 18 of its frames, 7 of PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Whole calls; inf where a call takes no bandwidth. [1]

    Notes
    -----
    Validity: as :func:`voip_bandwidth_bps`, on a full-duplex link.

    Range: everywhere.

    Defaults: link_layer.

    Symbols: :math:`B` bandwidth_bps, :math:`p` payload_bytes, :math:`T` interval_s, :math:`h`
    header_bytes, :math:`l` link_bytes. Not in the equation: link_layer (which says the bytes of the
    link).

    Examples
    --------
    G.711 and G.729 on Ethernet of 10 Mbit/s, and G.729 in the channels of a T1:

    >>> voip_call_count(10e6, payload_bytes=[160, 20]).tolist()
    [105.0, 255.0]
    >>> float(voip_call_count(1.536e6, payload_bytes=20, link_layer="ppp"))
    57.0

    References
    ----------
    :func:`voip_bandwidth_bps`, solved for the number of calls.
    """
    each = voip_bandwidth_bps(
        payload_bytes,
        interval_s=interval_s,
        header_bytes=header_bytes,
        link_layer=link_layer,
        link_bytes=link_bytes,
    )
    return checks.rounded_down(checks.positive("bandwidth_bps", bandwidth_bps) / each)


def _with_link(
    packet_bytes: FloatArray, link_layer: str, link_bytes: ArrayLike | None
) -> FloatArray:
    """Return a packet with its link's bytes, padded in a frame of Ethernet."""
    layer = checks.choice("link_layer", link_layer, tuple(LINK_LAYERS))
    if link_bytes is not None:
        return packet_bytes + checks.non_negative("link_bytes", link_bytes)
    if layer in ("ethernet", "frame"):
        packet_bytes = np.maximum(packet_bytes, MIN_FRAME_BYTES - MAC_HEADER_BYTES - FCS_BYTES)
    return packet_bytes + LINK_LAYERS[layer]
