r"""Path mixes: the combinations of link types that explain a round-trip time.

The inverse of store-and-forward: the time of one packet size, the number of links and the kinds
there are, and every mix of them that takes this time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError

MAX_MIXES = 1_000_000
"""Mixes, whole or half made, that a search keeps at most. [1]"""


class PathMixes(NamedTuple):
    """Mixes of links, the best first.

    ``link_count`` has one row a mix and one column a kind: how many links of it. ``rtt_s`` is the
    round trip of each mix, and ``residual_s`` that less the wanted one: below 0 where the mix is
    too fast. [s]
    """

    link_count: NDArray[np.int64]
    rtt_s: FloatArray
    residual_s: FloatArray


@model
def path_mixes(
    rtt_s: float,
    *,
    bandwidth_bps: ArrayLike,
    link_count: ArrayLike,
    packet_bytes: float,
    base_rtt_s: float = 0.0,
    tolerance_s: float = 1e-3,
) -> PathMixes:
    r"""All combinations of link types that explain a round-trip time.

    .. math:: N = \sum_k n_k, \quad
        \left| T_0 + 16 L \sum_k \frac{n_k}{R_k} - T \right| \le \epsilon

    Parameters
    ----------
    rtt_s : float
        Round trip that was measured or printed. [s]
    bandwidth_bps : 1-D array_like
        Rate of each kind of link. [bit/s]
    link_count : 1-D array_like
        Links of the path; several numbers allow any of them. [1]
    packet_bytes : float
        Size of the packet, there and back. [byte]
    base_rtt_s : float
        Round-trip time without serialization: propagation and processing. [s]
    tolerance_s : float
        Largest deviation of the round-trip time of a mix. [s]

    Returns
    -------
    PathMixes
        Counts by kind, round trips and residuals, the smallest residual first; none if nothing
        fits. [s]

    Raises
    ------
    DomainError
        If more than a million mixes would have to be compared, or a number is not finite.

    Notes
    -----
    Validity: an echo of equal size, store-and-forward at every node, the same links back, no
    queues. The order of the links does not affect the round-trip time.

    A mix grows kind by kind, the slowest first; it is given up as soon as the links that are left
    would be too slow even if all were of the fastest kind, or too fast if all were of the next.

    Range: everywhere.

    Symbols: :math:`T` rtt_s, :math:`R_k` bandwidth_bps, :math:`N` link_count, :math:`L`
    packet_bytes, :math:`T_0` base_rtt_s, :math:`\epsilon` tolerance_s.

    Examples
    --------
    Of T1, 10 Mbit/s and T3 links, 12 in all; 80 ms and twelve routers with 0.5 ms each way:

    >>> found = path_mixes(0.187, bandwidth_bps=[1.544e6, 10e6, 45e6], link_count=12,
    ...     packet_bytes=1428, base_rtt_s=0.080 + 24 * 0.0005)
    >>> found.link_count.tolist(), found.rtt_s.round(4).tolist()
    ([[6, 2, 4]], [0.1874])

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.3 (187 ms from connix.com to noao.edu).
    """
    target = checks.scalar("rtt_s", checks.non_negative("rtt_s", _finite("rtt_s", rtt_s)))
    base = checks.scalar(
        "base_rtt_s", checks.non_negative("base_rtt_s", _finite("base_rtt_s", base_rtt_s))
    )
    slack = checks.scalar(
        "tolerance_s", checks.non_negative("tolerance_s", _finite("tolerance_s", tolerance_s))
    )
    size = checks.scalar(
        "packet_bytes", checks.positive("packet_bytes", _finite("packet_bytes", packet_bytes))
    )
    rates = checks.positive("bandwidth_bps", _finite("bandwidth_bps", bandwidth_bps))
    rates = checks.one_dimensional("bandwidth_bps", rates)
    lengths = checks.whole("link_count", _finite("link_count", link_count), low=1)
    lengths = np.unique(checks.one_dimensional("link_count", lengths))
    if lengths.size > MAX_MIXES or lengths[-1] > MAX_MIXES:
        raise _too_many(lengths[-1])
    order = np.argsort(rates, kind="stable")
    link_s = 16.0 * size / rates[order]
    mixes = _candidates(link_s, lengths.astype(np.int64), budget_s=target - base, slack_s=slack)
    # A link without an end, of which there is none, takes no time.
    clocking = np.where(mixes > 0, mixes * link_s, 0.0).sum(axis=1)
    rtt = base + clocking
    residual = rtt - target
    fits = np.flatnonzero(np.abs(residual) <= slack)
    best = fits[np.lexsort((*-mixes[fits].T[::-1], np.abs(residual[fits])))]
    by_kind = np.empty((best.size, rates.size), np.int64)
    by_kind[:, order] = mixes[best]
    return PathMixes(by_kind, rtt[best], residual[best])


def _candidates(
    link_s: FloatArray, lengths: NDArray[np.int64], *, budget_s: float, slack_s: float
) -> NDArray[np.int64]:
    """Return the mixes that may fit, one column a kind, from the slowest to the fastest."""
    left, budget = lengths, np.full(lengths.size, budget_s)
    made = np.zeros((lengths.size, 0), np.int64)
    # A little more than asked for: the remaining mixes are compared exactly at the end.
    margin = slack_s + 1e-9 * (abs(budget_s) + slack_s)
    fastest = float(link_s[-1])
    for index, each_s in enumerate(link_s[:-1].tolist()):
        within = np.floor(np.maximum(budget + margin, 0.0) / each_s) if each_s else left
        choices = np.minimum(within, left).astype(np.int64) + 1
        if choices.sum(dtype=np.float64) > MAX_MIXES:
            raise _too_many(float(lengths[-1]))
        row = np.repeat(np.arange(choices.size), choices)
        count = np.arange(row.size) - np.repeat(np.cumsum(choices) - choices, choices)
        left = left[row] - count
        budget = budget[row] - np.where(count > 0, count * each_s, 0.0)
        following = float(link_s[index + 1])
        slowest_s = np.where(left > 0, left * following, 0.0)
        may_fit = (left * fastest <= budget + margin) & (slowest_s >= budget - margin)
        left, budget, row, count = left[may_fit], budget[may_fit], row[may_fit], count[may_fit]
        made = np.column_stack((made[row], count))
    return np.column_stack((made, left))


def _finite(name: str, value: ArrayLike) -> FloatArray:
    """Return numbers as float64; refuse one that is not finite, by its value."""
    array = checks.as_float(name, value)
    odd = array[~np.isfinite(array)]
    if odd.size:
        raise DomainError("not-finite", name, str(odd.flat[0]))
    return array


def _too_many(link_count: float) -> DomainError:
    return DomainError("too-many-mixes", "link_count", link_count, high=MAX_MIXES)
