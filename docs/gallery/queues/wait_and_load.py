"""The wait against the load

At 80 % load a packet waits four times its service on average if services vary as in M/M/1, half
of that if all are equal.
"""

import numpy as np

from netcalc import plots
from netcalc.models.queues import md1, mm1

load = np.linspace(0, 0.9, 150)
lines = {
    "M/M/1": mm1.mm1_wait_s(load, service_s=1e-3),
    "M/D/1": md1.md1_wait_s(load, service_s=1e-3),
}
axes = {"x_axis": plots.Axis("load", "ratio"), "y_axis": plots.Axis("mean wait", "s")}
figure = plots.curves(load, lines, title="Mean wait, service of 1 ms", **axes)
