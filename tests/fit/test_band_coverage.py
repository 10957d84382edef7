"""The band of a fitted line holds the true line 95 times in 100: what it says of itself.

identity: the noise is drawn here with a mean of 0, so that the true line is known. Of 2,000 runs a
share of 95 % is uncertain by 0.5 % (binomial); 2 % are four times that. The seeds are given.
"""

from __future__ import annotations

import band_coverage as bands
import pytest

RUNS = 2000


@pytest.mark.slow
@pytest.mark.each("noise", ["gaussian", "exponential"])
@pytest.mark.each("count", [5, 10, 15])
def test_a_band_of_95_percent_holds_the_line_95_times_in_100(count, noise):
    """At the smallest size, in the middle, and at the largest one."""
    shares, lost = bands.coverage(count, noise, RUNS)
    assert shares.tolist() == pytest.approx([0.95] * 3, abs=0.02)
    assert lost < 0.05  # a size is rarely set aside for noise alone
