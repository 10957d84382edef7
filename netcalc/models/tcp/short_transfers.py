"""Short transfers: handshake, slow start and the link, and expected times with loss (Cardwell).

The closed forms hold for one sender on one link that loses nothing. Cardwell, Savage and
Anderson give the expected time of a transfer that may lose packets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, at_least, model, non_negative, positive, whole
from netcalc.models.bounds import timeout_after
from netcalc.models.tcp._sending import note_few_losses, sending_parts
from netcalc.models.tcp.pftk import pftk_throughput_pps, pftk_timeout_ratio, timeout_sequence_s
from netcalc.models.tcp.timers import MIN_RTO_S


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
    mss_bytes: ArrayLike = 1460.0,
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
    netcalc.models.tcp.short_transfers.lossy_transfer_s : With loss, on an open connection.
    netcalc.models.delays.latency.transfer_s : Latency and serialization only.

    Notes
    -----
    Validity: one link, no loss, no headers, no time in the server. Below 1 % off where the
    object is not a whole number of segments.

    Range: everywhere.

    Defaults: mss_bytes.

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
        and gap, 40 where the rate counts IP. [byte]
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
    netcalc.models.tcp.short_transfers.lossy_transfer_s : With loss, on an open connection.
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


@model
def handshake_s(
    rtt_s: ArrayLike,
    *,
    forward_loss_ratio: ArrayLike,
    reverse_loss_ratio: ArrayLike,
    syn_timeout_s: ArrayLike = 1.0,
) -> FloatArray:
    r"""Expected duration of the TCP handshake on a lossy path.

    .. math::
       E[T] = RTT + T_s \left(\frac{1 - p_r}{1 - 2 p_r} + \frac{1 - p_f}{1 - 2 p_f} - 2\right)

    Parameters
    ----------
    rtt_s : array_like
        Round-trip time. [s]
    forward_loss_ratio : array_like
        Share of packets lost from client to server. [ratio]
    reverse_loss_ratio : array_like
        Share of packets lost from server to client. [ratio]
    syn_timeout_s : array_like
        First timeout of a SYN, doubled each time: 3 s once, 1 s since RFC 6298. [s]

    Returns
    -------
    numpy.ndarray
        Mean time until the client is connected; inf from a loss of one half on, where the
        doubled timeouts have no mean. [s]

    See Also
    --------
    netcalc.models.tcp.handshakes.first_byte_s : Without loss.

    Notes
    -----
    Validity: independent losses, no limit to the number of attempts. Linux gives up after six
    retries: of the handshakes that succeed the mean wait is 2.4 % less at a loss of 25 %, 7 % at 30
    %.

    Range: forward_loss_ratio up to 0.25; reverse_loss_ratio up to 0.25.

    Symbols: :math:`RTT` rtt_s, :math:`p_f` forward_loss_ratio, :math:`p_r` reverse_loss_ratio,
    :math:`T_s` syn_timeout_s.

    Examples
    --------
    >>> loss = {"forward_loss_ratio": 0.01, "reverse_loss_ratio": 0.01}
    >>> round(float(handshake_s(0.1, syn_timeout_s=3, **loss)), 4)
    0.1612

    References
    ----------
    Cardwell, Savage and Anderson, Modeling TCP Latency, INFOCOM 2000,
    doi:10.1109/INFCOM.2000.832574, eq. 4.
    """
    forward = checks.ratio("forward_loss_ratio", forward_loss_ratio)
    back = checks.ratio("reverse_loss_ratio", reverse_loss_ratio)
    # (1 - p) / (1 - 2p) - 1, for each direction
    timeouts = forward / (1 - 2 * forward) + back / (1 - 2 * back)
    rtt, timeout = (
        checks.non_negative("rtt_s", rtt_s),
        checks.non_negative("syn_timeout_s", syn_timeout_s),
    )
    timeout_after(timeout, rtt, name="syn_timeout_s")
    waits = timeout * timeouts
    diverges = np.maximum(forward, back) >= 0.5
    return rtt + np.where(diverges, np.inf, waits)


@model
def slow_start_segments(
    segments: ArrayLike, *, loss_ratio: ArrayLike, count_lost: bool = False
) -> FloatArray:
    r"""Expected number of segments sent in slow start before the first loss.

    .. math:: E[d_{ss}] = \frac{(1 - (1 - p)^d)(1 - p)}{p}

    Parameters
    ----------
    segments : array_like
        Segments of the transfer. [1]
    loss_ratio : array_like
        Share of segments lost. [ratio]
    count_lost : bool
        As printed, with ``+ 1`` for the lost segment; then the result may exceed
        ``segments``. [bool]

    Returns
    -------
    numpy.ndarray
        Mean of the segments sent in slow start; all of them without loss. [1]

    Notes
    -----
    Validity: independent losses. Without ``count_lost`` it is the mean of the lesser of
    ``segments`` and the number sent before the first loss.

    Range: everywhere.

    Symbols: :math:`d` segments, :math:`p` loss_ratio. Not in the equation: count_lost (which adds
    1).

    Examples
    --------
    >>> round(float(slow_start_segments(1000, loss_ratio=0.001)), 1)
    631.7

    References
    ----------
    Cardwell, Savage and Anderson, Modeling TCP Latency, INFOCOM 2000,
    doi:10.1109/INFCOM.2000.832574, eq. 5.
    """
    count = checks.non_negative("segments", segments)
    loss = checks.ratio("loss_ratio", loss_ratio)
    before = _sent_before_loss(count, loss)
    return before + 1 if checks.flag("count_lost", count_lost) else before


@model
def slow_start_s(
    segments: ArrayLike,
    *,
    rtt_s: ArrayLike,
    initial_window_segments: ArrayLike = 10,
    max_window_segments: ArrayLike = np.inf,
    segments_per_ack: ArrayLike = 1,
) -> FloatArray:
    r"""Expected duration of slow start, linear once the window is at its maximum.

    .. math::

        T = RTT \cdot \begin{cases} 1 & 0 < d \le w_1 \\
        \log_g \left(\frac{d (g - 1)}{w_1} + 1\right) & W \le W_{max} \\
        \log_g \frac{W_{max}}{w_1} + 1 + \frac{1}{W_{max}} \left(d - \frac{g W_{max} - w_1}{g -
        1}\right) & W > W_{max} \end{cases}, \quad g = 1 + 1/b

    with :math:`g = 1 + 1/b` and the window reached :math:`W = d (g - 1) / g + w_1 / g`.

    Parameters
    ----------
    segments : array_like
        Segments sent in slow start: :func:`slow_start_segments`. [1]
    rtt_s : array_like
        Round-trip time. [s]
    initial_window_segments : array_like
        First window. [1]
    max_window_segments : array_like
        Largest window. [1]
    segments_per_ack : array_like
        Segments for which the window grows by one acknowledgement: 1 in Linux, which counts bytes;
        2 with delayed acknowledgements, as in the paper. [1]

    Returns
    -------
    numpy.ndarray
        Time; the rounds are not rounded up, but what the first window holds takes a whole one,
        and no segment none. [s]

    See Also
    --------
    netcalc.models.tcp.slow_start.rounds : Acknowledgement per segment.
    netcalc.models.tcp.slow_start.rounds_delayed_ack : Delayed acknowledgements, whole segments.
    netcalc.models.tcp.bbr.bbr_startup_rounds : BBR's Startup.

    Notes
    -----
    Validity: a mean over many transfers; :func:`netcalc.models.tcp.slow_start.rounds` counts one.
    The paper's logarithm counts data after whole rounds; below the first window it is a part of a
    round, in which nothing is acknowledged, and is not used. It is up to a round trip less than
    whole rounds. TCP's largest window is as in :func:`netcalc.models.tcp.slow_start.rounds`.

    Range: segments up to 1.4e6.

    Defaults: segments_per_ack.

    Symbols: :math:`d` segments, :math:`RTT` rtt_s, :math:`w_1` initial_window_segments,
    :math:`W_{max}` max_window_segments, :math:`b` segments_per_ack.

    Examples
    --------
    >>> path = {"rtt_s": 0.1, "initial_window_segments": 1, "max_window_segments": 44,
    ...     "segments_per_ack": 2}
    >>> round(float(slow_start_s(64, **path)), 4)
    0.8623

    References
    ----------
    Cardwell, Savage and Anderson, Modeling TCP Latency, INFOCOM 2000,
    doi:10.1109/INFCOM.2000.832574, eq. 11 and 15 to 18.
    """
    count = checks.non_negative("segments", segments)
    first = checks.positive("initial_window_segments", initial_window_segments)
    largest = checks.positive("max_window_segments", max_window_segments, allow_inf=True)
    growth = 1.0 + 1.0 / checks.positive("segments_per_ack", segments_per_ack)
    return _growth_s(count, checks.non_negative("rtt_s", rtt_s), first, largest, growth)


@model
def lossy_transfer_s(
    segments: ArrayLike,
    *,
    rtt_s: ArrayLike,
    loss_ratio: ArrayLike,
    rto_s: ArrayLike | None = None,
    initial_window_segments: ArrayLike = 10,
    max_window_segments: ArrayLike = np.inf,
    segments_per_ack: ArrayLike = 1,
    delayed_ack_s: ArrayLike = 0.1,
) -> FloatArray:
    r"""Expected duration of a transfer over an open connection on a lossy path.

    .. math::
       E[T] = T_{ss}(d_{ss}) + P \left(Q Z + (1 - Q) RTT\right) + \frac{d - d_{ss}}{X} + D

    with :math:`P = 1 - (1 - p)^d`, the chance of any loss, :math:`d_{ss} = \min(P / p, d)`
    segments sent in slow start, the lost one included, :math:`Q` the share of losses that end in a
    timeout, :math:`Z` the timeouts' mean time and :math:`X` the steady rate of PFTK.

    Parameters
    ----------
    segments : array_like
        Segments of the transfer. [1]
    rtt_s : array_like
        Round-trip time. [s]
    loss_ratio : array_like
        Share of segments lost. [ratio]
    rto_s : array_like, optional
        First retransmission timeout; by default Linux's at a steady round trip: 0.2 s above
        it. [s]
    initial_window_segments : array_like
        First window. [1]
    max_window_segments : array_like
        Largest window. [1]
    segments_per_ack : array_like
        Segments for which the window grows by one acknowledgement: 1 in Linux, which counts bytes;
        2 with delayed acknowledgements, as in the paper. [1]
    delayed_ack_s : array_like
        Mean wait of a lone first segment for its acknowledgement: 0.1 with the heartbeat of
        BSD. [s]

    Returns
    -------
    numpy.ndarray
        Mean time until all is acknowledged: at least a round trip, and the delayed
        acknowledgement; inf where everything is lost. [s]

    See Also
    --------
    netcalc.models.tcp.loss_limited.mathis_throughput_bps
        Square-root law: low loss, no timeouts.
    netcalc.models.tcp.pftk.pftk_rate_pps : With timeouts, in packets per second.
    netcalc.models.tcp.pftk.pftk_approx_rate_pps : With timeouts, approximately.
    netcalc.models.tcp.cubic.cubic_throughput_bps : CUBIC.
    netcalc.models.tcp.pftk.tfrc_throughput_bps : TFRC: PFTK with fixed timeouts.
    netcalc.models.tcp.short_transfers.fetch_s : Any handshake, server time and headers.
    netcalc.models.tcp.transfer_time.transfer_time_s
        Line, window, loss, start-up and flows together.
    netcalc.models.tcp.short_transfers.static_transfer_s : The textbook model.
    netcalc.models.delays.latency.transfer_s : Latency and serialization only.

    Notes
    -----
    Validity: independent losses, Reno without selective acknowledgements. The paper adds 1 for the
    lost segment, which exceeds ``segments`` at tiny losses; here it counts when there is one.
    :math:`P / p` is derived for whole segments: of a part of one it would be more than all. With
    100 losses and more it is at most 30 % above a simulation of its rounds up to a loss of 2 %,
    with three up to twice.

    Range: that of pftk_throughput_pps; loss_count (losses to expect) from 100.

    Defaults: segments_per_ack, rto_s (that of Linux, 0.2 s above the round trip), delayed_ack_s.

    Symbols: :math:`d` segments, :math:`RTT` rtt_s, :math:`D` delayed_ack_s. Not in the equation:
    loss_ratio, rto_s, initial_window_segments, max_window_segments, segments_per_ack (in the parts
    of other formulas).

    Examples
    --------
    100 kB in 69 segments, 100 ms away, without loss and with 2 %:

    >>> times = lossy_transfer_s(69, rtt_s=0.1, loss_ratio=[0, 0.02])
    >>> times.round(2).tolist()
    [0.4, 0.9]
    >>> paper = {"rto_s": 1.0, "segments_per_ack": 2}
    >>> lossy_transfer_s(69, rtt_s=0.1, loss_ratio=[0, 0.02], **paper).round(2).tolist()
    [0.47, 1.41]

    References
    ----------
    Cardwell, Savage and Anderson, Modeling TCP Latency, INFOCOM 2000,
    doi:10.1109/INFCOM.2000.832574, eq. 5 to 25.
    """
    count = checks.non_negative("segments", segments)
    loss = checks.ratio("loss_ratio", loss_ratio)
    rtt = checks.positive("rtt_s", rtt_s)
    rto = rtt + MIN_RTO_S if rto_s is None else checks.positive("rto_s", rto_s)
    largest = checks.positive("max_window_segments", max_window_segments, allow_inf=True)
    first = np.minimum(checks.positive("initial_window_segments", initial_window_segments), largest)
    growth = 1.0 + 1.0 / checks.positive("segments_per_ack", segments_per_ack)
    checks.note_outside_range(pftk_throughput_pps, loss_ratio=loss)
    note_few_losses(lossy_transfer_s, np.where(loss < 1.0, count * loss, np.nan))
    any_lost = np.where(count > 0, -np.expm1(count * np.log1p(-loss)), 0.0)
    started = slow_start_segments(count, loss_ratio=loss) + any_lost
    started = np.clip(started, np.minimum(count, 1.0), count)
    start = slow_start_s(
        started,
        rtt_s=rtt,
        initial_window_segments=first,
        max_window_segments=largest,
        segments_per_ack=segments_per_ack,
    )
    reached = np.minimum((started * (growth - 1) + first) / growth, largest)
    timeouts = pftk_timeout_ratio(np.maximum(reached, 1.0), loss_ratio=loss)
    stalled = timeouts * timeout_sequence_s(loss, rto_s=rto) + (1 - timeouts) * rtt
    rate = pftk_throughput_pps(
        loss,
        rtt_s=rtt,
        rto_s=rto,
        max_window_packets=largest,
        segments_per_ack=segments_per_ack,
    )
    after = np.where(any_lost > 0, any_lost * stalled + (count - started) / rate, 0.0)
    after = np.where((loss == 1) & (count > 0), np.inf, after)
    return start + after + checks.non_negative("delayed_ack_s", delayed_ack_s)


def _sent_before_loss(count: FloatArray, loss: FloatArray) -> FloatArray:
    some_lost = -np.expm1(count * np.log1p(-loss))
    before = np.where(loss > 0, some_lost * (1 - loss) / loss, count + 0 * loss)
    return np.where((loss == 1) & (count == 0), 0.0, before)


def _growth_s(
    count: FloatArray, rtt: FloatArray, first: FloatArray, largest: FloatArray, growth: FloatArray
) -> FloatArray:
    per_round = 1.0 / np.log2(growth)
    first = np.minimum(first, largest)
    least = np.sign(count)  # a round, unless there is nothing to send
    rounds = np.log1p(count * ((growth - 1) / first)) * (per_round / np.log(2.0))
    grown: FloatArray = rtt * np.maximum(rounds, least)
    if np.isposinf(largest).all():
        return grown
    before_tail = (growth * largest - first) / (growth - 1)
    tail = np.log2(largest / first) * per_round + 1 + (count - before_tail) / largest
    reached = (count * (growth - 1) + first) / growth
    return checks.keep_nan(np.where(reached > largest, rtt * tail, grown), largest)
