"""One message cut into packets

Over four links a message of 10 kB arrives soonest in packets of some hundred bytes: larger ones
wait in each router, smaller ones are mostly headers.
"""

import numpy as np

from netcalc import plots
from netcalc.models.delays.store_and_forward import message_s

data = np.logspace(1.3, 4, 200)
lines = {
    "4 links of 1.544 Mbit/s": [
        message_s(s, message_bytes=1e4, bandwidth_bps=[1.544e6] * 4, header_bytes=40) for s in data
    ]
}
axes = {"x_axis": plots.Axis("data in a packet", "byte", "log"), "y_axis": plots.Axis("time", "s")}
figure = plots.curves(data, lines, title="10 kB over four links", **axes)
