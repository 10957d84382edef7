r"""Page load: a page and its many objects over HTTP/1.0, 1.1, 2 and 3.

What differs are the round trips: how many a connection takes to open, how many connections there
are, and whether the next request waits for the last response.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.models.delays.latency import INITIAL_WINDOW_BYTES
from netcalc.models.tcp.handshakes import SECURITY_ROUND_TRIPS, Security, round_trips

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
        Round trips, those of opening connections included. [1]

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
