"""Dates of plans: the day some time after another, and how far ahead growth is a forecast."""

from __future__ import annotations

from datetime import date, timedelta

from netcalc.models.users.growth import YEAR_S

DAY_S = 86_400.0
"""A day. [s]"""
HORIZON_YEARS = 100.0
"""A date further away than this is not written. [year]"""
FORECAST_YEARS = 3.0
"""How far growth is looked ahead, as in :mod:`netcalc.models.users.growth`. [year]"""


def date_after(start: date, years: float) -> date | None:
    """Return the day some years after another; None beyond the horizon.

    Parameters
    ----------
    start : datetime.date
        The day from which time counts.
    years : float
        Time after it, of 365.25 days each; ``inf`` and nan have no date. [year]

    Returns
    -------
    datetime.date or None
        The day within which it is.

    Examples
    --------
    >>> date_after(date(2026, 1, 1), 2.0).isoformat()
    '2028-01-01'
    """
    if not years <= HORIZON_YEARS:
        return None
    try:
        return start + timedelta(days=int(years * YEAR_S / DAY_S))
    except OverflowError:  # the calendar ends with the year 9999
        return None
