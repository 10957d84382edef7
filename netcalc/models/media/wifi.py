"""Wi-Fi: one station, and many that compete (Bianchi); without aggregation and with it.

A station waits for the medium to be idle, then for a random number of slots, sends one frame and
gets an acknowledgement. Stations that end their wait in the same slot collide and double their
window. All of a frame's parts but the data go at low rates, so that much of the rate is lost.

An aggregate (A-MPDU of 802.11n, ac and ax) is a preamble and many packets behind it, all
acknowledged by one block acknowledgement, so that the wait for the medium is paid once for all of
them. The rate that a product is sold by is the rate of the data symbols alone.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import checks
from netcalc.checks import FloatArray, keep_nan, model
from netcalc.errors import DomainError
from netcalc.models.bounds import not_above, note_first, one_of

SLOT_S = 9e-6
SIFS_S = 16e-6
DIFS_S = SIFS_S + 2 * SLOT_S
"""802.11a, and 802.11g among its own kind: SIFS is 10 µs there, behind 6 µs of extension."""
SYMBOL_S = 4e-6
SIGNAL_EXTENSION_S = {"802.11a": 0.0, "802.11g": 6e-6}
"""Silence that belongs to a frame in 2.4 GHz (IEEE 802.11-2016, 18.3.2.4)."""
OFDM_PREAMBLE_S = 20e-6
"""Training 16 and SIGNAL 4."""
SERVICE_AND_TAIL_BITS = 16.0 + 6.0
ACK_BYTES = 14.0
"""Of a CTS as well."""
RTS_BYTES = 20.0
MAC_BYTES = 36.0
"""MAC header 24, FCS 4, LLC and SNAP 8."""

MAX_PSDU_BYTES = 4095.0
"""Longest frame of 802.11a, b and g: aPSDUMaxLength (IEEE 802.11-2016, tables 16-4 and 17-21)."""
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
def ofdm_frame_s(
    frame_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    standard: Literal["802.11a", "802.11g"] = "802.11a",
) -> FloatArray:
    r"""Airtime of an 802.11a or 802.11g frame.

    .. math::
        t = 20\,\mathrm{µs} + 4\,\mathrm{µs} \cdot \left\lceil \frac{22 + 8 F}{R \cdot
        4\,\mathrm{µs}} \right\rceil + e

    Parameters
    ----------
    frame_bytes : array_like
        Frame with MAC header and FCS, at most 4095 bytes. [byte]
    bandwidth_bps : array_like
        Rate of the data: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s. [bit/s]
    standard : {"802.11a", "802.11g"}
        Standard: 802.11g, in 2.4 GHz, has an extension of 6 µs behind each frame. [text]

    Returns
    -------
    numpy.ndarray
        Time from the first sample of the preamble to the end, the extension included. [s]

    See Also
    --------
    dsss_frame_s : 802.11b.

    Notes
    -----
    Validity: channels of 20 MHz; service and tail are 22 bits, and the last symbol is filled up.
    The extension of 802.11g is silence; SIFS is 10 µs there, so that a pause is 16 µs with both.

    Typical: 248 µs for 1500 bytes at 54 Mbit/s, of which 222 µs are data; 254 µs with 802.11g.

    Range: everywhere.

    Defaults: standard.

    Symbols: :math:`F` frame_bytes, :math:`R` bandwidth_bps, :math:`e` standard (802.11a: 0 µs,
    802.11g: 6 µs).

    Examples
    --------
    >>> round(float(ofdm_frame_s(1536, bandwidth_bps=54e6)) * 1e6)
    248

    References
    ----------
    IEEE 802.11-2016, 17.3 (OFDM PHY), 17.4.3 and 18.5.3.2 (TXTIME).
    """
    checks.choice("standard", standard, tuple(SIGNAL_EXTENSION_S))
    frame = _whole_bytes("frame_bytes", frame_bytes, MAX_PSDU_BYTES)
    return _ofdm_s(frame, _ofdm_rate(bandwidth_bps)) + SIGNAL_EXTENSION_S[standard]


@model
def dsss_frame_s(
    frame_bytes: ArrayLike, *, bandwidth_bps: ArrayLike, short_preamble: bool = False
) -> FloatArray:
    r"""Airtime of an 802.11b frame.

    .. math:: t = 192\,\mathrm{µs} + \frac{8 F}{R}

    Parameters
    ----------
    frame_bytes : array_like
        Frame with MAC header and FCS, at most 4095 bytes. [byte]
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
    return preamble + checks.up_to("frame_bytes", frame_bytes, MAX_PSDU_BYTES) * byte_s


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
        above the data rate. [bit/s]
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
    netcalc.models.media.wifi.wifi_throughput_bps : Aggregation.
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
    packet = _whole_bytes("packet_bytes", packet_bytes, MAX_PACKET_BYTES)
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
        above the data rate. [bit/s]
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
    packet = _whole_bytes("packet_bytes", packet_bytes, MAX_PACKET_BYTES)
    rate, answers = _ofdm_rates(bandwidth_bps, ack_bps)
    data = _ofdm_s(packet + MAC_BYTES, rate)
    ack = _ofdm_s(np.asarray(ACK_BYTES), answers)
    idle, success_ratio, several = _slots(_attempts(count, window, stages), count)
    busy = data + SIFS_S + ack + DIFS_S
    time = idle * SLOT_S + (success_ratio + several) * busy
    return checks.keep_nan(8.0 * (packet / time) * success_ratio, count, window, stages)


