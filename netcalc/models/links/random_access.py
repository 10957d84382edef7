r"""Random access to a shared medium: ALOHA and Ethernet's CSMA/CD.

Stations that do not know of each other collide. The load :math:`G` counts all attempts, new and
repeated ones, in the time of a frame; the throughput is the share of that time which carries a
frame that arrives.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model


@model
def pure_aloha_utilization(offered_attempts: ArrayLike) -> FloatArray:
    r"""Throughput of pure ALOHA.

    .. math:: S = G \, e^{-2 G}

    Parameters
    ----------
    offered_attempts : array_like
        Attempts in the time of a frame. [1]

    Returns
    -------
    numpy.ndarray
        Share of the time that carries frames which arrive. [ratio]

    See Also
    --------
    slotted_aloha_utilization : Slots.

    Notes
    -----
    Validity: very many stations, Poisson attempts, frames of one length, no capture. Up to one
    attempt it is within 3.4 % of 20 stations, at two 12 % too high.

    Typical: at most 18.4 %, at half an attempt in the time of a frame.

    Range: offered_attempts up to 1.

    Symbols: :math:`G` offered_attempts.

    Examples
    --------
    >>> round(float(pure_aloha_utilization(0.5)), 4)
    0.1839

    References
    ----------
    Abramson, The ALOHA system, AFIPS 1970, doi:10.1145/1478462.1478502.
    """
    load = checks.non_negative("offered_attempts", offered_attempts)
    return load * np.exp(-2.0 * load)


@model
def slotted_aloha_utilization(offered_attempts: ArrayLike) -> FloatArray:
    r"""Throughput of slotted ALOHA.

    .. math:: S = G \, e^{-G}

    Parameters
    ----------
    offered_attempts : array_like
        Attempts in a slot. [1]

    Returns
    -------
    numpy.ndarray
        Share of the slots that carry a frame which arrives. [ratio]

    See Also
    --------
    pure_aloha_utilization : No slots.
    slotted_aloha_stations_utilization : A finite number of stations.

    Notes
    -----
    Validity: very many stations, Poisson attempts, frames of a slot, no capture. Up to two attempts
    it is within 2.6 % of :func:`slotted_aloha_stations_utilization` for 20 stations, at three 9 %
    too high.

    Typical: at most 36.8 %, at one attempt a slot.

    Range: offered_attempts up to 2.

    Symbols: :math:`G` offered_attempts.

    Examples
    --------
    >>> round(float(slotted_aloha_utilization(1.0)), 4)
    0.3679

    References
    ----------
    Roberts, ALOHA packet system with and without slots and capture, Comput. Commun. Rev. 5 (1975),
    doi:10.1145/1024916.1024920.
    """
    load = checks.non_negative("offered_attempts", offered_attempts)
    return load * np.exp(-load)


@model
def slotted_aloha_stations_utilization(
    station_count: ArrayLike, *, attempt_ratio: ArrayLike
) -> FloatArray:
    r"""Throughput of slotted ALOHA with a finite number of stations.

    .. math:: S = n \, \tau (1 - \tau)^{n - 1}

    Parameters
    ----------
    station_count : array_like
        Stations that always have a frame. [1]
    attempt_ratio : array_like
        Probability that each of them sends in a slot. [ratio]

    Returns
    -------
    numpy.ndarray
        Share of the slots in which just one sends. [ratio]

    See Also
    --------
    slotted_aloha_utilization : Very many stations.

    Notes
    -----
    Validity: independent decisions in each slot; best at a probability of :math:`1/n`.

    Range: everywhere.

    Symbols: :math:`n` station_count, :math:`\tau` attempt_ratio.

    Examples
    --------
    >>> round(float(slotted_aloha_stations_utilization(10, attempt_ratio=0.1)), 4)
    0.3874

    References
    ----------
    Kurose and Ross, Computer Networking, 8th ed., 6.3.2.
    """
    count = checks.whole("station_count", station_count)
    attempt = checks.ratio("attempt_ratio", attempt_ratio)
    others = np.maximum(count - 1.0, 0.0)
    exponent = np.where(others > 0.0, others * np.log1p(-attempt), 0.0)
    return checks.keep_nan(count * attempt * np.exp(exponent), count, attempt)


@model
def csma_cd_efficiency_ratio(serialization_s: ArrayLike, *, propagation_s: ArrayLike) -> FloatArray:
    r"""Efficiency of Ethernet with collisions (CSMA/CD).

    .. math:: \eta = \frac{1}{1 + 5 \, d / t}

    Parameters
    ----------
    serialization_s : array_like
        Time to send a frame. [s]
    propagation_s : array_like
        Largest time that a signal takes between two stations. [s]

    Returns
    -------
    numpy.ndarray
        Share of the time that carries frames, with many stations that always have one. [ratio]

    See Also
    --------
    csma_cd_stations_efficiency_ratio : A number of stations.

    Notes
    -----
    Validity: an approximation for many stations; half duplex only: Ethernet with switches has no
    collisions. Up to a propagation of a tenth of the frame it is at most 15 % below
    :func:`csma_cd_stations_efficiency_ratio` for five and more stations, at a quarter up to 24 %.

    Typical: 98 % for full frames over 1 km at 10 Mbit/s, 29 % for the smallest over 5 km.

    Range: propagation_share (propagation over serialization) up to 0.1.

    Symbols: :math:`t` serialization_s, :math:`d` propagation_s.

    Examples
    --------
    >>> round(float(csma_cd_efficiency_ratio(1230.4e-6, propagation_s=5e-6)), 3)
    0.98

    References
    ----------
    Kurose and Ross, Computer Networking, 8th ed., 6.3.2; Bertsekas and Gallager, Data Networks,
    4.5.
    """
    sending = checks.positive("serialization_s", serialization_s)
    share = checks.non_negative("propagation_s", propagation_s) / sending
    checks.note_outside_range(csma_cd_efficiency_ratio, propagation_share=share)
    return 1.0 / (1.0 + 5.0 * share)


@model
def csma_cd_stations_efficiency_ratio(
    station_count: ArrayLike, *, serialization_s: ArrayLike, propagation_s: ArrayLike
) -> FloatArray:
    r"""Efficiency of Ethernet with collisions for a number of stations.

    .. math::
        \eta = \frac{t}{t + 2 d \, (1 - A) / A}, \quad
        A = \left( 1 - \frac{1}{n} \right)^{n - 1}

    Parameters
    ----------
    station_count : array_like
        Stations that always have a frame. [1]
    serialization_s : array_like
        Time to send a frame. [s]
    propagation_s : array_like
        Largest time that a signal takes between two stations. [s]

    Returns
    -------
    numpy.ndarray
        Share of the time that carries frames. [ratio]

    See Also
    --------
    csma_cd_efficiency_ratio : Many stations.

    Notes
    -----
    Validity: slots of a round trip in which each station sends with the best probability, 1/n; real
    backoff is somewhat worse. With many stations :math:`A` is :math:`1/e`. A frame must last as
    long as a round trip, or its collision is missed: IEEE 802.3, clause 4.

    Range: propagation_share (propagation over serialization) up to 0.5.

    Symbols: :math:`n` station_count, :math:`t` serialization_s, :math:`d` propagation_s.

    Examples
    --------
    10 stations, frames of 1024 bytes and slots of 51.2 µs at 10 Mbit/s:

    >>> efficiency = csma_cd_stations_efficiency_ratio(
    ...     10, serialization_s=819.2e-6, propagation_s=25.6e-6
    ... )
    >>> round(float(efficiency), 3)
    0.91

    References
    ----------
    Metcalfe and Boggs, Ethernet: distributed packet switching for local computer networks, Commun.
    ACM 19 (1976), section 6, doi:10.1145/360248.360253.
    """
    count = checks.whole("station_count", station_count, low=1)
    sending = checks.positive("serialization_s", serialization_s)
    share = checks.non_negative("propagation_s", propagation_s) / sending
    checks.note_outside_range(csma_cd_stations_efficiency_ratio, propagation_share=share)
    slot = 2.0 * share
    others = count - 1.0
    log_share = np.where(others > 0.0, others * np.log1p(-1.0 / count), 0.0)
    return checks.keep_nan(1.0 / (1.0 + slot * np.expm1(-log_share)), count, slot)
