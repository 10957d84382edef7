r"""Timers of TCP: the retransmission timeout, its backoff, giving up.

The timeout follows the smoothed round trip and four times its variation; it doubles with every
expiry. :mod:`netcalc.models.hosts.small_writes` has the timers of the receiver.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError
from netcalc.models.bounds import timeout_after

MIN_RTO_S = 0.2
"""Least retransmission timeout of Linux above the round trip (TCP_RTO_MIN). [s]"""

MAX_RTO_S = 120.0
"""Largest retransmission timeout of Linux (TCP_RTO_MAX). [s]"""

Floor: TypeAlias = Literal["variation", "rto"]

LINUX_TIMERS: dict[str, float] = {
    "initial_rto_s": 1.0,  # TCP_TIMEOUT_INIT
    "min_rto_s": MIN_RTO_S,  # TCP_RTO_MIN, HZ/5
    "max_rto_s": MAX_RTO_S,  # TCP_RTO_MAX
    "linear_count": 4,  # tcp_syn_linear_timeouts, since 6.5
    "retry_count": 6,  # tcp_syn_retries
}
"""The timers of Linux (include/net/tcp.h, Documentation/networking/ip-sysctl.rst)."""


class RtoEstimate(NamedTuple):
    """State of the estimator after each sample."""

    srtt_s: FloatArray
    rttvar_s: FloatArray
    rto_s: FloatArray


@model
def rto_s(
    srtt_s: ArrayLike,
    *,
    rttvar_s: ArrayLike,
    granularity_s: ArrayLike = 0.0,
    min_rto_s: ArrayLike = MIN_RTO_S,
    max_rto_s: ArrayLike = MAX_RTO_S,
    floor: Floor = "variation",
) -> FloatArray:
    r"""Retransmission timeout from the smoothed round-trip time and its variation.

    .. math:: RTO = \min(RTO_{max}, SRTT + \max(RTO_{min}, G, 4 RTTVAR))

    Parameters
    ----------
    srtt_s : array_like
        Smoothed round-trip time. [s]
    rttvar_s : array_like
        Smoothed variation of the round-trip time. [s]
    granularity_s : array_like
        Tick of the clock. [s]
    min_rto_s : array_like
        Minimum timeout: 0.2 s in Linux, 1 s in the RFC. [s]
    max_rto_s : array_like
        Maximum timeout: 120 s in Linux, 60 s or more in the RFC. [s]
    floor : {'variation', 'rto'}
        Term that the minimum timeout bounds: as in Linux the variation, or as in the RFC the whole
        timeout. [text]

    Returns
    -------
    numpy.ndarray
        Timeout. [s]

    Notes
    -----
    Validity: the formula; a kernel also rounds to its ticks.

    Typical: the round trip and 0.2 s in Linux, 1 s at least by the RFC, whose equation is
    :math:`\max(RTO_{min}, SRTT + \max(G, 4 RTTVAR))`.

    Range: everywhere.

    Defaults: min_rto_s, floor.

    Symbols: :math:`SRTT` srtt_s, :math:`RTTVAR` rttvar_s, :math:`G` granularity_s,
    :math:`RTO_{min}` min_rto_s, :math:`RTO_{max}` max_rto_s. Not in the equation: floor (what the
    least holds up).

    Examples
    --------
    100 ms without variation: 300 ms in Linux, 1 s by the RFC.

    >>> round(float(rto_s(0.1, rttvar_s=0.0)), 3)
    0.3
    >>> float(rto_s(0.1, rttvar_s=0.0, min_rto_s=1, max_rto_s=60, floor="rto"))
    1.0

    References
    ----------
    RFC 6298, 2; Linux, net/ipv4/tcp_input.c.
    """
    smoothed = checks.non_negative("srtt_s", srtt_s)
    margin = np.maximum(
        checks.non_negative("granularity_s", granularity_s),
        4.0 * checks.non_negative("rttvar_s", rttvar_s),
    )
    least = checks.non_negative("min_rto_s", min_rto_s)
    if checks.choice("floor", floor, ("rto", "variation")) == "variation":
        timeout = smoothed + np.maximum(margin, least)
    else:
        timeout = np.maximum(smoothed + margin, least)
    timeout = np.minimum(timeout, checks.positive("max_rto_s", max_rto_s, allow_inf=True))
    timeout_after(timeout, smoothed)
    return timeout


@model
def rto_estimate(
    rtt_s: ArrayLike,
    *,
    retransmitted: ArrayLike | None = None,
    granularity_s: float = 0.0,
    min_rto_s: float = MIN_RTO_S,
    max_rto_s: float = MAX_RTO_S,
    initial_rto_s: float = 1.0,
    floor: Floor = "variation",
) -> RtoEstimate:
    r"""Smoothed round-trip time, variation and retransmission timeout after each sample.

    .. math::

        RTTVAR_i = \tfrac34 RTTVAR_{i-1} + \tfrac14 |SRTT_{i-1} - R_i|, \quad SRTT_i = \tfrac78
        SRTT_{i-1} + \tfrac18 R_i

    with :math:`SRTT = R` and :math:`RTTVAR = R / 2` after the first; the variation is updated
    first, with the old average.

    Parameters
    ----------
    rtt_s : 1-D array_like
        Samples, in the order in which they were taken. [s]
    retransmitted : 1-D array_like, optional
        True where the segment was sent more than once: Karn's rule takes no sample. [bool]
    granularity_s : float
        Tick of the clock. [s]
    min_rto_s : float
        Minimum timeout: 0.2 s in Linux, 1 s in the RFC. [s]
    max_rto_s : float
        Maximum timeout: 120 s in Linux, 60 s or more in the RFC. [s]
    initial_rto_s : float
        Timeout before the first sample. [s]
    floor : {'variation', 'rto'}
        Term that the minimum timeout bounds, see :func:`rto_s`. [text]

    Returns
    -------
    RtoEstimate
        ``srtt_s``, ``rttvar_s`` and ``rto_s`` after each sample; nan where the sample is nan,
        and for the first two until there is a sample. [s]

    Notes
    -----
    Validity: one sample per round trip, as the gains are meant. A nan is not a sample: the state
    stays. The doubled timeout of a retransmission is :func:`backoff_s`.

    Range: everywhere.

    Defaults: min_rto_s, floor.

    Symbols: :math:`R_i` rtt_s. Not in the equation: retransmitted (which are passed over),
    granularity_s, min_rto_s, max_rto_s, initial_rto_s, floor (in the timeout of each state).

    Examples
    --------
    >>> estimate = rto_estimate([0.3, 0.3, 0.3, 1.5, 0.3])
    >>> round(float(estimate.srtt_s[-1]), 5), round(float(estimate.rto_s[-1]), 5)
    (0.43125, 1.67109)

    References
    ----------
    RFC 6298, 2 and 3; Jacobson, SIGCOMM 1988, doi:10.1145/52324.52356; Karn and Partridge, SIGCOMM
    1987, doi:10.1145/55482.55484.
    """
    samples = checks.one_dimensional("rtt_s", checks.non_negative("rtt_s", rtt_s))
    again = np.zeros(samples.shape, dtype=bool)
    if retransmitted is not None:
        again = np.atleast_1d(checks.flags("retransmitted", retransmitted))
        if again.shape != samples.shape:
            raise DomainError(
                "wrong-count", "retransmitted", count=again.size, expected=samples.size
            )
    limits = {
        "granularity_s": checks.scalar(
            "granularity_s", checks.non_negative("granularity_s", granularity_s)
        ),
        "min_rto_s": checks.scalar("min_rto_s", checks.non_negative("min_rto_s", min_rto_s)),
        "max_rto_s": checks.scalar(
            "max_rto_s", checks.positive("max_rto_s", max_rto_s, allow_inf=True)
        ),
    }
    initial = checks.scalar("initial_rto_s", checks.positive("initial_rto_s", initial_rto_s))
    smoothed, variation = np.nan, np.nan
    states = np.empty((2, samples.size))
    for index, sample in enumerate(samples):
        if np.isnan(smoothed) and not (again[index] or np.isnan(sample)):
            smoothed, variation = sample, sample / 2
        elif not (again[index] or np.isnan(sample)):
            variation = 0.75 * variation + 0.25 * abs(smoothed - sample)
            smoothed = 0.875 * smoothed + 0.125 * sample
        states[:, index] = (smoothed, variation) if not np.isnan(sample) else np.nan
    measured = ~np.isnan(states[0])
    timeouts = np.where(np.isnan(samples), np.nan, initial)
    timeouts[measured] = rto_s(
        states[0, measured], rttvar_s=states[1, measured], floor=floor, **limits
    )
    return RtoEstimate(states[0], states[1], timeouts)


@model
def backoff_s(
    timeout_count: ArrayLike, *, initial_rto_s: ArrayLike = 1.0, max_rto_s: ArrayLike = 60.0
) -> FloatArray:
    r"""Retransmission timeout after a number of consecutive timeouts.

    .. math:: RTO_n = \min(RTO_{max}, 2^n RTO_0)

    Parameters
    ----------
    timeout_count : array_like
        Consecutive timeouts so far. [1]
    initial_rto_s : array_like
        Timeout before the first of them. [s]
    max_rto_s : array_like
        Maximum timeout; inf for none. [s]

    Returns
    -------
    numpy.ndarray
        Timeout that is running now. [s]

    Notes
    -----
    Validity: no new sample in between.

    Range: everywhere.

    Symbols: :math:`n` timeout_count, :math:`RTO_0` initial_rto_s, :math:`RTO_{max}` max_rto_s.

    Examples
    --------
    >>> backoff_s([0, 1, 5, 6]).tolist()
    [1.0, 2.0, 32.0, 60.0]

    References
    ----------
    RFC 6298, 5.5 and 2.5.
    """
    doublings = np.exp2(checks.whole("timeout_count", timeout_count))
    timeout = checks.positive("initial_rto_s", initial_rto_s) * doublings
    return np.minimum(timeout, checks.positive("max_rto_s", max_rto_s, allow_inf=True))


@model
def last_retransmission_s(
    retry_count: ArrayLike,
    *,
    initial_rto_s: ArrayLike = 1.0,
    linear_count: ArrayLike = 0,
    max_rto_s: ArrayLike = np.inf,
) -> FloatArray:
    r"""Time from the first SYN to its last retransmission.

    .. math:: t = RTO_0 (l + 2^r - 1)

    Parameters
    ----------
    retry_count : array_like
        Retransmissions with a doubled timeout: ``tcp_syn_retries``. [1]
    initial_rto_s : array_like
        First timeout. [s]
    linear_count : array_like
        Retransmissions before them whose timeout does not double: 4 in Linux since 6.5. [1]
    max_rto_s : array_like
        Maximum timeout; the formula is that without one. [s]

    Returns
    -------
    numpy.ndarray
        Time of the last retransmission. [s]

    Notes
    -----
    Validity: no reply at all, not even a reset.

    Range: everywhere.

    Symbols: :math:`r` retry_count, :math:`RTO_0` initial_rto_s, :math:`l` linear_count. Not in the
    equation: max_rto_s (which bounds each wait).

    Examples
    --------
    Linux, before 6.5 and since:

    >>> float(last_retransmission_s(6)), float(last_retransmission_s(6, linear_count=4))
    (63.0, 67.0)

    References
    ----------
    Linux, include/net/tcp.h and Documentation/networking/ip-sysctl.rst.
    """
    retries = checks.whole("retry_count", retry_count)
    first = checks.positive("initial_rto_s", initial_rto_s)
    linear = checks.whole("linear_count", linear_count)
    return _waits_s(retries, first, linear, checks.positive("max_rto_s", max_rto_s, allow_inf=True))


@model
def give_up_s(
    retry_count: ArrayLike,
    *,
    initial_rto_s: ArrayLike = 1.0,
    linear_count: ArrayLike = 0,
    max_rto_s: ArrayLike = np.inf,
) -> FloatArray:
    r"""Time until a connection attempt without any reply fails.

    .. math:: t = RTO_0 (l + 2^{r + 1} - 1)

    Parameters
    ----------
    retry_count : array_like
        Retransmissions with a doubled timeout: ``tcp_syn_retries``. [1]
    initial_rto_s : array_like
        First timeout. [s]
    linear_count : array_like
        Retransmissions before them whose timeout does not double: 4 in Linux since 6.5. [1]
    max_rto_s : array_like
        Maximum timeout; the formula is that without one. [s]

    Returns
    -------
    numpy.ndarray
        Time until ``connect`` fails. [s]

    Notes
    -----
    Validity: no reply at all, not even a reset.

    Range: everywhere.

    Symbols: :math:`r` retry_count, :math:`RTO_0` initial_rto_s, :math:`l` linear_count. Not in the
    equation: max_rto_s (which bounds each wait).

    Examples
    --------
    >>> float(give_up_s(5)), float(give_up_s(6, linear_count=4))
    (63.0, 131.0)

    References
    ----------
    Linux, Documentation/networking/ip-sysctl.rst (131 s); RFC 1122, 4.2.3.5.
    """
    retries = checks.whole("retry_count", retry_count)
    first = checks.positive("initial_rto_s", initial_rto_s)
    linear = checks.whole("linear_count", linear_count)
    return _waits_s(
        retries + 1, first, linear, checks.positive("max_rto_s", max_rto_s, allow_inf=True)
    )


def _waits_s(
    doubling: FloatArray, first_s: FloatArray, linear: FloatArray, largest_s: FloatArray
) -> FloatArray:
    """Sum of ``linear`` equal timeouts and ``doubling`` ones that double up to the largest."""
    if not largest_s.ndim and np.isposinf(largest_s):
        unbound: FloatArray = first_s * (np.exp2(doubling) + (linear - 1))
        return unbound
    first_s = np.minimum(first_s, largest_s)
    below = np.minimum(doubling, np.floor(np.log2(largest_s / first_s)) + 1)
    at_largest = np.where(doubling > below, (doubling - below) * largest_s, 0.0)
    total: FloatArray = first_s * (linear + np.exp2(below) - 1) + at_largest
    return total
