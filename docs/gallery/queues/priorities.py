"""Who goes first

The first class hardly waits; the second waits twenty times as long when both together load the
line by 95 %.
"""

import numpy as np

from netcalc import plots
from netcalc.models.queues.scheduling import priority_wait_s

load = np.linspace(0, 0.75, 100)
waits = np.array([priority_wait_s([0.2, one], service_s=[1e-3, 1e-3]) for one in load])
lines = {"first class, 20 % load": waits[:, 0], "second class": waits[:, 1]}
x_axis, y_axis = plots.Axis("load of the second class", "ratio"), plots.Axis("mean wait", "s")
figure = plots.curves(load, lines, title="Two priorities", x_axis=x_axis, y_axis=y_axis)
