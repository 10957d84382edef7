"""What limits this copy

Each bar is the rate that one limit alone would allow; the shortest bar, that of the window, is
the rate of the copy.
"""

from netcalc import datasets, explain, plots

capture = datasets.puzzle("window").load()
known = explain.Known(line_bps=1e8, rtt_s=0.04)
figure = plots.limits(explain.measurement(capture, known)[:1])
