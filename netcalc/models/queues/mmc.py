r"""M/M/c and Erlang C: many servers, one queue, no losses.

The offered load :math:`A` is arrival rate times mean service time, in erlangs. Where it is the
number of servers or more there is no steady state: every call waits, and the wait is ``inf``. At
most ten million servers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, between, keep_nan, model, non_negative, positive, ratio
from netcalc.models.queues._erlang import MAX_SERVERS, blocked_share, server_counts, waiting_share


@model
def erlang_c_ratio(offered_erlang: ArrayLike, *, server_count: ArrayLike) -> FloatArray:
    r"""Probability of waiting (Erlang C).

    .. math:: C = \frac{B}{1 - (1 - B) A / c}

    Parameters
    ----------
    offered_erlang : array_like
        Load: arrival rate times mean service time. [1]
    server_count : array_like
        Servers. [1]

    Returns
    -------
    numpy.ndarray
        Probability of waiting; 1 where the load is the number of servers or more. [ratio]

    Raises
    ------
    DomainError
        If ``server_count`` exceeds 10,000,000.

    See Also
    --------
    netcalc.models.queues.erlang.erlang_b_ratio : Blocked calls are lost.
    netcalc.models.queues.finite_queues.mm1k_blocking_ratio : One server and a finite buffer.
    netcalc.models.queues.erlang_a.erlang_a : Impatient calls.

    Notes
    -----
    Validity: Poisson arrivals, exponential service (unlike Erlang B it depends on it), all calls
    wait, none is abandoned.

    Range: everywhere.

    Symbols: :math:`A` offered_erlang, :math:`c` server_count.

    Examples
    --------
    >>> round(float(erlang_c_ratio(90, server_count=100)), 9)
    0.216940481

    References
    ----------
    Erlang 1917; Kleinrock, Queueing Systems vol. 1, 3.5.
    """
    offered = non_negative("offered_erlang", offered_erlang)
    return waiting_share(offered, server_counts(server_count, low=1))


@model
def erlang_c_server_count(
    offered_erlang: ArrayLike,
    *,
    service_level_ratio: ArrayLike,
    within_s: ArrayLike = 0.0,
    service_s: ArrayLike = 1.0,
) -> FloatArray:
    r"""Number of servers for a service level (Erlang C).

    .. math:: \min \{ c > A : 1 - C e^{-(c - A) t / s} \ge q \}

    Parameters
    ----------
    offered_erlang : array_like
        Load: arrival rate times mean service time. [1]
    service_level_ratio : array_like
        Service level: share of calls answered in time. [ratio]
    within_s : array_like
        Wait allowed; 0 for calls that do not wait at all. [s]
    service_s : array_like
        Mean service time. [s]

    Returns
    -------
    numpy.ndarray
        Minimum number of servers; 0 without load, ``inf`` if every call must be in time. [1]

    See Also
    --------
    netcalc.models.queues.erlang.erlang_b_server_count : Blocked calls are lost.

    Notes
    -----
    Validity: as :func:`erlang_c_ratio`. More servers than erlangs in any case, or the queue has
    no steady state.

    Range: everywhere.

    Symbols: :math:`A` offered_erlang, :math:`q` service_level_ratio, :math:`t` within_s, :math:`s`
    service_s, :math:`c` result.

    Examples
    --------
    >>> float(erlang_c_server_count(90, service_level_ratio=0.8, within_s=20, service_s=180))
    97.0

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.5; Erlang 1917.
    """
    offered = between("offered_erlang", offered_erlang, 0.0, MAX_SERVERS)
    level = ratio("service_level_ratio", service_level_ratio)
    patience = non_negative("within_s", within_s) / positive("service_s", service_s)
    offered, level, patience = np.broadcast_arrays(offered, level, patience)
    is_open = (offered > 0.0) & (level < 1.0) & ~np.isnan(patience)
    load = np.where(is_open, offered, 0.5)
    late = np.where(is_open, 1.0 - level, 1.0)
    bound = np.where(is_open, patience, 0.0)
    servers = np.floor(load) + 1.0
    blocking = np.asarray(blocked_share(load, servers))
    while True:
        spare = servers - load
        waiting = servers * blocking / (spare + load * blocking)
        is_short = waiting * np.exp(-spare * bound) > late
        if not is_short.any():
            break
        servers = servers + is_short
        carried = load * blocking
        blocking = np.where(is_short, carried / (servers + carried), blocking)
    count = np.where(offered > 0.0, np.where(is_open, servers, np.inf), 0.0)
    return keep_nan(count, offered, level, patience)


@model
def service_level_ratio(
    offered_erlang: ArrayLike,
    *,
    server_count: ArrayLike,
    within_s: ArrayLike,
    service_s: ArrayLike,
) -> FloatArray:
    r"""Service level: probability that a call waits at most a given time (Erlang C).

    .. math:: P(W \le t) = 1 - C e^{-(c - A) t / s}

    Parameters
    ----------
    offered_erlang : array_like
        Load: arrival rate times mean service time. [1]
    server_count : array_like
        Servers. [1]
    within_s : array_like
        Wait allowed. [s]
    service_s : array_like
        Mean service time. [s]

    Returns
    -------
    numpy.ndarray
        Share answered in time; 0 where the load is the number of servers or more. [ratio]

    Raises
    ------
    DomainError
        If ``server_count`` exceeds 10,000,000.

    Notes
    -----
    Validity: as :func:`erlang_c_ratio`, first come first served.

    Typical: call centres aim at 80 % within 20 s.

    Range: everywhere.

    Symbols: :math:`A` offered_erlang, :math:`c` server_count, :math:`t` within_s, :math:`s`
    service_s.

    Examples
    --------
    >>> round(float(service_level_ratio(90, server_count=100, within_s=0.2, service_s=1.0)), 9)
    0.970640299

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.5 and ch. 5.
    """
    offered = non_negative("offered_erlang", offered_erlang)
    servers = server_counts(server_count, low=1)
    patience = non_negative("within_s", within_s) / positive("service_s", service_s)
    waiting = waiting_share(offered, servers)
    level = (1.0 - waiting) - waiting * np.expm1(-(servers - offered) * patience)
    return keep_nan(np.where(offered < servers, level, 0.0), offered, servers, patience)


@model
def mmc_wait_s(
    offered_erlang: ArrayLike, *, server_count: ArrayLike, service_s: ArrayLike
) -> FloatArray:
    r"""Mean wait in an M/M/c queue.

    .. math:: W = C \frac{s}{c - A}

    Parameters
    ----------
    offered_erlang : array_like
        Load: arrival rate times mean service time. [1]
    server_count : array_like
        Servers. [1]
    service_s : array_like
        Mean service time. [s]

    Returns
    -------
    numpy.ndarray
        Mean wait of all calls, those that do not wait included; ``inf`` where the load is the
        number of servers or more: no steady state, which only calls that are lost have there
        (erlang_b). [s]

    Raises
    ------
    DomainError
        If ``server_count`` exceeds 10,000,000.

    See Also
    --------
    netcalc.models.queues.mm1.mm1_wait_s : Exponential service: an upper estimate for packets.
    netcalc.models.queues.md1.md1_wait_s : Packets of one size: half the wait.
    netcalc.models.queues.queueing.mg1_wait_s : Any distribution of the service time.
    netcalc.models.queues.queueing.kingman_wait_s : Any arrivals as well, approximately.
    netcalc.models.queues.finite_queues.mm1k_wait_s : A finite buffer.
    netcalc.models.queues.mmck.mmck_wait_s : Several servers and a limited queue.

    Notes
    -----
    Validity: as :func:`erlang_c_ratio`.

    Range: everywhere.

    Symbols: :math:`A` offered_erlang, :math:`c` server_count, :math:`s` service_s.

    Examples
    --------
    >>> round(float(mmc_wait_s(8, server_count=10, service_s=1.0)), 9)
    0.204590075

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.5.
    """
    offered = non_negative("offered_erlang", offered_erlang)
    servers = server_counts(server_count, low=1)
    waiting = waiting_share(offered, servers)
    return waiting / np.maximum(servers - offered, 0.0) * positive("service_s", service_s)


@model
def mmc_wait_percentile_s(
    offered_erlang: ArrayLike,
    *,
    server_count: ArrayLike,
    service_s: ArrayLike,
    quantile: ArrayLike,
) -> FloatArray:
    r"""Percentile of the wait in an M/M/c queue.

    .. math:: t_q = \max\left(0, \frac{s}{c - A} \ln \frac{C}{1 - q}\right)

    Parameters
    ----------
    offered_erlang : array_like
        Load: arrival rate times mean service time. [1]
    server_count : array_like
        Servers. [1]
    service_s : array_like
        Mean service time. [s]
    quantile : array_like
        Probability: 0.99 for the 99th percentile. [ratio]

    Returns
    -------
    numpy.ndarray
        Percentile of the wait; 0 where enough calls do not wait at all, ``inf`` for a quantile
        of 1, and where the load is the number of servers or more: no steady state. [s]

    Raises
    ------
    DomainError
        If ``server_count`` exceeds 10,000,000.

    See Also
    --------
    netcalc.models.queues.mm1.mm1_wait_percentile_s : Exponential service.
    netcalc.models.queues.md1.md1_wait_percentile_s : Packets of one size.

    Notes
    -----
    Validity: as :func:`erlang_c_ratio`, first come first served.

    Range: everywhere.

    Symbols: :math:`A` offered_erlang, :math:`c` server_count, :math:`s` service_s, :math:`q`
    quantile.

    Examples
    --------
    >>> round(float(mmc_wait_percentile_s(18, server_count=20, service_s=1.0, quantile=0.99)), 9)
    2.0043652

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.5 and ch. 5, solved for the time.
    """
    offered = non_negative("offered_erlang", offered_erlang)
    servers = server_counts(server_count, low=1)
    service = positive("service_s", service_s)
    share = ratio("quantile", quantile)
    longer = np.maximum(np.log(waiting_share(offered, servers)) - np.log1p(-share), 0.0)
    wait = np.where(offered < servers, service / (servers - offered) * longer, np.inf)
    wait = np.where(offered > 0.0, wait, 0.0)
    return keep_nan(wait, offered, servers, service, share)
