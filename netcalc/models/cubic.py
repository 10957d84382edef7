r"""CUBIC: its window over time.

The window is counted in packets and time in seconds, so that growth does not depend on the round
trip. What losses leave of it is in :mod:`netcalc.models.cubic_under_loss`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.models._domain import FloatArray, between, non_negative, positive, quiet

CUBIC_SCALE = 0.4
"""Scaling constant C of RFC 9438, in packets per second cubed."""

CUBIC_DECREASE = 0.7
"""What CUBIC keeps of its window after a loss (RFC 9438, 4.6)."""


@quiet
def cubic_window_packets(
    elapsed_s: ArrayLike,
    *,
    peak_window_packets: ArrayLike,
    cubic_scale: ArrayLike = CUBIC_SCALE,
    decrease_factor: ArrayLike = CUBIC_DECREASE,
) -> FloatArray:
    r"""Window of CUBIC some time after a loss.

    .. math:: W(t) = C (t - K)^3 + W_{max}, \quad K = \sqrt[3]{W_{max} (1 - \beta) / C}

    Parameters
    ----------
    elapsed_s : array_like
        Time since the loss. [s]
    peak_window_packets : array_like
        Window at the loss. [1]
    cubic_scale : array_like
        Scaling constant C, in packets per second cubed. [1]
    decrease_factor : array_like
        What is left of the window after a loss, as a factor. [ratio]

    Returns
    -------
    numpy.ndarray
        Window: concave up to the old peak, then convex. [1]

    Raises
    ------
    DomainError
        If ``elapsed_s`` is negative, ``decrease_factor`` outside [0, 1], or another input zero or
        negative.

    Notes
    -----
    Validity: without fast convergence, and outside the Reno-friendly region.

    Symbols: :math:`t` elapsed_s, :math:`W_{max}` peak_window_packets, :math:`C` cubic_scale,
    :math:`\beta` decrease_factor.

    Examples
    --------
    Right after the loss, at the plateau, and as far beyond it:

    >>> cubic_window_packets([0, 9.0856, 18.1712], peak_window_packets=1000).round(1).tolist()
    [700.0, 1000.0, 1300.0]

    References
    ----------
    RFC 9438, eq. 1.
    """
    elapsed = non_negative("elapsed_s", elapsed_s)
    peak = positive("peak_window_packets", peak_window_packets)
    scale = positive("cubic_scale", cubic_scale)
    kept = between("decrease_factor", decrease_factor, 0.0, 1.0)
    # The cube root of C is drawn into the bracket: no scale overflows, and W(0) is exact.
    root = np.cbrt(scale) * elapsed - np.cbrt(peak * (1.0 - kept))
    return root * root * root + peak


@quiet
def cubic_k_s(
    peak_window_packets: ArrayLike,
    *,
    cubic_scale: ArrayLike = CUBIC_SCALE,
    decrease_factor: ArrayLike = CUBIC_DECREASE,
) -> FloatArray:
    r"""Time that CUBIC takes back to the window at which it lost, K.

    .. math:: K = \sqrt[3]{W_{max} (1 - \beta) / C}

    Parameters
    ----------
    peak_window_packets : array_like
        Window at the loss. [1]
    cubic_scale : array_like
        Scaling constant C, in packets per second cubed. [1]
    decrease_factor : array_like
        What is left of the window after a loss, as a factor. [ratio]

    Returns
    -------
    numpy.ndarray
        Time from the loss to the old window. [s]

    Raises
    ------
    DomainError
        If ``peak_window_packets`` is negative, ``decrease_factor`` outside [0, 1], or
        ``cubic_scale`` zero or negative.

    Notes
    -----
    Validity: as :func:`cubic_window_packets`.

    Symbols: :math:`W_{max}` peak_window_packets, :math:`C` cubic_scale, :math:`\beta`
    decrease_factor.

    Examples
    --------
    >>> round(float(cubic_k_s(1000)), 6)
    9.085603

    References
    ----------
    RFC 9438, eq. 2.
    """
    peak = non_negative("peak_window_packets", peak_window_packets)
    kept = between("decrease_factor", decrease_factor, 0.0, 1.0)
    return np.cbrt(peak * (1.0 - kept)) / np.cbrt(positive("cubic_scale", cubic_scale))


@quiet
def cubic_increase_packets(decrease_factor: ArrayLike) -> FloatArray:
    r"""Packets a round that make AIMD with CUBIC's decrease as fast as Reno.

    .. math:: \alpha = 3 \frac{1 - \beta}{1 + \beta}

    Parameters
    ----------
    decrease_factor : array_like
        What is left of the window after a loss, as a factor. [ratio]

    Returns
    -------
    numpy.ndarray
        Packets added to the window each round: 9/17 for 0.7. [1]

    Raises
    ------
    DomainError
        If ``decrease_factor`` is outside [0, 1].

    Notes
    -----
    Validity: up to the old peak; beyond it RFC 9438 adds 1.

    Symbols: :math:`\beta` decrease_factor.

    Examples
    --------
    >>> round(float(cubic_increase_packets(0.7)), 6)
    0.529412

    References
    ----------
    RFC 9438, 4.3.
    """
    kept = between("decrease_factor", decrease_factor, 0.0, 1.0)
    return 3.0 * (1.0 - kept) / (1.0 + kept)
