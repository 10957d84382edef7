"""Handshakes: the round trips before the first byte of a response, and of a page's objects.

A transport asks for some round trips before it may carry a request, transport security for some
more, and the request itself takes one. Latency improves more slowly than bandwidth, so short
exchanges gain most from saved round trips.

Between HTTP/1.0, 1.1, 2 and 3 the round trips of a page differ: how many a connection takes to
open, how many connections there are, and whether the next request waits for the last response.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, choice, model, non_negative, positive, whole
from netcalc.errors import DomainError
from netcalc.models.delays.latency import INITIAL_WINDOW_BYTES
from netcalc.models.tcp.slow_start import rounds

SecuredTransport: TypeAlias = Literal["tcp", "quic"]

Transport: TypeAlias = Literal[
    "udp", "tcp", "tcp_persistent", "ttcp", "ttcp_first", "tfo", "tfo_first", "quic",
    "quic_0rtt", "quic_0rtt_rejected", "quic_retry", "quic_0rtt_retry", "quic_hrr",
    "quic_version_negotiation", "quic_version_negotiation_retry",
]  # fmt: skip
Security: TypeAlias = Literal[
    "none", "tls1.2", "tls1.2_resume", "tls1.2_false_start", "tls1.3", "tls1.3_resume",
    "tls1.3_hrr", "tls1.3_0rtt", "tls1.3_0rtt_rejected", "dtls1.2", "dtls1.2_resume", "dtls1.3",
    "dtls1.3_hrr", "dtls1.3_0rtt",
]  # fmt: skip
Ladder: TypeAlias = Literal[
    "udp_transaction", "tcp_handshake", "tcp_close", "tcp_close_merged", "tcp_transaction",
    "ttcp_transaction", "ttcp_first_transaction", "tfo_transaction",
]  # fmt: skip

TRANSPORT_ROUND_TRIPS: dict[str, int] = {
    "udp": 0,
    "tcp": 1,
    "tcp_persistent": 0,
    "ttcp": 0,  # RFC 1644: SYN, data and FIN in one segment, connection count cached
    "ttcp_first": 1,  # no cached count: the three-way handshake
    "tfo": 0,  # RFC 7413: data in the SYN, with a cookie
    "tfo_first": 1,  # the cookie is asked for
    "quic": 1,  # RFC 9000, with TLS 1.3 inside
    "quic_0rtt": 0,
    "quic_0rtt_rejected": 1,  # the request is sent again after the handshake
    "quic_retry": 2,  # the address is validated first
    "quic_0rtt_retry": 1,  # early data goes again with the token
    "quic_hrr": 2,
    "quic_version_negotiation": 2,
    "quic_version_negotiation_retry": 3,
}
"""Round trips before a transport carries a request."""

SECURITY_ROUND_TRIPS: dict[str, int] = {
    "none": 0,
    "tls1.2": 2,  # RFC 5246
    "tls1.2_resume": 1,
    "tls1.2_false_start": 1,  # RFC 7918
    "tls1.3": 1,  # RFC 8446
    "tls1.3_resume": 1,
    "tls1.3_hrr": 2,  # the server asks for another key share
    "tls1.3_0rtt": 0,
    "tls1.3_0rtt_rejected": 1,
    "dtls1.2": 3,  # RFC 6347, with the cookie exchange
    "dtls1.2_resume": 2,
    "dtls1.3": 1,  # RFC 9147
    "dtls1.3_hrr": 2,  # with the cookie in HelloRetryRequest
    "dtls1.3_0rtt": 0,
}
"""Further round trips of transport security: TLS runs over TCP, DTLS over UDP, QUIC has its own."""

LADDER_SEGMENTS: dict[str, int] = {
    "udp_transaction": 2,
    "tcp_handshake": 3,
    "tcp_close": 4,
    "tcp_close_merged": 3,  # FIN and acknowledgement in one
    "tcp_transaction": 9,  # 3 to open, request, FIN, its ACK, reply, FIN, its ACK
    "ttcp_transaction": 3,  # SYN+request+FIN, SYN+ACK+reply+FIN, ACK
    "ttcp_first_transaction": 5,  # SYN+request+FIN, SYN+ACK, ACK, reply+FIN, ACK
    "tfo_transaction": 5,  # SYN+request, SYN+ACK, reply+FIN, ACK+FIN, ACK
}
"""Segments that each exchange takes when request and reply fit one segment each."""


@model
def round_trips(transport: Transport, *, security: Security = "none") -> FloatArray:
    r"""Round trips from the first packet to the first byte of the response.

    .. math:: n = n_{transport} + n_{security} + 1

    Parameters
    ----------
    transport : str
        Transport of the request: udp, tcp, tcp_persistent, ttcp, ttcp_first, tfo, tfo_first, quic,
        quic_0rtt, quic_0rtt_rejected, quic_retry, quic_0rtt_retry, quic_hrr,
        quic_version_negotiation or quic_version_negotiation_retry. [text]
    security : str
        Transport security on top: none; tls1.2 or tls1.3, alone or with _resume;
        tls1.2_false_start, tls1.3_hrr, tls1.3_0rtt, tls1.3_0rtt_rejected; dtls1.2,
        dtls1.2_resume, dtls1.3, dtls1.3_hrr or dtls1.3_0rtt. [text]

    Returns
    -------
    numpy.ndarray
        Round trips, the one of the request included. [1]

    Raises
    ------
    DomainError
        If ``security`` does not run over ``transport``.

    Notes
    -----
    Validity: no loss; flights that fit the first window (:func:`certificate_round_trips`).

    Range: everywhere.

    Defaults: security.

    Symbols: Not in the equation: transport, security (whose round trips are added).

    Examples
    --------
    >>> float(round_trips("tcp", security="tls1.2")), float(round_trips("quic_0rtt"))
    (4.0, 1.0)

    References
    ----------
    RFC 9293, 1644, 7413, 5246, 7918, 8446, 6347, 9147, 9000 and 9001.
    """
    choice("transport", transport, tuple(TRANSPORT_ROUND_TRIPS))
    choice("security", security, tuple(SECURITY_ROUND_TRIPS))
    over_tcp = not transport.startswith(("udp", "quic"))
    if security.startswith("tls") and not over_tcp:
        raise _not_over(transport, security, "dtls" if transport == "udp" else None)
    if security.startswith("dtls") and transport != "udp":
        raise _not_over(transport, security, "tls" if over_tcp else None)
    total = TRANSPORT_ROUND_TRIPS[transport] + SECURITY_ROUND_TRIPS[security] + 1
    return np.asarray(total, dtype=np.float64)


def _not_over(transport: str, security: str, prefix: str | None) -> DomainError:
    """Return the refusal of a security that this transport does not carry, with those it does."""
    fits = [s for s in SECURITY_ROUND_TRIPS if prefix and s.startswith(prefix)]
    choices = ["none", *fits]
    return DomainError("not-over", "security", security, transport=transport, choices=choices)


@model
def first_byte_s(
    rtt_s: ArrayLike,
    *,
    transport: Transport = "tcp",
    security: Security = "none",
    server_s: ArrayLike = 0.0,
    extra_round_trips: ArrayLike = 0,
) -> FloatArray:
    r"""Time from the first packet to the first byte of the response.

    .. math:: t = (n + x) RTT + t_{server}

    Parameters
    ----------
    rtt_s : array_like
        Round-trip time. [s]
    transport : str
        Transport of the request: udp, tcp, tcp_persistent, ttcp, ttcp_first, tfo, tfo_first, quic,
        quic_0rtt, quic_0rtt_rejected, quic_retry, quic_0rtt_retry, quic_hrr,
        quic_version_negotiation or quic_version_negotiation_retry. [text]
    security : str
        Transport security on top: none; tls1.2 or tls1.3, alone or with _resume;
        tls1.2_false_start, tls1.3_hrr, tls1.3_0rtt, tls1.3_0rtt_rejected; dtls1.2,
        dtls1.2_resume, dtls1.3, dtls1.3_hrr or dtls1.3_0rtt. [text]
    server_s : array_like
        Server time between request and first byte. [s]
    extra_round_trips : array_like
        Round trips on top: a name to be resolved, a certificate too long for one flight. [1]

    Returns
    -------
    numpy.ndarray
        Time to the first byte. [s]

    Raises
    ------
    DomainError
        If ``security`` does not run over ``transport``.

    See Also
    --------
    netcalc.models.tcp.short_transfers.handshake_s : With loss.

    Notes
    -----
    Validity: negligible serialization, no loss. Where the link is slow,
    :func:`netcalc.models.delays.store_and_forward.exchange_timeline` counts their bytes, too.

    Range: everywhere.

    Defaults: transport, security.

    Symbols: :math:`RTT` rtt_s, :math:`x` extra_round_trips, :math:`t_{server}` server_s. Not in the
    equation: transport, security (which give n).

    Examples
    --------
    100 ms away, 10 ms in the server, over TCP with TLS 1.2 and with QUIC:

    >>> round(float(first_byte_s(0.1, transport="tcp", security="tls1.2", server_s=0.01)), 3)
    0.41
    >>> round(float(first_byte_s(0.1, transport="quic", server_s=0.01)), 3)
    0.21

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, 1.4 and A.3 (T/TCP saves a round trip); as
    :func:`round_trips`.
    """
    total = round_trips(transport, security=security)
    total = total + whole("extra_round_trips", extra_round_trips)
    return total * non_negative("rtt_s", rtt_s) + non_negative("server_s", server_s)


@model
def certificate_round_trips(
    certificate_bytes: ArrayLike,
    *,
    transport: SecuredTransport = "tcp",
    mss_bytes: ArrayLike = 1460,
    initial_window_segments: ArrayLike = 10,
    client_bytes: ArrayLike = 1200,
) -> FloatArray:
    r"""Extra round trips of a handshake because of a long certificate chain.

    .. math::

        x_{TCP} = \mathrm{rounds}(B / M) - 1, \quad x_{QUIC} = \mathrm{rounds}\left((B - \min(3 c,
        W_1 M)) / M\right)

    Parameters
    ----------
    certificate_bytes : array_like
        First flight of the server, mostly its certificates. [byte]
    transport : {'tcp', 'quic'}
        With QUIC, a server sends at most three times the bytes it received until the address is
        validated. [text]
    mss_bytes : array_like
        Payload of a full segment or datagram. [byte]
    initial_window_segments : array_like
        First window of the server. [1]
    client_bytes : array_like
        Bytes received from the client: a first QUIC datagram has at least 1200. [byte]

    Returns
    -------
    numpy.ndarray
        Round trips added; 0 where the flight fits. [1]

    Notes
    -----
    Validity: no loss; the window does not grow while the threefold limit holds it back.

    Range: everywhere.

    Symbols: :math:`B` certificate_bytes, :math:`M` mss_bytes, :math:`W_1` initial_window_segments,
    :math:`c` client_bytes. Not in the equation: transport (which of the two).

    Examples
    --------
    A chain of 5 KB fits the ten segments of TCP, but not QUIC's 3600 bytes:

    >>> float(certificate_round_trips(5000)), float(certificate_round_trips(5000, transport="quic"))
    (0.0, 1.0)

    References
    ----------
    RFC 9000, 8.1; RFC 9002, 7.2 and 7.8; RFC 6928.
    """
    choice("transport", transport, ("tcp", "quic"))
    flight = non_negative("certificate_bytes", certificate_bytes)
    mss = positive("mss_bytes", mss_bytes)
    sent = 3.0 * non_negative("client_bytes", client_bytes)
    if transport == "tcp":
        total = rounds(flight / mss, initial_window_segments=initial_window_segments)
        return np.maximum(total - 1.0, 0.0) + 0.0 * sent
    window = mss * positive("initial_window_segments", initial_window_segments)
    left = np.maximum(flight - np.minimum(sent, window), 0.0)
    return rounds(left / mss, initial_window_segments=initial_window_segments)


@model
def segments(ladder: Ladder) -> FloatArray:
    r"""Number of segments of a minimal exchange, request and reply in one segment each.

    .. math:: n = n_{open} + n_{data} + n_{close}

    Parameters
    ----------
    ladder : str
        Exchange: udp_transaction, tcp_handshake, tcp_close, tcp_close_merged, tcp_transaction,
        ttcp_transaction, ttcp_first_transaction or tfo_transaction. [text]

    Returns
    -------
    numpy.ndarray
        Segments or datagrams of both sides. [1]

    Notes
    -----
    Validity: the minimum number, no loss, no acknowledgement by itself where one can be piggybacked
    on data.

    Range: everywhere.

    Symbols: Not in the equation: ladder (which is counted).

    Examples
    --------
    >>> float(segments("tcp_transaction")), float(segments("ttcp_transaction"))
    (9.0, 3.0)

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, Fig. 1-8 and 1-12; RFC 9293; RFC 1644, 3; RFC 7413, 2.
    """
    name = choice("ladder", ladder, tuple(LADDER_SEGMENTS))
    return np.asarray(LADDER_SEGMENTS[name], dtype=np.float64)


Http: TypeAlias = Literal["1.0", "1.1", "1.1-pipelined", "2", "3"]

HTTP_VERSIONS = ("1.0", "1.1", "1.1-pipelined", "2", "3")


@model
def page_round_trips(
    object_count: ArrayLike,
    *,
    http: Http = "2",
    security: Security = "tls1.3",
    connection_count: ArrayLike = 6,
) -> FloatArray:
    r"""Round trips to fetch a page and its objects.

    .. math:: n = (h + 1) + m

    Parameters
    ----------
    object_count : array_like
        Objects that the page names, beside the page. [1]
    http : {"1.0", "1.1", "1.1-pipelined", "2", "3"}
        Version of HTTP; 1.0 takes a connection for each object. [text]
    security : str
        Transport security over TCP: none; tls1.2 or tls1.3, alone or with _resume;
        tls1.2_false_start, tls1.3_hrr, tls1.3_0rtt or tls1.3_0rtt_rejected; HTTP/3 has its own.
        [text]
    connection_count : array_like
        Connections to the server at the same time; HTTP/2 and 3 use one. [1]

    Returns
    -------
    numpy.ndarray
        Round trips, including the handshakes. [1]

    Raises
    ------
    DomainError
        If ``security`` does not run over TCP.

    See Also
    --------
    page_load_s : The time.

    Notes
    -----
    Validity: all objects on the server of the page, known when the page is there; windows that hold
    them, otherwise slow start adds round trips. With :math:`c` connections and :math:`k` objects,
    :math:`m` is :math:`(h + 1) \lceil k / c \rceil` for HTTP/1.0, 1 with pipelining and for HTTP/2
    and 3, and for HTTP/1.1 :math:`\lceil (k + (c - 1) h) / c \rceil`, as the connection of the page
    goes on while the others open, or :math:`k` if that is less.

    Typical: 6 connections for HTTP/1.1 in browsers.

    Range: everywhere.

    Symbols: Not in the equation: object_count, http, security, connection_count (which give the
    round trips h to open a connection, and m for the objects).

    Examples
    --------
    30 objects without security: each of 1.0's 5 rounds opens 6 connections

    >>> [
    ...     float(page_round_trips(30, http=version, security="none"))
    ...     for version in ("1.0", "1.1", "2")
    ... ]
    [12.0, 8.0, 3.0]

    References
    ----------
    Kurose and Ross, Computer Networking, 8th ed., 2.2.2; RFC 9112, 9.3; RFC 9113, 5; RFC 9114, 3.3.
    """
    objects = checks.whole("object_count", object_count)
    connections = checks.whole("connection_count", connection_count, low=1)
    checks.choice("http", http, HTTP_VERSIONS)
    checks.choice("security", security, tuple(s for s in SECURITY_ROUND_TRIPS if s[0] != "d"))
    first = round_trips("quic") if http == "3" else round_trips("tcp", security=security)
    opening = float(first) - 1.0
    if http == "1.0":
        later = (opening + 1.0) * np.ceil(objects / connections)
    elif http == "1.1":
        spread = np.ceil(opening + (objects - opening) / connections)
        later = np.where(objects <= opening, objects, np.maximum(spread, opening))
    else:
        later = np.where(objects > 0.0, 1.0, 0.0)
    return checks.keep_nan(opening + 1.0 + later, objects, connections)


@model
def page_load_s(
    object_count: ArrayLike,
    *,
    rtt_s: ArrayLike,
    object_bytes: ArrayLike,
    page_bytes: ArrayLike = 0.0,
    bandwidth_bps: ArrayLike = np.inf,
    server_s: ArrayLike = 0.0,
    http: Http = "2",
    security: Security = "tls1.3",
    connection_count: ArrayLike = 6,
) -> FloatArray:
    r"""Time to fetch a page and its objects.

    .. math:: t = n \, RTT + \frac{8 (B + k F)}{R} + t_{server}

    Parameters
    ----------
    object_count : array_like
        Objects that the page names, beside the page. [1]
    rtt_s : array_like
        Round-trip time. [s]
    object_bytes : array_like
        Mean size of an object, with its headers. [byte]
    page_bytes : array_like
        Size of the page itself, with its headers. [byte]
    bandwidth_bps : array_like
        Rate of the line that all connections share. [bit/s]
    server_s : array_like
        Time of the server for the page and for objects that wait for one another, in all. [s]
    http : {"1.0", "1.1", "1.1-pipelined", "2", "3"}
        Version of HTTP; 1.0 takes a connection for each object. [text]
    security : str
        Transport security over TCP: none; tls1.2 or tls1.3, alone or with _resume;
        tls1.2_false_start, tls1.3_hrr, tls1.3_0rtt or tls1.3_0rtt_rejected; HTTP/3 has its own.
        [text]
    connection_count : array_like
        Connections to the server at the same time; HTTP/2 and 3 use one. [1]

    Returns
    -------
    numpy.ndarray
        Time from the first packet to the last byte; without DNS. [s]

    Raises
    ------
    DomainError
        If ``security`` does not run over TCP.

    See Also
    --------
    page_round_trips : The round trips alone.

    Notes
    -----
    Validity: as :func:`page_round_trips`; a lower bound: the line is full while data comes, and
    without loss, whose head-of-line blocking HTTP/3 avoids, HTTP/2 and 3 differ by the handshake
    only. Beyond a first window of ten segments (RFC 6928) each doubling takes a round trip more.

    Range: flight_bytes (most in a round trip on one connection, where the path holds more than a
    first window) up to 14600.

    Symbols: :math:`k` object_count, :math:`RTT` rtt_s, :math:`F` object_bytes, :math:`B`
    page_bytes, :math:`R` bandwidth_bps, :math:`t_{server}` server_s. Not in the equation: http,
    security, connection_count (which give the round trips n).

    Examples
    --------
    70 objects of 25 kB at 50 Mbit/s and 40 ms:

    >>> times = [
    ...     page_load_s(70, rtt_s=0.04, object_bytes=25e3, bandwidth_bps=50e6, http=version)
    ...     for version in ("1.1", "2", "3")
    ... ]
    >>> [round(float(time), 2) for time in times]
    [0.96, 0.44, 0.4]

    References
    ----------
    Kurose and Ross, Computer Networking, 8th ed., 2.2.2; RFC 9112, 9.3; RFC 9113, 5; RFC 9114, 3.3.
    """
    trips = page_round_trips(
        object_count, http=http, security=security, connection_count=connection_count
    )
    rtt = checks.non_negative("rtt_s", rtt_s)
    rate = checks.positive("bandwidth_bps", bandwidth_bps, allow_inf=True)
    page, each = (
        checks.non_negative("page_bytes", page_bytes),
        checks.non_negative("object_bytes", object_bytes),
    )
    count = checks.whole("object_count", object_count)
    at_once = np.minimum(count, 1.0) if http.startswith("1.") else count
    flight = np.maximum(page, each * at_once)
    checks.note_outside_range(
        page_load_s, where=rate / 8.0 * rtt > INITIAL_WINDOW_BYTES, flight_bytes=flight
    )
    waiting = trips * rtt + checks.non_negative("server_s", server_s)
    return waiting + 8.0 * (page / rate + each / rate * count)
