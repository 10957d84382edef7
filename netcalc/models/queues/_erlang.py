"""The recursion over servers that Erlang B, Erlang C and M/M/c share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, keep_nan, whole
from netcalc.errors import DomainError

MAX_SERVERS = 10_000_000
"""Largest number of servers, and of erlangs where servers are counted up."""

MEMORY = 9.0
"""Steps that the recursion remembers, in roots of the load: an error shrinks by exp(-81/2)."""

_TINY = float(np.finfo(np.float64).tiny)


def server_counts(server_count: ArrayLike, *, low: int) -> FloatArray:
    """Return a number of servers, refused where it is not whole or out of range."""
    servers = whole("server_count", server_count, low=low)
    largest = float(np.fmax.reduce(np.ravel(servers), initial=0.0))
    if largest > MAX_SERVERS:
        raise DomainError("out-of-range", "server_count", largest, low=low, high=MAX_SERVERS)
    return servers


def recursion(
    offered: FloatArray, servers: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return blocking, 1 - blocking and the mean number of idle servers, all to full precision.

    Only as many steps of the recursion are done as the result remembers.
    """
    least = np.minimum(offered, servers)
    memory = servers - least + np.ceil(MEMORY * np.sqrt(least)) + 20.0
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
        if step % 1024 == 0 and (blocking < _TINY).all():
            idle = servers - offered
            break
    # A number below the smallest normal one has lost its digits and stays where it is.
    return np.where(blocking < _TINY, 0.0, blocking), accepted, idle


def blocked_share(offered: FloatArray, servers: FloatArray) -> FloatArray:
    """Return Erlang B; without load nothing is blocked, unless there is no server."""
    blocking, _, _ = recursion(offered, servers)
    blocking = np.where(offered > 0.0, blocking, np.where(servers > 0.0, 0.0, 1.0))
    return keep_nan(blocking, offered, servers)


def waiting_share(offered: FloatArray, servers: FloatArray) -> FloatArray:
    """Return Erlang C, exact next to full load because servers - load is."""
    blocking = blocked_share(offered, servers)
    waiting = servers * blocking / ((servers - offered) + offered * blocking)
    return keep_nan(np.where(offered < servers, waiting, 1.0), offered, servers)
