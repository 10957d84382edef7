r"""Delayed acknowledgements: how long a receiver delays them, by operating system.

A receiver waits for data to piggyback on, or for a second segment, at the latest until its timer
fires. The timer is either started with the segment, or a periodic heartbeat.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model


class DelayedAck(NamedTuple):
    """Delayed ACKs of a system: minimum and maximum delay, and segments per acknowledgement."""

    shortest_s: float
    longest_s: float
    every_segments: int
    source: str

    @property
    def typical_s(self) -> float:
        """What it mostly is: the shortest of a time that adapts, else the mean."""
        adapts = self is SYSTEMS["linux"]
        return self.shortest_s if adapts else (self.shortest_s + self.longest_s) / 2


SYSTEMS: dict[str, DelayedAck] = {
    "rfc1122": DelayedAck(0.0, 0.5, 2, "RFC 1122, 4.2.3.2: less than 0.5 s, every second segment"),
    "bsd44": DelayedAck(0.0, 0.2, 2, "4.4BSD, heartbeat of 200 ms (PR_FASTHZ 5)"),
    "linux": DelayedAck(0.04, 0.2, 2, "Linux, TCP_DELACK_MIN HZ/25 to TCP_DELACK_MAX HZ/5"),
    "rhel7_rt": DelayedAck(0.004, 0.004, 2, "Red Hat Enterprise Linux for Real Time 7, tuning"),
    "freebsd_before_2020": DelayedAck(0.1, 0.1, 2, "FreeBSD before r360010"),
    "freebsd_since_2020": DelayedAck(0.04, 0.04, 2, "FreeBSD r360010 (April 2020)"),
    "xnu": DelayedAck(0.1, 0.2, 2, "xnu, tcp_delack: fires between 100 and 200 ms"),
    "windows_2000": DelayedAck(0.2, 0.2, 2, "Windows 2000, TcpDelAckTicks 2 of 100 ms"),
    "windows_ce": DelayedAck(0.2, 0.2, 2, "Windows CE 6.0 documentation"),
    "solaris_local": DelayedAck(0.05, 0.05, 8, "Solaris, _local_dack_interval, _local_dacks_max"),
    "solaris_remote": DelayedAck(0.1, 0.1, 2, "Solaris, _deferred_ack_interval"),
}
"""Delayed acknowledgements by system. Windows since 2012 sets the time by its templates."""

LINUX_ATO_MIN_S = 0.04
"""Least timeout that Linux adapts an acknowledgement to (TCP_ATO_MIN, HZ/25). [s]"""

LINUX_MAX_QUICKACKS = 16
"""Segments that Linux acknowledges at once when a connection starts (TCP_MAX_QUICKACKS)."""


@model
def delayed_ack_s(system: str, *, statistic: str = "typical") -> FloatArray:
    r"""Delay of the acknowledgement of a lone segment, by operating system.

    .. math:: D = D_{min} \text{ (Linux)}, \quad D = (D_{min} + D_{max}) / 2 \text{ (others)}

    Parameters
    ----------
    system : str
        Name in ``SYSTEMS``: rfc1122, bsd44, linux, rhel7_rt, freebsd_before_2020,
        freebsd_since_2020, xnu, windows_2000, windows_ce, solaris_local or solaris_remote. [text]
    statistic : {'typical', 'shortest', 'mean', 'longest'}
        Which time of the range; the typical one is the mean, and of Linux, which adapts, the
        shortest. [text]

    Returns
    -------
    numpy.ndarray
        Time; the mean is the middle of the range. [s]

    Notes
    -----
    Validity: the defaults of the sources named in ``SYSTEMS``. The middle is the mean of a
    heartbeat; Linux adapts, and mostly stays at its shortest of 40 ms.

    Typical: 40 ms in Linux, 100 ms in FreeBSD before 2020, 200 ms in 4.4BSD.

    Range: everywhere.

    Defaults: statistic.

    Symbols: Not in the equation: system, statistic (the system sets the range, of which the mean is
    the middle).

    Examples
    --------
    >>> float(delayed_ack_s("bsd44")), float(delayed_ack_s("linux"))
    (0.1, 0.04)

    References
    ----------
    RFC 1122, 4.2.3.2; the sources of the systems as named in ``SYSTEMS``.
    """
    system_of = SYSTEMS[checks.choice("system", system, tuple(SYSTEMS))]
    times = {
        "typical": system_of.typical_s,
        "shortest": system_of.shortest_s,
        "mean": (system_of.shortest_s + system_of.longest_s) / 2,
        "longest": system_of.longest_s,
    }
    return np.asarray(times[checks.choice("statistic", statistic, tuple(times))], dtype=np.float64)


@model
def heartbeat_mean_s(period_s: ArrayLike) -> FloatArray:
    r"""Mean delay of a periodic (free-running) timer.

    .. math:: \bar D = P / 2

    Parameters
    ----------
    period_s : array_like
        Period of the timer: 0.2 in 4.4BSD. [s]

    Returns
    -------
    numpy.ndarray
        Mean wait. [s]

    Notes
    -----
    Validity: segments that arrive at any phase of the timer alike.

    Range: everywhere.

    Symbols: :math:`P` period_s.

    Examples
    --------
    >>> float(heartbeat_mean_s(0.2))
    0.1

    References
    ----------
    Cardwell, Savage and Anderson, Modeling TCP Latency, INFOCOM 2000,
    doi:10.1109/INFCOM.2000.832574 (100 ms).
    """
    return checks.non_negative("period_s", period_s) / 2.0


@model
def heartbeat_wait_s(
    arrival_s: ArrayLike, *, period_s: ArrayLike = 0.2, phase_s: ArrayLike = 0.0
) -> FloatArray:
    r"""Delay from an arrival to the next tick of a periodic timer.

    .. math:: D = P - ((t - \varphi) \bmod P)

    Parameters
    ----------
    arrival_s : array_like
        Time of the arrival. [s]
    period_s : array_like
        Period of the timer. [s]
    phase_s : array_like
        Time of one of its ticks. [s]

    Returns
    -------
    numpy.ndarray
        Wait, above 0 and at most one period. [s]

    Notes
    -----
    Validity: a timer without jitter; an arrival at a tick waits for the next.

    Range: everywhere.

    Symbols: :math:`t` arrival_s, :math:`P` period_s, :math:`\varphi` phase_s.

    Examples
    --------
    >>> heartbeat_wait_s([0.0, 0.125], period_s=0.25).tolist()
    [0.25, 0.125]

    References
    ----------
    Wright and Stevens, TCP/IP Illustrated vol. 2, 25.4 (tcp_fasttimo).
    """
    period = checks.positive("period_s", period_s)
    # Of each by itself: the remainder is exact, the difference of two large times is not.
    since: FloatArray = np.mod(checks.real("arrival_s", arrival_s), period)
    since = np.mod(since - np.mod(checks.real("phase_s", phase_s), period), period)
    return period - since


@model
def tick_timer_wait_s(
    arrival_s: ArrayLike, *, tick_count: ArrayLike = 10, tick_s: ArrayLike = 0.004
) -> FloatArray:
    r"""Delay from an arrival to a timeout counted in kernel ticks.

    .. math:: D = \tau \left( \left\lfloor t / \tau \right\rfloor + n + 1 \right) - t

    Parameters
    ----------
    arrival_s : array_like
        Time of the arrival since a tick. [s]
    tick_count : array_like
        Ticks of the timeout: HZ / 25 for the least delayed acknowledgement of Linux. [1]
    tick_s : array_like
        Time between two ticks: 0.004 where the kernel has HZ = 250. [s]

    Returns
    -------
    numpy.ndarray
        Wait: longer than the timeout by at most one tick. [s]

    Notes
    -----
    Validity: the timer wheel of Linux below 64 ticks, where its slots are a tick wide. If each
    request follows the response to the one before, and that followed the timer, arrivals keep
    their phase: a round then takes a whole number of ticks.

    Range: everywhere.

    Symbols: :math:`t` arrival_s, :math:`n` tick_count, :math:`\tau` tick_s.

    Examples
    --------
    An arrival right after a tick waits longest:

    >>> (1e3 * tick_timer_wait_s([0.0001, 0.0039])).round(1).tolist()
    [43.9, 40.1]

    References
    ----------
    Linux, kernel/time/timer.c (calc_index: a timer never fires early); include/net/tcp.h
    (TCP_DELACK_MIN).
    """
    arrival = checks.real("arrival_s", arrival_s)
    ticks = checks.whole("tick_count", tick_count)
    tick = checks.positive("tick_s", tick_s)
    return tick * (ticks + 1.0) - np.mod(arrival, tick)
