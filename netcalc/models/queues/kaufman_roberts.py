r"""Kaufman and Roberts: calls of several sizes that share one link, and are lost if it is full.

A call of a class takes a number of circuits, or of units of rate, all at once. The probabilities
of the number that is taken obey a recursion of positive terms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model, non_negative, one_dimensional, scalar, whole
from netcalc.errors import DomainError

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
