r"""All-reduce: every rank ends with the sum of the vectors of all ranks, as of gradients.

A message of :math:`n` bytes takes :math:`d + 8 n / R` (alpha and beta): a rank sends one and
receives one at the same time, at full rate in both directions, and no two messages share a link.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import (
    FloatArray,
    keep_nan,
    model,
    non_negative,
    positive,
    whole,
)
from netcalc.models.collectives._ranks import (
    arguments,
    doublings_down,
    doublings_up,
    has_rest,
)


@model
def ring_allreduce_s(
    payload_bytes: ArrayLike,
    *,
    rank_count: ArrayLike,
    latency_s: ArrayLike,
    bandwidth_bps: ArrayLike,
) -> FloatArray:
    r"""Time of an all-reduce over a ring.

    .. math:: t = 2 (p - 1) \, d + 2 \, \frac{p - 1}{p} \, \frac{8 S}{R}

    Parameters
    ----------
    payload_bytes : array_like
        Bytes of the vector that each rank has. [byte]
    rank_count : array_like
        Ranks: processes, or GPUs, that take part. [1]
    latency_s : array_like
        Time of an empty message between two ranks, one way, with the software of both (alpha). [s]
    bandwidth_bps : array_like
        Rate of each rank in each direction (1 / beta). [bit/s, line]

    Returns
    -------
    numpy.ndarray
        Time of the collective; 0 for a single rank. [s]

    See Also
    --------
    double_tree_allreduce_s : Fewer steps for small vectors.
    hierarchical_allreduce_s : Several ranks of each node share a faster network.
    recursive_doubling_allreduce_s : What MPI uses for short vectors.
    rabenseifner_allreduce_s : What MPI uses for long vectors.
    ring_tree_crossover_bytes : From which size on it is faster than two trees.
    netcalc.models.collectives.broadcast.ring_allgather_s : Half of it.
    netcalc.models.collectives.bus_bandwidth.bus_bandwidth_bps : Measured times against the line.
    netcalc.models.collectives.bus_bandwidth.least_collective_s : Without its latency.
    netcalc.models.collectives.bus_bandwidth.ring_half_rate_bytes : At which size latency ends.

    Notes
    -----
    Validity: equal parts, an idle network, additions that take no time. No algorithm sends less
    data per rank; the steps grow with the number of ranks.

    Typical: 5 to 20 µs for a step between nodes, 400 Gbit/s for a rank with its own network card.

    Range: everywhere.

    Symbols: :math:`S` payload_bytes, :math:`p` rank_count, :math:`d` latency_s, :math:`R`
    bandwidth_bps.

    Examples
    --------
    A gibibyte of gradients among 8 ranks:

    >>> time_s = ring_allreduce_s(2**30, rank_count=8, latency_s=5e-6, bandwidth_bps=400e9)
    >>> round(float(time_s) * 1e3, 3)
    37.651

    References
    ----------
    Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, J.
    Parallel Distrib. Comput. 69(2), 2009, section 3, doi:10.1016/j.jpdc.2008.09.002.
    """
    size, ranks, latency, rate = arguments(payload_bytes, rank_count, latency_s, bandwidth_bps)
    return (ranks - 1.0) * (2.0 * latency + 16.0 * (size / rate / ranks))


@model
def double_tree_allreduce_s(
    payload_bytes: ArrayLike,
    *,
    rank_count: ArrayLike,
    latency_s: ArrayLike,
    bandwidth_bps: ArrayLike,
) -> FloatArray:
    r"""Time of an all-reduce over two binary trees (NCCL's tree).

    .. math:: t = 2 \lceil \log_2 p \rceil \, d + 2 \, \frac{8 S}{R}

    Parameters
    ----------
    payload_bytes : array_like
        Bytes of the vector that each rank has. [byte]
    rank_count : array_like
        Ranks: processes, or GPUs, that take part. [1]
    latency_s : array_like
        Time of an empty message between two ranks, one way, with the software of both (alpha). [s]
    bandwidth_bps : array_like
        Rate of each rank in each direction (1 / beta). [bit/s, line]

    Returns
    -------
    numpy.ndarray
        Time of the collective; 0 for a single rank. [s]

    See Also
    --------
    ring_allreduce_s : Less data for each rank, more steps.
    ring_tree_crossover_bytes : From which size on the ring is faster.

    Notes
    -----
    Validity: half of the vector goes up and down each tree, in pieces so small that the trees are
    full at once: a lower bound. Pieces have a latency of their own, so that medium sizes take
    longer.

    Range: everywhere.

    Symbols: :math:`S` payload_bytes, :math:`p` rank_count, :math:`d` latency_s, :math:`R`
    bandwidth_bps.

    Examples
    --------
    64 KiB among 256 ranks, where a ring takes 2.6 ms:

    >>> time_s = double_tree_allreduce_s(
    ...     65_536, rank_count=256, latency_s=5e-6, bandwidth_bps=400e9
    ... )
    >>> round(float(time_s) * 1e6, 1)
    82.6

    References
    ----------
    Sanders, Speck and Träff, Two-tree algorithms for full bandwidth broadcast, reduction and scan,
    Parallel Computing 35(12), 2009; Jeaugey, Massively scale your deep learning training with NCCL
    2.4, NVIDIA, 2019 (double binary trees).
    """
    size, ranks, latency, rate = arguments(payload_bytes, rank_count, latency_s, bandwidth_bps)
    steps = doublings_up(ranks)
    held = keep_nan(np.where(ranks > 1.0, 2.0, 0.0), ranks)
    return 2.0 * steps * latency + held * (8.0 * (size / rate))


@model
def recursive_doubling_allreduce_s(
    payload_bytes: ArrayLike,
    *,
    rank_count: ArrayLike,
    latency_s: ArrayLike,
    bandwidth_bps: ArrayLike,
) -> FloatArray:
    r"""Time of an all-reduce by recursive doubling.

    .. math:: t = s \left( d + \frac{8 S}{R} \right)

    Parameters
    ----------
    payload_bytes : array_like
        Bytes of the vector that each rank has. [byte]
    rank_count : array_like
        Ranks: processes, or GPUs, that take part. [1]
    latency_s : array_like
        Time of an empty message between two ranks, one way, with the software of both (alpha). [s]
    bandwidth_bps : array_like
        Rate of each rank in each direction (1 / beta). [bit/s, line]

    Returns
    -------
    numpy.ndarray
        Time of the collective; 0 for a single rank. [s]

    See Also
    --------
    rabenseifner_allreduce_s : Half of the vector in the first step, a quarter in the next.
    ring_allreduce_s : For large vectors.

    Notes
    -----
    Validity: as :func:`ring_allreduce_s`. Each step exchanges the whole vector with another rank;
    ranks beyond a power of two hand theirs to a neighbour first, and get the result last.

    Typical: what MPI uses for short vectors: of 2 KiB and less in MPICH.

    Range: everywhere.

    Symbols: :math:`S` payload_bytes, :math:`d` latency_s, :math:`R` bandwidth_bps. Not in the
    equation: rank_count (whose logarithm to base 2 is s; where it is no power of two, rounded down
    and two more).

    Examples
    --------
    >>> time_s = recursive_doubling_allreduce_s(
    ...     8, rank_count=[8, 12], latency_s=2e-6, bandwidth_bps=100e9
    ... )
    >>> (time_s * 1e6).round(3).tolist()
    [6.002, 10.003]

    References
    ----------
    Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH,
    IJHPCA 19(1), 2005, section 4.5.
    """
    size, ranks, latency, rate = arguments(payload_bytes, rank_count, latency_s, bandwidth_bps)
    steps = doublings_down(ranks) + 2.0 * has_rest(ranks)
    return steps * (latency + 8.0 * (size / rate))


@model
def rabenseifner_allreduce_s(
    payload_bytes: ArrayLike,
    *,
    rank_count: ArrayLike,
    latency_s: ArrayLike,
    bandwidth_bps: ArrayLike,
) -> FloatArray:
    r"""Time of an all-reduce by recursive halving and doubling (Rabenseifner).

    .. math:: t = 2 (h + e) \, d + 2 \left( \frac{q - 1}{q} + e \right) \frac{8 S}{R}

    Parameters
    ----------
    payload_bytes : array_like
        Bytes of the vector that each rank has. [byte]
    rank_count : array_like
        Ranks: processes, or GPUs, that take part. [1]
    latency_s : array_like
        Time of an empty message between two ranks, one way, with the software of both (alpha). [s]
    bandwidth_bps : array_like
        Rate of each rank in each direction (1 / beta). [bit/s, line]

    Returns
    -------
    numpy.ndarray
        Time of the collective; 0 for a single rank. [s]

    See Also
    --------
    recursive_doubling_allreduce_s : For short vectors.
    ring_allreduce_s : Without the extra data where the ranks are no power of two.

    Notes
    -----
    Validity: as :func:`ring_allreduce_s`. A reduce-scatter by halves and an all-gather by doubling
    among :math:`q` ranks, the largest power of two; other ranks hand their vector to a neighbour
    first, and get the result last.

    Typical: what MPI uses for long vectors.

    Range: everywhere.

    Symbols: :math:`S` payload_bytes, :math:`d` latency_s, :math:`R` bandwidth_bps. Not in the
    equation: rank_count (which gives q, the largest power of two up to it, h, the logarithm of q to
    base 2, and e: 0 where it is q, otherwise 1).

    Examples
    --------
    >>> time_s = rabenseifner_allreduce_s(
    ...     2**20, rank_count=[8, 12], latency_s=2e-6, bandwidth_bps=100e9
    ... )
    >>> (time_s * 1e6).round(1).tolist()
    [158.8, 330.6]

    References
    ----------
    Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH,
    IJHPCA 19(1), 2005, section 4.5; the extra
    steps as in MPICH, src/mpi/coll/allreduce.c, whose share (p - 1) / p is that of q ranks here;
    Rabenseifner, Optimization of collective reduction operations, ICCS 2004.
    """
    size, ranks, latency, rate = arguments(payload_bytes, rank_count, latency_s, bandwidth_bps)
    steps, extra = doublings_down(ranks), has_rest(ranks)
    share = 1.0 - np.exp2(-steps)
    return 2.0 * (steps + extra) * latency + 2.0 * (share + extra) * (8.0 * (size / rate))


@model
def hierarchical_allreduce_s(
    payload_bytes: ArrayLike,
    *,
    node_count: ArrayLike,
    node_rank_count: ArrayLike,
    latency_s: ArrayLike,
    bandwidth_bps: ArrayLike,
    node_latency_s: ArrayLike,
    node_bandwidth_bps: ArrayLike,
) -> FloatArray:
    r"""Time of an all-reduce within nodes first, then between them.

    .. math::
        t = 2 (g - 1) \left( d' + \frac{8 S}{g R'} \right)
        + 2 (m - 1) \left( d + \frac{8 S}{m g R} \right)

    Parameters
    ----------
    payload_bytes : array_like
        Bytes of the vector that each rank has. [byte]
    node_count : array_like
        Nodes. [1]
    node_rank_count : array_like
        Ranks of each node, such as its GPUs. [1]
    latency_s : array_like
        Time of an empty message between two nodes, one way, with the software of both (alpha). [s]
    bandwidth_bps : array_like
        Rate of each rank between nodes, in each direction: that of its network card. [bit/s, line]
    node_latency_s : array_like
        Time of an empty message between two ranks of a node. [s]
    node_bandwidth_bps : array_like
        Rate of each rank within its node, in each direction, such as that of NVLink. [bit/s, line]

    Returns
    -------
    numpy.ndarray
        Time of the collective; 0 for a single rank. [s]

    See Also
    --------
    ring_allreduce_s : All ranks in one ring.

    Notes
    -----
    Validity: a reduce-scatter over a ring in each node, an all-reduce of each part over a ring of
    nodes, all parts at the same time, an all-gather in each node; one after the other.

    Typical: 8 ranks, NVLink of 450 gigabytes per second in each direction, a card of 400 Gbit/s for
    each.

    Range: everywhere.

    Symbols: :math:`S` payload_bytes, :math:`m` node_count, :math:`g` node_rank_count, :math:`d`
    latency_s, :math:`R` bandwidth_bps, :math:`d'` node_latency_s, :math:`R'` node_bandwidth_bps.

    Examples
    --------
    A gibibyte among 4 nodes of 8 GPUs:

    >>> time_s = hierarchical_allreduce_s(
    ...     2**30, node_count=4, node_rank_count=8, latency_s=1e-5, bandwidth_bps=400e9,
    ...     node_latency_s=2e-6, node_bandwidth_bps=3.6e12,
    ... )
    >>> round(float(time_s) * 1e3, 2)
    8.29

    References
    ----------
    Derived: the phases by :func:`ring_allreduce_s` and
    :func:`netcalc.models.collectives.broadcast.ring_allgather_s`; Patarasuk and Yuan, J. Parallel
    Distrib. Comput. 69(2), 2009.
    """
    part = non_negative("payload_bytes", payload_bytes) / whole(
        "node_rank_count", node_rank_count, low=1
    )
    nodes = whole("node_count", node_count, low=1)
    ranks = whole("node_rank_count", node_rank_count, low=1)
    step = non_negative("latency_s", latency_s) + 8.0 * (
        part / positive("bandwidth_bps", bandwidth_bps) / nodes
    )
    node_step = non_negative("node_latency_s", node_latency_s) + 8.0 * (
        part / positive("node_bandwidth_bps", node_bandwidth_bps)
    )
    return (ranks - 1.0) * (2.0 * node_step) + (nodes - 1.0) * (2.0 * step)


@model
def ring_tree_crossover_bytes(
    rank_count: ArrayLike, *, latency_s: ArrayLike, bandwidth_bps: ArrayLike
) -> FloatArray:
    r"""Size from which on a ring is faster than two trees.

    .. math:: S = p \left( p - 1 - \lceil \log_2 p \rceil \right) \frac{d R}{8}

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
        Bytes of the vector: below it the tree is faster. [byte]

    See Also
    --------
    ring_allreduce_s : Its time over a ring.
    double_tree_allreduce_s : Its time over two trees.

    Notes
    -----
    Validity: where :func:`ring_allreduce_s` and :func:`double_tree_allreduce_s` take the same time.
    It is 0 for up to 3 ranks: a ring has no more steps than the trees.

    Range: everywhere.

    Symbols: :math:`p` rank_count, :math:`d` latency_s, :math:`R` bandwidth_bps.

    Examples
    --------
    >>> round(float(ring_tree_crossover_bytes(8, latency_s=5e-6, bandwidth_bps=400e9)))
    8000000

    References
    ----------
    Derived: the two times set equal.
    """
    ranks = whole("rank_count", rank_count, low=1)
    held = non_negative("latency_s", latency_s) * (positive("bandwidth_bps", bandwidth_bps) / 8.0)
    return ranks * (ranks - 1.0 - doublings_up(ranks)) * held
