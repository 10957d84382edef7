"""Links of a plan: what is said of growth far ahead, and what would help a link that is full."""

from __future__ import annotations

import math

import pytest

from netcalc import planning
from netcalc.uncertain import uniform

OFFICE = {"user_bps": 5e6, "active_ratio": 0.1}


def test_a_link_that_lasts_longer_than_growth_is_looked_ahead_has_one_note():
    """Derived: the demand grows to 80 % of the link in ln(0.8 C / D) / ln 1.25 years."""
    made = planning.link(500, annual_growth=0.25, bandwidth_bps=1e9, **OFFICE)
    years = math.log(0.8e9 / made["demand_bps"]) / math.log(1.25)
    assert years > 3.0
    (note,) = made.notices
    assert str(note).startswith(f"full in {years:.4g} years, beyond the 3 years for which growth")


@pytest.mark.slow
@pytest.mark.each("horizon_years", [3.0, 6.0])
def test_with_ranges_growth_far_ahead_has_one_note_too(horizon_years):
    made = planning.link(
        500, annual_growth=uniform(0.2, 0.35), horizon_s=horizon_years * 365.25 * 86_400, **OFFICE
    )
    (note,) = made.notices
    late = made.answer("fills_s").text.split("p95 ")[1]
    assert str(note).startswith(f"full in {late}, beyond the 3 years for which growth")


@pytest.mark.each("rate_bps", [1e7, 1e8, 5e8])
def test_of_a_link_that_will_not_do_the_one_that_does_would_help(rate_bps):
    """Identity: the plan without a rate buys that link, and it lasts."""
    made = planning.link(500, annual_growth=0.2, bandwidth_bps=rate_bps, **OFFICE)
    bought = planning.link(500, annual_growth=0.2, **OFFICE)
    assert made["fills_s"] < 3.0 * 365.25 * 86_400
    first = made.steps[0]
    assert "links of 1 Gbit/s" in str(first)
    assert bought["link_bps"] == 1e9
    assert first.value == pytest.approx(bought["fills_s"])
