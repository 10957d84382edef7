"""What a short queue loses

At 80 % load a queue with room for 10 loses 2.3 % of the packets, and one with room for 20 loses
0.23 %.
"""

import numpy as np

from netcalc import plots
from netcalc.models.queues import mm1

load = np.linspace(0.3, 1.5, 150)
lines = {f"{k} places": mm1.mm1k_blocking_ratio(load, place_count=k) for k in (5, 10, 20)}
axes = {
    "x_axis": plots.Axis("offered load", "ratio"),
    "y_axis": plots.Axis("lost", "ratio", "log", low=1e-4, high=1.0),
}
figure = plots.curves(load, lines, title="Loss of M/M/1/K", **axes)
