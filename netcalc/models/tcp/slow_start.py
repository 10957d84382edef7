r"""Slow start: round trips of a transfer before the link is full.

The window grows by the factor :math:`g` every round: 2 with an acknowledgement per segment or
with byte counting, 1.5 with one per two segments. Round :math:`k` sends
:math:`W_1 g^{k-1}` segments.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError
from netcalc.models.bounds import tcp_window

InitialWindowRule: TypeAlias = Literal[
    "rfc2001", "rfc2581", "rfc3390", "rfc5681", "rfc6928", "rfc9002"
]

INITIAL_WINDOW_SEGMENTS = 10
"""First window of RFC 6928, and of Linux. [1]"""
INITIAL_WINDOW_RFCS = ("rfc2001", "rfc2581", "rfc3390", "rfc5681", "rfc6928", "rfc9002")
"""The rules for the first window that :func:`initial_window_bytes` knows."""

MAX_ROUNDS = 100_000
"""Most rounds that are counted one by one: a window that grows by one a round sends 5 * 10^9."""

_EXACT = 1e-9  # what a logarithm may be above a whole number of rounds by rounding alone


@model
def initial_window_bytes(mss_bytes: ArrayLike, *, rfc: InitialWindowRule = "rfc6928") -> FloatArray:
    r"""Initial window by RFC, for a segment size.

    .. math::
       W_{6928} = \min(10 M, \max(2 M, 14600)), \quad
       W_{3390} = \min(4 M, \max(2 M, 4380))

    Parameters
    ----------
    mss_bytes : array_like
        Largest payload of a segment; of a QUIC datagram for RFC 9002. [byte]
    rfc : {'rfc2001', 'rfc2581', 'rfc3390', 'rfc5681', 'rfc6928', 'rfc9002'}
        Rule: one segment, two, about 4 KB, 2 to 4 segments, ten, and QUIC's. [text]

    Returns
    -------
    numpy.ndarray
        Upper limit of the first window. [byte]

    Notes
    -----
    Validity: the upper limit of the RFC; after a lost SYN it is one segment.

    Typical: ten segments of 1460 bytes, 14,600 bytes (RFC 6928).

    Range: everywhere.

    Symbols: :math:`M` mss_bytes. Not in the equation: rfc (which rule).

    Examples
    --------
    >>> float(initial_window_bytes(1460)), float(initial_window_bytes(1460, rfc="rfc3390"))
    (14600.0, 4380.0)

    References
    ----------
    RFC 2001, 1; RFC 2581, 3.1; RFC 3390, 1; RFC 5681, 3.1; RFC 6928, 2; RFC 9002, 7.2.
    """
    mss = checks.positive("mss_bytes", mss_bytes)
    rule = checks.choice("rfc", rfc, INITIAL_WINDOW_RFCS)
    if rule == "rfc2001":
        return mss * 1.0
    if rule == "rfc2581":
        return mss * 2.0
    if rule == "rfc5681":
        return mss * np.where(mss > 2190, 2.0, np.where(mss > 1095, 3.0, 4.0))
    segments, floor = {"rfc3390": (4, 4380), "rfc6928": (10, 14600), "rfc9002": (10, 14720)}[rule]
    return np.minimum(segments * mss, np.maximum(2 * mss, floor))


@model
def rounds(
    segments: ArrayLike, *, initial_window_segments: ArrayLike = 10, growth: ArrayLike = 2
) -> FloatArray:
    r"""Round trips of slow start for a number of segments.

    .. math:: k = \lceil \log_g (n (g - 1) / W_1 + 1) \rceil

    Parameters
    ----------
    segments : array_like
        Full segments to be sent. [1]
    initial_window_segments : array_like
        First window. [1]
    growth : array_like
        Growth of the window per round trip, as a factor: 2, or 1.5 with delayed acknowledgements.
        [1]

    Returns
    -------
    numpy.ndarray
        Rounds, the last one included; nan for a growth of 1. [1]

    See Also
    --------
    rounds_delayed_ack : Delayed acknowledgements, whole segments.
    netcalc.models.tcp.short_transfers.slow_start_s : Expected time, linear at the maximum window.
    netcalc.models.tcp.bbr.bbr_startup_rounds : BBR's Startup.

    Notes
    -----
    Validity: no loss, a link that is never full, a receive window that never limits. Growth 1.5 is
    the real-valued form; :func:`rounds_delayed_ack` counts whole segments. With windows of two
    segments and more the two differ by at most a round. Beyond 1.4 million segments of 1460 bytes
    the window exceeds TCP's largest (RFC 7323).

    Range: segments up to 1.4e6; growth from 1.5 up to 2.

    Symbols: :math:`n` segments, :math:`W_1` initial_window_segments, :math:`g` growth.

    Examples
    --------
    100 segments leave in 10 + 20 + 40 + 30:

    >>> float(rounds(100)), float(rounds(100, growth=1.5))
    (4.0, 5.0)

    References
    ----------
    RFC 5681, 3.1; Cardwell, Savage and Anderson, INFOCOM 2000, doi:10.1109/INFCOM.2000.832574, eq.
    9.
    """
    count = checks.counted("segments", segments, rounds)
    first = checks.positive("initial_window_segments", initial_window_segments)
    return _rounds(count, first, checks.at_least("growth", growth, 1))


@model
def rounds_delayed_ack(
    segments: ArrayLike,
    *,
    initial_window_segments: ArrayLike = 10,
    segments_per_ack: ArrayLike = 2,
) -> FloatArray:
    r"""Round trips of slow start with delayed acknowledgements, in whole segments.

    .. math::

        \sum_{i=1}^{k} W_i \ge n, \quad W_{i+1} = W_i + \lceil W_i / b \rceil \text{ from } W_1
        \text{ on}

    Parameters
    ----------
    segments : array_like
        Full segments to be sent. [1]
    initial_window_segments : array_like
        First window. [1]
    segments_per_ack : array_like
        Segments that one acknowledgement covers; an odd tail is acknowledged, too. [1]

    Returns
    -------
    numpy.ndarray
        Rounds, the last one included. [1]

    Raises
    ------
    DomainError
        If the transfer takes more than 100,000 rounds.

    See Also
    --------
    rounds : Acknowledgement per segment.
    netcalc.models.tcp.short_transfers.slow_start_s : Expected time, linear at the maximum window.
    netcalc.models.tcp.bbr.bbr_startup_rounds : BBR's Startup.

    Notes
    -----
    Validity: as :func:`rounds`, without byte counting. The delayed-ACK timer is shorter than a
    round trip.

    Range: segments up to 1.4e6.

    Defaults: segments_per_ack.

    Symbols: :math:`n` segments, :math:`W_1` initial_window_segments, :math:`b` segments_per_ack,
    :math:`k` result.

    Examples
    --------
    Windows of 3, 5, 8, 12, 18, 27 and 41 segments:

    >>> float(rounds_delayed_ack(100, initial_window_segments=3))
    7.0

    References
    ----------
    RFC 5681, 3.1 and 4.2.
    """
    left = checks.counted("segments", segments, rounds_delayed_ack)
    window = checks.at_least("initial_window_segments", initial_window_segments, 1)
    per_ack = checks.positive("segments_per_ack", segments_per_ack)
    left, window, per_ack = np.broadcast_arrays(left, window, per_ack)
    count = np.where(np.isnan(left + window + per_ack), np.nan, 0.0)
    for _ in range(MAX_ROUNDS):
        if not (left > 0).any():
            return count
        count = count + (left > 0)
        left = left - window
        window = window + np.ceil(window / per_ack)
    longest = float(np.nanmax(checks.as_float("segments", segments)))
    raise DomainError("too-many-rounds", "segments", longest, high=MAX_ROUNDS)


@model
def window_growth_s(
    window_bytes: ArrayLike,
    *,
    rtt_s: ArrayLike,
    mss_bytes: ArrayLike = 1460.0,
    initial_window_segments: ArrayLike = 10,
    growth: ArrayLike = 2,
) -> FloatArray:
    r"""Time until slow start reaches a window.

    .. math:: t = RTT \lceil \log_g (\lceil W / M \rceil / W_1) \rceil

    Parameters
    ----------
    window_bytes : array_like
        Target window. [byte]
    rtt_s : array_like
        Round-trip time. [s]
    mss_bytes : array_like
        Payload of a full segment. [byte]
    initial_window_segments : array_like
        First window. [1]
    growth : array_like
        Growth of the window per round trip, as a factor. [1]

    Returns
    -------
    numpy.ndarray
        Time until the window is reached; 0 where the first one is enough; nan or inf for a
        growth of 1. [s]

    Notes
    -----
    Validity: as :func:`rounds`. TCP's largest window is 1 GiB (RFC 7323).

    Range: growth from 1.5 up to 2.

    Defaults: mss_bytes.

    Symbols: :math:`W` window_bytes, :math:`RTT` rtt_s, :math:`M` mss_bytes, :math:`W_1`
    initial_window_segments, :math:`g` growth.

    Examples
    --------
    64 KB at 56 ms with first windows of 4 and 10 segments:

    >>> path = {"rtt_s": 0.056, "mss_bytes": 1460}
    >>> float(window_growth_s(65535, initial_window_segments=4, **path))
    0.224
    >>> round(float(window_growth_s(65535, initial_window_segments=10, **path)), 3)
    0.168

    References
    ----------
    Grigorik, High Performance Browser Networking, ch. 2.
    """
    window = tcp_window(checks.non_negative("window_bytes", window_bytes))
    window = window / checks.positive("mss_bytes", mss_bytes)
    first = checks.positive("initial_window_segments", initial_window_segments)
    factor = checks.at_least("growth", growth, 1)
    return _growth_s(window, first, factor, checks.non_negative("rtt_s", rtt_s))


def _growth_s(
    window: FloatArray, first: FloatArray, growth: FloatArray, rtt: FloatArray
) -> FloatArray:
    needed = _log(np.maximum(checks.rounded_up(window), first) / first, growth)
    time: FloatArray = rtt * (np.ceil(needed - _EXACT) + 0.0)
    return time


def _log(value: FloatArray, base: FloatArray) -> FloatArray:
    result: FloatArray = np.log2(value) / np.log2(base)
    return result


def _rounds(segments: FloatArray, first: FloatArray, growth: FloatArray) -> FloatArray:
    """Whole rounds: the logarithm, then held to the sum of the windows."""
    real = segments * ((growth - 1) / first)
    real += 1
    real = np.log2(real)
    real /= np.log2(growth)
    real -= _EXACT
    count: FloatArray = np.ceil(real)
    real += 2 * _EXACT
    near = np.ceil(real) != count
    if near.any():
        sent = (np.exp2(count * np.log2(growth)) - 1) * (first / (growth - 1))
        count = count + (near & (sent < segments * (1 - 1e-13)))
    return count
