r"""Data on disks or tapes, carried by road or post (sneakernet), and the line that is as fast."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, keep_nan, model, positive, rounded_up, whole


@model
def courier_throughput_bps(
    disk_count: ArrayLike,
    *,
    disk_bytes: ArrayLike,
    trip_s: ArrayLike,
    load_bps: ArrayLike = np.inf,
    parallel_count: ArrayLike = 1.0,
) -> FloatArray:
    r"""Mean rate of data on disks that a courier carries, loading and unloading included.

    .. math:: R = \frac{8 N S}{T + 2 \lceil N / k \rceil \, 8 S / r}

    Parameters
    ----------
    disk_count : array_like
        Full disks, or tapes. [1]
    disk_bytes : array_like
        Capacity of a disk. [byte]
    trip_s : array_like
        Time of the trip, door to door. [s]
    load_bps : array_like
        Rate at which a disk is written and read; by default loading takes no time.
        [bit/s, payload]
    parallel_count : array_like
        Disks that are loaded at a time. [1]

    Returns
    -------
    numpy.ndarray
        Data over the time from the first byte loaded to the last one unloaded.
        [bit/s, payload]

    See Also
    --------
    courier_break_even_bytes : Against a line.

    Notes
    -----
    Validity: one trip, all disks full; the same rate for loading and unloading. Nothing waits for
    a disk to be packed, and nothing is lost on the way.

    Typical: 1000 tapes of 800 GB in 24 hours are 74 Gbit/s.

    Range: everywhere.

    Defaults: load_bps (loading takes no time).

    Symbols: :math:`N` disk_count, :math:`S` disk_bytes, :math:`T` trip_s, :math:`r` load_bps,
    :math:`k` parallel_count.

    Examples
    --------
    >>> float(courier_throughput_bps(10, disk_bytes=20e12, trip_s=43200, load_bps=2e9))
    973709834.4693282

    References
    ----------
    Tanenbaum and Wetherall, Computer Networks, 5th ed., 2.2.1; loading and unloading added.
    """
    count = whole("disk_count", disk_count, low=1)
    size = positive("disk_bytes", disk_bytes)
    at_once = whole("parallel_count", parallel_count, low=1)
    load = positive("load_bps", load_bps, allow_inf=True)
    # Per bit of a disk, as the bits of all disks may be beyond a float.
    trip = positive("trip_s", trip_s) / 8.0 / size
    return count / (trip + 2.0 * rounded_up(count / at_once) / load)


@model
def courier_break_even_bytes(
    bandwidth_bps: ArrayLike,
    *,
    trip_s: ArrayLike,
    load_bps: ArrayLike = np.inf,
    parallel_count: ArrayLike = 1.0,
) -> FloatArray:
    r"""Size from which on a courier with disks is faster than a line.

    .. math:: S = \frac{T}{8 / R - 2 \cdot 8 / (k r)}

    Parameters
    ----------
    bandwidth_bps : array_like
        Rate of the line for the data, headers not counted. [bit/s, payload]
    trip_s : array_like
        Time of the trip, door to door. [s]
    load_bps : array_like
        Rate at which a disk is written and read; by default loading takes no time.
        [bit/s, payload]
    parallel_count : array_like
        Disks that are loaded at a time. [1]

    Returns
    -------
    numpy.ndarray
        Size for which both take the same time; ``inf`` where the line carries at least half of
        what is loaded at a time, so that it is always faster. [byte]

    See Also
    --------
    courier_throughput_bps : The rate of a courier.

    Notes
    -----
    Validity: data spread evenly over the disks that are loaded at a time, and enough disks.

    Typical: 24 hours and a line of 1 Gbit/s: 10.8 TB, if loading takes no time.

    Range: everywhere.

    Defaults: load_bps (loading takes no time).

    Symbols: :math:`S` result, :math:`R` bandwidth_bps, :math:`T` trip_s, :math:`r` load_bps,
    :math:`k` parallel_count.

    Examples
    --------
    >>> float(courier_break_even_bytes(1e9, trip_s=86400))
    10800000000000.0

    References
    ----------
    Derived: the time of both is the same. Gray et al., TeraScale SneakerNet, MSR-TR-2002-54.
    """
    byte_s = 8.0 / positive("bandwidth_bps", bandwidth_bps)
    loaded_bps = positive("load_bps", load_bps, allow_inf=True)
    loaded_bps = loaded_bps * whole("parallel_count", parallel_count, low=1)
    gained_s = byte_s - 16.0 / loaded_bps
    trip = positive("trip_s", trip_s)
    is_slower = gained_s > 0.0
    size = np.where(is_slower, trip / np.where(is_slower, gained_s, 1.0), np.inf)
    return keep_nan(size, gained_s, trip)
