"""Cycles for a packet

At 100 Gbit/s with frames of 64 bytes, one core of 3 GHz has 20 cycles for each: less than one
access to memory.
"""

import numpy as np

from netcalc import plots
from netcalc.models.hosts.host_stack import cycle_budget
from netcalc.models.rates.line_rate import frame_rate_pps

rate_bps, lines = np.logspace(9, 11.6, 100), {}
for size in (64, 1518):
    pps = frame_rate_pps(size, bandwidth_bps=rate_bps)
    lines[f"{size} bytes"] = cycle_budget(pps, clock_hz=3e9)
x_axis, y_axis = plots.Axis("line rate", "bit/s", "log"), plots.Axis("cycles", "1", "log")
figure = plots.curves(rate_bps, lines, title="Cycles for a frame", x_axis=x_axis, y_axis=y_axis)
