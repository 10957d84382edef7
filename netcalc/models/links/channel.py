r"""What a channel can carry: Nyquist without noise, Shannon with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model, non_negative, positive, real, whole


@model
def nyquist_bps(channel_hz: ArrayLike, *, level_count: ArrayLike = 2) -> FloatArray:
    r"""Largest rate of a channel without noise (Nyquist).

    .. math:: R = 2 B \log_2 V

    Parameters
    ----------
    channel_hz : array_like
        Width of the channel. [Hz]
    level_count : array_like
        Levels of the signal. [1]

    Returns
    -------
    numpy.ndarray
        Rate of the bits. [bit/s, line]

    See Also
    --------
    shannon_bps : With noise.

    Notes
    -----
    Validity: a low-pass channel without noise or interference between symbols.

    Range: everywhere.

    Symbols: :math:`B` channel_hz, :math:`V` level_count.

    Examples
    --------
    A binary signal in a telephone channel of 3 kHz:

    >>> float(nyquist_bps(3000))
    6000.0

    References
    ----------
    Nyquist, Certain topics in telegraph transmission theory, Trans. AIEE 47 (1928),
    doi:10.1109/T-AIEE.1928.5055024; Tanenbaum and Wetherall, Computer Networks, 5th ed., 2.1.3.
    """
    width = non_negative("channel_hz", channel_hz)
    bits: FloatArray = np.log2(whole("level_count", level_count, low=1))
    return 2.0 * width * bits


@model
def shannon_bps(channel_hz: ArrayLike, *, snr_db: ArrayLike) -> FloatArray:
    r"""Capacity of a channel with noise (Shannon).

    .. math:: C = B \log_2 \left( 1 + 10^{S / 10} \right)

    Parameters
    ----------
    channel_hz : array_like
        Width of the channel. [Hz]
    snr_db : array_like
        Signal-to-noise ratio of the powers, in decibels. [dB]

    Returns
    -------
    numpy.ndarray
        Largest rate at which errors can be made as rare as one likes. [bit/s, line]

    See Also
    --------
    nyquist_bps : Without noise.
    shannon_snr_db : The same read backwards.

    Notes
    -----
    Validity: white Gaussian noise and one antenna at each end; no code reaches it, the best come
    within a decibel.

    Typical: 29.9 kbit/s for a telephone channel of 3 kHz and 30 dB.

    Range: everywhere.

    Symbols: :math:`B` channel_hz, :math:`S` snr_db.

    Examples
    --------
    >>> round(float(shannon_bps(3000, snr_db=30)))
    29902

    References
    ----------
    Shannon, A mathematical theory of communication, Bell Syst. Tech. J. 27 (1948), theorem 17;
    Tanenbaum and Wetherall, Computer Networks, 5th ed., 2.1.3.
    """
    decibels = real("snr_db", snr_db)
    bits: FloatArray = np.logaddexp2(0.0, decibels * (np.log2(10.0) / 10.0))
    return non_negative("channel_hz", channel_hz) * bits


@model
def shannon_snr_db(bandwidth_bps: ArrayLike, *, channel_hz: ArrayLike) -> FloatArray:
    r"""Least signal-to-noise ratio for a rate (Shannon).

    .. math:: S = 10 \log_{10} \left( 2^{R / B} - 1 \right)

    Parameters
    ----------
    bandwidth_bps : array_like
        Rate that is wanted. [bit/s]
    channel_hz : array_like
        Width of the channel. [Hz]

    Returns
    -------
    numpy.ndarray
        Ratio of the powers in decibels; -inf for no rate. [dB]

    See Also
    --------
    shannon_bps : The rate for a ratio.

    Notes
    -----
    Validity: as :func:`shannon_bps`.

    Range: everywhere.

    Symbols: :math:`R` bandwidth_bps, :math:`B` channel_hz.

    Examples
    --------
    >>> round(float(shannon_snr_db(30_000, channel_hz=3000)), 2)
    30.1

    References
    ----------
    Derived: :func:`shannon_bps` solved for the ratio.
    """
    rate, width = non_negative("bandwidth_bps", bandwidth_bps), positive("channel_hz", channel_hz)
    nats = rate / width * np.log(2.0)
    power: FloatArray = np.where(nats > 40.0, nats, np.log(np.expm1(nats)))
    small = np.log(rate) - np.log(width) + np.log(np.log(2.0))
    power = np.where(nats < 1e-12, small, power)
    return power * float(10.0 / np.log(10.0))
