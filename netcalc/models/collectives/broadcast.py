r"""All-gather, reduce-scatter and broadcast, and a message between two ranks.

Times are those of :mod:`netcalc.models.collectives.all_reduce`: a message of :math:`n` bytes takes
:math:`d + 8 n / R`.
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
    rounded_up,
    whole,
)
from netcalc.models.collectives._ranks import arguments, doublings_up


@model
def ring_allgather_s(
    payload_bytes: ArrayLike,
    *,
    rank_count: ArrayLike,
    latency_s: ArrayLike,
    bandwidth_bps: ArrayLike,
) -> FloatArray:
    r"""Time of an all-gather or a reduce-scatter over a ring.

    .. math:: t = (p - 1) \, d + \frac{p - 1}{p} \, \frac{8 S}{R}

    Parameters
    ----------
    payload_bytes : array_like
        Bytes of the whole vector, the parts of all ranks together. [byte]
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
    recursive_doubling_allgather_s : Fewer steps.
    netcalc.models.collectives.all_reduce.ring_allreduce_s : One after the other.

    Notes
    -----
    Validity: equal parts, an idle network, additions that take no time. An all-gather begins with a
    part at each rank, a reduce-scatter ends with one.

    Range: everywhere.

    Symbols: :math:`S` payload_bytes, :math:`p` rank_count, :math:`d` latency_s, :math:`R`
    bandwidth_bps.

    Examples
    --------
    >>> time_s = ring_allgather_s(2**30, rank_count=8, latency_s=5e-6, bandwidth_bps=400e9)
    >>> round(float(time_s) * 1e3, 3)
    18.825

    References
    ----------
    Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH,
    IJHPCA 19(1), 2005, sections 4.1 and 4.4.
    """
    size, ranks, latency, rate = arguments(payload_bytes, rank_count, latency_s, bandwidth_bps)
    return (ranks - 1.0) * (latency + 8.0 * (size / rate / ranks))


@model
def recursive_doubling_allgather_s(
    payload_bytes: ArrayLike,
    *,
    rank_count: ArrayLike,
    latency_s: ArrayLike,
    bandwidth_bps: ArrayLike,
) -> FloatArray:
    r"""Time of an all-gather by recursive doubling, or a reduce-scatter by halving.

    .. math:: t = \lceil \log_2 p \rceil \, d + \frac{p - 1}{p} \, \frac{8 S}{R}

    Parameters
    ----------
    payload_bytes : array_like
        Bytes of the whole vector, the parts of all ranks together. [byte]
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
    ring_allgather_s : More steps, each with a neighbour only.

    Notes
    -----
    Validity: as :func:`ring_allgather_s`; where the ranks are no power of two, by Bruck's
    algorithm, and only the all-gather.

    Range: everywhere.

    Symbols: :math:`S` payload_bytes, :math:`p` rank_count, :math:`d` latency_s, :math:`R`
    bandwidth_bps.

    Examples
    --------
    >>> time_s = recursive_doubling_allgather_s(
    ...     4096, rank_count=16, latency_s=2e-6, bandwidth_bps=100e9
    ... )
    >>> round(float(time_s) * 1e6, 2)
    8.31

    References
    ----------
    Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH,
    IJHPCA 19(1), 2005, sections 4.1 and 4.4.
    """
    size, ranks, latency, rate = arguments(payload_bytes, rank_count, latency_s, bandwidth_bps)
    share = (ranks - 1.0) / ranks
    return doublings_up(ranks) * latency + share * (8.0 * (size / rate))


@model
def binomial_broadcast_s(
    payload_bytes: ArrayLike,
    *,
    rank_count: ArrayLike,
    latency_s: ArrayLike,
    bandwidth_bps: ArrayLike,
) -> FloatArray:
    r"""Time of a broadcast over a binomial tree.

    .. math:: t = \lceil \log_2 p \rceil \left( d + \frac{8 S}{R} \right)

    Parameters
    ----------
    payload_bytes : array_like
        Bytes that every rank shall have. [byte]
    rank_count : array_like
        Ranks: processes, or GPUs, that take part. [1]
    latency_s : array_like
        Time of an empty message between two ranks, one way, with the software of both (alpha). [s]
    bandwidth_bps : array_like
        Rate of each rank in each direction (1 / beta). [bit/s, line]

    Returns
    -------
    numpy.ndarray
        Time until the last rank has them; 0 for a single rank. [s]

    See Also
    --------
    pipelined_broadcast_s : In pieces, for large vectors.
    scatter_allgather_broadcast_s : In parts of which each rank passes on its own.

    Notes
    -----
    Validity: an idle network. In each step every rank that has the data sends all of it to another
    one.

    Typical: what MPI uses for short vectors: of less than 12 KiB in MPICH.

    Range: everywhere.

    Symbols: :math:`S` payload_bytes, :math:`p` rank_count, :math:`d` latency_s, :math:`R`
    bandwidth_bps.

    Examples
    --------
    >>> time_s = binomial_broadcast_s(8, rank_count=100, latency_s=2e-6, bandwidth_bps=100e9)
    >>> round(float(time_s) * 1e6, 2)
    14.0

    References
    ----------
    Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH,
    IJHPCA 19(1), 2005, section 4.2.
    """
    size, ranks, latency, rate = arguments(payload_bytes, rank_count, latency_s, bandwidth_bps)
    return doublings_up(ranks) * (latency + 8.0 * (size / rate))


@model
def scatter_allgather_broadcast_s(
    payload_bytes: ArrayLike,
    *,
    rank_count: ArrayLike,
    latency_s: ArrayLike,
    bandwidth_bps: ArrayLike,
) -> FloatArray:
    r"""Time of a broadcast by a scatter and an all-gather (van de Geijn).

    .. math::
        t = \left( \lceil \log_2 p \rceil + p - 1 \right) d + 2 \, \frac{p - 1}{p} \, \frac{8 S}{R}

    Parameters
    ----------
    payload_bytes : array_like
        Bytes that every rank shall have. [byte]
    rank_count : array_like
        Ranks: processes, or GPUs, that take part. [1]
    latency_s : array_like
        Time of an empty message between two ranks, one way, with the software of both (alpha). [s]
    bandwidth_bps : array_like
        Rate of each rank in each direction (1 / beta). [bit/s, line]

    Returns
    -------
    numpy.ndarray
        Time until the last rank has them; 0 for a single rank. [s]

    See Also
    --------
    binomial_broadcast_s : For short vectors.
    pipelined_broadcast_s : Each byte leaves the first rank once.

    Notes
    -----
    Validity: an idle network; a scatter over a binomial tree, then an all-gather over a ring.

    Typical: what MPI uses for long vectors.

    Range: everywhere.

    Symbols: :math:`S` payload_bytes, :math:`p` rank_count, :math:`d` latency_s, :math:`R`
    bandwidth_bps.

    Examples
    --------
    >>> time_s = scatter_allgather_broadcast_s(
    ...     2**20, rank_count=16, latency_s=2e-6, bandwidth_bps=100e9
    ... )
    >>> round(float(time_s) * 1e6, 1)
    195.3

    References
    ----------
    Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH,
    IJHPCA 19(1), 2005, section 4.2.
    """
    size, ranks, latency, rate = arguments(payload_bytes, rank_count, latency_s, bandwidth_bps)
    share = 2.0 * ((ranks - 1.0) / ranks)
    return (doublings_up(ranks) + ranks - 1.0) * latency + share * (8.0 * (size / rate))


@model
def pipelined_broadcast_s(
    payload_bytes: ArrayLike,
    *,
    rank_count: ArrayLike,
    latency_s: ArrayLike,
    bandwidth_bps: ArrayLike,
    chunk_bytes: ArrayLike,
) -> FloatArray:
    r"""Time of a broadcast along a chain of ranks, in pieces (NCCL's ring).

    .. math::
        t = \left( p - 2 + \left\lceil \frac{S}{C} \right\rceil \right)
        \left( d + \frac{8 C}{R} \right)

    Parameters
    ----------
    payload_bytes : array_like
        Bytes that every rank shall have. [byte]
    rank_count : array_like
        Ranks: processes, or GPUs, that take part. [1]
    latency_s : array_like
        Time of an empty message between two ranks, one way, with the software of both (alpha). [s]
    bandwidth_bps : array_like
        Rate of each rank in each direction (1 / beta). [bit/s, line]
    chunk_bytes : array_like
        Bytes of a piece. [byte]

    Returns
    -------
    numpy.ndarray
        Time until the last rank has them; 0 for a single rank or no bytes. [s]

    See Also
    --------
    binomial_broadcast_s : For short vectors.
    scatter_allgather_broadcast_s : In parts of which each rank passes on its own.

    Notes
    -----
    Validity: an idle network; a rank passes on a piece while it receives the next one. The last
    piece counts as a full one; a vector that is smaller than a piece is one piece of its size.

    Typical: pieces of 128 KiB to 4 MiB.

    Range: everywhere.

    Symbols: :math:`S` payload_bytes, :math:`p` rank_count, :math:`d` latency_s, :math:`R`
    bandwidth_bps, :math:`C` chunk_bytes, at most S.

    Examples
    --------
    >>> time_s = pipelined_broadcast_s(
    ...     2**30, rank_count=8, latency_s=5e-6, bandwidth_bps=400e9, chunk_bytes=2**20
    ... )
    >>> round(float(time_s) * 1e3, 2)
    26.75

    References
    ----------
    Derived: the last piece leaves the first rank after all others and takes p - 1 steps; Patarasuk,
    Yuan and Faraj, Techniques for pipelined broadcast on Ethernet switched clusters, J. Parallel
    Distrib. Comput. 68(6), 2008.
    """
    size, ranks, latency, rate = arguments(payload_bytes, rank_count, latency_s, bandwidth_bps)
    piece = np.minimum(positive("chunk_bytes", chunk_bytes), size)
    piece = keep_nan(piece, size, np.asarray(chunk_bytes, dtype=float))
    with np.errstate(invalid="ignore", divide="ignore"):
        count = np.where(size > 0.0, rounded_up(size / piece), 0.0)
    is_sent = (ranks > 1.0) & (size > 0.0)
    steps = keep_nan(np.where(is_sent, ranks - 2.0 + count, 0.0), ranks, size, piece)
    return steps * (latency + 8.0 * (piece / rate))


@model
def loggp_message_s(
    payload_bytes: ArrayLike,
    *,
    latency_s: ArrayLike,
    overhead_s: ArrayLike,
    bandwidth_bps: ArrayLike,
    message_gap_s: ArrayLike = 0.0,
    message_count: ArrayLike = 1,
) -> FloatArray:
    r"""Time of messages between two ranks (LogGP).

    .. math:: t = L + 2 o + k (n - 1) G + (k - 1) \max (g, o)

    Parameters
    ----------
    payload_bytes : array_like
        Bytes of each message; none counts as a byte. [byte]
    latency_s : array_like
        Time of the network for a byte, one way, without the software of the ranks (L). [s]
    overhead_s : array_like
        Time of the processor to send a message, and again to receive it (o). [s]
    bandwidth_bps : array_like
        Rate of long messages, 8 / G. [bit/s, line]
    message_gap_s : array_like
        Least time between two messages, 1 / the largest message rate (g). [s]
    message_count : array_like
        Messages, one after the other in one direction; 1 at least. [1]

    Returns
    -------
    numpy.ndarray
        Time from the start of the first send until the last message is received. [s]

    See Also
    --------
    netcalc.models.delays.latency.transfer_s : With the overheads as part of the latency.

    Notes
    -----
    Validity: one direction, messages that the network takes as they come.

    Typical: 0.5 to 2 µs of latency and 0.1 to 0.5 µs of overhead with InfiniBand or RoCE; 10 to 30
    µs together for TCP.

    Range: everywhere.

    Symbols: :math:`n` payload_bytes, :math:`L` latency_s, :math:`o` overhead_s, :math:`g`
    message_gap_s, :math:`k` message_count. Not in the equation: bandwidth_bps (which gives G).

    Examples
    --------
    >>> time_s = loggp_message_s(
    ...     [1, 4096], latency_s=1e-6, overhead_s=3e-7, bandwidth_bps=100e9
    ... )
    >>> (time_s * 1e6).round(2).tolist()
    [1.6, 1.93]

    References
    ----------
    Alexandrov, Ionescu, Schauser and Scheiman, LogGP: incorporating long messages into the LogP
    model, SPAA 1995, section 2, doi:10.1145/215399.215427.
    """
    size = non_negative("payload_bytes", payload_bytes)
    count = whole("message_count", message_count, low=1)
    overhead = non_negative("overhead_s", overhead_s)
    gap = non_negative("message_gap_s", message_gap_s)
    body = 8.0 * (np.maximum(size - 1.0, 0.0) / positive("bandwidth_bps", bandwidth_bps))
    apart = (count - 1.0) * np.maximum(gap, overhead)
    return non_negative("latency_s", latency_s) + 2.0 * overhead + count * body + apart
