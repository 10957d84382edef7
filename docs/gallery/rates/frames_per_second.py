"""Frames per second against their size

On 1 Gbit/s at most 1.488 million frames of 64 bytes pass in a second, and 81,274 of 1518 bytes.
"""

import numpy as np

from netcalc import plots
from netcalc.models.rates import line_rate

size = np.linspace(64, 1518, 200)
lines = {
    f"{r / 1e9:g} Gbit/s": line_rate.frame_rate_pps(size, bandwidth_bps=r) for r in (1e8, 1e9, 1e10)
}
axes = {"x_axis": plots.Axis("frame", "byte"), "y_axis": plots.Axis("rate", "packet/s", "log")}
figure = plots.curves(size, lines, title="Frames per second", **axes)
