"""Is it the router or the line?

A router of 30,000 packets per second fills 100 Mbit/s with frames of more than 397 bytes;
smaller ones reach its packet rate first.
"""

import numpy as np

from netcalc import plots
from netcalc.models.rates import forwarding

size = np.linspace(64, 1518, 200)
rate = forwarding.forwarding_rate_pps(size, device_pps=30e3, bandwidth_bps=1e8)
line = forwarding.forwarding_rate_pps(size, device_pps=1e9, bandwidth_bps=1e8)
axes = {"x_axis": plots.Axis("frame", "byte"), "y_axis": plots.Axis("rate", "packet/s", low=0.0)}
figure = plots.curves(
    size, {"100 Mbit/s alone": line, "with the router": rate}, title="Forwarding rate", **axes
)
