r"""Time of a TCP transfer: line, latency, window, loss, congestion control and flows together.

One model of all of it: the connection is set up, the window grows, and then the lowest of the
ceilings of :mod:`netcalc.models.tcp.ceilings` counts: the line with all headers, the window per
round trip, and what the congestion control makes of the loss. Each flow carries the same share of
the transfer and of the line.

The retransmission timeout of Linux is the round trip plus at least 200 ms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, as_float, model, non_negative, positive, ratio, whole
from netcalc.models.bounds import note_first, tcp_window
from netcalc.models.sizes.headers import TIMESTAMP_BYTES
from netcalc.models.tcp._sending import (
    ETHERNET_BYTES,
    line_segments,
    note_few_losses,
    sending_parts,
    wire_sizes,
)
from netcalc.models.tcp.ceilings import SEGMENTS_PER_BARE_ACK, CongestionControl, path_ceilings
from netcalc.models.tcp.pftk import timeout_sequence_s
from netcalc.models.tcp.short_transfers import slow_start_segments
from netcalc.models.tcp.timers import MIN_RTO_S


class TransferParts(NamedTuple):
    """Parts of the time of a transfer, in order; their sum is the time."""

    handshake_s: FloatArray
    start_s: FloatArray
    recovery_s: FloatArray
    steady_s: FloatArray
    delivery_s: FloatArray


@model
def transfer_time_s(
    payload_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    rtt_s: ArrayLike,
    loss_ratio: ArrayLike = 0.0,
    congestion_control: CongestionControl = "cubic",
    window_bytes: ArrayLike = np.inf,
    flow_count: ArrayLike = 1,
    reverse_bandwidth_bps: ArrayLike = np.inf,
    mtu_bytes: ArrayLike = 1500,
    ip_version: int = 4,
    tcp_option_bytes: ArrayLike = TIMESTAMP_BYTES,
    link_bytes: ArrayLike = ETHERNET_BYTES,
    initial_window_segments: ArrayLike = 10,
    segments_per_ack: ArrayLike = 1,
    min_rto_s: ArrayLike = MIN_RTO_S,
    handshake_round_trips: ArrayLike = 1,
) -> FloatArray:
    r"""Time of a TCP transfer: line, latency, window, loss, start-up, flows and headers together.

    .. math::

        T = h\,RTT + T_{start} + T_{recovery} + \frac{8 N_{rest}}{X} + \frac{RTT}{2}, \quad
        X = \min\left(R g (1 - p), \frac{8 n W}{RTT}, X_{cc}\right)

    with :math:`g` the share of payload on the line, :math:`X_{cc}` and the lowest rate as in
    :func:`~netcalc.models.tcp.ceilings.path_ceilings`, and :math:`N_{rest}` what is left when
    the window has stopped growing: because the line is full, because it is at :math:`W`, or at the
    first loss. The last segment counts with its headers: one byte takes a frame of its own.

    Parameters
    ----------
    payload_bytes : array_like
        Bytes to transfer. [byte]
    bandwidth_bps : array_like
        Rate of the line. [bit/s, line]
    rtt_s : array_like
        Round-trip time of a full segment on the idle path. [s]
    loss_ratio : array_like
        Random packet loss, without drops of a full buffer. [ratio]
    congestion_control : {'cubic', 'reno', 'bbr'}
        Congestion control of the sender; BBR is version 1. [text]
    window_bytes : array_like
        Largest window of a flow: the smaller of both hosts' buffers; infinite for no limit. [byte]
    flow_count : array_like
        Flows that share the transfer equally. [1]
    reverse_bandwidth_bps : array_like
        Rate of the line back, which carries an acknowledgement for two segments; infinite for no
        limit. [bit/s, line]
    mtu_bytes : array_like
        Size of the full IP packets. [byte]
    ip_version : int
        4 or 6. [1]
    tcp_option_bytes : array_like
        TCP options: 12 with timestamps, at most 40. [byte]
    link_bytes : array_like
        Bytes of the link around each packet: 38 of Ethernet with preamble and gap, 0 where the rate
        counts IP; from 38 on, packets below 46 B are padded. [byte]
    initial_window_segments : array_like
        First window. [1]
    segments_per_ack : array_like
        Segments for which the window grows by one acknowledgement: 1 in Linux, which counts bytes.
        [1]
    min_rto_s : array_like
        Minimum of the timeout above the round trip: 0.2 s in Linux. [s]
    handshake_round_trips : array_like
        Round trips before the first data: 0 on an open connection, 1 TCP, 2 with TLS 1.3. [1]

    Returns
    -------
    numpy.ndarray
        Time from the first segment of the handshake until the last byte arrives; ``inf`` where
        all is lost or the headers leave no payload, nan where a window grows by nothing. [s]

    Raises
    ------
    DomainError
        If the headers do not fit.

    See Also
    --------
    transfer_parts : The parts of this time.
    netcalc.models.tcp.ceilings.path_ceilings : The rate that it reaches.
    netcalc.models.tcp.short_transfers.fetch_s : A request and its response, without loss.
    netcalc.models.tcp.short_transfers.lossy_transfer_s : With loss, no line.
    netcalc.models.delays.latency.transfer_s : Latency and serialization only.

    Notes
    -----
    Validity: as :func:`~netcalc.models.tcp.ceilings.path_ceilings`; a bottleneck buffer that holds
    what slow start overshoots; the mean over many transfers where there is loss. After the first
    loss the steady rate counts at once, while a real window still falls from what slow start
    reached: against a simulation of random losses the time is right to 10 % for Reno and to 20 %
    for CUBIC with 100 losses and more of a flow, too long by up to 15 and 40 % with 30, by up to
    200 and 350 % with three. With less than 0.3, most transfers have none, and it is right to 10 %.
    The round trip is a full packet's. One way is half of what is left without that packet: no
    bytes at all take 1.5 round trips less half a packet.

    Typical: 1 GB at 1 Gbit/s and 40 ms take 8.9 s; with a loss of 0.01 % 208 s by Reno and CUBIC,
    8.9 s by BBR; with a window of 64 KiB 610 s.

    Range: that of path_ceilings; loss_count (losses that a flow has to expect, where they limit it)
    from 100.

    Defaults: congestion_control, segments_per_ack, min_rto_s, tcp_option_bytes.

    Symbols: :math:`RTT` rtt_s, :math:`h` handshake_round_trips, :math:`R` bandwidth_bps, :math:`p`
    loss_ratio, :math:`W` window_bytes, :math:`n` flow_count. Not in the equation: payload_bytes
    (what is left of it), congestion_control (in its rate), reverse_bandwidth_bps (which counts
    where acknowledgements are slower than segments), mtu_bytes, ip_version, tcp_option_bytes,
    link_bytes (in the share of payload), initial_window_segments, segments_per_ack, min_rto_s (in
    the start and the recovery).

    Examples
    --------
    1 GB at 1 Gbit/s and 40 ms: without a limit but the line, and with a window of 64 KiB.

    >>> path = {"bandwidth_bps": 1e9, "rtt_s": 0.04}
    >>> round(float(transfer_time_s(1e9, **path)), 2)
    8.85
    >>> round(float(transfer_time_s(1e9, window_bytes=65536, **path)))
    610

    References
    ----------
    Cardwell, Savage and Anderson, INFOCOM 2000, doi:10.1109/INFCOM.2000.832574, eq. 5 to 25, with
    the line, and with the steady rates of :func:`~netcalc.models.tcp.ceilings.path_ceilings`;
    Kurose and Ross, Computer Networking, 3rd ed., 3.7.2 (the start on a line).
    """
    parts = transfer_parts(
        payload_bytes,
        bandwidth_bps=bandwidth_bps,
        rtt_s=rtt_s,
        loss_ratio=loss_ratio,
        congestion_control=congestion_control,
        window_bytes=window_bytes,
        flow_count=flow_count,
        reverse_bandwidth_bps=reverse_bandwidth_bps,
        mtu_bytes=mtu_bytes,
        ip_version=ip_version,
        tcp_option_bytes=tcp_option_bytes,
        link_bytes=link_bytes,
        initial_window_segments=initial_window_segments,
        segments_per_ack=segments_per_ack,
        min_rto_s=min_rto_s,
        handshake_round_trips=handshake_round_trips,
    )
    return np.asarray(sum(parts, start=np.zeros(())))


@model
def transfer_parts(
    payload_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    rtt_s: ArrayLike,
    loss_ratio: ArrayLike = 0.0,
    congestion_control: CongestionControl = "cubic",
    window_bytes: ArrayLike = np.inf,
    flow_count: ArrayLike = 1,
    reverse_bandwidth_bps: ArrayLike = np.inf,
    mtu_bytes: ArrayLike = 1500,
    ip_version: int = 4,
    tcp_option_bytes: ArrayLike = TIMESTAMP_BYTES,
    link_bytes: ArrayLike = ETHERNET_BYTES,
    initial_window_segments: ArrayLike = 10,
    segments_per_ack: ArrayLike = 1,
    min_rto_s: ArrayLike = MIN_RTO_S,
    handshake_round_trips: ArrayLike = 1,
) -> TransferParts:
    r"""Parts of the time of a TCP transfer; their sum is :func:`transfer_time_s`.

    .. math::

        T = h\,RTT + T_{start} + T_{recovery} + T_{steady} + \frac{RTT}{2}

    Parameters
    ----------
    payload_bytes : array_like
        Bytes to transfer. [byte]
    bandwidth_bps : array_like
        Rate of the line. [bit/s, line]
    rtt_s : array_like
        Round-trip time of a full segment on the idle path. [s]
    loss_ratio : array_like
        Random packet loss, without drops of a full buffer. [ratio]
    congestion_control : {'cubic', 'reno', 'bbr'}
        Congestion control of the sender; BBR is version 1. [text]
    window_bytes : array_like
        Largest window of a flow: the smaller of both hosts' buffers; infinite for no limit. [byte]
    flow_count : array_like
        Flows that share the transfer equally. [1]
    reverse_bandwidth_bps : array_like
        Rate of the line back, which carries an acknowledgement for two segments; infinite for no
        limit. [bit/s, line]
    mtu_bytes : array_like
        Size of the full IP packets. [byte]
    ip_version : int
        4 or 6. [1]
    tcp_option_bytes : array_like
        TCP options: 12 with timestamps, at most 40. [byte]
    link_bytes : array_like
        Bytes of the link around each packet: 38 of Ethernet with preamble and gap, 0 where the rate
        counts IP; from 38 on, packets below 46 B are padded. [byte]
    initial_window_segments : array_like
        First window. [1]
    segments_per_ack : array_like
        Segments for which the window grows by one acknowledgement: 1 in Linux, which counts bytes.
        [1]
    min_rto_s : array_like
        Minimum of the timeout above the round trip: 0.2 s in Linux. [s]
    handshake_round_trips : array_like
        Round trips before the first data: 0 on an open connection, 1 TCP, 2 with TLS 1.3. [1]

    Returns
    -------
    TransferParts
        Time of the handshake, of the rounds in which the window grows, of the first loss, of the
        rest at the steady rate (``inf`` where all is lost or the headers leave no payload), and of
        the last byte on its way; nan where a window grows by nothing. [s]

    Raises
    ------
    DomainError
        If the headers do not fit.

    See Also
    --------
    transfer_time_s : The whole time.

    Notes
    -----
    Validity: as :func:`transfer_time_s`.

    Range: that of path_ceilings; loss_count (losses that a flow has to expect, where they limit it)
    from 100.

    Defaults: congestion_control, segments_per_ack, min_rto_s, tcp_option_bytes.

    Symbols: :math:`RTT` rtt_s, :math:`h` handshake_round_trips. Not in the equation: payload_bytes,
    bandwidth_bps, loss_ratio, congestion_control, window_bytes, flow_count, reverse_bandwidth_bps,
    mtu_bytes, ip_version, tcp_option_bytes, link_bytes, initial_window_segments, segments_per_ack,
    min_rto_s (in the parts).

    Examples
    --------
    >>> parts = transfer_parts(1e6, bandwidth_bps=1e9, rtt_s=0.04)
    >>> [round(float(part), 3) for part in parts]
    [0.04, 0.24, 0.0, 0.001, 0.02]

    References
    ----------
    Cardwell, Savage and Anderson, INFOCOM 2000, doi:10.1109/INFCOM.2000.832574, eq. 5 to 25, with
    the line.
    """
    payload = non_negative("payload_bytes", payload_bytes)
    rate = positive("bandwidth_bps", bandwidth_bps)
    rtt, loss = positive("rtt_s", rtt_s), ratio("loss_ratio", loss_ratio)
    flows = whole("flow_count", flow_count, low=1)
    ceilings = path_ceilings(
        rate,
        rtt_s=rtt,
        loss_ratio=loss,
        congestion_control=congestion_control,
        window_bytes=window_bytes,
        flow_count=flows,
        reverse_bandwidth_bps=reverse_bandwidth_bps,
        mtu_bytes=mtu_bytes,
        ip_version=ip_version,
        tcp_option_bytes=tcp_option_bytes,
        link_bytes=link_bytes,
        segments_per_ack=segments_per_ack,
        min_rto_s=min_rto_s,
    )
    mss, wire, ack = wire_sizes(
        mtu_bytes, ip_version=ip_version, tcp_option_bytes=tcp_option_bytes, link_bytes=link_bytes
    )
    largest = positive("window_bytes", window_bytes, allow_inf=True) / mss
    largest = np.maximum(largest, np.finfo(np.float64).tiny)
    back = positive("reverse_bandwidth_bps", reverse_bandwidth_bps, allow_inf=True)
    first = positive("initial_window_segments", initial_window_segments)
    per_ack = positive("segments_per_ack", segments_per_ack)
    rto = rtt + non_negative("min_rto_s", min_rto_s)
    opened = whole("handshake_round_trips", handshake_round_trips) * rtt

    segment, answer = 8.0 * wire / rate, 8.0 * ack / back / SEGMENTS_PER_BARE_ACK
    exchange = np.maximum(segment, answer)
    sizes = {"mtu": as_float("mtu_bytes", mtu_bytes), "link": as_float("link_bytes", link_bytes)}
    own = line_segments(payload / flows, mss=mss, wire=wire, **sizes)
    segments = np.where(payload > 0, own, payload)
    limit = ceilings.loss_bps
    lowest = np.minimum(limit, np.minimum(ceilings.window_bps, ceilings.line_bps))
    lowest = np.minimum(lowest, ceilings.acknowledgements_bps)
    steady = np.where(mss > 0, lowest / (8.0 * mss * flows), 0.0)
    tcp_window(np.minimum(payload, lowest * rtt / 8.0) / flows)
    note_first(
        "flows-below-segment", "payload_bytes", (flows > 1.0) & (payload < flows * mss),
        payload / flows, mss,
    )  # fmt: skip
    if congestion_control == "bbr":
        # Its start ends at a full line, not at a loss, and doubles each round; what is lost takes
        # the line once more.
        growth = np.full_like(per_ack, 2.0)
        started = np.where(np.isinf(limit), segments, 0.0)
        lost = np.zeros_like(loss)
        clock = flows * np.maximum(segment / np.where(loss < 1.0, 1.0 - loss, 1.0), answer)
    else:
        growth = 1.0 + 1.0 / per_ack
        few = np.where((limit <= lowest) & (loss < 1.0), segments * loss, np.nan)
        note_few_losses(transfer_parts, few)
        lost = np.where(segments > 0, -np.expm1(segments * np.log1p(-loss)), 0.0 * loss)
        started = slow_start_segments(segments, loss_ratio=loss) + lost
        started = np.clip(started, np.minimum(segments, 1.0), segments)
        clock = flows * exchange
    base = np.maximum(rtt - clock, 0.0)
    growing, rest = sending_parts(started, clock, base, first, growth, largest)
    # A repair that is lost waits for the timer, as in the steady rate.
    stalled = loss * timeout_sequence_s(loss, rto_s=rto) + (1.0 - loss) * rtt
    recovery = np.where(lost > 0, lost * stalled, 0.0 * lost)
    left = segments - started
    after = np.where(left > 0, left / steady, 0.0 * left)
    after = np.where((loss == 1.0) & (segments > 0), np.inf, rest + after)
    recovery = np.where(loss == 1.0, 0.0, recovery)
    delivery = np.maximum(rtt - exchange, 0.0) / 2.0
    # A number that is missing spoils all parts, also those that do not depend on it.
    inputs = (payload, clock, back, rto, loss, largest, first, per_ack, opened, mss)
    spoilt = np.where(np.isnan(sum(inputs, start=np.zeros(()))), np.nan, 0.0)
    parts = (opened, growing, recovery, after, delivery)
    return TransferParts(*(np.asarray(part + spoilt) for part in parts))
