r"""Expected times of a TCP transfer that may lose packets: Cardwell, Savage and Anderson.

The handshake, the segments that slow start sends before the first loss, the time they take, and
the whole transfer: slow start, the first loss, the rest at the steady rate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.models.bounds import timeout_after
from netcalc.models.tcp._sending import note_few_losses
from netcalc.models.tcp.pftk import pftk_throughput_pps, pftk_timeout_ratio, timeout_sequence_s
from netcalc.models.tcp.timers import MIN_RTO_S


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
    whole rounds. The largest window of TCP is that of :func:`netcalc.models.tcp.slow_start.rounds`.

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
        First retransmission timeout; by default that of Linux at a steady round trip, which is
        0.2 s above it. [s]
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
    netcalc.models.tcp.tfrc.tfrc_throughput_bps : TFRC: PFTK with fixed timeouts.
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
