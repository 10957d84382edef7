r"""Memory buffers of BSD: how many a send takes, and how often it calls the protocol.

4.4BSD copies user data into mbufs of about a hundred bytes, and into a cluster where
MINCLSIZE bytes or more remain. A datagram is passed on whole; a stream is
passed on mbuf by mbuf, so that a write of 200 bytes becomes two calls and two segments.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray, choice, flag, keep_nan, model, positive, whole
from netcalc.errors import DomainError

Comparison: TypeAlias = Literal[">=", ">"]


class MbufSystem(NamedTuple):
    """The sizes of one system's buffers, in bytes."""

    msize_bytes: int
    mlen_bytes: int
    mhlen_bytes: int
    minclsize_bytes: int
    mcl_bytes: int
    max_linkhdr_bytes: int
    max_hdr_bytes: int
    loopback_mtu_bytes: int


BSD44 = MbufSystem(128, 108, 100, 208, 2048, 16, 56, 1536)
"""4.4BSD with pointers of 32 bits, clusters as in TCP/IP Illustrated vol. 2: an mbuf of 128 less
headers of 20 and, in the first, 8 more; MINCLSIZE is both together; MAX_HDR is 16 for the link and
40 for IPv4 and TCP."""

BSD44_LITE2_I386 = BSD44._replace(mcl_bytes=1024)
"""4.4BSD-Lite2 on the i386 (sys/i386/include/param.h)."""

FREEBSD_LP64 = MbufSystem(256, 224, 168, 169, 2048, 16, 76, 16384)
"""FreeBSD with pointers of 64 bits: an mbuf of 256 less headers of 32 and, in the first, 56 more;
MINCLSIZE is MHLEN + 1 (sys/mbuf.h). MAX_HDR is 16 for the link and 60 for IPv6 and TCP
(kern/uipc_domain.c, netinet/tcp_subr.c); a driver that asks for more raises it."""

MAX_PACKET_BYTES = 65_535
"""Largest IPv4 packet. [byte]"""


class MbufCount(NamedTuple):
    """Mbufs, those that own a cluster or hold a header included, and clusters."""

    mbufs: FloatArray
    clusters: FloatArray


class StreamCount(NamedTuple):
    """Calls of the protocol's output routine, and the mbufs and clusters of the data."""

    calls: FloatArray
    mbufs: FloatArray
    clusters: FloatArray