def _whole_bytes(name: str, size: ArrayLike, most: float) -> FloatArray:
    """Return a size in whole bytes, as what fills symbols up is no matter of a mean."""
    return checks.whole(name, checks.up_to(name, size, most))


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
        return data, _answer_bps(data)
    answers = checks.positive("ack_bps", ack_bps)
    not_above("acknowledgement-above-data", "ack_bps", answers, data)
    return data, answers


def _ofdm_s(frame: FloatArray, rate: FloatArray) -> FloatArray:
    bits = rate * SYMBOL_S  # of a symbol
    symbols = checks.rounded_up(SERVICE_AND_TAIL_BITS / bits + frame * (8.0 / bits))
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


Standard: TypeAlias = Literal["802.11n", "802.11ac", "802.11ax"]

STANDARDS = ("802.11n", "802.11ac", "802.11ax")

DATA_SUBCARRIERS: dict[str, dict[float, float]] = {
    "802.11n": {20e6: 52, 40e6: 108},
    "802.11ac": {20e6: 52, 40e6: 108, 80e6: 234, 160e6: 468},
    "802.11ax": {20e6: 234, 40e6: 468, 80e6: 980, 160e6: 1960},
}
"""Data subcarriers of a channel, by its width; of 802.11ax in the whole channel for one station."""

BITS = (
    1 * 1 / 2, 2 * 1 / 2, 2 * 3 / 4, 4 * 1 / 2, 4 * 3 / 4, 6 * 2 / 3, 6 * 3 / 4, 6 * 5 / 6,
    8 * 3 / 4, 8 * 5 / 6, 10 * 3 / 4, 10 * 5 / 6,
)  # fmt: skip
"""Data bits of a subcarrier in a symbol, by the modulation and coding scheme (MCS)."""

MOST_SCHEMES = {"802.11n": 7, "802.11ac": 9, "802.11ax": 11}
MOST_STREAMS = {"802.11n": 4, "802.11ac": 8, "802.11ax": 8}
HT_SYMBOL_S = {"802.11n": 3.2e-6, "802.11ac": 3.2e-6, "802.11ax": 12.8e-6}
"""A data symbol without its guard interval."""

