"""Which limit binds

The map has a colour for each limit over line rate and round trip; at the marked point a window
of 64 KiB binds, and a faster line changes nothing.
"""

from netcalc import planning, plots

found = planning.buy(1e9, bandwidth_bps=1e8, rtt_s=0.04, window_bytes=65536)
figure = plots.plan(found)
