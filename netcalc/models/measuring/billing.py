r"""The rate that a provider bills by percentile: samples left out, not interpolated.

A monitoring system takes a sample of each direction every five minutes. At the end of the month the
highest 5 % of each direction are discarded, the next highest is the rate of that direction, and the
larger of both is billed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model, non_negative, note, one_dimensional, ratio, scalar
from netcalc.errors import DomainError


@model
def billed_rate_bps(
    inbound_bps: ArrayLike, *, outbound_bps: ArrayLike = 0.0, discarded_ratio: float = 0.05
) -> FloatArray:
    r"""Rate that a provider bills by the 95th percentile: the highest samples are discarded.

    .. math::

        B = \max(x_{(n - k)}, y_{(n - k)}), \quad k = \lfloor q n \rfloor, \quad x_{(j)}, y_{(j)}
        \text{ the j-th smallest } x_i, y_i

    Parameters
    ----------
    inbound_bps : 1-D array_like
        Rate of one direction in each interval of five minutes. [bit/s]
    outbound_bps : 1-D array_like
        Rate of the other direction in the same intervals; 0 where only one is billed. [bit/s]
    discarded_ratio : float
        Share of the samples that is discarded, the highest: 0.05 for the 95th percentile. [ratio]

    Returns
    -------
    numpy.ndarray
        Billed rate. [bit/s, layer of inbound_bps]

    Raises
    ------
    DomainError
        If all samples would be discarded.

    See Also
    --------
    netcalc.models.measuring.robust.percentile : Interpolated between samples.

    Notes
    -----
    Validity: samples of equal intervals, none missing; a fraction of a sample is not discarded.
    Some providers bill the sum of both directions, or the mean of the hours: read the contract.

    Typical: of 8640 samples in 30 days 432 are discarded, 36 hours.

    Range: everywhere.

    Symbols: :math:`x_i` inbound_bps, :math:`y_i` outbound_bps, :math:`q` discarded_ratio.

    Examples
    --------
    Of four samples, a quarter is one:

    >>> billed_rate_bps([1e6, 4e6, 2e6, 3e6], outbound_bps=[9e6, 1e6, 2e6, 1e6],
    ...     discarded_ratio=0.25)
    3000000.0

    References
    ----------
    HNS, Computing the 95th Percentile (20 samples of each direction: 1.435 Mbit/s).
    """
    inbound = one_dimensional("inbound_bps", non_negative("inbound_bps", inbound_bps))
    outbound = np.ravel(non_negative("outbound_bps", outbound_bps))
    share = scalar("discarded_ratio", ratio("discarded_ratio", discarded_ratio))
    if outbound.size not in (1, inbound.size):
        raise DomainError(
            "wrong-count-or-one", "outbound_bps", count=outbound.size, expected=inbound.size
        )
    if share == 1.0:
        raise DomainError("all-samples-discarded", "discarded_ratio", share)
    # 5 % of 20 is one sample, however 0.05 is rounded.
    discarded = 0 if np.isnan(share) else int(np.floor(share * inbound.size * (1 + 1e-12)))
    if not discarded and share > 0.0:
        needed = float(np.ceil(1.0 / share))
        note("no-sample-discarded", name="inbound_bps", count=inbound.size, needed=needed)
    other = _after(outbound, discarded if outbound.size == inbound.size else 0)
    billed = np.maximum(_after(inbound, discarded), other)
    return np.asarray(np.nan if np.isnan(share) else billed)


def _after(samples: FloatArray, discarded: int) -> float:
    """Return the highest sample but those that are discarded; nan if any is missing."""
    if np.isnan(samples).any():
        return float("nan")
    return float(np.sort(samples)[samples.size - 1 - discarded])
