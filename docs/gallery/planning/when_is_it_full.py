"""When a line is full

The demand of 120 users grows by a quarter each year and crosses 80 % of 100 Mbit/s in the
fourth year.
"""

from datetime import date

from netcalc import planning, plots

found = planning.link(
    120,
    user_bps=2e6,
    active_ratio=0.1,
    annual_growth=0.25,
    bandwidth_bps=1e8,
    start=date(2027, 1, 1),
)
figure = plots.plan(found)
