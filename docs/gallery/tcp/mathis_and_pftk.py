"""Two formulas of Reno

Both agree while losses are rare; towards one percent timeouts count, which only PFTK knows.
"""

import numpy as np

from netcalc import plots
from netcalc.models.tcp import loss_limited, pftk

loss = np.logspace(-5, -2, 150)
mathis = loss_limited.mathis_throughput_bps(loss, mss_bytes=1448, rtt_s=0.05)
full = 8 * 1448 * pftk.pftk_throughput_pps(loss, rtt_s=0.05, rto_s=0.25)
axes = {
    "x_axis": plots.Axis("loss", "ratio", "log"),
    "y_axis": plots.Axis("throughput", "bit/s", "log"),
}
figure = plots.curves(
    loss, {"Mathis": mathis, "PFTK": full}, title="Reno, round trip of 50 ms", **axes
)
