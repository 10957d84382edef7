"""The mean is not what users feel

At 90 % load one packet in a hundred waits five times as long as the mean of 9 ms.
"""

import numpy as np

from netcalc import plots
from netcalc.models.queues import mm1

load = np.linspace(0.02, 0.95, 150)
lines = {"mean": mm1.mm1_wait_s(load, service_s=1e-3)}
lines |= {
    f"p{100 * q:g}": mm1.mm1_wait_percentile_s(load, service_s=1e-3, quantile=q)
    for q in (0.9, 0.99, 0.999)
}
axes = {"x_axis": plots.Axis("load", "ratio"), "y_axis": plots.Axis("wait", "s")}
figure = plots.curves(load, lines, title="Wait in M/M/1, service of 1 ms", **axes)
