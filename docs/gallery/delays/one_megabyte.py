"""One file over three lines

Below some size all lines are equally fast: the time is the latency of 30 ms, and no line
shortens it.
"""

import numpy as np

from netcalc import plots
from netcalc.models.delays import latency

size = np.logspace(2, 8, 200)
lines = {
    f"{r / 1e6:g} Mbit/s": latency.transfer_s(size, bandwidth_bps=r, latency_s=0.03)
    for r in (1.544e6, 45e6, 1e9)
}
axes = {"x_axis": plots.Axis("file", "byte", "log"), "y_axis": plots.Axis("time", "s", "log")}
figure = plots.curves(size, lines, title="Time of a transfer, 30 ms one way", **axes)
