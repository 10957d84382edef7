r"""IP fragmentation: fragments of a datagram.

Every fragment but the last carries a multiple of 8 bytes. Two algorithms differ where the space
behind the header is no such multiple: RFC 791 and Linux send a remainder that fits whole, 4.4BSD
cuts every fragment of a datagram to the multiple.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError
from netcalc.models.sizes.framing import ethernet_wire_bytes
from netcalc.models.sizes.headers import IPV4_HEADER_BYTES, MAX_PACKET_BYTES, ip_header_bytes

Algorithm: TypeAlias = Literal["rfc791", "bsd"]

IPV6_FRAGMENT_HEADER_BYTES = 8.0
_ALGORITHMS = ("rfc791", "bsd")


@model
def min_mtu_bytes(ip_version: int = 4) -> FloatArray:
    r"""Smallest MTU that IP allows on a link.

    .. math:: M_4 = 68, \quad M_6 = 1280

    Parameters
    ----------
    ip_version : int
        4 or 6. [1]

    Returns
    -------
    numpy.ndarray
        Smallest MTU. [byte]

    Notes
    -----
    Validity: of links. What every host must be able to reassemble is 576 and 1500 bytes.

    Range: everywhere.

    Symbols: Not in the equation: ip_version (the index).

    Examples
    --------
    >>> float(min_mtu_bytes(6))
    1280.0

    References
    ----------
    RFC 791 section 3.2; RFC 8200 section 5.
    """
    ip_header_bytes(ip_version)
    return np.asarray(68.0 if ip_version == 4 else 1280.0)


@model
def fragment_count(
    ip_payload_bytes: ArrayLike,
    *,
    mtu_bytes: ArrayLike = 1500,
    ip_version: int = 4,
    ip_option_bytes: ArrayLike = 0.0,
    algorithm: Algorithm = "rfc791",
) -> FloatArray:
    r"""Number of fragments of a datagram.

    .. math::

        k = 1 + \lceil (n - m) / c \rceil, \quad m = M - H_{IP} - o, \quad c = 8 \lfloor m/8 \rfloor

    Parameters
    ----------
    ip_payload_bytes : array_like
        IP payload: of UDP, the user data and a header of 8. [byte]
    mtu_bytes : array_like
        Largest IP packet of the link. [byte]
    ip_version : int
        4 or 6. [1]
    ip_option_bytes : array_like
        IPv4 options, copied into every fragment, or IPv6 extension headers. [byte]
    algorithm : {'rfc791', 'bsd'}
        Whether a remainder that fits is sent whole, or limited to a multiple of 8 like the others.
        [text]

    Returns
    -------
    numpy.ndarray
        Fragments; 1 for a datagram that fits. [1]

    Raises
    ------
    DomainError
        If the packet exceeds 65,535 bytes.

    Notes
    -----
    Validity: exact; for ``bsd``, :math:`k = \lceil n / c \rceil` once the datagram does not fit.
    IPv6 is fragmented at the source only.

    Range: everywhere.

    Symbols: :math:`n` ip_payload_bytes, :math:`M` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6:
    48 B), :math:`o` ip_option_bytes. Not in the equation: algorithm (which says whether the last
    fragment may be longer).

    Examples
    --------
    >>> fragment_count([1480, 1481, 8200]).tolist()
    [1.0, 2.0, 6.0]

    References
    ----------
    RFC 791 section 3.2; RFC 8200 section 4.5; Stevens, TCP/IP Illustrated vol. 2, section 10.6.
    """
    checks.choice("algorithm", algorithm, _ALGORITHMS)
    options = _options(ip_option_bytes, ip_version)
    size = _datagram_bytes(ip_payload_bytes, ip_version, options)
    fits, last_fits, cut = _fragment_capacities(mtu_bytes, ip_version, options)
    last = cut if algorithm == "bsd" else last_fits
    count = np.ceil((size - last) / cut) + 1.0
    return np.where(size <= fits, 1.0, count)


@model
def fragments_bytes(
    ip_payload_bytes: int,
    *,
    mtu_bytes: int = 1500,
    ip_version: int = 4,
    ip_option_bytes: float = 0.0,
    algorithm: Algorithm = "rfc791",
) -> FloatArray:
    r"""IP payload of each fragment of one datagram, in order.

    .. math:: n = c + c + \dots + r, \quad c = 8 \lfloor (M - H_{IP} - o) / 8 \rfloor

    Parameters
    ----------
    ip_payload_bytes : int
        IP payload: of UDP, the user data and a header of 8. [byte]
    mtu_bytes : int
        Largest IP packet of the link. [byte]
    ip_version : int
        4 or 6. [1]
    ip_option_bytes : float
        IPv4 options, copied into every fragment, or IPv6 extension headers. [byte]
    algorithm : {'rfc791', 'bsd'}
        Whether a remainder that fits is sent whole, or limited to a multiple of 8 like the others.
        [text]

    Returns
    -------
    numpy.ndarray
        Payload of each fragment. [byte]

    Raises
    ------
    DomainError
        If a size is not finite, or the packet exceeds 65,535 bytes.

    Notes
    -----
    Validity: exact. One datagram at a time.

    Range: everywhere.

    Symbols: :math:`n` ip_payload_bytes, :math:`M` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6:
    48 B), :math:`o` ip_option_bytes. Not in the equation: algorithm (which says whether the last
    fragment may be longer).

    Examples
    --------
    >>> fragments_bytes(3028, mtu_bytes=1536).tolist()
    [1512.0, 1516.0]
    >>> fragments_bytes(3028, mtu_bytes=1536, algorithm="bsd").tolist()
    [1512.0, 1512.0, 4.0]

    References
    ----------
    RFC 791 section 3.2; RFC 8200 section 4.5; Stevens, TCP/IP Illustrated vol. 2, section 10.6.
    """
    size = _one_number("ip_payload_bytes", ip_payload_bytes)
    mtu = _one_number("mtu_bytes", mtu_bytes)
    options = _one_number("ip_option_bytes", ip_option_bytes)
    count = fragment_count(
        size, mtu_bytes=mtu, ip_version=ip_version, ip_option_bytes=options, algorithm=algorithm
    )
    _, _, cut = _fragment_capacities(mtu, ip_version, _options(options, ip_version))
    sizes = np.full(int(count), float(cut))
    sizes[-1] = size - (int(count) - 1) * float(cut)
    return sizes


def _one_number(name: str, value: ArrayLike) -> float:
    number = checks.scalar(name, checks.as_float(name, value))
    if not np.isfinite(number):
        raise DomainError("not-finite", name, str(number))
    return number


@model
def fragmented_bytes(
    ip_payload_bytes: ArrayLike,
    *,
    mtu_bytes: ArrayLike = 1500,
    ip_version: int = 4,
    ip_option_bytes: ArrayLike = 0.0,
    algorithm: Algorithm = "rfc791",
) -> FloatArray:
    r"""Total size of all fragments of a datagram, IP headers included.

    .. math::

        P = n + k (H_{IP} + o), \quad k = 1 + \lceil (n - m) / c \rceil, \quad m = M - H_{IP} - o,
        \quad c = 8 \lfloor m/8 \rfloor

    Parameters
    ----------
    ip_payload_bytes : array_like
        IP payload: of UDP, the user data and a header of 8. [byte]
    mtu_bytes : array_like
        Largest IP packet of the link. [byte]
    ip_version : int
        4 or 6. [1]
    ip_option_bytes : array_like
        IPv4 options, copied into every fragment, or IPv6 extension headers. [byte]
    algorithm : {'rfc791', 'bsd'}
        Whether a remainder that fits is sent whole, or limited to a multiple of 8 like the others.
        [text]

    Returns
    -------
    numpy.ndarray
        Sum of the IP packets. [byte]

    Raises
    ------
    DomainError
        If the packet exceeds 65,535 bytes.

    Notes
    -----
    Validity: exact; an IPv6 fragment has a fragment header of 8 bytes, an unfragmented datagram has
    none.

    Range: everywhere.

    Symbols: :math:`n` ip_payload_bytes, :math:`M` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6:
    48 B), :math:`o` ip_option_bytes. Not in the equation: algorithm (in the number of fragments).

    Examples
    --------
    >>> fragmented_bytes([1480, 1481]).tolist()
    [1500.0, 1521.0]

    References
    ----------
    RFC 791 section 3.2; RFC 8200 section 4.5.
    """
    count = fragment_count(
        ip_payload_bytes,
        mtu_bytes=mtu_bytes,
        ip_version=ip_version,
        ip_option_bytes=ip_option_bytes,
        algorithm=algorithm,
    )
    header = ip_header_bytes(ip_version) + _options(ip_option_bytes, ip_version)
    size = checks.whole("ip_payload_bytes", ip_payload_bytes)
    if ip_version == 4:
        return size + count * header
    with_fragment_header = header + IPV6_FRAGMENT_HEADER_BYTES
    return size + np.where(count == 1.0, header, count * with_fragment_header)


@model
def fragmented_wire_bytes(
    ip_payload_bytes: ArrayLike,
    *,
    mtu_bytes: ArrayLike = 1500,
    ip_version: int = 4,
    ip_option_bytes: ArrayLike = 0.0,
    algorithm: Algorithm = "rfc791",
    tag_count: ArrayLike = 0,
) -> FloatArray:
    r"""Wire size of all fragments of a datagram on Ethernet.

    .. math::

        W = (k - 1) \, W(c + H) + W(n - (k - 1) c + H), \quad c = 8 \lfloor (M - H) / 8 \rfloor,
        \quad H = H_{IP} + o

    Parameters
    ----------
    ip_payload_bytes : array_like
        IP payload: of UDP, the user data and a header of 8. [byte]
    mtu_bytes : array_like
        Largest IP packet of the link. [byte]
    ip_version : int
        4 or 6. [1]
    ip_option_bytes : array_like
        IPv4 options, copied into every fragment, or IPv6 extension headers. [byte]
    algorithm : {'rfc791', 'bsd'}
        Whether a remainder that fits is sent whole, or limited to a multiple of 8 like the others.
        [text]
    tag_count : array_like
        802.1Q or 802.1ad tags. [1]

    Returns
    -------
    numpy.ndarray
        Bytes on the wire, padding of a small last fragment included. [byte]

    Raises
    ------
    DomainError
        If the packet exceeds 65,535 bytes.

    Notes
    -----
    Validity: exact on average, as :func:`netcalc.models.sizes.framing.ethernet_wire_bytes`.

    Range: everywhere.

    Symbols: :math:`n` ip_payload_bytes, :math:`M` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6:
    48 B), :math:`o` ip_option_bytes. Not in the equation: algorithm, tag_count (in the number of
    fragments k and in the frame of each, W).

    Examples
    --------
    >>> fragmented_wire_bytes([1480, 1481]).tolist()
    [1538.0, 1622.0]

    References
    ----------
    RFC 791 section 3.2; IEEE 802.3 clause 3.
    """
    count = fragment_count(
        ip_payload_bytes,
        mtu_bytes=mtu_bytes,
        ip_version=ip_version,
        ip_option_bytes=ip_option_bytes,
        algorithm=algorithm,
    )
    options = _options(ip_option_bytes, ip_version)
    _, _, cut = _fragment_capacities(mtu_bytes, ip_version, options)
    more = IPV6_FRAGMENT_HEADER_BYTES if ip_version == 6 else 0.0
    header = ip_header_bytes(ip_version) + options + np.where(count > 1.0, more, 0.0)
    last = checks.whole("ip_payload_bytes", ip_payload_bytes) - (count - 1.0) * cut
    full = np.where(count > 1.0, cut + header, header)  # of one packet none is full
    full_wire = ethernet_wire_bytes(full, tag_count=tag_count)
    return (count - 1.0) * full_wire + ethernet_wire_bytes(last + header, tag_count=tag_count)


def _datagram_bytes(
    ip_payload_bytes: ArrayLike, ip_version: int, option_bytes: FloatArray
) -> FloatArray:
    size = checks.whole("ip_payload_bytes", ip_payload_bytes)
    own = ip_header_bytes(ip_version) if ip_version == 4 else 0.0
    over = np.asarray(size > MAX_PACKET_BYTES - own - option_bytes)
    if over.any():
        first = float(np.broadcast_to(size, over.shape)[over].flat[0])
        raise DomainError("packet-too-long", "ip_payload_bytes", first, high=MAX_PACKET_BYTES)
    return size


def _options(ip_option_bytes: ArrayLike, ip_version: int) -> FloatArray:
    most = 40.0 if ip_header_bytes(ip_version) == IPV4_HEADER_BYTES else 1024.0
    return checks.between("ip_option_bytes", ip_option_bytes, 0.0, most)


def _fragment_capacities(
    mtu_bytes: ArrayLike, ip_version: int, option_bytes: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what fits unfragmented, the payload of a last fragment, and of the others."""
    least = float(min_mtu_bytes(ip_version))
    mtu = checks.whole(
        "mtu_bytes", checks.at_least("mtu_bytes", mtu_bytes, least)
    )  # Linux's lo has 65,536
    fits = mtu - (ip_header_bytes(ip_version) + option_bytes)
    free = fits - IPV6_FRAGMENT_HEADER_BYTES if ip_version == 6 else fits
    return fits, free, np.floor(free / 8.0) * 8.0