MOST_AGGREGATE_BYTES = {"802.11n": 65_535.0, "802.11ac": 1_048_575.0, "802.11ax": 6_500_631.0}
MOST_AGGREGATE_PACKETS = {"802.11n": 64.0, "802.11ac": 64.0, "802.11ax": 256.0}
MOST_PPDU_S = {"802.11n": 10e-3, "802.11ac": 5.484e-3, "802.11ax": 5.484e-3}

GUARDS: dict[str, tuple[tuple[float, ...], str]] = {
    "802.11n": ((0.4e-6, 0.8e-6), "0.4 or 0.8 µs"),
    "802.11ac": ((0.4e-6, 0.8e-6), "0.4 or 0.8 µs"),
    "802.11ax": ((0.8e-6, 1.6e-6, 3.2e-6), "0.8, 1.6 or 3.2 µs"),
}
LEFT_OUT = (
    (20e6, 9.0, (1.0, 2.0, 4.0, 5.0, 7.0, 8.0)),
    (80e6, 6.0, (3.0, 7.0)),
    (80e6, 9.0, (6.0,)),
    (160e6, 9.0, (3.0,)),
)
"""What 802.11ac has not: channel, scheme, streams (IEEE 802.11-2016, tables 21-30 to 21-61)."""

_PREAMBLE_S = {
    "802.11n": (32e-6, 4e-6),  # legacy 20, HT-SIG 8, short training 4
    "802.11ac": (36e-6, 4e-6),  # legacy 20, VHT-SIG-A 8, short training 4, VHT-SIG-B 4
    "802.11ax": (36e-6, 7.2e-6),  # legacy 20, repeated 4, HE-SIG-A 8, short training 4
}
"""Preamble without its long training fields, and one of them."""

TRAINING_FIELDS = (1, 2, 4, 4, 6, 6, 8, 8)
"""Long training fields, by spatial streams."""

AIFS_S = SIFS_S + 3 * SLOT_S
"""Best effort: SIFS and three slots."""
DELIMITER_BYTES = 4.0
MPDU_BYTES = 38.0
"""MAC header with QoS 26, FCS 4, LLC and SNAP 8; CCMP of WPA2 and WPA3 takes 16 more."""


@model
def wifi_rate_bps(
    mcs: ArrayLike,
    *,
    channel_hz: float = 80e6,
    stream_count: ArrayLike = 1,
    guard_s: ArrayLike = 0.8e-6,
    standard: Standard = "802.11ac",
) -> FloatArray:
    r"""Rate of the data of 802.11n, ac or ax.

    .. math:: R = \frac{n \, N \, b}{T + g}

    Parameters
    ----------
    mcs : array_like
        Modulation and coding scheme of each stream: 0 to 7 (n), 9 (ac) or 11 (ax). [1]
    channel_hz : float
        Width of the channel: 20, 40, 80 or 160 MHz. [Hz]
    stream_count : array_like
        Spatial streams. [1]
    guard_s : array_like
        Guard interval: 0.4 or 0.8 µs (n, ac), 0.8, 1.6 or 3.2 µs (ax). [s]
    standard : {"802.11n", "802.11ac", "802.11ax"}
        Standard. [text]

    Returns
    -------
    numpy.ndarray
        Rate, as products are sold by; nan where 802.11ac leaves the combination out. [bit/s, line]

    Raises
    ------
    DomainError
        If the standard has no such scheme, channel or number of streams.

    Notes
    -----
    Validity: 802.11n counts its schemes of several streams on: its MCS 15 is 7 with two streams.
    802.11ac leaves out what does not fill its encoders evenly, such as 9 in 20 MHz with one stream.

    Typical: 72.2 Mbit/s (n, 20 MHz, 7, 0.4 µs), 866.7 (ac, 80 MHz, 9, two streams, 0.4 µs), 1201
    (ax, 80 MHz, 11, two streams).

    Range: everywhere.

    Symbols: :math:`n` stream_count, :math:`g` guard_s. Not in the equation: mcs, channel_hz,
    standard (which give bits, subcarriers and symbol).

    Examples
    --------
    >>> rate = wifi_rate_bps(9, channel_hz=80e6, stream_count=2, guard_s=0.4e-6)
    >>> round(float(rate) / 1e6, 1)
    866.7

    References
    ----------
    IEEE 802.11-2016, 19.5 (802.11n) and 21.5 (802.11ac); IEEE 802.11ax-2021, 27.5.
    """
    checks.choice("standard", standard, STANDARDS)
    return _rate(mcs, channel_hz, stream_count, guard_s, standard)


