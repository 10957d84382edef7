r"""Short transfers: handshake, slow start and the link, for one object.

The closed forms of one sender on one link that loses nothing; :mod:`netcalc.models.tcp.cardwell`
has the expected times on a path that does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, at_least, model, non_negative, positive, whole
from netcalc.models.tcp._sending import sending_parts


@model
def sending_s(
    segments: ArrayLike,
    *,
    packet_bytes: ArrayLike,
    bandwidth_bps: ArrayLike,
    base_rtt_s: ArrayLike,
    initial_window_segments: ArrayLike = 10,
    growth: ArrayLike = 2,
    max_window_segments: ArrayLike = np.inf,
) -> FloatArray:
    r"""Time to send a number of segments: slow start on a link of limited rate.

    .. math:: T = P (RTT_0 + s) + \left(n - W_1 \frac{g^P - 1}{g - 1}\right) s, \quad s = 8 L / R

    with :math:`P` the rounds whose window is sent before its first acknowledgement returns,
    :math:`W s < RTT_0 + s`. From then on the link is never idle.

    Parameters
    ----------
    segments : array_like
        Segments to send; the last one may be a part. [1]
    packet_bytes : array_like
        Size of a full segment's packet at the layer of the rate. [byte]
    bandwidth_bps : array_like
        Rate of the link; inf leaves only the round trips. [bit/s]
    base_rtt_s : array_like
        Round-trip time of the empty path without serialization. [s]
    initial_window_segments : array_like
        First window. [1]
    growth : array_like
        Growth of the window per round trip, as a factor. [1]
    max_window_segments : array_like
        Window at which growth ends: the receive window or the send buffer. [1]

    Returns
    -------
    numpy.ndarray
        Time until the last bit has left the sender; nan for a growth of 1. [s]

    Notes
    -----
    Validity: no loss, a buffer that holds what slow start overshoots. With whole windows and
    growth 2 it equals a packet simulation; with growth 1.5 windows are real numbers.

    Range: growth from 1.5 up to 2.

    Symbols: :math:`n` segments, :math:`L` packet_bytes, :math:`R` bandwidth_bps, :math:`RTT_0`
    base_rtt_s, :math:`W_1` initial_window_segments, :math:`g` growth. Not in the equation:
    max_window_segments (which ends it: then every round pauses, too).

    Examples
    --------
    10 MB at 100 Mbit/s and 40 ms: six rounds with pauses, then the link is full.

    >>> sent = sending_s(6850, packet_bytes=1500, bandwidth_bps=100e6, base_rtt_s=0.04)
    >>> round(float(sent), 5)
    0.98712

    References
    ----------
    Kurose and Ross, Computer Networking, 3rd ed., 3.7.2, with a first window of any size.
    """
    return _sending_s(
        non_negative("segments", segments),
        positive("packet_bytes", packet_bytes)
        / positive("bandwidth_bps", bandwidth_bps, allow_inf=True)
        * 8.0,
        non_negative("base_rtt_s", base_rtt_s),
        positive("initial_window_segments", initial_window_segments),
        at_least("growth", growth, 1),
        positive("max_window_segments", max_window_segments, allow_inf=True),
    )


@model
def static_transfer_s(
    payload_bytes: ArrayLike,
    *,
    rtt_s: ArrayLike,
    bandwidth_bps: ArrayLike,
    mss_bytes: ArrayLike,
    initial_window_segments: ArrayLike = 1,
    handshake_round_trips: ArrayLike = 1,
) -> FloatArray:
    r"""Time to fetch an object over a new connection: the static model of Kurose and Ross.

    .. math::

        T = (h + 1) RTT + \frac{O}{R} + P \left(RTT + \frac{S}{R}\right) - W_1 (2^P - 1) \frac{S}{R}

    with :math:`P = \min(Q, K - 1)`: :math:`K` windows hold the object, and the sender would wait
    after :math:`Q` of them for an infinite object.

    Parameters
    ----------
    payload_bytes : array_like
        Size of the object. [byte]
    rtt_s : array_like
        Round-trip time. [s]
    bandwidth_bps : array_like
        Rate of the link. [bit/s]
    mss_bytes : array_like
        Payload of a full segment. [byte]
    initial_window_segments : array_like
        First window; the book has 1. [1]
    handshake_round_trips : array_like
        Round trips before the request is sent; the book has 1. [1]

    Returns
    -------
    numpy.ndarray
        Time from the first segment of the handshake to the last bit of the object. [s]

    See Also
    --------
    fetch_s : Any handshake, server time and headers.
    netcalc.models.tcp.cardwell.lossy_transfer_s : With loss, on an open connection.
    netcalc.models.delays.latency.transfer_s : Latency and serialization only.

    Notes
    -----
    Validity: one link, no loss, no headers, no time in the server. Below 1 % off where the
    object is not a whole number of segments.

    Range: everywhere.

    Symbols: :math:`O` payload_bytes, :math:`RTT` rtt_s, :math:`R` bandwidth_bps, :math:`S`
    mss_bytes, :math:`W_1` initial_window_segments, :math:`h` handshake_round_trips.

    Examples
    --------
    100 kB at 1 Mbit/s and 100 ms in segments of 536 bytes:

    >>> path = {"rtt_s": 0.1, "bandwidth_bps": 1e6, "mss_bytes": 536}
    >>> round(float(static_transfer_s(100e3, **path)), 4)
    1.3885

    References
    ----------
    Kurose and Ross, Computer Networking, 3rd ed., 3.7.2.
    """
    return fetch_s(
        payload_bytes,
        rtt_s=rtt_s,
        mss_bytes=mss_bytes,
        initial_window_segments=initial_window_segments,
        handshake_round_trips=handshake_round_trips,
        bandwidth_bps=bandwidth_bps,
        header_bytes=0.0,
    )


@model
def fetch_s(
    payload_bytes: ArrayLike,
    *,
    rtt_s: ArrayLike,
    mss_bytes: ArrayLike = 1460,
    initial_window_segments: ArrayLike = 10,
    handshake_round_trips: ArrayLike = 1,
    server_s: ArrayLike = 0.0,
    bandwidth_bps: ArrayLike = np.inf,
    header_bytes: ArrayLike = 78,
    growth: ArrayLike = 2,
    max_window_segments: ArrayLike = np.inf,
) -> FloatArray:
    r"""Time to fetch an object: handshake, request, slow start and serialization.

    .. math:: T = (h + 1) RTT + t_{server} + T_{sending}

    Parameters
    ----------
    payload_bytes : array_like
        Size of the response. [byte]
    rtt_s : array_like
        Round-trip time of the empty path. [s]
    mss_bytes : array_like
        Payload of a full segment. [byte]
    initial_window_segments : array_like
        First window of the server. [1]
    handshake_round_trips : array_like
        Round trips before the request is sent: 0 on an open connection, 1 TCP, 2 with TLS
        1.3. [1]
    server_s : array_like
        Server time between request and first byte. [s]
    bandwidth_bps : array_like
        Rate of the link; without it only round trips count. [bit/s]
    header_bytes : array_like
        Headers of each segment at the layer of the rate: 78 of TCP, IPv4 and Ethernet with preamble
        and gap, 40 where the rate is that of IP. [byte]
    growth : array_like
        Growth of the window per round trip, as a factor. [1]
    max_window_segments : array_like
        Window at which growth ends. [1]

    Returns
    -------
    numpy.ndarray
        Time from the first segment of the handshake to the last bit of the response; nan for a
        growth of 1. [s]

    See Also
    --------
    static_transfer_s : The textbook model.
    netcalc.models.tcp.transfer_time.transfer_time_s
        Line, window, loss, start-up and flows together.
    netcalc.models.tcp.cardwell.lossy_transfer_s : With loss, on an open connection.
    netcalc.models.delays.latency.transfer_s : Latency and serialization only.

    Notes
    -----
    Validity: as :func:`sending_s`; the request fits one segment.

    Range: growth from 1.5 up to 2.

    Defaults: handshake_round_trips, header_bytes.

    Symbols: :math:`RTT` rtt_s, :math:`h` handshake_round_trips, :math:`t_{server}` server_s. Not in
    the equation: payload_bytes, mss_bytes, initial_window_segments, bandwidth_bps, header_bytes,
    growth, max_window_segments (in the time of sending).

    Examples
    --------
    20 KB at 56 ms with 40 ms in the server, over a new and over an open, grown connection:

    >>> page = {"rtt_s": 0.056, "server_s": 0.04}
    >>> round(float(fetch_s(20480, **page)), 3)
    0.208
    >>> float(fetch_s(20480, initial_window_segments=64, handshake_round_trips=0, **page))
    0.096

    References
    ----------
    Grigorik, High Performance Browser Networking, ch. 2 (96 ms on the open connection).
    """
    mss = positive("mss_bytes", mss_bytes)
    rtt = non_negative("rtt_s", rtt_s)
    packet = mss + non_negative("header_bytes", header_bytes)
    sending = _sending_s(
        non_negative("payload_bytes", payload_bytes) / mss,
        8.0 * (packet / positive("bandwidth_bps", bandwidth_bps, allow_inf=True)),
        rtt,
        positive("initial_window_segments", initial_window_segments),
        at_least("growth", growth, 1),
        positive("max_window_segments", max_window_segments, allow_inf=True),
    )
    before = 1.0 + whole("handshake_round_trips", handshake_round_trips)
    return before * rtt + non_negative("server_s", server_s) + sending


def _sending_s(
    segments: FloatArray,
    clock_s: FloatArray,
    rtt_s: FloatArray,
    first: FloatArray,
    growth: FloatArray,
    largest: FloatArray,
) -> FloatArray:
    growing, rest = sending_parts(segments, clock_s, rtt_s, first, growth, largest)
    return growing + rest
