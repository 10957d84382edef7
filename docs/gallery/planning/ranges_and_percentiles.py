"""Ranges in, percentiles out

Of 512 draws of the line and the round trip, 5 % end before the first mark and 5 % after the
last.
"""

from netcalc import planning, plots, uncertain

line, rtt = uncertain.uniform(8e7, 1e8), uncertain.normal(0.03, 0.005)
found = planning.transfer(1e9, bandwidth_bps=line, rtt_s=rtt, draws=512)
figure = plots.plan(found)
