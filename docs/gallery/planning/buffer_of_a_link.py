"""A buffer for many flows

A hundred flows or fewer need a whole bandwidth-delay product; beyond, the buffer falls with the
square root of their number.
"""

from netcalc import planning, plots

found = planning.buffer(1e10, rtt_s=0.1, flow_count=10000)
figure = plots.plan(found)
