r"""M/M/c/K: several servers and a limited queue; a call that finds it full is lost.

Every load is allowed, that of all servers and above too. With a queue of 0 it is Erlang B, with
a long one at a load below the servers Erlang C.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, keep_nan, model, non_negative, positive, whole
from netcalc.models.queues._erlang import recursion, server_counts
from netcalc.models.queues._load import last_state, mean_state


@model
def mmck_blocking_ratio(
    offered_erlang: ArrayLike, *, server_count: ArrayLike, waiting_count: ArrayLike
) -> FloatArray:
    r"""Blocking probability with several servers and a limited queue (M/M/c/K).

    .. math:: P = \frac{B r^m}{1 - B + B \sum_{j=0}^{m} r^j}, \quad r = A / c

    Parameters
    ----------
    offered_erlang : array_like
        Load: arrival rate times mean service time. [1]
    server_count : array_like
        Servers. [1]
    waiting_count : array_like
        Calls that may wait; K is this and the servers. [1]

    Returns
    -------
    numpy.ndarray
        Share of calls that are lost. [ratio]

    Raises
    ------
    DomainError
        If ``server_count`` exceeds 10,000,000.

    See Also
    --------
    netcalc.models.queues.erlang.erlang_b_ratio : None may wait.
    netcalc.models.queues.finite_queues.mm1k_blocking_ratio : One server and a finite buffer.

    Notes
    -----
    Validity: Poisson arrivals, exponential service, none that waits gives up. :math:`B` is Erlang
    B of the load and the servers.

    Typical: of 8 erlangs ten trunks with a queue of five lose 3 %, without a queue 12 %.

    Range: everywhere.

    Symbols: :math:`A` offered_erlang, :math:`c` server_count, :math:`m` waiting_count.

    Examples
    --------
    >>> round(float(mmck_blocking_ratio(8, server_count=10, waiting_count=5)), 6)
    0.030038

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, ch. 3 (birth and death); Gross et al., Fundamentals of
    Queueing Theory, 5th ed., 3.5.
    """
    offered = non_negative("offered_erlang", offered_erlang)
    servers = server_counts(server_count, low=1)
    waiting = whole("waiting_count", waiting_count)
    load = offered / servers
    blocking, accepted, _ = recursion(offered, servers)
    empty = last_state(1.0 / load, waiting)
    lost = blocking * last_state(load, waiting) / (accepted * empty + blocking)
    return keep_nan(np.where(offered > 0.0, lost, 0.0), offered, servers, waiting)


@model
def mmck_wait_s(
    offered_erlang: ArrayLike,
    *,
    server_count: ArrayLike,
    waiting_count: ArrayLike,
    service_s: ArrayLike,
) -> FloatArray:
    r"""Mean wait of the calls that are not lost, with a limited queue (M/M/c/K).

    .. math:: W = \frac{s}{A} \frac{B \sum_{j=0}^{m} j r^j}{1 - B + B \sum_{j=0}^{m} r^j - B r^m},
        \quad r = A / c

    Parameters
    ----------
    offered_erlang : array_like
        Load: arrival rate times mean service time. [1]
    server_count : array_like
        Servers. [1]
    waiting_count : array_like
        Calls that may wait; K is this and the servers. [1]
    service_s : array_like
        Mean service time. [s]

    Returns
    -------
    numpy.ndarray
        Mean wait, of those that do not wait too; finite at every load. [s]

    Raises
    ------
    DomainError
        If ``server_count`` exceeds 10,000,000.

    See Also
    --------
    netcalc.models.queues.finite_queues.mm1k_wait_s : One server.
    netcalc.models.queues.mmc.mmc_wait_s : An infinite queue.

    Notes
    -----
    Validity: as :func:`mmck_blocking_ratio`.

    Range: everywhere.

    Symbols: :math:`A` offered_erlang, :math:`c` server_count, :math:`m` waiting_count, :math:`s`
    service_s.

    Examples
    --------
    >>> round(float(mmck_wait_s(8, server_count=10, waiting_count=5, service_s=180)), 3)
    14.657

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, ch. 3 (birth and death); Gross et al., Fundamentals of
    Queueing Theory, 5th ed., 3.5.
    """
    offered = non_negative("offered_erlang", offered_erlang)
    servers = server_counts(server_count, low=1)
    waiting = whole("waiting_count", waiting_count)
    service = positive("service_s", service_s)
    load = offered / servers
    blocking, accepted, _ = recursion(offered, servers)
    empty = last_state(1.0 / load, waiting)
    # Servers that are busy, by the states with and without a full set of them.
    carried = offered * accepted * empty + servers * blocking * (1.0 - empty)
    wait = np.where(blocking > 0.0, service * mean_state(load, waiting) * blocking / carried, 0.0)
    return keep_nan(wait, offered, servers, waiting, service)
