"""Points that do not belong to a fit: which ones are set aside, and when there are too few to say.

A point is a candidate if its residual from a robust fit is large against their median absolute
deviation. Of few points that deviation is itself uncertain: of five from a straight line it is
often a tenth of the scatter. So a candidate is set aside only if Student's t, from a fit to the
points that are kept, rejects it as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.models.measuring.sample_statistics import MAD_TO_STD

# Iglewicz and Hoaglin (1993) advise 3.5 for normal scatter. Queueing delays have a long tail: at 6,
# a normal sample of 1000 points loses none, and a probe that waited for ARP or DNS is still found.
OUTLIER_DEVIATIONS = 6.0
"""Points further from the robust line than this many of its scales may be set aside."""
# At 1e-2, one in ten samples of 10 exponential delays loses its largest: the band is too narrow.
OUTLIER_LEVEL = 1e-4
"""Probability that normal scatter alone loses a point, whatever the number of points. [ratio]"""
# One outlier of three points leaves two, through which any line passes: no scatter to judge it by.
FEWEST_FOR_OUTLIERS = 4
"""With fewer points than this none is set aside."""


def set_aside(
    residual: FloatArray, y: FloatArray, rows: FloatArray, *, floor: float
) -> tuple[NDArray[np.bool_], float]:
    """Return which points are outliers, and the robust scale of the residuals.

    Candidates are tested from the least deviating on: a fit to the points kept predicts it, and it
    is an outlier, with all that deviate more, if it is further off than Student's t allows at
    :data:`OUTLIER_LEVEL` over the points.

    Parameters
    ----------
    residual : numpy.ndarray
        Residuals of ``y`` from a robust fit.
    y : numpy.ndarray
        The points.
    rows : numpy.ndarray
        What ``y`` is a linear combination of: one row for each parameter, a column for each point.
    floor : float
        Lower limit of the scatter: the rounding of the values.

    References
    ----------
    B. Rosner, "Percentage points for a generalized ESD many-outlier procedure", Technometrics
    25(2), 1983, doi:10.1080/00401706.1983.10487848
    """
    outlier = np.zeros(residual.size, bool)
    if residual.size < FEWEST_FOR_OUTLIERS:
        return outlier, np.nan
    deviation = np.abs(residual - np.median(residual))
    scale = max(MAD_TO_STD * float(np.median(deviation)), floor)
    outlier = deviation > OUTLIER_DEVIATIONS * scale
    for index in np.flatnonzero(outlier)[np.argsort(deviation[outlier], kind="stable")]:
        if _is_rejected(int(index), ~outlier, y, rows, floor):
            break
        outlier[index] = False
    return outlier, scale


def _is_rejected(
    index: int, kept: NDArray[np.bool_], y: FloatArray, rows: FloatArray, floor: float
) -> bool:
    """Whether a point is too far from the fit to the points kept to belong to them."""
    from scipy.special import stdtrit  # late, as half of the package works without scipy

    degrees = int(np.count_nonzero(kept)) - rows.shape[0]
    largest = np.abs(rows).max(axis=1, keepdims=True)
    design = rows / np.where(largest > 0, largest, 1.0)
    if degrees < 1 or np.linalg.matrix_rank(design[:, kept]) < rows.shape[0]:
        return False  # without it nothing is left to judge by
    inverse = np.linalg.pinv(design[:, kept].T)
    solved = inverse @ y[kept]
    variance = float(((y[kept] - solved @ design[:, kept]) ** 2).sum()) / degrees
    leverage = float(((design[:, index] @ inverse) ** 2).sum())
    expected = np.sqrt(max(variance, floor**2) * (1.0 + leverage))
    limit = float(stdtrit(degrees, 1.0 - OUTLIER_LEVEL / 2 / (degrees + rows.shape[0] + 1)))
    return bool(abs(y[index] - float(solved @ design[:, index])) > limit * expected)
