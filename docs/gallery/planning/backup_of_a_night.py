"""Will the backup end tonight?

Five terabytes, of which 3 % changed, have to pass within eight hours; the curve is the time
against the line.
"""

from netcalc import planning, plots

found = planning.backup(5e12, change_ratio=0.03, window_s=8 * 3600, bandwidth_bps=1e9, rtt_s=0.02)
figure = plots.plan(found)