@model
def wifi_aggregate_bytes(packet_count: ArrayLike, *, packet_bytes: ArrayLike) -> FloatArray:
    r"""Size of an aggregate of equal packets (A-MPDU).

    .. math:: A = k \left( 4 + 4 \left\lceil \frac{L + 38}{4} \right\rceil \right)

    Parameters
    ----------
    packet_count : array_like
        IP packets in the aggregate. [1]
    packet_bytes : array_like
        IP packet. [byte]

    Returns
    -------
    numpy.ndarray
        Bytes of the aggregate. [byte]

    See Also
    --------
    wifi_throughput_bps : The rate.

    Notes
    -----
    Validity: one packet in each MPDU, without encryption; each has a delimiter of 4 bytes, a MAC
    header with QoS of 26, an FCS of 4, LLC and SNAP of 8, and is filled to a multiple of 4 (the
    last one, too, which makes less than 4 bytes of difference).

    Range: everywhere.

    Symbols: :math:`k` packet_count, :math:`L` packet_bytes.

    Examples
    --------
    >>> float(wifi_aggregate_bytes(32, packet_bytes=1500))
    49408.0

    References
    ----------
    IEEE 802.11-2016, 9.7 (A-MPDU format).
    """
    count = checks.whole("packet_count", packet_count, low=1)
    return count * _subframe(_whole_bytes("packet_bytes", packet_bytes, MAX_PACKET_BYTES))


