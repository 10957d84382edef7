r"""Loss of datagrams: one lost fragment loses all of them.

Fragments are not repeated one by one: the receiver drops what it holds of a datagram when a part
does not come, so a datagram of many fragments is lost far more often than a packet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, at_least, model, ratio


@model
def datagram_loss_ratio(loss_ratio: ArrayLike, *, fragments: ArrayLike) -> FloatArray:
    r"""Share of datagrams lost when one lost fragment loses the datagram.

    .. math:: P = 1 - (1 - p)^k

    Parameters
    ----------
    loss_ratio : array_like
        Share of fragments lost. [ratio]
    fragments : array_like
        Fragments of each datagram. [1]

    Returns
    -------
    numpy.ndarray
        Share of datagrams lost, with full precision at small losses. [ratio]

    Notes
    -----
    Validity: losses that do not depend on each other; in a burst the fragments die together.

    Symbols: :math:`p` loss_ratio, :math:`k` fragments.

    Examples
    --------
    >>> round(float(datagram_loss_ratio(0.01, fragments=6)), 4)
    0.0585

    References
    ----------
    Kent and Mogul, Fragmentation considered harmful (SIGCOMM 1987).
    """
    survives = np.log1p(-ratio("loss_ratio", loss_ratio))
    return -np.expm1(at_least("fragments", fragments, 1.0) * survives)


@model
def fragment_loss_ratio(datagram_loss_ratio: ArrayLike, *, fragments: ArrayLike) -> FloatArray:
    r"""Share of fragments lost behind a loss of datagrams.

    .. math:: p = 1 - (1 - P)^{1/k}

    Parameters
    ----------
    datagram_loss_ratio : array_like
        Share of datagrams lost. [ratio]
    fragments : array_like
        Fragments of each datagram. [1]

    Returns
    -------
    numpy.ndarray
        Share of fragments lost. [ratio]

    Notes
    -----
    Validity: as :func:`datagram_loss_ratio`.

    Symbols: :math:`P` datagram_loss_ratio, :math:`k` fragments.

    Examples
    --------
    >>> round(float(fragment_loss_ratio(0.0396, fragments=2)), 6)
    0.02

    References
    ----------
    :func:`datagram_loss_ratio`, solved for the fragments.
    """
    survives = np.log1p(-ratio("datagram_loss_ratio", datagram_loss_ratio))
    return -np.expm1(survives / at_least("fragments", fragments, 1.0))
