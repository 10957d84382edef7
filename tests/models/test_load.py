"""What the queues share: free capacity, and a function that cancels near 0."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from netcalc.models.queues._load import headroom, langevin


@pytest.mark.each("x", [1e-9, 1e-3, 0.1, 0.3, 0.49, 0.51, 1.0, 3.0, 20.0])
@pytest.mark.each("sign", [1, -1])
def test_langevin_against_mpmath(x, sign):
    with mpmath.workdps(60):
        exact = mpmath.coth(mpmath.mpf(x)) - 1 / mpmath.mpf(x)
    # a digit or two cancels beyond the series, so not the last one is asked for
    assert langevin(np.array([sign * x]))[0] == pytest.approx(sign * float(exact), rel=1e-14)


def test_headroom():
    assert headroom(np.array([0.0, 0.25, 1.0, 1.5])).tolist() == [1.0, 0.75, 0.0, 0.0]