@model
def datagram_mbufs(
    payload_bytes: ArrayLike,
    *,
    header_bytes: ArrayLike = 28,
    inner_header_bytes: ArrayLike = 0,
    mlen_bytes: ArrayLike = BSD44.mlen_bytes,
    mhlen_bytes: ArrayLike = BSD44.mhlen_bytes,
    minclsize_bytes: ArrayLike = BSD44.minclsize_bytes,
    mcl_bytes: ArrayLike = BSD44.mcl_bytes,
    max_hdr_bytes: ArrayLike = BSD44.max_hdr_bytes,
    align_bytes: ArrayLike = 4,
    compare: Comparison = ">=",
) -> MbufCount:
    r"""Mbufs and clusters of a datagram with its headers, in 4.4BSD.

    .. math::

        n_{short} = 1 + \left\lceil \frac{d + i - MHLEN}{MLEN} \right\rceil + \left[g \lfloor (MHLEN
        - d - i) / g \rfloor < h\right], \quad n_{long} = 2 + \left\lceil \frac{d + i - (MCL -
        x)}{MCL} \right\rceil \text{ if } d + i \ge MINCL

    One mbuf of MHLEN, then of MLEN; from MINCLSIZE on a cluster, the first with space for
    MAX_HDR that the headers do not use. The headers go in front of a lone short mbuf if they
    fit, else into one more.

    Parameters
    ----------
    payload_bytes : array_like
        User data. [byte]
    header_bytes : array_like
        Headers added by the protocol: 28 UDP and IP, 20 IP alone. [byte]
    inner_header_bytes : array_like
        Headers that the program makes and the socket takes for data: 8 for ping. [byte]
    mlen_bytes : array_like
        Data of an mbuf. [byte]
    mhlen_bytes : array_like
        Data of the first mbuf of a packet. [byte]
    minclsize_bytes : array_like
        Size that asks for a cluster: 208, or 101 in Stevens' modified kernel. [byte]
    mcl_bytes : array_like
        Data of a cluster: 2048, or 1024 in Lite2 for the i386. [byte]
    max_hdr_bytes : array_like
        Space left free in the first cluster. [byte]
    align_bytes : array_like
        Alignment of the data in a short mbuf: 4, or 8 with pointers of 64 bits. [byte]
    compare : {'>=', '>'}
        Whether MINCLSIZE itself takes a cluster; the code has ``>=``, the book says "exceeds".
        [text]

    Returns
    -------
    MbufCount
        ``mbufs``, the one of the headers included, and ``clusters``. [1]

    Raises
    ------
    DomainError
        If the packet exceeds 65,535 bytes, or ``minclsize_bytes`` exceeds ``mcl_bytes``.

    See Also
    --------
    stream_mbufs : 4.4BSD, TCP.
    freebsd_mbufs : FreeBSD since 7.0.

    Notes
    -----
    Validity: a socket buffer that holds all of it; the link header is not counted.

    Range: everywhere.

    Symbols: :math:`d` payload_bytes, :math:`h` header_bytes, :math:`i` inner_header_bytes,
    :math:`MLEN` mlen_bytes, :math:`MHLEN` mhlen_bytes, :math:`MINCL` minclsize_bytes, :math:`MCL`
    mcl_bytes, :math:`x` max_hdr_bytes, :math:`g` align_bytes. Not in the equation: compare (a
    cluster at the limit, or above it; a rest below it fills small ones).

    Examples
    --------
    The sizes of the loopback measurement, and 200 bytes with MINCLSIZE at 101:

    >>> sizes = datagram_mbufs([0, 100, 200, 300])
    >>> sizes.mbufs.tolist(), sizes.clusters.tolist()
    ([1.0, 2.0, 3.0, 2.0], [0.0, 0.0, 0.0, 1.0])
    >>> float(datagram_mbufs(200, minclsize_bytes=101).clusters)
    1.0

    References
    ----------
    Wright and Stevens, TCP/IP Illustrated vol. 2, 2.6 and 16.7; Stevens, vol. 3, A.2;
    4.4BSD-Lite2, kern/uipc_socket.c.
    """
    inner = whole("inner_header_bytes", inner_header_bytes)
    header = whole("header_bytes", header_bytes)
    data = whole("payload_bytes", payload_bytes) + inner
    if (data + header > MAX_PACKET_BYTES).any():
        raise DomainError(
            "packet-too-long",
            "payload_bytes",
            float(np.nanmax(data - inner)),
            high=MAX_PACKET_BYTES,
        )
    mlen, mhlen = whole("mlen_bytes", mlen_bytes, 1), whole("mhlen_bytes", mhlen_bytes, 1)
    mincl, mcl = _cluster_sizes(minclsize_bytes, mcl_bytes)
    align = whole("align_bytes", align_bytes, 1)
    first = mcl - whole("max_hdr_bytes", max_hdr_bytes)

    # Short: mbufs only, and space in front of a lone one that is not full.
    free = np.where(data < mhlen, np.floor((mhlen - data) / align) * align, 0.0)
    short = 1 + np.ceil(np.maximum(data - mhlen, 0) / mlen) + (free < header)
    # Long: the mbuf of the headers, a cluster, and the remainder.
    left = np.maximum(data - first, 0)
    rest = np.mod(left, mcl)
    rest_cluster = _takes_cluster(rest, mincl, compare)
    clusters = 1 + np.floor(left / mcl) + rest_cluster
    long = 1 + clusters + np.where(rest_cluster, 0, np.ceil(rest / mlen))

    is_long = _takes_cluster(data, mincl, compare)
    nothing = 0 * (data + header + mlen + mhlen + align + first + mincl)  # carries nan and shape
    return MbufCount(
        np.where(is_long, long, short) + nothing, np.where(is_long, clusters, 0.0) + nothing
    )