@model
def wifi_throughput_bps(
    packet_count: ArrayLike,
    *,
    packet_bytes: ArrayLike,
    mcs: ArrayLike = 9,
    channel_hz: float = 80e6,
    stream_count: ArrayLike = 1,
    guard_s: ArrayLike = 0.8e-6,
    standard: Standard = "802.11ac",
    ack_bps: ArrayLike | None = None,
    contention_window: ArrayLike = 15,
) -> FloatArray:
    r"""Throughput of a single 802.11n, ac or ax station that sends aggregates.

    .. math::
        G = \frac{8 k L}{43\,\mathrm{µs} + 9\,\mathrm{µs} \cdot C / 2 + t_p + t_d +
        16\,\mathrm{µs} + t_{ba}}, \quad
        t_d = \tau \left\lceil \frac{t_s}{\tau} \left\lceil \frac{22 + 8 A}{R \, t_s} \right\rceil
        \right\rceil

    Parameters
    ----------
    packet_count : array_like
        IP packets in each aggregate: at most 64, with 802.11ax 256. [1]
    packet_bytes : array_like
        IP packet. [byte]
    mcs : array_like
        Modulation and coding scheme of each stream: 0 to 7 (n), 9 (ac) or 11 (ax). [1]
    channel_hz : float
        Width of the channel: 20, 40, 80 or 160 MHz. [Hz]
    stream_count : array_like
        Spatial streams. [1]
    guard_s : array_like
        Guard interval: 0.4 or 0.8 µs (n, ac), 0.8, 1.6 or 3.2 µs (ax). [s]
    standard : {"802.11n", "802.11ac", "802.11ax"}
        Standard. [text]
    ack_bps : array_like, optional
        Rate of the block acknowledgement: 6, 12 or 24 Mbit/s, by default 6 with scheme 0, 12 with 1
        and 2, and 24 with the others. [bit/s]
    contention_window : array_like
        Least contention window; its half is the mean wait in slots. [1]

    Returns
    -------
    numpy.ndarray
        Rate of IP packets; nan where the standard does not allow it. [bit/s, IP]

    Raises
    ------
    DomainError
        If the standard has no such scheme, channel or number of streams.

    See Also
    --------
    wifi_aggregate_bytes : The size of the aggregate.
    netcalc.models.media.wifi.ofdm_throughput_bps : Without aggregation.

    Notes
    -----
    Validity: a station alone, best effort, no losses, no RTS, no encryption; the aggregate
    :math:`A` is :func:`wifi_aggregate_bytes`, the rate :math:`R` is :func:`wifi_rate_bps`. The
    data end on a multiple of :math:`\tau`: 4 µs (n, ac), a symbol of :math:`t_s` (ax). The preamble
    :math:`t_p` is of mixed format (n), or of 802.11ac or ax for one user, in 802.11ax with long
    training fields of 6.4 µs and 0.8 µs. Not allowed are rates that the standard leaves out, and
    aggregates of more packets or bytes, or longer, than it says. In 2.4 GHz SIFS is 10 µs behind an
    extension of 6 µs.

    Typical: 67 % of the rate with 16 packets of 1500 bytes at 433 Mbit/s, 87 % with 64.

    Range: everywhere.

    Symbols: :math:`k` packet_count, :math:`L` packet_bytes, :math:`C` contention_window. Not in the
    equation: mcs, channel_hz, stream_count, guard_s, standard, ack_bps (they give the rates and
    times).

    Examples
    --------
    >>> rates = wifi_throughput_bps([1, 16, 64], packet_bytes=1500, guard_s=0.4e-6)
    >>> [round(float(rate) / 1e6, 1) for rate in rates]
    [52.1, 291.6, 379.0]

    References
    ----------
    IEEE 802.11-2016, 10.22 (EDCA), 19.4.3 and 21.4.3 (TXTIME); IEEE 802.11ax-2021, 27.4.3; Ginzburg
    and Kesselman, Performance analysis of A-MPDU and A-MSDU aggregation in IEEE 802.11n, Sarnoff
    Symposium 2007, doi:10.1109/SARNOF.2007.4567389.
    """
    checks.choice("standard", standard, STANDARDS)
    rate = _rate(mcs, channel_hz, stream_count, guard_s, standard)
    count = checks.whole("packet_count", packet_count, low=1)
    packet = _whole_bytes("packet_bytes", packet_bytes, MAX_PACKET_BYTES)
    size = count * _subframe(packet)
    symbol = HT_SYMBOL_S[standard] + checks.non_negative("guard_s", guard_s)
    symbols = checks.rounded_up((SERVICE_AND_TAIL_BITS + 8.0 * size) / (rate * symbol))
    data = symbol * symbols
    if standard != "802.11ax":  # its receivers count from L-LENGTH and take any end
        data = SYMBOL_S * checks.rounded_up(data / SYMBOL_S)
    ppdu = _preamble_s(checks.whole("stream_count", stream_count, low=1), standard) + data
    wait = AIFS_S + SLOT_S / 2.0 * checks.whole("contention_window", contention_window)
    bitmap = np.where(count > 64.0, 32.0, 8.0)
    schemes = checks.whole("mcs", mcs)
    answers = (
        _answer_bps(_reference_bps(schemes))
        if ack_bps is None
        else checks.positive("ack_bps", ack_bps)
    )
    answer = ofdm_frame_s(24.0 + bitmap, bandwidth_bps=answers)
    total = 8.0 * (count * packet / (wait + ppdu + SIFS_S + answer))
    too_much: NDArray[np.bool_] = np.zeros((), bool)
    for name, values, most in (
        ("packet_count", count, MOST_AGGREGATE_PACKETS[standard]),
        ("aggregate_bytes", size, MOST_AGGREGATE_BYTES[standard]),
        ("airtime_s", ppdu, MOST_PPDU_S[standard]),
    ):
        not_above("above-standard", name, values, most, standard=standard, warns=False)
        too_much = too_much | (values > most)
    return checks.keep_nan(np.where(too_much, np.nan, total), count, packet, rate, answer)


