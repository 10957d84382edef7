r"""Calls and several servers: Erlang B, C and A, M/M/c/K, Engset, Kaufman and Roberts.

The offered load :math:`A` is arrival rate times mean service time, in erlangs: the number of
servers it would keep busy. Blocking is found by the recursion over servers, never by factorials,
and the recursion starts only a few :math:`\sqrt{A}` before the smaller of load and servers: its
start has no influence by then. At most ten million servers.

- Erlang B: a call that finds every server busy is lost.
- Erlang C, M/M/c: it waits. Where the load is the number of servers or more there is no steady
  state: every call waits, and the wait is ``inf``.
- M/M/c/K: the queue is limited, and a call that finds it full is lost. Every load is allowed. With
  a queue of 0 it is Erlang B, with a long one at a load below the servers Erlang C.
- Erlang A: calls wait, and give up when their patience ends (Palm). As some give up, there is
  a steady state at every load.
- Engset: calls of a limited number of sources. A source that has a call makes no other: with few
  sources the load falls as circuits fill, and fewer calls are blocked than with Poisson arrivals.
- Kaufman and Roberts: calls of several sizes share one link. A call of a class takes a number of
  circuits, or of units of rate, all at once. The probabilities of the number that is taken obey
  a recursion of positive terms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import (
    FloatArray,
    as_float,
    between,
    keep_nan,
    model,
    non_negative,
    one_dimensional,
    positive,
    ratio,
    scalar,
    whole,
)
from netcalc.errors import ConvergenceError, DomainError
from netcalc.models.queues._load import last_state, mean_state

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
    netcalc.models.queues.erlang.erlang_c_ratio : Blocked calls wait.
    netcalc.models.queues.mm1.mm1k_blocking_ratio : One server and a finite buffer.
    netcalc.models.queues.erlang.mmck_blocking_ratio : Several servers and a limited queue.
    netcalc.models.queues.erlang.engset_blocking_ratio : A limited number of sources.
    netcalc.models.queues.erlang.multirate_blocking_ratio : Calls of several sizes.
    netcalc.models.queues.erlang.erlang_a : Impatient calls.

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
    return _blocked_share(offered, _server_counts(server_count, low=0))


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
    servers = _server_counts(server_count, low=1)
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
    netcalc.models.queues.erlang.erlang_c_server_count : Blocked calls wait.

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
    share = ratio("blocking_ratio", blocking_ratio)
    offered, share = np.broadcast_arrays(offered, share)
    is_open = (offered > 0.0) & (share > 0.0) & (share < 1.0)
    load, target = np.where(is_open, offered, 1.0), np.where(is_open, share, 0.5)
    # Blocking is never below 1 - c/A: no fewer servers than this can do.
    least = load * (1.0 - target)
    servers = np.maximum(np.floor(least - MEMORY * np.sqrt(load) - 20.0), 0.0)
    blocking = np.maximum(1.0 - servers / load, 0.0)
    while (is_short := (blocking > target) | (servers < np.floor(least))).any():
        servers = servers + is_short
        carried = load * blocking
        blocking = np.where(is_short, carried / (servers + carried), blocking)
    count = np.where((offered > 0.0) & (share < 1.0), np.where(is_open, servers, np.inf), 0.0)
    return keep_nan(count, offered, share)


def _offered_load(target: FloatArray, servers: FloatArray) -> FloatArray:
    """Return the load of which a share ``target``, above 0 and below 1, is blocked."""
    rest = 1.0 - target
    # Blocking is at most A^c / c! and at least 1 - c/A, which brackets the load.
    low = (np.log(target) + servers * np.log(servers) - servers) / servers - 1e-9
    high = np.log(servers) - np.log(rest) + 1e-9
    log_load = np.clip(np.log(np.maximum(servers - 2.0 * np.sqrt(servers), 0.1)), low, high)
    change = np.inf
    for _ in range(_MAX_STEPS):
        blocking, accepted, idle = _recursion(np.exp(log_load), servers)
        is_rare = target < 0.5
        excess = np.where(is_rare, np.log(blocking / target), np.log(rest / accepted))
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
    netcalc.models.queues.mm1.mm1k_blocking_ratio : One server and a finite buffer.
    netcalc.models.queues.erlang.erlang_a : Impatient calls.

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
    return _waiting_share(offered, _server_counts(server_count, low=1))


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
    blocking = np.asarray(_blocked_share(load, servers))
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
    servers = _server_counts(server_count, low=1)
    patience = non_negative("within_s", within_s) / positive("service_s", service_s)
    waiting = _waiting_share(offered, servers)
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
    netcalc.models.queues.mm1.mm1k_wait_s : A finite buffer.
    netcalc.models.queues.erlang.mmck_wait_s : Several servers and a limited queue.

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
    servers = _server_counts(server_count, low=1)
    waiting = _waiting_share(offered, servers)
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
    servers = _server_counts(server_count, low=1)
    service = positive("service_s", service_s)
    share = ratio("quantile", quantile)
    longer = np.maximum(np.log(_waiting_share(offered, servers)) - np.log1p(-share), 0.0)
    wait = np.where(offered < servers, service / (servers - offered) * longer, np.inf)
    wait = np.where(offered > 0.0, wait, 0.0)
    return keep_nan(wait, offered, servers, service, share)


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
    netcalc.models.queues.mm1.mm1k_blocking_ratio : One server and a finite buffer.

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
    servers = _server_counts(server_count, low=1)
    waiting = whole("waiting_count", waiting_count)
    load = offered / servers
    blocking, accepted, _ = _recursion(offered, servers)
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
    netcalc.models.queues.mm1.mm1k_wait_s : One server.
    netcalc.models.queues.erlang.mmc_wait_s : An infinite queue.

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
    servers = _server_counts(server_count, low=1)
    waiting = whole("waiting_count", waiting_count)
    service = positive("service_s", service_s)
    load = offered / servers
    blocking, accepted, _ = _recursion(offered, servers)
    empty = last_state(1.0 / load, waiting)
    # Servers that are busy, by the states with and without a full set of them.
    carried = offered * accepted * empty + servers * blocking * (1.0 - empty)
    wait = np.where(blocking > 0.0, service * mean_state(load, waiting) * blocking / carried, 0.0)
    return keep_nan(wait, offered, servers, waiting, service)


MAX_QUEUE = 1e7
"""Largest number of calls that would wait with a patience as given."""


class ErlangA(NamedTuple):
    """What calls meet: share that waits, share that gives up, and the mean wait of all."""

    waiting_ratio: FloatArray
    abandoned_ratio: FloatArray
    wait_s: FloatArray


@model
def erlang_a(
    offered_erlang: ArrayLike,
    *,
    server_count: ArrayLike,
    service_s: ArrayLike,
    patience_s: ArrayLike,
) -> ErlangA:
    r"""Waiting and giving up with several servers and impatient calls (Erlang A).

    .. math:: P_w = \frac{S}{1/B - 1 + S}, \quad S = \sum_{j \ge 0} \prod_{k=1}^{j}
        \frac{A}{c + k s / \tau}

    Parameters
    ----------
    offered_erlang : array_like
        Load: arrival rate times mean service time. [1]
    server_count : array_like
        Servers. [1]
    service_s : array_like
        Mean service time. [s]
    patience_s : array_like
        Mean patience: how long a call would wait. [s]

    Returns
    -------
    ErlangA
        ``waiting_ratio``, share of calls that find all servers busy, ``abandoned_ratio``, share
        that gives up, both as ratios, and ``wait_s``, mean time in the queue of all calls. [s]

    Raises
    ------
    DomainError
        If ``server_count`` exceeds 10,000,000, or near full load 10,000,000 calls may wait.

    See Also
    --------
    netcalc.models.queues.erlang.erlang_c_ratio : All wait.
    netcalc.models.queues.erlang.erlang_b_ratio : None waits.

    Notes
    -----
    Validity: Poisson arrivals, exponential service and patience. :math:`B` is Erlang B of the load
    and the servers. The share that gives up is the mean number waiting over the patience and the
    arrival rate.

    Typical: 50 erlangs on 50 servers of a call centre, with a patience of a service: 52 % wait and
    6 % give up.

    Range: everywhere.

    Symbols: :math:`A` offered_erlang, :math:`c` server_count, :math:`s` service_s, :math:`\tau`
    patience_s.

    Examples
    --------
    >>> found = erlang_a(50, server_count=50, service_s=180, patience_s=180)
    >>> round(float(found.waiting_ratio), 4), round(float(found.abandoned_ratio), 4)
    (0.5188, 0.0563)
    >>> round(float(found.wait_s), 2)
    10.14

    References
    ----------
    Palm, Research on telephone traffic carried by full availability groups, Tele 1 (1957); Garnett,
    Mandelbaum and Reiman, Designing a call center with impatient customers, M&SOM 4 (2002),
    doi:10.1287/msom.4.3.208.7753.
    """
    offered = non_negative("offered_erlang", offered_erlang)
    servers = _server_counts(server_count, low=1)
    service, patience = positive("service_s", service_s), positive("patience_s", patience_s)
    blocking = _blocked_share(offered, servers)
    arrays = np.broadcast_arrays(offered, servers, service, patience, blocking)
    waiting, abandoned = np.zeros(arrays[0].shape), np.zeros(arrays[0].shape)
    for index in np.ndindex(arrays[0].shape):
        values = [float(array[index]) for array in arrays]
        if not np.isnan(values).any():
            waiting[index], abandoned[index] = _shares(*values)
    waiting, abandoned = (keep_nan(values, *arrays[:4]) for values in (waiting, abandoned))
    return ErlangA(waiting, abandoned, abandoned * arrays[3])


def _shares(
    offered: float, servers: float, service: float, patience: float, blocking: float
) -> tuple[float, float]:
    """Return the shares of calls that wait, and that give up."""
    from scipy.special import gammaln  # late: most formulas need no scipy

    if blocking == 0.0:
        return 0.0, 0.0
    # In units of the rate at which one call gives up: load and servers.
    x, y = servers * (patience / service), offered * (patience / service)
    likely = max(y - x, 0.0)
    most = likely + 12.0 * np.sqrt(y) + 40.0
    if y < x:  # the terms shrink at least as in a geometric sum
        most = min(most, 40.0 / max(np.log(x / y), 1e-300) + 40.0)
    if y - x > 100.0 * np.sqrt(y):  # all servers are always busy: what they do not serve gives up
        return 1.0, float(1.0 - servers / offered)
    if not most < MAX_QUEUE:
        raise DomainError("out-of-range", "patience_s", patience, low=0.0, high=MAX_QUEUE)
    ahead = np.arange(float(int(most) + 1))
    with np.errstate(over="ignore"):
        logs = ahead * np.log(y) - (gammaln(x + 1.0 + ahead) - gammaln(x + 1.0))
    peak = logs.max()
    terms = np.exp(logs - peak)
    busy = terms.sum()
    # The states with a free server, in the same unit.
    free = np.exp(-peak) * (1.0 - blocking) / blocking
    waiting = busy / (free + busy)
    return float(waiting), float(waiting * (terms @ ahead) / busy / y)


MAX_ENGSET_SERVERS = 1_000_000
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
    if largest > MAX_ENGSET_SERVERS:
        raise DomainError("out-of-range", "server_count", largest, low=0, high=MAX_ENGSET_SERVERS)
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


MAX_CIRCUITS = 1_000_000
"""Largest number of circuits."""

_LARGE = 1e200


@model
def multirate_blocking_ratio(
    offered_erlang: ArrayLike, *, circuits_per_call: ArrayLike, server_count: float
) -> FloatArray:
    r"""Blocking probability of each class of calls (Kaufman and Roberts).

    .. math:: j\, q(j) = \sum_i A_i b_i\, q(j - b_i), \quad B_i = \sum_{j=C-b_i+1}^{C} q(j)
        \Big/ \sum_{j=0}^{C} q(j)

    Parameters
    ----------
    offered_erlang : 1-D array_like
        Load of each class: arrival rate times mean holding time. [1]
    circuits_per_call : 1-D array_like
        Circuits, or units of rate, that a call of each class takes. [1]
    server_count : float
        Circuits of the link. [1]

    Returns
    -------
    numpy.ndarray
        Blocking probability of each class; 1 for calls larger than the link. [ratio]

    Raises
    ------
    DomainError
        If ``server_count`` exceeds 1,000,000.

    See Also
    --------
    netcalc.models.queues.erlang.erlang_b_ratio : Calls of one size.

    Notes
    -----
    Validity: Poisson arrivals in each class, any distribution of the holding time, no circuits
    kept back: the large calls are blocked far more often.

    Typical: of 30 circuits with 10 erlangs of calls of one and 2 of calls of six circuits, 3 and
    23 % are blocked.

    Range: everywhere.

    Symbols: :math:`A_i` offered_erlang, :math:`b_i` circuits_per_call, :math:`C` server_count.

    Examples
    --------
    >>> multirate_blocking_ratio(
    ...     [10, 2], circuits_per_call=[1, 6], server_count=30).round(4).tolist()
    [0.0298, 0.2261]

    References
    ----------
    Kaufman, Blocking in a shared resource environment, IEEE Trans. Comm. 29 (1981),
    doi:10.1109/TCOM.1981.1094894; Roberts, A service system with heterogeneous user requirements,
    in Performance of Data Communications Systems, 1981, 423-431.
    """
    offered = one_dimensional("offered_erlang", non_negative("offered_erlang", offered_erlang))
    taken = one_dimensional("circuits_per_call", whole("circuits_per_call", circuits_per_call, 1))
    if taken.size != offered.size:
        raise DomainError(
            "wrong-count", "circuits_per_call", count=taken.size, expected=offered.size
        )
    circuits = scalar("server_count", whole("server_count", server_count))
    if circuits > MAX_CIRCUITS:
        raise DomainError("out-of-range", "server_count", circuits, low=0, high=MAX_CIRCUITS)
    if np.isnan(circuits) or np.isnan(offered).any() or np.isnan(taken).any():
        return np.full(offered.size, np.nan)
    weights = _occupancy(offered, taken, int(circuits))
    blocked = [weights[max(weights.size - int(size), 0) :].sum() for size in np.minimum(taken, 1e9)]
    shares: FloatArray = np.minimum(np.array(blocked) / weights.sum(), 1.0)
    return shares


def _occupancy(offered: FloatArray, taken: FloatArray, circuits: int) -> FloatArray:
    """Return the weight of each number of circuits taken; only their ratios count."""
    classes = [
        (float(load * size), int(size))
        for load, size in zip(offered, taken, strict=True)
        if load > 0.0 and size <= circuits
    ]
    weights = [0.0] * (circuits + 1)
    weights[0] = 1.0
    for count in range(1, circuits + 1):
        total = 0.0
        for load, size in classes:
            if count >= size:
                total += load * weights[count - size]
        weights[count] = total / count
        if weights[count] > _LARGE:  # the small ones may underflow: they do not count
            factor = 1.0 / weights[count]
            weights[: count + 1] = [weight * factor for weight in weights[: count + 1]]
    return np.array(weights)


MAX_SERVERS = 10_000_000
"""Largest number of servers, and of erlangs where servers are counted up."""

MEMORY = 9.0
"""Steps that the recursion remembers, in roots of the load: an error shrinks by exp(-81/2)."""

_TINY = float(np.finfo(np.float64).tiny)


def _server_counts(server_count: ArrayLike, *, low: int) -> FloatArray:
    """Return a number of servers, refused where it is not whole or out of range."""
    servers = whole("server_count", server_count, low=low)
    largest = float(np.fmax.reduce(np.ravel(servers), initial=0.0))
    if largest > MAX_SERVERS:
        raise DomainError("out-of-range", "server_count", largest, low=low, high=MAX_SERVERS)
    return servers


def _recursion(
    offered: FloatArray, servers: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return blocking, 1 - blocking and the mean number of idle servers, all to full precision.

    Only as many steps of the recursion are done as the result remembers; none where so many servers
    are idle that no float holds the blocking.
    """
    offered, servers = as_float("offered_erlang", offered), as_float("server_count", servers)
    negligible = _blocks_nothing(offered, servers)
    least = np.minimum(offered, servers)
    memory = servers - least + np.ceil(MEMORY * np.sqrt(least)) + 20.0
    memory = np.where(negligible, 0.0, memory)
    steps = int(np.fmax.reduce(np.ravel(np.minimum(memory, servers)), initial=0.0))
    start = servers - steps
    blocking = np.where(start > 0.0, 1.0 - start / offered, 1.0)
    accepted, idle = 1.0 - blocking, np.zeros_like(blocking)
    for step in range(1, steps + 1):
        carried = offered * blocking
        count = np.maximum(start + step, 0.0)
        total = carried + count
        blocking, accepted = carried / total, count / total
        idle = (1.0 + idle) * accepted
    # A number below the smallest normal one has lost its digits and stays where it is.
    blocking = np.where(negligible | (blocking < _TINY), 0.0, blocking)
    return (
        blocking,
        np.where(negligible, 1.0, accepted),
        np.where(negligible, servers - offered, idle),
    )


