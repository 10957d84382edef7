"""The recursion over servers that Erlang B, Erlang C and M/M/c share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray, as_float, keep_nan, whole
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
