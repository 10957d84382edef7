r"""Cores: the cycles that a packet may cost, and the processor cores that a packet rate takes.

Forwarding in software costs a nearly constant number of cycles for each packet, whatever its size:
a core of clock :math:`f` handles :math:`f / c` packets per second.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, keep_nan, model, non_negative, positive, ratio, whole


@model
def cycle_budget(
    rate_pps: ArrayLike, *, clock_hz: ArrayLike, core_count: ArrayLike = 1
) -> FloatArray:
    r"""Processor cycles that may be spent on each packet.

    .. math:: c = \frac{f \, k}{\lambda}

    Parameters
    ----------
    rate_pps : array_like
        Packets per second that are to be handled. [packet/s]
    clock_hz : array_like
        Clock of a core. [Hz]
    core_count : array_like
        Cores that share the packets evenly. [1]

    Returns
    -------
    numpy.ndarray
        Cycles for each packet; inf without packets. [1]

    See Also
    --------
    core_rate_pps : The rate that a cost allows.

    Notes
    -----
    Validity: a constant clock, and packets spread evenly over the cores (RSS); a hash of few flows
    does not spread them evenly.

    Typical: 10 Gbit/s of 64-byte frames leave 67 ns, 202 cycles of a core of 3 GHz; a miss of all
    caches takes about 100 ns.

    Range: everywhere.

    Symbols: :math:`\lambda` rate_pps, :math:`f` clock_hz, :math:`k` core_count.

    Examples
    --------
    >>> round(float(cycle_budget(14_880_952, clock_hz=3e9)))
    202

    References
    ----------
    Rizzo, netmap: a novel framework for fast packet I/O, USENIX ATC 2012, section 1 (67.2 ns for a
    packet at 14.88 Mpps).
    """
    share = positive("clock_hz", clock_hz) / non_negative("rate_pps", rate_pps)
    return share * whole("core_count", core_count, low=1)


@model
def core_rate_pps(
    packet_cycles: ArrayLike,
    *,
    clock_hz: ArrayLike,
    core_count: ArrayLike = 1,
    target_utilization: ArrayLike = 1.0,
) -> FloatArray:
    r"""Packets per second that processor cores can handle.

    .. math:: \lambda = \frac{u \, f \, k}{c}

    Parameters
    ----------
    packet_cycles : array_like
        Cycles spent on each packet. [1]
    clock_hz : array_like
        Clock of a core. [Hz]
    core_count : array_like
        Cores that share the packets evenly. [1]
    target_utilization : array_like
        Utilization at which a core counts as full. [ratio]

    Returns
    -------
    numpy.ndarray
        Packets of all cores together. [packet/s]

    See Also
    --------
    cycle_budget : The cost that a rate allows.
    core_count : The cores that a rate takes.

    Notes
    -----
    Validity: as :func:`cycle_budget`; memory, the bus or the network card may be the limit first.

    Typical: netmap generates packets at about 60 cycles each, minimal forwarding with DPDK takes 60
    to 150, the kernel's stack one to a few thousand.

    Range: everywhere.

    Symbols: :math:`c` packet_cycles, :math:`f` clock_hz, :math:`k` core_count, :math:`u`
    target_utilization.

    Examples
    --------
    A core of 900 MHz at 60.5 cycles a packet fills 10 Gbit/s with the smallest frames:

    >>> round(float(core_rate_pps(60.5, clock_hz=900e6)) / 1e6, 2)
    14.88

    References
    ----------
    Rizzo, netmap: a novel framework for fast packet I/O, USENIX ATC 2012, section 5 (14.88 Mpps
    with one core at 900 MHz).
    """
    each = positive("clock_hz", clock_hz) / positive("packet_cycles", packet_cycles)
    full = ratio("target_utilization", target_utilization)
    return each * full * whole("core_count", core_count, low=1)


@model
def core_count(
    rate_pps: ArrayLike,
    *,
    packet_cycles: ArrayLike,
    clock_hz: ArrayLike,
    target_utilization: ArrayLike = 1.0,
) -> FloatArray:
    r"""Processor cores that a packet rate takes.

    .. math:: k = \left\lceil \frac{\lambda \, c}{u \, f} \right\rceil

    Parameters
    ----------
    rate_pps : array_like
        Packets per second that are to be handled. [packet/s]
    packet_cycles : array_like
        Cycles spent on each packet. [1]
    clock_hz : array_like
        Clock of a core. [Hz]
    target_utilization : array_like
        Utilization at which a core counts as full. [ratio]

    Returns
    -------
    numpy.ndarray
        Least number of cores; inf if none may be used. [1]

    See Also
    --------
    core_rate_pps : What some cores can handle.

    Notes
    -----
    Validity: as :func:`core_rate_pps`; locks and shared caches make each further core count less.

    Range: everywhere.

    Symbols: :math:`\lambda` rate_pps, :math:`c` packet_cycles, :math:`f` clock_hz, :math:`u`
    target_utilization.

    Examples
    --------
    10 Gbit/s of 64-byte frames through a kernel that takes 1500 cycles for each:

    >>> float(core_count(14.88e6, packet_cycles=1500, clock_hz=3e9))
    8.0

    References
    ----------
    Derived: :func:`core_rate_pps` solved for the cores.
    """
    rate = non_negative("rate_pps", rate_pps)
    full = ratio("target_utilization", target_utilization)
    each = positive("packet_cycles", packet_cycles) / positive("clock_hz", clock_hz)
    count = rate * each / full
    nearest = np.round(count)  # 3 cores are not 4 because a quotient is 3.0000000000000004
    count = np.where(np.abs(count - nearest) <= 1e-12 * nearest, nearest, np.ceil(count))
    return keep_nan(np.where(rate > 0.0, np.maximum(count, 1.0), 0.0), rate, each, full)
