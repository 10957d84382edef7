r"""Engset: calls of a limited number of sources, lost where every server is busy.

A source that has a call makes no other: with few sources the load falls as circuits fill, and
fewer calls are blocked than with the Poisson arrivals of Erlang B.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, keep_nan, model, non_negative, whole
from netcalc.errors import DomainError

MAX_SERVERS = 1_000_000
"""Largest number of servers."""


@model
def engset_blocking_ratio(
    source_count: ArrayLike, *, source_erlang: ArrayLike, server_count: ArrayLike
) -> FloatArray:
    r"""Blocking probability of calls from a limited number of sources (Engset).

    .. math:: B = \binom{N - 1}{c} a^c \Big/ \sum_{k=0}^{c} \binom{N - 1}{k} a^k

    Parameters
    ----------
    source_count : array_like
        Sources: telephones, or subscribers. [1]
    source_erlang : array_like
        Load that an idle source offers: its calls per second while it is idle, times the mean
        holding time. [1]
    server_count : array_like
        Servers, circuits or lines. [1]

    Returns
    -------
    numpy.ndarray
        Share of calls that are blocked; 0 where each source has a server. [ratio]

    Raises
    ------
    DomainError
        If ``server_count`` exceeds 1,000,000.

    See Also
    --------
    engset_time_ratio : Share of the time.
    netcalc.models.queues.erlang.erlang_b_ratio : Any number of sources.

    Notes
    -----
    Validity: blocked calls are not retried; any distribution of the holding and idle times. A
    call finds what the other sources do: hence N - 1. With many sources of a small load it is
    Erlang B.

    Typical: 20 sources of 0.1 erlang when idle block 1.9 % of the calls on 5 circuits.

    Range: everywhere.

    Symbols: :math:`N` source_count, :math:`a` source_erlang, :math:`c` server_count.

    Examples
    --------
    >>> round(float(engset_blocking_ratio(20, source_erlang=0.1, server_count=5)), 6)
    0.019116

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.10 (M/M/m/m/M); ITU-D Teletraffic Engineering Handbook
    (2005), 8.3.
    """
    sources, load, servers = _arguments(source_count, source_erlang, server_count)
    return _share(np.maximum(sources - 1.0, 0.0), load, servers, sources)


@model
def engset_time_ratio(
    source_count: ArrayLike, *, source_erlang: ArrayLike, server_count: ArrayLike
) -> FloatArray:
    r"""Share of the time in which every server is busy, with a limited number of sources.

    .. math:: E = \binom{N}{c} a^c \Big/ \sum_{k=0}^{c} \binom{N}{k} a^k

    Parameters
    ----------
    source_count : array_like
        Sources: telephones, or subscribers. [1]
    source_erlang : array_like
        Load that an idle source offers: its calls per second while it is idle, times the mean
        holding time. [1]
    server_count : array_like
        Servers, circuits or lines. [1]

    Returns
    -------
    numpy.ndarray
        Share of the time. [ratio]

    Raises
    ------
    DomainError
        If ``server_count`` exceeds 1,000,000.

    See Also
    --------
    engset_blocking_ratio : Share of the calls.

    Notes
    -----
    Validity: as :func:`engset_blocking_ratio`. It is larger than the share of calls that are
    blocked: while all servers are busy, fewer sources are idle.

    Range: everywhere.

    Symbols: :math:`N` source_count, :math:`a` source_erlang, :math:`c` server_count.

    Examples
    --------
    >>> round(float(engset_time_ratio(20, source_erlang=0.1, server_count=5)), 6)
    0.023211

    References
    ----------
    ITU-D Teletraffic Engineering Handbook (2005), 8.3.
    """
    sources, load, servers = _arguments(source_count, source_erlang, server_count)
    return _share(sources, load, servers, sources)


def _arguments(
    source_count: ArrayLike, source_erlang: ArrayLike, server_count: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    sources = whole("source_count", source_count)
    load = non_negative("source_erlang", source_erlang)
    servers = whole("server_count", server_count)
    largest = float(np.fmax.reduce(np.ravel(servers), initial=0.0))
    if largest > MAX_SERVERS:
        raise DomainError("out-of-range", "server_count", largest, low=0, high=MAX_SERVERS)
    return sources, load, servers


def _share(
    others: FloatArray, load: FloatArray, servers: FloatArray, sources: FloatArray
) -> FloatArray:
    """Return the probability that all servers are busy, by the recursion over servers."""
    others, load, servers, sources = np.broadcast_arrays(others, load, servers, sources)
    blocking = np.where(sources > 0.0, 1.0, 0.0)
    steps = int(np.fmax.reduce(np.ravel(np.minimum(servers, others + 1.0)), initial=0.0))
    for count in range(1, steps + 1):
        carried = np.maximum(others - count + 1.0, 0.0) * load * blocking
        blocking = np.where(count <= servers, carried / (count + carried), blocking)
    # An infinite load, the product of two large numbers, keeps all servers busy.
    blocking = np.where(np.isnan(blocking), 1.0, blocking)
    blocking = np.where(servers > others, 0.0, blocking)
    return keep_nan(blocking, others, load, servers, sources)