@model
def stream_mbufs(
    payload_bytes: ArrayLike,
    *,
    mhlen_bytes: ArrayLike = BSD44.mhlen_bytes,
    minclsize_bytes: ArrayLike = BSD44.minclsize_bytes,
    mcl_bytes: ArrayLike = BSD44.mcl_bytes,
    compare: Comparison = ">=",
) -> StreamCount:
    r"""Protocol calls, mbufs and clusters of a write to a TCP socket, in 4.4BSD.

    .. math::
       n = \left\lfloor \frac{d}{MCL} \right\rfloor + \begin{cases}
       1 & r \ge MINCLSIZE \\ \lceil r / MHLEN \rceil & r < MINCLSIZE
       \end{cases}, \quad r = d \bmod MCL

    Parameters
    ----------
    payload_bytes : array_like
        Size of the write. [byte]
    mhlen_bytes : array_like
        Data of the first mbuf of a packet; each call begins a new one. [byte]
    minclsize_bytes : array_like
        Size that asks for a cluster. [byte]
    mcl_bytes : array_like
        Data of a cluster. [byte]
    compare : {'>=', '>'}
        Whether MINCLSIZE itself takes a cluster. [text]

    Returns
    -------
    StreamCount
        ``calls`` of the output routine, one for each mbuf, ``mbufs`` and ``clusters``. [1]

    Raises
    ------
    DomainError
        If ``minclsize_bytes`` exceeds ``mcl_bytes``.

    See Also
    --------
    datagram_mbufs : 4.4BSD, UDP.
    freebsd_mbufs : FreeBSD since 7.0.

    Notes
    -----
    Validity: a socket buffer that holds all of it.

    Range: everywhere.

    Symbols: :math:`d` payload_bytes, :math:`MHLEN` mhlen_bytes, :math:`MINCLSIZE` minclsize_bytes,
    :math:`MCL` mcl_bytes. Not in the equation: compare (whether a cluster is taken at the limit, or
    above it).

    Examples
    --------
    >>> stream_mbufs([100, 200, 207, 208]).calls.tolist()
    [1.0, 2.0, 3.0, 1.0]
    >>> stream_mbufs([100, 200, 207, 208], minclsize_bytes=101).calls.tolist()
    [1.0, 1.0, 1.0, 1.0]

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.2; 4.4BSD-Lite2, kern/uipc_socket.c.
    """
    data = whole("payload_bytes", payload_bytes)
    mhlen = whole("mhlen_bytes", mhlen_bytes, 1)
    mincl, mcl = _cluster_sizes(minclsize_bytes, mcl_bytes)
    rest = np.mod(data, mcl)
    rest_cluster = _takes_cluster(rest, mincl, compare)
    clusters = np.floor(data / mcl) + rest_cluster
    calls = clusters + np.where(rest_cluster, 0, np.ceil(rest / mhlen)) + 0 * (mincl + mhlen)
    return StreamCount(calls, calls, clusters + 0 * calls)


