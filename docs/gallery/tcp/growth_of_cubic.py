"""The cubic of CUBIC

After a loss the window returns to 70 %, comes back to its old peak of 100 packets after 4.2 s,
stays near it, and then looks for more.
"""

import numpy as np

from netcalc import plots
from netcalc.models.tcp import cubic

time_s = np.linspace(0, 8, 200)
lines = {
    f"peak of {w}": cubic.cubic_window_packets(time_s, peak_window_packets=w) for w in (100, 300)
}
axes = {
    "x_axis": plots.Axis("time since the loss", "s"),
    "y_axis": plots.Axis("window [packets]", "1", low=0.0),
}
figure = plots.curves(time_s, lines, title="Window of CUBIC", **axes)
