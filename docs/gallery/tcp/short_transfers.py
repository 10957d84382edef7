"""Why a faster line does not help a small file

At a round trip of 50 ms, files below 100 kB take the same few rounds of slow start at 100
Mbit/s and at 10 Gbit/s.
"""

import numpy as np

from netcalc import plots
from netcalc.models.tcp.short_transfers import fetch_s

size = np.logspace(2, 7.5, 200)
lines = {
    f"{r / 1e6:g} Mbit/s": fetch_s(size, rtt_s=0.05, bandwidth_bps=r) for r in (1e7, 1e8, 1e10)
}
axes = {"x_axis": plots.Axis("file", "byte", "log"), "y_axis": plots.Axis("time", "s", "log")}
figure = plots.curves(size, lines, title="Time of a fetch, round trip of 50 ms", **axes)
