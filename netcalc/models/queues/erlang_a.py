r"""Erlang A: calls wait for one of several servers, and give up when their patience ends (Palm).

Between Erlang B, where nobody waits, and Erlang C, where all do. As some give up, there is a steady
state at every load.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, keep_nan, model, non_negative, positive
from netcalc.errors import DomainError
from netcalc.models.queues._erlang import blocked_share, server_counts

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
    netcalc.models.queues.mmc.erlang_c_ratio : All wait.
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
    servers = server_counts(server_count, low=1)
    service, patience = positive("service_s", service_s), positive("patience_s", patience_s)
    blocking = blocked_share(offered, servers)
    arrays = np.broadcast_arrays(offered, servers, service, patience, blocking)
    waiting, abandoned = np.zeros(arrays[0].shape), np.zeros(arrays[0].shape)
    for index in np.ndindex(arrays[0].shape):
        values = [float(array[index]) for array in arrays]
        if not np.isnan(values).any():
            waiting[index], abandoned[index] = _shares(*values)
    waiting, abandoned = (keep_nan(one, *arrays[:4]) for one in (waiting, abandoned))
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
    if y < x:  # the terms shrink at least like those of a geometric sum
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
