"""What loss leaves of a rate

At 50 ms Reno falls with the square root of the loss and CUBIC less steeply while losses are
rare; BBR does not answer to them.
"""

import numpy as np

from netcalc import plots
from netcalc.models.tcp.ceilings import congestion_controls

loss = np.logspace(-6, -2, 150)
found = congestion_controls(loss, rtt_s=0.05, bandwidth_bps=1e9)
lines = {"Reno": found.reno_bps, "CUBIC": found.cubic_bps, "BBR": found.bbr_bps}
x_axis = plots.Axis("loss", "ratio", "log")
y_axis = plots.Axis("throughput on 1 Gbit/s", "bit/s", "log")
figure = plots.curves(loss, lines, x_axis=x_axis, y_axis=y_axis)
