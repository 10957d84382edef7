"""Everybody sends at will

Pure ALOHA carries at most 18.4 % of a channel, at half an attempt per frame time; with slots it
is 36.8 %, at one.
"""

import numpy as np

from netcalc import plots
from netcalc.models.links import random_access

offered = np.linspace(0, 1, 200)
lines = {
    "slotted": random_access.slotted_aloha_utilization(offered),
    "pure": random_access.pure_aloha_utilization(offered),
}
axes = {
    "x_axis": plots.Axis("attempts per frame time", "1"),
    "y_axis": plots.Axis("carried", "ratio", low=0.0),
}
figure = plots.curves(offered, lines, title="ALOHA", **axes)