@model
def stream_segments(
    payload_bytes: ArrayLike,
    *,
    mss_bytes: ArrayLike = 1448,
    nodelay: bool = False,
    mhlen_bytes: ArrayLike = BSD44.mhlen_bytes,
    minclsize_bytes: ArrayLike = BSD44.minclsize_bytes,
    mcl_bytes: ArrayLike = BSD44.mcl_bytes,
    compare: Comparison = ">=",
) -> FloatArray:
    r"""TCP segments of one write on an idle connection, in 4.4BSD.

    .. math::

        n = \lceil p_1 / M \rceil + \lceil (d - p_1) / M \rceil, \quad p_1 = \min\left(d,
        \begin{cases} MCL & d \ge MINCLSIZE \\ MHLEN & d < MINCLSIZE \end{cases}\right)

    The piece of the first call is sent at once, as nothing is unacknowledged; what the further
    calls bring is collected until the acknowledgement.

    Parameters
    ----------
    payload_bytes : array_like
        Size of the write. [byte]
    mss_bytes : array_like
        Payload of a full segment. [byte]
    nodelay : bool
        TCP_NODELAY is set: the piece of every call is sent by itself. [bool]
    mhlen_bytes : array_like
        Data of the first mbuf of a packet. [byte]
    minclsize_bytes : array_like
        Size that asks for a cluster. [byte]
    mcl_bytes : array_like
        Data of a cluster. [byte]
    compare : {'>=', '>'}
        Whether MINCLSIZE itself takes a cluster. [text]

    Returns
    -------
    numpy.ndarray
        Segments with data. [1]

    Raises
    ------
    DomainError
        If ``minclsize_bytes`` exceeds ``mcl_bytes``.

    Notes
    -----
    Validity: a window that holds all of it; no acknowledgement between the calls.

    Range: everywhere.

    Symbols: :math:`d` payload_bytes, :math:`M` mss_bytes, :math:`MHLEN` mhlen_bytes,
    :math:`MINCLSIZE` minclsize_bytes, :math:`MCL` mcl_bytes. Not in the equation: nodelay (every
    call by itself), compare (a cluster at the limit, or above it).

    Examples
    --------
    A Web request of 200 bytes, as it was and with MINCLSIZE at 101:

    >>> float(stream_segments(200)), float(stream_segments(200, minclsize_bytes=101))
    (2.0, 1.0)

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.2 (two segments of 100 bytes seen on the wire).
    """
    data = whole("payload_bytes", payload_bytes)
    mss = positive("mss_bytes", mss_bytes)
    mhlen = whole("mhlen_bytes", mhlen_bytes, 1)
    mincl, mcl = _cluster_sizes(minclsize_bytes, mcl_bytes)
    if not flag("nodelay", nodelay):
        piece = np.where(_takes_cluster(data, mincl, compare), mcl, mhlen)
        first = np.minimum(data, piece) + 0 * (mincl + mcl + mhlen)
        return np.ceil(first / mss) + np.ceil((data - first) / mss)
    rest = np.mod(data, mcl)
    short = np.floor(rest / mhlen) * np.ceil(mhlen / mss) + np.ceil(np.mod(rest, mhlen) / mss)
    last = np.where(_takes_cluster(rest, mincl, compare), np.ceil(rest / mss), short)
    return np.floor(data / mcl) * np.ceil(mcl / mss) + last + 0 * (mincl + mhlen)


@model
def segment_mbufs(
    payload_bytes: ArrayLike,
    *,
    header_bytes: ArrayLike = 40,
    max_linkhdr_bytes: ArrayLike = BSD44.max_linkhdr_bytes,
    mhlen_bytes: ArrayLike = BSD44.mhlen_bytes,
    data_mbuf_count: ArrayLike = 1,
) -> FloatArray:
    r"""Mbufs of an outgoing TCP segment, in 4.4BSD.

    .. math:: n = 1 + k \, [d > MHLEN - h - h_{link}]

    Parameters
    ----------
    payload_bytes : array_like
        Data of the segment. [byte]
    header_bytes : array_like
        IP and TCP headers. [byte]
    max_linkhdr_bytes : array_like
        Space for the link header. [byte]
    mhlen_bytes : array_like
        Data of the first mbuf of a packet. [byte]
    data_mbuf_count : array_like
        Mbufs or clusters of the socket buffer that the data lies in. [1]

    Returns
    -------
    numpy.ndarray
        Mbufs: one where the data is copied behind the headers, else one besides the mbufs of the
        data. [1]

    Notes
    -----
    Validity: headers of one mbuf.

    Range: everywhere.

    Symbols: :math:`d` payload_bytes, :math:`h` header_bytes, :math:`h_{link}` max_linkhdr_bytes,
    :math:`MHLEN` mhlen_bytes, :math:`k` data_mbuf_count.

    Examples
    --------
    >>> segment_mbufs([0, 44, 45]).tolist()
    [1.0, 1.0, 2.0]

    References
    ----------
    Wright and Stevens, TCP/IP Illustrated vol. 2, 26.6 (tcp_output).
    """
    data = whole("payload_bytes", payload_bytes)
    taken = whole("header_bytes", header_bytes) + whole("max_linkhdr_bytes", max_linkhdr_bytes)
    free = whole("mhlen_bytes", mhlen_bytes, 1) - taken
    behind = whole("data_mbuf_count", data_mbuf_count, 1)
    # As a product: half the time of a choice between two numbers.
    count = np.asarray((data > free) * behind)
    count += 1.0
    return keep_nan(count, data, free)


