r"""Erlang B: calls that find every server busy are lost.

The offered load :math:`A` is arrival rate times mean service time, in erlangs: the number of
servers it would keep busy. Blocking is found by the recursion over servers, never by factorials,
and the recursion starts only a few :math:`\sqrt{A}` before the smaller of load and servers: its
start has no influence by then. At most ten million servers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, between, keep_nan, model, non_negative, ratio
from netcalc.errors import ConvergenceError
from netcalc.models.queues._erlang import (
    MAX_SERVERS,
    MEMORY,
    blocked_share,
    recursion,
    server_counts,
)

_MAX_STEPS = 100


@model
def erlang_b_ratio(offered_erlang: ArrayLike, *, server_count: ArrayLike) -> FloatArray:
    r"""Blocking probability (Erlang B).

    .. math:: B(c) = \frac{A^c / c!}{\sum_{k=0}^{c} A^k / k!}

    Parameters
    ----------
    offered_erlang : array_like
        Load: arrival rate times mean service time. [1]
    server_count : array_like
        Servers, circuits or lines. [1]

    Returns
    -------
    numpy.ndarray
        Blocking probability. [ratio]

    Raises
    ------
    DomainError
        If ``server_count`` exceeds 10,000,000.

    See Also
    --------
    netcalc.models.queues.mmc.erlang_c_ratio : Blocked calls wait.
    netcalc.models.queues.finite_queues.mm1k_blocking_ratio : One server and a finite buffer.
    netcalc.models.queues.mmck.mmck_blocking_ratio : Several servers and a limited queue.
    netcalc.models.queues.engset.engset_blocking_ratio : A limited number of sources.
    netcalc.models.queues.kaufman_roberts.multirate_blocking_ratio : Calls of several sizes.
    netcalc.models.queues.erlang_a.erlang_a : Impatient calls.

    Notes
    -----
    Validity: Poisson arrivals, any distribution of the service time, lost calls are not retried.

    Typical: telephone trunks are planned for a blocking of 1 %.

    Range: everywhere.

    Symbols: :math:`A` offered_erlang, :math:`c` server_count.

    Examples
    --------
    >>> round(float(erlang_b_ratio(20, server_count=30)), 9)
    0.008457498

    References
    ----------
    Erlang, Solution of some problems in the theory of probabilities (1917); Kleinrock, Queueing
    Systems vol. 1, 3.7.
    """
    offered = non_negative("offered_erlang", offered_erlang)
    return blocked_share(offered, server_counts(server_count, low=0))


@model
def erlang_b_load(blocking_ratio: ArrayLike, *, server_count: ArrayLike) -> FloatArray:
    r"""Largest offered load at a given blocking probability (Erlang B).

    .. math:: B(c, A) = b

    Parameters
    ----------
    blocking_ratio : array_like
        Target blocking probability. [ratio]
    server_count : array_like
        Servers, circuits or lines. [1]

    Returns
    -------
    numpy.ndarray
        Offered load in erlangs; ``inf`` if all may be lost. [1]

    Raises
    ------
    DomainError
        If ``server_count`` exceeds 10,000,000.
    ConvergenceError
        If the search does not end.

    Notes
    -----
    Validity: as :func:`erlang_b_ratio`. Newton's method on the logarithms, which are concave,
    inside a bracket.

    Range: everywhere.

    Symbols: :math:`b` blocking_ratio, :math:`c` server_count, :math:`A` result.

    Examples
    --------
    >>> round(float(erlang_b_load(0.01, server_count=10)), 6)
    4.461177

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.7; the standard tables of blocking.
    """
    blocking = ratio("blocking_ratio", blocking_ratio)
    servers = server_counts(server_count, low=1)
    blocking, servers = np.broadcast_arrays(blocking, servers)
    is_open = (blocking > 0.0) & (blocking < 1.0)
    target = np.where(is_open, blocking, 0.5)
    filled = np.where(np.isnan(servers), 1.0, servers)
    load = _offered_load(target, filled)
    load = np.where(is_open, load, np.where(blocking > 0.0, np.inf, 0.0))
    return keep_nan(load, blocking, servers)


@model
def erlang_b_server_count(offered_erlang: ArrayLike, *, blocking_ratio: ArrayLike) -> FloatArray:
    r"""Number of servers for a given blocking probability (Erlang B).

    .. math:: \min \{ c : B(c, A) \le b \}

    Parameters
    ----------
    offered_erlang : array_like
        Load: arrival rate times mean service time. [1]
    blocking_ratio : array_like
        Target blocking probability. [ratio]

    Returns
    -------
    numpy.ndarray
        Minimum number of servers; 0 without load, ``inf`` if no call may be lost. [1]

    See Also
    --------
    netcalc.models.queues.mmc.erlang_c_server_count : Blocked calls wait.

    Notes
    -----
    Validity: as :func:`erlang_b_ratio`.

    Range: everywhere.

    Symbols: :math:`A` offered_erlang, :math:`b` blocking_ratio, :math:`c` result.

    Examples
    --------
    Circuits for 1 % blocking:

    >>> float(erlang_b_server_count(100 / 3, blocking_ratio=0.01))
    45.0

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.7.
    """
    offered = between("offered_erlang", offered_erlang, 0.0, MAX_SERVERS)
    wanted = ratio("blocking_ratio", blocking_ratio)
    offered, wanted = np.broadcast_arrays(offered, wanted)
    is_open = (offered > 0.0) & (wanted > 0.0) & (wanted < 1.0)
    load, target = np.where(is_open, offered, 1.0), np.where(is_open, wanted, 0.5)
    # Blocking is never below 1 - c/A: no fewer servers than this can do.
    least = load * (1.0 - target)
    servers = np.maximum(np.floor(least - MEMORY * np.sqrt(load) - 20.0), 0.0)
    blocking = np.maximum(1.0 - servers / load, 0.0)
    while (is_short := (blocking > target) | (servers < np.floor(least))).any():
        servers = servers + is_short
        carried = load * blocking
        blocking = np.where(is_short, carried / (servers + carried), blocking)
    count = np.where((offered > 0.0) & (wanted < 1.0), np.where(is_open, servers, np.inf), 0.0)
    return keep_nan(count, offered, wanted)


def _offered_load(wanted: FloatArray, servers: FloatArray) -> FloatArray:
    """Return the load of which a share ``wanted``, above 0 and below 1, is blocked."""
    rest = 1.0 - wanted
    # Blocking is at most A^c / c! and at least 1 - c/A, which brackets the load.
    low = (np.log(wanted) + servers * np.log(servers) - servers) / servers - 1e-9
    high = np.log(servers) - np.log(rest) + 1e-9
    log_load = np.clip(np.log(np.maximum(servers - 2.0 * np.sqrt(servers), 0.1)), low, high)
    change = np.inf
    for _ in range(_MAX_STEPS):
        blocking, accepted, idle = recursion(np.exp(log_load), servers)
        is_rare = wanted < 0.5
        excess = np.where(is_rare, np.log(blocking / wanted), np.log(rest / accepted))
        slope = np.where(is_rare, idle, blocking * idle / accepted)
        low, high = np.where(excess > 0.0, low, log_load), np.where(excess > 0.0, log_load, high)
        newton = log_load - excess / slope
        is_inside = (newton >= low) & (newton <= high)
        following = np.where(is_inside, newton, 0.5 * (low + high))
        change = float(np.abs(following - log_load).max(initial=0.0))
        log_load = following
        if change < 1e-13:
            load: FloatArray = np.exp(log_load)
            return load
    last = float(np.exp(log_load).flat[0])
    raise ConvergenceError(
        "the load of a given blocking", iterations=_MAX_STEPS, residual=change, last=last
    )
