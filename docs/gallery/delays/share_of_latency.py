"""How much of the time is distance

At half of the time, 5.79 kB on a T1 and 3.75 MB on a line of 1 Gbit/s, latency and
serialization are equal.
"""

import numpy as np

from netcalc import plots
from netcalc.models.delays import latency

size = np.logspace(2, 9, 200)
lines = {
    f"{r / 1e6:g} Mbit/s": latency.latency_share_ratio(size, bandwidth_bps=r, latency_s=0.03)
    for r in (1.544e6, 1e8, 1e9)
}
axes = {
    "x_axis": plots.Axis("file", "byte", "log"),
    "y_axis": plots.Axis("share of latency", "ratio", low=0.0, high=1.0),
}
figure = plots.curves(size, lines, title="Share of latency, 30 ms one way", **axes)