@model
def freebsd_mbufs(
    payload_bytes: ArrayLike,
    *,
    minclsize_bytes: ArrayLike = FREEBSD_LP64.minclsize_bytes,
    mcl_bytes: ArrayLike = FREEBSD_LP64.mcl_bytes,
    page_bytes: ArrayLike = 4096,
    max_hdr_bytes: ArrayLike = 0,
) -> StreamCount:
    r"""Protocol calls, mbufs and clusters of a send in FreeBSD since 7.0: one chain, one call.

    .. math:: n = \left\lceil \frac{d + x - MCL}{P} \right\rceil + [r > 0]

    Clusters of a page while more than MCLBYTES are left, then one of MCLBYTES from MINCLSIZE
    on, or an mbuf.

    Parameters
    ----------
    payload_bytes : array_like
        Data of the send. [byte]
    minclsize_bytes : array_like
        Size that asks for a cluster. [byte]
    mcl_bytes : array_like
        Data of a small cluster. [byte]
    page_bytes : array_like
        Data of a large cluster. [byte]
    max_hdr_bytes : array_like
        Space for headers at the front: 0 for a stream. [byte]

    Returns
    -------
    StreamCount
        ``calls``, always 1, ``mbufs`` and ``clusters``. [1]

    Raises
    ------
    DomainError
        If ``minclsize_bytes`` exceeds ``mcl_bytes``.

    See Also
    --------
    stream_mbufs : 4.4BSD, TCP.
    datagram_mbufs : 4.4BSD, UDP.

    Notes
    -----
    Validity: FreeBSD since 7.0, enough memory for page clusters. The split of a 200-byte write
    is gone.

    Range: everywhere.

    Symbols: :math:`d` payload_bytes, :math:`MCL` mcl_bytes, :math:`P` page_bytes, :math:`x`
    max_hdr_bytes. Not in the equation: minclsize_bytes (from which on the rest takes a cluster).

    Examples
    --------
    >>> chain = freebsd_mbufs([100, 200, 5000])
    >>> chain.calls.tolist(), chain.mbufs.tolist(), chain.clusters.tolist()
    ([1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [0.0, 1.0, 2.0])

    References
    ----------
    FreeBSD, sys/kern/uipc_mbuf.c (m_getm2) and uipc_socket.c (sosend_generic).
    """
    data = whole("payload_bytes", payload_bytes) + whole("max_hdr_bytes", max_hdr_bytes)
    mincl, mcl = _cluster_sizes(minclsize_bytes, mcl_bytes)
    page = whole("page_bytes", page_bytes, 1)
    data = np.maximum(data, 1)
    pages = np.maximum(np.ceil((data - mcl) / page), 0) + 0 * mincl
    rest = data - pages * page
    mbufs = pages + (rest > 0)
    clusters = pages + ((rest >= mincl) & (rest > 0))
    return StreamCount(1.0 + 0 * mbufs, mbufs, clusters + 0 * mbufs)


def _cluster_sizes(
    minclsize_bytes: ArrayLike, mcl_bytes: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    mincl = whole("minclsize_bytes", minclsize_bytes, 1)
    mcl = whole("mcl_bytes", mcl_bytes, 1)
    if (mincl > mcl).any():
        raise DomainError(
            "above-argument", "minclsize_bytes", float(np.nanmax(mincl)), other="mcl_bytes"
        )
    return mincl, mcl


def _takes_cluster(data: FloatArray, mincl: FloatArray, compare: str) -> NDArray[np.bool_]:
    if choice("compare", compare, (">=", ">")) == ">=":
        return np.asarray(data >= mincl)
    return np.asarray(data > mincl)
