"""How much buffer a link needs

A buffer of one bandwidth-delay product keeps a link full of one Reno flow; CUBIC needs 43 % of
one.
"""

import numpy as np

from netcalc import plots
from netcalc.models.tcp import sharing

buffer = np.linspace(0, 1.5, 150)
lines = {"Reno": sharing.aimd_utilization(buffer), "CUBIC": sharing.cubic_utilization(buffer)}
axes = {
    "x_axis": plots.Axis("buffer [bandwidth-delay products]", "1"),
    "y_axis": plots.Axis("use of the link", "ratio"),
}
figure = plots.curves(buffer, lines, title="Use of a link by one flow", **axes)
