r"""Bit errors: the frames that they destroy, and the ratio that a loss allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model, non_negative, positive, ratio


@model
def frame_error_ratio(bit_error_ratio: ArrayLike, *, frame_bytes: ArrayLike) -> FloatArray:
    r"""Share of frames with a bit error: what a receiver drops for a wrong FCS.

    .. math:: P = 1 - (1 - BER)^{8 F}

    Parameters
    ----------
    bit_error_ratio : array_like
        Share of bits that arrive wrong. [ratio]
    frame_bytes : array_like
        Frame with FCS. [byte]

    Returns
    -------
    numpy.ndarray
        Share of frames lost, with full precision at small ratios. [ratio]

    See Also
    --------
    netcalc.models.tcp.datagram_loss.datagram_loss_ratio : A lost fragment loses the datagram.

    Notes
    -----
    Validity: independent errors after any error correction. Errors in bursts destroy fewer
    frames, as several hit one.

    Typical: 1518 bytes: 1.2e-8 at the 1e-12 that Ethernet over fibre promises, 1.2 % at 1e-6.

    Range: everywhere.

    Symbols: :math:`BER` bit_error_ratio, :math:`F` frame_bytes.

    Examples
    --------
    >>> round(float(frame_error_ratio(1e-6, frame_bytes=1518)), 6)
    0.012071

    References
    ----------
    Tanenbaum and Wetherall, Computer Networks, 3.2; IEEE 802.3, 44.1.1 (the bit error ratio).
    """
    survives = np.log1p(-ratio("bit_error_ratio", bit_error_ratio))
    bits = 8.0 * non_negative("frame_bytes", frame_bytes)
    # No bit survives a ratio of 1; a frame without bits survives all.
    return -np.expm1(np.where(bits > 0.0, bits * survives, 0.0 * bits))


@model
def bit_error_limit_ratio(loss_ratio: ArrayLike, *, frame_bytes: ArrayLike) -> FloatArray:
    r"""Bit error ratio at which a given share of frames is lost.

    .. math:: BER = 1 - (1 - P)^{1 / 8 F}

    Parameters
    ----------
    loss_ratio : array_like
        Share of frames that may be lost. [ratio]
    frame_bytes : array_like
        Frame with FCS. [byte]

    Returns
    -------
    numpy.ndarray
        Bit error ratio. [ratio]

    Notes
    -----
    Validity: as :func:`frame_error_ratio`.

    Range: everywhere.

    Symbols: :math:`P` loss_ratio, :math:`F` frame_bytes.

    Examples
    --------
    What keeps the loss of 1518-byte frames at 0.01 %:

    >>> float(f"{float(bit_error_limit_ratio(1e-4, frame_bytes=1518)):.4g}")
    8.235e-09

    References
    ----------
    :func:`frame_error_ratio`, solved for the bit error ratio.
    """
    survives = np.log1p(-ratio("loss_ratio", loss_ratio))
    return -np.expm1(survives / (8.0 * positive("frame_bytes", frame_bytes)))


@model
def bit_error_interval_s(bit_error_ratio: ArrayLike, *, bandwidth_bps: ArrayLike) -> FloatArray:
    r"""Mean time between bit errors.

    .. math:: t = \frac{1}{BER \cdot R}

    Parameters
    ----------
    bit_error_ratio : array_like
        Share of bits that arrive wrong. [ratio]
    bandwidth_bps : array_like
        Rate of the link. [bit/s]

    Returns
    -------
    numpy.ndarray
        Mean time from one error to the next; ``inf`` at a ratio of 0. [s]

    Notes
    -----
    Validity: a link that always sends, as Ethernet does with its idle code.

    Typical: 100 s at 1e-12 and 10 Gbit/s: how long a test for this ratio takes at least.

    Range: everywhere.

    Symbols: :math:`BER` bit_error_ratio, :math:`R` bandwidth_bps.

    Examples
    --------
    >>> round(float(bit_error_interval_s(1e-12, bandwidth_bps=10e9)), 6)
    100.0

    References
    ----------
    Definition.
    """
    errors = ratio("bit_error_ratio", bit_error_ratio)
    return 1.0 / positive("bandwidth_bps", bandwidth_bps) / errors
