"""A window and a round trip

With 64 KiB a connection has at most 52.4 Mbit/s at 10 ms and 5.24 Mbit/s at 100 ms, whatever
the line.
"""

import numpy as np

from netcalc import plots
from netcalc.models.tcp import window

rtt = np.logspace(-3, -0.5, 150)
lines = {
    f"{w // 1024} KiB": window.throughput_bps(w, rtt_s=rtt, bandwidth_bps=1e9)
    for w in (65536, 1048576, 8388608)
}
axes = {
    "x_axis": plots.Axis("round trip", "s", "log"),
    "y_axis": plots.Axis("throughput", "bit/s", "log"),
}
figure = plots.curves(rtt, lines, title="Window limit on 1 Gbit/s", **axes)
