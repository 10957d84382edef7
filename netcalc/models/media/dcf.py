r"""Wi-Fi without aggregation (802.11a, b and g): one station, and many that compete (Bianchi).

A station waits for the medium to be idle, then for a random number of slots, sends one frame and
gets an acknowledgement. Stations that end their wait in the same slot collide and double their
window. All of a frame's parts but the data go at low rates, so that much of the rate is lost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.models.bounds import not_above, one_of
from netcalc.models.media._answers import answer_bps

SLOT_S = 9e-6
SIFS_S = 16e-6
DIFS_S = SIFS_S + 2 * SLOT_S
"""802.11a, and 802.11g among its own kind (there with 6 µs more after each frame)."""
SYMBOL_S = 4e-6
OFDM_PREAMBLE_S = 20e-6
"""Training 16 and SIGNAL 4."""
SERVICE_AND_TAIL_BITS = 16.0 + 6.0
ACK_BYTES = 14.0
"""Of a CTS as well."""
RTS_BYTES = 20.0
MAC_BYTES = 36.0
"""MAC header 24, FCS 4, LLC and SNAP 8."""

MAX_MSDU_BYTES = 2304.0
"""Most that a MAC frame carries (IEEE 802.11-2016, 9.2.4.7)."""
MAX_PACKET_BYTES = MAX_MSDU_BYTES - 8.0
"""An IP packet with LLC and SNAP."""
OFDM_BPS = (6e6, 9e6, 12e6, 18e6, 24e6, 36e6, 48e6, 54e6)
DSSS_BPS = (1e6, 2e6, 5.5e6, 11e6)

DSSS_SLOT_S = 20e-6
DSSS_SIFS_S = 10e-6
DSSS_DIFS_S = DSSS_SIFS_S + 2 * DSSS_SLOT_S
DSSS_PREAMBLE_S = 192e-6
DSSS_SHORT_PREAMBLE_S = 96e-6
DSSS_MAC_BYTES = 34.0
"""Header with four addresses 30 and FCS 4, as in the published table."""


@model
def ofdm_frame_s(frame_bytes: ArrayLike, *, bandwidth_bps: ArrayLike) -> FloatArray:
    r"""Airtime of an 802.11a or 802.11g frame.

    .. math::
        t = 20\,\mathrm{µs} + 4\,\mathrm{µs} \cdot \left\lceil \frac{22 + 8 F}{R \cdot
        4\,\mathrm{µs}} \right\rceil

    Parameters
    ----------
    frame_bytes : array_like
        Frame with MAC header and FCS. [byte]
    bandwidth_bps : array_like
        Rate of the data: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s. [bit/s]

    Returns
    -------
    numpy.ndarray
        Time from the first sample of the preamble to the end. [s]

    See Also
    --------
    dsss_frame_s : 802.11b.

    Notes
    -----
    Validity: channels of 20 MHz; service and tail are 22 bits, and the last symbol is filled up.

    Typical: 248 µs for 1500 bytes at 54 Mbit/s, of which 222 µs are data.

    Range: everywhere.

    Symbols: :math:`F` frame_bytes, :math:`R` bandwidth_bps.

    Examples
    --------
    >>> round(float(ofdm_frame_s(1536, bandwidth_bps=54e6)) * 1e6)
    248

    References
    ----------
    IEEE 802.11-2016, 17.3 (OFDM PHY), 17.4.3 (TXTIME).
    """
    frame = checks.non_negative("frame_bytes", frame_bytes)
    return _ofdm_s(frame, _ofdm_rate(bandwidth_bps))


@model
def dsss_frame_s(
    frame_bytes: ArrayLike, *, bandwidth_bps: ArrayLike, short_preamble: bool = False
) -> FloatArray:
    r"""Airtime of an 802.11b frame.

    .. math:: t = 192\,\mathrm{µs} + \frac{8 F}{R}

    Parameters
    ----------
    frame_bytes : array_like
        Frame with MAC header and FCS. [byte]
    bandwidth_bps : array_like
        Rate of the data: 1, 2, 5.5 or 11 Mbit/s. [bit/s]
    short_preamble : bool
        Whether preamble and header take 96 µs. [bool]

    Returns
    -------
    numpy.ndarray
        Time from the beginning of the preamble to the end. [s]

    See Also
    --------
    ofdm_frame_s : 802.11a and 802.11g.

    Notes
    -----
    Validity: the standard counts whole microseconds, which this does not.

    Range: everywhere.

    Symbols: :math:`F` frame_bytes, :math:`R` bandwidth_bps. Not in the equation: short_preamble
    (which makes the first term 96 µs).

    Examples
    --------
    >>> round(float(dsss_frame_s(1534, bandwidth_bps=11e6)) * 1e6, 1)
    1307.6

    References
    ----------
    IEEE 802.11-2016, 16.2 and 16.3.4 (HR/DSSS PHY).
    """
    is_short = checks.flag("short_preamble", short_preamble)
    preamble = DSSS_SHORT_PREAMBLE_S if is_short else DSSS_PREAMBLE_S
    byte_s = 8.0 / _dsss_rate(bandwidth_bps)
    return preamble + checks.non_negative("frame_bytes", frame_bytes) * byte_s


@model
def ofdm_throughput_bps(
    packet_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    ack_bps: ArrayLike | None = None,
    contention_window: ArrayLike = 15,
    rts: bool = False,
) -> FloatArray:
    r"""Throughput of a single 802.11a or 802.11g station.

    .. math::
        G = \frac{8 L}{34\,\mathrm{µs} + 9\,\mathrm{µs} \cdot C / 2 + t_{data} + 16\,\mathrm{µs} +
        t_{ack}}

    Parameters
    ----------
    packet_bytes : array_like
        IP packet; MAC header, FCS, LLC and SNAP are 36 bytes more. [byte]
    bandwidth_bps : array_like
        Rate of the data: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s. [bit/s]
    ack_bps : array_like, optional
        Rate of the acknowledgement: 6, 12 or 24 Mbit/s, by default the highest of them that is not
        above that of the data. [bit/s]
    contention_window : array_like
        Least contention window; its half is the mean wait in slots. [1]
    rts : bool
        Whether RTS and CTS go before each frame. [bool]

    Returns
    -------
    numpy.ndarray
        Rate of IP packets. [bit/s, IP]

    See Also
    --------
    dsss_throughput_bps : 802.11b.
    netcalc.models.media.aggregates.wifi_throughput_bps : Aggregation.
    saturation_throughput_bps : Many stations.

    Notes
    -----
    Validity: no collisions, losses, encryption or neighbours. 802.11g beside 802.11b stations is
    slower: longer slots and protection.

    Typical: 30.5 of 54 Mbit/s, 5.4 of 6.

    Range: everywhere.

    Symbols: :math:`L` packet_bytes, :math:`C` contention_window. Not in the equation:
    bandwidth_bps, ack_bps, rts (they give the airtime of data and acknowledgement; RTS and CTS add
    theirs, and two SIFS).

    Examples
    --------
    >>> round(float(ofdm_throughput_bps(1500, bandwidth_bps=54e6)) / 1e6, 2)
    30.5

    References
    ----------
    IEEE 802.11-2016, 10.3 (DCF), 17.4.3; Jun, Peddabachagari and Sichitiu, Theoretical maximum
    throughput of IEEE 802.11 and its applications, NCA 2003, doi:10.1109/NCA.2003.1201163.
    """
    packet = checks.up_to("packet_bytes", packet_bytes, MAX_PACKET_BYTES)
    rate, answers = _ofdm_rates(bandwidth_bps, ack_bps)
    wait = DIFS_S + SLOT_S / 2.0 * checks.whole("contention_window", contention_window)
    data = _ofdm_s(packet + MAC_BYTES, rate)
    ack = _ofdm_s(np.asarray(ACK_BYTES), answers)
    before = np.zeros(())
    if checks.flag("rts", rts):
        asked = _ofdm_s(np.asarray(RTS_BYTES), answers)
        before = asked + SIFS_S + ack + SIFS_S
    return 8.0 * (packet / (wait + before + data + SIFS_S + ack))


@model
def dsss_throughput_bps(
    packet_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    ack_bps: ArrayLike = 1e6,
    contention_window: ArrayLike = 31,
    rts: bool = False,
) -> FloatArray:
    r"""Throughput of a single 802.11b station.

    .. math::
        G = \frac{8 L}{50\,\mathrm{µs} + 20\,\mathrm{µs} \cdot C / 2 + 2 \cdot 192\,\mathrm{µs} +
        8 (L + 34) / R + 10\,\mathrm{µs} + 112 / R_a}

    Parameters
    ----------
    packet_bytes : array_like
        What the MAC carries: an IP packet with LLC and SNAP (8 bytes). [byte]
    bandwidth_bps : array_like
        Rate of the data: 1, 2, 5.5 or 11 Mbit/s. [bit/s]
    ack_bps : array_like
        Rate of the acknowledgement. [bit/s]
    contention_window : array_like
        Least contention window; its half is the mean wait in slots. [1]
    rts : bool
        Whether RTS and CTS go before each frame. [bool]

    Returns
    -------
    numpy.ndarray
        Rate of what the MAC carries. [bit/s, IP]

    See Also
    --------
    ofdm_throughput_bps : 802.11a and 802.11g.

    Notes
    -----
    Validity: long preambles; no collisions, losses, encryption or neighbours.

    Typical: 6.06 of 11 Mbit/s.

    Range: everywhere.

    Symbols: :math:`L` packet_bytes, :math:`R` bandwidth_bps, :math:`R_a` ack_bps, :math:`C`
    contention_window. Not in the equation: rts (which adds RTS, CTS and two SIFS).

    Examples
    --------
    >>> round(float(dsss_throughput_bps(1500, bandwidth_bps=11e6)) / 1e6, 3)
    6.056

    References
    ----------
    Jun, Peddabachagari and Sichitiu, Theoretical maximum throughput of IEEE 802.11 and its
    applications, NCA 2003, table 2, doi:10.1109/NCA.2003.1201163.
    """
    packet = checks.up_to("packet_bytes", packet_bytes, MAX_MSDU_BYTES)
    rate, answers = _dsss_rate(bandwidth_bps), checks.positive("ack_bps", ack_bps)
    not_above("acknowledgement-above-data", "ack_bps", answers, rate)
    wait = DSSS_DIFS_S + DSSS_SLOT_S / 2.0 * checks.whole("contention_window", contention_window)
    data = (packet + DSSS_MAC_BYTES) * (8.0 / rate)
    ack = 8.0 * ACK_BYTES / answers
    before = np.zeros(())
    if checks.flag("rts", rts):
        asked = 8.0 * RTS_BYTES / answers
        before = 2.0 * (DSSS_PREAMBLE_S + DSSS_SIFS_S) + asked + ack  # the CTS is as long
    exchange = wait + before + 2.0 * DSSS_PREAMBLE_S + data + DSSS_SIFS_S + ack
    return 8.0 * (packet / exchange)


@model
def attempt_ratio(
    station_count: ArrayLike, *, window_slots: ArrayLike = 16, stage_count: ArrayLike = 6
) -> FloatArray:
    r"""Probability that a station sends in a slot, when all always have a frame (Bianchi).

    .. math::
        \tau = \frac{2}{1 + W + p W \sum_{i=0}^{m-1} (2 p)^i}, \quad p = 1 - (1 - \tau)^{n - 1}

    Parameters
    ----------
    station_count : array_like
        Stations that always have a frame. [1]
    window_slots : array_like
        Slots of the first window: CWmin + 1. [1]
    stage_count : array_like
        How often the window doubles. [1]

    Returns
    -------
    numpy.ndarray
        Probability. [ratio]

    See Also
    --------
    collision_ratio : That it collides.

    Notes
    -----
    Validity: saturated stations that all hear each other; a frame collides with the same
    probability at each attempt, whatever has been before. Without a limit to the retries. Within 1
    % of a simulation of the slots, with windows of 16 and more and up to 100 stations.

    Typical: 16 slots and 6 doublings with 802.11a and g, 32 and 5 with 802.11b.

    Range: station_count up to 100; window_slots from 16.

    Symbols: :math:`n` station_count, :math:`W` window_slots, :math:`m` stage_count,
    :math:`\tau` result.

    Examples
    --------
    >>> round(float(attempt_ratio(10, window_slots=32, stage_count=3)), 6)
    0.038685

    References
    ----------
    Bianchi, Performance analysis of the IEEE 802.11 distributed coordination function, IEEE J. Sel.
    Areas Commun. 18 (2000), equations 7 and 9, doi:10.1109/49.840210.
    """
    count = checks.whole("station_count", station_count, low=1)
    window = checks.whole("window_slots", window_slots, low=1)
    stages = checks.whole("stage_count", stage_count)
    return _attempts(count, window, stages)


@model
def collision_ratio(
    station_count: ArrayLike, *, window_slots: ArrayLike = 16, stage_count: ArrayLike = 6
) -> FloatArray:
    r"""Probability that a frame collides, when all stations always have one (Bianchi).

    .. math:: p = 1 - (1 - \tau)^{n - 1}

    Parameters
    ----------
    station_count : array_like
        Stations that always have a frame. [1]
    window_slots : array_like
        Slots of the first window: CWmin + 1. [1]
    stage_count : array_like
        How often the window doubles. [1]

    Returns
    -------
    numpy.ndarray
        Probability at each attempt. [ratio]

    See Also
    --------
    attempt_ratio : That a station sends in a slot.

    Notes
    -----
    Validity: as :func:`attempt_ratio`, which gives :math:`\tau`. Within 8 % of a simulation of the
    slots, and 2 % from five stations on.

    Typical: 30 % with ten stations, a first window of 32 slots and 3 doublings.

    Range: station_count up to 100; window_slots from 16.

    Symbols: :math:`n` station_count. Not in the equation: window_slots, stage_count (they are in
    the probability of an attempt).

    Examples
    --------
    >>> round(float(collision_ratio(10, window_slots=32, stage_count=3)), 4)
    0.2989

    References
    ----------
    Bianchi, Performance analysis of the IEEE 802.11 distributed coordination function, IEEE J. Sel.
    Areas Commun. 18 (2000), equation 9, doi:10.1109/49.840210.
    """
    count = checks.whole("station_count", station_count, low=1)
    window = checks.whole("window_slots", window_slots, low=1)
    stages = checks.whole("stage_count", stage_count)
    attempt = _attempts(count, window, stages)
    return checks.keep_nan(_collisions(attempt, count), count, window, stages)


@model
def saturation_utilization(
    station_count: ArrayLike,
    *,
    payload_s: ArrayLike,
    success_s: ArrayLike,
    collision_s: ArrayLike,
    slot_s: ArrayLike,
    window_slots: ArrayLike = 16,
    stage_count: ArrayLike = 6,
) -> FloatArray:
    r"""Share of the time that carries payload, when all stations always have a frame (Bianchi).

    .. math::
        S = \frac{P_s \, t_p}{P_0 \, \sigma + P_s T_s + (1 - P_0 - P_s) T_c}, \quad
        P_0 = (1 - \tau)^n, \; P_s = n \tau (1 - \tau)^{n - 1}

    Parameters
    ----------
    station_count : array_like
        Stations that always have a frame. [1]
    payload_s : array_like
        Time that the payload of a frame takes. [s]
    success_s : array_like
        Time of a frame, its acknowledgement and all pauses. [s]
    collision_s : array_like
        Time that a collision takes, with the pause after it. [s]
    slot_s : array_like
        An idle slot. [s]
    window_slots : array_like
        Slots of the first window: CWmin + 1. [1]
    stage_count : array_like
        How often the window doubles. [1]

    Returns
    -------
    numpy.ndarray
        Share of the time; nan where the payload takes longer than the whole frame. [ratio]

    See Also
    --------
    saturation_throughput_bps : The rate with 802.11a or g.

    Notes
    -----
    Validity: as :func:`attempt_ratio`, which gives :math:`\tau`; frames of one length, no errors.
    With windows of 16 slots and more, and up to 100 stations, within 1 % of a simulation of the
    slots.

    Range: station_count up to 100; window_slots from 16.

    Symbols: :math:`n` station_count, :math:`t_p` payload_s, :math:`T_s` success_s, :math:`T_c`
    collision_s, :math:`\sigma` slot_s. Not in the equation: window_slots, stage_count (they are in
    the probability of an attempt).

    Examples
    --------
    Ten stations with frames of 8184 bits at 1 Mbit/s, as in the published figures:

    >>> utilization = saturation_utilization(
    ...     10, payload_s=8184e-6, success_s=8982e-6, collision_s=8713e-6, slot_s=50e-6,
    ...     window_slots=32, stage_count=3,
    ... )
    >>> round(float(utilization), 4)
    0.7532

    References
    ----------
    Bianchi, Performance analysis of the IEEE 802.11 distributed coordination function, IEEE J. Sel.
    Areas Commun. 18 (2000), equations 13 and 14, doi:10.1109/49.840210.
    """
    count = checks.whole("station_count", station_count, low=1)
    window = checks.whole("window_slots", window_slots, low=1)
    stages = checks.whole("stage_count", stage_count)
    idle, success_ratio, several = _slots(_attempts(count, window, stages), count)
    payload, success = (
        checks.non_negative("payload_s", payload_s),
        checks.positive("success_s", success_s),
    )
    time = idle * checks.non_negative("slot_s", slot_s) + success_ratio * success
    share = (
        success_ratio * payload / (time + several * checks.non_negative("collision_s", collision_s))
    )
    return checks.keep_nan(np.where(payload > success, np.nan, share), count, window, stages)


@model
def saturation_throughput_bps(
    station_count: ArrayLike,
    *,
    packet_bytes: ArrayLike,
    bandwidth_bps: ArrayLike,
    ack_bps: ArrayLike | None = None,
    window_slots: ArrayLike = 16,
    stage_count: ArrayLike = 6,
) -> FloatArray:
    r"""Throughput of all stations of an 802.11a or 802.11g network that always have a frame.

    .. math::
        G = \frac{P_s \, 8 L}{P_0 \cdot 9\,\mathrm{µs} + P_s T_s + (1 - P_0 - P_s) T_c}

    Parameters
    ----------
    station_count : array_like
        Stations that always have a frame. [1]
    packet_bytes : array_like
        IP packet; MAC header, FCS, LLC and SNAP are 36 bytes more. [byte]
    bandwidth_bps : array_like
        Rate of the data: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s. [bit/s]
    ack_bps : array_like, optional
        Rate of the acknowledgement: 6, 12 or 24 Mbit/s, by default the highest of them that is not
        above that of the data. [bit/s]
    window_slots : array_like
        Slots of the first window: CWmin + 1. [1]
    stage_count : array_like
        How often the window doubles. [1]

    Returns
    -------
    numpy.ndarray
        Rate of IP packets, all stations together. [bit/s, IP]

    See Also
    --------
    saturation_utilization : Any times.
    ofdm_throughput_bps : A station alone.

    Notes
    -----
    Validity: as :func:`attempt_ratio`. After a collision all wait as after a frame (EIFS, which
    lasts as long as the acknowledgement, is taken as part of it).

    Typical: 27.5 Mbit/s with 10 stations at 54 Mbit/s.

    Range: station_count up to 100; window_slots from 16.

    Symbols: :math:`L` packet_bytes. Not in the equation: station_count, bandwidth_bps, ack_bps,
    window_slots, stage_count (they give the probabilities and the times).

    Examples
    --------
    >>> rate = saturation_throughput_bps(10, packet_bytes=1500, bandwidth_bps=54e6)
    >>> round(float(rate) / 1e6, 1)
    27.5

    References
    ----------
    Bianchi, Performance analysis of the IEEE 802.11 distributed coordination function, IEEE J. Sel.
    Areas Commun. 18 (2000), equations 13 and 14, doi:10.1109/49.840210, with the times of IEEE
    802.11-2016, 17.4.
    """
    count = checks.whole("station_count", station_count, low=1)
    window = checks.whole("window_slots", window_slots, low=1)
    stages = checks.whole("stage_count", stage_count)
    packet = checks.up_to("packet_bytes", packet_bytes, MAX_PACKET_BYTES)
    rate, answers = _ofdm_rates(bandwidth_bps, ack_bps)
    data = _ofdm_s(packet + MAC_BYTES, rate)
    ack = _ofdm_s(np.asarray(ACK_BYTES), answers)
    idle, success_ratio, several = _slots(_attempts(count, window, stages), count)
    busy = data + SIFS_S + ack + DIFS_S
    time = idle * SLOT_S + (success_ratio + several) * busy
    return checks.keep_nan(8.0 * (packet / time) * success_ratio, count, window, stages)


def _ofdm_rate(bandwidth_bps: ArrayLike) -> FloatArray:
    rate = checks.positive("bandwidth_bps", bandwidth_bps)
    one_of("bandwidth_bps", rate, OFDM_BPS, "6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s")
    return rate


def _dsss_rate(bandwidth_bps: ArrayLike) -> FloatArray:
    rate = checks.positive("bandwidth_bps", bandwidth_bps)
    one_of("bandwidth_bps", rate, DSSS_BPS, "1, 2, 5.5 or 11 Mbit/s")
    return rate


def _ofdm_rates(
    bandwidth_bps: ArrayLike, ack_bps: ArrayLike | None
) -> tuple[FloatArray, FloatArray]:
    """Return the rates of data and of acknowledgements; note an acknowledgement that is faster."""
    data = _ofdm_rate(bandwidth_bps)
    if ack_bps is None:
        return data, answer_bps(data)
    answers = checks.positive("ack_bps", ack_bps)
    not_above("acknowledgement-above-data", "ack_bps", answers, data)
    return data, answers


def _ofdm_s(frame: FloatArray, rate: FloatArray) -> FloatArray:
    bits = rate * SYMBOL_S  # of a symbol
    symbols = np.ceil((SERVICE_AND_TAIL_BITS / bits + frame * (8.0 / bits)) * (1.0 - 1e-12))
    airtime: FloatArray = OFDM_PREAMBLE_S + SYMBOL_S * symbols
    return airtime


def _collisions(attempt: FloatArray, count: FloatArray) -> FloatArray:
    """Return the probability that any of the other stations sends in a slot."""
    others = count - 1.0
    quiet = np.where(others > 0.0, others * np.log1p(-attempt), 0.0)
    shared: FloatArray = -np.expm1(quiet)
    return shared


def _attempts(count: FloatArray, window: FloatArray, stages: FloatArray) -> FloatArray:
    """Return the fixed point, by halving: one side rises with the attempts, the other falls."""
    count, window, stages = np.broadcast_arrays(count, window, stages)
    low, high = np.zeros(count.shape), np.ones(count.shape)
    for _ in range(1100):
        middle = 0.5 * (low + high)
        twice = 2.0 * _collisions(middle, count)
        power = np.exp(stages * np.log(twice))
        grown = np.where(
            np.abs(twice - 1.0) > 1e-9,
            (power - 1.0) / (twice - 1.0),
            stages * (1.0 + (stages - 1.0) / 2.0 * (twice - 1.0)),
        )
        grown = np.where(stages > 0.0, grown, 0.0)
        answer = 2.0 / (1.0 + window * (1.0 + 0.5 * twice * grown))
        is_low = middle < answer
        before = low, high
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        if (low == before[0]).all() and (high == before[1]).all():
            break
    return checks.keep_nan(high, count, window, stages)


def _slots(attempt: FloatArray, count: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the shares of slots in which none, one and several send."""
    log_quiet = np.log1p(-attempt)
    idle = np.exp(count * log_quiet)
    others = np.where(count > 1.0, (count - 1.0) * log_quiet, 0.0)
    success = count * attempt * np.exp(others)
    return idle, success, np.maximum(1.0 - idle - success, 0.0)
