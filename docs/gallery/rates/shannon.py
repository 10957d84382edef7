"""The rate of a channel

Ten decibels more bring about 3.3 bits per second and hertz, so that a doubled rate takes ever
more power.
"""

import numpy as np

from netcalc import plots
from netcalc.models.links import channel

snr = np.linspace(-10, 40, 100)
lines = {
    f"{hz / 1e6:g} MHz": [channel.shannon_bps(hz, snr_db=s) for s in snr]
    for hz in (20e6, 80e6, 160e6)
}
axes = {"x_axis": plots.Axis("signal to noise", "dB"), "y_axis": plots.Axis("capacity", "bit/s")}
figure = plots.curves(snr, lines, title="Shannon's capacity", **axes)
