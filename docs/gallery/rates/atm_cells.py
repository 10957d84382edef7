"""The stairs of ATM

A packet takes whole cells of 53 bytes, so that one byte more may cost a cell more: the share of
the packet in its cells is a saw.
"""

import numpy as np

from netcalc import plots
from netcalc.models.sizes import serial_lines

size = np.arange(40, 1501)
axes = {
    "x_axis": plots.Axis("packet", "byte"),
    "y_axis": plots.Axis("packet in its cells", "ratio", low=0.0, high=1.0),
}
shares = {"PPPoA, VC-Mux": serial_lines.atm_efficiency_ratio(size)}
figure = plots.curves(size, shares, title="Efficiency of ATM", **axes)
