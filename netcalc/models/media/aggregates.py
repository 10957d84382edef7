r"""Wi-Fi with aggregation (802.11n, ac and ax): rates, airtime and throughput.

An aggregate (A-MPDU) is a preamble and many packets behind it, all acknowledged by one block
acknowledgement, so that the wait for the medium is paid once for all of them. The rate that
a product is sold by is that of the data symbols alone.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError
from netcalc.models.bounds import one_of
from netcalc.models.media._answers import answer_bps
from netcalc.models.media.dcf import (
    MAX_PACKET_BYTES,
    SERVICE_AND_TAIL_BITS,
    SIFS_S,
    SLOT_S,
    ofdm_frame_s,
)

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
SYMBOL_S = {"802.11n": 3.2e-6, "802.11ac": 3.2e-6, "802.11ax": 12.8e-6}
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
        Rate, as products are sold by; nan where 802.11ac leaves the combination out, such as 9 in
        20 MHz with one stream. [bit/s, line]

    Raises
    ------
    DomainError
        If the standard has no such scheme, channel or number of streams.

    Notes
    -----
    Validity: 802.11n counts its schemes of several streams on: its MCS 15 is 7 with two streams.

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
    return count * _subframe(checks.up_to("packet_bytes", packet_bytes, MAX_PACKET_BYTES))


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
        G = \frac{8 k L}{43\,\mathrm{µs} + 9\,\mathrm{µs} \cdot C / 2 + t_p + t_s \left\lceil
        \frac{22 + 8 A}{R \, t_s} \right\rceil + 16\,\mathrm{µs} + t_{ba}}

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
        Rate of IP packets; nan where the standard has no such rate, and where the aggregate has
        more packets or bytes, or takes longer, than it allows. [bit/s, IP]

    Raises
    ------
    DomainError
        If the standard has no such scheme, channel or number of streams.

    See Also
    --------
    wifi_aggregate_bytes : The size of the aggregate.
    netcalc.models.media.dcf.ofdm_throughput_bps : Without aggregation.

    Notes
    -----
    Validity: a station alone, best effort, no losses, no RTS, no encryption; the aggregate
    :math:`A` is :func:`wifi_aggregate_bytes`, the rate :math:`R` is :func:`wifi_rate_bps`. The
    preamble :math:`t_p` is of mixed format (n), or of 802.11ac or ax for one user, in 802.11ax with
    long training fields of 6.4 µs and 0.8 µs.

    Typical: 68 % of the rate with 16 packets of 1500 bytes at 433 Mbit/s, 88 % with 64.

    Range: everywhere.

    Symbols: :math:`k` packet_count, :math:`L` packet_bytes, :math:`C` contention_window. Not in the
    equation: mcs, channel_hz, stream_count, guard_s, standard, ack_bps (they give the rates and
    times).

    Examples
    --------
    >>> rates = wifi_throughput_bps([1, 16, 64], packet_bytes=1500, guard_s=0.4e-6)
    >>> [round(float(rate) / 1e6, 1) for rate in rates]
    [52.8, 292.8, 379.5]

    References
    ----------
    IEEE 802.11-2016, 10.22 (EDCA), 19.4.3 and 21.4.3 (TXTIME); IEEE 802.11ax-2021, 27.4.3; Ginzburg
    and Kesselman, Performance analysis of A-MPDU and A-MSDU aggregation in IEEE 802.11n, Sarnoff
    Symposium 2007, doi:10.1109/SARNOF.2007.4567389.
    """
    checks.choice("standard", standard, STANDARDS)
    rate = _rate(mcs, channel_hz, stream_count, guard_s, standard)
    count = checks.whole("packet_count", packet_count, low=1)
    packet = checks.up_to("packet_bytes", packet_bytes, MAX_PACKET_BYTES)
    size = count * _subframe(packet)
    symbol = SYMBOL_S[standard] + checks.non_negative("guard_s", guard_s)
    symbols = np.ceil((SERVICE_AND_TAIL_BITS + 8.0 * size) / (rate * symbol) * (1.0 - 1e-12))
    ppdu = (
        _preamble_s(checks.whole("stream_count", stream_count, low=1), standard) + symbol * symbols
    )
    wait = AIFS_S + SLOT_S / 2.0 * checks.whole("contention_window", contention_window)
    bitmap = np.where(count > 64.0, 32.0, 8.0)
    schemes = checks.whole("mcs", mcs)
    answers = (
        answer_bps(_reference_bps(schemes))
        if ack_bps is None
        else checks.positive("ack_bps", ack_bps)
    )
    answer = ofdm_frame_s(24.0 + bitmap, bandwidth_bps=answers)
    total = 8.0 * (count * packet / (wait + ppdu + SIFS_S + answer))
    too_much = (
        (count > MOST_AGGREGATE_PACKETS[standard])
        | (size > MOST_AGGREGATE_BYTES[standard])
        | (ppdu > MOST_PPDU_S[standard])
    )
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
        if largest > most[standard]:
            raise DomainError("out-of-range", name, largest, low=low, high=most[standard])
    widths = DATA_SUBCARRIERS[standard]
    width = checks.scalar("channel_hz", checks.positive("channel_hz", channel_hz))
    if width not in widths and not np.isnan(width):
        raise DomainError("not-a-choice", "channel_hz", width, choices=list(widths))
    bits = np.asarray(BITS)[np.where(np.isnan(scheme), 0.0, scheme).astype(int)]
    guard = checks.non_negative("guard_s", guard_s)
    one_of("guard_s", guard, *GUARDS[standard])
    symbol = SYMBOL_S[standard] + guard
    rate = streams * widths.get(width, np.nan) * bits / symbol
    if standard == "802.11ac":
        rate = np.where(_is_left_out(width, scheme, streams), np.nan, rate)
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