def _blocks_nothing(offered: FloatArray, servers: FloatArray) -> NDArray[np.bool_]:
    """Whether blocking is below the smallest normal float.

    Above its mean A, a Poisson variable is at most c with a probability of at least a half: so
    blocking by c servers is at most 2 exp(-A) A^c / c!. By Stirling c! is at least
    sqrt(2 pi c) (c/e)^c.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = servers * (1.0 - np.log(servers / offered)) - offered
        exponent += np.log(2.0) - 0.5 * np.log(2.0 * np.pi * servers)
        is_far: NDArray[np.bool_] = (offered + 1.0 < servers) & (exponent < np.log(_TINY))
    return is_far


def _blocked_share(offered: FloatArray, servers: FloatArray) -> FloatArray:
    """Return Erlang B; without load nothing is blocked, unless there is no server."""
    blocking, _, _ = _recursion(offered, servers)
    blocking = np.where(offered > 0.0, blocking, np.where(servers > 0.0, 0.0, 1.0))
    return keep_nan(blocking, offered, servers)


def _waiting_share(offered: FloatArray, servers: FloatArray) -> FloatArray:
    """Return Erlang C, exact next to full load because servers - load is."""
    blocking = _blocked_share(offered, servers)
    waiting = servers * blocking / ((servers - offered) + offered * blocking)
    return keep_nan(np.where(offered < servers, waiting, 1.0), offered, servers)
