r"""Loss of datagrams: one lost fragment loses the datagram.

Fragments are not retransmitted individually: the receiver discards a datagram of which one fragment
is missing, so a datagram of many fragments is lost far more often than a packet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model, ratio, whole


@model
def datagram_loss_ratio(loss_ratio: ArrayLike, *, fragments: ArrayLike) -> FloatArray:
    r"""Datagram loss ratio where the loss of one fragment loses the datagram.

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

    See Also
    --------
    netcalc.models.tcp.bit_errors.frame_error_ratio : Bit errors.

    Notes
    -----
    Validity: independent losses; in a loss burst several fragments of a datagram are lost together.

    Range: everywhere.

    Symbols: :math:`p` loss_ratio, :math:`k` fragments.

    Examples
    --------
    >>> round(float(datagram_loss_ratio(0.01, fragments=6)), 4)
    0.0585

    References
    ----------
    Kent and Mogul, Fragmentation considered harmful, SIGCOMM 1987, doi:10.1145/55482.55524.
    """
    survives = np.log1p(-ratio("loss_ratio", loss_ratio))
    return -np.expm1(whole("fragments", fragments, low=1) * survives)


@model
def fragment_loss_ratio(datagram_loss_ratio: ArrayLike, *, fragments: ArrayLike) -> FloatArray:
    r"""Fragment loss ratio behind a datagram loss ratio.

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

    Range: everywhere.

    Symbols: :math:`P` datagram_loss_ratio, :math:`k` fragments.

    Examples
    --------
    >>> round(float(fragment_loss_ratio(0.0396, fragments=2)), 6)
    0.02

    References
    ----------
    :func:`datagram_loss_ratio`, solved for the fragment loss ratio.
    """
    survives = np.log1p(-ratio("datagram_loss_ratio", datagram_loss_ratio))
    return -np.expm1(survives / whole("fragments", fragments, low=1))
