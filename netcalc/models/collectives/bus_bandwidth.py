r"""Bus bandwidth: what the time of a collective says of the line, whatever the number of ranks.

A collective moves a vector of :math:`S` bytes past each rank more or less than once:
:math:`2 (p - 1) / p` times in an all-reduce, :math:`(p - 1) / p` times in an all-gather, a
reduce-scatter or an all-to-all, once in a broadcast or a reduce.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, choice, model, non_negative, positive, whole

Operation: TypeAlias = Literal[
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "reduce"
]

PASSES = {
    "all-reduce": 2.0, "all-gather": 1.0, "reduce-scatter": 1.0, "all-to-all": 1.0,
}  # fmt: skip
"""How often all but one of p parts of the vector pass each rank; others pass it whole, once."""


@model
def bus_bandwidth_bps(
    payload_bytes: ArrayLike,
    *,
    duration_s: ArrayLike,
    rank_count: ArrayLike,
    operation: Operation = "all-reduce",
) -> FloatArray:
    r"""Bus bandwidth of a collective (busbw of nccl-tests).

    .. math:: B = f \, \frac{8 S}{t}

    Parameters
    ----------
    payload_bytes : array_like
        Bytes of the vector, the parts of all ranks together. [byte]
    duration_s : array_like
        Time that the collective took. [s]
    rank_count : array_like
        Ranks: processes, or GPUs, that take part. [1]
    operation : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "reduce"}
        The collective. [text]

    Returns
    -------
    numpy.ndarray
        Rate to compare with that of the line; 0 for a single rank. [bit/s, payload]

    See Also
    --------
    least_collective_s : The least time at the rate of a line.
    netcalc.models.collectives.all_reduce.ring_allreduce_s : Predicted times.

    Notes
    -----
    Validity: the vector is the one that each rank has in an all-reduce, and the whole one in an
    all-gather or a reduce-scatter, as nccl-tests counts them. An all-reduce inside of the switches
    sends less, and may have more than the line.

    Typical: 80 to 95 % of the line where bandwidth limits.

    Range: everywhere.

    Symbols: :math:`S` payload_bytes, :math:`t` duration_s, Not in the equation: rank_count,
    operation (which give f: 2 (p - 1) / p for an all-reduce of p ranks, (p - 1) / p for an
    all-gather, a reduce-scatter or an all-to-all, 1 for a broadcast or a reduce).

    Examples
    --------
    >>> rate = bus_bandwidth_bps(2**30, duration_s=0.04, rank_count=8)
    >>> round(float(rate) / 8e9, 2)
    46.98

    References
    ----------
    NVIDIA, nccl-tests, doc/PERFORMANCE.md (bus bandwidth).
    """
    size = non_negative("payload_bytes", payload_bytes)
    return _factor(rank_count, operation) * (8.0 * (size / positive("duration_s", duration_s)))


@model
def least_collective_s(
    payload_bytes: ArrayLike,
    *,
    rank_count: ArrayLike,
    bandwidth_bps: ArrayLike,
    operation: Operation = "all-reduce",
) -> FloatArray:
    r"""Least time of a collective at the rate of a line.

    .. math:: t = f \, \frac{8 S}{R}

    Parameters
    ----------
    payload_bytes : array_like
        Bytes of the vector, the parts of all ranks together. [byte]
    rank_count : array_like
        Ranks: processes, or GPUs, that take part. [1]
    bandwidth_bps : array_like
        Rate of each rank in each direction (1 / beta). [bit/s, line]
    operation : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "reduce"}
        The collective. [text]

    Returns
    -------
    numpy.ndarray
        Time without any latency; 0 for a single rank. [s]

    See Also
    --------
    bus_bandwidth_bps : What a measured time says of the line.
    netcalc.models.collectives.all_reduce.ring_allreduce_s : With the latency of its steps.

    Notes
    -----
    Validity: as :func:`bus_bandwidth_bps`, for ranks that send and receive at full rate together.

    Range: everywhere.

    Symbols: :math:`S` payload_bytes, :math:`R` bandwidth_bps, Not in the equation: rank_count,
    operation (which give f, as in :func:`bus_bandwidth_bps`).

    Examples
    --------
    The gradients of 7 billion parameters, 2 bytes each:

    >>> time_s = least_collective_s(14e9, rank_count=64, bandwidth_bps=400e9)
    >>> round(float(time_s), 3)
    0.551

    References
    ----------
    NVIDIA, nccl-tests, doc/PERFORMANCE.md (bus bandwidth); Patarasuk and Yuan, J. Parallel
    Distrib. Comput. 69(2), 2009, section 2 (lower bound of the all-reduce).
    """
    size = non_negative("payload_bytes", payload_bytes)
    rate = positive("bandwidth_bps", bandwidth_bps)
    return _factor(rank_count, operation) * (8.0 * (size / rate))


@model
def ring_half_rate_bytes(
    rank_count: ArrayLike, *, latency_s: ArrayLike, bandwidth_bps: ArrayLike
) -> FloatArray:
    r"""Size at which a ring's latency takes as long as its data.

    .. math:: S = p \, \frac{d R}{8}

    Parameters
    ----------
    rank_count : array_like
        Ranks: processes, or GPUs, that take part. [1]
    latency_s : array_like
        Time of an empty message between two ranks, one way, with the software of both (alpha). [s]
    bandwidth_bps : array_like
        Rate of each rank in each direction (1 / beta). [bit/s, line]

    Returns
    -------
    numpy.ndarray
        Size with half of the line's bus bandwidth: below it latency dominates. [byte]

    See Also
    --------
    netcalc.models.delays.latency.half_rate_bytes : A message between two ranks.
    netcalc.models.collectives.all_reduce.ring_allreduce_s : The time it is about.

    Notes
    -----
    Validity: an all-reduce, an all-gather or a reduce-scatter over a ring, of two ranks or more.

    Typical: 2 MB for 8 ranks with 5 µs and 400 Gbit/s; 9 times as much for 90 % of the rate.

    Range: everywhere.

    Symbols: :math:`p` rank_count, :math:`d` latency_s, :math:`R` bandwidth_bps.

    Examples
    --------
    >>> round(float(ring_half_rate_bytes(8, latency_s=5e-6, bandwidth_bps=400e9)))
    2000000

    References
    ----------
    Derived: the two terms of :func:`netcalc.models.collectives.all_reduce.ring_allreduce_s` set
    equal; Hockney and Jesshope, Parallel Computers (n½).
    """
    ranks = whole("rank_count", rank_count, low=1)
    latency = non_negative("latency_s", latency_s)
    return ranks * (latency * (positive("bandwidth_bps", bandwidth_bps) / 8.0))


def _factor(rank_count: ArrayLike, operation: str) -> FloatArray:
    ranks = whole("rank_count", rank_count, low=1)
    choice("operation", operation, (*PASSES, "broadcast", "reduce"))
    if operation not in PASSES:
        return (ranks > 1.0) * (ranks / ranks)
    return PASSES[operation] * ((ranks - 1.0) / ranks)