def _subframe(packet: FloatArray) -> FloatArray:
    padded: FloatArray = DELIMITER_BYTES + 4.0 * np.ceil((packet + MPDU_BYTES) / 4.0)
    return padded


def _rate(
    mcs: ArrayLike,
    channel_hz: float,
    stream_count: ArrayLike,
    guard_s: ArrayLike,
    standard: Standard,
) -> FloatArray:
    scheme, streams = checks.whole("mcs", mcs), checks.whole("stream_count", stream_count, low=1)
    limits = (("mcs", scheme, 0, MOST_SCHEMES), ("stream_count", streams, 1, MOST_STREAMS))
    for name, values, low, most in limits:
        largest = float(np.fmax.reduce(np.ravel(values), initial=0.0))
        if largest <= most[standard]:
            continue
        if name == "mcs" and standard == "802.11n" and largest < 8 * MOST_STREAMS[standard]:
            own, more = largest % 8, largest // 8 + 1
            raise DomainError(
                "scheme-of-streams", name, largest, low=low, high=7, own=own, streams=more
            )
        raise DomainError("out-of-range", name, largest, low=low, high=most[standard])
    widths = DATA_SUBCARRIERS[standard]
    width = checks.scalar("channel_hz", checks.positive("channel_hz", channel_hz))
    if width not in widths and not np.isnan(width):
        raise DomainError("not-a-choice", "channel_hz", width, choices=list(widths))
    bits = np.asarray(BITS)[np.where(np.isnan(scheme), 0.0, scheme).astype(int)]
    guard = checks.non_negative("guard_s", guard_s)
    one_of("guard_s", guard, *GUARDS[standard])
    symbol = HT_SYMBOL_S[standard] + guard
    rate = streams * widths.get(width, np.nan) * bits / symbol
    if standard == "802.11ac":
        left_out = _is_left_out(width, scheme, streams)
        note_first("rate-left-out", "mcs", left_out, scheme, streams, mhz=width / 1e6, warns=False)
        rate = np.where(left_out, np.nan, rate)
    return checks.keep_nan(rate, scheme, streams)


def _is_left_out(width: float, scheme: FloatArray, streams: FloatArray) -> NDArray[np.bool_]:
    """Whether 802.11ac has no such combination, as its bits do not fill the encoders evenly."""
    left_out_here: NDArray[np.bool_] = np.zeros(
        np.broadcast_shapes(scheme.shape, streams.shape), bool
    )
    for left_out_hz, left_out, counts in LEFT_OUT:
        if width == left_out_hz:
            left_out_here |= (scheme == left_out) & np.isin(streams, counts)
    return left_out_here


def _reference_bps(scheme: FloatArray) -> FloatArray:
    """Return the rate of 802.11a with the modulation of a scheme, which its answers go by."""
    slow: FloatArray = np.where(scheme < 1.0, 6e6, np.where(scheme < 3.0, 12e6, 24e6))
    return checks.keep_nan(slow, scheme)


def _preamble_s(streams: FloatArray, standard: str) -> FloatArray:
    """Return the time before the first data symbol."""
    stream_count = np.clip(np.where(np.isnan(streams), 1.0, streams), 1, 8).astype(int)
    training: FloatArray = np.asarray(TRAINING_FIELDS, dtype=np.float64)[stream_count - 1]
    first, each = _PREAMBLE_S[standard]
    return first + each * training


def _answer_bps(data: FloatArray) -> FloatArray:
    """Return the highest mandatory rate that is not above the data (IEEE 802.11-2016, 10.7.6.5)."""
    answers: FloatArray = np.where(data >= 24e6, 24e6, np.where(data >= 12e6, 12e6, 6e6))
    return keep_nan(answers, data)
